"""The public API of the engine: the rules as `Board`, the search as `Engine`, and the file formats.

    engine = Engine()
    engine.set_position(Board())
    print(engine.go(Limits(depth=8)).best_move)

- Rules: `Board`, of standard chess and the variants, with its `Outcome` and `Ending`; `STARTING_FEN`, `chess960_fen`,
  `UCI_VARIANTS`, `perft`, `polyglot_key`. They raise `InvalidFen`, `InvalidMove` and `InvalidVariant`.
- Search: `Engine`, `Limits`, `RunningSearch` or `LimitedSearch`, and what they report: `SearchResult`, `SearchReport`,
  `CurrentMove`, `Bound`, `Wdl`; `RATINGS` of limited strength; `evaluation` explains the static evaluation.
- Files: opening books (`Book`, `BookMove`, `OWN_BOOK`, `own_book`, `review_book`; `InvalidBook`), the names of openings
  (`Opening`, `opening_of`), endgame tablebases (`Tablebase`, `TableReport`), PGN (`pgn_text`; `engine.pgn` reads
  it), networks (`default_choice`; `InvalidNet`).
- Reviews: `accuracy`, Lichess's formulas for how good moves were.
- The machine: `build_mode`, `describe_build`, `available_mb`, `usable_cores`.

Unless a name says otherwise, moves are UCI text, scores are centipawns, and times are milliseconds.
"""

import os
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from engine import accuracy
from engine.board import Board, Ending, InvalidMove, Outcome
from engine.book.opening_book import Book, BookMove, InvalidBook, review_book
from engine.book.opening_names import Opening, opening_of
from engine.book.polyglot import polyglot_key
from engine.core.fen import STARTING_FEN, InvalidFen, chess960_fen
from engine.core.perft import perft
from engine.evaluation import eval_file
from engine.evaluation.eval_file import build_mode, default_choice
from engine.evaluation.evaluate import network_score, phase_of, terms
from engine.evaluation.net_file import InvalidNet
from engine.evaluation.network import Network, instructions
from engine.evaluation.style import GROUP_PERCENTS, Style, StyleName
from engine.evaluation.variant_terms import evaluation_of
from engine.evaluation.weights import Group
from engine.pgn.pgn import pgn_text
from engine.search.available_memory import available_mb
from engine.search.history import History
from engine.search.iterative_deepening import Bound, Task
from engine.search.levels.level import LEAST_RATING, MOST_RATING, Level, level_of
from engine.search.levels.level_player import LevelPlayer, LimitedSearch
from engine.search.running_search import CurrentMove, RunningSearch, SearchReport, SearchResult
from engine.search.time_manager import Limits, deadlines_on_us
from engine.search.transposition import TranspositionTable
from engine.search.wdl import Wdl
from engine.syzygy.file_header import MAX_PIECES
from engine.syzygy.tablebase import Tablebase, TableReport
from engine.variants.variant import VARIANTS, InvalidVariant

__all__ = [
    "DEFAULT_HASH_MB",
    "DEFAULT_OVERHEAD_MS",
    "GROUP_PERCENTS",
    "MAX_TABLEBASE_PIECES",
    "NAMED_STYLES",
    "OWN_BOOK",
    "RATINGS",
    "STARTING_FEN",
    "UCI_VARIANTS",
    "AnySearch",
    "Board",
    "Book",
    "BookMove",
    "Bound",
    "CurrentMove",
    "Ending",
    "Engine",
    "Evaluation",
    "InvalidBook",
    "InvalidFen",
    "InvalidMove",
    "InvalidNet",
    "InvalidVariant",
    "LimitedSearch",
    "Limits",
    "Opening",
    "Outcome",
    "RunningSearch",
    "SearchReport",
    "SearchResult",
    "TableReport",
    "Tablebase",
    "Wdl",
    "accuracy",
    "available_mb",
    "build_mode",
    "chess960_fen",
    "default_choice",
    "describe_build",
    "evaluation",
    "longest_think_s",
    "opening_of",
    "own_book",
    "perft",
    "pgn_text",
    "polyglot_key",
    "review_book",
    "usable_cores",
]

DEFAULT_HASH_MB = 16
DEFAULT_OVERHEAD_MS = 10           # enough for a local program; over a network set more
MAX_TABLEBASE_PIECES = MAX_PIECES  # of the largest endgame tablebases, kings included
NAMED_STYLES = tuple(map(str, StyleName))                      # see `engine/evaluation/STYLES.md`
OWN_BOOK = Path(__file__).parent / "data" / "own_book.bin"     # grown from our own games: `lichessbot-engine book grow`
AnySearch = RunningSearch | LimitedSearch           # with the same methods
RATINGS = range(LEAST_RATING, MOST_RATING + 1)     # of limited strength, see `Engine.limit_strength`
UCI_VARIANTS = {"chess": "standard"} | {variant.uci: variant.key for variant in VARIANTS.values()}     # Lichess's names


