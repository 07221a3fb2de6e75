"""Keys of lichess-bot that have no counterpart here (yet), and what to do instead.

Where several of its keys make up one of ours, the answer says what exactly to write.
"""

import json
from collections.abc import Sequence
from typing import Final

import yaml

NOT_OURS: Final = {
    "move_overhead": "set engine.move_overhead_ms",
    "quit_after_all_games_finish": "the first SIGINT or SIGTERM always finishes the games; remove the key",
    "log": "logs go to standard error; redirect them or use the journal of systemd",
    "matchmaking.challenge_decliner_file_name": "who declined what is remembered in state_dir; remove the key",
    "matchmaking.delay_after_decline": "set matchmaking.challenge_filter",
    "engine.protocol": "every engine speaks UCI here; remove the key",
    "engine.homemade_options": "every engine is a program that speaks UCI here; remove the key",
    "engine.xboard_options": "every engine speaks UCI here; remove the key",
    "engine.debug": "run with --verbose, which logs each move with its depth and score; UCI itself is not logged",
    "engine.lichess_bot_tbs.gaviota": "Gaviota's tables are not read; set engine.lichess_bot_tbs.syzygy",
    "engine.online_moves.chessdb_book.contribute": "chessdb learns from every question by itself; remove the key",
    "engine.polyglot.book.antichess": "the engine does not know the rules of antichess; remove the key",
    "engine.polyglot.book.giveaway": "the engine does not know the rules of antichess; remove the key",
    "engine.polyglot.book.atomic": "the engine does not know the rules of atomic; remove the key",
    "engine.polyglot.book.crazyhouse": "the engine does not know the rules of crazyhouse; remove the key",
    "engine.polyglot.book.horde": "the engine does not know the rules of horde; remove the key",
    "engine.polyglot.book.kingofthehill": "the engine does not know the rules of king of the hill; remove the key",
    "engine.polyglot.book.kingOfTheHill": "the engine does not know the rules of king of the hill; remove the key",
    "engine.polyglot.book.racingkings": "the engine does not know the rules of racing kings; remove the key",
    "engine.polyglot.book.racingKings": "the engine does not know the rules of racing kings; remove the key",
    "engine.polyglot.book.3check": "the engine does not know the rules of three-check; remove the key",
    "engine.polyglot.book.threeCheck": "the engine does not know the rules of three-check; remove the key",
}

_PARTS_OF_COMMAND: Final = ("dir", "name", "interpreter", "interpreter_options", "engine_options")
_GO_COMMANDS: Final = {"nodes": "nodes", "depth": "depth", "movetime": "move_time_ms"}


def instead_of(path: Sequence[str | int], section: yaml.MappingNode) -> str | None:
    """What to do instead of the key at `path`, which stands in `section`; None if the key is ours."""
    match tuple(path):
        case ("engine", str(key)) if key in _PARTS_OF_COMMAND:
            words = ", ".join(json.dumps(word, ensure_ascii=False) for word in _command(_values(section)))
            return f"write engine.command: [{words}]"
        case ("engine", "uci_options", "go_commands"):
            limits = _values(_values(section)["go_commands"])
            ours = (f"engine.{_GO_COMMANDS.get(name, name)}: {_text(value)}" for name, value in limits.items())
            return f"write {', '.join(ours)}"
    return NOT_OURS.get(".".join(map(str, path)))


def _command(engine: dict[str, yaml.Node]) -> list[str]:
    """The words with which lichess-bot starts its engine."""
    program = f"{_text(engine.get('dir')).rstrip('/') or '.'}/{_text(engine.get('name')) or 'ENGINE'}"
    interpreter = _text(engine.get("interpreter"))
    options = engine.get("interpreter_options")
    for_interpreter = [_text(word) for word in options.value] if isinstance(options, yaml.SequenceNode) else []
    arguments = _values(engine.get("engine_options"))
    for_engine = [f"--{name}={_text(value)}" for name, value in arguments.items()]
    return [*([interpreter, *for_interpreter] if interpreter else []), program, *for_engine]


def _values(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """The values of a mapping by name; none of anything else."""
    return {str(key.value): value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}


def _text(node: yaml.Node | None) -> str:
    """A plain value as it is written; nothing of anything else."""
    return node.value if isinstance(node, yaml.ScalarNode) and node.tag != "tag:yaml.org,2002:null" else ""
