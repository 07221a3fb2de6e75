"""A configuration of BotLi, translated: the values it asks for, and the same engine and book for every game."""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from lichessbot.config import Config, dotted_values
from lichessbot.lichess.enums import Colour, ExactClock, OpponentKind, Speed
from lichessbot.uci.profiles import GameFacts, engine_config_for
from tests.lichessbot.config.migration.conftest import Translator, left_out, those_that_matter
from tests.lichessbot.config.migration.old_files import BOTLI

EXPECTED = {
    "max_takebacks_accepted": 3,
    "takebacks_from_bots": False,
    "challenge.concurrency": 2,
    "challenge.human": {
        "variants": ("standard", "chess960", "atomic"),
        "time_controls": (Speed.BLITZ, ExactClock(1500, 0)),
        "modes": ("casual", "rated"),
        "min_increment": 1,
        "max_increment": 60,
        "max_base": 900,
        "max_estimated_game_duration": 30,
        "bullet_requires_increment": True,
    },
    "challenge.bot": {
        "variants": ("standard", "chess960"),
        "time_controls": (Speed.BULLET, Speed.BLITZ),
        "modes": ("rated",),
        "max_increment": 180,
        "max_base": 10800,
    },
    "challenge.min_base": 30,
    "challenge.block_list": ("cheat",),
    "challenge.online_block_list": ("https://example.com/blocklist",),
    "challenge.block_list_exceptions": ("friend",),
    "engine.silence_stderr": True,
    "engine.depth": 12,
    "engine.hash_mb": 32,
    "engine.threads": 2,
    "engine.move_overhead_ms": 90,
    "engine.draw_or_resign.offer_draw_enabled": True,
    "engine.draw_or_resign.offer_draw_score": 12,
    "engine.draw_or_resign.offer_draw_moves": 6,
    "engine.draw_or_resign.offer_draw_pieces": 32,
    "engine.draw_or_resign.offer_draw_min_game_length": 35,
    "engine.draw_or_resign.offer_draw_against_humans": False,
    "engine.draw_or_resign.offer_draw_min_rating": 2300,
    "engine.draw_or_resign.resign_enabled": True,
    "engine.draw_or_resign.resign_score": -800,
    "engine.draw_or_resign.resign_moves": 4,
    "engine.draw_or_resign.resign_against_humans": False,
    "engine.draw_or_resign.resign_min_rating": 2200,
    "engine.polyglot.max_depth": 8,
    "engine.polyglot.max_moves": 4,
    "engine.polyglot.allow_repetitions": True,
    "engine.lichess_bot_tbs.syzygy.max_pieces": 6,
    "engine.online_moves.max_out_of_book_moves": 5,
    "engine.online_moves.lichess_opening_explorer.source": "player",
    "engine.online_moves.lichess_opening_explorer.player_name": "Ferdinand",
    "engine.online_moves.lichess_opening_explorer.min_time": 11,
    "engine.online_moves.lichess_opening_explorer.min_games": 6,
    "engine.online_moves.lichess_opening_explorer.only_with_wins": True,
    "engine.online_moves.lichess_opening_explorer.max_depth": 8,
    "engine.online_moves.lichess_opening_explorer.max_moves": 3,
    "engine.online_moves.lichess_opening_explorer.only_without_book": True,
    "engine.online_moves.lichess_opening_explorer.allow_repetitions": True,
    "engine.online_moves.lichess_cloud_analysis.min_time": 12,
    "engine.online_moves.lichess_cloud_analysis.min_depth": 14,
    "engine.online_moves.lichess_cloud_analysis.max_depth": 10,
    "engine.online_moves.lichess_cloud_analysis.max_moves": 5,
    "engine.online_moves.lichess_cloud_analysis.only_without_book": True,
    "engine.online_moves.lichess_cloud_analysis.allow_repetitions": True,
    "engine.online_moves.chessdb_book.min_time": 13,
    "engine.online_moves.chessdb_book.move_quality": "best",
    "engine.online_moves.chessdb_book.min_depth": 0,
    "engine.online_moves.chessdb_book.max_depth": 11,
    "engine.online_moves.chessdb_book.max_moves": 6,
    "engine.online_moves.chessdb_book.only_without_book": True,
    "engine.online_moves.chessdb_book.allow_repetitions": True,
    "engine.online_moves.online_egtb.min_time": 6,
    "greeting.hello": "Hey, I'm {me}, running on. Good luck!",
    "greeting.goodbye": "Good game, {opponent}.",
    "greeting.hello_spectators": "Hey!",
    "greeting.goodbye_spectators": "Thanks.",
    "matchmaking.allow_during_games": True,
    "matchmaking.challenge_timeout": 9,
    "matchmaking.selection": "cyclic",
    "matchmaking.include_challenge_block_list": True,
    "matchmaking.weight": 0,
}


