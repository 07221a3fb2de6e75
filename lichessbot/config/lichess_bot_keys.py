"""Keys of lichess-bot that do not exist here: what to do instead, and the engine that they name."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import yaml

NOT_OURS: Final = {
    "move_overhead": "the bot measures the round trips to Lichess; until then engine.move_overhead_ms counts",
    "quit_after_all_games_finish": "the first SIGINT or SIGTERM always finishes the games; remove the key",
    "log": "logs go to standard error; redirect them or use the journal of systemd",
    "matchmaking.challenge_decliner_file_name": "who declined what is remembered in state_dir; remove the key",
    "matchmaking.opponent_allow_tos_violation": "bots that violate the terms are never challenged; remove the key",
    "matchmaking.delay_after_decline": "set matchmaking.challenge_filter",
    "engine.protocol": "every engine speaks UCI here; remove the key",
    "engine.homemade_options": "every engine is a program that speaks UCI here; remove the key",
    "engine.xboard_options": "every engine speaks UCI here; remove the key",
    "engine.uci_ponder": "set engine.ponder, its newer name",
    "correspondence.uci_ponder": "set correspondence.ponder, its newer name",
    "engine.debug": "run with --verbose, which logs each move with its depth and score; UCI itself is not logged",
    "engine.lichess_bot_tbs.gaviota": "Gaviota's tables are not read; set engine.lichess_bot_tbs.syzygy",
    "engine.online_moves.chessdb_book.contribute": "chessdb learns from every question by itself; remove the key",
}

# The books in `engine.polyglot.book`, by python-chess's names of the variants and by Lichess's.
BOOKS: Final = {
    "giveaway": "antichess", "kingofthehill": "kingOfTheHill", "racingkings": "racingKings", "3check": "threeCheck",
}  # fmt: skip
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
    "matchmaking.challenge_filter": "none",
    "matchmaking.opponent_rating_difference": None,
}
# What the bot does without those of them that decide whom it plays.
_DEFAULTS_HERE: Final = {
    "challenge.max_increment": "20 s",
    "challenge.max_base": "1800 s",
    "challenge.max_days": "14 days",
    "challenge.accept_bot": "true",
    "matchmaking.opponent_rating_difference": "300",
}
# What is accepted here where these keys are empty; lichess-bot then accepts no challenge.
ACCEPTED_IF_EMPTY: Final = {
    "challenge.variants": "every variant that the engines play",
    "challenge.time_controls": "bullet, blitz, rapid, classical",
    "challenge.modes": "casual, rated",
}
GO_COMMANDS: Final = {"nodes": "nodes", "depth": "depth", "movetime": "move_time_ms"}


def instead_of(path: Sequence[str | int], section: yaml.MappingNode) -> str | None:
    """Return what to do instead of the key at `path` in `section`, nothing if another key says it.

    None if it is not a key of lichess-bot alone.
    """
    match tuple(path):
        case ("engine", str(key)) if key in PARTS_OF_COMMAND:
            words = ", ".join(json.dumps(word, ensure_ascii=False) for word in _command(_values(section)))
            if engine_command(section) is not None:
                return f"the bot plays this engine as engine.command: [{words}]" if key == "name" else ""
            return "engine.command decides" if "command" in _values(section) else f"write engine.command: [{words}]"
        case ("engine", "uci_options", "go_commands"):
            limits = _values(_values(section)["go_commands"])
            ours = [f"engine.{GO_COMMANDS[name]}: {_text(limits[name])}" for name in limits if name in GO_COMMANDS]
            unknown = [f"no limit named {name} is known here" for name in limits if name not in GO_COMMANDS]
            return "; ".join([*([f"the bot plays with {', '.join(ours)}"] if ours else []), *unknown])
    return NOT_OURS.get(".".join(map(str, path)))


def engine_command(section: yaml.MappingNode) -> list[str] | None:
    """Return the command that lichess-bot's keys describe; None if `command` is set, or no `name`."""
    engine = _values(section)
    return _command(engine) if _text(engine.get("name")) and "command" not in engine else None


