"""The levels compared with people, by the games of a PGN file that is read as a stream.

`MoveMatcher` counts how often a level chooses the moves that people of its rating played. `LossFit` finds the skill
whose moves lose as much as theirs.

A file that ends with .zst, as Lichess publishes its games, is unpacked while it is read; that needs the package
`zstandard`.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import BinaryIO

from engine.facade import RATINGS, Board, Engine, Limits
from engine.pgn.pgn import read_games
from engine.search.levels.level import level_at
from engine.selfplay.humanness import Judge
from engine.selfplay.ratings import rising
from engine.selfplay.sprt import Z_95

BAND = 200                         # of ratings
FIRST_PLY = 10                     # earlier moves are opening knowledge
FULL_NODES = 1000                  # of the full search, for comparison
HASH_MB = 4
FIT_SKILLS = range(200, 3001, 200)
FIT_MOVES = 1000                   # of each band
FIT_EVERY = 7                      # every seventh move, for moves of many games; odd, for those of both sides
FIT_LEAST = 30                     # moves without which a band says nothing


class CannotUnpack(ValueError):
    """The packed file is damaged, or the package that unpacks it is missing; the message says which."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a PGN file, packed or not. Raises CannotUnpack or OSError."""
    with path.open("rb") as file:
        if path.suffix != ".zst":
            yield file
            return
        try:
            import zstandard
        except ImportError:
            raise CannotUnpack(f"{path} is packed: pip install 'lichessbot-daemon[zst]', or unpack it first") from None
        try:
            with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
                yield io.BufferedReader(stream)
        except zstandard.ZstdError as error:
            raise CannotUnpack(f"{path} cannot be unpacked: {error}") from None


@dataclass(frozen=True)
class PlayedMove:
    """A move by a player with a rating; `board` is before it and changes with the next move."""

    game: int                      # its number among those used
    board: Board
    rating: int
    move: str

    @property
    def band(self) -> int:
        """The lowest rating of its band."""
        return self.rating // BAND * BAND


def played_moves(stream: BinaryIO, every: int) -> Iterator[PlayedMove]:
    """Yield the moves after the opening of one game in `every`. Games without ratings and variants are left out."""
    used = 0
    for game in islice(read_games(stream, variations=False), 0, None, every):
        ratings = {side: game.headers.get(f"{side.title()}Elo", "") for side in ("white", "black")}
        board = game.standard_board() if any(text.isdecimal() for text in ratings.values()) else None
        if board is None:
            continue
        for ply, move in enumerate(game.moves):
            if ply >= FIRST_PLY and ratings[board.turn].isdecimal():
                yield PlayedMove(used, board, int(ratings[board.turn]), move)
            board.push(move)
        used += 1


# --- The same moves --------------------------------------------------------------------------------------------------


@dataclass
class Matched:
    """Positions of one band, and in how many of them the level and the full search chose the person's move."""

    positions: int = 0
    by_level: int = 0
    by_full_search: int = 0


class MoveMatcher:
    """Compares the moves of games with those of the levels."""

    def __init__(self) -> None:
        self.bands: dict[int, Matched] = {}
        self._levels = {"white": Engine(HASH_MB), "black": Engine(HASH_MB)}
        self._games = dict.fromkeys(self._levels, -1)      # that each of them plays
        self._full = Engine(HASH_MB)

    def add(self, played: PlayedMove) -> None:
        """Compare one move."""
        side, board = played.board.turn, played.board
        level = self._levels[side]
        if self._games[side] != played.game:
            self._games[side] = played.game
            level.limit_strength(max(RATINGS[0], min(played.rating, RATINGS[-1])), played.game)
            self._full.new_game()
        band = self.bands.setdefault(played.band, Matched())
        level.set_position(board)
        self._full.set_position(board)
        band.positions += 1
        band.by_level += level.go(Limits()).best_move == played.move
        band.by_full_search += self._full.go(Limits(nodes=FULL_NODES)).best_move == played.move

    def lines(self) -> Iterator[str]:
        """Yield the table: the share of people's moves that were chosen, with 95 % bounds."""
        yield f"{'ratings':<14}{'positions':>10}{'level':>15}{f'{FULL_NODES} nodes':>15}"
        for band, it in sorted(self.bands.items()):
            shares = (_share(found, it.positions) for found in (it.by_level, it.by_full_search))
            yield f"{_title(band):<14}{it.positions:>10}{''.join(f'{share:>15}' for share in shares)}"


