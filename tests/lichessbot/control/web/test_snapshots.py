"""What counts as news of the status, and how often the main thread is asked."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from lichessbot.control.commands import ControlAnswer, ControlRequest
from lichessbot.control.status import HeldBack, PlayedMove, RecordsStatus, RequestQueue, Status, StreamStatus
from lichessbot.control.web.snapshots import NoStatus, Snapshots, without_time
from tests.lichessbot.control.status_of import GAME, STATUS

# Named in seconds like what grows or shrinks by the passage of time, but a change of these is news.
NEWS = {"clock_s", "nodes_per_s", "round_trip_s", "search_s"}


def later(status: Status, seconds: float) -> Status:
    """A status as it is some seconds later, if nothing happens: White's clock runs in both games."""
    games = [
        replace(
            game,
            joined_for_s=game.joined_for_s + seconds,
            stream=StreamStatus(True, 125.0 + seconds, 3.0 + seconds),
            white=replace(game.white, clock_s=(game.white.clock_s or 0) - seconds),
        )
        for game in status.games
    ]
    (waiting,) = status.lobby.queue
    waiting = replace(waiting, waits_for_s=4 + seconds, expires_in_s=8 - seconds)
    return replace(
        status,
        at_epoch_s=status.at_epoch_s + seconds,
        up_for_s=status.up_for_s + seconds,
        games=tuple(games),
        ends_in_s=None if status.ends_in_s is None else status.ends_in_s - seconds,
        connection=replace(
            status.connection,
            events=StreamStatus(True, 7200 + seconds, 4 + seconds),
            held_back_s=max(0.0, status.connection.held_back_s - seconds),
        ),
        lobby=replace(status.lobby, queue=(waiting,)),
    )


def lasting(it: Any, seconds: float) -> Any:
    """A part of a status in which every duration is known, and has lasted for this many seconds."""
    if isinstance(it, tuple):
        return tuple(lasting(each, seconds) for each in it)
    if not is_dataclass(it):
        return it
    values = {field.name: lasting(getattr(it, field.name), seconds) for field in fields(it)}
    passing = {name for name in values if name.endswith("_s") and not name.endswith("_epoch_s")} - NEWS
    return replace(it, **values | dict.fromkeys(passing, seconds))


def with_next_attempt(at_epoch_s: float) -> Status:
    matchmaking = replace(STATUS.lobby.matchmaking, next_attempt_epoch_s=at_epoch_s)
    return replace(STATUS, lobby=replace(STATUS.lobby, matchmaking=matchmaking))


def test_time_that_passes_is_no_news() -> None:
    assert later(STATUS, 2.0) != STATUS
    assert without_time(later(STATUS, 2.0)) == without_time(STATUS)
    paused = replace(STATUS, ends_in_s=60.0, connection=replace(STATUS.connection, held_back_s=30.0))
    assert without_time(later(paused, 2.0)) == without_time(paused)
    opened, heard = (
        replace(STATUS, connection=replace(STATUS.connection, events=StreamStatus(True, *seconds)))
        for seconds in ((0.0, None), (2.0, 1.0))
    )
    assert without_time(opened) == without_time(heard)
    waiting, still_waiting = (
        replace(STATUS, at_epoch_s=at, games=(replace(GAME, clock_runs=False),)) for at in (1000.0, 1060.0)
    )
    assert without_time(waiting) == without_time(still_waiting), "no clock runs before the first moves"
    blacks_turn, still_blacks_turn = (
        replace(STATUS, at_epoch_s=at, games=(replace(GAME, to_move="black", black=replace(GAME.black, clock_s=left)),))
        for at, left in ((1000.0, 60.0), (1002.0, 58.0))
    )
    assert without_time(blacks_turn) == without_time(still_blacks_turn)


def test_no_duration_is_news_by_passing() -> None:
    lasts, lasted_longer = lasting(STATUS, 100.0), lasting(STATUS, 102.0)
    assert lasts != lasted_longer
    assert without_time(lasts) == without_time(lasted_longer)


def test_moments_that_are_found_from_two_clocks_each_time_are_no_news() -> None:
    def at(off_s: float) -> Status:
        requests = RequestQueue(held_back=(HeldBack("send challenge", 1000.0 + off_s),))
        return replace(with_next_attempt(2000.0 + off_s), connection=replace(STATUS.connection, requests=requests))

    assert without_time(at(3e-7)) == without_time(at(0.0)) != without_time(at(60.0))


