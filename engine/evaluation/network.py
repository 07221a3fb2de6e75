# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Neural inference: the accumulators along the line being searched, and the score.

A move changes few features, so the sums of a position are those of the one before it, with a few rows of weights added
and taken away. They are computed when the position is evaluated or left by a move, at the latest, so that a position is
never more than one move away from known sums. `net_file.py` has the arithmetic. (chessprogramming wiki: NNUE,
Accumulator)

The compiler vectorises the plain loops. This module is compiled with and without AVX2 (see `_build.py`);
`engine/__init__.py` loads the build that suits the processor.
"""

import mmap
from array import array

import cython
from cython.cimports.engine.core.bitboard import bit, lsb, popcount, u64
from cython.cimports.engine.core.move import (
    CASTLING,
    EN_PASSANT,
    NO_MOVE,
    castled_king,
    castled_rook,
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
from cython.cimports.engine.core.threats import THREAT_BITS, set_threats, threat_at

from engine.evaluation.net_file import Net

if not cython.compiled:
    INSTRUCTIONS = b"no vectors"
    CLAMP, OUTPUT_UNIT = 255, 64   # as in `net_file.py`
    SUMMABLE = 256                 # terms of at most CLAMP * CLAMP * 127 whose sum surely fits in 32 bits
    BLOCK = 16                     # hidden values come in multiples of it: one vector of AVX2
    FLIP_RANKS = 56                # from White's to Black's view of a square
    SLOTS = MAX_PLY + 4            # of a line

LAST_RANK = cython.declare(cython.int, 56)          # no pawn stands there: free for pieces off the board
SWAP_SIDES = cython.declare(cython.int, 384)        # from the place of our piece to the enemy's
NO_PLACE = cython.declare(cython.int, 768)          # of no piece


def instructions() -> str:
    """Return the vector instructions this module was compiled for: 'AVX2', 'SSE2', 'NEON', ..."""
    return INSTRUCTIONS.decode()


def _zeros(count: int, kind: str = "h") -> memoryview:
    """Return `count` zeros of an array's kind that begin at a page, so that vectors do not straddle cache lines.

    Pages that are never touched cost nothing. Raises MemoryError.
    """
    size = count * array(kind).itemsize
    try:
        return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)).cast(kind)
    except OSError as error:
        raise MemoryError(str(error)) from None


def _aligned(values: array, more: int = 0) -> memoryview:
    """Return a copy that begins at a page, with `more` zeros behind it."""
    copy = _zeros(len(values) + more, values.typecode)
    copy[: len(values)] = memoryview(values)
    return copy


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def replace_row(
    sums: cython.p_short,
    into: cython.Py_ssize_t,
    base: cython.Py_ssize_t,
    weights: cython.p_schar,
    added: cython.Py_ssize_t,
    removed: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
) -> cython.void:
    """Set `count` sums to those from `base` on, plus the weights from `added` on, minus those from `removed` on.

    A block is summed before any of it is stored: the compiler need not fear that rows and sums overlap.
    """
    block = cython.declare(cython.short[BLOCK])
    if not cython.compiled:
        block = [0] * BLOCK
    index: cython.Py_ssize_t
    done: cython.Py_ssize_t = 0
    while done < count:
        for index in range(BLOCK):
            block[index] = sums[base + done + index] + weights[added + done + index] - weights[removed + done + index]
        for index in range(BLOCK):
            sums[into + done + index] = block[index]
        done += BLOCK


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def seen_by_black(place: cython.int, flip: cython.int) -> cython.int:
    """Return Black's view of White's place, see `net_file.py`; Black sees square ^ flip."""
    if place == NO_PLACE:
        return NO_PLACE
    return (place + SWAP_SIDES if place < SWAP_SIDES else place - SWAP_SIDES) ^ flip


def bucket_of(pieces: cython.int, buckets: cython.int) -> cython.int:
    """Return the output bucket for this number of pieces, see `net_file.py`."""
    if buckets == 1:
        return 0
    bucket: cython.int = (pieces - 2) >> 2
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
        self.threats = net.threats
        self.buckets = net.buckets
        self.scale = net.scale
        for bucket in range(net.buckets):
            self.output_bias[bucket] = net.output_bias[bucket]
        feature_weights: cython.schar[::1] = _aligned(net.feature_weights, net.hidden)     # zeros for NO_PLACE
        feature_bias: cython.short[::1] = _aligned(net.feature_bias)
        output_weights: cython.short[::1] = _aligned(net.output_weights)
        self.memory = (feature_weights, feature_bias, output_weights)
        if cython.compiled:
            self.feature_weights = cython.address(feature_weights[0])
            self.feature_bias = cython.address(feature_bias[0])
            self.output_weights = cython.address(output_weights[0])
        else:
            self.feature_weights, self.feature_bias, self.output_weights = self.memory

    def row_of(self, place: cython.int, threat: cython.int) -> cython.int:
        """Return where the weights of the feature begin, see `net_file.py`; those of NO_PLACE are zeros."""
        return (place * self.threats + threat) * self.hidden

    def score(self, sums: cython.p_short, first: cython.Py_ssize_t, position: Position) -> cython.int:
        """Return the score in centipawns for the side to move, within +-NETWORK_LIMIT.

        `sums` has those of White's view from `first` on, and then those of Black's.
        """
        count: cython.Py_ssize_t = self.hidden
        us: cython.int = position.side_to_move
        bucket: cython.int = bucket_of(popcount(position.occupied), self.buckets)
        weights: cython.Py_ssize_t = 2 * count * bucket
        total: cython.longlong = weigh(sums, first + us * count, self.output_weights, weights, count)
        total += weigh(sums, first + (us ^ 1) * count, self.output_weights, weights + count, count)
        total = (total // CLAMP + self.output_bias[bucket]) * self.scale // (CLAMP * OUTPUT_UNIT)
        if total > NETWORK_LIMIT:
            return NETWORK_LIMIT
        return -NETWORK_LIMIT if total < -NETWORK_LIMIT else cython.cast(cython.int, total)


@cython.final
@cython.cclass
class Accumulators:
    """The accumulators of one thread's line: a slot for each position, White's view first. A null move adds none."""

    def __init__(self, network: Network) -> None:
        self.network = network
        values: cython.short[::1] = _zeros(2 * network.hidden * SLOTS)
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
        """Record what the move about to be made changes; compute the sums it starts from, unless they are known."""
        slot: cython.int = self.slots[ply]
        if not self.valid[slot]:
            self.compute(position, slot)
        slot += 1
        origin: cython.int = from_square(move)
        target: cython.int = to_square(move)
        us: cython.int = position.side_to_move
        piece: cython.int = position.board[origin]
        self.slots[ply + 1] = slot
        self.valid[slot] = False
        self.removed[2 * slot] = piece * 64 + origin
        self.removed[2 * slot + 1] = self.added[2 * slot + 1] = NO_PLACE
        if flag_of(move) == CASTLING:
            rook: cython.int = (us * KINDS + ROOK) * 64
            self.added[2 * slot] = piece * 64 + castled_king(origin, target)
            self.removed[2 * slot + 1] = rook + target
            self.added[2 * slot + 1] = rook + castled_rook(origin, target)
            return
        if is_promotion(move):
            piece = us * KINDS + promoted_kind(move)
        self.added[2 * slot] = piece * 64 + target
        if is_capture(move):
            square: cython.int = target ^ 8 if flag_of(move) == EN_PASSANT else target
            self.removed[2 * slot + 1] = position.board[square] * 64 + square

    def note_null(self, ply: cython.int) -> cython.void:
        """Record a null move: the next ply shares the slot."""
        self.slots[ply + 1] = self.slots[ply]

    # --- The sums ----------------------------------------------------------------------------------------------------

    def compute(self, position: Position, slot: cython.int) -> cython.void:
        """Compute the sums of a slot, which belongs to `position`."""
        if self.network.threats > 1:
            set_threats(position.pieces, position.occupied, self.threats, THREAT_BITS * slot)
        if slot == 0:
            self.refresh(position, slot)
        else:
            self.follow(position, slot)
        self.valid[slot] = True

    def refresh(self, position: Position, slot: cython.int) -> cython.void:
        """Compute the sums of a position from scratch."""
        count: cython.Py_ssize_t = self.network.hidden
        into: cython.Py_ssize_t = 2 * slot * count
        index: cython.Py_ssize_t
        for index in range(count):
            self.values[into + index] = self.values[into + count + index] = self.network.feature_bias[index]
        pieces: u64 = position.occupied
        while pieces:
            square: cython.int = lsb(pieces)
            place: cython.int = position.board[square] * 64 + square
            self.replace(slot, slot, place, threat_at(self.threats, THREAT_BITS * slot, square), NO_PLACE, 0)
            pieces &= pieces - 1

    def follow(self, position: Position, slot: cython.int) -> cython.void:
        """Compute the sums of a slot from those before: some pieces have moved, and others have other threats."""
        after: cython.int = THREAT_BITS * slot
        before: cython.int = after - THREAT_BITS
        base: cython.int = slot - 1
        unmoved: u64 = position.occupied
        change: cython.int
        for change in range(2 * slot, 2 * slot + 2):
            removed: cython.int = self.removed[change]
            added: cython.int = self.added[change]
            if removed == NO_PLACE:
                break
            removed_threat: cython.int = threat_at(self.threats, before, removed & 63)
            added_threat: cython.int = 0
            if added != NO_PLACE:
                added_threat = threat_at(self.threats, after, added & 63)
                unmoved &= ~bit(added & 63)
            self.replace(slot, base, added, added_threat, removed, removed_threat)
            base = slot
        changed: u64 = 0
        index: cython.int
        for index in range(THREAT_BITS):
            changed |= self.threats[after + index] ^ self.threats[before + index]
        changed &= unmoved
        while changed:
            square: cython.int = lsb(changed)
            place: cython.int = position.board[square] * 64 + square
            added_threat = threat_at(self.threats, after, square)
            removed_threat = threat_at(self.threats, before, square)
            self.replace(slot, slot, place, added_threat, place, removed_threat)
            changed &= changed - 1

    def replace(
        self, slot: cython.int, base: cython.int,
        added: cython.int, added_threat: cython.int, removed: cython.int, removed_threat: cython.int,
    ) -> cython.void:
        """Set the sums of a slot to those of slot `base`, with place `added` and its threat instead of `removed`."""
        count: cython.Py_ssize_t = self.network.hidden
        weights: cython.p_schar = self.network.feature_weights
        added_row: cython.int = self.network.row_of(added, added_threat)
        removed_row: cython.int = self.network.row_of(removed, removed_threat)
        replace_row(self.values, 2 * slot * count, 2 * base * count, weights, added_row, removed_row, count)
        added_row = self.network.row_of(seen_by_black(added, FLIP_RANKS), added_threat)
        removed_row = self.network.row_of(seen_by_black(removed, FLIP_RANKS), removed_threat)
        replace_row(self.values, (2 * slot + 1) * count, (2 * base + 1) * count, weights, added_row, removed_row, count)

    # --- The score ---------------------------------------------------------------------------------------------------

    def score(self, position: Position, ply: cython.int) -> cython.int:
        """Return the score in centipawns for the side to move, within +-NETWORK_LIMIT."""
        slot: cython.int = self.slots[ply]
        if not self.valid[slot]:
            self.compute(position, slot)
        if not cython.compiled:
            assert self.is_exact(position, ply)
        return self.network.score(self.values, 2 * slot * self.network.hidden, position)

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

    def python_score(self, position: Position, ply: int) -> int:
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
        index: cython.int
        for index in range(2 * network.hidden):
            self.values[index] = network.feature_bias[index % network.hidden]

    def score(self, position: Position, off_board: cython.p_int) -> cython.int:
        """Return the score in centipawns for the side to move, within +-NETWORK_LIMIT.

        `off_board` has the number of each piece that counts although it is not on the board.
        """
        piece: cython.int
        for piece in range(12):
            added: u64 = position.pieces[piece] & ~self.pieces[piece]
            removed: u64 = self.pieces[piece] & ~position.pieces[piece]
            self.pieces[piece] = position.pieces[piece]
            while added:
                self.change(piece * 64 + lsb(added), NO_PLACE)
                added &= added - 1
            while removed:
                self.change(NO_PLACE, piece * 64 + lsb(removed))
                removed &= removed - 1
            place: cython.int = KIND_OF[piece] + (LAST_RANK if piece < KINDS else SWAP_SIDES)
            while self.off_board[piece] < off_board[piece]:
                self.change(place, NO_PLACE)
                self.off_board[piece] += 1
            while self.off_board[piece] > off_board[piece]:
                self.change(NO_PLACE, place)
                self.off_board[piece] -= 1
        return self.network.score(self.values, 0, position)

    def change(self, added: cython.int, removed: cython.int) -> cython.void:
        """Replace a piece by another in both views; NO_PLACE is none."""
        count: cython.Py_ssize_t = self.network.hidden
        view: cython.int
        for view in range(2):
            added_row: cython.int = self.network.row_of(added, 0)
            removed_row: cython.int = self.network.row_of(removed, 0)
            begin: cython.Py_ssize_t = view * count
            replace_row(self.values, begin, begin, self.network.feature_weights, added_row, removed_row, count)
            added, removed = seen_by_black(added, self.flip), seen_by_black(removed, self.flip)