def test_every_value_is_what_botli_means(tmp_path: Path, translated: Translator) -> None:
    _, loaded = translated(BOTLI)
    values, defaults = dotted_values(loaded.config), dotted_values(Config())
    changed = {key: value for key, value in values.items() if value != defaults[key]}
    assert changed.pop("engine.command") == (str(tmp_path / "engines/fish"),)
    assert changed.pop("engine.polyglot.book.standard") == (tmp_path / "books/solid.bin",)
    assert changed.pop("engine.polyglot.book.chess960") == (tmp_path / "books/solid.bin",)
    assert changed.pop("engine.lichess_bot_tbs.syzygy.paths") == (tmp_path / "tables/standard",)
    assert len(changed.pop("profiles")) == 3  # type: ignore[arg-type]
    assert set(changed.pop("matchmaking.overrides")) == {"blitz", "casual_chess960", "horde"}  # type: ignore[call-overload]
    assert changed == EXPECTED


def test_the_kinds_of_games_are_those_of_botli(translated: Translator) -> None:
    _, loaded = translated(BOTLI)
    kinds = dict(loaded.config.matchmaking.types())
    assert kinds["default"].weight == 0
    blitz, casual = kinds["blitz"], kinds["casual_chess960"]
    assert (blitz.challenge_initial_time, blitz.challenge_increment) == ((180,), (2,))
    assert (blitz.challenge_variant, blitz.challenge_mode, blitz.challenge_color) == ("standard", "rated", "pairs")
    assert (blitz.opponent_rating_difference, blitz.opponent_min_rating_difference) == (300, 20)
    assert (blitz.opponent_target_rating_difference, blitz.opponent_rest_multiplier) == (50, 15)
    assert (casual.challenge_variant, casual.challenge_mode) == ("chess960", "casual")
    assert casual.opponent_rating_difference is None
    # Without weights, BotLi plays a kind the less often the longer its games are: 449 s and 80 s.
    assert (casual.weight, blitz.weight) == (1000, 178)


def test_weights_that_botli_is_given_are_kept_and_the_heaviest_comes_first(translated: Translator) -> None:
    types = {"a": {"tc": "1+0", "weight": 3}, "b": {"tc": "3+0", "weight": 90}}
    text = yaml.safe_dump({"engines": {}, "books": {}, "matchmaking": {"types": types, "selection": "sequential"}})
    _, loaded = translated(text)
    assert [(name, kind.weight) for name, kind in loaded.config.matchmaking.types()] == [
        ("default", 0), ("b", 90), ("a", 3),
    ]  # fmt: skip


def test_one_kind_of_games_is_that_of_the_section(translated: Translator) -> None:
    types = {"blitz": {"tc": "3+1", "weight": 90}}
    _, loaded = translated(yaml.safe_dump({"engines": {}, "books": {}, "matchmaking": {"types": types}}))
    ((name, kind),) = loaded.config.matchmaking.types()
    assert (name, kind.challenge_initial_time, kind.challenge_increment, kind.weight) == ("default", (180,), (1,), 1)


@pytest.mark.parametrize("huge", [1e306, 10**400], ids=["float", "int"])
def test_huge_numbers_are_no_bug(translated: Translator, huge: float) -> None:
    types = {"one": {"tc": "3+1", "weight": huge}, "two": {"tc": "5+3", "weight": 2.5}}
    engine = {"name": "fish", "limits": {"time": huge}}
    old = {"engines": {"standard": engine}, "books": {}, "matchmaking": {"types": types}}
    found = translated(yaml.safe_dump(old))[0]
    assert left_out(found)["engines.standard.limits.time"].startswith("expected a number, found 1")


