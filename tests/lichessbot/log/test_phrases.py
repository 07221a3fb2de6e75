"""Every event of the product has a phrase, every phrase an event, and their fields are the same."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lichessbot
from lichessbot.log.event_log import Event
from lichessbot.log.phrases import KINDS, PHRASES, phrase

LEVELS = {"debug", "info", "warning", "error", "crash"}
FIELD = re.compile(r"{(\w+)(?::([a-z]+))?(?::[<>]\d+)?}")
PART = re.compile(r"\[([^]]*)\]")


def is_level_of_a_log(node: ast.AST) -> bool:
    """Return whether the node is a method such as `self._log.info` or `EventLog(...).info`."""
    if not (isinstance(node, ast.Attribute) and node.attr in LEVELS):
        return False
    return ast.unparse(node.value).removeprefix("self.") in ("log", "_log") or (
        isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "EventLog"
    )


def keys_of(splat: ast.expr, tree: ast.Module) -> set[str]:
    """Return the keys that `**splat` adds: those of the dicts that its name or function stands for.

    The module defines it, or one from which it imports something.
    """
    name = ast.unparse(splat.func if isinstance(splat, ast.Call) else splat).rpartition(".")[2]
    found = keys_in(tree, name) or {key for other in imported_by(tree) for key in keys_in(other, name)}
    assert found, f"nothing tells what **{ast.unparse(splat)} holds"
    return found


def keys_in(tree: ast.Module, name: str) -> set[str]:
    """Return the keys of the dicts in what a module assigns to this name, or in a function of this name."""
    sources = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.FunctionDef) and node.name == name)
        or (isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets))
    ]
    dicts = [inner for source in sources for inner in ast.walk(source) if isinstance(inner, ast.Dict)]
    keys = [key for found in dicts for key in found.keys]
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def imported_by(tree: ast.Module) -> Iterator[ast.Module]:
    """Yield the modules of the product from which a module imports something."""
    root = Path(lichessbot.__file__).parents[1]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lichessbot."):
            path = root / f"{(node.module or '').replace('.', '/')}.py"
            if path.exists():
                yield ast.parse(path.read_text())


def events_of(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the name and fields of each event that a file logs."""
    tree = ast.parse(path.read_text())
    aliases = {
        ast.unparse(node.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(map(is_level_of_a_log, ast.walk(node.value)))
        if not isinstance(node.value, ast.Call)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if not (is_level_of_a_log(node.func) or (isinstance(node.func, ast.Name) and node.func.id in aliases)):
            continue
        event = node.args[0]
        assert isinstance(event, ast.Constant), f"{path}:{node.lineno}: the name of an event is written out"
        fields = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
        for keyword in node.keywords:
            if keyword.arg is None:
                fields |= keys_of(keyword.value, tree)
        is_crash = isinstance(node.func, ast.Attribute) and node.func.attr == "crash"
        yield str(event.value), (fields | {"times"} if is_crash else fields) - {"game"}


@pytest.fixture(scope="module")
def events() -> dict[str, list[set[str]]]:
    """Return the fields of every call that logs an event, by the event."""
    found = defaultdict(list)
    folder = Path(lichessbot.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        if not path.is_relative_to(folder / "rehearsal") and path != folder / "log" / "event_log.py":
            for event, fields in events_of(path):
                found[event].append(fields)
    return found


def test_every_event_of_the_product_has_a_phrase_and_no_phrase_lacks_its_event(
    events: dict[str, list[set[str]]],
) -> None:
    assert len(events) > 80, "the calls were found"
    assert set(events) == set(PHRASES), sorted(set(events) ^ set(PHRASES))


def test_the_fields_of_each_phrase_exist(events: dict[str, list[set[str]]]) -> None:
    for event, template in PHRASES.items():
        always = {field[1] for field in FIELD.finditer(PART.sub("", template))}
        perhaps = {field[1] for part in PART.finditer(template) for field in FIELD.finditer(part[1])}
        for fields in events[event]:
            assert always <= fields, event
        assert perhaps <= set.union(*events[event]), event


def test_each_phrase_is_plain_text_but_for_fields_of_known_kinds() -> None:
    for template in PHRASES.values():
        assert {field[2] for field in FIELD.finditer(template)} - {None} <= KINDS.keys(), template
        assert not re.search(r"[][{}]", FIELD.sub("", PART.sub(lambda part: part[1], template))), template
        assert template.isascii(), template
        assert template.isprintable(), template


ANY_VALUE = st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.just("\x1b[2J\u202e\n"))


@given(st.sampled_from(sorted(PHRASES)), st.data())
def test_a_phrase_is_one_harmless_line_whatever_the_values_are(event: str, data: st.DataObject) -> None:
    names = sorted({field[1] for field in FIELD.finditer(PHRASES[event])})
    fields = {name: data.draw(ANY_VALUE) for name in names if data.draw(st.booleans())}
    assert phrase(Event(event, "abcd1234", fields)).isprintable()


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("clock", 9.38, "0:09.3"),
        ("clock", 60.0, "1:00"),
        ("clock", 252.9, "4:12"),
        ("clock", 3723, "1:02:03"),
        ("clock", 2 * 86_400 + 15_120, "2d 04:12"),
        ("clock", -1.0, "0:00.0"),
        ("dots", "white", "."),
        ("dots", "black", "..."),
        ("mode", True, "rated"),
        ("mode", False, "casual"),
        ("moves", 1, "1 move"),
        ("moves", 86, "43 moves"),
        ("ms", 12.34, "12.3 ms"),
        ("nodes", 950, "950 nodes"),
        ("nodes", 2_345_678, "2.35M nodes"),
        ("nth", 1, "first occurrence"),
        ("nth", 64, "occurrence 64"),
        ("days", 1, "in 1 day"),
        ("days", 30, "in 30 days"),
        ("pawns", "cp -34", "-0.34"),
        ("pawns", "mate 3", "#3"),
        ("pawns", "mate -2", "#-2"),
        ("pawns", "", ""),
        ("room", "player", "chat"),
        ("room", "spectator", "spectators' chat"),
        ("seconds", 0.25, "250 ms"),
        ("seconds", 0.0, "0 s"),
        ("seconds", 2.54, "2.5 s"),
        ("seconds", 60.0, "60 s"),
        ("seconds", 600.0, "10 min"),
        ("seconds", 35_940, "599 min"),
        ("seconds", 36_000, "10 h"),
        ("side", "us", "we offer"),
        ("side", "opponent", "the opponent offers"),
        ("signed", 6, "+6"),
        ("signed", -7, "-7"),
        ("speed", 1_204_000, "1.2M n/s"),
        ("speed", 999_600, "1M n/s"),
        ("speed", 999_400, "999k n/s"),
        ("victory", True, "win"),
        ("victory", False, "draw"),
        ("words", "fromPosition", "from position"),
        ("words", "own_book", "own book"),
    ],
)
def test_values_are_written_as_people_read_them(kind: str, value: object, shown: str) -> None:
    try:
        assert KINDS[kind](str(value)) == shown
    except ValueError:
        assert shown == str(value), "phrase() shows it as it is"


def test_a_part_in_brackets_is_left_out_if_a_field_is_missing() -> None:
    assert phrase(Event("stop", None, {})) == "stopped"
    assert phrase(Event("stop", None, {"exit_code": 0})) == "stopped, exit code 0"


def test_an_event_without_a_needed_field_is_shown_by_its_fields() -> None:
    assert phrase(Event("game.over", "abcd1234", {"status": "mate"})) == "game.over game=abcd1234 status=mate"
