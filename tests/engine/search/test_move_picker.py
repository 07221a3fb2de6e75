"""The move picker returns each legal move once, the promising ones first."""

import random

from engine.core import params
from engine.core.checks import gives_check
from engine.core.fen import parse_fen
from engine.core.move import is_tactical, uci_text
from engine.core.movegen import legal_moves
from engine.core.see import exchange_wins
from engine.search.history import History
from engine.search.move_picker import MovePicker
from tests.engine.positions import Start, random_games

HISTORY = History()                # empty, and it stays so: to order moves changes nothing
OTHER_END = 56 | 56 << 6           # mirrors the ranks of both squares of a move


def test_each_legal_move_comes_once_and_the_table_move_first(start: Start) -> None:
    rng = random.Random(5)
    for board in random_games(count=2, plies=100, start=start, seed=82):
        position, _ = parse_fen(board.fen())
        legal = legal_moves(position)
        for tt_move in (0, rng.randrange(65536), *rng.sample(legal, min(2, len(legal)))):
            order = MovePicker(position, HISTORY).order(tt_move)
            assert sorted(order) == sorted(legal)
            if tt_move in legal:
                assert order[0] == tt_move


def test_winning_captures_come_first_and_losing_ones_last(start: Start) -> None:
    for board in random_games(count=4, plies=100, start=start, seed=83):
        position, _ = parse_fen(board.fen())
        order = MovePicker(position, HISTORY).order(0)
        stages = [1 if not is_tactical(move) else 0 if exchange_wins(position, move, 0) else 2 for move in order]
        assert stages == sorted(stages)
        winning = [move for move in legal_moves(position) if is_tactical(move) and exchange_wins(position, move, 0)]
        assert sorted(MovePicker(position, HISTORY).order(0, tactical_only=True)) == sorted(winning)


def test_skipping_to_quiet_checks_leaves_out_the_other_quiet_moves(start: Start) -> None:
    checks_met = 0
    for board in random_games(count=6, plies=100, start=start, seed=85):
        position, _ = parse_fen(board.fen())
        every = MovePicker(position, HISTORY).order(0)
        quiets = [move for move in every if not is_tactical(move)]
        checks = [move for move in quiets[2:] if gives_check(position, move)]
        found = MovePicker(position, HISTORY).order(0, quiets=2)
        assert [move for move in found if is_tactical(move)] == [move for move in every if is_tactical(move)]
        left = [move for move in found if not is_tactical(move)]
        assert left[:2] == quiets[:2]
        assert sorted(left[2:]) == sorted(checks)
        checks_met += len(checks)
    assert checks_met > 20


def test_a_killer_ranks_above_every_history_score_and_no_rank_leaves_its_16_bits() -> None:
    weights = (
        params.BUTTERFLY_WEIGHT, params.CONTINUATION_1_WEIGHT, params.CONTINUATION_2_WEIGHT,
        params.CONTINUATION_4_WEIGHT, params.PAWN_HISTORY_WEIGHT,
    )  # fmt: skip
    assert sum(weights) * params.HISTORY_LIMIT // 64 // 4 < 29000 < 32767


def test_both_sides_order_quiet_moves_without_history_alike(start: Start) -> None:
    for board in random_games(count=2, plies=60, start=start, seed=84):
        quiets = []
        for seen in (board, board.mirror()):
            position, _ = parse_fen(seen.fen())
            quiets.append([move for move in MovePicker(position, HISTORY).order(0) if not is_tactical(move)])
        assert quiets[0] == [move ^ OTHER_END for move in quiets[1]], board.fen()


def test_quiet_moves_without_history_go_forward_first() -> None:
    for fen, first in (("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a8"), ("r3k3/8/8/8/8/8/8/4K3 b - - 0 1", "a8a1")):
        position, _ = parse_fen(fen)
        assert uci_text(MovePicker(position, HISTORY).order(0)[0]) == first


def test_the_most_valuable_victim_comes_first() -> None:
    position, _ = parse_fen("3qk3/8/1p1r4/4P3/2N5/8/8/4K3 w - - 0 1")
    captures = [move for move in MovePicker(position, HISTORY).order(0) if is_tactical(move)]
    assert {uci_text(move) for move in captures[:2]} == {"e5d6", "c4d6"}
    assert uci_text(captures[2]) == "c4b6"


def test_a_restricted_root_returns_only_the_chosen_moves() -> None:
    position, _ = parse_fen("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1")
    chosen = [move for move in legal_moves(position) if uci_text(move) in ("e4d5", "e1e2")]
    other = next(move for move in legal_moves(position) if uci_text(move) == "e1d1")
    picker = MovePicker(position, HISTORY)
    picker.restrict_root(chosen)
    assert sorted(picker.order(other)) == sorted(chosen)
    assert uci_text(picker.order(other)[0]) == "e4d5"
