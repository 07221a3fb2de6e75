"""A config of lichess-bot: its keys are understood, or named with what to write instead."""
import math
from pathlib import Path

import pytest

from lichessbot.config import Config, dotted_values
from lichessbot.config.lichess_bot_keys import ACCEPTED_IF_EMPTY
from tests.lichessbot.config.conftest import load, problems


def test_a_key_of_lichess_bot_gives_a_warning_with_its_replacement(file: Path) -> None:
    text = """\
challenge:
  concurrency: 2
engine:
  dir: ./engines/
  name: my engine.py
  interpreter: python3
  interpreter_options: [-u]
  engine_options: {cpuct: 3.1}
  protocol: uci
  uci_options: {Hash: 512, go_commands: {nodes: 1, movetime: 1000}}
matchmaking: {allow_matchmaking: true, delay_after_decline: fine}
"""
    loaded = load(file, text)
    assert loaded.config.challenge.concurrency == 2
    assert loaded.config.engine.hash_mb == 512
    assert (loaded.config.engine.nodes, loaded.config.engine.move_time_ms) == (1, 1000)
    assert [warning.removeprefix(f"{file}:") for warning in loaded.warnings] == [
        '5: engine.name: the bot plays this engine as engine.command: ["python3", "-u", '
        f'"{file.parent}/engines/my engine.py", "--cpuct=3.1"]',
        "9: engine.protocol: has no effect here: every engine speaks UCI here; remove the key",
        "10: engine.uci_options.go_commands: the bot plays with engine.nodes: 1, engine.move_time_ms: 1000",
        "11: matchmaking.delay_after_decline: has no effect here: set matchmaking.challenge_filter",
        "abort_time: missing keys have other defaults in lichess-bot, for which set abort_time: 20 (here 30)",
        "engine: missing keys have other defaults in lichess-bot, for which set ponder: false (here true)",
        "challenge: missing keys have other defaults in lichess-bot, for which set accept_bot: false (here true), "
        "max_increment: null (here 20), max_base: null (here 1800), max_days: null (here 14)",
        "correspondence: missing keys have other defaults in lichess-bot, for which set checkin_period: 600 "
        "(here 300), disconnect_time: 300 (here 150)",
        "matchmaking: missing keys have other defaults in lichess-bot, for which set challenge_color: random "
        "(here pairs), opponent_rating_difference: null (here 300)",
    ]


def test_an_emptied_list_that_let_nobody_in_is_named(file: Path) -> None:
    warnings = load(file, "engine: {name: fish, protocol: uci}\nchallenge: {modes: }\n").warnings
    assert "challenge.modes is empty: casual, rated here; lichess-bot accepts no challenge with this" in warnings
    defaults = Config().challenge
    for key in ("time_controls", "modes"):
        assert ACCEPTED_IF_EMPTY[f"challenge.{key}"] == ", ".join(getattr(defaults, key))


EVERY_KEY = """\
abort_time: 20
engine:
  name: fish
  ponder: false
  polyglot: {enabled: true, max_depth: 8}
  online_moves: {online_egtb: {enabled: true, max_pieces: 7}}
challenge: {accept_bot: false, max_increment: , max_base: , max_days: }
correspondence: {checkin_period: 600, disconnect_time: 300}
matchmaking:
  {allow_matchmaking: true, challenge_color: random, challenge_filter: none, opponent_rating_difference: }
"""


@pytest.mark.parametrize(
    ("old", "new", "noted"),
    [
        ("", "", ""),
        ("accept_bot: false", "accept_bot: ", "challenge: accept_bot: false (here true)"),
        ("ponder: false", "ponder: ", "engine: ponder: false (here true)"),
        ("  ponder: false", "  uci_ponder: true", ""),
        ("max_base: ,", "max_base: '',", "challenge: max_base: null (here 1800)"),
        (", max_depth: 8", "", "engine: polyglot.max_depth: 8 (here 20)"),
        ("enabled: true, max_depth: 8", "enabled: false", ""),
        (", max_pieces: 7", "", "engine: online_moves.online_egtb.max_pieces: 7 (here 8)"),
        ("challenge_filter: none, ", "", "matchmaking: challenge_filter: none (here fine)"),
        ("challenge_filter: none", "delay_after_decline: fine", ""),
        ("allow_matchmaking: true, challenge_color: random, ", "", ""),
    ],
)
def test_defaults_that_differ_are_noted_where_they_count(file: Path, old: str, new: str, noted: str) -> None:
    """Empty limits are none in both programs."""
    warnings = load(file, EVERY_KEY.replace(old, new)).warnings
    about = "missing keys have other defaults in lichess-bot, for which set "
    assert [it.replace(about, "") for it in warnings if about in it] == ([noted] if noted else [])


