"""Folders of Syzygy files: which endgames they hold, and WDL and DTZ of a position and its moves.

DTZ counts the plies to the next capture or pawn move that keeps the result: 1 to 100, and more than 100 if the
fifty-move rule turns the win into a draw. It may be one too low. A file stores it for one side to move only; the other
side's is found by trying moves. This is plain Python, for positions on the board, not for those of a search.
(chessprogramming wiki: Syzygy Bases)
"""

import resource
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from engine.board import THREEFOLD, Board
from engine.core.draws import FIFTY_MOVES_PLIES, has_repeated, repetition_count
from engine.core.move import EN_PASSANT, flag_of, from_square, is_capture
from engine.core.movegen import legal_moves
from engine.core.pieces import KINDS, PAWN
from engine.core.position import Position
from engine.syzygy.file_header import (
    LOSS_PLIES,
    MAPPED,
    MAX_PIECES,
    WIN_PLIES,
    Endgame,
    Kind,
    Section,
    material_key,
    other_colour,
)
from engine.syzygy.prober import Prober
from engine.syzygy.table import Table, TableTree, build_tree

T = TypeVar("T")
WIN, CURSED_WIN, DRAW, BLESSED_LOSS, LOSS = 2, 1, 0, -1, -2
NEXT_PLY = {WIN: 1, CURSED_WIN: 101, DRAW: 0, BLESSED_LOSS: -101, LOSS: -1}    # DTZ if the next ply decides
MAP_OF = {WIN: 0, LOSS: 1, CURSED_WIN: 2, BLESSED_LOSS: 3}                     # index of a section's map by WDL
IN_PLIES = {WIN: WIN_PLIES, LOSS: LOSS_PLIES, CURSED_WIN: 0, BLESSED_LOSS: 0}  # the flag; without it DTZ is in moves
OTHER_FILES = 256                  # that a process may need besides those of a tablebase


class MissingTable(LookupError):
    """No usable file holds the position, or it is too late to look."""


class TableMove(NamedTuple):
    """A legal move and its result for the side that makes it.

    `wdl` is 2 for a win to -2 for a loss, given the fifty-move clock; 1 and -1 are draws by the fifty-move rule.
    `dtz` has the sign of `wdl`: plies to the next capture or pawn move, this move included.
    """

    move: str
    wdl: int
    dtz: int


class TableReport(NamedTuple):
    """All legal moves, the best first. Without distances, `wdl` holds only while the fifty-move clock is low."""

    moves: tuple[TableMove, ...]
    has_distances: bool
    repeats: bool
    """Whether a position has occurred twice since the last capture or pawn move."""

    @property
    def wdl(self) -> int:
        """The result of the position for the side to move: 2 for a win to -2 for a loss."""
        return self.moves[0].wdl

    def among(self, moves: Collection[str]) -> "TableReport":
        """Return the same report restricted to these moves, of which at least one must be legal."""
        return self._replace(moves=tuple(it for it in self.moves if it.move in moves))

    def best(self) -> list[str]:
        """Return the quickest wins, all draws, or the longest losses."""
        first = self.moves[0]
        return [it.move for it in self.moves if (it.wdl, it.dtz) == (first.wdl, first.dtz)]

    def keeping(self) -> list[str]:
        """Return every move that keeps the result."""
        return [it.move for it in self.moves if it.wdl == self.wdl]

    def worth_searching(self) -> list[str]:
        """Return the moves that keep the result; once the game repeats positions, only the quickest wins.

        The same if the fifty-move rule seems to spoil the wins: the quickest may come just in time.
        """
        return self.best() if self.wdl == CURSED_WIN or (self.repeats and self.wdl > DRAW) else self.keeping()


