"""The commands that act on the running daemon: `lichessbot pause`, `block` and so on. It answers on its socket.

Of the configuration they read only `state_dir`: the daemon goes on while the rest of its file is wrong.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from lichessbot.cli.options import Parsed, config_option, player_name, records_folder
from lichessbot.control.client import NoAnswer, NoDaemon, ask
from lichessbot.control.commands import ControlAnswer, ControlCommand
from lichessbot.errors import ExitCode
from lichessbot.log import inert
from lichessbot.storage.database import owner

_player = click.argument("player", type=Parsed(player_name), metavar="NAME")


def ask_daemon(
    config_file: Path | None, command: ControlCommand, argument: str = "", options: Mapping[str, str] | None = None
) -> ControlAnswer:
    """Return the answer of the daemon with this configuration; one that could not be had says why."""
    folder = records_folder(config_file)
    try:
        return ask(folder, command, argument, options=options)
    except NoDaemon as error:
        pid = owner(folder)
        if pid is None:
            hint = "; if it runs with --config FILE, add that" if config_file is None else ""
            return ControlAnswer(ok=False, text=f"{error}{hint}")
        return ControlAnswer(ok=False, text=f"process {pid} has no control socket in {folder}: see its log")
    except NoAnswer as error:
        return ControlAnswer(ok=False, text=str(error))


def _tell(config_file: Path | None, command: ControlCommand, argument: str = "") -> int:
    """Send a command and print the answer in one line."""
    answer = ask_daemon(config_file, command, argument)
    (sys.stdout if answer.ok else sys.stderr).write(f"{inert(answer.text)}\n")
    return ExitCode.OK if answer.ok else ExitCode.FAILED


@click.command("pause")
@config_option
def pause_command(config_file: Path | None) -> int:
    """Take no new games until `resume`. Running games go on.

    Until then the bot declines challenges with `later`, sends none, and stays out of arenas. SIGHUP does not end the
    pause; a restart does.
    """
    return _tell(config_file, ControlCommand.PAUSE)


@click.command("resume")
@config_option
def resume_command(config_file: Path | None) -> int:
    """Take new games again after `pause`."""
    return _tell(config_file, ControlCommand.RESUME)


@click.command("finish")
@config_option
def finish_command(config_file: Path | None) -> int:
    """Take no new games, finish the running ones, and end. One SIGTERM does the same, also after `finish`."""
    return _tell(config_file, ControlCommand.FINISH)


@click.command("quit")
@config_option
def quit_command(config_file: Path | None) -> int:
    """End at once. The same as the second SIGTERM: games that were left continue at the next start if time is left."""
    return _tell(config_file, ControlCommand.QUIT)


@click.command("block")
@config_option
@_player
def block_command(config_file: Path | None, player: str) -> int:
    """Block the player NAME: decline all challenges and send none. Lasts until `unblock`, also across restarts.

    A running game with this player goes on.
    """
    return _tell(config_file, ControlCommand.BLOCK, player)


@click.command("unblock")
@config_option
@_player
def unblock_command(config_file: Path | None, player: str) -> int:
    """Undo `block` for the player NAME. Block lists in the configuration and on the web still apply."""
    return _tell(config_file, ControlCommand.UNBLOCK, player)


@click.command("matchmaking")
@config_option
@click.argument("switch", type=click.Choice(["on", "off"]))
def matchmaking_command(config_file: Path | None, switch: str) -> int:
    """Switch matchmaking on or off until the next restart, whatever `matchmaking.allow_matchmaking` says."""
    return _tell(config_file, ControlCommand.MATCHMAKING, switch)


@click.command("rechallenge")
@config_option
@click.option("--received", is_flag=True, help="Challenge the player who challenged the bot last.")
def rechallenge_command(config_file: Path | None, received: bool) -> int:
    """Challenge the player whom the bot challenged last, to the same game.

    Challenges by `lichessbot challenge` and by hand count too, if they were sent while the daemon ran.
    """
    return _tell(config_file, ControlCommand.RECHALLENGE, "received" if received else "sent")
