// load.mjs - what an entry costs, from one request at a time to full load, beside the published formula.
import { byId, field, h, select } from './dom.mjs';
import { chart } from './chart.mjs';
import { loadFields, simWords, valuesOf } from './race.mjs';
import { published } from './formula.mjs';

const LOADS = [0.01, 0.03, 0.1, 0.3, 0.6, 1, 2, 5]; // requests per unit of time, of all sites together

export class Load {
  constructor(algorithms, jobs) {
    Object.assign(this, { algorithms, jobs });
    const names = [...algorithms.values()].filter((a) => !a.flaw && a.rules.includes('exclusive')).map((a) => [a.name]);
    this.algorithm = select(names, 'singhal-heuristic', () => this.start());
    const { delay, seed } = loadFields();
    const slider = (label, min, max, step, value, say) => {
      const output = h('output', {}, say(value)), input = h('input', { type: 'range', min, max, step, value: String(value), oninput: () => { output.textContent = say(input.value); }, onchange: () => this.start() });
      return { input, element: field(h('span', {}, `${label}: `, output), input) };
    };
    this.sites = slider('Sites', 2, 60, 1, 10, (x) => x);
    this.hold = slider('Time inside', 0, 2, 0.05, 0.1, (x) => x);
    this.fields = { sites: this.sites.input, hold: this.hold.input, delay, seed };
    delay.addEventListener('change', () => this.start());
    this.charts = h('div', { class: 'charts' });
    this.table = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Figures' });
    this.state = h('p', { class: 'result', 'aria-live': 'polite' });
    byId('room-load').append(h('div', { class: 'sheet' }, h('p', {}, 'One algorithm from light to full load, each point a simulation of 2000 entries. Dashed: the published number of messages, where the catalogue has it as a formula.'),
      h('form', { class: 'form', onsubmit: (event) => event.preventDefault() }, field('Algorithm', this.algorithm), this.sites.element, this.hold.element, field('Delay', delay), field('Seed', seed)), this.state, this.charts, this.table));
  }

  async start() {
    const turn = (this.turn = (this.turn ?? 0) + 1), values = valuesOf(this.fields), name = this.algorithm.value, n = Number(values.sites);
    const points = [];
    this.jobs.end();
    for (const load of [...LOADS, Infinity]) {
      const words = simWords(name, { ...values, entries: '2000', load: load === Infinity ? 'closed' : String(load / n) });
      const answer = await this.jobs.run([...words, '--format', 'json']);
      if (turn !== this.turn) return;
      if (answer.status !== 0) {
        if (load === Infinity || /rest|load/.test(answer.errors)) continue;
        this.state.textContent = answer.errors.replace(/^dibs: /, '');
        return;
      }
      points.push({ ...JSON.parse(answer.output), at: load === Infinity ? 2 * LOADS.at(-1) : load, full: load === Infinity, words });
      this.state.textContent = '';
      this.show(points, published(this.algorithms.get(name).cost, n), name);
    }
  }

  show(points, lines, name) {
    const of = (key) => points.map((point) => [point.at, point[key]]).filter(([, y]) => typeof y === 'number');
    this.charts.replaceChildren(chart(`messages per entry of ${name}`, { curves: [{ name, points: of('messages_per_entry') }], lines, x: 'load (last: closed)', logarithmic: true }),
      chart('waiting time', { curves: [{ name, points: of('wait_mean') }], x: 'load (last: closed)', logarithmic: true }));
    this.table.replaceChildren(h('table', { class: 'figures' }, h('thead', {}, h('tr', {}, ['load', 'messages per entry', 'waiting time', 'the same on the command line'].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, points.map((point, k) => h('tr', {}, h('th', { scope: 'row' }, point.full ? 'closed' : String(point.at)), h('td', {}, String(of('messages_per_entry')[k]?.[1])), h('td', {}, String(of('wait_mean')[k]?.[1])), h('td', {}, h('code', {}, `dibs ${point.words.join(' ')}`)))))));
  }
}
