"""A configuration of lichess-bot, translated: it means what it meant."""

import math
from pathlib import Path

import pytest

from lichessbot.config import LoadedConfig, dotted_values
from lichessbot.config.matchmaking import MatchType
from lichessbot.lichess.enums import Speed
from tests.lichessbot.config.conftest import load
from tests.lichessbot.config.migration.conftest import Translator, left_out, those_that_matter
from tests.lichessbot.config.migration.old_files import LICHESS_BOT
from tests.lichessbot.config.test_lichess_bot_keys import ENGINE

# What the loader names and leaves to the operator, and the translation translates.
DRAWN = {"challenge_color": "random"}
TRANSLATED_BESIDES = {f"matchmaking.{key}": value for key, value in DRAWN.items()}


CLOSED = "no challenge is accepted now: set it, then accept_bot, and remove min_rating and max_rating of human"


def lets_nobody_in(loaded: LoadedConfig) -> bool:
    """No human has a rating of 0, and those without a rating are declined as well."""
    challenge = loaded.config.challenge
    return not challenge.accept_bot and challenge.rules_for(is_bot=False).max_rating == 0


def test_the_translation_means_what_the_loader_understands_of_the_old_file(file: Path, translated: Translator) -> None:
    _, loaded = translated(LICHESS_BOT)
    readable = LICHESS_BOT.replace(", on {cpu}", ", on")
    ours, theirs = dotted_values(loaded.config), dotted_values(load(file, readable).config)
    overrides = ours.pop("matchmaking.overrides")
    theirs.pop("matchmaking.overrides")
    kinds = {name: kind.model_copy(update=DRAWN) for name, kind in load(file, readable).config.matchmaking.types()}
    assert dict(loaded.config.matchmaking.types()) == kinds
    assert ours["challenge.variants"] == ("standard", "chess960", "atomic")
    assert ours["engine.debug"] is True
    assert {key: value for key, value in ours.items() if theirs[key] != value and key != "token"} == TRANSLATED_BESIDES
    assert set(overrides) == {"easy_960", "by_days", "only_horde"}


def test_the_kinds_of_games_keep_their_meaning(translated: Translator) -> None:
    _, loaded = translated(LICHESS_BOT)
    kinds = dict(loaded.config.matchmaking.types())
    own = kinds["default"]
    assert kinds["by_days"] == MatchType(
        **dict(own) | {"challenge_initial_time": (), "challenge_increment": (), "challenge_days": (2, 3)}
    ), "an empty list of clocks is none"
    assert kinds["easy_960"].opponent_rating_difference is None


def test_an_unknown_limit_is_left_out_whatever_its_name(translated: Translator) -> None:
    found, _ = translated("engine: {name: fish, uci_options: {go_commands: {a.b: 1, depth: 9}}}\n")
    assert left_out(found)["engine.uci_options.go_commands.a.b"] == "no limit of this kind is known here"


@pytest.mark.parametrize(
    "clock",
    [
        "challenge_initial_time: [1, 2], challenge_increment: [0, 1]",
        "challenge_initial_time: 15, challenge_increment: 0",
        "challenge_increment: [200]",
        "challenge_initial_time: [1], challenge_increment: [999]",
        "challenge_days: [4]",
    ],
)
def test_a_kind_of_games_whose_clocks_nobody_offers_is_left_out(translated: Translator, clock: str) -> None:
    """It was proposed with the clocks of the section instead."""
    kinds = f"{{horde: {{challenge_variant: horde, {clock}}}, other: {{challenge_mode: rated}}}}"
    found, loaded = translated(f"matchmaking: {{allow_matchmaking: true, overrides: {kinds}}}\n")
    assert list(loaded.config.matchmaking.overrides) == ["other"]
    assert "matchmaking.overrides.horde" in those_that_matter(found)


def test_a_kind_of_games_keeps_the_clocks_that_are_offered(translated: Translator) -> None:
    override = "{fast: {challenge_initial_time: [7, 60], challenge_increment: [1, 999]}}"
    found, loaded = translated(f"matchmaking: {{overrides: {override}}}\n")
    kind = loaded.config.matchmaking.types()[1][1]
    assert (kind.challenge_initial_time, kind.challenge_increment) == ((60,), (1,))
    assert "matchmaking.overrides.fast.challenge_initial_time #1" in left_out(found)


