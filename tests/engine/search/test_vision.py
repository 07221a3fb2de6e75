"""What a player of limited strength sees."""

from collections import Counter

from engine.core.zobrist import mix64
from engine.facade import Board
from engine.search.levels.vision import Vision
from tests.engine.search.test_levels import board_after


def seen_by(players: int, board: Board) -> Counter[str]:
    """How many players see each move, if they overlook captures as often as other moves."""
    moves, seen = board.packed_moves(), Counter[str]()
    for seed in range(players):
        vision = Vision(mix64(seed), 600, 600, board.last_move)
        seen.update(map(board.spell, vision.seen(board.position, moves, board.last_move)))
    return seen


def test_some_moves_are_overlooked_less_often_than_others() -> None:
    seen = seen_by(300, Board("k7/6P1/3q4/2p5/4N3/8/1R6/4K2R w K - 0 1"))
    quiet, queen, pawn, check, castling, promotion, far, back = (
        seen[move] for move in ("b2b3", "e4d6", "e4c5", "b2a2", "e1g1", "g7g8q", "b2b6", "b2b1")
    )
    assert min(check, castling, promotion, queen, pawn) > quiet + 40
    assert queen > pawn + 20
    assert max(far, back) < quiet - 30


def test_an_exchange_and_what_is_close_to_the_last_move_are_seen() -> None:
    exchange, quiet = (
        seen_by(300, board_after(f"k2q4/6P1/{target}/2p5/4N3/8/1R6/4K2R b K - 0 1", "d8d6")) for target in ("3P4", "8")
    )
    assert exchange["e4d6"] == 300 > quiet["e4d6"]
    assert quiet["b2b1"] < quiet["b2b3"] - 60              # five and three ranks away


def test_a_piece_that_is_attacked_is_moved_away() -> None:
    attacked, calm = (
        seen_by(300, Board(f"k7/6P1/3q4/{rank}/4N3/8/1R6/4K2R w K - 0 1")) for rank in ("2p2p2", "2p5")
    )
    assert attacked["e4g5"] > calm["e4g5"] + 40


def test_without_a_last_move_no_corner_is_seen_more_often_than_another() -> None:
    corners = {"4k3/8/8/8/8/2b5/8/R5K1 b - - 0 1": "c3a1", "4k3/8/8/8/8/5b2/8/1K5R b - - 0 1": "f3h1"}
    overlooked = []
    for fen, text in corners.items():
        board = Board(fen)
        capture, quiet = board.parse(text), board.parse("e8e7")
        visions = [Vision(mix64(seed), 0, 1000, 0) for seed in range(2000)]
        overlooked.append(sum(vision.seen(board.position, [capture, quiet], 0) == [quiet] for vision in visions))
    assert max(overlooked) < 1.3 * min(overlooked), overlooked
