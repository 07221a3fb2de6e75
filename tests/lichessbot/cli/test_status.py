"""What `lichessbot status` prints of a given status, and how it follows one on a terminal."""

import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from fcntl import ioctl
from pathlib import Path

import pytest
from rich.console import Console

from engine.terminal.board_view import Theme
from lichessbot.cli.main import main
from lichessbot.cli.status import _answers, render
from lichessbot.control.commands import ControlAnswer, ControlCommand
from lichessbot.control.status import (
    Activity,
    Evaluation,
    Faults,
    HeldBack,
    PlayerStatus,
    RecordsStatus,
    RequestQueue,
    RunningGame,
    Status,
)
from lichessbot.errors import ConfigError
from tests.fakes.main_thread import FakeMainThread
from tests.lichessbot.control.status_of import GAME, NOW, STATUS
from tests.patience import PATIENCE_S


def shown(status: Status, width: int = 80, height: int | None = None) -> list[str]:
    console = Console(width=width, file=io.StringIO(), highlight=False, _environ={})
    console.print(render(status, Theme(unicode=False, colour=False), width, height))
    lines = [line.rstrip() for line in console.file.getvalue().removesuffix("\n").split("\n")]
    return lines if lines[-1] else lines[:-1]


def facts(status: Status) -> dict[str, str]:
    lines = shown(replace(status, games=()))
    return {line[:8].strip(): line[8:] for line in lines if line}


def test_everything_that_an_operator_asks_for_is_named() -> None:
    resumes = time.strftime("%H:%M", time.localtime(NOW + 60))
    assert facts(STATUS) == {
        "bot": "TestBot at https://lichess.org, playing, up 2 h 5 min",
        "lichess": "listening; event stream open for 2 h 0 min, last line 4 s ago",
        "games": "0 of 4; 3 correspondence; 1 about to start",
        "queue": "Ann (1500) 5+3 casual chess960, waits 4 s",
        "match": "on by command; challenge to rival is open: 1+0 rated standard",
        "limits": f"100 of 100 bot games, resumes {resumes}; 12 of 180 challenges",
        "arenas": "hL7vMrFQ",
        "blocked": "pest",
        "engine": "our engine, 1.2 M nodes/s",
        "faults": "event streams lost: 2; engines died: 1",
    }


def test_what_waits_and_what_runs_is_told_if_there_is_any() -> None:
    resumes = time.strftime("%H:%M", time.localtime(NOW + 60))
    requests = RequestQueue({"send move": 2, "say": 1}, (HeldBack("challenges", NOW + 60),))
    matchmaking = replace(STATUS.lobby.matchmaking, open_challenge=None, next_step="waits for a free slot")
    busy = replace(
        STATUS,
        connection=replace(STATUS.connection, requests=requests),
        lobby=replace(STATUS.lobby, matchmaking=matchmaking),
        engine=replace(STATUS.engine, searches=0, processes=2, memory_bytes=150 << 20),
    )
    lines = [line.strip() for line in shown(replace(busy, games=()), 200)]
    assert lines[1].endswith(f"4 s ago; waiting: 2 send move, 1 say; challenges from {resumes} on")
    assert facts(busy)["match"] == "on by command; waits for a free slot"
    matchmaking = replace(matchmaking, next_step="challenges a bot", next_attempt_epoch_s=NOW + 60)
    due = replace(busy, lobby=replace(STATUS.lobby, matchmaking=matchmaking))
    assert facts(due)["match"] == f"on by command; challenges a bot, at {resumes}"
    off = replace(due, lobby=replace(STATUS.lobby, matchmaking=replace(matchmaking, is_on=False)))
    assert facts(off)["match"] == "off"
    assert facts(busy)["engine"] == "2 running, 150 MiB with the daemon"


def test_what_there_is_none_of_takes_no_line() -> None:
    lobby = replace(STATUS.lobby, queue=(), tournaments=(), blocked=(), starting=0)
    engine = replace(STATUS.engine, searches=0)
    quiet = replace(STATUS, lobby=lobby, faults=Faults(), correspondence_games=0, engine=engine)
    assert facts(quiet).keys() == {"bot", "lichess", "games", "match", "limits"}
    assert facts(quiet)["games"] == "0 of 4"


def test_trouble_is_told() -> None:
    connection = replace(STATUS.connection, account=None, summary="not connected, trying again", held_back_s=61.0)
    closed = replace(STATUS, activity=Activity.FINISHING, ends_in_s=7100.0, connection=replace(connection, events=None))
    assert facts(closed)["bot"].startswith("account unknown at https://lichess.org, finishing, ends in 1 h 58 min at")
    assert facts(closed)["lichess"] == "not connected, trying again; only moves are sent for 1 min 1 s (429)"
    deaf = replace(GAME.stream, silent_for_s=20.0)
    lost = replace(GAME.stream, is_open=False, open_for_s=None)
    games = (replace(GAME, stream=deaf), replace(GAME, stream=lost), GAME)
    (line,) = [line for line in shown(replace(STATUS, games=games), 120) if line.startswith("games ")]
    assert line.endswith("; abcd1234 silent for 20 s; abcd1234 has no stream")
    ended = replace(STATUS.connection, events=replace(STATUS.connection.events, is_open=False, open_for_s=None))
    assert facts(replace(STATUS, connection=ended))["lichess"] == "listening; event stream closed, last line 4 s ago"
    full = replace(STATUS, records=RecordsStatus(10_800.0, "database or disk is full"))
    assert facts(full)["records"] == "not written for 3 h 0 min: database or disk is full"
    broken = replace(STATUS, engine=replace(STATUS.engine, failure="engine: no such program"))
    assert facts(broken)["engine"].endswith(", engine: no such program")