def describe_build() -> str:
    """Return for people whether the engine is compiled, and the vector instructions that inference uses."""
    return f"compiled, {instructions()}" if build_mode() == "compiled" else build_mode()


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def longest_think_s(limits: Limits, board: Board) -> float:
    """Return the longest time in seconds that an `Engine` without move overhead searches a board under `limits`.

    Without a clock or a move time that is about thirty years.
    """
    return deadlines_on_us(board, limits, 0)[1] / 1e6


@cache
def own_book() -> Book | None:
    """Return the engine's own opening book, or None if it cannot be read: play goes on without it."""
    try:
        return Book(OWN_BOOK)
    except (InvalidBook, OSError):
        return None


def _expect_some(name: str, number: int) -> None:
    if number < 1:
        raise ValueError(f"{name}: expected 1 or more, found {number}")


class Evaluation(NamedTuple):
    """The static evaluation by terms.

    `score_cp` is White's view. Each of `terms` holds White's midgame and endgame values, then Black's, in centipawns
    for their owner. The midgame values weigh `phase` of `full_phase`.
    """

    score_cp: int
    terms: dict[str, tuple[int, int, int, int]]
    phase: int
    full_phase: int


def evaluation(board: Board) -> Evaluation:
    """Return the hand-written static evaluation of a board, term by term."""
    position = board.position
    if board.variant == "standard":
        parts = terms(position)
    else:
        parts = evaluation_of(board.variant).terms(position, position.state()["extra"])
    return Evaluation(board.evaluate(), parts, *phase_of(position))


