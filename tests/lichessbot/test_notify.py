"""What the operator's program is told, and that nothing it does disturbs the daemon."""

import json
import logging
import stat
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lichessbot.config import Config
from lichessbot.config.notify import NotifyConfig, NotifyEvent
from lichessbot.errors import ExitCode, Refused, Unreachable
from lichessbot.inbox import Report
from lichessbot.lichess.answers import Account, TokenInfo
from lichessbot.lichess.commands import CommandDone, CommandFailed, ReadAccount, ReadToken
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import GameFull
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamOpened, StreamRefused
from lichessbot.log import EventLog
from lichessbot.notify import Notice, Notifier, _Worker, run_program, token_end
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.timeouts import Timeouts
from lichessbot.uci import startup_check
from lichessbot.uci.search import NO_GAME, EngineDied
from tests.fakes.arena import Arena, SlowOpponent, inspected, judge
from tests.patience import until
from tests.processes import is_alive
from tests.time_zone import FAR_EAST, in_time_zone

GAME = "abcd1234"
DAY_S = 86400
TOLD = Notice("game_lost", "lost against X", {"game_id": GAME, "rated": True, "opponent_rating": None})
RECORDER = """\
#!{python} -S
import json, os, sys
told = {{"stdin": json.load(sys.stdin), "environment": dict(os.environ)}}
with open({file!r}, "a") as file:
    file.write(json.dumps(told) + "\\n")
"""


class Bench:
    """A notifier whose notices are kept instead of told."""

    def __init__(self, **keys: Any) -> None:
        self.notices: list[Notice] = []
        self.sent: list[tuple[object, timedelta]] = []
        self.notifier = Notifier(self, self, Timeouts())  # type: ignore[arg-type]
        self.notifier._worker = self  # type: ignore[assignment]
        self.config = Config.model_validate({"notify": {"command": ["x"], "on": list(NotifyEvent), **keys}})

    def send(self, command: object, after: timedelta = timedelta()) -> None:
        self.sent.append((command, after))

    def tell(self, config: NotifyConfig, notice: Notice) -> None:
        self.notices.append(notice)

    def close(self) -> None:
        pass

    def handle(self, *reports: Report) -> list[str]:
        """Return the events that these reports led to."""
        before = len(self.notices)
        for report in reports:
            self.notifier.handle(report)
        return [notice.event for notice in self.notices[before:]]


def account() -> CommandDone:
    return CommandDone(ReadAccount(), Account(id="testbot", username="TestBot", title="BOT"))


def full(moves: str = "", **changes: Any) -> GameFull:
    state = {"moves": moves, "wtime": 1, "btime": 1, "status": "started"}
    white = {"id": "testbot", "name": "TestBot", "rating": 2000}
    black = {"id": "maia1", "name": "maia1", "title": "BOT", "rating": 1600}
    body = {"id": GAME, "variant": {"key": "standard"}, "white": white, "black": black, "state": state}
    clock = {"initial": 180_000, "increment": 2000}
    return GameFull.model_validate({**body, "speed": "blitz", "clock": clock, **changes})


def finished(status: GameStatus, winner: Colour | None, colour: Colour = Colour.WHITE) -> FinishedGame:
    return FinishedGame(full(), colour, status, winner, 40, was_watched=True)


# What is told


def test_a_short_break_is_not_told_and_a_long_one_is_told_with_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, lost = Bench(), StreamLost(None, "reset", timedelta(seconds=1))
    now = float(round(time.monotonic()))       # sums of whole seconds are exact
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert bench.handle(StreamOpened(None), lost, StreamOpened(None)) == []
    assert bench.handle(lost) == []
    now += 299
    assert bench.handle(lost) == []
    now += 2
    assert bench.handle(lost, lost) == ["offline"]
    assert bench.notices[-1].text == "no connection to Lichess for 301 s: reset"
    now += 99
    assert bench.handle(StreamOpened(None), StreamOpened(None)) == ["online"]
    assert bench.notices[-1].facts["seconds"] == 400


