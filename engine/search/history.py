# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Statistics of the search: which moves caused cutoffs, and how wrong the static evaluation was.

- Killers: the last two quiet moves that caused a cutoff at a ply.
- Butterfly table: quiet moves by side, origin, target, and whether the opponent attacks either square. A drop counts
  as a move from one of the squares a1 to e1.
- Continuation history: quiet moves by the moves one, two and four plies earlier.
- Pawn history: quiet moves by the pawns on the board.
- Capture history: captures by piece, target and victim.
- Corrections: the average error of the static evaluation by pawns, by white pieces and by black pieces.

A step is a piece and its target, as `piece * 64 + target`. (chessprogramming wiki: Killer Heuristic, History
Heuristic, Continuation History, Pawn History, Static Evaluation Correction History)
"""

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, u64
from cython.cimports.engine.core.move import from_square, is_drop, to_square
from cython.cimports.engine.core.movegen import attacked_squares
from cython.cimports.engine.core.params import (
    BUTTERFLY_WEIGHT,
    CONTINUATION_1_WEIGHT,
    CONTINUATION_2_WEIGHT,
    CONTINUATION_4_WEIGHT,
    CORRECTION_DEPTH_LIMIT,
    CORRECTION_LIMIT,
    CORRECTION_SCALE,
    CORRECTION_WEIGHT,
    HISTORY_BONUS,
    HISTORY_BONUS_LIMIT,
    HISTORY_LIMIT,
    HISTORY_MALUS,
    HISTORY_MALUS_LIMIT,
    PAWN_CORRECTION,
    PAWN_HISTORY_WEIGHT,
    PIECE_CORRECTION,
)
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, KING, KNIGHT, NO_PIECE
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import MAX_PLY

if not cython.compiled:
    BUTTERFLY_SIZE = 32768         # side, origin attacked, target attacked, origin, target
    STEPS = NO_PIECE * 64
    NO_STEP = STEPS                # a null move, or before the root
    PAWN_KEYS = 512                # the last bits of the pawn key
    CAPTURES = STEPS * KINDS       # step, victim
    KILLER = 29000                 # rank; above a quarter of the largest history score
    CORRECTION_BITS = 14           # of a key select a correction
    WHITE_PIECES, BLACK_PIECES, PAWNS = range(3)       # the parts of a position that have corrections
    PARTS = 3

    def step_of(position: Position, move: int) -> int:
        """Return the step of a move that has not been made yet."""
        origin = from_square(move)
        piece = position.side_to_move * KINDS + origin if is_drop(move) else position.board[origin]
        return piece * 64 + to_square(move)

MIX = cython.declare(u64, 0x9E3779B97F4A7C15)       # 2**64 divided by the golden ratio (Knuth: multiplicative hashing)


def bonus(depth: cython.int) -> cython.int:
    """Return the weight of one cutoff; deep ones weigh more."""
    weight: cython.int = HISTORY_BONUS * depth
    return weight if weight < HISTORY_BONUS_LIMIT else HISTORY_BONUS_LIMIT


def malus(depth: cython.int) -> cython.int:
    """Return what a move loses that did not cause the cutoff."""
    weight: cython.int = HISTORY_MALUS * depth
    return weight if weight < HISTORY_MALUS_LIMIT else HISTORY_MALUS_LIMIT


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def gravity(value: cython.int, change: cython.int) -> cython.int:
    """Return the value plus `change`, reduced near HISTORY_LIMIT so that the value never exceeds it."""
    size: cython.int = change if change >= 0 else -change
    return value + change - value * size // HISTORY_LIMIT


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def capture_index(position: Position, move: cython.int) -> cython.int:
    """Return the index of a capture or promotion: its step and its victim, a pawn if the target is empty."""
    target: cython.int = to_square(move)
    step: cython.int = position.board[from_square(move)] * 64 + target
    return step * KINDS + KIND_OF[position.board[target]]


def correction_index(position: Position, part: cython.int) -> cython.int:
    """Return the index of the correction for the pawns or for one side's pieces.

    No incremental key covers the pieces, so their bitboards are hashed here.
    """
    key: u64 = position.pawn_key
    if part != PAWNS:
        key = 0
        kind: cython.int
        for kind in range(KNIGHT, KING + 1):
            key = (key ^ position.pieces[part * KINDS + kind]) * MIX & ALL_SQUARES
    table: cython.int = position.side_to_move * PARTS + part
    return (table << CORRECTION_BITS) + (key >> (64 - CORRECTION_BITS))


@cython.final
@cython.cclass
class History:
    """The statistics of one thread's searches, kept between the moves of a game."""

    def clear(self) -> None:
        """Clear all statistics, for a new game."""
        index: cython.int
        for index in range(2 * MAX_PLY):
            self.killers[index] = 0
        for index in range(BUTTERFLY_SIZE):
            self.butterfly[index] = 0
        for index in range(CAPTURES):
            self.capture_history[index] = 0
        for index in range((STEPS + 1) * STEPS):
            self.continuations[index] = 0
        for index in range(PAWN_KEYS * STEPS):
            self.pawn_history[index] = 0
        for index in range(2 * PARTS << CORRECTION_BITS):
            self.corrections[index] = 0

    def new_search(self) -> None:
        """Clear the killers and halve the butterfly table, for a new root position."""
        index: cython.int
        for index in range(2 * MAX_PLY):
            self.killers[index] = 0
        for index in range(BUTTERFLY_SIZE):
            self.butterfly[index] >>= 1       # not // 2: the compiler vectorizes this

    def begin_node(
        self, position: Position, ply: cython.int, step_1: cython.int, step_2: cython.int, step_4: cython.int
    ) -> cython.void:
        """Set the context of quiet moves at this ply; `step_n` is the step made n plies earlier."""
        self.attacked[ply] = attacked_squares(position, position.side_to_move ^ 1, position.occupied)
        self.one_ply_ago[ply] = step_1 * STEPS
        self.two_plies_ago[ply] = step_2 * STEPS
        self.four_plies_ago[ply] = step_4 * STEPS
        self.pawn_offset[ply] = cython.cast(cython.int, position.pawn_key & (PAWN_KEYS - 1)) * STEPS

    def butterfly_index(self, side: cython.int, move: cython.int, ply: cython.int) -> cython.int:
        """Return the index of a move in the butterfly table."""
        attacked: u64 = self.attacked[ply]
        from_attacked: cython.int = attacked >> from_square(move) & 1
        to_attacked: cython.int = attacked >> to_square(move) & 1
        return ((side * 2 + from_attacked) * 2 + to_attacked) * 4096 + (move & 4095)

    def quiet_score(self, position: Position, move: cython.int, ply: cython.int) -> cython.int:
        """Return the history score of a quiet move: a quarter of it is less than KILLER."""
        step: cython.int = step_of(position, move)
        weighted: cython.int = (
            BUTTERFLY_WEIGHT * self.butterfly[self.butterfly_index(position.side_to_move, move, ply)]
            + CONTINUATION_1_WEIGHT * self.continuations[self.one_ply_ago[ply] + step]
            + CONTINUATION_2_WEIGHT * self.continuations[self.two_plies_ago[ply] + step]
            + CONTINUATION_4_WEIGHT * self.continuations[self.four_plies_ago[ply] + step]
            + PAWN_HISTORY_WEIGHT * self.pawn_history[self.pawn_offset[ply] + step]
        )
        return weighted >> 6           # not // 64, which C rounds otherwise

    def rank_quiets(
        self, position: Position, moves: cython.p_int, start: cython.int, end: cython.int, ply: cython.int
    ) -> cython.void:
        """Add ranks, times 65536, to moves[start:end]: killers first, then a quarter of the history score."""
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
                rank = self.quiet_score(position, move, ply) >> 2
            moves[index] = rank * 65536 + move

    def update_quiet(
        self, position: Position, move: cython.int, ply: cython.int, change: cython.int
    ) -> cython.void:
        """Change the scores of a quiet move: raise them after a cutoff, else lower them."""
        step: cython.int = step_of(position, move)
        self.update_butterfly(position.side_to_move, move, ply, change)
        index: cython.int = self.pawn_offset[ply] + step
        self.pawn_history[index] = gravity(self.pawn_history[index], change)
        self.update_continuation(self.one_ply_ago[ply], step, change)
        self.update_continuation(self.two_plies_ago[ply], step, change)
        self.update_continuation(self.four_plies_ago[ply], step, change // 2)

    def update_butterfly(
        self, side: cython.int, move: cython.int, ply: cython.int, change: cython.int
    ) -> cython.void:
        """Change the score in the butterfly table only."""
        index: cython.int = self.butterfly_index(side, move, ply)
        self.butterfly[index] = gravity(self.butterfly[index], change)

    def update_continuation(self, earlier: cython.int, step: cython.int, change: cython.int) -> cython.void:
        """Change the score of a step after an earlier one, unless that is NO_STEP."""
        if earlier != NO_STEP * STEPS:
            index: cython.int = earlier + step
            self.continuations[index] = gravity(self.continuations[index], change)

    def capture_score(self, position: Position, move: cython.int) -> cython.int:
        """Return the history score of a capture or promotion."""
        return self.capture_history[capture_index(position, move)]

    def update_capture(self, position: Position, move: cython.int, change: cython.int) -> cython.void:
        """Change the score of a capture or promotion."""
        index: cython.int = capture_index(position, move)
        self.capture_history[index] = gravity(self.capture_history[index], change)

    def add_killer(self, move: cython.int, ply: cython.int) -> cython.void:
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move

    def correction(self, position: Position) -> cython.int:
        """Return the centipawns to add to the static evaluation."""
        pieces: cython.int = (
            self.corrections[correction_index(position, WHITE_PIECES)]
            + self.corrections[correction_index(position, BLACK_PIECES)]
        )
        pawns: cython.int = self.corrections[correction_index(position, PAWNS)]
        return (PIECE_CORRECTION * pieces + PAWN_CORRECTION * pawns) // (64 * CORRECTION_SCALE)

    def update_correction(self, position: Position, error: cython.int, depth: cython.int) -> cython.void:
        """Learn that the search found `error` centipawns more than the corrected evaluation.

        Deeper searches weigh more. Each part takes the whole error; the parts soon share it.
        """
        weight: cython.int = depth + 1 if depth + 1 < CORRECTION_DEPTH_LIMIT else CORRECTION_DEPTH_LIMIT
        change: cython.int = error * weight * CORRECTION_SCALE // CORRECTION_WEIGHT
        most: cython.int = CORRECTION_LIMIT * CORRECTION_SCALE
        part: cython.int
        for part in range(PARTS):
            index: cython.int = correction_index(position, part)
            value: cython.int = self.corrections[index] + change
            self.corrections[index] = most if value > most else -most if value < -most else value
