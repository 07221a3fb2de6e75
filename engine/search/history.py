# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What the search has learnt about moves: which refuted positions before, and how wrong the evaluation was.

Killers are the last two refutations at the same ply; the butterfly table counts quiet moves by side, origin, target,
and whether the enemy attacks either square; continuations count them by the moves they answer or follow, structures by
the pawns on the board; captures are counted by piece, target and victim.
Corrections are what the static evaluation is short of, on average, in positions with the same pawns, the same white
pieces, the same black pieces. (chessprogramming wiki: Killer Heuristic, History Heuristic, Continuation History, Pawn
History, Static Evaluation Correction History)
"""

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, u64
from cython.cimports.engine.core.move import to_square
from cython.cimports.engine.core.params import (
    CORRECTION_LIMIT,
    CORRECTION_SCALE,
    CORRECTION_WEIGHT,
    HISTORY_BONUS,
    HISTORY_BONUS_LIMIT,
    HISTORY_LIMIT,
)
from cython.cimports.engine.core.pieces import KINDS, KING, KNIGHT
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import MAX_PLY
from cython.cimports.engine.evaluation.threats import attacked_by

ROUTES = cython.declare(cython.int, 32768)          # side, origin attacked, target attacked, origin, target
STRUCTURES = cython.declare(cython.int, 512)        # pawn keys are told apart by their last bits
KILLER = cython.declare(cython.int, 29000)          # above a quarter of all that history can say of a quiet move
NO_STEP = cython.declare(cython.int, 768)           # a step is piece * 64 + target; this one is no move's
CORRECTION_BITS = cython.declare(cython.int, 14)    # of a key that choose a correction
ASPECTS = cython.declare(cython.int, 3)             # of a position have corrections: WHITE's pieces, BLACK's and
PAWNS = cython.declare(cython.int, 2)
MIX = cython.declare(u64, 0x9E3779B97F4A7C15)       # 2**64 divided by the golden ratio (Knuth: multiplicative hashing)


def bonus(depth: cython.int) -> cython.int:
    """How much one cutoff weighs: deep ones were dearly bought."""
    weight: cython.int = HISTORY_BONUS * depth
    return weight if weight < HISTORY_BONUS_LIMIT else HISTORY_BONUS_LIMIT


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def nudged(value: cython.int, change: cython.int) -> cython.int:
    """The value moved by `change`, less the nearer it is to the limit, which it never passes."""
    size: cython.int = change if change >= 0 else -change
    return value + change - value * size // HISTORY_LIMIT


def correction_index(position: Position, aspect: cython.int) -> cython.int:
    """Where the correction stands for the position's pawns or for a colour's pieces.

    Pieces have no key of their own that moves keep up to date: their squares, multiplied with an odd number, do.
    """
    key: u64 = position.pawn_key
    if aspect != PAWNS:
        key = 0
        kind: cython.int
        for kind in range(KNIGHT, KING + 1):
            key = (key ^ position.pieces[aspect * KINDS + kind]) * MIX & ALL_SQUARES
    table: cython.int = position.side_to_move * ASPECTS + aspect
    return (table << CORRECTION_BITS) + cython.cast(cython.int, key >> (64 - CORRECTION_BITS))


@cython.final
@cython.cclass
class History:
    def __init__(self) -> None:
        if not cython.compiled:
            self.killers = [0] * (2 * MAX_PLY)
            self.quiets = [0] * ROUTES
            self.captures = [0] * 4608
            self.continuations = [0] * (769 * 768)
            self.structures = [0] * (STRUCTURES * 768)
            self.attacked = [0] * (MAX_PLY + 2)
            self.answered = [0] * (MAX_PLY + 2)
            self.followed = [0] * (MAX_PLY + 2)
            self.recalled = [0] * (MAX_PLY + 2)
            self.structure = [0] * (MAX_PLY + 2)
            self.corrections = [0] * (2 * ASPECTS << CORRECTION_BITS)
        self.clear()

    def clear(self) -> None:
        """Forget everything, for a new game."""
        index: cython.int
        for index in range(2 * MAX_PLY):
            self.killers[index] = 0
        for index in range(ROUTES):
            self.quiets[index] = 0
        for index in range(4608):
            self.captures[index] = 0
        for index in range(769 * 768):
            self.continuations[index] = 0
        for index in range(STRUCTURES * 768):
            self.structures[index] = 0
        for index in range(2 * ASPECTS << CORRECTION_BITS):
            self.corrections[index] = 0

    def new_search(self) -> None:
        """Killers belong to a ply of one search; what the butterfly table learnt still half holds."""
        index: cython.int
        for index in range(2 * MAX_PLY):
            self.killers[index] = 0
        for index in range(ROUTES):
            self.quiets[index] >>= 1       # not // 2: this is done to eight at a time

    def begin_node(
        self, position: Position, ply: cython.int, before: cython.int, before_that: cython.int, long_before: cython.int
    ) -> cython.void:
        """Note what quiet moves of the position at this ply are to be judged by.

        `before` is the step they answer, `before_that` the one they follow up, `long_before` that side's one before.
        """
        self.attacked[ply] = attacked_by(position, position.side_to_move ^ 1)
        self.answered[ply] = before * 768
        self.followed[ply] = before_that * 768
        self.recalled[ply] = long_before * 768
        self.structure[ply] = cython.cast(cython.int, position.pawn_key & (STRUCTURES - 1)) * 768

    def route(self, side: cython.int, move: cython.int, ply: cython.int) -> cython.int:
        """Where the butterfly table counts a move.

        To leave an attacked square is another thing than to leave a quiet one, and to go to one even more so.
        """
        attacked: u64 = self.attacked[ply]
        flees: cython.int = cython.cast(cython.int, attacked >> (move & 63)) & 1
        dares: cython.int = cython.cast(cython.int, attacked >> to_square(move)) & 1
        return ((side * 2 + flees) * 2 + dares) * 4096 + (move & 4095)

    def quiet_worth(self, side: cython.int, move: cython.int, step: cython.int, ply: cython.int) -> cython.int:
        """How well a quiet move has done, +- 9/2 * HISTORY_LIMIT; `step` is the move's own."""
        return (
            self.quiets[self.route(side, move, ply)]
            + self.continuations[self.answered[ply] + step]
            + self.continuations[self.followed[ply] + step]
            + self.continuations[self.recalled[ply] + step] // 2
            + self.structures[self.structure[ply] + step]
        )

    def rank_quiets(
        self, position: Position, moves: cython.p_int, start: cython.int, end: cython.int, ply: cython.int
    ) -> cython.void:
        """Add ranks to moves[start:end], times 65536: first killers, then by a quarter of their worth."""
        side: cython.int = position.side_to_move
        killer: cython.int = self.killers[2 * ply]
        second: cython.int = self.killers[2 * ply + 1]
        index: cython.int
        rank: cython.int
        for index in range(start, end):
            move: cython.int = moves[index]
            if move == killer:
                rank = KILLER + 1
            elif move == second:
                rank = KILLER
            else:
                rank = self.quiet_worth(side, move, position.board[move & 63] * 64 + to_square(move), ply) >> 2
            moves[index] = rank * 65536 + move

    def learn_quiet(
        self, side: cython.int, move: cython.int, step: cython.int, ply: cython.int, change: cython.int
    ) -> cython.void:
        """A quiet move refuted a position (change above 0), or was tried before the one that did."""
        self.learn_route(side, move, ply, change)
        index: cython.int = self.structure[ply] + step
        self.structures[index] = nudged(self.structures[index], change)
        self.learn_continuation(self.answered[ply], step, change)
        self.learn_continuation(self.followed[ply], step, change)
        self.learn_continuation(self.recalled[ply], step, change // 2)

    def learn_route(
        self, side: cython.int, move: cython.int, ply: cython.int, change: cython.int
    ) -> cython.void:
        """The same for the butterfly table alone."""
        index: cython.int = self.route(side, move, ply)
        self.quiets[index] = nudged(self.quiets[index], change)

    def learn_continuation(self, earlier: cython.int, step: cython.int, change: cython.int) -> cython.void:
        """The same for a step after an `earlier` one, if there was any."""
        if earlier != NO_STEP * 768:
            index: cython.int = earlier + step
            self.continuations[index] = nudged(self.continuations[index], change)

    def learn_capture(self, step: cython.int, victim: cython.int, change: cython.int) -> cython.void:
        """The same for a capture of a piece of the kind `victim`."""
        index: cython.int = step * 6 + victim
        self.captures[index] = nudged(self.captures[index], change)

    def remember_killer(self, move: cython.int, ply: cython.int) -> cython.void:
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move

    def correction(self, position: Position) -> cython.int:
        """What the search has lately found to be missing in the evaluation, in centipawns."""
        found: cython.int = 0
        aspect: cython.int
        for aspect in range(ASPECTS):
            found += self.corrections[correction_index(position, aspect)]
        return found // CORRECTION_SCALE

    def learn_error(self, position: Position, error: cython.int, depth: cython.int) -> cython.void:
        """The search found `error` centipawns more than the corrected evaluation.

        The deeper the search, the more one error changes; each aspect is held to blame for all of it, so that they
        soon share it among them.
        """
        weight: cython.int = depth + 1 if depth < 15 else 16
        change: cython.int = error * weight * CORRECTION_SCALE // CORRECTION_WEIGHT
        most: cython.int = CORRECTION_LIMIT * CORRECTION_SCALE
        aspect: cython.int
        for aspect in range(ASPECTS):
            index: cython.int = correction_index(position, aspect)
            value: cython.int = self.corrections[index] + change
            self.corrections[index] = most if value > most else -most if value < -most else value
