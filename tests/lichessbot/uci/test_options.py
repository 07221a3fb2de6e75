"""The options of real engines, and what is set."""

import pytest

from lichessbot.config import EngineConfig
from lichessbot.uci.options import Options

STOCKFISH = """\
option name Debug Log File type string default
option name Threads type spin default 1 min 1 max 1024
option name Hash type spin default 16 min 1 max 33554432
option name Clear Hash type button
option name Ponder type check default false
option name Skill Level type spin default 20 min 0 max 20
option name Move Overhead type spin default 10 min 0 max 5000
option name UCI_ShowWDL type check default false
option name SyzygyPath type string default <empty>
option name SyzygyProbeLimit type spin default 7 min 0 max 7
option name Contempt type spin default 24
option name Style type combo default Normal var Solid var Normal var Very Risky
option name Broken type wheel default 3
option type check
option
"""


@pytest.fixture
def options() -> Options:
    offered = Options()
    for line in STOCKFISH.splitlines():
        offered.note(line.split()[1:])
    return offered


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("Skill Level", 3, "setoption name Skill Level value 3"),
        ("skill level", 20, "setoption name Skill Level value 20"),
        ("Skill Level", "10", "setoption name Skill Level value 10"),
        ("Skill Level", 10.0, "setoption name Skill Level value 10"),
        ("UCI_ShowWDL", True, "setoption name UCI_ShowWDL value true"),
        ("UCI_ShowWDL", "true", "setoption name UCI_ShowWDL value true"),
        ("UCI_ShowWDL", "false", "setoption name UCI_ShowWDL value false"),
        ("SyzygyPath", "10", "setoption name SyzygyPath value 10"),
        ("SyzygyPath", "010", "setoption name SyzygyPath value 010"),
        ("SyzygyPath", "/My tables", "setoption name SyzygyPath value /My tables"),
        ("SyzygyPath", "", "setoption name SyzygyPath value <empty>"),
        ("SyzygyPath", None, "setoption name SyzygyPath value <empty>"),
        ("Contempt", -300, "setoption name Contempt value -300"),
        ("SyzygyPath", "a\nquit", "setoption name SyzygyPath value a quit"),
        ("Style", "very risky", "setoption name Style value Very Risky"),
        ("Clear Hash", None, "setoption name Clear Hash"),
    ],
)
def test_an_option_is_set_as_uci_writes_it(options: Options, name: str, value: object, line: str) -> None:
    config = EngineConfig.model_validate({"uci_options": {name: value}})
    assert line in list(options.settings(config))
    assert list(options.complaints(config)) == []


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("Skil Level", 3, "uci_options.Skil Level: the engine offers no such option; nearest: Skill Level"),
        ("Broken", 3, "uci_options.Broken: the engine offers no such option"),
        ("qqqqqqqq", 3, "uci_options.qqqqqqqq: the engine offers no such option"),
        ("Skill Level", 21, "uci_options.Skill Level: expected a whole number from 0 to 20, found 21"),
        ("Skill Level", -1, "uci_options.Skill Level: expected a whole number from 0 to 20, found -1"),
        ("Skill Level", "high", "uci_options.Skill Level: expected a whole number from 0 to 20, found 'high'"),
        ("Skill Level", 1.5, "uci_options.Skill Level: expected a whole number from 0 to 20, found 1.5"),
        ("Skill Level", "21", "uci_options.Skill Level: expected a whole number from 0 to 20, found 21"),
        ("Skill Level", True, "uci_options.Skill Level: expected a whole number from 0 to 20, found true"),
        ("Contempt", "high", "uci_options.Contempt: expected a whole number, found 'high'"),
        ("UCI_ShowWDL", "True", "uci_options.UCI_ShowWDL: expected true or false, found 'True'"),
        ("UCI_ShowWDL", 1, "uci_options.UCI_ShowWDL: expected true or false, found 1"),
        ("Style", "Wild", "uci_options.Style: expected one of Solid, Normal, Very Risky, found 'Wild'"),
    ],
)
def test_an_option_that_the_engine_refuses_is_reported_and_not_set(
    options: Options, name: str, value: object, complaint: str
) -> None:
    config = EngineConfig(uci_options={name: value})
    (found,) = options.complaints(config)
    assert found.startswith(complaint)
    assert not [line for line in options.settings(config) if name.lower() in line.lower()]


def test_an_option_that_no_name_is_like_has_no_nearest_one() -> None:
    options = Options()
    options.note(["name", "Ponder", "type", "check", "default", "false"])
    (found,) = options.complaints(EngineConfig(uci_options={"Contempt": 24}))
    assert found == "uci_options.Contempt: the engine offers no such option"


def test_what_has_a_key_of_its_own_is_set_within_the_bounds_of_the_engine(options: Options) -> None:
    lines = list(options.settings(EngineConfig(hash_mb=32, threads=2, move_overhead_ms=5000, ponder=False)))
    assert lines == [
        "setoption name Hash value 32",
        "setoption name Threads value 2",
        "setoption name Move Overhead value 5000",
        "setoption name Ponder value false",
    ]
    assert options.setoptions("move overhead", 9000) == ("setoption name Move Overhead value 5000",)


def test_an_engine_that_begins_with_chess960_and_several_lines_is_told_otherwise(options: Options) -> None:
    for line in ("name UCI_Chess960 type check default true", "name MultiPV type spin default 4 min 1 max 10"):
        options.note(line.split())
    assert list(options.settings(EngineConfig()))[:2] == [
        "setoption name UCI_Chess960 value false",
        "setoption name MultiPV value 1",
    ]


def test_our_own_engine_searches_with_the_tables_that_are_asked_for_moves(options: Options) -> None:
    tables = {"enabled": True, "paths": ["/one", "/two"], "max_pieces": 5}
    ours = EngineConfig.model_validate({"lichess_bot_tbs": {"syzygy": tables}})
    assert [line for line in options.settings(ours) if "Syzygy" in line] == [
        "setoption name SyzygyPath value /one:/two",
        "setoption name SyzygyProbeLimit value 5",
    ]
    others = ours.model_copy(update={"command": ("stockfish",)})
    unwanted = EngineConfig.model_validate({"lichess_bot_tbs": {"syzygy": tables | {"enabled": False}}})
    assert not [line for it in (others, unwanted) for line in options.settings(it) if "Syzygy" in line]
    named = ours.model_copy(update={"uci_options": {"SyzygyPath": "/three"}})
    assert [line for line in options.settings(named) if "Syzygy" in line][-1].endswith("/three")


def test_an_engine_without_options_gets_none() -> None:
    assert list(Options().settings(EngineConfig())) == []
    assert list(Options().complaints(EngineConfig())) == []


def test_a_tablebase_path_that_the_engine_refuses_is_reported() -> None:
    offered = Options()
    offered.note(["name", "Hash", "type", "spin", "default", "16", "min", "1", "max", "32"])
    assert list(offered.complaints(EngineConfig(hash_mb=64))) == [
        "hash_mb: expected a whole number from 1 to 32, found 64"
    ]


def test_the_number_of_options_is_limited() -> None:
    offered = Options()
    for number in range(5000):
        offered.note(f"name Option {number} type button".split())
    assert offered.get("Option 999") is not None
    assert offered.get("Option 1000") is None
