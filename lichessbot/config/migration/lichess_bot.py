"""Translates a configuration of lichess-bot: its keys are ours, but for some; a missing key keeps its meaning."""

import re
from pathlib import Path
from typing import Any, Final

from lichessbot.config.base import in_yaml
from lichessbot.config.engine import option_key
from lichessbot.config.lichess_bot_keys import (
    ACCEPTED_IF_EMPTY,
    BOOKS,
    GO_COMMANDS,
    IGNORED_BY_CHANCE,
    MEANT_BY_ABSENCE,
    NOT_OURS,
    ONCE_AMONG_THE_BOOKS,
    PARTS_OF_COMMAND,
    SET_BY_THE_BOT,
    command_of,
    ignored_by_chance,
)
from lichessbot.config.matchmaking import CLOCK_KEYS, VariantChoice
from lichessbot.config.migration.translation import TO_ACCEPT_SOME, Translation, number_of
from lichessbot.config.yaml_file import YamlFile, section_at
from lichessbot.lichess.enums import Speed

_NULL_MEANS_NO_LIMIT: Final = ("max_increment", "max_base", "max_days", "opponent_rating_difference")
_VARIANTS: Final = tuple(VariantChoice)


def translate(old: YamlFile, folder: Path) -> Translation:
    """Translate what lichess-bot, started in `folder`, reads, except the token."""
    found = Translation(old, "lichess-bot")
    found.take("token")
    _engine(found, folder)
    _pondering(found)
    _matchmaking(found)
    _days(found)
    _emptied_lists(found)
    for key, reason in NOT_OURS.items():
        found.leave(key, re.sub("; remove the key$", "", reason))
    for key in ONCE_AMONG_THE_BOOKS:
        if found.peek(f"engine.polyglot.{key}") is None:
            found.move(f"engine.polyglot.book.{key}", f"engine.polyglot.{key}")
    for key in ignored_by_chance(section_at(found.peek("engine.polyglot"))):
        found.leave(f"engine.polyglot.{key}", IGNORED_BY_CHANCE, matters=False)
    for theirs, ours in BOOKS.items():
        found.move(f"engine.polyglot.book.{theirs}", f"engine.polyglot.book.{ours}")
    for key in ("challenge.allow_list", "challenge.block_list", "matchmaking.block_list"):
        if isinstance(names := found.peek(key), list) and (kept := list(filter(None, names))) != names:
            found.take(key)
            found.set(key, kept, remark="empty entries removed")
    for key in ("hello", "goodbye", "hello_spectators", "goodbye_spectators"):
        found.move_greeting(f"greeting.{key}", f"greeting.{key}")
    _take_over(found, ())
    for key, value in MEANT_BY_ABSENCE.items():
        if not _is_set(found.values, key):
            found.set(key, value, remark="what lichess-bot does without this key")
    return found


def _engine(found: Translation, folder: Path) -> None:
    """Translate the keys that name the engine, and limit it."""
    protocol = found.peek("engine.protocol") or "uci"
    is_uci = protocol == "uci"
    reason = "every engine speaks UCI here"
    found.leave("engine.protocol", reason if is_uci else f"{reason}; found {protocol}", matters=not is_uci)
    taken = {name: found.take(("engine", name)) for name in PARTS_OF_COMMAND}
    given = [name for name in PARTS_OF_COMMAND if taken[name]]
    if is_uci and taken["name"]:
        remark = ", ".join(f"engine.{name}" for name in given if name != "name")
        found.set("engine.command", command_of(taken, str(folder)), old="engine.name", remark=remark)
    else:
        for name in given:
            found.note(("engine", name), "no engine that speaks UCI: the bot's own plays until you set engine.command")
    if not is_uci:
        found.leave("engine.uci_options", f"an engine of the protocol {protocol} did not get them", matters=False)
    for name in found.names("engine.uci_options"):
        if name.lower() in SET_BY_THE_BOT:
            found.leave(("engine", "uci_options", name), "the bot sets this option", matters=False)
        elif (key := option_key(name)) is not None:
            found.move(f"engine.uci_options.{name}", f"engine.{key}", number_of)
    for name in found.names("engine.uci_options.go_commands"):
        ours = GO_COMMANDS.get(name)
        if ours is None:
            found.leave(("engine", "uci_options", "go_commands", name), "no limit of this kind is known here")
        else:
            found.move(f"engine.uci_options.go_commands.{name}", f"engine.{ours}")
    found.take("engine.uci_options.go_commands")


