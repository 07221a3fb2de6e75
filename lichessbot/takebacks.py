"""Requests of the opponent to take a move back: which are granted, and what must wait for that.

Pure. Each state tells whether a request stands. Saying yes to one that is gone would make a request of our own of it,
which is then withdrawn. While a grant is on its way no move is sent: the two would cross, and whichever came second
would be answered with what nobody wanted.
"""

from collections.abc import Iterator
from typing import Final

from lichessbot.actions import Action, Remember
from lichessbot.clock import GameClock
from lichessbot.config import Config
from lichessbot.events import Player
from lichessbot.messages import AnswerTakeback, Deed
from lichessbot.waits import Waits

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

    def read(self, clock: GameClock, opponent: Player, waits: Waits, now: float, *, fresh: bool) -> Iterator[Action]:
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
            self.held_until = now + clock.retry_pause_s(waits.offer_answer.total_seconds(), waits, now)
        yield self._answer

    def _decide(self, opponent: Player, *, withdraw: bool) -> Iterator[Action]:
        """Once for each request, however often the answer has to be given."""
        granted = not withdraw and self._left > 0 and (self._from_bots or not opponent.is_bot)
        self._answer = AnswerTakeback(self._game_id, granted)
        if granted:
            self._left -= 1
            yield Remember(Deed.TAKEBACK)
