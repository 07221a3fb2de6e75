"""How much a rated game changes the ratings, as the event stream tells it or not. Pure.

The change is Elo's: how Lichess computes it is of no concern to a client. The players of a rehearsal keep their
ratings, so that its games can be compared.
"""

from zlib import crc32

from lichessbot.rehearsal.rules.enums import Color, Status
from lichessbot.rehearsal.rules.game import Game

MOST_POINTS = 20                  # that a game can change
SCALE = 400                       # points that make a player ten times as strong


def told_rating_change(game: Game, color: Color) -> int | None:
    """Return one player's change by a game that is over; None if it is not rated, and for half of the others."""
    ours, theirs = (game.setup.account(side) for side in (color, color.other))
    if not game.is_rated or game.status is Status.ABORTED or not _is_told(game):
        return None
    score = 0.5 if game.winner is None else float(game.winner is color)
    expected = 1 / (1 + 10 ** ((theirs.rating - ours.rating) / SCALE))
    counts = 0.5 if theirs.is_bot and not ours.is_bot else 1.0      # a person's change against a bot is halved
    return round(MOST_POINTS * (score - expected) * counts)


def _is_told(game: Game) -> bool:
    return crc32(game.id.encode()) % 2 == 0
