// stage.mjs - the sites, on the figure that the algorithm uses, and the messages between them.
import { byId, grouped, h, icon, note, svg } from './dom.mjs';
import { Run } from './run.mjs';
import { openMenu } from './menu.mjs';

const PACE_MS = 800, HURRY_MS = 40; // from move to move: few sites, many
const CROWD = 12, LABELS = 40, LETTER = 7.3;

// ------------------------------------------------------------------------------------------------------------- places

function onCircle(k, n, { width, height }) {
  const crowd = n > CROWD, angle = -Math.PI / 2 + (2 * Math.PI * k) / n, radius = height / 2 - (crowd ? 40 : 58);
  const across = crowd ? width / 2 - 28 : Math.min(width / 2 - 60, 1.45 * radius); // a crowd takes all the room there is
  return { x: width / 2 + across * Math.cos(angle), y: height / 2 + radius * Math.sin(angle) };
}

// Leaves stand side by side, a parent above the middle of its children.
function onTree(sites, { width, height }) {
  const children = sites.map(() => []), depth = sites.map(() => 0), places = [];
  let leaves = 0, deepest = 0;
  sites.forEach((site, k) => site.next !== null && children[site.next].push(k));
  const put = (k, level) => {
    depth[k] = level;
    deepest = Math.max(deepest, level);
    children[k].forEach((child) => put(child, level + 1));
    const below = children[k].map((child) => places[child].column);
    places[k] = { column: below.length ? (below[0] + below.at(-1)) / 2 : leaves++ };
  };
  put(sites.findIndex((site) => site.next === null), 0);
  return places.map(({ column }, k) => ({
    x: leaves > 1 ? 60 + ((width - 120) * column) / (leaves - 1) : width / 2,
    y: deepest ? 54 + ((height - 116) * depth[k]) / deepest : height / 2,
  }));
}

function onGrid(n, { width, height }) {
  const columns = Math.ceil(Math.sqrt(n)), rows = Math.ceil(n / columns);
  const across = Math.min(300, (width - 140) / Math.max(1, columns - 1)), down = Math.min(220, (height - 130) / Math.max(1, rows - 1));
  return (k) => ({ x: width / 2 + (k % columns - (columns - 1) / 2) * across, y: height / 2 - 6 + (Math.floor(k / columns) - (rows - 1) / 2) * down });
}

// Where the sites stand in a picture of this size.
export function placesOf(state, size) {
  const n = state.sites.length, middle = { x: size.width / 2, y: size.height / 2 };
  if (state.layout === 'tree') return onTree(state.sites, size);
  const at = n === 1 ? () => middle : state.layout === 'grid' ? onGrid(n, size)
    : state.layout === 'star' ? (k) => (k ? onCircle(k - 1, n - 1, size) : middle) : (k) => onCircle(k, n, size);
  const places = state.sites.map((_, k) => at(k)), heights = places.map(({ y }) => y);
  const lower = (size.height - Math.min(...heights) - Math.max(...heights)) / 2; // three sites on a circle leave room below
  return places.map(({ x, y }) => ({ x, y: y + lower }));
}

// A point on the way from a to b, which bends to the right, so that the two directions are apart.
function between(a, b, part) {
  const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy) || 1, bend = Math.min(34, length / 6);
  const middle = { x: (a.x + b.x) / 2 - (dy / length) * bend, y: (a.y + b.y) / 2 + (dx / length) * bend };
  const mix = (p, q, r) => (1 - part) ** 2 * p + 2 * part * (1 - part) * q + part ** 2 * r;
  return { x: mix(a.x, middle.x, b.x), y: mix(a.y, middle.y, b.y), middle };
}

export function hasToken(state, k) {
  const site = state.sites[k], words = site.state.split(' ');
  if (state.algorithm === 'le-lann') return site.phase === 'inside';
  return words.includes('token') || (/^raymond($|-t)/.test(state.algorithm) && words.includes(`holder=${k}`) && !state.flights.some((f) => f.kind === 'TOKEN'));
}

// Draws at once; with many sites at most once in a frame, however fast the moves are.
export function calmly(who, draw) {
  if (who.run.state.sites.length <= CROWD) return draw();
  who.frame ??= requestAnimationFrame(() => {
    who.frame = undefined;
    draw();
  });
}

