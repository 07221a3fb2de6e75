"""What the opponent does beside moving: asks for takebacks, and leaves the game, which we then claim.

Pure. Each state tells whether a takeback request stands. Granting one that is gone would become a request of our own.
No move is sent while a grant is on its way: whichever came second would be misunderstood.
"""

from collections.abc import Iterator
from typing import Final

from engine.facade import Board
from lichessbot.config import Config
from lichessbot.games.actions import Action, RecordAction
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.commands import AnswerTakeback, ClaimDraw, ClaimVictory
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import OpponentGone, Player
from lichessbot.storage.store import LimitedAction
from lichessbot.timeouts import Timeouts, is_due

# How often one request is answered if the answer has no effect.
_MAX_TRIES: Final = 2
_MAX_DENIALS_PER_GAME: Final = 30
_MAX_CLAIMS: Final = 20
# Lichess rounds the time until a claim down to whole seconds, and refuses a claim that comes too early.
_CLAIM_ROUNDING_S: Final = 1.0


class Takebacks:
    """The takeback requests of one game and their answers."""

    def __init__(self, game_id: str, config: Config, granted_earlier: int) -> None:
        """`granted_earlier`: in this game, by earlier processes."""
        self._game_id = game_id
        self._left = config.max_takebacks_accepted - granted_earlier
        self._from_bots = config.takebacks_from_bots
        self._denials_left = _MAX_DENIALS_PER_GAME
        self._asked_after: str | None = None
        """The moves of the state that showed the last request."""
        self._answer = AnswerTakeback(game_id, granted=False)
        self._tries = 0
        self.held_until: float | None = None
        """Until then no move is sent, because a grant is on its way."""

    def read(self, clock: GameClock, opponent: Player, now: float, *, fresh: bool) -> Iterator[Action]:
        """Answer the request in the state of `clock`; a `fresh` state is newer than our last answer."""
        state = clock.state
        ours, theirs = state.asks_takeback(clock.colour), state.asks_takeback(clock.colour.other)
        if not (ours or theirs):
            self._asked_after = None
            return
        if self._asked_after != state.moves:
            self._asked_after, self._tries = state.moves, 0
            yield from self._decide(opponent, withdraw=ours)
        elif not fresh:
            return
        granted = self._answer.granted
        if self._tries >= _MAX_TRIES or not (granted or self._denials_left):
            return
        self._tries += 1
        self._denials_left -= not granted
        if granted:
            self.held_until = now + clock.retry_pause_s(clock.timeouts.offer_answer.total_seconds(), now)
        yield self._answer

    def _decide(self, opponent: Player, *, withdraw: bool) -> Iterator[Action]:
        granted = not withdraw and self._left > 0 and (self._from_bots or not opponent.is_bot)
        self._answer = AnswerTakeback(self._game_id, granted)
        if granted:
            self._left -= 1
            yield RecordAction(LimitedAction.TAKEBACK)


class OpponentAbsence:
    """Whether the opponent left the game, and when to claim it.

    Lichess counts down to a claim, and then repeats every few seconds that it is possible. It does not tell if the
    opponent comes back before the end of the countdown, so that each notice is worth one claim only.
    """

    def __init__(self, game_id: str, timeouts: Timeouts) -> None:
        self._game_id = game_id
        self._timeouts = timeouts
        self._claim_at: float | None = None
        self._not_before = 0.0
        self._claims_left = _MAX_CLAIMS
        self._turns: tuple[int, bool] = (0, False)

    def note(self, event: OpponentGone, now: float) -> None:
        """Note that the opponent left or is back."""
        if not event.gone:
            self._claim_at, self._claims_left = None, _MAX_CLAIMS
        elif event.claim_win_in_s is not None and self._claims_left:
            claim_at = max(now + event.claim_win_in_s + _CLAIM_ROUNDING_S, self._not_before)
            self._claim_at = claim_at if self._claim_at is None else min(claim_at, self._claim_at)

    def note_turn(self, plies: int, *, our_turn: bool) -> None:
        """Note whose turn it is: an opponent who has just moved is there."""
        if our_turn and (plies, our_turn) != self._turns:
            self._claim_at, self._claims_left = None, _MAX_CLAIMS
        self._turns = (plies, our_turn)

    @property
    def claim_at(self) -> float | None:
        """When `claim` has something to do."""
        _, our_turn = self._turns
        return None if our_turn else self._claim_at

    def claim(self, board: Board, colour: Colour, now: float) -> Iterator[Action]:
        """Claim the game if that is due: a win if our `colour` has mating material, else a draw."""
        if not is_due(self.claim_at, now):
            return
        self._claims_left -= 1
        self._claim_at, self._not_before = None, now + self._timeouts.claim_retry.total_seconds()
        yield ClaimDraw(self._game_id) if board.has_insufficient_material(colour) else ClaimVictory(self._game_id)
