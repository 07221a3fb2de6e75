/** Graphs: uPlot in the colours of the page, as large as its element, and the graph of evaluations. */

import uPlot from '../vendor/uplot/uPlot.esm.js';

// Lichess's curve from centipawns to the chance to win.
const CHANCE_PER_CP = 0.00368208;
const MATE_CP = 1000;

/** Return the chance to win as -1 to 1, from the view of the evaluation in centipawns or moves to mate. */
export function winningChance(scoreCp, mateIn) {
  const cp = mateIn === null ? scoreCp : MATE_CP * Math.sign(mateIn);
  return 2 / (1 + Math.exp(-CHANCE_PER_CP * Math.max(-MATE_CP, Math.min(MATE_CP, cp)))) - 1;
}

/** Return the value of a colour of the style sheet, such as `--accent`. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Return an axis in the colours of the page; `more` are options of uPlot. */
export function axis(more = {}) {
  const grid = { stroke: colour('--line'), width: 1 };
  return { stroke: colour('--muted'), font: '11px system-ui, sans-serif', grid, ticks: { show: false }, ...more };
}

/**
 * Return a graph of `data` in an element. `options()` returns those of uPlot, and is called again when the colours of
 * the page change. `show(data)` draws other data, `select(x)` puts the cursor there, `destroy()` ends the graph.
 */
export function makeGraph(element, options, data = [[]]) {
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const size = () => ({ width: element.clientWidth, height: element.clientHeight });
  let plot = null;
  const create = () => {
    plot?.destroy();
    plot = new uPlot({ ...size(), legend: { show: false }, ...options() }, data, element);
  };
  const resizing = new ResizeObserver(() => plot.setSize(size()));
  create();
  resizing.observe(element);
  scheme.addEventListener('change', create);
  return {
    show: (shown) => plot.setData((data = shown)),
    select: (x) => plot.setCursor({ left: plot.valToPos(x, 'x'), top: 0 }),
    destroy() {
      resizing.disconnect();
      scheme.removeEventListener('change', create);
      plot.destroy();
    },
  };
}

/**
 * Return a graph of evaluations by ply. `show` takes points `{ply, score_cp, mate_in}` from White's view, unknown ones
 * as null; `onPly(ply)`, if given, hears which one was clicked.
 */
export function makeEvaluationGraph(element, onPly = () => {}) {
  const clicked = (plot) => (event) => onPly(plot.data[0][plot.posToIdx(event.offsetX)]);
  const listen = (plot) => plot.over.addEventListener('click', clicked(plot));
  const line = { width: 1.5, spanGaps: true, points: { show: false }, fillTo: -1 };
  const graph = makeGraph(element, () => ({
    padding: [0, 0, 0, 0],
    cursor: { y: false, drag: { x: false, y: false, click() {} } },  // uPlot drops the click of a trembling hand
    scales: { x: { time: false }, y: { range: [-1, 1] } },
    axes: [{ show: false }, axis({ size: 0, splits: () => [0], values: () => [''] })],
    series: [{}, { ...line, stroke: colour('--accent'), fill: colour('--white-side') }],
    hooks: { ready: [listen] },
  }));
  const chance = (it) => (it.score_cp === null && it.mate_in === null ? null : winningChance(it.score_cp, it.mate_in));
  return { ...graph, show: (points) => graph.show([points.map((point) => point.ply), points.map(chance)]) };
}
