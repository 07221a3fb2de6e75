"""`lichessbot tournament`: join an arena, or leave it; the running daemon plays. `lichessbot team`: join a team.

Asks Lichess first, so that its errors are shown at once. Then tells the running daemon; if none runs, changes the
records, where the next one finds what it is to play. An arena is joined only if a daemon runs: Lichess would soon begin
a game there.
"""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import click

from lichessbot.cli.control import ask_daemon
from lichessbot.cli.options import Parsed, access_to, config_option, explained, load, refuse_unplayable
from lichessbot.control.commands import ControlCommand
from lichessbot.errors import ApiError, ConfigError, ExitCode
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.enums import Variant, parse_arena_id, parse_team_id
from lichessbot.log import inert
from lichessbot.storage.database import Database, in_use
from lichessbot.storage.tables import Table, deleted, replaced

_TABLE: Final = Table.TOURNAMENTS
_SHORTEST_MESSAGE: Final = 30  # Lichess's own limit
# It asks without a value, as other users can read the arguments of a program.
_password_option: Final = partial(click.option, "--password", prompt=True, prompt_required=False, hide_input=True)


def _team_id(text: str) -> str:
    team_id = parse_team_id(text)
    if team_id is None:
        raise ValueError(f"expected the id of a team, the end of its address, found {text!r}")
    return team_id


def _message(text: str) -> str:
    if len(text) < _SHORTEST_MESSAGE:
        raise ValueError(f"expected at least {_SHORTEST_MESSAGE} characters, found {len(text)}")
    return text


@click.group("team")
def team_command() -> None:
    """Join a team, which team battles require."""


@team_command.command()
@config_option
@click.argument("team_id", type=Parsed(_team_id), metavar="TEAM")
@_password_option(help="Password of the team; without a value, you are asked for it.")
@click.option("--message", type=Parsed(_message), help="What its leaders read, 30 characters or more.")
def join(config_file: Path | None, team_id: str, password: str | None, message: str | None) -> int:
    """Join TEAM, which is the end of its address. The token needs the scope team:write."""
    settings, timeouts = load(config_file)
    api = LichessClient(access_to(settings.loaded, timeouts), timeouts.request_answer)
    try:
        api.join_team(team_id, password, message)
    except ApiError as error:
        click.echo(inert(f"team {team_id}: {explained(error)}"))
        return ExitCode.FAILED
    finally:
        api.close()
    click.echo(f"joined team {team_id}" if message is None else f"asked the leaders of team {team_id} to join")
    return ExitCode.OK


def _tournament_id(text: str) -> str:
    arena_id = parse_arena_id(text)
    if arena_id is None:
        raise ValueError(f"expected the id of an arena, 8 letters and digits, or its address, found {text!r}")
    return arena_id


@click.command("tournament")
@config_option
@click.argument("tournament_id", type=Parsed(_tournament_id), metavar="ID")
@click.option("--team", type=Parsed(_team_id), help="Team to play for, in a team battle.")
@_password_option(help="Password of a private arena; without a value, you are asked for it.")
@click.option("--leave", is_flag=True, help="Leave the arena instead.")
def tournament_command(
    config_file: Path | None, tournament_id: str, team: str | None, password: str | None, leave: bool
) -> int:
    """Take part in the arena ID, which is the end of its address. The running daemon plays."""
    if leave and (team or password):
        raise click.UsageError("--team and --password cannot be used with --leave")
    settings, timeouts = load(config_file)
    loaded = settings.loaded
    if leave and any(it.id == tournament_id for it in loaded.config.tournaments):
        raise ConfigError(
            [f"tournament {tournament_id} is listed in `tournaments` of {config_file}: remove it there and send SIGHUP"]
        )
    api = LichessClient(access_to(loaded, timeouts), timeouts.request_answer)
    try:
        if leave:
            api.leave_tournament(tournament_id)
            done = f"left tournament {tournament_id}"
        else:
            info = api.tournament(tournament_id)
            refuse_unplayable(f"tournament {info.id}", info.game_variant, loaded.config, timeouts)
            if (objection := info.objection(tuple(Variant))) is not None:
                raise ConfigError([f"tournament {info.id}: {objection}"])
            is_served = in_use(loaded.state_dir)
            if is_served:
                api.join_tournament(tournament_id, team, password, pair=False)
            done = f"{'entered' if is_served else 'will enter'} for {info.full_name or info.id}, which {_when(info)}"
    except ApiError as error:
        click.echo(inert(f"tournament {tournament_id}: {explained(error)}"))
        return ExitCode.FAILED
    finally:
        api.close()
    if not in_use(loaded.state_dir):
        row = {"id": tournament_id, "team": team, "password": password}
        with closing(Database(loaded.state_dir)) as file:
            file.write([deleted(_TABLE, id=tournament_id) if leave else replaced(_TABLE, **row)])
        click.echo(inert(f"{done}; no daemon uses {loaded.state_dir}: the next `lichessbot run` will know"))
        return ExitCode.OK
    command = ControlCommand.LEAVE_TOURNAMENT if leave else ControlCommand.JOIN_TOURNAMENT
    options = {name: value for name, value in (("team", team), ("password", password)) if value}
    answer = ask_daemon(config_file, command, tournament_id, options)
    risk = "play there again" if leave else "not play there"
    click.echo(inert(f"{done}; {answer.text}" if answer.ok else f"{done}, but the daemon may {risk}: {answer.text}"))
    return ExitCode.OK if answer.ok else ExitCode.FAILED


def _when(info: ArenaInfo) -> str:
    if info.seconds_to_start:
        return f"begins in {_minutes(info.seconds_to_start)}"
    if info.seconds_to_finish is not None:
        return f"runs for {_minutes(info.seconds_to_finish)} more"
    return "is over" if info.is_finished else "runs"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
