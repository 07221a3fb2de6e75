"""The command line as a whole: help, start, interruption."""

import os
import signal
import subprocess
import sys

import click
import pytest

from engine import __version__
from engine.cli.main import COMMANDS, cli, run


def commands() -> list[click.Command]:
    """Return all commands and those of their groups."""
    context = click.Context(cli)
    top = [command for name in COMMANDS if (command := cli.get_command(context, name)) is not None]
    return top + [child for group in top if isinstance(group, click.Group) for child in group.commands.values()]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_command_and_option_has_a_help_text(command: click.Command) -> None:
    assert command.help
    for option in command.params:
        assert not isinstance(option, click.Option) or option.help, option.name


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"lichessbot-engine {__version__}\n"


@pytest.mark.parametrize(
    "words", [("play", "\x1b[2J"), ("records", "\x1b[2J"), ("match", "\x1b[2J", "hce")], ids=lambda words: words[0]
)
def test_an_error_shows_no_terminal_escapes(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    told = capsys.readouterr().err
    assert r"\x1b[2J" in told
    assert "\x1b" not in told


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "Without a command it speaks UCI." in shown


@pytest.mark.parametrize("words", [(), ("book",)])
def test_lists_of_commands_are_not_cut_off(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


def test_a_closed_terminal_interrupts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell repeats the signal, which then finds the process at its end: a game that is saved."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def hang_up(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGHUP)
        finally:
            signal.raise_signal(signal.SIGHUP)
            ended.append(True)

    ended: list[bool] = []
    monkeypatch.setattr(cli, "main", hang_up)
    try:
        with pytest.raises(KeyboardInterrupt):
            run([])
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended


def test_work_that_nohup_started_outlives_its_terminal() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run(["--version"]) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_interrupted_command_ends_without_another_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupted training still waits for its threads, and Python would show where it was interrupted again."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def interrupted(*_: object, **__: object) -> None:
        raise click.exceptions.Abort

    monkeypatch.setattr(cli, "main", interrupted)
    try:
        assert run([]) == 130
        assert {signal.getsignal(number) for number in before} == {signal.SIG_IGN}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert capsys.readouterr().err == "interrupted\n"


def test_uci_explains_itself() -> None:
    words = [sys.executable, "-P", "-m", "engine", "uci", "--help"]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert "Speak UCI, as without a command." in answer.stdout


@pytest.mark.parametrize("words", [[], ["uci"]])
def test_uci_starts_without_the_command_line(words: list[str]) -> None:
    command = [sys.executable, "-P", "-X", "importtime", "-m", "engine", *words]
    answer = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=100, check=True)
    assert "engine.uci" in answer.stderr
    assert "click" not in answer.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system assigns no cores to processes")
def test_as_many_games_are_played_at_once_as_the_process_may_use_cores() -> None:
    command = [sys.executable, "-P", "-m", "engine", "selfplay", "--help"]
    program = f"import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); os.execv({command[0]!r}, {command})"
    answer = subprocess.run([command[0], "-c", program], capture_output=True, text=True, timeout=100, check=True)
    assert "at the same time. [default: 1;" in " ".join(answer.stdout.split())
