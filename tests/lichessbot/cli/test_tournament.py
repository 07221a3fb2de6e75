"""What `lichessbot tournament` tells Lichess, the daemon, and the operator."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lichessbot.cli.main import main
from lichessbot.control.commands import ControlAnswer, ControlCommand, ControlRequest
from lichessbot.control.server import Patience
from lichessbot.storage.database import Database, read_only
from tests.fakes.main_thread import FakeMainThread
from tests.fakes.scripted_lichess import Reply, ScriptedLichess

ARENA, TOKEN = "hL7vMrFQ", "lip_0123456789abcdef"
ENTERED = "entered for Bots at Noon, which runs for 10 min more"
NOTED = "will enter for Bots at Noon, which runs for 10 min more"
LEFT = f"left tournament {ARENA}"
WITH_PASSWORD = (ARENA, "--team", "Coders", "--password", "sesame")


@pytest.fixture
def told(lichess: ScriptedLichess, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator["Told"]:
    arena = {"id": ARENA, "fullName": "Bots at Noon", "secondsToFinish": 600}
    lichess.answer(f"/api/tournament/{ARENA}", Reply(body=arena))
    lichess.answer(f"/api/tournament/{ARENA}/join", Reply())
    lichess.answer(f"/api/tournament/{ARENA}/withdraw", Reply())
    told = Told(lichess, tmp_path / "state", tmp_path / "config.yml", capsys)
    yield told
    told.close()


class Told:
    """The command with a configuration, and what it printed; a daemon only after `start_daemon`."""

    def __init__(
        self, lichess: ScriptedLichess, folder: Path, config: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.capsys, self.config = folder, capsys, config
        config.write_text(f"token: {TOKEN}\nurl: {lichess.url}\nstate_dir: {folder}\n")
        self.daemon: FakeMainThread | None = None
        self.database: Database | None = None

    def lock(self) -> None:
        """As a daemon does before it listens."""
        self.database = Database(self.folder)

    def start_daemon(self, patience: Patience | None = None) -> FakeMainThread:
        self.lock()
        self.daemon = FakeMainThread(self.folder) if patience is None else FakeMainThread(self.folder, patience)
        return self.daemon

    def __call__(self, *words: str, code: int = 0) -> str:
        assert main(["tournament", "--config", str(self.config), *words]) == code
        streams = self.capsys.readouterr()
        assert "sesame" not in streams.out + streams.err
        return streams.out + streams.err

    @property
    def rows(self) -> list[tuple[str, str | None, str | None]]:
        return read_only(self.folder, "SELECT id, team, password FROM tournaments")

    def close(self) -> None:
        if self.daemon is not None:
            self.daemon.close()
        if self.database is not None:
            self.database.close()


def test_a_running_daemon_is_told_and_nothing_is_written_beside_it(told: Told) -> None:
    daemon = told.start_daemon()
    daemon.answer = lambda request: ControlAnswer(ok=True, text="the daemon plays there")
    assert told(*WITH_PASSWORD) == f"{ENTERED}; the daemon plays there\n"
    assert told(ARENA) == f"{ENTERED}; the daemon plays there\n"
    told(ARENA, "--leave")
    join, leave = ControlCommand.JOIN_TOURNAMENT, ControlCommand.LEAVE_TOURNAMENT
    private = ControlRequest(join, ARENA, {"team": "coders", "password": "sesame"})
    assert daemon.seen == [private, ControlRequest(join, ARENA), ControlRequest(leave, ARENA)]
    assert told.rows == []


def test_a_password_need_not_be_an_argument(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.termui.hidden_prompt_func", lambda _: "sesame")
    told(ARENA, "--password")
    told.lock()
    assert told.rows == [(ARENA, None, "sesame")]


def test_a_daemon_that_refuses_is_one_line_and_a_failure(told: Told) -> None:
    told.start_daemon().answer = lambda request: ControlAnswer(ok=False, text="internal error: see the log")
    why = "internal error: see the log"
    assert told(ARENA, code=1) == f"{ENTERED}, but the daemon may not play there: {why}\n"
    assert told(ARENA, "--leave", code=1) == f"{LEFT}, but the daemon may play there again: {why}\n"


def test_a_daemon_that_does_not_answer_is_one_line_and_a_failure(told: Told) -> None:
    told.start_daemon(Patience(request_s=60.0, main_thread_s=0.1, reading_s=60.0)).answer = lambda request: None
    why = "the daemon did not answer within 0.1 s; it may still do this"
    assert told(ARENA, code=1) == f"{ENTERED}, but the daemon may not play there: {why}\n"


def test_a_daemon_without_a_socket_is_one_line_and_a_failure(told: Told) -> None:
    told.lock()
    why = f"process {os.getpid()} has no control socket in {told.folder}: see its log"
    assert told(ARENA, code=1) == f"{ENTERED}, but the daemon may not play there: {why}\n"
    assert told.rows == []


def test_without_a_daemon_the_next_one_finds_it_in_the_records(lichess: ScriptedLichess, told: Told) -> None:
    """Where the bot was entered at once, its first game there began without it."""
    suffix = f"no daemon uses {told.folder}: the next `lichessbot run` will know"
    assert told(*WITH_PASSWORD) == f"{NOTED}; {suffix}\n"
    assert lichess.paths() == [f"/api/tournament/{ARENA}"]
    assert told.rows == [(ARENA, "coders", "sesame")]
    assert told(ARENA, "--leave") == f"{LEFT}; {suffix}\n"
    assert told.rows == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(400, {"error": "Missing team"}), "400: Missing team"),
        (
            Reply(403, {"error": "Missing scope: tournament:write || bot:play || web:mobile"}),
            "the token lacks the scope tournament:write: make a new one with it",
        ),
    ],
)
def test_an_error_of_lichess_is_one_line_and_changes_nothing(
    lichess: ScriptedLichess, told: Told, reply: Reply, why: str
) -> None:
    lichess.answer(f"/api/tournament/{ARENA}/join", reply)
    told.lock()
    assert told(ARENA, code=1) == f"tournament {ARENA}: {why}\n"
    assert told.rows == []


@pytest.mark.parametrize(
    ("facts", "when"),
    [
        ({"secondsToStart": 600, "secondsToFinish": 4200}, "begins in 10 min"),
        ({"secondsToStart": 89}, "begins in 89 s"),
        ({"secondsToStart": 0, "secondsToFinish": 120}, "runs for 2 min more"),
        ({"isFinished": True}, "is over"),
        ({}, "runs"),
    ],
)
def test_it_is_said_when_the_arena_begins_or_ends(
    lichess: ScriptedLichess, told: Told, facts: dict[str, object], when: str
) -> None:
    lichess.answer(f"/api/tournament/{ARENA}", Reply(body={"id": ARENA, "fullName": "Bots at Noon", **facts}))
    assert told(ARENA).startswith(f"will enter for Bots at Noon, which {when}; no daemon uses ")


def test_an_arena_that_is_too_fast_for_bots_is_not_joined(lichess: ScriptedLichess, told: Told) -> None:
    """Every game there would be lost: Lichess lets no bot play it."""
    lichess.answer(f"/api/tournament/{ARENA}", Reply(body={"id": ARENA, "clock": {"limit": 15, "increment": 0}}))
    why = "expected bullet or slower, found 0.25+0, which is ultraBullet"
    assert told(ARENA, code=2) == f"tournament {ARENA}: {why}\n"
    assert [request.path for request in lichess.requests] == [f"/api/tournament/{ARENA}"]


@pytest.mark.parametrize("words", [("--team", "coders"), ("--password", "sesame")])
def test_leaving_needs_neither_team_nor_password(lichess: ScriptedLichess, told: Told, words: tuple[str, str]) -> None:
    complaint = "--team and --password cannot be used with --leave (see `lichessbot tournament --help`)"
    assert told(ARENA, "--leave", *words, code=2) == f"lichessbot tournament: {complaint}\n"
    assert lichess.requests == []


def test_an_arena_of_the_configuration_is_not_left(lichess: ScriptedLichess, told: Told) -> None:
    told.config.write_text(f"{told.config.read_text()}tournaments: [{{id: {ARENA}}}]\n")
    listed = f"tournament {ARENA} is listed in `tournaments` of {told.config}"
    assert told(ARENA, "--leave", code=2) == f"{listed}: remove it there and send SIGHUP\n"
    assert lichess.requests == []
    assert told(ARENA).startswith(NOTED), "it may be entered again"
