"""Faulty lines: doubled, unknown, full of nulls, or lost.

Turns a payload into the lines that are sent instead; the schedule decides when.
"""

from collections.abc import Mapping
from typing import Any

from lichessbot.rehearsal.faults.catalogue import Fault, Layer
from lichessbot.rehearsal.faults.schedule import FaultSchedule
from lichessbot.rehearsal.faults.traffic import line_traffic
from lichessbot.rehearsal.server.streams import Writing, encode

UNKNOWN_LINE = encode({"type": "weatherReport", "outlook": ["sunny", {"later": "rain"}]})
NOT_JSON = b"<html><body>nginx is having a moment</body></html>\n"

# Optional keys by type of line.
_OPTIONAL = {
    "gameStart": ("winner", "ratingDiff", "tournamentId", "swissId"),
    "gameFinish": ("winner", "ratingDiff", "tournamentId", "swissId"),
    "challenge": ("initialFen", "rematchOf", "declineReason", "declineReasonKey", "rules", "open"),
    "gameFull": ("daysPerTurn", "tournamentId"),
    "gameState": ("winner", "wdraw", "bdraw", "wtakeback", "btakeback", "rematch", "expiration"),
    "opponentGone": ("claimWinInSeconds",),
}


def faulty_writing(schedule: FaultSchedule, game_id: str | None) -> Writing:
    """Return how to write the stream of a game (None: the event stream) with faults."""

    def lines(payload: dict[str, Any]) -> list[bytes]:
        traffic = line_traffic(payload, game_id)
        return _lines(payload, schedule.strike(Layer.LINES, traffic.place, traffic.game_id))

    return lines


def _lines(payload: dict[str, Any], fault: Fault | None) -> list[bytes]:
    match fault:
        case None:
            return [encode(payload)]
        case Fault.LINE_DOUBLED:
            return [encode(payload)] * 2
        case Fault.LINE_UNKNOWN:
            return [UNKNOWN_LINE, encode(payload)]
        case Fault.LINE_NOT_JSON:
            return [NOT_JSON, encode(payload)]
        case Fault.LINE_NULLS:
            return [encode(_only_nulls(payload)), encode(_with_nulls(payload))]
        case Fault.CLOCKS_ZERO:
            return [encode({**payload, "state": {**payload["state"], "wtime": 0, "btime": 0}})]
        case Fault.CHALLENGE_LOST | Fault.START_LOST | Fault.FINISH_LOST | Fault.STATE_LOST | Fault.FINAL_LOST:
            return []
        case _:
            raise AssertionError(f"{fault.label} is no fault of lines")


def _only_nulls(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of the same type with nulls only."""
    return {key: value if key == "type" else None for key, value in payload.items()}


def _with_nulls(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the same line with null for each missing optional key."""
    kind = payload["type"]
    nulls = dict.fromkeys(_OPTIONAL.get(kind, ()))
    inner = {"gameStart": "game", "gameFinish": "game", "challenge": "challenge"}.get(kind)
    if inner is not None:
        return {**payload, inner: {**nulls, **payload[inner]}}
    return {**nulls, **payload}
