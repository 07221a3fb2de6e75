"""What another bot accepts and declines, in sentences, as far as our own challenges have shown.

Pure: rows of the records in, lines out. Times are seconds since the epoch.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lichessbot.lichess.enums import DeclineReason
from lichessbot.matchmaking.known_bots import Failure, is_credible
from lichessbot.storage.state_reader import PastDecline, PastGame, Rest

# What a reason says of the bot. `{controls}` and `{variants}` are those of the challenges that it answered so.
_MEANINGS: Final[Mapping[str, str]] = {
    DeclineReason.TOO_FAST: "{controls} is too fast",
    DeclineReason.TOO_SLOW: "{controls} is too slow",
    DeclineReason.TIME_CONTROL: "does not play {controls}",
    DeclineReason.RATED: "wants rated games",
    DeclineReason.CASUAL: "wants casual games",
    DeclineReason.STANDARD: "plays standard chess only",
    DeclineReason.VARIANT: "does not play {variants}",
    DeclineReason.NO_BOT: "does not play bots",
    DeclineReason.ONLY_BOT: "plays bots only, though we are one",
    DeclineReason.LATER: "had no time",
    DeclineReason.GENERIC: "gave no reason",
    Failure.UNANSWERED: "did not answer",
    Failure.REFUSED: "Lichess refused the challenge: blocked, friends only, ratings too far apart and so on",
}
_LONGEST_LIST: Final = 6


def describe_bot(
    games: Sequence[PastGame], declines: Sequence[PastDecline], rests: Sequence[Rest], now_epoch_s: float
) -> Iterator[tuple[str, str]]:
    """Yield `accepts`, `declines` and `rests` with what is known, the most frequent first; nothing if nothing is."""
    speeds: dict[str, list[PastGame]] = {}
    for game in games:
        speeds.setdefault(game.speed, []).append(game)
    for speed, played in sorted(speeds.items(), key=lambda it: -len(it[1])):
        yield "accepts", f"{speed} ({_times(len(played), max(game.began_at for game in played))})"
    reasons: dict[str, list[PastDecline]] = {}
    for decline in declines:
        reasons.setdefault(decline.reason, []).append(decline)
    for reason, found in sorted(reasons.items(), key=lambda it: -len(it[1])):
        times = _times(len(found), max(decline.declined_at for decline in found))
        yield "declines", f"{_meaning(reason, found)} ({reason}, {times})"
    for rest in sorted(rests, key=lambda it: it.until):
        if rest.until > now_epoch_s and is_credible(rest.until, now_epoch_s):
            until = time.strftime("%Y-%m-%d %H:%M", time.localtime(rest.until))
            kind, _, name = rest.subject.partition(" ")
            yield "rests", f"not challenged to {f'{name} games' if name else kind} until {until}"


def _meaning(reason: str, declines: Sequence[PastDecline]) -> str:
    text = _MEANINGS.get(reason, "unknown reason")
    parts = [decline.terms.rsplit(" ", 2) for decline in declines]
    controls = (control for control, *_ in parts)
    return text.format(controls=_listed(controls), variants=_listed(variant for *_, variant in parts))


def _listed(words: Iterator[str]) -> str:
    different = sorted(set(words))
    more = f" and {len(different) - _LONGEST_LIST} more" if len(different) > _LONGEST_LIST else ""
    return ", ".join(different[:_LONGEST_LIST]) + more


def _times(count: int, last_at: float) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(last_at))
    return f"once, on {day}" if count == 1 else f"{count} times, last on {day}"
