/** The bot's other games: small boards, which one click makes large. */

import { makeBoard, showPosition } from '../common/board.js';
import { setClock } from '../common/clock.js';
import { byId, make, outside, setAttribute, setText, showList } from '../common/dom.js';

const small = new WeakMap();

/** Show the games; `shown` is the id of the one on the large board, `onChoose(id)` hears which one is wanted. */
export function showOthers(games, shown, onChoose) {
  byId('others').hidden = !games.length;
  showList(byId('boards'), games, (it) => it.id, (it) => create(it, onChoose), (element, it) => {
    const [above, , below, result] = element.children;
    showPosition(small.get(element), { fen: it.fen, lastMove: it.lastMove, orientation: it.orientation });
    showSide(above, it, it.below === 'white' ? 'black' : 'white');
    showSide(below, it, it.below);
    setText(result, it.result || it.title);
    element.classList.toggle('ended', Boolean(it.result));
    setAttribute(element, 'aria-pressed', String(it.id === shown));
  });
}

function create(game, onChoose) {
  const board = make('span', { class: 'small', 'aria-hidden': 'true' });
  const element = make('button', { type: 'button', onclick: () => onChoose(game.id) },
    make('span', { class: 'side' }), make('span', { class: 'square' }, board), make('span', { class: 'side' }),
    make('span', { class: 'muted' }));
  small.set(element, makeBoard(board, { viewOnly: true, coordinates: false }));
  return element;
}

function showSide(row, game, colour) {
  if (!row.children.length) row.append(outside(game.players[colour].name), make('span', { class: 'clock' }));
  setClock(row.children[1], game.clocks && game.clocks[colour] / 1000, game.clocks?.running === colour, game);
}
