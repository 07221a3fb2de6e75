"""Choose whom to challenge, and to what: config, online bots and history in, proposals out.

Pure: time and chance are passed in. Among the bots that suit, those near our own rating, or as far from it as wished,
and those not met lately are more likely; bots that have never played such games come last. A pair of games against the
same bot is finished first.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, TypeVar

from lichessbot.challenges.slots import SlotHolder
from lichessbot.config import Config
from lichessbot.config.matchmaking import ColourChoice, MatchType, ModeChoice, RatingPreference, TypeSelection
from lichessbot.lichess.answers import Account, BotUser
from lichessbot.lichess.challenge_terms import Days, Terms, may_be_rated
from lichessbot.lichess.enums import INITIAL_BOT_RATING, INITIAL_RATING, Colour, ExactClock, Mode, Speed, Variant
from lichessbot.matchmaking.known_bots import BotGame, BotGames, Declines

_Item = TypeVar("_Item", bound=Hashable)

SHORTLIST: Final = 20
"""How many bots of each match type are proposed."""
MOST_PROPOSALS: Final = 100
"""How many bots Lichess tells in one answer whether they are playing."""
_NEAR: Final = 150  # rating points off the target at which a bot is half as likely
_BEGUN_HIGHER: Final = (*Speed, Variant.CHESS960)  # the categories with INITIAL_BOT_RATING
_LATELY_S: Final = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A challenge worth sending."""

    opponent: str
    terms: Terms
    match_type_name: str | None = None
    """The match type it belongs to; None if it is a rematch or the operator wants it."""
    is_bot: bool = True
    rematch_of: str = ""
    """The game after which it is offered, if it is a rematch."""

    @property
    def slot_holder(self) -> SlotHolder:
        return SlotHolder(self.opponent, is_bot=self.is_bot, has_clock=self.terms.has_clock)


@dataclass(frozen=True)
class Knowledge:
    """What the choice depends on at one moment."""

    config: Config
    us: Account
    bots: Sequence[BotUser]
    declines: Declines
    bot_games: BotGames
    now_epoch_s: float
    pair_break_s: float
    is_blocked: Callable[[str], bool]
    may_play_correspondence: bool
    half_pair: Proposal | None
    """The game as White of a pair whose other game is due, if this process began it."""


def proposals(known: Knowledge, last_type_name: str | None, random: Random) -> Sequence[Proposal]:
    """Return proposals, the best first; empty if no bot is suitable. `last_type_name`: the last match type.

    First comes the second game of a pair, then one match type after the other: all bots of the first may be playing.
    Each bot is proposed once.
    """
    by_bot: dict[str, Proposal] = {}
    second = _second_of_pair(known)
    for it in (*(() if second is None else (second,)), *_of_all_types(known, last_type_name, random)):
        by_bot.setdefault(it.opponent, it)
    return tuple(by_bot.values())[:MOST_PROPOSALS]


def match_type_of(proposal: Proposal, config: Config) -> MatchType | None:
    """Return the match type that a proposal belongs to, if the configuration still has it."""
    types, name = dict(config.matchmaking.types()), proposal.match_type_name
    return None if name is None else types.get(name)


def _second_of_pair(known: Knowledge) -> Proposal | None:
    """Return the same game with Black, unless that bot is gone or no longer suits, or we play no more such games."""
    first = known.half_pair
    match_type = None if first is None else match_type_of(first, known.config)
    if first is None or match_type is None or match_type.challenge_color is not ColourChoice.PAIRS:
        return None
    config, terms = known.config, first.terms
    is_played = terms.variant in _variants(match_type, config) and terms.rated in _modes(match_type, config)
    if not is_played or not any(terms.time_control in group for group in _controls(match_type, known)):
        return None
    bot = next((it for it in known.bots if it.id == first.opponent), None)
    if bot is None or not _suits(bot, match_type, terms, known):
        return None
    return replace(first, terms=replace(terms, colour=Colour.BLACK))


def _of_all_types(known: Knowledge, last_type_name: str | None, random: Random) -> Iterator[Proposal]:
    for name, match_type in _in_order(known.config, last_type_name, random):
        terms = _drawn_terms(match_type, known, random)
        if terms is not None:
            yield from _shortlist(name, match_type, terms, known, random)