def _pondering(found: Translation) -> None:
    """Translate `uci_ponder`, an older name that lichess-bot still knows: either is enough."""
    for section in ("engine", "correspondence"):
        if found.peek(f"{section}.uci_ponder") and not found.peek(f"{section}.ponder"):
            found.take(f"{section}.ponder")
            found.move(f"{section}.uci_ponder", f"{section}.ponder")
        else:
            found.leave(f"{section}.uci_ponder", "ponder is its newer name", matters=False)


def _matchmaking(found: Translation) -> None:
    """Leave out the kinds of games that are not proposed here as a whole; null clocks are none."""
    found.move("matchmaking.delay_after_decline", "matchmaking.challenge_filter")
    timeout = "matchmaking.challenge_timeout"
    found.move(timeout, timeout, lambda minutes: max(minutes, 1))  # lichess-bot's own minimum
    own = found.peek("matchmaking.challenge_variant") or "random"
    for name in found.names("matchmaking.overrides"):
        variant = found.peek(("matchmaking", "overrides", name, "challenge_variant")) or own
        if variant not in _VARIANTS:
            found.leave(("matchmaking", "overrides", name), f"{variant} is not proposed here", matters=True)
        _clocks(found, "matchmaking", "overrides", name)
    if own not in _VARIANTS:
        found.leave("matchmaking.challenge_variant", f"{own} is not proposed here")
        kept = found.names("matchmaking.overrides")
        for name in kept:
            found.set(("matchmaking", "overrides", name, "weight"), 1)
        if kept:
            found.set("matchmaking.weight", 0, remark="this section's own games are left out")
        else:
            found.take("matchmaking.allow_matchmaking")
            found.set("matchmaking.allow_matchmaking", False, remark="all its games are left out")
    if found.peek("matchmaking.challenge_days"):
        for key in ("challenge_initial_time", "challenge_increment"):
            if found.peek(("matchmaking", key)) is None:
                found.take(("matchmaking", key))
                found.set(f"matchmaking.{key}", [], remark="what lichess-bot does without this key")


def _days(found: Translation) -> None:
    """Translate a max_days below min_days, with which lichess-bot accepts no game with days per move.

    Here max_days is at least 1 and never below min_days.
    """
    most, least = (found.peek(f"challenge.{key}") for key in ("max_days", "min_days"))
    least = 1 if least is None else least
    if not all(type(it) in (int, float) for it in (most, least)) or not most < least:
        return
    reason = f"max_days is {in_yaml(most)} and min_days {in_yaml(least)}, so no game with days per move is accepted"
    found.move("challenge.max_days", "challenge.max_days", lambda days: max(days, 1), remark=reason)
    found.leave("challenge.min_days", reason, matters=False)
    controls = found.peek("challenge.time_controls")
    if isinstance(controls, list) and Speed.CORRESPONDENCE in controls:
        kept = [it for it in controls if it != Speed.CORRESPONDENCE]
        found.move("challenge.time_controls", "challenge.time_controls", lambda _: kept, remark=reason)


def _emptied_lists(found: Translation) -> None:
    """Translate emptied lists of what is accepted, with which lichess-bot accepts no challenge."""
    for key in ACCEPTED_IF_EMPTY:
        section, name = key.split(".")
        if name in found.names(section) and not found.peek(key):
            reason = "is empty, with which lichess-bot accepts no challenge"
            found.leave(key, f"{reason}; to accept some, {TO_ACCEPT_SOME}", matters=True)
            for rule in ("accept_bot", "only_bot", "human"):
                found.take(("challenge", rule))
            found.accept_no_challenge(f"{name} {reason}")


def _clocks(found: Translation, *section: str) -> None:
    for key in CLOCK_KEYS:
        if key in found.names(section) and found.peek((*section, key)) is None:
            found.take((*section, key))
            found.set((*section, key), [])


def _take_over(found: Translation, path: tuple[str, ...]) -> None:
    """Set all keys of the old section that are left, as they are; those without a value keep their default."""
    for name in found.names(path):
        here = (*path, name)
        if found.names(here) and path != ("challenge",):  # which has no sections
            _take_over(found, here)
        value: Any = found.take(here)
        if value is None and name not in _NULL_MEANS_NO_LIMIT:
            found.note(here, "is empty", matters=False)
        elif value != {}:
            found.set(here, value)


def _is_set(values: Any, key: str) -> bool:
    """Return whether the key has a value that is no empty text, or cannot have one as its section is none."""
    for name in key.split("."):
        if not isinstance(values, dict):
            return True
        if name not in values:
            return False
        values = values[name]
    return bool(values != "")
