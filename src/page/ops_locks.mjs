// ops_locks.mjs - the locks of all members: search, holders and waiters and since when, and, for an operator, force-unlock.
import { grouped, h } from './dom.mjs';

const PAGES_MAX = 12, DETAILS_MAX = 64, DETAILS_AT_ONCE = 16, ROWS_SHOWN = 200;

export function since(ms) {
  const s = ms / 1000;
  return s < 1 ? `${Math.round(ms)} ms` : s < 120 ? `${s.toFixed(s < 10 ? 1 : 0)} s` : s < 7200 ? `${Math.round(s / 60)} min` : s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${Math.round(s / 86400)} days`;
}

// One entry for each name, from the rows of all members; those that clients use first.
export function mergeLocks(rows) {
  const locks = new Map(), silent = new Map();
  for (const row of rows) {
    if (row.error) {
      silent.set(row.member, row.error);
      continue;
    }
    const lock = locks.get(row.name) ?? { name: row.name, algorithm: row.algorithm, slots: 0, holders: 0, waiters: 0, claims: null };
    lock.slots ||= row.slots;
    if (row.slots) lock.algorithm = row.algorithm;
    lock.holders += row.holders;
    lock.waiters += row.waiters;
    locks.set(row.name, lock);
  }
  const list = [...locks.values()].sort((a, b) => b.waiters - a.waiters || b.holders - a.holders || (a.name < b.name ? -1 : 1));
  return { list, silent };
}

// What the search field means as a pattern: a part of the name, unless it is a pattern already.
export const asPattern = (text) => (!text ? '*' : /[*?[\]]/.test(text) ? text : `*${text}*`);

export class Locks {
  // changed: called when an operator has changed something. replay: shows what a lock's algorithm did lately, or says why not.
  constructor(login, changed, replay) {
    Object.assign(this, { login, changed, replay, chosen: null, list: [], late: 0 });
    this.search = h('input', { type: 'search', 'aria-label': 'Search locks by name', placeholder: 'search: a part of the name, or a pattern', oninput: () => { clearTimeout(this.late); this.late = setTimeout(() => this.changed(), 200); } });
    this.note = h('p', { class: 'result', 'aria-live': 'polite' });
    this.outcome = h('p', { class: 'result', role: 'status' }); // of the last force-unlock
    this.table = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Locks' });
    this.detail = h('div', { class: 'detail', 'aria-live': 'polite' });
    this.dialog = h('dialog', { 'aria-labelledby': 'force-title' });
    this.place = h('section', { class: 'ops-locks' }, h('h2', { class: 'title' }, 'Locks'), this.search, this.note, this.outcome, this.table, this.detail, this.dialog);
  }

  // Asks for all pages, and for the clients of those locks that have some.
  async look() {
    const rows = [], pattern = encodeURIComponent(asPattern(this.search.value.trim()));
    let cursor = 0, pages = 0;
    do {
      const [next, some] = await this.login.ask(`locks.json?pattern=${pattern}&cursor=${cursor}`);
      rows.push(...some);
      cursor = next;
    } while (cursor && ++pages < PAGES_MAX);
    const { list, silent } = mergeLocks(rows), used = list.filter((lock) => lock.holders + lock.waiters).slice(0, DETAILS_MAX);
    const chosen = list.find((lock) => lock.name === this.chosen);
    if (chosen && !used.includes(chosen)) used.push(chosen);
    for (let k = 0; k < used.length; k += DETAILS_AT_ONCE) {
      const some = used.slice(k, k + DETAILS_AT_ONCE), answers = await this.login.ask(`claims.json?${some.map((lock) => `name=${encodeURIComponent(lock.name)}`).join('&')}`);
      answers.forEach((answer, i) => { some[i].claims = answer; });
    }
    this.list = list;
    this.more = Boolean(cursor);
    this.silent = silent;
    this.show();
  }

  show() {
    const shown = this.list.slice(0, ROWS_SHOWN), left = this.list.length - shown.length;
    const missing = [...this.silent].map(([member, why]) => `${member}: ${why}.`).join(' ');
    this.say(`${missing} ${this.more ? 'There are more locks than are asked for here: search for a part of the name.' : left > 0 ? `${grouped(left)} more locks are not shown: search for a part of the name.` : ''}`.trim());
    const head = h('thead', {}, h('tr', {}, ['Lock', 'held by', 'since', 'fence', 'waiters', 'algorithm'].map((title) => h('th', { scope: 'col' }, title))));
    const row = (lock) => {
      const holders = (lock.claims?.holders ?? []).filter((claim) => claim.client), first = holders[0];
      return h('tr', { 'data-lock': lock.name }, h('th', { scope: 'row' }, h('button', { type: 'button', class: 'link', 'aria-expanded': String(lock.name === this.chosen), onclick: () => this.choose(lock.name) }, lock.name)),
        h('td', {}, first ? `${first.who || `client ${first.client}`} at ${first.member}${first.state === 'held' ? '' : ` (${first.state})`}${lock.holders > 1 ? ` and ${grouped(lock.holders - 1)} more` : ''}` : lock.holders ? `${grouped(lock.holders)} clients` : 'free'),
        h('td', {}, first ? since(first.age_ms) : ''), h('td', {}, first ? String(first.fence) : ''), h('td', {}, grouped(lock.waiters)), h('td', {}, lock.algorithm, lock.slots ? `, ${lock.slots} slots` : ''));
    };
    const focused = document.activeElement?.closest?.('[data-lock]')?.dataset.lock;
    this.table.replaceChildren(shown.length ? h('table', { class: 'figures words' }, head, h('tbody', {}, shown.map(row))) : h('p', {}, this.search.value ? 'No lock has such a name.' : 'No member knows a lock yet.'));
    if (focused) this.table.querySelector(`[data-lock="${CSS.escape(focused)}"] button`)?.focus();
    this.showDetail();
  }

  say(text, bad = false) {
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.className = `result${bad ? ' bad' : ''}`;
  }

  choose(name) {
    this.outcome.textContent = '';
    this.chosen = this.chosen === name ? null : name;
    this.show();
    this.onchoose?.(this.chosen);
    this.changed();
  }

  showDetail() {
    const lock = this.list.find((one) => one.name === this.chosen);
    if (!lock) return this.detail.replaceChildren();
    const rows = (claims, held) => (Array.isArray(claims) ? claims : []).map((claim) => (claim.client === undefined
      ? h('tr', {}, h('th', { scope: 'row' }, claim.member), h('td', { colspan: held ? 7 : 4 }, claim.error))
      : h('tr', {}, h('th', { scope: 'row' }, claim.who || `client ${claim.client}`), h('td', {}, claim.from), h('td', {}, claim.member), h('td', {}, claim.mode), held ? [h('td', {}, claim.state), h('td', {}, String(claim.fence)), h('td', {}, claim.value)] : null, h('td', {}, since(claim.age_ms)))));
    const table = (title, claims, held) => (Array.isArray(claims) && claims.length ? h('table', { class: 'figures words' }, h('caption', {}, title),
      h('thead', {}, h('tr', {}, ['Client', 'from', 'member', 'mode', ...(held ? ['state', 'fence', 'value'] : []), held ? 'holds for' : 'waits for'].map((text) => h('th', { scope: 'col' }, text)))), h('tbody', {}, rows(claims, held))) : h('p', {}, `${title}: none.`));
    const held = (lock.claims?.holders ?? []).some?.((claim) => claim.client !== undefined);
    const had = ['.force', '.replay'].find((button) => this.detail.contains(document.activeElement) && document.activeElement.matches(button)); // it is made anew
    this.detail.replaceChildren(h('h3', {}, lock.name), ...(lock.claims?.error ? [h('p', { class: 'result bad' }, lock.claims.error)] : [table('Holders', lock.claims?.holders, true), table('Waiters', lock.claims?.waiters, false)]),
      h('button', { type: 'button', class: 'replay', onclick: () => this.showReplay(lock.name) }, 'Replay what happened'), ' ',
      lock.claims?.force?.[0] ? h('button', { type: 'button', class: 'force', disabled: !held, onclick: () => this.askForce(lock) }, 'Take it away…') : h('p', {}, `This login may not take it away from its holders${lock.claims?.force?.[1] ? `: ${lock.claims.force[1]}` : '.'}`));
    if (had) this.detail.querySelector(had)?.focus();
    return undefined;
  }

  async showReplay(name) {
    try {
      const wrong = await this.replay(name);
      this.outcome.textContent = wrong ? `There is no replay of “${name}”: ${wrong}` : '';
    } catch (error) {
      this.outcome.textContent = `There is no replay of “${name}”: ${error.message}`;
    }
  }

  askForce(lock) {
    const holders = lock.claims.holders.filter((claim) => claim.client !== undefined);
    const close = () => this.dialog.close();
    this.dialog.replaceChildren(h('h2', { id: 'force-title' }, `Take “${lock.name}” away?`),
      h('p', {}, `${holders.length === 1 ? 'This client loses' : `These ${holders.length} clients lose`} the lock at once, and ${lock.waiters ? 'the next one that waits is granted it' : 'others can be granted it'}. “dibs lock” ends its command then; other programs may go on with what they do, so be sure that it does no harm.`),
      h('ul', {}, holders.slice(0, 10).map((claim) => h('li', {}, `${claim.who || `client ${claim.client}`} at ${claim.member}, for ${since(claim.age_ms)}`)), holders.length > 10 ? h('li', {}, `and ${holders.length - 10} more`) : null),
      h('div', { class: 'row' }, h('button', { type: 'button', autofocus: true, onclick: close }, 'Leave it'), h('button', { type: 'button', class: 'danger', onclick: () => { close(); this.force(lock.name); } }, 'Take it away')));
    this.dialog.showModal();
  }

  async force(name) {
    try {
      const rows = await (await this.login.call('force-unlock', name)).json();
      const lost = rows.filter((row) => row.client !== undefined).length;
      this.outcome.textContent = `“${name}” was taken away from ${lost} ${lost === 1 ? 'client' : 'clients'}.`;
    } catch (error) {
      this.outcome.textContent = `“${name}” was not taken away: ${error.message}`;
    }
    this.changed();
  }
}