def _in_order(config: Config, last_type_name: str | None, random: Random) -> Sequence[tuple[str, MatchType]]:
    """Return the match types in the order in which they are tried."""
    match_types = [(name, match_type) for name, match_type in config.matchmaking.types() if match_type.weight > 0]
    names = [name for name, _ in match_types]
    match config.matchmaking.selection:
        case TypeSelection.WEIGHTED_RANDOM:
            order = _weighted_order({name: match_type.weight for name, match_type in match_types}, random)
            return sorted(match_types, key=lambda it: order.index(it[0]))
        case TypeSelection.CYCLIC:
            next_one = names.index(last_type_name) + 1 if last_type_name in names else 0
            return match_types[next_one:] + match_types[:next_one]
    return match_types


def _drawn_terms(match_type: MatchType, known: Knowledge, random: Random) -> Terms | None:
    """Return one of the games that a match type allows, without a colour; None if we play none of them."""
    groups, modes = _controls(match_type, known), _modes(match_type, known.config)
    games = {
        variant: [fitting for group in groups if (fitting := [it for it in group if _possible(modes, variant, it)])]
        for variant in _variants(match_type, known.config)
    }
    variants = [variant for variant, fitting in games.items() if fitting]
    if not variants:
        return None
    variant = random.choice(variants)
    control = random.choice(random.choice(games[variant]))
    return Terms(variant, control, random.choice(_possible(modes, variant, control)))


def _possible(modes: Sequence[bool], variant: Variant, control: ExactClock | Days) -> Sequence[bool]:
    """Return the modes in which Lichess lets such a game be played."""
    return [rated for rated in modes if not rated or may_be_rated(variant, control)]


def _variants(match_type: MatchType, config: Config) -> Sequence[Variant]:
    """Return the variants that a match type proposes: the one it names, or those that we play with bots."""
    if (named := match_type.challenge_variant.variant) is not None:
        return [named]
    return [it for it in config.challenge.rules_for(is_bot=True).variants or Variant if it.can_be_proposed]


def _controls(match_type: MatchType, known: Knowledge) -> Sequence[Sequence[ExactClock | Days]]:
    """Return the clocks and the days of a match type, without empty groups."""
    bases_s, increments_s = match_type.challenge_initial_time, match_type.challenge_increment
    clocks = [ExactClock(base_s, increment_s) for base_s in bases_s for increment_s in increments_s]
    days = [Days(number) for number in match_type.challenge_days if known.may_play_correspondence]
    return [group for group in (clocks, days) if group]


def _modes(match_type: MatchType, config: Config) -> Sequence[bool]:
    """Return the modes that a match type proposes, rated is True: the one it names, or those that we play with bots."""
    if match_type.challenge_mode is ModeChoice.RANDOM:
        return [it is Mode.RATED for it in config.challenge.rules_for(is_bot=True).modes]
    return [match_type.challenge_mode is ModeChoice.RATED]


def _shortlist(
    name: str, match_type: MatchType, terms: Terms, known: Knowledge, random: Random
) -> Sequence[Proposal]:
    suiting = {bot.id: bot for bot in known.bots if _suits(bot, match_type, terms, known)}
    category = terms.rating_category
    our_rating = _rating(known.us, category)
    met_lately = Counter(game.opponent for game in known.bot_games.since(known.now_epoch_s - _LATELY_S))
    ranks = _ranks(list(suiting.values()), category, match_type.rating_preference)
    weights = {
        it.id: _closeness(_rating(it, category) - our_rating, match_type) * ranks[it.id] / (1 + met_lately[it.id])
        for it in suiting.values()
    }
    # A bot that has never played such games mostly declines them: it may not know the variant.
    strangers_last = sorted(_weighted_order(weights, random), key=lambda it: not suiting[it].has_played(category))
    chosen = strangers_last[:SHORTLIST]
    half = _unfinished_pair(match_type, terms, known)
    if half is not None and half.opponent in suiting:
        chosen = [half.opponent, *(it for it in chosen if it != half.opponent)]
    return [Proposal(it, replace(terms, colour=_colour(match_type, it, terms, known)), name) for it in chosen]


