"""Fuzzing UCI: whatever the lines, the engine answers each search with one move and exits cleanly."""

import os
import random
import subprocess
import time

import chess
import pytest

from tests.engine.uci_session import COMMAND

MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
MIDDLEGAME = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

SEARCHES = (
    b"go depth 1", b"go depth 3", b"go nodes 1", b"go nodes 700", b"go movetime 1", b"go movetime 4", b"go infinite",
    b"go", b"go ponder wtime 40 btime 40", b"go ponder", b"go wtime 30 btime 30 winc 1 binc 1", b"go mate 1 nodes 500",
    b"go wtime 20 btime 20 movestogo 1", b"go depth 2 nodes 50 movetime 3", b"go wtime -5 btime 0", b"go movetime 0",
    b"go depth 999999999999 nodes 30", b"go nodes 20 movestogo 999999999999", b"go mate 999999999999 nodes 20",
    b"go wtime 999999999999 btime 999999999999 winc 999999999999 nodes 9", b"go wtime 5", b"go btime 5 movestogo 0",
    b"go nodes 20 searchmoves e2e5", b"go nodes 20 searchmoves \xff e2e4", b"go depth", b"go depth x",
    b"go wtime btime", b"go nodes 1e3", b"go nodes 20 depth " + b"9" * 6000,
)
COMMANDS = (
    b"stop", b"ponderhit", b"isready", b"uci", b"ucinewgame", b"position startpos", b"debug on", b"debug off", b"d",
    b"eval", b"position startpos moves e2e4 e7e5 g1f3", b"position fen " + MATED.encode(), b"stop now", b"quitter",
    b"position fen " + MIDDLEGAME.encode(), b"setoption name Hash value 1", b"setoption name Hash value 2",
    b"setoption name Threads value 1", b"setoption name Threads value 2", b"setoption name MultiPV value 1",
    b"setoption name MultiPV value 3", b"setoption name Clear Hash", b"setoption name UCI_Chess960 value true",
    b"setoption name UCI_Chess960 value false", b"setoption name Ponder value true", b"go perft 1", b"go perft 2",
    b"setoption name Style Mobility value 150", b"setoption name Style Material value -100",
    b"setoption name Style Material value 100", b"setoption name UCI_ShowWDL value true",
)
INVALID = (
    b"", b" ", b"\t", b"go perft", b"go perft -1", b"go go", b"go \xff", b"position", b"position fen",
    b"position startpos moves", b"position startpos moves e2e5", b"position startpos moves \x00", b"position fen \xfe",
    b"position fen 8/8/8/8/8/8/8/8 w - - 0 1", b"position moves e2e4", b"setoption", b"setoption name",
    b"setoption name Hash",
    b"setoption name Hash value -1", b"setoption name Hash value \xd9\xa1x", b"setoption value 3", b"setoption Hash 3",
    b"setoption name Threads value 0", b"setoption name MultiPV value 1000", b"debug", b"debug maybe", b"Quit", b"GO",
    b"\x00", b"\xff\xfe\xfd", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f\x99\x82 \xe2\x80\xa8", b"x" * 100_000,
    b"position startpos moves" + b" g1f3 g8f6 f3g1 f6g8" * 30,
)


def random_line(rng: random.Random) -> bytes:
    """Return a search, a command, an invalid command or noise, without the line end; noise is never a command."""
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(SEARCHES)
    if kind < 0.7:
        return rng.choice(COMMANDS)
    if kind < 0.9:
        return rng.choice(INVALID)
    noise = bytes(rng.choices(range(256), k=rng.randrange(60)))
    return b"~" + noise.replace(b"\n", b"").replace(b"\r", b"")


def random_script(rng: random.Random, lines: int) -> list[bytes]:
    return [random_line(rng) for _ in range(lines)]


def run(script: list[bytes], ending: bytes = b"\n", pause_s: float = 0.0, encoding: str = "utf-8") -> list[str]:
    """Return the answers to a script; asserts a clean exit and an empty standard error."""
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as child:
        early, late = (script[:-1], script[-1:]) if pause_s else ([], script)
        for line in early:
            child.stdin.write(line + b"\n")
            child.stdin.flush()
            time.sleep(pause_s)
        output, errors = child.communicate(b"\n".join(late) + ending, timeout=300)
    assert errors == b"", errors.decode()
    assert child.returncode == 0
    return output.decode().splitlines()


def best_moves(answers: list[str]) -> list[str]:
    return [line.split()[1] for line in answers if line.startswith("bestmove")]


def check_script(script: list[bytes], pause_s: float = 0.0) -> None:
    """Assert that each search has one answer, and that a new game can be played afterwards."""
    last_lines = [b"setoption name MultiPV value 1", b"position startpos", b"go depth 1", b"isready", b"quit"]
    answers = run([*script, *last_lines], pause_s=pause_s)
    moves = best_moves(answers)
    assert len(moves) == sum(line in SEARCHES for line in script) + 1
    assert chess.Move.from_uci(moves[-1]) in chess.Board().legal_moves
    assert answers[-1] == "readyok" or answers[-1].startswith("bestmove")


def test_garbage_and_commands_in_any_order_are_survived() -> None:
    rng = random.Random(101)
    for _ in range(2):
        check_script(random_script(rng, 150))


def test_commands_during_a_search_are_survived() -> None:
    check_script(random_script(random.Random(102), 120), pause_s=0.005)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", ""])
def test_invalid_commands_are_survived_in_every_locale(encoding: str) -> None:
    answers = run([*INVALID, b"isready"], encoding=encoding)
    assert answers[-1] == "readyok"
    assert not best_moves(answers)


def test_every_kind_of_search_is_answered() -> None:
    check_script(list(SEARCHES))


def test_the_input_may_end_anywhere() -> None:
    rng = random.Random(103)
    for _ in range(2):
        script = random_script(rng, rng.randrange(1, 12))
        searches = sum(line in SEARCHES for line in script)
        cut = random_line(rng)[: rng.randrange(12)]        # a cut search may still be one: go wtime -5
        assert len(best_moves(run([*script, cut], ending=b""))) in (searches, searches + cut.startswith(b"go"))
    assert run([], ending=b"") == []


def test_ten_thousand_moves_of_a_game_fit_into_one_command() -> None:
    """Knights move back and forth, with a pawn move now and then, so positions repeat often."""
    shuffle = ("g1f3 g8f6 f3g1 f6g8 " * 320).split()
    moves = list(shuffle)
    for file in "abcdegh":
        moves += [f"{file}2{file}3", f"{file}7{file}6", *shuffle]
    assert len(moves) > 10_000
    answers = run([b"position startpos moves " + " ".join(moves).encode(), b"d", b"go depth 3"])
    assert f"Fen: rnbqkbnr/5p2/ppppp1pp/8/8/PPPPP1PP/5P2/RNBQKBNR w KQkq - 1280 {1 + len(moves) // 2}" in answers
    assert len(best_moves(answers)) == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300, 320))
def test_a_hundred_thousand_lines_are_survived(seed: int) -> None:
    """20 runs of 10 conversations of 500 lines."""
    rng = random.Random(seed)
    for _ in range(10):
        check_script(random_script(rng, 500))
