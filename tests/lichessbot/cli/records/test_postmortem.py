"""`lichessbot postmortem`: a game that was lost by one move, and by its clock."""

import io
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lichessbot.storage.game_records import GameRecord, MoveRecord, Result
from tests.lichessbot.cli.records.conftest import Asked

GAME = GameRecord(
    "game0001", 1_767_225_600.0, "BOT Karl", opponent_id="karl", opponent_title="BOT", opponent_rating=1900,
    our_name="TestBot", variant="standard", speed="blitz", rated=True, colour="white", base_s=180, increment_s=2,
    status="mate", result=Result.LOST, eco="C20", opening="King's Pawn Game: Wayward Queen Attack",
)  # fmt: skip
# 3. Qxh7 loses the queen for a pawn, 3. Qxe5+ wins a pawn.
BLUNDER = [
    MoveRecord(1, "e2e4", 179_000, "own_book", 30, 0, 0, 1, 2, 90),
    MoveRecord(2, "e7e5", 178_000),
    MoveRecord(3, "d1h5", 170_000, "engine", 20, 9, 80_000, 900, 3, 100),
    MoveRecord(4, "g8f6", 171_000),
    MoveRecord(5, "h5h7", 35_000, "engine", 10, 4, 1_234, 40, 900, 2_500),
    MoveRecord(6, "h8h7", 165_000),
    MoveRecord(7, "b1c3", 30_000, "engine", -850, 9, 90_000, 800, 3, 120),
]


@pytest.fixture
def told(about: Asked) -> Asked:
    """Return a function that records these moves of the game and runs the command on it."""
    return partial(about, "postmortem", GAME)


def test_the_move_that_lost_is_named_with_what_a_deeper_look_says(told: Asked) -> None:
    code, lines, _ = told(BLUNDER, "--seconds", "1")
    assert code == 0
    assert lines[0].startswith("game game0001: 3+2 rated, as white against BOT Karl (1900), 202")
    assert lines[0].endswith(": lost, mate, 7 plies")
    assert lines[1:-1] == [
        "opening: C20 King's Pawn Game: Wayward Queen Attack",
        "our evaluation: ▅▅▅▁ +0.30 at first, -8.50 at the end",
        "our moves: 1 own_book, 3 engine",
        "clocks at the end: ours 0:30, theirs 2:45",
        "reaction: 3 ms in the median, at most 900 ms at move 3",
        "delivery: 120 ms in the median, at most 2,500 ms at move 3",
        "turning point: 3. Qxh7, +0.10 before, -8.50 at our next move",
        "  from the engine in 0.04 s: depth 4, 1,234 nodes, 0:35 left on the clock",
    ]
    assert lines[-1].startswith("  a deeper look (depth ")
    assert "better was Qxe5+ (" in lines[-1]
    assert "; the move played is -" in lines[-1]


def test_the_variant_is_named(told: Asked) -> None:
    _, lines, _ = told(BLUNDER[:2], variant="crazyhouse")
    assert lines[0].startswith("game game0001: 3+2 rated crazyhouse, as white against BOT Karl (1900), ")


def test_a_game_without_a_known_end_may_still_be_played(told: Asked) -> None:
    _, lines, _ = told(BLUNDER[:2], status="", result=None)
    assert lines[0].endswith(": running, or its end is unknown, 2 plies")
    _, lines, _ = told(BLUNDER[:2], status="aborted", result=None)
    assert lines[0].endswith(": no result, aborted, 2 plies")


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("polyglot", "from polyglot in 0.04 s, not from the engine"),
        ("fallback", "from the bot's own short search, as no engine answered"),
        ("", "from another process in 0.04 s, not from the engine"),
    ],
)
def test_the_source_of_the_move_is_told(told: Asked, source: str, origin: str) -> None:
    moves = [*BLUNDER[:4], replace(BLUNDER[4], source=source), *BLUNDER[5:]]
    code, lines, _ = told(moves, "--seconds", "0")
    assert (code, lines[-1]) == (0, f"  {origin}, 0:35 left on the clock")


def test_a_loss_on_time_is_told_apart_from_a_lost_position(told: Asked) -> None:
    _, lines, _ = told(BLUNDER[:4], status="outoftime")
    assert "cause: lost on time with an evaluation of +0.20, not by the position" in lines
    assert lines[-1] == "our evaluation never fell by 0.5 pawns from one move to the next"
    _, lines, _ = told(BLUNDER, "--seconds", "0", status="outoftime")
    assert "cause: lost on time with an evaluation of -8.50" in lines


def test_a_game_that_we_did_not_start_was_not_lost_by_the_position(told: Asked) -> None:
    _, lines, _ = told([], status="noStart")
    assert "cause: our first move was not made in time, not by the position" in lines
    assert not any(line.startswith("our moves:") for line in lines)


