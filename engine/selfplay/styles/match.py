"""Games of a style against the default, to see whether the style shows and what it costs.

The games of a pair depend only on its number, the seed, the styles, the nodes, the level and the engine. Openings are
lines that have names; both colours play each. The default at full strength is the judge of every game: its scores have
no bonus. Without a level it is also the opponent.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from engine.board import THREEFOLD
from engine.book.opening_names import named_positions
from engine.evaluation.style import StyleName
from engine.facade import Board, Limits
from engine.selfplay.games import Adjudicator, FixedNodesPlayer, game_result
from engine.selfplay.ladder import OwnPlayer
from engine.selfplay.styles.measures import WatchedGame
from engine.selfplay.worker_pool import Workers, run_parallel

OPENING_PLIES = (4, 6)                  # from and to
STYLE_OPENING_CP = 80                   # largest score of an opening that is played


@dataclass(frozen=True)
class StyleMatch:
    """A style, None for the default, against the default."""

    style: StyleName | None
    nodes: int = 10_000
    seed: int = 1
    level: int | None = None       # the rating of both players; None: full strength with `nodes`

    def openings(self, count: int) -> list[str]:
        """Return the FENs of different openings that the judge thinks balanced, `count` if there are enough."""
        judge = FixedNodesPlayer("", self.nodes)
        boards = named_positions(*OPENING_PLIES)
        random.Random(f"styles {self.seed}").shuffle(boards)
        found: list[str] = []
        for board in boards:
            if len(found) == count:
                break
            judge.new_game()
            if abs(judge.search(board).white_score) <= STYLE_OPENING_CP:
                found.append(board.fen())
        return found


def play_opening(match: StyleMatch, opening: tuple[int, str]) -> list[WatchedGame]:
    """Play an opening, its number and FEN, with both colours; return the games as the style's side saw them.

    The default against itself would play the same game twice, so it plays one, with colours in turn.
    """
    number, fen = opening
    kind, strength = ("nodes", match.nodes) if match.level is None else ("level", match.level)
    styled, judge = OwnPlayer(kind, strength, match.style), FixedNodesPlayer("", match.nodes)
    opponent = None if match.level is None else OwnPlayer(kind, strength)
    games = []
    for us in (0, 1) if match.style is not None else (number % 2,):
        judge.new_game()
        styled.new_game(4 * number + 2 * us)
        if opponent is not None:
            opponent.new_game(4 * number + 2 * us + 1)
        games.append(play_styled_game(fen, us, styled, judge, opponent))
    return games


def play_styled_game(
    fen: str, us: int, styled: OwnPlayer, judge: FixedNodesPlayer, opponent: OwnPlayer | None
) -> WatchedGame:
    """Play to the end, against the judge if there is no opponent. The judge's scores alone end a game early."""
    board = Board(fen)
    position = board.position
    ply = 2 * (board.fullmove_number - 1) + position.black_to_move()
    game = WatchedGame(us, ply)
    game.watch(position)
    adjudicator = Adjudicator()
    result = game_result(board, THREEFOLD)
    while result is None:
        is_ours = position.black_to_move() == us
        if is_ours:
            board.push(styled.move(board, Limits()))
        else:
            found = judge.search(board)
            game.judge(found.white_score)
            board.push(board.spell(found.move) if opponent is None else opponent.move(board, Limits()))
        ply += 1
        game.watch(position)
        result = game_result(board, THREEFOLD)
        if result is None and not is_ours:
            result = adjudicator.adjudicate(ply, found.white_score)
    game.end(result)
    return game


def play(match: StyleMatch, games: int, workers: Workers) -> Iterator[list[WatchedGame]]:
    """Play at least this many games, several at a time, and yield those of each opening."""
    openings = match.openings(games if match.style is None else -(-games // 2))
    for _, played in run_parallel(partial(play_opening, match), enumerate(openings), workers):
        yield played
