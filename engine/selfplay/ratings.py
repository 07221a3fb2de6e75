"""Ratings from the results of many pairings at once, with the ratings of anchors given.

Maximum likelihood of the Bradley-Terry model, in which a draw is half a win; solved by Newton's method.
(chessprogramming wiki: Match Statistics; Hunter: MM Algorithms for Generalized Bradley-Terry Models)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log, sqrt
from operator import mul

from engine.selfplay.sprt import Z_95, expected_score

SLOPE = log(10) / 400              # of the logistic curve, per point of rating
VIRTUAL_DRAWS = 0.5                # of each pairing, so that a pairing without a single loss has finite ratings
STEPS, LARGEST_STEP = 200, 200.0   # of Newton's method; the largest in points


@dataclass(frozen=True)
class Pairing:
    """The points that `first` made in all games against `second`."""

    first: str
    second: str
    points: float
    games: int


@dataclass(frozen=True)
class Rated:
    """A rating with half the width of its 95 % interval; an anchor's is 0."""

    rating: float
    error: float
    games: int


def fit(pairings: Iterable[Pairing], anchors: Mapping[str, float]) -> dict[str, Rated]:
    """Return the ratings of all players. Without an anchor the first player is one, of rating 0.

    Players whom no chain of games connects with an anchor are left out.
    """
    played = [pairing for pairing in pairings if pairing.games]
    names = list(dict.fromkeys(name for pairing in played for name in (pairing.first, pairing.second)))
    fixed = {name: anchors[name] for name in names if name in anchors} or dict.fromkeys(names[:1], 0.0)
    connected = _connected(played, fixed)
    played = [pairing for pairing in played if pairing.first in connected]
    free = [name for name in names if name in connected and name not in fixed]
    start = sum(fixed.values()) / max(1, len(fixed))
    ratings = {**fixed, **dict.fromkeys(free, start)}
    index = {name: number for number, name in enumerate(free)}
    covariance: list[list[float]] = []
    for _ in range(STEPS):
        gradient, information = _derivatives(played, ratings, index)
        covariance = _inverse(information)
        steps = [sum(map(mul, row, gradient)) for row in covariance]
        for name, number in index.items():
            ratings[name] += max(-LARGEST_STEP, min(steps[number], LARGEST_STEP))
        if max(map(abs, steps), default=0) < 1e-6:
            break
    games = {name: sum(it.games for it in played if name in (it.first, it.second)) for name in connected}
    errors = {name: Z_95 * sqrt(covariance[number][number]) for name, number in index.items()}
    return {name: Rated(ratings[name], errors.get(name, 0.0), games[name]) for name in names if name in connected}


def _connected(played: Iterable[Pairing], fixed: Iterable[str]) -> set[str]:
    connected = set(fixed)
    pairs = [{pairing.first, pairing.second} for pairing in played]
    while more := set().union(*(pair for pair in pairs if pair & connected)) - connected:
        connected |= more
    return connected


def _derivatives(
    played: Iterable[Pairing], ratings: Mapping[str, float], index: Mapping[str, int]
) -> tuple[list[float], list[list[float]]]:
    """Return the gradient of the log-likelihood and its negative second derivatives."""
    gradient = [0.0] * len(index)
    information = [[0.0] * len(index) for _ in index]
    for pairing in played:
        expected = expected_score(ratings[pairing.first] - ratings[pairing.second])
        games = pairing.games + VIRTUAL_DRAWS
        surplus = SLOPE * (pairing.points + VIRTUAL_DRAWS / 2 - games * expected)
        weight = SLOPE**2 * games * expected * (1 - expected)
        first, second = index.get(pairing.first), index.get(pairing.second)
        for mine, other, sign in ((first, second, 1), (second, first, -1)):
            if mine is not None:
                gradient[mine] += sign * surplus
                information[mine][mine] += weight
                if other is not None:
                    information[mine][other] -= weight
    return gradient, information


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Return the inverse of a positive definite matrix, by elimination."""
    size = len(matrix)
    rows = [[*row, *(float(place == number) for place in range(size))] for number, row in enumerate(matrix)]
    for number in range(size):
        rows[number] = [entry / rows[number][number] for entry in rows[number]]
        for other in {*range(size)} - {number}:
            factor = rows[other][number]
            rows[other] = [entry - factor * mine for entry, mine in zip(rows[other], rows[number], strict=True)]
    return [row[size:] for row in rows]


def rising(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points (x, y), sorted by x, with the nearest y that never fall, one for equal x.

    (Isotonic regression: pool adjacent violators)
    """
    pools: list[tuple[list[float], float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):       # so equal x are pooled
        xs, mean = [x], y
        while pools and pools[-1][1] > mean:
            before, other = pools.pop()
            mean = (mean * len(xs) + other * len(before)) / (len(xs) + len(before))
            xs = before + xs
        pools.append((xs, mean))
    return [(x, mean) for xs, mean in pools for x in xs]