class Tablebase:
    """The Syzygy files in some folders, shared by all threads. A file is opened when it is first probed."""

    def __init__(self, folders: Iterable[Path] = (), probe_limit: int = MAX_PIECES) -> None:
        """Positions with more than `probe_limit` pieces, kings included, are not probed."""
        self.probe_limit = probe_limit
        self._folders = tuple(folders)
        self._tables: dict[Kind, dict[Endgame, Table]] = {kind: {} for kind in Kind}
        self._problems: list[str] = []
        self._reported: set[str] = set()
        for folder in self._folders:
            self._add(folder)
        _allow_open_files(sum(map(len, self._tables.values())))
        self._trees = {kind: _tree_of(tables) for kind, tables in self._tables.items()}

    def _add(self, folder: Path) -> None:
        """Add the files of a folder; of two files with the same name the first counts."""
        try:
            files = sorted(folder.iterdir())
        except OSError as error:
            self._problems.append(f"{folder}: {error.strerror}")
            return
        except ValueError:             # a NUL character or a lone surrogate
            self._problems.append(f"{str(folder)!r}: not a valid path")
            return
        for kind in Kind:
            for file in files:
                if file.suffix == kind.value and (endgame := Endgame.of_name(file.stem)) is not None:
                    self._tables[kind].setdefault(endgame, Table(file))

    def renewed(self) -> "Tablebase":
        """Return one that looks for files anew if none were found or some are unusable, else this one."""
        if len(self) and not self.problems:
            return self
        renewed = Tablebase(self._folders, self.probe_limit)
        renewed._reported = self._reported
        return renewed

    # --- Files -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of endgames."""
        return len(self._tables[Kind.WDL])

    @property
    def max_pieces(self) -> int:
        """Pieces of the largest endgame, kings included; 0 if there is none."""
        return max((len(endgame.pieces) for endgame in self._tables[Kind.WDL]), default=0)

    @property
    def is_complete(self) -> bool:
        """Whether every endgame has both WDL and DTZ."""
        return self._tables[Kind.WDL].keys() == self._tables[Kind.DTZ].keys()

    @property
    def problems(self) -> list[str]:
        """What is wrong with folders, and with the files opened so far."""
        tables = [table for tables in self._tables.values() for table in tables.values()]
        return self._problems + [table.problem for table in tables if table.problem is not None]

    def new_problems(self) -> list[str]:
        """Return the problems that earlier calls did not return."""
        new = [problem for problem in self.problems if problem not in self._reported]
        self._reported.update(new)
        return new

    def review(self) -> list[str]:
        """Open and close every file; returns all problems."""
        problems = list(self._problems)
        for tables in self._tables.values():
            for table in tables.values():
                copy = Table(table.path)       # closes its file at once: a process may not hold thousands open
                copy.open()
                if copy.problem is not None:
                    problems.append(copy.problem)
        return problems

    def describe(self) -> str:
        """Return a summary for people, such as `35 endgames of up to 4 pieces, 35 with DTZ`."""
        return f"{len(self)} endgames of up to {self.max_pieces} pieces, {len(self._tables[Kind.DTZ])} with DTZ"

    # --- Probing -----------------------------------------------------------------------------------------------------

    def prober(self, position: Position) -> Prober:
        """Return a prober of this position for one thread; it follows the position as it changes."""
        return Prober(position, self._trees[Kind.WDL], self.probe_limit)

    def wdl(self, board: Board) -> int | None:
        """Return the WDL as if the fifty-move clock were 0, or None if no table knows."""
        return self.prober(board.copy(moves=False).position).wdl()

    def dtz(self, board: Board) -> int | None:
        """Return the DTZ, or None if no table knows."""
        try:
            return self._dtz_prober(board).dtz()
        except MissingTable:
            return None

    def report(self, board: Board, is_late: Callable[[], bool] = lambda: False) -> TableReport | None:
        """Return all legal moves with their results in this game, or None if no table knows or there is no move.

        None also once `is_late()`, which is asked between two probes: a slow disk may take long for each.
        """
        if self.wdl(board) is None:
            return None
        prober = self._dtz_prober(board, is_late)
        for has_distances in (True, False):
            try:
                found = list(prober.moves(board, has_distances))
            except MissingTable:
                continue
            if found:
                found.sort(key=lambda it: (-it.wdl, it.dtz))
                return TableReport(tuple(found), has_distances, has_repeated(board.position))
        return None

    def _dtz_prober(self, board: Board, is_late: Callable[[], bool] = lambda: False) -> "_DtzProber":
        position = board.copy(moves=False).position
        return _DtzProber(position, self.prober(position), self._trees[Kind.DTZ], is_late)


