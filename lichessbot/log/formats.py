"""The formats of the log: text for people, `field=value` lines and JSON. No format shows a secret."""

import json
import logging
import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum, StrEnum
from typing import IO, Final

from lichessbot.log.background import BackgroundHandler
from lichessbot.log.event_log import Event, cut, inert
from lichessbot.log.phrases import phrase

REDACTED: Final = "[token]"
# What `--quiet` shows beside warnings and errors.
_MILESTONES: Final = frozenset(
    {"start", "account", "game.start", "game.resume", "game.over", "game.rating", "stop.asked", "stop"}
)
# People need these only with `--verbose`: the line of the game's start tells the same.
_REPEATED: Final = frozenset({"game.join", "game.state"})
_PRIORITIES: Final = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}
_DIM, _BOLD, _YELLOW, _RED, _GREEN, _PLAIN = (f"\x1b[{code}m" for code in (2, 1, 33, 31, 32, 0))
_COLOURS_OF_RESULTS: Final = {"won": _GREEN, "lost": _RED}


class LogFormat(StrEnum):
    """How the lines of the log are written."""

    AUTO = "auto"
    """Text on a terminal and in the journal, fields elsewhere: programs read files and pipes."""
    TEXT = "text"
    FIELDS = "fields"
    JSON = "json"


class Verbosity(Enum):
    """Which events are logged."""

    QUIET = "starts, results, warnings and errors"
    NORMAL = "every event"
    VERBOSE = "every event, and the search"


class _Formatter(logging.Formatter, ABC):
    """Base of the formats: makes lines harmless and removes secrets from them, tracebacks included."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self._secrets = spellings(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record. Secrets leave long values first, as these are cut, perhaps within a secret."""
        if isinstance(event := record.msg, Event):
            texts = {name: str(value) for name, value in event.fields.items()}
            if long := {name: self._redacted(text) for name, text in texts.items() if cut(text) != text}:
                record = copy(record)
                record.msg = replace(event, fields={**event.fields, **long})
        return self._written(record)

    @abstractmethod
    def _written(self, record: logging.LogRecord) -> str:
        """Return the lines of a record whose long values hold no secret."""

    def _lines(self, text: str, record: logging.LogRecord) -> list[str]:
        """Return the text and the traceback of the record, if it has one, as harmless lines."""
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return [self._redacted(inert(line)) for line in text.split("\n")]

    def _redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


def spellings(secrets: Iterable[str]) -> list[str]:
    """Return how the formats may write secrets, if they escape some characters.

    Longer texts come first, as they may contain others.
    """
    texts = {text for secret in secrets if secret for text in (secret, inert(secret), _escaped(secret))}
    return sorted(texts | {json.dumps(text)[1:-1] for text in texts}, key=len, reverse=True)


def _escaped(secret: str) -> str:
    """Return a secret as a field of the log has it between quotes."""
    return secret.replace('"', "'").encode("unicode_escape").decode("ascii")


class FieldsFormatter(_Formatter):
    """Writes `time LEVEL event game=ID field=value ...`."""

    def _written(self, record: logging.LogRecord) -> str:
        first = f"{self.formatTime(record)} {record.levelname} {record.getMessage()}"
        return "\n".join(self._lines(first, record))


class TextFormatter(_Formatter):
    """Writes `time game phrase`, for people."""

    def __init__(self, secrets: Sequence[str], time_format: str, *, colours: bool = False) -> None:
        super().__init__(secrets)
        self._time_format = time_format
        self._colours = colours

    def _written(self, record: logging.LogRecord) -> str:
        moment = time.strftime(self._time_format, time.localtime(record.created))
        first, *more = self._lines(_text(record), record)
        if self._colours:
            moment, first = f"{_DIM}{moment}{_PLAIN}", _coloured(first, record)
        return "\n".join([f"{moment} {first}", *more])


class JournalFormatter(_Formatter):
    """Writes the text without the time, and before each line its priority, for systemd; see sd-daemon(3)."""

    def _written(self, record: logging.LogRecord) -> str:
        priority = f"<{_PRIORITIES.get(record.levelno, 6)}>"
        return "\n".join(priority + line for line in self._lines(_text(record), record))


