"""The last moves of a game, which only its end on the event stream may show."""

import pytest

from engine.facade import Board
from lichessbot.lichess.models import GameInfo
from lichessbot.lichess.positions import missing_moves

MATE = "f2f3 e7e5 g2g4 d8h4"
CRAZYHOUSE = "e2e4 d7d5 e4d5 d8d5 b1c3 d5g2 f1g2"


def end(fen: str, last_move: str) -> GameInfo:
    return GameInfo.model_validate({"gameId": "game0001", "fen": fen, "lastMove": last_move})


@pytest.mark.parametrize(
    ("shown", "last_move", "sent", "missing"),
    [
        ("f2f3 e7e5 g2g4", "d8h4", None, ("d8h4",)),
        ("f2f3 e7e5 g2g4", "d8h4", "d8h4", ("d8h4",)),
        (MATE, "d8h4", None, ()),
        ("f2f3 e7e5", "d8h4", None, ()),
        ("f2f3 e7e5 g2g4", "", None, ()),
        ("f2f3 e7e5 g2g4", "junk", None, ()),
        # The opponent had premoved the mate.
        ("f2f3 e7e5", "d8h4", "g2g4", ("g2g4", "d8h4")),
        ("f2f3 e7e5", "d8h4", "g2g3", ()),
        ("f2f3 e7e5", "d8h4", "e2e4", ()),
        ("f2f3 e7e5", "d8h4", "a1a8", ()),
    ],
)
def test_moves_are_missing_if_they_lead_to_the_end(
    shown: str, last_move: str, sent: str | None, missing: tuple[str, ...]
) -> None:
    mate = Board().after(*MATE.split())
    assert missing_moves(Board().after(*shown.split()), end(mate.fen(), last_move), sent) == missing


@pytest.mark.parametrize("pockets", ["/PQpp", "/QPpp", "/ppQP", "[QPpp]"])
def test_the_last_move_is_found_however_the_end_writes_the_pockets(pockets: str) -> None:
    *shown, ours, last = CRAZYHOUSE.split()
    over = end(f"rnb1kbnr/ppp1pppp/8/8/8/2N5/PPPP1PBP/R1BQK1NR{pockets} b KQkq - 0 4", last)
    before = Board(variant="crazyhouse").after(*shown)
    assert missing_moves(before.after(ours), over, None) == (last,)
    assert missing_moves(before, over, ours) == (ours, last)


@pytest.mark.parametrize(
    ("variant", "fen", "last", "squares"),
    [
        ("standard", "6k1/3P1ppp/8/8/8/8/8/4K3 w - - 0 1", "d7d8q", "d7d8"),
        ("standard", "8/8/8/8/8/8/r6r/4K1k1 b - - 0 1", "a2a1", "a2a1"),
        ("standard", "5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "e1h1"),
        ("chess960", "5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1h1", "e1h1"),
        ("antichess", "8/3P4/8/8/8/8/8/7n w - - 0 1", "d7d8k", "d7d8"),
        ("crazyhouse", "5rkr/5ppp/8/8/8/8/8/4K3[N] w - - 0 1", "N@h6", "h6h6"),
    ],
)
def test_the_last_move_is_found_though_an_event_tells_only_its_squares(
    variant: str, fen: str, last: str, squares: str
) -> None:
    board = Board(fen, chess960=variant == "chess960", variant=variant)
    assert missing_moves(board, end(board.after(last).fen(), squares), None) == (last,)
    assert missing_moves(board, end(board.after(last).fen(), squares), last) == (last,)


def test_a_promotion_of_the_opponent_is_found_behind_our_move() -> None:
    board = Board("6k1/3P1ppp/8/8/8/8/8/4K3 b - - 0 1")
    over = end(board.after("h7h6", "d7d8q").fen(), "d7d8")
    assert missing_moves(board, over, "h7h6") == ("h7h6", "d7d8q")
