"""Typed models of what Lichess answers about players, challenges of ours, tournaments and ended games.

As lenient as `events`, whose shapes they extend; section numbers are those of the API contract.
"""

from datetime import timedelta
from typing import Any, Final

from pydantic import Field, ValidationError

from lichessbot.errors import UnreadableLine
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import Account, Challenge, Id, Payload
from lichessbot.lichess.parsing import validated

_LONGEST_S: Final = timedelta(days=366).total_seconds()


class BotUser(Account):
    """Section 3.1: one of the bots that are online."""

    id: Id
    disabled: bool = False
    violates_terms: bool = Field(default=False, alias="tosViolation")


class UserStatus(Payload):
    """Section 3.1: where somebody is just now; what is false is left out."""

    id: str
    online: bool = False
    playing: bool = False


class GameRecord(Payload):
    """Section 3.5: an exported game, in progress or over."""

    id: Id
    status: GameStatus
    winner: Colour | None = None


class ArenaInfo(Payload):
    """An arena tournament: whether it is to come, runs or is over is told by what is left out."""

    id: Id
    full_name: str = Field(default="", alias="fullName")
    is_finished: bool = Field(default=False, alias="isFinished")
    seconds_to_start: float | None = Field(default=None, alias="secondsToStart", ge=0, le=_LONGEST_S)
    seconds_to_finish: float | None = Field(default=None, alias="secondsToFinish", ge=0, le=_LONGEST_S)


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
    return validated(GameRecord, body)


def parse_arena(body: Any) -> ArenaInfo:
    """The reply of `/api/tournament/{id}`. Raises UnreadableLine."""
    return validated(ArenaInfo, body)


def parse_challenge(body: Any) -> Challenge:
    """A challenge as the reply to its creation, or when asked for. Raises UnreadableLine."""
    return validated(Challenge, body)


def parse_outgoing(body: Any) -> tuple[Challenge, ...]:
    """Our own challenges in the reply of `/api/challenge`. Raises UnreadableLine."""
    if not isinstance(body, dict) or not isinstance(body.get("out"), list):
        raise UnreadableLine(f"not lists of challenges: {type(body).__name__}")
    return tuple(validated(Challenge, challenge) for challenge in body["out"])


def parse_statuses(body: Any) -> tuple[UserStatus, ...]:
    """The reply of `/api/users/status`. Raises UnreadableLine."""
    if not isinstance(body, list):
        raise UnreadableLine(f"not a list of users: {type(body).__name__}")
    return tuple(validated(UserStatus, status) for status in body)
