# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""One Syzygy file: from a position to the value it stores, without the interpreter lock; and a shelf of many files.

A file is opened when first asked.
"""

import os
from threading import Lock

import cython
from cython.cimports.engine.core.bitboard import lsb, u64
from cython.cimports.engine.core.pieces import KINDS
from cython.cimports.engine.core.position import Position
from cython.cimports.engine.syzygy.index import (
    combination,
    lead_pawn,
    leading_pawns,
    mirror,
    three_pieces,
    two_kings,
)
from cython.cimports.engine.syzygy.packed_values import NO_VALUE, PackedValues

from engine.syzygy.file_header import SIDE, InvalidTable, material_key, read_head

if not cython.compiled:
    def fence() -> None:
        """Plain Python has one order of things."""

MEN = cython.declare(cython.int, 7)
NEW = cython.declare(cython.int, 0)
READY = cython.declare(cython.int, 1)
UNUSABLE = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class Table:
    """One file, for any number of threads."""

    def __init__(self, path: object) -> None:
        if not cython.compiled:
            self.pieces = [0] * 56
            self.sizes = [0] * 56
            self.factors = [0] * 56
            self.groups = [0] * 8
            self.places = [0] * 8
        self.path = path
        self.state = NEW
        self.packed = None
        self.sections = ()
        self.problem = None
        self.lock = Lock()

    # --- Opening -----------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Read the head, unless that was done before. `trouble` then says if it cannot be used."""
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
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            head = read_head(self.path, descriptor)
            self._take(head)
            self.packed = PackedValues(descriptor, head)
        except (InvalidTable, OSError):
            os.close(descriptor)
            raise

    def _take(self, head: object) -> None:
        """Copy how positions are numbered to where it is read without the lock. Raises InvalidTable."""
        place: cython.int
        ending, self.sections, self.sides = head.ending, head.sections, head.sides
        self.men = len(ending.pieces)
        self.has_pawns = ending.has_pawns
        self.symmetric = ending.is_symmetric
        self.leading = ending.leading_pawns if self.has_pawns else ending.leading
        self.both_pawns = self.has_pawns and 0 in ending.pieces and KINDS in ending.pieces
        self.key = material_key(self.sections[0].pieces)
        for number, section in enumerate(self.sections):
            if self._differs(section):
                raise InvalidTable("its parts are of different endings")
            for place, piece in enumerate(section.pieces):
                self.pieces[number * MEN + place] = piece
            for place, (size, factor) in enumerate(section.groups):
                self.sizes[number * MEN + place] = size
                self.factors[number * MEN + place] = factor
            self.groups[number] = len(section.groups)
            self.places[number] = section.size

    def _differs(self, section: object) -> bool:
        """Has it other men than the first section, or other leading pawns?"""
        other_leader = self.has_pawns and section.pieces[0] != self.sections[0].pieces[0]
        return other_leader or material_key(section.pieces) != self.key

    # --- Reading -----------------------------------------------------------------------------------------------------

    def is_ready(self) -> cython.bint:
        """May it be read? Opens it if need be."""
        if self.state == NEW:
            with cython.gil:
                self.open()
        fence()
        return self.state == READY

    def value(self, position: Position, key: u64) -> cython.int:
        """What the file says of a position with the men of its ending, or NO_VALUE."""
        if not self.is_ready():
            return NO_VALUE
        squares = cython.declare(cython.int[8])
        section: cython.int = self.line_up(position, self.is_swapped(position, key), squares)
        if section < 0:
            return NO_VALUE
        number: cython.longlong = self.number_of(section, squares)
        if number < 0 or cython.cast(u64, number) >= self.places[section]:
            return NO_VALUE
        return self.packed.unpack(section, number)

    def is_swapped(self, position: Position, key: u64) -> cython.bint:
        """Are the colours those of the file changed? With equal men White is always to move."""
        return position.side_to_move if self.symmetric else key != self.key

    def line_up(self, position: Position, swapped: cython.bint, squares: cython.p_int) -> cython.int:
        """Write down where the men stand, in the order of the file; returns the section, or -1."""
        side: cython.int = position.side_to_move ^ swapped if self.sides == 2 else 0
        section: cython.int = side
        placed: cython.int = 0
        if self.has_pawns:
            placed = self.line_up_one(position, swapped, squares, self.pieces[0], 0)
            if placed != self.leading:
                return -1
            section = lead_pawn(squares, placed) * self.sides + side
        while placed < self.men:
            before: cython.int = placed
            placed = self.line_up_one(position, swapped, squares, self.pieces[section * MEN + placed], placed)
            if placed == before:
                return -1
        return section

    def line_up_one(
        self, position: Position, swapped: cython.bint, squares: cython.p_int, piece: cython.int, placed: cython.int
    ) -> cython.int:
        """All men of one kind; returns how many are lined up now."""
        if swapped:
            piece = piece - KINDS if piece >= KINDS else piece + KINDS
        men: u64 = position.pieces[piece]
        while men and placed < self.men:
            squares[placed] = lsb(men) ^ (56 if swapped else 0)
            placed += 1
            men &= men - 1
        return placed

    def number_of(self, section: cython.int, squares: cython.p_int) -> cython.longlong:
        """The position's number in its section; negative for an impossible one."""
        first: cython.int = section * MEN
        number: u64
        group: cython.int = 1
        placed: cython.int = self.leading
        if self.has_pawns:
            number = leading_pawns(squares, self.men, placed) * self.factors[first]
        else:
            mirror(squares, self.men, placed)
            leading: cython.int = three_pieces(squares) if placed == 3 else two_kings(squares)
            if leading < 0:
                return -1
            number = cython.cast(u64, leading) * self.factors[first]
        while group < self.groups[section]:
            shift: cython.int = 8 if group == 1 and self.both_pawns else 0
            number += combination(squares, placed, self.sizes[first + group], shift) * self.factors[first + group]
            placed += self.sizes[first + group]
            group += 1
        return number

    # --- For Python callers ------------------------------------------------------------------------------------------

    def twin(self) -> "Table":
        """Another one for the same file, not yet opened."""
        return Table(self.path)

    def trouble(self) -> str | None:
        """Why the file cannot be used, if that is known by now."""
        return self.problem

    def outlook(self, position: Position, key: int) -> tuple | None:
        """Of a DTZ file: its section for the position, and the value there; None if the file cannot be used.

        The value is None if the file tells of the other side to move only.
        """
        squares = cython.declare(cython.int[8])
        if not self.is_ready():
            return None
        swapped: cython.bint = self.is_swapped(position, key)
        number: cython.int = self.line_up(position, swapped, squares)
        if number < 0:
            return None
        section = self.sections[number]
        side: cython.int = position.side_to_move ^ swapped
        if section.flags & SIDE != side and (self.has_pawns or not self.symmetric):
            return section, None
        value: cython.int = self.value(position, key)
        return None if value == NO_VALUE else (section, value)


@cython.final
@cython.cclass
class TableTree:
    """The file of one ending in a tree ordered by what stands on the board."""

    def __init__(self, key: int, table: Table, before: object = None, after: object = None) -> None:
        self.key = key
        self.table = table
        self.before = before
        self.after = after

    def value(self, position: Position, key: u64) -> cython.int:
        """What the file for these men says, or NO_VALUE."""
        if key == self.key:
            return self.table.value(position, key)
        if key < self.key:
            return NO_VALUE if self.before is None else self.before.value(position, key)
        return NO_VALUE if self.after is None else self.after.value(position, key)

    def table_of(self, key: int) -> Table | None:
        """The file for these men."""
        if key == self.key:
            return self.table
        nearer = self.before if key < self.key else self.after
        return None if nearer is None else nearer.table_of(key)


def build_tree(tables: list[tuple[int, Table]]) -> TableTree | None:
    """A balanced tree of tables and their keys, which come in order."""
    if not tables:
        return None
    middle = len(tables) // 2
    key, table = tables[middle]
    return TableTree(key, table, build_tree(tables[:middle]), build_tree(tables[middle + 1 :]))
