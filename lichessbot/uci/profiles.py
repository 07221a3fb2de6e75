"""The engine configuration of a game, from the facts of the game, the profiles and the machine.

Pure. All matching profiles apply on top of the section `engine`, in the order of the file: key by key the last one
wins. So a profile for bullet and one for humans both apply to bullet against a human.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, Self

from engine.facade import available_mb, usable_cores
from lichessbot.config import STYLE_OPTION, Conditions, Config, EngineConfig, Profile, Strength, StyleName
from lichessbot.lichess.enums import Colour, ExactClock, OpponentKind, Speed, Variant
from lichessbot.lichess.models import GameFull, GameInfo
from lichessbot.lichess.odds import handicap_of
from lichessbot.uci.strength import at_level, level_for

# Measured memory of an engine without its hash table, and the share of the machine's memory for all engines.
_WITHOUT_HASH_MB: Final = 40
_SHARE_FOR_ENGINES: Final = 3 / 4


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
    gives_pieces: bool = False
    """Whether we begin an odds game with fewer pieces."""

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
            gives_pieces=gives_pieces(info.fen, info.color),
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
            gives_pieces=gives_pieces(full.initial_fen, colour),
        )


def gives_pieces(start_fen: str, colour: Colour | None) -> bool:
    """Return whether this side has fewer pieces at the start of an odds game."""
    handicap = handicap_of(start_fen)
    return handicap is not None and handicap.giver is colour and bool(handicap.pieces)


@dataclass(frozen=True, slots=True)
class Machine:
    """The cores and memory that this process may use; None if unknown."""

    cores: int | None
    memory_mb: int | None

    @classmethod
    def detect(cls, root: Path = Path("/")) -> Self:
        """Return the machine that this process runs on. `root` is the folder that holds proc and sys."""
        allowed = min(_cpu_quotas(root), default=inf)
        return cls(int(max(1, min(usable_cores(), allowed))), available_mb(root))

    def max_hash_mb(self, engines: int) -> int | None:
        """Return the largest hash table that fits for this many engines."""
        if self.memory_mb is None:
            return None
        return max(1, int(self.memory_mb * _SHARE_FOR_ENGINES / engines) - _WITHOUT_HASH_MB)

    def can_ponder(self, engines: int, threads: int) -> bool:
        """Return whether there are cores for this many engines that search all the time."""
        return self.cores is None or engines * threads <= self.cores


def _cpu_quotas(root: Path) -> Iterator[float]:
    """Yield how many cores the control group of this process and its parents may use, where they are limited."""
    try:
        path = (root / "proc/self/cgroup").read_text().partition("0::")[2].partition("\n")[0]
    except OSError:
        return
    base = root / "sys/fs/cgroup"
    group = base / path.lstrip("/")
    for folder in (group, *group.parents):
        with suppress(OSError, ValueError):  # no file, or `max` for no limit
            quota, period = map(int, (folder / "cpu.max").read_text().split())
            yield quota / period
        if folder == base:
            break


def matching(facts: GameFacts, config: Config) -> list[tuple[int, Profile]]:
    """Return the matching profiles, each with its number in the file, from 1."""
    return [(number, it) for number, it in enumerate(config.profiles, 1) if _matches(it.when, facts)]


def profile_for(facts: GameFacts, config: Config) -> EngineConfig:
    """Return the section `engine` changed by the matching profiles, key by key.

    In correspondence games `correspondence.ponder` and `.move_time` apply before the profiles. A side that gives odds
    avoids trades.
    """
    engine = config.engine
    if facts.speed == Speed.CORRESPONDENCE:
        by_days = {"ponder": config.correspondence.ponder, "move_time_ms": config.correspondence.move_time * 1000}
        engine = engine.model_copy(update=by_days)
    for _, profile in matching(facts, config):
        engine = engine.changed_by(profile)
    return _for_odds(engine) if facts.gives_pieces else engine


def _for_odds(engine: EngineConfig) -> EngineConfig:
    """Return our own engine in the style that avoids trades while it is worse, unless another one is chosen."""
    if engine.command is not None or STYLE_OPTION in engine.uci_options:
        return engine
    return engine.model_copy(update={"uci_options": {**engine.uci_options, STYLE_OPTION: str(StyleName.SWINDLER)}})


def engine_for(facts: GameFacts, config: Config, machine: Machine) -> EngineConfig:
    """Return what `profile_for` returns at the level of the game, limited by the machine's memory and cores."""
    engine = profile_for(facts, config)
    level = level_for(engine, rated=facts.rated, rating=facts.rating, chosen=facts.chosen_level)
    return fitted(at_level(engine, level), config, machine, facts.speed)


def fitted(engine: EngineConfig, config: Config, machine: Machine, speed: str | None = None) -> EngineConfig:
    """Return `engine` limited by the machine's memory and cores, by default for a game with a clock.

    A pondering engine takes cores from engines that are to move, unless there are enough for all.
    """
    max_mb = machine.max_hash_mb(_most_engines(config))
    fits = {} if max_mb is None else {"hash_mb": min(engine.hash_mb, max_mb)}
    rivals = _most_engines(config) if speed == Speed.CORRESPONDENCE else config.challenge.concurrency
    ponder = engine.ponder and machine.can_ponder(rivals, engine.threads)
    return engine.model_copy(update={"ponder": ponder, **fits})


