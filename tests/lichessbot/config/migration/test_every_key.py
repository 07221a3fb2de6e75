"""No key of an old file is dropped in silence, and no value crashes the translation."""

import sys
from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lichessbot.config import Config, dotted_values
from lichessbot.config.base import in_yaml
from lichessbot.config.loader import is_botlis, problems_of
from lichessbot.config.migration import translate, write
from lichessbot.config.yaml_file import YamlFile
from tests.lichessbot.config.migration.conftest import read
from tests.lichessbot.config.migration.old_files import BOTLI, LICHESS_BOT, UNTIL_AUGUST_2023, UNTIL_MAY_2026

OLD = {
    "lichess-bot": LICHESS_BOT,
    "BotLi": BOTLI,
    "BotLi until 2026": UNTIL_MAY_2026,
    "BotLi until 2023": UNTIL_AUGUST_2023,
    "BotLi between two layouts": f"{UNTIL_AUGUST_2023.replace('[standard, atomic]', '[]')}offer_draw: {{score: 7}}\n",
}
Place = tuple[str | int, ...]


@cache
def old(program: str) -> dict[str, Any]:
    """Return the values of the old file, which nobody may change."""
    values: dict[str, Any] = yaml.safe_load(OLD[program])
    return values


def leaves(values: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(values, dict):
        for key, value in values.items():
            yield from leaves(value, (*path, key))
    elif isinstance(values, list):
        for number, value in enumerate(values):
            yield from leaves(value, (*path, number))
    else:
        yield path, values


def changed(values: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    copy = deepcopy(values)
    place: Any = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


def result(values: dict[str, Any]) -> tuple[Any, ...]:
    """Return our values, and what is left out."""
    found = translate(YamlFile("old.yml", values), Path())
    assert problems_of(found.values, Path()) == []
    return found.values, sorted((it.key, it.reason) for it in found.left_out)


def another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return 7 if value == 8 else 8
    return "Other" if value else "something"


@pytest.mark.parametrize("program", OLD)
def test_another_value_of_any_key_shows_in_the_result(program: str) -> None:
    values = old(program)
    before = result(values)
    silent = [path for path, value in leaves(values) if result(changed(values, path, another(value))) == before]
    left_out = [key.split(".") for key, _ in before[1]]
    silent = [path for path in silent if not any(list(path[: len(key)]) == key for key in left_out)]
    assert silent == [("token",)] * ("token" in values)


@pytest.mark.parametrize("program", OLD)
def test_an_unknown_key_anywhere_is_left_out_by_name(program: str) -> None:
    values = old(program)
    sections = {path[:end] for path, _ in leaves(values) for end in range(len(path)) if path[end] == str(path[end])}
    operators = ("uci_options", "overrides", "books")  # names that the operator chooses
    left_out = [tuple(key.split(".")) for key, _ in result(values)[1]]
    for section in sections:
        if not section or not (section[-1] in operators or any(section[: len(key)] == key for key in left_out)):
            _, unknown = result(changed(values, (*section, "no_such_key"), 1))
            assert any("no_such_key" in key for key, _ in unknown), section


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)  # fmt: skip


@pytest.mark.parametrize("program", OLD)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_whatever_a_value_is_the_result_loads(program: str, data: st.DataObject) -> None:
    values = old(program)
    places = [path for path, _ in leaves(values)] + [(key,) for key in values]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places))
        try:
            values = changed(values, path, data.draw(SCALARS))
        except (TypeError, LookupError):
            continue  # inside a section that was replaced
    if program == "lichess-bot" or is_botlis(values):
        found = translate(YamlFile("old.yml", values), Path())
        assert problems_of(found.values, Path()) == []
        assert read(write(found, "old.yml")) == found.values


