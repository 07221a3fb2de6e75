/** The large board: moves by drag, by click and as premoves, drops from the pocket, and the choice of a promotion. */

import { PIECES, arrow, makeBoard, positionInWords, squaresOf } from '../common/board.js';
import { byId, make, setAttribute, setText, showList } from '../common/dom.js';

/** Return the board. `onMove(uci)` gets every move; it is shown at once, and `show` corrects it. */
export function makeTable(onMove) {
  let game = null;
  let position = '';
  const board = makeBoard(byId('board'), {
    movable: { free: false, color: undefined, showDests: true, events: { after: played, afterNewPiece: dropped } },
    premovable: { enabled: true, showDests: true },
    drawable: { enabled: true },
  });
  addEventListener('pointerdown', () => board.state.dom.bounds.clear(), true);      // what is above may have grown

  async function played(origin, target, details) {
    const moves = (game.legal[origin] ?? []).filter((move) => move.slice(2, 4) === target);
    const letters = moves.map((move) => move[4]).filter(Boolean);
    const piece = letters.length && !details.premove ? await choosePromotion(game.me, letters) : 'q';
    onMove(letters.length ? piece && `${origin}${target}${piece}` : moves[0]);
  }

  /** Drop this piece at the next click on a square; null ends that. Chessground changes what it is given: a copy. */
  function hold(piece) {
    board.set({ dropmode: { active: Boolean(piece), piece: piece && { ...piece } } });
    setAttribute(byId('pocket'), 'data-held', piece?.role);
  }

  function dropped(role, square) {
    hold(null);
    const origin = `${Object.keys(PIECES).find((letter) => PIECES[letter] === role).toUpperCase()}@`;
    onMove(game.legal[origin]?.find((move) => move.endsWith(square)));
  }
  byId('frame').addEventListener('pointerup', () => { if (board.state.dropmode.active) hold(null); });
  const drops = (event) => { if (board.state.dropmode.active) event.preventDefault(); };
  byId('board').addEventListener('touchstart', drops, { capture: true });   // else a click follows and takes the piece

  /** Show the pieces of the person's pocket, which are dragged onto the board, or touched before a square is. */
  function showPocket(pocket, color) {
    showList(byId('pocket'), new Set(pocket), (letter) => `${letter} ${color}`, (letter) => {
      const piece = { role: PIECES[letter], color };
      const take = (event) => {
        hold(byId('pocket').dataset.held === piece.role ? null : piece);        // a second click puts it back
        board.dragNewPiece(piece, event);
      };
      return make('piece', { class: `${piece.role} ${color}`, onmousedown: take, ontouchstart: take });
    }, (element, letter) => setAttribute(element, 'data-count', pocket.split(letter).length - 1));
  }

  return {
    /**
     * Show the position after `ply` moves, with a move (UCI) drawn as better; the latest position can be played. What
     * the person does at the board stays while the position does; `isRefused` puts a move back that is not played.
     */
    show(shown, ply, orientation, better, isRefused) {
      const isOther = game?.id !== shown?.id || shown?.moves.length < game?.moves.length;     // or a move taken back
      game = shown;
      const move = game?.moves[ply - 1];
      const fen = move?.fen ?? game?.initialFen;
      const turn = fen?.split(' ')[1] === 'b' ? 'black' : 'white';
      const isLatest = game && ply === game.moves.length;
      const canPlay = isLatest && game.me && !game.isOver;
      const before = position;
      position = [game?.id, ply, game?.moves.length, fen, canPlay].join(' ');
      board.set({ orientation });
      if (position !== before || isRefused) {
        const held = board.state.draggable.current;
        board.set({
          fen: fen ?? 'start',
          turnColor: turn,
          check: isLatest ? game.check : Boolean(move?.check),
          lastMove: move ? squaresOf(move.uci) : undefined,
          movable: { color: canPlay ? game.me : undefined, dests: destinations(game?.legal ?? {}) },
        });
        if (held?.newPiece) board.state.pieces.set(held.orig, held.piece);  // a FEN knows nothing of it
        if (isOther || !canPlay) board.cancelPremove();
        else if (turn === game.me) board.playPremove();
        showPocket(game?.pocket ?? '', game?.me);
        setText(byId('position'), fen ? positionInWords(fen) : '');
      }
      board.setAutoShapes(better ? arrow(better, 'green') : []);
    },
  };
}

const destinations = (legal) =>
  new Map(Object.entries(legal).map(([origin, moves]) => [origin, moves.map((move) => move.slice(2, 4))]));

/** Return the letter of the piece that the person chooses, by click or key; null after a click elsewhere or Escape. */
function choosePromotion(colour, letters) {
  const dialog = byId('promotion');
  dialog.replaceChildren(...letters.map((letter) => {
    const picture = make('piece', { class: `${PIECES[letter]} ${colour}` });
    const label = `${PIECES[letter]}, key ${letter}`;
    return make('button', { class: 'cg-wrap', 'aria-label': label, onclick: () => dialog.close(letter) }, picture);
  }));
  dialog.returnValue = '';
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
  dialog.onkeydown = ({ key }) => { if (letters.includes(key.toLowerCase())) dialog.close(key.toLowerCase()); };
  dialog.showModal();
  return new Promise((resolve) => { dialog.onclose = () => resolve(dialog.returnValue || null); });
}
