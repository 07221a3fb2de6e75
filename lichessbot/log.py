"""The log: one line per event, as `event game=ID field=value ...`, without the token."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

REDACTED = "[token]"
_FORMAT = "%(asctime)s %(levelname)s %(message)s"
_LONGEST_VALUE = 300
# How often each bug was met, by the kind of exception and the place where it was raised.
_crashes: Counter[tuple[object, ...]] = Counter()


class EventLog:
    """Logs the events of the daemon, or of one game."""

    def __init__(self, game_id: str | None = None) -> None:
        self._logger = logging.getLogger("lichessbot")
        self._prefix = "" if game_id is None else f" game={game_id}"

    def debug(self, event: str, **fields: object) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write(logging.ERROR, event, fields)

    def crash(self, event: str, error: BaseException, **fields: object) -> None:
        """Log a bug with its traceback; one met again and again is logged the 1st, 2nd, 4th, 8th ... time."""
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        key = type(error), last and (last.tb_frame.f_code.co_filename, last.tb_lineno)
        _crashes[key] += 1
        if _crashes[key].bit_count() == 1:
            self._logger.error("%s", self._line(event, {**fields, "times": _crashes[key]}), exc_info=error)

    def _write(self, level: int, event: str, fields: dict[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, "%s", self._line(event, fields))

    def _line(self, event: str, fields: dict[str, object]) -> str:
        words = (f" {name}={_value(value)}" for name, value in fields.items() if value is not None)
        return event + self._prefix + "".join(words)


@contextmanager
def silenced() -> Iterator[None]:
    """Log nothing meanwhile, for a command that reports in lines of its own."""
    logger = logging.getLogger("lichessbot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def crashes() -> int:
    """Return how many bugs were met since the start of the process, repetitions included."""
    return _crashes.total()


class RedactingFormatter(logging.Formatter):
    """Formats records and removes secrets from the finished text, including tracebacks."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__(_FORMAT)
        self._secrets = tuple(secret for secret in secrets if secret)

    def format(self, record: logging.LogRecord) -> str:
        text = "\n".join(map(inert, super().format(record).split("\n")))
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


def start_logging(stream: IO[str], secrets: Sequence[str], *, verbose: bool = False) -> None:
    """Log to `stream`, without `secrets`; `verbose` adds debug events."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("lichessbot").setLevel(logging.DEBUG if verbose else logging.INFO)
    # At debug level berserk logs request bodies, such as the token in a token test.
    logging.getLogger("berserk").setLevel(logging.INFO)
    # Our own events report broken connections.
    logging.getLogger("urllib3").setLevel(logging.ERROR)


def inert(text: str) -> str:
    """Return text with an escape such as \\x1b for each character that could steer a terminal or reorder a line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _value(value: object) -> str:
    """Return a value so that text from the network can forge neither a second line nor a second field."""
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    if len(text) > _LONGEST_VALUE:
        text = f"{text[:_LONGEST_VALUE]}..."
    plain = text.isprintable() and text and not any(mark in text for mark in ' "=')
    return text if plain else '"' + text.replace('"', "'").encode("unicode_escape").decode("ascii") + '"'
