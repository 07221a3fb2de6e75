"""The command line: exit codes, and what is said before anything is done."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from engine.facade import build_mode
from lichessbot import __version__
from lichessbot.cli.main import cli, main
from lichessbot.cli.options import TIME_SCALE_VARIABLE, records_folder
from lichessbot.config import load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from tests.fakes import forked
from tests.fakes.arena import IDLE_ENGINE

TOKEN = "lip_secret0123456789"
PYTHON = (sys.executable, "-P")
COMMANDS = cli.list_commands(click.Context(cli))


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lichessbot {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_listed_and_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert f"\n  {command} " in capsys.readouterr().out
    assert main([command, "--help"]) == 0
    assert f"Usage: lichessbot {command} " in capsys.readouterr().out


@pytest.mark.parametrize("command", ["config", "team"])
def test_lists_of_commands_are_not_cut_off(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize("words", [(), ("dance",), ("run", "--fast"), ("run", "--config"), ("run", "-v", "-q")])
def test_wrong_arguments_are_exit_code_two(words: tuple[str, ...]) -> None:
    assert main(words) == 2


@pytest.mark.parametrize(
    ("command", "words", "complaint"),
    [
        ("matchmaking", [], "Missing argument '{on|off}'. Choose from: on, off"),
        ("games", ["--json", "--csv"], "--json and --csv exclude each other"),
        ("run", ["--fast"], "No such option '--fast'."),
        ("status", ["\x1b[2J"], r"Got unexpected extra argument (\x1b[2J)"),
        ("rehearse", ["--games", "all"], "Invalid value for '--games': expected a whole number from 1, found 'all'"),
        ("explain", ["--days", "15"], "Invalid value for '--days': expected a whole number from 1 to 14, found 15"),
        ("postmortem", ["--seconds", ""], "Invalid value for '--seconds': expected a number from 0 to 3600, found ''"),
        ("tournament", ["too-short"], "Invalid value for 'ID': expected the id of an arena, 8 letters and digits, or "
         "its address, found 'too-short'"),
        ("team join", ["a/../b"], "Invalid value for 'TEAM': expected the id of a team, the end of its address, found "
         "'a/../b'"),
        ("team join", ["reds", "--message", "Hi!"], "Invalid value for '--message': expected at least 30 characters, "
         "found 3"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_one_line(
    command: str, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), *words]) == 2
    command = f"lichessbot {command}"
    assert capsys.readouterr().err == f"{command}: {complaint} (see `{command} --help`)\n"


def test_an_option_before_its_command_is_told_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", "config.yml", "run"]) == 2
    told = capsys.readouterr().err
    assert "no such option '--config' here; options stand after the command: `lichessbot run --config ...`" in told
    main(["--verison"])
    assert "Did you mean '--version'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("-u", "lichessbot: No such option '-u'. `lichessbot upgrade` turns the account into a BOT account. (see "),
        ("run -u", "lichessbot run: No such option '-u'. `lichessbot upgrade` turns"),
        ("run -v -l log.txt", "lichessbot run: No such option '-l'. The log goes to standard error: "),
        ("--disable_auto_logging", "lichessbot: No such option '--disable_auto_logging'. The log goes to standard"),
    ],
)
def test_an_option_of_lichess_bot_is_told_what_does_the_same(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize("command", ["run", "check", "explain", "upgrade", "rehearse"])
def test_a_wrong_configuration_is_exit_code_two(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yml"
    config.write_text("abort_tme: 3\nurl: nowhere\n")
    assert main([command, "--config", str(config)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"{config}:1", f"{config}:2"]


def test_no_token_is_exit_code_two(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE)
    assert main(["run"]) == 2
    assert TOKEN_VARIABLE in capsys.readouterr().err


@pytest.mark.parametrize("scale", ["fast", "0", "-1", "nan", "inf", ""])
def test_a_wrong_time_scale_is_exit_code_two(
    scale: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TIME_SCALE_VARIABLE, scale)
    assert main(["run"]) == 2
    assert TIME_SCALE_VARIABLE in capsys.readouterr().err


def test_the_start_line_says_how_the_engine_runs(tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text("url: http://127.0.0.1:9\n")
    reading, writing = os.pipe()
    with os.fdopen(reading) as lines, os.fdopen(writing, "wb") as errors:
        process = forked.start(["run", "--config", str(config)], os.environ, errors, errors)
        line = lines.readline()
        process.kill()
        process.wait()
    assert f" start version={__version__} " in line
    assert f" engine={build_mode()} " in line


def test_a_reader_that_goes_away_ends_a_command_quietly(tmp_path: Path) -> None:
    environment = {**os.environ, TOKEN_VARIABLE: "lip_good"}
    (tmp_path / "config.yml").write_text(f"url: http://127.0.0.1:9\nstate_dir: state\nengine: {{{IDLE_ENGINE}}}\n")
    command = [sys.executable, "-P", "-m", "lichessbot", "check", "--config", str(tmp_path / "config.yml")]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            command, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_check_prints_lines_of_its_own_only(tmp_path: Path) -> None:
    environment = {**os.environ, TOKEN_VARIABLE: "lip_good"}
    (tmp_path / "config.yml").write_text(
        "url: http://127.0.0.1:9\nstate_dir: state\nengine: {uci_options: {Unheard Of: 1}}\n"
    )
    done = forked.run(["check", "--config", str(tmp_path / "config.yml")], environment, 60)
    assert done.stderr == ""
    assert {line.split()[0] for line in done.stdout.splitlines()} <= {"ok", "note", "plan", "FAIL"}
    assert "FAIL  http://127.0.0.1:9: connection refused" in done.stdout


def test_the_example_configuration_is_printed_and_comes_with_an_installed_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = Path(__file__).parents[3] / "config.example.yml"
    assert main(["config", "example"]) == 0
    assert capsys.readouterr().out == example.read_text(encoding="utf-8")
    checkout = tmp_path / "checkout"
    without = shutil.ignore_patterns("*.so", "__pycache__")
    for name in ("engine", "lichessbot"):
        shutil.copytree(example.with_name(name), checkout / name, symlinks=True, ignore=without)
    for name in ("pyproject.toml", "README.md", "LICENSE", "config.example.yml"):
        shutil.copy(example.with_name(name), checkout)
    build = "from setuptools import setup; setup(script_args=['--quiet', 'build_py', '--build-lib', 'built'])"
    environment = {**os.environ, "ENGINE_PURE": "1", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", build], cwd=checkout, env=environment, check=True, timeout=100)
    installed = checkout / "built" / "lichessbot" / "config" / "example.yml"
    assert not installed.is_symlink()
    assert installed.read_text(encoding="utf-8") == example.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("output", "code", "complaint"),
    [(">&-", 0, ""), (">/dev/full", 1, "lichessbot: No space left on device\n"), (">&- 2>&-", 0, "")],
)
@pytest.mark.parametrize("command", ["config example", "--version"])
def test_output_that_is_closed_or_full_is_no_bug(command: str, output: str, code: int, complaint: str) -> None:
    script = f"{' '.join(PYTHON)} -m lichessbot {command} {output}"
    done = subprocess.run(["sh", "-c", script], stderr=subprocess.PIPE, text=True, timeout=90, check=False)
    assert (done.returncode, done.stderr) == (code, complaint)


@pytest.mark.parametrize("value", ["", "null", "''", "state", "~/state", "/tmp/state", "./"])
def test_every_command_finds_the_records_where_the_daemon_keeps_them(value: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(f"state_dir: {value}\n")
    assert records_folder(config) == load_config(config, os.environ, needs_token=False).state_dir
