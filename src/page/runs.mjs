// runs.mjs - the tree of runs: a line for each run, from the move where it left its parent to its end.
import { byId, h, svg } from './dom.mjs';

const RUN_ROW = 30, RUN_EDGE = 8, RUN_WIDTH = 300;

export class Runs {
  constructor(run) {
    this.run = run;
    run.addEventListener('change', () => this.show());
  }

  // Moves within the run that is shown change nothing but its mark.
  show() {
    const { runs, index, state } = this.run, key = runs.map(({ moves }) => moves).join(' ');
    if (runs.length < 2) {
      byId('runs').replaceChildren();
    } else if (key !== this.key || index !== this.index) {
      const focused = [...byId('runs').querySelectorAll('button')].indexOf(document.activeElement);
      byId('runs').replaceChildren(h('h2', {}, 'Runs'), h('div', { class: 'tree' }, h('div', {}, runs.map((one, k) => this.button(one, k))), this.lines()));
      byId('runs').querySelectorAll('button')[focused]?.focus();
    }
    Object.assign(this, { key: runs.length < 2 ? '' : key, index });
    this.mark?.setAttribute('d', `M${this.x(state.place)} ${RUN_ROW * index + 7} v${RUN_ROW - 14}`);
  }

  button(one, k) {
    const { run } = this;
    return h('button', { type: 'button', 'aria-current': k === run.index ? 'true' : null, onclick: () => k !== run.index && run.switchTo(k) },
      `${k + 1}: ${one.name} (${one.moves} moves)`);
  }

  x(move) {
    return RUN_EDGE + ((RUN_WIDTH - 2 * RUN_EDGE) * move) / Math.max(1, ...this.run.runs.map(({ moves }) => moves));
  }

  lines() {
    const { runs, index } = this.run, y = (k) => RUN_ROW * k + RUN_ROW / 2;
    this.mark = svg('path', { class: 'branch current mark' });
    return svg('svg', { viewBox: `0 0 ${RUN_WIDTH} ${RUN_ROW * runs.length}`, height: RUN_ROW * runs.length, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      runs.map(({ from, at, moves }, k) => svg('path', { class: `branch${k === index ? ' current' : ''}`,
        d: `${from === null ? '' : `M${this.x(at)} ${y(from)} V${y(k)} `}M${this.x(at)} ${y(k)} H${this.x(moves)}` })), this.mark);
  }
}