def _title(band: int) -> str:
    return f"{band} to {band + BAND - 1}"


def _share(found: int, positions: int) -> str:
    share = found / positions
    return f"{100 * share:.1f} +-{100 * Z_95 * sqrt(share * (1 - share) / positions):.1f} %"


# --- The same loss ---------------------------------------------------------------------------------------------------


@dataclass
class Losses:
    """What moves of one band lost, in centipawns: in each position, the person's move and that of each skill."""

    ratings: list[int] = field(default_factory=list)
    by_people: list[int] = field(default_factory=list)
    by_skills: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True)
class Fitted:
    """The skill that loses as much as people of this rating, with half the width of its 95 % interval."""

    rating: float
    skill: float
    error: float


class LossFit:
    """Finds the skill of each band: the one whose moves lose as much as people's, in the same positions."""

    def __init__(self, judge: Judge, skills: Sequence[int] = FIT_SKILLS) -> None:
        self.bands: dict[int, Losses] = {}
        self._judge = judge
        self._skills = skills
        self._player = Engine(HASH_MB)
        self._seen = 0

    def add(self, played: PlayedMove) -> None:
        """Judge one move, unless its band has enough or a neighbour of the same game was taken."""
        self._seen += 1
        band = self.bands.setdefault(played.band, Losses())
        if self._seen % FIT_EVERY or len(band.ratings) >= FIT_MOVES:
            return
        best, best_move = self._judge.judge(played.board)
        losses = {best_move: 0}

        def loss(move: str) -> int:
            if move not in losses:
                losses[move] = max(0, best + self._judge.judge(played.board.after(move))[0])
            return losses[move]

        by_person, by_skills = loss(played.move), [loss(self._choose(skill, played)) for skill in self._skills]
        band.ratings.append(played.rating)         # after all searches: Ctrl-C there ends the reading, not the result
        band.by_people.append(by_person)
        band.by_skills.append(by_skills)

    def _choose(self, skill: int, played: PlayedMove) -> str:
        self._player.play_level(level_at(skill), played.game)
        self._player.set_position(played.board)
        move = self._player.go(Limits()).best_move
        assert move is not None, "a move was played here"
        return move

    def fitted(self) -> dict[int, Fitted]:
        """Return the skill of each band; none for a band with few moves, or beyond all skills."""
        return {
            band: found
            for band, losses in sorted(self.bands.items())
            if len(losses.ratings) >= FIT_LEAST and (found := self._fit(losses))
        }

    def _fit(self, band: Losses) -> Fitted | None:
        people = fmean(band.by_people)
        means = [-fmean(column) for column in zip(*band.by_skills, strict=True)]
        falling = [(skill, -mean) for skill, mean in rising(zip(self._skills, means, strict=True))]
        for number, ((skill, more), (other, less)) in enumerate(pairwise(falling)):
            if more >= people > less:
                slope = (more - less) / (other - skill)
                differences = [loss - row[number] for loss, row in zip(band.by_people, band.by_skills, strict=True)]
                error = Z_95 * stdev(differences) / sqrt(len(differences)) / slope
                return Fitted(fmean(band.ratings), skill + (more - people) / slope, error)
        return None

    def lines(self) -> Iterator[str]:
        """Yield the table of the bands."""
        yield f"{'ratings':<14}{'moves':>7}{'loss cp':>9}{'skill':>7}{'95 %':>7}"
        fitted = self.fitted()
        for band, losses in sorted(self.bands.items()):
            if losses.ratings:
                row = f"{_title(band):<14}{len(losses.ratings):>7}{fmean(losses.by_people):>9.0f}"
                it = fitted.get(band)
                yield row + (f"{it.skill:>7.0f}{'+-':>3}{it.error:<4.0f}" if it else f"{'-':>7}")
