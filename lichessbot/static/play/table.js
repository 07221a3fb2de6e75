/** The large board: moves by drag, by click and as premoves, and the choice of a promotion. */

import { arrow, makeBoard, positionInWords, squaresOf } from '../common/board.js';
import { byId, make, setText } from '../common/dom.js';

const PROMOTIONS = { q: 'queen', r: 'rook', b: 'bishop', n: 'knight' };

/** Return the board. `onMove(uci)` gets every move; it is shown at once, and `show` corrects it. */
export function makeTable(onMove) {
  let game = null;
  const board = makeBoard(byId('board'), {
    movable: { free: false, color: undefined, showDests: true, events: { after: (...move) => played(...move) } },
    premovable: { enabled: true, showDests: true },
    drawable: { enabled: true },
    highlight: { lastMove: true, check: true },
  });

  async function played(origin, target, details) {
    const moves = (game.legal[origin] ?? []).filter((move) => move.slice(2, 4) === target);
    const needsChoice = moves.some((move) => move.length > 4);
    const piece = needsChoice && !details.premove ? await choosePromotion(game.me) : 'q';
    onMove(needsChoice ? piece && `${origin}${target}${piece}` : moves[0]);
  }

  return {
    /** Show the position after `ply` moves, with a move (UCI) drawn as better; the latest position can be played. */
    show(shown, ply, orientation, better) {
      const isNew = game?.id !== shown?.id;
      game = shown;
      const move = game?.moves[ply - 1];
      const fen = move?.fen ?? game?.initialFen;
      const turn = fen?.split(' ')[1] === 'b' ? 'black' : 'white';
      const isLatest = game && ply === game.moves.length;
      const canPlay = isLatest && game.me && !game.isOver;
      const inCheck = isLatest ? game.check : Boolean(move?.check);
      board.set({
        fen: fen ?? 'start',
        orientation,
        turnColor: turn,
        check: inCheck ? turn : false,
        lastMove: move ? squaresOf(move.uci) : undefined,
        movable: { color: canPlay ? game.me : undefined, dests: destinations(game?.legal ?? {}) },
      });
      board.setAutoShapes(better ? arrow(better, 'green') : []);
      setText(byId('position'), fen ? positionInWords(fen) : '');
      if (isNew || !canPlay) {
        board.cancelPremove();
      } else if (turn === game.me) {
        board.playPremove();
      }
    },
  };
}

function destinations(legal) {
  return new Map(Object.entries(legal).map(([origin, moves]) => [origin, moves.map((move) => move.slice(2, 4))]));
}

/** Return the letter of the piece that the person chooses, by click or key; null if none. */
function choosePromotion(colour) {
  const dialog = byId('promotion');
  dialog.replaceChildren(...Object.entries(PROMOTIONS).map(([letter, name]) => {
    const picture = make('piece', { class: `${name} ${colour}` });
    return make('button', { 'aria-label': `${name}, key ${letter}`, onclick: () => dialog.close(letter) }, picture);
  }));
  dialog.returnValue = '';
  dialog.onkeydown = (event) => PROMOTIONS[event.key] && dialog.close(event.key);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue || null);
  });
}
