"""The configuration in use, and when each key of a changed file takes effect. An invalid file changes nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from lichessbot.config import Config, LoadedConfig, dotted_values, load_config
from lichessbot.config.base import Section, in_yaml
from lichessbot.config.credentials import HIDDEN, without_arguments, without_queries
from lichessbot.errors import ConfigError
from lichessbot.log import EventLog


class Effect(StrEnum):
    """When a changed value takes effect."""

    AT_ONCE = "at once"
    NEW_GAMES = "for new games"
    """And for correspondence games at their next visits."""
    RESTART = "after a restart"


_KEYS_BY_EFFECT: Final = {
    Effect.AT_ONCE: ("stop_grace", "challenge", "matchmaking", "rematch", "tournaments", "notify"),
    Effect.NEW_GAMES: (
        "personality", "abort_time", "max_takebacks_accepted", "takebacks_from_bots", "pgn_directory",
        "pgn_file_grouping", "fake_think_time", "humanlike_time", "rate_limiting_delay", "engine", "greeting",
        "correspondence", "profiles",
    ),
    Effect.RESTART: ("token", "token_file", "url", "proxy", "state_dir", "log_format", "records", "status"),
}  # fmt: skip
_EFFECTS: Final = {key: effect for effect, keys in _KEYS_BY_EFFECT.items() for key in keys}
NOT_SET: Final = "not set"


@dataclass(frozen=True, slots=True)
class Change:
    """A key with a new value in the file; the token is never shown. A key of a profile may be `NOT_SET`."""

    key: str
    old: object
    new: object

    @property
    def section(self) -> str:
        """The key at the top level of the file."""
        return self.key.partition(".")[0].partition(" ")[0]

    @property
    def effect(self) -> Effect:
        return _EFFECTS[self.section]


class Settings:
    """The configuration in use, and how to reload it."""

    def __init__(self, path: Path | None, environment: Mapping[str, str]) -> None:
        """Load the configuration. Raises ConfigError."""
        self._path = path
        self._environment = environment
        self.loaded: LoadedConfig = load_config(path, environment)
        self.config: Config = self.loaded.config
        self.location: Callable[[str], str] = self.loaded.location
        """Return `file:line: key` for a dotted key of the file as it was read last."""
        self._warnings = self.loaded.warnings
        self._is_refused = False

    def reload_and_log(self, log: EventLog) -> Config:
        """Read the file again, log the result, and return the configuration in use from now on."""
        try:
            changes = self.reload()
        except ConfigError as error:
            self._is_refused = True
            for problem in error.problems:
                log.warning("reload.refused", problem=problem)
            return self.config
        self._is_refused = False
        log.info("reload", changes=len(changes))
        for change in changes:
            old, new = (_shown(change.key, value) for value in (change.old, change.new))
            log.info("reload.key", key=change.key, old=old, new=new, effect=change.effect)
        for warning in self._warnings:
            log.warning("config", note=warning)
        return self.config

    def log_use(self, log: EventLog, *, old_engines: bool) -> None:
        """Log that the file is in use, unless it was refused."""
        if not self._is_refused:
            log.info("reload.in_use", engines="old" if old_engines else None)

    def keep_engines(self, config: Config, log: EventLog, problems: Iterable[str]) -> None:
        """Keep the engines of `config` in use, because those of the file do not work or lack a variant it names."""
        kept = ", ".join(_kept_with_engines(self.config, config))
        for problem in problems:
            log.warning("reload.engines_refused", kept=kept, problem=problem)
        self.config = with_engines_of(self.config, config)

    def reload(self) -> Sequence[Change]:
        """Read the file again; return what is new. Raises ConfigError, and then changes nothing."""
        if self._path is not None and self._path.is_fifo():
            # That of `--config <(decrypt config.yml)` is empty by now, and another one may have no writer for ever.
            raise ConfigError([f"{self._path}: expected a file, found a pipe, which can be read only at the start"])
        loaded = load_config(self._path, self._environment)
        self.location, self._warnings = loaded.location, loaded.warnings
        changes = _changes(self.config, loaded.config)
        if loaded.token != self.loaded.token:
            changes.append(Change("token", HIDDEN, HIDDEN))
        for_later = {change.section for change in changes if change.effect is Effect.RESTART}
        self.config = loaded.config.model_copy(update={key: getattr(self.config, key) for key in for_later})
        return changes


def _shown(key: str, value: object) -> str:
    """Return a value as the log may show it: a program's arguments and the queries of addresses may be secrets."""
    if key == "notify.command" and isinstance(value, tuple):
        value = without_arguments(value)
    return without_queries(in_yaml(value))


def with_engines_of(config: Config, other: Config) -> Config:
    """Return `config` with the engines and profiles of `other`, and with its variants if other ones are named.

    Matchmaking is then kept as a whole, as each of its kinds of games may name a variant.
    """
    kept: dict[str, object] = {"engine": other.engine, "profiles": other.profiles}
    if config.named_variants != other.named_variants:
        kept |= {"challenge": config.challenge.with_variants_of(other.challenge), "matchmaking": other.matchmaking}
    return config.model_copy(update=kept)


def _kept_with_engines(config: Config, other: Config) -> Sequence[str]:
    """Return the keys that are kept together with the engines of `other`."""
    engines = ("engine", "profiles")
    same_variants = config.named_variants == other.named_variants
    return engines if same_variants else (*engines, "challenge.variants", "matchmaking")


def _changes(old: Config, new: Config) -> list[Change]:
    """Return the changes key by key, except of the token, which may come from elsewhere."""
    before, after = _values(old), _values(new)
    pairs = {key: (before.get(key, NOT_SET), after.get(key, NOT_SET)) for key in {**after, **before} if key != "token"}
    return [Change(key, *pair) for key, pair in pairs.items() if pair[0] != pair[1]]


def _values(config: Config) -> dict[str, object]:
    """Return every key with its value; of each profile the keys that are set."""
    values = dotted_values(config)
    del values["profiles"]
    for number, profile in enumerate(config.profiles, 1):
        values.update(_set_values(profile, f"profiles #{number}"))
    return values


def _set_values(section: Section, path: str) -> Iterator[tuple[str, object]]:
    for name, value in section.set_keys.items():
        if isinstance(value, Section):
            yield from _set_values(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}", value
