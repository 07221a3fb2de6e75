"""Decide whether to accept a challenge: event, snapshot and history in, decision with its rule out.

Pure. The checks come in the order that tells the challenger most, with the reasons that Lichess translates: first
whether bots or humans are accepted at all, then what the challenger can change (clock, variant, mode), then what not
(rating, lists), and last that the bot is busy. Every decision names its rule for the log, the records and
`lichessbot explain`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from engine.facade import InvalidFen
from lichessbot.challenges.slots import SlotHolder, slots_for
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.config import ChallengeConfig, Rules
from lichessbot.lichess.enums import HIGHEST_RATING, DeclineReason, ExactClock, Mode, Speed, Variant
from lichessbot.lichess.models import Challenge, ChallengeReceived
from lichessbot.lichess.odds import handicap_of
from lichessbot.lichess.positions import start_board
from lichessbot.log import counted

_OPEN_STATUS: Final = "created"
_NO_ABORT: Final = "noAbort"
_BY_SPEED: Final = (None, *Speed)  # None is ultraBullet
_WITH_CLOCK: Final = ("clock",)
_WITHOUT_CLOCK: Final = ("correspondence", "unlimited")


@dataclass(frozen=True)
class ChallengerHistory:
    """What our records say of one challenger."""

    recent: int
    """Challenges of this challenger that we accepted within `recent_bot_challenge_age`."""
    rematches: int
    """How many rematches in a row led to the game of which the challenge is a rematch."""
    listed_on: str | None
    """The address or path of the block list that names the challenger."""
    is_blocked: bool
    """By `lichessbot block`."""


NO_HISTORY: Final = ChallengerHistory(recent=0, rematches=0, listed_on=None, is_blocked=False)


@dataclass(frozen=True)
class Accept:
    """Accept. `rule` is `key = value`; `because` says it in words."""

    rule: str
    because: str


@dataclass(frozen=True)
class Wait:
    """Accept as soon as a slot is free."""

    rule: str
    because: str


@dataclass(frozen=True)
class Ignore:
    """Send no answer."""

    because: str


Decision = Accept | Wait | Decline | Ignore


@dataclass(frozen=True)
class _Case:
    """One challenge, and what decides about it."""

    challenge: Challenge
    config: ChallengeConfig
    rules: Rules
    snapshot: Snapshot
    history: ChallengerHistory
    bot_api: bool

    @property
    def is_bot(self) -> bool:
        return self.challenge.challenger.is_bot

    @property
    def clock(self) -> ExactClock | None:
        return self.challenge.time_control.clock

    def cited(self, key: str) -> str:
        """Return `key = value` as it applies to this challenger."""
        return self.config.cited(key, is_bot=self.is_bot)

    def decline(self, reason: DeclineReason, key: str, because: str) -> Decline:
        return Decline(reason, self.cited(key), because)


_Check = Callable[[_Case], Decline | None]


def slot_holder_of(challenge: Challenge) -> SlotHolder:
    """Return who would take the slot."""
    has_clock = challenge.time_control.clock is not None
    return SlotHolder(challenge.challenger.id, challenge.challenger.is_bot, has_clock)


def decide(received: ChallengeReceived, snapshot: Snapshot, history: ChallengerHistory) -> Decision:
    """Return the answer to a challenge."""
    challenge, config = received.challenge, snapshot.config.challenge
    if challenge.challenger.id == snapshot.our_id:
        return Ignore("our own challenge")
    if challenge.status != _OPEN_STATUS:
        return Ignore(f"its status is {challenge.status}")
    rules = config.rules_for(is_bot=challenge.challenger.is_bot)
    case = _Case(challenge, config, rules, snapshot, history, received.compat.bot)
    objections = (check(case) for check in _CHECKS)
    return next((objection for objection in objections if objection), None) or _accept_or_wait(case)


def _accept_or_wait(case: _Case) -> Accept | Wait:
    """Return the answer to a challenge that meets every rule: it depends on the free slots."""
    config, occupancy, is_bot = case.config, case.snapshot.occupancy, case.is_bot
    if case.clock is None:
        rule = case.cited("max_correspondence_games")
        return Accept(rule, f"it meets every rule; such games now: {occupancy.correspondence_games}")
    free = occupancy.free_slots(config, is_bot=is_bot)
    if free > 0:
        of = slots_for(config, is_bot=is_bot)
        return Accept(case.cited("concurrency"), f"it meets every rule; free slots: {free} of {of}")
    if occupancy.free_slots(config, is_bot=False) > 0:
        return Wait(case.cited("games_reserved_for_humans"), "every slot that bots may take is taken")
    return Wait(case.cited("concurrency"), "every slot is taken")


# The challenger


def _challenger(case: _Case) -> Decline | None:
    config, is_bot = case.config, case.is_bot
    if is_bot and not config.accept_bot:
        return case.decline(DeclineReason.NO_BOT, "accept_bot", "bots are not accepted")
    if is_bot and case.clock is not None and slots_for(config, is_bot=True) == 0:
        return case.decline(DeclineReason.NO_BOT, "games_reserved_for_humans", "every slot is reserved for humans")
    if not is_bot and config.only_bot:
        return case.decline(DeclineReason.ONLY_BOT, "only_bot", "only bots are accepted")
    return None


# The clock


def _time_control(case: _Case) -> Decline | None:
    """Decline a new kind of time control, which must not pass for a game without a clock."""
    control = case.challenge.time_control
    if control.type in (_WITHOUT_CLOCK if control.clock is None else _WITH_CLOCK):
        return None
    because = f"this version does not know the time control {control.type}, or not with these fields"
    return Decline(DeclineReason.TIME_CONTROL, "the time controls of Lichess", because)


def _speed(case: _Case) -> Decline | None:
    control, allowed = case.challenge.time_control, case.rules.time_controls
    if case.challenge.speed in allowed or control.clock in allowed:
        return None
    because = f"{control} is {case.challenge.speed}, which is not among the accepted time controls"
    return case.decline(_direction(control.clock, allowed), "time_controls", because)


def _direction(clock: ExactClock | None, allowed: Sequence[Speed | ExactClock]) -> DeclineReason:
    """Return whether all accepted games are slower or faster than one with this clock, as far as speeds tell."""
    speed = Speed.CORRESPONDENCE if clock is None else clock.speed
    ranks = [_BY_SPEED.index(it.speed if isinstance(it, ExactClock) else it) for it in allowed]
    if _BY_SPEED.index(speed) < min(ranks):
        return DeclineReason.TOO_FAST
    return DeclineReason.TOO_SLOW if _BY_SPEED.index(speed) > max(ranks) else DeclineReason.TIME_CONTROL


def _clock(case: _Case) -> Decline | None:
    clock, rules = case.clock, case.rules
    if clock is None:
        return None
    base, increment = f"its starting clock of {clock.base_s} s", f"its increment of {clock.increment_s} s"
    if clock.base_s < rules.min_base:
        return case.decline(DeclineReason.TOO_FAST, "min_base", f"{base} is too short")
    if clock.base_s > rules.max_base:
        return case.decline(DeclineReason.TOO_SLOW, "max_base", f"{base} is too long")
    if clock.increment_s < rules.min_increment:
        return case.decline(DeclineReason.TOO_FAST, "min_increment", f"{increment} is too short")
    if clock.increment_s > rules.max_increment:
        return case.decline(DeclineReason.TOO_SLOW, "max_increment", f"{increment} is too long")
    if rules.bullet_requires_increment and case.challenge.speed == Speed.BULLET and clock.increment_s == 0:
        return case.decline(DeclineReason.TOO_FAST, "bullet_requires_increment", "it is bullet without increment")
    return None


def _duration(case: _Case) -> Decline | None:
    clock, longest = case.clock, case.rules.max_estimated_game_duration
    if longest is None or clock is None:
        return None
    estimate = timedelta(seconds=clock.expected_s)
    if estimate <= timedelta(minutes=longest):
        return None
    because = f"such a game lasts about {estimate / timedelta(minutes=1):.1f} minutes"
    return case.decline(DeclineReason.TOO_SLOW, "max_estimated_game_duration", because)


def _days(case: _Case) -> Decline | None:
    days, rules = case.challenge.time_control.days_per_turn, case.rules
    if case.clock is not None:
        return None
    if days is None:
        if rules.max_days == math.inf:
            return None
        return case.decline(DeclineReason.TOO_SLOW, "max_days", "a game without any time limit is too long")
    if days < rules.min_days:
        return case.decline(DeclineReason.TOO_FAST, "min_days", f"{counted(days, 'day')} per move is too short")
    if days > rules.max_days:
        return case.decline(DeclineReason.TOO_SLOW, "max_days", f"{counted(days, 'day')} per move is too long")
    return None


# The game


def _variant(case: _Case) -> Decline | None:
    key, accepted = case.challenge.variant.key, case.rules.variants or case.snapshot.playable
    plays = key in case.snapshot.playable
    if key in accepted and plays:
        return None
    because = f"{key} is not among the accepted variants" if plays else f"the engine does not play {key}"
    only_standard = accepted == (Variant.STANDARD,)
    return case.decline(DeclineReason.STANDARD if only_standard else DeclineReason.VARIANT, "variants", because)


def _start(case: _Case) -> Decline | None:
    """Decline a start position that is not legal, or in which no move is."""
    fen = case.challenge.initial_fen
    if fen is None:
        return None
    try:
        board = start_board(case.challenge.variant.key, fen)
    except InvalidFen as error:
        return Decline(DeclineReason.VARIANT, "the rules of chess", str(error))
    if board.legal_moves():
        return None
    return Decline(DeclineReason.VARIANT, "the rules of chess", "no legal move at the start")


def _odds(case: _Case) -> Decline | None:
    """Decline a From Position game that is no odds game, or gives what is not among the accepted odds."""
    allowed = case.rules.odds
    if allowed is None or case.challenge.variant.key != Variant.FROM_POSITION:
        return None
    handicap = handicap_of(case.challenge.initial_fen or "")
    if handicap is None:
        because = "it does not begin with the ordinary set-up less pieces of one side"
        return case.decline(DeclineReason.VARIANT, "odds", because)
    refused = next((it for it in handicap.odds if it not in allowed), None)
    if refused is None:
        return None
    return case.decline(DeclineReason.VARIANT, "odds", f"{refused} odds are not accepted")


def _mode(case: _Case) -> Decline | None:
    rated, modes = case.challenge.rated, case.rules.modes
    if rated and Mode.RATED not in modes:
        return case.decline(DeclineReason.CASUAL, "modes", "rated games are off")
    if not rated and Mode.CASUAL not in modes:
        return case.decline(DeclineReason.RATED, "modes", "casual games are off")
    return None


def _unabortable(case: _Case) -> Decline | None:
    """Decline `noAbort`: if the opponent never moves, nobody could end such a game."""
    if _NO_ABORT in case.challenge.rules:
        return Decline(DeclineReason.GENERIC, "games must be abortable", f"the challenge carries {_NO_ABORT}")
    return None


def _bot_compatible(case: _Case) -> Decline | None:
    if not case.bot_api:
        return Decline(DeclineReason.GENERIC, "the Bot API", "Lichess says that bots cannot play it")
    return None


# What challengers cannot change


def _rating(case: _Case) -> Decline | None:
    rating, rules = case.challenge.challenger.rating, case.rules
    if rating is None:
        return _unrated(case)
    if rating < rules.min_rating:
        return case.decline(DeclineReason.GENERIC, "min_rating", f"a rating of {rating} is too low")
    if rating > rules.max_rating:
        return case.decline(DeclineReason.GENERIC, "max_rating", f"a rating of {rating} is too high")
    our_rating, most = case.challenge.destination.rating, rules.rating_difference
    if most is not None and our_rating is not None and abs(rating - our_rating) > most:
        because = f"a rating of {rating} is too far from ours, {our_rating}"
        return case.decline(DeclineReason.GENERIC, "rating_difference", because)
    return None


def _unrated(case: _Case) -> Decline | None:
    """Decline a player without a rating, such as an anonymous one, while any rating bound is set."""
    rules, because = case.rules, "the challenger has no rating"
    if rules.min_rating != 0:
        return case.decline(DeclineReason.GENERIC, "min_rating", because)
    if rules.max_rating != HIGHEST_RATING:
        return case.decline(DeclineReason.GENERIC, "max_rating", because)
    if rules.rating_difference is not None:
        return case.decline(DeclineReason.GENERIC, "rating_difference", because)
    return None


def _lists(case: _Case) -> Decline | None:
    user_id = case.challenge.challenger.id
    if user_id in case.config.block_list:
        return Decline(DeclineReason.GENERIC, f"challenge.block_list has {user_id}", f"{user_id} is blocked")
    if case.history.is_blocked:
        return Decline(DeclineReason.GENERIC, f"lichessbot block {user_id}", f"{user_id} is blocked")
    if case.history.listed_on is not None:
        rule = f"challenge.{block_list_key(case.history.listed_on)} has {case.history.listed_on}"
        return Decline(DeclineReason.GENERIC, rule, f"{user_id} is on that list")
    if case.rules.allow_list and user_id not in case.rules.allow_list:
        name = user_id or "an anonymous player"
        key = case.config.key_for("allow_list", is_bot=case.is_bot)
        return Decline(DeclineReason.GENERIC, f"{key} lacks {name}", "only players on the list are accepted")
    return None


def block_list_key(source: str) -> str:
    """Return the key, in `challenge` or in `matchmaking`, that names this path or address of a block list."""
    return "block_list_files" if source.startswith("/") else "online_block_list"


def _rematch(case: _Case) -> Decline | None:
    config, is_bot = case.snapshot.config.rematch, case.is_bot
    if case.challenge.rematch_of is None:
        return None
    if not config.accept.covers(is_bot=is_bot):
        because = f"it is a rematch with a {'bot' if is_bot else 'human'}"
        return Decline(DeclineReason.LATER, f"rematch.accept = {config.accept}", because)
    if config.accepts_in_a_row is not None and case.history.rematches >= config.accepts_in_a_row:
        because = f"rematches in a row so far: {case.history.rematches}"
        return Decline(DeclineReason.LATER, f"rematch.accepts_in_a_row = {config.accepts_in_a_row}", because)
    return None


# The bot is busy


def _closed(case: _Case) -> Decline | None:
    if case.snapshot.stopping:
        return Decline(DeclineReason.LATER, "a signal", "the bot is stopping")
    if case.snapshot.paused:
        return Decline(DeclineReason.LATER, "lichessbot pause", "the bot is paused")
    if failure := case.snapshot.engine_failure:
        return Decline(DeclineReason.LATER, "engine", f"an engine fails: {failure}")
    return None


def _humans_first(case: _Case) -> Decline | None:
    """Keep the next slot for a human; correspondence games take none."""
    if case.snapshot.humans_first and case.is_bot and case.clock is not None:
        because = "a human found no free slot and may come back for the next one"
        return Decline(DeclineReason.LATER, "humans first", because)
    return None


def _objection_to_bots(case: _Case) -> Decline | None:
    return case.snapshot.objection_to_bots if case.is_bot else None


def _recent(case: _Case) -> Decline | None:
    most, age_s = case.config.max_recent_bot_challenges, case.config.recent_bot_challenge_age
    if not case.is_bot or most is None or case.history.recent < most:
        return None
    because = f"{case.history.recent} challenges of this bot were accepted in the last {age_s} s"
    return case.decline(DeclineReason.LATER, "max_recent_bot_challenges", because)


def _per_user(case: _Case) -> Decline | None:
    games = case.snapshot.occupancy.games_with(case.challenge.challenger.id)
    if games < case.rules.max_simultaneous_games_per_user:
        return None
    because = f"games with this player now: {games}"
    return case.decline(DeclineReason.LATER, "max_simultaneous_games_per_user", because)


def _correspondence(case: _Case) -> Decline | None:
    if case.clock is not None or case.snapshot.has_room_for_correspondence:
        return None
    games = case.snapshot.occupancy.correspondence_games
    return case.decline(DeclineReason.LATER, "max_correspondence_games", f"{games} such games run already")


_CHECKS: Final[tuple[_Check, ...]] = (
    _challenger,
    _time_control,
    _speed,
    _clock,
    _duration,
    _days,
    _variant,
    _start,
    _odds,
    _mode,
    _unabortable,
    _bot_compatible,
    _rating,
    _lists,
    _rematch,
    _closed,
    _humans_first,
    _objection_to_bots,
    _recent,
    _per_user,
    _correspondence,
)
