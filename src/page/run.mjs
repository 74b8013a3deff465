// run.mjs - the run that the stage, the time line and the trace show: one selection, one place, several runs.
//
// The WebAssembly module keeps the run; here are its last answer (state), its steps, and the tree of runs. A move that is
// made before the end of a run begins another run, and the old one stays in the list. A run is written as a scenario, in one
// line for the address of the page: lines are separated by ~ and words by dots.
import { Laboratory } from './module.mjs';

export const NEEDS = ['fifo', 'reliable', 'alive', 'bounded-delay', 'broadcast', 'sequenced', 'detection'];
const ADDRESS_MAX = 100000, SITES_MAX = 64;

export class Run extends EventTarget {
  constructor(module, algorithms) {
    super();
    this.module = module;
    this.algorithms = algorithms;
    this.lab = new Laboratory(module);
    this.runs = [];
    this.held = new Set();
    this.seed = 1;
  }

  // Opens a scenario. Returns null, or what is wrong with it: {line, error}. The old run stays on the stage then.
  open(path, text, { at = 0, title = '', name = path, fork } = {}) {
    const sites = Number(/^\s*sites\s+(\d+)/m.exec(text)?.[1] ?? 1);
    const answer = sites > SITES_MAX ? { line: 0, error: `the stage shows 1 to ${SITES_MAX} sites, not ${sites}` } // a world of millions would fill the memory
      : this.guard(() => this.lab.open(path, text));
    if (answer.error) return answer;
    if (fork === undefined) this.runs = [{ name, from: null }];
    this.title = title;
    this.held.clear();
    this.index = fork ?? 0;
    this.fetchSteps();
    this.state = at ? this.lab.call('page_seek', at) : answer;
    this.changed();
    return null;
  }

  // A module that has run out of memory is replaced.
  guard(call) {
    try {
      return call();
    } catch (error) {
      this.lab = new Laboratory(this.module);
      return { line: 0, error: `this run needs more than a browser gives (${error.message}); try fewer sites` };
    }
  }

  fetchSteps() {
    const { steps, remarks } = this.lab.call('page_steps', 0);
    this.steps = steps;
    this.remarks = remarks;
  }

  changed() {
    this.runs[this.index].moves = this.state.count;
    this.dispatchEvent(new Event('change'));
  }

  // Before another run takes the stage.
  keepText() {
    this.runs[this.index].text = this.scene();
  }

  // Makes a move, given by the function of the module. Returns null, or why it cannot be made.
  make(name, number) {
    const { place, count } = this.state, old = this.steps[place + 1]?.move;
    const text = place < count ? this.scene() : '';
    const answer = this.lab.call(name, number);
    if (answer.error) return answer.error;
    this.state = answer;
    const { steps } = this.lab.call('page_steps', place + 1);
    if (place < count && steps[0].move !== old) {
      this.runs[this.index].text = text;
      this.runs.push({ name: `from move ${place} of run ${this.index + 1}`, from: this.index });
      this.index = this.runs.length - 1;
      this.remarks = this.remarks.filter((remark) => remark.before <= place);
    }
    if (place < count) this.steps = this.steps.slice(0, place + 1);
    this.steps.push(...steps);
    this.changed();
    return null;
  }

  act(action) {
    return action.why ?? this.make('page_act', action.id);
  }

  cut(sites) {
    return this.make('page_cut', sites.reduce((side, site) => side | (1 << site), 0) >>> 0);
  }

  seek(place) {
    place = Math.max(0, Math.min(place, this.state.count));
    if (place === this.state.place) return;
    this.state = this.lab.call('page_seek', place);
    this.changed();
  }

  keep(keeps) {
    this.state = this.lab.call('page_keep', keeps);
    this.changed();
  }

  switchTo(index) {
    const run = this.runs[index];
    this.keepText();
    this.open('run.txt', run.text, { at: run.moves, fork: index, title: this.title });
  }

  static key(flight) {
    return `${flight.number}:${flight.to}`;
  }

  // The three actions on the message at this place of state.flights: deliver, lose, duplicate.
  messageActions(k) {
    return this.lab.call('page_message', k).actions;
  }

  chance(below) {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.seed / 2 ** 32) * below);
  }

  // A random move of those that are possible and are no failures. Held messages are left out.
  random() {
    const actions = this.state.sites.flatMap((site) => site.actions).filter((action) => !action.why && /^(request|release|timer) /.test(action.move));
    const { flights, inFlight } = this.state, messages = Array.from({ length: inFlight }, (_, k) => k).filter((k) => !flights[k] || !this.held.has(Run.key(flights[k])));
    while (actions.length + messages.length) {
      const chosen = this.chance(actions.length + messages.length);
      if (chosen < actions.length) return this.act(actions[chosen]);
      const [deliver] = this.messageActions(messages[chosen - actions.length]);
      if (!deliver.why) return this.act(deliver);
      messages.splice(chosen - actions.length, 1); // an older one has to arrive before it
    }
    return 'no move is possible';
  }

  // -------------------------------------------------------------------------------------------------------- as text

  // The run as a scenario without output: the scene, then the moves.
  scene() {
    const { state } = this, known = this.algorithms.get(state.algorithm);
    const lines = [`algorithm ${state.algorithm}`, `sites ${state.sites.length}`, `rule ${state.rule}`];
    if (state.mistake) lines.push(`set mistake=${state.mistake}`);
    for (const { key, initial } of known.options)
      if (String(state.options[key]) !== String(initial)) lines.push(`set ${key}=${state.options[key]}`);
    lines.push(`order ${state.keeps & 1 ? 'fifo' : 'any'}`);
    return lines.concat(this.steps.slice(1).map((step) => step.move)).join('\n') + '\n';
  }

  address(hash) {
    const run = this.scene().trim().replaceAll(' ', '.').replaceAll('\n', '~');
    return `#v=${hash}&at=${this.state.place}&run=${encodeURI(run)}`;
  }

  // Opens the run in an address. Returns null, or a line for the user: {text, bad}. Moves that are not possible are left out,
  // with all that follow them.
  openAddress(address, hash) {
    const parts = new URLSearchParams(address.replace(/^#/, '')), run = parts.get('run'), version = parts.get('v') ?? hash;
    if (!run) return null;
    if (run.length > ADDRESS_MAX) return { text: 'The address is too long for a run, so it was not opened.', bad: true };
    const lines = run.replaceAll('.', ' ').split('~');
    const other = version === hash ? '' : `This link was made by another version of dibs (${version.slice(0, 20)}; this is ${hash}). `;
    const at = Math.min(Number(parts.get('at')) || 0, lines.length);
    for (let tries = 0; tries < 2; tries++) {
      const wrong = this.open('link.txt', lines.join('\n') + '\n', { at, name: 'from the link' });
      if (!wrong && tries) return { text: `${other}Its moves are shown up to the first one that is not possible here.`, bad: true };
      if (!wrong) return other ? { text: `${other}Its moves are possible here, too.`, bad: false } : null;
      if (wrong.line < 2 || tries) return { text: `${other}The run in the address cannot be opened: ${wrong.error}`, bad: true };
      lines.length = wrong.line - 1;
    }
    return null;
  }
}
