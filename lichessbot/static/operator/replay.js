/** One game of the records, to be played through: pgn-viewer, evaluations, mistakes, time use, and its chat. */

import { animation, squaresOf } from '../common/board.js';
import { make, outside, setText } from '../common/dom.js';
import { makeEvaluationGraph } from '../common/graph.js';
import LichessPgnViewer from '../vendor/pgn-viewer/lichess-pgn-viewer.min.js';
import { chatLine, showTimes } from './game.js';
import { ask, opponentOf, resultOf } from './history.js';
import { makeTimeGraph } from './plots.js';
import { joined, moment, numbered, terms } from './words.js';

const MARKS = { '??': '$4', '?': '$2', '?!': '$6' };    // as PGN writes them
const graphs = [];
let shownId = null;

/** End the graphs of the game that was shown. */
export function closeReplay() {
  graphs.splice(0).forEach((graph) => graph.destroy());
  shownId = null;
}

/** Show a game of the records in an element. */
export async function showReplay(element, id) {
  shownId = id;
  element.replaceChildren(make('p', { class: 'card', role: 'status' }, 'Reading the game …'));
  try {
    const address = `api/games/${encodeURIComponent(id)}`;
    const [record, pgn] = await Promise.all([ask(address), ask(`${address}.pgn`)]);
    const parts = { ...await record.json(), pgn: await pgn.text(), address: pgn.url };
    shownId === id && showGame(element, parts);
  } catch (error) {
    const text = `This game cannot be shown: ${error.message}`;
    shownId === id && element.replaceChildren(make('p', { class: 'card bad', role: 'alert' }, text));
  }
}

/** Return the game as PGN with clocks, and for each mistake a mark, an arrow, and what was better. */
function annotated({ moves, mistakes, pgn }) {
  const headers = pgn.split('\n').filter((line) => line.startsWith('[')).join('\n');
  const line = moves.map(({ san, ply, move, clock_ms: clockMs }) => {
    const clock = clockMs === null ? '' : `[%clk ${new Date(clockMs).toISOString().slice(11, 19)}]`;
    const mistake = mistakes.find((it) => it.ply === ply);
    if (!mistake) return `${san} {${clock}}`;
    const better = mistake.better ? `,G${squaresOf(mistake.better_move).join('')}` : '';
    const comment = `{${clock}[%cal R${squaresOf(move).join('')}${better}]}`;
    return `${san} ${MARKS[mistake.glyph]} ${comment} ${better && `(${mistake.line.join(' ')})`}`;
  });
  return `${headers}\n\n${line.join(' ')}`;
}

function showGame(element, record) {
  const { game, moves, chat, review, mistakes } = record;
  const graph = (name) => make('div', { class: 'graph', role: 'img', 'aria-label': `Graph of ${name}` });
  const parts = { board: make('div'), time: make('p'), scores: graph('evaluations'), times: graph('time by move') };
  const part = (title, ...content) => make('section', { class: 'card' }, make('h3', {}, title), content);
  const facts = [resultOf(game), game.status, moment(game.began_at), terms(game), game.opening];
  const none = record.scores.length ? 'No mistakes or blunders.' : 'The records have no evaluations of this game.';
  const serious = mistakes.filter((it) => it.judgement !== 'inaccuracy');
  const list = serious.map((it) => mistakeItem(it, moves[it.ply - 1], game, review, (ply) => goTo(ply)));
  element.replaceChildren(
    make('h2', {}, 'Game against ', opponentOf(game)),
    make('p', { class: 'muted' }, outside(joined(...facts)), ' · ',
      make('a', { href: record.address, download: `${game.id}.pgn` }, 'PGN')),
    make('div', { class: 'replay' }, parts.board, make('div', {},
      part('Evaluation', parts.scores),
      part(review ? 'Review' : 'Our mistakes', make('p', { class: 'muted' }, outside(summary(game, review))),
        list.length ? make('ol', {}, list) : make('p', {}, none)),
      part('Time', parts.time, parts.times),
      chat.length > 0 && part('Chat', make('ul', { class: 'chat' }, chat.map(chatLine))))));
  const viewer = LichessPgnViewer(parts.board, {
    pgn: annotated(record),
    orientation: (game.variant !== 'racingKings' && game.colour) || 'white',
    lichess: false,
    chessground: { animation },
    showClocks: game.base_s !== null,       // it would take the days of a correspondence game for seconds
    menu: { practiceWithComputer: { enabled: false }, analysisBoard: { enabled: false } },
  });
  const goTo = (ply) => {
    viewer.toPath(viewer.game.pathAtMainlinePly(ply));
    viewer.div.scrollIntoView({ block: 'nearest' });
  };
  const [scores, times] = [makeEvaluationGraph(parts.scores, goTo), makeTimeGraph(parts.times)];
  graphs.push(scores, times, viewer.ground);
  scores.show(record.scores);
  const timed = moves.filter((it) => it.search_ms !== null).map((it) => ({ ...it, search_s: it.search_ms / 1000 }));
  setText(parts.time, showTimes(times, timed, game.initial_fen));
  const { toPath } = viewer;
  viewer.toPath = (path, focus) => {
    toPath(path, focus);
    scores.select(path.size());
  };
  // pgn-viewer names a move in spoken words alone; the text on the button belongs to its name.
  viewer.div.querySelectorAll('.move').forEach((it) => { it.ariaLabel = `${it.textContent}, ${it.ariaLabel}`; });
}

/** Return the accuracy of both players, or how to get it. */
function summary({ id }, review) {
  const accuracy = (side) => `${side}\u2019s accuracy ${Math.round(review.accuracy[side.toLowerCase()])} %`;
  const exact = review?.accuracy && ['White', 'Black'].map(accuracy);
  return review ? joined(...exact ?? [], review.engine)
    : `By the bot\u2019s evaluations; \u201clichessbot review ${id}\u201d reviews both sides.`;
}

function mistakeItem(mistake, move, game, review, goTo) {
  const chances = `${Math.round(mistake.before)} % to ${Math.round(mistake.after)} %`;
  const better = mistake.better && `better ${mistake.better}`;
  const turn = review?.turning_points.includes(mistake.ply) && 'turning point';
  const origin = joined(move.source?.replaceAll('_', ' '), move.depth && `depth ${move.depth}`);
  const facts = joined(mistake.judgement, chances, mistake.mate, better, turn, origin);
  const show = make('button', { type: 'button', onclick: () => goTo(mistake.ply) }, numbered(move, game.initial_fen));
  return make('li', {}, show, ' ', make('span', { class: 'muted' }, facts));
}
