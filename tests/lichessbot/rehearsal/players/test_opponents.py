"""The opponents of the house: legal, seeded, and as good as their names."""

import chess
import pytest

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import OpponentKind, make_opponent

FENS = [
    "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 0 1",
    "8/P5k1/8/6p1/6P1/8/p5K1/8 b - - 0 1",
    "rnbqkbnr/ppp2ppp/8/3Pp3/8/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 3",
]


@pytest.mark.parametrize("kind", list(OpponentKind))
@pytest.mark.parametrize("fen", FENS)
def test_every_choice_is_legal(kind: OpponentKind, fen: str) -> None:
    move = make_opponent(kind, seed="s", depth=2).choose(Board(fen), Limits())
    assert chess.Move.from_uci(move) in chess.Board(fen).legal_moves


@pytest.mark.parametrize("kind", list(OpponentKind))
@pytest.mark.parametrize("variant", ["crazyhouse", "antichess", "atomic", "horde", "racingKings"])
def test_every_choice_in_a_variant_is_legal(kind: OpponentKind, variant: str) -> None:
    board = Board(variant=variant)
    player = make_opponent(kind, seed="s", depth=1)
    while board.outcome() is None and len(board.moves) < 80:
        board.push(player.choose(board, Limits()))


@pytest.mark.parametrize("kind", [OpponentKind.RANDOM, OpponentKind.GREEDY, OpponentKind.LEVEL])
def test_same_seed_same_choices(kind: OpponentKind) -> None:
    players = (make_opponent(kind, seed="7/1", depth=1) for _ in range(2))
    one, two = ([player.choose(Board(fen), Limits()) for fen in FENS] for player in players)
    assert one == two


@pytest.mark.parametrize(
    ("fen", "move"),
    [
        ("4k3/8/8/r2q4/4P3/8/8/R3K3 w - - 0 1", "e4d5"),         # the queen, not the rook
        ("6k1/5ppp/8/8/8/7r/6P1/R5K1 w - - 0 1", "a1a8"),        # mate before the rook
        ("8/6P1/8/8/k7/8/8/K7 w - - 0 1", "g7g8q"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),           # en passant
    ],
)
def test_greedy_mates_first_then_takes_the_most(fen: str, move: str) -> None:
    assert make_opponent(OpponentKind.GREEDY, seed="s", depth=1).choose(Board(fen), Limits()) == move


def test_greedy_does_not_take_castling_for_a_capture() -> None:
    board = Board("4k3/8/8/8/8/8/7p/R3K2R w KQ - 0 1", chess960=True)
    assert make_opponent(OpponentKind.GREEDY, seed="s", depth=1).choose(board, Limits()) == "h1h2"


def test_engine_finds_mate_in_one() -> None:
    board = Board("6k1/3R4/6K1/8/8/8/8/8 w - - 0 1")
    assert make_opponent(OpponentKind.ENGINE, seed="s", depth=4).choose(board, Limits()) == "d7d8"


def test_a_higher_level_finds_more() -> None:
    fen = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"

    def found_by(level: int) -> int:
        """Return how many of twenty players of this level mate at once."""
        players = (make_opponent(OpponentKind.LEVEL, seed=f"{seed}", depth=1, level=level) for seed in range(20))
        return sum(player.choose(Board(fen), Limits()) == "d1d8" for player in players)

    assert found_by(600) < 15 < found_by(2200)


@pytest.mark.parametrize(
    ("variant", "fen", "move"),
    [
        pytest.param("antichess", "8/8/8/8/8/1p6/8/2R5 w - - 0 1", "c1c2", id="gives its last piece"),
        pytest.param("kingOfTheHill", "6k1/8/8/8/p7/8/1K6/8 w - - 0 1", "b2c3", id="two steps from the centre"),
    ],
)
def test_engine_knows_what_wins_in_a_variant(variant: str, fen: str, move: str) -> None:
    assert make_opponent(OpponentKind.ENGINE, seed="s", depth=4).choose(Board(fen, variant=variant), Limits()) == move
