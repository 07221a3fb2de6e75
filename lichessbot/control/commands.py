"""The commands to a running daemon, and both messages of the socket: one line of JSON each way.

A request is `{"command": "block", "argument": "somebody"}`, its answer `{"ok": true, "text": "...", "status": null}`.
Some commands also take `"options": {"team": "coders"}`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from lichessbot.control.status import Status
from lichessbot.errors import LichessBotError, UnreadableLine

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{2,30}")
_ARENA: Final = re.compile(r"[A-Za-z0-9]{8}")


class ControlCommand(StrEnum):
    STATUS = "status"
    PAUSE = "pause"
    RESUME = "resume"
    FINISH = "finish"
    QUIT = "quit"
    BLOCK = "block"
    UNBLOCK = "unblock"
    MATCHMAKING = "matchmaking"
    RECHALLENGE = "rechallenge"
    JOIN_TOURNAMENT = "join-tournament"
    LEAVE_TOURNAMENT = "leave-tournament"


# What the argument of a command must be, in words and as a test; the other commands take none.
_ARGUMENTS: Final[Mapping[ControlCommand, tuple[str, Callable[[str], object]]]] = {
    ControlCommand.BLOCK: ("the name of a player", _NAME.fullmatch),
    ControlCommand.UNBLOCK: ("the name of a player", _NAME.fullmatch),
    ControlCommand.MATCHMAKING: ("on or off", ("on", "off").__contains__),
    ControlCommand.RECHALLENGE: ("sent or received", ("sent", "received").__contains__),
    ControlCommand.JOIN_TOURNAMENT: ("the id of an arena", _ARENA.fullmatch),
    ControlCommand.LEAVE_TOURNAMENT: ("the id of an arena", _ARENA.fullmatch),
}
_NO_ARGUMENT: Final[tuple[str, Callable[[str], object]]] = ("no argument", "".__eq__)
# The options of a command; the other commands take none.
_OPTIONS: Final[Mapping[ControlCommand, Sequence[str]]] = {ControlCommand.JOIN_TOURNAMENT: ("team", "password")}


class CannotDo(LichessBotError):
    """What the operator wants is not possible now; the text says why."""


@dataclass(frozen=True, slots=True)
class ControlAnswer:
    """The answer to a request: in words what happened or why nothing did, or the status that was asked for."""

    ok: bool
    text: str = ""
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class ControlRequest:
    """The operator wants this; the main thread replies."""

    command: ControlCommand
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What else the command takes. It may be secret, so it is never logged."""
    answer: Future[ControlAnswer] = field(default_factory=Future, compare=False, repr=False)

    def reply(self, answer: ControlAnswer) -> None:
        """Answer, unless the client has stopped waiting."""
        if self.answer.set_running_or_notify_cancel():
            self.answer.set_result(answer)


def read_request(line: bytes) -> ControlRequest:
    """Return the request in a line. Raises UnreadableLine."""
    message = _object(line)
    name, argument = message.get("command"), message.get("argument", "")
    if not isinstance(name, str) or name not in tuple(ControlCommand):
        raise UnreadableLine(f"command: expected one of {', '.join(ControlCommand)}, found {_quoted(name)}")
    expected, is_good = _ARGUMENTS.get(ControlCommand(name), _NO_ARGUMENT)
    if not isinstance(argument, str) or not is_good(argument):
        raise UnreadableLine(f"{name}: expected {expected}, found {_quoted(argument)}")
    return ControlRequest(ControlCommand(name), argument, _options_of(ControlCommand(name), message.get("options", {})))


def _options_of(command: ControlCommand, options: object) -> dict[str, str]:
    """Return the options of a request. Raises UnreadableLine."""
    known = _OPTIONS.get(command, ())
    if isinstance(options, dict) and all(it in known and isinstance(value, str) for it, value in options.items()):
        return options
    expected = f"only the options {' and '.join(known)}, each a text" if known else "no options"
    raise UnreadableLine(f"{command}: expected {expected}")


def request_line(command: ControlCommand, argument: str = "", options: Mapping[str, str] | None = None) -> bytes:
    message: dict[str, object] = {"command": command.value, "argument": argument}
    if options:
        message["options"] = dict(options)
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def answer_line(answer: ControlAnswer) -> bytes:
    return in_json(answer) + b"\n"


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return what reads and writes ControlAnswer or Status, forty times as fast as `json` with `asdict`."""
    return TypeAdapter(kind)


def in_json(message: ControlAnswer | Status) -> bytes:
    """Return the message as JSON in one line."""
    kind: Any = type(message)
    adapter = adapter_of(kind)
    try:
        return adapter.dump_json(message)
    except PydanticSerializationError:  # half a surrogate pair in a text from the network
        return json.dumps(adapter.dump_python(message), separators=(",", ":")).encode()


def read_answer(line: bytes) -> ControlAnswer:
    """Return the answer in a line. Raises UnreadableLine, also for a status of an incompatible version."""
    message = _object(line)
    try:
        answer: ControlAnswer = adapter_of(ControlAnswer).validate_python(message)
        return answer
    except ValidationError as error:
        differ = f"{error.error_count()} fields differ"
        raise UnreadableLine(f"it is of an incompatible version ({differ}): restart the daemon") from error


def _object(line: bytes) -> dict[str, object]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableLine(f"expected one line of JSON, found {_quoted(line[:40])}") from error
    if not isinstance(message, dict):
        raise UnreadableLine(f"expected a JSON object, found {_quoted(message)}")
    return message


def _quoted(value: object) -> str:
    """Return what a client sent, harmless and short."""
    return ascii(value)[:60]