def test_a_number_out_of_range_becomes_the_nearest(tmp_path: Path, translated: Translator) -> None:
    """What allowed almost everything became our default, which allows little."""
    challenge = "{max_base: 315360000, max_increment: 1000, max_simultaneous_games_per_user: 1000, concurrency: 99}"
    found, loaded = translated(f"challenge: {challenge}\nmatchmaking: {{opponent_rating_difference: 5000}}\n")
    rules = loaded.config.challenge
    assert (rules.max_base, rules.max_increment) == (10800, 180)
    assert (rules.max_simultaneous_games_per_user, rules.concurrency) == (64, 64)
    assert loaded.config.matchmaking.opponent_rating_difference == 4000
    assert those_that_matter(found) == set()
    assert "  concurrency: 64  # expected at most 64, found 99\n" in (tmp_path / "new.yml").read_text()


@pytest.mark.parametrize("days", ["max_days: 0", "max_days: 1, min_days: 2"])
def test_no_days_that_fit_are_no_correspondence(translated: Translator, days: str) -> None:
    found, loaded = translated(f"challenge: {{{days}, time_controls: [blitz, correspondence]}}\n")
    assert loaded.config.challenge.time_controls == (Speed.BLITZ,)
    assert not lets_nobody_in(loaded)
    assert (loaded.config.challenge.max_days, those_that_matter(found)) == (1, set())
    found, loaded = translated(f"challenge: {{{days}, time_controls: [correspondence]}}\n")
    assert lets_nobody_in(loaded)
    assert "challenge.time_controls" in those_that_matter(found)


def test_a_concurrency_of_0_lets_nobody_in(translated: Translator) -> None:
    keys = "{concurrency: 0, min_rating: 1500, accept_bot: true, only_bot: true}"
    found, loaded = translated(f"challenge: {keys}\nmatchmaking: {{allow_matchmaking: true}}\n")
    assert lets_nobody_in(loaded)
    assert not loaded.config.matchmaking.allow_matchmaking
    assert those_that_matter(found) == set()


@pytest.mark.parametrize(
    ("keys", "ponders"),
    [
        ("uci_ponder: true", True),
        ("uci_ponder: true, ponder: false", True),
        ("uci_ponder: false, ponder: true", True),
        ("uci_ponder: true, ponder: true", True),
        ("uci_ponder: false", False),
    ],
)
def test_the_older_name_of_pondering_means_the_same(translated: Translator, keys: str, ponders: bool) -> None:
    found, loaded = translated(f"engine: {{{keys}}}\ncorrespondence: {{{keys}}}\n")
    assert (loaded.config.engine.ponder, loaded.config.correspondence.ponder) == (ponders, ponders)
    assert not {it for it in those_that_matter(found) if "ponder" in it}


@pytest.mark.parametrize(("old", "ours"), [("0", 1), ("-1", 1), ("7", 7), ("", 30)])
def test_a_challenge_timeout_below_a_minute_is_a_minute(translated: Translator, old: str, ours: int) -> None:
    found, loaded = translated(f"matchmaking:\n  challenge_timeout: {old}\n")
    assert loaded.config.matchmaking.challenge_timeout == ours
    assert "matchmaking.challenge_timeout" not in those_that_matter(found)


def test_a_greeting_that_lichess_would_drop_is_left_out(translated: Translator) -> None:
    found, loaded = translated("greeting:\n  hello: 'Hi! See https://lichess.org/@/me'\n  goodbye: GG\n")
    (left_out,) = found.left_out
    assert (left_out.key, left_out.line, left_out.matters) == ("greeting.hello", 2, True)
    assert left_out.reason == "Lichess drops chat lines of bots that contain links"
    assert (loaded.config.greeting.hello, loaded.config.greeting.goodbye) == (None, "GG")


