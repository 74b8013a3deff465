// race.mjs - two to four algorithms on the same arrivals. Each is simulated for 1/16 of the entries, then twice as many, and
// so on; the last figures are those of "dibs sim" with the words that are shown.
import { byId, field, h, select } from './dom.mjs';
import { chart, swatch } from './chart.mjs';

// The fields in which a load is described, for the race and for the load laboratory.
export function loadFields({ sites = 10, entries = 8000 } = {}) {
  const number = (value, min, max, step = 'any') => h('input', { type: 'number', min, max, step, value: String(value), required: true });
  const fields = {
    sites: number(sites, 2, 200, 1), load: select([['closed', 'full: ask again at once'], ['0.1', 'heavy: rate 0.1'], ['0.02', 'medium: rate 0.02'], ['0.001', 'light: rate 0.001']], '0.02'),
    delay: select([['const:1', 'constant 1'], ['uniform:0.5,1.5', 'uniform 0.5 to 1.5'], ['exp:1', 'exponential, mean 1'], ['lognormal:1,0.5', 'lognormal, mean 1']], 'exp:1'),
    hold: number(0.1, 0, 100), entries: number(entries, 100, 200000, 1), seed: number(1, 0, 1e9, 1),
  };
  return fields;
}

export function simWords(algorithm, { sites, load, delay, hold, entries, seed }) {
  return ['sim', algorithm, '--sites', sites, ...(load === 'closed' ? ['--closed'] : ['--rate', load]), '--delay', delay, '--hold', hold, '--entries', entries, '--seed', seed];
}

export const valuesOf = (fields) => Object.fromEntries(Object.entries(fields).map(([key, input]) => [key, input.value]));

export class Race {
  constructor(algorithms, jobs) {
    this.jobs = jobs;
    const names = [...algorithms.values()].filter((a) => !a.flaw && a.rules.includes('exclusive')).map((a) => a.name);
    this.runners = ['ricart-agrawala', 'suzuki-kasami', 'naimi-trehel', ''].map((name, k) => select([...(k < 2 ? [] : [['', 'none']]), ...names.map((n) => [n])], name));
    this.fields = loadFields();
    this.button = h('button', { class: 'main', type: 'submit' }, 'Start the race');
    this.table = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Figures' });
    this.charts = h('div', { class: 'charts' });
    this.words = h('p', { class: 'mono lines' });
    byId('room-race').append(h('div', { class: 'sheet' }, h('p', {}, 'Algorithms on the same arrivals, in simulated time. The unit of time is the mean delay of a message.'),
      h('form', { class: 'form', onsubmit: (event) => {
        event.preventDefault();
        this.busy ? this.jobs.end() : this.start();
      } }, this.runners.map((runner, k) => field(`Algorithm ${k + 1}`, runner)), field('Sites', this.fields.sites), field('Load', this.fields.load), field('Delay', this.fields.delay),
      field('Time inside', this.fields.hold), field('Entries', this.fields.entries), field('Seed', this.fields.seed), this.button), this.table, this.charts, this.words));
  }

  async start() {
    const values = valuesOf(this.fields), names = [...new Set(this.runners.map((runner) => runner.value).filter(Boolean))];
    const lanes = names.map((name) => ({ name, results: [], wrong: null }));
    this.busy = true;
    this.button.textContent = 'Stop';
    this.lanes = lanes;
    this.words.textContent = lanes.map(({ name }) => `dibs ${simWords(name, values).join(' ')}`).join('\n');
    for (let part = 16; part >= 1 && this.busy; part /= 2) {
      const entries = String(Math.max(10, Math.round(values.entries / part)));
      for (const lane of lanes) {
        if (lane.wrong) continue;
        const answer = await this.jobs.run([...simWords(lane.name, { ...values, entries }), '--format', 'json']);
        if (answer.status === null) this.busy = false;
        else if (answer.status !== 0) lane.wrong = answer.errors.replace(/^dibs: /, '');
        else lane.results.push(JSON.parse(answer.output));
        if (!this.busy) break;
        this.show(lanes);
      }
    }
    this.busy = false;
    this.button.textContent = 'Start the race';
  }

  show(lanes) {
    const rows = [['messages_per_entry', 'messages per entry'], ['wait_mean', 'mean waiting time'], ['wait_p95', '95% wait at most'], ['sync_delay_mean', 'synchronization delay'], ['jain', 'fairness (Jain)'], ['overtakes_mean', 'overtakes of a request']];
    const text = (x) => (typeof x === 'number' ? Number(x.toPrecision(5)).toString() : '–');
    const last = (lane) => lane.results.at(-1) ?? {};
    const known = rows.filter(([key]) => lanes.some((lane) => last(lane)[key] !== undefined));
    this.table.replaceChildren(h('table', { class: 'figures' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Algorithm'), h('th', { scope: 'col' }, 'entries'), known.map(([, title]) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, lanes.map((lane, k) => h('tr', {}, h('th', { scope: 'row' }, swatch(k), ' ', lane.name), lane.wrong ? h('td', { colspan: known.length + 1 }, lane.wrong)
        : [h('td', {}, text(last(lane).entries)), known.map(([key]) => h('td', { 'data-figure': key }, text(last(lane)[key])))])))));
    const curves = (key) => lanes.filter((lane) => lane.results.length).map((lane) => ({ name: lane.name, points: lane.results.map((r) => [r.entries, r[key]]).filter(([, y]) => typeof y === 'number') }));
    this.charts.replaceChildren(...known.filter(([key]) => ['messages_per_entry', 'wait_mean', 'jain'].includes(key)).map(([key, title]) => chart(title, { curves: curves(key), x: 'entries', logarithmic: true })));
  }
}
