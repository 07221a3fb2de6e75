"""Which engine a game gets: the section, the matching profiles, and the limits of the machine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lichessbot.config import Config, EngineConfig
from lichessbot.lichess.enums import Colour, ExactClock, OpponentKind, Variant
from lichessbot.lichess.models import GameFull, GameInfo
from lichessbot.uci.profiles import (
    GameFacts,
    Machine,
    configured_engines,
    engine_for,
    engines_of,
    matching,
    memory_warnings,
)
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
        ({"rating": [1500, 1500]}, True),
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
    engine = engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
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
    engine = engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
    assert (engine.command, engine.uci_options, engine.hash_mb) == (
        ("other",), {"Skill Level": 3, "Contempt": 0}, 16,
    )  # fmt: skip
    by_bot = replace(BLITZ_BY_A_HUMAN, opponent=OpponentKind.BOT, speed="rapid")
    assert engine_for(by_bot, settings, UNKNOWN_MACHINE).uci_options == {}


def test_uci_options_are_merged_name_by_name() -> None:
    settings = config(
        ({"speed": "blitz"}, {"uci_options": {"Skill Level": 3}}),
        uci_options={"Skill Level": 20, "UCI_ShowWDL": True},
    )
    engine = engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
    assert engine.uci_options == {"Skill Level": 3, "UCI_ShowWDL": True}


def test_inside_a_section_only_the_keys_that_a_profile_names_change() -> None:
    settings = config(
        ({"rated": True}, {"own_book": False, "polyglot": {"enabled": True}, "draw_or_resign": {"resign_score": -7}}),
        ({"opponent": "human"}, {"draw_or_resign": {"resign_moves": 9}, "polyglot": {"book": {"chess960": "b.bin"}}}),
        polyglot={"max_depth": 4, "book": {"standard": "a.bin"}},
        draw_or_resign={"resign_enabled": True},
    )
    engine = engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE)
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
        assert engine_for(game, ours, UNKNOWN_MACHINE).level == 1200
        assert engine_for(game, theirs, UNKNOWN_MACHINE).level == 1200


def test_without_a_match_the_section_counts() -> None:
    settings = config(({"speed": "bullet"}, {"depth": 8}), depth=20)
    assert engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE) == settings.engine


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
    expected = replace(expected, clock=ExactClock(90, 1))
    assert facts == expected


# What the machine can bear


@pytest.mark.parametrize(
    ("hash_mb", "engines", "memory_mb", "expected"),
    [
        (64, 4, 8000, 64),
        (2048, 1, 8000, 2048),
        (4096, 3, 8000, 1460),  # a quarter, as one is for correspondence, of three quarters, less what it takes anyway
        (64, 4, 100, 1),
        (4096, 4, None, 4096),  # unknown
    ],
)
def test_hash_tables_are_limited_by_the_memory(
    hash_mb: int, engines: int, memory_mb: int | None, expected: int
) -> None:
    settings = Config.model_validate({"challenge": {"concurrency": engines}, "engine": {"hash_mb": hash_mb}})
    machine = Machine(None, memory_mb)
    assert engine_for(BLITZ_BY_A_HUMAN, settings, machine).hash_mb == expected
    told = list(memory_warnings(settings, machine))
    assert bool(told) is (expected < hash_mb)
    assert all(f"engine.hash_mb: {hash_mb} MiB" in line for line in told)


@pytest.mark.parametrize(
    ("cores", "engines", "threads", "ponders"),
    [(2, 1, 1, True), (2, 2, 1, True), (2, 3, 1, False), (2, 1, 3, False), (8, 2, 4, True), (None, 64, 64, True)],
)
def test_pondering_needs_a_core_for_each_thread_of_each_game(
    cores: int | None, engines: int, threads: int, ponders: bool
) -> None:
    settings = Config.model_validate({"challenge": {"concurrency": engines}, "engine": {"threads": threads}})
    assert engine_for(BLITZ_BY_A_HUMAN, settings, Machine(cores, None)).ponder is ponders


def test_every_engine_that_a_game_may_get_is_listed_once() -> None:
    settings = config(
        ({"speed": "bullet"}, {"depth": 3}),  # the same program, and nothing it could refuse
        ({"speed": "blitz", "variant": "standard"}, {"command": ["other"]}),
        ({"opponent": "bot"}, {"uci_options": {"Skill Level": 3}}),
    )
    listed = list(configured_engines(settings))
    assert [candidate.key for candidate in listed] == ["engine", "profiles #2.engine", "profiles #3.engine"]
    assert listed[1].engine.command == ("other",)
    assert listed[1].variants == ("standard",)
    assert listed[2].variants == tuple(Variant)


def test_a_profile_keeps_the_folder_of_the_section(tmp_path: Path) -> None:
    settings = config(({"speed": "blitz"}, {"depth": 1}), working_dir=str(tmp_path))
    assert isinstance(engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE), EngineConfig)
    assert engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE).working_dir == tmp_path


def test_correspondence_has_a_move_time_and_ponder_of_its_own_which_profiles_change() -> None:
    facts = replace(BLITZ_BY_A_HUMAN, speed="correspondence")
    settings = Config.model_validate({
        "engine": {"move_time_ms": 100, "ponder": True},
        "correspondence": {"move_time": 7},
        "profiles": [{"when": {"speed": "correspondence", "opponent": "bot"}, "engine": {"move_time_ms": 50}}],
    })
    engine = engine_for(facts, settings, UNKNOWN_MACHINE)
    assert (engine.move_time_ms, engine.ponder) == (7000, False)
    engine = engine_for(replace(facts, opponent=OpponentKind.BOT), settings, UNKNOWN_MACHINE)
    assert engine.move_time_ms == 50
    assert engine_for(BLITZ_BY_A_HUMAN, settings, UNKNOWN_MACHINE).move_time_ms == 100


@pytest.mark.parametrize(
    ("quotas", "cores"),
    [
        ({}, None),
        ({"bots": "max 100000"}, None),
        ({"bots": "25000 100000"}, 1),
        ({"": "150000 100000", "bots": "400000 100000"}, 1),
        ({"bots": "9900000 100000"}, None),
        ({"bots": "nonsense"}, None),
    ],
    ids=["none", "no limit", "a quarter of a core", "of a parent", "more than there are", "unreadable"],
)
def test_a_limit_of_the_control_group_counts_as_so_many_cores(
    tmp_path: Path, quotas: dict[str, str], cores: int | None
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/bots\n")
    for group, text in quotas.items():
        folder = tmp_path / "sys/fs/cgroup" / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(f"{text}\n")
    without = Machine.detect(tmp_path / "none").cores
    assert Machine.detect(tmp_path).cores == (without if cores is None else cores)