def test_a_least_weight_that_lichess_bot_ignores_has_no_effect(file: Path) -> None:
    """It plays any move of the book by its weight; a file of ours means what it says."""
    text = "engine: {name: fish, polyglot: {min_weight: 9, normalization: sum}}\n"
    loaded = load(file, text)
    assert (loaded.config.engine.polyglot.min_weight, loaded.config.engine.polyglot.normalization) == (1, "none")
    ignored = "has no effect here: lichess-bot ignores it with weighted_random"
    assert [it for it in loaded.warnings if "polyglot" in it] == [
        f"{file}:1: engine.polyglot.{key}: {ignored}" for key in ("min_weight", "normalization")
    ]
    for kept in (text.replace("min", "selection: best_move, min"), text.replace("name: fish", "command: [fish]")):
        loaded = load(file, kept)
        assert (loaded.config.engine.polyglot.min_weight, loaded.config.engine.polyglot.normalization) == (9, "sum")
    with_defaults = text.replace("9", "1").replace("sum", "none")
    assert not [it for it in load(file, with_defaults).warnings if "polyglot" in it]


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("uci_options: {go_commands: {depth: deep}}", "1: engine.depth: expected a whole number, found 'deep'"),
        ("depth: 5, uci_options: {go_commands: {depth: 9}}",
         "1: engine.depth: expected it or engine.uci_options.go_commands.depth, found both"),
    ],
)  # fmt: skip
def test_a_wrong_limit_of_lichess_bot_is_named(file: Path, keys: str, found: str) -> None:
    assert problems(file, f"engine: {{{keys}}}\n") == [found]


def test_an_unknown_limit_of_lichess_bot_gives_a_warning(file: Path) -> None:
    warning, *_ = load(file, "engine: {uci_options: {go_commands: {depth: 9, mate: 3}}}\n").warnings
    assert warning.endswith("go_commands: the bot plays with engine.depth: 9; no limit named mate is known here")
    warning, *_ = load(file, "engine: {uci_options: {go_commands: {mate: 3}}}\n").warnings
    assert warning.endswith("go_commands: has no effect here: no limit named mate is known here")


@pytest.mark.parametrize("empty", ["", "''"])
def test_an_empty_limit_is_none(file: Path, empty: str) -> None:
    loaded = load(file, f"engine: {{nodes: 5, uci_options: {{go_commands: {{nodes: {empty}, depth: {empty}}}}}}}\n")
    assert (loaded.config.engine.nodes, loaded.config.engine.depth) == (5, None)
    assert not [it for it in loaded.warnings if "go_commands" in it]
    (found,) = problems(file, "engine: {uci_options: {go_commands: {depth: []}}}\n")
    assert found == "1: engine.depth: expected a whole number, found []"


def test_a_repeated_key_counts_only_where_it_has_an_effect(file: Path) -> None:
    """A list names no engine."""
    repeated = "{cpuct: 1, cpuct: 2}"
    (warning, *_) = load(file, f"engine: {{name: [fish], homemade_options: {repeated}}}\n").warnings
    assert warning.endswith("engine.name: has no effect here: write engine.command: [\"./['fish']\"]")
    (found,) = problems(file, f"engine: {{name: fish, engine_options: {repeated}}}\n")
    assert found == "1: engine.engine_options.cpuct: is repeated; first in line 1"


def test_the_older_name_of_pondering_gives_a_warning(file: Path) -> None:
    loaded = load(file, "engine: {uci_ponder: true}\ncorrespondence: {uci_ponder: false}\n")
    assert "engine.uci_ponder: has no effect here: set engine.ponder, its newer name" in loaded.warnings[0]
    assert "correspondence.uci_ponder: has no effect here: set correspondence.ponder, its" in loaded.warnings[1]


def test_books_have_the_names_of_lichess_or_those_of_lichess_bot(file: Path) -> None:
    text = "engine: {polyglot: {book: {kingofthehill: [k.bin], racingKings: r.bin}}}\n"
    books = load(file, text).config.engine.polyglot.book
    assert (books.kingOfTheHill, books.racingKings) == ((file.parent / "k.bin",), (file.parent / "r.bin",))
    (found,) = problems(file, "engine: {polyglot: {book: {3check: 7}}}\n")
    assert found.startswith("1: engine.polyglot.book.threeCheck #1: expected text, found the number 7")
    (found,) = problems(file, "engine: {polyglot: {book: {3check: a, threeCheck: b}}}\n")
    assert found == "1: engine.polyglot.book.3check: unknown key; nearest valid key: threeCheck"


