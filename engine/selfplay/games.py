"""What all games of the engine against itself share: players, random openings, adjudication."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.core.draws import is_insufficient_material, repetition_count
from engine.core.fen import STARTING_FEN, chess960_fen, parse_fen
from engine.core.movegen import legal_moves
from engine.core.position import Position
from engine.core.score import mate_distance
from engine.evaluation import eval_file
from engine.evaluation.eval_file import Evaluation
from engine.evaluation.style import Name, bonus_of
from engine.search.history import History
from engine.search.iterative_deepening import MAX_DEPTH, Line, search_line
from engine.search.search import Search
from engine.search.time_manager import TimeManager
from engine.search.transposition import TranspositionTable
from engine.selfplay.records import Result

HASH_MB = 4
OPENING_PLIES = (8, 9)             # so that either side moves first
CHESS960_PERCENT = 25
MAX_PLIES = 350                    # of a game, which is then drawn
WIN_CP, WIN_PLIES = 1500, 6
DRAW_CP, DRAW_PLIES, DRAW_FROM_PLY = 12, 16, 80


@dataclass(frozen=True)
class SearchedMove:
    """A move and its score for the side to move."""

    move: int
    score: int


class Player:
    """Searches a fixed number of nodes per move, with its own evaluation, table and history."""

    def __init__(self, evaluation: Evaluation, nodes: int, style: Name | None = None) -> None:
        """`evaluation` is as for EvalFile. Raises InvalidNet."""
        self._network = eval_file.load(evaluation)
        self._style = None if style is None else bonus_of(style)
        self._nodes = nodes
        self._table, self._history = TranspositionTable(HASH_MB), History()
        self._search: Search | None = None
        self._position: Position | None = None

    def new_game(self) -> None:
        """Clear the table and the history."""
        self._table.clear()
        self._history.clear()

    def search(self, position: Position) -> SearchedMove:
        """Return the best move of a position that has one."""
        search = self._search_of(position)
        moves = legal_moves(position)
        search.restrict_root(moves, True)
        self._table.new_search()
        self._history.new_search()
        best = Line(0, (moves[0],))
        expected: Line | None = None
        for depth in range(1, MAX_DEPTH + 1):
            expected = search_line(search, depth, expected, lambda line: None)
            if expected.variation:
                best = expected
            if search.was_stopped() or mate_distance(best.score) is not None:
                break
        return SearchedMove(best.variation[0], best.score)

    def _search_of(self, position: Position) -> Search:
        """Return the search of this game; it lasts as long as its position."""
        if self._search is None or position is not self._position:
            self._search = Search(
                position, self._table, self._history, TimeManager(), self._nodes, self._network, style=self._style
            )
            self._position = position
        else:
            self._search.reset()
        return self._search


class Adjudicator:
    """Ends a game early: won after a long decisive lead, drawn after many even scores."""

    def __init__(self) -> None:
        self._winning = 0
        self._even = 0

    def adjudicate(self, ply: int, white_score: int) -> Result | None:
        """Return the result after a move with this score from White's view, None while the game goes on."""
        self._winning = self._winning + 1 if abs(white_score) >= WIN_CP else 0
        self._even = self._even + 1 if ply > DRAW_FROM_PLY and abs(white_score) <= DRAW_CP else 0
        if self._winning >= WIN_PLIES or mate_distance(white_score) is not None:
            return Result.WHITE_WON if white_score > 0 else Result.BLACK_WON
        return Result.DRAWN if self._even >= DRAW_PLIES or ply >= MAX_PLIES else None


def game_result(position: Position, occurrences: int = 2) -> Result | None:
    """Return the result by the rules; None while the game goes on.

    A position that occurs so often is a draw: the second time unless told otherwise, which shortens games.
    """
    if not legal_moves(position):
        if not position.is_check():
            return Result.DRAWN
        return Result.WHITE_WON if position.black_to_move() else Result.BLACK_WON
    clock = position.state()["halfmove_clock"]
    drawn = clock >= 100 or is_insufficient_material(position) or repetition_count(position) >= occurrences
    return Result.DRAWN if drawn else None


def random_opening(rng: random.Random) -> Position:
    """Return a position after random moves, from the standard or a Chess960 starting position."""
    while True:
        chess960 = rng.randrange(100) < CHESS960_PERCENT
        position, _ = parse_fen(chess960_fen(rng.randrange(960)) if chess960 else STARTING_FEN)
        plies = rng.choice(OPENING_PLIES)
        for _ in range(plies):
            moves = legal_moves(position)
            if not moves:
                break
            position.commit(rng.choice(moves))
        else:
            return position