class JsonFormatter(_Formatter):
    """Writes one object per line with time (UTC), level, event, game, text, fields and traceback."""

    def _written(self, record: logging.LogRecord) -> str:
        event = record.msg if isinstance(record.msg, Event) else Event(record.name, None, {})
        values = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": event.name,
            "game": event.game_id,
            "text": phrase(record.msg) if isinstance(record.msg, Event) else inert(record.getMessage()),
            "fields": {name: _plain(value) for name, value in event.fields.items()},
            "traceback": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return self._redacted(json.dumps(values))


def _text(record: logging.LogRecord) -> str:
    """Return what happened, after the game's id, and with the level of warnings and errors."""
    event = record.msg if isinstance(record.msg, Event) else None
    text = record.getMessage() if event is None else phrase(event)
    if record.levelno >= logging.WARNING:
        text = f"{record.levelname.lower()}: {text}"
    return text if event is None or event.game_id is None else f"{event.game_id} {text}"


def _coloured(line: str, record: logging.LogRecord) -> str:
    """Return the line of a start, an end or a trouble in a colour that says which; others unchanged."""
    if record.levelno >= logging.WARNING:
        return f"{_YELLOW if record.levelno == logging.WARNING else _RED}{line}{_PLAIN}"
    if not isinstance(record.msg, Event) or record.msg.name not in _MILESTONES:
        return line
    return f"{_BOLD}{_COLOURS_OF_RESULTS.get(str(record.msg.fields.get('result')), '')}{line}{_PLAIN}"


def _plain(value: object) -> object:
    """Return a value as JSON can hold it."""
    if isinstance(value, float):
        return round(value, 3) if math.isfinite(value) else str(value)
    return value if isinstance(value, int) else cut(str(value))


def _is_one_of(names: Container[str], record: logging.LogRecord) -> bool:
    return isinstance(record.msg, Event) and record.msg.name in names


def start_logging(
    stream: IO[str],
    secrets: Sequence[str],
    log_format: LogFormat = LogFormat.FIELDS,
    verbosity: Verbosity = Verbosity.NORMAL,
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Log to `stream`, without `secrets`; `environment` says whether it is the journal, and whether to use colours."""
    handler = BackgroundHandler(stream)
    formatter = _formatter(stream, secrets, log_format, environment)
    handler.setFormatter(formatter)
    if verbosity is Verbosity.QUIET:
        handler.addFilter(lambda it: it.levelno >= logging.WARNING or _is_one_of(_MILESTONES, it))
    elif verbosity is Verbosity.NORMAL and isinstance(formatter, TextFormatter | JournalFormatter):
        handler.addFilter(lambda it: not _is_one_of(_REPEATED, it))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("lichessbot").setLevel(logging.DEBUG if verbosity is Verbosity.VERBOSE else logging.INFO)
    # At debug level berserk logs request bodies, such as the token in a token test.
    logging.getLogger("berserk").setLevel(logging.INFO)
    # Our own events report broken connections.
    logging.getLogger("urllib3").setLevel(logging.ERROR)


def _formatter(
    stream: IO[str], secrets: Sequence[str], log_format: LogFormat, environment: Mapping[str, str]
) -> logging.Formatter:
    is_journal = _is_the_journal(stream, environment)
    if log_format is LogFormat.AUTO:
        log_format = LogFormat.TEXT if is_journal or stream.isatty() else LogFormat.FIELDS
    match log_format:
        case LogFormat.JSON:
            return JsonFormatter(secrets)
        case LogFormat.FIELDS:
            return FieldsFormatter(secrets)
    if is_journal:
        return JournalFormatter(secrets)
    if not stream.isatty():
        return TextFormatter(secrets, "%Y-%m-%d %H:%M:%S")
    colours = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return TextFormatter(secrets, "%H:%M:%S", colours=colours)


def _is_the_journal(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Return whether the stream is the journal of systemd, which $JOURNAL_STREAM then names; see systemd.exec(5)."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False  # a stream without a file
    return environment.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"