def test_a_game_is_drawn_from_our_side_with_clocks_and_what_our_move_was_chosen_by() -> None:
    lines = shown(STATUS)
    start = next(number for number, line in enumerate(lines) if line.startswith("abcd1234"))
    assert [line[:39].rstrip() for line in lines[start : start + 13]] == [
        "abcd1234 blitz 3+2 rated",
        "GM Ferdinand (2412)           1:02:05",
        " 8  r  n  b  q  k  b  n  r",
        " 7  p  p  p  p [.] p  p  p",
        " 6  .  .  .  .  .  .  .  .",
        " 5  .  .  .  . [p] .  .  .",
        " 4  .  .  .  .  P  .  .  .",
        " 3  .  .  .  .  .  .  .  .",
        " 2  P  P  P  P  .  P  P  P",
        " 1  R  N  B  Q  K  B  N  R",
        "    a  b  c  d  e  f  g  h",
        "BOT TestBot (2000)               1:01",
        "1... e5  +0.35 depth 12 1.2 M nodes/s",
    ]
    assert [line[39:].strip()[:3] for line in lines[start + 2 : start + 10]] == [f"{rank}  " for rank in "12345678"]


def info(evaluation: Evaluation | None, **changes: object) -> str:
    """The line below the board of a game."""
    game = replace(GAME, evaluation=evaluation, **changes)  # type: ignore[arg-type]
    return shown(replace(STATUS, games=(game,)))[23]


def test_an_evaluation_is_told_as_far_as_its_source_has_one() -> None:
    found = GAME.evaluation
    assert info(replace(found, score_cp=None, mate_in=-3, nodes_per_s=45_000)) == "1... e5  #-3 depth 12 45 k nodes/s"
    assert info(replace(found, source="opening book", score_cp=None, depth=0)) == "1... e5  opening book"
    assert info(None) == "1... e5"
    assert info(None, moves=(), fen=GAME.initial_fen) == ""
    assert info(None, variant="crazyhouse", moves=("e2e4", "d7d5", "e4d5", "d8d5", "P@e4")) == "3. P@e4"


def test_a_game_that_cannot_be_drawn_yet_is_told_all_the_same() -> None:
    lines = shown(replace(STATUS, games=(replace(GAME, fen="", moves=(), evaluation=None),)))
    assert "waiting for its state" in lines
    strange = replace(GAME, variant="horde", rated=False, moves=("e2e4", "P@e5"))
    assert "abcd1234 blitz 3+2 casual horde" in shown(replace(STATUS, games=(strange,)))


def test_hostile_names_steer_no_terminal_and_break_no_line() -> None:
    nasty = "\x1b[2J\u202e[red]\n" + "x" * 200
    player = PlayerStatus(nasty, nasty, 1)
    game = replace(GAME, white=player, black=player, variant=nasty, speed=nasty)
    lobby = replace(STATUS.lobby, blocked=(nasty,), queue=(replace(STATUS.lobby.queue[0], challenger=nasty),))
    for height in (None, 24, 10):
        lines = shown(replace(STATUS, games=(game,) * 2, lobby=lobby), height=height)
        assert all(line.isprintable() and len(line) <= 80 for line in lines)


@pytest.mark.parametrize("games", range(10))
@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 50), (40, 24), (120, 40), (30, 8)])
def test_the_terminal_is_never_too_small(games: int, width: int, height: int) -> None:
    status = replace(STATUS, games=(GAME,) * games)
    lines = shown(status, width, height)
    assert max(map(len, lines)) <= max(width, 38)
    if (width, height) == (80, 24):
        assert len(lines) <= 24
        drawn = sum(line.count("a  b  c  d  e  f  g  h") for line in lines)
        assert drawn == min(games, 2)
    if (width, height) == (80, 50):
        assert len(lines) <= 50
        assert sum(line.count("abcd1234") for line in lines) == games


@pytest.mark.parametrize(("width", "columns"), [(20, 1), (77, 1), (78, 2), (120, 3)])
def test_boards_stand_side_by_side_as_far_as_they_fit(width: int, columns: int) -> None:
    lines = shown(replace(STATUS, games=(GAME,) * 3), width)
    drawn = [line.count(" a  b ") for line in lines if " a  b " in line]
    assert drawn[0] == columns
    assert sum(drawn) == 3


