"""The engines that games may get by the configuration, and the variants that they play.

Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lichessbot.config import Config, EngineConfig
from lichessbot.lichess.enums import Variant

Program = tuple[tuple[str, ...] | None, Path | None]
"""What decides which variants an engine knows: its command and working folder."""


def program_of(engine: EngineConfig) -> Program:
    return engine.command, engine.working_dir


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
        if not any(_needs_same_check(engine, other.engine) for other in seen):
            seen.append(ConfiguredEngine(key, engine, variants))
    yield from seen


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
        if rules.set_keys.get("variants", playable) is None:
            changes[kind] = rules.model_copy(update={"variants": playable})
    if not changes:
        return config
    return config.model_copy(update={"challenge": challenge.model_copy(update=changes)})


def _needs_same_check(engine: EngineConfig, other: EngineConfig) -> bool:
    """Return whether the two are equal in everything that an engine could refuse."""
    keys = ("command", "working_dir", "uci_options", "hash_mb", "threads", "strength", "match_opponent")
    return all(getattr(engine, key) == getattr(other, key) for key in keys)
