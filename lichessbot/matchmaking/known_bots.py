"""What is remembered of other bots: games played, challenges declined, and until when those are not repeated.

Knows reasons and rests, also from before a restart; whom to ask is decided elsewhere. Times are
seconds since the epoch, because they outlive the process.
"""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from operator import attrgetter
from typing import Final

from lichessbot.backoff import doubled
from lichessbot.config.matchmaking import ChallengeFilter
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import Colour, DeclineReason
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table


class Failure(StrEnum):
    """Why a challenge failed without a decline."""

    UNANSWERED = "unanswered"
    REFUSED = "refused"
    """Refused by Lichess: blocked, friends only, ratings too far apart and so on."""


class _Scope(StrEnum):
    """Which challenges are not repeated for a while."""

    ANYTHING = "anything"
    SPEED = "speed"
    VARIANT = "variant"
    MODE = "mode"


@dataclass(frozen=True, slots=True)
class _Rule:
    scope: _Scope
    rest: timedelta


_DAY: Final = timedelta(days=1)
_LONGEST: Final = timedelta(days=30)
# A rest that would last longer, even by a clock that is some hours wrong, was noted while the clock was ahead, as it
# may be after a power cut.
_CREDIBLE_S: Final = (_LONGEST + _DAY).total_seconds()
_RULES: Final = {
    DeclineReason.LATER: _Rule(_Scope.ANYTHING, timedelta(hours=1)),
    DeclineReason.GENERIC: _Rule(_Scope.ANYTHING, _DAY),
    DeclineReason.TOO_FAST: _Rule(_Scope.SPEED, _DAY),
    DeclineReason.TOO_SLOW: _Rule(_Scope.SPEED, _DAY),
    DeclineReason.TIME_CONTROL: _Rule(_Scope.SPEED, _DAY),
    DeclineReason.RATED: _Rule(_Scope.MODE, _DAY),
    DeclineReason.CASUAL: _Rule(_Scope.MODE, _DAY),
    DeclineReason.STANDARD: _Rule(_Scope.VARIANT, _DAY),
    DeclineReason.VARIANT: _Rule(_Scope.VARIANT, _DAY),
    DeclineReason.NO_BOT: _Rule(_Scope.ANYTHING, timedelta(days=2)),
    DeclineReason.ONLY_BOT: _Rule(_Scope.ANYTHING, timedelta(days=2)),
    Failure.UNANSWERED: _Rule(_Scope.ANYTHING, timedelta(hours=1)),
    Failure.REFUSED: _Rule(_Scope.ANYTHING, _DAY),
}


@dataclass(frozen=True, slots=True)
class _Rest:
    """`failures`: how many challenges in a row failed."""

    until: float
    failures: int


class Declines:
    """Which challenges each bot declined, and until when they are not repeated. For the main thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rests = {
            (str(opponent), str(subject)): _Rest(until, failures)
            for opponent, subject, until, failures in store.remembered(Table.RESTS)
        }

    def declined(
        self,
        opponent: str,
        terms: Terms,
        reason: DeclineReason | Failure,
        challenge_filter: ChallengeFilter,
        now_epoch_s: float,
    ) -> float:
        """Remember a failed challenge; return until when it is not repeated, or `now_epoch_s` if it may be at once."""
        self._store.add(Table.DECLINES, opponent=opponent, terms=str(terms), reason=reason, declined_at=now_epoch_s)
        if challenge_filter is ChallengeFilter.NONE:
            return now_epoch_s
        rule = _Rule(_Scope.ANYTHING, _DAY) if challenge_filter is ChallengeFilter.COARSE else _RULES[reason]
        subject = _subject(rule.scope, terms)
        failures = self._failures(opponent, subject)
        rest = doubled(rule.rest, failures, _LONGEST)
        return self._set(opponent, subject, _Rest(now_epoch_s + rest.total_seconds(), failures + 1), now_epoch_s)

    def capped(self, opponent: str, pause: timedelta, now_epoch_s: float) -> float:
        """Remember that the bot's own quota is used up, which is not a decline; return until when the bot rests."""
        until = now_epoch_s + pause.total_seconds()
        subject = _Scope.ANYTHING.value
        return self._set(opponent, subject, _Rest(until, self._failures(opponent, subject)), now_epoch_s)

    def agreed(self, opponent: str, terms: Terms) -> None:
        """Remember that a game came of it: the next decline counts as the first."""
        for subject in _subjects(terms):
            if self._rests.pop((opponent, subject), None) is not None:
                self._store.delete(Table.RESTS, opponent=opponent, subject=subject)

    def rests_until(self, opponent: str, terms: Terms, now_epoch_s: float) -> float:
        """Return until when these terms are not proposed to a bot; 0 if they may be."""
        return max(self._until(opponent, subject, now_epoch_s) for subject in _subjects(terms))

    def _until(self, opponent: str, subject: str, now_epoch_s: float) -> float:
        rest = self._rests.get((opponent, subject))
        return rest.until if rest is not None and is_credible(rest.until, now_epoch_s) else 0.0

    def _failures(self, opponent: str, subject: str) -> int:
        rest = self._rests.get((opponent, subject))
        return 0 if rest is None else rest.failures

    def _set(self, opponent: str, subject: str, rest: _Rest, now_epoch_s: float) -> float:
        """Begin a rest, or go on with an earlier one that is longer; return its end."""
        rest = replace(rest, until=max(rest.until, self._until(opponent, subject, now_epoch_s)))
        self._rests[opponent, subject] = rest
        self._store.replace(Table.RESTS, opponent=opponent, subject=subject, until=rest.until, times=rest.failures)
        return rest.until


