"""PGN of finished games: recorded during the game, then written to files by a thread.

The record holds moves, clocks and our evaluations. A ply that this process has not seen has no clock, and one that was
not searched has no evaluation. If the event stream reports the end first, the last move is taken from that report.
"""

import os
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from engine.facade import STARTING_FEN, Board, InvalidMove, pgn_text
from lichessbot.config import PgnGrouping
from lichessbot.games.actions import GameOver
from lichessbot.inbox import Report
from lichessbot.lichess.enums import Colour, GameStatus, Variant
from lichessbot.lichess.models import STANDARD_START, GameFinish, GameFull, GameInfo, GameState
from lichessbot.lichess.streams import StreamEvent
from lichessbot.log import EventLog
from lichessbot.uci.search import BestMove, Search, SearchSummary, centipawns

_TERMINATIONS: Final = {
    GameStatus.TIMEOUT: "Abandoned",
    GameStatus.OUT_OF_TIME: "Time forfeit",
    GameStatus.CHEAT: "Rules infraction",
}
_VARIANTS: Final[dict[str, str]] = {Variant.CHESS960: "Chess960", Variant.FROM_POSITION: "From Position"}


class PgnRecorder:
    """Records one game."""

    def __init__(self, site: str, our_id: str) -> None:
        """`site` is the address of the server."""
        self._site = site
        self._our_id = our_id
        self._full: GameFull | None = None
        self._moves: tuple[str, ...] = ()
        self._clocks_s: dict[int, int] = {}
        self._evals: dict[int, tuple[tuple[str, ...], str]] = {}
        """For each ply the moves before it, which may have been taken back, and the evaluation."""
        self._search: Search | None = None
        self._end: GameInfo | None = None

    def note_search(self, search: Search) -> None:
        """Note what the engine was asked."""
        self._search = search

    def handle(self, report: Report) -> None:
        """Record what a report tells."""
        match report:
            case StreamEvent(event=GameFull() as full):
                self._full = full
                self._read(full, full.state)
            case StreamEvent(event=GameState() as state) if self._full is not None:
                self._read(self._full, state)
            case StreamEvent(event=GameFinish(game=game)):
                self._end = game
            case BestMove(search_id=search_id, summary=summary) if self._search is not None:
                if self._search.search_id == search_id:
                    self._note(self._search, summary)

    @property
    def names(self) -> tuple[str, str, str]:
        """Our name, White's and Black's."""
        if self._full is None:
            return "", "", ""
        white, black = self._full.white, self._full.black
        return str(white if white.id == self._our_id else black), str(white), str(black)

    def pgn(self, over: GameOver) -> str | None:
        """Return the finished game; None if it has no moves or was aborted. Raises InvalidFen or InvalidMove."""
        full = self._full
        if full is None or not self._moves or over.status is GameStatus.ABORTED:
            return None
        fen = STARTING_FEN if full.initial_fen == STANDARD_START else full.initial_fen
        board = Board(fen, chess960=full.variant.key != Variant.STANDARD)
        for move in self._moves:
            board.push(move)
        if self._end is not None and lacks_last_move(board, self._end):
            board.push(self._end.last_move)
        plies = range(len(board.moves))
        return pgn_text(
            _headers(full, over, self._site),
            board,
            _result(over),
            [self._clocks_s.get(ply) for ply in plies],
            [self._eval(ply, board.moves) for ply in plies],
        )

    def _eval(self, ply: int, moves: list[str]) -> str | None:
        before, text = self._evals.get(ply, ((), ""))
        return text if text and before == tuple(moves[:ply]) else None

    def _read(self, full: GameFull, state: GameState) -> None:
        self._moves = tuple(state.moves.split())
        last = len(self._moves) - 1
        self._clocks_s = {ply: it for ply, it in self._clocks_s.items() if ply <= last}
        if full.clock is not None and last >= 0:
            white_moved = (last % 2 == 0) == (_first_to_move(full) is Colour.WHITE)
            self._clocks_s.setdefault(last, (state.wtime if white_moved else state.btime) // 1000)

    def _note(self, search: Search, summary: SearchSummary) -> None:
        ply = len(search.moves)
        we_are_white = self._full is not None and (ply % 2 == 0) == (_first_to_move(self._full) is Colour.WHITE)
        text = _evaluation_for_white(summary.score, white=we_are_white)
        if text is not None:
            self._evals[ply] = search.moves, f"{text},{summary.depth}"


def lacks_last_move(board: Board, end: GameInfo) -> bool:
    """Return whether exactly the last move of `end` is missing on `board`."""
    after = board.copy()
    try:
        after.push(end.last_move)
    except InvalidMove:
        return False
    return _placement(board.fen()) != _placement(end.fen) == _placement(after.fen())


def _placement(fen: str) -> list[str]:
    return fen.split()[:1]


def _headers(full: GameFull, over: GameOver, site: str) -> dict[str, str]:
    created = datetime.fromtimestamp(full.created_at_ms / 1000, tz=UTC)
    date, mode = created.strftime("%Y.%m.%d"), "Rated" if full.rated else "Casual"
    headers = {
        "Event": f"{mode} {full.speed} game".replace("  ", " "),
        "Site": f"{site}/{full.id}",
        "Date": date,
        "Round": "-",
        "White": str(full.white),
        "Black": str(full.black),
        "Result": _result(over),
        "GameId": full.id,
        "UTCDate": date,
        "UTCTime": created.strftime("%H:%M:%S"),
        "TimeControl": _time_control(full),
        "Termination": _TERMINATIONS.get(over.status, "Normal"),
    }
    for side, player in (("White", full.white), ("Black", full.black)):
        if player.rating is not None:
            headers[f"{side}Elo"] = str(player.rating)
        if player.title:
            headers[f"{side}Title"] = player.title
    variant = _VARIANTS.get(full.variant.key)
    return headers if variant is None else {**headers, "Variant": variant}


def _time_control(full: GameFull) -> str:
    if full.clock is not None:
        return f"{full.clock.initial // 1000}+{full.clock.increment // 1000}"
    return "-" if full.days_per_turn is None else f"1/{full.days_per_turn * 86400}"


def _result(over: GameOver) -> str:
    return {Colour.WHITE: "1-0", Colour.BLACK: "0-1", None: "1/2-1/2"}[over.winner]


def _first_to_move(full: GameFull) -> Colour:
    fields = full.initial_fen.split()
    return Colour.BLACK if fields[1:2] == ["b"] else Colour.WHITE


def _evaluation_for_white(score: str, *, white: bool) -> str | None:
    """Return a UCI score before our move as White's evaluation after it; None if there is none."""
    score_cp = centipawns(score)
    if score_cp is None:
        return None
    sign = 1 if white else -1
    if not score.startswith("mate"):
        return f"{sign * score_cp / 100:.2f}"
    mate_in = int(score.split()[1])
    left = mate_in - 1 if mate_in > 0 else mate_in
    return f"#{sign * left}" if left else None


CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=2)
_MAX_NAME_LENGTH: Final = 40
_MAX_QUEUED: Final = 1000


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game: the names for its file, and its PGN, which ends in an empty line."""

    game_id: str
    us: str
    white: str
    black: str
    pgn: str

    def path(self, folder: Path, grouping: PgnGrouping) -> Path:
        """Return the file for this game, named as lichess-bot names it."""
        us, white, black = _safe(self.us), _safe(self.white), _safe(self.black)
        match grouping:
            case PgnGrouping.GAME:
                return folder / f"{white} vs {black} - {_safe(self.game_id)}.pgn"
            case PgnGrouping.OPPONENT:
                return folder / f"{us} games vs. {black if us == white else white}.pgn"
            case PgnGrouping.ALL:
                return folder / f"{us} games.pgn"


class PgnArchive:
    """Writes finished games to files, in a thread of its own. Use and close it from one thread."""

    def __init__(self) -> None:
        self._log = EventLog()
        self._records: SimpleQueue[tuple[Path, PgnGrouping, GameRecord] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None

    def put(self, record: GameRecord, folder: Path, grouping: PgnGrouping) -> None:
        """Queue the game to be written into `folder`. Never blocks."""
        if self._records.qsize() >= _MAX_QUEUED:
            self._log.warning("pgn.lost", game=record.game_id, reason="the disk is too slow")
            return
        self._records.put((folder, grouping, record))
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_all, name="archive", daemon=True)
            self._writer.start()

    def close(self) -> None:
        """Wait up to two seconds until the queued games are written."""
        if self._writer is not None:
            self._records.put(None)
            self._writer.join(CLOSE_WAITS_AT_MOST.total_seconds())

    def _write_all(self) -> None:
        while (item := self._records.get()) is not None:
            folder, grouping, record = item
            path = record.path(folder, grouping)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                _write(path, record.pgn, append=grouping is not PgnGrouping.GAME)
            except OSError as error:
                self._log.warning("pgn.lost", game=record.game_id, file=path, error=error)
            except Exception as error:
                self._log.crash("pgn.crashed", error, game=record.game_id)
            else:
                self._log.debug("pgn.written", game=record.game_id, file=path)


def _write(path: Path, text: str, *, append: bool) -> None:
    """Write all of the text or nothing: half a game would damage the file. Raises OSError."""
    if not append:
        part = path.with_name(f".{path.name}.part")
        part.unlink(missing_ok=True)
        _write(part, text, append=True)
        part.replace(path)
        return
    data = memoryview(text.encode("utf-8", "backslashreplace"))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(file).st_size
        try:
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        except OSError:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def _safe(name: str) -> str:
    """Return `name` as a part of a file name that is valid on any system."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_MAX_NAME_LENGTH] or "_"
