"""Making and taking back in the variants, and how many moves there can be."""

import re
from pathlib import Path

import pytest

import engine
from engine.facade import Board, InvalidMove
from tests.engine.variants.games import VARIANTS, random_games

SOURCES = Path(engine.__file__).parent / "variants"
MOVE_LIST = re.compile(r"moves = cython\.declare\(cython\.int\[(\w+)\]\)")
# What a FEN does not tell of how the position came about:
PATH_OF_HISTORY = ("height", "halfmove_clock", "reversible_plies")


@pytest.mark.parametrize("variant", VARIANTS)
def test_unmake_restores_every_field(variant: str) -> None:
    for number, ply in enumerate(random_games(variant, games=4, seed=11)):
        position = ply.board.copy().position
        before = position.state()
        for text in ply.moves[number % 8 :: 8]:
            move = ply.board.parse(text)
            position.push(move)
            position.pop(move)
            assert position.state() == before, (ply.board.fen(), text)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_state_after_moves_equals_a_fresh_set_up(variant: str) -> None:
    for ply in random_games(variant, games=6, seed=12):
        played = ply.board.position.state()
        fresh = Board(ply.board.fen(), variant=variant).position.state()
        for field in fresh:
            assert field == "castling_rooks" or field in PATH_OF_HISTORY or played[field] == fresh[field], field


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_copy_takes_back_what_was_played_before_it(variant: str) -> None:
    for ply in random_games(variant, games=2, seed=13):
        for text in ply.moves[:3]:
            position, move = ply.board.copy().position, ply.board.parse(text)
            before = position.state()
            position.push(move)
            copy = type(position)()
            copy.copy_from(position)
            copy.pop(move)
            assert copy.state() == before, (ply.board.fen(), text)


def test_pockets_and_checks_and_promotions_count_in_the_key() -> None:
    fens = [
        ("crazyhouse", f"4k3/8/8/8/8/8/8/{rank} w - - 0 1")
        for rank in ("Q3K3/", "Q3K3/P", "Q3K3/N", "Q3K3/n", "Q3K3/PP", "Q~3K3/", "Q~3K3/P")
    ] + [("threeCheck", f"4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +{checks}") for checks in ("1+0", "2+0", "0+1", "0+2", "1+1")]
    assert len({(variant, Board(fen, variant=variant).key()) for variant, fen in fens}) == len(fens)
    assert Board(fens[0][1], variant="crazyhouse").key() == Board("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1").key()


def test_no_position_overflows_a_list_of_moves() -> None:
    """Each square is reached by at most one piece from each of eight directions, and by eight knights; and by drops.

    A side with n pieces has at most 64 - n squares to go to, and no piece has more than 27 moves. Promotions add four
    more moves for each of three ways to a square of the last rank, castling adds two.
    """
    bound = max(min(27 * pieces, 16 * (64 - pieces)) + 5 * (64 - pieces) for pieces in range(65)) + 8 * 3 * 4 + 2
    most = re.search(r"MAX_VARIANT_MOVES = (\d+)", (SOURCES / "variant_position.pxd").read_text())
    assert bound <= int(most[1])
    lists = [size for path in SOURCES.glob("*.py") for size in MOVE_LIST.findall(path.read_text())]
    assert len(lists) >= 5
    assert set(lists) == {"MAX_VARIANT_MOVES"}


@pytest.mark.parametrize("text", ["", "Q@e4", "q@e4", "P@a1", "K@e4", "N@e1", "N@", "e2e5", "e7e8k", "@e4", "\x00" * 9])
def test_an_illegal_move_is_refused_and_nothing_changes(text: str) -> None:
    board = Board("4k3/8/8/8/8/8/4P3/4K3/PN w - - 0 1", variant="crazyhouse")
    before = board.fen()
    with pytest.raises(InvalidMove):
        board.push(text)
    assert board.fen() == before


def test_long_games_are_played_without_end() -> None:
    board = Board("4k3/8/8/8/8/8/8/R3K3/ w - - 0 1", variant="crazyhouse")
    for _ in range(375):
        for move in ("a1a2", "e8d8", "a2a1", "d8e8"):
            board.push(move)
    assert board.halfmove_clock == 1500
    assert board.repetition_count() > 100
    assert board.key() == Board(board.fen(), variant="crazyhouse").key()
