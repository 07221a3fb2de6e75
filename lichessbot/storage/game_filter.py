"""Which games are meant: words such as `opponent=maia1 result=lost,drawn since=7d`, or the id or address of a game."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlsplit

from lichessbot.storage.game_records import Result

_ID: Final = re.compile(r"([A-Za-z0-9]{8})(?:[A-Za-z0-9]{4})?")
_TITLE: Final = re.compile(r"^[a-z]{2,3} +")  # as `lichessbot stats` shows it; names have no spaces
_AGO: Final = re.compile(r"(\d{1,5})([hdw])")
_SECONDS: Final = {"h": 3600, "d": 86400, "w": 7 * 86400}
BEGAN: Final = "coalesce(started_at, joined_at)"  # as GameRecord.began_at
SPEEDS: Final = ("bullet", "blitz", "rapid", "classical", "correspondence")


@dataclass(frozen=True, slots=True)
class GameFilter:
    """A condition on the table `games`, with the values of its placeholders."""

    condition: str = "1"
    values: tuple[object, ...] = ()

    def before(self, moment: float, game_id: str | None = None) -> "GameFilter":
        """Return the filter for those of the games that began before this wall time, or then but with a later id."""
        condition = f"{self.condition} AND ({BEGAN} < ? OR {BEGAN} = ? AND id > ?)"
        return GameFilter(condition, (*self.values, moment, moment, game_id))

    @classmethod
    def parse(cls, words: Sequence[str], now: float | None = None) -> "GameFilter":
        """Return the filter that these words mean together; without words all games. Raises ValueError.

        `now` is wall time.
        """
        now = time.time() if now is None else now
        parts = [_part(word, now) for word in words]
        return cls(" AND ".join(part.condition for part in parts) or "1", sum((part.values for part in parts), ()))


def game_id(text: str) -> str | None:
    """Return the id in an id or address of a game, which may also name a colour or a ply; None if there is none."""
    try:
        path = [word for word in urlsplit(text).path.split("/") if word not in ("", "white", "black")]
    except ValueError:                 # such as http://[
        return None
    found = _ID.fullmatch(path[-1]) if path else None
    return None if found is None else found[1]


def _part(word: str, now: float) -> GameFilter:
    key, equals, value = word.partition("=")
    if not equals:
        wanted = game_id(word)
        if wanted is None:
            raise ValueError(f"expected the id or address of a game, or KEY=VALUE with {_KEYS}; found {word!r}")
        return GameFilter("id = ?", (wanted,))
    if key not in _PARTS:
        near = get_close_matches(key, _PARTS, 1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"expected {_KEYS}"
        raise ValueError(f"no such filter {key!r}; {hint}")
    return _PARTS[key](key, value, now)


def _one_of(column: str, known: Sequence[str]) -> Callable[[str, str, float], GameFilter]:
    def part(key: str, value: str, now: float) -> GameFilter:
        words = value.split(",")
        for word in words:
            if word not in known:
                near = get_close_matches(word, known, 1)
                hint = f"; nearest: {near[0]}" if near else ""
                raise ValueError(f"{key}: expected one or several of {','.join(known)}, found {word!r}{hint}")
        return GameFilter(f"{column} IN ({', '.join('?' for _ in words)})", tuple(words))

    return part


def _opponent(key: str, value: str, now: float) -> GameFilter:
    names = tuple(_TITLE.sub("", name.strip().lower()) for name in value.split(","))
    if not all(names):
        raise ValueError(f"{key}: expected a player's name, or several with commas between, found {value!r}")
    # Games of versions before these records have a name with a title and no id.
    marks = ", ".join("?" for _ in names)
    return GameFilter(f"(opponent_id IN ({marks}) OR replace(lower(opponent), 'bot ', '') IN ({marks}))", names * 2)


def _opening(key: str, value: str, now: float) -> GameFilter:
    if not value:
        raise ValueError(f"{key}: expected an ECO code or a part of a name, found nothing")
    return GameFilter("instr(lower(eco || ' ' || opening), ?)", (value.lower(),))


def _since(key: str, value: str, now: float) -> GameFilter:
    ago = _AGO.fullmatch(value)
    try:
        since = now - int(ago[1]) * _SECONDS[ago[2]] if ago else datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError) as error:
        problem = f"{key}: expected a date such as 2026-11-24, or 12h, 7d or 4w for the last hours, days or weeks"
        raise ValueError(f"{problem}; found {value!r}") from error
    return GameFilter(f"{BEGAN} >= ?", (since,))


_PARTS: Final[dict[str, Callable[[str, str, float], GameFilter]]] = {
    "opponent": _opponent,
    "result": _one_of("result", tuple(Result)),
    "speed": _one_of("speed", SPEEDS),
    "colour": _one_of("colour", ("white", "black")),
    "opening": _opening,
    "since": _since,
}
_KEYS: Final = ", ".join(_PARTS)
