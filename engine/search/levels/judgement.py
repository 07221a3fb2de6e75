# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""How a player of limited strength judges a position: material for certain, the rest by its strength.

It has a taste, fixed for the game: a bonus or malus for each kind of piece on each square, so that it follows plans of
its own. It also misjudges each position by a number of its own, always the same within a game. It may also have a
named style, see `engine/evaluation/style.py`.
"""

import cython
from cython.cimports.engine.core.bitboard import lsb, popcount, u64
from cython.cimports.engine.core.params import EXCHANGE_VALUE
from cython.cimports.engine.core.pieces import BLACK, KIND_OF, KINDS, KING
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, endgame_of
from cython.cimports.engine.core.zobrist import mix64
from cython.cimports.engine.evaluation.evaluate import balance, evaluate
from cython.cimports.engine.evaluation.style_bonus import StyleBonus

FULL = cython.declare(cython.int, 1000)


@cython.final
@cython.cclass
class Judge:
    """Judges positions as one player does, who has the colour `us`, in one game."""

    def __init__(
        self, game: int, understanding: int, taste_cp: int, misjudgement_cp: int, style: StyleBonus | None, us: int
    ) -> None:
        """`game` is a hash, `understanding` the weight of all but material in percent, `taste_cp` the largest taste."""
        index: cython.int
        self.game = game
        self.understanding = understanding
        self.misjudgement = misjudgement_cp
        self.style = style
        self.us = us
        spread: cython.int = 2 * taste_cp + 1
        for index in range(KINDS * 64):
            self.taste[index] = cython.cast(cython.int, mix64(self.game + index) % cython.cast(u64, spread)) - taste_cp

    def score(self, position: Position) -> cython.int:
        """Return the player's score of a position in centipawns for the side to move."""
        material: cython.int = 0
        kind: cython.int
        for kind in range(KING):
            material += EXCHANGE_VALUE[kind] * (
                popcount(position.pieces[kind]) - popcount(position.pieces[KINDS + kind])
            )
        judged: cython.int = self.taste_of(position)
        if position.side_to_move == BLACK:
            material, judged = -material, -judged
        evaluated: cython.int = evaluate(position)
        if evaluated == DRAW and popcount(position.occupied) == 3:
            evaluated = self.drawn_pawn_ending(position)
        judged += material + (evaluated - material) * self.understanding // 100
        # Two uniform numbers from 0 to FULL make a triangle, whose standard deviation is its half width times
        # 1 / sqrt(6): 408 thousandths of FULL.
        noise: u64 = mix64(self.game ^ position.key)
        parts: cython.int = cython.cast(cython.int, noise % 1001 + (noise >> 32) % 1001) - FULL
        judged += parts * self.misjudgement // 408
        return judged if self.style is None else self.style.added_to(judged, position, self.us)

    def drawn_pawn_ending(self, position: Position) -> cython.int:
        """Return the score of a draw by king and pawn against king: a part of what the terms say of the pawn.

        If it were 0, all moves would look alike: a king would leave its pawn, and the other one not take it.
        """
        sign: cython.int = 1 if popcount(position.colours[BLACK]) == 1 else -1
        hope: cython.int = sign * endgame_of(balance(position)) // 16
        if hope < 1:
            hope = 1
        return hope if (sign < 0) == (position.side_to_move == BLACK) else -hope

    def taste_of(self, position: Position) -> cython.int:
        """Return what the player's taste adds for White."""
        total: cython.int = 0
        piece: cython.int
        square: cython.int
        left: u64 = position.occupied
        while left:
            square = lsb(left)
            piece = position.board[square]
            if piece < KINDS:
                total += self.taste[piece * 64 + square]
            else:
                total -= self.taste[KIND_OF[piece] * 64 + (square ^ 56)]
            left &= left - 1
        return total
