"""Making and taking back: every field and the key, and games of any length."""

from engine.core.checks import gives_check
from engine.core.fen import format_fen, parse_fen
from engine.core.move import uci_text
from engine.core.movegen import legal_moves
from engine.facade import Board
from tests.engine.positions import IN_FEN, Start, random_games

PLAIN = (0, 4)                     # the flags of moves that only go, or take what stands where they go


def test_unmake_restores_every_field(start: Start) -> None:
    for board in random_games(count=5, plies=80, start=start, seed=21):
        position, _ = parse_fen(board.fen())
        before = position.state()
        for move in legal_moves(position):
            position.push(move)
            position.pop(move)
            assert position.state() == before, (board.fen(), uci_text(move))


def test_incremental_state_equals_a_fresh_set_up_after_every_move(start: Start) -> None:
    for board in random_games(count=3, plies=80, start=start, seed=22):
        position, _ = parse_fen(board.fen())
        for move in legal_moves(position):
            position.push(move)
            made = position.state()
            fresh = parse_fen(format_fen(position))[0].state()
            position.pop(move)
            for field in IN_FEN:
                assert made[field] == fresh[field], (field, board.fen(), uci_text(move))


def test_en_passant_counts_in_the_key_only_if_a_capture_is_legal() -> None:
    pinned, _ = parse_fen("8/8/8/K1pP3q/8/8/8/4k3 w - c6 0 1")
    without, _ = parse_fen("8/8/8/K1pP3q/8/8/8/4k3 w - - 0 1")
    possible, _ = parse_fen("8/8/8/K1pP4/8/8/8/4k3 w - c6 0 1")
    impossible, _ = parse_fen("8/8/8/K1pP4/8/8/8/4k3 w - - 0 1")
    assert pinned.state()["key"] == without.state()["key"]
    assert possible.state()["key"] != impossible.state()["key"]


def test_equal_positions_have_equal_keys_whatever_the_path() -> None:
    one = Board().after("g1f3", "g8f6", "b1c3", "b8c6")
    other = Board().after("b1c3", "b8c6", "g1f3", "g8f6")
    assert one.position.state()["key"] == other.position.state()["key"]


def test_a_game_may_be_of_any_length() -> None:
    board = Board("4k3/8/8/8/8/8/8/R3K3 w - - 0 1")
    shuttle = ("a1a2", "e8d8", "a2a1", "d8e8")
    for ply in range(3000):
        board.push(shuttle[ply % 4])
    assert board.repetition_count() > 100
    assert board.halfmove_clock == 3000
    assert board.position.state()["height"] <= 512
    assert board.legal_moves()


def test_a_move_gives_check_exactly_if_the_enemy_is_in_check_after_it(start: Start) -> None:
    for board in random_games(count=3, plies=120, start=start, seed=23):
        position, _ = parse_fen(board.fen())
        for move in legal_moves(position):
            theirs = board.parse_uci(uci_text(move))
            if not board.is_castling(theirs):
                assert gives_check(position, move) == board.gives_check(theirs), (board.fen(), uci_text(move))


def test_the_key_after_a_plain_move_is_known_before_it_is_made(start: Start) -> None:
    for board in random_games(count=5, plies=80, start=start, seed=24):
        position, _ = parse_fen(board.fen())
        for move in legal_moves(position):
            if move >> 12 in PLAIN:
                expected = position.python_key_after(move)
                position.push(move)
                assert position.state()["key"] == expected, (board.fen(), uci_text(move))
                position.pop(move)
