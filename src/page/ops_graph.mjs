// ops_graph.mjs - who blocks whom: a client waits for a lock, which another client holds, which may wait for another lock. A cycle is a
// deadlock of clients, which no lock service can resolve for them: it is shown as one.
import { h, svg } from './dom.mjs';
import { since } from './ops_locks.mjs';

const BLOCK_ROW = 44, BLOCK_COLUMN = 210, BLOCK_WIDTH = 180, CHAINS_MAX = 40;

const claimKey = (claim) => `${claim.member}/${claim.client}`;
const claimName = (claim) => claim.who || `client ${claim.client} of ${claim.member}`;

// Locks for which clients wait, with the clients: {nodes: id -> {id, kind, text, column, row, cycle}, edges: [{from, to, text}]}.
export function blockGraph(locks) {
  const nodes = new Map(), edges = [], out = new Map();
  const node = (id, kind, text, member) => { if (!nodes.has(id)) nodes.set(id, { id, kind, text, member, column: 0, cycle: false }); return id; };
  for (const lock of locks.filter((one) => one.claims?.waiters?.length).slice(0, CHAINS_MAX)) {
    const waiters = lock.claims.waiters.filter((claim) => claim.client !== undefined), holders = lock.claims.holders.filter((claim) => claim.client !== undefined);
    if (!waiters.length) continue;
    const id = node(`lock ${lock.name}`, 'lock', lock.name);
    for (const claim of waiters.slice(0, 8)) edges.push({ from: node(claimKey(claim), 'client', claimName(claim), claim.member), to: id, text: `waits for ${since(claim.age_ms)}` });
    if (waiters.length > 8) edges.push({ from: node(`${id} more`, 'more', `and ${waiters.length - 8} more`), to: id, text: '' });
    for (const claim of holders.slice(0, 4)) edges.push({ from: id, to: node(claimKey(claim), 'client', claimName(claim), claim.member), text: `held for ${since(claim.age_ms)}` });
    if (holders.length > 4) edges.push({ from: id, to: node(`${id} holders`, 'more', `and ${holders.length - 4} more`), text: '' });
  }
  for (const edge of edges) out.set(edge.from, [...(out.get(edge.from) ?? []), edge.to]);
  // The column is the length of the longest way to the node; ways stop where they would go round.
  const visit = (id, path) => {
    if (path.includes(id)) {
      for (const on of path.slice(path.indexOf(id))) nodes.get(on).cycle = true;
      return;
    }
    for (const next of out.get(id) ?? []) {
      if (!path.includes(next) && nodes.get(next).column < path.length + 1) nodes.get(next).column = path.length + 1;
      visit(next, [...path, id]);
    }
  };
  const reached = new Set(edges.map((edge) => edge.to));
  for (const id of nodes.keys()) if (!reached.has(id)) visit(id, []);
  for (const id of nodes.keys()) if (nodes.get(id).column === 0 && reached.has(id)) visit(id, []);
  const rows = [];
  for (const one of nodes.values()) {
    one.row = rows[one.column] ?? 0;
    rows[one.column] = one.row + 1;
  }
  return { nodes, edges, columns: rows.length, rows: Math.max(0, ...rows.filter(Boolean)) };
}

const blockText = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

export class Graph {
  constructor() {
    this.picture = h('div', { class: 'tables', tabindex: '0', role: 'region', 'aria-label': 'Who blocks whom' });
    this.note = h('p', { class: 'result', 'aria-live': 'polite' });
    this.list = h('ul', { class: 'chains' });
    this.place = h('section', { class: 'ops-graph' }, h('h2', { class: 'title' }, 'Who blocks whom'), this.note, this.picture, h('details', {}, h('summary', {}, 'The same as text'), this.list));
  }

  show(locks) {
    const { nodes, edges, columns, rows } = blockGraph(locks), cycle = [...nodes.values()].filter((node) => node.cycle && node.kind === 'client');
    const text = !edges.length ? 'No client waits.' : cycle.length ? `Deadlock: ${cycle.map((node) => node.text).join(', ')} wait for each other, and none of them can go on before one of them gives up.` : '';
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.className = `result${cycle.length ? ' bad' : ''}`;
    this.picture.hidden = !edges.length;
    this.list.replaceChildren(...edges.map((edge) => h('li', {}, `${nodes.get(edge.from).text} → ${nodes.get(edge.to).text}${edge.text ? ` (${edge.text})` : ''}`)));
    this.list.parentElement.hidden = !edges.length;
    if (edges.length) this.draw(nodes, edges, columns, rows);
  }

  draw(nodes, edges, columns, rows) {
    const width = columns * BLOCK_COLUMN, height = rows * BLOCK_ROW + 24, x = (node) => node.column * BLOCK_COLUMN + 4, y = (node) => node.row * BLOCK_ROW + 24;
    const line = (edge) => {
      const a = nodes.get(edge.from), b = nodes.get(edge.to), x1 = x(a) + BLOCK_WIDTH, x2 = x(b), bend = (x2 - x1) / 2, half = BLOCK_WIDTH / 2;
      const d = b.column > a.column ? `M${x1},${y(a)} C${x1 + bend},${y(a)} ${x2 - bend},${y(b)} ${x2},${y(b)}`
        : `M${x(a) + half},${y(a) + 15} C${x(a) + half},${y(a) + 40} ${x2 + half},${y(b) + 40} ${x2 + half},${y(b) + 16}`; // below, where it goes back
      return svg('path', { class: `edge${a.cycle && b.cycle ? ' bad' : ''}`, d, 'marker-end': 'url(#ops-arrow)' });
    };
    this.picture.replaceChildren(svg('svg', { class: 'blocks', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `${edges.length} waits and holds; the list below has them as text` },
      svg('defs', {}, svg('marker', { id: 'ops-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, svg('path', { d: 'M0,0 L8,4 L0,8 z' }))),
      edges.map(line),
      [...nodes.values()].map((node) => svg('g', { class: `block ${node.kind}${node.cycle ? ' bad' : ''}` }, svg('title', {}, node.member ? `${node.text}, at ${node.member}` : node.text),
        node.kind === 'more' ? null : svg('rect', { x: x(node), y: y(node) - 15, width: BLOCK_WIDTH, height: 30, rx: node.kind === 'lock' ? 4 : 15 }), svg('text', { x: x(node) + BLOCK_WIDTH / 2, y: y(node) + 4, 'text-anchor': 'middle' }, blockText(node.text, 25))))));
  }
}
