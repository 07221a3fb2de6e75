"""FEN in and out: python-chess agrees on good ones, each bad one is refused with its reason."""

import random

import chess
import pytest

from engine.facade import Board, InvalidFen

PASSED = (*range(16, 24), *range(40, 48))      # the squares over which pawns make double steps


def test_an_inner_castling_rook_is_named_by_its_file() -> None:
    fen = "1k5r/8/8/8/8/8/8/R2RK3 w D - 0 1"
    assert Board(fen).fen() == fen
    assert chess.Board(fen, chess960=True).fen() == fen


def test_two_letters_may_name_the_same_castling_rook() -> None:
    fen = "4k3/8/8/8/8/8/8/RNB1KB1R b HK - 0 1"
    assert chess.Board(fen, chess960=True).is_valid()
    assert Board(fen).fen().split()[2] == "K"


def test_clocks_may_be_missing() -> None:
    assert Board("4k3/8/8/8/8/8/8/4K3 w - -").fen() == "4k3/8/8/8/8/8/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "expected 4 to 6 fields"),
        ("8/8/8/8/8/8/8 w - - 0 1", "expected 8 ranks, found 7"),
        ("4k3/8/8/8/8/8/8/4K4 w - - 0 1", "rank 1 has 9 squares"),
        ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "unknown piece 'X' on rank 1"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "expected w or b"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 0 kings"),
        ("4k3/8/8/8/8/8/8/K3K3 w - - 0 1", "White has 2 kings"),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "pawn on the first or last rank"),
        ("4k3/8/8/8/PPPPPPPP/P7/8/4K3 w - - 0 1", "9 pawns"),
        ("4k3/8/8/8/PPPPPPPP/8/QQQQQQQQ/4K3 w - - 0 1", "17 pieces and pawns"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "side not to move is in check"),
        ("4k3/8/8/8/8/8/8/4K2R w Z - 0 1", "unknown castling right 'Z'"),
        ("4k3/8/8/8/8/8/8/4K3 w Kz - 0 1", "unknown castling right 'z'"),
        ("4k3/8/8/8/8/8/8/4KR1R w FH - 0 1", "two castling rights"),
        ("4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "named twice"),
        ("4k3/8/8/8/8/8/8/4K3 w KQkqK - 0 1", "at most 4 castling rights"),
        ("4k3/8/8/8/8/8/8/4K3 w - xx 0 1", "expected an en passant square"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "halfmove clock"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 -3", "fullmove number"),
        ("4k3/8/8/1B1R4/8/4R3/8/3K4 b - - 0 1", ""),
        ("4k3/3R4/8/1b6/8/4R3/8/R3K3 b - - 0 1", ""),
    ],
)
def test_bad_fen_is_refused_with_its_reason(fen: str, reason: str) -> None:
    if not reason:
        assert Board(fen).is_check() == chess.Board(fen).is_check()
        return
    with pytest.raises(InvalidFen) as caught:
        Board(fen)
    assert reason in str(caught.value)
    assert repr(fen) in str(caught.value)


def with_made_up_rights(rng: random.Random) -> str:
    """Return a FEN with kings and rooks mostly near home, and rights that often do not fit them."""
    board = chess.Board(None)
    for _ in range(6):
        square = chess.square(rng.randrange(8), rng.randrange(3, 5))
        board.set_piece_at(square, chess.Piece(chess.PAWN, rng.random() < 0.5))
    rights = []
    for colour, home in ((chess.WHITE, 0), (chess.BLACK, 56)):
        for square in (home, home + 7, home + rng.randrange(8)):
            if rng.random() < 0.7:
                board.set_piece_at(square, chess.Piece(chess.ROOK, colour))
        king = rng.choice((home + 4, home + 4, home + rng.randrange(8), rng.randrange(64)))
        board.set_piece_at(king, chess.Piece(chess.KING, colour))
        letters = rng.choice(("", "K", "Q", "KQ", "AH", rng.choice("ABCDEFGH")))
        rights.append(letters if colour == chess.WHITE else letters.lower())
    en_passant = rng.choice(("-", chess.square_name(rng.randrange(64)), chess.square_name(rng.choice(PASSED))))
    return f"{board.board_fen()} {rng.choice('wb')} {''.join(rights) or '-'} {en_passant} 0 1"


def cleaned(fen: str, *, chess960: bool) -> chess.Board | None:
    """Return the position with the rights that python-chess leaves it; None if it is not legal even so."""
    board = chess.Board(fen, chess960=chess960)
    board.castling_rights = board.clean_castling_rights()
    if board.status() & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    return board if board.is_valid() else None


@pytest.mark.parametrize(
    ("fen", "capture"),
    [
        pytest.param("8/8/K6r/2Pp4/8/8/8/4k3 w - d6 0 1", "c5d6", id="a rook checked along the rank of the square"),
        pytest.param("4k3/8/3K4/4pP2/8/8/8/8 w - e6 0 1", "f5e6", id="the pawn checked before its step"),
    ],
)
def test_en_passant_may_end_a_check_older_than_the_double_step(fen: str, capture: str) -> None:
    """No game leads there, but on Lichess one may begin there, and then the capture is legal."""
    board = Board(fen)
    assert board.fen() == fen
    assert capture in board.legal_moves()


def test_rights_that_the_position_cannot_have_are_dropped_as_by_python_chess() -> None:
    rng = random.Random(31)
    compared = castling = en_passant = 0
    while compared < 300:
        fen = with_made_up_rights(rng)
        expected = cleaned(fen, chess960=True)
        if expected is None:
            continue
        board = Board(fen, chess960=True)
        assert board.fen() == expected.fen(), fen
        assert board.key() == Board(expected.fen()).key(), fen
        assert sorted(board.legal_moves()) == sorted(expected.uci(move) for move in expected.legal_moves), fen
        standard = cleaned(fen, chess960=False)
        assert ordinary_rooks(board) == standard.castling_rights, fen
        compared += 1
        castling += fen.split()[2] not in (expected.castling_shredder_fen(), expected.castling_xfen())
        en_passant += fen.split()[3] != "-" and not expected.has_legal_en_passant()
    assert castling > 100
    assert en_passant > 100


def ordinary_rooks(board: Board) -> int:
    """Return the corners whose rooks may castle with a king on its own e1 or e8, as a bitboard."""
    state = board.position.state()
    at_home = board.piece_at("e1") == "K", board.piece_at("e8") == "k"
    return sum(
        1 << rook
        for right, rook in enumerate(state["castling_rooks"])
        if state["castling_rights"] >> right & 1 and at_home[right // 2] and rook % 8 in (0, 7)
    )
