"""Ladders: who plays whom, games with a foreign engine, results that survive an interruption."""

import sys
from pathlib import Path

import pytest

from engine.cli.main import run
from engine.facade import OWN_BOOK, Board, Book, build_mode
from engine.pgn.time_control import TimeControl
from engine.selfplay import ladder, uci_client
from engine.selfplay.calibration import Plan, Report
from engine.selfplay.ladder import (
    Forfeit,
    Pair,
    PlayedPair,
    Results,
    make_player,
    opening,
    parse_foreign,
    play_for_points,
    play_pair,
    stockfish_anchors,
)
from engine.selfplay.ratings import Pairing
from engine.selfplay.records import InvalidRecord
from engine.selfplay.uci_client import EngineFailed, UciClient
from tests.scripts import script, silly

LEVELS = [f"level {rating}" for rating in (600, 900, 1200, 1500)]
ANCHORS = {"a UCI_Elo=1000": 1000.0, "b UCI_Elo=2000": 2000.0}
needs_speed = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python")


@pytest.fixture
def foreign(tmp_path: Path) -> str:
    """Our own engine as a foreign one."""
    return script(tmp_path / "foreign", f"#!/bin/sh\nexec {sys.executable} -P -m engine\n")


def test_neighbours_play_each_other_and_the_anchors_near_them() -> None:
    pairs = Plan(LEVELS, ANCHORS, 250).pairings([])
    assert ("random", "level 600") in pairs
    assert ("level 600", "level 900") in pairs
    assert ("level 600", "level 1200") in pairs
    assert [pair for pair in pairs if pair[1] in ANCHORS] == [
        ("level 900", "a UCI_Elo=1000"),
        ("level 1200", "a UCI_Elo=1000"),
    ]


def test_results_tell_which_anchors_are_near() -> None:
    """Here level 1500 plays like 2000."""
    results = [Pairing("level 1500", "b UCI_Elo=2000", 50, 100)]
    assert ("level 1500", "b UCI_Elo=2000") in Plan(LEVELS, ANCHORS, 250).pairings(results)


def test_the_report_has_the_error_of_the_labels_and_marks_what_is_extrapolated() -> None:
    results = [Pairing("level 1200", "a UCI_Elo=1000", 760, 1000), Pairing("level 900", "level 1200", 150, 1000)]
    lines = list(Report(Plan(LEVELS, ANCHORS, 250), results).lines())
    assert any(line.startswith("level 900 ") and line.endswith("extrapolated") for line in lines)
    assert any(line.startswith("level 1200") and "85.0 % of 1000 games" in line for line in lines)
    assert "all bands: off by 1 on average, 1 at worst" in lines


def test_the_calibration_can_be_read_and_rises() -> None:
    levels = ["skill 500", "skill 900", "skill 1200"]
    results = [Pairing("skill 900", "a UCI_Elo=1000", 30, 100), Pairing("skill 900", "skill 1200", 15, 100)]
    results.append(Pairing("skill 500", "skill 900", 5, 100))
    names: dict[str, list[tuple[int, float]]] = {}
    exec(Report(Plan(levels, ANCHORS, 250), results).calibration(), names)
    rated = names["RATED"]
    assert [skill for _, skill in rated] == [500, 900, 1200]
    assert [rating for rating, _ in rated] == sorted(rating for rating, _ in rated)


def test_openings_are_of_the_book_differ_and_are_the_same_for_the_same_number() -> None:
    assert opening(3).moves == opening(3).moves
    found = {tuple(opening(number).moves) for number in range(20)}
    assert len(found) > 10
    assert {moves[0] for moves in found} <= {it.move for it in Book(OWN_BOOK).moves(Board())}


@needs_speed
def test_a_pair_is_repeatable() -> None:
    pair = Pair("level 700", "level 1300", 4)
    assert play_pair(pair) == play_pair(pair)
    assert play_pair(Pair("random", "level 1300", 0)).points == 0


def test_the_players_of_a_pair_change_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "play_for_points", lambda board, white, black, time_control: (1.0, None))
    assert play_pair(Pair("random", "level 700", 0)).points == 1, "White won both games"


@needs_speed
def test_a_foreign_engine_plays_with_a_clock(foreign: str) -> None:
    assert play_pair(Pair(f"{foreign} UCI_Elo=600 rating=600", "level 2600", 0, TimeControl(200, 0.2))).points == 0


