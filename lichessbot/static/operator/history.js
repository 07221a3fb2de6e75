/** The history: results and rating over time, tables by subject, and the list of games with its filters. */

import { byId, make, outside, setAttribute, setText } from '../common/dom.js';
import { lineColour, makeLineGraph } from './plots.js';
import { joined, moment, player, plural, terms } from './words.js';

const PAGE = 30;
const ROWS = 8;
const SUBJECTS = ['speed', 'colour', 'opening', 'opponent'];
const TONES = { won: 'good', lost: 'bad' };
let plots = [];
let games = [];

/** Show the history anew. */
export const showHistory = () => Promise.all([showStatistics(), showGames()]);

/** Return the daemon's answer at an address; throws an error for the operator. `hasFailed` stays until it is reset. */
export async function ask(address) {
  const url = new URL(address, location.origin + location.pathname);    // without the password of the page's address
  const answer = await fetch(url).catch(() => ({ text: () => 'the daemon does not answer' }));
  ask.hasFailed ||= !answer.ok;
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 300) || `answer ${answer.status}`);
  return answer;
}

async function showStatistics() {
  try {
    const statistics = await (await ask('api/statistics')).json();
    const { score } = statistics;
    const total = joined(plural(number(score), 'game'), resultsText(score), percent(score));
    byId('total').replaceChildren(total, scoreBar(score));
    plots.forEach((plot) => plot.destroy());
    plots = [showRatings(statistics.ratings), showResults(statistics.results)];
    byId('groups').replaceChildren(...SUBJECTS.map((name) => table(name, statistics.groups[name])));
  } catch (error) {
    setText(byId('total'), `The statistics cannot be shown: ${error.message}`);
  }
}

const number = ({ won, drawn, lost }) => won + drawn + lost;
const percent = (score) => number(score) && `${Math.round((100 * score.won + 50 * score.drawn) / number(score))} %`;
const resultsText = ({ won, drawn, lost }) => `${won} won, ${drawn} drawn, ${lost} lost`;

function scoreBar(score) {
  const parts = ['won', 'drawn', 'lost'].filter((name) => score[name]).map((name) => make('span', { class: name }));
  parts.forEach((part) => { part.style.flexGrow = score[part.className]; });
  return make('span', { class: 'score-bar', 'aria-hidden': 'true' }, parts);
}

/** Draw the ratings; the lines share the times of all. */
function showRatings(history) {
  const names = Object.keys(history);
  const times = [...new Set(Object.values(history).flat().map(([time]) => time))].sort((one, other) => one - other);
  const byTime = names.map((name) => new Map(history[name]));
  byId('ratings').closest('figure').hidden = !names.length;
  const latest = names.map((name) => `${name} ${history[name].at(-1)[1]}`);
  byId('ratings-legend').replaceChildren(...latest.map((text, index) => {
    const mark = make('span', { class: 'mark' });
    mark.style.background = `var(${lineColour(index)})`;
    return make('span', {}, mark, text);
  }));
  setAttribute(byId('ratings'), 'aria-label', `Graph of ratings, the latest: ${latest.join(', ') || 'none'}`);
  const lines = byTime.map((ratings) => times.map((time) => ratings.get(time) ?? null));
  return makeLineGraph(byId('ratings'), [times, ...lines]);
}

function showResults(results) {
  let balance = 0;
  const line = results.map(([, result]) => (balance += { won: 1, drawn: 0, lost: -1 }[result]));
  setAttribute(byId('results'), 'aria-label', `Graph of games won minus games lost, now ${balance}`);
  return makeLineGraph(byId('results'), [results.map(([time]) => time), line]);
}

function table(name, group) {
  const cell = (text) => make('td', { class: 'number' }, text);
  const rows = Object.entries(group).map(([key, score], index) => make('tr', { hidden: index >= ROWS },
    make('th', { scope: 'row' }, outside(key)), cell(number(score)), cell(percent(score)),
    make('td', {}, make('span', { class: 'unseen' }, resultsText(score)), scoreBar(score))));
  const head = (text, kind) => make('th', { scope: 'col', class: kind }, text);
  const heads = [head(name), head('games', 'number'), head('score', 'number'), head('won, drawn, lost', 'wide')];
  const showAll = (event) => rows.concat(event.target).forEach((it) => { it.hidden = it === event.target; });
  const all = make('button', { type: 'button', onclick: showAll }, `All ${rows.length}`);
  const parts = [make('caption', {}, `By ${name}`), make('thead', {}, make('tr', {}, heads)), make('tbody', {}, rows)];
  return make('div', { class: 'card' }, make('table', {}, parts), rows.length > ROWS && all);
}

/** Show the games that the filters mean: the newest, or also the next older ones. */
async function showGames(shown = []) {
  const query = new URLSearchParams([...new FormData(byId('filters'))].map(([key, value]) => [key, value.trim()]));
  query.set('limit', PAGE);
  shown.length && query.set('before', shown.at(-1).began_at);
  shown.length && query.set('before_id', shown.at(-1).id);
  const mine = showGames.latest = query;
  try {
    const found = (await (await ask(`api/games?${query}`)).json()).games;
    if (mine === showGames.latest) {
      games = [...shown, ...found];
      byId('list')[shown.length ? 'append' : 'replaceChildren'](...found.map(gameRow));
      byId('more').hidden = found.length < PAGE;
      setText(byId('found'), games.length ? '' : 'No game in the records is like this.');
    }
  } catch (error) {
    mine === showGames.latest && setText(byId('found'), `The games cannot be shown: ${error.message}`);
  }
}

/** Return how the game of a record ended for us. */
export const resultOf = ({ result, status }) => result ?? (status ? 'no result' : 'running, or its end is unknown');

/** Return the opponent of a record. */
export const opponentOf = (game) =>
  player(game.opponent.replace(RegExp(`^${game.opponent_title} `), ''), game.opponent_title, game.opponent_rating);

function gameRow(game) {
  const change = game.rating_diff === null ? '' : ` ${game.rating_diff < 0 ? '−' : '+'}${Math.abs(game.rating_diff)}`;
  return make('tr', {},
    make('td', {}, make('a', { href: `#/game/${game.id}` }, moment(game.began_at))),
    make('td', {}, opponentOf(game)),
    make('td', {}, make('b', { class: TONES[game.result] }, resultOf(game)), ` ${game.status}`),
    make('td', {}, joined(game.colour, terms(game), game.status && plural(game.plies, 'ply', 'plies'))),
    make('td', {}, outside(`${game.eco} ${game.opening}`)),
    make('td', { class: 'number' }, game.our_rating && `${game.our_rating}${change}`));
}

byId('filters').addEventListener('change', () => showGames());
byId('more').addEventListener('click', () => showGames(games));
