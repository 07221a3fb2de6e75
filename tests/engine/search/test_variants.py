"""Searches of variants, judged by python-chess."""

import random

import chess
import chess.variant
import pytest

from engine.facade import Board, Engine, Limits, SearchResult
from tests.engine.variants.games import UCI_NAMES, VARIANTS, random_games


def think(board: Board, **limits: int) -> SearchResult:
    engine = Engine(hash_mb=1)
    engine.set_position(board)
    return engine.go(Limits(**limits))


def judge_of(variant: str, fen: str) -> chess.Board:
    return chess.variant.find_variant(UCI_NAMES[variant])(fen)


@pytest.mark.parametrize(
    ("variant", "fen", "move", "mate"),
    [
        pytest.param("kingOfTheHill", "7k/8/8/8/8/3K4/8/8 w - - 0 1", None, 1, id="a step to the centre"),
        pytest.param("kingOfTheHill", "7k/8/8/8/8/8/3K4/8 w - - 0 1", None, 2, id="two steps to the centre"),
        pytest.param("kingOfTheHill", "8/8/8/4k3/8/8/8/3QK2R b - - 0 1", None, None, id="the centre is reached"),
        pytest.param("threeCheck", "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1 +2+0", "a1a8", 1, id="the third check"),
        pytest.param("threeCheck", "3qk3/3p1p2/8/7Q/8/8/8/4K3 w - - 0 1 +2+0", "h5f7", 1, id="the queen for it"),
        pytest.param("crazyhouse", "6k1/5ppp/8/8/8/8/8/4K3[R] w - - 0 1", None, 1, id="a rook dropped"),
        pytest.param("crazyhouse", "6rk/6pp/8/8/8/8/8/4K3[N] w - - 0 1", "N@f7", 1, id="a knight dropped"),
        pytest.param("antichess", "8/8/8/8/8/1p6/8/R7 w - - 0 1", "a1a2", 1, id="the last piece given"),
        pytest.param("antichess", "8/8/8/p7/8/8/P7/8 w - - 0 1", "a2a3", 1, id="the last move taken away"),
        pytest.param("atomic", "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", 1, id="an explosion beside the king"),
        pytest.param("horde", "4k3/8/8/8/8/8/8/r6P b - - 0 1", "a1h1", 1, id="the last pawn taken"),
        pytest.param("horde", "7k/5P2/6P1/7P/8/8/8/8 w - - 0 1", "f7f8q", 1, id="the horde mates"),
        pytest.param("racingKings", "8/1K6/8/8/8/8/6k1/8 w - - 0 1", None, 1, id="the goal"),
        pytest.param("racingKings", "8/1K4k1/8/8/8/8/8/2Q4R w - - 0 1", None, 2, id="the rival is kept from it"),
    ],
)
def test_wins_are_found(variant: str, fen: str, move: str | None, mate: int | None) -> None:
    board, judge = Board(fen, variant=variant), judge_of(variant, fen)
    result = think(board, depth=6)
    if judge.is_game_over():
        assert result.best_move is None
        return
    if move is not None:
        assert result.best_move == move
    assert mate is None or result.report.mate_in == mate
    if mate is not None:
        winner = judge.turn
        for text in result.report.pv:
            judge.push_uci(text)
        assert judge.outcome().winner == winner


@pytest.mark.parametrize(
    ("variant", "fen", "move"),
    [
        pytest.param("atomic", "6r1/8/8/3K4/6Q1/2k5/8/N7 w - - 0 1", "g4g8", id="atomic: a knight is left"),
        pytest.param("atomic", "8/5p2/8/3K1P2/8/2k5/8/6B1 w - - 0 1", "f5f6", id="atomic: the pawns get stuck"),
        pytest.param("antichess", "8/2b5/8/1r6/8/8/4B3/8 w - - 0 1", "e2b5", id="antichess: bishops that never meet"),
        pytest.param("threeCheck", "8/8/8/3Kn3/8/2k5/8/8 w - - 0 1 +2+0", "d5e5", id="three-check: bare kings"),
        pytest.param("horde", "7k/8/p7/8/P7/8/8/8 w - - 0 1", "a4a5", id="horde: the pawn gets stuck"),
    ],
)
@pytest.mark.parametrize("depth", [1, 5])
def test_a_move_after_which_nobody_can_win_is_worth_a_draw(variant: str, fen: str, move: str, depth: int) -> None:
    engine, board = Engine(hash_mb=1), Board(fen, variant=variant)
    engine.set_position(board)
    assert engine.go(Limits(depth=depth), only=[move]).report.score_cp == 0
    board.push(move)
    assert board.is_insufficient_material()


def test_a_last_move_wins_though_nobody_could_win_any_more() -> None:
    """In antichess the side without a move has won, also if only bishops of opposite colours are left."""
    board = Board("8/8/8/8/8/p1p5/P1P5/1B4b1 b - - 0 1", variant="antichess")
    engine = Engine(hash_mb=1)
    engine.set_position(board)
    assert engine.go(Limits(depth=3)).report.mate_in == -1
    board.push("g1h2")
    assert board.is_insufficient_material()
    assert board.legal_moves() == []


def test_the_search_of_atomic_values_the_whole_explosion() -> None:
    """The knight takes a pawn, and with it the queen, which only stands beside it."""
    result = think(Board("7k/8/3q4/2ppp3/8/1N6/8/K7 w - - 0 1", variant="atomic"), depth=5)
    assert result.best_move == "b3c5"


def test_a_capture_that_would_explode_the_own_king_is_no_capture() -> None:
    result = think(Board("4k3/8/8/8/8/8/3q4/4K2R w - - 0 1", variant="atomic"), depth=4)
    assert result.best_move != "e1d2"
    assert result.best_move in Board("4k3/8/8/8/8/8/3q4/4K2R w - - 0 1", variant="atomic").legal_moves()


def test_crazyhouse_knows_no_fifty_move_rule() -> None:
    board = Board("4k3/8/8/8/8/8/8/4K2R[Q] w - - 120 90", variant="crazyhouse")
    report = think(board, depth=4).report
    assert report.mate_in is not None or (report.score_cp or 0) > 500


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_random_mover_loses(variant: str) -> None:
    rng, board = random.Random(variant), Board(variant=variant)
    judge = judge_of(variant, board.fen())
    engine = Engine(hash_mb=1)
    while not judge.is_game_over():
        engine.set_position(board)
        ours = board.turn == "white"
        move = engine.go(Limits(nodes=600)).best_move if ours else rng.choice(sorted(board.legal_moves()))
        judge.push_uci(move)
        board.push(move)
        assert len(board.moves) < 250
    assert judge.outcome().winner == chess.WHITE


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_move_of_a_search_is_legal(variant: str) -> None:
    """Positions of random games, searched with one table: its moves come from other positions, too."""
    engine = Engine(hash_mb=1)
    for number, ply in enumerate(random_games(variant, games=3, seed=5)):
        if number % 9 == 0 and ply.moves:
            engine.set_position(ply.board)
            report = engine.go(Limits(depth=3)).report
            replay = ply.board.copy()
            for move in report.pv:
                replay.push(move)           # raises InvalidMove


def test_lines_of_forced_captures_do_not_hold_up_the_search() -> None:
    """In antichess nearly every move of this position opens hundreds of thousands of them."""
    board = Board("rnbqkbnr/pppppp1p/6p1/8/2P5/1Q6/PP1PPPPP/RNB1KBNR b - - 1 2", variant="antichess")
    result = think(board, nodes=20_000)
    assert result.report.depth > 4
    assert result.best_move not in ("h7h5", "e7e5"), "mated in 17, and hardly better"