def test_keys_may_stand_among_the_books(file: Path) -> None:
    """As in lichess-bot's files from August 2019 to March 2021."""
    loaded = load(file, "engine:\n  polyglot:\n    book:\n      standard: a.bin\n      selection: best_move\n")
    assert loaded.config.engine.polyglot.selection == "best_move"
    assert loaded.location("engine.polyglot.selection") == f"{file}:5: engine.polyglot.selection"
    both = "engine: {polyglot: {min_weight: 2, book: {min_weight: 3}}}\n"
    hint = "unknown key; min_weight belongs to engine.polyglot"
    assert problems(file, both) == [f"1: engine.polyglot.book.min_weight: {hint}"]


def test_the_engine_of_a_lichess_bot_config_plays_without_our_book(file: Path) -> None:
    engine = load(file, "engine: {dir: ./engines/, name: fish, protocol: uci, working_dir: ''}\n").config.engine
    assert engine.command == (str(file.parent / "engines" / "fish"),)
    assert not engine.has_own_book
    assert load(file, "engine: {name: fish, own_book: true}\n").config.engine.has_own_book
    assert load(file, "engine: {}\n").config.engine.has_own_book
    assert not load(file, "engine: {command: [stockfish]}\n").config.engine.has_own_book
    config = load(file, "profiles: [{when: {speed: bullet}, engine: {command: [stockfish]}}]\n").config
    assert not config.engine.changed_by(config.profiles[0]).has_own_book
    assert load(file, "engine: {dir: ./engines/, command: [other], own_book: false}\n").warnings[0].endswith(
        "engine.dir: has no effect here: engine.command decides"
    )


@pytest.mark.parametrize(
    ("section", "keys", "has_book"),
    [
        ("{command: [stockfish]}", "{command: null}", True),
        ("{command: [stockfish]}", "{depth: 5}", False),
        ("{command: [stockfish], own_book: false}", "{command: null}", False),
        ("{command: [stockfish]}", "{command: [other], own_book: true}", True),
        ("{command: [stockfish], own_book: true}", "{own_book: null}", False),
        ("{own_book: false}", "{command: null}", False),
    ],
)
def test_a_profile_with_our_engine_plays_with_our_book(file: Path, section: str, keys: str, has_book: bool) -> None:
    other, this = "{when: {rated: true}, engine: {command: [other]}}", f"{{when: {{speed: blitz}}, engine: {keys}}}"
    for profiles in (this, f"{other}, {this}"):
        config = load(file, f"engine: {section}\nprofiles: [{profiles}]\n").config
        engine = config.engine
        for profile in config.profiles:
            engine = engine.changed_by(profile)
        assert engine.has_own_book is has_book


@pytest.mark.parametrize("protocol", ["xboard", "homemade"])
def test_an_engine_of_another_protocol_is_refused(file: Path, protocol: str) -> None:
    (found,) = problems(file, f"engine: {{dir: ., name: fish, protocol: {protocol}}}\n")
    assert found == f"1: engine.protocol: expected uci, found '{protocol}': every engine speaks UCI here"


@pytest.mark.parametrize("section", ["challenge: {%s}", "challenge: {bot: {%s}, max_base: 60}"])
def test_null_means_no_limit(file: Path, section: str) -> None:
    keys = "max_base: null, max_increment: null, max_days: null"
    rules = load(file, section % keys).config.challenge.rules_for(is_bot=True)
    assert (rules.max_base, rules.max_increment, rules.max_days) == (10800, 180, math.inf)


def test_a_larger_limit_than_any_clock_is_none(file: Path) -> None:
    """Default files of lichess-bot had `max_base: 315360000`."""
    rules = load(file, "challenge: {max_base: 315360000, bot: {max_increment: 1000}}\n").config.challenge
    assert (rules.max_base, rules.rules_for(is_bot=True).max_increment) == (10800, 180)
    (found,) = problems(file, "challenge: {max_base: true}\n")
    assert found == "1: challenge.max_base: expected a whole number, found true"


EMPTY = """\
engine:
  uci_options:
  polyglot: {book: , max_depth: }
  online_moves: {online_egtb: , max_retries: }
  draw_or_resign:
challenge: {human: , min_rating: , max_rating: , block_list: }
correspondence: {move_time: }
matchmaking:
  overrides:
  challenge_days:
  challenge_filter:
  opponent_min_rating:
"""


def test_a_key_without_a_value_has_its_default(file: Path) -> None:
    loaded, nothing = load(file, EMPTY), load(file, "")
    assert dotted_values(loaded.config) == dotted_values(nothing.config)
    assert loaded.warnings == ()


def test_an_empty_text_is_the_default_where_no_text_can_stand(file: Path) -> None:
    keys = (
        "abort_time", "pgn_file_grouping", "engine.style", "engine.online_moves.max_retries",
        "challenge.block_list", "challenge.min_rating", "correspondence.move_time", "matchmaking.challenge_days",
        "matchmaking.challenge_filter",
    )  # fmt: skip
    for key in keys:
        *sections, name = key.split(".")
        text = f"{''.join(f'{section}: {{' for section in sections)}{name}: ''{'}' * len(sections)}\n"
        assert dotted_values(load(file, text).config) == dotted_values(load(file, "").config), key
    assert problems(file, "engine: {strength: '', ponder: '', command: ''}\n") == [
        "1: engine.command: expected a list, found ''",
        "1: engine.strength: expected full, match_opponent or a level from 400 to 4000, found ''",
        "1: engine.ponder: expected true or false, found ''",
    ]


