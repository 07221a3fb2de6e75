/** Chess clocks that tick between two messages of the server. */

import { setText } from './dom.js';

const TICK_MS = 100;
const TENTHS_BELOW_S = 10;
const LOW_BELOW_S = 20;

/** What each clock showed when it was set; a clock whose element has left the page is forgotten. */
const clocks = new Map();
/** When each report of clocks came: they go on from there, however often it is shown. */
const heard = new WeakMap();
setInterval(tick, TICK_MS);

/** Return a time as `1:02:03`, `2:03`, or `0:09.8` when it is short. */
export function clockText(seconds) {
  const rest = Math.max(0, seconds);
  const whole = Math.floor(rest);
  const two = (value) => String(value).padStart(2, '0');
  const tenths = rest < TENTHS_BELOW_S ? `.${Math.floor((rest - whole) * 10)}` : '';
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}${tenths}`;
}

/** Note that a report of clocks has come. */
export const noteReport = (report) => heard.has(report) || heard.set(report, performance.now());

/** Show a clock in an element: its seconds in a report (an object), or null to hide it, and whether it runs. */
export function setClock(element, seconds, runs, report) {
  noteReport(report);
  element.hidden = seconds === null;
  clocks.set(element, { seconds, runs, setAt: heard.get(report) });
  show(element);
}

function tick() {
  for (const [element, { runs }] of clocks) {
    if (!element.isConnected) clocks.delete(element);
    else if (runs) show(element);
  }
}

function show(element) {
  const { seconds, runs, setAt } = clocks.get(element);
  const now = runs ? seconds - (performance.now() - setAt) / 1000 : seconds;
  setText(element, seconds === null ? '' : clockText(now));
  element.classList.toggle('runs', runs);
  element.classList.toggle('low', seconds !== null && now < LOW_BELOW_S);
}
