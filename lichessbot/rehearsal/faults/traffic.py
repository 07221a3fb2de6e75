"""The kinds of requests, lines and events between a client and Lichess, and the game that each belongs to.

Knows methods, paths and the JSON of lines. Must not know: their effects.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import unquote

from lichessbot.rehearsal.rules.enums import Status


class Place(Enum):
    """A kind of request, of line, or of event; the value is its name on the command line."""

    ACCOUNT = "account"
    PLAYING = "playing"
    EVENT_STREAM = "event-stream"
    GAME_STREAM = "game-stream"
    MOVE = "move"
    ACCEPT = "accept"
    DECLINE = "decline"
    CHAT = "chat"
    COMMAND = "command"                 # abort, resign, draw
    TAKEBACK = "takeback"
    CLAIM = "claim"
    CREATE = "create"                   # a challenge by the bot
    CANCEL = "cancel"
    SHOW = "show"
    ONLINE = "online"                   # the bots that are online
    STATUS = "status"                   # the status of users
    TOURNAMENT = "tournament"
    CLOUD = "cloud"
    OTHER_REQUEST = "other-request"

    CHALLENGE_LINE = "challenge-line"
    START_LINE = "start-line"
    FINISH_LINE = "finish-line"
    FULL_LINE = "full-line"
    STATE_LINE = "state-line"
    FINAL_LINE = "final-line"
    OTHER_LINE = "other-line"

    CHALLENGE = "challenge"             # a house bot challenges the bot
    GAME_START = "game-start"
    TURN = "turn"                       # it has become the bot's turn
    THREEFOLD = "threefold"


STREAMS = (Place.EVENT_STREAM, Place.GAME_STREAM)
LINES = (
    Place.CHALLENGE_LINE, Place.START_LINE, Place.FINISH_LINE, Place.FULL_LINE, Place.STATE_LINE, Place.FINAL_LINE,
    Place.OTHER_LINE,
)
ARRIVED_HEADER = "x-arrived-ms"     # of a request that came through a proxy: when, in monotonic milliseconds

_ID = r"(?P<id>\w{8})"
_PATHS = tuple(
    (method, re.compile(path), place)
    for method, path, place in (
        ("GET", r"/api/account", Place.ACCOUNT),
        ("GET", r"/api/account/playing", Place.PLAYING),
        ("GET", r"/api/stream/event", Place.EVENT_STREAM),
        ("GET", rf"/api/bot/game/stream/{_ID}", Place.GAME_STREAM),
        ("POST", rf"/api/bot/game/{_ID}/move/(?P<uci>[!-.0-~]+)", Place.MOVE),
        ("POST", rf"/api/challenge/{_ID}/accept", Place.ACCEPT),
        ("POST", rf"/api/challenge/{_ID}/decline", Place.DECLINE),
        ("POST", rf"/api/bot/game/{_ID}/chat", Place.CHAT),
        ("POST", rf"/api/bot/game/{_ID}/(?:abort|resign|draw/\w+)", Place.COMMAND),
        ("POST", rf"/api/bot/game/{_ID}/takeback/\w+", Place.TAKEBACK),
        ("POST", rf"/api/bot/game/{_ID}/claim-\w+", Place.CLAIM),
        ("POST", r"/api/challenge/[\w-]+", Place.CREATE),
        ("POST", r"/api/challenge/\w{8}/cancel", Place.CANCEL),
        ("GET", r"/api/challenge(?:/\w{8}/show)?", Place.SHOW),
        ("GET", r"/api/bot/online", Place.ONLINE),
        ("GET", r"/api/users/status", Place.STATUS),
        ("(?:GET|POST)", r"/api/tournament/\w+(?:/join|/withdraw)?", Place.TOURNAMENT),
        ("GET", r"/api/cloud-eval", Place.CLOUD),
    )
)
REQUESTS = (*(place for _, _, place in _PATHS), Place.OTHER_REQUEST)
COMMANDS = tuple(place for method, _, place in _PATHS if "POST" in method)
# Requests that belong to no game.
WITHOUT_GAME = (*(place for _, path, place in _PATHS if "id" not in path.groupindex), Place.OTHER_REQUEST)
_EVENT_LINES = {
    "challenge": Place.CHALLENGE_LINE,
    "gameStart": Place.START_LINE,
    "gameFinish": Place.FINISH_LINE,
    "gameFull": Place.FULL_LINE,
}


@dataclass(frozen=True)
class Traffic:
    """A request or line: its kind, and its game (or the challenge that may become one)."""

    place: Place
    game_id: str | None = None
    uci: str | None = None              # the move of a request
    request: str | None = None          # method and path, if it is of no other kind

    def __str__(self) -> str:
        return self.request or self.place.value


def request_traffic(method: str, path: str) -> Traffic:
    """Return the kind of a request, whose path may be quoted; a query does not matter."""
    path = unquote(path.partition("?")[0])
    for its_method, pattern, place in _PATHS:
        found = pattern.fullmatch(path) if re.fullmatch(its_method, method) else None
        if found is not None:
            parts = found.groupdict()
            return Traffic(place, parts.get("id"), parts.get("uci"))
    return Traffic(Place.OTHER_REQUEST, request=f"{method} {path}")


def line_traffic(payload: Mapping[str, Any], game_id: str | None) -> Traffic:
    """Return the kind of a line; `game_id` if it belongs to the stream of a game."""
    kind = payload["type"]
    if kind == "gameState":
        return Traffic(Place.STATE_LINE if payload["status"] == Status.STARTED.wire_name else Place.FINAL_LINE, game_id)
    if kind in ("gameStart", "gameFinish"):
        game_id = payload["game"]["id"]
    elif kind == "challenge":
        game_id = payload["challenge"]["id"]
    return Traffic(_EVENT_LINES.get(kind, Place.OTHER_LINE), game_id)
