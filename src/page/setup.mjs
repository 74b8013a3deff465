// setup.mjs - what is run: algorithm, sites, rule, options, and the promises that the network keeps.
import { byId, h, note, select } from './dom.mjs';
import { NEEDS } from './run.mjs';

const PROMISES = {
  fifo: 'messages of a channel keep their order', reliable: 'every message arrives exactly once', alive: 'no site stops',
  'bounded-delay': 'messages arrive before timers fire', sequenced: 'all sites see all broadcasts in one order', detection: 'crashes are reported, and nothing else is',
};

export class Setup {
  constructor(run) {
    this.run = run;
    this.narrow = matchMedia('(max-width: 760px)'); // a phone shows the stage first
    this.restOpen = false;
    this.narrow.addEventListener('change', () => {
      this.key = '';
      this.show();
    });
    run.addEventListener('change', () => this.show());
  }

  // The families, each with its algorithms; those with a flaw come last.
  algorithmSelect(chosen) {
    const groups = new Map();
    for (const a of this.run.algorithms.values()) {
      const family = a.flaw ? 'mistaken versions' : `${a.family} based`;
      groups.set(family, [...(groups.get(family) ?? []), a.name]);
    }
    const last = groups.get('mistaken versions');
    groups.delete('mistaken versions');
    groups.set('mistaken versions', last);
    return h('select', { id: 'algorithm', onchange: (event) => this.begin({ algorithm: event.target.value, fresh: true }) },
      [...groups].map(([label, names]) => h('optgroup', { label }, names.map((name) => h('option', { value: name, selected: name === chosen }, name)))));
  }

  // A new run. A property that is not given stays as it is; another algorithm begins with its own defaults.
  begin({ algorithm, sites, rule, set = {}, fresh = false }) {
    const { state } = this.run, name = algorithm ?? state.algorithm;
    const lines = [`algorithm ${name}`, `sites ${sites ?? state.sites.length}`];
    if (rule ?? !fresh) lines.push(`rule ${rule ?? state.rule}`);
    if (!fresh) {
      const options = { ...(state.mistake ? { mistake: state.mistake } : {}), ...state.options, ...set };
      for (const [key, value] of Object.entries(options)) lines.push(`set ${key}=${value}`);
      lines.push(`order ${state.keeps & 1 ? 'fifo' : 'any'}`);
    }
    const known = this.run.algorithms.get(name);
    const title = known.flaw ? `${known.mistaken}: ${known.mistakes.find((m) => m.name === set.mistake)?.what ?? known.mistakes[0]?.what ?? known.flaw}` : '';
    this.run.isStory = false;
    const wrong = this.run.open('page.txt', lines.join('\n') + '\n', { title, name: 'your run' });
    if (wrong && fresh && !sites) {
      for (const count of [4, 7, 2, 3]) // planes, for example, exist for some numbers only
        if (!this.run.open('page.txt', `algorithm ${name}\nsites ${count}\n`, { title, name: 'your run' })) return note('');
    }
    note(wrong?.error, Boolean(wrong));
    if (wrong) this.show();
  }

  ruleField(state, known) {
    const [name, limit] = state.rule.split(':');
    if (known.rules.length < 2 && !limit) return null;
    const counts = (rule) => rule === 'slots' || rule === 'group';
    return h('label', {}, 'Rule', select(known.rules.flatMap((rule) => (counts(rule) ? [2, 3].concat(rule === name && limit > 3 ? Number(limit) : []).map((k) => [`${rule}:${k}`]) : [[rule]])).concat(known.rules.some((rule) => `${rule}:1` === state.rule) ? [[state.rule]] : []),
      state.rule, (value) => this.begin({ rule: value })));
  }

  optionFields(state, known) {
    const fields = known.options.map((option) => h('label', { title: option.help }, option.key, option.choices
      ? select(option.choices.map((choice) => [choice]), String(state.options[option.key]), (value) => this.begin({ set: { [option.key]: value } }))
      : h('input', { type: 'number', min: option.min, max: option.max, value: String(state.options[option.key]), onchange: (event) => this.begin({ set: { [option.key]: event.target.value } }) })));
    if (known.mistakes.length)
      fields.unshift(h('label', {}, 'Mistake', select(known.mistakes.map((m) => [m.name]), state.mistake, (value) => this.begin({ set: { mistake: value } }))));
    return fields.length ? h('details', { open: known.mistakes.length > 0 || this.optionsOpen, ontoggle: (event) => { this.optionsOpen = event.target.open; } },
      h('summary', {}, 'Options of the algorithm'), h('div', {}, fields)) : null;
  }

  promiseFields(state) {
    return h('fieldset', {}, h('legend', {}, 'The network promises'), NEEDS.map((need, bit) => {
      if (!PROMISES[need] || (bit && !(state.needs >>> bit & 1))) return null;
      return h('label', { class: 'check', title: PROMISES[need] },
        h('input', { type: 'checkbox', checked: Boolean(state.keeps >>> bit & 1), onchange: () => this.run.keep((this.run.state.keeps ^ (1 << bit)) >>> 0) }),
        h('span', {}, need, state.needs >>> bit & 1 ? '' : ' (not needed)'));
    }));
  }

  show() {
    const { state } = this.run, known = this.run.algorithms.get(state.algorithm);
    const key = JSON.stringify([state.algorithm, state.sites.length, state.rule, state.options, state.mistake, state.keeps]);
    if (key === this.key && !byId('note').classList.contains('bad')) return;
    const focused = [...byId('setup').querySelectorAll('input, select, summary')].indexOf(document.activeElement);
    this.key = key;
    byId('setup').replaceChildren(...[
      h('label', {}, 'Algorithm', this.algorithmSelect(state.algorithm)),
      h('label', {}, 'Sites', h('input', { type: 'number', id: 'sites', min: 1, max: 64, value: String(state.sites.length), onchange: (event) => this.begin({ sites: Math.max(1, Math.min(64, Math.round(Number(event.target.value)) || 3)) }) })),
      h('details', { class: 'rest', open: this.restOpen || !this.narrow.matches, ontoggle: (event) => { if (this.narrow.matches) this.restOpen = event.target.open; } }, h('summary', {}, 'Rule, promises, options'),
        h('div', {}, this.ruleField(state, known), this.optionFields(state, known), this.promiseFields(state),
          h('p', { class: 'about' }, known.paper), h('p', { class: 'about' }, `Published cost: ${known.cost}.`),
          h('button', { type: 'button', onclick: () => this.begin({}) }, 'Begin again')))].filter(Boolean));
    if (focused >= 0) byId('setup').querySelectorAll('input, select, summary')[focused]?.focus();
  }
}
