"""Keys of lichess-bot that do not exist here: what to do instead, and the engine that they name."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from lichessbot.config.base import in_yaml
from lichessbot.config.root import Config
from lichessbot.config.yaml_file import KeyPath, dotted, path_of, section_at

NOT_OURS: Final = {
    "move_overhead": "the bot measures the round trips to Lichess; until then engine.move_overhead_ms counts",
    "quit_after_all_games_finish": "the first SIGINT or SIGTERM always finishes the games; remove the key",
    "log": "logs go to standard error; redirect them or use the journal of systemd",
    "matchmaking.challenge_decliner_file_name": "state_dir remembers who declined; add the file's names to block_list",
    "matchmaking.opponent_allow_tos_violation": "bots that violate the terms are never challenged; remove the key",
    "matchmaking.delay_after_decline": "set matchmaking.challenge_filter",
    "engine.protocol": "every engine speaks UCI here; remove the key",
    "engine.homemade_options": "every engine is a program that speaks UCI here; remove the key",
    "engine.xboard_options": "every engine speaks UCI here; remove the key",
    "engine.uci_ponder": "set engine.ponder, its newer name",
    "correspondence.uci_ponder": "set correspondence.ponder, its newer name",
    "engine.lichess_bot_tbs.gaviota": "Gaviota's tables are not read; set engine.lichess_bot_tbs.syzygy",
    "engine.online_moves.chessdb_book.contribute": "chessdb learns from every question by itself; remove the key",
}

# The books in `engine.polyglot.book`, by python-chess's names of the variants and by Lichess's.
BOOKS: Final = {
    "giveaway": "antichess", "kingofthehill": "kingOfTheHill", "racingkings": "racingKings", "3check": "threeCheck",
}  # fmt: skip
# Keys of `engine.polyglot` that stood among the books from August 2019 to March 2021.
ONCE_AMONG_THE_BOOKS: Final = ("selection", "min_weight")
IGNORED_BY_CHANCE: Final = "lichess-bot ignores it with weighted_random"
"""What to say of the keys that `ignored_by_chance` returns."""
# The values with which these keys of `engine.polyglot` change nothing.
_LETS_ALL_MOVES_IN: Final = {"min_weight": 1, "normalization": "none"}
PARTS_OF_COMMAND: Final = ("dir", "name", "interpreter", "interpreter_options", "engine_options")
# UCI options that lichess-bot and BotLi never send, as the bot sets them itself; in lower case.
SET_BY_THE_BOT: Final = ("uci_chess960", "uci_variant", "multipv", "ponder")
# What lichess-bot does without a key, where that is another thing here; None: no limit.
MEANT_BY_ABSENCE: Final = {
    "abort_time": 20,
    "engine.ponder": False,
    "engine.polyglot.max_depth": 8,
    "engine.online_moves.online_egtb.max_pieces": 7,
    "challenge.accept_bot": False,
    "challenge.max_increment": None,
    "challenge.max_base": None,
    "challenge.max_days": None,
    "correspondence.checkin_period": 600,
    "correspondence.disconnect_time": 300,
    "matchmaking.challenge_color": "random",
    "matchmaking.challenge_filter": "none",
    "matchmaking.opponent_rating_difference": None,
}
# Keys that say the same, each of which has a note of its own.
_OLDER_NAMES: Final = {
    "engine.ponder": "engine.uci_ponder",
    "matchmaking.challenge_filter": "matchmaking.delay_after_decline",
}
# The keys without which what these sections hold has no effect.
_SWITCHES: Final = {
    "engine.polyglot": "enabled",
    "engine.online_moves.online_egtb": "enabled",
    "matchmaking": "allow_matchmaking",
}
# What is accepted here where these keys are empty; lichess-bot then accepts no challenge.
ACCEPTED_IF_EMPTY: Final = {
    "challenge.variants": "every variant that the engines play",
    "challenge.time_controls": "bullet, blitz, rapid, classical",
    "challenge.modes": "casual, rated",
}
_NO_VALUE: Final = (None, "")
GO_COMMANDS: Final = {"nodes": "nodes", "depth": "depth", "movetime": "move_time_ms"}


def instead_of(path: KeyPath, engine: Mapping[str, Any], file: str) -> str | None:
    """Return what to do instead of the key at `path`; an empty text if the note of another key says it.

    None if it is not a key of lichess-bot alone. `engine`: the values of that section in `file`.
    """
    match path:
        case ("engine", str(key)) if key in PARTS_OF_COMMAND:
            command = command_of(engine, os.path.dirname(file))
            words = ", ".join(json.dumps(word, ensure_ascii=False) for word in command)
            if engine_command(engine, file) is not None:
                return f"the bot plays this engine as engine.command: [{words}]" if key == "name" else ""
            return "engine.command decides" if "command" in engine else f"write engine.command: [{words}]"
        case ("engine", "uci_options", str(name)) if name.lower() in SET_BY_THE_BOT:
            return None if engine_command(engine, file) is None else "the bot sets this option"
        case ("engine", "polyglot", str(key)) if key in ignored_by_chance(section_at(engine, "polyglot")):
            return None if engine_command(engine, file) is None else IGNORED_BY_CHANCE
        case ("engine", "uci_options", "go_commands"):
            limits = limits_of_searches(engine)
            ours = [f"engine.{GO_COMMANDS[name]}: {in_yaml(limits[name])}" for name in limits if name in GO_COMMANDS]
            unknown = [f"no limit named {name} is known here" for name in limits if name not in GO_COMMANDS]
            return "; ".join([*([f"the bot plays with {', '.join(ours)}"] if ours else []), *unknown])
    return NOT_OURS.get(dotted(path))


def engine_command(engine: Mapping[str, Any], file: str) -> list[str] | None:
    """Return the command that lichess-bot's keys describe; None if `command` is set, or no `name`."""
    name = engine.get("name")
    is_named = name not in _NO_VALUE and not isinstance(name, list | dict)
    return command_of(engine, os.path.dirname(file)) if is_named and "command" not in engine else None