class Engine:
    """One player: a transposition table, move histories, an evaluation, a tablebase, and a position.

    None of its methods may be called during a search; `stop` of the search that `begin` returned may.
    """

    def __init__(self, hash_mb: int = DEFAULT_HASH_MB, move_overhead_ms: int = DEFAULT_OVERHEAD_MS) -> None:
        """`hash_mb` is in mebibytes, 1 or more. Raises MemoryError if the system refuses them, ValueError for fewer."""
        self.move_overhead_ms = move_overhead_ms       # subtracted from the clock for each move
        self.lines = 1             # MultiPV: how many of the best moves are searched and reported
        self.analyse_mode = False  # use all the time given, even if only one move is legal or a mate is proven
        self._table = TranspositionTable(hash_mb)
        self._histories = [History()]
        self._choice = eval_file.default_choice()  # as for `set_evaluation`; variants go by it, not by the network
        self._network: Network | None = None       # of standard chess; None: the hand-written terms
        self._damage = ""          # what is wrong with its shipped network, which the terms replace then
        if self._choice == eval_file.SHIPPED:
            self._network, self._damage = eval_file.usable_network()
        self._style = Style()
        self._tablebase = Tablebase()
        self._board = Board()
        self._rating: int | None = None    # None: full strength
        self._seed = random.getrandbits(63)  # of the game, for limited strength
        self._uses_own_book = True         # at limited strength
        self._player: LevelPlayer | None = None

    def resize_hash(self, hash_mb: int) -> None:
        """Replace the table by an empty one of this many mebibytes.

        Raises MemoryError if the system refuses them, ValueError for less than one, and keeps the old table.
        """
        self._table.resize(hash_mb)

    def set_threads(self, threads: int) -> None:
        """Search with this many threads, which share a node limit; fewer of them search if it is low.

        Raises ValueError for less than one.
        """
        _expect_some("threads", threads)
        self._histories = [History() for _ in range(threads)]

    def set_evaluation(self, choice: str) -> None:
        """Evaluate by 'none' (the hand-written terms), '<shipped>' or the network in a file, and start a new game.

        A file is for standard chess; variants keep their shipped networks unless it is 'none'. Raises InvalidNet and
        keeps the old evaluation.
        """
        self._network, self._damage = eval_file.load(choice), ""
        self._choice = choice or eval_file.default_choice()
        self.new_game()

    def weigh_group(self, group: str, percent: int) -> None:
        """Weigh one of GROUP_PERCENTS by this percentage of its tuned weight, for the whole process; start a new game.

        While a group is not neutral, the hand-written evaluation replaces the network in standard chess. Boards made
        before must be `replayed` to be evaluated correctly. Raises KeyError for an unknown group, ValueError for a
        wrong percentage.
        """
        if percent not in GROUP_PERCENTS[group]:
            least, most = GROUP_PERCENTS[group][0], GROUP_PERCENTS[group][-1]
            raise ValueError(f"{group}: expected a percentage from {least} to {most}, found {percent}")
        self._style.weigh(Group(group), percent)
        self._board = self._board.replayed()
        self.new_game()

    def set_named_style(self, name: str | None) -> None:
        """Play in one of NAMED_STYLES, or in none, and start a new game. Raises ValueError for an unknown name."""
        self._style.name = None if name is None else StyleName(name)
        self.new_game()

    @property
    def tablebase(self) -> Tablebase:
        """The endgame tablebase that searches probe."""
        return self._tablebase

    def set_tablebase(self, tablebase: Tablebase) -> None:
        """Probe this tablebase, and start a new game."""
        self.new_game()
        self._tablebase = tablebase

    def describe_evaluation(self) -> str:
        """Return for people 'hand-written', perhaps with a style, or the network's name and size.

        If the shipped network is damaged, the text says so.
        """
        network, damage = self._usable_network(self._board)
        described, style = eval_file.describe(network), str(self._style)
        if self._board.variant != "standard":
            described += f" for {self._board.variant}"
        elif style:
            described += f", style {style}"
        return f"{described}; the shipped network is unusable: {damage}" if damage else described

    def _network_for(self, board: Board) -> Network | None:
        """Return the network that evaluates this board, None for the hand-written terms."""
        return self._usable_network(board)[0]

    def _usable_network(self, board: Board) -> tuple[Network | None, str]:
        """Return the network for this board, and what is wrong with the shipped one if the terms replace it."""
        by_terms = self._player is not None and not self._player.uses_network(board)
        if board.variant != "standard":
            by_terms = by_terms or self._choice == eval_file.HAND_WRITTEN
            return (None, "") if by_terms else eval_file.usable_network(board.variant)
        return (self._network if self._style.is_neutral and not by_terms else None), self._damage

    def network_score_cp(self, board: Board) -> int | None:
        """Return the network's score of a board from White's view, or None if no network evaluates it."""
        network = self._network_for(board)
        if network is None:
            return None
        score: int
        if board.variant == "standard":
            score = network_score(board.position, network)
        else:
            extra = board.position.state()["extra"]
            score = evaluation_of(board.variant, network).python_evaluate(board.position, extra)
        return score if board.turn == "white" else -score

    def provide_memory(self) -> None:
        """Have the system provide the memory of a large, empty transposition table, before a search waits for it."""
        self._table.provide_memory()

    def clear_hash(self) -> None:
        """Empty the transposition table."""
        self._table.clear()

    def new_game(self) -> None:
        """Empty the transposition table and the move histories; a player of limited strength is another one.

        Tablebases that were out of reach are looked for again.
        """
        self._forget()
        self._tablebase = self._tablebase.renewed()
        self.limit_strength(self._rating, random.getrandbits(63))

    def _forget(self) -> None:
        self._table.clear()
        for history in self._histories:
            history.clear()

    def limit_strength(self, rating: int | None, seed: int | None = None) -> None:
        """Play like a player with one of RATINGS, or at full strength if None.

        At limited strength one line is searched by one thread. The same seed plays the same moves; without one, each
        game has a seed of its own. Raises ValueError for a rating out of range.
        """
        if rating is not None and rating not in RATINGS:
            raise ValueError(f"rating: expected {RATINGS[0]} to {RATINGS[-1]}, found {rating}")
        self._rating = rating
        self._seed = self._seed if seed is None else seed % 2**64
        self._player = None
        if rating is not None:
            self.play_level(level_of(rating), self._seed)

    def play_level(self, level: Level, seed: int) -> None:
        """Play at a level of the model, for its calibration; until the next game."""
        self._player = LevelPlayer(level, seed, own_book() if self._uses_own_book else None)

    def use_own_book(self, use: bool) -> None:
        """Let a player of limited strength use the engine's own opening book, as at first, or none.

        At full strength the engine uses no book: its caller may ask `own_book`.
        """
        self._uses_own_book = use
        self.limit_strength(self._rating)

    def set_position(self, board: Board) -> None:
        """Search a copy of this board from now on, with its moves so far for repetitions.

        A board of another variant than the last one empties the transposition table and the move histories.
        """
        if board.variant != self._board.variant:
            self._forget()             # keys do not tell variants apart
        self._board = board.copy()

    def begin(self, limits: Limits, only: Sequence[str] = ()) -> AnySearch:
        """Start the clock and return the search to `run`, perhaps in another thread; one search at a time.

        `only` restricts the root to these moves. Raises InvalidMove if one of them is not legal, and ValueError for a
        limit of less than one ply, node or move, or less than one of `lines`.
        """
        for name in ("depth", "nodes", "mate_in"):
            if (limit := getattr(limits, name)) is not None:
                _expect_some(name, limit)
        _expect_some("lines", self.lines)
        if self._style.turns_to(self._board.turn):
            self._forget()
        legal = self._board.packed_moves()
        chosen = list(dict.fromkeys(self._board.parse(text) for text in only)) or legal
        task = Task(chosen, len(chosen) == len(legal), self.lines, limits, patient=self.analyse_mode)
        if self._player is not None:
            return self._player.begin(
                self._board,
                task,
                self.move_overhead_ms,
                self._network_for(self._board),
                self._tablebase,
                self._style.bonus,
            )
        self._table.new_search()
        for history in self._histories:
            history.new_search()
        return RunningSearch(
            self._board,
            self._table,
            self._histories,
            self._network_for(self._board),
            task,
            self.move_overhead_ms,
            self._tablebase,
            self._style.bonus,
        )

    def go(
        self,
        limits: Limits,
        report: Callable[[SearchReport], None] | None = None,
        only: Sequence[str] = (),
    ) -> SearchResult:
        """Search the position and return the move, like `begin` and `RunningSearch.run`."""
        return self.begin(limits, only).run(report)
