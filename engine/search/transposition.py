# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The transposition table, shared by all threads. (chessprogramming wiki: Transposition Table)

An entry is two words, `key ^ data` and `data`. If two threads write at once, the words no longer match and the entry
reads as absent, so no lock is needed (Hyatt, A lock-less transposition-table implementation). Four entries make a
bucket of one cache line. From the low bits up, `data` holds move (16 bits), score (16), depth (7), whether the position
was ever on the principal variation (1), bound (2), age (6) and static evaluation (16).
"""

import mmap
import sys
from contextlib import suppress

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.core.params import REPLACEMENT_AGE

from engine.search.available_memory import available_mb

if not cython.compiled:
    NO_BOUND = 0                                    # only the static evaluation is known
    UPPER_BOUND, LOWER_BOUND, EXACT = 1, 2, 3       # the true score is at most, at least, exactly the stored one

    def scale(key: int, buckets: int) -> int:
        """Map a key evenly to any number of buckets. (Lemire: fast alternative to the modulo)"""
        return key * buckets >> 64

    def entry_move(entry: int) -> int:
        return entry & 0xFFFF

    def entry_score(entry: int) -> int:
        """Return the score as stored; `score.from_tt` makes it relative to the root."""
        return (entry >> 16 & 0xFFFF) - 32768

    def entry_depth(entry: int) -> int:
        return entry >> 32 & 0x7F

    def entry_pv(entry: int) -> int:
        """Return whether the position was ever on the principal variation."""
        return entry >> 39 & 1

    def entry_bound(entry: int) -> int:
        return entry >> 40 & 3

    def entry_age(entry: int) -> int:
        return entry >> 42 & 63

    def entry_eval(entry: int) -> int:
        """Return the raw static evaluation, or `score.NO_SCORE` if the node was forced."""
        return (entry >> 48) - 32768


BUCKET_BYTES = 64
PAGE_WORDS = 512                   # of the smallest pages: 4 KiB
LAZY_MB = 64                       # tables up to this size get their memory during a search, in milliseconds
MOST_DEPTH = cython.declare(cython.int, 127)         # that an entry can hold


@cython.final
@cython.cclass
class TranspositionTable:
    """A table of a size in mebibytes. Raises MemoryError if the system refuses it."""

    def __init__(self, megabytes: int) -> None:
        self.buckets = 0
        self.resize(megabytes)

    def resize(self, megabytes: int) -> None:
        """Replace the table by an empty one. Raises MemoryError if memory is short, and keeps the old one.

        Raises ValueError for less than one mebibyte.

        The free memory limits only a table that grows: one that does not reuses the memory of the old one.
        """
        if megabytes < 1:
            raise ValueError(f"expected a hash table of 1 MiB or more, found {megabytes}")
        free_mb = available_mb()
        grows = megabytes > self.buckets * BUCKET_BYTES >> 20
        if grows and free_mb is not None and megabytes > free_mb:
            # The kernel would grant it, and kill the process during a game.
            raise MemoryError(f"no memory for a hash table of {megabytes} MiB: only {free_mb} MiB are free")
        self._allocate(megabytes)

    def _allocate(self, megabytes: int) -> None:
        """Replace the entries by zeros and return the old memory to the system."""
        size = megabytes << 20
        try:
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)   # zeros, allocated on first use
        except OSError as error:
            raise MemoryError(f"no memory for a hash table of {megabytes} MiB: {error}") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):                # huge pages are optional in the kernel
                memory.madvise(mmap.MADV_HUGEPAGE) # fewer TLB misses
        self.memory = memory
        self.slots = memoryview(memory).cast("Q")
        self.buckets = size // BUCKET_BYTES
        self.age = 0
        self.is_untouched = True

    def provide_memory(self) -> None:
        """Have the system provide the memory of a large, empty table now rather than during the first search.

        That search would visit a new huge page at nearly every node and wait until the kernel has filled it with zeros:
        tenths of a second in all per gibibyte.
        """
        slot: u64
        if self.is_untouched and self.buckets * BUCKET_BYTES >> 20 > LAZY_MB:
            for slot in range(0, self.buckets * 8, PAGE_WORDS):
                self.slots[slot] = 0
            self.is_untouched = False

    def clear(self) -> None:
        """Empty the table. On Linux zero the pages in place: a memory limit may refuse a second table."""
        self.slots[0] = 1          # an entry that reads as absent
        if sys.platform == "linux":
            with suppress(OSError):                # locked memory
                self.memory.madvise(mmap.MADV_DONTNEED)        # Linux: zeros, allocated on first use
        if self.slots[0] == 0:     # emulators may ignore the advice
            self.age, self.is_untouched = 0, True
        else:
            self._allocate(self.buckets * BUCKET_BYTES >> 20)

    def new_search(self) -> None:
        """Begin a new age: later entries count as younger than all earlier ones."""
        self.age = (self.age + 1) & 63
        self.is_untouched = False

    def prefetch(self, key: u64) -> cython.void:
        """Load the bucket of a key into the cache in the background."""
        if cython.compiled:
            prefetch_address(cython.address(self.slots[scale(key, self.buckets) * 8]))  # noqa: F821 (C only)

    def probe(self, key: u64) -> u64:
        """Return the entry of a key, or 0."""
        slot: u64 = scale(key, self.buckets) * 8
        end: u64 = slot + 8
        entry: u64
        while slot < end:
            entry = self.slots[slot + 1]
            if self.slots[slot] ^ entry == key and entry:
                return entry
            slot += 2
        return 0

    def store(
        self,
        key: u64,
        move: cython.int,
        score: cython.int,
        depth: cython.int,
        bound: cython.int,
        raw_eval: cython.int,
        on_pv: cython.bint,
    ) -> cython.void:
        """Store a result in place of the bucket's least valuable entry: a shallow, old one.

        A result of the same position is always replaced, even a deeper one; its move stays if the new result has none.
        """
        slot: u64 = scale(key, self.buckets) * 8
        end: u64 = slot + 8
        chosen: u64 = slot
        entry: u64
        value: cython.int
        least: cython.int = 1 << 20
        while slot < end:
            entry = self.slots[slot + 1]
            if self.slots[slot] ^ entry == key:
                chosen = slot
                if move == 0:
                    move = entry_move(entry)
                break
            value = entry_depth(entry) - REPLACEMENT_AGE * ((self.age - entry_age(entry)) & 63)
            if entry == 0:
                value = -(1 << 20)
            if value < least:
                least = value
                chosen = slot
            slot += 2
        evaluation: u64 = raw_eval + 32768
        if depth > MOST_DEPTH:
            depth = MOST_DEPTH
        high: u64 = depth | on_pv << 7 | bound << 8 | self.age << 10 | evaluation << 16
        low: u64 = score + 32768
        entry = high << 32 | low << 16 | move
        self.slots[chosen] = key ^ entry
        self.slots[chosen + 1] = entry

    def hashfull(self) -> int:
        """Return how much of the table this search has written, in thousandths, from its first 1,000 entries."""
        written = 0
        slot: cython.int
        for slot in range(0, 2000, 2):
            if self.slots[slot + 1] and entry_age(self.slots[slot + 1]) == self.age:
                written += 1
        return written
