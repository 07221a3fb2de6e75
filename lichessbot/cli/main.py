"""The command line of `lichessbot`: the list of commands, and how errors and exit codes leave the process."""

import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Final

import click
from click.shell_completion import CompletionItem

from lichessbot import __version__
from lichessbot.errors import ConfigError, ExitCode, StateError, StateNewer
from lichessbot.log import inert

_SECTIONS: Final = {
    "Play": {
        "run": "Play until stopped.",
        "check": "Say whether the bot would work, and what it would do.",
        "challenge": "Challenge one player. The running daemon plays.",
        "tournament": "Take part in an arena. The running daemon plays.",
        "rehearse": "Play against an embedded Lichess, offline.",
    },
    "Control the running daemon": {
        "status": "Show its games, queue, limits and health.",
        "pause": "Take no new games for now.",
        "resume": "Take new games again.",
        "finish": "Finish the running games, then end.",
        "quit": "End at once.",
        "block": "Block a player.",
        "unblock": "Unblock a player.",
        "matchmaking": "Switch matchmaking on or off.",
        "rechallenge": "Challenge the last opponent again.",
    },
    "Look back": {
        "stats": "Show results, ratings, time use and worst moves.",
        "games": "List the games played.",
        "pgn": "Write games as PGN, with evaluations and clocks.",
        "review": "Show the accuracy and mistakes of both players.",
        "postmortem": "Say why a game was lost.",
        "explain": "Say what happens to a challenge, and which rule decides.",
    },
    "Set up": {
        "config": "Explain, translate and show configurations.",
        "upgrade": "Turn the account into a BOT account, after asking.",
        "team": "Join a team.",
        "bugreport": "Collect what a bug report needs, without secrets.",
    },
}
_COMMANDS: Final = {name: text for commands in _SECTIONS.values() for name, text in commands.items()}
# The modules that are not named after the command.
_MODULES: Final = {
    **dict.fromkeys(("stats", "games", "pgn"), "records.games"),
    "postmortem": "records.postmortem",
    "review": "records.review",
    **dict.fromkeys(
        ("pause", "resume", "finish", "quit", "block", "unblock", "matchmaking", "rechallenge"), "control"
    ),
    "team": "tournament",
}
_LOG: Final = "The log goes to standard error: `lichessbot run 2>>FILE`."
# By option of lichess-bot: what does the same here.
_OPTIONS_OF_LICHESS_BOT: Final = {
    "-u": "`lichessbot upgrade` turns the account into a BOT account.",
    **dict.fromkeys(("-l", "--logfile", "--disable_auto_logging"), _LOG),
}


class _Commands(click.Group):
    """Loads a command only when it is called, so that `run` does not load the embedded Lichess."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        if cmd_name == "run":
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it reloads a daemon, and must not end one that still loads
        gc.disable()  # nothing that is loaded is garbage, and looking for it would take a tenth of a start
        try:
            module = import_module(f"lichessbot.cli.{_MODULES.get(cmd_name, cmd_name)}")
        finally:
            gc.freeze()  # else the next collection looks at all of it
            gc.enable()
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names of commands without loading the commands."""
        found = [CompletionItem(name, help=it) for name, it in _COMMANDS.items() if name.startswith(incomplete)]
        return found or click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, _COMMANDS))
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), text) for name, text in commands.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.possibilities or error.option_name in _OPTIONS_OF_LICHESS_BOT:
                raise
            name = error.option_name
            ctx.fail(f"no such option {name!r} here; options stand after the command: `lichessbot run {name} ...`")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS:
            nearest = get_close_matches(args[0], _COMMANDS, 1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"expected one of {', '.join(_COMMANDS)}"
            ctx.fail(f"no such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="lichessbot %(version)s")
def cli() -> None:
    """A Lichess bot."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for what the terminal's encoding lacks
    try:
        code = cli.main(args=arguments, prog_name="lichessbot", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return ExitCode.USAGE
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx is not None else "lichessbot"
        hint = _OPTIONS_OF_LICHESS_BOT.get(error.option_name, "") if isinstance(error, click.NoSuchOption) else ""
        message = inert(f"{_in_one_line(error)} {hint}".rstrip())
        sys.stderr.write(f"{path}: {message} (see `{path} --help`)\n")
        return ExitCode.USAGE
    except ConfigError as error:
        sys.stderr.write("".join(f"{inert(problem)}\n" for problem in error.problems))
        return ExitCode.USAGE
    except StateError as error:
        sys.stderr.write(f"{error}\n")
        return ExitCode.USAGE if isinstance(error, StateNewer) else ExitCode.FAILED
    except BrokenPipeError:
        # The reader, such as `head`, has all it wants; what is left must not be flushed at exit either.
        _write_nothing_more()
        return ExitCode.FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        sys.stderr.write(f"lichessbot: {error.strerror}\n")
        _write_nothing_more()
        return ExitCode.FAILED
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.FAILED  # `run` handles signals itself; the other commands simply end
    return int(code or 0)


def _in_one_line(error: click.UsageError) -> str:
    """Return what is wrong. Of text for a number click says no more than that it is not a valid integer range."""
    param = error.param if isinstance(error, click.BadParameter) else None
    kind = None if param is None else param.type
    if isinstance(kind, click.IntRange | click.FloatRange) and " is not " in error.message:
        number = "a whole number" if isinstance(kind, click.IntRange) else "a number"
        bounds = f"from {kind.min}" if kind.max is None else f"from {kind.min} to {kind.max}"
        expected = f"expected {number} {bounds}, found {error.message.rpartition(' is not ')[0]}"
        error = click.BadParameter(expected, error.ctx, param)
    return " ".join(error.format_message().split())     # click lists choices in lines of their own


def _open_closed_streams() -> None:
    """Open the streams that were closed before the start (`>&-`), so that writing works and reading finds nothing.

    Otherwise the next file that is opened takes their place, and `upgrade` cannot ask.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def _write_nothing_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
