# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A net in floating point: what it makes of records, and how its weights follow the slope of its errors.

The shape is that of `net_file.py`; here one is one. Work is split in lanes, each with slopes and sums of its own, so
that as many threads can share the weights: the same lanes give the same net. All numbers stand in one row:

    weights, in the order of the file; their mean slopes; their mean squares; slopes of each lane; sums of each lane

(chessprogramming wiki: NNUE; Kingma, Ba: Adam; Loshchilov, Hutter: Decoupled Weight Decay)
"""

from __future__ import annotations

import random
from array import array

import cython
from cython.cimports.engine.core.bitboard import u64
from cython.cimports.engine.training.features import WORDS, black_to_move, expected, read_men, target

if not cython.compiled:
    from math import sqrt as sqrtf

    def pointer(values: array[float]) -> array[float]:
        """Compiled, where the values stand in memory."""
        return values


INPUTS = cython.declare(cython.int, 768)
MAX_PIECES = cython.declare(cython.int, 32)
MEN_PER_BUCKET = cython.declare(cython.int, 4)
FIRST_DECAY = cython.declare(cython.float, 0.9)            # Adam's memory of slopes,
SECOND_DECAY = cython.declare(cython.float, 0.999)         # and of their squares
TINY = cython.declare(cython.float, 1e-8)
LIMIT = cython.declare(cython.float, 127 / 64)     # the largest weight whose product with an activation fits 16 bits
OUTPUT_HASTE = cython.declare(cython.float, 2)     # how much faster output weights move: they are larger
FIRST_FEATURE, FIRST_OUTPUT = 0.08, 0.24           # spread of the random weights a net begins with
# Centipawns of an output of one. The fewer, the larger the output weights, and the less of each is lost when they are
# rounded; at 200 hardly any is beyond the limit.
SCALE = 200


# --- Rows of numbers: the loops that cost the time -------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_row(numbers: cython.p_float, to: cython.longlong, row: cython.longlong, width: cython.int) -> cython.void:
    """Never raises."""
    index: cython.int
    for index in range(width):
        numbers[to + index] += numbers[row + index]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def weigh(numbers: cython.p_float, view: cython.longlong, row: cython.longlong, width: cython.int) -> cython.float:
    """The squares of the sums of a view, clamped to 0..1, weighed."""
    index: cython.int
    total: cython.float = 0
    for index in range(width):
        value: cython.float = numbers[view + index]
        value = value if value > 0 else 0
        value = value if value < 1 else 1
        total += value * value * numbers[row + index]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def weigh_back(
    numbers: cython.p_float,
    view: cython.longlong,
    row: cython.longlong,
    slopes: cython.longlong,
    slope: cython.float,
    width: cython.int,
) -> cython.void:
    """`weigh` backwards: add to the slopes of its weights, and turn each sum into its own slope."""
    index: cython.int
    for index in range(width):
        value: cython.float = numbers[view + index]
        inside: cython.float = 1 if value < 1 else 0
        value = value if value > 0 else 0
        value = value if value < 1 else 1
        numbers[slopes + index] += slope * value * value
        numbers[view + index] = inside * 2 * slope * value * numbers[row + index]


# --- The net ---------------------------------------------------------------------------------------------------------


@cython.final
@cython.cclass
class FloatNet:
    """Random weights at first, always the same for a seed."""

    def __init__(self, hidden: int, buckets: int, lanes: int, seed: int) -> None:
        self.hidden, self.buckets, self.lanes = hidden, buckets, lanes
        self.bias = INPUTS * hidden
        self.output = self.bias + hidden
        self.output_bias = self.output + 2 * hidden * buckets
        self.size = self.output_bias + buckets
        self.slopes = 3 * self.size
        self.sums = self.slopes + lanes * self.size
        self.trust, self.unit, self.steepness = 1.0, 1.0, 1.0
        self.numbers = array("f", bytes(4 * (self.sums + lanes * 2 * hidden)))
        rng = random.Random(f"weights {seed}")
        for index in range(self.bias):
            self.numbers[index] = rng.uniform(-FIRST_FEATURE, FIRST_FEATURE)
        for index in range(self.output, self.output_bias):
            self.numbers[index] = rng.uniform(-FIRST_OUTPUT, FIRST_OUTPUT)

    # --- One record --------------------------------------------------------------------------------------------------

    def forward(
        self, men: cython.p_int, count: cython.int, lane: cython.int, first_view: cython.int, bucket: cython.int
    ) -> cython.float:
        """The output for the side whose view is `first_view`; the sums of its view are left before the other's.
        """
        numbers: cython.p_float = pointer(self.numbers)
        total: cython.float = numbers[self.output_bias + bucket]
        half: cython.int
        index: cython.int
        for half in range(2):
            view: cython.longlong = self.sums + (2 * lane + half) * self.hidden
            first: cython.int = MAX_PIECES * (first_view ^ half)
            for index in range(self.hidden):
                numbers[view + index] = numbers[self.bias + index]
            for index in range(count):
                add_row(numbers, view, men[first + index] * self.hidden, self.hidden)
            total += weigh(numbers, view, self.output + (2 * bucket + half) * self.hidden, self.hidden)
        return total

    def backward(
        self,
        men: cython.p_int,
        count: cython.int,
        lane: cython.int,
        first_view: cython.int,
        bucket: cython.int,
        slope: cython.float,
    ) -> cython.void:
        """After `forward`: add to the lane's slopes, `slope` being the output's."""
        numbers: cython.p_float = pointer(self.numbers)
        slopes: cython.longlong = self.slopes + lane * self.size
        half: cython.int
        index: cython.int
        numbers[slopes + self.output_bias + bucket] += slope
        for half in range(2):
            view: cython.longlong = self.sums + (2 * lane + half) * self.hidden
            first: cython.int = MAX_PIECES * (first_view ^ half)
            row: cython.longlong = self.output + (2 * bucket + half) * self.hidden
            weigh_back(numbers, view, row, slopes + row, slope, self.hidden)
            add_row(numbers, slopes + self.bias, view, self.hidden)
            for index in range(count):
                add_row(numbers, slopes + men[first + index] * self.hidden, view, self.hidden)

    def add_record(
        self, words: u64[::1], entry: cython.int, lane: cython.int, learning: cython.bint
    ) -> cython.double:
        """The squared error of a record, see `shuffled` for `entry`; learning, also add its slopes."""
        men = cython.declare(cython.int[64])
        if not cython.compiled:
            men = [0] * 64
        record: cython.int = entry >> 1
        last: u64 = words[cython.cast(cython.longlong, record) * WORDS + 3]
        count: cython.int = read_men(words, record, entry & 1, men)
        bucket: cython.int = (count - 2) // MEN_PER_BUCKET if self.buckets > 1 else 0
        view: cython.int = black_to_move(last)
        hope: cython.double = expected(self.steepness * self.forward(men, count, lane, view, bucket))
        error: cython.double = hope - target(last, self.trust, self.unit)
        if learning:
            slope: cython.double = 2 * error * hope * (1 - hope) * self.steepness
            self.backward(men, count, lane, view, bucket, cython.cast(cython.float, slope))
        return error * error

    # --- For Python callers ------------------------------------------------------------------------------------------

    def aim(self, trust: float, unit: float) -> None:
        """What the outputs should be, see `target`; `unit` is in centipawns, an output of one has SCALE of them."""
        self.trust, self.unit, self.steepness = trust, unit, SCALE / unit

    def errors(
        self,
        words: u64[::1],
        order: cython.int[::1],
        begin: cython.int,
        end: cython.int,
        lane: cython.int,
        learning: cython.bint,
    ) -> float:
        """The sum of the squared errors over the entries of `order` from `begin` up to `end`, without the lock.

        Learning, the slopes of that sum are added to those of the lane.
        """
        place: cython.int
        total: cython.double = 0
        with cython.nogil:
            for place in range(begin, end):
                total += self.add_record(words, order[place], lane, learning)
        return total

    def step(
        self,
        begin: cython.longlong,
        end: cython.longlong,
        count: cython.int,
        share: cython.float,
        rate: cython.float,
        decay: cython.float,
    ) -> None:
        """Adam for the weights from `begin` up to `end`, number `count` from 1 on; the slopes are zero afterwards.

        The slopes of all lanes, times `share`, are one slope. Each weight moves by about `rate`, those of the
        outputs faster, however steep its slope, less `decay` of itself times the rate, and stays within what the file
        can hold.
        """
        numbers: cython.p_float = pointer(self.numbers)
        index: cython.longlong
        lane: cython.int
        first: cython.float = 1 - 0.9**count
        second: cython.float = 1 - 0.999**count
        with cython.nogil:
            for index in range(begin, end):
                slope: cython.float = 0
                for lane in range(self.lanes):
                    slope += numbers[self.slopes + lane * self.size + index]
                    numbers[self.slopes + lane * self.size + index] = 0
                slope *= share
                mean: cython.float = FIRST_DECAY * numbers[self.size + index] + (1 - FIRST_DECAY) * slope
                square: cython.float = SECOND_DECAY * numbers[2 * self.size + index]
                square += (1 - SECOND_DECAY) * slope * slope
                move: cython.float = mean / first / (sqrtf(square / second) + TINY)
                if index >= self.output:
                    move *= OUTPUT_HASTE
                weight: cython.float = numbers[index] - rate * (move + decay * numbers[index])
                weight = weight if weight < LIMIT else LIMIT
                numbers[index] = weight if weight > -LIMIT else -LIMIT
                numbers[self.size + index] = mean
                numbers[2 * self.size + index] = square

    def rows(self) -> tuple[memoryview, memoryview, memoryview]:
        """The weights, and what Adam remembers of each: mean slope and mean square. Writing there changes the net."""
        numbers = memoryview(self.numbers)
        return numbers[: self.size], numbers[self.size : 2 * self.size], numbers[2 * self.size : 3 * self.size]

    def slope_row(self, lane: int) -> memoryview:
        """For tests: the slopes of a lane."""
        begin = self.slopes + lane * self.size
        return memoryview(self.numbers)[begin : begin + self.size]

    def output_of(self, words: u64[::1], record: cython.int) -> float:
        """For tests: the output for the side to move."""
        men = cython.declare(cython.int[64])
        if not cython.compiled:
            men = [0] * 64
        count: cython.int = read_men(words, record, False, men)
        bucket: cython.int = (count - 2) // MEN_PER_BUCKET if self.buckets > 1 else 0
        return self.forward(men, count, 0, black_to_move(words[WORDS * record + 3]), bucket)
