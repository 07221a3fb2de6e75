"""A game of ours that is over, put together from what its own stream and the event stream said."""

from dataclasses import dataclass

from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFull, Player


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A report to the main loop. `colour` is ours, `plies` those of both sides.

    `was_watched`: whether we saw the game go on; else it may have ended long ago.
    """

    full: GameFull
    colour: Colour
    status: GameStatus
    winner: Colour | None
    plies: int
    was_watched: bool

    @property
    def game_id(self) -> str:
        return self.full.id

    @property
    def us(self) -> Player:
        return self.full.player(self.colour)

    @property
    def opponent(self) -> Player:
        return self.full.player(self.colour.other)

    @property
    def was_played(self) -> bool:
        """Whether both sides made a move."""
        return self.status.was_played

    @property
    def has_result(self) -> bool:
        """Whether Lichess counts the game."""
        return self.status.has_result(self.winner)

    @property
    def result(self) -> str:
        """`won`, `lost` or `drawn`, for us."""
        if self.winner is None:
            return "drawn"
        return "won" if self.winner is self.colour else "lost"
