"""What all games of the engine against itself share: players, random openings, adjudication."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.board import BLACK, WHITE, Board
from engine.core.fen import chess960_fen
from engine.core.position import Position
from engine.core.score import mate_distance
from engine.evaluation import eval_file
from engine.evaluation.eval_file import STANDARD, EvalChoice
from engine.evaluation.variant_terms import evaluation_of
from engine.search.history import History
from engine.search.iterative_deepening import MAX_DEPTH, Line, search_line
from engine.search.search import Search
from engine.search.time_manager import TimeManager
from engine.search.transposition import TranspositionTable
from engine.selfplay.records import Result, Sample, snapshot
from engine.selfplay.tree_records import tree_records

HASH_MB = 4
OPENING_PLIES = (8, 9)             # so that either side moves first
VARIANT_OPENING_PLIES = (6, 7)     # in variants, which random moves decide sooner
CHESS960_PERCENT = 25
MAX_PLIES = 350                    # of a game, which is then drawn
WIN_CP, WIN_PLIES = 1500, 6
DRAW_CP, DRAW_PLIES, DRAW_FROM_PLY = 12, 16, 80
RESULTS = {WHITE: Result.WHITE_WON, BLACK: Result.BLACK_WON, None: Result.DRAWN}       # by winner


@dataclass(frozen=True)
class SearchedMove:
    """A move and its score from White's view."""

    move: int
    white_score: int


class FixedNodesPlayer:
    """Searches a fixed number of nodes per move, with its own evaluation, table and history."""

    def __init__(self, evaluation: EvalChoice, nodes: int, variant: str = STANDARD) -> None:
        """`evaluation` is as for EvalFile. Raises InvalidNet."""
        self._network = eval_file.load(evaluation, variant)
        self._variant = variant
        self._own = None if variant == STANDARD else evaluation_of(variant, self._network)
        self._nodes = nodes
        self._table, self._history = TranspositionTable(HASH_MB), History()
        self._search: Search | None = None
        self._position: Position | None = None
        self._in_records: set[int] = set()

    def new_game(self) -> None:
        """Clear the table and the history."""
        self._table.clear()
        self._history.clear()
        self._in_records.clear()

    def search(self, board: Board) -> SearchedMove:
        """Return the best move of a board that has one."""
        search = self._search_of(board.position)
        moves = board.packed_moves()
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
        return SearchedMove(best.variation[0], best.score if board.turn == WHITE else -best.score)

    def sample(self, board: Board, white_score: int, game: int) -> Sample:
        """Return the position as a sample of a game that goes on, whose result is not known."""
        position = board.position
        off_board = () if self._own is None else self._own.pieces_off_board(position.state()["extra"])
        return Sample(*snapshot(position), white_score, Result.UNKNOWN, game, self._variant, off_board)

    def tree_records(self, board: Board, game: int, most: int) -> list[bytes]:
        """Return records of at most `most` positions in the tree of the search, each once in a game."""
        return tree_records(board.position, self._table, game, most, self._in_records)

    def _search_of(self, position: Position) -> Search:
        """Return the search of this game; it lasts as long as its position."""
        if self._search is None or position is not self._position:
            parts = position, self._table, self._history, TimeManager(), self._nodes
            if self._own is None:
                self._search = Search(*parts, self._network)
            else:
                self._search = Search(*parts, variant_evaluation=self._own)
            self._position = position
        else:
            self._search.reset()
        return self._search


class Adjudicator:
    """Ends a game early: won after a long decisive lead, drawn after many even scores."""

    def __init__(self) -> None:
        self._lead = 0             # decisive scores in a row: positive for White, negative for Black
        self._even = 0

    def adjudicate(self, ply: int, white_score: int) -> Result | None:
        """Return the result after a move with this score from White's view, None while the game goes on."""
        # Two evaluations that each see their own side win agree on no lead.
        side = (white_score >= WIN_CP) - (white_score <= -WIN_CP)
        self._lead = self._lead + side if self._lead * side > 0 else side
        self._even = self._even + 1 if ply > DRAW_FROM_PLY and abs(white_score) <= DRAW_CP else 0
        if abs(self._lead) >= WIN_PLIES or mate_distance(white_score) is not None:
            return Result.WHITE_WON if white_score > 0 else Result.BLACK_WON
        return Result.DRAWN if self._even >= DRAW_PLIES or ply >= MAX_PLIES else None

    def result(self, board: Board, ply: int, white_score: int) -> Result | None:
        """Return the result by the rules, else as `adjudicate` does."""
        result = game_result(board)
        return self.adjudicate(ply, white_score) if result is None else result


def game_result(board: Board, occurrences: int = 2) -> Result | None:
    """Return the result by the rules; None while the game goes on.

    A position that occurs so often is a draw: the second time unless told otherwise, which shortens games.
    """
    outcome = board.outcome()
    if outcome is None:
        return Result.DRAWN if board.repetition_count() >= occurrences else None
    return RESULTS[outcome.winner]


def random_opening(rng: random.Random, variant: str = STANDARD) -> Board:
    """Return a board after random moves, from the variant's starting position; in standard chess also Chess960's."""
    while True:
        chess960 = variant == STANDARD and rng.randrange(100) < CHESS960_PERCENT
        board = Board(chess960_fen(rng.randrange(960)) if chess960 else None, variant=variant)
        plies = rng.choice(OPENING_PLIES if variant == STANDARD else VARIANT_OPENING_PLIES)
        for _ in range(plies):
            moves = board.packed_moves()
            if not moves:
                break
            board.push_packed(rng.choice(moves))
        else:
            return board