@needs_speed
def test_a_foreign_engine_that_fails_is_reported(foreign: str, tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match="has no option 'UCI_Ela'; did you mean UCI_Elo"):
        UciClient(foreign, {"UCI_Ela": "1500"})
    with pytest.raises(EngineFailed, match="there is no such program"):
        UciClient(str(tmp_path / "missing"), {})
    with pytest.raises(EngineFailed, match="true has ended"):
        UciClient("true", {})


def test_a_bestmove_without_a_move_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match="said bestmove without a move"):
        UciClient(silly(tmp_path, "bestmove"), {}).go((), "depth 1")


@pytest.mark.parametrize("limits", ["movetime 60000", "wtime 60000 btime 1 winc 0 binc 0"])
def test_a_foreign_engine_may_use_the_time_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: str
) -> None:
    monkeypatch.setattr(uci_client, "ANSWER_S", 0.0)
    assert UciClient(silly(tmp_path, "bestmove e2e4", pause_s=0.3), {}).go((), limits) == "e2e4"


def test_a_foreign_engine_is_read_from_its_text() -> None:
    assert parse_foreign(stockfish_anchors("/my engines/sf")[0]).command == "/my engines/sf"
    anchor = parse_foreign(stockfish_anchors("sf")[2])
    assert (anchor.command, anchor.options, anchor.limits, anchor.rating) == (
        "sf", {"Skill Level": "2"}, "nodes 5000", 1608.0
    )  # fmt: skip
    assert parse_foreign("sf UCI_Elo=1500").rating == 1500.0
    assert parse_foreign("sf Style=Risky depth=2").options == {"Style": "Risky"}
    assert parse_foreign("sf UCI_Elo=1500").options["UCI_LimitStrength"] == "true"
    for text, problem in (
        ("sf 'Skill", "expected a command"),
        ("sf fast", "expected NAME=VALUE after sf, found 'fast'"),
        ("sf depth=x", "expected a whole number for depth, found 'x'"),
    ):
        with pytest.raises(EngineFailed, match=problem):
            parse_foreign(text)


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results = Results(path)
    results.add(PlayedPair(Pair("a", "b", 0), 1.5))
    results.add(PlayedPair(Pair("a", "b", 2), 0.0, (("a", Forfeit.TIME), ("a", Forfeit.ILLEGAL))))
    again = Results(path)
    assert again.forfeits == results.forfeits == {("a", Forfeit.TIME): 1, ("a", Forfeit.ILLEGAL): 1}
    assert again.missing("a", "b", 4) == [1, 3]
    assert again.pairings() == [Pairing("a", "b", 1.5, 4)]
    path.write_text(path.read_text() + "[1, 2]\n")
    with pytest.raises(InvalidRecord, match=r"results\.jsonl:3: expected \[first, second, pair, points 0 to 2\]"):
        Results(path)
    path.write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(InvalidRecord, match=r"results\.jsonl:1: expected"):
        Results(path)


@pytest.mark.parametrize("cut", range(1, 59))
def test_a_result_that_a_power_cut_halved_is_played_again(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    pairs = [
        PlayedPair(Pair("a", "b", 0), 1.5),
        PlayedPair(Pair("a", "b", 1), 0.0, (("a", Forfeit.TIME), ("a", Forfeit.ILLEGAL))),
    ]
    for pair in pairs:
        Results(path).add(pair)
    whole = path.read_text()
    path.write_text(whole[:-cut])
    results = Results(path)
    for number in results.missing("a", "b", 2):
        results.add(pairs[number])
    assert path.read_text() == whole


def test_a_file_of_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    damaged = ('["a", "b", 0, 99]\n', '["a", "b", 0, NaN]\n', '["a", "b", 0\n["a", "b", 1, 1.5]\n')
    for text in ("[1, 2, 3]", "notes", *damaged):
        path.write_text(text)
        with pytest.raises(InvalidRecord, match=r"results\.jsonl:1: expected"):
            Results(path)
        assert path.read_text() == text


def test_results_with_another_clock_are_refused(tmp_path: Path) -> None:
    path, bullet, blitz = tmp_path / "results.jsonl", TimeControl(8, 0.08), TimeControl(180, 2)
    Results(path, bullet).add(PlayedPair(Pair("a", "b", 0, bullet), 1.5))
    Results(path, bullet).add(PlayedPair(Pair("a", "b", 1, bullet), 0.5, (("b", Forfeit.TIME),)))
    assert Results(path, bullet).pairings() == [Pairing("a", "b", 2.0, 4)]
    assert Results(path, bullet).forfeits == {("b", Forfeit.TIME): 1}
    with pytest.raises(InvalidRecord, match=r"jsonl:1: played with 8\+0\.08, expected 180\+2: choose another file"):
        Results(path, blitz)
    path.write_text('["a", "b", 0, 1.5]\n')
    with pytest.raises(InvalidRecord, match="played with no clock, expected 180"):
        Results(path, blitz)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_the_file_for_which_there_is_no_space_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results = Results(path)
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=rf"No space left on device: '{path}'"):
        results.add(PlayedPair(Pair("a", "b", 0), 1.5))


