// ops_events.mjs - what happens to locks, as it happens: the daemon's server-sent events. They are read by fetch, not by EventSource,
// which cannot send the header with the pass.
import { h } from './dom.mjs';

const SHOWN = 100, AGAIN_MS = 1500;

// "granted ant 3 1794783362105714 exclusive web1:812 backup.sh", and perhaps a tab and a value
export function readEvent(name, line) {
  const [words, value = ''] = line.split('\t'), [event, member, client, fence, mode, ...who] = words.split(' ');
  return { name, event, member, client: Number(client), fence: Number(fence), mode, who: who.join(' '), value };
}

// Events: "event" (detail: readEvent), for each one.
export class Events extends EventTarget {
  constructor(login) {
    super();
    this.login = login;
    this.state = h('p', { class: 'result', 'aria-live': 'polite' });
    this.list = h('ol', { class: 'feed', tabindex: '0', 'aria-label': 'What has happened, newest first' });
    this.place = h('section', { class: 'ops-events' }, h('h2', { class: 'title' }, 'Events'), this.state, this.list);
  }

  begin() {
    if (this.stop) return;
    this.stop = new AbortController();
    this.follow();
  }

  end() {
    this.stop?.abort();
    this.stop = null;
    this.list.replaceChildren();
  }

  async follow() {
    const { signal } = this.stop;
    while (!signal.aborted) {
      try {
        const answer = await fetch('events', { headers: this.login.headers, signal });
        if (!answer.ok) throw new Error((await answer.text()).trim());
        this.state.textContent = this.list.childElementCount ? '' : 'None since this page was opened.';
        await this.read(answer.body.getReader());
      } catch (error) {
        if (!signal.aborted) this.state.textContent = `Events are not heard: ${error.message}`;
      }
      await new Promise((wake) => setTimeout(wake, AGAIN_MS));
    }
  }

  async read(reader) {
    const decoder = new TextDecoder();
    for (let text = '', part; !(part = await reader.read()).done;) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop();
      blocks.forEach((block) => this.hear(block));
    }
  }

  hear(block) {
    const kind = /^event: (.*)$/m.exec(block)?.[1], data = /^data: (.*)$/m.exec(block)?.[1];
    if (kind === 'dropped') this.add(h('li', { class: 'remark' }, 'Events came faster than this page has read them: some are missing here.'));
    if (kind || !data) return;
    const [what, , name, line] = JSON.parse(data);
    if (what !== 'pmessage') return;
    const event = readEvent(name, line);
    this.add(h('li', { class: event.event }, h('time', {}, new Date().toLocaleTimeString()), h('b', {}, event.event), ` ${event.name}`, h('span', {}, `${event.who || `client ${event.client}`} at ${event.member}`)));
    this.dispatchEvent(new CustomEvent('event', { detail: event }));
  }

  add(item) {
    this.state.textContent = '';
    this.list.prepend(item);
    while (this.list.childElementCount > SHOWN) this.list.lastElementChild.remove();
  }
}