def _suits(bot: BotUser, match_type: MatchType, terms: Terms, known: Knowledge) -> bool:
    if bot.id == known.us.id or bot.disabled or bot.violates_terms or known.is_blocked(bot.id):
        return False
    rating, most = _rating(bot, terms.rating_category), match_type.opponent_rating_difference
    difference = abs(rating - _rating(known.us, terms.rating_category))
    is_within = match_type.opponent_min_rating <= rating <= match_type.opponent_max_rating
    return (
        (is_within if most is None else difference <= most)
        and difference >= match_type.opponent_min_rating_difference
        and known.declines.rests_until(bot.id, terms, known.now_epoch_s) <= known.now_epoch_s
        and _rests_until(bot.id, match_type, terms, known) <= known.now_epoch_s
    )


def _rests_until(bot: str, match_type: MatchType, terms: Terms, known: Knowledge) -> float:
    """Return until when a bot rests after our last game at this speed; 0 if it does not, or owes the return game."""
    latest = known.bot_games.latest(bot, terms.speed)
    owes = match_type.challenge_color is ColourChoice.PAIRS and latest is not None and latest.colour is Colour.WHITE
    if latest is None or owes or not match_type.opponent_rest_multiplier:
        return 0.0
    match terms.time_control:
        case ExactClock() as clock:
            game_s = clock.expected_s
        case Days(days):
            game_s = days * 86400.0
    idle_s = known.config.matchmaking.challenge_timeout * 60
    return latest.began_at + game_s + match_type.opponent_rest_multiplier * (game_s + idle_s)


def _rating(bot: Account, category: str) -> int:
    rating = bot.rating(category)
    if rating is not None:
        return rating
    return INITIAL_BOT_RATING if category in _BEGUN_HIGHER else INITIAL_RATING


def _closeness(difference: int, match_type: MatchType) -> float:
    distance = abs(difference) - match_type.opponent_target_rating_difference
    return 1 / (1 + (distance / _NEAR) ** 2)


def _ranks(bots: Sequence[BotUser], category: str, preference: RatingPreference) -> Mapping[str, float]:
    """Return weights from 1 for the least to 2 for the most preferred bot."""
    ratings = sorted({_rating(bot, category) for bot in bots}, reverse=preference is RatingPreference.LOW)
    if preference is RatingPreference.NONE or len(ratings) < 2:
        return dict.fromkeys((bot.id for bot in bots), 1.0)
    weights = {rating: 1 + place / (len(ratings) - 1) for place, rating in enumerate(ratings)}
    return {bot.id: weights[_rating(bot, category)] for bot in bots}


def _unfinished_pair(match_type: MatchType, terms: Terms, known: Knowledge) -> BotGame | None:
    """Return our last game as White at this speed, while the game as Black is due."""
    if match_type.challenge_color is not ColourChoice.PAIRS:
        return None
    recent = known.bot_games.since(known.now_epoch_s - known.pair_break_s)
    games = [game for game in recent if game.by_our_challenge and game.speed == terms.speed]
    return games[-1] if games and games[-1].colour is Colour.WHITE else None


def _colour(match_type: MatchType, opponent: str, terms: Terms, known: Knowledge) -> Colour | None:
    match match_type.challenge_color:
        case ColourChoice.WHITE:
            return Colour.WHITE
        case ColourChoice.BLACK:
            return Colour.BLACK
        case ColourChoice.RANDOM:
            return None
    latest = known.bot_games.latest(opponent, terms.speed)
    return Colour.BLACK if latest is not None and latest.colour is Colour.WHITE else Colour.WHITE


def _weighted_order(weights: Mapping[_Item, float], random: Random) -> Sequence[_Item]:
    """Return a random order in which heavier items tend to come first (Efraimidis and Spirakis)."""
    keys = {item: math.log(1.0 - random.random()) / weight for item, weight in weights.items()}
    return sorted(keys, key=keys.__getitem__, reverse=True)
