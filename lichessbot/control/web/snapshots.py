"""The status for all clients of the web server: asked for at most once a second, compared, and encoded once.

For the thread `web`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from lichessbot.control.commands import ControlCommand, ControlRequest, in_json
from lichessbot.control.status import PlayerStatus, RunningGame, Status, StreamStatus
from lichessbot.errors import LichessBotError
from lichessbot.log import EventLog

EVERY_S: Final = 1.0
PATIENCE_S: Final = 5.0
AT_LEAST_EVERY_S: Final = 10.0
_KEEP_ALIVE_S: Final = 12.0  # if the daemon is too busy to say anything
_QUIET_S: Final = 10.0  # an open stream has a line every 7 s


class NoStatus(LichessBotError):
    """The main thread did not answer in time."""


class Snapshot:
    """A status, encoded at most once."""

    def __init__(self, status: Status) -> None:
        self.status = status

    @cached_property
    def json(self) -> bytes:
        return in_json(self.status)

    @cached_property
    def event(self) -> bytes:
        return b"event: status\ndata: " + self.json + b"\n\n"

    @cached_property
    def still(self) -> Status:
        return without_time(self.status)


@dataclass(eq=False)
class _Follower:
    """A client that follows the status; `news` is set if there is something for it, or if it ends."""

    news: asyncio.Event
    gone: bool = False


class Snapshots:
    """The latest status, requested only while a client looks."""

    def __init__(self, emit: Callable[[ControlRequest], None]) -> None:
        self._emit = emit
        self._log = EventLog()
        self._latest: Snapshot | NoStatus = NoStatus("nothing is known yet")
        self._shown: Snapshot | None = None
        """What followers have seen: a later one that differs only by the time is no news."""
        self._asked_at = self._shown_at = float("-inf")
        self._asking = asyncio.Lock()
        self._followers: set[_Follower] = set()
        self._poller: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def followers(self) -> int:
        return len(self._followers)

    async def latest(self) -> Snapshot:
        """Return a status that is at most about a second old. Raises NoStatus."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= EVERY_S:
                await self._ask_again()
            if isinstance(self._latest, NoStatus):
                raise self._latest
            return self._latest

    async def _ask_again(self) -> None:
        self._asked_at = time.monotonic()
        try:
            self._latest = found = Snapshot(await self._ask())
        except NoStatus as error:
            self._latest = error
            self._asked_at = time.monotonic()  # those who have waited meanwhile need not wait again
        else:
            self._compare(found)

    async def _ask(self) -> Status:
        request = ControlRequest(ControlCommand.STATUS)
        self._emit(request)
        try:
            async with asyncio.timeout(PATIENCE_S):
                status = (await asyncio.wrap_future(request.answer)).status
        except TimeoutError as error:
            raise NoStatus(f"the daemon is too busy: it did not answer within {PATIENCE_S:g} s") from error
        if status is None:
            raise NoStatus("the daemon could not describe itself: see its log")
        return status

    def _compare(self, found: Snapshot) -> None:
        """Tell the followers if a status is news."""
        now = time.monotonic()
        if self._shown is None or now - self._shown_at >= AT_LEAST_EVERY_S or found.still != self._shown.still:
            self._shown, self._shown_at = found, now
            self._wake()

    def _wake(self) -> None:
        for follower in self._followers:
            follower.news.set()

    def stop(self) -> None:
        """End what every follower follows."""
        self._stopping = True
        self._wake()

    async def follow(self, gone: Callable[[], Awaitable[object]]) -> AsyncIterator[Snapshot | None]:
        """Yield the status at once, after each change and now and then; None if nothing was known of it for a while.

        `gone`: a coroutine function that returns once the client has left.
        """
        follower = _Follower(asyncio.Event())
        watcher = asyncio.ensure_future(self._watch(follower, gone))
        self._followers.add(follower)
        if self._poller is None:
            self._poller = asyncio.ensure_future(self._poll())
        try:
            try:
                first: Snapshot | None = await self.latest()
            except NoStatus:
                first = None
            seen = self._shown
            yield first
            while not (self._stopping or follower.gone):
                try:
                    async with asyncio.timeout(_KEEP_ALIVE_S):
                        await follower.news.wait()
                except TimeoutError:
                    yield None
                    continue
                follower.news.clear()
                if self._shown is not seen:
                    seen = self._shown
                    yield seen
        finally:
            self._followers.discard(follower)
            watcher.cancel()

    async def _watch(self, follower: _Follower, gone: Callable[[], Awaitable[object]]) -> None:
        await gone()
        follower.gone = True
        follower.news.set()

    async def _poll(self) -> None:
        """Read the status every second as long as a client follows it."""
        try:
            while self._followers:
                try:
                    await self.latest()
                except NoStatus as error:
                    self._log.debug("web.no_status", error=error)
                except Exception as error:
                    self._log.crash("web.crashed", error)
                await asyncio.sleep(EVERY_S)
        finally:
            self._poller = None


def without_time(status: Status) -> Status:
    """Return a status without what changes by the passage of time alone: a page learns that now and then."""
    connection, lobby = status.connection, status.lobby
    events = None if connection.events is None else _still_stream(connection.events)
    held_back = tuple(replace(it, until_epoch_s=_still(it.until_epoch_s)) for it in connection.requests.held_back)
    requests = replace(connection.requests, held_back=held_back)
    at = lobby.matchmaking.next_attempt_epoch_s
    matchmaking = replace(lobby.matchmaking, next_attempt_epoch_s=None if at is None else _still(at))
    waiting = tuple(replace(it, waits_for_s=0.0, expires_in_s=0.0) for it in lobby.queue)
    is_held_back = float(connection.held_back_s > 0)
    return replace(
        status,
        at_epoch_s=0.0,
        up_for_s=0.0,
        ends_in_s=None if status.ends_in_s is None else 0.0,
        connection=replace(connection, events=events, held_back_s=is_held_back, requests=requests),
        games=tuple(_still_game(game, status.at_epoch_s) for game in status.games),
        lobby=replace(lobby, queue=waiting, matchmaking=matchmaking),
        records=replace(status.records, unwritten_for_s=None if status.records.unwritten_for_s is None else 0.0),
    )


def _still(moment_epoch_s: float) -> float:
    """Return a moment in whole steps of five seconds: found from two clocks, it varies a little."""
    return round(moment_epoch_s / 5.0) * 5.0


def _still_stream(stream: StreamStatus) -> StreamStatus:
    is_quiet = stream.silent_for_s is not None and stream.silent_for_s > _QUIET_S
    return StreamStatus(stream.is_open, None, float(is_quiet))


def _still_game(game: RunningGame, at_epoch_s: float) -> RunningGame:
    def still_player(player: PlayerStatus, colour: str) -> PlayerStatus:
        if player.clock_s is None or not game.clock_runs or game.to_move != colour:
            return player
        # When it will have run down; Lichess may add time to a running clock, 15 seconds at least.
        return replace(player, clock_s=_still(at_epoch_s + player.clock_s))

    return replace(
        game,
        white=still_player(game.white, "white"),
        black=still_player(game.black, "black"),
        stream=None if game.stream is None else _still_stream(game.stream),
        joined_for_s=0.0,
    )
