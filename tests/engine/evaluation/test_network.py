"""The neural evaluation: following the moves gives what adding up from nothing gives, as `net_file.py` says it."""

import json
import mmap
import os
import random
from array import array
from collections import Counter
from dataclasses import replace
from errno import ENOMEM
from pathlib import Path

import chess
import pytest

from engine.core.fen import parse_fen
from engine.core.move import CAPTURE, CASTLING, EN_PASSANT, PROMOTION, uci_text
from engine.core.movegen import legal_moves
from engine.core.params import (
    NETWORK_LIMIT,
    SCALE_BARE_BISHOPS,
    SCALE_NO_PAWNS,
    SCALE_NORMAL,
    WIN_DISTANCE,
    WIN_EDGE,
    WIN_WITHOUT_PAWNS,
)
from engine.core.score import MATE, MAX_PLY
from engine.evaluation.evaluate import network_score
from engine.evaluation.net_file import PLACES, Net, write
from engine.evaluation.network import Accumulators, Network
from engine.facade import STARTING_FEN, build_mode, describe_build
from tests.engine.nets import material_net, random_net, slow_score
from tests.engine.positions import Start, random_games
from tests.scripts import run_python

NET = random_net(seed=11, hidden=32, buckets=8, threats=8)
PASS = 0
LONGEST_LINE = 60                  # plies from the root of a walk


def kind_of(move: int) -> str:
    """What a move does to the pieces, with the packing of `move.py`."""
    if move == PASS:
        return "pass"
    if move >> 12 == CASTLING:
        return "castling"
    if move >> 12 == EN_PASSANT:
        return "en passant"
    taking = " with capture" if move >> 12 & CAPTURE else ""
    return f"promotion{taking}" if move >> 12 & PROMOTION else f"move{taking}"


class Walk:
    """Goes to and fro from a root as a search does, evaluating now and then, and compares every score."""

    def __init__(self, fen: str, net: Net, rng: random.Random) -> None:
        self._position, _ = parse_fen(fen)
        self._net = net
        self._accumulators = Accumulators(Network(net))
        self._rng = rng
        self._line: list[int] = []
        self.met: Counter[str] = Counter()

    def run(self, steps: int) -> None:
        for _ in range(steps):
            if self._rng.random() < 0.2:
                self._compare()
            moves = self._moves()
            if not moves or len(self._line) == LONGEST_LINE or self._rng.random() < 0.3:
                self._go_back(self._rng.randint(1, 5))
            else:
                self._go_on(self._rng.choice(moves))

    def _moves(self) -> list[int]:
        """Rare kinds of moves are preferred, so that all are met."""
        moves = legal_moves(self._position)
        rare = [move for move in moves if kind_of(move) not in ("move", "move with capture")]
        if rare and self._rng.random() < 0.5:
            return rare
        if self._rng.random() < 0.1 and not self._position.is_check():
            return [PASS]
        return moves

    def _go_on(self, move: int) -> None:
        self.met[kind_of(move)] += 1
        self._accumulators.play(self._position, move, len(self._line))
        self._line.append(move)

    def _go_back(self, plies: int) -> None:
        for _ in range(min(plies, len(self._line))):
            self._accumulators.take_back(self._position, self._line.pop())

    def _compare(self) -> None:
        state = self._position.state()
        expected = slow_score(self._net, state["board"], bool(state["side_to_move"]))
        expected = max(-NETWORK_LIMIT, min(expected, NETWORK_LIMIT))
        assert self._accumulators.python_score(self._position, len(self._line)) == expected, (state, self._line)
        assert self._accumulators.is_exact(self._position, len(self._line))
        self.met["compared"] += 1


@pytest.mark.parametrize("threats", [1, 8])
def test_following_the_moves_gives_the_score_of_adding_up_from_nothing(threats: int) -> None:
    net = random_net(seed=11, hidden=32, buckets=8, threats=threats)
    met: Counter[str] = Counter()
    for start in Start:
        for number, board in enumerate(random_games(count=3, plies=60, start=start, seed=71)):
            if number % 20 == 0:
                walk = Walk(board.shredder_fen(), net, random.Random(f"{start} {number}"))
                walk.run(150)
                met += walk.met
    kinds = {"move", "move with capture", "castling", "en passant", "promotion", "promotion with capture", "pass"}
    assert set(met) == {*kinds, "compared"}
    assert met["compared"] > 300


