# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Neural inference: the accumulators along the line being searched, and the score.

A move changes two to four pieces, so the sums of a position are those of the one before it, with a few rows of weights
added and taken away. `make` only records the change; the sums are updated when a position is evaluated, from the
nearest one whose sums are known. `net_file.py` has the arithmetic. (chessprogramming wiki: NNUE, Accumulator)

The compiler vectorises the plain loops. This module is compiled with and without AVX2 (see `_build.py`);
`engine/__init__.py` loads the build that suits the processor.
"""

import mmap
from array import array

import cython
from cython.cimports.engine.core.bitboard import lsb, popcount, u64
from cython.cimports.engine.core.move import (
    CASTLING,
    EN_PASSANT,
    NO_MOVE,
    flag_of,
    from_square,
    is_capture,
    is_promotion,
    promoted_kind,
    to_square,
)
from cython.cimports.engine.core.params import NETWORK_LIMIT
from cython.cimports.engine.core.pieces import KIND_OF, KINDS, ROOK
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.core.score import MAX_PLY

from engine.evaluation.net_file import Net

if not cython.compiled:
    INSTRUCTIONS = b"no vectors"
    CLAMP, OUTPUT_UNIT = 255, 64   # as in `net_file.py`
    SUMMABLE = 256                 # terms of at most CLAMP * CLAMP * 127 whose sum surely fits in 32 bits
    BLOCK = 16                     # hidden values come in multiples of it: one vector of AVX2
    FLIP_RANKS = 56                # from White's to Black's view of a square

LAST_RANK = cython.declare(cython.int, 56)          # no pawn stands there: free for pieces beside the board
SWAP_SIDES = cython.declare(cython.int, 384)        # from the feature of our piece to the enemy's
FAR_BACK = cython.declare(cython.int, 6)            # moves: beyond, a refresh costs no more than updates

MOVED = cython.declare(cython.int, 0)               # what a move changed: one piece moved,
CAPTURED = cython.declare(cython.int, 1)            # and one was taken,
CASTLED = cython.declare(cython.int, 2)             # or two moved


def instructions() -> str:
    """Return the vector instructions this module was compiled for: 'AVX2', 'SSE2', 'NEON', ..."""
    return INSTRUCTIONS.decode()


def _zeros(count: int) -> memoryview:
    """Return `count` zeros of 16 bits that begin at a page, so that vectors do not straddle cache lines.

    Pages that are never touched cost nothing. Raises MemoryError.
    """
    try:
        return memoryview(mmap.mmap(-1, 2 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)).cast("h")
    except OSError as error:
        raise MemoryError(str(error)) from None


def _aligned(values: array) -> memoryview:
    """Return a copy that begins at a page."""
    copy = _zeros(len(values))
    copy[:] = memoryview(values)
    return copy


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def row_of(feature: cython.int, view: cython.int, flip: cython.int) -> cython.Py_ssize_t:
    """Return the row of weights of White's feature, as seen by White (0) or Black (1), who sees square ^ flip."""
    if view == 0:
        return feature
    return (feature + SWAP_SIDES if feature < SWAP_SIDES else feature - SWAP_SIDES) ^ flip


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def bucket_of(position: Position, buckets: cython.int) -> cython.int:
    """Return the number of the output that is for so many pieces, see `net_file.py`."""
    if buckets == 1:
        return 0
    bucket: cython.int = (popcount(position.occupied) - 2) >> 2
    if bucket < 0:                 # one piece is left, as in antichess
        return 0
    return bucket if bucket < buckets else buckets - 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def weigh(
    values: cython.p_short,
    begin: cython.Py_ssize_t,
    weights: cython.p_short,
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
) -> cython.longlong:
    """The sum of `count` values from `begin` on, clamped and squared, times the weights from `first` on.

    Value times weight stays within 16 bits and SUMMABLE terms within 32, for which processors have instructions.
    """
    total: cython.longlong = 0
    done: cython.Py_ssize_t = 0
    count &= -BLOCK                # changes nothing, but tells the compiler that no single terms remain
    while done < count:
        end: cython.Py_ssize_t = done + SUMMABLE if done + SUMMABLE < count else count
        part: cython.int = 0
        index: cython.Py_ssize_t
        for index in range(done, end):
            value: cython.short = values[begin + index]
            value = value if value > 0 else 0
            value = value if value < CLAMP else CLAMP
            weighed: cython.short = value * weights[first + index]
            part += weighed * value
        total += part
        done = end
    return total