def test_an_event_stream_that_lichess_refuses_is_told_though_the_account_can_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, refused = Bench(), StreamRefused(None, 403, "Forbidden")
    now = float(round(time.monotonic()))
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert bench.handle(StreamOpened(None), refused, account(), StreamRefused(GAME, 404, "No such game")) == []
    now += 300
    assert bench.handle(account(), refused, account()) == ["offline"]
    assert bench.notices[-1].text == "no connection to Lichess for 300 s: 403: Forbidden"
    assert bench.handle(StreamOpened(None)) == ["online"]


def test_an_account_that_cannot_be_read_is_no_outage_while_events_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, now = Bench(), float(round(time.monotonic()))
    monkeypatch.setattr(time, "monotonic", lambda: now)
    bench.handle(StreamOpened(None), CommandFailed(ReadAccount(), Refused(401, "No such token")), account())
    now += 3600
    assert bench.handle(StreamLost(None, "reset", timedelta(seconds=1)), StreamOpened(None)) == []


def test_lichess_that_is_never_reached_is_told_too() -> None:
    bench = Bench(offline_after=0)
    failed = CommandFailed(ReadAccount(), Unreachable("name resolution failed"))
    assert bench.handle(failed, failed) == ["offline"]
    assert bench.notices[-1].facts["reason"] == "name resolution failed"


def test_streams_of_games_do_not_count_as_the_connection() -> None:
    bench = Bench(offline_after=0)
    assert bench.handle(StreamLost(GAME, "reset", timedelta()), StreamOpened(GAME)) == []


def test_the_start_of_a_game_is_told_once_with_its_facts() -> None:
    bench = Bench()
    assert bench.handle(StreamEvent(GAME, full(), 0.0)) == []     # who we are is unknown
    opened = StreamEvent(GAME, full("e2e4"), 0.0)
    strangers = StreamEvent("abcd9999", full("e2e4", id="abcd9999", white={"id": "somebody"}), 0.0)
    assert bench.handle(account(), opened, opened, strangers) == ["game_started"]
    (notice,) = bench.notices
    assert notice.text == f"game {GAME} started: white against BOT maia1 (1600)"
    assert notice.facts == {
        "account": "TestBot", "game_id": GAME, "url": f"https://lichess.org/{GAME}", "opponent": "maia1",
        "opponent_title": "BOT", "opponent_rating": 1600, "our_rating": 2000, "colour": "white", "variant": "standard",
        "speed": "blitz", "clock": "3+2", "rated": False,
    }  # fmt: skip
    by_days = StreamEvent("abcd8888", full(id="abcd8888", speed="correspondence", clock=None), 0.0)
    assert bench.handle(by_days) == ["game_started"]


def test_a_game_that_is_resumed_is_no_new_game() -> None:
    assert Bench().handle(account(), StreamEvent(GAME, full("e2e4 e7e5"), 0.0)) == []


@pytest.mark.parametrize(
    ("status", "winner", "event"),
    [
        (GameStatus.MATE, Colour.WHITE, "game_won"),
        (GameStatus.RESIGN, Colour.BLACK, "game_lost"),
        (GameStatus.OUT_OF_TIME, Colour.BLACK, "lost_on_time"),
        (GameStatus.OUT_OF_TIME, Colour.WHITE, "game_won"),
        (GameStatus.OUT_OF_TIME, None, "game_drawn"),
        (GameStatus.ABORTED, None, None),
        (GameStatus.NO_START, Colour.WHITE, "game_won"),
        (GameStatus.NO_START, Colour.BLACK, "game_lost"),
        (GameStatus.NO_START, None, None),
    ],
)
def test_each_end_of_a_game(status: GameStatus, winner: Colour | None, event: str | None) -> None:
    bench, ended = Bench(), finished(status, winner)
    assert bench.handle(ended, ended) == ([event] if event else [])


