"""Random games of python-chess with comments, NAGs and variations."""

import io
import random
from collections.abc import Iterator

import chess
import chess.engine
import chess.pgn

from engine.pgn.game import Game
from engine.pgn.pgn import read_games

REMARKS = ("good", "a novelty; see [1]", "[%clk 0:01:02]", "(not a variation)", "$1 stays text", "1-0? {", "ünïcode ♞")


def parse_games(text: str, *, variations: bool = True) -> Iterator[Game]:
    """Yield the games of a text, as `read_games` does."""
    return read_games(io.BytesIO(text.encode("utf-8", "surrogateescape")), variations=variations)


def only(text: str) -> Game:
    """The one game of a text."""
    [game] = parse_games(text)
    return game


def remark(rng: random.Random) -> str:
    return rng.choice(REMARKS) if rng.random() < 0.2 else ""


def grow(node: chess.pgn.GameNode, board: chess.Board, rng: random.Random, plies: int, nested: int = 0) -> None:
    """Random moves after a node, with comments, NAGs and variations, as python-chess keeps them; plays on `board`."""
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            return
        played, *others = rng.sample(moves, min(len(moves), 3))
        following = node.add_variation(played, comment=remark(rng))
        if rng.random() < 0.1:
            following.nags.add(rng.randrange(1, 140))
        if nested < 3 and rng.random() < 0.15:
            for other in others[: rng.randrange(1, 3)]:
                branch = node.add_variation(other, comment=remark(rng), starting_comment=remark(rng))
                there = board.copy(stack=False)
                there.push(other)
                grow(branch, there, rng, rng.randrange(4), nested + 1)
        node = following
        board.push(played)


def random_game(seed: int, plies: int) -> chess.pgn.Game:
    rng = random.Random(f"pgn {seed}")
    game = chess.pgn.Game()
    game.headers["Event"] = rng.choice(('a "quoted" name', "back\\slash", "Café", "?"))
    if seed % 4 == 0:
        game.setup(chess.Board.from_chess960_pos(rng.randrange(960)))
    game.headers["Result"] = rng.choice(("1-0", "0-1", "1/2-1/2", "*"))
    game.comment = remark(rng)
    grow(game, game.board(), rng, rng.randrange(plies))
    return game
