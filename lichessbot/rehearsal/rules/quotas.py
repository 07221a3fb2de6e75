"""The quotas of Lichess: games between bots, challenges, arenas, event streams and requests for the account.

Pure: monotonic milliseconds are passed in. A quota counts in a sliding window; a refusal names the seconds until it
allows the request.
"""

import math
from collections import deque
from dataclasses import dataclass, field

from lichessbot.rehearsal.rules.accounts import Account, Grant
from lichessbot.rehearsal.rules.errors import OpponentCapped, QuotaUsedUp, Refused, TooManyRequests
from lichessbot.rehearsal.rules.timing import Timing

BOT_GAMES_PER_DAY = 100
CREDITS_PER_DAY = 200
CREDITS_PER_MINUTE = 25
COST_OF_A_BOT = 1
COST_OF_A_HUMAN = 5
REQUESTS_PER_WINDOW = 30         # for the event stream by token, and for the account by user
ARENA_JOINS_PER_TEN_MINUTES = 30
ARENA_CREDITS_PER_HOUR = 8
ARENA_CREDITS_PER_DAY = 30
COST_OF_AN_ARENA = 2


POLLED = (
    "Please don't poll this endpoint, it is intended to be streamed."
    " See https://lichess.org/api#tag/Board/operation/apiStreamEvent."
)


@dataclass
class Count:
    """The costs in a sliding window, each with its time."""

    window_ms: float
    spent: deque[tuple[int, int]] = field(default_factory=deque)

    def add(self, now_ms: int, cost: int = 1) -> None:
        self.spent.append((now_ms, cost))

    def sum(self, now_ms: int) -> int:
        while self.spent and self.spent[0][0] <= now_ms - self.window_ms:
            self.spent.popleft()
        return sum(cost for _, cost in self.spent)

    def left_s(self, now_ms: int) -> int:
        """Return the whole seconds until the oldest cost leaves the window; for use right after `sum`."""
        return math.ceil((self.spent[0][0] + self.window_ms - now_ms) / 1000)


class Quotas:
    """The counts of every player. Tests change the limits."""

    def __init__(self, timing: Timing) -> None:
        self.bot_games_per_day = BOT_GAMES_PER_DAY
        self._timing = timing
        self._counts: dict[tuple[str, Account | Grant], Count] = {}

    def check_bot_game(self, asking: Account, other: Account, now_ms: int) -> None:
        """Raise if one of two bots has used up its games against bots; games with humans do not count."""
        if not (asking.is_bot and other.is_bot):
            return
        most = self.bot_games_per_day
        ours, theirs = self._bot_games(asking), self._bot_games(other)
        if ours.sum(now_ms) >= most:
            raise QuotaUsedUp(most, ours.left_s(now_ms))
        if theirs.sum(now_ms) >= most:
            raise OpponentCapped(other.name, most, theirs.left_s(now_ms))

    def note_game(self, one: Account, other: Account, now_ms: int) -> None:
        """Count a game that has begun."""
        if one.is_bot and other.is_bot:
            for account in (one, other):
                self._bot_games(account).add(now_ms)

    def spend(self, challenger: Account, target: Account, now_ms: int) -> None:
        """Count a challenge. Raises TooManyRequests if it exceeds a limit."""
        cost = COST_OF_A_BOT if target.is_bot else COST_OF_A_HUMAN
        minute = self._count("challenges of a minute", challenger, self._timing.minute_s)
        day = self._count("challenges of a day", challenger, self._timing.day_s)
        if not _spend(cost, now_ms, (minute, CREDITS_PER_MINUTE), (day, CREDITS_PER_DAY)):
            raise TooManyRequests

    def open_event_stream(self, grant: Grant, now_ms: int) -> None:
        """Count an opening of the event stream. Raises TooManyRequests after too many with one token."""
        count = self._count("event streams", grant, self._timing.event_streams_window_s)
        if not _spend(1, now_ms, (count, REQUESTS_PER_WINDOW)):
            raise TooManyRequests(POLLED)

    def read_account(self, account: Account, now_ms: int) -> None:
        """Count a request for the account. Raises TooManyRequests after too many."""
        count = self._count("account", account, self._timing.account_window_s)
        if not _spend(1, now_ms, (count, REQUESTS_PER_WINDOW)):
            raise TooManyRequests

    def join_arena(self, account: Account, now_ms: int, *, is_new: bool) -> None:
        """Count a request to join. Raises TooManyRequests after too many, Refused after too many new arenas."""
        joins = self._count("joins", account, 10 * self._timing.minute_s)
        hour = self._count("arenas of an hour", account, self._timing.day_s / 24)
        day = self._count("arenas of a day", account, self._timing.day_s)
        cost = COST_OF_AN_ARENA if is_new else 0
        if not _spend(1, now_ms, (joins, ARENA_JOINS_PER_TEN_MINUTES)):
            raise TooManyRequests
        if not _spend(cost, now_ms, (hour, ARENA_CREDITS_PER_HOUR), (day, ARENA_CREDITS_PER_DAY)):
            raise Refused("You are joining too many tournaments")

    def _bot_games(self, account: Account) -> Count:
        return self._count("games with bots", account, self._timing.day_s)

    def _count(self, what: str, whose: Account | Grant, window_s: float) -> Count:
        return self._counts.setdefault((what, whose), Count(1000 * window_s))


def _spend(cost: int, now_ms: int, *limits: tuple[Count, int]) -> bool:
    """Add `cost` to every count and return True; return False, and add nothing, if one would exceed its limit."""
    if any(count.sum(now_ms) + cost > most for count, most in limits):
        return False
    for count, _ in limits:
        count.add(now_ms, cost)
    return True