@pytest.mark.parametrize(
    ("answer", "forfeit"),
    [("bestmove a1a1", Forfeit.ILLEGAL), ("bestmove (none)", Forfeit.ILLEGAL), ("bestmove", Forfeit.FAILURE)],
)
def test_a_game_lost_otherwise_than_on_the_board_is_noted(answer: str, forfeit: Forfeit, tmp_path: Path) -> None:
    foreign = silly(tmp_path, answer)
    pair = Pair("random", foreign, 0)
    assert play_pair(pair) == PlayedPair(pair, 2.0, ((foreign, forfeit),) * 2)


def test_a_slow_engine_loses_on_time(tmp_path: Path) -> None:
    foreign = silly(tmp_path, "bestmove e2e4", pause_s=1.5)
    slow, other = make_player(foreign), make_player("random")
    for player in (slow, other):
        player.new_game(0)
    assert play_for_points(Board(), slow, other, TimeControl(1, 0)) == (0.0, Forfeit.TIME)


def test_an_engine_that_crashes_is_started_again_but_not_for_ever(tmp_path: Path) -> None:
    """The first process crashes at once, the second one plays, all others crash."""
    command = script(
        tmp_path / "crash",
        f"#!/bin/sh\necho >>{tmp_path}/starts\nwhile read line; do case $line in\nuci) echo uciok;;\n"
        "isready) echo readyok;;\nquit) exit;;\n"
        f"go*) if [ $(wc -l <{tmp_path}/starts) = 2 ]; then echo bestmove a1a1; else exit 3; fi;;\nesac; done\n",
    )
    crashing, board = make_player(command), Board()
    found = []
    for game in range(3):
        crashing.new_game(game)
        found.append(play_for_points(board, crashing, crashing, None)[1])
    assert found == [Forfeit.FAILURE, Forfeit.ILLEGAL, Forfeit.ILLEGAL]
    (tmp_path / "starts").write_text("many\n" * 5)
    for game in range(3):
        crashing.new_game(game)
        assert play_for_points(board, crashing, crashing, None) == (0.0, Forfeit.FAILURE)
    with pytest.raises(EngineFailed, match="crash failed in 3 games in a row"):
        crashing.new_game(3)


def test_an_engine_that_ends_between_two_games_is_started_again(tmp_path: Path) -> None:
    """Each process ends after its move, the fourth one before it is ready."""
    command = script(
        tmp_path / "brief",
        f"#!/bin/sh\necho >>{tmp_path}/starts\n[ $(wc -l <{tmp_path}/starts) -lt 4 ] || exit\n"
        "while read line; do case $line in\nuci) echo uciok;;\nisready) echo readyok;;\n"
        "go*) echo bestmove a1a1; exit;;\nesac; done\n",
    )
    brief = make_player(command)
    for game in range(3):
        brief.new_game(game)
        assert play_for_points(Board(), brief, brief, None) == (0.0, Forfeit.ILLEGAL)
    with pytest.raises(EngineFailed, match="brief has ended"):
        brief.new_game(3)


