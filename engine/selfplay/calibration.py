"""Which pairings calibrate the levels, and what their results say.

Neighbours on the ladder play each other, and each level plays the anchors near it. All ratings are fitted at once.
Below the weakest anchor the scale hangs on a chain of neighbours down to the random mover: there it is extrapolated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

from engine.selfplay.ladder import Forfeit, parse_foreign
from engine.selfplay.ratings import Pairing, Rated, fit, rising
from engine.selfplay.records import InvalidRecord
from engine.selfplay.uci_client import EngineFailed, UciClient

RANDOM = "random"
FORFEITS = {Forfeit.TIME: "on time", Forfeit.ILLEGAL: "by an illegal move", Forfeit.FAILURE: "by a crash or no answer"}
BAND = 200                         # of ratings, for which the calibration error is averaged


def anchor_ratings(texts: Iterable[str]) -> dict[str, float]:
    """Return the rating of each anchor, each of which is started once. Raises EngineFailed if one cannot be used."""
    ratings = {}
    for text in texts:
        anchor = parse_foreign(text)
        if anchor.rating is None:
            raise EngineFailed(f"anchor {text!r} has no rating: add rating=NUMBER or UCI_Elo=NUMBER")
        UciClient(anchor.command, anchor.options).close()
        ratings[text] = anchor.rating
    return ratings


@dataclass(frozen=True)
class Plan:
    """The levels of a ladder, weakest first, and the anchors; a level plays those within `reach` of its rating."""

    levels: Sequence[str]
    anchors: Mapping[str, float]
    reach: float

    def pairings(self, results: Iterable[Pairing]) -> list[tuple[str, str]]:
        """Return who plays whom; earlier results tell which anchors are near a level, at first its number does."""
        known = fit(results, self.anchors) if self.anchors else {}
        chain = [RANDOM, *self.levels]
        pairs = [*pairwise(chain), *zip(self.levels, self.levels[2:], strict=False)]
        for level in self.levels:
            rating = known[level].rating if level in known else number_of(level)
            near = [anchor for anchor, other in self.anchors.items() if abs(other - rating) <= self.reach]
            pairs += [(level, anchor) for anchor in near]
        return pairs


def number_of(level: str) -> float:
    """Return the number in a player's text: 1500 for `level 1500`."""
    return float(level.split()[1])


@dataclass(frozen=True)
class Report:
    """The fitted ratings of a ladder."""

    plan: Plan
    results: Sequence[Pairing]
    forfeits: Mapping[tuple[str, Forfeit], int] = field(default_factory=dict)      # games, by player and reason

    def lines(self) -> Iterator[str]:
        """Yield the table of the levels, the calibration error by bands, the anchors, and games lost by forfeit."""
        yield from self._ratings()
        for name in dict.fromkeys(name for name, _ in self.forfeits):
            counts = [(self.forfeits.get((name, how), 0), words) for how, words in FORFEITS.items()]
            yield f"games lost: {', '.join(f'{count} {words}' for count, words in counts if count)}: {name}"

    def games_without_worth(self) -> int:
        """Return how many games were lost by an illegal move or a crash, and say nothing about strength."""
        return sum(count for (_, how), count in self.forfeits.items() if how is not Forfeit.TIME)

    def _ratings(self) -> Iterator[str]:
        rated = fit(self.results, self.plan.anchors)
        lowest = min(self.plan.anchors.values(), default=float("-inf"))
        yield f"{'player':<14}{'rating':>7}{'95 %':>7}{'games':>7}  {'against the one before':<24}note"
        chain = [name for name in (RANDOM, *self.plan.levels) if name in rated]
        for name, before in zip(chain, ["", *chain], strict=False):
            it = rated[name]
            note = "extrapolated" if it.rating < lowest else ""
            score = self._score(name, before)
            yield f"{name:<14}{it.rating:>7.0f}{'+-':>3}{it.error:<4.0f}{it.games:>7}  {score:<24}{note}".rstrip()
        if not self.plan.anchors:
            yield "without an anchor only the differences mean something"
            return
        yield from self._bands(rated)
        for anchor, given in self.plan.anchors.items():
            others = {name: rating for name, rating in self.plan.anchors.items() if name != anchor}
            alone = fit(self.results, others).get(anchor) if others else None
            if alone is not None and anchor in rated:
                yield f"anchor {given:.0f}, by its games {alone.rating:.0f} +-{alone.error:.0f}: {anchor}"

    def _score(self, name: str, before: str) -> str:
        for pairing in self.results:
            if (pairing.first, pairing.second) == (before, name):
                return f"{100 * (1 - pairing.points / pairing.games):.1f} % of {pairing.games} games"
        return ""

    def _bands(self, rated: Mapping[str, Rated]) -> Iterator[str]:
        """Yield the mean error of the labels in each band, if the players are labels."""
        labels = [name for name in self.plan.levels if name.startswith("level ") and name in rated]
        bands: dict[int, list[float]] = {}
        for name in labels:
            error = abs(rated[name].rating - number_of(name))
            bands.setdefault(int(number_of(name)) // BAND * BAND, []).append(error)
        means = {band: mean(errors) for band, errors in bands.items()}
        for band, error in means.items():
            yield f"labels {band} to {band + BAND - 1}: off by {error:.0f}"
        if means:
            yield f"all bands: off by {mean(means.values()):.0f} on average, {max(means.values()):.0f} at worst"

    def calibration(self) -> str:
        """Return the text of `engine/search/levels/calibration.py`: the skill of each rating."""
        rated = fit(self.results, self.plan.anchors)
        points = [(number_of(name), rated[name].rating) for name in self.plan.levels if name in rated]
        games = sum(pairing.games for pairing in self.results)
        anchors = "".join(f"# {rating:.0f}: {name}\n" for name, rating in self.plan.anchors.items())
        return calibration_text(points, f"# From {games:,} games with these anchors:\n{anchors}")


def calibration_text(points: Iterable[tuple[float, float]], origin: str) -> str:
    """Return the text of `engine/search/levels/calibration.py` with these skills and their ratings.

    `origin` is lines of comments about where they come from. Raises InvalidRecord if fewer than two are left.
    """
    rows = {round(rating): skill for skill, rating in rising(points)}      # of equal ratings, the last
    if len(rows) < 2:
        raise InvalidRecord(f"expected two skills or more with ratings of their own, found {len(rows)}")
    lines = "".join(f"    ({rating}, {skill:.1f}),\n" for rating, skill in sorted(rows.items()))
    return (
        f'"""The skill of each rating. Written by `lichessbot-engine calibrate --write`."""\n\n'
        f"{origin}RATED = (\n    # rating, skill\n{lines})\n"
    )