def test_a_loss_on_time_is_also_a_loss() -> None:
    bench = Bench(on=["game_lost"])
    assert bench.handle(finished(GameStatus.OUT_OF_TIME, Colour.BLACK)) == ["game_lost"]
    assert bench.notices[0].text == f"lost against BOT maia1 (1600) (outoftime): https://lichess.org/{GAME}"


def test_the_token_is_looked_at_every_day_and_its_end_told_ahead(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    assert bench.handle(StreamOpened(None), StreamOpened(None)) == []
    assert bench.sent == [(ReadToken(), timedelta())]
    told = []
    for days in (30, 14, 13, 7, 5, 1, 1, 0):
        expires_ms = int((time.time() + days * DAY_S + 60) * 1000)
        answer = TokenInfo.model_validate({"userId": "testbot", "scopes": "bot:play", "expires": expires_ms})
        if bench.handle(CommandDone(ReadToken(), answer)):
            told.append(bench.notices[-1].facts["days_left"])
    assert told == [14, 7, 1]
    assert caplog.text.count("token.expires") == 3
    assert bench.sent[1:] == [(ReadToken(), timedelta(days=1))] * 8


@in_time_zone(FAR_EAST)
def test_the_day_on_which_the_token_expires_is_one_of_utc() -> None:
    expires = datetime(2026, 12, 31, 23, 30, tzinfo=UTC).timestamp()
    token = TokenInfo.model_validate({"userId": "testbot", "expires": int(expires * 1000)})
    assert token_end(token, expires - 5.9 * DAY_S) == ("2026-12-31", 5)
    assert token_end(token, expires + 60) == ("2026-12-31", 0)


def test_a_token_without_an_end_or_answer_is_asked_again_tomorrow() -> None:
    bench = Bench()
    unknown = CommandDone(ReadToken(), None)
    eternal = CommandDone(ReadToken(), TokenInfo.model_validate({"userId": "testbot", "expires": None}))
    assert bench.handle(unknown, eternal, CommandFailed(ReadToken(), Unreachable("x"))) == []
    assert len(bench.sent) == 3


def test_an_engine_that_dies_is_told_once_for_each_game() -> None:
    bench, died = Bench(), EngineDied(GAME, 1, "killed by SIGSEGV")
    assert bench.handle(EngineDied(startup_check.GAME_ID, 1, "x"), died, died) == ["engine_died"]


def test_an_engine_that_dies_between_two_games_is_told_without_a_game() -> None:
    bench, died = Bench(), EngineDied(NO_GAME, None, "ended by itself, killed by SIGKILL")
    assert bench.handle(died, died) == ["engine_died"]
    (notice,) = bench.notices
    assert notice.text == "an engine died between two games: ended by itself, killed by SIGKILL"
    assert "game_id" not in notice.given()
    assert bench.handle(StreamEvent(GAME, full("e2e4 e7e5"), 0.0), died, died) == ["engine_died"]


@pytest.mark.parametrize(
    ("code", "events"),
    [
        (ExitCode.OK, ["daemon_stopped"]),
        (ExitCode.REFUSED, ["token_refused", "daemon_stopped"]),
        (None, ["daemon_stopped"]),
    ],
)
def test_the_end_of_the_daemon_is_told(code: ExitCode | None, events: list[str]) -> None:
    bench = Bench()
    bench.notifier.close(code)
    assert [notice.event for notice in bench.notices] == events
    assert bench.notices[-1].facts["exit_code"] == (1 if code is None else code)
    reason = "stopped as asked, no game with a clock left" if code is ExitCode.OK else ""
    assert bench.notices[-1].text.startswith(f"the daemon ended: {reason}")


def test_without_a_command_or_events_nothing_is_sent() -> None:
    assert Bench(command=None).handle(finished(GameStatus.MATE, Colour.WHITE)) == []
    assert Bench(on=["offline"]).handle(finished(GameStatus.MATE, Colour.WHITE)) == []


# The program


def recorder(folder: Path) -> Path:
    program = folder / "recorder.py"
    program.write_text(RECORDER.format(python=sys.executable, file=str(folder / "told")))
    program.chmod(stat.S_IRWXU)
    return program


def recorded(folder: Path) -> list[dict[str, Any]]:
    file = folder / "told"
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]  # the last may be half written