def describe_engine(facts: GameFacts, config: Config, machine: Machine) -> str:
    """Return which profiles match a game, and the resulting configuration, as text."""
    numbers = [str(number) for number, _ in matching(facts, config)]
    which = f"profile {' and '.join(numbers)}" if numbers else "no profile"
    engine = engine_for(facts, config, machine)
    follows = engine.level is not None and profile_for(facts, config).strength is Strength.MATCH_OPPONENT
    limits = (
        f"depth {engine.depth}" if engine.depth else "",
        f"{engine.nodes} nodes" if engine.nodes else "",
        f"{engine.move_time_ms} ms a move" if engine.move_time_ms else "",
    )
    means = (
        f"plays with {' '.join(engine.command)}" if engine.command else "plays with our engine",
        f"at level {engine.level}{' by match_opponent' * follows}" if engine.level else "",
        f"limits each search by {', '.join(filter(None, limits)) or 'the clock'}",
        f"{engine.hash_mb} MiB of hash",
        f"{engine.threads} {'thread' if engine.threads == 1 else 'threads'}",
        "ponders" if engine.ponder else "does not ponder",
        ", ".join(f"{name}: {value}" for name, value in engine.uci_options.items()),
        f"first asks {', '.join(sources)}" if (sources := engine.sources_for(facts.variant)) else "",
        "may agree to a draw" if engine.draw_or_resign.offer_draw_enabled else "",
        "may resign" if engine.draw_or_resign.resign_enabled else "",
    )
    return f"{which}: {'; '.join(filter(None, means))}"


def ponders(engine: EngineConfig, config: Config, machine: Machine) -> bool:
    """Return whether `engine` ponders in games with a clock."""
    return engine.ponder and machine.can_ponder(config.challenge.concurrency, engine.threads)


def memory_warnings(config: Config, machine: Machine) -> Iterator[str]:
    """Yield a text for each engine whose hash table does not fit into the machine's memory."""
    max_mb = machine.max_hash_mb(_most_engines(config))
    for it in configured_engines(config):
        hash_mb = it.engine.hash_mb
        if max_mb is not None and hash_mb > max_mb:
            yield f"{it.key}.hash_mb: {hash_mb} MiB for each game do not fit into memory, {max_mb} are used"


@dataclass(frozen=True, slots=True)
class ConfiguredEngine:
    """An engine that a game may get, its key in the configuration, and the variants in which it may get one."""

    key: str
    engine: EngineConfig
    variants: tuple[Variant, ...]


def engines_of(config: Config) -> list[EngineConfig]:
    """Return the section `engine`, and for each profile that section changed by it."""
    return [config.engine, *map(config.engine.changed_by, config.profiles)]


def configured_engines(config: Config) -> Iterator[ConfiguredEngine]:
    """Yield every engine that a game may get; engines that differ only in their use count once."""
    rules = [config.challenge.rules_for(is_bot=is_bot).variants for is_bot in (False, True)]
    wanted = {variant for variants in (*rules, *config.named_variants.values()) for variant in variants or Variant}
    programs = {variant: _programs_for(variant, config) for variant in Variant if variant in wanted}
    seen: list[ConfiguredEngine] = []
    for number, engine in enumerate(engines_of(config)):
        key = f"profiles #{number}.engine" if number else "engine"
        variants = tuple(variant for variant in programs if program_of(engine) in programs[variant])
        if not any(_is_same_program(engine, other.engine) for other in seen):
            seen.append(ConfiguredEngine(key, engine, variants))
    yield from seen


Program = tuple[tuple[str, ...] | None, Path | None]
"""What decides which variants an engine knows: its command and working folder."""


def program_of(engine: EngineConfig) -> Program:
    return engine.command, engine.working_dir


def _programs_for(variant: Variant, config: Config) -> set[Program]:
    """Return the programs that a game of this variant may get, by profiles that match it surely or perhaps."""
    found = {program_of(config.engine): config.engine}
    for profile in config.profiles:
        when = profile.when
        if when.variant and variant not in when.variant:
            continue
        changed = (engine.changed_by(profile) for engine in found.values())
        is_certain = when.model_fields_set <= {"variant"}
        found = {**({} if is_certain else found), **{program_of(engine): engine for engine in changed}}
    return set(found)


def playable_variants(config: Config, announced: Mapping[Program, tuple[Variant, ...]]) -> tuple[Variant, ...]:
    """Return the variants that every engine that may get such a game announces."""
    return tuple(
        variant
        for variant in Variant
        if all(variant in announced.get(program, ()) for program in _programs_for(variant, config))
    )


def with_playable_variants(config: Config, playable: tuple[Variant, ...]) -> Config:
    """Return the configuration with those variants that the engines play wherever all of these are accepted."""
    challenge = config.challenge
    changes: dict[str, object] = {} if challenge.variants else {"variants": playable}
    for kind, rules in (("human", challenge.human), ("bot", challenge.bot)):
        if rules.given.get("variants", playable) is None:
            changes[kind] = rules.model_copy(update={"variants": playable})
    if not changes:
        return config
    return config.model_copy(update={"challenge": challenge.model_copy(update=changes)})


def _most_engines(config: Config) -> int:
    """Return how many engines run at most."""
    return config.challenge.concurrency + config.correspondence.concurrency


def _is_same_program(engine: EngineConfig, other: EngineConfig) -> bool:
    """Return whether the two are equal in everything that an engine could refuse."""
    keys = ("command", "working_dir", "uci_options", "hash_mb", "threads", "strength", "match_opponent")
    return all(getattr(engine, key) == getattr(other, key) for key in keys)


def _matches(when: Conditions, facts: GameFacts) -> bool:
    return (
        (not when.speed or facts.speed in when.speed)
        and (not when.clock or facts.clock in when.clock)
        and (not when.variant or facts.variant in when.variant)
        and when.opponent in (None, facts.opponent)
        and (when.rating is None or (facts.rating is not None and when.rating[0] <= facts.rating <= when.rating[1]))
        and when.rated in (None, facts.rated)
        and when.tournament in (None, facts.tournament)
        and when.colour in (None, facts.colour)
    )
