// time.mjs - the space-time diagram under the stage: a line for each site, a column for each move, an arrow for each message.
//
// Only the columns in sight are drawn. To find the arrows that cross them without looking at all, every BLOCK columns the
// arrows that are then in flight are remembered.
import { byId, h } from './dom.mjs';
import { calmly } from './stage.mjs';

const COLUMN = 30, LEFT = 34, BLOCK = 256;

export class Time {
  constructor(run) {
    this.run = run;
    this.canvas = h('canvas', { role: 'img' });
    this.slider = h('input', { type: 'range', min: 0, value: 0, 'aria-label': 'Place in the run', oninput: () => run.seek(Number(this.slider.value)) });
    byId('time').append(this.canvas, this.slider);
    this.canvas.addEventListener('click', (event) => run.seek(Math.round((event.offsetX - LEFT) / COLUMN + this.first)));
    this.canvas.addEventListener('pointermove', (event) => {
      const k = Math.round((event.offsetX - LEFT) / COLUMN + this.first), step = run.steps[k];
      this.canvas.title = k > 0 && step ? `${k}: ${step.effect.slice(0, 200)}` : '';
    });
    run.addEventListener('change', () => calmly(this, () => this.show()));
    new ResizeObserver(() => this.run.state && this.draw()).observe(byId('time'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  show() {
    const { steps, state } = this.run;
    this.read(steps);
    this.slider.max = state.count;
    this.slider.value = state.place;
    this.slider.setAttribute('aria-valuetext', `move ${state.place} of ${state.count}`);
    this.canvas.setAttribute('aria-label', `Space-time diagram of ${state.count} moves; the list of moves has the same as text`);
    this.draw();
  }

  // Pairs what is sent with what arrives, from where it was left.
  read(steps) {
    if (this.steps !== steps) Object.assign(this, { steps, known: 0, blocks: [], bySent: [], open: new Map() });
    for (; this.known < steps.length; this.known++) this.readStep(steps[this.known], this.known);
  }

  readStep(step, k) {
    const { open } = this;
    if (k % BLOCK === 0) this.blocks.push([...open.values()].flat());
    if (step.received !== undefined) {
      const key = `${step.received}:${step.site}`, waiting = open.get(key) ?? [];
      if (step.with === 'duplicate') {
        const copy = { ...waiting[0] };
        this.bySent[k] = [copy];
        waiting.push(copy);
      } else {
        const arrow = waiting.shift();
        if (arrow) Object.assign(arrow, { received: k, lost: step.with === 'lose' });
        if (!waiting.length) open.delete(key);
      }
    }
    for (const [number, from, to, label, news] of step.sends) {
      const arrow = { from, to, label, news, sent: k, received: Infinity, lost: false }, key = `${number}:${to}`;
      (this.bySent[k] ??= []).push(arrow);
      open.set(key, [...(open.get(key) ?? []), arrow]);
    }
  }

  arrowsIn(first, last) {
    const block = Math.floor(Math.max(0, first) / BLOCK), found = new Set(this.blocks[block]);
    for (let k = block * BLOCK; k <= last && k < this.steps.length; k++) this.bySent[k]?.forEach((arrow) => found.add(arrow));
    return [...found].filter((arrow) => arrow.received >= first && (arrow.sent >= first || arrow.received < Infinity));
  }

  draw() {
    const { state } = this.run, n = state.sites.length, row = n <= 4 ? 38 : n <= 8 ? 26 : n <= 20 ? 14 : 6;
    const width = byId('time').clientWidth - 18, height = (n - 1) * row + 28, scale = window.devicePixelRatio || 1;
    const colours = getComputedStyle(document.documentElement), colour = (name) => colours.getPropertyValue(name).trim();
    const { canvas } = this, context = canvas.getContext('2d');
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = `${height}px`;
    context.scale(scale, scale);
    const columns = Math.floor((width - LEFT - 12) / COLUMN);
    this.first = Math.max(0, Math.min(state.place - Math.floor(columns * 0.7), this.steps.length - 1 - columns));
    const last = this.first + columns, x = (k) => LEFT + (k - this.first) * COLUMN, y = (site) => 12 + site * row;
    const ink = { quiet: colour('--quiet'), line: colour('--line'), accent: colour('--accent'), bad: colour('--bad'), surface: colour('--surface') };

    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (let site = 0; site < n; site++) {
      context.fillStyle = ink.quiet;
      if (row > 10) context.fillText(String(site), 6, y(site));
      for (let k = this.first; k < Math.min(last, this.steps.length - 1) + 1; k++) this.drawPhase(context, this.steps[k].phases[site], x(k), y(site), ink);
    }
    for (const arrow of this.arrowsIn(this.first, last)) this.drawArrow(context, arrow, x, y, ink, state.place);
    for (let k = Math.max(1, this.first); k <= Math.min(last, this.steps.length - 1); k++) {
      context.fillStyle = this.steps[k].wrong ? ink.bad : ink.quiet;
      context.beginPath();
      context.arc(x(k), y(this.steps[k].site), this.steps[k].wrong ? 4.5 : 2.5, 0, 7);
      context.fill();
    }
    context.strokeStyle = ink.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x(state.place) + 5, 2);
    context.lineTo(x(state.place) + 5, height - 2);
    context.stroke();
  }

  drawPhase(context, phase, x, y, ink) {
    context.lineWidth = phase === 'I' ? 6 : phase === 'w' ? 2 : 1;
    context.strokeStyle = phase === 'I' || phase === 'w' ? ink.accent : ink.line;
    context.setLineDash(phase === 'w' ? [4, 3] : phase === 'd' ? [1, 5] : []);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + COLUMN, y);
    context.stroke();
    context.setLineDash([]);
  }

  drawArrow(context, arrow, x, y, ink, place) {
    const open = arrow.received === Infinity, from = { x: x(arrow.sent), y: y(arrow.from) };
    const to = open ? { x: x(arrow.sent) + COLUMN * 0.9, y: from.y + (y(arrow.to) - from.y) * 0.35 } : { x: x(arrow.received), y: y(arrow.to) };
    context.strokeStyle = context.fillStyle = arrow.lost ? ink.bad : ink.quiet;
    context.globalAlpha = open || arrow.sent > place ? 0.4 : 0.9;
    context.lineWidth = 1;
    context.setLineDash(arrow.news ? [2, 3] : open || arrow.lost ? [5, 4] : []);
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    context.setLineDash([]);
    if (!open) {
      const angle = Math.atan2(to.y - from.y, to.x - from.x);
      context.beginPath();
      context.moveTo(to.x, to.y);
      context.lineTo(to.x - 7 * Math.cos(angle - 0.35), to.y - 7 * Math.sin(angle - 0.35));
      context.lineTo(to.x - 7 * Math.cos(angle + 0.35), to.y - 7 * Math.sin(angle + 0.35));
      context.fill();
    }
    context.globalAlpha = 1;
  }
}