def test_the_report_names_games_lost_otherwise_than_on_the_board() -> None:
    forfeits = {("a", Forfeit.ILLEGAL): 1, ("b", Forfeit.FAILURE): 2, ("a", Forfeit.TIME): 3}
    lines = list(Report(Plan(LEVELS, ANCHORS, 250), [Pairing("level 900", "level 1200", 1, 2)], forfeits).lines())
    assert lines[-2:] == [
        "games lost: 3 on time, 1 by an illegal move: a", "games lost: 2 by a crash or no answer: b",
    ]  # fmt: skip


@needs_speed
def test_a_calibration_with_illegal_moves_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, skills, foreign = tmp_path / "ladder.jsonl", tmp_path / "calibration.py", silly(tmp_path, "bestmove a1a1")
    command = ("calibrate", str(path), "--skills", "--least", "500", "--most", "700", "--step", "200", "--pairs", "1")
    assert run((*command, "--processes", "1", "--anchor", f"{foreign} rating=600", "--write", str(skills))) == 2
    output, error = capsys.readouterr()
    assert output.splitlines()[-1] == f"games lost: 4 by an illegal move: {foreign} rating=600"
    assert error.startswith(f"{skills} is not written: 4 games were lost by an illegal move or a crash;")
    assert not skills.exists()


def test_a_calibration_of_one_skill_is_not_written() -> None:
    plan = Plan(["skill 500"], ANCHORS, 250)
    with pytest.raises(InvalidRecord, match="expected two skills or more"):
        Report(plan, [Pairing("skill 500", "a UCI_Elo=1000", 5, 100)]).calibration()


@needs_speed
def test_calibrate_plays_reports_and_continues(
    tmp_path: Path, foreign: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, skills = tmp_path / "ladder.jsonl", tmp_path / "calibration.py"
    command = ("calibrate", str(path), "--skills", "--least", "500", "--most", "900", "--step", "200")
    anchor = ("--processes", "1", "--anchor", f"{foreign} UCI_Elo=700 rating=700")
    assert run((*command, *anchor, "--pairs", "1", "--write", str(skills))) == 0
    output = capsys.readouterr().out
    assert "skill 900" in output
    assert "anchor 700, by its games" not in output        # without another anchor nothing says how good it is
    assert skills.read_text().count("(") >= 3
    played = path.read_text()
    assert run((*command, *anchor, "--pairs", "1")) == 0
    assert path.read_text() == played


def test_a_ladder_of_one_skill_is_refused_before_it_is_played(
    tmp_path: Path, foreign: str, capsys: pytest.CaptureFixture[str]
) -> None:
    results, skills = tmp_path / "ladder.jsonl", tmp_path / "calibration.py"
    command = ("calibrate", str(results), "--skills", "--step", "9000", "--anchor", f"{foreign} rating=900")
    assert run((*command, "--write", str(skills))) == 2
    assert capsys.readouterr().err.startswith("--write needs two skills or more, and an anchor")
    assert not results.exists()


def test_a_ladder_without_a_near_anchor_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ratings would begin at 0."""
    anchor = f"{silly(tmp_path, 'bestmove e2e4')} rating=700"
    command = ("calibrate", str(tmp_path / "ladder.jsonl"), "--least", "2000", "--most", "2200", "--anchor", anchor)
    assert run((*command, "--reach", "1299")) == 2
    assert capsys.readouterr().err.startswith("no level is within --reach of an anchor")
    results = Results(tmp_path / "ladder.jsonl")
    for first, second in (("random", "level 2000"), ("random", "level 2150"), ("level 2000", "level 2150")):
        for number in range(20):
            results.add(PlayedPair(Pair(first, second, number), 1))
    results.add(PlayedPair(Pair("level 2000", anchor, 0), 0))      # of a run with a longer reach
    assert run((*command, "--reach", "1")) == 0
    assert "level 2150" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "expected a file for the results"),
        (("no/a",), "cannot write no/a: there is no folder no"),
        (("a", "--least", "500"), "expected --least below --most, from 600 to"),
        (("a", "--write", "b"), "--write needs --skills"),
        (("a", "--skills", "--write", "b"), "--write needs two skills or more, and an anchor"),
        (("a", "--clock", "fast"), "expected seconds such as 8+0.08, found 'fast'"),
        (("a", "--anchor", "sf depth=3"), "anchor 'sf depth=3' has no rating"),
        (("a", "--anchor", "no-such-engine rating=900"), "no-such-engine: there is no such program"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(("calibrate", *arguments)) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
