"""Bytes and JSON in, the models of `events` out, or UnreadableLine; with `config` the only room that sees raw JSON.

Of a challenge nothing may be guessed; of a game in progress whatever can be read helps to play it, so there what is
malformed counts as absent.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from lichessbot.errors import UnreadableLine
from lichessbot.lichess.models import (
    Account,
    AccountEvent,
    ArenaInfo,
    BotUser,
    Challenge,
    ChallengeCanceled,
    ChallengeDeclined,
    ChallengeReceived,
    ChatLine,
    ErrorBody,
    GameEvent,
    GameFinish,
    GameFull,
    GameInfo,
    GameRecord,
    GameStart,
    GameState,
    OpponentGone,
    StreamLine,
    TokenInfo,
    UnknownEvent,
    UserStatus,
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

_STRICT: Final = (ChallengeReceived, ChallengeCanceled, ChallengeDeclined)


def parse_account_event(line: bytes) -> StreamLine:
    """One line of the event stream. Raises UnreadableLine."""
    return _parse_event(line, _ACCOUNT_EVENTS)


def parse_game_event(line: bytes) -> StreamLine:
    """One line of a game stream. Raises UnreadableLine."""
    return _parse_event(line, _GAME_EVENTS)


def parse_account(body: Any) -> Account:
    """The reply of `/api/account`. Raises UnreadableLine."""
    return _validated(Account, body)


def parse_playing(body: Any) -> tuple[GameInfo, ...]:
    """The list of games in the reply of `/api/account/playing`. Raises UnreadableLine."""
    if not isinstance(body, list):
        raise UnreadableLine(f"not a list of games: {type(body).__name__}")
    return tuple(_salvaged(GameInfo, game) for game in body)


def parse_token_test(body: Any, token: str) -> TokenInfo | None:
    """What the token test says of `token`: None if it is not valid. Raises UnreadableLine."""
    if not isinstance(body, dict):
        raise UnreadableLine(f"not a token test: {type(body).__name__}")
    info = body.get(token)
    return None if info is None else _validated(TokenInfo, info)


def parse_bots(body: bytes) -> tuple[BotUser, ...]:
    """The lines of `/api/bot/online`; one that cannot be read, such as a last one cut short, is left out."""
    return tuple(filter(None, map(_bot, body.splitlines())))


def _bot(line: bytes) -> BotUser | None:
    try:
        return BotUser.model_validate_json(line)
    except ValidationError:
        return None


def parse_game_record(body: Any) -> GameRecord:
    """The reply of `/game/export/{id}` as JSON. Raises UnreadableLine."""
    return _validated(GameRecord, body)


def parse_arena(body: Any) -> ArenaInfo:
    """The reply of `/api/tournament/{id}`. Raises UnreadableLine."""
    return _validated(ArenaInfo, body)


def parse_challenge(body: Any) -> Challenge:
    """A challenge as the reply to its creation, or when asked for. Raises UnreadableLine."""
    return _validated(Challenge, body)


def parse_outgoing(body: Any) -> tuple[Challenge, ...]:
    """Our own challenges in the reply of `/api/challenge`. Raises UnreadableLine."""
    if not isinstance(body, dict) or not isinstance(body.get("out"), list):
        raise UnreadableLine(f"not lists of challenges: {type(body).__name__}")
    return tuple(_validated(Challenge, challenge) for challenge in body["out"])


def parse_statuses(body: Any) -> tuple[UserStatus, ...]:
    """The reply of `/api/users/status`. Raises UnreadableLine."""
    if not isinstance(body, list):
        raise UnreadableLine(f"not a list of users: {type(body).__name__}")
    return tuple(_validated(UserStatus, status) for status in body)


def parse_error(body: bytes) -> ErrorBody | None:
    """The body of a refused request, or None if it is not JSON, such as a proxy's HTML page."""
    try:
        return _salvaged(ErrorBody, _read_json(body))
    except UnreadableLine:
        return None


def _parse_event(line: bytes, models: dict[str, type[Any]]) -> StreamLine:
    data = _read_json(line)
    if not isinstance(data, dict):
        raise UnreadableLine(f"not a JSON object: {line[:80]!r}")
    model = models.get(str(data.get("type")), UnknownEvent)
    event: StreamLine = _validated(model, data) if model in _STRICT else _salvaged(model, data)
    return event


def _read_json(text: bytes) -> Any:
    """Numbers of any length are read, though not to their last digit: too large is too large. Raises UnreadableLine."""
    try:
        return json.loads(text, parse_int=lambda digits: int(digits[:_MOST_DIGITS]))
    except (ValueError, RecursionError) as error:
        raise UnreadableLine(f"not JSON: {text[:80]!r}") from error


def _validated(model: type[_Model], data: Any) -> _Model:
    """`data` as that model. Raises UnreadableLine."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UnreadableLine(_complaint(model, error)) from error


def _salvaged(model: type[_Model], data: Any) -> _Model:
    """What remains of `data` when everything malformed is left out, as long as what is required remains."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        for details in error.errors(include_url=False, include_input=False):
            data = _without(data, details["loc"])
        return _validated(model, data)


def _without(data: Any, path: Sequence[int | str]) -> Any:
    """A copy of nested dicts that lacks the value at the end of `path`, as far as that exists."""
    if not path or not isinstance(data, dict) or path[0] not in data:
        return data
    key, *rest = path
    inner = data[key]
    if rest and isinstance(inner, dict) and rest[0] in inner:
        return {**data, key: _without(inner, rest)}
    return {name: value for name, value in data.items() if name != key}


def _complaint(model: type[BaseModel], error: ValidationError) -> str:
    """What is wrong, without what was found there: that may be long."""
    return f"{model.__name__}: " + "; ".join(
        f"{'.'.join(map(str, details['loc']))}: {details['msg']}"
        for details in error.errors(include_url=False, include_input=False)
    )
