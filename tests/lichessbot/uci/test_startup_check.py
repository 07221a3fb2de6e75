"""The check of all engines at the start."""

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from engine.facade import Limits
from lichessbot.config import ChallengeConfig, Config, EngineConfig
from lichessbot.config.engine import Profile
from lichessbot.errors import ExitCode
from lichessbot.inbox import Inbox
from lichessbot.lichess.enums import Colour, OpponentKind, Variant
from lichessbot.uci import engine_process
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.machine import Machine
from lichessbot.uci.profiles import GameFacts, fitted_engine_config
from lichessbot.uci.search import BestMove, EngineDied
from lichessbot.uci.startup_check import GAME_ID, Fault, StartupCheck, exit_code
from tests.fakes.rude_engine import QUICK_PYTHON
from tests.lichessbot.uci.helpers import SMALL, TIMEOUTS, best_move, death, gone, heard, pid_of
from tests.patience import until


def test_our_engine_passes(inbox: Inbox) -> None:
    test = StartupCheck(Config(engine=SMALL), inbox.put, TIMEOUTS, Limits(depth=1))
    report = best_move(inbox)
    assert report.game_id == GAME_ID
    assert test.judge(report) == ()
    assert test.over


def test_a_network_that_cannot_be_read_is_a_fault(inbox: Inbox, tmp_path: Path) -> None:
    """Otherwise the bot would play with the shipped one, and nobody would know."""
    missing = tmp_path / "my.net"
    config = Config(engine=SMALL.model_copy(update={"uci_options": {"EvalFile": str(missing)}}))
    (fault,) = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1)).judge(heard(inbox))
    assert fault.text == f"engine.uci_options: {missing}: cannot be read: No such file or directory"
    assert fault.is_lasting


def test_an_engine_that_passes_is_handed_over_as_games_have_it(inbox: Inbox, rude_engine: Path) -> None:
    passed: list[UciEngine] = []
    ponders = SMALL.model_copy(update={"ponder": True})
    deaf = Profile.model_validate(
        {"when": {"opponent": "human"}, "engine": {"command": (*QUICK_PYTHON, str(rude_engine), "dies")}}
    )
    challenge = ChallengeConfig(variants=(Variant.STANDARD,), concurrency=2)
    config = Config(engine=ponders, challenge=challenge, profiles=(deaf,))
    test = StartupCheck(config, inbox.put, TIMEOUTS, machine=Machine(1, None), release=passed.append)
    assert test.judge(heard(inbox)) == ()
    assert test.judge(heard(inbox)) != ()
    (engine,) = passed
    assert engine.alive
    until(lambda: not engine._alarm._due_at)    # or it would be killed in the middle of a game
    bots = GameFacts("blitz", "standard", OpponentKind.BOT, 1500, False, False, Colour.WHITE)
    assert engine.config == fitted_engine_config(bots, config, Machine(1, None)) != ponders, "two games on one core"
    engine.close()


@pytest.mark.parametrize(("manner", "faults"), [("polite", 0), ("deaf", 1)])
def test_the_check_ends_if_the_system_refuses_every_thread_but_those_of_the_engine(
    inbox: Inbox, rude_engine: Path, monkeypatch: pytest.MonkeyPatch, manner: str, faults: int
) -> None:
    start = threading.Thread.start

    def start_if_of_the_engine(thread: threading.Thread) -> None:
        if not thread.name.startswith("engine-"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_if_of_the_engine)
    engine = SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(rude_engine), manner)})
    config = Config(engine=engine, challenge=ChallengeConfig(variants=(Variant.STANDARD,)))
    first_move = timedelta(seconds=1 if faults else 60) - TIMEOUTS.engine_handshake
    timeouts = replace(TIMEOUTS, engine_first_move=first_move)
    test = StartupCheck(config, inbox.put, timeouts, Limits(depth=1))
    assert len(test.judge(heard(inbox))) == faults
    assert test.over


def test_an_engine_that_does_not_start_fails_like_one_that_dies(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(engine_process.subprocess, "Popen", refuse)
    test = StartupCheck(Config(engine=SMALL), inbox.put, TIMEOUTS, Limits(depth=1))
    report = death(inbox)
    (fault,) = test.judge(report)
    assert "no more processes" in fault.text
    assert not fault.is_lasting


def test_an_engine_without_a_move_in_the_start_position_fails() -> None:
    test = StartupCheck(Config(engine=SMALL), SimpleQueue().put, TIMEOUTS, Limits(depth=1))
    (fault,) = test.judge(BestMove(GAME_ID, 0, None))
    assert fault.text == "engine: the engine finds no move in the start position"
    assert not fault.is_lasting


def test_an_engine_that_answers_with_an_illegal_move_fails(inbox: Inbox, rude_engine: Path) -> None:
    """Otherwise the bot would play all its games without the engine."""
    engine = SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(rude_engine), "illegal")})
    config = Config(engine=engine, challenge=ChallengeConfig(variants=(Variant.STANDARD,)))
    (fault,) = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1)).judge(heard(inbox))
    assert fault.text.startswith("engine: the engine answers with a wrong move: 'a1h7' is not legal here: rnbqkbnr/")
    assert not fault.is_lasting


