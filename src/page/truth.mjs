// truth.mjs - beside the picture: the properties as lamps, the moves as text, the states of the sites.
import { byId, h } from './dom.mjs';
import { calmly } from './stage.mjs';

const WINDOW = 40; // moves of the list before and behind the place
const CROWD_STATES = 12, EFFECT = 300; // sites, letters

// The fields of a state that differ: [{was: 'served=0,0', is: 'served=0,1'}]; a flag that came or went has only one of them.
function changesOf(before, after) {
  const fields = (text) => new Map(text.split(' ').filter(Boolean).map((word) => [word.split('=')[0], word]));
  const old = fields(before), now = fields(after);
  return [...new Set([...now.keys(), ...old.keys()])].map((key) => ({ was: old.get(key) ?? '', is: now.get(key) ?? '' })).filter(({ was, is }) => was !== is);
}

export class Truth {
  constructor(run) {
    this.run = run;
    this.lamps = h('ul', { class: 'lamps', 'aria-live': 'polite' });
    this.trace = h('ol', { class: 'trace', 'aria-label': 'Moves, as in a scenario' });
    this.states = h('table', { class: 'states' });
    this.everything = false;
    this.heading = h('h2');
    this.toggle = h('button', { type: 'button', class: 'small', onclick: () => {
      this.everything = !this.everything;
      this.showStates();
    } }, 'all fields');
    byId('truth').append(h('div', {}, h('h2', {}, 'What holds now'), this.lamps), this.prove = h('div'),
      h('div', {}, h('h2', {}, 'Moves'), this.trace), h('div', {}, h('div', { class: 'heading' }, this.heading, this.toggle), this.states));
    run.addEventListener('change', () => calmly(this, () => this.show()));
  }

  show() {
    this.showLamps();
    this.showTrace();
    this.showStates();
    this.showCaption();
  }

  showLamps() {
    const { lamps, hasInvariants, recorded } = this.run.state;
    const lamp = (wrong, good, bad) => h('li', { class: wrong ? 'bad' : '' }, h('span', {}, wrong ? `${bad}: ${wrong}` : good));
    this.lamps.replaceChildren(
      lamp(lamps.exclusion, 'mutual exclusion holds', 'EXCLUSION BROKEN'),
      lamp(lamps.deadlock, 'no deadlock', 'DEADLOCK'),
      hasInvariants ? lamp(lamps.invariants, 'the algorithm’s invariants hold', 'INVARIANT BROKEN')
        : h('li', { class: 'off' }, h('span', {}, 'this algorithm states no invariants')),
      lamp(lamps.protocol, 'no site met what the protocol rules out', 'ERROR'),
      ...(recorded ? [lamp(lamps.record, 'as the members have recorded it', 'NOT AS RECORDED')] : []));
  }

  showTrace() {
    const { steps, remarks, state } = this.run, rows = [];
    const first = Math.max(1, state.place - WINDOW), last = Math.min(state.count, state.place + WINDOW);
    if (first > 1) rows.push(h('li', { class: 'remark' }, `${first - 1} earlier moves`));
    for (let k = first; k <= last; k++) {
      for (const remark of remarks) if (remark.before === k - 1) rows.push(h('li', { class: 'remark' }, remark.text));
      rows.push(h('li', {}, h('button', {
        type: 'button', class: `${k > state.place ? 'later' : ''}${steps[k].wrong ? ' bad' : ''}`, 'aria-current': k === state.place ? 'step' : null,
        title: `${steps[k].move}: ${steps[k].effect}`, onclick: () => this.run.seek(k),
      }, h('span', {}, String(k)), h('b', {}, steps[k].age ? h('small', {}, `${(steps[k].age / 1000).toFixed(3)} s ago: `) : null, steps[k].effect.length > EFFECT ? `${steps[k].effect.slice(0, EFFECT)} …` : steps[k].effect))));
    }
    if (last < state.count) rows.push(h('li', { class: 'remark' }, `${state.count - last} later moves`));
    if (!state.count) rows.push(h('li', { class: 'remark' }, 'No move yet. Click a site and let it request the critical section.'));
    this.trace.replaceChildren(...rows);
    const current = this.trace.querySelector('[aria-current]');
    if (current) this.trace.scrollTop = current.offsetTop - this.trace.offsetTop - this.trace.clientHeight / 2;
  }

  // The words of a state are fields, "asked=0,1", or flags, "token". Only what the last move has changed is shown, as it was
  // and as it is; or everything, if the user wants that, and at the beginning.
  showStates() {
    const { sites, place } = this.run.state, everything = this.everything || !place;
    const rows = sites.map((site, k) => [site, k, place ? changesOf(site.before, site.state) : []])
      .filter(([site, , changes]) => changes.length || (everything && (sites.length <= CROWD_STATES || site.phase !== 'idle'))).slice(0, CROWD_STATES);
    this.states.replaceChildren(...rows.map(([site, k, changes]) => h('tr', {}, h('th', { scope: 'row' }, `${k} ${site.phase}`), h('td', {}, everything
      ? site.state.split(' ').map((word, w) => [w ? ' ' : '', changes.some(({ is }) => is === word) ? h('mark', {}, word) : word])
      : changes.map(({ was, is }) => h('div', {}, was && h('del', {}, was), was && is ? ' ' : '', is && h('ins', {}, is)))))));
    this.toggle.setAttribute('aria-pressed', String(this.everything));
    this.heading.textContent = everything ? 'States; marked: changed by this move' : rows.length ? 'Changed by this move' : 'This move has changed no state';
  }

  // The comment of the scenario that speaks of this place.
  showCaption() {
    const { remarks, state, title, steps } = this.run;
    const here = remarks.filter((remark) => remark.before < state.place).at(-1);
    const wrong = steps[state.place].wrong;
    byId('caption').textContent = (wrong ? `Move ${state.place}: ${wrong}. ` : '') + (here?.text ?? title ?? '');
  }
}
