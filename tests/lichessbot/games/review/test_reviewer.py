"""When the daemon reviews games, and when not."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lichessbot.config import Config
from lichessbot.games.recording.archive import ArchivedGame
from lichessbot.games.review import reviewer as module
from lichessbot.games.review.reviewer import Reviewer
from lichessbot.games.session import GameContext
from lichessbot.inbox import ReviewDone
from lichessbot.lichess.commands import CommandDone, ReadChat, Say
from lichessbot.lichess.enums import ChatRoom
from lichessbot.lichess.models import ChatLine
from lichessbot.storage.game_records import GameRecord
from lichessbot.timeouts import Timeouts
from tests.lichessbot.games.recording.recorded import Notes
from tests.lichessbot.games.review.games import GAME, MOVES, reviewed
from tests.patience import until

OVER = ArchivedGame(GAME, MOVES)
PATIENCE_S = 180.0
TIMEOUTS = Timeouts()
LOOK_S = TIMEOUTS.review_look.total_seconds()


class Bench:
    """A reviewer whose outbox and store are lists, on a machine with a core to spare."""

    def __init__(self, review: str = "asked") -> None:
        self.reports: SimpleQueue[ReviewDone] = SimpleQueue()
        self.sent: list[object] = []
        self.store = Notes()
        self.reviewer = Reviewer(self.reports.put)
        self.reviewer.give_way(core_is_free=True)
        config = Config.model_validate({"greeting": {"review": review}})
        outbox = SimpleNamespace(send=self.sent.append)
        self.context = cast(
            GameContext, SimpleNamespace(config=config, timeouts=TIMEOUTS, outbox=outbox, store=self.store)
        )

    def over(self, *, is_wanted: bool = True, **changes: Any) -> None:
        game = replace(OVER, record=replace(GAME, **changes))
        self.reviewer.game_over(game, self.context, is_wanted=is_wanted)

    def report(self) -> ReviewDone:
        return self.reports.get(timeout=PATIENCE_S)

    @property
    def is_silent(self) -> bool:
        try:
            self.reports.get(timeout=0.2)
        except Empty:
            return True
        return False

    def hears(self, text: str, username: str = "Ada") -> None:
        line = ChatLine(room="player", username=username, text=text)
        self.reviewer.handle(CommandDone(ReadChat(GAME.id), (line,)))


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.reviewer.close()


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have reviews done at once, without an engine, and return the ids of the games that were reviewed."""
    done: list[str] = []

    def analyse(game: GameRecord, *_: object, before_each: Callable[[], None]) -> object:
        before_each()
        done.append(game.id)
        return reviewed()

    monkeypatch.setattr(module, "analyse", analyse)
    monkeypatch.setattr(module, "review_engine", lambda *_: SimpleNamespace(close=lambda: None))
    return done


