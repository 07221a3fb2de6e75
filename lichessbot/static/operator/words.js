/** Facts in words: times, numbers, evaluations, players. */

import { make, outside, showList } from '../common/dom.js';

export const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const COUNT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const DATE = new Intl.DateTimeFormat('sv-SE');

/** Return a duration with its two largest units: `45 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const short = minutes < 2 ? `${Math.round(seconds)} s` : `${minutes} min`;
  const long = hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return hours < 1 ? short : long;
}

/** Return a moment in local time, with the date if it is not today. */
export function moment(epochS) {
  const when = new Date(epochS * 1000);
  const day = DATE.format(when);
  return day === DATE.format(new Date()) ? TIME.format(when) : `${day} ${TIME.format(when)}`;
}

/** Return a count in three digits: `950`, `12.3K`, `1.25M`. */
export const count = (number) => COUNT.format(number);

/** Return `1 game`, `2 games`. */
export const plural = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Return the parts that are not empty, with dots between. */
export const joined = (...parts) => parts.filter((part) => part).join(' · ');

/** Return the terms of a game or challenge; a challenge has no speed, and an old record nothing of this. */
export const terms = ({ time_control: clock, speed, variant, rated }) =>
  joined(clock, speed, variant !== 'standard' && variant, rated ? 'rated' : variant && 'casual');

/** Return a move with its number as chess players write it: `12. e4` for White, `12… e5` for Black. */
export function numbered({ ply, san }, initialFen) {
  const half = ply + (initialFen.split(' ')[1] === 'b' ? 1 : 0);
  const first = / \d+ (\d+)/.exec(initialFen)?.[1] ?? 1;
  return `${Math.ceil(half / 2) + Number(first) - 1}${half % 2 ? '.' : '…'}\u00a0${san}`;
}

/** Return an evaluation as Lichess writes it: `+0.4`, `-2.1`, `#5`; empty if there is none. */
export function evaluationText(scoreCp, mateIn) {
  if (mateIn !== null) return `#${mateIn}`;
  const pawns = (Math.abs(scoreCp) / 100).toFixed(1);
  const sign = scoreCp < 0 ? '-' : '+';
  return scoreCp === null ? '' : `${pawns === '0.0' ? '' : sign}${pawns}`;
}

/** Return title, name and rating of a player as an element. */
export function player(name, title, rating) {
  const titled = title && [make('b', { class: 'title' }, outside(title)), ' '];
  return make('span', { class: 'player' }, titled, outside(name), rating && [' ', make('i', {}, rating)]);
}

/** Make a `dl` show facts by name; a fact is text, an element, or empty and then left away. */
export function showFacts(list, entries) {
  const create = ([name]) => make('div', {}, make('dt', {}, name), make('dd'));
  showList(list, entries.filter(([, fact]) => fact), ([name]) => name, create, (element, [, fact]) => {
    const shown = fact instanceof Node ? fact : new Text(fact);
    if (element.lastChild.textContent !== shown.textContent) element.lastChild.replaceChildren(shown);
  });
}
