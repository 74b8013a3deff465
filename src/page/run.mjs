// run.mjs - the run that the stage, the time line and the trace show: one selection, one place, several runs.
//
// The WebAssembly module keeps the run; here are its last answer (state), its steps, and the tree of runs. A move that is
// made before the end of a run begins another run, and the old one stays in the list. A run is written as a scenario, in one
// line for the address of the page: lines are separated by ~ and words by dots.
import { Laboratory } from './module.mjs';

export const NEEDS = ['fifo', 'reliable', 'alive', 'bounded-delay', 'broadcast', 'sequenced', 'detection'];
const ADDRESS_MAX = 100000, ADDRESS_MOVES = 3000, SITES_MAX = 64, FILE_MAX = 100e6;

export class Run extends EventTarget {
  constructor(module, algorithms) {
    super();
    this.module = module;
    this.algorithms = algorithms;
    this.lab = new Laboratory(module);
    this.runs = [];
    this.held = new Set();
    this.seed = 1;
  }

  // Opens a scenario. Returns null, or what is wrong with it: {line, error}. The old run stays on the stage then.
  open(path, text, { at = 0, title = '', name = path, fork, keeps } = {}) {
    const sites = Number(/^\s*sites\s+(\d+)/m.exec(text)?.[1] ?? 1);
    const answer = sites > SITES_MAX ? { line: 0, error: `the stage shows 1 to ${SITES_MAX} sites, not ${sites}` } // a world of millions would fill the memory
      : this.load(path, text);
    if (answer.error) return answer;
    if (fork === undefined) this.runs = [{ name, from: null, at: 0 }];
    this.title = title;
    this.begin = /^recorded$/m.test(text) ? text.match(/^(recorded$|(state|before|inflight) .*)/gm) : [];
    this.records = this.begin.length ? text.match(/^recorded .*/gm) ?? [] : [];
    this.held.clear();
    this.index = fork ?? 0;
    this.steps = answer.steps;
    this.remarks = this.runs[this.index].remarks ?? answer.remarks;
    this.state = at ? this.lab.call('page_seek', at) : answer.state;
    if (keeps !== undefined && keeps !== this.state.keeps) this.state = this.lab.call('page_keep', keeps);
    this.changed();
    return null;
  }

  // {state, steps, remarks}, or {line, error}. A module that has run out of memory is replaced, with the old run in it.
  load(path, text) {
    try {
      const state = this.lab.open(path, text), steps = [];
      if (state.error) return state;
      for (let remarks; ;) {
        const answer = this.lab.call('page_steps', steps.length);
        for (const step of answer.steps) steps.push(step);
        remarks ??= answer.remarks;
        if (steps.length > state.count) return { state, steps, remarks };
      }
    } catch (error) {
      this.lab = new Laboratory(this.module);
      if (this.state) {
        this.lab.open('run.txt', this.scene());
        this.state = this.lab.call('page_seek', this.state.place);
      }
      return { line: 0, error: /^(state|before) /m.test(text) ? `what was recorded makes no sense to the algorithm (${error.message})` : `this run needs more than a browser gives (${error.message}); try fewer sites` };
    }
  }

  changed() {
    this.runs[this.index].moves = this.state.count;
    this.dispatchEvent(new Event('change'));
  }

  // Before another run takes the stage.
  putAside() {
    Object.assign(this.runs[this.index], { text: this.scene(), remarks: this.remarks, keeps: this.state.keeps });
  }

  // Makes a move, given by its text and the function of the module. Returns null, or why it cannot be made. If it is the next
  // move of the run anyway, the run goes on; any other one begins another run.
  make(move, name, number) {
    const { place, count } = this.state;
    if (move === this.steps[place + 1]?.move) {
      this.seek(place + 1);
      return null;
    }
    if (place < count) this.putAside();
    const answer = this.lab.call(name, number);
    if (answer.error) return answer.error;
    this.state = answer;
    if (place < count) {
      this.runs.push({ name: `from move ${place} of run ${this.index + 1}`, from: this.index, at: place });
      this.index = this.runs.length - 1;
      this.remarks = this.remarks.filter((remark) => remark.before <= place);
      this.steps = this.steps.slice(0, place + 1);
      this.records = this.records.slice(0, place);
    }
    this.steps.push(...this.lab.call('page_steps', place + 1).steps);
    this.changed();
    return null;
  }

  act(action) {
    return action.why ?? this.make(action.move, 'page_act', action.id);
  }

  cut(sites) {
    return this.make(sites.length ? `cut ${sites.join(' ')}` : 'heal', 'page_cut', sites.reduce((side, site) => side | (1 << site), 0) >>> 0);
  }

  seek(place) {
    place = Math.max(0, Math.min(place, this.state.count));
    if (place === this.state.place) return;
    this.state = this.lab.call('page_seek', place);
    this.changed();
  }

