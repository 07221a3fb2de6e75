"""Folders of Syzygy files: which endings are there, how far off a decision is, and which moves keep a result.

Distances (DTZ) count the plies to the next capture or pawn move that keeps the result: 1 to 100, and more than 100
where the fifty-move rule turns the win into a draw. They may be one too low. A file tells them for one side to move;
the rest is found by trying moves. Plain Python: only positions on the board are asked, not those of a search.
(chessprogramming wiki: Syzygy Bases)
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.board import Board
from engine.movegen import legal_moves
from engine.position import Position
from engine.syzygy import Prober
from engine.syzygy_file import (
    LOSS_PLIES,
    MAPPED,
    MOST_MEN,
    WIN_PLIES,
    Ending,
    Kind,
    Section,
    material_key,
    other_colour,
)
from engine.syzygy_table import Shelf, Table, shelve

WIN, CURSED_WIN, DRAW, BLESSED_LOSS, LOSS = 2, 1, 0, -1, -2
FIFTY_MOVES = 100                  # plies
AT_ONCE = {WIN: 1, CURSED_WIN: 101, DRAW: 0, BLESSED_LOSS: -101, LOSS: -1}     # distance if the next ply decides
MAP_OF = {WIN: 0, LOSS: 1, CURSED_WIN: 2, BLESSED_LOSS: 3}                     # which list of a file an outcome has
IN_PLIES = {WIN: WIN_PLIES, LOSS: LOSS_PLIES, CURSED_WIN: 0, BLESSED_LOSS: 0}  # the flag; otherwise in moves
PAWN, KINDS = 0, 6
CAPTURE_BIT, EN_PASSANT_FLAG = 0x4000, 5
DRAWING_REPETITIONS = 3


class MissingTable(LookupError):
    """No file, or no sound one, tells about the position."""


@dataclass(frozen=True)
class TableMove:
    """A legal move and what it leads to for who makes it.

    `wdl` is 2 for a win to -2 for a loss, with the fifty-move clock as it stands; 1 and -1 are saved by it. `dtz` has
    the sign of `wdl`: plies to the next capture or pawn move, this move included.
    """

    move: str
    wdl: int
    dtz: int


@dataclass(frozen=True)
class TableReport:
    """All legal moves, the best first. Without distances, `wdl` holds only as long as the clock is far from its end."""

    moves: tuple[TableMove, ...]
    has_distances: bool

    @property
    def wdl(self) -> int:
        """What the position is worth to the side to move."""
        return self.moves[0].wdl

    def among(self, moves: Collection[str]) -> "TableReport":
        """The same for a choice of these moves, of which one at least is legal."""
        return replace(self, moves=tuple(it for it in self.moves if it.move in moves))

    def best(self) -> list[str]:
        """The quickest wins or the longest losses; of draws all."""
        first = self.moves[0]
        return [it.move for it in self.moves if (it.wdl, it.dtz) == (first.wdl, first.dtz)]

    def keeping(self) -> list[str]:
        """Every move that keeps what the position is worth."""
        return [it.move for it in self.moves if it.wdl == self.wdl]

    def worth_searching(self, repeats: bool) -> list[str]:
        """The moves to choose from: all that keep the result, but once the game `repeats` itself the quickest wins."""
        return self.best() if repeats and self.wdl > DRAW else self.keeping()


class Tablebase:
    """The files in some folders, for all threads. Nothing is opened before it is needed."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._tables: dict[Kind, dict[str, Table]] = {kind: {} for kind in Kind}
        self._problems: list[str] = []
        self._told: set[str] = set()
        for folder in folders:
            self._add(folder)
        self._shelves = {kind: _shelf(tables) for kind, tables in self._tables.items()}

    def _add(self, folder: Path) -> None:
        """Where two folders have the same file, the first counts."""
        try:
            files = sorted(folder.iterdir())
        except OSError as error:
            self._problems.append(f"{folder}: {error.strerror}")
            return
        except ValueError:                             # each Python words it differently
            self._problems.append(f"{folder}: the path contains a null byte")
            return
        for kind in Kind:
            for file in files:
                if file.suffix == kind.value and Ending.of_name(file.stem) is not None:
                    self._tables[kind].setdefault(file.stem, Table(file))

    # --- What there is -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many endings are there."""
        return len(self._tables[Kind.WDL])

    @property
    def most_men(self) -> int:
        """Men of the largest ending, kings included; 0 if there is none."""
        return max((len(name) - 1 for name in self._tables[Kind.WDL]), default=0)

    @property
    def problems(self) -> list[str]:
        """What is wrong with folders, and with files as far as they were needed."""
        tables = [table for tables in self._tables.values() for table in tables.values()]
        return self._problems + [problem for table in tables if (problem := table.trouble()) is not None]

    def new_problems(self) -> list[str]:
        """The problems that this has not returned before."""
        new = [problem for problem in self.problems if problem not in self._told]
        self._told.update(new)
        return new

    def review(self) -> list[str]:
        """Open every file for a moment; returns all problems."""
        problems = list(self._problems)
        for tables in self._tables.values():
            for table in tables.values():
                passing = table.twin()     # more files than a process may hold open at a time could be there
                passing.open()
                problems += [trouble for trouble in [passing.trouble()] if trouble is not None]
        return problems

    def describe(self) -> str:
        """For people."""
        distances = len(self._tables[Kind.DTZ])
        return f"{len(self)} endings of up to {self.most_men} men, {distances} with distances"

    # --- What it knows -----------------------------------------------------------------------------------------------

    def prober(self, position: Position, most_men: int = MOST_MEN) -> Prober:
        """For one thread, and for the position as it changes."""
        return Prober(position, self._shelves[Kind.WDL], most_men)

    def wdl(self, board: Board) -> int | None:
        """What a position is worth if the fifty-move clock stood at 0; None if no table tells."""
        return self.prober(board.copy(moves=False).position).worth()

    def dtz(self, board: Board) -> int | None:
        """The distance, None if no table tells."""
        try:
            return self._inquiry(board).distance()
        except MissingTable:
            return None

    def report(self, board: Board, most_men: int = MOST_MEN) -> TableReport | None:
        """All legal moves, as the game stands; None if no table tells, or if there is no move.

        Positions with more than `most_men` men are not looked up.
        """
        position = board.copy(moves=False).position
        if self.prober(position, most_men).worth() is None:
            return None
        inquiry = self._inquiry(board)
        for has_distances in (True, False):
            try:
                found = list(inquiry.moves(board, has_distances))
            except MissingTable:
                continue
            if found:
                return TableReport(tuple(sorted(found, key=lambda it: (-it.wdl, it.dtz))), has_distances)
        return None

    def _inquiry(self, board: Board) -> "_Inquiry":
        position = board.copy(moves=False).position
        return _Inquiry(position, self.prober(position), self._shelves[Kind.DTZ])


