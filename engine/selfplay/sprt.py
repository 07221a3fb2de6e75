"""Statistics of a match: score, Elo difference with bounds, sequential probability ratio test (SPRT).

The two games of an opening are one sample, a pair worth 0 to 4 half points. They are not independent, so single games
would give bounds that are too narrow. (chessprogramming wiki: Match Statistics; Fishtest: pentanomial model)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import erf, log, log10, sqrt

Z_95 = 1.96                        # standard errors of a 95 % confidence interval
MAX_HALF_POINTS = 4                # of a pair
ERROR_RATE = 0.05                  # of either kind, in a sequential test
LLR_BOUND = log((1 - ERROR_RATE) / ERROR_RATE)         # the test ends at this ratio or its negative: 2.94


@dataclass
class MatchScore:
    """The number of pairs in which the first player made 0, 1, 2, 3 and 4 half points."""

    counts: list[int] = field(default_factory=lambda: [0] * (MAX_HALF_POINTS + 1))

    def add(self, half_points: int) -> None:
        self.counts[half_points] += 1

    @property
    def played(self) -> int:
        """The number of all pairs."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        return 2 * self.played

    def score(self) -> float:
        """Return the share of the points that the first player made, 0 to 1; 0 without games."""
        points = sum(half_points * count for half_points, count in enumerate(self.counts))
        return points / max(1, MAX_HALF_POINTS * self.played)

    def share(self) -> float:
        """Return the expected share of the points, 0 to 1, as `_mean` adds doubt to the score."""
        return self._mean(lambda part: part)

    def error(self) -> float:
        """Return the standard error of the share."""
        share = self.share()
        return sqrt(self._mean(lambda part: (part - share) ** 2) / (self.played + 1))

    def _mean(self, value: Callable[[float], float]) -> float:
        """Return the mean over all pairs, plus half a pair won and half a pair lost so that no result is certain."""
        total = sum(count * value(half_points / MAX_HALF_POINTS) for half_points, count in enumerate(self.counts))
        return (total + value(0.0) / 2 + value(1.0) / 2) / (self.played + 1)

    def elo(self) -> tuple[float, float, float]:
        """Return the Elo difference with its lower and upper 95 % bound."""
        share, error = self.share(), Z_95 * self.error()
        low, middle, high = (elo_difference(part) for part in (share - error, share, share + error))
        return middle, low, high

    def likelihood_of_superiority(self) -> float:
        """Return the probability that the first player is stronger."""
        return (1 + erf((self.share() - 0.5) / self.error() / sqrt(2))) / 2

    def log_likelihood_ratio(self, low_elo: float, high_elo: float) -> float:
        """Return the log-likelihood ratio of the first player being `high_elo` against `low_elo` stronger.

        The variance is estimated from the pairs. (Van den Bergh: Comments on Normalized Elo; chessprogramming wiki:
        Sequential Probability Ratio Test)
        """
        low, high = expected_score(low_elo), expected_score(high_elo)
        share = self.share()
        variance = self._mean(lambda part: (part - share) ** 2)
        return self.played * (high - low) * (2 * share - low - high) / (2 * variance)

    def __str__(self) -> str:
        middle, low, high = self.elo()
        return (
            f"{self.games} games, {100 * self.score():.1f} %, Elo {middle:+.0f} ({low:+.0f} to {high:+.0f}), "
            f"pairs {' '.join(map(str, self.counts))}, better with {100 * self.likelihood_of_superiority():.1f} %"
        )


@dataclass(frozen=True)
class Sprt:
    """A sequential test between two leads in Elo."""

    low: float
    high: float

    def is_decided(self, score: MatchScore) -> bool:
        return abs(self._ratio(score)) >= LLR_BOUND

    def line(self, score: MatchScore) -> str:
        """Return the state of the test as text."""
        ratio = self._ratio(score)
        verdict = "goes on" if not self.is_decided(score) else f"accepted: {self.high if ratio > 0 else self.low:+g}"
        return f"LLR {ratio:+.2f} in [{self.low:g}, {self.high:g}], ends at +-{LLR_BOUND:.2f}: {verdict}"

    def _ratio(self, score: MatchScore) -> float:
        return score.log_likelihood_ratio(self.low, self.high)


def elo_difference(share: float) -> float:
    """Return the Elo difference that predicts this share of the points. (Elo: The Rating of Chessplayers)"""
    share = min(max(share, 0.001), 0.999)
    return 400 * log10(share / (1 - share))


def expected_score(elo: float) -> float:
    """Return the share of the points that an Elo difference predicts."""
    return 1 / (1 + 10 ** (-elo / 400))
