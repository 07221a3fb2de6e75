# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Positions as the tuner sees them: how often each weight counts, the game phase, the score and the result.

An evaluation that is linear in its weights fills them: the hand-written one in `samples.py`, those of the variants in
`variant_tuner.py`.
"""

from array import array
from collections.abc import Sequence

import cython
from cython.cimports.engine.training.features import expected

ROOM = 64                          # coefficients other than zero per position, on average
MOST_TIMES = 127                   # that a weight counts in a position; only nine queens attack more squares


@cython.cclass
class LinearSamples:
    """Up to `capacity` positions. Values are each weight's midgame value and then its endgame value, in centipawns."""

    def __init__(self, capacity: int) -> None:
        self.room = ROOM * (capacity + 2)          # no position needs more than twice the average
        self.weight = array("H", bytes(2 * self.room))
        self.times = array("b", bytes(self.room))
        self.begins = array("I", bytes(4 * (capacity + 1)))
        self.midgame_part = array("f", bytes(4 * capacity))
        self.endgame_part = array("f", bytes(4 * capacity))
        self.scores = array("h", bytes(2 * capacity))
        self.results = array("B", bytes(capacity))
        self.count = 0
        self.capacity = capacity

    def __len__(self) -> int:
        return self.count

    def has_room(self) -> bool:
        """Return whether any position still fits."""
        return self.count < self.capacity and self.begins[self.count] + 2 * ROOM <= self.room

    def add_features(self, features: Sequence[tuple[int, int]], phase: float, score: int, result: int) -> bool:
        """Add a position; return False if there is no room.

        `features` are the numbers of its weights and how often each counts for White, `phase` is from 0 (endgame) to 1,
        `score` is White's in centipawns, `result` White's in half points.
        """
        if not self.has_room():
            return False
        end: cython.uint = self.begins[self.count]
        for index, times in features:
            self.weight[end] = index
            self.times[end] = min(max(times, -MOST_TIMES), MOST_TIMES)
            end += 1
        self.midgame_part[self.count] = phase
        self.endgame_part[self.count] = 1 - phase
        self.scores[self.count] = score
        self.results[self.count] = result
        self.count += 1
        self.begins[self.count] = end
        return True

    # --- Fitting -------------------------------------------------------------------------------------------------

    def white_score(self, sample: cython.int, values: cython.double[::1]) -> cython.double:
        """Return the evaluation in centipawns from White's view."""
        midgame: cython.double = 0
        endgame: cython.double = 0
        index: cython.uint
        for index in range(self.begins[sample], self.begins[sample + 1]):
            midgame += self.times[index] * values[2 * self.weight[index]]
            endgame += self.times[index] * values[2 * self.weight[index] + 1]
        return midgame * self.midgame_part[sample] + endgame * self.endgame_part[sample]

    def target(self, sample: cython.int, trust: cython.double, unit: cython.double) -> cython.double:
        """Return White's target score: weight `trust` for the search score, the rest for the result."""
        return trust * expected(self.scores[sample] / unit) + (1 - trust) * self.results[sample] / 2.0

    def loss(self, values: cython.double[::1], trust: cython.double, unit: cython.double) -> float:
        """Return the mean squared error of these values: each weight's midgame value, then its endgame value.

        `unit` is the centipawns per logistic unit.
        """
        total: cython.double = 0
        sample: cython.int
        with cython.nogil:
            for sample in range(self.count):
                error: cython.double = expected(self.white_score(sample, values) / unit) - self.target(
                    sample, trust, unit
                )
                total += error * error
        return total / max(1, self.count)

    def loss_of_scores(self, unit: cython.double) -> float:
        """Return the mean squared error of the search scores as predictions of the results."""
        total: cython.double = 0
        sample: cython.int
        for sample in range(self.count):
            error: cython.double = expected(self.scores[sample] / unit) - self.results[sample] / 2.0
            total += error * error
        return total / max(1, self.count)

    def gradient(
        self,
        order: cython.int[::1],
        values: cython.double[::1],
        gradient: cython.double[::1],
        trust: cython.double,
        unit: cython.double,
    ) -> float:
        """Add the gradient of the squared errors of these samples to `gradient`; return the sum of the errors."""
        total: cython.double = 0
        index: cython.uint
        place: cython.int
        size: cython.int = len(order)
        with cython.nogil:
            for place in range(size):
                sample: cython.int = order[place]
                prediction: cython.double = expected(self.white_score(sample, values) / unit)
                error: cython.double = prediction - self.target(sample, trust, unit)
                total += error * error
                scale: cython.double = 2 * error * prediction * (1 - prediction) / unit
                midgame: cython.double = scale * self.midgame_part[sample]
                endgame: cython.double = scale * self.endgame_part[sample]
                for index in range(self.begins[sample], self.begins[sample + 1]):
                    gradient[2 * self.weight[index]] += midgame * self.times[index]
                    gradient[2 * self.weight[index] + 1] += endgame * self.times[index]
        return total

    def coefficients(self, sample: cython.int) -> dict[int, int]:
        """For tests: return the coefficient of each weight in a sample."""
        index: cython.uint
        found: dict[int, int] = {}
        for index in range(self.begins[sample], self.begins[sample + 1]):
            found[self.weight[index]] = self.times[index]
        return found

    def value(self, sample: int, values: cython.double[::1]) -> float:
        """For tests: return the evaluation from White's view."""
        return self.white_score(sample, values)
