"""Games of the variants as PGN: python-chess and we read what we write."""

import io

import chess.pgn
import pytest

from engine.facade import Board, InvalidVariant, pgn_text
from tests.engine.pgn.games import only
from tests.engine.variants.games import VARIANTS, random_games


def finished(variant: str, games: int) -> list[Board]:
    """The last positions of random games; python-chess does not read Chess960 set-ups of variants."""
    plies = [ply for ply in random_games(variant, games, seed=41, plies=80) if ply.move is None]
    return [ply.board for ply in plies if ply.board.initial_fen == Board(variant=variant).fen()]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_game_is_read_as_it_was_written(variant: str) -> None:
    boards = finished(variant, games=14)
    assert len(boards) > 1
    for board in boards:
        text = pgn_text({"Event": "?"}, board, "*")
        ours, theirs = only(text), chess.pgn.read_game(io.StringIO(text))
        assert theirs.errors == []
        assert ours.errors == []
        replayed = theirs.board()
        assert type(replayed) is not chess.Board
        moves = list(theirs.mainline_moves())
        assert ours.board().fen() == board.initial_fen
        assert len(ours.moves) == len(moves) == len(board.moves)
        for ours_move, theirs_move in zip(board.moves, moves, strict=True):
            assert replayed.parse_uci(ours_move) == theirs_move
            replayed.push(theirs_move)


def test_a_game_from_the_variants_own_start_needs_no_fen() -> None:
    text = pgn_text({}, Board(variant="horde"), "*")
    assert '[Variant "Horde"]' in text
    assert "FEN" not in text


def test_drops_and_promotions_to_king_are_read() -> None:
    crazyhouse = only('[Variant "Crazyhouse"]\n\n1. e4 d5 2. exd5 e6 3.@e5 exd5 4. Nc3 P@d6 *')
    assert crazyhouse.errors == []
    assert crazyhouse.moves[4:] == ["P@e5", "e6d5", "b1c3", "P@d6"]
    antichess = only('[Variant "Antichess"]\n[FEN "8/P7/8/8/8/8/7p/8 w - - 0 1"]\n\n1. a8=K h1=Q 2. Kb8 *')
    assert antichess.errors == []
    assert antichess.moves == ["a7a8k", "h2h1q", "a8b8"]


def test_an_unknown_variant_is_named() -> None:
    with pytest.raises(InvalidVariant, match="Bughouse"):
        only('[Variant "Bughouse"]\n\n1. e4 *').board()


@pytest.mark.parametrize(
    ("name", "chess960"),
    [("?", False), ("Normal", False), ("From Position", False), ("Fischer_Random", True), ("chess-960", True)],
)
def test_standard_chess_and_chess960_have_several_names(name: str, chess960: bool) -> None:
    board = only(f'[Variant "{name}"]\n\n1. e4 *').board()
    assert (board.variant, board.chess960) == ("standard", chess960)