def is_credible(until: float, now_epoch_s: float) -> bool:
    """Return whether a rest may last until then."""
    return until <= now_epoch_s + _CREDIBLE_S


def _subject(scope: _Scope, terms: Terms) -> str:
    match scope:
        case _Scope.SPEED:
            return f"{scope} {terms.speed}"
        case _Scope.VARIANT:
            return f"{scope} {terms.variant}"
        case _Scope.MODE:
            return f"{scope} {terms.mode}"
    return scope.value


def _subjects(terms: Terms) -> Sequence[str]:
    return tuple(_subject(scope, terms) for scope in _Scope)


@dataclass(frozen=True, slots=True)
class BotGame:
    """A game against a bot. `by_our_challenge`: our own challenge led to it; `colour` is our colour."""

    game_id: str
    opponent: str
    speed: str
    colour: Colour | None
    by_our_challenge: bool
    began_at: float


class BotGames:
    """The games against bots. For the main thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._games = sorted(map(_read, store.remembered(Table.BOT_GAMES)), key=attrgetter("began_at"))
        self._ids = {game.game_id for game in self._games}
        # Looked up for each bot that is online, so that years of games must not be searched.
        self._latest = {(game.opponent, game.speed): game for game in self._games if game.by_our_challenge}

    def __contains__(self, game_id: str) -> bool:
        return game_id in self._ids

    def add(self, game: BotGame) -> None:
        """Remember a game that began, once."""
        if game.game_id in self:
            return
        self._ids.add(game.game_id)
        bisect.insort(self._games, game, key=attrgetter("began_at"))
        latest = self.latest(game.opponent, game.speed)
        if game.by_our_challenge and (latest is None or latest.began_at <= game.began_at):
            self._latest[game.opponent, game.speed] = game
        self._store.add(
            Table.BOT_GAMES,
            id=game.game_id,
            opponent=game.opponent,
            speed=game.speed,
            colour=game.colour,
            ours=game.by_our_challenge,
            began_at=game.began_at,
        )

    def since(self, moment: float) -> Sequence[BotGame]:
        """Return the games that began after `moment`, in order."""
        return self._games[bisect.bisect_right(self._games, moment, key=attrgetter("began_at")) :]

    def latest(self, opponent: str, speed: str) -> BotGame | None:
        """Return the last game against a bot at a speed that our own challenge led to."""
        return self._latest.get((opponent, speed))


def _read(row: Sequence[object]) -> BotGame:
    game_id, opponent, speed, colour, by_our_challenge, began_at = row
    known = Colour(str(colour)) if colour in tuple(Colour) else None
    return BotGame(str(game_id), str(opponent), str(speed), known, bool(by_our_challenge), float(str(began_at)))