@in_time_zone(FAR_EAST)
def test_the_facts_are_in_the_environment_and_on_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LICHESS_BOT_TOKEN", "lip_secret")
    monkeypatch.setenv("NOTIFY_SOCKET", "@manager")
    began_at = datetime.now(UTC).replace(microsecond=0)
    assert run_program([str(recorder(tmp_path))], TOLD, 30) is None
    (told,) = recorded(tmp_path)
    given, environment = told["stdin"], told["environment"]
    assert (given["event"], given["game_id"], given["rated"]) == ("game_lost", GAME, True)
    assert "opponent_rating" not in given
    assert environment["LICHESSBOT_EVENT"] == "game_lost"
    assert environment["LICHESSBOT_TEXT"] == "lost against X"
    assert environment["LICHESSBOT_RATED"] == "true"
    assert environment["LICHESSBOT_TIME"] == given["time"]
    told_at = datetime.strptime(given["time"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert began_at <= told_at <= datetime.now(UTC)
    assert not {"LICHESS_BOT_TOKEN", "NOTIFY_SOCKET"} & environment.keys()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 0", None),
        ("cat >/dev/null", None),
        ("echo one; echo two >&2; exit 7", "sh ended with exit code 7: two"),
        ("printf '\\033[2J'; exit 1", "sh ended with exit code 1: \\x1b[2J"),
        ("printf %0500d 1; exit 1", f"sh ended with exit code 1: {1:0500}"),  # the log hides secrets, then cuts it
        ("kill -9 $$", "sh ended with exit code -9"),
        ("head -c 3000000 /dev/zero; exit 0", None),
        ("sleep 30 & exit 0", None),
    ],
)
def test_what_a_program_may_do(script: str, problem: str | None) -> None:
    started_at = time.monotonic()
    assert run_program(["sh", "-c", script], TOLD, 25) == problem
    assert time.monotonic() - started_at < 20


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 600 & echo waiting; echo $! >{tmp_path}/child; wait"
    child, limit_s = tmp_path / "child", 1
    while not (child.exists() and child.read_text()) and limit_s < 60:  # a busy machine may not come so far
        limit_s *= 2
        problem = run_program(["sh", "-c", script], TOLD, limit_s)
        assert problem is not None
    assert problem == f"sh was still running after {limit_s} s and was killed: waiting"
    until(lambda: not is_alive(int(child.read_text())))


@pytest.mark.parametrize("name", ["/nowhere/notifier", "no-such-program-here", "/etc/passwd"])
def test_a_program_that_is_missing_is_named(name: str) -> None:
    assert run_program([name], TOLD, 5).startswith(f"{name} cannot be started: ")


# The thread


@pytest.fixture
def worker() -> Iterator[_Worker]:
    worker = _Worker(EventLog())
    yield worker
    worker.close()