@pytest.mark.parametrize(
    "changed",
    [
        replace(STATUS, games=STATUS.games[:1]),
        replace(STATUS, games=(replace(GAME, played=(PlayedMove(1, "e4"),)), STATUS.games[1])),
        replace(STATUS, games=(replace(GAME, white=replace(GAME.white, clock_s=76.9)), STATUS.games[1])),
        replace(STATUS, games=(replace(GAME, black=replace(GAME.black, clock_s=3724.9)), STATUS.games[1])),
        replace(STATUS, games=(replace(GAME, stream=StreamStatus(False, None, 3.0)), STATUS.games[1])),
        replace(STATUS, games=(replace(GAME, stream=None), STATUS.games[1])),
        replace(STATUS, connection=replace(STATUS.connection, events=StreamStatus(True, 7200.0, 11.0))),
        replace(STATUS, connection=replace(STATUS.connection, held_back_s=5.0)),
        replace(STATUS, connection=replace(STATUS.connection, events=None)),
        replace(STATUS, games=(replace(GAME, white=replace(GAME.white, clock_s=None)), STATUS.games[1])),
        with_next_attempt(5000.0),
        replace(STATUS, lobby=replace(STATUS.lobby, queue=())),
        replace(STATUS, ends_in_s=60.0),
        replace(STATUS, records=RecordsStatus(0.0, "disk is full")),
    ],
)
def test_everything_else_is_news(changed: Status) -> None:
    assert without_time(changed) != without_time(STATUS)


class MainThread:
    """Answers with `status`, or not at all while that is None."""

    def __init__(self) -> None:
        self.status: Status | None = STATUS
        self.asked = 0

    def emit(self, request: ControlRequest) -> None:
        self.asked += 1
        if self.status is not None:
            request.reply(ControlAnswer(ok=True, status=self.status))


@pytest.fixture
def main() -> MainThread:
    return MainThread()


@pytest.fixture
def set_seconds(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, float], None]:
    def set_to(name: str, seconds: float) -> None:
        monkeypatch.setattr(f"lichessbot.control.web.snapshots.{name}", seconds)

    return set_to


@pytest.fixture(autouse=True)
def _quick(set_seconds: Callable[[str, float], None]) -> None:
    for name, seconds in {"EVERY_S": 0.1, "_KEEP_ALIVE_S": 0.5, "AT_LEAST_EVERY_S": 100.0}.items():
        set_seconds(name, seconds)


def test_many_clients_ask_once_and_share_what_is_encoded(
    main: MainThread, set_seconds: Callable[[str, float], None]
) -> None:
    async def ask() -> list[Any]:
        snapshots = Snapshots(main.emit)
        set_seconds("EVERY_S", 100.0)
        found = await asyncio.gather(*(snapshots.latest() for _ in range(50)))
        assert main.asked == 1
        set_seconds("EVERY_S", 0.0)
        return [*found, await snapshots.latest()]

    *first, second = asyncio.run(ask())
    assert all(it is first[0] for it in first)
    assert first[0].json is first[0].json
    assert (second is first[0], main.asked) == (False, 2)


def test_a_main_thread_that_does_not_answer_is_reported_and_asked_again(
    main: MainThread, set_seconds: Callable[[str, float], None]
) -> None:
    async def ask() -> None:
        snapshots = Snapshots(main.emit)
        main.status = None
        set_seconds("PATIENCE_S", 0.2)
        with pytest.raises(NoStatus, match="too busy: it did not answer"):
            await snapshots.latest()
        began = time.monotonic()
        for _ in range(10):
            with pytest.raises(NoStatus):
                await snapshots.latest()
        # At most one question per period of 0.1 s: callers in between get the last answer.
        assert main.asked <= 1 + (time.monotonic() - began) / 0.1
        main.status = STATUS
        set_seconds("PATIENCE_S", 60.0)
        await asyncio.sleep(0.11)
        assert (await snapshots.latest()).status is STATUS

    asyncio.run(ask())


def test_those_who_waited_for_an_answer_in_vain_do_not_wait_once_more(
    main: MainThread, set_seconds: Callable[[str, float], None]
) -> None:
    async def ask() -> None:
        snapshots = Snapshots(main.emit)
        main.status = None
        set_seconds("PATIENCE_S", 0.2)
        found = await asyncio.gather(*(snapshots.latest() for _ in range(3)), return_exceptions=True)
        assert [type(it) for it in found] == [NoStatus] * 3

    asyncio.run(ask())
    assert main.asked == 1


def test_a_status_that_a_bug_prevents_is_told() -> None:
    def emit(request: ControlRequest) -> None:
        request.reply(ControlAnswer(ok=False, text="internal error: see the log"))

    with pytest.raises(NoStatus, match="could not describe itself: see its log"):
        asyncio.run(Snapshots(emit).latest())


