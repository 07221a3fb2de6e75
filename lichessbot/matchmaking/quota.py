"""How many games against bots and how many challenges Lichess still allows, and when the next is allowed.

A rolling count over a day. What Lichess allows is learnt from its own answers; until then it is what
people report. Games against humans are not limited here. Times are seconds since the epoch.
"""

import bisect
import math
import re
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from lichessbot.backoff import doubled
from lichessbot.config import MatchmakingConfig
from lichessbot.control.status import Limit
from lichessbot.errors import RateLimited
from lichessbot.matchmaking.known_bots import BotGame, BotGames
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table
from lichessbot.timeouts import Timeouts

BOT_GAMES: Final = "bot.vsBot.day"
_CHALLENGES: Final = "challenge"
# Lichess allows 200, of which a challenge to a human costs five; the rest is left to a browser.
_CHALLENGE_CREDITS: Final = 180
_COST_OF_A_BOT: Final = 1
_COST_OF_A_HUMAN: Final = 5
_MOST_SENT: Final = 1000  # remembered, more than in a day: the clock may be ahead for a moment
_AT_ONCE: Final = 2  # games of our own that may follow each other: a pair
# After this many days without another answer that names the number of bot games, the assumed one is tried again.
_DAYS_TOLD: Final = 7
# No limit lasts longer than a day. One that would, even by a clock that is some hours wrong, was noted while the clock
# was ahead, as it may be after a power cut.
_DAYS_CREDIBLE: Final = 2
_NUMBER_PLAYED: Final = re.compile(r"played (\d{1,4}) games")


@dataclass(slots=True)
class _ReportedLimit:
    """A limit: `most` as Lichess reported it, None if it did not, and until when it is used up."""

    most: int | None = None
    until: float = 0.0