// -------------------------------------------------------------------------------------------------------------- stage

export class Stage {
  constructor(run) {
    this.run = run;
    this.edges = svg('g');
    this.sites = svg('g');
    this.messages = svg('g');
    this.over = svg('g');
    this.shown = new Map();
    this.picture = svg('svg', { role: 'group', 'aria-label': 'The sites and the messages in flight' },
      this.edges, this.sites, this.messages, this.over);
    this.more = svg('text', { class: 'more', x: 12, y: 22 });
    this.over.append(this.more);
    byId('stage').append(this.picture);
    this.picture.addEventListener('pointerdown', (event) => this.beginCut(event));
    run.addEventListener('change', () => calmly(this, () => this.draw()));
    new ResizeObserver(() => this.run.state && this.draw()).observe(byId('stage'));
  }

  draw() {
    const { state } = this.run, n = state.sites.length;
    const size = { width: byId('stage').clientWidth || 640, height: Math.round(Math.max(300, Math.min(460, innerHeight * 0.46))) };
    this.picture.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`);
    this.places = placesOf(state, size);
    this.radius = n <= 7 ? 26 : n <= CROWD ? 20 : n <= 30 ? 13 : 8;
    this.narrow = size.width < 560;
    this.drawEdges(state);
    this.drawSites(state);
    this.drawMessages(state);
    this.more.textContent = state.inFlight > state.flights.length ? `${state.inFlight} messages are in flight; the ${state.flights.length} oldest are shown` : '';
  }

  drawEdges(state) {
    const lines = [];
    state.sites.forEach((site, k) => {
      if (site.next === null || site.next === k) return;
      const a = this.places[k], b = this.places[site.next];
      lines.push(svg('line', { class: 'edge', x1: a.x, y1: a.y, x2: b.x, y2: b.y }));
    });
    for (const k of this.chosen === undefined ? [] : state.sites[this.chosen]?.quorum ?? [])
      lines.push(svg('circle', { class: 'edge', cx: this.places[k].x, cy: this.places[k].y, r: this.radius + 9 }));
    if (state.sites.length <= CROWD)
      for (const channel of new Set(state.flights.map((flight) => `${flight.from} ${flight.to}`))) {
        const [from, to] = channel.split(' ').map((k) => this.places[k]), { middle } = between(from, to, 0.5);
        if (from !== to) lines.push(svg('path', { class: 'channel', d: `M${from.x} ${from.y} Q${middle.x} ${middle.y} ${to.x} ${to.y}` }));
      }
    this.edges.replaceChildren(...lines);
  }

  drawSites(state) {
    const focused = document.activeElement?.dataset?.site;
    const crowd = state.sites.length > CROWD;
    this.sites.replaceChildren(...state.sites.map((site, k) => {
      const { x, y } = this.places[k], wrong = state.lamps.exclusion && site.phase === 'inside';
      const token = hasToken(state, k);
      const mode = site.mode ? (state.rule === 'shared' ? ', reads' : `, mode ${site.mode}`) : '';
      const open = (event) => this.openSite(k, event.currentTarget);
      return svg('g', {
        class: `site ${site.phase}${wrong ? ' wrong' : ''}${crowd ? ' small' : ''}`, transform: `translate(${x} ${y})`, tabindex: 0, role: 'button', 'data-site': k,
        'aria-haspopup': 'menu', 'aria-label': `Site ${k}: ${site.phase}${mode}${token ? ', has the token' : ''}`,
        onclick: open,
        onkeydown: (event) => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          event.stopPropagation();
          open(event);
        },
      },
      svg('circle', { class: 'disc', r: this.radius }), svg('circle', { class: 'halo', r: this.radius + 5 }),
      state.side >>> k & 1 && svg('circle', { class: 'side', r: this.radius + 8 }),
      svg('text', { class: 'name' }, String(k)),
      !crowd && svg('text', { class: 'phase', y: this.radius + 13 }, site.phase === 'idle' ? '' : site.phase + mode),
      token && svg('path', { class: 'token', d: 'M0 -9 L9 0 L0 9 L-9 0 Z', transform: `translate(${this.radius * 0.8} ${-this.radius * 0.8}) scale(${crowd ? 0.7 : 1})` }));
    }));
    if (focused !== undefined) this.sites.children[focused]?.focus({ preventScroll: true });
  }

  openSite(k, anchor) {
    const { run } = this, { state } = run, site = state.sites[k];
    this.chosen = k;
    this.drawEdges(state);
    const words = { request: 'Request', release: 'Leave the critical section', crash: 'Crash', restart: 'Restart without its memory', resume: 'Restart with its memory', suspect: 'Report as down (falsely)', join: 'Join', leave: 'Leave the members', timer: 'Let timer fire' };
    const items = site.actions.filter((action) => site.phase === 'down' ? true : !/^(restart|resume) /.test(action.move)).map((action) => {
      const [verb, , arg] = action.move.split(' ');
      const mode = verb === 'request' && state.rule === 'shared' ? (arg ? ' to read' : ' to write') : arg ? ` ${verb === 'request' ? 'in mode ' : ''}${arg}` : '';
      return { text: words[verb] + mode, why: action.why, run: () => run.act(action) };
    });
    items.push(state.side ? { text: 'Heal the network', run: () => run.cut([]) }
      : { text: 'Cut off from the others', run: () => run.cut([k]), why: state.cutWhy });
    openMenu(`site ${k}`, items, anchor, () => this.sites.children[k]?.focus());
  }

  // ---------------------------------------------------------------------------------------------------------- messages

  drawMessages(state) {
    const still = state.sites.length > CROWD || matchMedia('(prefers-reduced-motion: reduce)').matches;
    const seen = new Map(), ahead = new Map(), order = [];
    for (const flight of state.flights) {
      const base = Run.key(flight), copy = seen.get(base) ?? 0, channel = `${flight.from} ${flight.to}`;
      seen.set(base, copy + 1);
      const rank = ahead.get(channel) ?? 0;
      ahead.set(channel, rank + 1);
      order.push({ key: `${base}:${copy}`, flight, rank, k: order.length });
    }
    const keys = new Set(order.map(({ key }) => key));
    for (const [key, element] of this.shown)
      if (!keys.has(key)) this.retire(key, element, still);
    const small = state.sites.length > CROWD || state.flights.length > LABELS;
    const taken = small ? [] : this.places.map(({ x, y }) => ({ x, y: y + 6, width: 2 * this.radius, height: 2 * this.radius + 12 }));
    for (const { key, flight, rank, k } of order) {
      const from = this.places[flight.from], to = this.places[flight.to], at = this.freePlace(flight, rank, from, to, taken, small);
      let element = this.shown.get(key);
      if (!element) {
        element = this.makeMessage(key, flight, small);
        if (!still) {
          element.style.transform = `translate(${from.x}px, ${from.y}px)`;
          this.messages.append(element);
          element.getBoundingClientRect(); // begin there
        }
      }
      element.to = to;
      element.flight = flight;
      element.k = k;
      element.style.transform = `translate(${at.x}px, ${at.y}px)`;
      element.classList.toggle('blocked', !small && Boolean(this.run.messageActions(k)[0].why));
      element.classList.toggle('held', this.run.held.has(Run.key(flight)));
      if (!element.parentNode) this.messages.append(element);
    }
  }

  labelOf(flight) {
    return flight.text.length <= (this.narrow ? 9 : 22) ? flight.text : flight.kind;
  }

  // A place on the way where the label covers no site and no other label. The oldest message of a channel is in front.
  freePlace(flight, rank, from, to, taken, small) {
    if (flight.from === flight.to) return { x: from.x, y: from.y - this.radius - 16 };
    const wanted = Math.max(0.2, 0.62 - 0.08 * rank);
    if (small) return between(from, to, wanted);
    const size = { width: LETTER * this.labelOf(flight).length + 20, height: 26 };
    const covers = (a, b) => Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;
    let at;
    for (let k = 0; k < 24; k++) {
      const part = wanted + (k % 2 ? 1 : -1) * Math.ceil(k / 2) * 0.05;
      if (part < 0.12 || part > 0.84) continue;
      at = { ...between(from, to, part), ...size };
      if (!taken.some((other) => covers(at, other))) break;
      at = null;
    }
    at ??= { ...between(from, to, wanted), ...size };
    taken.push(at);
    return at;
  }

  retire(key, element, still) {
    this.shown.delete(key);
    element.removeAttribute('tabindex');
    if (document.activeElement === element) this.sites.children[element.flight.to]?.focus({ preventScroll: true });
    if (still) {
      element.remove();
      return;
    }
    element.style.transform = `translate(${element.to.x}px, ${element.to.y}px)`;
    element.classList.add('gone');
    setTimeout(() => element.remove(), 480);
  }

  makeMessage(key, flight, small) {
    const text = this.labelOf(flight), width = small ? 8 : LETTER * text.length + 16, height = small ? 8 : 22;
    const token = flight.kind === 'TOKEN';
    const shape = (type, grow) => svg('rect', { class: type, x: -width / 2 - grow, y: -height / 2 - grow, width: width + 2 * grow, height: height + 2 * grow, rx: token ? 3 : height / 2 });
    const open = () => this.openMessage(element);
    const element = svg('g', {
      class: `message${token ? ' token-message' : ''}${flight.news ? ' news' : ''}`, tabindex: 0, role: 'button', 'aria-haspopup': 'menu',
      'aria-label': `${flight.text} from site ${flight.from} to site ${flight.to}`, onclick: open,
      onkeydown: (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        open();
      },
    }, shape('body', 0), shape('halo', 4), !small && svg('text', {}, text), svg('title', {}, `${flight.text} from ${flight.from} to ${flight.to}`));
    this.shown.set(key, element);
    return element;
  }

  openMessage(element) {
    const { flight } = element, { run } = this, key = Run.key(flight), held = run.held.has(key);
    const [deliver, lose, copy] = run.messageActions(element.k);
    openMenu(`${flight.text}, ${flight.from} → ${flight.to}`, [
      { text: 'Deliver', why: deliver.why, run: () => run.act(deliver) },
      { text: held ? 'Hold no longer' : 'Hold: leave it out of random moves', run: () => {
        if (held) run.held.delete(key);
        else run.held.add(key);
        run.changed();
        return null;
      } },
      { text: 'Lose', why: lose.why, run: () => run.act(lose) },
      { text: 'Duplicate', why: copy.why, run: () => run.act(copy) },
    ], element, () => element.isConnected && element.focus());
  }

  // --------------------------------------------------------------------------------------------------------------- cut

  set cutting(on) {
    byId('stage').classList.toggle('cutting', on);
    if (on) note('Draw a line across the stage: the sites on its smaller side are cut off.');
  }

  get cutting() {
    return byId('stage').classList.contains('cutting');
  }

  beginCut(event) {
    if (!this.cutting) return;
    const point = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
    const from = point(event), line = svg('line', { class: 'cut-line', x1: from.x, y1: from.y, x2: from.x, y2: from.y });
    const move = (e) => {
      const to = point(e);
      line.setAttribute('x2', to.x);
      line.setAttribute('y2', to.y);
    };
    const end = (e) => {
      this.picture.removeEventListener('pointermove', move);
      line.remove();
      this.cutting = false;
      const to = point(e);
      const sides = [[], []];
      this.places.forEach((p, k) => sides[(to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x) > 0 ? 0 : 1].push(k));
      const side = sides[0].length <= sides[1].length ? sides[0] : sides[1];
      const wrong = !side.length ? 'the line has all sites on one side' : side.some((k) => k >= 32) ? 'the smaller side may have only sites below 32' : this.run.state.cutWhy ?? this.run.cut(side);
      note(wrong ?? '', Boolean(wrong));
    };
    this.over.append(line);
    this.picture.setPointerCapture(event.pointerId);
    this.picture.addEventListener('pointermove', move);
    this.picture.addEventListener('pointerup', end, { once: true });
  }
}

// The buttons under the stage, and the keys.
export class Controls {
  constructor(run, stage) {
    this.run = run;
    const button = (text, label, onclick) => h('button', { type: 'button', 'aria-label': label, title: label, onclick }, text);
    this.back = button(icon('M11 2 L4 8 L11 14 Z'), 'Back (left arrow)', () => run.seek(run.state.place - 1));
    this.forth = button(icon('M5 2 L12 8 L5 14 Z'), 'Forward (right arrow)', () => run.seek(run.state.place + 1));
    this.playing = button('Play', 'Play or pause (space)', () => this.toggle());
    this.count = h('span', { class: 'count' });
    this.costs = h('span', { class: 'count', title: 'Entries into the critical section, and messages, up to this move. A broadcast is one message.' });
    this.file = h('input', { type: 'file', accept: '.txt,text/plain', hidden: true, 'aria-label': 'Scenario file', onchange: () => this.openFile(this.file.files[0]) });
    byId('controls').append(button(icon('M3 2 H5 V14 H3 Z M13 2 L6 8 L13 14 Z'), 'First (Home)', () => run.seek(0)), this.back, this.forth,
      button(icon('M3 2 L10 8 L3 14 Z M11 2 H13 V14 H11 Z'), 'Last (End)', () => run.seek(run.state.count)),
      this.playing, button('Random', 'A random move (r)', () => this.random()), button('Next entry', 'Random moves until a site enters (e)', () => this.entry()),
      h('span', { class: 'space' }),
      this.cut = button('Cut', 'Cut the network by a line', () => {
        if (run.state.side) this.tell(run.cut([]));
        else stage.cutting = !stage.cutting;
      }),
      button('Open', 'Open a scenario file; it may also be dropped on the stage', () => this.file.click()), this.file,
      button('Save', 'Save the run as a scenario file', () => this.save()), h('p', { class: 'counts' }, this.count, this.costs));
    byId('stage').addEventListener('dragover', (event) => event.preventDefault());
    byId('stage').addEventListener('drop', (event) => {
      event.preventDefault();
      this.openFile(event.dataTransfer.files[0]);
    });
    run.addEventListener('change', () => calmly(this, () => this.show()));
    document.addEventListener('keydown', (event) => this.press(event));
  }

  show() {
    const { place, count, side, entries, messages } = this.run.state, many = (number, one, more) => `${grouped(number)} ${number === 1 ? one : more}`;
    this.back.disabled = place === 0;
    this.forth.disabled = place === count;
    this.cut.textContent = side ? 'Heal' : 'Cut';
    this.count.textContent = `move ${place} of ${count}`;
    this.costs.textContent = `${many(entries, 'entry', 'entries')}, ${many(messages, 'message', 'messages')}`;
  }

  tell(wrong) {
    note(wrong ?? '', Boolean(wrong));
    if (wrong) this.pause();
  }

  random() {
    this.tell(this.run.random());
  }

  entry() {
    for (let k = 0; k < 2000; k++) {
      const wrong = this.run.random();
      if (wrong || this.run.steps[this.run.state.place].wrong) return this.tell(wrong);
      if (this.run.steps[this.run.state.place].entered) return;
    }
    this.tell('no site has entered within 2000 random moves');
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing.textContent = 'Play';
  }

  toggle() {
    if (this.timer) return this.pause();
    this.playing.textContent = 'Pause';
    this.timer = setTimeout(() => this.tick(), 0);
  }

  // The next move of the run, or a random one. Where moves take long, most of the time is left to the browser.
  tick() {
    const { run } = this, { state, steps } = run, began = performance.now();
    if (state.place < state.count) run.seek(state.place + 1);
    else if (run.isStory || steps[state.place].wrong) return this.pause();
    else this.random();
    if (this.timer) this.timer = setTimeout(() => this.tick(), run.state.sites.length <= CROWD ? PACE_MS : Math.max(HURRY_MS, 4 * (performance.now() - began)));
  }

  save() {
    const link = h('a', { href: URL.createObjectURL(new Blob([this.run.lab.scenario()], { type: 'text/plain' })), download: `${this.run.state.algorithm}-played.txt` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async openFile(file) {
    if (!file) return;
    note(`opening ${file.name} …`);
    await new Promise((wake) => setTimeout(wake, 20)); // a million moves take a while, and the line should be seen
    this.tell(await this.run.openFile(file));
    this.file.value = '';
  }

  press(event) {
    const { run } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || byId('room-stage').hidden || byId('keys').open) return;
    if (event.target.closest('input, select, textarea, .menu, [role="tablist"]')) return;
    if (event.key === ' ' && event.target.closest('button, summary')) return;
    const keys = {
      ArrowLeft: () => run.seek(run.state.place - 1), ArrowRight: () => run.seek(run.state.place + 1),
      Home: () => run.seek(0), End: () => run.seek(run.state.count), r: () => this.random(), e: () => this.entry(), ' ': () => this.toggle(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}
