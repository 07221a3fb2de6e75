"""Statistics of shards; every record is checked."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from engine.selfplay.records import Result, game_of
from engine.training.data import WORDS, last_words, read_words
from engine.training.features import (
    black_to_move,
    cannot_castle,
    loss_of_scores,
    played,
    recorded_scores,
    result_of,
)

UNITS_CP = range(120, 601, 20)     # tried as the centipawns of a search score that make one logistic unit
DECIDED_CP = 300
PIECES_PER_BUCKET = 4              # of a network with buckets, see `net_file.py`


@dataclass
class RecordStatistics:
    """The counts of positions, and what fits them."""

    positions: int = 0
    games: int = 0
    black_to_move: int = 0
    cannot_castle: int = 0                 # without castling rights
    decided: int = 0                       # with a score beyond three pawns
    results: Counter[int] = field(default_factory=Counter)
    buckets: Counter[int] = field(default_factory=Counter)         # by number of pieces
    # Per centipawns of a logistic unit: the squared errors of the scores as predictions of the results.
    errors: dict[int, float] = field(default_factory=lambda: dict.fromkeys(UNITS_CP, 0.0))

    def add(self, words: array[int]) -> None:
        """Count the records of a shard."""
        scores = recorded_scores(words)
        last = last_words(words)
        self.positions += len(last)
        self.games += len(set(map(game_of, last)))
        self.black_to_move += sum(map(black_to_move, last))
        self.cannot_castle += sum(map(cannot_castle, last))
        self.decided += sum(abs(score) > DECIDED_CP for score in scores)
        self.results.update(map(result_of, last))
        self.buckets.update(min((squares.bit_count() - 2) // PIECES_PER_BUCKET, 7) for squares in words[::WORDS])
        words = played(words)
        scores = recorded_scores(words)
        for unit in UNITS_CP:
            self.errors[unit] += loss_of_scores(words, scores, unit, 0.0, 1.0) * len(scores)

    def best_unit_cp(self) -> int:
        """Return the centipawns per logistic unit with which the scores predict the results best."""
        return min(self.errors, key=self.errors.__getitem__)

    def lines(self) -> list[str]:
        """Return the statistics as text."""
        results = ", ".join(f"{result.name.lower()} {self._percent(self.results[result])}" for result in Result)
        ranges = [f"{least}-{least + PIECES_PER_BUCKET - 1}" for least in range(2, 30, PIECES_PER_BUCKET)]
        ranges.append("30 or more")
        shares = [f"{name} {self._percent(self.buckets[bucket])}" for bucket, name in enumerate(ranges)]
        lines = [
            f"positions {self.positions:,}, games {self.games:,}, {self.positions / max(1, self.games):.1f} per game",
            f"results {results}; Black to move {self._percent(self.black_to_move)}",
            f"pieces {', '.join(shares)}",
            f"beyond three pawns {self._percent(self.decided)}, no castling right {self._percent(self.cannot_castle)}",
        ]
        if self.results.total() > self.results[Result.UNKNOWN]:
            lines.append(
                f"the scores predict the results best with {self.best_unit_cp()} centipawns per logistic unit"
            )
        return lines

    def _percent(self, count: int) -> str:
        return f"{100 * count / max(1, self.positions):.1f} %"


def read_statistics(paths: Iterable[Path]) -> RecordStatistics:
    """Return the statistics of these shards. Raises InvalidRecord at the first damaged record."""
    found = RecordStatistics()
    for path in paths:
        found.add(read_words(path))
    return found
