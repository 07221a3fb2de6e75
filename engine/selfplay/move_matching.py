"""How often the levels choose the moves that people of their rating played, from a PGN file that is read as a stream.

A file that ends with .zst, as Lichess publishes its games, is unpacked while it is read; that needs the package
`zstandard`.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import BinaryIO

from engine.facade import RATINGS, Engine, InvalidFen, Limits
from engine.pgn.game import Game, UnknownVariant
from engine.pgn.pgn import read_games
from engine.selfplay.sprt import Z_95

BAND = 200                         # of ratings
FIRST_PLY = 10                     # earlier moves are opening knowledge
FULL_NODES = 1000                  # of the full search, for comparison
HASH_MB = 4


class NoUnpacker(ValueError):
    """The file is packed and the package that unpacks it is missing; the message names it."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a PGN file, packed or not. Raises NoUnpacker or OSError."""
    with path.open("rb") as file:
        if path.suffix != ".zst":
            yield file
            return
        try:
            import zstandard
        except ImportError:
            raise NoUnpacker(f"{path} is packed: pip install 'lichessbot-daemon[zst]', or unpack it first") from None
        with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
            yield io.BufferedReader(stream)


@dataclass
class Matched:
    """Positions of one band, and in how many of them the level and the full search chose the person's move."""

    positions: int = 0
    by_level: int = 0
    by_full_search: int = 0


class MoveMatcher:
    """Compares the moves of games with those of the levels."""

    def __init__(self, every: int) -> None:
        """Of the games, one in `every` is used."""
        self.bands: dict[int, Matched] = {}
        self.games = 0
        self._every = every
        self._levels = {"white": Engine(HASH_MB), "black": Engine(HASH_MB)}
        self._full = Engine(HASH_MB)

    def read(self, stream: BinaryIO) -> Iterator[int]:
        """Read the games; yield the number of those used so far after each. Games without ratings are left out."""
        for number, game in enumerate(islice(read_games(stream, variations=False), 0, None, self._every)):
            if self._add(game, number):
                self.games += 1
                yield self.games

    def _add(self, game: Game, number: int) -> bool:
        ratings = {side: game.headers.get(f"{side.title()}Elo", "") for side in ("white", "black")}
        if not any(text.isdecimal() for text in ratings.values()):
            return False
        try:
            board = game.board()
        except (InvalidFen, UnknownVariant):
            return False
        if board.variant != "standard":
            return False
        self._full.new_game()
        for side, text in ratings.items():
            if text.isdecimal():
                self._levels[side].limit_strength(max(RATINGS[0], min(int(text), RATINGS[-1])), number)
        for ply, move in enumerate(game.moves):
            rating = ratings[board.turn]
            if ply >= FIRST_PLY and rating.isdecimal():
                band = self.bands.setdefault(int(rating) // BAND * BAND, Matched())
                level = self._levels[board.turn]
                level.set_position(board)
                self._full.set_position(board)
                band.positions += 1
                band.by_level += level.go(Limits()).best_move == move
                band.by_full_search += self._full.go(Limits(nodes=FULL_NODES)).best_move == move
            board.push(move)
        return True

    def lines(self) -> Iterator[str]:
        """Yield the table: the share of people's moves that were chosen, with 95 % bounds."""
        yield f"{'ratings':<14}{'positions':>10}{'level':>15}{f'{FULL_NODES} nodes':>15}"
        for band, it in sorted(self.bands.items()):
            shares = (_share(found, it.positions) for found in (it.by_level, it.by_full_search))
            yield f"{f'{band} to {band + BAND - 1}':<14}{it.positions:>10}{''.join(f'{share:>15}' for share in shares)}"


def _share(found: int, positions: int) -> str:
    share = found / positions
    return f"{100 * share:.1f} +-{100 * Z_95 * sqrt(share * (1 - share) / positions):.1f} %"