  keep(keeps) {
    this.state = this.lab.call('page_keep', keeps);
    this.changed();
  }

  switchTo(index) {
    const run = this.runs[index];
    this.putAside();
    this.open('run.txt', run.text, { at: run.moves, fork: index, title: this.title, keeps: run.keeps });
  }

  static key(flight) {
    return `${flight.number}:${flight.to}`;
  }

  // The three actions on the message at this place of state.flights: deliver, lose, duplicate.
  messageActions(k) {
    return this.lab.call('page_message', k).actions;
  }

  chance(below) {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.seed / 2 ** 32) * below);
  }

  // A random move of those that are possible and are no failures. Held messages are left out.
  random() {
    const actions = this.state.sites.flatMap((site) => site.actions).filter((action) => !action.why && /^(request|release|timer) /.test(action.move));
    const { flights, inFlight } = this.state, messages = Array.from({ length: inFlight }, (_, k) => k).filter((k) => !flights[k] || !this.held.has(Run.key(flights[k])));
    while (actions.length + messages.length) {
      const chosen = this.chance(actions.length + messages.length);
      if (chosen < actions.length) return this.act(actions[chosen]);
      const [deliver] = this.messageActions(messages[chosen - actions.length]);
      if (!deliver.why) return this.act(deliver);
      messages.splice(chosen - actions.length, 1); // an older one has to arrive before it
    }
    return 'no move is possible';
  }

  // -------------------------------------------------------------------------------------------------------- as text

  // The run as a scenario without output: the scene, then the moves.
  scene() {
    const { state } = this, known = this.algorithms.get(state.algorithm);
    const lines = [`algorithm ${state.algorithm}`, `sites ${state.sites.length}`, `rule ${state.rule}`];
    if (state.mistake) lines.push(`set mistake=${state.mistake}`);
    for (const { key, initial } of known.options)
      if (String(state.options[key]) !== String(initial)) lines.push(`set ${key}=${state.options[key]}`);
    lines.push(`order ${state.keeps & 1 ? 'fifo' : 'any'}`, ...this.begin);
    return lines.concat(this.steps.slice(1).flatMap((step, k) => (this.records[k] ? [step.move, this.records[k]] : [step.move]))).join('\n') + '\n';
  }

  // Empty for a run that is too long for an address, or was recorded: its content is not for all readers of a link.
  address(hash) {
    if (this.state.count > ADDRESS_MOVES || this.begin.length) return '#';
    const run = this.scene().trim().replaceAll(' ', '.').replaceAll('\n', '~');
    return `#v=${hash}&at=${this.state.place}&keeps=${this.state.keeps}&run=${encodeURI(run)}`;
  }

  // Opens a file that the user has chosen. Returns null, or what is wrong with it.
  async openFile(file) {
    if (file.size > FILE_MAX) return `${file.name} is larger than ${FILE_MAX / 1e6} MB, so it was not opened.`;
    const text = await file.text();
    if (text.includes('\0') || text.includes('\ufffd')) return `${file.name} is no scenario: it is not a text. The page opens what it saves, and what dibs check --save writes.`;
    const wrong = this.open(file.name, text, { name: file.name, title: /^(#.*\n)+/.exec(text)?.[0].replace(/^# ?/gm, '').replaceAll('\n', ' ').trim() ?? '' });
    if (wrong) return `${file.name}${wrong.line ? `, line ${wrong.line}` : ''}: ${wrong.error}`;
    this.isStory = false;
    return null;
  }

  // Opens the run in an address. Returns null, or a line for the user: {text, bad}. Moves that are not possible are left out,
  // with all that follow them.
  openAddress(address, hash) {
    const parts = new URLSearchParams(address.replace(/^#/, '')), run = parts.get('run'), version = parts.get('v') ?? hash;
    if (!run) return null;
    if (run.length > ADDRESS_MAX) return { text: 'The address is too long for a run, so it was not opened.', bad: true };
    const lines = run.replaceAll('.', ' ').split('~');
    const other = version === hash ? '' : `This link was made by another version of dibs (${version.slice(0, 20)}; this is ${hash}). `;
    const at = Math.min(Number(parts.get('at')) || 0, lines.length), promises = Number(parts.get('keeps') ?? NaN);
    const keeps = Number.isInteger(promises) && promises >= 0 && promises < 1 << NEEDS.length ? promises : undefined;
    for (let tries = 0; tries < 2; tries++) {
      const wrong = this.open('link.txt', lines.join('\n') + '\n', { at, name: 'from the link', keeps });
      if (!wrong && tries) return { text: `${other}Its moves are shown up to the first one that is not possible here.`, bad: true };
      if (!wrong) return other ? { text: `${other}Its moves are possible here, too.`, bad: false } : null;
      if (wrong.line < 2 || tries) return { text: `${other}The run in the address cannot be opened: ${wrong.error}`, bad: true };
      lines.length = wrong.line - 1;
    }
    return null;
  }
}
