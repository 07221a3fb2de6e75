"""The engine configuration of a game, from the facts of the game, the profiles and the machine.

Pure. All matching profiles apply on top of the section `engine`, in the order of the file: key by key the last one
wins. So a profile for bullet and one for humans both apply to bullet against a human.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from lichessbot.config import STYLE_OPTION, Conditions, Config, EngineConfig, Profile, Strength, StyleName
from lichessbot.lichess.enums import Colour, ExactClock, Odds, OpponentKind, Speed
from lichessbot.lichess.models import GameFull, GameInfo
from lichessbot.lichess.odds import handicap_of
from lichessbot.log import counted
from lichessbot.uci.machine import Machine, fitted
from lichessbot.uci.strength import at_level, level_for

# What a missing piece takes off our score at the start, at most: with several, the score falls faster than the pieces.
_WORTH_CP: Final = {Odds.QUEEN: 1200, Odds.ROOK: 600, Odds.BISHOP: 400, Odds.KNIGHT: 400, Odds.PAWN: 150}
_LOWEST_RESIGN_SCORE: Final = -20_000


@dataclass(frozen=True, slots=True)
class GameFacts:
    """The facts that a profile may match, in the words of the API; None if unknown."""

    speed: str
    variant: str
    opponent: OpponentKind
    rating: int | None
    """The opponent's."""
    rated: bool
    tournament: bool
    colour: Colour | None
    clock: ExactClock | None = None
    """None also in announcements, which do not name it: the game's own stream does."""
    chosen_level: int | None = None
    """By the opponent in the chat; FULL is a choice too."""
    pieces_given: tuple[Odds, ...] = ()
    """The pieces without which we begin an odds game."""
    opponent_name: str = ""
    """In lower case; empty if unknown."""

    @classmethod
    def from_info(cls, info: GameInfo) -> Self:
        """Return the facts from an announcement."""
        opponent = info.opponent
        is_bot = opponent.id is None or opponent.is_bot
        return cls(
            info.speed,
            info.variant.key,
            OpponentKind.BOT if is_bot else OpponentKind.HUMAN,
            opponent.rating,
            info.rated,
            info.is_tournament,
            info.color,
            pieces_given=pieces_given(info.fen, info.color),
            opponent_name=(opponent.id or "").lower(),
        )

    @classmethod
    def from_full(cls, full: GameFull, colour: Colour) -> Self:
        """Return the facts from the game's own stream."""
        opponent = full.player(colour.other)
        return cls(
            full.speed,
            full.variant.key,
            OpponentKind.BOT if opponent.is_bot else OpponentKind.HUMAN,
            opponent.rating,
            full.rated,
            full.tournament_id is not None,
            colour,
            None if full.clock is None else full.clock.exact,
            pieces_given=pieces_given(full.initial_fen, colour),
            opponent_name=(opponent.id or "").lower(),
        )


def pieces_given(start_fen: str, colour: Colour | None) -> tuple[Odds, ...]:
    """Return the pieces without which this side begins an odds game."""
    handicap = handicap_of(start_fen)
    return handicap.pieces if handicap is not None and handicap.giver is colour else ()


def matching(facts: GameFacts, config: Config) -> list[tuple[int, Profile]]:
    """Return the matching profiles, each with its number in the file, from 1."""
    return [(number, it) for number, it in enumerate(config.profiles, 1) if _matches(it.when, facts)]


def engine_config_for(facts: GameFacts, config: Config) -> EngineConfig:
    """Return the section `engine` changed by the matching profiles, key by key.

    In correspondence games `correspondence.ponder` and `.move_time` apply before the profiles. A side that gives odds
    avoids trades, and resigns later. A rated game has one strength for everybody.
    """
    engine = config.engine
    if facts.speed == Speed.CORRESPONDENCE:
        by_days = {"ponder": config.correspondence.ponder, "move_time_ms": config.correspondence.move_time * 1000}
        engine = engine.model_copy(update=by_days)
    for _, profile in matching(facts, config):
        changed = engine.changed_by(profile)
        if facts.rated and profile.when.chooses_opponents:
            # A valid configuration leads to no such game, but `lichessbot challenge --rated` and `tournament` do.
            changed = changed.model_copy(update={"strength": engine.strength})
        engine = changed
    return _for_odds(engine, facts.pieces_given) if facts.pieces_given else engine


def _for_odds(engine: EngineConfig, given: Sequence[Odds]) -> EngineConfig:
    """Return the engine for the side that gives pieces: its start is lost already, and no reason to resign.

    Our own engine plays in the style that avoids trades while it is worse, unless another one is chosen.
    """
    rules = engine.draw_or_resign
    score_cp = max(_LOWEST_RESIGN_SCORE, rules.resign_score - sum(_WORTH_CP[it] for it in given))
    rules = rules.model_copy(update={"resign_score": score_cp})
    engine = engine.model_copy(update={"draw_or_resign": rules})
    if engine.command is not None or STYLE_OPTION in engine.uci_options:
        return engine
    return engine.model_copy(update={"uci_options": {**engine.uci_options, STYLE_OPTION: str(StyleName.SWINDLER)}})


def fitted_engine_config(facts: GameFacts, config: Config, machine: Machine) -> EngineConfig:
    """Return what `engine_config_for` returns at the level of the game, limited by the machine's memory and cores."""
    engine = engine_config_for(facts, config)
    level = level_for(engine, rated=facts.rated, rating=facts.rating, chosen=facts.chosen_level)
    return fitted(at_level(engine, level), config, machine, facts.speed)


def describe_engine(facts: GameFacts, config: Config, machine: Machine) -> str:
    """Return which profiles match a game, and the resulting configuration, as text."""
    numbers = [str(number) for number, _ in matching(facts, config)]
    which = f"profile {' and '.join(numbers)}" if numbers else "no profile"
    engine = fitted_engine_config(facts, config, machine)
    rules = engine.draw_or_resign
    follows = engine_config_for(facts, config).strength is Strength.MATCH_OPPONENT
    means = (
        f"plays with {' '.join(engine.command)}" if engine.command else "plays with our engine",
        f"at level {engine.level}{' by match_opponent' * follows}" if engine.level else "",
        f"limits each search by {engine.limits_in_words}",
        f"{engine.hash_mb} MiB of hash",
        counted(engine.threads, "thread"),
        "ponders" if engine.ponder else "does not ponder",
        ", ".join(f"{name}: {value}" for name, value in engine.uci_options.items()),
        f"first asks {', '.join(sources)}" if (sources := engine.sources_for(facts.variant)) else "",
        "may agree to a draw" if rules.offer_draw_enabled else "",
        f"may resign at a score of {rules.resign_score}" if rules.resign_enabled else "",
    )
    return f"{which}: {'; '.join(filter(None, means))}"


def _matches(when: Conditions, facts: GameFacts) -> bool:
    return (
        (not when.speed or facts.speed in when.speed)
        and (not when.clock or facts.clock in when.clock)
        and (not when.variant or facts.variant in when.variant)
        and when.opponent in (None, facts.opponent)
        and (not when.opponent_name or facts.opponent_name in when.opponent_name)
        and (when.rating is None or (facts.rating is not None and when.rating[0] <= facts.rating <= when.rating[1]))
        and when.rated in (None, facts.rated)
        and when.tournament in (None, facts.tournament)
        and when.colour in (None, facts.colour)
    )