def test_the_last_line_says_how_many_games_are_not_shown() -> None:
    quiet = replace(STATUS, lobby=replace(STATUS.lobby, queue=(), tournaments=(), blocked=()), games=(GAME,) * 8)
    lines = shown(quiet, 80, 24)
    assert lines[-1] == "and 5 more games"
    assert lines[-2].startswith("abcd1234 BOT TestBot (2000) - GM Ferdinand (2412) 1:01 1:02:05 1... e5")


# The command


@pytest.fixture
def answered(main_thread: FakeMainThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMainThread:
    """A daemon with the state folder that `lichessbot` finds by itself."""
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    status = ControlAnswer(True, status=STATUS)
    main_thread.answer = lambda request: status if request.command is ControlCommand.STATUS else None
    return main_thread


def test_json_is_the_whole_status(answered: FakeMainThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(asdict(STATUS)))


def test_watching_in_json_is_an_object_a_line_until_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answers(config_file: Path | None) -> Iterator[ControlAnswer]:
        yield ControlAnswer(True, status=STATUS)
        yield ControlAnswer(False, text="no daemon")
        raise KeyboardInterrupt

    monkeypatch.setattr("lichessbot.cli.status._answers", answers)
    assert main(["status", "--watch", "--json"]) == 0
    shown, error = map(json.loads, capsys.readouterr().out.splitlines())
    assert shown == json.loads(json.dumps(asdict(STATUS)))
    assert error == {"error": "no daemon"}


def test_watching_needs_a_terminal(answered: FakeMainThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--watch"]) == 2
    assert "--watch needs a terminal, or --json" in capsys.readouterr().err


def test_without_a_daemon_one_line_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    for words in (["status"], ["status", "--json"], ["pause"], ["block", "somebody"], ["matchmaking", "on"]):
        assert main(words) == 1
        nobody = f"no daemon is running with the state folder {tmp_path}; if it runs with --config FILE, add that\n"
        assert capsys.readouterr() == ("", nobody)


def test_a_wrong_configuration_cuts_nobody_off_from_the_daemon(
    main_thread: FakeMainThread, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yml"
    config.write_text(f"state_dir: {tmp_path}\nabort_tme: 3\nurl: nowhere\n")  # the daemon has refused to reload it
    for words in (["pause"], ["block", "somebody"], ["quit"]):
        assert main([*words, "--config", str(config)]) == 0
        streams = capsys.readouterr()
        assert (streams.out, streams.err) == (f"did {words[0]}\n", "")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["block"], "Missing argument 'NAME'"),
        (["block", "a b"], "expected a player's name on Lichess, found 'a b'"),
        (["matchmaking", "maybe"], "'maybe' is not one of 'on', 'off'"),
        (["pause", "now"], "Got unexpected extra argument (now)"),
    ],
)
def test_wrong_arguments_are_told(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert complaint in capsys.readouterr().err


def test_a_watcher_sees_changes_and_the_end_of_the_daemon_until_it_is_interrupted(answered: FakeMainThread) -> None:
    controller, terminal = pty.openpty()
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-P", "-m", "lichessbot", "status", "--watch"]
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    seen = bytearray()

    def until(text: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while text.encode() not in seen:
            assert time.monotonic() < deadline, seen.decode(errors="replace")
            seen.extend(os.read(controller, 65536))

    until("GM Ferdinand (2412)")
    until("depth 12")
    game: RunningGame = replace(GAME, game_id="another1")
    answered.answer = lambda request: ControlAnswer(True, status=replace(STATUS, games=(game,)))
    until("another1")
    answered.server.close()
    until("waiting ...")
    process.send_signal(signal.SIGINT)
    with suppress(OSError):                 # what the last process that holds a terminal leaves behind
        while os.read(controller, 65536):   # as a terminal does: a full one would stop the watcher
            pass
    assert process.wait(PATIENCE_S) == 0
    os.close(controller)


def test_a_watcher_outlives_a_moment_of_a_wrong_configuration_file(
    answered: FakeMainThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor was saving it."""
    monkeypatch.setattr("lichessbot.cli.status._REFRESH_EVERY_S", 0.0)
    config = tmp_path / "config.yml"
    good, half = f"state_dir: {tmp_path}\n", "state_dir: ["
    config.write_text(good)
    answers = _answers(config)
    assert next(answers).status == STATUS
    config.write_text(half)
    assert "YAML" in next(answers).text
    config.write_text(good)
    assert next(answers).status == STATUS
    config.write_text(half)
    with pytest.raises(ConfigError):
        next(_answers(config))


# Completion


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("lichessbot re", ["rehearse", "resume", "rechallenge", "review"]),
        ("lichessbot matchmaking o", ["on", "off"]),
        ("lichessbot status --", ["--config", "--watch", "--json", "--help"]),
        ("lichessbot challenge --var", ["--variant"]),
    ],
)
def test_the_shell_completes_commands_options_and_values(
    words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_LICHESSBOT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 0
    assert [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()] == offered
