// ops_login.mjs - who looks at the daemon's room. A token of "dibs page-token" opens a login, which has two secrets: a cookie that
// scripts cannot read, and a pass, which the page keeps in storage that belongs to this address and port, and sends in a header.
import { h } from './dom.mjs';

const PASS = 'dibs-pass';

function readPass() {
  try { return localStorage.getItem(PASS); } catch { return null; }
}
function keepPass(pass) {
  try { if (pass) localStorage.setItem(PASS, pass); else localStorage.removeItem(PASS); } catch { /* no storage: for this view of the page only */ }
}

// Events: "change", when the page is logged in or out.
export class Login extends EventTarget {
  // The token of the address, "#login=...", or null. It is taken out of the address.
  static token() {
    const token = /^#login=([0-9a-f]{32})$/.exec(location.hash)?.[1] ?? null;
    if (token) history.replaceState(null, '', location.pathname);
    return token;
  }

  constructor() {
    super();
    this.pass = readPass();
    this.underWay = new Set(); // requests without an answer
    this.who = null; // {operator, from, seconds}; null: not logged in
    this.input = h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', 'aria-label': 'The address or token that dibs page-token has printed', placeholder: 'address or token' });
    this.said = h('p', { class: 'result', role: 'status' });
    this.place = h('div', { class: 'login' });
    this.draw();
  }

  get headers() { return this.pass ? { 'X-Dibs-Pass': this.pass } : {}; }

  // The answer to a request that needs a login; throws a line for people.
  async call(path, body) {
    const asked = fetch(path, { method: body === undefined ? 'GET' : 'POST', body, headers: this.headers });
    this.underWay.add(asked);
    const answer = await asked.finally(() => this.underWay.delete(asked));
    if (answer.status === 401) this.forget('You are logged out: the time is over, or the daemon was started again.');
    if (!answer.ok) throw new Error(await Login.reason(answer));
    return answer;
  }
  async ask(path) { return (await this.call(path)).json(); }

  static async reason(answer) {
    const text = (await answer.text()).trim();
    try { return JSON.parse(text).error ?? text; } catch { return text || `status ${answer.status}`; }
  }

  // Does the page have a login from before?
  async resume() {
    if (!this.pass) return;
    try {
      this.who = await this.ask('login.json');
      this.changed();
    } catch { /* forget() has said it */ }
  }

  async open(text) {
    const token = /([0-9a-f]{32})\s*$/.exec(text)?.[1];
    if (!token) return this.say('That is no address and no token of dibs page-token.', true);
    try {
      const answer = await fetch('login', { method: 'POST', body: token });
      if (!answer.ok) return this.say(await Login.reason(answer), true);
      const { pass, ...who } = await answer.json();
      this.pass = pass;
      keepPass(pass);
      this.who = who;
      this.say('');
    } catch (error) {
      return this.say(`The daemon does not answer (${error.message}).`, true);
    }
    return this.changed();
  }

  // The login is forgotten first, so that no request is refused because the login ends while it is under way.
  async close() {
    const headers = this.headers;
    this.forget('');
    await Promise.allSettled(this.underWay);
    try { await fetch('logout', { method: 'POST', body: '', headers }); } catch { /* then it is closed already */ }
  }

  forget(why) {
    const before = this.who;
    this.pass = this.who = null;
    keepPass(null);
    this.say(before ? why : '');
    if (before) this.changed();
  }

  say(text, bad = false) {
    this.said.textContent = text;
    this.said.className = `result${bad ? ' bad' : ''}`;
  }

  changed() {
    this.draw();
    this.dispatchEvent(new Event('change'));
  }

  draw() {
    if (this.who)
      this.place.replaceChildren(h('p', {}, `Logged in as ${this.who.from || 'a client'}: `, this.who.operator ? 'an operator, who may take locks away.' : 'you may look.'),
        h('button', { type: 'button', onclick: () => this.close() }, 'Log out'));
    else
      this.place.replaceChildren(h('form', { class: 'form', onsubmit: (event) => { event.preventDefault(); this.open(this.input.value); this.input.value = ''; } },
        h('p', {}, 'Names of locks are told only after a login. Run ', h('code', {}, 'dibs page-token'), ' on the daemon’s machine, and open the address that it prints, or paste it here:'),
        this.input, h('button', { type: 'submit' }, 'Log in')), this.said);
  }
}
