/** A running game: board, clocks, what we think of it, how we use our time, and its chat. */

import { arrow, makeBoard, positionInWords, showPosition } from '../common/board.js';
import { setClock } from '../common/clock.js';
import { make, outside, setAttribute, setText } from '../common/dom.js';
import { makeEvaluationGraph, winningChance } from '../common/graph.js';
import { makeTimeGraph } from './plots.js';
import { count, evaluationText, joined, numbered, player, terms } from './words.js';

const MOVES_SHOWN = 12;
const LINE_SHOWN = 10;
// Of our line: the next move strong, the two after it pale.
const BRUSHES = { ours: ['green', 'paleGreen', 'paleGreen'], theirs: ['red', 'paleRed', 'paleRed'] };
const cards = new WeakMap();

/** Return the element that shows a running game; it is filled in once it is on the page. */
export function createGame(game) {
  const parts = {
    them: make('h3', { class: 'name' }),
    us: make('p', { class: 'name' }),
    board: make('div'),
    bar: make('div', { class: 'bar', role: 'img' }, make('div')),
    score: make('b', { class: 'score' }),
    graph: make('div', { class: 'graph', role: 'img' }),
    timeGraph: make('div', { class: 'graph low', role: 'img', 'aria-label': 'Graph of our time for each move' }),
    chatTitle: make('summary'),
    chat: make('ul', { class: 'chat' }),
    seen: {},
  };
  ['terms', 'thought'].forEach((name) => { parts[name] = make('span'); });
  ['line', 'moves', 'time'].forEach((name) => { parts[name] = make('p', { class: name }); });
  ['ourClock', 'theirClock'].forEach((name) => { parts[name] = make('span', { class: 'clock', role: 'timer' }); });
  parts.frame = make('div', { class: 'board', role: 'img' }, parts.board);
  const link = make('a', { href: game.url, rel: 'noreferrer', target: '_blank' }, 'on Lichess');
  const table = make('div', {},
    make('div', { class: 'row' }, parts.them, parts.theirClock),
    make('div', { class: 'position' }, parts.bar, parts.frame),
    make('div', { class: 'row' }, parts.us, parts.ourClock));
  const thoughts = make('div', { class: 'thoughts' },
    make('p', { class: 'muted' }, parts.terms, ' · ', link),
    make('p', { class: 'evaluation' }, parts.score, parts.thought),
    parts.line, parts.graph, parts.moves, parts.time, parts.timeGraph,
    make('details', {}, parts.chatTitle, parts.chat));
  const element = make('article', { class: 'card game' }, make('div', { class: 'columns' }, table, thoughts));
  cards.set(element, parts);
  return element;
}

/** Make the element of a game show what is known of it now. */
export function updateGame(element, game) {
  const parts = cards.get(element);
  const ours = game.our_colour ?? 'white';
  parts.ground ??= makeBoard(parts.board);
  parts.evaluations ??= makeEvaluationGraph(parts.graph);
  parts.times ??= makeTimeGraph(parts.timeGraph);
  showPlayer(parts, 'us', parts.ourClock, game, ours);
  showPlayer(parts, 'them', parts.theirClock, game, ours === 'white' ? 'black' : 'white');
  const trip = game.round_trip_s !== null && `round trip ${Math.round(game.round_trip_s * 1000)} ms`;
  const kind = terms(game);
  setText(parts.terms, joined(kind, game.level && `level ${game.level}`, trip, !game.stream?.is_open && 'stream lost'));
  showEvaluation(parts, game.evaluation, ours);
  once(parts, 'position', [game.fen, game.moves.at(-1), game.evaluation?.line], () => showBoard(parts, game, ours));
  once(parts, 'played', game.played, () => showPlayed(parts, game));
  setText(parts.chatTitle, `Chat (${game.chat.length})`);
  once(parts, 'chat', game.chat, () => parts.chat.replaceChildren(...game.chat.map(chatLine)));
}

/** End the board and the graphs of an element that leaves the page. */
export const closeGame = (element) =>
  ['ground', 'evaluations', 'times'].forEach((name) => cards.get(element)[name].destroy());

