"""Translates an old file: finds out whose it is, and changes or drops what our configuration does not accept."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from lichessbot.config.base import Section, in_yaml
from lichessbot.config.challenge import Rules
from lichessbot.config.engine import EngineConfig
from lichessbot.config.lichess_bot_keys import NOT_OURS
from lichessbot.config.loader import BOTLIS_KEYS, is_botlis, problems_of
from lichessbot.config.matchmaking import CLOCK_KEYS
from lichessbot.config.migration import botli, lichess_bot
from lichessbot.config.migration.translation import TO_ACCEPT_SOME, Changed, Translation
from lichessbot.config.root import Config
from lichessbot.config.yaml_file import REPEATED, KeyPath, YamlFile, dotted, section_at, value_at
from lichessbot.errors import ConfigError

# Our keys that lichess-bot has too.
_LICHESS_BOTS_TOO: Final = {
    "token", "url", "engine", "abort_time", "fake_think_time", "rate_limiting_delay", "max_takebacks_accepted",
    "correspondence", "challenge", "greeting", "pgn_directory", "pgn_file_grouping", "matchmaking",
    "engine.working_dir", "engine.ponder", "engine.polyglot", "engine.draw_or_resign", "engine.online_moves",
    "engine.lichess_bot_tbs", "engine.uci_options", "engine.silence_stderr", "engine.debug",
}  # fmt: skip
_THEIRS: Final = BOTLIS_KEYS | {key.partition(".")[0] for key in _LICHESS_BOTS_TOO | NOT_OURS.keys()}
# Keys of `challenge` without which more challenges might be accepted.
_DECIDE_WHO: Final = {*Rules.model_fields, "accept_bot", "only_bot", "block_list", "online_block_list"} - {
    "max_simultaneous_games_per_user",
}
_MOST_ROUNDS = 100  # a value that is dropped may let another problem show


def translate_file(path: Path) -> Translation:
    """Translate the file of another bot. Its relative paths count from the folder in which that bot was started.

    Raises ConfigError if it cannot be read, or is none of another bot.
    """
    old = YamlFile.read(path)
    if old.problems:
        repeated = "; remove one of them: the old bot reads the last"
        raise ConfigError([f"{it.text}{repeated if it.message.startswith(REPEATED) else ''}" for it in old.problems])
    if not old.values:
        raise ConfigError([f"{path}: expected a configuration of lichess-bot or BotLi, found no keys"])
    if not is_botlis(old.values) and (key := next(_ours_alone(old), None)) is not None:
        reason = f"{dotted(key)} in line {old.line_of(key)}"
        raise ConfigError([f"{path}: is a configuration of lichessbot already ({reason}); nothing to translate"])
    if old.values.keys().isdisjoint(_THEIRS):
        raise ConfigError([f"{path}: expected a configuration of lichess-bot or BotLi, found none of their keys"])
    return translate(old, _started_in(old, path.parent))


def _started_in(old: YamlFile, beside: Path) -> Path:
    """Return the current folder if only there the engines are where the file says, else `beside`, that of the file."""
    engines = [section_at(old.values, "engine"), *section_at(old.values, "engines").values()]
    named = [it for it in engines if isinstance(it, dict) and it.get("name")]
    programs = [os.path.join(str(it.get("dir") or "."), str(it["name"])) for it in named]
    here, there = (any(os.path.isfile(folder / it) for it in programs) for folder in (Path.cwd(), beside))
    return Path.cwd() if here and not there else beside


def _ours_alone(old: YamlFile) -> Iterator[KeyPath]:
    """Yield each key that we have and lichess-bot does not, in the order of the file."""
    ours = Config.model_fields.keys() | {f"engine.{name}" for name in EngineConfig.model_fields}
    return (key for key in old.lines if dotted(key) in ours - _LICHESS_BOTS_TOO)


def translate(old: YamlFile, folder: Path) -> Translation:
    """Translate the file of a bot that was started in `folder`; the token stays out of the values."""
    found = botli.translate(old) if is_botlis(old.values) else lichess_bot.translate(old, folder)
    found.folder = folder
    found.leave_the_rest()
    _no_games(found)
    _settle_what_is_refused(found, folder)
    return found


def _no_games(found: Translation) -> None:
    """Translate a concurrency of 0, which both bots know: no challenge is accepted, and none is sent."""
    challenge = found.values.get("challenge")
    if not isinstance(challenge, dict) or challenge.get("concurrency") != 0 or challenge["concurrency"] is False:
        return
    for key in ("concurrency", "human"):
        challenge.pop(key, None)
    found.accept_no_challenge("0: no games", old="challenge.concurrency")
    found.set("matchmaking.allow_matchmaking", False, old="challenge.concurrency", remark="0: no games")


def _settle_what_is_refused(found: Translation, folder: Path) -> None:
    """Put the nearest number for each one out of range, take out other values that are not accepted, and say why."""
    asked: dict[KeyPath, Any] = {}  # the numbers that are replaced
    for _ in range(_MOST_ROUNDS):
        problems = problems_of(found.values, folder)
        if not problems:
            break
        # From the end, as numbers of entries count from the start of a list.
        ordered = sorted(problems, key=lambda it: [str(part).zfill(4) for part in it.path], reverse=True)
        for place, problem in [(_existing(found.values, it.path), it) for it in ordered]:
            if not place or _existing(found.values, place) != place:
                continue  # it went with another one
            value = value_at(found.values, place)
            if problem.message.startswith("expected true or false,") and str(value).lower() == "true":
                _replace(found, place, True, "a text there")
            elif place == problem.path and problem.nearest is not None and not isinstance(place[-1], int):
                was = asked.setdefault(place, value)
                expected = problem.message.partition(", found ")[0]
                _replace(found, place, problem.nearest, f"{expected}, found {in_yaml(was)}")
            elif (distinct := _without_repeats(value)) is not None:
                _replace(found, place, distinct, "repeated entries removed")
            else:
                _drop(found, place, problem.message)
    kept = [place for place in asked if _existing(found.values, place) == place]
    found.changed = [Changed(dotted(it), asked[it], value_at(found.values, it)) for it in kept]


def _replace(found: Translation, place: KeyPath, value: Any, remark: str) -> None:
    value_at(found.values, place[:-1])[place[-1]] = value
    found.remarks[place] = "; ".join(filter(None, (found.remarks.get(place), remark)))


def _without_repeats(value: Any) -> list[Any] | None:
    """Return the first of each entry of a list; None if it is no list, or no entry is repeated."""
    if not isinstance(value, list):
        return None
    kept = [it for number, it in enumerate(value) if it not in value[:number]]
    return kept if len(kept) < len(value) else None


def _drop(found: Translation, place: KeyPath, reason: str) -> None:
    """Take out a value and note why; with its clocks or days also the kind of games, which would get those above it.

    Without a rule that decides whom the bot plays, no challenge is accepted.
    """
    _remove(found.values, place)
    ours = next((place[:end] for end in range(len(place), 0, -1) if place[:end] in found.origins), place)
    closes = _may_let_more_in(found.values, place)
    now = f"; no challenge is accepted now: {TO_ACCEPT_SOME}" if closes else _now(place)
    found.note(found.origins.get(ours, place), f"{reason}{now}")
    if closes:
        found.accept_no_challenge(f"as {dotted(place)} is left out")
    kind, key = place[:3], place[3:4]
    is_of_kind = place[:2] == ("matchmaking", "overrides") and key and key[0] in CLOCK_KEYS
    if is_of_kind and not value_at(found.values, kind).get(key[0]):
        _remove(found.values, kind)
        found.note(kind, f"no {key[0]} is left")
    elif place == ("matchmaking", "weight"):
        found.set("matchmaking.allow_matchmaking", False, remark="all its games are left out")


def _may_let_more_in(values: dict[str, Any], place: KeyPath) -> bool:
    """Return whether more challenges might be accepted without what was at `place`.

    An entry matters in block lists on the web, and if it is the last of those who alone are accepted. Other entries are
    names that nobody has, or narrow what is accepted.
    """
    section, *inner = place
    if section != "challenge":
        return False
    match [it for it in inner if it not in ("human", "bot")]:
        case [key, _]:
            return key == "online_block_list" or (key == "allow_list" and not value_at(values, place[:-1]))
        case [key]:
            return key in _DECIDE_WHO
    return True


def _now(place: KeyPath) -> str:
    """Return what holds without a key of ours, in words; empty if the keys around it decide."""
    value: Any = Config()
    for key in place:
        if not isinstance(value, Section) or value.as_one or key not in type(value).model_fields:
            return ""
        value = getattr(value, str(key))
    return "" if isinstance(value, Section) else f"; it is {in_yaml(value)} now, the default"


def _existing(values: Any, path: KeyPath) -> KeyPath:
    """Return the part of `path` that is in `values`."""
    for end, key in enumerate(path):
        known = key in values if isinstance(values, dict) else isinstance(values, list) and isinstance(key, int)
        if not known:
            return path[:end]
        values = values[key]
    return path


def _remove(values: Any, path: KeyPath) -> None:
    del value_at(values, path[:-1])[path[-1]]
