# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Scores of nodes that need no search: draws by rule, mate distance pruning, endgame tablebases.

Scores are centipawns for the side to move, NO_SCORE if the node must be searched.

Upcoming repetition: the keys of two positions between which one piece has moved back or forth differ by that piece's
two keys and the side to move. A hash table holds all such differences, for every piece and every two squares.
(chessprogramming wiki: Repetitions, Mate Distance Pruning, Syzygy Bases; M. Bacon: Detecting Upcoming Repetitions;
this table uses open addressing)
"""

import cython
from cython.cimports.engine.core.attacks import BETWEEN, piece_attacks
from cython.cimports.engine.core.bitboard import bit, u64
from cython.cimports.engine.core.draws import FIFTY_MOVES_PLIES, is_repetition
from cython.cimports.engine.core.move import NO_MOVE
from cython.cimports.engine.core.params import PROBE_DEPTH
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, NO_PIECE, PAWN
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, MAX_PLY, NO_SCORE, mated_in, tablebase_win_in
from cython.cimports.engine.core.zobrist import BLACK_KEY, PIECE_KEY
from cython.cimports.engine.search.history import NO_STEP
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.rules import Rules
from cython.cimports.engine.search.search_stack import SearchStack
from cython.cimports.engine.search.time_manager import NodeCounter
from cython.cimports.engine.search.transposition import LOWER_BOUND, UPPER_BOUND
from cython.cimports.engine.syzygy.prober import LOSS, UNKNOWN, WIN, Prober

if not cython.compiled:
    SLOTS = 8192                   # less than half of them are used
    KEY_CHANGE = [0] * SLOTS       # 0: a free slot
    MOVE_SQUARES = [0] * SLOTS     # the two squares of the move: first + 64 * second


# --- Upcoming repetition ---------------------------------------------------------------------------------------------


def slot_of(change: u64) -> cython.int:
    """Return the slot of a difference of keys, or the free slot where it belongs."""
    slot: cython.int = change & (SLOTS - 1)
    while KEY_CHANGE[slot] != 0 and KEY_CHANGE[slot] != change:
        slot = (slot + 1) & (SLOTS - 1)
    return slot


def _fill() -> int:
    """Enter every piece between every two squares; returns the number of entries."""
    count: cython.int = 0
    piece: cython.int
    first: cython.int
    second: cython.int
    for piece in range(2 * KINDS):
        if KIND_OF[piece] == PAWN:
            continue               # a pawn never moves back
        for first in range(64):
            for second in range(first + 1, 64):
                if piece_attacks(KIND_OF[piece], first, 0) & bit(second):
                    change: u64 = PIECE_KEY[piece * 64 + first] ^ PIECE_KEY[piece * 64 + second] ^ BLACK_KEY
                    slot: cython.int = slot_of(change)
                    KEY_CHANGE[slot] = change
                    MOVE_SQUARES[slot] = first + 64 * second
                    count += 1
    return count


ENTRIES = _fill()


def upcoming_repetition(position: Position, root_height: cython.int) -> cython.bint:
    """Return whether one move of the side to move leads back to a position that is then drawn, see `is_repetition`."""
    oldest: cython.int = position.height - position.halfmove_clock
    if oldest < 0:
        oldest = 0
    height: cython.int = position.height - 3
    while height >= oldest:
        slot: cython.int = slot_of(position.key ^ position.undo_key[height])
        if KEY_CHANGE[slot] != 0:
            squares: cython.int = MOVE_SQUARES[slot]
            first: cython.int = squares & 63
            piece: cython.int = position.board[first]
            if piece == NO_PIECE:
                piece = position.board[squares >> 6]
            is_ours: cython.bint = (piece >= KINDS) == (position.side_to_move != 0)
            can_move: cython.bint = is_ours and not BETWEEN[first * 64 + (squares >> 6)] & position.occupied
            if can_move and (height > root_height or occurred_before(position, height, oldest)):
                return True
        height -= 2
    return False


def occurred_before(position: Position, height: cython.int, oldest: cython.int) -> cython.bint:
    """Return whether the position at this height also occurred below it, down to height `oldest`."""
    below: cython.int = height - 4
    while below >= oldest:
        if position.undo_key[below] == position.undo_key[height]:
            return True
        below -= 2
    return False


def can_repeat(position: Position, root_height: int) -> bool:
    """Return `upcoming_repetition` to Python callers, if the rules of the variant let the piece move back."""
    return upcoming_repetition(position, root_height) and Rules(position).can_move_back()


# --- Scores ----------------------------------------------------------------------------------------------------------


def is_cutoff(score: cython.int, alpha: cython.int, beta: cython.int) -> cython.bint:
    """Return whether a tablebase score ends the node: a draw always, a win from beta on, a loss up to alpha.

    Else a mate may still change the score.
    """
    return score == DRAW or (score >= beta if score > DRAW else score <= alpha)


def has_moves(picker: MovePicker, ply: cython.int) -> cython.bint:
    """Return whether the side to move has a legal move."""
    picker.begin(ply, NO_MOVE)
    return picker.next(ply) != NO_MOVE


def fifty_move_score(rules: Rules, picker: MovePicker, ply: cython.int) -> cython.int:
    """Return the score by the fifty-move rule, NO_SCORE before. An end of the game by the last move comes first."""
    if rules.position.halfmove_clock < FIFTY_MOVES_PLIES or not rules.has_fifty_move_rule:
        return NO_SCORE
    if (rules.is_forced() or rules.variant is not None) and not has_moves(picker, ply):
        return rules.score_without_moves(ply)
    return DRAW


@cython.final
@cython.cclass
class DrawsAndTablebases:
    """The scores that need no search, for one thread."""

    def __init__(self, stack: SearchStack, picker: MovePicker, counter: NodeCounter, prober: Prober) -> None:
        self.position = stack.position
        self.stack = stack
        self.rules = stack.rules
        self.picker = picker
        self.counter = counter
        self.prober = prober
        self.reset()

    def reset(self) -> None:
        """Make the position as it is now the root: a single repetition counts as a draw only after it."""
        self.root_height = self.position.height

    def score_without_search(self, ply: cython.int) -> cython.int:
        """Count the node; return its score if it is not to be searched, else NO_SCORE.

        That is if the search was stopped, the game is over, the position is repeated or drawn by the fifty-move rule,
        or the ply is the last.
        """
        self.counter.count(ply)
        if self.counter.stopped:
            return DRAW
        if ply == 0:
            return NO_SCORE
        score: cython.int = self.rules.end_score(ply)
        if score != NO_SCORE:
            return score
        if self.is_repeated():
            return DRAW
        if ply >= MAX_PLY:
            return self.stack.evaluate(ply)
        return fifty_move_score(self.rules, self.picker, ply)

    def is_repeated(self) -> cython.bint:
        """Return whether the position occurred once since the root or twice before it."""
        return is_repetition(self.position, self.root_height)

    def is_too_near(self, ply: cython.int) -> cython.bint:
        """Return whether a leaf is drawn by a move of the root, or by the reply.

        The quiescence search sees neither repetitions nor stalemates.
        """
        if ply != 1 or self.rules.end_score(ply) != NO_SCORE:
            return False
        return self.is_repeated() or self.has_upcoming_repetition(ply) or not has_moves(self.picker, ply)

    def mate_distance_score(self, beta: cython.int, ply: cython.int) -> cython.int:
        """Return the bound if even the shortest possible mate is outside the window, else NO_SCORE.

        A mate nearer to the root has been found already. (chessprogramming wiki: Mate Distance Pruning)
        """
        if mated_in(ply) >= beta:
            return mated_in(ply)
        if -mated_in(ply + 1) < beta:
            return -mated_in(ply + 1)
        return NO_SCORE

    def has_upcoming_repetition(self, ply: cython.int) -> cython.bint:
        """Return whether the side to move can repeat a position, so that its score is at least a draw."""
        if self.stack.excluded[ply] != NO_MOVE or not upcoming_repetition(self.position, self.root_height):
            return False
        return self.rules.can_move_back()

    def tablebase_score(self, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the score by an endgame tablebase, or NO_SCORE.

        WDL tables ignore the fifty-move clock, so they are probed only while it is 0.
        (chessprogramming wiki: Syzygy Bases)
        """
        if ply == 0 or self.position.halfmove_clock > 0 or depth < PROBE_DEPTH or not self.prober.can_probe():
            return NO_SCORE
        if self.stack.excluded[ply] != NO_MOVE or self.stack.step_before(ply, 1) == NO_STEP:
            return NO_SCORE
        wdl: cython.int = self.prober.probe()
        self.counter.next_check = 0    # now: a slow disk may have taken long
        if wdl == UNKNOWN:
            return NO_SCORE
        return tablebase_win_in(ply) if wdl == WIN else -tablebase_win_in(ply) if wdl == LOSS else DRAW

    def bounded(self, tb_score: cython.int, score: cython.int, depth: cython.int, ply: cython.int) -> cython.int:
        """Return the score bounded by that of the tablebase; store it if the bound applies."""
        if tb_score == NO_SCORE or (score > tb_score) == (tb_score > DRAW) or self.counter.stopped:
            return score
        bound: cython.int = LOWER_BOUND if tb_score > DRAW else UPPER_BOUND
        self.stack.store(NO_MOVE, tb_score, depth, bound, ply)
        return tb_score
