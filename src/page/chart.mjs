// chart.mjs - small line charts. Curves differ in their dashes, so that they can be told apart without colours.
import { h, svg } from './dom.mjs';

const W = 360, H = 220, EDGE = { left: 46, right: 12, top: 12, bottom: 30 };

const nice = (x) => (x === 0 ? '0' : Math.abs(x) >= 1000 ? x.toFixed(0) : Number(x.toPrecision(3)).toString());

// curves: [{name, points: [[x, y]]}]; lines: [{y, text}], for published values. logarithmic: of the x axis.
export function chart(caption, { curves, lines = [], x: xName, logarithmic = false }) {
  const points = curves.flatMap((curve) => curve.points), xs = points.map(([x]) => (logarithmic ? Math.log(x) : x));
  const low = Math.min(...xs), high = Math.max(...xs), top = 1.08 * Math.max(1e-9, ...points.map(([, y]) => y), ...lines.map(({ y }) => y));
  const atX = (x) => EDGE.left + (W - EDGE.left - EDGE.right) * (high > low ? ((logarithmic ? Math.log(x) : x) - low) / (high - low) : 0.5);
  const atY = (y) => H - EDGE.bottom - ((H - EDGE.top - EDGE.bottom) * y) / top;
  const ticksX = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b), every = Math.ceil(ticksX.length / 5);
  return h('figure', {}, h('figcaption', {}, caption), svg('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${caption}. The table has the same figures.` },
    [0, 0.25, 0.5, 0.75, 1].map((part) => [svg('line', { class: 'axis', x1: EDGE.left, x2: W - EDGE.right, y1: atY(part * top), y2: atY(part * top) }),
      svg('text', { x: EDGE.left - 6, y: atY(part * top) + 4, 'text-anchor': 'end' }, nice(part * top))]),
    ticksX.filter((_, k) => k % every === 0).map((x) => svg('text', { x: atX(x), y: H - 14, 'text-anchor': 'middle' }, nice(x))),
    svg('text', { x: W - EDGE.right, y: H - 2, 'text-anchor': 'end' }, xName),
    lines.map(({ y, text }) => [svg('line', { class: 'formula', x1: EDGE.left, x2: W - EDGE.right, y1: atY(y), y2: atY(y) }), svg('text', { x: EDGE.left + 4, y: atY(y) - 4 }, text)]),
    curves.map((curve, k) => svg('polyline', { class: `curve c${k}`, points: curve.points.map(([x, y]) => `${atX(x).toFixed(1)},${atY(y).toFixed(1)}`).join(' ') })),
    curves.map((curve) => curve.points.map(([x, y]) => svg('circle', { cx: atX(x), cy: atY(y), r: 2.2, fill: 'currentColor', opacity: 0.5 }))),
  ));
}

export const swatch = (k) => svg('svg', { width: 30, height: 10, 'aria-hidden': 'true' }, svg('line', { class: `swatch c${k}`, x1: 0, x2: 30, y1: 5, y2: 5 }));