def test_doubled_braces_of_a_greeting_stay(translated: Translator) -> None:
    found, loaded = translated("greeting:\n  hello: 'Hi {{x}} B'\n  goodbye: '{{ {cpu} }} {{{ram}}} {{{me}}}'\n")
    assert left_out(found).keys() == {"greeting.goodbye"}
    assert (loaded.config.greeting.hello, loaded.config.greeting.goodbye) == ("Hi {{x}} B", "{{ }} {{}} {{{me}}}")


def test_each_key_that_is_left_out_has_its_line_and_reason(translated: Translator) -> None:
    found, _ = translated(LICHESS_BOT)
    by_key = {it.key: it for it in found.left_out}
    assert those_that_matter(found) == {
        "move_overhead", "greeting.hello",
    }  # fmt: skip
    assert set(by_key) - those_that_matter(found) == {
        "engine.protocol", "engine.homemade_options", "engine.lichess_bot_tbs.gaviota",
        "quit_after_all_games_finish", "matchmaking.challenge_decliner_file_name",
    }  # fmt: skip
    lines = LICHESS_BOT.splitlines()
    for key, it in by_key.items():
        assert key.rpartition(".")[2] in lines[it.line - 1]
    assert by_key["greeting.hello"].reason.endswith("are filled in here")
    assert not [it for it in found.left_out if it.reason.endswith("remove the key")]


def test_books_of_variants_are_kept_by_the_names_of_lichess(tmp_path: Path, translated: Translator) -> None:
    books = "{atomic: a.bin, 3check: [c.bin], giveaway: g.bin}"
    _, loaded = translated(f"engine: {{polyglot: {{enabled: true, book: {books}}}}}\n")
    book = loaded.config.engine.polyglot.book
    assert (book.atomic, book.threeCheck, book.antichess) == tuple((tmp_path / f"{name}.bin",) for name in "acg")


def test_keys_that_stood_among_the_books_keep_their_meaning(tmp_path: Path, translated: Translator) -> None:
    """In lichess-bot's files from August 2019 to March 2021."""
    text = """\
engine:
  polyglot:
    enabled: true
    book:
      standard: [a.bin]
      min_weight: 5
      selection: best_move
"""
    found, loaded = translated(text)
    polyglot = loaded.config.engine.polyglot
    assert (polyglot.min_weight, polyglot.selection, polyglot.book.standard) == (5, "best_move", (tmp_path / "a.bin",))
    assert not found.left_out
    assert "    selection: best_move  # engine.polyglot.book.selection\n" in (tmp_path / "new.yml").read_text()


def test_a_least_weight_that_lichess_bot_ignores_is_left_out(translated: Translator) -> None:
    text = "engine: {polyglot: {enabled: true, book: {standard: a.bin}, min_weight: 9, selection: weighted_random}}\n"
    found, loaded = translated(text)
    assert loaded.config.engine.polyglot.min_weight == 1
    assert left_out(found) == {"engine.polyglot.min_weight": "lichess-bot ignores it with weighted_random"}
    assert not those_that_matter(found)
    _, loaded = translated(text.replace("weighted_random", "uniform_random"))
    assert loaded.config.engine.polyglot.min_weight == 9


def test_a_missing_key_keeps_the_meaning_that_lichess_bot_gives_it(translated: Translator) -> None:
    found, loaded = translated("token: lip_a1\nurl: https://lichess.org\nengine: {dir: ., name: fish}\n")
    config = loaded.config
    assert (config.challenge.max_base, config.challenge.max_increment, config.challenge.max_days) == (
        10800, 180, math.inf,
    )  # fmt: skip
    assert not config.challenge.accept_bot
    assert (config.abort_time, config.engine.ponder, config.engine.polyglot.max_depth) == (20, False, 8)
    assert config.engine.online_moves.online_egtb.max_pieces == 7
    assert (config.correspondence.checkin_period, config.correspondence.disconnect_time) == (600, 300)
    assert config.matchmaking.opponent_rating_difference is None
    assert config.matchmaking.challenge_filter == "none"
    assert not found.left_out, "no word of keys that the file does not have"
    _, loaded = translated("challenge: {accept_bot: ''}\nengine: {ponder: ''}\n")
    assert (loaded.config.challenge.accept_bot, loaded.config.engine.ponder) == (False, False)


