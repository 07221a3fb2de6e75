"""Functions that turn bytes and JSON from Lichess into models, or raise UnreadableLine.

A malformed challenge is refused as a whole: it becomes an UnreadableChallenge, which is declined; to know that one has
ended, its id is enough. In a game in progress malformed fields count as absent, because whatever can be read helps to
play on.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from lichessbot.errors import UnreadableLine
from lichessbot.lichess.answers import BotUser, ErrorBody, TokenInfo, UserStatus
from lichessbot.lichess.enums import ChatRoom
from lichessbot.lichess.models import (
    AccountEvent,
    Challenge,
    ChallengeCanceled,
    ChallengeDeclined,
    ChallengeReceived,
    ChatLine,
    GameEvent,
    GameFinish,
    GameFull,
    GameInfo,
    GameStart,
    GameState,
    OpponentGone,
    StreamLine,
    UnknownEvent,
    UnreadableChallenge,
)

_Model = TypeVar("_Model", bound=BaseModel)

_MOST_DIGITS: Final = 40

_ACCOUNT_EVENTS: Final[dict[str, type[AccountEvent]]] = {
    "gameStart": GameStart,
    "gameFinish": GameFinish,
    "challenge": ChallengeReceived,
    "challengeCanceled": ChallengeCanceled,
    "challengeDeclined": ChallengeDeclined,
}
_GAME_EVENTS: Final[dict[str, type[GameEvent]]] = {
    "gameFull": GameFull,
    "gameState": GameState,
    "chatLine": ChatLine,
    "opponentGone": OpponentGone,
}

# The player's secret after the game's id, and what somebody says.
_PRIVATE: Final = re.compile(rb'("fullId"\s*:\s*"?\w{0,8})[^",}]*|("text"\s*:).*', re.DOTALL)
_CHAT_LINE: Final = re.compile(rb'\s*\{\s*"type"\s*:\s*"chatLine"')

_UNREADABLE: Final = "unreadable"
_UNREADABLE_GAME: Final = {"variant": {"key": _UNREADABLE}, "speed": _UNREADABLE, "timeControl": {"type": _UNREADABLE}}
_STRICT: Final = (ChallengeReceived, ChallengeCanceled, ChallengeDeclined)


def parse_account_event(line: bytes) -> StreamLine:
    """Parse one line of the event stream. Raises UnreadableLine."""
    return _parse_event(line, _ACCOUNT_EVENTS)


def parse_game_event(line: bytes) -> StreamLine:
    """Parse one line of a game stream. Raises UnreadableLine, except for chat, which holds no move."""
    try:
        return _parse_event(line, _GAME_EVENTS)
    except UnreadableLine:
        if not _CHAT_LINE.match(line):
            raise
        return UnknownEvent(type="chatLine")


def parse_playing(body: Any) -> tuple[GameInfo, ...]:
    """Parse the games of `/api/account/playing`, without unreadable ones. Raises UnreadableLine if none is left."""
    return _readable(body, "games", lambda game: _without_malformed(GameInfo, game))


def parse_token_test(body: Any, token: str) -> TokenInfo | None:
    """Parse the token test's facts about `token`; None if the token is not valid. Raises UnreadableLine."""
    if not isinstance(body, dict):
        raise UnreadableLine(f"not a token test: {type(body).__name__}")
    info = body.get(token)
    return None if info is None else validated(TokenInfo, info)


def parse_bots(body: bytes) -> tuple[BotUser, ...]:
    """Parse the lines of `/api/bot/online`, without unreadable ones such as a last line cut short."""
    return tuple(filter(None, map(_bot, body.splitlines())))


def _bot(line: bytes) -> BotUser | None:
    try:
        return BotUser.model_validate_json(line)
    except ValidationError:
        return None


def parse_outgoing(body: Any) -> tuple[Challenge, ...]:
    """Parse our own challenges in `/api/challenge`, as `parse_playing` does. Raises UnreadableLine."""
    if not isinstance(body, dict):
        raise UnreadableLine(f"not lists of challenges: {type(body).__name__}")
    return _readable(body.get("out"), "challenges", lambda challenge: validated(Challenge, challenge))


def parse_statuses(body: Any) -> tuple[UserStatus, ...]:
    """Parse `/api/users/status`, as `parse_playing` does. Raises UnreadableLine."""
    return _readable(body, "users", lambda status: validated(UserStatus, status))


