"""The formats of the log on real terminals, pipes and files."""

import io
import json
import logging
import os
import pty
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from lichessbot.log import EventLog, LogFormat, Verbosity, start_logging
from tests.lichessbot.log.conftest import flush

TOKEN = "lip_secret0123456789"
ESCAPE = "\x1b["


def log_everything() -> None:
    log = EventLog("abcd1234")
    EventLog().info("events.open")
    log.info("game.join", opponent="Ferdinand", games=1)
    log.debug("move.send", move="e2e4")
    log.info("chat", room="spectator", name="Eve", text=f"hi\x1b[2J\n{TOKEN}")
    log.warning("opponent.gone")
    log.info("game.over", status="mate", winner="white", plies=85, opponent="Bob", result="won", how="checkmate")
    try:
        raise ValueError(f"Bearer {TOKEN}")
    except ValueError as error:
        log.crash("game.crashed", error)
    logging.getLogger("some.library").info("connected")
    logging.getLogger("some.library").warning("request\nwith %s", TOKEN)
    flush()


def written(
    log_format: LogFormat = LogFormat.AUTO,
    verbosity: Verbosity = Verbosity.NORMAL,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    stream = io.StringIO()
    start_logging(stream, [TOKEN], log_format, verbosity, environment or {})
    log_everything()
    assert TOKEN not in stream.getvalue()
    assert ESCAPE not in stream.getvalue()
    return stream.getvalue().splitlines()


def on_a_terminal(environment: Mapping[str, str]) -> list[str]:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        start_logging(terminal, [TOKEN], LogFormat.AUTO, Verbosity.NORMAL, environment)
        log_everything()
    text = b""
    with suppress(OSError):  # at the end: no other side is left
        while read := os.read(ours, 1 << 16):
            text += read
    os.close(ours)
    return text.decode().splitlines()


def test_a_terminal_gets_text_with_the_time_of_day() -> None:
    lines = on_a_terminal({"NO_COLOR": "1"})
    assert not [line for line in lines if ESCAPE in line]
    texts = [line[9:] for line in lines if line[2:3] == ":"]
    assert texts == [
        "listening for challenges and games",
        r"abcd1234 spectators' chat, Eve: hi\x1b[2J\n[token]",
        "abcd1234 warning: the opponent has left",
        "abcd1234 won against Bob: checkmate, 43 moves",
        "abcd1234 error: bug in the game, first occurrence",
        "connected",
        "warning: request",
    ]
    assert "ValueError: Bearer [token]" in lines
    assert "with [token]" in lines


def test_a_terminal_shows_starts_ends_and_troubles_in_colour() -> None:
    lines = on_a_terminal({"TERM": "xterm-256color"})
    assert "\x1b[33mabcd1234 warning: the opponent has left\x1b[0m" in lines[2]
    assert "\x1b[1m\x1b[32mabcd1234 won against" in lines[3]
    assert "\x1b[31mabcd1234 error: bug" in lines[4]
    for line in ("listening for challenges and games", "connected"):
        assert any(it.endswith(f"\x1b[0m {line}") for it in lines), "only its time is dim"


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"NO_COLOR": "1", "TERM": "xterm"}])
def test_some_terminals_get_no_colour(environment: dict[str, str]) -> None:
    assert ESCAPE not in "".join(on_a_terminal(environment))


def test_a_file_or_pipe_gets_fields() -> None:
    lines = [line.split(" ", 2)[2] for line in written() if line[:2] == "20"]
    assert lines[:5] == [
        "INFO events.open",
        "INFO game.join game=abcd1234 opponent=Ferdinand games=1",
        r'INFO chat game=abcd1234 room=spectator name=Eve text="hi\x1b[2J\n[token]"',
        "WARNING opponent.gone game=abcd1234",
        "INFO game.over game=abcd1234 status=mate winner=white plies=85 opponent=Bob result=won how=checkmate",
    ]
    assert lines[5].startswith("ERROR game.crashed game=abcd1234 times=")


def test_text_in_a_file_has_the_date() -> None:
    assert written(LogFormat.TEXT)[0][:2] == "20"
    assert written(LogFormat.TEXT)[0][20:] == "listening for challenges and games"


