"""The command line: arguments, logging, start and exit codes; the work is done in the other rooms.

Exit codes: 0 done; 1 any other command did not succeed, or `run` met a bug and should be started again; 2 wrong
arguments or configuration; 3 Lichess refuses the token or the account; 4 left by a second signal with games running.
"""

import argparse
import faulthandler
import gc
import os
import platform
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from engine.facade import build_mode
from lichessbot.cli import explain
from lichessbot.cli.challenge import Invitation, Series
from lichessbot.cli.check import Check
from lichessbot.cli.tournament import Request, register
from lichessbot.cli.upgrade import upgrade
from lichessbot.config import LoadedConfig, load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.config.matchmaking import offered_base, offered_days
from lichessbot.config.reload import Settings
from lichessbot.daemon import Daemon
from lichessbot.errors import ConfigError, ExitCode, StateError, StateNewer
from lichessbot.lichess.challenge_terms import Days, Terms
from lichessbot.lichess.client import Access
from lichessbot.lichess.enums import Colour, ExactClock, Variant
from lichessbot.log import EventLog, start_logging
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.systemd import ServiceManager
from lichessbot.timeouts import Timeouts

_LONGEST_INCREMENT_S: Final = 180
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
    _add_challenge(_command(commands, "challenge", "challenge one player; the running daemon plays", _challenge))
    entering = _command(commands, "tournament", "take part in an arena; the running daemon plays", _tournament)
    entering.add_argument("tournament_id", type=_id, metavar="ID", help="the end of the arena's address")
    entering.add_argument("--team", help="for which team, in a battle of teams")
    entering.add_argument("--password", help="of a private arena")
    entering.add_argument("--leave", action="store_true", help="leave it instead")
    upgrading = _command(commands, "upgrade", "turn the account into a BOT account, after asking", _upgrade)
    upgrading.add_argument("--yes", action="store_true", help="do not ask")
    explaining = _command(commands, "explain", "say which rule decides about a challenge, or decided", _explain)
    explain.add_arguments(explaining)
    rehearse = commands.add_parser("rehearse", help="play against an embedded Lichess, offline")
    if with_rehearsal:
        # The embedded server is loaded for this command only: `run` has no use for it.
        from lichessbot.rehearsal.cli import rehearse as command

        command.add_arguments(rehearse)
        rehearse.set_defaults(command=lambda options: _rehearse(options, command.run))
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
    settings, timeouts = _load(options)
    loaded = settings.loaded
    start_logging(sys.stderr, [loaded.token.get_secret_value()], verbose=options.verbose)
    log = EventLog()
    log.info(
        "start",
        version=version("lichessbot"),
        python=platform.python_version(),
        engine=build_mode(),
        config=options.config or "defaults",
    )
    for warning in loaded.warnings:
        log.warning("config", note=warning)
    faulthandler.enable()  # a watchdog's SIGABRT leaves in the log where every thread stood
    if os.geteuid() == 0:
        log.warning("root", note="the bot needs no rights: run it as a user of its own (deploy/README.md)")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # from now on others find us, and none shall kill what only begins
    try:
        store = Store(Database(loaded.state_dir))
    except StateError as error:
        log.error("state", error=error)
        return ExitCode.USAGE if isinstance(error, StateNewer) else ExitCode.FAILED
    # What there is by now stays: Python's collector, for which everything stops, need not look through it again.
    gc.collect()
    gc.freeze()
    try:
        return Daemon(settings, _access(loaded, timeouts), timeouts, store, ServiceManager(os.environ)).run()
    finally:
        store.close()


def _check(options: argparse.Namespace) -> int:
    settings, timeouts = _load(options)
    passed = Check(settings.loaded, timeouts, sys.stdout).run()
    return ExitCode.OK if passed else ExitCode.FAILED


def _upgrade(options: argparse.Namespace) -> int:
    settings, timeouts = _load(options)
    answers = None if options.yes else sys.stdin
    done = upgrade(_access(settings.loaded, timeouts), timeouts, answers, sys.stdout)
    return ExitCode.OK if done else ExitCode.FAILED


