"""What a rehearsal reads in the log of the bot's process, and how it ends that."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lichessbot.rehearsal.cli import bot_process, rehearse
from lichessbot.rehearsal.cli.bot_process import BotTerms, Daemon
from tests.fakes.rude_engine import POLITE_ENGINE
from tests.lichessbot.rehearsal.cli.processes import read_until, rehearsed, start
from tests.patience import until
from tests.processes import marked

BEGIN = "2026-11-26 02:52:08,877"


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        (f"{BEGIN} ERROR engine.unfit reason=gone", True),
        (f"{BEGIN} CRITICAL thread.died", True),
        ("Traceback (most recent call last):", True),
        (f'{BEGIN} WARNING engine.stderr line="ERROR: no network"', False),
        (f'{BEGIN} INFO chat game=abcdefgh room=player name=You text="2 ERROR 3"', False),
    ],
)
def test_an_error_is_a_line_of_that_level_whatever_its_text_says(tmp_path: Path, line: str, is_error: bool) -> None:
    daemon = Daemon("http://127.0.0.1:1", "lip_token", BotTerms(1), tmp_path)
    daemon.log_path.write_text(f"{BEGIN} INFO start\n{line}\n")
    assert daemon.logged_errors() == [line] * is_error


@pytest.mark.usefixtures("copied_daemon")
def test_an_engine_that_fails_during_games_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bot plays on without it, and may even win."""
    config = tmp_path / "config.yml"
    config.write_text(f"engine: {{command: [{', '.join(POLITE_ENGINE)}]}}\n")
    rehearsed("--games", "1", "--config", str(config))
    told = capsys.readouterr().out
    assert re.search(r"note: the bot's engine failed \d+ times during games; the first time: 'e2e4' is not legal", told)
    assert "engine: " not in told, "as at the end of a rehearsal with ours"


def test_the_service_manager_does_not_take_the_rehearsed_bot_for_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats = ("LICHESSBOT_HEARTBEAT_FILE", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")
    for name in beats:
        monkeypatch.setenv(name, "1")
    daemon = Daemon("http://127.0.0.1:1", "lip_token", BotTerms(1), tmp_path)
    assert not set(beats) & set(daemon._environment)


@pytest.mark.usefixtures("copied_daemon")
def test_a_rematch_that_runs_at_the_end_of_the_series_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bot_process, "STOP_TIMEOUT_S", 0.2)
    config = tmp_path / "config.yml"
    config.write_text("rematch: {offer: all, offers_in_a_row: 3}\nengine: {depth: 1, own_book: false, ponder: false}\n")
    assert rehearsed("--games", "1", "--config", str(config)) == rehearse.EXIT_GOOD, capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
def test_a_rehearsal_that_is_killed_leaves_no_bot_behind(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--clock", "300+0")
    read_until(process, "started")
    assert len(marked(mark)) > 1
    process.kill()
    until(lambda: not marked(mark))