/** Call `show` if what this part of the card shows has changed. */
function once(parts, name, value, show) {
  const before = parts.seen[name];
  parts.seen[name] = JSON.stringify(value);
  before !== parts.seen[name] && show();
}

/** Return a line of a chat. */
export function chatLine({ author, text, room }) {
  return make('li', {}, make('b', {}, outside(author)), room === 'spectator' && ' (spectators)', ': ', outside(text));
}

function showPlayer(parts, who, clock, game, colour) {
  const { name, title, rating, holds, clock_s: clockS } = game[colour];
  const beside = joined(rating, holds);
  once(parts, who, [name, title, beside], () => parts[who].replaceChildren(player(name, title, beside)));
  setAttribute(clock, 'aria-label', `Clock of ${name}`);
  setClock(clock, clockS, clockS !== null && game.clock_runs && game.to_move === colour, game);
}

function showEvaluation(parts, evaluation, ours) {
  const { score_cp: scoreCp = null, mate_in: mateIn = null } = evaluation ?? {};
  const text = evaluationText(scoreCp, mateIn) || '–';
  parts.bar.classList.toggle('turned', ours === 'black');
  parts.bar.firstChild.style.height = `${50 + 50 * winningChance(scoreCp ?? 0, mateIn)}%`;
  setAttribute(parts.bar, 'aria-label', `Evaluation ${text}, from White's view`);
  setText(parts.score, text);
  setText(parts.thought, !evaluation ? 'no move of ours yet' : joined(
    evaluation.depth > 0 && `depth ${evaluation.depth}`,
    evaluation.nodes_per_s > 0 && `${count(evaluation.nodes_per_s)} nodes/s`,
    `from ${evaluation.source.replaceAll('_', ' ')}`,
  ));
  setText(parts.line, evaluation?.line_san.slice(0, LINE_SHOWN).join(' ') ?? '');
}

/** Return the moves of our line that are still to come; none if the game took another way. */
function expected({ evaluation, moves }) {
  const start = moves.lastIndexOf(evaluation?.move);
  const since = start < 0 ? [] : moves.slice(start);
  const isOurs = since.length > 0 && since.every((move, index) => move === evaluation.line[index]);
  return isOurs ? evaluation.line.slice(since.length) : [];
}

function showBoard(parts, game, ours) {
  const side = (index) => ((game.to_move === ours) === (index % 2 === 0) ? 'ours' : 'theirs');
  const arrows = expected(game).slice(0, 3).flatMap((move, index) => arrow(move, BRUSHES[side(index)][index]));
  const orientation = game.variant === 'racingKings' ? 'white' : ours;       // both race up the same board
  showPosition(parts.ground, { fen: game.fen, lastMove: game.moves.at(-1), arrows, orientation });
  const move = game.played.length ? `Last move ${numbered(game.played.at(-1), game.initial_fen)}. ` : '';
  setAttribute(parts.frame, 'aria-label', `Board. ${move}${positionInWords(game.fen)}`);
}

function showPlayed(parts, { played, initial_fen: initialFen }) {
  const moves = played.slice(-MOVES_SHOWN).map((move) => numbered(move, initialFen));
  setText(parts.moves, moves.map((move, index) => (index ? move.replace(/.*…\s/, '') : move)).join(' '));
  parts.evaluations.show(played);
  const scores = played.map((move) => evaluationText(move.score_cp, move.mate_in)).filter((score) => score);
  const latest = scores.slice(-MOVES_SHOWN).join(', ') || 'none';
  setAttribute(parts.graph, 'aria-label', `Graph of evaluations, the latest: ${latest}`);
  setText(parts.time, showTimes(parts.times, played.filter((move) => move.search_s !== null), initialFen));
}

/** Draw the time of our moves, and return it in words. */
export function showTimes(graph, searched, initialFen) {
  const times = searched.map((move) => move.search_s);
  graph.show([searched.map((move) => move.ply), times]);
  const longest = searched[times.indexOf(Math.max(...times))];
  const average = times.reduce((sum, time) => sum + time, 0) / times.length;
  const where = longest && ` at ${numbered(longest, initialFen)}`;
  return where ? `${average.toFixed(2)} s a move, longest ${longest.search_s.toFixed(2)} s${where}` : 'no search yet';
}
