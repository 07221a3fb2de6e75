"""Requests of the opponent to take a move back: which are granted, and what must wait for that.

Pure. Each state tells whether a request stands. Saying yes to one that is gone would make a request of our own of it,
which is then withdrawn. While a grant is on its way no move is sent: the two would cross, and whichever came second
would be answered with what nobody wanted.
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
from lichessbot.storage.records import LimitedAction
from lichessbot.timeouts import Timeouts

# The same request is answered again if the first answer had no effect.
_MOST_TRIES: Final = 2
# In one game: whoever asks more often is not answered.
_MOST_ANSWERS: Final = 30


class Takebacks:
    """What was asked and granted in one game."""

    def __init__(self, game_id: str, config: Config, granted_earlier: int) -> None:
        """`granted_earlier`: in this game, by processes before this one."""
        self._game_id = game_id
        self._left = config.max_takebacks_accepted - granted_earlier
        self._from_bots = config.takebacks_from_bots
        self._answers_left = _MOST_ANSWERS
        self._asked_after: str | None = None
        """The moves of the state that showed the request answered last."""
        self._answer = AnswerTakeback(game_id, granted=False)
        self._tries = 0
        self.held_until: float | None = None
        """Moves are held back until then, because a grant is on its way; None: they are not."""

    def read(
        self, clock: GameClock, opponent: Player, timeouts: Timeouts, now: float, *, fresh: bool
    ) -> Iterator[Action]:
        """Answer what the state in `clock` shows; a `fresh` one was written after our last answer arrived."""
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
        if self._tries >= _MOST_TRIES or self._answers_left == 0:
            return
        self._tries += 1
        self._answers_left -= 1
        if self._answer.granted:
            self.held_until = now + clock.retry_pause_s(timeouts.offer_answer.total_seconds(), timeouts, now)
        yield self._answer

    def _decide(self, opponent: Player, *, withdraw: bool) -> Iterator[Action]:
        """Once for each request, however often the answer has to be given."""
        granted = not withdraw and self._left > 0 and (self._from_bots or not opponent.is_bot)
        self._answer = AnswerTakeback(self._game_id, granted)
        if granted:
            self._left -= 1
            yield RecordAction(LimitedAction.TAKEBACK)


_MOST_CLAIMS: Final = 20


class Absence:
    """Whether the opponent is away, and what was done about it."""

    def __init__(self, game_id: str, timeouts: Timeouts) -> None:
        self._game_id = game_id
        self._timeouts = timeouts
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
        self._claim_at = now + self._timeouts.claim_retry.total_seconds() if self._claims_left else None
        yield ClaimDraw(self._game_id) if board.has_insufficient_material(colour) else ClaimVictory(self._game_id)
