"""Turns many games into the entries of a book.

A move weighs two points per win and one per draw, as usual in Polyglot's format: a move that only lost weighs nothing
and is never played.
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
    """The moves and the result of a game; only the moves of `sides` count."""

    moves: Sequence[str]
    result: str
    initial_fen: str = STARTING_FEN
    sides: frozenset[str] = frozenset({WHITE, BLACK})


@dataclass
class _MoveCount:
    games: int = 0
    points: int = 0


class BookStatistics:
    """Counts the moves of games and returns the entries of a book."""

    def __init__(self, max_plies: int) -> None:
        """`max_plies` is how much of each game counts."""
        self.games = 0
        self._max_plies = max_plies
        self._positions: defaultdict[int, defaultdict[int, _MoveCount]] = defaultdict(lambda: defaultdict(_MoveCount))

    def add(self, game: PlayedGame) -> None:
        """Count a game, and each of its moves once. One without a result is ignored; an illegal move ends one.

        Raises InvalidFen for an invalid initial position.
        """
        points = POINTS.get(game.result)
        if points is None:
            return
        self.games += 1
        board = Board(game.initial_fen)
        counted: set[tuple[int, int]] = set()
        for move in game.moves[: self._max_plies]:
            try:
                packed = packed_move(board, move)
            except InvalidMove:
                return
            if board.turn in game.sides and (place := (polyglot_key(board), packed)) not in counted:
                counted.add(place)
                count = self._positions[place[0]][packed]
                count.games += 1
                count.points += points[board.turn]
            board.push(move)

    def entries(self, min_games: int) -> Iterable[Entry]:
        """Yield the moves that were played in at least `min_games` games and scored."""
        for key, moves in self._positions.items():
            kept = {move: it.points for move, it in moves.items() if it.games >= min_games and it.points > 0}
            heaviest = max(kept.values(), default=0)
            for move, points in kept.items():
                weight = points if heaviest <= MAX_WEIGHT else max(1, points * MAX_WEIGHT // heaviest)
                yield Entry(key, move, weight)
