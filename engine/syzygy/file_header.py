"""The header of a Syzygy file: its endgame, how positions are numbered, and where the packed values lie.

A file holds one endgame. Its positions are numbered group by group (`table.py`), and their values are packed in blocks
of canonical Huffman codes whose symbols stand for pairs of symbols (`packed_values.py`). The header is checked against
the file's name and size: an inconsistent file raises InvalidTable and is never read again. Wrong values inside the
blocks cannot be detected. (Ronald de Man: Syzygy tablebases; chessprogramming wiki: Syzygy Bases)
"""

import os
import re
import stat
import struct
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from itertools import groupby
from math import comb, prod
from pathlib import Path
from typing import NamedTuple

from engine.core.pieces import KINDS, KING, PAWN, PIECE_LETTERS

MAX_PIECES = 7                     # of the largest endgame, kings included
NAME = re.compile(r"(K[QRBNP]{0,5})v(K[QRBNP]{0,5})")

MAX_HEADER = 1 << 18               # bytes; headers of seven pieces need less than half of that
KEPT_BYTES = 1 << 17               # of a file in memory: all of most files of four pieces, the indices of most others
MAX_BLOCK_BITS = 12
MAX_CODE_BITS = 32
CHECKSUM_BYTES = 16                # at the end of each file; the rest is a multiple of 64

SPLIT, WITH_PAWNS = 1, 2           # bits of the byte after the magic number
SIDE, MAPPED, WIN_PLIES, LOSS_PLIES, WIDE, CONSTANT = 1, 2, 4, 8, 16, 128      # flags of a section

LEADING_PLACEMENTS = {3: 31332, 2: 462}    # by size of the leading group, up to symmetry


class InvalidTable(ValueError):
    """The file is not a Syzygy table of the endgame it is named after. The message says what is wrong."""


class Kind(Enum):
    """What a file stores: win, draw or loss, or the distance to the next capture or pawn move."""

    WDL = ".rtbw"
    DTZ = ".rtbz"

    @property
    def magic(self) -> bytes:
        return bytes.fromhex("71e8235d" if self is Kind.WDL else "d7660ca5")


class Endgame(NamedTuple):
    """The material of a file: `pieces` has one number from 0 to 11 for each piece, kings included."""

    pieces: tuple[int, ...]

    @classmethod
    def of_name(cls, name: str) -> "Endgame | None":
        """Return the endgame named like KQvKR, or None if the name is not one of at most seven pieces."""
        match = NAME.fullmatch(name)
        if match is None or not 3 <= len(name) - 1 <= MAX_PIECES:
            return None
        white, black = ([PIECE_LETTERS.index(letter) for letter in side] for side in match.groups())
        return cls((*white, *(KINDS + kind for kind in black)))

    @property
    def has_pawns(self) -> bool:
        return any(piece % KINDS == PAWN for piece in self.pieces)

    @property
    def both_have_pawns(self) -> bool:
        return PAWN in self.pieces and KINDS + PAWN in self.pieces

    @property
    def is_symmetric(self) -> bool:
        """Whether both sides have the same pieces."""
        return Counter(self.pieces) == Counter(other_colour(self.pieces))

    @property
    def leading(self) -> int:
        """Size of the leading group: the pawns of the side with fewer, but at least one pawn.

        Without pawns, three pieces unique in colour and kind, or the two kings.
        """
        counts = Counter(self.pieces)
        if self.has_pawns:
            return min(counts[pawn] for pawn in (PAWN, KINDS + PAWN) if counts[pawn])
        return 3 if list(counts.values()).count(1) >= 3 else 2


class Section(NamedTuple):
    """The positions with one side to move and, with pawns, with the leading pawn on one file (a to d).

    `groups` holds, for each group of pieces numbered together, its size and the factor of its number. The fields
    `..._at` are offsets in the file. `maps` translates the values of a DTZ section, one tuple for each outcome.
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
        """The first code of each length, left-aligned in 64 bits."""
        bases = [0] * len(self.lowest)
        for place in reversed(range(len(bases) - 1)):
            bases[place] = (bases[place + 1] + self.lowest[place] - self.lowest[place + 1]) // 2
        return tuple(base << (64 - self.shortest - place) for place, base in enumerate(bases))

    @property
    def index_bytes(self) -> int:
        """Size of the index: six bytes for each stretch of positions."""
        return 0 if self.flags & CONSTANT else 6 * (-(-self.size >> self.index_bits))


class Header(NamedTuple):
    """A whole file. Section `file * sides + side` stands at that index; `start` holds the file's first bytes."""

    endgame: Endgame
    sides: int
    sections: tuple[Section, ...]
    start: bytes


def material_key(pieces: Sequence[int]) -> int:
    """Return the material as a number: the count of each piece except the kings, four bits each."""
    return sum(1 << 4 * piece for piece in pieces if piece % KINDS != KING)


