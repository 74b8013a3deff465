// prove.mjs - the exhaustive checker, in a worker, on the configuration of the stage. A counterexample becomes the run.
import { grouped, h, note, select } from './dom.mjs';
import { NEEDS } from './run.mjs';

// The words of "dibs check" for a configuration, with the promises that are withdrawn.
export function checkWords(state, requests) {
  const words = ['check', state.algorithm, '--sites', String(state.sites.length), '--requests', requests, '--rule', state.rule, '--order', state.keeps & 1 ? 'fifo' : 'any'];
  const withdrawn = NEEDS.filter((_, bit) => bit && state.needs >>> bit & 1 && !(state.keeps >>> bit & 1));
  for (const need of withdrawn) {
    if (need === 'reliable') words.push('--lose', '1', '--duplicate', '1');
    else if (need !== 'alive') words.push('--without', need);
  }
  if (withdrawn.includes('alive') || withdrawn.includes('detection')) words.push('--crash', '1');
  if (state.mistake) words.push('--set', `mistake=${state.mistake}`);
  return words;
}

export class Prove {
  constructor(run, jobs, place) {
    this.run = run;
    this.jobs = jobs;
    this.requests = select([['1', '1 request each'], ['2', '2 requests each'], ['3', '3 requests each'], ['unlimited', 'unlimited']], '1', () => this.show());
    this.requests.setAttribute('aria-label', 'Requests of each site');
    this.button = h('button', { type: 'button', class: 'main', onclick: () => (this.busy ? this.cancel() : this.start()) }, 'Prove it');
    this.words = h('code');
    this.progress = h('p', { class: 'result', 'aria-live': 'polite' });
    place.append(h('h2', {}, 'Every interleaving of this system'), h('div', { class: 'prove' }, h('div', { class: 'row' }, this.requests, this.button), this.words, this.progress));
    run.addEventListener('change', () => this.show());
  }

  command() {
    const { state, algorithms } = this.run, words = checkWords(state, this.requests.value);
    for (const { key, initial } of algorithms.get(state.algorithm).options)
      if (String(state.options[key]) !== String(initial)) words.push('--set', `${key}=${state.options[key]}`);
    return words;
  }

  show() {
    const words = `dibs ${this.command().join(' ')}`;
    if (words !== this.words.textContent && !this.busy) this.say(''); // the result was about another system
    this.words.textContent = words;
  }

  cancel() {
    this.jobs.end();
  }

  // Runs the checker with these words. If it finds a violation, the run that shows it is opened.
  async start(words = this.command(), title = '') {
    if (this.busy) return;
    this.busy = true;
    this.button.textContent = 'Cancel';
    this.say('looking at every state …');
    const result = await this.jobs.run(words, ({ states, waiting, seconds }) => this.say(`${grouped(states)} states, ${grouped(waiting)} to look at, ${seconds.toFixed(1)} s`));
    this.busy = false;
    this.button.textContent = 'Prove it';
    if (result.status === null) return this.say(result.errors || 'Cancelled. Nothing was proved.');
    if (!result.output) return this.say(result.errors.replace(/^dibs: /, ''), 'bad');
    this.report(result.output.split('\f'), words, title);
  }

  report([json, text, scenario], words, title) {
    const result = JSON.parse(json), verdict = text.split('\n').find((line) => / states\)$/.test(line)) ?? text;
    this.result = result;
    if (scenario) {
      const length = (scenario.match(/^(request|release|deliver|lose|duplicate|timer|crash|restart|resume|suspect|join|leave|cut|heal)\b/gm) ?? []).length;
      const wrong = this.run.open('counterexample.txt', scenario, { at: length, title: title || `The checker found a shortest run that goes wrong: ${words.slice(1).join(' ')}.`, name: 'counterexample' });
      this.run.isStory = true;
      note(wrong?.error, Boolean(wrong));
    }
    this.say(`${verdict}${result.seconds === undefined ? '' : `, ${result.seconds.toFixed(2)} s`}`, result.verdict === 'holds' ? 'good' : 'bad');
  }

  say(text, kind = '') {
    this.progress.textContent = text;
    this.progress.className = `result ${kind}`;
  }
}
