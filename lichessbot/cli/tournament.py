"""`lichessbot tournament`: join an arena, or leave it; the running daemon plays. `lichessbot team`: join a team.

Asks Lichess first, so that errors are shown at once. The request is kept in the state folder, where the daemon finds
it at its start, or when it gets a signal from here.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

import click

from lichessbot.cli.challenge import refuse_unplayable
from lichessbot.cli.options import Parsed, access_to, config_option, load
from lichessbot.config import arena_id
from lichessbot.errors import ApiError, ConfigError, ExitCode
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.models import ArenaInfo
from lichessbot.log import inert
from lichessbot.storage.database import Database, Statement, owner, reload_owner, write_beside
from lichessbot.storage.tables import Table, deleted, replaced
from lichessbot.timeouts import Timeouts

_SHORTEST_MESSAGE: Final = 30  # Lichess's own limit


def _team_id(text: str) -> str:
    found = re.fullmatch(r"(?:https?://[^/]+/team/)?([A-Za-z0-9_-]{2,100})", text)
    if found is None:
        raise ValueError(f"expected the id of a team, the end of its address, found {text!r}")
    return found[1].lower()


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
@click.option("--password", help="Password of the team.")
@click.option("--message", type=Parsed(_message), help="What its leaders read, 30 characters or more.")
def join(config_file: Path | None, team_id: str, password: str | None, message: str | None) -> int:
    """Join TEAM, which is the end of its address. The token needs the scope team:write."""
    settings, timeouts = load(config_file)
    api = LichessClient(access_to(settings.loaded, timeouts), timeouts.request_answer)
    try:
        api.join_team(team_id, password, message)
    except ApiError as error:
        scope = error.missing_scope
        why = f"the token lacks the scope {scope}: make a new one with it" if scope else error
        click.echo(inert(f"team {team_id}: {why}"))
        return ExitCode.FAILED
    finally:
        api.close()
    click.echo(f"joined team {team_id}" if message is None else f"asked the leaders of team {team_id} to join")
    return ExitCode.OK


def _tournament_id(text: str) -> str:
    try:
        return arena_id(text)
    except ValueError as error:
        raise ValueError(f"{str(error).replace('Input should be', 'expected')}, found {text!r}") from None


@click.command("tournament")
@config_option
@click.argument("tournament_id", type=Parsed(_tournament_id), metavar="ID")
@click.option("--team", help="Team to play for, in a team battle.")
@click.option("--password", help="Password of a private arena.")
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
    request = Request(tournament_id, team, password, leave)

    def check_variant(info: ArenaInfo) -> None:
        refuse_unplayable(f"tournament {info.id}", info.variant, loaded.config, timeouts)

    done = register(request, access_to(loaded, timeouts), timeouts, loaded.state_dir, sys.stdout, check_variant)
    return ExitCode.OK if done else ExitCode.FAILED


@dataclass(frozen=True)
class Request:
    """The request on the command line."""

    tournament_id: str
    team: str | None = None
    password: str | None = field(default=None, repr=False)
    leave: bool = False


def register(
    request: Request,
    access: Access,
    timeouts: Timeouts,
    state_dir: Path,
    out: IO[str],
    check: Callable[[ArenaInfo], None],
) -> bool:
    """Join or leave. Write the result in one line; return whether it succeeded. `check` may refuse to join."""
    api = LichessClient(access, timeouts.request_answer)
    try:
        name = _leave(api, request) if request.leave else _enter(api, request, check)
        pid = owner(state_dir)
        is_told = _record(request, state_dir, pid)
    except ApiError as error:
        out.write(f"tournament {request.tournament_id}: {error}\n")
        return False
    finally:
        api.close()
    if is_told:
        out.write(f"{name}; the daemon (process {pid}) was told\n")
    elif pid is None:
        out.write(f"{name}; no daemon uses {state_dir}: the next `lichessbot run` will be told\n")
    else:
        out.write(f"{name}; the daemon that uses {state_dir} could not be told: send it SIGHUP\n")
    return is_told or pid is None


def _enter(api: LichessClient, request: Request, check: Callable[[ArenaInfo], None]) -> str:
    info = api.tournament(request.tournament_id)
    check(info)
    api.join_tournament(request.tournament_id, request.team, request.password, pair=False)
    return f"entered for {info.full_name or info.id}, which {_when(info)}"


def _leave(api: LichessClient, request: Request) -> str:
    api.leave_tournament(request.tournament_id)
    return f"left tournament {request.tournament_id}"


def _when(info: ArenaInfo) -> str:
    if info.seconds_to_start:
        return f"begins in {_minutes(info.seconds_to_start)}"
    if info.seconds_to_finish is not None:
        return f"runs for {_minutes(info.seconds_to_finish)} more"
    return "is over" if info.is_finished else "runs"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _record(request: Request, state_dir: Path, pid: int | None) -> bool:
    """Store the request; return whether the daemon, process `pid`, was told. Raises StateError."""
    statement = _statement(request)
    if pid is not None:
        write_beside(state_dir, statement)
        return reload_owner(state_dir, pid)
    file = Database(state_dir)
    try:
        file.write([statement])
    finally:
        file.close()
    return False


def _statement(request: Request) -> Statement:
    if request.leave:
        return deleted(Table.TOURNAMENTS, id=request.tournament_id)
    return replaced(Table.TOURNAMENTS, id=request.tournament_id, team=request.team, password=request.password)