@cython.final
@cython.cclass
class Network:
    """The weights of a network, read-only and shared by all threads."""

    def __init__(self, net: Net) -> None:
        self.name = net.name
        self.hidden = net.hidden
        self.buckets = net.buckets
        self.scale = net.scale
        if not cython.compiled:
            self.output_bias = [0] * 8
        for bucket in range(net.buckets):
            self.output_bias[bucket] = net.output_bias[bucket]
        feature_weights: cython.short[::1] = _aligned(net.feature_weights)
        feature_bias: cython.short[::1] = _aligned(net.feature_bias)
        output_weights: cython.short[::1] = _aligned(net.output_weights)
        self.memory = (feature_weights, feature_bias, output_weights)
        if cython.compiled:
            self.feature_weights = cython.address(feature_weights[0])
            self.feature_bias = cython.address(feature_bias[0])
            self.output_weights = cython.address(output_weights[0])
        else:
            self.feature_weights, self.feature_bias, self.output_weights = self.memory

    def scaled(self, total: cython.longlong, bucket: cython.int) -> cython.int:
        """Return the score in centipawns, within +-NETWORK_LIMIT, of the weighed sums of both views."""
        total = (total // CLAMP + self.output_bias[bucket]) * self.scale // (CLAMP * OUTPUT_UNIT)
        if total > NETWORK_LIMIT:
            return NETWORK_LIMIT
        return -NETWORK_LIMIT if total < -NETWORK_LIMIT else cython.cast(cython.int, total)


@cython.final
@cython.cclass
class Accumulators:
    """The accumulators of one thread's line: a slot for each position, White's view first. A null move adds none."""

    def __init__(self, network: Network) -> None:
        slots: cython.int = MAX_PLY + 4
        if not cython.compiled:
            self.slots = [0] * slots
            self.valid = [False] * slots
            self.changes = [0] * slots
            self.removed = [0] * (2 * slots)
            self.added = [0] * (2 * slots)
        self.network = network
        values: cython.short[::1] = _zeros(2 * network.hidden * slots)
        self.memory = values
        if cython.compiled:
            self.values = cython.address(values[0])
        else:
            self.values = values
        self.begin_again()

    def begin_again(self) -> None:
        """Start a new line."""
        self.slots[0] = 0
        self.valid[0] = False

    # --- What is played ----------------------------------------------------------------------------------------------

    def note_move(self, position: Position, move: cython.int, ply: cython.int) -> cython.void:
        """Record what the move about to be made will change. A node that is never evaluated costs no more."""
        slot: cython.int = self.slots[ply] + 1
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        us: cython.int = position.side_to_move
        piece: cython.int = position.board[origin]
        self.slots[ply + 1] = slot
        self.valid[slot] = False
        self.changes[slot] = MOVED
        self.removed[2 * slot] = piece * 64 + origin
        if flag_of(move) == CASTLING:
            rook: cython.int = (us * KINDS + ROOK) * 64
            king_target: cython.int = (origin & 56) + (6 if target > origin else 2)
            rook_target: cython.int = king_target - 1 if target > origin else king_target + 1
            self.changes[slot] = CASTLED
            self.removed[2 * slot + 1] = rook + target
            self.added[2 * slot] = piece * 64 + king_target
            self.added[2 * slot + 1] = rook + rook_target
            return
        if is_promotion(move):
            piece = us * KINDS + promoted_kind(move)
        self.added[2 * slot] = piece * 64 + target
        if is_capture(move):
            square: cython.int = target ^ 8 if flag_of(move) == EN_PASSANT else target
            self.changes[slot] = CAPTURED
            self.removed[2 * slot + 1] = position.board[square] * 64 + square

    def note_null(self, ply: cython.int) -> cython.void:
        """Record a null move: the next ply shares the slot."""
        self.slots[ply + 1] = self.slots[ply]

    # --- The sums ----------------------------------------------------------------------------------------------------

    def catch_up(self, position: Position, slot: cython.int) -> cython.void:
        """Compute the sums of a slot, which belongs to `position`."""
        known: cython.int = slot
        while known > 0 and not self.valid[known]:
            known -= 1
        if not self.valid[known] or slot - known > FAR_BACK:
            self.refresh(position, slot)
            return
        while known < slot:
            known += 1
            self.follow(known, 0)
            self.follow(known, 1)
            self.valid[known] = True

    def refresh(self, position: Position, slot: cython.int) -> cython.void:
        """Compute the sums of a position from scratch."""
        count: cython.Py_ssize_t = self.network.hidden
        values: cython.p_short = self.values
        bias: cython.p_short = self.network.feature_bias
        rows: cython.p_short = self.network.feature_weights
        index: cython.Py_ssize_t
        view: cython.int
        for view in range(2):
            into: cython.Py_ssize_t = (2 * slot + view) * count
            for index in range(count):
                values[into + index] = bias[index]
            pieces: u64 = position.occupied
            while pieces:
                square: cython.int = lsb(pieces)
                row: cython.Py_ssize_t = row_of(position.board[square] * 64 + square, view, FLIP_RANKS) * count
                for index in range(count):
                    values[into + index] += rows[row + index]
                pieces &= pieces - 1
        self.valid[slot] = True

    def follow(self, slot: cython.int, view: cython.int) -> cython.void:
        """Update the sums of one view from the slot before, by the move that led to this slot.

        A block is summed before any of it is stored: the compiler need not fear that rows and sums overlap.
        """
        count: cython.Py_ssize_t = self.network.hidden
        values: cython.p_short = self.values
        rows: cython.p_short = self.network.feature_weights
        into: cython.Py_ssize_t = (2 * slot + view) * count
        base: cython.Py_ssize_t = into - 2 * count
        more: cython.Py_ssize_t = row_of(self.added[2 * slot], view, FLIP_RANKS) * count
        less: cython.Py_ssize_t = row_of(self.removed[2 * slot], view, FLIP_RANKS) * count
        gone: cython.Py_ssize_t = 0
        come: cython.Py_ssize_t = 0
        changes: cython.int = self.changes[slot]
        if changes != MOVED:
            gone = row_of(self.removed[2 * slot + 1], view, FLIP_RANKS) * count
            if changes == CASTLED:
                come = row_of(self.added[2 * slot + 1], view, FLIP_RANKS) * count
        block = cython.declare(cython.short[16])
        index: cython.Py_ssize_t
        done: cython.Py_ssize_t = 0
        if changes == MOVED:
            while done < count:
                for index in range(BLOCK):
                    block[index] = values[base + done + index] + rows[more + done + index] - rows[less + done + index]
                for index in range(BLOCK):
                    values[into + done + index] = block[index]
                done += BLOCK
        elif changes == CAPTURED:
            while done < count:
                for index in range(BLOCK):
                    kept: cython.short = values[base + done + index] + rows[more + done + index]
                    block[index] = kept - rows[less + done + index] - rows[gone + done + index]
                for index in range(BLOCK):
                    values[into + done + index] = block[index]
                done += BLOCK
        else:
            while done < count:
                for index in range(BLOCK):
                    both: cython.short = rows[more + done + index] + rows[come + done + index]
                    both = values[base + done + index] + both - rows[less + done + index]
                    block[index] = both - rows[gone + done + index]
                for index in range(BLOCK):
                    values[into + done + index] = block[index]
                done += BLOCK

    # --- The score ---------------------------------------------------------------------------------------------------

    def score(self, position: Position, ply: cython.int) -> cython.int:
        """Return the score in centipawns for the side to move, within +-NETWORK_LIMIT."""
        slot: cython.int = self.slots[ply]
        if not self.valid[slot]:
            self.catch_up(position, slot)
        if not cython.compiled:
            assert self.is_exact(position, ply)
        count: cython.Py_ssize_t = self.network.hidden
        us: cython.int = position.side_to_move
        bucket: cython.int = bucket_of(position, self.network.buckets)
        ours: cython.Py_ssize_t = (2 * slot + us) * count
        theirs: cython.Py_ssize_t = (2 * slot + (us ^ 1)) * count
        first: cython.Py_ssize_t = 2 * count * bucket
        total: cython.longlong = weigh(self.values, ours, self.network.output_weights, first, count)
        total += weigh(self.values, theirs, self.network.output_weights, first + count, count)
        return self.network.scaled(total, bucket)

    # --- For Python callers ------------------------------------------------------------------------------------------

    def is_exact(self, position: Position, ply: cython.int) -> bool:
        """Return whether the sums at this ply are unknown or equal to those computed from scratch."""
        slot: cython.int = self.slots[ply]
        begin: cython.Py_ssize_t = 2 * slot * self.network.hidden
        end: cython.Py_ssize_t = begin + 2 * self.network.hidden
        found = [self.values[index] for index in range(begin, end)]
        if not self.valid[slot]:
            return True
        self.refresh(position, slot)
        return found == [self.values[index] for index in range(begin, end)]

    def play(self, position: Position, move: int, ply: int) -> None:
        """Make a move at this ply, or a null move for NO_MOVE."""
        if move == NO_MOVE:
            self.note_null(ply)
            position.make_null()
        else:
            self.note_move(position, move, ply)
            position.make(move)

    def take_back(self, position: Position, move: int) -> None:
        """Unmake the last move."""
        if move == NO_MOVE:
            position.unmake_null()
        else:
            position.unmake(move)

    def evaluate(self, position: Position, ply: int) -> int:
        """Return `score` to Python callers."""
        return self.score(position, ply)


@cython.final
@cython.cclass
class AccumulatorCache:
    """The sums of the position evaluated last: those of the next are reached by the pieces that differ.

    It is for variants, whose moves change any number of pieces. Each thread has one. `flip` turns a square for Black's
    view. (chessprogramming wiki: NNUE, Finny tables)
    """

    def __init__(self, network: Network, flip: int) -> None:
        self.network, self.flip = network, flip
        values: cython.short[::1] = _zeros(2 * network.hidden)
        self.memory = values
        if cython.compiled:
            self.values = cython.address(values[0])
        else:
            self.values = values
            self.pieces, self.beside = [0] * 12, [0] * 12
        index: cython.int
        for index in range(2 * network.hidden):
            self.values[index] = network.feature_bias[index % network.hidden]

    def score(self, position: Position, beside: cython.p_int) -> cython.int:
        """Return the score in centipawns for the side to move, within +-NETWORK_LIMIT.

        `beside` has the number of each piece that counts although it is not on the board.
        """
        piece: cython.int
        for piece in range(12):
            come: u64 = position.pieces[piece] & ~self.pieces[piece]
            gone: u64 = self.pieces[piece] & ~position.pieces[piece]
            self.pieces[piece] = position.pieces[piece]
            while come:
                self.change(piece * 64 + lsb(come), 1)
                come &= come - 1
            while gone:
                self.change(piece * 64 + lsb(gone), -1)
                gone &= gone - 1
            place: cython.int = KIND_OF[piece] + (LAST_RANK if piece < KINDS else SWAP_SIDES)
            while self.beside[piece] < beside[piece]:
                self.change(place, 1)
                self.beside[piece] += 1
            while self.beside[piece] > beside[piece]:
                self.change(place, -1)
                self.beside[piece] -= 1
        size: cython.Py_ssize_t = self.network.hidden
        bucket: cython.int = bucket_of(position, self.network.buckets)
        us: cython.int = position.side_to_move
        first: cython.Py_ssize_t = 2 * size * bucket
        total: cython.longlong = weigh(self.values, us * size, self.network.output_weights, first, size)
        total += weigh(self.values, (us ^ 1) * size, self.network.output_weights, first + size, size)
        return self.network.scaled(total, bucket)

    def change(self, feature: cython.int, times: cython.short) -> cython.void:
        """Add the weights of one of White's features to both views, 1 or -1 times."""
        size: cython.Py_ssize_t = self.network.hidden & -BLOCK
        values: cython.p_short = self.values
        rows: cython.p_short = self.network.feature_weights
        view: cython.int
        index: cython.Py_ssize_t
        for view in range(2):
            into: cython.Py_ssize_t = view * size
            row: cython.Py_ssize_t = row_of(feature, view, self.flip) * size
            for index in range(size):
                values[into + index] += times * rows[row + index]
