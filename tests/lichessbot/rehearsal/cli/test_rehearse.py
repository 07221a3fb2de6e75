"""The `rehearse` command with the real bot as a child process."""

import asyncio
import io
import os
import re
import signal
import socket
import subprocess
import time
from dataclasses import replace
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import click
import pytest
import yaml

import lichessbot
from engine.facade import build_mode
from lichessbot.cli.rehearse import rehearse_command
from lichessbot.rehearsal.cli import rehearse as command
from lichessbot.rehearsal.cli.bot_process import BotTerms, Daemon
from lichessbot.rehearsal.cli.options import fault_plan, match_plan
from lichessbot.rehearsal.faults.catalogue import LATE_THREEFOLD, Fault, PlacedFault
from lichessbot.rehearsal.faults.traffic import Place
from lichessbot.rehearsal.server import export, routes
from tests.patience import PATIENCE_S
from tests.processes import marked

from .processes import arguments, kill_daemon, read_until, rehearsed, start

EXAMPLE_CONFIG = str(Path(lichessbot.__file__).parents[1] / "config.example.yml")
QUICK_BOT = {"engine": {"depth": 2}}


@pytest.mark.usefixtures("copied_daemon")
@pytest.mark.parametrize("variant", ["standard", "Chess960", "fromPosition"])
def test_bot_plays_its_games_to_the_end_and_the_pgn_validates(
    variant: str, mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn, config = tmp_path / "games.pgn", tmp_path / "config.yml"
    config.write_text("engine: {depth: 4}\nchallenge: {concurrency: 2, variants: [standard, chess960, fromPosition]}\n")
    words = ["--clock", "180+0", "--variant", variant, "--pgn", str(pgn), "--config", str(config)]
    assert rehearsed(*words) == command.EXIT_GOOD, capsys.readouterr().out
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(rf"2 games: \d won, \d drawn, \d lost, 0 failed; engine: {build_mode()}", last_line)
    games = io.StringIO(pgn.read_text())
    colours = []
    while (game := chess.pgn.read_game(games)) is not None:
        assert not game.errors
        assert game.headers["Result"] in ("1-0", "0-1", "1/2-1/2")
        assert game.end().board().outcome(claim_draw=True) is not None
        colours.append(game.headers["White"] == command.BOT_NAME)
    assert colours == [True, False]
    assert marked(mark) == []


@pytest.mark.usefixtures("copied_daemon")
def test_the_games_of_a_long_series_are_not_written_in_one_call_which_would_take_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def noted(*things: Any, **names: Any) -> str:
        calls.append(asyncio.current_task())
        return pgn_of(*things, **names)

    pgn_of = export.pgn
    monkeypatch.setattr(export, "pgn", noted)
    assert command.run(arguments("--clock", "180+0", "--pgn", str(tmp_path / "it")), config=QUICK_BOT) == 0
    assert (tmp_path / "it").read_text().count("[Event ") == 2
    assert len(set(calls)) == 2


@pytest.mark.usefixtures("copied_daemon")
def test_a_file_that_cannot_be_written_is_a_failure_and_the_other_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = arguments("--games", "1", "--faults", "reset")
    fault_log, gone = tmp_path / "faults.json", tmp_path / "gone" / "games.pgn"
    options = replace(options, pgn=gone, fault_log=fault_log)
    assert command.run(options, config=QUICK_BOT) == command.EXIT_BAD
    output = "".join(capsys.readouterr().out.splitlines())
    assert "0 failed" in output
    assert f"problem: {gone} cannot be written: No such file or directory" in output
    assert fault_log.exists()


@pytest.mark.parametrize("words", [(), ("--browser", "--no-open")])
def test_a_rehearsal_that_can_make_no_temporary_folder_says_what_it_needs(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert rehearsed(*words) == command.EXIT_BAD
    problem = "a temporary folder cannot be made: No such file or directory"
    assert capsys.readouterr().out == f"problem: {problem}; set TMPDIR to a folder that can be written\n"


@pytest.mark.usefixtures("copied_daemon")
def test_a_fault_that_was_named_and_never_struck_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    faults = "500-json@tournament,500-json@account,429-json@cancel"
    assert command.run(arguments("--games", "1", "--faults", faults), config=QUICK_BOT) == command.EXIT_BAD
    assert "problem: never struck: 429-json@cancel, 500-json@tournament" in capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("copied_daemon")
def test_a_bug_of_the_embedded_lichess_is_a_failure(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server_errors: BufferingHandler,
) -> None:
    async def broken(_site: object, _request: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(routes, "cloud_evaluation", broken)
    config = tmp_path / "config.yml"
    config.write_text("engine: {depth: 2, online_moves: {lichess_cloud_analysis: {enabled: true}}}\n")
    assert rehearsed("--games", "1", "--clock", "180+0", "--config", str(config)) == command.EXIT_BAD
    output = capsys.readouterr().out
    assert "problem: the embedded Lichess failed: KeyError: 'a bug'" in output.splitlines()
    assert "0 failed" in output
    server_errors.buffer.clear()  # for this test it was meant


def test_a_file_in_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)     # root may write everywhere
    for option in ("--pgn", "--fault-log"):
        with pytest.raises(click.BadParameter, match="cannot be written: permission denied"):
            arguments(option, str(tmp_path / "file"))


def test_a_file_that_has_no_place_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match=f"cannot be written: there is no folder '{tmp_path / 'gone'}'"):
        arguments("--pgn", str(tmp_path / "gone" / "games.pgn"))
    with pytest.raises(click.BadParameter, match="is a folder: expected a file"):
        arguments("--pgn", str(tmp_path))


@pytest.mark.usefixtures("copied_daemon")
def test_the_bot_gives_odds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pgn, config = tmp_path / "games.pgn", tmp_path / "config.yml"
    config.write_text("engine: {depth: 4}\npersonality: fox\nchallenge: {concurrency: 2, odds: [queen]}\n")
    words = ["--clock", "180+0", "--odds", "queen", "--pgn", str(pgn), "--config", str(config)]
    assert rehearsed(*words) == command.EXIT_GOOD, capsys.readouterr().out
    games = io.StringIO(pgn.read_text())
    while (game := chess.pgn.read_game(games)) is not None:
        start, giver = game.board(), game.headers["White"] == command.BOT_NAME
        assert (len(start.pieces(chess.QUEEN, giver)), len(start.pieces(chess.QUEEN, not giver))) == (0, 1)


def test_an_interrupted_rehearsal_ends_its_bot(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--clock", "300+0")
    read_until(process, "started")
    assert len(marked(mark)) > 1
    process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE_S) == command.EXIT_INTERRUPTED
    assert marked(mark) == []


@pytest.mark.usefixtures("copied_daemon")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_rehearsal_interrupted_after_its_last_game_ends_its_bot(
    number: signal.Signals, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_daemon: Daemon) -> str | None:
        monkeypatch.setattr(Daemon, "stop", stop)
        signal.raise_signal(number)
        raise AssertionError("not interrupted")

    stop = Daemon.stop
    monkeypatch.setattr(Daemon, "stop", interrupted)
    options = arguments("--games", "1", "--clock", "180+0")
    assert command.run(options, config=QUICK_BOT) == command.EXIT_INTERRUPTED
    assert marked(mark) == []
    assert list(tmp_path.glob("lichessbot-rehearsal-*")) == []


def test_a_dead_daemon_fails_the_rehearsal(rehearsal: list[subprocess.Popen[str]], mark: str) -> None:
    process = start(rehearsal, "--clock", "300+0")
    read_until(process, "started")
    kill_daemon(mark)
    output = process.stdout.read()
    assert process.wait(PATIENCE_S) == command.EXIT_BAD
    assert "the daemon ended by itself with exit code -9" in output
    assert "the last lines of the daemon's log" in output


@pytest.mark.parametrize("words", [[], ["--faults", "reset"]], ids=["", "behind a proxy"])
def test_taken_port_is_one_line_and_a_failure(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        started = time.monotonic()
        assert command.run(arguments("--port", str(port), *words)) == command.EXIT_BAD
    assert time.monotonic() - started < 20
    output = capsys.readouterr().out
    assert f"127.0.0.1:{port}" in output
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--games", "0"],
        ["--concurrency", "none"],
        ["--clock", "5"],
        ["--clock", "0+0"],
        ["--clock", "10801+0"],
        ["--clock", "60+181"],
        ["--variant", "atomix"],
        ["--opponent", "grandmaster"],
        ["--opponent", "level"],
        ["--opponent", "greedy:1500"],
        ["--opponent", "level:1500,300"],
        ["--opponent", "level:strong"],
        ["--strength", "strong"],
        ["--strength", "-5"],
        ["--strength", "100"],
        ["--strength", "9999"],
        ["--depth", "65"],
        ["--pgn", "no-such-folder/games.pgn"],
        ["--faults", "no-such-fault"],
        ["--faults", "threefold@account"],
        ["--chaos", "0"],
        ["--chaos", "1.1"],
        ["--time-scale", "0"],
    ],
)
def test_wrong_options_are_usage_errors(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        arguments(*words)


def test_a_clock_has_whole_seconds() -> None:
    with pytest.raises(click.UsageError, match=r"'6\+0.1' is not BASE\+INCREMENT in whole seconds, such as 60\+0"):
        arguments("--clock", "6+0.1")


def test_levels_are_those_of_opponents_and_of_the_bot() -> None:
    options = arguments("--opponent", "level:900,1300", "--strength", "match_opponent")
    assert match_plan(options).levels == (900, 1300)
    assert options.strength == "match_opponent"
    with pytest.raises(click.UsageError, match="none of random, greedy, engine and level:1500; perhaps level:1500"):
        arguments("--opponent", "levle:1500")
    with pytest.raises(click.UsageError, match="'300' is not a level from 600 to "):
        arguments("--opponent", "level:300")
    with pytest.raises(click.UsageError, match="'100' is not a level from 400 to 4000"):
        arguments("--strength", "100")


@pytest.mark.parametrize(
    "words",
    [
        ["--serve", "--strength", "1500"],
        ["--concurrency", "65"],
        ["--faults", "list", "--chaos", "0.1"],
        ["--faults", "list", "--serve"],
        ["--fault-log", "faults.jsonl"],
        ["--serve", "--config", EXAMPLE_CONFIG],
    ],
)
def test_contradicting_options_are_usage_errors(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError):
        command.run(arguments(*words))


def test_an_unknown_fault_is_reported_with_the_nearest_names() -> None:
    with pytest.raises(click.UsageError, match="there is no fault 'stal'; perhaps stall"):
        arguments("--faults", "stal,reset")


def test_catalogue_explains_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(arguments("--faults", "list")) == command.EXIT_GOOD
    listed = capsys.readouterr().out
    assert all(fault.label in listed and fault.spec.description in listed for fault in Fault)


def test_faults_and_chaos_settle_the_plan() -> None:
    named = fault_plan(arguments("--faults", "stall@game-stream,502-html", "--seed", "7", "--games", "3"))
    assert PlacedFault(Fault.STALL, Place.GAME_STREAM) in named.placed_faults
    assert PlacedFault(Fault.STALL, Place.EVENT_STREAM) not in named.placed_faults
    assert (named.chance, named.seed, named.games, named.by_name) == (None, 7, 3, True)
    assert not fault_plan(arguments("--faults", "all")).by_name
    chaos = fault_plan(arguments("--chaos", "0.2"))
    assert {placed.fault for placed in chaos.placed_faults} == set(Fault)
    assert fault_plan(arguments()).placed_faults == ()
    assert match_plan(arguments()).clock.limit_s < match_plan(arguments("--chaos", "0.2")).clock.limit_s


@pytest.mark.parametrize(
    ("challenge", "takes_positions"),
    [
        ({}, True),
        ({"variants": ["standard", "fromPosition"]}, True),
        ({"variants": ["standard"]}, False),
        ({"bot": {"variants": ["chess960"]}}, False),
    ],
)
def test_a_bot_without_from_position_is_not_challenged_to_one(
    challenge: dict[str, object], takes_positions: bool
) -> None:
    """The late repetition begins from a position."""
    config = {"challenge": challenge}
    assert (LATE_THREEFOLD in fault_plan(arguments("--faults", "all"), config).placed_faults) is takes_positions
    if not takes_positions:
        with pytest.raises(click.UsageError, match="threefold needs fromPosition"):
            fault_plan(arguments("--faults", "threefold"), config)


@pytest.mark.parametrize(
    ("settings", "may_resign"),
    [
        ("engine: {draw_or_resign: {resign_enabled: true}}", True),
        ("engine: {draw_or_resign: {resign_enabled: false}}", False),
        ("profiles: [{when: {rated: false}, engine: {draw_or_resign: {resign_enabled: true}}}]", True),
        ("personality: aunt", True),
    ],
)
def test_a_bot_that_is_configured_to_resign_may_resign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, may_resign: bool
) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(command, "run", lambda options, **about: told.update(about))
    (file := tmp_path / "config.yml").write_text(settings)
    rehearse_command.main(["--config", str(file)], standalone_mode=False)
    assert told["may_resign"] is may_resign
    plans = [match_plan(arguments(*words), may_resign=may_resign) for words in ((), ("--serve",))]
    assert [plan.may_resign for plan in plans] == [may_resign, True]


