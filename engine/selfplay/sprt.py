"""What pairs of games prove: the score, the lead in Elo and how certain it is. Knows nothing of chess but points.

The two games of an opening are one sample, a pair worth 0 to 4 half points: its games resemble each other, so counting
them one by one would promise too much. (chessprogramming wiki: Match Statistics; Fishtest: pentanomial model)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import erf, log, log10, sqrt

CERTAINTY = 1.96                   # standard errors on either side of a result: 95 % of chances
MAX_HALF_POINTS = 4                      # half points
ERROR_RATE = 0.05                  # how often a sequential test may accept the wrong one of its two leads
LLR_BOUND = log((1 - ERROR_RATE) / ERROR_RATE)           # the ratio, either way, at which it ends: 2.94


@dataclass
class MatchScore:
    """How often the first player made 0, 1, 2, 3 or 4 half points of a pair."""

    pairs: list[int] = field(default_factory=lambda: [0] * (MAX_HALF_POINTS + 1))

    def add(self, half_points: int) -> None:
        self.pairs[half_points] += 1

    @property
    def games(self) -> int:
        return 2 * sum(self.pairs)

    def share(self) -> float:
        """Of the points."""
        return self._mean(lambda part: part)

    def error(self) -> float:
        """The standard error of the share."""
        share = self.share()
        return sqrt(self._mean(lambda part: (part - share) ** 2) / (sum(self.pairs) + 1))

    def _mean(self, value: Callable[[float], float]) -> float:
        """Over all pairs, and half a pair won and half a pair lost besides: no result is beyond all doubt."""
        total = sum(count * value(half_points / MAX_HALF_POINTS) for half_points, count in enumerate(self.pairs))
        return (total + value(0.0) / 2 + value(1.0) / 2) / (sum(self.pairs) + 1)

    def elo(self) -> tuple[float, float, float]:
        """The lead in Elo: the likeliest, and from where to where it is with 95 % certainty."""
        share, error = self.share(), CERTAINTY * self.error()
        low, middle, high = (elo_difference(part) for part in (share - error, share, share + error))
        return middle, low, high

    def likelihood_of_superiority(self) -> float:
        """How likely the first player is the better one."""
        return (1 + erf((self.share() - 0.5) / self.error() / sqrt(2))) / 2

    def log_likelihood_ratio(self, low_elo: float, high_elo: float) -> float:
        """How much likelier the pairs are if the first player is `high_elo` ahead than if it is `low_elo`.

        As a natural logarithm, the spread of the pairs taken as seen. (Van den Bergh: Comments on Normalized Elo;
        chessprogramming wiki: Sequential Probability Ratio Test)
        """
        low, high = expected_score(low_elo), expected_score(high_elo)
        share = self.share()
        variance = self._mean(lambda part: (part - share) ** 2)
        return sum(self.pairs) * (high - low) * (2 * share - low - high) / (2 * variance)

    def __str__(self) -> str:
        middle, low, high = self.elo()
        return (
            f"{self.games} games, {100 * self.share():.1f} %, Elo {middle:+.0f} ({low:+.0f} to {high:+.0f}), "
            f"pairs {' '.join(map(str, self.pairs))}, better with {100 * self.likelihood_of_superiority():.1f} %"
        )


def elo_difference(share: float) -> float:
    """The lead in Elo that promises this share of the points. (Elo: The Rating of Chessplayers)"""
    share = min(max(share, 0.001), 0.999)
    return 400 * log10(share / (1 - share))


def expected_score(elo: float) -> float:
    """The share of the points that a lead in Elo promises: the inverse of `elo_difference`."""
    return 1 / (1 + 10 ** (-elo / 400))
