// load.mjs - what an entry costs: over the load, from one request at a time to full load, and over the number of sites; beside
// the published formula. Every point is a simulation, and is remembered.
import { byId, field, h, select } from './dom.mjs';
import { chart } from './chart.mjs';
import { loadFields, simWords, valuesOf } from './race.mjs';
import { published } from './formula.mjs';

const LOADS = [0.01, 0.03, 0.1, 0.3, 0.6, 1, 2, 5, Infinity]; // requests per unit of time, of all sites together; the last: closed
const SIZES = [2, 3, 5, 8, 12, 20, 30, 45, 60];
const FULL_AT = 12; // where the closed load stands on the axis of loads
const ENTRIES = '2000';

const atLoad = (load) => (load === Infinity ? FULL_AT : load);
const nameOfLoad = (load) => (load === Infinity ? 'full' : String(load));

export class Load {
  constructor(algorithms, jobs) {
    Object.assign(this, { algorithms, jobs, known: new Map() });
    const names = [...algorithms.values()].filter((a) => !a.flaw).map((a) => [a.name]);
    this.algorithm = select(names, 'singhal-heuristic', () => {
      this.offerRules();
      this.start();
    });
    const { delay, seed } = loadFields();
    const slider = (label, min, max, step, value, say) => {
      const output = h('output', {}, say(value)), input = h('input', { type: 'range', min, max, step, value: String(value), oninput: () => {
        output.textContent = say(input.value);
        input.setAttribute('aria-valuetext', say(input.value));
        this.start();
      } });
      return { input, element: field(h('span', {}, `${label}: `, output), input) };
    };
    this.sites = slider('Sites', 2, 60, 1, 10, (x) => String(x));
    this.load = slider('Load', 0, LOADS.length - 1, 1, 4, (k) => (LOADS[k] === Infinity ? 'full (closed)' : `${LOADS[k]} per T`));
    this.hold = slider('Time inside', 0.05, 2, 0.05, 0.1, (x) => `${x} T`);
    this.limit = slider('Limit K', 2, 6, 1, 2, (x) => String(x));
    this.readers = slider('Readers', 0, 1, 0.1, 0.5, (x) => `${Math.round(100 * x)}%`);
    this.rule = select([['exclusive']], 'exclusive', () => this.start());
    this.delay = delay;
    this.seed = seed;
    for (const one of [delay, seed]) one.addEventListener('change', () => this.start());
    this.charts = h('div', { class: 'charts large' });
    this.table = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Figures' });
    this.state = h('p', { class: 'result', 'aria-live': 'polite' });
    byId('room-load').append(h('div', { class: 'sheet' }, h('p', {}, `What an entry costs, over the load and over the number of sites. Each point is a simulation of ${ENTRIES} entries; T is the mean delay of a message. Dashed: what was published, where the catalogue has it as a formula.`),
      h('form', { class: 'form', onsubmit: (event) => event.preventDefault() }, field('Algorithm', this.algorithm), this.sites.element, this.load.element, this.hold.element,
        field('Delay', delay), this.ruleField = field('Rule', this.rule), this.limit.element, this.readers.element, field('Seed', seed)), this.state, this.charts, this.table));
    this.offerRules();
  }

  offerRules() {
    const { rules } = this.algorithms.get(this.algorithm.value), kept = rules.includes(this.rule.value) ? this.rule.value : rules[0];
    this.rule.replaceChildren(...rules.map((rule) => h('option', { value: rule, selected: rule === kept }, rule)));
    this.ruleField.hidden = rules.length < 2;
  }

  // What the form says; `load` is the sum of all sites.
  wanted() {
    const rule = this.rule.value, counts = rule === 'slots' || rule === 'group';
    this.limit.element.hidden = !counts;
    this.readers.element.hidden = rule !== 'shared';
    return { ...valuesOf({ delay: this.delay, seed: this.seed }), hold: this.hold.input.value, name: this.algorithm.value, sites: Number(this.sites.input.value),
      load: LOADS[this.load.input.value], rule: counts ? `${rule}:${this.limit.input.value}` : rule, readers: rule === 'shared' ? this.readers.input.value : null };
  }

  words({ name, sites, load, rule, readers, ...values }) {
    const words = simWords(name, { ...values, sites: String(sites), entries: ENTRIES, load: load === Infinity ? 'closed' : String(Number((load / sites).toPrecision(6))) });
    return [...words, ...(rule === 'exclusive' ? [] : ['--rule', rule]), ...(readers === null ? [] : ['--readers', readers])];
  }