def test_infinite_numbers_and_single_words_are_no_bug(translated: Translator) -> None:
    types = {"one": {"tc": "3+1", "weight": math.inf}, "two": {"tc": "5+3", "weight": 2.5}}
    rules = {"variants": "standard", "time_controls": 5, "modes": "casual"}
    engine = {"name": "fish", "limits": {"time": math.inf}}
    old = {"engines": {"standard": engine}, "books": {}, "matchmaking": {"types": types}, "challenge": {"bot": rules}}
    found, loaded = translated(yaml.safe_dump(old))
    assert left_out(found)["engines.standard.limits.time"] == "expected a number, found inf"
    assert left_out(found)["challenge.bot.time_controls #1"] == "5 is not played here"
    assert loaded.config.challenge.accept_bot is False


def test_what_has_no_counterpart_is_left_out_with_its_reason(translated: Translator) -> None:
    found, _ = translated(BOTLI)
    assert those_that_matter(found) == {"messages.greeting", "whitelist"}
    reasons = left_out(found)
    assert reasons["syzygy.antichess"] == "only the tables of standard chess are read"
    assert reasons["online_moves.chessdb.timeout"].startswith("all sources together get 1/40 of the remaining clock")
    assert "engines.standard.move_overhead_multiplier" in reasons
    assert {"gaviota", "syzygy.antichess", "opening_books.priority", "matchmaking.timeout"} <= set(reasons)
    lines = BOTLI.splitlines()
    assert all(lines[it.line - 1].strip().startswith(it.key.rpartition(".")[2]) for it in found.left_out)


@pytest.mark.parametrize(
    ("human", "bot", "accepts_humans", "accepts_bots"),
    [
        (["rated"], [], True, False),
        ([], ["rated"], False, True),
        ([], [], False, False),
        (["rated"], ["rated"], True, True),
    ],
)
def test_a_side_without_modes_is_shut_out(
    translated: Translator, human: list[str], bot: list[str], accepts_humans: bool, accepts_bots: bool
) -> None:
    rules = {"variants": ["standard"], "time_controls": ["blitz"], "bullet_with_increment_only": False}
    challenge = {"human": {**rules, "modes": human}, "bot": {**rules, "modes": bot}}
    found, loaded = translated(yaml.safe_dump({"engines": {}, "books": {}, "challenge": challenge}))
    challenges = loaded.config.challenge
    nobody = challenges.rules_for(is_bot=False).max_rating == 0
    assert (not challenges.only_bot and not nobody, challenges.accept_bot) == (accepts_humans, accepts_bots)
    assert {it.key: it.reason for it in found.left_out if it.matters} == {
        f"challenge.{kind}.modes": f"none is accepted, so BotLi accepts no challenge of a {kind}"
        for kind, modes in (("human", human), ("bot", bot)) if not modes
    }  # fmt: skip
    assert "challenge.human.bullet_with_increment_only" not in left_out(found), "our rule is for bots alone by itself"


@pytest.mark.parametrize(
    ("enabled", "instant_play", "plays", "engine_reads"), [(True, True, True, False), (True, False, False, True)]
)
def test_tablebases_are_for_the_bot_or_for_the_engine(
    tmp_path: Path, translated: Translator, enabled: bool, instant_play: bool, plays: bool, engine_reads: bool
) -> None:
    tables = {"enabled": enabled, "paths": ["tables", "/more"], "max_pieces": 5, "instant_play": instant_play}
    engines = {"standard": {"dir": ".", "name": "fish"}}
    _, loaded = translated(yaml.safe_dump({"engines": engines, "books": {}, "syzygy": {"standard": tables}}))
    syzygy = loaded.config.engine.lichess_bot_tbs.syzygy
    assert (syzygy.enabled, syzygy.paths, syzygy.max_pieces) == (plays, (tmp_path / "tables", Path("/more")), 5)
    assert (loaded.config.engine.uci_options.get("SyzygyPath") == "tables:/more") is engine_reads