@dataclass(frozen=True)
class Tables:
    """What a search may ask: some tables, about positions with at most so many men."""

    base: Tablebase = field(default_factory=Tablebase)
    most_men: int = MOST_MEN

    def prober(self, position: Position) -> Prober:
        """For one thread, and for the position as it changes."""
        return self.base.prober(position, self.most_men)

    def report(self, board: Board) -> TableReport | None:
        """All legal moves, as the game stands; None if no table tells, or if there is no move."""
        return self.base.report(board, self.most_men)


class _Inquiry:
    """One position and those around it."""

    def __init__(self, position: Position, prober: Prober, shelf: Shelf | None) -> None:
        self._position = position
        self._prober = prober
        self._shelf = shelf

    def moves(self, board: Board, has_distances: bool) -> Iterator[TableMove]:
        """Raises MissingTable."""
        clock = board.halfmove_clock
        for move in legal_moves(self._position):
            self._position.push(move)
            try:
                dtz = self._distance_by(has_distances)
                decides = self._clock() == 0 or dtz == 1
            finally:
                self._position.pop(move)
            yield TableMove(board.spell(move), _outcome(dtz, 0 if decides else clock), dtz)

    def _distance_by(self, has_distances: bool) -> int:
        """The distance for who has just moved, this move included. Raises MissingTable."""
        position = self._position
        if position.is_check() and not legal_moves(position):
            return AT_ONCE[WIN]
        if self._clock() >= FIFTY_MOVES or position.repetition_count() >= DRAWING_REPETITIONS:
            return AT_ONCE[DRAW]
        if self._clock() == 0 or not has_distances:
            return AT_ONCE[-self._worth()]
        theirs = self.distance()
        return -theirs + (0 if theirs == 0 else 1 if theirs < 0 else -1)

    # --- Distances ---------------------------------------------------------------------------------------------------

    def distance(self, *, may_try: bool = True) -> int:
        """Of the position as it is; `may_try` moves if the file does not tell. Raises MissingTable."""
        distance = self._without_en_passant(may_try)
        moves = legal_moves(self._position)
        captures = [move for move in moves if move >> 12 == EN_PASSANT_FLAG]
        if not captures:
            return distance
        worth = max(-self._after(move, self._worth) for move in captures)
        known = _outcome(distance)
        if worth > known or worth == known > 0 or len(captures) == len(moves):
            return AT_ONCE[worth]
        return distance

    def _without_en_passant(self, may_try: bool) -> int:
        found = self._prober.worth_without_en_passant()
        if found is None:
            raise MissingTable
        worth, by_capture = found
        if worth == DRAW or by_capture or (worth > 0 and self._pawn_move_keeps(worth)):
            return AT_ONCE[worth]
        stored = self._stored(worth)
        if stored is not None:
            return AT_ONCE[worth] + (stored if worth > 0 else -stored)
        if not may_try:
            raise MissingTable
        return self._quickest_win() if worth > 0 else self._longest_loss(worth)

    def _pawn_move_keeps(self, worth: int) -> bool:
        board = self._position.state()["board"]
        pawn_moves = [
            move
            for move in legal_moves(self._position)
            if board[move & 63] % KINDS == PAWN and not move & CAPTURE_BIT
        ]
        return any(-self._after(move, self._worth) == worth for move in pawn_moves)

    def _stored(self, worth: int) -> int | None:
        """Plies that the file adds to the next; None if it tells of the other side to move. Raises MissingTable."""
        table = None if self._shelf is None else self._shelf.table_of(self._prober.material())
        found = None if table is None else table.outlook(self._position, self._prober.material())
        if found is None:
            raise MissingTable
        section, value = found
        return None if value is None else _plies(section, worth, value)

    def _quickest_win(self) -> int:
        """Of a win that no capture or pawn move keeps."""
        distances = []
        board = self._position.state()["board"]
        for move in legal_moves(self._position):
            if not move & CAPTURE_BIT and board[move & 63] % KINDS != PAWN:
                distance = self._after(move, self._won_distance)
                if distance > 0:
                    distances.append(distance)
        if not distances:
            raise MissingTable
        return min(distances)

    def _won_distance(self) -> int:
        """For who has just moved, this move included; 0 or less if he does not win."""
        theirs = self.distance(may_try=False)
        if theirs == AT_ONCE[LOSS] and self._position.is_check() and not legal_moves(self._position):
            return AT_ONCE[WIN]
        return 1 - theirs if theirs < 0 else 0

    def _longest_loss(self, worth: int) -> int:
        distances = [self._after(move, lambda: self._lost_distance(worth)) for move in legal_moves(self._position)]
        return min([AT_ONCE[LOSS], *distances])

    def _lost_distance(self, worth: int) -> int:
        """For who has just moved, this move included; 0 if he should not have."""
        if self._clock() > 0:
            return -self.distance(may_try=False) - 1
        return AT_ONCE[worth] if worth == LOSS or self._worth() != WIN else 0

    # --- Small helps -------------------------------------------------------------------------------------------------

    def _worth(self) -> int:
        """Raises MissingTable."""
        worth = self._prober.worth()
        if worth is None:
            raise MissingTable
        return worth

    def _after(self, move: int, ask: Callable[[], int]) -> int:
        """What is answered once the move is made."""
        self._position.push(move)
        try:
            return ask()
        finally:
            self._position.pop(move)

    def _clock(self) -> int:
        return int(self._position.state()["halfmove_clock"])