def test_an_answer_that_comes_too_late_is_ignored(set_seconds: Callable[[str, float], None]) -> None:
    asked: list[ControlRequest] = []
    set_seconds("PATIENCE_S", 0.01)
    set_seconds("EVERY_S", 0.0)

    async def ask_twice() -> None:
        snapshots = Snapshots(asked.append)
        for _ in range(2):
            with pytest.raises(NoStatus, match="too busy: it did not answer"):
                await snapshots.latest()
        asked[0].reply(ControlAnswer(ok=True, status=STATUS))
        set_seconds("EVERY_S", 100.0)
        with pytest.raises(NoStatus, match="too busy: it did not answer"):
            await snapshots.latest()

    asyncio.run(ask_twice())
    asked[1].reply(ControlAnswer(ok=True, status=STATUS))


def test_followers_hear_that_the_main_thread_does_not_answer(
    main: MainThread, set_seconds: Callable[[str, float], None]
) -> None:
    async def follow() -> None:
        snapshots = Snapshots(main.emit)
        set_seconds("PATIENCE_S", 0.2)
        set_seconds("_KEEP_ALIVE_S", 0.5)
        told = snapshots.follow(asyncio.Event().wait)
        first = await anext(told)
        assert first is not None
        main.status = None
        assert await anext(told) is None
        assert await anext(snapshots.follow(asyncio.Event().wait)) is None, "a new follower hears it at once"
        snapshots.stop()

    asyncio.run(follow())


def test_followers_are_told_at_once_and_of_news_only_and_nobody_is_asked_after_them(main: MainThread) -> None:
    async def follow() -> None:
        snapshots = Snapshots(main.emit)
        left = asyncio.Event()
        stream = snapshots.follow(left.wait)
        seen = [await anext(stream)]
        main.status = later(STATUS, 1.0)
        began = time.monotonic()
        assert await anext(stream) is None, "a sign of life"
        assert time.monotonic() - began > 0.4
        while main.asked < 4:
            assert await anext(stream) is None, "time that passes is no news"
        main.status = replace(STATUS, games=())
        while (news := await anext(stream)) is None:
            pass
        seen.append(news)
        assert [len(it.status.games) for it in seen if it] == [2, 0]
        left.set()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        assert snapshots.followers == 0
        while snapshots._poller is not None:
            await asyncio.sleep(0.01)
        asked = main.asked
        await asyncio.sleep(0.3)
        assert main.asked == asked

    asyncio.run(follow())


def test_a_follower_hears_of_the_time_now_and_then(
    main: MainThread, set_seconds: Callable[[str, float], None]
) -> None:
    async def follow() -> None:
        snapshots = Snapshots(main.emit)
        set_seconds("AT_LEAST_EVERY_S", 0.2)
        set_seconds("_KEEP_ALIVE_S", 60.0)
        stream = snapshots.follow(asyncio.Event().wait)
        await anext(stream)
        main.status = later(STATUS, 1.0)
        assert (await anext(stream)).status is main.status, "or its page would call the daemon too busy"
        snapshots.stop()

    asyncio.run(follow())


def test_a_bug_costs_followers_one_look_for_news(main: MainThread, caplog: pytest.LogCaptureFixture) -> None:
    bugs = [ZeroDivisionError("a bug")]

    def emit(request: ControlRequest) -> None:
        if main.asked == 1 and bugs:
            raise bugs.pop()
        main.emit(request)

    async def follow() -> None:
        snapshots = Snapshots(emit)
        stream = snapshots.follow(asyncio.Event().wait)
        await anext(stream)
        main.status = replace(STATUS, games=())
        async with asyncio.timeout(60.0):
            while (news := await anext(stream)) is None:
                pass
        assert news.status is main.status
        snapshots.stop()

    asyncio.run(follow())
    assert (bugs, caplog.text.count("ZeroDivisionError: a bug")) == ([], 1)


def test_stopping_ends_every_stream(main: MainThread) -> None:
    async def follow() -> None:
        snapshots = Snapshots(main.emit)
        streams = [snapshots.follow(asyncio.Event().wait) for _ in range(3)]
        for stream in streams:
            await anext(stream)
        ends = [asyncio.ensure_future(anext(stream, "ended")) for stream in streams]
        await asyncio.sleep(0)
        snapshots.stop()
        assert await asyncio.gather(*ends) == ["ended"] * 3

    asyncio.run(follow())