def test_a_game_that_the_opponent_claimed_was_not_lost_on_time(told: Asked) -> None:
    _, lines, _ = told(BLUNDER, "--seconds", "0", status="timeout")
    assert "cause: Lichess saw us leave, and the opponent claimed the game with an evaluation of -8.50" in lines


def test_moves_have_the_numbers_of_the_start_position(told: Asked) -> None:
    start = "4k3/8/8/8/8/8/8/4K2R b - - 0 30"
    moves = [MoveRecord(1, "e8d8"), MoveRecord(2, "h1h8", reaction_ms=900), MoveRecord(3, "d8d7")]
    _, lines, _ = told(moves, initial_fen=start, variant="fromPosition")
    assert "reaction: 900 ms in the median, at most 900 ms at move 31" in lines


def test_without_evaluations_nothing_is_claimed(told: Asked) -> None:
    code, lines, _ = told([MoveRecord(1, "e2e4", source=""), MoveRecord(2, "e7e5")])
    assert (code, lines[-1]) == (0, "no move of ours has an evaluation, so nothing shows where the game turned")


@pytest.mark.parametrize(
    ("start", "moves", "turn", "verdict"),
    [
        ("k7/3Q4/8/8/8/8/8/7K b - - 0 30", "a8b8 h1g1 b8a8", "30... Kb8", "already lost"),
        ("8/8/8/8/8/6kp/8/7K w - - 0 30", "h1g1 h3h2 g1h1", "30. Kg1", "no mistake"),
    ],
)
def test_the_only_move_is_not_blamed(told: Asked, start: str, moves: str, turn: str, verdict: str) -> None:
    colour = "black" if " b " in start else "white"
    played = [
        MoveRecord(ply, move, source="engine", score_cp={1: -200, 3: -400}.get(ply), depth=1)
        for ply, move in enumerate(moves.split(), 1)
    ]
    code, lines, _ = told(played, "--seconds", "0.2", variant="fromPosition", initial_fen=start, colour=colour)
    assert code == 0
    assert lines[-3] == f"turning point: {turn}, -2.00 before, -4.00 at our next move"
    assert "): nothing better than " in lines[-1]
    assert lines[-1].endswith(f": {verdict}")


@pytest.mark.parametrize(
    "where",
    ["{0}", "profiles: [{{when: {{clock: [3+2]}}, {0}}}]", "profiles: [{{when: {{opponent_name: Karl}}, {0}}}]"],
)
def test_an_engine_that_does_not_start_is_told_in_one_line(tmp_path: Path, told: Asked, where: str) -> None:
    engine = where.format("engine: {command: [no-such-engine]}")
    (tmp_path / "config.yml").write_text(f"state_dir: state\n{engine}\n")
    code, lines, errors = told(BLUNDER, "--seconds", "1")
    assert code == 1
    assert errors.startswith("the engine gives no answer: the engine does not start: no program no-such-engine that ")
    assert errors.count("\n") == 1
    assert lines[-1].startswith("  from the engine in 0.04 s")


@pytest.mark.parametrize(
    ("says", "problem"),
    [
        ("info depth 3\nbestmove h5e5", "it reports no evaluation"),
        ("info depth 3 score cp 31 pv a1h7\nbestmove a1h7", "its best move 'a1h7' is not legal here"),
    ],
)
def test_an_engine_whose_answer_is_of_no_use_is_told_in_one_line(
    tmp_path: Path, told: Asked, says: str, problem: str
) -> None:
    answers = "".join(f"{asked}) echo '{says}';;\n" for asked, says in (("uci", "uciok"), ("isready", "readyok")))
    (tmp_path / "engine.sh").write_text(
        f"while read command _; do case $command in\n{answers}go) echo '{says}';;\nquit) exit;;\nesac; done\n"
    )
    (tmp_path / "config.yml").write_text(f"state_dir: state\nengine: {{command: [sh, {tmp_path}/engine.sh]}}\n")
    code, _, errors = told(BLUNDER, "--seconds", "1")
    assert (code, errors.count("\n")) == (1, 1)
    assert errors.startswith(f"the engine gives no answer: {problem}")


def test_moves_that_cannot_be_replayed_are_told(told: Asked) -> None:
    code, lines, errors = told([MoveRecord(1, "e2e5")])
    assert (code, lines) == (1, [])
    assert errors.startswith("game0001: the recorded moves cannot be replayed: 'e2e5' is not legal here")


def test_a_terminal_without_unicode_gets_no_curve(told: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", plain)
    code, _, _ = told(BLUNDER, "--seconds", "0")
    assert code == 0
    assert b"our evaluation: +0.30 at first" in plain.buffer.getvalue()  # type: ignore[attr-defined]