class _DtzProber:
    """Probes the DTZ of one position and the positions after its moves."""

    def __init__(
        self, position: Position, prober: Prober, tree: TableTree | None, is_late: Callable[[], bool]
    ) -> None:
        self._position = position
        self._prober = prober
        self._tree = tree
        self._is_late = is_late

    def moves(self, board: Board, has_distances: bool) -> Iterator[TableMove]:
        """Yield the legal moves with their results. Raises MissingTable."""
        for move in legal_moves(self._position):
            dtz, clock = self._after(move, lambda: (self._dtz_of_last_move(has_distances), self._clock()))
            yield TableMove(board.spell(move), _wdl_of(dtz, 0 if clock == 0 else board.halfmove_clock), dtz)

    def _dtz_of_last_move(self, has_distances: bool) -> int:
        """Return the DTZ for the side that has just moved, this move included. Raises MissingTable."""
        position = self._position
        if position.is_check() and not legal_moves(position):
            return NEXT_PLY[WIN]
        if self._clock() >= FIFTY_MOVES_PLIES or repetition_count(position) >= THREEFOLD:
            return NEXT_PLY[DRAW]
        if self._clock() == 0 or not has_distances:
            return NEXT_PLY[-self._wdl()]
        theirs = self.dtz()
        return -theirs + (0 if theirs == 0 else 1 if theirs < 0 else -1)

    def dtz(self, *, may_try_moves: bool = True) -> int:
        """Return the DTZ of the position. Raises MissingTable.

        `may_try_moves`: if the file stores only the other side to move, try all moves.
        """
        dtz = self._dtz_without_en_passant(may_try_moves)
        moves = legal_moves(self._position)
        captures = [move for move in moves if flag_of(move) == EN_PASSANT]
        if not captures:
            return dtz
        wdl = max(-self._after(move, self._wdl) for move in captures)
        known = _wdl_of(dtz)
        if wdl > known or wdl == known > 0 or len(captures) == len(moves):
            return NEXT_PLY[wdl]
        return dtz

    def _dtz_without_en_passant(self, may_try_moves: bool) -> int:
        found = self._prober.wdl_without_en_passant()
        if found is None:
            raise MissingTable
        wdl, decided_by_capture = found
        if wdl == DRAW or decided_by_capture or (wdl > 0 and self._pawn_move_keeps(wdl)):
            return NEXT_PLY[wdl]
        stored = self._stored_plies(wdl)
        if stored is not None:
            return NEXT_PLY[wdl] + (stored if wdl > 0 else -stored)
        if not may_try_moves:
            raise MissingTable
        return self._quickest_win() if wdl > 0 else self._longest_loss(wdl)

    def _pawn_move_keeps(self, wdl: int) -> bool:
        board = self._position.state()["board"]
        return any(
            -self._after(move, self._wdl) == wdl
            for move in legal_moves(self._position)
            if board[from_square(move)] % KINDS == PAWN and not is_capture(move)
        )

    def _stored_plies(self, wdl: int) -> int | None:
        """Return the stored plies after the next one; None if the file stores only the other side to move.

        Raises MissingTable.
        """
        key = self._prober.material_key()
        table = None if self._tree is None else self._tree.find(key)
        found = None if table is None else table.probe_dtz(self._position, key)
        if found is None:
            raise MissingTable
        section, value = found
        return None if value is None else _plies(section, wdl, value)

    def _quickest_win(self) -> int:
        """Return the DTZ of a win that no capture or pawn move keeps."""
        distances = []
        board = self._position.state()["board"]
        for move in legal_moves(self._position):
            if not is_capture(move) and board[from_square(move)] % KINDS != PAWN:
                dtz = self._after(move, self._dtz_of_winning_move)
                if dtz > 0:
                    distances.append(dtz)
        if not distances:
            raise MissingTable
        return min(distances)

    def _dtz_of_winning_move(self) -> int:
        """Return the DTZ for the side that has just moved, this move included; 0 or less if it does not win."""
        theirs = self.dtz(may_try_moves=False)
        if theirs == NEXT_PLY[LOSS] and self._position.is_check() and not legal_moves(self._position):
            return NEXT_PLY[WIN]
        return 1 - theirs if theirs < 0 else 0

    def _longest_loss(self, wdl: int) -> int:
        distances = [self._after(move, lambda: self._dtz_of_losing_move(wdl)) for move in legal_moves(self._position)]
        return min([NEXT_PLY[LOSS], *distances])

    def _dtz_of_losing_move(self, wdl: int) -> int:
        """Return the DTZ for the side that has just moved, this move included; 0 if the move was wrong."""
        if self._clock() > 0:
            return -self.dtz(may_try_moves=False) - 1
        return NEXT_PLY[wdl] if wdl == LOSS or self._wdl() != WIN else 0

    def _wdl(self) -> int:
        """Return the WDL of the position. Raises MissingTable."""
        wdl = self._prober.wdl()
        if wdl is None:
            raise MissingTable
        return wdl

    def _after(self, move: int, probe: Callable[[], T]) -> T:
        """Return what `probe` returns once the move is made. Raises MissingTable if it is late."""
        if self._is_late():
            raise MissingTable
        self._position.push(move)
        try:
            return probe()
        finally:
            self._position.pop(move)

    def _clock(self) -> int:
        return int(self._position.state()["halfmove_clock"])


def _wdl_of(dtz: int, clock: int = 0) -> int:
    """Return WIN to LOSS for a DTZ, which may be one too low; `clock` is the fifty-move clock in plies."""
    if dtz == 0:
        return DRAW
    if dtz > 0:
        return WIN if dtz == 1 or (dtz <= FIFTY_MOVES_PLIES and dtz + clock < FIFTY_MOVES_PLIES) else CURSED_WIN
    return LOSS if -dtz <= FIFTY_MOVES_PLIES and clock - dtz <= FIFTY_MOVES_PLIES else BLESSED_LOSS


def _plies(section: Section, wdl: int, value: int) -> int:
    """Return a stored value in plies. Raises MissingTable if the section's map has no such value."""
    if section.flags & MAPPED:
        known = section.maps[MAP_OF[wdl]]
        if value >= len(known):
            raise MissingTable
        value = known[value]
    return value if section.flags & IN_PLIES[wdl] else 2 * value


def _allow_open_files(count: int) -> None:
    """Let this process open this many files if it may: the usual limit of 1,024 is below the tables of seven pieces."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):            # macOS has another limit as well
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _tree_of(tables: dict[Endgame, Table]) -> TableTree | None:
    """Return the tables by material key, each with both assignments of colours."""
    by_key: dict[int, Table] = {}
    for endgame, table in tables.items():
        by_key[material_key(endgame.pieces)] = by_key[material_key(other_colour(endgame.pieces))] = table
    return build_tree(sorted(by_key.items(), key=lambda item: item[0]))
