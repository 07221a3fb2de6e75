/** The page's graphs besides evaluations. Each has its text beside it. */

import { axis, colour, makeGraph } from '../common/graph.js';
import uPlot from '../vendor/uplot/uPlot.esm.js';
import { TIME } from './words.js';

const LINES = ['--accent', '--good', '--warn', '--bad', '--muted', '--strong'];
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' });
const [HOUR_S, DAY_S] = [3600, 86400];

/** Return the variable of the style sheet with the colour of a line. */
export const lineColour = (index) => LINES[index % LINES.length];

/** Return a graph of bars: `show([plies, seconds])`. Its axis reaches 0.1 s at least, so that labels stay short. */
export function makeTimeGraph(element) {
  const seconds = { size: 48, space: 20, values: (plot, ticks) => ticks.map((tick) => `${tick} s`) };
  const wide = (plot, low, high) => [low - 1, high + 1];         // whole bars at both ends
  const bars = { width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 8] }) };
  return makeGraph(element, () => ({
    padding: [6, 0, 6, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false, range: wide }, y: { range: (plot, low, high) => [0, Math.max(high, 0.1)] } },
    axes: [{ show: false }, axis(seconds)],
    series: [{}, { ...bars, fill: colour('--accent') }],
  }));
}

/** Return the label of a moment on an axis with labels each `step` seconds: a time, at midnight the day, or a month. */
const label = (ms, step) =>
  (step >= 28 * DAY_S ? MONTH : step >= DAY_S || TIME.format(ms) === '00:00' ? DAY : TIME).format(ms);

/** Return a graph of lines over an hour or more, as labels are minutes apart; `data` is `[epochs, values, …]`. */
export function makeLineGraph(element, data) {
  const values = (plot, ticks, axisIndex, space, step) => ticks.map((tick) => label(tick * 1000, step));
  const days = { size: 26, space: 60, values };
  const isAlone = (plot, series) => plot.data[series].filter((value) => value !== null).length === 1;
  const line = { width: 1.5, spanGaps: true, points: { show: isAlone } };
  return makeGraph(element, () => ({
    padding: [8, 20, 0, 0],
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { range: (plot, low) => [low, Math.max(plot.data[0].at(-1) ?? 0, low + HOUR_S)] }, // uPlot's may be years
      y: { range: (plot, low, high) => uPlot.rangeNum(low - 4, high + 4, 0.1, true) },
    },
    axes: [axis(days), axis({ size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500] })],
    series: [{}, ...data.slice(1).map((_, index) => ({ ...line, stroke: colour(lineColour(index)) }))],
  }), data);
}