@pytest.mark.parametrize("protocol", ["xboard", "homemade"])
def test_an_engine_of_another_protocol_is_left_out(translated: Translator, protocol: str) -> None:
    found, loaded = translated(f"engine: {{dir: ., name: fish, protocol: {protocol}}}\nchallenge: {{concurrency: 2}}\n")
    assert loaded.config.engine.command is None
    assert loaded.config.engine.has_own_book
    assert {"engine.protocol", "engine.name"} <= those_that_matter(found)


def test_uci_options_that_another_protocol_ignores_do_not_reach_the_bots_own_engine(translated: Translator) -> None:
    options = "{Threads: 4, Hash: 512, Skill Level: 3, go_commands: {nodes: 1}}"
    found, loaded = translated(f"engine: {{dir: ., name: fish, protocol: homemade, uci_options: {options}}}\n")
    engine = loaded.config.engine
    assert (engine.threads, engine.hash_mb, engine.uci_options, engine.nodes) == (1, 64, {}, None)
    assert "engine.uci_options" in left_out(found).keys() - those_that_matter(found)


def test_an_engine_with_an_interpreter_keeps_its_command(tmp_path: Path, translated: Translator) -> None:
    text = """\
engine:
  dir: engines/
  name: e.py
  interpreter: python3
  interpreter_options: [-u]
  engine_options: {cpuct: 3.1, fast: true}
"""
    found, loaded = translated(text)
    command = ["python3", "-u", f"{tmp_path}/engines/e.py", "--cpuct=3.1", "--fast=True"]
    assert found.values["engine"]["command"] == command, "as an argument, a path is relative to where the engine runs"
    assert loaded.config.engine.command == tuple(command)
    text = text.replace("python3", "./venv/bin/python")
    assert translated(text)[1].config.engine.command == (f"{tmp_path}/venv/bin/python", *command[1:])


def test_an_engine_is_started_as_the_loader_starts_it(file: Path, translated: Translator) -> None:
    found, loaded = translated(ENGINE)
    direct = load(file, ENGINE).config.engine
    assert (loaded.config.engine.command, loaded.config.engine.uci_options) == (direct.command, direct.uci_options)
    assert {"engine.uci_options.multipv", "engine.uci_options.Ponder"} <= left_out(found).keys()


@pytest.mark.parametrize(
    ("options", "ours"),
    [
        ("Threads: 96, Hash: 131072, Move Overhead: 300", (96, 131072, 300)),
        ("threads: '4', HASH: ' 256 '", (4, 256, 200)),
        ("Threads: 4096, Hash: 0, Move Overhead: 20000", (1024, 1, 5000)),
    ],
)
def test_the_size_of_the_engine_is_kept(translated: Translator, options: str, ours: tuple[int, int, int]) -> None:
    found, loaded = translated(f"engine: {{dir: ., name: fish, uci_options: {{{options}}}}}\n")
    engine = loaded.config.engine
    assert (engine.threads, engine.hash_mb, engine.move_overhead_ms) == ours
    assert those_that_matter(found) == set()


def test_a_size_of_the_engine_that_is_no_number_is_left_out(translated: Translator) -> None:
    found, _ = translated("engine: {uci_options: {Threads: all, Hash: }}\n")
    assert left_out(found) == {
        "engine.uci_options.Threads": "expected a whole number, found 'all'; it is 1 now, the default",
        "engine.uci_options.Hash": "is empty",
    }


def test_limits_of_infinity_are_none(translated: Translator) -> None:
    _, loaded = translated("challenge: {max_base: .inf, max_increment: .inf, max_days: .inf}\n")
    rules = loaded.config.challenge
    assert (rules.max_base, rules.max_increment, rules.max_days) == (10800, 180, math.inf)


