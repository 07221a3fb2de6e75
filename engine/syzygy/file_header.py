"""The head of a Syzygy file: which men its positions have, how they are numbered, and where the packed values lie.

A file knows one ending. Its positions are numbered group by group (`syzygy_index.py`), and their values are packed in
blocks of canonical Huffman codes whose symbols stand for pairs of symbols. Whatever a head says is checked against the
file's name and size: a file that contradicts itself raises InvalidTable and is never read again. Wrong values inside
the blocks cannot be told from right ones. (Ronald de Man: Syzygy tablebases; chessprogramming wiki: Syzygy Bases)
"""

import os
import re
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from math import comb, prod
from pathlib import Path

MOST_MEN = 7
KINDS = 6
LETTERS = "PNBRQK"                 # [kind], as everywhere in the engine
NAME = re.compile(r"(K[QRBNP]{0,5})v(K[QRBNP]{0,5})")

LONGEST_HEAD = 1 << 18             # bytes; heads of seven men need less than half of that
KEPT_BYTES = 1 << 17               # of a file in memory: all of most files of four men, the indices of most others
LARGEST_BLOCK_BITS = 12
LONGEST_CODE = 32
CHECKSUM_BYTES = 16                # at the end of each file; the rest comes in units of 64

SPLIT, WITH_PAWNS = 1, 2           # bits of the byte behind the magic number
SIDE, MAPPED, WIN_PLIES, LOSS_PLIES, WIDE, CONSTANT = 1, 2, 4, 8, 16, 128      # flags of a section
NO_ORDER = 15

LEADING_PIECES = {3: 31332, 2: 462}        # how many placements the leading group has, up to symmetry


class InvalidTable(ValueError):
    """The file is no Syzygy table of the ending it is named after. The message says what is wrong."""


class Kind(Enum):
    """What a file tells: the outcome, or the distance to the next capture or pawn move."""

    WDL = ".rtbw"
    DTZ = ".rtbz"

    @property
    def magic(self) -> bytes:
        return bytes.fromhex("71e8235d" if self is Kind.WDL else "d7660ca5")


@dataclass(frozen=True)
class Ending:
    """The men of a file: pieces 0 to 11 as everywhere in the engine, kings included."""

    name: str
    pieces: tuple[int, ...]

    @classmethod
    def of_name(cls, name: str) -> "Ending | None":
        """None if no file of ours has such a name."""
        match = NAME.fullmatch(name)
        if match is None or not 3 <= len(name) - 1 <= MOST_MEN:
            return None
        white, black = ([LETTERS.index(letter) for letter in side] for side in match.groups())
        return cls(name, (*white, *(KINDS + kind for kind in black)))

    @property
    def has_pawns(self) -> bool:
        return any(piece % KINDS == 0 for piece in self.pieces)

    @property
    def is_symmetric(self) -> bool:
        """Have both sides the same men?"""
        return Counter(self.pieces) == Counter(other_colour(self.pieces))

    @property
    def leading(self) -> int:
        """How many men are numbered together first, without pawns: three that are alone of their kind, or the kings."""
        alone = sum(count == 1 for count in Counter(self.pieces).values())
        return 3 if alone >= 3 else 2

    @property
    def leading_pawns(self) -> int:
        """The fewer pawns of one side are numbered first."""
        counts = (self.pieces.count(0), self.pieces.count(KINDS))
        return min(filter(None, counts), default=0)


