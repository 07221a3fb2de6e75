# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The packed values of one Syzygy file, read without the interpreter lock.

The start of the file is kept in memory and the rest read by position, never mapped: a file that shrinks or a disk that
fails then gives a short read instead of a signal that kills us. Every number from the file is checked before it is
used, so that damage ends in NO_VALUE, never in a wild read or an endless loop. (`syzygy_file.py` explains the format)
"""

import os

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, u64

from engine.syzygy.file_header import CONSTANT, InvalidTable

if not cython.compiled:
    def read_at(descriptor: int, buffer: list, count: int, offset: int) -> int:
        """Fill the front of the buffer; returns how many bytes there were, negative if reading failed."""
        try:
            found = os.pread(descriptor, count, offset)
        except OSError:
            return -1
        for place, byte in enumerate(found):
            buffer[place] = byte
        return len(found)

LENGTHS = cython.declare(cython.int, 32)            # of codes, in bits
MOST_STEPS = cython.declare(cython.int, 1 << 16)    # blocks that a number may be away from where its index points
NO_VALUE = -9999


def measured(patterns: bytes) -> bytes:
    """How many values each symbol stands for, less one, 16 bits each. Raises InvalidTable if a symbol holds itself.

    Each has three bytes, see `_halves`.
    """
    symbols: cython.int = len(patterns) // 3
    lengths: list = [-1] * symbols
    open_symbols: list = list(range(symbols))
    while open_symbols:
        left: list = []
        for symbol in open_symbols:
            first, second = _halves(patterns, symbol)
            if second == 0xFFF:
                lengths[symbol] = 0
            elif first >= symbols or second >= symbols:
                raise InvalidTable("a symbol of its codes does not exist")
            elif lengths[first] < 0 or lengths[second] < 0:
                left.append(symbol)
            else:
                lengths[symbol] = lengths[first] + lengths[second] + 1
        if len(left) == len(open_symbols) or max(lengths) > 0xFFFF:
            raise InvalidTable("a symbol of its codes has no end")
        open_symbols = left
    return b"".join([length.to_bytes(2, "little") for length in lengths])


def _halves(patterns: bytes, symbol: int) -> tuple[int, int]:
    """The two symbols in one; the first is a value if the second is 0xFFF."""
    middle: int = patterns[3 * symbol + 1]
    return (middle & 15) << 8 | patterns[3 * symbol], patterns[3 * symbol + 2] << 4 | middle >> 4


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def window(packed: cython.p_uchar, taken: cython.int) -> u64:
    """The bits from there on, 57 at least, left in 64."""
    code: u64 = 0
    place: cython.int
    for place in range(taken >> 3, (taken >> 3) + 8):
        code = code << 8 | packed[place]
    return code << (taken & 7) & ALL_SQUARES


@cython.final
@cython.cclass
class PackedValues:
    """Of up to eight sections of an open file, which is closed with it."""

    def __init__(self, descriptor: int, head: object) -> None:
        """Raises InvalidTable if the codes of a section contradict each other; the caller then closes the file."""
        start: bytes = head.start
        if not cython.compiled:
            self.constants = [0] * 8
            self.block_bits = [0] * 8
            self.index_bits = [0] * 8
            self.shortest = [0] * 8
            self.longest = [0] * 8
            self.lowest = [0] * 256
            self.bases = [0] * 256
            self.symbols = [0] * 8
            self.patterns = [b""] * 8
            self.lengths = [b""] * 8
            self.blocks = [0] * 8
            self.block_sizes = [0] * 8
            self.index_at = [0] * 8
            self.sizes_at = [0] * 8
            self.data_at = [0] * 8
        self.descriptor = -1
        self.kept = [start]
        self.start, self.started = start, len(start)
        for number, section in enumerate(head.sections):
            self._take(number, section)
        self.descriptor = descriptor

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)

    def _take(self, number: int, section: object) -> None:
        """Copy what a section says to where it is read without the lock."""
        place: cython.int
        self.constants[number] = section.constant if section.flags & CONSTANT else -1
        self.block_bits[number], self.index_bits[number] = section.block_bits, section.index_bits
        self.shortest[number] = section.shortest
        self.longest[number] = section.shortest + len(section.lowest) - 1
        if section.lowest:
            for place, (lowest, base) in enumerate(zip(section.lowest, section.bases, strict=True)):
                self.lowest[number * LENGTHS + place] = lowest
                self.bases[number * LENGTHS + place] = base
        patterns: bytes = section.patterns
        lengths: bytes = measured(patterns)
        self.kept += [patterns, lengths]
        self.patterns[number], self.lengths[number] = patterns, lengths
        self.symbols[number] = len(patterns) // 3
        self.blocks[number], self.block_sizes[number] = section.blocks, section.sizes
        self.index_at[number], self.sizes_at[number] = section.index_at, section.sizes_at
        self.data_at[number] = section.data_at

    def unpack(self, section: cython.int, number: cython.longlong) -> cython.int:
        """The value of that number, or NO_VALUE if the file is damaged.

        The index has an entry for the middle of each stretch of numbers: a block, and how far into it that is.
        """
        if self.constants[section] >= 0:
            return self.constants[section]
        entry = cython.declare(cython.uchar[8])
        bits: cython.int = self.index_bits[section]
        stretch: cython.longlong = number >> bits
        ahead: cython.longlong = number - (stretch << bits) - (cython.cast(cython.longlong, 1) << (bits - 1))
        if not self.fetch(entry, 6, self.index_at[section] + 6 * stretch):
            return NO_VALUE
        block: cython.longlong = entry[0] | entry[1] << 8 | entry[2] << 16
        block |= cython.cast(cython.longlong, entry[3]) << 24
        ahead += entry[4] | entry[5] << 8
        size: cython.longlong = self.values_in(section, block)
        steps: cython.int = 0
        while size > 0 and ahead >= size and steps < MOST_STEPS:
            ahead -= size
            block += 1
            steps += 1
            size = self.values_in(section, block)
        while size > 0 and ahead < 0 and steps < MOST_STEPS:
            block -= 1
            steps += 1
            size = self.values_in(section, block)
            ahead += size
        if size <= 0 or ahead < 0 or ahead >= size or block >= self.blocks[section]:
            return NO_VALUE
        return self.decode(section, block, ahead)

    def fetch(self, buffer: cython.p_uchar, count: cython.int, offset: cython.longlong) -> cython.bint:
        """Fill the front of the buffer from the file; did that work?"""
        place: cython.int
        if offset + count > self.started:
            return read_at(self.descriptor, buffer, count, offset) == count
        for place in range(count):
            buffer[place] = self.start[offset + place]
        return True

    def values_in(self, section: cython.int, block: cython.longlong) -> cython.longlong:
        """How many values a block holds; 0 if there is no such block."""
        entry = cython.declare(cython.uchar[8])
        if block < 0 or block >= self.block_sizes[section]:
            return 0
        if not self.fetch(entry, 2, self.sizes_at[section] + 2 * block):
            return 0
        return (entry[0] | entry[1] << 8) + 1

    def decode(self, section: cython.int, block: cython.longlong, ahead: cython.longlong) -> cython.int:
        """The value that many places into a block, or NO_VALUE if the codes make no sense."""
        packed = cython.declare(cython.uchar[4104])
        block_bits: cython.int = self.block_bits[section]
        count: cython.int = 1 << block_bits
        place: cython.int
        if not self.fetch(packed, count, self.data_at[section] + block * count):
            return NO_VALUE
        for place in range(count, count + 8):
            packed[place] = 0                      # a window may reach beyond the end
        taken: cython.int = 0                      # bits
        while taken < 8 * count:
            code: u64 = window(packed, taken)
            length: cython.int = self.length_of(section, code)
            symbol: cython.int = self.symbol_of(section, code, length)
            if symbol < 0:
                return NO_VALUE
            if ahead <= self.more_values(section, symbol):
                return self.value_in(section, symbol, ahead)
            ahead -= self.more_values(section, symbol) + 1
            taken += length
        return NO_VALUE

    def length_of(self, section: cython.int, code: u64) -> cython.int:
        """How many bits the first code has: longer codes are smaller numbers."""
        place: cython.int = section * LENGTHS
        length: cython.int = self.shortest[section]
        while length < self.longest[section] and code < self.bases[place]:
            length += 1
            place += 1
        return length

    def symbol_of(self, section: cython.int, code: u64, length: cython.int) -> cython.int:
        """The symbol of the first code, or -1."""
        place: cython.int = section * LENGTHS + length - self.shortest[section]
        if code < self.bases[place]:
            return -1
        symbol: u64 = self.lowest[place] + ((code - self.bases[place]) >> (64 - length))
        return cython.cast(cython.int, symbol) if symbol < cython.cast(u64, self.symbols[section]) else -1

    def more_values(self, section: cython.int, symbol: cython.int) -> cython.longlong:
        """How many values the symbol stands for, less one."""
        return self.lengths[section][2 * symbol] | self.lengths[section][2 * symbol + 1] << 8

    def value_in(self, section: cython.int, symbol: cython.int, ahead: cython.longlong) -> cython.int:
        """The value that many places into what the symbol stands for."""
        first: cython.int = self.first_half(section, symbol)
        while self.more_values(section, symbol):
            if ahead <= self.more_values(section, first):
                symbol = first
            else:
                ahead -= self.more_values(section, first) + 1
                symbol = self.patterns[section][3 * symbol + 2] << 4 | self.patterns[section][3 * symbol + 1] >> 4
            first = self.first_half(section, symbol)
        return first

    def first_half(self, section: cython.int, symbol: cython.int) -> cython.int:
        """The first of the two symbols in it, or the value it stands for."""
        return (self.patterns[section][3 * symbol + 1] & 15) << 8 | self.patterns[section][3 * symbol]
