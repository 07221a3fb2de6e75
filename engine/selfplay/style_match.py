"""Games of a style against the default, to see whether the style shows and what it costs.

The games of a pair depend only on its number, the seed, the styles, the nodes and the engine. Openings are lines
that have names; both colours play each. The default is the judge of every game: its scores have no bonus.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from engine.book.opening_names import named_positions
from engine.core.fen import parse_fen
from engine.evaluation.style import Name
from engine.selfplay.games import Adjudicator, Player, game_result
from engine.selfplay.style_measures import WatchedGame
from engine.selfplay.worker_pool import run_parallel

OPENING_PLIES = (4, 5, 6)
THREEFOLD = 3
BALANCED_CP = 80                   # largest score of an opening that is played


@dataclass(frozen=True)
class StyleMatch:
    """A style, None for the default, against the default."""

    style: Name | None
    nodes: int = 10_000
    seed: int = 1
    evaluation: str = ""           # as for EvalFile

    def openings(self, count: int) -> list[str]:
        """Return the FENs of this many different openings that the judge thinks balanced, if there are so many."""
        judge = Player(self.evaluation, self.nodes)
        boards = [board for plies in OPENING_PLIES for board in named_positions(plies)]
        random.Random(f"styles {self.seed}").shuffle(boards)
        found: list[str] = []
        for board in boards:
            judge.new_game()
            if len(found) < count and abs(judge.search(board.position).score) <= BALANCED_CP:
                found.append(board.fen())
        return found


def play_opening(match: StyleMatch, fen: str, number: int) -> list[WatchedGame]:
    """Play an opening with both colours and return the games as the style's side saw them.

    The default against itself would play the same game twice, so it plays one, with colours in turn.
    """
    styled = Player(match.evaluation, match.nodes, match.style)
    judge = Player(match.evaluation, match.nodes)
    games = []
    for us in (0, 1) if match.style is not None else (number % 2,):
        styled.new_game()
        judge.new_game()
        games.append(play_game(fen, us, styled, judge))
    return games


def play_game(fen: str, us: int, styled: Player, judge: Player) -> WatchedGame:
    """Play to the end. Only the judge's scores end a game early, as the style's contain its bonus."""
    position, fullmove_number = parse_fen(fen)
    ply = 2 * (fullmove_number - 1) + position.black_to_move()
    game = WatchedGame(us, ply)
    game.watch(position)
    adjudicator = Adjudicator()
    result = game_result(position, THREEFOLD)
    while result is None:
        side = int(position.black_to_move())
        found = (styled if side == us else judge).search(position)
        white_score = -found.score if side else found.score
        if side != us:
            game.judge(white_score)
        position.commit(found.move)
        ply += 1
        game.watch(position)
        result = game_result(position, THREEFOLD)
        if result is None and side != us:
            result = adjudicator.adjudicate(ply, white_score)
    game.end(result)
    return game


def play(match: StyleMatch, games: int, processes: int) -> Iterator[list[WatchedGame]]:
    """Play at least this many games, several at a time, and yield those of each opening."""
    openings = match.openings(games if match.style is None else -(-games // 2))
    work = ((match, fen, number) for number, fen in enumerate(openings))
    return run_parallel(_play_opening, work, processes)


def _play_opening(work: tuple[StyleMatch, str, int]) -> list[WatchedGame]:
    return play_opening(*work)