def test_an_engine_that_dies_after_its_move_is_not_mistaken_for_the_next_one(inbox: Inbox, rude_engine: Path) -> None:
    leaves, stays = ((*QUICK_PYTHON, str(rude_engine), manner) for manner in ("leaves", "polite"))
    profile = Profile.model_validate({"when": {"opponent": "human"}, "engine": {"command": stays}})
    engine, challenge = SMALL.model_copy(update={"command": leaves}), ChallengeConfig(variants=(Variant.STANDARD,))
    config = Config(engine=engine, challenge=challenge, profiles=(profile,))
    test = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1))
    move, end = heard(inbox), heard(inbox)
    assert isinstance(move, BestMove)
    assert isinstance(end, EngineDied)
    assert test.is_meant(move)
    assert test.judge(move) == ()
    assert not test.over
    assert not test.is_meant(end)
    test.close()


def test_an_engine_that_never_gives_a_move_fails(inbox: Inbox, rude_engine: Path) -> None:
    engine = SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(rude_engine), "deaf")})
    # One second in all; the handshake alone may take a minute, so that a slow start is no other error.
    timeouts = replace(TIMEOUTS, engine_first_move=timedelta(seconds=1) - TIMEOUTS.engine_handshake)
    test = StartupCheck(Config(engine=engine), inbox.put, timeouts, Limits(depth=1))
    (fault,) = test.judge(heard(inbox))
    assert "no move in time" in fault.text
    assert not fault.is_lasting


def test_a_missing_program_is_a_lasting_fault(inbox: Inbox) -> None:
    engine = SMALL.model_copy(update={"command": ("no-such-engine",)})
    test = StartupCheck(Config(engine=engine), inbox.put, TIMEOUTS, Limits(depth=1))
    (fault,) = test.judge(heard(inbox))
    assert "no program no-such-engine" in fault.text
    assert fault.is_lasting


def test_a_missing_working_folder_is_a_lasting_fault(inbox: Inbox, tmp_path: Path) -> None:
    engine = SMALL.model_copy(update={"working_dir": tmp_path / "nowhere"})
    (fault,) = StartupCheck(Config(engine=engine), inbox.put, TIMEOUTS, Limits(depth=1)).judge(heard(inbox))
    assert f"working_dir: no folder {tmp_path / 'nowhere'}" in fault.text
    assert fault.is_lasting


@pytest.mark.parametrize(
    ("command", "is_lasting"), [("exit 127", True), ("exit 126", True), ("kill -ILL $$", True), ("exit 1", False)]
)
def test_a_program_that_this_machine_cannot_run_is_a_lasting_fault(
    inbox: Inbox, command: str, is_lasting: bool
) -> None:
    engine = SMALL.model_copy(update={"command": ("sh", "-c", command)})
    config = Config(engine=engine, challenge=ChallengeConfig(variants=(Variant.ATOMIC,)))
    (fault,) = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1)).judge(heard(inbox))
    assert fault.text.startswith("engine: the engine died: "), "it had no time to name its variants"
    assert fault.is_lasting is is_lasting, fault.text


def test_one_lasting_fault_is_enough_for_the_daemon_not_to_be_started_again() -> None:
    lasting, passing = Fault("no such program"), Fault("no more processes", is_lasting=False)
    assert exit_code([passing, lasting]) is ExitCode.USAGE
    assert exit_code([passing]) is ExitCode.FAILED


def test_an_engine_without_a_named_variant_is_a_wrong_configuration(inbox: Inbox, rude_engine: Path) -> None:
    engine = SMALL.model_copy(update={"command": (*QUICK_PYTHON, str(rude_engine), "polite")})
    config = Config(engine=engine, challenge=ChallengeConfig(variants=(Variant.ATOMIC,)))
    test = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1))
    (fault,) = test.judge(heard(inbox))
    assert fault.text.startswith("challenge.variants: expected variants that ")
    assert fault.text.endswith(" (engine) announces (standard), found atomic")
    assert fault.is_lasting


