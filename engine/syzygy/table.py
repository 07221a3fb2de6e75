# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""One Syzygy file: turn a position into its index in the file and read the value there, without the interpreter lock.

Mirrored positions share one index. Pieces indexed together form a combination of squares: the k-th square of an
ascending group adds C(square, k), not counting the squares of earlier groups. The index functions take the squares of
the pieces in the order of the file and may reorder or mirror them.
(chessprogramming wiki: Syzygy Bases, Combinatorial Number System)
"""

import os
from threading import Lock

import cython
from cython.cimports.engine.core.attacks import KING_ATTACKS
from cython.cimports.engine.core.bitboard import bit, lsb, u64
from cython.cimports.engine.core.pieces import KINDS
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.syzygy.packed_values import NO_VALUE, PackedValues

from engine.syzygy.file_header import SIDE, Header, InvalidTable, Section, material_key, read_header

if not cython.compiled:
    MAX_PIECES = 7
    TRIANGLE = [0] * 64
    BELOW_DIAGONAL = [0] * 64
    TWO_KINGS = [0] * 640
    BINOMIAL = [0] * 448

    def fence() -> None:
        """Do nothing: plain Python does not reorder memory accesses."""

# TRIANGLE: b1 c1 d1 c2 d2 d3 are 0 to 5, the diagonal a1 b2 c3 d4 6 to 9.
# BELOW_DIAGONAL: the 28 squares below the diagonal a1-h8, b1 c1 ... h1 c2 ... h7.
# TWO_KINGS: [triangle * 64 + square], the 462 placements of two kings. BINOMIAL: [k * 64 + n], n over k.

NEW = cython.declare(cython.int, 0)
READY = cython.declare(cython.int, 1)
UNUSABLE = cython.declare(cython.int, 2)


# --- From squares to an index ----------------------------------------------------------------------------------------


def diagonal_side(square: cython.int) -> cython.int:
    """Return a positive number above the diagonal a1-h8, a negative one below, 0 on it."""
    return (square >> 3) - (square & 7)


def flip_diagonally(square: cython.int) -> cython.int:
    """Return the square mirrored at the diagonal a1-h8."""
    return (square >> 3 | square << 3) & 63


def normalize(squares: cython.p_int, count: cython.int, leading: cython.int) -> cython.void:
    """Mirror the board: the first piece to a1-d1-d4, the first leading piece off the diagonal to below it."""
    turn: cython.int = (7 if squares[0] & 4 else 0) ^ (56 if squares[0] & 32 else 0)
    index: cython.int
    for index in range(count):
        squares[index] ^= turn
    index = 0
    while index < leading and diagonal_side(squares[index]) == 0:
        index += 1
    if index < leading and diagonal_side(squares[index]) > 0:
        for index in range(count):
            squares[index] = flip_diagonally(squares[index])


def three_pieces_index(squares: cython.p_int) -> cython.int:
    """Return the index of three different pieces on a normalized board: 0 to 31331."""
    first: cython.int = squares[0]
    second: cython.int = squares[1] - (squares[1] > first)
    third: cython.int = squares[2] - (squares[2] > first) - (squares[2] > squares[1])
    if diagonal_side(first) != 0:
        return (TRIANGLE[first] * 63 + second) * 62 + third
    base: cython.int = 6 * 63 * 62
    if diagonal_side(squares[1]) != 0:
        return base + ((first >> 3) * 28 + BELOW_DIAGONAL[squares[1]]) * 62 + third
    base += 4 * 28 * 62
    # A square on the diagonal is identified by its rank.
    first >>= 3
    rank: cython.int = squares[1] >> 3
    second = rank - (rank > first)
    if diagonal_side(squares[2]) != 0:
        return base + (first * 7 + second) * 28 + BELOW_DIAGONAL[squares[2]]
    base += 4 * 7 * 28
    third = squares[2] >> 3
    third -= (third > first) + (third > rank)
    return base + (first * 7 + second) * 6 + third


def two_kings_index(squares: cython.p_int) -> cython.int:
    """Return the index of two kings on a normalized board: 0 to 461, or -1 if they stand next to each other."""
    return TWO_KINGS[TRIANGLE[squares[0]] * 64 + squares[1]]


def leading_pawn_rank(square: cython.int) -> cython.int:
    """Return the order in which pawns lead: outer files first, then lower ranks."""
    file: cython.int = square & 7
    return 6 * min(file, 7 - file) + (square >> 3) - 1


def pawn_order(square: cython.int) -> cython.int:
    """Return the number of a square for pawns beside the leading one: inner files first, then higher ranks."""
    file: cython.int = square & 7
    return 47 - 12 * min(file, 7 - file) - 2 * ((square >> 3) - 1) - (file > 3)


def move_leading_pawn_first(squares: cython.p_int, pawns: cython.int) -> cython.int:
    """Put the leading pawn first and return its file, 0 to 3."""
    index: cython.int
    for index in range(1, pawns):
        if leading_pawn_rank(squares[index]) < leading_pawn_rank(squares[0]):
            squares[0], squares[index] = squares[index], squares[0]
    file: cython.int = squares[0] & 7
    return min(file, 7 - file)


def leading_pawns_index(squares: cython.p_int, count: cython.int, pawns: cython.int) -> u64:
    """Return the index of one side's pawns, the leading one first; mirrors the board to the leading pawn's half."""
    index: cython.int
    other: cython.int
    if squares[0] & 4:
        for index in range(count):
            squares[index] ^= 7
    for index in range(1, pawns):
        for other in range(index + 1, pawns):
            if pawn_order(squares[index]) < pawn_order(squares[other]):
                squares[index], squares[other] = squares[other], squares[index]
    total: u64 = 0
    square: cython.int = (squares[0] & 7) + 8
    while square < squares[0]:
        total += BINOMIAL[(pawns - 1) * 64 + pawn_order(square)]
        square += 8
    for index in range(1, pawns):
        total += BINOMIAL[(pawns - index) * 64 + pawn_order(squares[index])]
    return total


def combination_index(squares: cython.p_int, start: cython.int, size: cython.int, first_square: cython.int) -> u64:
    """Return the index of `size` equal pieces from `start` on, the earlier ones being placed.

    `first_square` is 8 for pawns, which never stand on the first rank, and otherwise 0.
    """
    index: cython.int
    other: cython.int
    earlier: cython.int
    total: u64 = 0
    for index in range(start, start + size):
        for other in range(index + 1, start + size):
            if squares[other] < squares[index]:
                squares[index], squares[other] = squares[other], squares[index]
        earlier = 0
        for other in range(start):
            earlier += squares[index] > squares[other]
        total += BINOMIAL[(index - start + 1) * 64 + squares[index] - earlier - first_square]
    return total


def _fill_tables() -> None:
    n: cython.int
    k: cython.int
    for n in range(64):
        BINOMIAL[n] = 1
        for k in range(1, 7):
            BINOMIAL[k * 64 + n] = BINOMIAL[k * 64 + n - 1] + BINOMIAL[(k - 1) * 64 + n - 1] if n else 0
    below = [square for square in range(64) if diagonal_side(square) < 0]
    triangle = [square for square in below if square & 7 < 4]
    triangle += [0, 9, 18, 27]
    for n in range(64):
        TRIANGLE[n] = triangle.index(n) if n in triangle else 0
        BELOW_DIAGONAL[n] = below.index(n) if n in below else 0
    _fill_two_kings(triangle)


def _fill_two_kings(triangle: list) -> None:
    """Number the placements of a king in the triangle and another one; both on the diagonal come last."""
    square: cython.int
    place: cython.int
    number: cython.int = 0
    for both_on_diagonal in (False, True):
        for place in range(10):
            for square in range(64):
                first: cython.int = triangle[place]
                if not both_on_diagonal:
                    TWO_KINGS[place * 64 + square] = -1
                if (bit(first) | KING_ATTACKS[first]) & bit(square) or (place > 5 and diagonal_side(square) > 0):
                    continue
                if (place > 5 and diagonal_side(square) == 0) == both_on_diagonal:
                    TWO_KINGS[place * 64 + square] = number
                    number += 1


_fill_tables()


# --- The file --------------------------------------------------------------------------------------------------------


@cython.final
@cython.cclass
class Table:
    """One file, shared by any number of threads and opened when it is first probed."""

    def __init__(self, path: object) -> None:
        self.path = path
        self.state = NEW
        self.values = None
        self.sections = ()
        self.problem: str | None = None
        self.lock = Lock()

    def open(self) -> None:
        """Read the header unless that was done before; on failure set `problem`."""
        with self.lock:
            if self.state != NEW:
                return
            try:
                self._load()
            except InvalidTable as error:
                self.problem = f"{self.path}: {error}"
            except OSError as error:
                self.problem = f"{self.path}: {error.strerror}"
            fence()
            self.state = READY if self.problem is None else UNUSABLE

    def _load(self) -> None:
        """Raises InvalidTable and OSError."""
        # Without O_NONBLOCK, a named pipe would wait for a writer.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            header = read_header(self.path, descriptor)
            self._copy_layout(header)
            self.values = PackedValues(descriptor, header)
        except (InvalidTable, OSError):
            os.close(descriptor)
            raise

    def _copy_layout(self, header: Header) -> None:
        """Copy the numbering of positions to C fields, readable without the lock. Raises InvalidTable."""
        index: cython.int
        endgame, self.sections, self.sides = header.endgame, header.sections, header.sides
        self.piece_count = len(endgame.pieces)
        self.has_pawns = endgame.has_pawns
        self.symmetric = endgame.is_symmetric
        self.leading = endgame.leading
        self.both_have_pawns = endgame.both_have_pawns
        self.key = material_key(self.sections[0].pieces)
        for number, section in enumerate(self.sections):
            if self._is_of_another_endgame(section):
                raise InvalidTable("its parts are of different endgames")
            for index, piece in enumerate(section.pieces):
                self.pieces[number * MAX_PIECES + index] = piece
            for index, (size, factor) in enumerate(section.groups):
                self.group_sizes[number * MAX_PIECES + index] = size
                self.factors[number * MAX_PIECES + index] = factor
            self.group_counts[number] = len(section.groups)
            self.section_sizes[number] = section.size

    def _is_of_another_endgame(self, section: Section) -> bool:
        other_leader = self.has_pawns and section.pieces[0] != self.sections[0].pieces[0]
        return other_leader or material_key(section.pieces) != self.key

    # --- Probing -----------------------------------------------------------------------------------------------------

    def is_ready(self) -> cython.bint:
        """Return whether the file can be read; opens it on the first call."""
        if self.state == NEW:
            with cython.gil:
                self.open()
        fence()
        return self.state == READY

    def probe(self, position: Position, key: u64) -> cython.int:
        """Return the stored value of a position of this endgame, or NO_VALUE; `key` is its material key."""
        if not self.is_ready():
            return NO_VALUE
        squares = cython.declare(cython.int[8])
        section: cython.int = self.collect_squares(position, self.has_swapped_colours(position, key), squares)
        if section < 0:
            return NO_VALUE
        index: cython.longlong = self.index_of(section, squares)
        if index < 0 or cython.cast(u64, index) >= self.section_sizes[section]:
            return NO_VALUE
        return self.values.unpack(section, index)

    def has_swapped_colours(self, position: Position, key: u64) -> cython.bint:
        """Return whether the file has the colours swapped. If both sides have equal pieces, White is to move in it."""
        return position.side_to_move if self.symmetric else key != self.key

    def collect_squares(self, position: Position, swapped: cython.bint, squares: cython.p_int) -> cython.int:
        """Write the squares of the pieces in the order of the file; returns the section, or -1 if they do not fit."""
        side: cython.int = position.side_to_move ^ swapped if self.sides == 2 else 0
        section: cython.int = side
        placed: cython.int = 0
        if self.has_pawns:
            placed = self.collect_piece(position, swapped, squares, self.pieces[0], 0)
            if placed != self.leading:
                return -1
            section = move_leading_pawn_first(squares, placed) * self.sides + side
        while placed < self.piece_count:
            before: cython.int = placed
            piece: cython.int = self.pieces[section * MAX_PIECES + placed]
            placed = self.collect_piece(position, swapped, squares, piece, placed)
            if placed == before:
                return -1
        return section

    def collect_piece(
        self, position: Position, swapped: cython.bint, squares: cython.p_int, piece: cython.int, placed: cython.int
    ) -> cython.int:
        """Append the squares of one kind of piece; returns how many squares are written now."""
        if swapped:
            piece = piece - KINDS if piece >= KINDS else piece + KINDS
        remaining: u64 = position.pieces[piece]
        while remaining and placed < self.piece_count:
            squares[placed] = lsb(remaining) ^ (56 if swapped else 0)
            placed += 1
            remaining &= remaining - 1
        return placed

    def index_of(self, section: cython.int, squares: cython.p_int) -> cython.longlong:
        """Return the index of the position in its section, negative for an impossible position."""
        first: cython.int = section * MAX_PIECES
        total: u64
        group: cython.int = 1
        placed: cython.int = self.leading
        if self.has_pawns:
            total = leading_pawns_index(squares, self.piece_count, placed) * self.factors[first]
        else:
            normalize(squares, self.piece_count, placed)
            leading: cython.int = three_pieces_index(squares) if placed == 3 else two_kings_index(squares)
            if leading < 0:
                return -1
            total = cython.cast(u64, leading) * self.factors[first]
        while group < self.group_counts[section]:
            first_square: cython.int = 8 if group == 1 and self.both_have_pawns else 0
            size: cython.int = self.group_sizes[first + group]
            total += combination_index(squares, placed, size, first_square) * self.factors[first + group]
            placed += size
            group += 1
        return total

    def probe_dtz(self, position: Position, key: int) -> tuple | None:
        """Return the section of a DTZ file and the value there, for Python callers; None if the file cannot be used.

        The value is None if the file holds only the other side to move.
        """
        squares = cython.declare(cython.int[8])
        if not self.is_ready():
            return None
        swapped: cython.bint = self.has_swapped_colours(position, key)
        number: cython.int = self.collect_squares(position, swapped, squares)
        if number < 0:
            return None
        section = self.sections[number]
        side: cython.int = position.side_to_move ^ swapped
        if section.flags & SIDE != side and (self.has_pawns or not self.symmetric):
            return section, None
        value: cython.int = self.probe(position, key)
        return None if value == NO_VALUE else (section, value)


@cython.final
@cython.cclass
class TableTree:
    """A binary search tree of tables by material key, searched without the interpreter lock."""

    def __init__(self, key: int, table: Table, smaller: object = None, larger: object = None) -> None:
        self.key = key
        self.table = table
        self.smaller = smaller
        self.larger = larger

    def probe(self, position: Position, key: u64) -> cython.int:
        """Return what the table with this material key stores for the position, or NO_VALUE."""
        if key == self.key:
            return self.table.probe(position, key)
        if key < self.key:
            return NO_VALUE if self.smaller is None else self.smaller.probe(position, key)
        return NO_VALUE if self.larger is None else self.larger.probe(position, key)

    def find(self, key: int) -> Table | None:
        """Return the table with this material key."""
        if key == self.key:
            return self.table
        nearer = self.smaller if key < self.key else self.larger
        return None if nearer is None else nearer.find(key)


def build_tree(tables: list[tuple[int, Table]]) -> TableTree | None:
    """Return a balanced tree of tables with their material keys, which must be in order."""
    if not tables:
        return None
    middle = len(tables) // 2
    key, table = tables[middle]
    return TableTree(key, table, build_tree(tables[:middle]), build_tree(tables[middle + 1 :]))
