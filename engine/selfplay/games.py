"""What all games of the engine against itself share: players, random openings, and when a game is over."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.core.fen import STARTING_FEN, chess960_fen, parse_fen
from engine.core.movegen import legal_moves
from engine.core.position import Position
from engine.core.score import mate_distance
from engine.nnue import eval_file
from engine.search.history import History
from engine.search.iterative_deepening import MAX_DEPTH, Line, search_line
from engine.search.search import Search
from engine.search.time_manager import TimeManager
from engine.search.transposition import TranspositionTable
from engine.selfplay.records import Result

HASH_MB = 4
OPENING_PLIES = (8, 9)             # so that either side begins
CHESS960_PERCENT = 25
LONGEST_GAME = 350                 # plies
DECIDED_CP, DECIDED_PLIES = 1500, 6
DEAD_CP, DEAD_PLIES, DEAD_FROM_PLY = 12, 16, 80


@dataclass(frozen=True)
class Thought:
    """A move and its score for the mover."""

    move: int
    score: int


class Player:
    """Searches so many nodes a move, with an evaluation, a table and a history of its own."""

    def __init__(self, evaluation: str, nodes: int) -> None:
        """`evaluation` is as for EvalFile. Raises InvalidNet."""
        self._network = eval_file.load(evaluation)
        self._nodes = nodes
        self._table, self._history = TranspositionTable(HASH_MB), History()
        self._search: Search | None = None
        self._position: Position | None = None

    def new_game(self) -> None:
        """Forget what earlier games taught."""
        self._table.clear()
        self._history.clear()

    def think(self, position: Position) -> Thought:
        """The best move of a position that has one."""
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
        return Thought(best.variation[0], best.score)

    def _search_of(self, position: Position) -> Search:
        """One for all moves of a game."""
        if self._search is None or position is not self._position:
            self._search = Search(position, self._table, self._history, TimeManager(), self._nodes, self._network)
            self._position = position
        else:
            self._search.reset()
        return self._search


class Adjudicator:
    """Ends games whose result is plain to see: one side far ahead for long, or nothing going on for long."""

    def __init__(self) -> None:
        self._decided = 0
        self._dead = 0

    def verdict(self, ply: int, white_score: int) -> Result | None:
        """The result, after a move with this score from White's view; None while the game is worth playing."""
        self._decided = self._decided + 1 if abs(white_score) >= DECIDED_CP else 0
        self._dead = self._dead + 1 if ply > DEAD_FROM_PLY and abs(white_score) <= DEAD_CP else 0
        if self._decided >= DECIDED_PLIES or mate_distance(white_score) is not None:
            return Result.WHITE_WON if white_score > 0 else Result.BLACK_WON
        return Result.DRAWN if self._dead >= DEAD_PLIES or ply >= LONGEST_GAME else None


def natural_end(position: Position) -> Result | None:
    """The result by the rules, a first repetition counting as a draw already; None if the game goes on."""
    if not legal_moves(position):
        if not position.is_check():
            return Result.DRAWN
        return Result.WHITE_WON if position.black_to_move() else Result.BLACK_WON
    drawn = position.state()["halfmove_clock"] >= 100 or position.cannot_be_won() or position.repetition_count() > 1
    return Result.DRAWN if drawn else None


def opening(rng: random.Random) -> Position:
    """A position that random moves lead to, from the ordinary start or one of Chess960's."""
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
