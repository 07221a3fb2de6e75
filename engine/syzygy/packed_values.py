# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The packed values of one Syzygy file, read without the interpreter lock.

The start of the file is kept in memory and the rest is read by position, never mapped: if a file shrinks or a disk
fails, the read comes up short instead of raising a signal that kills the process. Every number from the file is
checked before use, so damage ends in NO_VALUE. (`file_header.py` explains the format)
"""

import os

import cython
from cython.cimports.engine.core.bitboard import ALL_SQUARES, u64

from engine.syzygy.file_header import CONSTANT, Header, InvalidTable, OpenFile, Section

if not cython.compiled:
    def read_at(descriptor: int, buffer: list, count: int, offset: int) -> int:
        """Read into the front of the buffer; returns the number of bytes read, negative on an error."""
        try:
            found = os.pread(descriptor, count, offset)
        except OSError:
            return -1
        for index, byte in enumerate(found):
            buffer[index] = byte
        return len(found)

MAX_LENGTHS = cython.declare(cython.int, 32)        # code lengths of a section, in bits
MAX_STEPS = cython.declare(cython.int, 1 << 16)     # blocks between the one the index points to and the right one
NO_SYMBOL = 0xFFF                  # as right half: the left half is a value
NO_VALUE = -9999
UNRESOLVED, BEGUN = -1, -2         # instead of a length


def symbol_lengths(patterns: bytes) -> bytes:
    """Return how many values each symbol stands for, less one, as 16 bits each.

    Each symbol is resolved once, after its halves, so that no file takes long. Raises InvalidTable if a symbol
    contains itself or one that does not exist.
    """
    symbols: cython.int = len(patterns) // 3
    lengths: list = [UNRESOLVED] * symbols
    for symbol in range(symbols):
        waiting: list = [symbol]
        while waiting:
            waiting += _unresolved(patterns, lengths, waiting.pop())
    return b"".join([length.to_bytes(2, "little") for length in lengths])


def _unresolved(patterns: bytes, lengths: list, symbol: int) -> list[int]:
    """Set the length of a symbol and return nothing; or return the symbol and those of its halves to resolve first."""
    if lengths[symbol] >= 0:
        return []
    first, second = _halves(patterns, symbol)
    if second == NO_SYMBOL:
        lengths[symbol] = 0
        return []
    if max(first, second) >= len(lengths):
        raise InvalidTable("a symbol of its codes does not exist")
    halves = [half for half in (first, second) if lengths[half] < 0]
    lengths[symbol] = BEGUN if halves else lengths[first] + lengths[second] + 1
    if BEGUN in [lengths[half] for half in halves] or lengths[symbol] > 0xFFFF:
        raise InvalidTable("a symbol of its codes has no end")
    return [symbol, *halves] if halves else []


def _halves(patterns: bytes, symbol: int) -> tuple[int, int]:
    """Return the two symbols that a symbol of three bytes stands for."""
    middle: int = patterns[3 * symbol + 1]
    return (middle & 15) << 8 | patterns[3 * symbol], patterns[3 * symbol + 2] << 4 | middle >> 4


def code_window(packed: cython.p_uchar, bit: cython.int) -> u64:
    """Return at least 57 bits from `bit` on, left-aligned in 64."""
    code: u64 = 0
    index: cython.int
    for index in range(bit >> 3, (bit >> 3) + 8):
        code = code << 8 | packed[index]
    return code << (bit & 7) & ALL_SQUARES


@cython.final
@cython.cclass
class PackedValues:
    """The values of up to eight sections of an open file; closes the file when deleted."""

    def __init__(self, descriptor: int, header: Header) -> None:
        """Raises InvalidTable if the codes of a section are inconsistent; the caller must then close the file."""
        start: bytes = header.start
        self.buffers = [start]
        self.start, self.start_size = start, len(start)
        for number, section in enumerate(header.sections):
            self._copy_section(number, section)
        self.descriptor = descriptor
        self.file = OpenFile(descriptor)

    def _copy_section(self, number: int, section: Section) -> None:
        """Copy a section to C fields, readable without the lock."""
        index: cython.int
        self.constants[number] = section.constant if section.flags & CONSTANT else -1
        self.block_bits[number], self.index_bits[number] = section.block_bits, section.index_bits
        self.shortest[number] = section.shortest
        self.longest[number] = section.shortest + len(section.lowest) - 1
        for index, (lowest, base) in enumerate(zip(section.lowest, section.bases, strict=True)):
            self.lowest[number * MAX_LENGTHS + index] = lowest
            self.bases[number * MAX_LENGTHS + index] = base
        patterns: bytes = section.patterns
        lengths: bytes = symbol_lengths(patterns)
        self.buffers += [patterns, lengths]
        self.patterns[number], self.lengths[number] = patterns, lengths
        self.symbols[number] = len(patterns) // 3
        self.blocks[number], self.block_sizes[number] = section.blocks, section.sizes
        self.index_at[number], self.sizes_at[number] = section.index_at, section.sizes_at
        self.data_at[number] = section.data_at

    def unpack(self, section: cython.int, index: cython.longlong) -> cython.int:
        """Return the value at an index, or NO_VALUE if the file is damaged.

        The file's own index has an entry for the middle of each stretch of positions: a block and an offset into it.
        """
        if self.constants[section] >= 0:
            return self.constants[section]
        entry = cython.declare(cython.uchar[8])
        bits: cython.int = self.index_bits[section]
        stretch: cython.longlong = index >> bits
        offset: cython.longlong = index - (stretch << bits) - (cython.cast(cython.longlong, 1) << (bits - 1))
        if not self.fetch(entry, 6, self.index_at[section] + 6 * stretch):
            return NO_VALUE
        block: cython.longlong = entry[0] | entry[1] << 8 | entry[2] << 16
        block |= cython.cast(cython.longlong, entry[3]) << 24
        offset += entry[4] | entry[5] << 8
        length: cython.longlong = self.block_length(section, block)
        steps: cython.int = 0
        while length > 0 and offset >= length and steps < MAX_STEPS:
            offset -= length
            block += 1
            steps += 1
            length = self.block_length(section, block)
        while length > 0 and offset < 0 and steps < MAX_STEPS:
            block -= 1
            steps += 1
            length = self.block_length(section, block)
            offset += length
        if length <= 0 or offset < 0 or offset >= length or block >= self.blocks[section]:
            return NO_VALUE
        return self.decode(section, block, offset)

    def fetch(self, buffer: cython.p_uchar, count: cython.int, offset: cython.longlong) -> cython.bint:
        """Read from the file into the front of the buffer; returns whether that worked."""
        index: cython.int
        if offset + count > self.start_size:
            return read_at(self.descriptor, buffer, count, offset) == count
        for index in range(count):
            buffer[index] = self.start[offset + index]
        return True

    def block_length(self, section: cython.int, block: cython.longlong) -> cython.longlong:
        """Return the number of values in a block, 0 if there is no such block."""
        entry = cython.declare(cython.uchar[8])
        if block < 0 or block >= self.block_sizes[section]:
            return 0
        if not self.fetch(entry, 2, self.sizes_at[section] + 2 * block):
            return 0
        return (entry[0] | entry[1] << 8) + 1

    def decode(self, section: cython.int, block: cython.longlong, offset: cython.longlong) -> cython.int:
        """Return the value at an offset into a block, or NO_VALUE if the codes are invalid."""
        packed = cython.declare(cython.uchar[4104])
        block_bits: cython.int = self.block_bits[section]
        count: cython.int = 1 << block_bits
        index: cython.int
        if not self.fetch(packed, count, self.data_at[section] + block * count):
            return NO_VALUE
        for index in range(count, count + 8):
            packed[index] = 0                      # a window may reach beyond the end
        bit: cython.int = 0
        while bit < 8 * count:
            code: u64 = code_window(packed, bit)
            length: cython.int = self.code_length(section, code)
            symbol: cython.int = self.code_symbol(section, code, length)
            if symbol < 0:
                return NO_VALUE
            if offset <= self.symbol_length(section, symbol):
                return self.symbol_value(section, symbol, offset)
            offset -= self.symbol_length(section, symbol) + 1
            bit += length
        return NO_VALUE

    def code_length(self, section: cython.int, code: u64) -> cython.int:
        """Return the length of the first code in bits; longer codes are smaller numbers."""
        index: cython.int = section * MAX_LENGTHS
        length: cython.int = self.shortest[section]
        while length < self.longest[section] and code < self.bases[index]:
            length += 1
            index += 1
        return length

    def code_symbol(self, section: cython.int, code: u64, length: cython.int) -> cython.int:
        """Return the symbol of the first code, or -1."""
        index: cython.int = section * MAX_LENGTHS + length - self.shortest[section]
        if code < self.bases[index]:
            return -1
        symbol: u64 = self.lowest[index] + ((code - self.bases[index]) >> (64 - length))
        return cython.cast(cython.int, symbol) if symbol < cython.cast(u64, self.symbols[section]) else -1

    def symbol_length(self, section: cython.int, symbol: cython.int) -> cython.longlong:
        """Return how many values the symbol stands for, less one."""
        return self.lengths[section][2 * symbol] | self.lengths[section][2 * symbol + 1] << 8

    def symbol_value(self, section: cython.int, symbol: cython.int, offset: cython.longlong) -> cython.int:
        """Return the value at an offset into the values of a symbol."""
        left: cython.int = self.left_half(section, symbol)
        while self.symbol_length(section, symbol):
            if offset <= self.symbol_length(section, left):
                symbol = left
            else:
                offset -= self.symbol_length(section, left) + 1
                symbol = self.right_half(section, symbol)
            left = self.left_half(section, symbol)
        return left

    def left_half(self, section: cython.int, symbol: cython.int) -> cython.int:
        """Return the first of the two symbols in a symbol, or the value it stands for."""
        return (self.patterns[section][3 * symbol + 1] & 15) << 8 | self.patterns[section][3 * symbol]

    def right_half(self, section: cython.int, symbol: cython.int) -> cython.int:
        """Return the second of the two symbols in a symbol."""
        return self.patterns[section][3 * symbol + 2] << 4 | self.patterns[section][3 * symbol + 1] >> 4