def options_without_effect(section: yaml.MappingNode) -> list[str]:
    """Return the UCI options of the engine that lichess-bot does not send."""
    return [name for name in _values(_values(section).get("uci_options")) if name.lower() in SET_BY_THE_BOT]


def clocks_meant_as_none(matchmaking: Mapping[str, object]) -> Sequence[str]:
    """Return the keys of clocks that propose none, as only days are set."""
    clocks = ("challenge_initial_time", "challenge_increment")
    by_days_only = matchmaking.get("challenge_days") and not any(matchmaking.get(key) for key in clocks)
    return clocks if by_days_only else ()


def limits_of_searches(section: yaml.MappingNode) -> dict[str, yaml.Node]:
    """Return lichess-bot's limits of searches that are known here, by their names there."""
    limits = _values(_values(_values(section).get("uci_options")).get("go_commands"))
    return {name: limits[name] for name in GO_COMMANDS if name in limits}


def protocol_problem(section: yaml.MappingNode) -> str | None:
    """Return why the engine cannot be played; None if it speaks UCI."""
    protocol = _text(_values(section).get("protocol"))
    return f"expected uci, found {protocol!r}: every engine speaks UCI here" if protocol not in ("", "uci") else None


def meant_by_absence(values: Mapping[str, object]) -> Iterator[str]:
    """Yield a note for each missing or empty key that decides whom the bot plays and means another thing here."""
    challenge = values.get("challenge")
    for place, accepted in ACCEPTED_IF_EMPTY.items():
        key = place.removeprefix("challenge.")
        if isinstance(challenge, dict) and challenge.get(key, ()) is None:
            yield f"{place} is empty: {accepted} here; lichess-bot accepts no challenge with this"
    for place, ours in _DEFAULTS_HERE.items():
        section, key = place.split(".")
        keys = values.get(section, {})
        if not isinstance(keys, dict) or _is_given(keys, key, MEANT_BY_ABSENCE[place]):
            continue
        if section == "challenge" or keys.get("allow_matchmaking") is True:
            value = "null" if MEANT_BY_ABSENCE[place] is None else str(MEANT_BY_ABSENCE[place]).lower()
            theirs = "no limit" if value == "null" else value
            how = "empty" if key in keys else "missing"
            yield f"{place} is {how}: {ours} here, {theirs} in lichess-bot, for which write `{key}: {value}`"


def _is_given(keys: Mapping[str, object], key: str, meant_by_absence: object) -> bool:
    """Return whether a key has a value; none counts as one where it means what lichess-bot does without the key."""
    return keys.get(key) is not None or (key in keys and meant_by_absence is None)


def command_of(engine: Mapping[str, Any]) -> list[str]:
    """Return the command with which lichess-bot starts the engine of these keys."""
    program = os.path.join(str(engine.get("dir") or "."), str(engine["name"]))
    options, arguments = engine.get("interpreter_options") or [], engine.get("engine_options")
    interpreter = [engine["interpreter"], *(options if isinstance(options, list) else [options])]
    given = arguments.items() if isinstance(arguments, dict) else ()
    words = [f"--{name}" if value is None else f"--{name}={value}" for name, value in given]
    return [*(map(str, interpreter) if engine["interpreter"] else ()), program, *words]


def _command(engine: dict[str, yaml.Node]) -> list[str]:
    """Return the command with which lichess-bot starts its engine."""
    keys = {key: _plain(engine.get(key)) for key in PARTS_OF_COMMAND}
    return command_of(keys | {"name": keys["name"] or "ENGINE"})


def _plain(node: yaml.Node | None) -> Any:
    """Return what a node means in Python, of which lichess-bot makes words; as written if it means nothing."""
    try:
        return None if node is None else yaml.SafeLoader("").construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError):
        return _text(node)


def _values(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the values of a mapping by name; nothing for other nodes."""
    return {str(key.value): value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}


def _text(node: yaml.Node | None) -> str:
    """Return a plain value as written; nothing for other nodes."""
    return node.value if isinstance(node, yaml.ScalarNode) and node.tag != "tag:yaml.org,2002:null" else ""
