/** One game of the records, to be played through: pgn-viewer, evaluations, worst drops, time use, and its chat. */

import { make, outside, setText } from '../common/dom.js';
import { evaluationText, makeEvaluationGraph } from '../common/graph.js';
import LichessPgnViewer from '../vendor/pgn-viewer/lichess-pgn-viewer.min.js';
import { chatLine, showTimes } from './game.js';
import { ask, beganAt, gameTerms, opponentOf } from './history.js';
import { makeTimeGraph } from './plots.js';
import { joined, moment, numbered } from './words.js';

const MATE_FROM_CP = 90000;
const MATE_CP = 100000;
const DECIDED_CP = 1000;
const DROPS_SHOWN = 5;
// From which fall in centipawns on a move gets a mark of PGN: blunder, mistake, dubious.
const MARKS = [[300, '$4'], [100, '$2'], [50, '$6']];
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
    element.replaceChildren(make('p', { class: 'card bad', role: 'alert' }, text));
  }
}

/** Return an evaluation of ours from White's view, as in the status. */
function fromWhite(scoreCp, colour) {
  const sign = colour === 'black' ? -1 : 1;
  const isMate = Math.abs(scoreCp) > MATE_FROM_CP;
  const mateIn = sign * Math.sign(scoreCp) * (MATE_CP - Math.abs(scoreCp));
  return { score_cp: scoreCp === null || isMate ? null : sign * scoreCp, mate_in: isMate ? mateIn : null };
}

/** Return the falls of our evaluation from one move of ours to the next, the largest first. */
function findDrops(moves) {
  const bounded = (cp) => Math.max(-DECIDED_CP, Math.min(DECIDED_CP, cp));
  const scored = moves.filter((move) => move.score_cp !== null);
  const pairs = scored.slice(1).map((after, index) => ({ move: scored[index], after }));
  const drops = pairs.map((it) => ({ ...it, size: bounded(it.move.score_cp) - bounded(it.after.score_cp) }));
  return drops.filter((drop) => drop.size >= MARKS.at(-1)[0]).sort((one, other) => other.size - one.size);
}

/** Return the game as PGN with what pgn-viewer is to show: clocks, and a mark and an arrow at each drop. */
function annotated({ moves, pgn }, drops) {
  const headers = pgn.split('\n').filter((line) => line.startsWith('[')).join('\n');
  const marks = new Map(drops.map(({ move, size }) => [move.ply, MARKS.find(([from]) => size >= from)[1]]));
  const line = moves.map(({ san, ply, move, clock_ms: clockMs }) => {
    const clock = clockMs === null ? '' : `[%clk ${new Date(clockMs).toISOString().slice(11, 19)}]`;
    return `${san} ${marks.get(ply) ?? ''} {${clock}${marks.has(ply) ? `[%cal R${move.slice(0, 4)}]` : ''}}`;
  });
  return `${headers}\n\n${line.join(' ')}`;
}

function showGame(element, record) {
  const { game, moves, chat } = record;
  const drops = findDrops(moves);
  const graph = (name) => make('div', { class: 'graph', role: 'img', 'aria-label': `Graph of ${name}` });
  const parts = { board: make('div'), time: make('p'), scores: graph('evaluations'), times: graph('time by move') };
  const part = (title, ...content) => make('section', { class: 'card' }, make('h3', {}, title), content);
  const facts = [game.result ?? 'no result', game.status, moment(beganAt(game)), gameTerms(game), game.opening];
  const list = drops.slice(0, DROPS_SHOWN).map((drop) => dropItem(drop, game, (ply) => goTo(ply)));
  element.replaceChildren(
    make('h2', {}, 'Game against ', opponentOf(game)),
    make('p', { class: 'muted' }, outside(joined(...facts)), ' · ',
      make('a', { href: record.address, download: `${game.id}.pgn` }, 'PGN')),
    make('div', { class: 'replay' }, parts.board, make('div', {},
      part('Evaluation', parts.scores),
      part('Worst drops', list.length ? make('ol', {}, list) : make('p', {}, 'None of half a pawn or more.')),
      part('Time', parts.time, parts.times),
      chat.length > 0 && part('Chat', make('ul', { class: 'chat' }, chat.map(chatLine))))),
  );
  const viewer = LichessPgnViewer(parts.board, {
    pgn: annotated(record, drops),
    orientation: game.colour || 'white',
    lichess: false,
    menu: { practiceWithComputer: { enabled: false }, analysisBoard: { enabled: false } },
  });
  const goTo = (ply) => viewer.toPath(viewer.game.pathAtMainlinePly(ply));
  const [scores, times] = [makeEvaluationGraph(parts.scores, goTo), makeTimeGraph(parts.times)];
  graphs.push(scores, times, viewer.ground);
  scores.show(moves.map((move) => ({ ply: move.ply, ...fromWhite(move.score_cp, game.colour) })));
  const searched = moves.filter((move) => move.search_ms !== null);
  const timed = searched.map((move) => ({ ...move, search_s: move.search_ms / 1000 }));
  setText(parts.time, showTimes(times, timed, game.initial_fen));
  const { toPath } = viewer;
  viewer.toPath = (path, focus) => {
    toPath(path, focus);
    scores.select(path.size());
  };
  // pgn-viewer names a move in spoken words alone; the text on the button belongs to its name.
  viewer.div.querySelectorAll('.move').forEach((it) => { it.ariaLabel = `${it.textContent}, ${it.ariaLabel}`; });
}

function dropItem({ move, after }, game, goTo) {
  const [before, then] = [move, after].map((it) => fromWhite(it.score_cp, game.colour));
  const fall = `${evaluationText(before.score_cp, before.mate_in)} to ${evaluationText(then.score_cp, then.mate_in)}`;
  const origin = make('span', { class: 'muted' }, joined(move.source, move.depth && `depth ${move.depth}`));
  const show = make('button', { type: 'button', onclick: () => goTo(move.ply) }, numbered(move, game.initial_fen));
  return make('li', {}, show, ` ${fall} `, origin);
}
