"""Which games are ours: when to read the list of games in progress, and the records if Lichess does not answer.

The list from Lichess is always better than the records of an earlier process, which are used if it does not come in
time.
"""

import math
from collections.abc import Container, Sequence

from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import Account, GameInfo, Opponent, VariantRef
from lichessbot.storage.store import Store, Table
from lichessbot.timeouts import Timeouts


class GameRecovery:
    """The games left over from an earlier process. Times are monotonic seconds, passed in."""

    def __init__(self, store: Store, url: str, timeouts: Timeouts) -> None:
        self._store = store
        self._url = url
        self._patience_s = timeouts.games_told.total_seconds()
        accounts = [user_id for known_url, user_id in store.remembered(Table.ACCOUNT) if known_url == url]
        self.our_id: str = accounts[-1] if accounts else ""
        """The id of our account at this server; empty if unknown."""
        self._left_over: Sequence[tuple[str, str]] = store.left_over
        self._due_at = math.inf
        self._failed = False
        self._waits_for_list = bool(self.our_id and self._left_over)

    @property
    def wake_at(self) -> float | None:
        """When `begin` returns games."""
        return self._due_at if self._waits_for_list and self._due_at < math.inf else None

    def engine_is_good(self, now: float) -> None:
        """Note that games can be played from now on."""
        self._due_at = now if self._failed else now + self._patience_s

    def list_failed(self, now: float) -> None:
        """Note that Lichess did not answer."""
        self._failed = True
        if self._due_at < math.inf:
            self._due_at = now

    def list_came(self, playing: Container[str]) -> None:
        """Note the list from Lichess: all other games that were left over have ended."""
        for game_id, _ in self._left_over:
            if game_id not in playing:
                self._store.note_left(game_id)
        self._left_over, self._waits_for_list = (), False

    def begin(self, now: float) -> list[GameInfo]:
        """Return the games to join from the records, the latest first; none before `wake_at`, and only once."""
        if not self._waits_for_list or now < self._due_at:
            return []
        self._waits_for_list = False
        variant = VariantRef(key=Variant.STANDARD)  # the game's own stream tells the real one
        return [
            GameInfo(gameId=game_id, variant=variant, opponent=Opponent(username=opponent))
            for game_id, opponent in self._left_over
        ]

    def is_another(self, account: Account) -> bool:
        """Return whether the token belongs to another account than before."""
        return self.our_id not in ("", account.id)

    def introduce(self, account: Account) -> None:
        """Store our account."""
        if self.is_another(account):
            self._waits_for_list = False
        self.our_id = account.id
        self._store.put("INSERT OR REPLACE INTO account (single, url, id) VALUES (1, ?, ?)", self._url, account.id)


class Reconciler:
    """Schedules requests for the list of games in progress."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._spacing_s = timeouts.playing_spacing.total_seconds()
        self._heartbeat_s = timeouts.heartbeat.total_seconds()
        self._asked_at = -math.inf
        self._due_at = math.inf
        self._under_way = False

    @property
    def wake_at(self) -> float | None:
        """When the next request is due; None while one is under way or none is planned."""
        return None if self._under_way or self._due_at == math.inf else self._due_at

    def want(self, now: float) -> None:
        """Plan a request that starts from now on."""
        self._due_at = min(self._due_at, max(now, self._asked_at + self._spacing_s))

    def begin(self, now: float) -> bool:
        """Return whether to send a request now, which counts as under way until `done`."""
        if self.wake_at is None or now < self._due_at:
            return False
        self._asked_at, self._due_at, self._under_way = now, math.inf, True
        return True

    def done(self, now: float, *, answered: bool) -> None:
        """Note that the request ended; one without an answer is repeated."""
        self._under_way = False
        pause_s = self._heartbeat_s if answered else self._spacing_s
        self._due_at = min(self._due_at, now + pause_s)