def clocks_meant_as_none(matchmaking: Mapping[str, object]) -> Sequence[str]:
    """Return the keys of clocks that propose none, as only days are set."""
    clocks = ("challenge_initial_time", "challenge_increment")
    by_days_only = matchmaking.get("challenge_days") and not any(matchmaking.get(key) for key in clocks)
    return clocks if by_days_only else ()


def ignored_by_chance(polyglot: Mapping[str, Any]) -> Sequence[str]:
    """Return the keys of the section `polyglot` that lichess-bot ignores, as it plays any move by its weight."""
    by_chance = polyglot.get("selection") in (*_NO_VALUE, "weighted_random")
    return [key for key, it in _LETS_ALL_MOVES_IN.items() if by_chance and polyglot.get(key, it) != it]


def limits_of_searches(engine: Mapping[str, Any]) -> dict[str, Any]:
    """Return lichess-bot's limits of searches that have a value, by their names there."""
    limits = section_at(engine, "uci_options", "go_commands")
    return {name: it for name, it in limits.items() if it not in _NO_VALUE}


def protocol_problem(engine: Mapping[str, Any]) -> str | None:
    """Return why the engine cannot be played; None if it speaks UCI."""
    protocol = engine.get("protocol")
    if protocol in (*_NO_VALUE, "uci"):
        return None
    return f"expected uci, found {protocol!r}: every engine speaks UCI here"


def meant_by_absence(values: Mapping[str, object], given: Collection[KeyPath]) -> Iterator[str]:
    """Yield notes on the missing and empty keys that mean another thing here, those of a section in one.

    `given`: all keys of the file, also those that are not ours.
    """
    challenge = values.get("challenge")
    for place, accepted in ACCEPTED_IF_EMPTY.items():
        key = place.removeprefix("challenge.")
        if isinstance(challenge, dict) and challenge.get(key, ()) in _NO_VALUE:
            yield f"{place} is empty: {accepted} here; lichess-bot accepts no challenge with this"
    ours = Config()
    for section, places in groupby(MEANT_BY_ABSENCE, lambda place: place.partition(".")[0]):
        absent = (it for it in places if _is_absent(values, it) and path_of(_OLDER_NAMES.get(it, "")) not in given)
        theirs = [
            f"{place.removeprefix(f'{section}.')}: {in_yaml(MEANT_BY_ABSENCE[place])} "
            f"(here {in_yaml(attrgetter(place)(ours))})"
            for place in absent
        ]
        if theirs:
            yield f"{section}: missing keys have other defaults in lichess-bot, for which set {', '.join(theirs)}"


def _is_absent(values: Mapping[str, object], place: str) -> bool:
    """Return whether the default counts for a key that has an effect.

    An empty key has a value where that means what lichess-bot does without the key.
    """
    *names, key = place.split(".")
    section = section_at(values, *names)
    switch = _SWITCHES.get(".".join(names))
    if switch is not None and section.get(switch) is not True:
        return False
    is_empty_on_purpose = key in section and section[key] is None and MEANT_BY_ABSENCE[place] is None
    return section.get(key) in _NO_VALUE and not is_empty_on_purpose


def command_of(engine: Mapping[str, Any], folder: str) -> list[str]:
    """Return the command with which lichess-bot, started in `folder`, starts the engine of these keys.

    An engine behind an interpreter is an argument, which is relative to the folder where the engine runs: its path
    becomes absolute, as in lichess-bot.
    """
    program = os.path.join(str(engine.get("dir") or "."), str(engine.get("name") or "ENGINE"))
    if engine.get("interpreter"):
        program = os.path.abspath(os.path.join(folder, program))
    options, arguments = engine.get("interpreter_options") or [], engine.get("engine_options")
    interpreter = [engine.get("interpreter"), *(options if isinstance(options, list) else [options])]
    given = arguments.items() if isinstance(arguments, dict) else ()
    words = [f"--{name}" if value is None else f"--{name}={value}" for name, value in given]
    return [*(map(str, interpreter) if interpreter[0] else ()), program, *words]
