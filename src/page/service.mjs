// service.mjs - the room of the daemon that serves this page. Every reader is told its members and its numbers (/status.json and
// /metrics). After a login (ops_login.mjs) it also has the locks of all members, who blocks whom, and events as they happen. A page from
// disk, or of "dibs lab", does not have this room.
import { byId, grouped, h } from './dom.mjs';
import { chart } from './chart.mjs';
import { Login } from './ops_login.mjs';
import { Locks, since } from './ops_locks.mjs';
import { Graph } from './ops_graph.mjs';
import { Events } from './ops_events.mjs';

const EVERY_MS = 1000, SOON_MS = 150, KEPT = 120; // samples

// "dibs_grants_total 4" and "dibs_wait_seconds_bucket{le="0.5"} 3" as a map from name to value.
export function readMetrics(text) {
  return new Map(text.split('\n').filter((line) => line && line[0] !== '#').map((line) => {
    const at = line.lastIndexOf(' ');
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}

// The buckets of a histogram: [bound in seconds, how many values are at most that].
export function buckets(metrics, name) {
  return [...metrics].filter(([key]) => key.startsWith(`${name}_bucket`)).map(([key, count]) => {
    const bound = /le="([^"]+)"/.exec(key)[1];
    return [bound === '+Inf' ? Infinity : Number(bound), count];
  });
}

// The least bound of the histogram below which the share q of all values lies; null if there are none.
export function quantile(metrics, name, q) {
  const all = metrics.get(`${name}_count`);
  return all ? buckets(metrics, name).find(([, count]) => count >= q * all)?.[0] ?? Infinity : null;
}

export class Service {
  // Resolves to whether a daemon serves this page. If the address has a token, this room is opened with it.
  static async isThere() {
    if (!location.protocol.startsWith('http')) return false;
    Service.token = Login.token();
    try {
      const answer = await fetch('status.json'), there = answer.ok && (answer.headers.get('Content-Type') ?? '').includes('json');
      if (there && Service.token) setTimeout(() => byId('tab-service').click());
      return there;
    } catch {
      return false;
    }
  }

  // run: the stage's, for replays.
  constructor(run, showRoom) {
    Object.assign(this, { run, showRoom });
    this.samples = [];
    this.login = new Login();
    this.locks = new Locks(this.login, () => this.lookSoon(), (name) => this.replay(name));
    this.graph = new Graph();
    this.events = new Events(this.login);
    this.state = h('p', { class: 'result', 'aria-live': 'polite' });
    this.members = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Members' });
    this.views = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Views' });
    this.numbers = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Numbers' });
    this.charts = h('div', { class: 'charts' });
    this.inner = h('div', { class: 'ops', hidden: true }, this.locks.place, this.events.place, this.graph.place);
    byId('room-service').append(h('div', { class: 'sheet wide' }, this.state, this.login.place, this.inner,
      h('h2', { class: 'title' }, 'Members'), this.members, h('h2', { class: 'title' }, 'Views of this member, the latest first'), this.views, h('h2', { class: 'title' }, 'This member’s clients'), h('div', { class: 'ops-side' }, this.numbers, this.charts)));
    this.login.addEventListener('change', () => this.enter());
    this.events.addEventListener('event', () => this.lookSoon());
    this.begun = Service.token ? this.login.open(Service.token) : this.login.resume();
  }

  enter() {
    this.inner.hidden = !this.login.who;
    if (this.login.who) this.events.begin();
    else this.events.end();
    this.lookSoon();
  }

  // What the algorithm of this lock did lately, at all members, on the stage. Returns null, or why that is not possible.
  async replay(name) {
    const answers = await this.login.ask(`replay.json?name=${encodeURIComponent(name)}`);
    if (answers.error) return answers.error;
    const { error, text } = this.run.lab.replay(name, answers.map(({ member, trace }) => [member, trace ?? '']));
    if (error) return error;
    const wrong = this.run.open('replay.txt', text, { name: `replay of ${name}`, title: text.match(/^# .*/gm).slice(0, 2).map((line) => line.slice(2)).join(' ') });
    if (wrong) return wrong.error;
    this.run.isStory = false;
    this.showRoom('stage');
    byId('tab-stage').focus();
    return null;
  }

  begin() {
    if (this.timer) return;
    this.timer = setInterval(() => byId('room-service').hidden || this.look(), EVERY_MS);
    this.look();
  }

  // Something has happened: looks, at most a few times a second.
  lookSoon() {
    this.soon ??= setTimeout(() => {
      this.soon = null;
      if (!byId('room-service').hidden) this.look();
    }, SOON_MS);
  }

  async look() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    this.again = false;
    try {
      const [status, metrics, views] = await Promise.all([fetch('status.json').then((a) => a.json()), fetch('metrics').then((a) => a.text()), fetch('views.json').then((a) => a.json())]);
      this.showViews(views);
      this.show(status, readMetrics(metrics), this.login.who ? await this.lookInside() : null);
    } catch (error) {
      this.say(`The daemon does not answer (${error.message}). What is shown below is old.`, 'bad');
    }
    this.asking = false;
    if (this.again) this.lookSoon();
  }

  // The roster, or null. A question that fails leaves what is shown as it is, and says so.
  async lookInside() {
    try {
      const roster = await this.login.ask('members.json');
      await this.locks.look();
      this.graph.show(this.locks.list);
      return roster;
    } catch (error) {
      if (this.login.who) this.locks.say(`Locks are not heard: ${error.message}`, true);
      return null;
    }
  }

  say(text, kind) {
    if (this.state.textContent !== text) this.state.textContent = text;
    this.state.className = `result ${kind}`;
  }

  show(status, metrics, roster) {
    const at = performance.now() / 1000, last = this.samples.at(-1);
    if (!last || at - last.at > 0.9) this.samples.push({ at, grants: metrics.get('dibs_grants_total'), waiters: metrics.get('dibs_waiters') });
    if (this.samples.length > KEPT) this.samples.shift();
    const lease = metrics.get('dibs_vouches_seconds'), until = Number.isFinite(lease) ? ` Its lease is valid for ${lease.toFixed(2)} s more.` : '';
    this.say(status.ready ? `Member ${status.member} grants locks. View ${status.view}, ${metrics.get('dibs_view_members') ?? 1} of ${(status.members ?? [1]).length} members take part.` : `Member ${status.member} grants nothing now: ${status.reason}`, status.ready ? 'good' : 'bad');
    this.state.title = until.trim();
    this.showMembers(status, metrics, new Map((roster ?? []).map((m) => [m.name, m])));
    this.showNumbers(status, metrics);
    this.showCharts(metrics);
  }

  showMembers(status, metrics, roster) {
    const link = (what, m) => metrics.get(`dibs_link_${what}{member="${m.name}"}`), number = (x, unit = '') => (x === undefined ? '' : `${grouped(x)}${unit}`);
    const titles = ['Member', 'address', 'takes part', ...(roster.size ? ['standing', 'incarnation'] : []), 'link', 'messages', 'sent again', 'not acknowledged', 'why'];
    this.members.replaceChildren(h('table', { class: 'figures words' }, h('thead', {}, h('tr', {}, titles.map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, (status.members ?? []).map((m) => h('tr', {}, h('th', { scope: 'row' }, m.name), h('td', {}, m.address), h('td', {}, m.takes_part ? 'yes' : 'no'),
        roster.size ? [h('td', {}, roster.get(m.name)?.standing), h('td', {}, String(roster.get(m.name)?.incarnation ?? ''))] : null,
        h('td', {}, m.state), h('td', {}, number(link('messages_total', m))), h('td', {}, number(link('resends_total', m))), h('td', {}, number(link('backlog_bytes', m), ' bytes')), h('td', {}, m.reason || ''))))));
  }

  // What has changed from one view to the next: members that came, and that went.
  showViews(views) {
    const names = (view) => (view ? view.members.split(' ').filter(Boolean) : []);
    const change = (view, before) => [...names(view).filter((m) => before && !names(before).includes(m)).map((m) => `${m} came`), ...names(before).filter((m) => !names(view).includes(m)).map((m) => `${m} went`)].join(', ');
    this.views.replaceChildren(h('table', { class: 'figures words' }, h('thead', {}, h('tr', {}, ['View', 'take part', 'change', 'installed', 'locks granted'].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, views.map((view, k) => h('tr', { 'data-view': view.view }, h('th', { scope: 'row' }, grouped(view.view)), h('td', {}, names(view).join(', ') || 'none'), h('td', {}, change(view, views[k + 1])),
        h('td', {}, `${since(view.age_ms)} ago`), h('td', {}, !view.takes_part ? 'not here' : view.opened ? `after ${view.opened_after_ms} ms` : k ? 'never' : 'not yet'))))));
  }

  showNumbers(status, metrics) {
    const ms = (name, q) => {
      const seconds = quantile(metrics, name, q);
      return seconds === null ? 'none yet' : seconds === Infinity ? 'very long' : `at most ${Number((1000 * seconds).toPrecision(3))} ms`;
    };
    const lease = metrics.get('dibs_vouches_seconds');
    const rows = [['holders now', grouped(metrics.get('dibs_holders'))], ['waiters now', grouped(metrics.get('dibs_waiters'))], ['locks', grouped(metrics.get('dibs_locks'))],
      ['grants', grouped(metrics.get('dibs_grants_total'))], ['losses', grouped(metrics.get('dibs_losses_total'))], ['time-outs', grouped(metrics.get('dibs_timeouts_total'))],
      ['half of the waits', ms('dibs_wait_seconds', 0.5)], ['99% of the waits', ms('dibs_wait_seconds', 0.99)], ['half of the hand-overs', ms('dibs_handover_seconds', 0.5)], ['99% of the hand-overs', ms('dibs_handover_seconds', 0.99)],
      ['lease', Number.isFinite(lease) ? `${lease.toFixed(2)} s more` : 'without end: the only member'], ['algorithm', status.algorithm], ['memory', `${grouped(Math.round(status.memory_bytes / 1024))} KB`]];
    this.numbers.replaceChildren(h('table', { class: 'figures' }, h('tbody', {}, rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', { 'data-number': name }, value))))));
  }

  showCharts(metrics) {
    const last = this.samples.at(-1).at, rate = this.samples.slice(1).map((s, k) => [Math.round(s.at - last), Math.max(0, (s.grants - this.samples[k].grants) / (s.at - this.samples[k].at))]);
    const all = metrics.get('dibs_handover_seconds_count'), handover = all ? buckets(metrics, 'dibs_handover_seconds').filter(([bound]) => bound !== Infinity).map(([bound, count]) => [1000 * bound, (100 * count) / all]) : null;
    this.charts.replaceChildren(...(rate.length < 2 ? [] : [chart('grants per second', { curves: [{ name: 'grants', points: rate }], x: 'seconds ago', least: 1 }),
      chart('waiters', { curves: [{ name: 'waiters', points: this.samples.map((s) => [Math.round(s.at - last), s.waiters]) }], x: 'seconds ago', least: 4 })]),
      ...(handover ? [chart('hand-overs: per cent that took at most so long', { curves: [{ name: 'hand-overs', points: handover }], x: 'ms', logarithmic: true })] : []));
  }
}
