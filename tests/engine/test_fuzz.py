"""Fuzzing FEN and moves: a text is a position as python-chess sees it, or an error says what is wrong."""

import random
from collections import Counter
from collections.abc import Callable

import chess
import pytest

from engine.facade import STARTING_FEN, Board, InvalidFen, InvalidMove
from tests.engine.positions import ENDINGS, PERFT, Start, random_games, random_start

LONGEST_MESSAGE = 400
NOISE = "pnbrqkPNBRQK12345678/ wb-KQkqAHah0e3d6\t\n\x00é\uff11\u0663²\u212a♔\U0001f600+.,_xX9"
# The status of positions that we accept: python-chess calls a double check along one line impossible.
HARMLESS = chess.STATUS_VALID | chess.STATUS_IMPOSSIBLE_CHECK
# Errors that only we raise: python-chess accepts a castling right twice, fills in missing fields, and reads numbers and
# letters as Python does.
OUR_OWN_REASONS = ("named twice", "two castling rights", "expected 4 to 6 fields", "expected a number from")


def noise(rng: random.Random) -> str:
    """Return random text, sometimes long."""
    length = rng.choice((0, 1, 5, 20, 60, 90, 300)) if rng.random() < 0.999 else 100_000
    return "".join(rng.choices(NOISE, k=length))


def mutated(rng: random.Random) -> str:
    """Return a valid FEN with a few characters or fields changed, doubled or removed."""
    text = rng.choice((STARTING_FEN, *PERFT, *ENDINGS, random_start(Start.DOUBLE_FISCHER_RANDOM, rng).shredder_fen()))
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(("", rng.choice(NOISE))) + text[place + rng.randrange(2) :]
        if rng.random() < 0.2:
            fields = text.split(" ")
            fields[rng.randrange(len(fields))] = rng.choice(("", "-", "w", "b", "e3", "d6", "HA", "AHah", "9" * 5000))
            text = " ".join(fields)
    return text