  // A promise of {figures} or {wrong}.
  async measure(wanted) {
    const words = this.words(wanted), key = words.join(' ');
    if (!this.known.has(key)) {
      const answer = await this.jobs.run([...words, '--format', 'json']);
      if (answer.status === null) return {};
      this.known.set(key, answer.status === 0 ? { figures: JSON.parse(answer.output), words } : { wrong: answer.errors.split('\n')[0].replace(/^dibs: /, '') });
    }
    return this.known.get(key);
  }

  // The point of the sliders first, then both curves, each point drawn as it comes. A measurement that is started later takes over.
  async start() {
    const turn = (this.turn = (this.turn ?? 0) + 1), wanted = this.wanted();
    this.jobs.end();
    const here = await this.measure(wanted), loads = [], sizes = [];
    if (turn !== this.turn) return;
    this.state.textContent = here.wrong ?? '';
    for (const [points, values, key] of [[loads, LOADS, 'load'], [sizes, [...new Set([...SIZES, wanted.sites])].sort((a, b) => a - b), 'sites']])
      for (const value of values) {
        const one = await this.measure({ ...wanted, [key]: value });
        if (turn !== this.turn) return;
        if (one.figures) points.push({ ...one.figures, at: key === 'load' ? atLoad(value) : value, value, words: one.words });
        if (loads.length) this.show(wanted, here.figures, loads, sizes);
      }
  }

  // The published formulas over the number of sites: [{text, points}].
  formulas({ name, rule }, sizes) {
    if (rule !== 'exclusive') return [];
    const { cost } = this.algorithms.get(name), last = published(cost, SIZES.at(-1));
    return last.map(({ text }, k) => ({ text: text.replace(/ = [^=]*$/, ''), points: sizes.map(({ at }) => [at, published(cost, at)[k]?.y]).filter(([, y]) => Number.isFinite(y)) })).filter(({ points }) => points.length > 1);
  }

  show(wanted, here, loads, sizes) {
    const { name, sites, load, rule } = wanted, of = (points, key) => points.map((point) => [point.at, point[key]]).filter(([, y]) => typeof y === 'number');
    const size = matchMedia('(min-width: 1000px)').matches ? [560, 300] : [360, 230];
    const lines = rule === 'exclusive' ? published(this.algorithms.get(name).cost, sites) : [], ends = loads.some(({ value }) => value === Infinity) ? [[FULL_AT, 'full']] : [];
    const over = (points, key, x, at, more) => points.length > 0 && chart(...more[0], { curves: [{ name, points: of(points, key) }], mark: typeof here?.[key] === 'number' ? [at, here[key]] : null, x, logarithmic: true, size, ...more[1] });
    const loadAxis = 'requests of all sites per T';
    this.charts.replaceChildren(...[
      over(loads, 'messages_per_entry', loadAxis, atLoad(load), [[`messages per entry, ${sites} sites`], { lines, ends }]),
      over(loads, 'wait_mean', loadAxis, atLoad(load), [[`waiting time / T, ${sites} sites`], { ends }]),
      over(sizes, 'messages_per_entry', 'sites', sites, [[`messages per entry, load ${nameOfLoad(load)}`], { formulas: this.formulas(wanted, sizes) }]),
      over(sizes, 'wait_mean', 'sites', sites, [[`waiting time / T, load ${nameOfLoad(load)}`], {}]),
    ].filter(Boolean));
    const text = (x) => (typeof x === 'number' ? String(x) : '–');
    this.table.replaceChildren(h('table', { class: 'figures' }, h('thead', {}, h('tr', {}, ['sites', 'load', 'messages per entry', 'waiting time', 'the same on the command line'].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, [...loads.map((point) => [sites, point]), ...sizes.map((point) => [point.value, point])].map(([n, point], k) => h('tr', { 'data-curve': k < loads.length ? 'load' : 'sites' }, h('th', { scope: 'row' }, String(n)),
        h('td', {}, nameOfLoad(k < loads.length ? point.value : load)), h('td', {}, text(point.messages_per_entry)), h('td', {}, text(point.wait_mean)), h('td', {}, h('code', {}, `dibs ${point.words.join(' ')}`)))))));
  }
}
