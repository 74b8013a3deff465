// service.mjs - the room of the daemon that serves this page: its members and its numbers, as /status.json and /metrics tell
// them. It reads only, and no names of locks are told there. A page from disk, or of "dibs lab", does not have this room.
import { byId, grouped, h } from './dom.mjs';
import { chart } from './chart.mjs';

const EVERY_MS = 1000, KEPT = 120; // samples

// "dibs_grants_total 4" and "dibs_wait_seconds_bucket{le="0.5"} 3" as a map from name to value.
export function readMetrics(text) {
  return new Map(text.split('\n').filter((line) => line && line[0] !== '#').map((line) => {
    const at = line.lastIndexOf(' ');
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}

// The least bound of the histogram below which the share q of all values lies; null if there are none.
export function quantile(metrics, name, q) {
  const all = metrics.get(`${name}_count`);
  if (!all) return null;
  for (const [key, count] of metrics) {
    const bound = key.startsWith(`${name}_bucket`) && /le="([^"]+)"/.exec(key)?.[1];
    if (bound && count >= q * all) return bound === '+Inf' ? Infinity : Number(bound);
  }
  return null;
}

export class Service {
  // Resolves to whether a daemon serves this page.
  static async isThere() {
    if (!location.protocol.startsWith('http')) return false;
    try {
      const answer = await fetch('status.json');
      return answer.ok && (answer.headers.get('Content-Type') ?? '').includes('json');
    } catch {
      return false;
    }
  }

  constructor() {
    this.samples = [];
    this.state = h('p', { class: 'result', 'aria-live': 'polite' });
    this.members = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Members' });
    this.numbers = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Numbers' });
    this.charts = h('div', { class: 'charts' });
    byId('room-service').append(h('div', { class: 'sheet' }, this.state, h('h2', { class: 'title' }, 'Members'), this.members, h('h2', { class: 'title' }, 'This member’s clients'), this.numbers, this.charts,
      h('p', {}, 'The daemon tells no names of locks here. On the machine itself, dibs holders, dibs waiters, dibs locks and dibs watch show them.')));
  }

  begin() {
    if (this.timer) return;
    this.timer = setInterval(() => byId('room-service').hidden || this.look(), EVERY_MS);
    this.look();
  }

  async look() {
    if (this.asking) return;
    this.asking = true;
    try {
      const [status, metrics] = await Promise.all([fetch('status.json').then((a) => a.json()), fetch('metrics').then((a) => a.text())]);
      this.show(status, readMetrics(metrics));
    } catch (error) {
      this.say(`The daemon does not answer (${error.message}). What is shown below is old.`, 'bad');
    }
    this.asking = false;
  }

  say(text, kind) {
    if (this.state.textContent !== text) this.state.textContent = text;
    this.state.className = `result ${kind}`;
  }

  show(status, metrics) {
    const at = performance.now() / 1000;
    this.samples.push({ at, grants: metrics.get('dibs_grants_total'), waiters: metrics.get('dibs_waiters') });
    if (this.samples.length > KEPT) this.samples.shift();
    this.say(status.ready ? `Member ${status.member} grants locks. View ${status.view}, ${metrics.get('dibs_view_members') ?? 1} members take part.` : `Member ${status.member} grants nothing now: ${status.reason}`, status.ready ? 'good' : 'bad');
    this.members.replaceChildren(h('table', { class: 'figures' }, h('thead', {}, h('tr', {}, ['Member', 'address', 'takes part', 'link', ''].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, (status.members ?? []).map((m) => h('tr', {}, h('th', { scope: 'row' }, m.name), h('td', {}, m.address), h('td', {}, m.takes_part ? 'yes' : 'no'), h('td', {}, m.state), h('td', {}, m.reason))))));
    this.showNumbers(status, metrics);
    this.showCharts();
  }

  showNumbers(status, metrics) {
    const ms = (name, q) => {
      const seconds = quantile(metrics, name, q);
      return seconds === null ? 'none yet' : seconds === Infinity ? 'very long' : `at most ${Number((1000 * seconds).toPrecision(3))} ms`;
    };
    const lease = metrics.get('dibs_vouches_seconds');
    const rows = [['holders now', grouped(metrics.get('dibs_holders'))], ['waiters now', grouped(metrics.get('dibs_waiters'))], ['locks', grouped(metrics.get('dibs_locks'))],
      ['grants', grouped(metrics.get('dibs_grants_total'))], ['losses', grouped(metrics.get('dibs_losses_total'))], ['time-outs', grouped(metrics.get('dibs_timeouts_total'))],
      ['half of the waits', ms('dibs_wait_seconds', 0.5)], ['99% of the waits', ms('dibs_wait_seconds', 0.99)], ['half of the hand-overs', ms('dibs_handover_seconds', 0.5)],
      ['lease', Number.isFinite(lease) ? `${lease.toFixed(2)} s more` : 'without end: the only member'], ['algorithm', status.algorithm], ['memory', `${grouped(Math.round(status.memory_bytes / 1024))} KB`]];
    this.numbers.replaceChildren(h('table', { class: 'figures' }, h('tbody', {}, rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', { 'data-number': name }, value))))));
  }

  showCharts() {
    const last = this.samples.at(-1).at, rate = this.samples.slice(1).map((s, k) => [Math.round(s.at - last), Math.max(0, (s.grants - this.samples[k].grants) / (s.at - this.samples[k].at))]);
    if (rate.length < 2) return;
    this.charts.replaceChildren(chart('grants per second', { curves: [{ name: 'grants', points: rate }], x: 'seconds ago' }),
      chart('waiters', { curves: [{ name: 'waiters', points: this.samples.map((s) => [Math.round(s.at - last), s.waiters]) }], x: 'seconds ago' }));
  }
}
