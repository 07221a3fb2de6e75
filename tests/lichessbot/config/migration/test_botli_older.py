"""The older layouts of BotLi's file: they mean what they meant, and are named as the file has them."""

from dataclasses import replace
from pathlib import Path

import pytest

from lichessbot.config.yaml_file import dotted, path_of
from lichessbot.lichess.enums import Colour, ExactClock, Mode, OpponentKind, Speed
from lichessbot.uci.profiles import GameFacts, engine_config_for
from tests.lichessbot.config.migration.conftest import Translator, left_out, those_that_matter
from tests.lichessbot.config.migration.old_files import UNTIL_AUGUST_2023, UNTIL_MAY_2026


def test_rules_in_challenge_itself_are_those_of_humans_and_bots(translated: Translator) -> None:
    found, loaded = translated(UNTIL_MAY_2026)
    human, bot = (loaded.config.challenge.rules_for(is_bot=is_bot) for is_bot in (False, True))
    for rules in (human, bot):
        assert rules.variants == ("standard", "chess960")
        assert (rules.min_increment, rules.max_increment, rules.min_base, rules.max_base) == (1, 180, 0, 300)
    assert human.time_controls == (Speed.BLITZ,)
    assert bot.time_controls == (Speed.BULLET, ExactClock(180, 1))
    assert (human.modes, bot.modes) == ((Mode.CASUAL, Mode.RATED), (Mode.RATED,))
    assert (human.bullet_requires_increment, bot.bullet_requires_increment) == (False, True)
    assert [(it.line, it.key, it.reason) for it in found.left_out] == [
        (13, "challenge.variants #3", "bughouse is not played here"),
    ]
    assert found.origins[("challenge", "max_base")] == ("challenge", "max_initial")
    assert ("challenge", "max_increment") not in found.origins, "the file does not have it"
    assert found.origins[("challenge", "bot", "modes")] == ("challenge", "bot_modes")


@pytest.mark.parametrize(("layout", "largest"), [
    ("{variants: [standard], time_controls: [blitz], bot_modes: [rated], human_modes: [rated], max_increment: 0}", 0),
    ("{human: &rules {variants: [standard], time_controls: [blitz], modes: [rated], max_increment: 0}, bot: *rules}",
     180),
])  # fmt: skip
def test_a_largest_increment_of_0_was_a_limit_until_may_2026(
    translated: Translator, layout: str, largest: int
) -> None:
    _, loaded = translated(f"engines: {{}}\nbooks: {{}}\nchallenge: {layout}\n")
    for is_bot in (False, True):
        assert loaded.config.challenge.rules_for(is_bot=is_bot).max_increment == largest


def test_a_kind_without_modes_is_shut_out(translated: Translator) -> None:
    text = UNTIL_MAY_2026.replace("  bot_modes:\n    - rated\n", "  bot_modes:\n")
    found, loaded = translated(text)
    assert not loaded.config.challenge.accept_bot
    assert left_out(found)["challenge.bot_modes"] == "none is accepted, so BotLi accepts no challenge of a bot"
    assert "challenge.bot_modes" in those_that_matter(found)


def test_what_stood_in_engine_is_translated_under_its_name_there(tmp_path: Path, translated: Translator) -> None:
    found, loaded = translated(UNTIL_AUGUST_2023)
    engine = loaded.config.engine
    assert (engine.command, engine.hash_mb, engine.ponder) == ((str(tmp_path / "engines/fish"),), 64, True)
    agreements = engine.draw_or_resign
    assert (agreements.offer_draw_score, agreements.resign_enabled, agreements.resign_score) == (10, True, -900)
    assert engine.lichess_bot_tbs.syzygy.paths == (tmp_path / "tables",)
    chessdb = engine.online_moves.chessdb_book
    assert (chessdb.enabled, chessdb.min_depth, chessdb.move_quality) == (True, 12, "all")
    assert found.origins[("engine", "draw_or_resign", "resign_score")] == ("engine", "resign", "score")
    assert found.origins[("engine", "ponder")] == ("engine",)
    assert those_that_matter(found) == {"engine.syzygy.instant_play"}
    assert {it.key: it.line for it in found.left_out} == {
        "engine.syzygy.instant_play": 6, "engine.online_moves.chessdb.timeout": 17, "move_overhead_multiplier": 20,
        "matchmaking.timeout": 26,
    }  # fmt: skip


