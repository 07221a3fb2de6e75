/** Boards: chessground with the settings of both pages, and a position in words for those who do not see it. */

import { Chessground } from '../vendor/chessground/chessground.min.js';

const SQUARE = /^[a-h][1-8]$/;
export const PIECES = { k: 'king', q: 'queen', r: 'rook', b: 'bishop', n: 'knight', p: 'pawn' };
const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';

/** How pieces move; not gradually for people who want little motion. */
export const animation = { enabled: !matchMedia('(prefers-reduced-motion: reduce)').matches, duration: 150 };

/** Return a chessground in an element that has a size. `settings` are chessground's; without any it only shows. */
export function makeBoard(element, settings = { viewOnly: true }) {
  element.classList.add('cg-wrap');
  return Chessground(element, { animation, drawable: { enabled: false }, ...settings });
}

/** Return the squares of a move in UCI text: two, or one for a piece that is dropped, or none if it is no move. */
export function squaresOf(uci) {
  const squares = [uci.slice(0, 2), uci.slice(2, 4)].slice(uci[1] === '@' ? 1 : 0);
  return squares.every((square) => SQUARE.test(square)) ? squares : [];
}

/** Return the shape that draws a move: an arrow, or a circle for a drop. Only squares and our brushes get in. */
export function arrow(uci, brush) {
  const [orig, dest] = squaresOf(uci);
  return orig ? [{ orig, dest, brush }] : [];
}

/** Show a position: FEN (empty: the start), last move in UCI text or null, arrows, and whose side is below. */
export function showPosition(board, { fen, lastMove = null, arrows = [], orientation = 'white' }) {
  board.set({ fen: fen || START, orientation, lastMove: lastMove ? squaresOf(lastMove) : undefined });
  board.setAutoShapes(arrows);
}

/** Return a position in words: `White: king g1, pawn e4. Black: king g8.` */
export function positionInWords(fen) {
  const sides = { White: [], Black: [] };
  (fen || START).split(' ')[0].replace(/\[.*/, '').split('/').slice(0, 8).forEach((row, index) => {
    let file = 0;
    for (const sign of row) {
      const piece = PIECES[sign.toLowerCase()];
      if (piece) {
        sides[sign === sign.toLowerCase() ? 'Black' : 'White'].push(`${piece} ${'abcdefgh'[file]}${8 - index}`);
        file += 1;
      } else if (sign >= '1' && sign <= '8') {
        file += Number(sign);
      }
    }
  });
  return Object.entries(sides).map(([side, pieces]) => `${side}: ${pieces.join(', ') || 'nothing'}.`).join(' ');
}
