"""A JSON schema of the configuration, generated from the models, with the explanations of the example."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lichessbot.config.explanations import explanations
from lichessbot.config.lichess_bot_keys import BOOKS, NOT_OURS, PARTS_OF_COMMAND
from lichessbot.config.root import Config

# Editors know this version best.
_VERSION: Final = "http://json-schema.org/draft-07/schema#"
_REFERENCE: Final = "#/$defs/"
_RESTRICTING: Final = {"$ref", "allOf", "anyOf", "const", "enum", "type"}
_CLOCK: Final = {"type": "string", "pattern": r"^\s*\d{1,3}(\.\d{1,2})?\+\d{1,3}\s*$", "examples": ["5+3", "0.5+1"]}
# Sections whose keys override others, or stand in a list.
_OVERRIDING: Final = ("Overrides", "EngineKeys", "Conditions", "Profile", "TournamentConfig")
# Sections whose keys are explained elsewhere.
_EXPLAINED_BY: Final = {
    "challenge.human": "challenge",
    "challenge.bot": "challenge",
    "matchmaking.overrides": "matchmaking",
    "profiles.engine": "engine",
}
_OTHERS: Final = {
    "profiles.when": "The games that the profile is for; conditions that are left out hold for every game.",
    "profiles.engine": "The keys of engine that differ in these games.",
    "profiles.when.clock": "Exact clocks in minutes+seconds, such as 3+2; one or a list.",
    "profiles.when.speed": "Speeds; one or a list.",
    "profiles.when.variant": "Variants; one or a list.",
    "profiles.when.opponent": "The kind of opponent.",
    "profiles.when.opponent_name": "User names of opponents; one or a list. Case does not matter.",
    "profiles.when.rating": "The lowest and the highest rating of the opponent.",
    "profiles.when.rated": "Whether the game is rated.",
    "profiles.when.tournament": "Whether the game belongs to a tournament.",
    "profiles.when.colour": "Our colour.",
    "tournaments.id": "The id of the arena, the end of its address.",
    "tournaments.team": "The team to play for, in a team battle.",
    "tournaments.password": "The password of a private arena.",
}


def schema() -> dict[str, Any]:
    """Return the schema of a file. It also takes the keys of lichess-bot that only give a note."""
    whole = Config.model_json_schema()
    whole["$defs"]["ExactClock"] = dict(_CLOCK)
    whole |= {"$schema": _VERSION, "title": "lichessbot", "description": "The configuration of lichessbot."}
    for overrides in ("Overrides", "MatchOverride"):
        for key in whole["$defs"][overrides]["properties"].values():
            del key["default"]  # without an override, the key of the section applies
    _explain(whole, whole, "", set())
    _allow_keys_of_lichess_bot(whole)
    # A section or key without a value has its default.
    for name, section in (("", whole), *whole["$defs"].items()):
        if "properties" in section and name not in _OVERRIDING:
            section["properties"] = {key: _or_null(value) for key, value in section["properties"].items()}
    adapted: dict[str, Any] = _adapted(whole)
    return adapted


def _explain(whole: Mapping[str, Any], section: dict[str, Any], path: str, seen: set[str]) -> None:
    """Put the explanation of each key below `path` beside it, also in the definitions that it refers to."""
    for name, value in section.get("properties", {}).items():
        key = f"{path}.{name}".lstrip(".")
        text = " ".join(explanations().get(key, ())) or _OTHERS.get(key, "")
        value.pop("title", None)
        if text:
            value["description"] = text
        for reference in _references(value):
            definition = whole["$defs"][reference]
            if reference not in seen and "properties" in definition:
                seen.add(reference)
                definition.pop("title", None)
                definition.pop("description", None)  # written for developers
                _explain(whole, definition, _EXPLAINED_BY.get(key, key), seen)


def _references(node: Any) -> Iterator[str]:
    """Yield the names of the definitions that a node refers to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].removeprefix(_REFERENCE)
        for inner in node.values():
            yield from _references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _references(inner)


def _allow_keys_of_lichess_bot(whole: dict[str, Any]) -> None:
    for key, instead in (NOT_OURS | {f"engine.{name}": "set engine.command" for name in PARTS_OF_COMMAND}).items():
        *sections, name = key.split(".")
        section = whole
        for inner in sections:
            (reference,) = _references(section["properties"][inner])
            section = whole["$defs"][reference]
        text = f"A key of lichess-bot: {instead}."
        section["properties"].setdefault(name, {"description": text, "deprecationMessage": text})
    books = whole["$defs"]["BookFiles"]["properties"]
    books |= {theirs: books[ours] | {"description": f"lichess-bot's name of {ours}."} for theirs, ours in BOOKS.items()}


def _or_null(value: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {name: value[name] for name in ("description", "default") if name in value}
    if {"type": "null"} in value.get("anyOf", ()) or not value.keys() & _RESTRICTING:
        return value
    return {**kept, "anyOf": [{name: it for name, it in value.items() if name not in kept}, {"type": "null"}]}


def _adapted(node: Any) -> Any:
    """Return a node in the words of draft 7: no prefixItems, and nothing beside a reference."""
    if isinstance(node, list):
        return [_adapted(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    adapted = {name: _adapted(inner) for name, inner in node.items()}
    if "prefixItems" in adapted:
        adapted["items"] = adapted.pop("prefixItems")
    if "$ref" in adapted and len(adapted) > 1:
        adapted["allOf"] = [{"$ref": adapted.pop("$ref")}]
    return adapted
