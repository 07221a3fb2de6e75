# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A network in floating point: inference, backpropagation and Adam.

The shape is that of `net_file.py`, without its scale factors. Each thread has a lane with its own gradients and sums;
the same number of lanes gives the same network. All numbers are in one array:

    weights in the order of the file | Adam's mean gradients | Adam's mean squares | gradients per lane | sums per lane
    | Adam's mean gradients and mean squares of what the threats of a place have in common

(chessprogramming wiki: NNUE; Kingma, Ba: Adam; Loshchilov, Hutter: Decoupled Weight Decay; nnue-pytorch: virtual
features)
"""

from __future__ import annotations

import random
from array import array
from itertools import pairwise

import cython
from cython.cimports.engine.core.bitboard import popcount, u64
from cython.cimports.engine.evaluation.network import bucket_of
from cython.cimports.engine.training.features import (
    BOTH_VIEWS,
    MAX_PIECES,
    WORDS,
    black_to_move,
    expected,
    read_pieces,
    target,
)

from engine.evaluation.net_file import CLAMP, FEATURE_WEIGHT_LIMIT, OUTPUT_UNIT, OUTPUT_WEIGHT_LIMIT, PLACES

if not cython.compiled:
    from math import sqrt as sqrtf

    def pointer(values: array[float]) -> array[float]:
        """In compiled code: return the address of the values."""
        return values


MEAN_DECAY = cython.declare(cython.float, 0.9)     # of Adam's mean gradients
SQUARE_DECAY = cython.declare(cython.float, 0.999) # of Adam's mean squares
TINY = cython.declare(cython.float, 1e-8)
FEATURE_LIMIT = cython.declare(cython.float, FEATURE_WEIGHT_LIMIT / CLAMP)    # what 8 bits of the file can hold
# The largest other weight: its product with an activation fits 16 bits.
LIMIT = cython.declare(cython.float, OUTPUT_WEIGHT_LIMIT / OUTPUT_UNIT)
OUTPUT_RATE = cython.declare(cython.float, 2)      # factor of the learning rate for output weights, which are larger
FIRST_FEATURE, FIRST_OUTPUT = 0.08, 0.24           # range of the random first weights
# Centipawns of an output of 1. Fewer centipawns make the output weights larger, which loses less by rounding; at 200
# hardly any is beyond the limit.
SCALE = 200


# --- Inner loops -----------------------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_row(numbers: cython.p_float, to: cython.longlong, row: cython.longlong, width: cython.int) -> cython.void:
    """Add one row of numbers to another."""
    index: cython.int
    for index in range(width):
        numbers[to + index] += numbers[row + index]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def weigh(numbers: cython.p_float, view: cython.longlong, row: cython.longlong, width: cython.int) -> cython.float:
    """Return the weighted sum of the squared, clipped sums of a perspective."""
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
    gradients: cython.longlong,
    gradient: cython.float,
    width: cython.int,
) -> cython.void:
    """Propagate back through `weigh`: add to its weights' gradients, replace each sum by its gradient."""
    index: cython.int
    for index in range(width):
        value: cython.float = numbers[view + index]
        inside: cython.float = 1 if value < 1 else 0
        value = value if value > 0 else 0
        value = value if value < 1 else 1
        numbers[gradients + index] += gradient * value * value
        numbers[view + index] = inside * 2 * gradient * value * numbers[row + index]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def adam_move(
    numbers: cython.p_float,
    mean_place: cython.longlong,
    square_place: cython.longlong,
    gradient: cython.float,
    first: cython.float,
    second: cython.float,
) -> cython.float:
    """Update Adam's means at these places by the gradient, and return the move of the weight per rate.

    `first` and `second` correct the means for the zeros that they began with.
    """
    mean: cython.float = MEAN_DECAY * numbers[mean_place] + (1 - MEAN_DECAY) * gradient
    square: cython.float = SQUARE_DECAY * numbers[square_place] + (1 - SQUARE_DECAY) * gradient * gradient
    numbers[mean_place] = mean
    numbers[square_place] = square
    return mean / first / (sqrtf(square / second) + TINY)


# --- Network ---------------------------------------------------------------------------------------------------------