def test_lists_of_books_and_the_engine_for_variants_become_profiles(tmp_path: Path, translated: Translator) -> None:
    _, loaded = translated(UNTIL_AUGUST_2023)
    solid, white = tmp_path / "solid.bin", tmp_path / "white.bin"
    base = loaded.config.engine.polyglot
    assert (base.enabled, base.book.standard, base.selection, base.max_depth) == (True, (solid,), "best_move", 8)
    facts = GameFacts(
        Speed.BLITZ, "standard", OpponentKind.BOT, 1500, False, False, Colour.WHITE, ExactClock(180, 0)
    )
    assert engine_config_for(facts, loaded.config).polyglot.book.standard == (white,)
    atomic = engine_config_for(replace(facts, variant="atomic"), loaded.config)
    assert (atomic.command, atomic.hash_mb) == ((str(tmp_path / "engines/fairy"),), 32)
    assert (atomic.polyglot.book.atomic, atomic.polyglot.selection) == ((solid,), "best_move")


def test_an_engine_for_variants_that_is_not_enabled_is_left_out(translated: Translator) -> None:
    found, loaded = translated(UNTIL_AUGUST_2023.replace("variants: {enabled: true", "variants: {enabled: false"))
    assert left_out(found)["engine.variants"] == "is not enabled"
    assert not any(it.engine.command for it in loaded.config.profiles)


@pytest.mark.parametrize(("given", "expected"), [
    ("variants: [standard, atomic]", {"standard": "standard", "atomic": "atomic"}),
    ("variant: chess960", {"default": "chess960"}),
    ("", {"default": "standard"}),
])  # fmt: skip
def test_a_clock_in_seconds_is_a_kind_of_games_for_each_variant(
    translated: Translator, given: str, expected: dict[str, str]
) -> None:
    _, loaded = translated(UNTIL_AUGUST_2023.replace("variants: [standard, atomic]", given))
    kinds = {name: kind for name, kind in loaded.config.matchmaking.types() if kind.weight}
    assert {name: kind.challenge_variant for name, kind in kinds.items()} == expected
    for kind in kinds.values():
        assert (kind.challenge_initial_time, kind.challenge_increment) == ((90,), (1,))
        assert (kind.challenge_mode, kind.opponent_rating_difference) == ("casual", 250)


@pytest.mark.parametrize("seconds", ["long", "[]", f"1{'0' * 400}", "1.0e+306"])
def test_a_clock_that_is_none_is_left_out(translated: Translator, seconds: str) -> None:
    found, _ = translated(UNTIL_AUGUST_2023.replace("initial_time: 90", f"initial_time: {seconds}"))
    assert {"matchmaking.initial_time", "matchmaking.increment"} <= left_out(found).keys()


def test_a_variant_that_is_not_proposed_is_named_with_its_line(translated: Translator) -> None:
    found, _ = translated(UNTIL_AUGUST_2023.replace("variants: [standard, atomic]", "variants: [standard, bughouse]"))
    assert [(it.line, it.key, it.reason) for it in found.left_out if "proposed" in it.reason] == [
        (27, "matchmaking.variants #2", "bughouse is not proposed here"),
    ]
    found, _ = translated(UNTIL_AUGUST_2023.replace("variants: [standard, atomic]", "variant: bughouse"))
    assert left_out(found)["matchmaking.variant"] == "bughouse is not proposed here"


@pytest.mark.parametrize(("key", "origin"), [
    ("matchmaking.opponent_rating_difference", "matchmaking"),
    ("profiles", "engine"),
    ("engine.polyglot.book.standard", "engine.opening_books.books.standard"),
    ("engine.polyglot.selection", "engine.opening_books.selection"),
    ("engine.polyglot.max_depth", "engine.opening_books.max_depth"),
])  # fmt: skip
def test_the_key_beside_a_value_stands_in_the_file(translated: Translator, key: str, origin: str) -> None:
    found, _ = translated(UNTIL_AUGUST_2023.replace("[standard, atomic]", "[standard]"))
    assert dotted(found.origins[path_of(key)]) == origin


def test_the_games_proposed_and_the_books_are_named_after_their_sections(translated: Translator) -> None:
    found, _ = translated(UNTIL_AUGUST_2023)
    assert found.origins[("matchmaking", "overrides")] == ("matchmaking",)
    assert found.remarks[("profiles",)] == "and engine.opening_books.books"


