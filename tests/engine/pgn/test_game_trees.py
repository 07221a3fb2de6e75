"""Games as trees: python-chess and we read what the other writes."""

import io
import itertools
from collections.abc import Iterator

import chess
import chess.engine
import chess.pgn
import pytest

from engine.pgn.game import Game, Node
from engine.pgn.pgn import game_text, read_games
from tests.engine.pgn.games import only, parse_games, random_game


def theirs(game: chess.pgn.Game, chess960: bool) -> Iterator[tuple[object, ...]]:
    """Every node of a tree of python-chess, with its depth in the tree."""
    waiting: list[tuple[int, chess.pgn.GameNode, chess.Board]] = [(0, game, game.board())]
    while waiting:
        depth, node, board = waiting.pop()
        move, opening = "", ""
        if isinstance(node, chess.pgn.ChildNode):
            move, opening = board.uci(node.move, chess960=chess960), node.starting_comment
            board = board.copy(stack=False)
            board.push(node.move)
        yield depth, move, words(node.comment), words(opening), sorted(node.nags)
        waiting += [(depth + 1, reply, board) for reply in reversed(node.variations)]


def ours(node: Node) -> Iterator[tuple[object, ...]]:
    waiting = [(0, node)]
    while waiting:
        depth, node = waiting.pop()
        yield depth, node.move, words(node.comment), words(node.starting_comment), sorted(set(node.nags))
        waiting += [(depth + 1, reply) for reply in reversed(node.variations)]


def words(text: str) -> str:
    return " ".join(text.split())


def assert_equal_trees(mine: Game, its: chess.pgn.Game) -> None:
    for one, other in itertools.zip_longest(ours(mine.root), theirs(its, mine.board().chess960)):
        assert one == other


def check_both_directions(games: int, plies: int) -> int:
    """Random games there and back; returns how many moves they had."""
    originals = [random_game(seed, plies) for seed in range(games)]
    written = "\n\n".join(str(game) for game in originals)
    moves = 0
    for original, read in itertools.zip_longest(originals, read_games(io.BytesIO(written.encode()))):
        assert read.errors == []
        assert read.headers["Event"] == original.headers["Event"]
        assert read.result == original.headers["Result"]
        assert_equal_trees(read, original)
        text = game_text(read)
        again = chess.pgn.read_game(io.StringIO(text))
        assert again.errors == []
        assert_equal_trees(read, again)
        assert game_text(only(text)) == text
        moves += sum(1 for _ in ours(read.root)) - 1
    return moves


def test_python_chess_and_we_read_each_others_trees() -> None:
    assert check_both_directions(games=40, plies=80) > 1500


@pytest.mark.long
def test_python_chess_and_we_read_each_others_trees_of_a_large_sample() -> None:
    assert check_both_directions(games=1000, plies=200) > 100_000


def test_without_variations_the_main_line_is_the_same() -> None:
    for seed in range(12):
        text = str(random_game(seed, 80))
        [plain], [full] = parse_games(text, variations=False), parse_games(text)
        assert plain.moves == full.moves
        assert [node.comment for node in plain.root.mainline()] == [node.comment for node in full.root.mainline()]
        assert all(len(node.variations) == 1 for node in list(plain.root.mainline())[:-1])