@pytest.mark.parametrize(
    ("words", "settings", "at_once", "note"),
    [
        ("", "{}", 1, None),
        ("", "challenge: {concurrency: 3}", 2, None),
        ("--concurrency 3", "challenge: {concurrency: 3}", 3, None),
        ("--concurrency 4", "{}", 1, "1 game at a time, not 4: challenge.concurrency is 1"),
        ("--concurrency 4", "challenge: {concurrency: 3}", 3, "3 games at a time, not 4: challenge.concurrency is 3"),
    ],
)
def test_no_more_games_run_at_once_than_the_bot_is_configured_to_play(
    words: str, settings: str, at_once: int, note: str | None,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    plans: list[tuple[int, int, int]] = []

    def played(rehearsal: command._Rehearsal, terms: BotTerms, folder: Path) -> int:
        folder.rmdir()
        plan = rehearsal._match.plan
        plans.append((plan.concurrency, rehearsal._injector.schedule.plan.at_once, terms.concurrency))
        return command.EXIT_GOOD

    monkeypatch.setattr(command._Rehearsal, "play", played)
    (file := tmp_path / "config.yml").write_text(settings)
    told = ["--config", str(file), "--chaos", "0.1", *words.split()]
    assert rehearse_command.main(told, standalone_mode=False) == command.EXIT_GOOD
    assert plans == [(at_once,) * 3]
    lines = [] if note is None else [f"note: {note} in {file}"]
    assert [line for line in capsys.readouterr().out.splitlines() if "at a time" in line] == lines


@pytest.mark.parametrize(
    ("challenge", "bots", "humans"),
    [
        ({}, False, False),
        ({"modes": ["casual", "rated"]}, False, False),
        ({"modes": ["rated"]}, True, True),
        ({"modes": ["rated"], "human": {"modes": ["casual"]}}, True, False),
        ({"bot": {"modes": ["rated"]}}, True, False),
    ],
)
def test_a_bot_that_takes_rated_games_only_gets_them(challenge: dict[str, object], bots: bool, humans: bool) -> None:
    plan = match_plan(arguments(), {"challenge": challenge})
    assert (plan.rated_by_bots, plan.rated_by_humans) == (bots, humans)


@pytest.mark.parametrize(
    ("words", "challenge", "refused"),
    [
        ("", {}, None),
        ("", {"modes": ["rated"]}, "people"),
        ("", {"bot": {"modes": ["rated"]}}, "bots"),
        ("--concurrency 1", {"bot": {"modes": ["rated"]}}, "bots"),
        ("--opponent level:1500", {"bot": {"modes": ["rated"]}}, None),
        ("--variant fromPosition", {"modes": ["rated"]}, None),
        ("--browser", {"modes": ["rated"]}, None),
    ],
)
def test_strength_is_refused_where_it_would_do_nothing(
    words: str, challenge: dict[str, object], refused: str | None
) -> None:
    options, config = arguments("--strength", "1500", *words.split()), {"challenge": challenge}
    if refused is None:
        match_plan(options, config)
    else:
        with pytest.raises(click.UsageError, match=f"--strength is for casual games, .* rated ones from {refused}"):
            match_plan(options, config)


@pytest.mark.parametrize(
    ("challenge", "bots", "humans"),
    [({}, True, True), ({"accept_bot": False}, False, True), ({"only_bot": True}, True, False)],
)
def test_a_bot_that_plays_only_bots_or_only_humans_gets_them(
    challenge: dict[str, object], bots: bool, humans: bool
) -> None:
    plan = match_plan(arguments("--games", "90"), {"challenge": challenge})
    assert (plan.accepts_bots, plan.accepts_humans) == (bots, humans)
    if not humans:
        with pytest.raises(click.UsageError, match=r"accepts only bots, and Lichess limits .* at most 90"):
            match_plan(arguments("--games", "91"), {"challenge": challenge})


@pytest.mark.usefixtures("copied_daemon")
def test_the_notes_on_the_operators_configuration_are_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yml"
    config.write_text("engine: {dir: engines, name: mine}\n")
    rehearse_command.main(["--games", "1", "--config", str(config)], standalone_mode=False)
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == f'note: {config}:1: engine.name: the bot plays this engine as engine.command: ["engines/mine"]'


def test_the_rehearsed_bot_leaves_the_operators_server_program_and_page_alone(tmp_path: Path) -> None:
    outside = {
        "url": "https://lichess.org", "proxy": "http://proxy:1", "token_file": "token", "pgn_directory": "games",
        "notify": {"command": ["mail"]}, "status": {"listen": "127.0.0.1:8080", "password_file": "password"},
    }  # fmt: skip
    Daemon("http://127.0.0.1:1", "token", BotTerms(1, config={**outside, "abort_time": 31}), tmp_path)
    settings = yaml.safe_load((tmp_path / "config.yml").read_text())
    assert settings == {"url": "http://127.0.0.1:1", "state_dir": "state", "abort_time": 31}


@pytest.mark.usefixtures("copied_daemon")
def test_the_configuration_of_the_operator_is_rehearsed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yml"
    config.write_text("token: not_used\nurl: https://lichess.org\nchallenge: {variants: [chess960]}\n")
    assert rehearsed("--games", "1", "--config", str(config)) == command.EXIT_BAD
    assert "challenge declined: variant" in capsys.readouterr().out