def test_profiles_of_books_alone_do_not_come_from_engines(translated: Translator) -> None:
    books = "books: {b: ./b.bin}\nopening_books: {enabled: true, books: {blitz: [b]}}\n"
    found, _ = translated(f"{books}move_overhead_multiplier: 1\n")
    assert found.origins[("profiles",)] == ("opening_books", "books")
    assert ("profiles",) not in found.remarks


def test_a_depth_of_the_book_that_the_file_does_not_set_comes_from_no_key(translated: Translator) -> None:
    found, loaded = translated(UNTIL_AUGUST_2023.replace("    max_depth: 16\n", ""))
    assert loaded.config.engine.polyglot.max_depth == 500
    assert ("engine", "polyglot", "max_depth") not in found.origins


def test_a_section_at_the_top_counts_and_the_one_in_engine_is_named(translated: Translator) -> None:
    found, loaded = translated(f"{UNTIL_AUGUST_2023}offer_draw: {{score: 7}}\n")
    agreements = loaded.config.engine.draw_or_resign
    assert (agreements.offer_draw_score, agreements.offer_draw_moves) == (7, 5)
    keys = ("enabled", "score", "consecutive_moves", "min_game_length")
    assert {f"engine.offer_draw.{key}" for key in keys} <= those_that_matter(found)


@pytest.mark.parametrize("given", ["variants: []", "types: {blitz: {tc: 3+2}}"])
def test_keys_of_games_that_apply_to_none_are_named(translated: Translator, given: str) -> None:
    found, _ = translated(UNTIL_AUGUST_2023.replace("variants: [standard, atomic]", given))
    keys = ("initial_time", "increment", "rated", "max_rating_diff")
    assert {f"matchmaking.{key}" for key in keys} <= left_out(found).keys()


@pytest.mark.parametrize(("variants", "expected", "named"), [
    ("[standard]", "standard", "matchmaking.variant"), ("standard", "atomic", "matchmaking.variants"),
])  # fmt: skip
def test_of_variant_and_variants_the_one_that_does_not_count_is_named(
    translated: Translator, variants: str, expected: str, named: str
) -> None:
    given = f"variants: {variants}\n  variant: atomic"
    found, loaded = translated(UNTIL_AUGUST_2023.replace("variants: [standard, atomic]", given))
    assert loaded.config.matchmaking.challenge_variant == expected
    assert named in those_that_matter(found)


@pytest.mark.parametrize(("given", "expected", "is_named"), [
    ("", (Speed.BLITZ, Speed.BLITZ), False),
    (", bot_time_controls: [bullet]", (Speed.BLITZ, Speed.BULLET), False),
    (", bot_time_controls: [bullet], human_time_controls: [rapid]", (Speed.RAPID, Speed.BULLET), True),
])  # fmt: skip
def test_time_controls_of_humans_or_bots_count_before_those_for_everybody(
    translated: Translator, given: str, expected: tuple[Speed, Speed], is_named: bool
) -> None:
    text = UNTIL_AUGUST_2023.replace("time_controls: [bullet]", f"time_controls: [blitz]{given}")
    found, loaded = translated(text)
    human, bot = (loaded.config.challenge.rules_for(is_bot=is_bot).time_controls for is_bot in (False, True))
    assert (human, bot) == ((expected[0],), (expected[1],))
    assert ("challenge.time_controls" in left_out(found)) is is_named


@pytest.mark.parametrize(("candidates", "matters"), [(1, False), (3, True)])
def test_the_candidates_of_chessdb_are_a_key_of_2025(translated: Translator, candidates: int, matters: bool) -> None:
    text = f"books: {{}}\nengines: {{}}\nonline_moves: {{chessdb: {{enabled: true, min_candidates: {candidates}}}}}\n"
    found, _ = translated(text)
    (it,) = found.left_out
    assert (it.key, it.matters) == ("online_moves.chessdb.min_candidates", matters)
    assert it.reason == "one move that chessdb knows is enough here"


@pytest.mark.parametrize("use_syzygy", ["true", "false"])
def test_an_engine_that_was_told_of_the_tablebases_by_a_key_of_its_own(translated: Translator, use_syzygy: str) -> None:
    text = f"""\
books: {{}}
engines: {{standard: {{dir: ., name: fish, use_syzygy: {use_syzygy}}}}}
syzygy: {{enabled: true, paths: [a], max_pieces: 6, instant_play: false}}
"""
    found, loaded = translated(text)
    assert loaded.config.engine.uci_options == ({"SyzygyPath": "a"} if use_syzygy == "true" else {})
    assert not found.left_out