def test_bots_that_violate_the_terms_are_not_challenged_whatever_the_file_says(file: Path) -> None:
    (warning, *_) = load(file, "matchmaking: {opponent_allow_tos_violation: true}\n").warnings
    assert warning.endswith(
        "opponent_allow_tos_violation: has no effect here: bots that violate the terms are never challenged; "
        "remove the key"
    )


def test_the_kinds_of_games_are_those_of_lichess_bot(file: Path) -> None:
    """Bullet and blitz were proposed where the file has only days."""
    text = "{challenge_days: [2, 3], overrides: {blitz: {challenge_initial_time: 180, challenge_increment: 2}}}"
    own, blitz = (kind for _, kind in load(file, f"matchmaking: {text}\n").config.matchmaking.types())
    assert (own.challenge_initial_time, own.challenge_increment, own.challenge_days) == ((), (), (2, 3))
    assert (blitz.challenge_initial_time, blitz.challenge_increment, blitz.challenge_days) == ((180,), (2,), (2, 3))
    slow = "{challenge_initial_time: , challenge_increment: , challenge_days: [5], opponent_min_rating: }"
    kinds = dict(load(file, f"matchmaking: {{overrides: {{slow: {slow}}}}}\n").config.matchmaking.types())
    assert (kinds["slow"].challenge_initial_time, kinds["slow"].challenge_increment) == ((), ())
    assert (kinds["slow"].challenge_days, kinds["slow"].opponent_min_rating) == ((5,), 600)
    assert kinds["default"].challenge_initial_time == (60, 180)
    both = load(file, "matchmaking: {challenge_days: [2], challenge_initial_time: [60]}\n").config.matchmaking
    assert (both.challenge_initial_time, both.challenge_increment) == ((60,), (1, 2))


ENGINE = """\
engine:
  dir: ./engines/
  name: /usr/bin/lc0.jar
  interpreter: java
  interpreter_options: "-jar"
  engine_options: {show-wdl: , cpuct: 3.1, fast: true}
  uci_options: {Threads: 2, multipv: 4, Ponder: true, UCI_Variant: chess, Contempt: 1}
"""


def test_an_engine_is_started_as_lichess_bot_starts_it(file: Path) -> None:
    loaded = load(file, ENGINE)
    engine = loaded.config.engine
    assert engine.command == ("java", "-jar", "/usr/bin/lc0.jar", "--show-wdl", "--cpuct=3.1", "--fast=True")
    assert engine.uci_options == {"Contempt": 1}, "lichess-bot leaves the others to python-chess"
    for option in ("multipv", "Ponder", "UCI_Variant"):
        assert f"{file}:7: engine.uci_options.{option}: has no effect here: the bot sets this option" in loaded.warnings
    ours = load(file, "engine: {command: [fish], uci_options: {MultiPV: 4}}\n").config.engine
    assert ours.uci_options == {"MultiPV": 4}


def test_keys_without_an_effect_are_named_in_the_order_of_the_file(file: Path) -> None:
    """Whatever the value is that has no effect."""
    text = "engine:\n  name: fish\n  uci_options:\n    MultiPV: {engine: 1}\n  protocol: uci\n"
    named = [warning.split(": ")[1] for warning in load(file, text).warnings if warning.startswith(f"{file}:")]
    assert named == ["engine.name", "engine.uci_options.MultiPV", "engine.protocol"]


def test_an_empty_folder_is_none(file: Path) -> None:
    """In lichess-bot, an empty `pgn_directory` writes no games."""
    loaded = load(file, "pgn_directory: ''\nstate_dir: ''\n")
    assert loaded.config.pgn_directory is None
    assert loaded.state_dir == load(file, "").state_dir != file.parent


def test_the_keys_of_lichess_bot_for_draws_and_greetings_are_understood(file: Path) -> None:
    config = load(
        file,
        """
        engine:
          draw_or_resign:
            resign_enabled: true
            resign_score: -1000
            resign_moves: 3
            offer_draw_enabled: true
            offer_draw_score: 0
            offer_draw_moves: 10
            offer_draw_pieces: 10
        greeting: {hello: "Hi! I'm {me}. Good luck!", goodbye: "Good game!"}
        pgn_directory: games
        pgn_file_grouping: opponent
        max_takebacks_accepted: 3
        """,
    ).config
    assert config.engine.draw_or_resign.offer_draw_moves == 10
    assert config.max_takebacks_accepted == 3