def test_a_fault_of_an_option_says_once_where_it_stands(inbox: Inbox, rude_engine: Path) -> None:
    options = {"command": (*QUICK_PYTHON, str(rude_engine), "polite"), "uci_options": {"Contempt": 1}}
    rules = ChallengeConfig(variants=(Variant.STANDARD,))
    heir = Profile.model_validate({"when": {"speed": "blitz"}, "engine": {"uci_options": {"Wit": 2}}})
    config = Config(engine=SMALL.model_copy(update=options), challenge=rules, profiles=(heir,))
    test = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1), "file.yml:3: {}".format)
    engine = test._engine
    (fault,), (of_heir,) = (test.judge(heard(inbox)) for _ in range(2))
    assert gone(pid_of(engine))
    assert fault.text.startswith("file.yml:3: engine.uci_options.Contempt: the engine offers no such option")
    assert of_heir.text.startswith("file.yml:3: profiles #1.engine.uci_options.Wit: the engine offers no such option")


TOO_SMALL = "engine.hash_mb: expected a whole number from 16 to 1024, found 8"
TOO_LARGE = "engine.hash_mb: expected a whole number from 1 to 32, found 64"


@pytest.mark.parametrize(("manner", "hash_mb", "memory_mb", "faults"), [
    ("roomy", 64, 64, []), ("roomy", 8, 4096, [TOO_SMALL]),
    ("narrow", None, 4096, []), ("narrow", 64, 4096, [TOO_LARGE]),
])  # fmt: skip
def test_a_hash_table_that_nobody_chose_is_no_fault(
    inbox: Inbox,
    rude_engine: Path,
    caplog: pytest.LogCaptureFixture,
    manner: str,
    hash_mb: int | None,
    memory_mb: int,
    faults: list[str],
) -> None:
    """It is the default, or what fits into the memory of the machine."""
    chosen = {} if hash_mb is None else {"hash_mb": hash_mb}
    engine = EngineConfig.model_validate({"command": (*QUICK_PYTHON, str(rude_engine), manner), **chosen})
    config = Config(engine=engine, challenge=ChallengeConfig(variants=(Variant.STANDARD,)))
    test = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1), machine=Machine(1, memory_mb))
    assert [fault.text for fault in test.judge(heard(inbox))] == faults
    assert "hash_mb" not in caplog.text, "games log nothing of it either"


@pytest.mark.parametrize(
    ("manner", "engine", "faults"),
    [
        ("levelled", {"strength": 1320}, []),
        ("levelled", {"strength": "full"}, []),
        ("levelled", {"strength": "match_opponent", "match_opponent": {"floor": 1400}}, []),
        ("levelled", {"strength": 900},
         ["engine.strength: the engine plays at levels from 1320 to 3190, found 900; nearest: 1320"]),
        ("levelled", {"strength": "match_opponent", "match_opponent": {"ceiling": 3500}},
         ["engine.match_opponent.floor: the engine plays at levels from 1320 to 3190, found 800; nearest: 1320",
          "engine.match_opponent.ceiling: the engine plays at levels from 1320 to 3190, found 3500; nearest: 3190"]),
        ("polite", {"strength": 1500},
         ["engine.strength: the engine offers no UCI_LimitStrength with UCI_Elo and plays at full strength only; "
          "set full, found 1500"]),
    ],
)  # fmt: skip
def test_an_engine_without_the_wanted_levels_is_named(
    inbox: Inbox, rude_engine: Path, manner: str, engine: dict[str, object], faults: list[str]
) -> None:
    command = (*QUICK_PYTHON, str(rude_engine), manner)
    challenge = ChallengeConfig(variants=(Variant.STANDARD,))
    config = Config(engine=EngineConfig.model_validate({**engine, "command": command}), challenge=challenge)
    test = StartupCheck(config, inbox.put, TIMEOUTS, Limits(depth=1))
    assert [fault.text for fault in test.judge(heard(inbox))] == faults


@pytest.mark.parametrize(("manner", "ponder", "told"), [
    ("levelled", True, True), ("levelled", False, False), ("echoing", True, False),
])  # fmt: skip
def test_the_log_tells_that_an_engine_does_not_ponder(
    inbox: Inbox, rude_engine: Path, caplog: pytest.LogCaptureFixture, manner: str, ponder: bool, told: bool
) -> None:
    caplog.set_level("INFO")
    command = (*QUICK_PYTHON, str(rude_engine), manner)
    challenge = ChallengeConfig(variants=(Variant.STANDARD,))
    engine = EngineConfig.model_validate({"command": command, "ponder": ponder})
    test = StartupCheck(Config(engine=engine, challenge=challenge), inbox.put, TIMEOUTS, Limits(depth=1))
    assert test.judge(heard(inbox)) == ()
    assert ("engine.no_ponder engine=rude" in [record.getMessage() for record in caplog.records]) is told
