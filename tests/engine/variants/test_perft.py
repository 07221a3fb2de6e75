"""Leaf counts of the variants: the published figures. `test_pyffish.py` and `test_walks.py` compare games."""

import pytest

from engine.facade import Board
from tests.engine.variants.games import VARIANTS

QUICK = 100_000                    # leaves that every run may count for a position

# Depth 1 on. From python-chess (examples/perft), shakmaty and Fairy-Stockfish (tests/perft.sh).
PERFT = (
    ("crazyhouse", "", (20, 400, 8902, 197281, 4888832)),
    ("crazyhouse", "2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1", (301, 75353)),
    ("crazyhouse", "2k5/8/8/8/8/8/8/4K3[Qn] w - - 0 1", (67, 3083, 88634, 932554)),
    ("crazyhouse", "r1bqk2r/pppp1ppp/2n1p3/4P3/1b1Pn3/2NB1N2/PPP2PPP/R1BQK2R[] b KQkq -", (42, 1347, 58057, 2083382)),
    ("crazyhouse", "4k3/1Q~6/8/8/4b3/8/Kpp5/8/ b - - 0 1", (20, 360, 5445, 132758)),
    ("crazyhouse", "2rn1b1r/1pp2n1p/B1PBk1pP/5p1P/P5p1/2P2RP1/RP1QNP2/1NBK4[QPp] w - -", (99, 3932, 314782, 10118606)),
    ("kingOfTheHill", "", (20, 400, 8902, 197281, 4865609)),
    ("threeCheck", "", (20, 400, 8902, 197281, 4865609)),
    ("threeCheck", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 1+1", (48, 2039, 97848)),
    ("threeCheck", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 1+1", (26, 562, 13410)),
    ("antichess", "", (20, 400, 8067, 153299, 2732672)),
    ("antichess", "8/1p6/8/8/8/8/P7/8 w - - 0 1", (2, 4, 4, 3, 1, 0)),
    ("antichess", "8/2p5/8/8/8/8/P7/8 w - - 0 1", (2, 4, 4, 4, 4, 4, 4, 4, 12, 36, 312, 2557, 30873)),
    ("atomic", "", (20, 400, 8902, 197326, 4864979)),
    ("atomic", "rn2kb1r/1pp1p2p/p2q1pp1/3P4/2P3b1/4PN2/PP3PPP/R2QKB1R b KQkq - 0 1", (40, 1238, 45237, 1434825)),
    ("atomic", "rn1qkb1r/p5pp/2p5/3p4/N3P3/5P2/PPP4P/R1BQK3 w Qkq - 0 1", (28, 833, 23353, 714499)),
    ("atomic", "8/8/8/8/8/8/2k5/rR4KR w KQ - 0 1", (18, 180, 4364, 61401, 1603055)),
    ("atomic", "r3k1rR/5K2/8/8/8/8/8/8 b kq - 0 1", (25, 282, 6753, 98729, 2587730)),
    ("atomic", "Rr2k1rR/3K4/3p4/8/8/8/7P/8 w kq - 0 1", (21, 465, 10631, 241478, 5800275)),
    ("horde", "", (8, 128, 1274, 23310, 265223, 5396554)),
    ("horde", "4k3/pp4q1/3P2p1/8/P3PP2/PPP2r2/PPP5/PPPP4 b - - 0 1", (30, 241, 6633, 56539)),
    ("horde", "k7/5p2/4p2P/3p2P1/2p2P2/1p2P2P/p2P2P1/2P2P2 w - - 0 1", (13, 172, 2205, 33781)),
    ("racingKings", "", (21, 421, 11264, 296242, 9472927)),
    ("racingKings", "4brn1/2K2k2/8/8/8/8/8/8 w - - 0 1", (6, 33, 178, 3151, 12981, 265932)),
    ("racingKings", "8/8/1rk4K/8/8/8/2bnNBR1/qrbnNBRQ b - - 0 1", (36, 697, 26592, 661533)),
)  # fmt: skip


def leaves(variant: str, fen: str, depth: int) -> int:
    return sum(Board(fen or None, variant=variant).perft(depth))


@pytest.mark.parametrize(("variant", "fen", "counts"), PERFT)
def test_published_leaf_counts(variant: str, fen: str, counts: tuple[int, ...]) -> None:
    for depth, count in enumerate(counts, 1):
        if count <= QUICK:
            assert leaves(variant, fen, depth) == count


@pytest.mark.long
@pytest.mark.parametrize(("variant", "fen", "counts"), PERFT)
def test_published_leaf_counts_in_full_depth(variant: str, fen: str, counts: tuple[int, ...]) -> None:
    for depth, count in enumerate(counts, 1):
        assert leaves(variant, fen, depth) == count


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_count_in_portions_leaves_the_position_as_it_was(variant: str) -> None:
    board = Board(variant=variant)
    before = board.position.state()
    assert sum(1 for _ in board.perft(5)) > 1
    assert board.position.state() == before