def other_colour(pieces: Sequence[int]) -> tuple[int, ...]:
    """Return the same pieces with swapped colours."""
    return tuple((piece + KINDS) % (2 * KINDS) for piece in pieces)


class OpenFile:
    """An open file, closed when deleted. With the stable ABI, Cython never calls `__del__` of its own classes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)


def read_header(path: Path, descriptor: int) -> Header:
    """Read the header of an open file. Raises InvalidTable, and OSError if the file cannot be read."""
    endgame = Endgame.of_name(path.stem)
    if endgame is None:
        raise InvalidTable("its name is not that of an endgame such as KQvKR")
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidTable("it is not a regular file")
    try:
        return _Reader(endgame, Kind(path.suffix), os.pread(descriptor, MAX_HEADER, 0), status.st_size).read()
    except (struct.error, IndexError):
        raise InvalidTable("the file ends too early") from None


class _Reader:
    """Reads the header of one file from front to back."""

    def __init__(self, endgame: Endgame, kind: Kind, header: bytes, file_size: int) -> None:
        self._endgame = endgame
        self._kind = kind
        self._header = header
        self._file_size = file_size
        self._at = 0

    def read(self) -> Header:
        """Raises InvalidTable, or struct.error or IndexError where the file ends too early."""
        if self._header[:4] != self._kind.magic:
            raise InvalidTable(f"not a Syzygy file of the kind {self._kind.value}")
        if self._file_size % 64 != CHECKSUM_BYTES:
            raise InvalidTable(f"a file of {self._file_size} bytes is cut or damaged")
        files, sides = self._shape(self._header[4])
        self._at = 5
        pieces = [self._read_pieces(file, sides) for file in range(files)]
        self._skip_to_even()
        sections = [self._read_codes(section) for sides_of_file in pieces for section in sides_of_file]
        if self._kind is Kind.DTZ:
            sections = self._read_maps(sections)
        return Header(self._endgame, sides, tuple(self._place(sections)), self._header[:KEPT_BYTES])

    def _shape(self, flags: int) -> tuple[int, int]:
        """Return the numbers of pawn files and of sides to move that have sections of their own."""
        endgame = self._endgame
        if bool(flags & WITH_PAWNS) != endgame.has_pawns:
            raise InvalidTable("its positions are of another endgame")
        sides = 1 if self._kind is Kind.DTZ or endgame.is_symmetric else 2
        if self._kind is Kind.WDL and bool(flags & SPLIT) != (sides == 2):
            raise InvalidTable("it has the wrong number of sides to move")
        return 4 if endgame.has_pawns else 1, sides

    def _read_pieces(self, file: int, sides: int) -> list[Section]:
        """Read the order of the pieces for each side: the low and the high halves of the same bytes.

        Before the pieces stand the places of the groups whose place varies: the leading one, and the pawns of the
        other side.
        """
        places = 1 + self._endgame.both_have_pawns
        count = places + len(self._endgame.pieces)
        row = self._header[self._at : self._at + count]
        self._at += count
        if len(row) < count:
            raise InvalidTable("the file ends too early")
        sections = []
        for shift in (0, 4)[:sides]:
            half = [byte >> shift & 15 for byte in row]
            sections.append(self._numbered(tuple(map(_piece, half[places:])), half[:places], file))
        return sections

    def _numbered(self, pieces: tuple[int, ...], places: list[int], file: int) -> Section:
        """Return a section with the numbering of positions whose pieces come in this order."""
        endgame = self._endgame
        if Counter(pieces) not in (Counter(endgame.pieces), Counter(other_colour(endgame.pieces))):
            raise InvalidTable("its positions have other pieces than its name")
        runs = [len(list(run)) for _, run in groupby(pieces)]
        if len(runs) != len(set(pieces)):
            raise InvalidTable("equal pieces are not numbered together")
        if endgame.has_pawns:
            sizes = runs
            self._check_pawns(pieces, sizes)
        else:
            sizes = [endgame.leading, *(len(list(run)) for _, run in groupby(pieces[endgame.leading :]))]
        return self._with_factors(pieces, sizes, places, file)

    def _check_pawns(self, pieces: tuple[int, ...], sizes: list[int]) -> None:
        leads = pieces[0] % KINDS == PAWN and sizes[0] == self._endgame.leading
        if not leads or (self._endgame.both_have_pawns and pieces[sizes[0]] % KINDS != PAWN):
            raise InvalidTable("its pawns are not numbered first")

    def _with_factors(self, pieces: tuple[int, ...], sizes: list[int], places: list[int], file: int) -> Section:
        """Multiply the number of each group by the placements of the groups that the file takes before it."""
        placements = self._placements(pieces, sizes, file)
        fixed = {place: group for group, place in enumerate(places)}
        if len(fixed) != len(places) or max(fixed) >= len(sizes):
            raise InvalidTable("its groups of pieces have an impossible order")
        rest = iter(range(len(fixed), len(sizes)))
        sequence = [fixed[place] if place in fixed else next(rest) for place in range(len(sizes))]
        factors = [prod(placements[it] for it in sequence[: sequence.index(group)]) for group in range(len(sizes))]
        groups = tuple(zip(sizes, factors, strict=True))
        return Section(pieces, groups, prod(placements))

    def _placements(self, pieces: tuple[int, ...], sizes: list[int], file: int) -> list[int]:
        """Return the number of placements of each group, given the earlier groups."""
        first = sizes[0]
        if self._endgame.has_pawns:
            placements = [sum(pawn_placements(first - 1, file, rank) for rank in range(6))]
        else:
            if first == 2 and set(pieces[:2]) != {KING, KINDS + KING}:
                raise InvalidTable("its kings are not numbered first")
            if len(set(pieces[:first])) != first:
                raise InvalidTable("its leading pieces are not unique")
            placements = [LEADING_PLACEMENTS[first]]
        if self._endgame.both_have_pawns:
            placements.append(comb(48 - first, sizes[1]))
        free = 64 - sum(sizes[: len(placements)])
        for size in sizes[len(placements) :]:
            placements.append(comb(free, size))
            free -= size
        return placements

    # --- Codes, maps and offsets ----------------------------------------------------------------------------------

    def _read_codes(self, section: Section) -> Section:
        """Read the flags and the code table of one section."""
        header, at = self._header, self._at
        flags = header[at]
        if flags & CONSTANT:
            self._at += 2
            return section._replace(flags=flags, constant=header[at + 1] if self._kind is Kind.WDL else 0)
        block_bits, index_bits, more_sizes, blocks, longest, shortest = struct.unpack_from("<BBBIBB", header, at + 1)
        possible = 1 <= shortest <= longest <= MAX_CODE_BITS
        if not possible or not 1 <= index_bits <= MAX_CODE_BITS or block_bits > MAX_BLOCK_BITS:
            raise InvalidTable("its codes have impossible lengths")
        lengths = longest - shortest + 1
        *lowest, symbols = struct.unpack_from(f"<{lengths + 1}H", header, at + 10)
        self._at = at + 12 + 2 * lengths + 3 * symbols + (symbols & 1)
        if self._at > len(header):
            raise InvalidTable("the file ends too early")
        patterns = header[at + 12 + 2 * lengths : at + 12 + 2 * lengths + 3 * symbols]
        section = section._replace(
            flags=flags, block_bits=block_bits, index_bits=index_bits, shortest=shortest,
            lowest=tuple(lowest), patterns=patterns, blocks=blocks, sizes=blocks + more_sizes,
        )
        if not all(0 <= base < 1 << 64 for base in section.bases):
            raise InvalidTable("its codes contradict each other")
        return section

    def _read_maps(self, sections: list[Section]) -> list[Section]:
        """Read the maps of the DTZ sections that have any: four lists each."""
        mapped = [it._replace(maps=self._read_map(it.flags)) if it.flags & MAPPED else it for it in sections]
        self._skip_to_even()
        return mapped

    def _read_map(self, flags: int) -> tuple[tuple[int, ...], ...]:
        if flags & WIDE:
            self._skip_to_even()
        unit, width = ("H", 2) if flags & WIDE else ("B", 1)
        lists = []
        for _ in range(4):
            (count,) = struct.unpack_from(f"<{unit}", self._header, self._at)
            lists.append(struct.unpack_from(f"<{count}{unit}", self._header, self._at + width))
            self._at += width * (count + 1)
        return tuple(lists)

    def _skip_to_even(self) -> None:
        self._at += self._at & 1

    def _place(self, sections: list[Section]) -> list[Section]:
        """Set the offsets: first all indices, then all block sizes, then each section's blocks on a multiple of 64."""
        placed = []
        at = self._at
        for section in sections:
            placed.append(section._replace(index_at=at))
            at += section.index_bytes
        for number, section in enumerate(placed):
            placed[number] = section._replace(sizes_at=at)
            at += 2 * section.sizes
        for number, section in enumerate(placed):
            at = at + 63 & ~63
            placed[number] = section._replace(data_at=at)
            at += section.blocks << section.block_bits
        if at > self._file_size:
            raise InvalidTable(f"a file of {self._file_size} bytes is cut: its header describes {at}")
        return placed


def pawn_placements(others: int, file: int, rank: int) -> int:
    """Return the placements of `others` pawns beside a leading one on that file (0 to 3) and rank (0 for the second).

    They stand on lower-numbered squares, counted from the middle of the board outwards and from the top down.
    """
    return comb(47 - 12 * file - 2 * rank, others)


def _piece(code: int) -> int:
    """Return the engine's number of a piece; the format counts 1 to 6, and 8 more for Black."""
    if not 1 <= code & 7 <= KINDS:
        raise InvalidTable("it names a piece that does not exist")
    return (code & 7) - 1 + (KINDS if code & 8 else 0)

