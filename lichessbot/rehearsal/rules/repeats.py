"""Games that repeat an earlier one, which Lichess makes unrated without an event. Pure."""

from collections import deque

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.game import Game

COMPARED_GAMES = 2
COMPARED_PLIES = 20

_Course = tuple[Account | None, tuple[str, ...]]     # the winner, and how the game began


class Repeats:
    """The last games of every pair of players of which one is a bot."""

    def __init__(self) -> None:
        self._last: dict[frozenset[Account], deque[_Course]] = {}

    def note(self, game: Game) -> bool:
        """Remember a finished game; return whether it repeats one of the last two of the same players."""
        white, black = game.setup.white, game.setup.black
        if not (white.is_bot or black.is_bot):
            return False
        winner = None if game.winner is None else game.setup.account(game.winner)
        course = (winner, tuple(game.moves[:COMPARED_PLIES]))
        last = self._last.setdefault(frozenset((white, black)), deque(maxlen=COMPARED_GAMES))
        is_repeated = course in last
        last.append(course)
        return is_repeated