def _outcome(dtz: int, clock: int = 0) -> int:
    """WIN to LOSS for a distance with so many plies on the fifty-move clock; the distance may be one too low."""
    if dtz == 0:
        return DRAW
    if dtz > 0:
        return WIN if dtz == 1 or (dtz <= FIFTY_MOVES and dtz + clock < FIFTY_MOVES) else CURSED_WIN
    return LOSS if -dtz <= FIFTY_MOVES and clock - dtz <= FIFTY_MOVES else BLESSED_LOSS


def _plies(section: Section, worth: int, value: int) -> int:
    """What a stored value stands for. Raises MissingTable for one that means nothing."""
    if section.flags & MAPPED:
        known = section.maps[MAP_OF[worth]]
        if value >= len(known):
            raise MissingTable
        value = known[value]
    return value if section.flags & IN_PLIES[worth] else 2 * value


def _shelf(tables: dict[str, Table]) -> Shelf | None:
    """The tables by what stands on the board, with either side having the stronger men."""
    by_key: dict[int, Table] = {}
    for name, table in tables.items():
        ending = Ending.of_name(name)
        if ending is not None:
            by_key[material_key(ending.pieces)] = by_key[material_key(other_colour(ending.pieces))] = table
    return shelve(sorted(by_key.items(), key=lambda item: item[0]))
