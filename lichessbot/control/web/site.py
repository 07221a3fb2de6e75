"""What the web server serves, and to whom."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Protocol


class NoGame(Exception):
    """The records have no such game, or none that can be replayed."""


class WrongQuery(Exception):
    """A query that cannot be understood; the text says what was expected."""


class History(Protocol):
    """The records of games as the answers to requests, for any thread.

    Raises WrongQuery, NoGame, and StateError if the records cannot be read.
    """

    def games(self, query: Mapping[str, str]) -> bytes:
        """Return the games that the query means, newest first, as JSON."""

    def game(self, game_id: str) -> bytes:
        """Return a game with its moves and its chat as JSON."""

    def pgn(self, game_id: str) -> bytes:
        """Return a game as PGN."""

    def statistics(self) -> bytes:
        """Return the score, ratings and results of all games as JSON, at once if no game has changed."""


@dataclass(frozen=True, slots=True)
class Site:
    """`host` is an address or `localhost`; with port 0 the system chooses one."""

    host: str
    port: int
    history: History
    files: Traversable
    """The folder with the page's files."""
    password: str | None = field(default=None, repr=False)
    """What a client must know; None: everybody on this machine may look."""
