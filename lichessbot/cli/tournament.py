"""`lichessbot tournament`: enters the bot for an arena, or takes it out; the running daemon plays.

Asks Lichess first, so that whoever types hears what is wrong. The wish is kept in the records, where a
daemon finds it at its start, or at the signal it gets from here.
"""

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lichessbot.errors import ApiError, StateError
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.models import ArenaInfo
from lichessbot.storage.database import Database, Statement, owner, write_beside
from lichessbot.timeouts import Timeouts


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    tournament_id: str
    team: str | None = None
    password: str | None = field(default=None, repr=False)
    leave: bool = False


def register(request: Request, access: Access, timeouts: Timeouts, state_dir: Path, out: IO[str]) -> bool:
    """Enter, or leave. True if that was done; says in one line how it is now, or what is wrong."""
    api = LichessClient(access, timeouts.request_answer)
    try:
        name = _leave(api, request) if request.leave else _enter(api, request)
        pid = _record(request, state_dir)
    except (ApiError, StateError) as error:
        out.write(f"tournament {request.tournament_id}: {error}\n")
        return False
    finally:
        api.close()
    out.write(f"{name}; {_who_plays(pid, state_dir)}\n")
    return True


def _enter(api: LichessClient, request: Request) -> str:
    api.join_tournament(request.tournament_id, request.team, request.password, pair=False)
    info = api.tournament(request.tournament_id)
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


def _record(request: Request, state_dir: Path) -> int | None:
    """Note the wish; returns the daemon that was told. Raises StateError."""
    pid = owner(state_dir)
    statement = _statement(request)
    if pid is None:
        file = Database(state_dir)
        try:
            file.write([statement])
        finally:
            file.close()
    else:
        write_beside(state_dir, statement)
        os.kill(pid, signal.SIGHUP)
    return pid


def _statement(request: Request) -> Statement:
    if request.leave:
        return "DELETE FROM tournaments WHERE id = ?", [(request.tournament_id,)]
    row: Sequence[object] = (request.tournament_id, request.team, request.password)
    return "INSERT OR REPLACE INTO tournaments (id, team, password) VALUES (?, ?, ?)", [row]


def _who_plays(pid: int | None, state_dir: Path) -> str:
    if pid is None:
        return f"no daemon uses {state_dir}: `lichessbot run` will see to it"
    return f"the daemon (process {pid}) sees to it"
