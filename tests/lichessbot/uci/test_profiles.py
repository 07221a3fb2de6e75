"""Which engine a game gets: the section and the matching profiles."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lichessbot.config import Config, EngineConfig
from lichessbot.lichess.enums import Colour, ExactClock, OpponentKind, Variant
from lichessbot.lichess.models import GameFull, GameInfo
from lichessbot.uci.configured_engines import engines_of
from lichessbot.uci.profiles import GameFacts, describe_engine, fitted_engine_config, matching
from tests.lichessbot.machines import UNKNOWN_MACHINE

BLITZ_BY_A_HUMAN = GameFacts(
    speed="blitz",
    variant="standard",
    opponent=OpponentKind.HUMAN,
    rating=1500,
    rated=True,
    tournament=False,
    colour=Colour.WHITE,
    clock=ExactClock(180, 2),
    opponent_name="aaron",
)


def config(*profiles: tuple[dict[str, Any], dict[str, Any]], **engine: Any) -> Config:
    listed = [{"when": when, "engine": changes} for when, changes in profiles]
    return Config.model_validate({"engine": engine, "profiles": listed})


@pytest.mark.parametrize(
    ("when", "matches"),
    [
        ({"speed": "blitz"}, True),
        ({"speed": ["bullet", "blitz"]}, True),
        ({"speed": "bullet"}, False),
        ({"clock": "3+2"}, True),
        ({"clock": ["5+0", "3+2"]}, True),
        ({"clock": "3+0"}, False),
        ({"speed": "bullet", "clock": "3+2"}, False),
        ({"variant": "standard"}, True),
        ({"variant": ["chess960", "fromPosition"]}, False),
        ({"opponent": "human"}, True),
        ({"opponent": "bot"}, False),
        ({"opponent_name": "Aaron"}, True),
        ({"opponent_name": ["maia1", "aaron"]}, True),
        ({"opponent_name": ["maia1", "aaron2"]}, False),
        ({"opponent_name": "aaron", "opponent": "bot"}, False),
        ({"rating": [1500, 1500]}, True),
        ({"rating": [1000, 2000]}, True),
        ({"rating": [0, 1499]}, False),
        ({"rating": [1501, 4000]}, False),
        ({"rated": True}, True),
        ({"rated": False}, False),
        ({"tournament": False}, True),
        ({"tournament": True}, False),
        ({"colour": "white"}, True),
        ({"colour": "black"}, False),
        ({"speed": "blitz", "opponent": "bot"}, False),
    ],
)
def test_a_profile_matches_when_all_its_conditions_hold(when: dict[str, Any], matches: bool) -> None:
    assert bool(matching(BLITZ_BY_A_HUMAN, config((when, {"depth": 3})))) is matches


def test_an_unknown_rating_is_in_no_range() -> None:
    facts = replace(BLITZ_BY_A_HUMAN, rating=None)
    assert not matching(facts, config(({"rating": [0, 4000]}, {"depth": 3})))


def test_all_that_match_count_and_the_last_one_wins_key_by_key() -> None:
    settings = config(
        ({"speed": "blitz"}, {"depth": 8, "ponder": False}),
        ({"speed": "bullet"}, {"nodes": 5}),
        ({"opponent": "human"}, {"depth": None, "hash_mb": 16}),
        depth=20,
        threads=2,
    )
    engine = fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
    assert (engine.depth, engine.ponder, engine.hash_mb, engine.threads, engine.nodes) == (None, False, 16, 2, None)
    assert [number for number, _ in matching(BLITZ_BY_A_HUMAN, settings)] == [1, 3]


def test_another_engine_takes_over_no_uci_options() -> None:
    settings = config(
        ({"speed": "blitz"}, {"command": ["other"], "uci_options": {"Skill Level": 3}}),
        ({"opponent": "human"}, {"uci_options": {"Contempt": 0}}),
        ({"opponent": "bot"}, {"command": None}),
        uci_options={"UCI_ShowWDL": True},
        hash_mb=16,
    )
    engine = fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
    assert (engine.command, engine.uci_options, engine.hash_mb) == (
        ("other",), {"Skill Level": 3, "Contempt": 0}, 16,
    )  # fmt: skip
    by_bot = replace(BLITZ_BY_A_HUMAN, opponent=OpponentKind.BOT, speed="rapid")
    assert fitted_engine_config(by_bot, settings, UNKNOWN_MACHINE).uci_options == {}


def test_uci_options_are_merged_name_by_name() -> None:
    settings = config(
        ({"speed": "blitz"}, {"uci_options": {"Skill Level": 3}}),
        uci_options={"Skill Level": 20, "UCI_ShowWDL": True},
    )
    engine = fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
    assert engine.uci_options == {"Skill Level": 3, "UCI_ShowWDL": True}


def test_inside_a_section_only_the_keys_that_a_profile_names_change() -> None:
    settings = config(
        ({"rated": True}, {"own_book": False, "polyglot": {"enabled": True}, "draw_or_resign": {"resign_score": -7}}),
        ({"opponent": "human"}, {"draw_or_resign": {"resign_moves": 9}, "polyglot": {"book": {"chess960": "b.bin"}}}),
        polyglot={"max_depth": 4, "book": {"standard": "a.bin"}},
        draw_or_resign={"resign_enabled": True},
    )
    engine = fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
    assert (engine.polyglot.enabled, engine.polyglot.max_depth) == (True, 4)
    assert engine.polyglot.files == (Path("a.bin"), Path("b.bin"))
    rules = engine.draw_or_resign
    assert (rules.resign_enabled, rules.resign_score, rules.resign_moves) == (True, -7, 9)
    assert engine.sources == ("polyglot",)
    assert [it.polyglot.enabled for it in engines_of(settings)] == [False, True, False]


def test_every_variant_is_played_at_a_level() -> None:
    casual = replace(BLITZ_BY_A_HUMAN, rated=False, chosen_level=1200)
    ours, theirs = config(strength=1700), config(strength=1700, command=["fairy-stockfish"])
    for variant in Variant:
        game = replace(casual, variant=variant)
        assert fitted_engine_config(game, ours, UNKNOWN_MACHINE).level == 1200
        assert fitted_engine_config(game, theirs, UNKNOWN_MACHINE).level == 1200


def test_without_a_match_the_section_counts() -> None:
    settings = config(({"speed": "bullet"}, {"depth": 8}), depth=20)
    assert fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE) == settings.engine


@pytest.mark.parametrize(
    ("opponent", "kind"),
    [
        ({"id": "aaron", "username": "Aaron", "rating": 776}, OpponentKind.HUMAN),
        ({"id": "maia1", "username": "BOT maia1", "rating": 1500}, OpponentKind.BOT),
        ({"id": "botvinnik", "username": "Botvinnik"}, OpponentKind.HUMAN),
        ({"id": None, "username": "Stockfish level 3", "ai": 3}, OpponentKind.BOT),
    ],
)
def test_the_announcement_names_the_opponent(opponent: dict[str, Any], kind: OpponentKind) -> None:
    info = {"gameId": "abcd1234", "variant": {"key": "standard"}, "speed": "rapid", "rated": True, "color": "black"}
    facts = GameFacts.from_info(GameInfo.model_validate({**info, "opponent": opponent, "tournamentId": "t1"}))
    assert facts.opponent is kind
    assert facts.opponent_name == (opponent["id"] or "")
    assert (facts.rating, facts.speed, facts.rated, facts.colour) == (opponent.get("rating"), "rapid", True, "black")
    assert facts.tournament


@pytest.mark.parametrize(
    ("opponent", "kind"),
    [
        ({"id": "aaron", "name": "Aaron", "rating": 776}, OpponentKind.HUMAN),
        ({"id": "maia1", "name": "maia1", "title": "BOT", "rating": 1500}, OpponentKind.BOT),
        ({"aiLevel": 3}, OpponentKind.BOT),
        ({}, OpponentKind.HUMAN),
    ],
)
def test_the_full_game_names_the_opponent_for_certain(opponent: dict[str, Any], kind: OpponentKind) -> None:
    full = GameFull.model_validate({
        "id": "abcd1234",
        "variant": {"key": "chess960"},
        "speed": "bullet",
        "clock": {"initial": 90000, "increment": 1000},
        "white": opponent,
        "black": {"id": "us", "title": "BOT"},
        "state": {"moves": "", "wtime": 1, "btime": 1, "status": "started"},
    })
    facts = GameFacts.from_full(full, Colour.BLACK)
    expected = GameFacts("bullet", "chess960", kind, opponent.get("rating"), False, False, Colour.BLACK)
    expected = replace(expected, clock=ExactClock(90, 1), opponent_name=opponent.get("id", ""))
    assert facts == expected


def test_a_profile_keeps_the_folder_of_the_section(tmp_path: Path) -> None:
    settings = config(({"speed": "blitz"}, {"depth": 1}), working_dir=str(tmp_path))
    assert isinstance(fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE), EngineConfig)
    assert fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE).working_dir == tmp_path


def test_the_engine_of_a_game_is_described_in_words() -> None:
    rules = {"offer_draw_enabled": True, "resign_enabled": True, "resign_score": -700}
    other = {"command": ["lc0", "--fast"], "nodes": 9, "hash_mb": 2, "draw_or_resign": rules, "uci_options": {"A": 1}}
    told = describe_engine(BLITZ_BY_A_HUMAN, config(({"speed": "blitz"}, other)), UNKNOWN_MACHINE)
    assert told == (
        "profile 1: plays with lc0 --fast; limits each search by 9 nodes; 2 MiB of hash; 1 thread; ponders; "
        "A: 1; may agree to a draw; may resign at a score of -700"
    )


@pytest.mark.parametrize(
    ("variant", "source", "is_asked"),
    [
        ("standard", "masters", True), ("fromPosition", "masters", True), ("chess960", "masters", False),
        ("atomic", "masters", False), ("atomic", "lichess", True), ("chess960", "player", True),
    ],
)  # fmt: skip
def test_the_explorer_is_named_where_it_has_games(variant: str, source: str, is_asked: bool) -> None:
    explorer = {"enabled": True, "source": source}
    settings = Config.model_validate({"engine": {"online_moves": {"lichess_opening_explorer": explorer}}})
    told = describe_engine(replace(BLITZ_BY_A_HUMAN, variant=variant), settings, UNKNOWN_MACHINE)
    assert ("lichess_opening_explorer" in told) is is_asked


def test_correspondence_has_a_move_time_and_ponder_of_its_own_which_profiles_change() -> None:
    facts = replace(BLITZ_BY_A_HUMAN, speed="correspondence")
    settings = Config.model_validate({
        "engine": {"move_time_ms": 100, "ponder": True},
        "correspondence": {"move_time": 7},
        "profiles": [{"when": {"speed": "correspondence", "opponent": "bot"}, "engine": {"move_time_ms": 50}}],
    })
    engine = fitted_engine_config(facts, settings, UNKNOWN_MACHINE)
    assert (engine.move_time_ms, engine.ponder) == (7000, False)
    engine = fitted_engine_config(replace(facts, opponent=OpponentKind.BOT), settings, UNKNOWN_MACHINE)
    assert engine.move_time_ms == 50
    assert fitted_engine_config(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE).move_time_ms == 100
