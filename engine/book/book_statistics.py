"""What many games say about openings, as a book: how often a move was played, and how it ended for its player.

A move weighs two points for a win and one for a draw, as is usual in Polyglot's format: a move that only lost weighs
nothing, and no reader plays it. Knows games as lists of moves; not where they come from, or who played.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.board import BLACK, WHITE, Board, InvalidMove
from engine.book.opening_book import MAX_WEIGHT, Entry, packed_move
from engine.book.polyglot import polyglot_key
from engine.core.fen import STARTING_FEN

POINTS = {"1-0": {WHITE: 2, BLACK: 0}, "0-1": {WHITE: 0, BLACK: 2}, "1/2-1/2": {WHITE: 1, BLACK: 1}}


@dataclass(frozen=True)
class PlayedGame:
    """The moves of a game and its result; `sides`: whose moves are worth keeping."""

    moves: Sequence[str]
    result: str
    initial_fen: str = STARTING_FEN
    sides: frozenset[str] = frozenset({WHITE, BLACK})


@dataclass
class _Tally:
    games: int = 0
    points: int = 0


class BookStatistics:
    """Collects games, then gives the entries of a book."""

    def __init__(self, max_plies: int) -> None:
        """Of each game so many plies are looked at."""
        self.games = 0
        self._max_plies = max_plies
        self._positions: defaultdict[int, defaultdict[int, _Tally]] = defaultdict(lambda: defaultdict(_Tally))

    def add(self, game: PlayedGame) -> None:
        """A game without a result teaches nothing; of one with an illegal move the moves before count.

        Raises InvalidFen for an initial position that is none.
        """
        points = POINTS.get(game.result)
        if points is None:
            return
        self.games += 1
        board = Board(game.initial_fen)
        for move in game.moves[: self._max_plies]:
            try:
                packed = packed_move(board, move)
            except InvalidMove:
                return
            if board.turn in game.sides:
                tally = self._positions[polyglot_key(board)][packed]
                tally.games += 1
                tally.points += points[board.turn]
            board.push(move)

    def entries(self, min_games: int) -> Iterable[Entry]:
        """The moves that were played in at least so many games and brought a point, with what they are worth."""
        for key, moves in self._positions.items():
            kept = {move: it.points for move, it in moves.items() if it.games >= min_games and it.points > 0}
            heaviest = max(kept.values(), default=0)
            for move, points in kept.items():
                weight = points if heaviest <= MAX_WEIGHT else max(1, points * MAX_WEIGHT // heaviest)
                yield Entry(key, move, weight)