def test_a_failing_program_is_one_line_until_it_works(
    worker: _Worker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    switch = NotifyConfig(command=("sh", "-c", f"test -e {tmp_path}/good"))
    for _ in range(3):
        worker.tell(switch, TOLD)
    worker.tell(NotifyConfig(command=("touch", f"{tmp_path}/good")), TOLD)
    worker.tell(switch, TOLD)
    worker.start()
    worker.close()
    worker.join(60)
    assert caplog.text.count("notify.failed") == 1
    assert 'notify.failed notice=game_lost problem="sh ended with exit code 1"' in caplog.text
    assert caplog.text.count("notify.works_again") == 1


def test_a_bug_costs_one_notice(worker: _Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    divisors = [1, 0]
    monkeypatch.setattr("lichessbot.notify.run_program", lambda *_: str(1 / divisors.pop()))
    for _ in range(2):
        worker.tell(NotifyConfig(command=("true",)), TOLD)
    worker.start()
    until(lambda: not divisors)


def test_a_thread_that_could_not_be_started_is_started_for_the_next_notice(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, no_thread_once: None
) -> None:
    bench = Bench()
    monkeypatch.setattr("lichessbot.notify.run_program", lambda command, notice, timeout: bench.notices.append(notice))
    bench.notifier._worker = None
    bench.notifier._tell(NotifyEvent.GAME_LOST, "one", {})
    assert "thread.not_started" in caplog.text
    bench.notifier._tell(NotifyEvent.GAME_LOST, "two", {})
    bench.notifier._worker.close()
    bench.notifier._worker.join(60)
    assert [it.text for it in bench.notices] == ["two"]


def test_a_thread_that_cannot_be_started_at_the_end_changes_no_exit_code(no_thread_once: None) -> None:
    bench = Bench(on=["daemon_stopped"])
    bench.notifier._worker = None
    bench.notifier.close(ExitCode.REFUSED)     # an error here would take the place of the exit code


def test_events_are_dropped_when_too_many_wait(worker: _Worker, caplog: pytest.LogCaptureFixture) -> None:
    config = NotifyConfig(command=("true",))
    for _ in range(30):
        worker.tell(config, TOLD)
    assert caplog.text.count("notify.dropped") == 1
    worker.start()


@pytest.mark.parametrize("waiting", [0, 2, 20])
def test_the_end_waits_for_a_hanging_program_for_a_limited_time_and_names_what_was_not_told(
    worker: _Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, waiting: int
) -> None:
    monkeypatch.setattr("lichessbot.notify._CLOSE_WAITS_AT_MOST", timedelta(seconds=0.1))
    worker.start()
    let_go = tmp_path / "let go"
    worker.tell(NotifyConfig(command=("sh", "-c", f"until test -e '{let_go}'; do sleep 0.1; done"), timeout=60), TOLD)
    until(lambda: not worker._notices.qsize())  # the program is started
    for _ in range(waiting):
        worker.tell(NotifyConfig(command=("touch", f"{tmp_path}/told")), TOLD)
    worker.close()
    assert worker.is_alive()
    assert worker.daemon
    assert caplog.text.count("notify.dropped") == waiting
    let_go.touch()
    worker.join(60)
    assert not worker.is_alive()
    assert not (tmp_path / "told").exists()


# The whole daemon


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with RehearsalServer() as server, inspected(Arena(server, tmp_path)) as arena:
        yield arena


def test_a_daemon_tells_its_operator_of_a_game_and_its_own_end(arena: Arena) -> None:
    arena.configure(f"notify: {{command: [./{recorder(arena.folder).name}], on: {json.dumps(list(NotifyEvent))}}}\n")
    arena.start()
    arena.challenge(arena.player("Anna", rating=1700), base_s=60)
    arena.until_ended(1)
    arena.until(lambda: len(recorded(arena.folder)) == 2)
    assert arena.stop() == ExitCode.OK
    told = [it["stdin"] for it in recorded(arena.folder)]
    assert [it["event"] for it in told] == ["game_started", f"game_{told[1]['result']}", "daemon_stopped"]
    assert {it["account"] for it in told} == {"TestBot"}
    assert told[1]["opponent_rating"] == 1700
    assert told[1]["url"].endswith(arena.ended[0].game.setup.id)
    assert arena.token not in (arena.folder / "told").read_text()


def test_a_notifier_that_hangs_costs_a_line_and_no_game(arena: Arena) -> None:
    arena.configure(f"notify: {{command: [sleep, '600'], timeout: 1, on: {json.dumps(list(NotifyEvent))}}}\n")
    arena.start()
    for number in range(3):
        arena.challenge(arena.player(f"Slow{number}", SlowOpponent), base_s=60)
    arena.until_ended(3)
    for session in arena.ended:
        judge(session)
    arena.until(lambda: "notify.failed" in arena.log())
    assert arena.stop() == ExitCode.OK
    assert arena.logged("notify.failed", times=1)