def test_the_sums_follow_to_the_deepest_ply() -> None:
    position, _ = parse_fen(STARTING_FEN)
    accumulators = Accumulators(Network(NET))
    there_and_back = ("g1f3", "g8f6", "f3g1", "f6g8")
    for ply in range(MAX_PLY):
        move = next(move for move in legal_moves(position) if uci_text(move) == there_and_back[ply % 4])
        accumulators.play(position, move, ply)
        score = accumulators.python_score(position, ply + 1)
        assert accumulators.is_exact(position, ply + 1)
        assert score == network_score(position, Network(NET))


def test_a_mirrored_position_has_the_mirrored_score() -> None:
    scores = set()
    network = Network(random_net(seed=12, hidden=64, buckets=8, threats=8))
    for board in random_games(count=5, plies=120, start=Start.CHESS960, seed=72):
        position, _ = parse_fen(board.fen())
        mirrored, _ = parse_fen(board.mirror().fen())
        score = network_score(position, network)
        assert score == network_score(mirrored, network), board.fen()
        scores.add(score)
    assert len(scores) > 200


def test_each_number_of_pieces_has_its_own_output() -> None:
    net = random_net(seed=13, hidden=32, buckets=8)
    silent = array("h", [0]) * len(net.output_weights)
    flat = replace(net, output_weights=silent, output_bias=array("i", range(0, 8 * 1632, 1632)))
    network = Network(flat)
    for board in random_games(count=4, plies=200, start=Start.STANDARD, seed=73):
        position, _ = parse_fen(board.fen())
        pieces = chess.popcount(board.occupied)
        assert Accumulators(network).python_score(position, 0) == 40 * ((pieces - 2) // 4)


def test_the_largest_weights_do_not_overflow() -> None:
    """Every hidden value at the clamp, every weight at its limit: the score is cut, never wrapped."""
    for sign, threats in ((1, 1), (-1, 8)):
        hidden = 1024
        net = Net(
            name="large",
            feature_weights=array("b", [127]) * (PLACES * threats * hidden),
            feature_bias=array("h", [16_383]) * hidden,
            output_weights=array("h", [127 * sign]) * (2 * hidden),
            output_bias=array("i", [10_000_000 * sign]),
            scale=10_000,
        )
        position, _ = parse_fen(STARTING_FEN)
        assert Accumulators(Network(net)).python_score(position, 0) == sign * NETWORK_LIMIT


def test_a_known_ending_comes_before_the_network() -> None:
    network = Network(NET)
    won, lost, drawn = "7k/8/8/8/8/8/8/KQ6 w - - 0 1", "7k/8/8/8/8/8/8/KQ6 b - - 0 1", "7k/8/8/8/8/8/8/KNN5 w - - 0 1"
    assert network_score(parse_fen(won)[0], network) > NETWORK_LIMIT
    assert network_score(parse_fen(lost)[0], network) < -NETWORK_LIMIT
    assert network_score(parse_fen(drawn)[0], network) == 0


@pytest.mark.parametrize(
    ("fen", "part"),
    [
        ("4k3/8/8/8/3P4/8/4r3/R3KB2 w - - 0 1", SCALE_NORMAL),
        ("4k3/8/8/5b2/3P4/8/3B4/4K3 w - - 0 1", SCALE_BARE_BISHOPS),
        ("4k3/8/8/5b2/3PP3/8/3B4/4K3 w - - 0 1", 2 * SCALE_BARE_BISHOPS),
        ("4k3/8/8/4b3/3P4/8/3B4/4K3 w - - 0 1", SCALE_NORMAL),             # bishops of the same colour
        ("r3k3/8/8/5b2/3P4/8/3B4/R3K3 w - - 0 1", SCALE_NORMAL),
    ],
)
def test_of_a_drawish_ending_a_network_gets_a_part(fen: str, part: int) -> None:
    network = Network(material_net())
    position, _ = parse_fen(fen)
    guess = Accumulators(network).python_score(position, 0)
    assert abs(guess) > 80
    assert network_score(position, network) == guess * part // SCALE_NORMAL


@pytest.mark.parametrize(
    ("fen", "to_the_edge", "to_our_king", "part"),
    [
        ("8/8/8/3k4/8/8/r7/5QK1 w - - 0 1", 0, 3, SCALE_NORMAL),
        ("3k4/8/8/8/8/8/r7/5QK1 w - - 0 1", 3, 0, SCALE_NORMAL),
        ("8/8/8/8/8/4k3/r7/5QK1 w - - 0 1", 1, 5, SCALE_NORMAL),
        ("5qk1/R7/4K3/8/8/8/8/8 b - - 0 1", 1, 5, SCALE_NORMAL),
        ("8/8/8/8/8/4k3/n7/5QK1 w - - 0 1", 1, 5, SCALE_NORMAL),
        ("8/8/8/8/8/4k3/r7/4RRK1 b - - 0 1", 1, 5, SCALE_NORMAL),
        ("4k3/8/8/8/8/8/4r3/R3KB2 w - - 0 1", 3, 0, SCALE_NO_PAWNS),
        ("4k3/8/8/8/8/8/r7/3RKB2 b - - 0 1", 3, 0, SCALE_NO_PAWNS),
        ("8/8/8/8/8/4k3/rp6/5QK1 w - - 0 1", 0, 0, SCALE_NORMAL),          # a pawn
    ],
)
def test_without_pawns_it_counts_how_far_the_king_is_driven_back(
    fen: str, to_the_edge: int, to_our_king: int, part: int
) -> None:
    network = Network(material_net())
    position, _ = parse_fen(fen)
    guess = Accumulators(network).python_score(position, 0)
    way = WIN_WITHOUT_PAWNS * (WIN_EDGE * to_the_edge + WIN_DISTANCE * to_our_king)
    whole = guess + way if guess > 0 else guess - way
    assert network_score(position, network) == whole * part // SCALE_NORMAL


def test_no_score_comes_near_a_mate() -> None:
    queens = "QQQQQQQQ/Q7/8/8/8/8/K7/7k b - - 0 1"
    assert MAX_PLY - MATE < network_score(parse_fen(queens)[0], Network(NET)) < -NETWORK_LIMIT


# A search with a network in a child process: its result depends on every evaluation.
PROBE = """
import json, sys
from engine.bench import POSITIONS
from engine.facade import Board, Engine, Limits, build_mode, describe_build
answers = []
step, deeper, *networks = sys.argv[1:]
for network in networks:
    engine = Engine(hash_mb=1)
    for fen, depth in zip(POSITIONS[::int(step)], (2, 2, 2, 3, 3) * 10):
        engine.set_evaluation(network)
        engine.set_position(Board(fen))
        result = engine.go(Limits(depth=depth + int(deeper)))
        score = engine.network_score_cp(Board(fen))
        answers.append((fen, score, result.best_move, result.report.nodes, result.report.pv))
print(json.dumps([describe_build(), answers]))
"""


@pytest.mark.skipif(build_mode() == "plain", reason="the engine runs as plain Python")
def test_compiled_and_plain_evaluate_alike_and_sums_are_exact_at_every_node(tmp_path: Path) -> None:
    """The plain mode asserts at every evaluation that the sums are those of the position."""
    path = tmp_path / "random.net"
    write(random_net(seed=14, hidden=32, buckets=8, threats=8), path)
    compiled, plain = (json.loads(run_python(PROBE, "16", "0", str(path), ENGINE_PURE=pure)) for pure in ("", "1"))
    assert compiled[0].startswith("compiled, ")
    assert plain[0] == "plain"
    assert compiled[1] == plain[1]


@pytest.mark.skipif(describe_build() != "compiled, AVX2", reason="only one build of the inference fits this processor")
def test_every_build_of_the_inference_gives_the_same_numbers(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{shape}.net") for shape in range(3)]
    for path, (hidden, buckets, threats) in zip(paths, ((32, 1, 8), (96, 8, 8), (512, 8, 1)), strict=True):
        write(random_net(seed=15, hidden=hidden, buckets=buckets, threats=threats), Path(path))
    fast, portable = (json.loads(run_python(PROBE, "3", "4", *paths, ENGINE_PORTABLE=it)) for it in ("", "1"))
    assert fast[0] == "compiled, AVX2"
    assert portable[0] == "compiled, SSE2"
    assert fast[1] == portable[1]


def test_memory_that_the_system_refuses_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an OSError it would count as a broken output, and end the engine."""
    def refuse(*_: object, **__: object) -> None:
        raise OSError(ENOMEM, os.strerror(ENOMEM))

    network = Network(NET)
    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(MemoryError):
        Accumulators(network)