def arranged(rng: random.Random) -> str:
    """Return a FEN with kings, random pieces, and fields that often fit them."""
    squares = rng.sample(range(64), 2 + rng.choice((1, 3, 6, 12, 25)))
    pieces = ["K", "k", *rng.choices("PPPNBRQpppnbrq", k=len(squares) - 2)]
    board = dict(zip(squares, pieces, strict=True))
    if rng.random() < 0.5:
        board = _with_kings_at_home(board, rng)
    for square in [square for square, piece in board.items() if piece in "Pp" and square // 8 in (0, 7)]:
        board[square] = rng.choice("NBRQnbrqP")
    side = rng.choice("wb")
    rank = 4 if side == "w" else 3
    pawn = "p" if side == "w" else "P"
    stepped = [square for square, piece in board.items() if piece == pawn and square // 8 == rank]
    en_passant = chess.square_name(rng.choice(stepped) ^ 8) if stepped and rng.random() < 0.7 else "-"
    castling = "".join(rng.sample("KQkqABCDEFGHabcdefgh", rng.choice((1, 2, 4)))) if rng.random() < 0.6 else "-"
    ranks = ("".join(board.get(8 * row + file, "1") for file in range(8)) for row in range(7, -1, -1))
    clock = rng.choice((0, 3, 99, 100, 149, 99999))
    return f"{'/'.join(ranks)} {side} {castling} {en_passant} {clock} {rng.randrange(200)}"


def _with_kings_at_home(board: dict[int, str], rng: random.Random) -> dict[int, str]:
    """Return the board with only a king between two rooks on each back rank, as for castling."""
    board = {square: piece for square, piece in board.items() if piece not in "Kk" and square // 8 not in (0, 7)}
    for home, king, rook in ((0, "K", "R"), (56, "k", "r")):
        a_side, middle, h_side = sorted(rng.sample(range(8), 3))
        board |= {home + a_side: rook, home + middle: king, home + h_side: rook}
    return board


def read_by_python_chess(text: str) -> chess.Board | None:
    try:
        return chess.Board(text, chess960=True)
    except ValueError:
        return None


def check_fen(text: str, rng: random.Random) -> bool:
    """Return whether the text was accepted; asserts that this was right."""
    theirs = read_by_python_chess(text)
    try:
        ours = Board(text, chess960=True)
    except InvalidFen as refusal:
        message = str(refusal)
        assert message.startswith("invalid FEN '") or message.startswith('invalid FEN "')
        assert len(message) <= LONGEST_MESSAGE
        if theirs is not None and text.isascii() and theirs.status() == chess.STATUS_VALID:
            assert any(reason in message for reason in OUR_OWN_REASONS), message
        return False
    if theirs is not None:
        if theirs.status() & chess.STATUS_INVALID_EP_SQUARE:
            theirs.ep_square = None        # python-chess would capture en passant there
        assert theirs.fen() == ours.fen()
    check_position(ours)
    for _ in range(3):
        if ours.legal_moves():
            ours.push(rng.choice(ours.legal_moves()))
    check_position(ours)
    return True


def check_position(ours: Board) -> None:
    """Assert that python-chess accepts the position, with the same moves, and that its FEN gives it again."""
    theirs = chess.Board(ours.fen(), chess960=True)
    assert theirs.status() | HARMLESS == HARMLESS, (ours.fen(), theirs.status())
    moves = ours.legal_moves()
    assert sorted(moves) == sorted(theirs.uci(move) for move in theirs.legal_moves), ours.fen()
    assert len(moves) <= 218
    again = Board(ours.fen(), chess960=True)
    assert again.fen() == ours.fen()
    assert again.key() == ours.key()


def check_move(ours: Board, legal: dict[str, str], text: str) -> bool:
    """Return whether the text was accepted as a move; asserts that this was right.

    `legal` maps each notation to the one in which castling is king takes rook.
    """
    try:
        assert ours.king_takes_rook(text) in legal.values()
        return True
    except InvalidMove as refusal:
        message = str(refusal)
    assert text not in legal
    assert ours.fen() in message
    assert len(message) <= LONGEST_MESSAGE
    return False


def move_text(rng: random.Random) -> str:
    """Return text like a move."""
    if rng.random() < 0.2:
        return noise(rng)
    file, rank = rng.randrange(8), rng.randrange(8)
    return (
        f"{chr(ord('a') + file)}{rank + 1}{chr(ord('a') + file + rng.randint(-2, 2))}{rank + 1 + rng.randint(-2, 2)}"
        f"{rng.choice(('', '', '', 'q', 'n', 'k', 'Q', ' '))}"
    )


def fuzz_fens(count: int, seed: int) -> Counter[str]:
    """Check `count` texts of each kind; returns how many of each were accepted."""
    rng = random.Random(seed)
    makers: dict[str, Callable[[random.Random], str]] = {"noise": noise, "mutated": mutated, "arranged": arranged}
    accepted: Counter[str] = Counter()
    for name, maker in makers.items():
        accepted[name] = sum(check_fen(maker(rng), rng) for _ in range(count))
    return accepted


def fuzz_moves(games: int, texts: int, seed: int) -> int:
    """Check `texts` texts in each position of random games; returns how many were moves."""
    rng = random.Random(seed)
    accepted = 0
    for start in Start:
        for theirs in random_games(games, 60, start, seed):
            ours = Board(theirs.fen())
            legal = {
                theirs.uci(move, chess960=chess960): theirs.uci(move, chess960=True)
                for move in theirs.legal_moves
                for chess960 in (True, False)
            }
            accepted += sum(check_move(ours, legal, move_text(rng)) for _ in range(texts))
    return accepted


def test_any_text_is_a_position_or_an_error() -> None:
    accepted = fuzz_fens(count=700, seed=81)
    assert accepted["mutated"] > 50
    assert accepted["arranged"] > 50


def test_any_text_is_a_move_or_an_error() -> None:
    assert fuzz_moves(games=1, texts=20, seed=82) > 5


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 220))
def test_a_million_texts(seed: int) -> None:
    """20 runs of 3 x 17,000 FENs, and some move texts."""
    accepted = fuzz_fens(count=17_000, seed=seed)
    assert accepted["mutated"] > 1000
    assert accepted["arranged"] > 1000
    assert fuzz_moves(games=1, texts=50, seed=seed) > 10


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("8/8/8/8/8/8/8/K1k5 w - \u0661 0 1", id="an Arabic digit"),
        pytest.param("4k3/8/8/8/8/8/8/4K2R w \u212a - 0 1", id="the Kelvin sign is no K"),
        pytest.param("4k3/8/8/8/8/8/8/4K2R w KK - 0 1", id="a right named twice"),
        pytest.param("4k3/8/8/8/8/8/8/4K3 w - - \u00b2 1", id="a superscript as clock"),
        pytest.param("4k3/8/8/8/8/8/8/4K3 w - - " + "9" * 5000 + " 1", id="a number too long for int()"),
        pytest.param("4k3/8/8/8/8/8/8/" + "8" * 1_000_000 + " w - - 0 1", id="a rank of a million letters"),
        pytest.param("4k3/8/8/8/8/8/8/4K3 " + "w" * 1_000_000 + " - - 0 1", id="a side of a million letters"),
        pytest.param("4k3/8/8/8/8/8/8/4K3 w - " + "e" * 1_000_000 + " 0 1", id="en passant of a million letters"),
        pytest.param("4k3/8/8/8/8/8/8/R3K3 w " + "Q" * 1_000_000 + " - 0 1", id="a million castling rights"),
    ],
)
def test_invalid_fens_are_refused_with_a_short_message(fen: str) -> None:
    with pytest.raises(InvalidFen) as caught:
        Board(fen)
    assert len(str(caught.value)) <= LONGEST_MESSAGE


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("k7/1b6/8/2PpP3/8/8/6K1/8 w - d6 0 1", id="the double step would have ended a check"),
        pytest.param("4k3/8/8/4p3/8/8/8/K3r2B w - e6 0 1", id="a check older than the double step"),
        pytest.param("7k/8/5n2/3pP3/4K3/8/8/8 w - d6 0 1", id="a check by a knight"),
    ],
)
def test_an_en_passant_square_without_a_legal_capture_is_dropped(fen: str) -> None:
    assert Board(fen).fen() == fen.replace("d6", "-").replace("e6", "-")


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("4k3/8/8/8/8/8/8/4K2R w K - 99999999 99999999", id="high counts"),
        pytest.param("B6k/8/8/8/4K3/8/8/7b w - - 0 1", id="one bishop checks"),
        pytest.param("b6k/8/8/8/4K3/8/8/7b w - - 0 1", id="two bishops check along one diagonal"),
        pytest.param("8/8/8/4p1k1/3K4/8/8/8 w - e6 0 1", id="a double step gives check"),
        pytest.param("7b/8/8/4pP2/8/2k5/8/K7 w - - 0 1", id="a pawn shields"),
    ],
)
def test_unusual_positions_are_accepted(fen: str) -> None:
    board = Board(fen, chess960=True)
    check_position(board)
    for move in board.legal_moves():
        after = board.after(move)
        assert Board(after.fen()).key() == after.key()