@pytest.mark.parametrize("verbosity", [Verbosity.NORMAL, Verbosity.VERBOSE])
def test_the_journal_gets_text_with_priorities_and_without_times(tmp_path: Path, verbosity: Verbosity) -> None:
    path = tmp_path / "journal"
    with path.open("w") as stream:
        status = os.fstat(stream.fileno())
        journal = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        start_logging(stream, [TOKEN], LogFormat.AUTO, verbosity, journal)
        log_everything()
    lines = path.read_text().splitlines()
    expected = [
        "<6>listening for challenges and games",
        *(
            ["<6>abcd1234 joining the game against Ferdinand; games in progress: 1", "<7>abcd1234 sending e2e4"]
            if verbosity is Verbosity.VERBOSE
            else []
        ),
        r"<6>abcd1234 spectators' chat, Eve: hi\x1b[2J\n[token]",
        "<4>abcd1234 warning: the opponent has left",
        "<6>abcd1234 won against Bob: checkmate, 43 moves",
    ]
    shown, (bug, head, *_) = lines[: len(expected)], lines[len(expected) :]
    assert shown == expected
    assert bug.startswith("<3>abcd1234 error: bug in the game")
    assert head == "<3>Traceback (most recent call last):"
    assert all(line[0] == "<" and line[2] == ">" for line in lines), "journald splits records at line feeds"


def test_a_file_beside_the_journal_is_not_the_journal(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as stream:
        start_logging(stream, [TOKEN], LogFormat.AUTO, Verbosity.NORMAL, {"JOURNAL_STREAM": "1:2"})
        EventLog().info("events.open")
        flush()
        stream.seek(0)
        assert stream.read().endswith("INFO events.open\n")


def test_json_lines_have_the_same_fields_whatever_happened() -> None:
    lines = [json.loads(line) for line in written(LogFormat.JSON)]
    assert {tuple(line) for line in lines} == {("time", "level", "event", "game", "text", "fields", "traceback")}
    over = next(line for line in lines if line["event"] == "game.over")
    assert over["time"].endswith("+00:00")
    assert over["level"] == "info"
    assert over["game"] == "abcd1234"
    assert over["text"] == "won against Bob: checkmate, 43 moves"
    assert over["fields"]["plies"] == 85
    crash = next(line for line in lines if line["event"] == "game.crashed")
    assert "ValueError: Bearer [token]" in crash["traceback"]
    assert lines[-1]["event"] == "some.library"


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_password_is_recognised_however_a_format_escapes_it(log_format: LogFormat) -> None:
    stream, password = io.StringIO(), 'geh"eim\\ä\tx'
    start_logging(stream, ["", password[:5], password], log_format)    # one secret may begin like another
    EventLog().info("notify", text=f"a {password} b", plain=password)
    logging.getLogger("lichessbot").info("c %s d", password)
    flush()
    assert stream.getvalue().count("[token]") >= 3
    assert "a [token] b" in stream.getvalue()
    assert "c [token] d" in stream.getvalue()
    assert "eim" not in stream.getvalue()


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_long_value_is_not_cut_within_a_secret(log_format: LogFormat) -> None:
    stream = io.StringIO()
    start_logging(stream, [TOKEN], log_format)
    EventLog().warning("state", error=ValueError("x" * 290 + TOKEN))
    flush()
    assert f"{'x' * 290}[token]" in stream.getvalue()


def test_json_has_no_word_for_numbers_that_are_none() -> None:
    stream = io.StringIO()
    start_logging(stream, [], LogFormat.JSON)
    EventLog().info("source.rests", host="x", pause_s=float("inf"), reason=0.1234567)
    flush()
    assert json.loads(stream.getvalue())["fields"] == {"host": "x", "pause_s": "inf", "reason": 0.123}


@pytest.mark.parametrize("log_format", LogFormat)
def test_an_error_of_any_length_is_a_value(log_format: LogFormat) -> None:
    stream = io.StringIO()
    start_logging(stream, [], log_format)
    EventLog().warning("state", error=ValueError("x" * 301))
    flush()
    assert f"{'x' * 300}..." in stream.getvalue()


@pytest.mark.parametrize("log_format", LogFormat)
def test_quiet_leaves_starts_ends_and_troubles(log_format: LogFormat) -> None:
    text = "\n".join(written(log_format, Verbosity.QUIET))
    assert "listening" not in text
    assert "events.open" not in text
    assert "chat" not in text
    assert "connected" not in text
    assert text.count("abcd1234") == 3, "the warning, the end, and the bug"


def test_text_repeats_at_the_start_of_a_game_nothing_unless_verbose() -> None:
    assert "joining the game" not in "".join(written(LogFormat.TEXT))
    assert "joining the game" in "".join(written(LogFormat.TEXT, Verbosity.VERBOSE))
