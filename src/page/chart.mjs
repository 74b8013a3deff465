// chart.mjs - small line charts. Curves differ in their dashes, so that they can be told apart without colours.
import { h, svg } from './dom.mjs';

const EDGE = { left: 46, right: 16, top: 14, bottom: 36 };

const short = (x) => (x === 0 ? '0' : Math.abs(x) >= 1000 ? x.toFixed(0) : Number(x.toPrecision(3)).toString());

// A round number, at least a quarter of the length.
function quarter(length) {
  const raw = length / 4, power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 2.5, 5, 10].find((x) => x * power >= raw * 0.999);
}

// Round numbers from 0 to at least `top`, four or five of them.
function ticksTo(top) {
  const step = quarter(top);
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, k) => Number((k * step).toPrecision(6)));
}

// Round numbers between two; on a logarithmic axis 1, 2, 5, 10 .., or only powers of ten if those are many.
function ticksBetween(low, high, logarithmic) {
  const all = [];
  if (!logarithmic) {
    const step = quarter(high - low || 1);
    for (let k = Math.ceil(low / step); k * step <= high; k++) all.push(Number((k * step).toPrecision(6)));
    return all;
  }
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
    for (const x of high / low > 100 ? [1] : [1, 2, 5]) if (x * power >= low * 0.999 && x * power <= high * 1.001) all.push(Number((x * power).toPrecision(6)));
  return all;
}

// curves: [{name, points: [[x, y]]}]; lines: [{y, text}] and formulas: [{text, points}], published values; mark: [x, y], where
// the reader stands; ends: [[x, text]], ticks with names of their own. logarithmic: of the x axis. least: what the y axis reaches at
// least. size: of the picture, where it is as wide as that.
export function chart(caption, { curves, lines = [], formulas = [], mark, ends = [], x: xName, logarithmic = false, least = 1e-9, size: [W, H] = [360, 230] }) {
  const points = [...curves, ...formulas].flatMap((curve) => curve.points), xs = points.map(([x]) => x);
  const low = Math.min(...xs), high = Math.max(...xs), scale = logarithmic ? Math.log : (x) => x;
  const ticks = ticksTo(Math.max(least, ...points.map(([, y]) => y), ...lines.map(({ y }) => y))), top = ticks.at(-1);
  const atX = (x) => EDGE.left + (W - EDGE.left - EDGE.right) * (high > low ? (scale(x) - scale(low)) / (scale(high) - scale(low)) : 0.5);
  const atY = (y) => H - EDGE.bottom - ((H - EDGE.top - EDGE.bottom) * y) / top;
  const path = (curve) => curve.points.map(([x, y]) => `${atX(x).toFixed(1)},${atY(y).toFixed(1)}`).join(' ');
  const marks = ticksBetween(low, high, logarithmic).filter((x) => ends.every(([end]) => atX(end) - atX(x) > 34)).map((x) => [x, short(x)]);
  return h('figure', {}, h('figcaption', {}, caption), svg('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${caption}. The table has the same figures.` },
    ticks.map((y) => [svg('line', { class: 'axis', x1: EDGE.left, x2: W - EDGE.right, y1: atY(y), y2: atY(y) }),
      svg('text', { x: EDGE.left - 6, y: atY(y) + 4, 'text-anchor': 'end' }, short(y))]),
    [...marks, ...ends].map(([x, text]) => svg('text', { x: atX(x), y: H - 20, 'text-anchor': 'middle' }, text)),
    svg('text', { x: (EDGE.left + W - EDGE.right) / 2, y: H - 5, 'text-anchor': 'middle' }, xName),
    mark && svg('line', { class: 'here', x1: atX(mark[0]), x2: atX(mark[0]), y1: EDGE.top, y2: H - EDGE.bottom }),
    lines.map(({ y }) => svg('line', { class: 'formula', x1: EDGE.left, x2: W - EDGE.right, y1: atY(y), y2: atY(y) })),
    formulas.map((formula) => svg('polyline', { class: 'formula', points: path(formula) })),
    curves.map((curve, k) => svg('polyline', { class: `curve c${k}`, points: path(curve) })),
    curves.map((curve) => curve.points.map(([x, y]) => svg('circle', { class: 'point', cx: atX(x), cy: atY(y), r: 2.2 }))),
    mark && svg('circle', { class: 'place', cx: atX(mark[0]), cy: atY(mark[1]), r: 4.5 }),
    lines.map(({ y, text }) => { // at the end that is farther from the curve
      const way = curves[0]?.points ?? [], right = way.length > 1 && Math.abs(way.at(-1)[1] - y) > Math.abs(way[0][1] - y);
      return svg('text', { class: 'over', x: right ? W - EDGE.right - 4 : EDGE.left + 4, y: atY(y) - 4, 'text-anchor': right ? 'end' : 'start' }, text);
    }),
    formulas.map(({ text, points: way }) => svg('text', { class: 'over', x: W - EDGE.right - 8, y: atY(way.at(-1)[1]) - 5, 'text-anchor': 'end' }, text))));
}

export const swatch = (k) => svg('svg', { width: 30, height: 10, 'aria-hidden': 'true' }, svg('line', { class: `swatch c${k}`, x1: 0, x2: 30, y1: 5, y2: 5 }));