def test_a_kind_of_games_may_have_a_dot_in_its_name(translated: Translator) -> None:
    overrides = "{'1.5': {challenge_variant: fromPosition}, blitz: {challenge_variant: atomic}}"
    _, loaded = translated(f"matchmaking: {{allow_matchmaking: true, overrides: {overrides}}}\n")
    assert list(loaded.config.matchmaking.overrides) == ["blitz"]


def test_delay_after_decline_is_the_old_name_of_the_filter(translated: Translator) -> None:
    _, loaded = translated("matchmaking: {delay_after_decline: fine}\n")
    assert loaded.config.matchmaking.challenge_filter == "fine"


@pytest.mark.parametrize(
    ("matchmaking", "allowed", "weight"),
    [
        ("{allow_matchmaking: true, challenge_variant: duck}", False, 1),
        ("{allow_matchmaking: true, challenge_variant: duck, overrides: {a: {challenge_variant: chess960}}}", True, 0),
        ("{allow_matchmaking: true, challenge_variant: duck, overrides: {a: {challenge_mode: rated}}}", False, 1),
        ("{allow_matchmaking: true, challenge_variant: duck, "
         "overrides: {a: {challenge_variant: horde, challenge_initial_time: 7}}}", False, 1),
    ],
)
def test_games_of_a_variant_that_nobody_knows_are_not_proposed(
    translated: Translator, matchmaking: str, allowed: bool, weight: int
) -> None:
    found, loaded = translated(f"matchmaking: {matchmaking}\n")
    assert (loaded.config.matchmaking.allow_matchmaking, loaded.config.matchmaking.weight) == (allowed, weight)
    assert [name for name, kind in loaded.config.matchmaking.types() if kind.weight] == ["a" if allowed else "default"]
    assert "matchmaking.challenge_variant" in those_that_matter(found)


def test_what_no_bot_knows_and_what_is_refused_here_is_left_out(translated: Translator) -> None:
    text = """\
abort_time: 0
speling: 3
challenge:
  block_list: [Cheat, "no name!"]
  online_block_list: [example.com/list, "https://example.com/list"]
  min_base: 900
  max_base: 300
engine: {uci_options: {UCI_Chess960: true, Hash: 16}, go: {}}
"""
    found, loaded = translated(text)
    assert left_out(found) == {
        "speling": "unknown key; nearest valid key: greeting",
        "challenge.block_list #2": "expected a name of 2 to 30 letters, digits, _ and -, found 'no name!'",
        "challenge.online_block_list #1": "expected an address such as https://example.com/list.txt, "
        f"found 'example.com/list'; {CLOSED}",
        "challenge.min_base": f"expected at most max_base = 300, found 900; {CLOSED}",
        "engine.uci_options.UCI_Chess960": "the bot sets this option",
    }
    assert loaded.config.challenge.block_list == ("cheat",)
    assert (loaded.config.engine.hash_mb, loaded.config.abort_time) == (16, 1)


def test_an_emptied_list_still_lets_nobody_in(translated: Translator) -> None:
    keys = "accept_bot: true, only_bot: true, human: {max_rating: 3000}, min_rating: 1500, max_base: , block_list: "
    for key in ("variants: ", "time_controls: ", "modes: []", "modes: ''"):
        found, loaded = translated(f"challenge: {{{key}, {keys}}}\n")
        assert lets_nobody_in(loaded), key
        name = key.partition(":")[0]
        assert those_that_matter(found) == {f"challenge.{name}"}
        assert left_out(found)[f"challenge.{name}"] == (
            "is empty, with which lichess-bot accepts no challenge; "
            "to accept some, set it, then accept_bot, and remove min_rating and max_rating of human"
        )


