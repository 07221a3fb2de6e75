"""Matches between two evaluations: the same search, so many nodes a move, each opening played with both colours.

The two games of an opening are one sample, a pair worth 0 to 4 half points: its games resemble each other, so counting
them one by one would promise too much. What a pair holds depends on its number, the seed, the evaluations and the
engine alone. (chessprogramming wiki: Match Statistics; Fishtest: pentanomial model)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import erf, log10, sqrt
from pathlib import Path

from engine.fen import format_fen, parse_fen
from engine.games import Adjudicator, Player, natural_end, opening
from engine.position import Position
from engine.records import Result
from engine.workers import side_by_side

BALANCED_CP = 150                  # both players together must think no more of a random opening
CERTAINTY = 1.96                   # standard errors on either side of a result: 95 % of chances
BEST_PAIR = 4                      # half points


@dataclass(frozen=True)
class Match:
    """Who plays, as for EvalFile, and how."""

    first: str
    second: str
    nodes: int = 10_000
    seed: int = 1
    openings: tuple[str, ...] = ()         # FENs, taken in turn; random ones if there are none


@dataclass
class Score:
    """How often the first player made 0, 1, 2, 3 or 4 half points of a pair."""

    pairs: list[int] = field(default_factory=lambda: [0] * (BEST_PAIR + 1))

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
        total = sum(count * value(half_points / BEST_PAIR) for half_points, count in enumerate(self.pairs))
        return (total + value(0.0) / 2 + value(1.0) / 2) / (sum(self.pairs) + 1)

    def elo(self) -> tuple[float, float, float]:
        """The lead in Elo: the likeliest, and from where to where it is with 95 % certainty."""
        share, error = self.share(), CERTAINTY * self.error()
        low, middle, high = (elo_of(part) for part in (share - error, share, share + error))
        return middle, low, high

    def superiority(self) -> float:
        """How likely the first player is the better one."""
        return (1 + erf((self.share() - 0.5) / self.error() / sqrt(2))) / 2

    def __str__(self) -> str:
        middle, low, high = self.elo()
        return (
            f"{self.games} games, {100 * self.share():.1f} %, Elo {middle:+.0f} ({low:+.0f} to {high:+.0f}), "
            f"pairs {' '.join(map(str, self.pairs))}, better with {100 * self.superiority():.1f} %"
        )


def elo_of(share: float) -> float:
    """The lead in Elo that promises this share of the points. (Elo: The Rating of Chessplayers)"""
    share = min(max(share, 0.001), 0.999)
    return 400 * log10(share / (1 - share))


def play_game(position: Position, white: Player, black: Player) -> Result:
    """Play to the end."""
    adjudicator = Adjudicator()
    result = natural_end(position)
    ply = 0
    while result is None:
        black_to_move = position.black_to_move()
        thought = (black if black_to_move else white).think(position)
        position.commit(thought.move)
        ply += 1
        result = natural_end(position)
        if result is None:
            result = adjudicator.verdict(ply, -thought.score if black_to_move else thought.score)
    return result


def play_pair(match: Match, number: int) -> int:
    """Play an opening with both colours; the half points of the first player."""
    first, second = Player(match.first, match.nodes), Player(match.second, match.nodes)
    openings = match.openings or (_fair_opening(match, number, first, second),)
    fen = openings[number % len(openings)]
    half_points = 0
    for first_is_white in (True, False):
        first.new_game()
        second.new_game()
        position, _ = parse_fen(fen)
        result = play_game(position, first, second) if first_is_white else play_game(position, second, first)
        half_points += result if first_is_white else Result.WHITE_WON - result
    return half_points


def _fair_opening(match: Match, number: int, first: Player, second: Player) -> str:
    """The FEN, the same for the same number, of a random opening that the players together think balanced."""
    rng = random.Random(f"match {match.seed} {number}")
    while True:
        position = opening(rng)
        if natural_end(position) is None:
            first.new_game()
            second.new_game()
            if abs(first.think(position).score + second.think(position).score) <= 2 * BALANCED_CP:
                return format_fen(position, 1)


def play(match: Match, numbers: Iterable[int], processes: int) -> Iterator[tuple[int, int]]:
    """Play some pairs, several at a time; yields the number of each and the half points of the first player."""
    return side_by_side(_play_pair, ((match, number) for number in numbers), processes)


def _play_pair(work: tuple[Match, int]) -> tuple[int, int]:
    match, number = work
    return number, play_pair(match, number)


def read_openings(path: Path) -> tuple[str, ...]:
    """The positions of an EPD file. Raises InvalidFen or OSError."""
    return tuple(_fen(line) for line in path.read_text().splitlines() if line.strip() and not line.startswith("#"))


def _fen(line: str) -> str:
    fen = " ".join(line.split()[:4])
    parse_fen(fen)
    return fen