@pytest.mark.parametrize(
    ("key", "asked", "now"),
    [
        ("correspondence.move_time", "0.5", 1),
        ("correspondence.checkin_period", ".inf", 86400),
        ("challenge.recent_bot_challenge_age", ".inf", 86400),
        ("challenge.max_days", "2.6", 3),
        ("challenge.concurrency", "4.6", 5),
        ("challenge.concurrency", "-.inf", 1),
        ("matchmaking.challenge_timeout", ".inf", 10080),
        ("engine.polyglot.min_weight", "1.0e+300", 65535),
        ("engine.online_moves.lichess_opening_explorer.min_games", ".inf", sys.maxsize),
    ],
)
def test_a_fraction_or_infinity_becomes_the_nearest_number(key: str, asked: str, now: int) -> None:
    values = changed(old("lichess-bot"), tuple(key.split(".")), yaml.safe_load(asked))
    found = translate(YamlFile("old.yml", values), Path())
    written = read(write(found, "old.yml"))
    assert reduce(lambda section, name: section[name], key.split("."), written) == now
    assert [(it.key, it.now) for it in found.changed] == [(key, now)]
    assert key not in {it.key for it in found.left_out}


@pytest.mark.parametrize(
    ("program", "key", "asked", "now"),
    [
        ("lichess-bot", "engine.polyglot.max_depth", ".inf", 500),
        ("lichess-bot", "engine.online_moves.max_depth", ".inf", None),
        ("lichess-bot", "engine.hash_mb", "16.0", 16),
        ("lichess-bot", "challenge.max_simultaneous_games_per_user", ".inf", 64),
        ("lichess-bot", "matchmaking.opponent_rating_difference", ".inf", None),
        ("lichess-bot", "matchmaking.challenge_initial_time", "[180.0]", (180,)),
        ("lichess-bot", "matchmaking.challenge_initial_time", "180.0", (180,)),
        ("BotLi", "online_moves.chessdb.max_depth", ".inf", None),
        ("BotLi", "online_moves.chessdb.max_depth", "7.0", 4),
    ],
)
def test_whole_numbers_and_no_limit_may_be_written_otherwise(program: str, key: str, asked: str, now: object) -> None:
    theirs = key.replace("engine.hash_mb", "engine.uci_options.Hash")
    ours = key.replace("online_moves.chessdb.", "engine.online_moves.chessdb_book.")
    values = changed(old(program), tuple(theirs.split(".")), yaml.safe_load(asked))
    found = translate(YamlFile("old.yml", values), Path())
    assert dotted_values(Config.model_validate(found.values))[ours] == now
    assert found.changed == []


def test_a_number_that_is_no_switch_is_left_out_as_it_is_in_the_file() -> None:
    values = changed(old("lichess-bot"), ("engine", "silence_stderr"), 2.5)
    found = translate(YamlFile("old.yml", values), Path())
    reasons = {it.key: it.reason for it in found.left_out}
    assert reasons["engine.silence_stderr"].startswith("expected true or false, found 2.5;")


@pytest.mark.parametrize("odd", ["\n", "\r", "\x85", "\xa0", "\u2028", "\u2029", "\u3000", "\ufeff"], ids=ascii)
def test_a_text_of_the_operator_is_written_so_that_it_is_read_unchanged(odd: str) -> None:
    values: dict[str, Any] = {"engine": {"uci_options": {}, "polyglot": {"book": {}}}, "greeting": {}}
    for text in (odd, f"a{odd}b", f"{odd * 2}a {odd} b", f"a{odd}", f"Grüße 🙂, {'so long ' * 15}{odd}b"):
        values["greeting"]["hello"] = text
        values["engine"]["uci_options"][text] = text
        values["engine"]["polyglot"]["book"]["standard"] = [f"./{text}", "other.bin"]
        found = translate(YamlFile("old.yml", values), Path())
        assert found.values["greeting"]["hello"] == text
        assert yaml.safe_load(write(found, "old.yml")) == found.values
        for value in (text, [text], {text: [text]}):
            line = in_yaml(value)
            assert len(line.splitlines()) == 1
            assert yaml.safe_load(line) == value
