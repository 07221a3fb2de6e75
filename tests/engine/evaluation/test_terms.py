"""What the terms count, against the same counted slowly by python-chess: White's number less Black's."""

from collections import Counter
from collections.abc import Callable

import chess
import pytest

from engine.evaluation.weights import TERMS
from engine.training.samples import Samples
from tests.engine.positions import Start, random_games
from tests.engine.shards import words_of

Count = Counter[int]               # how often each weight of a term counts, by its place in the term


def pawns(board: chess.Board, colour: chess.Color) -> list[int]:
    return list(board.pieces(chess.PAWN, colour))


def rank_of(square: int, colour: chess.Color) -> int:
    """As the owner counts, from 0."""
    return chess.square_rank(square) if colour else 7 - chess.square_rank(square)


def doubled(board: chess.Board, us: chess.Color) -> Count:
    ranks = {(chess.square_file(pawn), rank_of(pawn, us)) for pawn in pawns(board, us)}
    return Counter(0 for file, rank in ranks if any((file, behind) in ranks for behind in range(rank)))


def isolated(board: chess.Board, us: chess.Color) -> Count:
    files = [chess.square_file(pawn) for pawn in pawns(board, us)]
    return Counter(0 for file in files if file - 1 not in files and file + 1 not in files)


def is_passed(board: chess.Board, pawn: int, us: chess.Color) -> bool:
    file, rank = chess.square_file(pawn), rank_of(pawn, us)
    stopped = any(
        abs(chess.square_file(other) - file) <= 1 and rank_of(other, us) > rank for other in pawns(board, not us)
    )
    return not stopped and not any(
        chess.square_file(other) == file and rank_of(other, us) > rank for other in pawns(board, us)
    )


def passed(board: chess.Board, us: chess.Color) -> Count:
    return Counter(rank_of(pawn, us) for pawn in pawns(board, us) if is_passed(board, pawn, us))


def passed_blocked(board: chess.Board, us: chess.Color) -> Count:
    step = 8 if us else -8
    return Counter(
        rank_of(pawn, us) for pawn in pawns(board, us) if is_passed(board, pawn, us) and board.piece_at(pawn + step)
    )


def passed_own_king(board: chess.Board, us: chess.Color) -> Count:
    step, king = 8 if us else -8, board.king(us)
    return Counter(
        chess.square_distance(king, pawn + step)
        for pawn in pawns(board, us)
        if is_passed(board, pawn, us) and rank_of(pawn, us) >= 3
    )


def connected(board: chess.Board, us: chess.Color) -> Count:
    places = {(chess.square_file(pawn), rank_of(pawn, us)) for pawn in pawns(board, us)}
    return Counter(
        rank
        for file, rank in places
        if places & {(file - 1, rank), (file + 1, rank), (file - 1, rank - 1), (file + 1, rank - 1)}
    )


def bishop_pair(board: chess.Board, us: chess.Color) -> Count:
    colours = {chess.BB_SQUARES[square] & chess.BB_DARK_SQUARES != 0 for square in board.pieces(chess.BISHOP, us)}
    return Counter([0] * (len(colours) == 2))


def rook_open(board: chess.Board, us: chess.Color) -> Count:
    taken = {chess.square_file(pawn) for pawn in pawns(board, us) + pawns(board, not us)}
    return Counter(0 for rook in board.pieces(chess.ROOK, us) if chess.square_file(rook) not in taken)


def rook_half_open(board: chess.Board, us: chess.Color) -> Count:
    ours = {chess.square_file(pawn) for pawn in pawns(board, us)}
    theirs = {chess.square_file(pawn) for pawn in pawns(board, not us)}
    return Counter(0 for rook in board.pieces(chess.ROOK, us) if chess.square_file(rook) in theirs - ours)


def guarded_by_pawns(board: chess.Board, us: chess.Color) -> chess.SquareSet:
    return chess.SquareSet(square for pawn in pawns(board, us) for square in board.attacks(pawn))


def queen_mobility(board: chess.Board, us: chess.Color) -> Count:
    barred = guarded_by_pawns(board, not us) | board.pieces(chess.PAWN, us) | board.pieces(chess.KING, us)
    return Counter(len(board.attacks(queen) - barred) for queen in board.pieces(chess.QUEEN, us))


def knight_mobility(board: chess.Board, us: chess.Color) -> Count:
    barred = guarded_by_pawns(board, not us) | board.pieces(chess.PAWN, us) | board.pieces(chess.KING, us)
    return Counter(len(board.attacks(knight) - barred) for knight in board.pieces(chess.KNIGHT, us))


def threat_by_pawn(board: chess.Board, us: chess.Color) -> Count:
    found: Count = Counter()
    for square in guarded_by_pawns(board, us):
        piece = board.piece_at(square)
        if piece is not None and piece.color != us and piece.piece_type not in (chess.PAWN, chess.KING):
            found[piece.piece_type - 1] += 1
    return found


def hanging(board: chess.Board, us: chess.Color) -> Count:
    theirs = chess.SquareSet(board.occupied_co[not us]) - board.pieces(chess.PAWN, not us)
    loose = [square for square in theirs if board.is_attacked_by(us, square) and not board.attackers(not us, square)]
    return Counter([0] * len(loose))


SLOW: list[Callable[[chess.Board, chess.Color], Count]] = [
    doubled, isolated, passed, passed_blocked, passed_own_king, connected, bishop_pair, rook_open, rook_half_open,
    queen_mobility, knight_mobility, threat_by_pawn, hanging,
]  # fmt: skip


@pytest.fixture(scope="module")
def counted() -> list[tuple[chess.Board, dict[int, int]]]:
    """Positions of random games with the coefficients of their weights."""
    samples = Samples(1000)
    boards = []
    for board in random_games(count=8, plies=120, start=Start.STANDARD, seed=17):
        if samples.add(words_of(board.fen()), 0):          # not for a known ending
            boards.append(board.copy(stack=False))
    samples.restore()
    return [(board, samples.coefficients(number)) for number, board in enumerate(boards)]


@pytest.mark.parametrize("slow", SLOW, ids=lambda slow: slow.__name__)
def test_the_term_counts_as_described(
    slow: Callable[[chess.Board, chess.Color], Count], counted: list[tuple[chess.Board, dict[int, int]]]
) -> None:
    term = TERMS[slow.__name__]
    seen = 0
    for board, coefficients in counted[::3]:
        white, black = slow(board, chess.WHITE), slow(board, chess.BLACK)
        expected = {place: white[place] - black[place] for place in range(term.size)}
        found = {place: coefficients.get(term.first + place, 0) for place in range(term.size)}
        assert found == expected, board.fen()
        seen += sum(white.values()) + sum(black.values())
    assert seen > 0