def test_every_engine_that_botli_tells_of_the_tablebases_is_told(translated: Translator) -> None:
    text = """\
engines:
  standard: {dir: ., name: fish}
  bullet: {dir: ., name: fish, uci_options: {Contempt: 9}}
  blitz: {dir: ., name: fish, uci_options: {SyzygyPath: own}}
  chess960: {dir: ., name: other, use_syzygy: false}
  atomic: {dir: ., name: other}
books: {}
syzygy: {standard: {enabled: true, paths: [a, b], max_pieces: 6, instant_play: false}}
"""
    found, loaded = translated(text)
    told = [it.engine.uci_options for it in loaded.config.profiles]
    assert told == [{"Contempt": 9, "SyzygyPath": "a:b"}, {"SyzygyPath": "own"}, {}, {}]
    assert loaded.config.engine.uci_options == {"SyzygyPath": "a:b"}
    assert not left_out(found)


# One engine and one book for each game


BASES = ("standard", "bullet", "blitz", "1+0", "3+2", "chess960")
SUFFIXES = ("tournament", "human", "bot", "white", "black", "rated", "casual")
CLOCKS = (ExactClock(60, 0), ExactClock(60, 1), ExactClock(180, 0), ExactClock(180, 2))


def key_of_botli(keys: list[str], facts: GameFacts) -> str | None:
    """Return the key that BotLi takes for a game, by its own rule."""
    suffixes = ["tournament"] if facts.tournament else []
    suffixes += [facts.opponent.value, str(facts.colour), "rated" if facts.rated else "casual"]
    bases = ["chess960"] if facts.variant == "chess960" else [str(facts.clock), facts.speed]
    for base in (*bases, "standard"):
        for count in range(len(suffixes), -1, -1):
            for some in itertools.permutations(suffixes, count):
                if (key := "_".join((base, *some))) in keys:
                    return key
    return None