@cython.final
@cython.cclass
class FloatNet:
    """A network with random weights, the same for the same seed and for all threats of a piece."""

    def __init__(self, hidden: int, buckets: int, threats: int, lanes: int, seed: int) -> None:
        self.hidden, self.buckets, self.threats, self.lanes = hidden, buckets, threats, lanes
        self.bias = PLACES * threats * hidden
        self.output = self.bias + hidden
        self.output_bias = self.output + 2 * hidden * buckets
        self.size = self.output_bias + buckets
        self.gradients = 3 * self.size
        self.sums = self.gradients + lanes * self.size
        self.trust, self.unit, self.steepness = 1.0, 1.0, 1.0
        self.common = self.sums + lanes * 2 * hidden
        self.numbers = array("f", bytes(4 * (self.common + (2 * PLACES * hidden if threats > 1 else 0))))
        rng = random.Random(f"weights {seed}")
        row: cython.longlong
        index: cython.longlong
        place: cython.longlong
        step: cython.longlong = self.bias // PLACES
        for place in range(0, self.bias, step):
            for index in range(place, place + hidden):
                self.numbers[index] = rng.uniform(-FIRST_FEATURE, FIRST_FEATURE)
                for row in range(hidden, step, hidden):
                    self.numbers[index + row] = self.numbers[index]
        for index in range(self.output, self.output_bias):
            self.numbers[index] = rng.uniform(-FIRST_OUTPUT, FIRST_OUTPUT)

    # --- One record --------------------------------------------------------------------------------------------------

    def forward(
        self, pieces: cython.p_int, count: cython.int, lane: cython.int, first_view: cython.int, bucket: cython.int
    ) -> cython.float:
        """Return the output for the side of `first_view`; leave the sums of its perspective first."""
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
                add_row(numbers, view, pieces[first + index] * self.hidden, self.hidden)
            total += weigh(numbers, view, self.output + (2 * bucket + half) * self.hidden, self.hidden)
        return total

    def backward(
        self,
        pieces: cython.p_int,
        count: cython.int,
        lane: cython.int,
        first_view: cython.int,
        bucket: cython.int,
        gradient: cython.float,
    ) -> cython.void:
        """After `forward`: add to the lane's gradients; `gradient` is that of the output."""
        numbers: cython.p_float = pointer(self.numbers)
        gradients: cython.longlong = self.gradients + lane * self.size
        half: cython.int
        index: cython.int
        numbers[gradients + self.output_bias + bucket] += gradient
        for half in range(2):
            view: cython.longlong = self.sums + (2 * lane + half) * self.hidden
            first: cython.int = MAX_PIECES * (first_view ^ half)
            row: cython.longlong = self.output + (2 * bucket + half) * self.hidden
            weigh_back(numbers, view, row, gradients + row, gradient, self.hidden)
            add_row(numbers, gradients + self.bias, view, self.hidden)
            for index in range(count):
                add_row(numbers, gradients + pieces[first + index] * self.hidden, view, self.hidden)

    def add_record(
        self, words: u64[::1], entry: cython.int, lane: cython.int, training: cython.bint
    ) -> cython.double:
        """Return the squared error of an entry of `shuffled`; if `training`, add its gradients."""
        pieces = cython.declare(cython.int[BOTH_VIEWS])
        if not cython.compiled:
            pieces = [0] * BOTH_VIEWS
        record: cython.int = entry >> 1
        first: cython.longlong = cython.cast(cython.longlong, record) * WORDS
        last: u64 = words[first + 3]
        count: cython.int = read_pieces(words, record, entry & 1, self.threats > 1, pieces)
        bucket: cython.int = bucket_of(popcount(words[first]), self.buckets)
        view: cython.int = black_to_move(last)
        prediction: cython.double = expected(self.steepness * self.forward(pieces, count, lane, view, bucket))
        error: cython.double = prediction - target(last, self.trust, self.unit)
        if training:
            gradient: cython.double = 2 * error * prediction * (1 - prediction) * self.steepness
            self.backward(pieces, count, lane, view, bucket, cython.cast(cython.float, gradient))
        return error * error

    # --- For Python callers ------------------------------------------------------------------------------------------

    def set_target(self, trust: float, unit: float) -> None:
        """Set the target of the outputs, see `target`; `unit` is the centipawns per logistic unit."""
        self.trust, self.unit, self.steepness = trust, unit, SCALE / unit

    def errors(
        self,
        words: u64[::1],
        order: cython.int[::1],
        begin: cython.int,
        end: cython.int,
        lane: cython.int,
        training: cython.bint,
    ) -> float:
        """Return the sum of the squared errors of entries `begin` to `end` of `order`; runs without the GIL.

        If `training`, add the gradients to those of the lane.
        """
        place: cython.int
        total: cython.double = 0
        with cython.nogil:
            for place in range(begin, end):
                total += self.add_record(words, order[place], lane, training)
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
        """Do Adam's step `count`, from 1 on, for the weights `begin` to `end`, and zero their gradients.

        The gradient of a weight is the sum over the lanes times `share`. `decay` is the weight decay, times the rate.
        Weights are clipped to what the file can hold.
        """
        numbers: cython.p_float = pointer(self.numbers)
        index: cython.longlong
        lane: cython.int
        first: cython.float = 1 - 0.9**count
        second: cython.float = 1 - 0.999**count
        with cython.nogil:
            for index in range(begin, end):
                gradient: cython.float = 0
                for lane in range(self.lanes):
                    gradient += numbers[self.gradients + lane * self.size + index]
                    numbers[self.gradients + lane * self.size + index] = 0
                gradient *= share
                move: cython.float = adam_move(
                    numbers, self.size + index, 2 * self.size + index, gradient, first, second
                )
                if index >= self.output:
                    move *= OUTPUT_RATE
                weight: cython.float = numbers[index] - rate * (move + decay * numbers[index])
                most: cython.float = FEATURE_LIMIT if index < self.bias else LIMIT
                weight = weight if weight < most else most
                numbers[index] = weight if weight > -most else -most

    def step_common(
        self, begin: cython.longlong, end: cython.longlong, count: cython.int, share: cython.float, rate: cython.float
    ) -> None:
        """Do Adam's step for what the threats of each place from `begin` to `end` have in common; `step` comes next.

        All weights of a place change alike, so that rare threats learn from the frequent ones.
        """
        numbers: cython.p_float = pointer(self.numbers)
        place: cython.longlong
        index: cython.longlong
        row: cython.longlong
        lane: cython.int
        first: cython.float = 1 - 0.9**count
        second: cython.float = 1 - 0.999**count
        means: cython.longlong = self.common
        squares: cython.longlong = self.common + self.bias // self.threats
        with cython.nogil:
            for place in range(begin, end):
                for index in range(place * self.hidden, (place + 1) * self.hidden):
                    weight: cython.longlong = index + place * (self.threats - 1) * self.hidden
                    gradient: cython.float = 0
                    for row in range(self.threats):
                        for lane in range(self.lanes):
                            gradient += numbers[self.gradients + lane * self.size + weight + row * self.hidden]
                    gradient *= share
                    move: cython.float = adam_move(numbers, means + index, squares + index, gradient, first, second)
                    for row in range(self.threats):
                        numbers[weight + row * self.hidden] -= rate * move

    def rows(self) -> tuple[memoryview, ...]:
        """Return views of the weights and of Adam's means, as they come in `numbers`. Writing changes the network."""
        numbers = memoryview(self.numbers)
        cuts = (0, self.size, 2 * self.size, 3 * self.size)
        return *(numbers[begin:end] for begin, end in pairwise(cuts)), numbers[self.common :]

    def gradient_row(self, lane: int) -> memoryview:
        """For tests: return the gradients of a lane."""
        begin = self.gradients + lane * self.size
        return memoryview(self.numbers)[begin : begin + self.size]

    def output_of(self, words: u64[::1], record: cython.int) -> float:
        """For tests: return the output for the side to move."""
        pieces = cython.declare(cython.int[BOTH_VIEWS])
        if not cython.compiled:
            pieces = [0] * BOTH_VIEWS
        count: cython.int = read_pieces(words, record, False, self.threats > 1, pieces)
        bucket: cython.int = bucket_of(popcount(words[WORDS * record]), self.buckets)
        return self.forward(pieces, count, 0, black_to_move(words[WORDS * record + 3]), bucket)