class Quota:
    """The budgets of one account. For the main thread."""

    def __init__(self, bot_games: BotGames, store: Store, timeouts: Timeouts) -> None:
        self._bot_games = bot_games
        self._store = store
        self._day_s = timeouts.quota_day.total_seconds()
        self._first_pause_s = timeouts.rate_limit.total_seconds()
        self._longest_pause_s = timeouts.challenge_pause_ceiling.total_seconds()
        self._refusals = 0
        self._reported = {name: _ReportedLimit(most, until) for name, most, until in store.remembered(Table.LIMITS)}
        sent = store.remembered(Table.SENT_CHALLENGES)
        self._sent = sorted((float(at), int(cost), str(challenge_id)) for challenge_id, at, cost in sent)

    # What happened

    def count_challenge(self, challenge_id: str, now_epoch_s: float, *, is_bot: bool) -> None:
        """Count a challenge of this account, once, whichever program sent it."""
        if any(challenge_id == known for _, _, known in self._sent):
            return
        self._refusals = 0
        cost = _COST_OF_A_BOT if is_bot else _COST_OF_A_HUMAN
        bisect.insort(self._sent, (now_epoch_s, cost, challenge_id))     # the clock may have been set back
        del self._sent[:-_MOST_SENT]
        self._store.add(Table.SENT_CHALLENGES, id=challenge_id, sent_at=now_epoch_s, cost=cost)

    def rate_limited(self, error: RateLimited, now_epoch_s: float) -> None:
        """Take note that Lichess refused a challenge or an acceptance because a quota is used up."""
        if error.quota == BOT_GAMES:
            told = _NUMBER_PLAYED.search(error.text)
            most = int(told[1]) if told else self._told_bot_games(now_epoch_s)
            self._set(BOT_GAMES, _ReportedLimit(most, now_epoch_s + min(error.pause.total_seconds(), self._day_s)))
            return
        # Without a name it may be the minute or the day: each refusal in a row doubles the pause.
        grown_s = doubled(self._first_pause_s, self._refusals, self._longest_pause_s)
        self._refusals += 1
        pause_s = min(max(error.pause.total_seconds(), grown_s), self._day_s)
        self._set(_CHALLENGES, _ReportedLimit(None, now_epoch_s + pause_s))

    def _set(self, name: str, limit: _ReportedLimit) -> None:
        self._reported[name] = limit
        self._store.replace(Table.LIMITS, name=name, most=limit.most, until=limit.until)

    def _reported_limit(self, name: str, now_epoch_s: float) -> _ReportedLimit:
        limit = self._reported.get(name, _ReportedLimit())
        return limit if self._is_credible(limit.until, now_epoch_s) else _ReportedLimit()

    def _is_credible(self, moment: float, now_epoch_s: float) -> bool:
        return moment <= now_epoch_s + _DAYS_CREDIBLE * self._day_s

    # What follows from it

    def _told_bot_games(self, now_epoch_s: float) -> int | None:
        """Return how many bot games a day Lichess said it allows, unless that was long ago: it may allow more again."""
        limit = self._reported_limit(BOT_GAMES, now_epoch_s)
        return limit.most if now_epoch_s < limit.until + _DAYS_TOLD * self._day_s else None

    def most_bot_games(self, config: MatchmakingConfig, now_epoch_s: float) -> int:
        """Return how many bot games are allowed in any 24 hours."""
        return config.most_bot_games(self._told_bot_games(now_epoch_s))

    def bot_games_rule(self, config: MatchmakingConfig, now_epoch_s: float) -> str:
        """Return what decides how many bot games are allowed: the key, or Lichess's own limit."""
        most, until = config.bot_games_per_day, self._reported_limit(BOT_GAMES, now_epoch_s).until
        if most is None or until > now_epoch_s or most > self.most_bot_games(config, now_epoch_s):
            return "Lichess's limit of bot games"
        return f"matchmaking.bot_games_per_day = {most}"

    def bot_games_used(self, now_epoch_s: float) -> int:
        return len(self._bot_games_lately(now_epoch_s))

    def bot_game_at(self, config: MatchmakingConfig, now_epoch_s: float, expected: int = 0) -> float:
        """Return when the next game against a bot may begin, besides the `expected` ones that are about to."""
        began = [game.began_at for game in self._bot_games_lately(now_epoch_s)]
        free_at = self._room_at([*began, *[now_epoch_s] * expected], self.most_bot_games(config, now_epoch_s))
        return max(now_epoch_s, free_at, self._reported_limit(BOT_GAMES, now_epoch_s).until)

    def challenge_at(self, config: MatchmakingConfig, now_epoch_s: float, *, is_half: bool = False) -> float:
        """Return when we may challenge a bot: a game may begin then, and our own are spread over the day.

        `is_half`: the last game was the first of a pair, whose second follows even if a single game came before them.
        """
        share = self._share(config, now_epoch_s)
        if share <= 0:
            return math.inf
        own = self._own_games(now_epoch_s)
        at_once = _AT_ONCE + is_half
        spread_at = own[-at_once] + _AT_ONCE * self._day_s / share if len(own) >= at_once else now_epoch_s
        own_at = max(spread_at, self._room_at(own, share))
        return max(self.bot_game_at(config, now_epoch_s), own_at, self._credit_at(now_epoch_s))

    def single_challenge_at(self, config: MatchmakingConfig, now_epoch_s: float, *, is_bot: bool) -> float:
        """Return when we may send a rematch or a rechallenge, which need not wait for its share of the day."""
        cost = _COST_OF_A_BOT if is_bot else _COST_OF_A_HUMAN
        credit_at = self._credit_at(now_epoch_s, cost)
        if not is_bot:
            return credit_at
        own = self._own_games(now_epoch_s)
        own_at = self._room_at(own, self._share(config, now_epoch_s))
        return max(credit_at, self.bot_game_at(config, now_epoch_s), own_at)

    def _own_games(self, now_epoch_s: float) -> list[float]:
        """Return when the games of the last 24 hours that came of our own challenges began, in order."""
        return [game.began_at for game in self._bot_games_lately(now_epoch_s) if game.by_our_challenge]

    def _bot_games_lately(self, now_epoch_s: float) -> list[BotGame]:
        """Return the games against bots of the last 24 hours, in order."""
        games = self._bot_games.since(now_epoch_s - self._day_s)
        return [game for game in games if self._is_credible(game.began_at, now_epoch_s)]

    def _share(self, config: MatchmakingConfig, now_epoch_s: float) -> int:
        """Return how many of the day's bot games are for our own challenges."""
        return config.own_share(self.most_bot_games(config, now_epoch_s))

    def _room_at(self, began: list[float], most: int) -> float:
        """Return when fewer than `most` of these games are within the last 24 hours."""
        if most <= 0:
            return math.inf
        return began[-most] + self._day_s if len(began) >= most else 0.0

    def _credit_at(self, now_epoch_s: float, needed: int = _COST_OF_A_BOT) -> float:
        """Return when Lichess's daily credits, and its last refusal, allow a challenge of this cost."""
        sent = self._sent_lately(now_epoch_s)
        left = _CHALLENGE_CREDITS - sum(cost for _, cost, _ in sent)
        free_at = max(now_epoch_s, self._reported_limit(_CHALLENGES, now_epoch_s).until)
        for sent_at, cost, _ in sent:
            if left >= needed:
                break
            left += cost
            free_at = max(free_at, sent_at + self._day_s)
        return free_at

    def _sent_lately(self, now_epoch_s: float) -> list[tuple[float, int, str]]:
        """Return when the challenges of the last day were sent, in order, what they cost, and their ids."""
        lately = bisect.bisect_right(self._sent, now_epoch_s - self._day_s, key=itemgetter(0))
        return [it for it in self._sent[lately:] if self._is_credible(it[0], now_epoch_s)]

    def limits(self, config: MatchmakingConfig, now_epoch_s: float) -> tuple[Limit, ...]:
        """Return what is used up, for the operator; of our own challenges, one to a human counts as five."""
        credit_at = self._credit_at(now_epoch_s)
        spent = sum(cost for _, cost, _ in self._sent_lately(now_epoch_s))
        challenges = _described("challenges", spent, _CHALLENGE_CREDITS, credit_at, now_epoch_s)
        return self._bot_games_limit(config, now_epoch_s), challenges

    def _bot_games_limit(self, config: MatchmakingConfig, now_epoch_s: float) -> Limit:
        used, most = self.bot_games_used(now_epoch_s), self.most_bot_games(config, now_epoch_s)
        return _described("bot games", used, most, self.bot_game_at(config, now_epoch_s), now_epoch_s)

    def in_words(self, config: MatchmakingConfig, now_epoch_s: float) -> str:
        """Return for example `37 of 100 bot games, resumes 14:20`; empty if there were none and all are allowed."""
        limit = self._bot_games_limit(config, now_epoch_s)
        return limit.in_words(now_epoch_s) if limit.used or limit.is_used_up else ""


def _described(name: str, used: int, most: int, at: float, now_epoch_s: float) -> Limit:
    """Return a limit under which the next one is allowed at `at`."""
    return Limit(name, used, most, at if now_epoch_s < at < math.inf else None, is_used_up=at > now_epoch_s)
