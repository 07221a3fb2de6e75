# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Answers that need no search: draws by the rules, mates that are too far away, endings that tables know.

Whoever searches asks at each node, the cheapest question first. Scores are centipawns for the side to move.
"""

import cython
from cython.cimports.engine.core.attacks import BETWEEN, KING_ATTACKS, KNIGHT_ATTACKS, bishop_attacks, rook_attacks
from cython.cimports.engine.core.bitboard import bit, u64
from cython.cimports.engine.core.material import is_insufficient_material
from cython.cimports.engine.core.move import NO_MOVE
from cython.cimports.engine.core.params import PROBE_DEPTH
from cython.cimports.engine.core.pieces import (
    BISHOP,
    KIND_OF,
    KINDS,
    KING,
    KNIGHT,
    NO_PIECE,
    PAWN,
    QUEEN,
    ROOK,
)
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import DRAW, MAX_PLY, NO_SCORE, mated_in, table_win_in
from cython.cimports.engine.core.zobrist import BLACK_KEY, PIECE_KEY
from cython.cimports.engine.search.history import NO_STEP
from cython.cimports.engine.search.move_picker import MovePicker
from cython.cimports.engine.search.search_stack import SearchStack
from cython.cimports.engine.search.time_manager import NodeCounter
from cython.cimports.engine.syzygy.prober import LOSS, UNKNOWN, WIN, Prober

if not cython.compiled:
    DIFFERENCE = [0] * 8192        # 0: nothing stands here
    SQUARES = [0] * 8192           # one square and, times 64, the other

LAST = cython.declare(cython.int, 8191)             # slot; under half of them are taken


def slot_of(difference: u64) -> cython.int:
    """Where the difference stands, or else the free slot where it would."""
    slot: cython.int = difference & LAST
    while DIFFERENCE[slot] != 0 and DIFFERENCE[slot] != difference:
        slot = (slot + 1) & LAST
    return slot


def reach(kind: cython.int, square: cython.int) -> u64:
    """The squares a piece reaches on an empty board."""
    if kind == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if kind == KING:
        return KING_ATTACKS[square]
    straight: u64 = rook_attacks(square, 0) if kind in (ROOK, QUEEN) else 0
    return straight | bishop_attacks(square, 0) if kind in (BISHOP, QUEEN) else straight


def _fill() -> int:
    """Enter every piece between every two squares; returns how many entries that makes."""
    count: cython.int = 0
    piece: cython.int
    one: cython.int
    other: cython.int
    for piece in range(2 * KINDS):
        if KIND_OF[piece] == PAWN:
            continue               # a pawn never goes back
        for one in range(64):
            for other in range(one + 1, 64):
                if reach(KIND_OF[piece], one) & bit(other):
                    difference: u64 = PIECE_KEY[piece * 64 + one] ^ PIECE_KEY[piece * 64 + other] ^ BLACK_KEY
                    slot: cython.int = slot_of(difference)
                    DIFFERENCE[slot] = difference
                    SQUARES[slot] = one + 64 * other
                    count += 1
    return count


ENTRIES = _fill()


def leads_back(position: Position, root_height: cython.int) -> cython.bint:
    """Can the side to move go back at once to a position that stood after the root?"""
    oldest: cython.int = position.height - position.halfmove_clock
    if oldest <= root_height:
        oldest = root_height + 1
    height: cython.int = position.height - 3
    while height >= oldest:
        slot: cython.int = slot_of(position.key ^ position.undo_key[height])
        if DIFFERENCE[slot] != 0:
            squares: cython.int = SQUARES[slot]
            one: cython.int = squares & 63
            piece: cython.int = position.board[one]
            if piece == NO_PIECE:
                piece = position.board[squares >> 6]
            is_ours: cython.bint = (piece >= KINDS) == (position.side_to_move != 0)
            if is_ours and not BETWEEN[one * 64 + (squares >> 6)] & position.occupied:
                return True
        height -= 2
    return False


def can_repeat(position: Position, root_height: int) -> bool:
    """`leads_back` for Python callers."""
    return leads_back(position, root_height)


def is_answer(known: cython.int, alpha: cython.int, beta: cython.int) -> cython.bint:
    """Does what a table knows end the node? A draw always; else a mate may still be the better answer."""
    return known == DRAW or (known >= beta if known > DRAW else known <= alpha)


@cython.final
@cython.cclass
class DrawsAndTables:
    """Of one thread's search."""

    def __init__(self, stack: SearchStack, picker: MovePicker, counter: NodeCounter, prober: Prober) -> None:
        self.position = stack.position
        self.stack = stack
        self.picker = picker
        self.counter = counter
        self.prober = prober
        self.begin_again()

    def begin_again(self) -> None:
        """The search begins at the position as it stands: what arises after it is a draw when it arises again."""
        self.root_height = self.position.height

    def settled(self, ply: cython.int, in_check: cython.bint) -> cython.int:
        """Count the node and look whether it needs no search: stopped, drawn, too deep; else NO_SCORE."""
        self.counter.count(ply)
        if self.counter.stopped:
            return DRAW
        if ply == 0:
            return NO_SCORE
        if is_insufficient_material(self.position) or self.position.is_repetition(self.root_height):
            return DRAW
        if ply >= MAX_PLY:
            return self.stack.evaluate(ply)
        if self.position.halfmove_clock >= 100:
            # Mate on the hundredth half-move wins all the same.
            return mated_in(ply) if in_check and not self.has_legal_move(ply) else DRAW
        return NO_SCORE

    def nearer_mate(self, beta: cython.int, ply: cython.int) -> cython.int:
        """The answer where neither mating with the next move nor being mated here would change it, or NO_SCORE.

        A mate was found that is nearer to the root than any this node could be part of.
        (chessprogramming wiki: Mate Distance Pruning)
        """
        if mated_in(ply) >= beta:
            return mated_in(ply)
        if -mated_in(ply + 1) < beta:
            return -mated_in(ply + 1)
        return NO_SCORE

    def draw_for_the_taking(self, ply: cython.int) -> cython.bint:
        """Can the side to move repeat an earlier position? Then it need not be worse off than that."""
        return self.stack.excluded[ply] == NO_MOVE and leads_back(self.position, self.root_height)

    def known_ending(self, depth: cython.int, ply: cython.int) -> cython.int:
        """What a table of endings says, or NO_SCORE.

        Tables know nothing of the moves since the last capture or pawn move, so they are asked right after one.
        (chessprogramming wiki: Syzygy Bases)
        """
        if ply == 0 or self.position.halfmove_clock > 0 or depth < PROBE_DEPTH or not self.prober.can_probe():
            return NO_SCORE
        if self.stack.excluded[ply] != NO_MOVE or self.stack.before(ply, 1) == NO_STEP:
            return NO_SCORE
        wdl: cython.int = self.prober.probe()
        if wdl == UNKNOWN:
            return NO_SCORE
        return table_win_in(ply) if wdl == WIN else -table_win_in(ply) if wdl == LOSS else DRAW

    def has_legal_move(self, ply: cython.int) -> cython.bint:
        self.picker.begin(ply, NO_MOVE)
        return self.picker.next(ply) != NO_MOVE