@dataclass(frozen=True)
class Section:
    """The positions of one side to move and, with pawns, of the leading pawn on one file (a to d).

    `groups`: the size of each group of men that is numbered together and what its number is multiplied by. Offsets
    are those of the file. `maps`: what the values of a DTZ section stand for, by outcome.
    """

    pieces: tuple[int, ...]
    groups: tuple[tuple[int, int], ...]
    size: int
    flags: int = 0
    constant: int = 0
    block_bits: int = 0
    index_bits: int = 0
    shortest: int = 0
    lowest: tuple[int, ...] = ()
    patterns: bytes = b""
    blocks: int = 0
    sizes: int = 0
    index_at: int = 0
    sizes_at: int = 0
    data_at: int = 0
    maps: tuple[tuple[int, ...], ...] = ()

    @property
    def bases(self) -> tuple[int, ...]:
        """The first code of each length, left in 64 bits."""
        bases = [0]
        for shorter, longer in zip(self.lowest[-2::-1], self.lowest[:0:-1], strict=True):
            bases.append((bases[-1] + shorter - longer) // 2)
        return tuple(base << (64 - self.shortest - place) for place, base in enumerate(reversed(bases)))

    @property
    def index_bytes(self) -> int:
        """What the index takes: six bytes for each stretch of positions."""
        return 0 if self.flags & CONSTANT else 6 * (-(-self.size >> self.index_bits))


@dataclass(frozen=True)
class Head:
    """A whole file; section `file * sides + side`. `start`: the bytes it begins with, worth keeping in memory."""

    ending: Ending
    files: int
    sides: int
    sections: tuple[Section, ...]
    start: bytes


def material_key(pieces: Sequence[int]) -> int:
    """A number for what stands on the board: how many of each piece, four bits each; kings do not count."""
    return sum(1 << 4 * piece for piece in pieces if piece % KINDS != KINDS - 1)


def other_colour(pieces: Sequence[int]) -> tuple[int, ...]:
    """The same men with the colours changed."""
    return tuple((piece + KINDS) % (2 * KINDS) for piece in pieces)


def read_head(path: Path, descriptor: int) -> Head:
    """The head of an open file. Raises InvalidTable, and OSError if the file cannot be read."""
    ending = Ending.of_name(path.stem)
    if ending is None:
        raise InvalidTable("no name of an ending such as KQvKR")
    size = os.fstat(descriptor).st_size
    try:
        return _Reader(ending, Kind(path.suffix), os.pread(descriptor, LONGEST_HEAD, 0), size).read()
    except (struct.error, IndexError):
        raise InvalidTable("the file ends too early") from None


class _Reader:
    """Goes through the head of one file from front to back."""

    def __init__(self, ending: Ending, kind: Kind, head: bytes, file_size: int) -> None:
        self._ending = ending
        self._kind = kind
        self._head = head
        self._file_size = file_size
        self._at = 0

    def read(self) -> Head:
        """Raises InvalidTable, or struct.error or IndexError where the file ends too early."""
        if self._head[:4] != self._kind.magic:
            raise InvalidTable(f"not a Syzygy file of the kind {self._kind.value}")
        if self._file_size % 64 != CHECKSUM_BYTES:
            raise InvalidTable(f"a file of {self._file_size} bytes is cut or damaged")
        files, sides = self._shape(self._head[4])
        self._at = 5
        men = [self._read_men(file, sides) for file in range(4 if files == 4 else 1)]
        self._at += self._at & 1
        sections = [self._read_codes(section) for sides_of_file in men for section in sides_of_file]
        if self._kind is Kind.DTZ:
            sections = self._read_maps(sections)
        return Head(self._ending, files, sides, tuple(self._place(sections)), self._head[:KEPT_BYTES])

    def _shape(self, flags: int) -> tuple[int, int]:
        """How many files of pawns and how many sides to move the file tells apart."""
        ending = self._ending
        if bool(flags & WITH_PAWNS) != ending.has_pawns:
            raise InvalidTable("its positions are of another ending")
        sides = 1 if self._kind is Kind.DTZ or ending.is_symmetric else 2
        if self._kind is Kind.WDL and bool(flags & SPLIT) != (sides == 2):
            raise InvalidTable("it has the wrong number of sides to move")
        return 4 if ending.has_pawns else 1, sides

    def _read_men(self, file: int, sides: int) -> list[Section]:
        """The order of the men for each side, in the low and the high halves of the same bytes."""
        ending = self._ending
        two_orders = ending.has_pawns and ending.pieces.count(0) > 0 and ending.pieces.count(KINDS) > 0
        count = len(ending.pieces) + 1 + two_orders
        row = self._head[self._at : self._at + count]
        self._at += count
        if len(row) < count:
            raise InvalidTable("the file ends too early")
        sections = []
        for shift in (0, 4)[:sides]:
            half = [byte >> shift & 15 for byte in row]
            orders = (half[0], half[1] if two_orders else NO_ORDER)
            pieces = tuple(_piece(code) for code in half[1 + two_orders :])
            sections.append(self._numbered(pieces, orders, file))
        return sections

    def _numbered(self, pieces: tuple[int, ...], orders: tuple[int, int], file: int) -> Section:
        """How positions with the men in this order are numbered."""
        ending = self._ending
        if Counter(pieces) not in (Counter(ending.pieces), Counter(other_colour(ending.pieces))):
            raise InvalidTable("its positions have other men than its name")
        runs = [len(list(run)) for _, run in groupby(pieces)]
        if len(runs) != len(set(pieces)):
            raise InvalidTable("equal men are not numbered together")
        if ending.has_pawns:
            sizes = runs
            self._check_pawns(pieces, sizes, orders[1] != NO_ORDER)
        else:
            sizes = [ending.leading, *_runs_after(pieces, ending.leading)]
        return self._with_factors(pieces, sizes, orders, file)

    def _check_pawns(self, pieces: tuple[int, ...], sizes: list[int], on_both_sides: bool) -> None:
        leads = pieces[0] % KINDS == 0 and sizes[0] == self._ending.leading_pawns
        if not leads or (on_both_sides and pieces[sizes[0]] % KINDS != 0):
            raise InvalidTable("its pawns are not numbered first")

    def _with_factors(
        self, pieces: tuple[int, ...], sizes: list[int], orders: tuple[int, int], file: int
    ) -> Section:
        """Each group counts in units of the groups that the file takes before it."""
        pawn_groups = orders[1] != NO_ORDER
        placements = self._placements(pieces, sizes, pawn_groups, file)
        fixed = {orders[0]: 0} | ({orders[1]: 1} if pawn_groups else {})
        if len(fixed) != 1 + pawn_groups or max(fixed) >= len(sizes):
            raise InvalidTable("its groups of men have an impossible order")
        rest = iter(range(len(fixed), len(sizes)))
        sequence = [fixed[place] if place in fixed else next(rest) for place in range(len(sizes))]
        factors = [prod(placements[it] for it in sequence[: sequence.index(group)]) for group in range(len(sizes))]
        groups = tuple(zip(sizes, factors, strict=True))
        return Section(pieces, groups, prod(placements))

    def _placements(self, pieces: tuple[int, ...], sizes: list[int], pawn_groups: bool, file: int) -> list[int]:
        """In how many ways each group can stand, those before it standing."""
        first = sizes[0]
        if self._ending.has_pawns:
            placements = [sum(pawn_chances(first - 1, file, rank) for rank in range(6))]
        else:
            if first == 2 and {pieces[0], pieces[1]} != {KINDS - 1, 2 * KINDS - 1}:
                raise InvalidTable("its kings are not numbered first")
            if len(set(pieces[:first])) != first:
                raise InvalidTable("its leading men are not alone of their kind")
            placements = [LEADING_PIECES[first]]
        if pawn_groups:
            placements.append(comb(48 - first, sizes[1]))
        free = 64 - sum(sizes[: len(placements)])
        for size in sizes[len(placements) :]:
            placements.append(comb(free, size))
            free -= size
        return placements

    # --- Codes, maps, and where everything lies ----------------------------------------------------------------------

    def _read_codes(self, section: Section) -> Section:
        """Flags, and the table of codes of one section."""
        head, at = self._head, self._at
        flags = head[at]
        if flags & CONSTANT:
            self._at += 2
            return replace(section, flags=flags, constant=head[at + 1] if self._kind is Kind.WDL else 0)
        block_bits, index_bits, more_sizes, blocks, longest, shortest = struct.unpack_from("<BBBIBB", head, at + 1)
        possible = 1 <= shortest <= longest <= LONGEST_CODE
        if not possible or not 1 <= index_bits <= LONGEST_CODE or block_bits > LARGEST_BLOCK_BITS:
            raise InvalidTable("its codes have impossible lengths")
        lengths = longest - shortest + 1
        *lowest, symbols = struct.unpack_from(f"<{lengths + 1}H", head, at + 10)
        self._at = at + 12 + 2 * lengths + 3 * symbols + (symbols & 1)
        if self._at > len(head):
            raise InvalidTable("the file ends too early")
        patterns = head[at + 12 + 2 * lengths : at + 12 + 2 * lengths + 3 * symbols]
        section = replace(
            section, flags=flags, block_bits=block_bits, index_bits=index_bits, shortest=shortest,
            lowest=tuple(lowest), patterns=patterns, blocks=blocks, sizes=blocks + more_sizes,
        )
        if not all(0 <= base < 1 << 64 for base in section.bases):
            raise InvalidTable("its codes contradict each other")
        return section

    def _read_maps(self, sections: list[Section]) -> list[Section]:
        """What the values of DTZ sections stand for: four lists for each that has any."""
        mapped = [replace(it, maps=self._read_map(it.flags)) if it.flags & MAPPED else it for it in sections]
        self._skip_to_even()
        return mapped

    def _read_map(self, flags: int) -> tuple[tuple[int, ...], ...]:
        if flags & WIDE:
            self._skip_to_even()
        unit, width = ("H", 2) if flags & WIDE else ("B", 1)
        lists = []
        for _ in range(4):
            (count,) = struct.unpack_from(f"<{unit}", self._head, self._at)
            lists.append(struct.unpack_from(f"<{count}{unit}", self._head, self._at + width))
            self._at += width * (count + 1)
        return tuple(lists)

    def _skip_to_even(self) -> None:
        self._at += self._at & 1

    def _place(self, sections: list[Section]) -> list[Section]:
        """First all indices, then the sizes of all blocks, then the blocks, each section's on a multiple of 64."""
        placed = []
        at = self._at
        for section in sections:
            placed.append(replace(section, index_at=at))
            at += section.index_bytes
        for number, section in enumerate(placed):
            placed[number] = replace(section, sizes_at=at)
            at += 2 * section.sizes
        for number, section in enumerate(placed):
            at = at + 63 & ~63
            placed[number] = replace(section, data_at=at)
            at += section.blocks << section.block_bits
        if at > self._file_size:
            raise InvalidTable(f"a file of {self._file_size} bytes is cut: its head tells of {at}")
        return placed


def pawn_chances(others: int, file: int, rank: int) -> int:
    """In how many ways `others` pawns can stand beside a leading one on that file (0 to 3) and rank (0 for the second).

    They stand on squares that are numbered lower, from the middle of the board outwards and from the top down.
    """
    return comb(47 - 12 * file - 2 * rank, others)


def _piece(code: int) -> int:
    """The engine's number of a piece; the format counts 1 to 6, and 8 more for Black."""
    if not 1 <= code & 7 <= KINDS:
        raise InvalidTable("it names a piece that does not exist")
    return (code & 7) - 1 + (KINDS if code & 8 else 0)


def _runs_after(pieces: tuple[int, ...], first: int) -> list[int]:
    return [len(list(run)) for _, run in groupby(pieces[first:])]
