"""The command line: arguments, logging, start and exit codes; the work is done in the other rooms.

Exit codes: 0 done; 1 `check`, `upgrade`, `explain` or `rehearse` did not succeed, or `run` met a bug and should be
started again; 2 wrong arguments or configuration; 3 Lichess refuses the token or the account; 4 left by
a second signal with games running.
"""

import argparse
import faulthandler
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from engine.facade import build_mode
from lichessbot import explain
from lichessbot.api import Access
from lichessbot.check import Check
from lichessbot.config import LoadedConfig, load_config
from lichessbot.credentials import TOKEN_VARIABLE
from lichessbot.errors import ConfigError, StateError, StateNewer
from lichessbot.journal import Journal, start_logging
from lichessbot.reload import Settings
from lichessbot.state_file import StateFile
from lichessbot.store import Store
from lichessbot.supervisor import ExitCode, Supervisor
from lichessbot.systemd import ServiceManager
from lichessbot.upgrade import upgrade
from lichessbot.waits import Waits

TIME_SCALE_VARIABLE: Final = "LICHESSBOT_TIME_SCALE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(with_rehearsal="rehearse" in words[:1])
    options = parser.parse_args(words)
    try:
        code: int = options.command(options)
    except ConfigError as error:
        sys.stderr.write("".join(f"{problem}\n" for problem in error.problems))
        return ExitCode.USAGE
    except KeyboardInterrupt:
        return ExitCode.FAILED  # `run` has its own way with signals; the others simply end
    return code


def _parser(*, with_rehearsal: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lichessbot", description="A Lichess bot.")
    parser.add_argument("--version", action="version", version=f"lichessbot {version('lichessbot')}")
    commands = parser.add_subparsers(required=True, metavar="command")
    run = _command(commands, "run", "play, until a signal", _run)
    run.add_argument("--verbose", action="store_true", help="log every move and every ignored event")
    _command(commands, "check", "say whether the bot would work, and what it would do", _check)
    upgrading = _command(commands, "upgrade", "turn the account into a BOT account, after asking", _upgrade)
    upgrading.add_argument("--yes", action="store_true", help="do not ask")
    explaining = _command(commands, "explain", "say which rule decides about a challenge, or decided", _explain)
    explain.add_arguments(explaining)
    rehearse = commands.add_parser("rehearse", help="play against an embedded Lichess, offline")
    if with_rehearsal:
        # The embedded server is loaded for this command only: `run` has no use for it.
        from lichessbot.rehearsal import command

        command.add_arguments(rehearse)
        rehearse.set_defaults(command=command.run)
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    help_text: str,
    function: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help_text)
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help=f"the configuration; without it the defaults and {TOKEN_VARIABLE} in the environment",
    )
    parser.set_defaults(command=function)
    return parser


def _run(options: argparse.Namespace) -> int:
    settings, waits = _load(options)
    loaded = settings.loaded
    start_logging(sys.stderr, [loaded.token.get_secret_value()], verbose=options.verbose)
    journal = Journal()
    journal.info(
        "start",
        version=version("lichessbot"),
        python=platform.python_version(),
        engine=build_mode(),
        config=options.config or "defaults",
    )
    for warning in loaded.warnings:
        journal.warning("config", note=warning)
    faulthandler.enable()  # a watchdog's SIGABRT leaves in the log where every thread stood
    if os.geteuid() == 0:
        journal.warning("root", note="the bot needs no rights: run it as a user of its own (deploy/README.md)")
    try:
        store = Store(StateFile(loaded.state_dir))
    except StateError as error:
        journal.error("state", error=error)
        return ExitCode.USAGE if isinstance(error, StateNewer) else ExitCode.FAILED
    try:
        return Supervisor(settings, _access(loaded, waits), waits, store, ServiceManager(os.environ)).run()
    finally:
        store.close()


def _check(options: argparse.Namespace) -> int:
    settings, waits = _load(options)
    passed = Check(settings.loaded, waits, sys.stdout).run()
    return ExitCode.OK if passed else ExitCode.FAILED


def _upgrade(options: argparse.Namespace) -> int:
    settings, waits = _load(options)
    answers = None if options.yes else sys.stdin
    done = upgrade(_access(settings.loaded, waits), waits, answers, sys.stdout)
    return ExitCode.OK if done else ExitCode.FAILED


def _explain(options: argparse.Namespace) -> int:
    loaded = load_config(options.config, os.environ, needs_token=False)
    try:
        known = explain.explain(options, loaded, Waits(), sys.stdout)
    except StateError as error:
        sys.stderr.write(f"{error}\n")
        return ExitCode.FAILED
    return ExitCode.OK if known else ExitCode.FAILED


def _load(options: argparse.Namespace) -> tuple[Settings, Waits]:
    waits = Waits().scaled(_time_scale(os.environ))
    return Settings(options.config, os.environ), waits


def _access(loaded: LoadedConfig, waits: Waits) -> Access:
    return Access(loaded.config.url, loaded.token, waits, proxy=loaded.config.proxy)


def _time_scale(environment: Mapping[str, str]) -> float:
    """Tests and rehearsals shorten every wait by this factor; operators have no use for it."""
    text = environment.get(TIME_SCALE_VARIABLE, "1")
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0.001 <= scale <= 1000:
        raise ConfigError([f"{TIME_SCALE_VARIABLE}: expected a number from 0.001 to 1000, found {text!r}"])
    return scale


if __name__ == "__main__":
    sys.exit(main())
