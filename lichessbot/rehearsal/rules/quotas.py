"""The quotas of Lichess: games between bots, challenges, arenas, event streams and requests for the account.

Pure: monotonic milliseconds are passed in. A quota counts in a sliding window; a refusal names the seconds until it
allows the request.
"""

import math
from collections import deque
from collections.abc import Sequence
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
        self._bot_games: dict[Account, Count] = {}
        self._credits: dict[tuple[Account, int], Count] = {}
        self._joins: dict[Account, tuple[Count, ...]] = {}
        self._event_streams: dict[Grant, Count] = {}
        self._account_requests: dict[Account, Count] = {}

    def check_bot_game(self, asking: Account, other: Account, now_ms: int) -> None:
        """Raise if one of two bots has used up its games against bots; games with humans do not count."""
        if not (asking.is_bot and other.is_bot):
            return
        most = self.bot_games_per_day
        ours, theirs = self._count(asking), self._count(other)
        if ours.sum(now_ms) >= most:
            raise QuotaUsedUp(most, ours.left_s(now_ms))
        if theirs.sum(now_ms) >= most:
            raise OpponentCapped(other.name, most, theirs.left_s(now_ms))

    def note_game(self, one: Account, other: Account, now_ms: int) -> None:
        """Count a game that has begun."""
        if one.is_bot and other.is_bot:
            for account in (one, other):
                self._count(account).add(now_ms)

    def spend(self, challenger: Account, target: Account, now_ms: int) -> None:
        """Count a challenge. Raises TooManyRequests if it exceeds a limit."""
        cost = COST_OF_A_BOT if target.is_bot else COST_OF_A_HUMAN
        counts = [
            (self._credits.setdefault((challenger, most), Count(1000 * window_s)), cost, most)
            for most, window_s in ((CREDITS_PER_MINUTE, self._timing.minute_s), (CREDITS_PER_DAY, self._timing.day_s))
        ]
        if not _spend(counts, now_ms):
            raise TooManyRequests

    def open_event_stream(self, grant: Grant, now_ms: int) -> None:
        """Count an opening of the event stream. Raises TooManyRequests after too many with one token."""
        count = self._event_streams.setdefault(grant, Count(1000 * self._timing.event_streams_window_s))
        if not _spend([(count, 1, REQUESTS_PER_WINDOW)], now_ms):
            raise TooManyRequests(POLLED)

    def read_account(self, account: Account, now_ms: int) -> None:
        """Count a request for the account. Raises TooManyRequests after too many."""
        count = self._account_requests.setdefault(account, Count(1000 * self._timing.account_window_s))
        if not _spend([(count, 1, REQUESTS_PER_WINDOW)], now_ms):
            raise TooManyRequests

    def join_arena(self, account: Account, now_ms: int, *, is_new: bool) -> None:
        """Count a request to join. Raises TooManyRequests after too many, Refused after too many new arenas."""
        minute_ms, day_ms = 1000 * self._timing.minute_s, 1000 * self._timing.day_s
        windows = (10 * minute_ms, day_ms / 24, day_ms)
        joins, hour, day = self._joins.setdefault(account, tuple(Count(window_ms) for window_ms in windows))
        cost = COST_OF_AN_ARENA if is_new else 0
        if not _spend([(joins, 1, ARENA_JOINS_PER_TEN_MINUTES)], now_ms):
            raise TooManyRequests
        if not _spend([(hour, cost, ARENA_CREDITS_PER_HOUR), (day, cost, ARENA_CREDITS_PER_DAY)], now_ms):
            raise Refused("You are joining too many tournaments")

    def _count(self, account: Account) -> Count:
        return self._bot_games.setdefault(account, Count(1000 * self._timing.day_s))


def _spend(counts: Sequence[tuple[Count, int, int]], now_ms: int) -> bool:
    """Add its cost to every count and return True; return False, and add nothing, if one would exceed its limit."""
    if any(count.sum(now_ms) + cost > most for count, cost, most in counts):
        return False
    for count, cost, _ in counts:
        count.add(now_ms, cost)
    return True