def _readable(body: Any, what: str, parse: Callable[[Any], _Model]) -> tuple[_Model, ...]:
    """Parse a list, without unreadable items. Raises UnreadableLine if none is left."""
    if not isinstance(body, list):
        raise UnreadableLine(f"not a list of {what}: {type(body).__name__}")
    found: list[_Model] = []
    unreadable: UnreadableLine | None = None
    for item in body:
        try:
            found.append(parse(item))
        except UnreadableLine as error:
            unreadable = error
    if unreadable is not None and not found:
        raise unreadable
    return tuple(found)


def parse_chat(body: bytes) -> tuple[ChatLine, ...]:
    """Parse the players' room of `/api/bot/game/{id}/chat`. Raises UnreadableLine.

    The API's specification has one object per line; Lichess sends one array.
    """
    is_array = body.lstrip().startswith(b"[")
    found = _read_json(body) if is_array else [_read_json(line) for line in body.splitlines() if line.strip()]
    if not is_array and not all(isinstance(line, dict) and "text" in line for line in found):
        raise UnreadableLine(f"not lines of a chat: {_beginning(body)!r}")
    lines = (line for line in found if isinstance(line, dict) and "text" in line)
    named = ({"room": ChatRoom.PLAYER, "username": line.get("user"), "text": line.get("text")} for line in lines)
    return tuple(_without_malformed(ChatLine, line) for line in named)


def parse_error(body: bytes) -> ErrorBody | None:
    """Parse the body of an error response; None if it is not JSON, such as a proxy's HTML page."""
    try:
        return _without_malformed(ErrorBody, _read_json(body))
    except UnreadableLine:
        return None


def _parse_event(line: bytes, models: dict[str, type[Any]]) -> StreamLine:
    data = _read_json(line)
    if not isinstance(data, dict):
        raise UnreadableLine(f"not a JSON object: {_beginning(line)!r}")
    model = models.get(str(data.get("type")), UnknownEvent)
    if model in _STRICT:
        return _challenge_event(model, data)
    event: StreamLine = _without_malformed(model, data)
    return event


def _challenge_event(model: type[Any], data: dict[str, Any]) -> StreamLine:
    """Read a challenge or its end; of a malformed one, what an answer or the end needs. Raises UnreadableLine."""
    try:
        event: StreamLine = validated(model, data)
    except UnreadableLine as error:
        challenge = data.get("challenge")
        if not isinstance(challenge, dict):
            raise
        known = {key: challenge.get(key) for key in ("id", "challenger", "destUser", "declineReasonKey")}
        named = _without_malformed(Challenge, known | _UNREADABLE_GAME)
        is_received = model is ChallengeReceived
        return UnreadableChallenge(challenge=named, problem=str(error)) if is_received else model(challenge=named)
    return event


def _read_json(text: bytes) -> Any:
    """Parse JSON, perhaps after a byte order mark; only the first digits of a long number are read.

    Raises UnreadableLine.
    """
    try:
        return json.loads(text.decode("utf-8-sig", "replace"), parse_int=lambda digits: int(digits[:_MOST_DIGITS]))
    except (ValueError, RecursionError) as error:
        raise UnreadableLine(f"not JSON: {_beginning(text)!r}") from error


def _beginning(text: bytes) -> bytes:
    """Return the first bytes, for the log, without what is private."""
    return _PRIVATE.sub(rb"\1\2", text)[:80]


def validated(model: type[_Model], data: Any) -> _Model:
    """Return `data` as that model. Raises UnreadableLine."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UnreadableLine(_complaint(model, error)) from error


def _without_malformed(model: type[_Model], data: Any) -> _Model:
    """Return `data` as that model without malformed fields. Raises UnreadableLine if a required one is malformed."""
    first: ValidationError | None = None
    while True:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            first = first or error  # later ones miss what was left out; it also names optional fields
            fewer = data
            for details in error.errors(include_url=False, include_input=False):
                fewer = _without(fewer, details["loc"])
            if fewer is data:
                raise UnreadableLine(_complaint(model, first)) from first
            data = fewer  # an object around what is left out may lack it now


def _without(data: Any, path: Sequence[int | str]) -> Any:
    """Return a copy of nested dicts without the value at `path`, or `data` itself if there is none."""
    if not path or not isinstance(data, dict) or path[0] not in data:
        return data
    key, *rest = path
    inner = data[key]
    if rest and isinstance(inner, dict) and rest[0] in inner:
        return {**data, key: _without(inner, rest)}
    return {name: value for name, value in data.items() if name != key}


def _complaint(model: type[BaseModel], error: ValidationError) -> str:
    """Return what is wrong, without the values found, which may be long."""
    return f"{model.__name__}: " + "; ".join(
        f"{'.'.join(map(str, details['loc']))}: {details['msg']}"
        for details in error.errors(include_url=False, include_input=False)
    )
