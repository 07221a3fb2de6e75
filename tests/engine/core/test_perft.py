"""Leaf counts: the classic positions, positions of our own, and any suite named on the command line."""

import time
from pathlib import Path

import chess
import pytest

from engine.core.fen import parse_fen
from engine.core.perft import perft, portions
from engine.facade import build_mode
from tests.engine.positions import OWN_PERFT, PERFT, read_suite

QUICK_LEAVES = 1_000_000 if build_mode() == "compiled" else 2_000
SUITE_LEAVES = 100_000_000


def check_deepest(fen: str, counts: dict[int, int], most_leaves: int) -> int:
    """Compare the deepest count that does not exceed `most_leaves`; returns it."""
    depth = max(depth for depth, count in counts.items() if count <= most_leaves)
    position, _ = parse_fen(fen)
    before = position.state()
    assert perft(position, depth) == counts[depth], f"depth {depth} of {fen}"
    assert position.state() == before
    return counts[depth]


@pytest.mark.parametrize("fen", PERFT)
def test_perft_equals_the_known_counts(fen: str) -> None:
    position, _ = parse_fen(fen)
    before = position.state()
    for depth, count in enumerate(PERFT[fen], 1):
        assert perft(position, depth) == count
        assert position.state() == before


def test_counting_in_bulk_and_making_every_leaf_agree() -> None:
    for fen, counts in PERFT.items():
        assert perft(parse_fen(fen)[0], 3, bulk=False) == counts[2]


def test_the_portions_of_a_count_add_up_and_leave_the_position_as_it_was() -> None:
    position = parse_fen(chess.STARTING_FEN)[0]
    counted = list(portions(position, 5))
    assert len(counted) == 20
    assert sum(counted) == perft(position, 5) == 4_865_609


def test_perft_of_our_own_positions_equals_the_counts_of_other_programs() -> None:
    positions = list(read_suite(OWN_PERFT))
    assert len(positions) >= 30
    for fen, counts in positions:
        check_deepest(fen, counts, QUICK_LEAVES)


@pytest.mark.long
def test_perft_of_our_own_positions_to_the_last_depth() -> None:
    for fen, counts in read_suite(OWN_PERFT):
        for count in counts.values():
            check_deepest(fen, counts, count)


@pytest.mark.long
def test_perft_of_the_named_suites(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    suites = [Path(path) for path in request.config.getoption("--suite")]
    if not suites:
        pytest.skip("no suite named with --suite PATH")
    for suite in suites:
        start = time.perf_counter()
        leaves = [check_deepest(fen, counts, SUITE_LEAVES) for fen, counts in read_suite(suite)]
        seconds = time.perf_counter() - start
        with capsys.disabled():
            print(f"\n{suite.name}: {len(leaves)} positions, {sum(leaves):,} leaves in {seconds:.1f} s")
