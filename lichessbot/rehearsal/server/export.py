"""Games as text: PGN and JSON of `/game/export`, and the PGN of a rehearsal."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engine.facade import pgn_text
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import Correspondence, RealTime
from lichessbot.rehearsal.rules.enums import Color, Status
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.server.payloads import perf_key

ONGOING_DELAY_PLIES = 3         # spectators see a running game so much later ...
ONGOING_FIRST_PLIES = 5         # ... but for its first plies
RESULT_UNKNOWN = "*"

_TERMINATIONS = {
    Status.STARTED: "Unterminated",
    Status.ABORTED: "Abandoned",
    Status.NO_START: "Abandoned",
    Status.TIMEOUT: "Time forfeit",
    Status.OUT_OF_TIME: "Time forfeit",
    Status.INSUFFICIENT_MATERIAL_CLAIM: "Insufficient material",
}


@dataclass(frozen=True)
class Parts:
    """The parts of an export that a request can choose."""

    moves: bool = True
    tags: bool = True
    clocks: bool = True
    pgn_in_json: bool = False


ALL_PARTS = Parts()


def result(game: Game) -> str:
    """Return `1-0`, `0-1`, `1/2-1/2`, or `*` if there is no result."""
    if not game.is_over or game.status is Status.ABORTED:
        return RESULT_UNKNOWN
    return {Color.WHITE: "1-0", Color.BLACK: "0-1", None: "1/2-1/2"}[game.winner]


def pgn(
    game: Game, site_url: str, parts: Parts = ALL_PARTS, *, round_name: str = "-", is_for_players: bool = False
) -> str:
    """Return the game as PGN; of a running game what spectators see, or everything if it is for its players."""
    plies = game.ply if is_for_players else _plies_shown(game)
    clocks_s = [left_ms / 1000 for left_ms in game.clock_history_ms[:plies]]
    has_clock = parts.clocks and isinstance(game.setup.time_control, RealTime)
    text = pgn_text(
        _headers(game, site_url, round_name),
        game.board_after(plies if parts.moves else 0),
        result(game),
        clocks_s if has_clock else (),
    )
    return text if parts.tags else text.partition("\n\n")[2]


def game_json(game: Game, site_url: str, arena_name: str | None, parts: Parts) -> dict[str, Any]:
    """Return the game as GameJson, with the arena as an object."""
    setup = game.setup
    control = setup.time_control
    plies = _plies_shown(game)
    shape: dict[str, Any] = {
        "id": game.id,
        "rated": game.is_rated,
        "variant": setup.variant.key,
        "speed": control.speed.value,
        "perf": perf_key(setup.variant, control.speed),
        "createdAt": setup.created_at_ms,
        "lastMoveAt": game.last_change_at_ms,
        "status": game.status.wire_name,
        "source": setup.source.value,
        "players": {color.value: _player(setup.account(color)) for color in Color},
    }
    if parts.moves:
        shape["moves"] = _moves_in_san(game, plies)
    if parts.pgn_in_json:
        shape["pgn"] = pgn(game, site_url, parts)
    if game.winner is not None:
        shape["winner"] = game.winner.value
    if setup.tournament_id is not None:
        shape["arenaTour"] = {"id": setup.tournament_id, "name": arena_name}
    if setup.variant.has_own_start:
        shape["initialFen"] = setup.initial_fen
    if isinstance(control, RealTime):
        shape["clock"] = {
            "initial": control.limit_s,
            "increment": control.increment_s,
            "totalTime": control.estimate_s,
        }
        if parts.clocks:
            shape["clocks"] = [left_ms // 10 for left_ms in game.clock_history_ms[:plies]]
    if isinstance(control, Correspondence):
        shape["daysPerTurn"] = control.days
    return shape


def _plies_shown(game: Game) -> int:
    delayed = max(ONGOING_FIRST_PLIES, game.ply - ONGOING_DELAY_PLIES)
    return game.ply if game.is_over else min(game.ply, delayed)


def _headers(game: Game, site_url: str, round_name: str) -> dict[str, str]:
    setup = game.setup
    created = datetime.fromtimestamp(setup.created_at_ms / 1000, tz=UTC)
    mode = "Rated" if game.is_rated else "Casual"
    headers = {
        "Event": f"{mode} {perf_key(setup.variant, setup.time_control.speed)} game",
        "Site": f"{site_url}/{game.id}",
        "Date": created.strftime("%Y.%m.%d"),
        "Round": round_name,
        "White": setup.white.name,
        "Black": setup.black.name,
        "Result": result(game),
        "GameId": game.id,
        "UTCDate": created.strftime("%Y.%m.%d"),
        "UTCTime": created.strftime("%H:%M:%S"),
    }
    for color in Color:
        account = setup.account(color)
        headers[f"{color.capitalize()}Elo"] = str(account.rating)
        if account.title is not None:
            headers[f"{color.capitalize()}Title"] = account.title
    headers["Variant"] = setup.variant.display_name
    headers["TimeControl"] = str(setup.time_control)
    headers["Termination"] = _TERMINATIONS.get(game.status, "Normal")
    return headers


def _player(account: Account) -> dict[str, Any]:
    title = {} if account.title is None else {"title": account.title}
    return {
        "user": {"name": account.name, **title, "id": account.id},
        "rating": account.rating,
        "provisional": True,
    }


def _moves_in_san(game: Game, plies: int) -> str:
    board = game.board_after(0)
    san = []
    for move in game.moves[:plies]:
        san.append(board.san(move))
        board.push(move)
    return " ".join(san)