def _explain(options: argparse.Namespace) -> int:
    loaded = load_config(options.config, os.environ, needs_token=False)
    try:
        known = explain.explain(options, loaded, Timeouts(), sys.stdout)
    except StateError as error:
        sys.stderr.write(f"{error}\n")
        return ExitCode.FAILED
    return ExitCode.OK if known else ExitCode.FAILED


def _rehearse(options: argparse.Namespace, play: Callable[[argparse.Namespace], int]) -> int:
    """What is wrong with a configuration is said of the operator's own file: the bot will get a copy of it."""
    if options.config is not None:
        load_config(options.config, os.environ, needs_token=False)
    return play(options)


def _add_challenge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("opponent", type=_name, metavar="USER", help="whom")
    blitz = ExactClock(180, 2)
    parser.add_argument("--clock", type=_clock, default=blitz, metavar="MINUTES+SECONDS", help=f"default {blitz}")
    parser.add_argument("--days", type=_days, metavar="N", help="days for each move, instead of a clock; stays open")
    parser.add_argument("--rated", action="store_true", help="for rating; casual without it")
    parser.add_argument("--games", type=_count, default=1, metavar="N", help="one after the other (1)")
    parser.add_argument(
        "--color", type=Colour, choices=list(Colour), help="ours in every game; else white first, then by turns"
    )
    variants = [Variant.STANDARD, Variant.CHESS960]
    parser.add_argument("--variant", type=Variant, choices=variants, default=Variant.STANDARD, help="standard")


def _challenge(options: argparse.Namespace) -> int:
    if options.days is not None and options.games > 1:
        raise ConfigError(["--days: one game at a time, as a second challenge to the same player replaces the first"])
    settings, timeouts = _load(options)
    terms = Terms(options.variant, options.days or options.clock, options.rated, options.color)
    invitation = Invitation(options.opponent, terms, options.games)
    played = Series(invitation, _access(settings.loaded, timeouts), timeouts, sys.stdout).run()
    return ExitCode.OK if played else ExitCode.FAILED


def _tournament(options: argparse.Namespace) -> int:
    settings, timeouts = _load(options)
    request = Request(options.tournament_id, options.team, options.password, options.leave)
    loaded = settings.loaded
    if request.leave and any(it.id == request.tournament_id for it in loaded.config.tournaments):
        place = f"`tournaments` of {options.config}"
        raise ConfigError([f"tournament {request.tournament_id} stands in {place}: take it out there, and send SIGHUP"])
    done = register(request, _access(loaded, timeouts), timeouts, loaded.state_dir, sys.stdout)
    return ExitCode.OK if done else ExitCode.FAILED


def _load(options: argparse.Namespace) -> tuple[Settings, Timeouts]:
    timeouts = Timeouts().scaled(_time_scale(os.environ))
    return Settings(options.config, os.environ), timeouts


def _access(loaded: LoadedConfig, timeouts: Timeouts) -> Access:
    return Access(loaded.config.url, loaded.token, timeouts, proxy=loaded.config.proxy)


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{2,30}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name on Lichess")
    return text


def _id(text: str) -> str:
    found = re.fullmatch(r"(?:https?://[^/]+/tournament/)?([A-Za-z0-9]{8})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not the id of an arena, 8 letters and digits, or its address")
    return found[1]


def _count(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"expected 1 to 100, found {text!r}")
    return int(text)


def _clock(text: str) -> ExactClock:
    clock = ExactClock.parse(text)
    if clock is None or clock.increment_s > _LONGEST_INCREMENT_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not minutes + seconds up to 180, such as 3+2 or 0.5+1")
    try:
        offered_base(clock.base_s)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {str(error).replace('Input', 'the base')}") from error
    return clock


def _days(text: str) -> Days:
    try:
        return Days(offered_days(int(text)))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {str(error).replace('Input', 'days')}") from error


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