@pytest.mark.parametrize(
    "keys",
    [
        "modes: 'casual, rated'", "modes: [casul]", "modes: {casual: }", "variants: [3check]", "time_controls: fast",
        "block_list: 'user1,user2'", "block_list: {user1: }", "online_block_list: 'http://a.b/list'",
        "online_block_list: ['http://a.b/list']", "allow_list: [1234]", "min_rating: high", "max_base: soon",
        "accept_bot: 0", "accept_bot: false, only_bot: true", "min_rating: 2000, max_rating: 1000",
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_read_lets_nobody_in(translated: Translator, keys: str) -> None:
    """Its default let in those whom the old bot declined."""
    found, loaded = translated(f"challenge: {{accept_bot: true, {keys}}}\n".replace("true, accept_bot: ", ""))
    assert lets_nobody_in(loaded)
    assert CLOSED in " ".join(left_out(found).values())


def test_true_as_a_text_is_true(tmp_path: Path, translated: Translator) -> None:
    """For lichess-bot, every text is true; one that says otherwise is left to the operator."""
    found, loaded = translated("challenge: {accept_bot: 'true'}\nengine: {ponder: 'True', debug: 'false'}\n")
    config = loaded.config
    assert (config.challenge.accept_bot, config.engine.ponder, config.engine.debug) == (True, True, False)
    assert list(left_out(found)) == ["engine.debug"]
    assert "  accept_bot: true  # a text there\n" in (tmp_path / "new.yml").read_text()


def test_empty_entries_in_lists_of_names_are_no_names(translated: Translator) -> None:
    """An allow list without names accepts everybody, as in lichess-bot."""
    rules = "accept_bot: true, allow_list: [null], block_list: [Cheat, '']"
    found, loaded = translated(f"challenge: {{{rules}}}\nmatchmaking: {{block_list: [null]}}\n")
    challenge = loaded.config.challenge
    assert (challenge.allow_list, challenge.block_list, loaded.config.matchmaking.block_list) == ((), ("cheat",), ())
    assert challenge.accept_bot
    assert not found.left_out


def test_what_is_no_number_is_left_out(translated: Translator) -> None:
    found, loaded = translated("correspondence: {move_time: .nan}\n")
    assert loaded.config.correspondence.move_time == 60
    assert "found .nan" in left_out(found)["correspondence.move_time"]


def test_what_narrows_no_rule_is_left_out_alone(translated: Translator) -> None:
    keys = "variants: [standard, 3check], block_list: ['no name!'], modes: casual, sort_by: rating"
    found, loaded = translated(f"challenge: {{accept_bot: true, {keys}}}\n")
    challenge = loaded.config.challenge
    assert (challenge.variants, challenge.modes, challenge.accept_bot) == (("standard",), ("casual",), True)
    assert challenge.rules_for(is_bot=False).max_rating == 4000
    assert CLOSED not in " ".join(left_out(found).values())


def test_of_repeated_entries_the_first_is_kept(tmp_path: Path, translated: Translator) -> None:
    text = """\
challenge:
  variants: [standard, chess960, standard]
  block_list: [Cheat, Bore, cheat]
  allow_list: [Friend, friend]
  online_block_list: ["https://a.b/list", "https://a.b/list"]
  human: {modes: [rated, rated, fun]}
"""
    found, loaded = translated(text)
    rules = loaded.config.challenge
    assert (rules.variants, rules.human.modes) == (("standard", "chess960"), ("rated",))
    assert (rules.block_list, rules.allow_list) == (("cheat", "bore"), ("friend",))
    assert rules.online_block_list == ("https://a.b/list",)
    assert list(left_out(found)) == ["challenge.human.modes #3"]
    assert "  variants: [standard, chess960]  # repeated entries removed\n" in (tmp_path / "new.yml").read_text()


def test_the_file_explains_its_keys_and_says_where_they_come_from(tmp_path: Path, translated: Translator) -> None:
    found, _ = translated(LICHESS_BOT)
    text = (tmp_path / "new.yml").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 120
    assert "\n\n\n" not in text
    assert text.startswith("# Translated from old.yml, a configuration of lichess-bot, by `lichessbot config migrate`")
    assert "  # Number, 1-64. Default: 1.\n" in text
    assert "  command: [./engines/fish]  # engine.name; engine.dir\n" in text
    assert "  depth: 9  # engine.uci_options.go_commands.depth\n" in text
    assert "# Left out of old.yml:\n#   line 9: engine.protocol: every engine speaks UCI here\n" in text
    assert found.token not in text
