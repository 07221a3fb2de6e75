/** A game around its board: players and clocks, moves, offers, the end, and the chat. */

import { setClock } from '../common/clock.js';
import { byId, make, outside, setAttribute, setText, showList } from '../common/dom.js';

/** Show both players with their clocks, the one with the colour `nearest` below. */
export function showPlayers(game, nearest) {
  for (const colour of ['white', 'black']) {
    const row = byId(colour === nearest ? 'below' : 'above');
    const { name, title, rating } = game.players[colour];
    const [label, clock] = row.children;
    const titled = title ? make('b', { class: 'title' }, title) : '';
    label.replaceChildren(titled, outside(name), make('small', {}, ` ${rating}`));
    row.classList.toggle('turn', !game.isOver && game.turn === colour);
    setAttribute(clock, 'aria-label', `Clock of ${name}`);
    setClock(clock, game.clocks && game.clocks[colour] / 1000, game.clocks?.running === colour, game);
  }
}

/** Show the moves; `ply` is the one on the board, `judged` has the mistakes by their plies. */
export function showMoves(game, ply, judged, onPly) {
  const rows = new Map();
  game.moves.forEach(({ number, color, san }, index) => {
    rows.set(number, { number, ...rows.get(number), [color]: { san, ply: index + 1, ...judged.get(index + 1) } });
  });
  const list = byId('moves');
  const create = () => make('li', {}, make('span', { class: 'muted' }), make('button', { type: 'button' }),
    make('button', { type: 'button' }));
  showList(list, rows.values(), (row) => row.number, create, (element, row) => {
    const [number, ...buttons] = element.children;
    setText(number, `${row.number}.`);
    [row.white, row.black].forEach((move, index) => {
      const button = buttons[index];
      setText(button, move ? move.san + (move.glyph ?? '') : index ? '' : '…');
      button.className = move?.kind ?? '';
      button.disabled = !move;
      button.onclick = () => onPly(move.ply, button);
      setAttribute(button, 'aria-current', move?.ply === ply && 'true');
    });
  });
  const { offsetLeft: left, offsetTop: top } = list.querySelector('[aria-current]') ?? list;
  const place = [game.id, ply, game.moves.length, list.clientWidth, list.scrollWidth].join(' '); // marks widen it
  if (list.dataset.place !== place) {
    list.scrollTo(left - list.offsetLeft - list.clientWidth / 2, top - list.offsetTop - list.clientHeight / 2);
  }
  list.dataset.place = place;
}

/** Show what waits for an answer; `onAnswer(path, accept)` hears it. */
export function showOffer(offer, onAnswer) {
  showList(byId('offer'), offer ? [offer] : [], (it) => `${it.path} ${it.text}`, ({ text, path, answers = {} }) => {
    const buttons = Object.entries(answers).map(([label, accept]) =>
      make('button', { type: 'button', onclick: () => onAnswer(path, accept) }, label));
    return make('div', {}, make('p', {}, text), make('div', { class: 'row' }, buttons));
  });
  byId('offer').hidden = !offer;
}

/** Show the end of the game, and what can be done. */
export function showState(game) {
  const runs = game.me && !game.isOver;
  setText(byId('terms'), game.terms);
  byId('end').hidden = !game.isOver;
  byId('end').className = `card ${game.me && game.winner ? (game.winner === game.me ? 'won' : 'lost') : 'drawn'}`;
  setText(byId('end-title'), game.title);
  setText(byId('end-reason'), game.reason);
  byId('rematch').hidden = !game.me;
  byId('typing').hidden = byId('actions').hidden = !runs;
  byId('leave').hidden = Boolean(game.me);
  setText(byId('draw'), game.hasOfferedDraw ? 'Draw offered' : 'Offer draw');
  setText(byId('takeback'), game.hasAskedTakeback ? 'Takeback asked' : 'Takeback');
  byId('draw').disabled = game.isAbortable || game.hasOfferedDraw;
  byId('takeback').disabled = game.isAbortable || game.hasAskedTakeback;
  setText(byId('resign'), game.isAbortable ? 'Abort' : 'Resign');
}

/** Show the chat; the site's own lines and those for spectators are told apart. */
export function showChat(game) {
  byId('chat-form').hidden = !game.me;
  const lines = game.chat.map((line, index) => ({ ...line, index }));
  const before = byId('chat').children.length;
  showList(byId('chat'), lines, (line) => `${game.id} ${line.index}`, (line) => {
    const isSite = line.name === 'lichess';
    const room = line.room === 'spectator' ? ' (to spectators)' : '';
    return make('li', { class: isSite ? 'muted' : '' }, isSite ? '' : make('b', {}, outside(line.name), room, ' '),
      outside(line.text));
  });
  if (before !== lines.length) byId('chat').scrollTo(0, byId('chat').scrollHeight);
}
