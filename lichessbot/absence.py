"""An opponent who left the board: when the game can be claimed, and as what.

Pure. Lichess says how soon a claim is allowed, and hears it on the opponent's turn only. It may still refuse: then it
is made again, now and then, while the opponent stays away.
"""

from collections.abc import Iterator
from typing import Final

from engine.facade import Board
from lichessbot.actions import Action
from lichessbot.events import OpponentGone
from lichessbot.messages import ClaimDraw, ClaimVictory
from lichessbot.vocabulary import Colour
from lichessbot.waits import Waits

_MOST_CLAIMS: Final = 20


class Absence:
    """Whether the opponent is away, and what was done about it."""

    def __init__(self, game_id: str, waits: Waits) -> None:
        self._game_id = game_id
        self._waits = waits
        self._claim_at: float | None = None
        self._claims_left = _MOST_CLAIMS
        self._turns: tuple[int, bool] = (0, False)

    def told(self, event: OpponentGone, now: float) -> None:
        """The opponent left, or is back; what Lichess counts down is said again and again."""
        if not event.gone:
            self._claim_at, self._claims_left = None, _MOST_CLAIMS
        elif event.claim_win_in_s is not None and self._claims_left == _MOST_CLAIMS:
            self._claim_at = now + event.claim_win_in_s

    def follow(self, plies: int, *, our_turn: bool) -> None:
        """A state tells whose turn it is; who has just moved is there."""
        if our_turn and (plies, our_turn) != self._turns:
            self._claim_at, self._claims_left = None, _MOST_CLAIMS
        self._turns = (plies, our_turn)

    @property
    def claim_at(self) -> float | None:
        """When `claim` has something to do."""
        _, our_turn = self._turns
        return None if our_turn else self._claim_at

    def claim(self, board: Board, colour: Colour, now: float) -> Iterator[Action]:
        """The time has come: claim the game as far as `colour`, which is ours, could have won it."""
        if self.claim_at is None or now < self.claim_at:
            return
        self._claims_left -= 1
        self._claim_at = now + self._waits.claim_retry.total_seconds() if self._claims_left else None
        yield ClaimDraw(self._game_id) if board.has_insufficient_material(colour) else ClaimVictory(self._game_id)