def games(chance: Random) -> GameFacts:
    clock = chance.choice(CLOCKS)
    return GameFacts(
        clock.speed, chance.choice(("standard", "chess960", "fromPosition")), chance.choice(tuple(OpponentKind)), 1500,
        chance.random() < 0.5, chance.random() < 0.3, chance.choice(tuple(Colour)), clock,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_each_game_gets_the_engine_and_the_book_that_botli_takes(
    tmp_path: Path, translated: Translator, seed: int
) -> None:
    chance = Random(seed)

    def keys() -> list[str]:
        return ["standard"] + [
            "_".join((chance.choice(BASES), *chance.sample(SUFFIXES, chance.randrange(3)))) for _ in range(6)
        ]

    def engine(number: int) -> dict[str, Any]:
        limits = dict.fromkeys(chance.sample(("depth", "nodes"), chance.randrange(3)), number + 1)
        options = {f"Option {number}": number} if chance.random() < 0.5 else {}
        ponder = chance.random() < 0.5
        return {"dir": ".", "name": f"e{number}", "ponder": ponder, "uci_options": options, "limits": limits}

    engines = {key: engine(number) for number, key in enumerate(keys())}
    books: dict[str, Any] = {key: {"names": [f"b{number}"]} for number, key in enumerate(keys())}
    for book in books.values():
        book |= {key: chance.randrange(1, 9) for key in chance.sample(("max_depth", "max_moves"), chance.randrange(3))}
    old = {
        "engines": engines,
        "opening_books": {"enabled": True, "books": books},
        "books": {f"b{number}": f"{number}.bin" for number in range(8)},
    }
    _, loaded = translated(yaml.safe_dump(old))
    for _ in range(300):
        facts = games(chance)
        got = engine_config_for(facts, loaded.config)
        wanted = engines[key_of_botli(list(engines), facts) or ""]
        assert got.command == (str(tmp_path / wanted["name"]),)
        assert got.ponder is wanted["ponder"]
        assert got.uci_options == wanted["uci_options"]
        assert (got.depth, got.nodes) == (wanted["limits"].get("depth"), wanted["limits"].get("nodes"))
        book = books[key_of_botli(list(books), facts) or ""]
        files = got.polyglot.book.chess960 if facts.variant == "chess960" else got.polyglot.book.standard
        assert files == (tmp_path / f"{book['names'][0][1:]}.bin",)
        assert got.polyglot.max_moves == book.get("max_moves")
        assert got.polyglot.max_depth == (-(-book["max_depth"] // 2) if "max_depth" in book else 500)


@pytest.mark.parametrize("concurrency", [0, 0.0])
def test_a_concurrency_of_0_lets_nobody_in(translated: Translator, concurrency: float) -> None:
    rules = {"variants": ["standard"], "time_controls": ["blitz"], "modes": ["rated"], "max_initial": 600}
    challenge = {"concurrency": concurrency, "human": {**rules, "min_initial": 60}, "bot": rules}
    for given in (challenge, challenge | {"bot": {**rules, "modes": []}}):
        _, loaded = translated(yaml.safe_dump({"engines": {}, "books": {}, "challenge": given}))
        rules_here, matchmaking = loaded.config.challenge, loaded.config.matchmaking
        assert (rules_here.accept_bot, rules_here.rules_for(is_bot=False).max_rating) == (False, 0)
        assert not matchmaking.allow_matchmaking


def test_each_engine_keeps_its_size(translated: Translator) -> None:
    large = {"dir": ".", "name": "fish", "uci_options": {"Threads": "96", "Hash": 131072}}
    larger = {"dir": ".", "name": "fish", "uci_options": {"Threads": 4096, "Move Overhead": 10**6, "Hash": None}}
    found, loaded = translated(yaml.safe_dump({"engines": {"standard": large, "blitz": larger}, "books": {}}))
    engine, (profile,) = loaded.config.engine, loaded.config.profiles
    assert (engine.threads, engine.hash_mb, engine.uci_options) == (96, 131072, {})
    assert (profile.engine.threads, profile.engine.move_overhead_ms) == (1024, 5000)
    assert left_out(found) == {"engines.blitz.uci_options.Hash": "is empty"}
    assert {(it.key, it.asked, it.now) for it in found.changed} == {
        ("profiles #1.engine.threads", 4096, 1024), ("profiles #1.engine.move_overhead_ms", 10**6, 5000),
    }  # fmt: skip


def test_engines_and_books_of_variants_become_profiles(
    tmp_path: Path, translated: Translator
) -> None:
    engine, fairy, horde = ({"dir": ".", "name": name} for name in ("fish", "fairy", "horde"))
    text = {
        "engines": {"standard": engine, "horde_white": horde, "variants": fairy, "standard_loud": engine},
        "opening_books": {
            "enabled": True,
            "books": {"standard": {"names": ["None"]}, "three check": {"names": ["b"]}, "variants": {"names": ["b"]}},
        },
        "books": {"b": "b.bin"},
    }
    found, loaded = translated(yaml.safe_dump(text))
    facts = GameFacts("blitz", "standard", OpponentKind.BOT, 2000, False, False, Colour.WHITE)
    games = [(variant, colour) for variant in ("standard", "chess960", "horde", "threeCheck") for colour in Colour]
    chosen = {
        it: engine_config_for(replace(facts, variant=it[0], colour=it[1]), loaded.config).command for it in games
    }
    wanted = {"standard": "fish", "chess960": "fish", "horde": "fairy", "threeCheck": "fairy"}
    expected = {(variant, colour): (str(tmp_path / wanted[variant]),) for variant, colour in games}
    assert chosen == expected | {("horde", Colour.WHITE): (str(tmp_path / "horde"),)}
    reasons = left_out(found)
    books = engine_config_for(replace(facts, variant="threeCheck"), loaded.config).polyglot.book
    assert (books.threeCheck, books.atomic) == ((tmp_path / "b.bin",), ())
    assert reasons["opening_books.books.variants"] == "BotLi reads a book for each variant, none for all"
    assert reasons["engines.standard_loud"] == "no games are known by this name"
    assert reasons["opening_books.books.standard.names"] == "books does not say where None is"


def test_a_value_that_cannot_be_translated_is_left_out_with_what_was_expected(translated: Translator) -> None:
    servers = {"opening_explorer": {"enabled": True, "max_depth": "deep"}}
    old = {"engines": {}, "books": {}, "matchmaking": {"delay": "long"}, "online_moves": servers}
    assert left_out(translated(yaml.safe_dump(old))[0]) == {
        "matchmaking.delay": "expected a whole number, found 'long'; it is 30 now, the default",
        "online_moves.opening_explorer.max_depth": "expected a whole number, found 'deep'; it is null now, the default",
    }