def test_a_wanted_review_is_made_by_our_engine_recorded_and_said(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    bench.over()
    done = bench.report()
    assert done.game_id == GAME.id
    assert "5. Nxf7 (your chances fell from" in done.lines[0]
    assert f'said="{done.lines[0]}' in caplog.text
    assert next(sql.split("(")[0] for sql, _ in bench.store.statements) == "INSERT OR REPLACE INTO reviews "
    bench.reviewer.handle(done)
    assert bench.sent == [Say(GAME.id, ChatRoom.PLAYER, line) for line in done.lines]


def test_the_next_game_is_reviewed_if_the_thread_could_not_be_started(
    bench: Bench, analysed: list[str], no_thread_once: None
) -> None:
    bench.over()
    bench.over(id="game0002")
    assert bench.report().game_id == "game0002"


def test_a_review_waits_for_a_core(bench: Bench, analysed: list[str]) -> None:
    bench.reviewer.give_way(core_is_free=False)
    bench.over()
    assert bench.is_silent
    bench.reviewer.give_way(core_is_free=True)
    assert bench.report().game_id == GAME.id
    assert analysed == [GAME.id]


def test_a_review_pauses_between_two_positions_without_its_engine(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, closed, seconds = threading.Event(), [], [0.0]

    def analyse(*_: object, before_each: Callable[[], None]) -> object:
        before_each()
        begun.set()
        while not closed:  # until the main thread has told it to give way
            time.sleep(0.005)
            before_each()
        return reviewed()

    engine = SimpleNamespace(close=lambda: closed.append(1))
    monkeypatch.setattr(module, "analyse", analyse)
    monkeypatch.setattr(module, "review_engine", lambda *_: engine)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    bench.over()
    assert begun.wait(PATIENCE_S)
    worker = bench.reviewer._worker
    await_core = worker._may_search.wait

    def wait_for_long() -> bool:
        seconds[0] += 2 * module._LONGEST_S  # which does not count as searching
        return await_core()

    monkeypatch.setattr(worker._may_search, "wait", wait_for_long)
    bench.reviewer.give_way(core_is_free=False)
    until(lambda: closed, patience_s=PATIENCE_S)
    assert bench.is_silent
    bench.reviewer.give_way(core_is_free=True)
    assert bench.report().game_id == GAME.id


def test_the_end_of_the_daemon_drops_reviews(
    bench: Bench, analysed: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    bench.reviewer.give_way(core_is_free=False)
    bench.over()
    worker = bench.reviewer._worker
    bench.reviewer.close()
    worker.join(PATIENCE_S)
    assert not worker.is_alive()
    assert (analysed, bench.is_silent, caplog.text) == ([], True, "")


def test_games_of_another_account_are_reviewed_after_the_reviews_of_the_first_were_dropped(
    bench: Bench, analysed: list[str]
) -> None:
    bench.over()
    assert bench.report().game_id == GAME.id
    bench.over(id="game0001", is_wanted=False)
    bench.reviewer.close()
    assert bench.reviewer.wake_at is None, "the other account cannot read the chats of the first"
    bench.over(id="game0002")
    assert bench.report().game_id == "game0002"


def test_a_failed_review_costs_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, analysed: list[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "_LONGEST_S", -1.0)
        bench.over(id="slow0001")
        until(lambda: "review.failed" in caplog.text, patience_s=PATIENCE_S)
    bench.over(variant="unknown to this version")
    bench.over()
    assert bench.report().game_id == GAME.id
    assert analysed == [GAME.id]
    assert "review.crashed" not in caplog.text


def test_a_bug_in_a_review_costs_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, analysed: list[str]
) -> None:
    failures = [ZeroDivisionError("a bug")]

    def review_of(*of: Any) -> object:
        if failures:
            raise failures.pop()
        return review(*of)

    review = module.review_of
    monkeypatch.setattr(module, "review_of", review_of)
    bench.over(id="game0002")
    bench.over()
    assert bench.report().game_id == GAME.id
    assert "review.crashed game=game0002" in caplog.text
    assert "ZeroDivisionError: a bug" in caplog.text


def test_too_many_reviews_are_not_queued(bench: Bench, caplog: pytest.LogCaptureFixture, analysed: list[str]) -> None:
    caplog.set_level("INFO")
    bench.reviewer.give_way(core_is_free=False)
    for number in range(25):
        bench.over(id=f"game{number:04d}")
    assert caplog.text.count("review.dropped") in (4, 5), "one may be taken by the worker, which waits for a core"


def test_what_comes_too_late_is_recorded_and_not_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, analysed: list[str]
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(module, "_SAID_WITHIN_S", -1.0)
    bench.over()
    assert bench.report().lines == ()
    assert bench.store.statements
    assert "review.done" in caplog.text
    assert "said=" not in caplog.text


# Asked for after the end


def test_the_chat_of_a_game_is_read_three_times_after_its_end(bench: Bench) -> None:
    began = time.monotonic()
    bench.over(is_wanted=False)
    wake_at = bench.reviewer.wake_at
    over_at = wake_at - LOOK_S
    assert began <= over_at <= time.monotonic()
    for times in (1, 3, 9):
        bench.reviewer.tick(wake_at - 0.1)
        bench.reviewer.tick(wake_at)
        assert bench.sent == [ReadChat(GAME.id)]
        bench.sent.clear()
        assert wake_at == pytest.approx(over_at + times * LOOK_S)
        wake_at = bench.reviewer.wake_at
    bench.reviewer.tick(wake_at)
    assert (bench.reviewer.wake_at, bench.sent) == (None, [])


def test_only_the_opponent_can_ask_and_once(bench: Bench, analysed: list[str]) -> None:
    bench.over(is_wanted=False)
    bench.hears("!review", username="TestBot")
    bench.hears("review?")
    bench.hears("!help")
    bench.reviewer.handle(CommandDone(ReadChat(GAME.id), ()))
    assert bench.is_silent
    bench.hears("!Review please")
    assert bench.report().game_id == GAME.id
    bench.hears("!review")
    assert bench.is_silent
    assert analysed == [GAME.id]


@pytest.mark.parametrize(
    ("text", "username"), [("! review", "Ada"), ("!review: please", "Ada"), ("!review?", "Ada"), ("!review", "GM Ada")]
)
def test_after_the_game_a_command_is_read_as_during_it(
    bench: Bench, analysed: list[str], text: str, username: str
) -> None:
    bench.over(is_wanted=False)
    bench.hears(text, username)
    assert bench.reviewer.wake_at is None, "nobody has to ask again"
    assert bench.report().game_id == GAME.id


@pytest.mark.parametrize(
    "changes", [{"opponent_title": "BOT"}, {"result": None}, {"opponent_id": ""}], ids=["bot", "aborted", "anonymous"]
)
def test_no_chat_is_read_in_vain(bench: Bench, changes: dict[str, Any]) -> None:
    bench.over(is_wanted=False, **changes)
    assert bench.reviewer.wake_at is None


def test_an_operator_can_switch_reviews_off() -> None:
    bench = Bench("never")
    for is_wanted in (False, True):
        bench.over(is_wanted=is_wanted)
    assert bench.reviewer.wake_at is None
    assert bench.is_silent
