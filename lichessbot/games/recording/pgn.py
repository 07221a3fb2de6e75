"""A recorded game as text: Portable Game Notation with the headers of Lichess, clocks, and our evaluations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from engine.facade import Board, pgn_text
from lichessbot.lichess.enums import VARIANTS_IN_PGN, Colour, GameStatus
from lichessbot.lichess.positions import start_board
from lichessbot.storage.evaluations import mate_in
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result

# As in Lichess's own exports; all other ends are normal there.
_TERMINATIONS: Final = {
    GameStatus.ABORTED: "Abandoned",
    GameStatus.NO_START: "Abandoned",
    GameStatus.TIMEOUT: "Time forfeit",
    GameStatus.OUT_OF_TIME: "Time forfeit",
    GameStatus.CHEAT: "Rules infraction",
    GameStatus.INSUFFICIENT_MATERIAL_CLAIM: "Insufficient material",
    GameStatus.UNKNOWN_FINISH: "Unknown",
}
_UNFINISHED: Final = "*"


def pgn_of(record: GameRecord, moves: Sequence[MoveRecord], site: str) -> str:
    """Return a game in PGN; `site` is the address of the server. Raises as `board_of` does."""
    board = board_of(record, moves)
    clocks_s = [None if move.clock_ms is None else move.clock_ms // 1000 for move in moves]
    evals = [_evaluation_for_white(move, white=record.colour == Colour.WHITE) for move in moves]
    return pgn_text(_headers(record, site), board, _result(record), clocks_s, evals)


def board_of(record: GameRecord, moves: Sequence[MoveRecord]) -> Board:
    """Return the position after these moves. Raises InvalidFen, InvalidMove or InvalidVariant."""
    board = start_board(record.variant, record.initial_fen)
    for move in moves:
        board.push(move.move)
    return board


def _headers(record: GameRecord, site: str) -> dict[str, str]:
    began = datetime.fromtimestamp(record.began_at, tz=UTC)
    date = began.strftime("%Y.%m.%d")
    headers = {
        "Event": _event(record, site),
        "Site": f"{site}/{record.id}",
        "Date": date,
        "Round": "-",
        "White": "",
        "Black": "",
        "Result": _result(record),
        "GameId": record.id,
        "UTCDate": date,
        "UTCTime": began.strftime("%H:%M:%S"),
        "TimeControl": _time_control(record),
        "Termination": _TERMINATIONS.get(GameStatus(record.status), "Normal") if record.status else "Unterminated",
    }
    us = record.our_name, record.our_rating, record.our_title
    them = record.opponent_name, record.opponent_rating, record.opponent_title
    pair = (us, them) if record.colour == Colour.WHITE else (them, us)
    for side, (name, rating, title) in zip(("White", "Black"), pair, strict=True):
        headers[side] = name
        if record.level is not None and side.lower() == record.colour:
            headers[f"{side}Level"] = str(record.level)
        if rating is not None:
            headers[f"{side}Elo"] = str(rating)
        if record.rating_diff is not None and side.lower() == record.colour:
            headers[f"{side}RatingDiff"] = f"{record.rating_diff:+d}"
        if title:
            headers[f"{side}Title"] = title
    if record.eco:
        headers |= {"ECO": record.eco, "Opening": record.opening}
    variant = VARIANTS_IN_PGN.get(record.variant)
    return headers if variant is None else {**headers, "Variant": variant}


def _event(record: GameRecord, site: str) -> str:
    kind = f"{'Rated' if record.rated else 'Casual'} {record.rating_category}".strip()
    return f"{kind} tournament {site}/tournament/{record.tournament_id}" if record.tournament_id else f"{kind} game"


def _time_control(record: GameRecord) -> str:
    if record.base_s is not None:
        return f"{record.base_s}+{record.increment_s}"
    return "-" if record.days_per_turn is None else f"1/{record.days_per_turn * 86400}"


def _result(record: GameRecord) -> str:
    match record.result:
        case None:
            return _UNFINISHED
        case Result.DRAWN:
            return "1/2-1/2"
        case result:
            return "1-0" if (result is Result.WON) == (record.colour == Colour.WHITE) else "0-1"


def _evaluation_for_white(move: MoveRecord, *, white: bool) -> str | None:
    """Return our evaluation before our move as White's after it, with the depth; None if there is none."""
    if move.score_cp is None:
        return None
    sign = 1 if white else -1
    mate = mate_in(move.score_cp)
    if mate is None:
        return f"{sign * move.score_cp / 100:.2f},{move.depth}"
    left = mate - 1 if mate > 0 else mate
    return f"#{sign * left},{move.depth}" if left else None
