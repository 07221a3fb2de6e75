"""Arena tournaments: joining, waiting for a game, pairing, and points.

Pure: monotonic milliseconds are passed in. Lichess pairs people while they have the page open, or for a while after a
program of theirs asked (`pairMeAsap`), but bots for as long as they are in, even if they are offline.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Variant
from lichessbot.rehearsal.rules.errors import Refused

WIN_POINTS = 2
DRAW_POINTS = 1


@dataclass(frozen=True)
class ArenaTerms:
    """What the organiser decides. `teams`: the members of each team, if it is a team battle."""

    name: str
    clock: RealTime
    variant: Variant = Variant.STANDARD
    rated: bool = False
    open_to_bots: bool = True
    password: str | None = None
    teams: Mapping[str, Collection[Account]] | None = None


@dataclass(frozen=True)
class Application:
    """The parameters of a request to join."""

    password: str | None = None
    team: str | None = None
    pair_me: bool = False


@dataclass(eq=False)
class Entry:
    """A player in the tournament."""

    account: Account
    here: bool = True                   # has not withdrawn
    waits_until_ms: float = 0.0
    idle_since_ms: float = 0.0
    score: int = 0

    def waits(self, now_ms: int) -> bool:
        """Return whether the player waits for a game, unless one is being played."""
        return self.account.is_bot or self.account.is_house or now_ms < self.waits_until_ms


@dataclass(eq=False)
class Arena:
    """One tournament from its announcement to its end."""

    id: str
    terms: ArenaTerms
    starts_ms: float
    ends_ms: float
    entries: dict[Account, Entry] = field(default_factory=dict)

    def is_started(self, now_ms: int) -> bool:
        return now_ms >= self.starts_ms

    def is_finished(self, now_ms: int) -> bool:
        return now_ms >= self.ends_ms

    def join(self, account: Account, application: Application, now_ms: int, waits_s: float) -> None:
        """Enter, return, or keep waiting. Raises Refused with the words of Lichess."""
        if self.is_finished(now_ms):
            raise Refused("This tournament no longer exists")
        entry = self.entries.get(account)
        if entry is None:
            self._check(account, application)
            entry = self.entries[account] = Entry(account, idle_since_ms=now_ms)
        entry.here = True
        if application.pair_me and self.is_started(now_ms):
            entry.waits_until_ms = now_ms + 1000 * waits_s

    def withdraw(self, account: Account, now_ms: int) -> None:
        """Leave before the start, or pause after it; no effect on accounts that have not joined."""
        if account not in self.entries:
            return
        if self.is_started(now_ms):
            self.entries[account].here = False
        else:
            del self.entries[account]

    def pairs(self, busy: Collection[Account], now_ms: int) -> Iterator[tuple[Account, Account]]:
        """Return pairs of waiting players, the best first, each as White and Black.

        If their number is odd, the player who played last waits.
        """
        if not self.is_started(now_ms) or self.is_finished(now_ms):
            return
        waiting = [
            entry
            for entry in sorted(self.entries.values(), key=lambda it: it.idle_since_ms)
            if entry.here and entry.account not in busy and entry.waits(now_ms)
        ]
        paired = sorted(waiting[: len(waiting) // 2 * 2], key=lambda it: -it.score)
        for one, other in zip(paired[::2], paired[1::2], strict=True):
            one.waits_until_ms = other.waits_until_ms = 0.0
            yield one.account, other.account

    def end_game(self, account: Account, points: int, now_ms: int) -> None:
        """Note that the game of a player is over, for this many points."""
        self.entries[account].idle_since_ms = now_ms
        self.entries[account].score += points

    def _check(self, account: Account, application: Application) -> None:
        if self.terms.password is not None and application.password != self.terms.password:
            raise Refused("Wrong entry code")
        if account.is_bot and not self.terms.open_to_bots:
            raise Refused("Tournament restrictions")
        teams = self.terms.teams
        if teams is not None and account not in teams.get(application.team or "", ()):
            raise Refused("Missing team")
