"""`lichessbot challenge`: challenges one player to some games in a row, and tells how each ended.

Only asks and watches: the daemon that listens for this account hears of each game like of any other,
and plays it.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import IO, Final, TypeVar

from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.enums import Colour, DeclineReason, GameStatus
from lichessbot.lichess.models import Account, Challenge, GameRecord
from lichessbot.timeouts import Timeouts

_OPEN: Final = ("created", "offline")
_MOST_FAILURES: Final = 10  # of one look, in a row

T = TypeVar("T")


@dataclass(frozen=True)
class Invitation:
    """What was asked for on the command line; without a colour we are White first, then by turns."""

    opponent: str
    terms: Terms
    games: int


class Series:
    """The games of one invitation, one after the other."""

    def __init__(self, invitation: Invitation, access: Access, timeouts: Timeouts, out: IO[str]) -> None:
        self._invitation = invitation
        self._timeouts = timeouts
        self._out = out
        self._api = LichessClient(access, timeouts.request_answer)
        self._pending: str | None = None

    def run(self) -> bool:
        """Play them all. True if every game was played to an end; one line each says how, or what is wrong."""
        try:
            problem = self._problem(self._api.account())
            if problem is not None:
                self._say(problem)
                return False
            return all(self._play(number, colour) for number, colour in enumerate(self._colours(), 1))
        except ApiError as error:
            self._say(f"{self._invitation.opponent}: {error}")
            return False
        finally:
            self._withdraw()
            self._api.close()

    def _problem(self, us: Account) -> str | None:
        """Why no game could be played."""
        if not us.is_bot:
            return f"{us.username} is not a BOT account: run `lichessbot upgrade`"
        if not any(status.online for status in self._api.user_statuses([us.id])):
            return f"{us.username} is not online, and nobody would play: start `lichessbot run` first"
        return None

    def _colours(self) -> Iterator[Colour]:
        asked = self._invitation.terms.colour
        by_turns = itertools.cycle((Colour.WHITE, Colour.BLACK) if asked is None else (asked,))
        return itertools.islice(by_turns, self._invitation.games)

    def _play(self, number: int, colour: Colour) -> bool:
        terms = replace(self._invitation.terms, colour=colour)
        challenge = self._api.create_challenge(self._invitation.opponent, terms)
        self._pending = challenge.id
        challenge = self._answered(challenge)
        if challenge.status in _OPEN and not terms.has_clock:
            self._pending = None
            self._say(f"game {number} {challenge.id}: no answer yet, stays open; the daemon plays it once accepted")
            return True
        if challenge.status != "accepted":
            self._say(f"game {number} {challenge.id}: {_refusal(challenge)}")
            return False
        self._pending = None
        record = self._ended(challenge.id)
        self._say(f"game {number} {challenge.id}: {_result(record, colour)}")
        return record.status is not GameStatus.ABORTED

    def _answered(self, challenge: Challenge) -> Challenge:
        """The challenge with its answer, or as it is when the time for one is over."""
        give_up_at = time.monotonic() + self._timeouts.challenge_open.total_seconds()
        while challenge.status in _OPEN and time.monotonic() < give_up_at:
            time.sleep(self._timeouts.challenge_look.total_seconds())
            challenge = self._patiently(lambda: self._api.challenge(self._pending or ""))
        return challenge

    def _ended(self, game_id: str) -> GameRecord:
        """The game when it is over."""
        record = self._patiently(lambda: self._api.game_record(game_id))
        while not record.status.is_over:
            time.sleep(self._timeouts.game_look.total_seconds())
            record = self._patiently(lambda: self._api.game_record(game_id))
        return record

    def _patiently(self, look: Callable[[], T]) -> T:
        """A look, repeated if Lichess is out of reach or busy. Raises ApiError."""
        for _ in range(_MOST_FAILURES):
            try:
                return look()
            except RateLimited as error:
                time.sleep(error.pause.total_seconds())
            except Unreachable:
                time.sleep(self._timeouts.game_look.total_seconds())
        return look()

    def _withdraw(self) -> None:
        """Nobody shall accept it when we are gone."""
        if self._pending is None:
            return
        try:
            self._api.cancel_challenge(self._pending)
        except Refused:
            return  # it had been answered
        except ApiError as error:
            self._say(f"challenge {self._pending} could not be withdrawn: {error}")

    def _say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


def _refusal(challenge: Challenge) -> str:
    match challenge.status:
        case "declined":
            return f"declined, reason {DeclineReason.received(challenge.decline_reason_key)}"
        case status if status in _OPEN:
            return "no answer, withdrawn"
    return challenge.status


def _result(record: GameRecord, colour: Colour) -> str:
    if record.status is GameStatus.ABORTED:
        return "aborted"
    if record.winner is None:
        return f"drawn ({record.status})"
    return f"{'won' if record.winner is colour else 'lost'} as {colour} ({record.status})"
