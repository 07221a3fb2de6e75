"""The record of each game, and its PGN.

The recorder writes a game to the store while it is played, one note for each move of ours. The archive names the
opening of a finished game and writes its PGN, in a thread of its own. A ply that no process has seen at the time has no
clock, and one that was not searched has no evaluation. If the event stream reports the end first, the last move is
taken from that report.
"""

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from engine.facade import Board, InvalidFen, InvalidMove, InvalidVariant, opening_of, pgn_text
from lichessbot.config import Config, PgnGrouping
from lichessbot.games.actions import GameOver
from lichessbot.inbox import Report
from lichessbot.lichess.commands import SendMove
from lichessbot.lichess.enums import VARIANTS_IN_PGN, Colour, GameStatus, Variant
from lichessbot.lichess.models import STANDARD_START, ChatLine, GameFinish, GameFull, GameInfo, GameState
from lichessbot.lichess.start_board import start_board
from lichessbot.lichess.streams import StreamEvent
from lichessbot.log import EventLog
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage import game_records
from lichessbot.storage.database import Statement
from lichessbot.storage.game_records import ChatRecord, GameRecord, MoveRecord, Result, mate_in
from lichessbot.storage.store import Store
from lichessbot.uci.search import BestMove, centipawns

_TERMINATIONS: Final = {
    GameStatus.TIMEOUT: "Abandoned",
    GameStatus.OUT_OF_TIME: "Time forfeit",
    GameStatus.CHEAT: "Rules infraction",
}
_WITHOUT_RESULT: Final = (GameStatus.ABORTED, GameStatus.NO_START, GameStatus.UNKNOWN_FINISH)
_MOST_CHAT_LINES: Final = 200
_UNFINISHED: Final = "*"


@dataclass(frozen=True, slots=True)
class _Sent:
    """A move of ours as it was sent first, at the monotonic second `at`; the stream has yet to show it."""

    facts: MoveRecord
    at: float


class GameRecorder:
    """Records one game."""

    def __init__(self, our_id: str, store: Store) -> None:
        self._our_id = our_id
        self._store = store
        self._full: GameFull | None = None
        self._record: GameRecord | None = None
        self._level_is_recorded = False
        self._moves: dict[int, MoveRecord] = {}
        """By ply; the newest may be unwritten."""
        self._unwritten: list[MoveRecord] = []
        self._answer: tuple[int, BestMove | SourceAnswer] | None = None
        """What was found for our move at a ply."""
        self._sent: dict[int, _Sent] = {}
        self._end: GameInfo | None = None
        self._chat_lines_left = _MOST_CHAT_LINES

    def handle(self, report: Report) -> None:
        """Record what a report tells."""
        match report:
            case StreamEvent(event=GameFull() as full, received_at=received_at):
                self._open(full)
                self._read(full, full.state, received_at, fresh=True)
            case StreamEvent(event=GameState() as state, received_at=received_at) if self._full is not None:
                self._read(self._full, state, received_at, fresh=False)
            case StreamEvent(event=GameFinish(game=game)):
                self._end = game
            case StreamEvent(event=ChatLine() as line, game_id=str() as game_id) if self._chat_lines_left:
                self._chat_lines_left -= 1
                said = ChatRecord(time.time(), line.room, line.username, line.text)
                self._store.record(game_records.said(game_id, said))

    def note_level(self, level: int | None) -> None:
        """Record the level at which we play from now on."""
        record = self._record
        if record is not None and (record.level != level or not self._level_is_recorded):
            self._record, self._level_is_recorded = replace(record, level=level), True
            self._store.record(game_records.levelled(record.id, level))

    def note_answer(self, answer: BestMove | SourceAnswer) -> None:
        """Note what was found for our next move; of several moves of a source, the engine chooses."""
        if isinstance(answer, BestMove) or len(answer.moves) == 1:
            self._answer = len(self._moves) + 1, answer

    def note_sent(self, command: SendMove, reaction_ms: float, now: float) -> None:
        """Note that our move is being sent, perhaps again, after that much time of our own."""
        earlier = self._sent.get(command.ply)
        if earlier is None or earlier.facts.move != command.move:
            ply, answer = self._answer or (0, None)
            facts = _facts(command, answer if ply == command.ply else None, max(0, round(reaction_ms)))
            self._sent[command.ply] = _Sent(facts, now)

    def finish(self, over: GameOver) -> "ArchivedGame | None":
        """Record the end; return the game if that is certain and the stream ever showed it."""
        record = self._record
        if record is None:
            return None
        if not over.certain:
            self._write()
            return None
        record = replace(record, ended_at=time.time(), status=str(over.status), plies=over.plies)
        if over.status not in _WITHOUT_RESULT:
            won = over.winner is not None and over.winner == record.colour
            result = Result.DRAWN if over.winner is None else Result.WON if won else Result.LOST
            record = replace(record, result=result)
            self._store.note_result(record.opponent_id, result, record.level)
        self._write(game_records.ended(record))
        sent = self._sent.get(len(self._moves) + 1)
        return ArchivedGame(record, tuple(self._moves.values()), self._end, None if sent is None else sent.facts)

    def _open(self, full: GameFull) -> None:
        is_first, self._full = self._full is None, full
        if is_first and self._our_id in (full.white.id, full.black.id):
            self._record = _record(full, self._our_id)
            self._store.record(game_records.begun(self._record))

    def _read(self, full: GameFull, state: GameState, received_at: float, *, fresh: bool) -> None:
        """Take over a state; one that does not continue the known moves may be an old line, unless it is `fresh`."""
        moves, known = state.moves.split(), len(self._moves)
        pairs = zip(self._moves.values(), moves, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0].move == pair[1], pairs))
        if self._record is None or (same < known and not fresh):
            return
        for ply in range(same + 1, known + 1):
            del self._moves[ply]
        for ply in range(same + 1, len(moves)):
            self._note_move(ply, moves[ply - 1])
        if same < len(moves):
            self._note_move(len(moves), moves[-1], _clock_ms(full, state, len(moves)), received_at)
        if same < known:
            self._write(game_records.taken_back(self._record.id, len(moves)))
        elif self._unwritten and self._record.is_ours(len(moves)):
            self._write()

    def _note_move(self, ply: int, move: str, clock_ms: int | None = None, shown_at: float | None = None) -> None:
        """Take over a move that the stream shows, at the monotonic second `shown_at` if it has just been played."""
        assert self._record is not None, "moves follow the first full state"
        noted = MoveRecord(ply, move, clock_ms)
        if self._record.is_ours(ply):
            sent = self._sent.pop(ply, None)
            if sent is None:
                noted = replace(noted, source="")
            else:
                delivery_ms = None if shown_at is None else round((shown_at - sent.at) * 1000)
                noted = replace(sent.facts, move=move, clock_ms=clock_ms, delivery_ms=delivery_ms)
        self._moves[ply] = noted
        self._unwritten.append(noted)

    def _write(self, *more: Statement) -> None:
        assert self._record is not None, "nothing is written before the first full state"
        self._store.record(game_records.played(self._record.id, self._unwritten), *more)
        self._unwritten = []


def _facts(command: SendMove, answer: BestMove | SourceAnswer | None, reaction_ms: int) -> MoveRecord:
    """Return what is known of a move that is sent: without an answer it was the only legal one."""
    facts = MoveRecord(command.ply, command.move, source="only move", reaction_ms=reaction_ms)
    if answer is None:
        return facts
    summary = answer.summary
    return replace(
        facts,
        source=answer.source if isinstance(answer, SourceAnswer) else "engine" if answer.asked_at else "fallback",
        score_cp=centipawns(summary.score),
        depth=summary.depth,
        nodes=summary.nodes,
        search_ms=round(answer.took_s * 1000),
    )


def _record(full: GameFull, our_id: str) -> GameRecord:
    colour = Colour.WHITE if full.white.id == our_id else Colour.BLACK
    us, them = full.player(colour), full.player(colour.other)
    clock = full.clock
    return GameRecord(
        id=full.id,
        joined_at=time.time(),
        opponent=f"{them.title} {them}".strip(),
        has_clock=clock is not None,
        opponent_id=them.id or (str(them) if them.ai_level is not None else ""),
        opponent_title=them.title,
        opponent_rating=them.rating,
        our_name=str(us),
        our_title=us.title,
        our_rating=us.rating,
        variant=full.variant.key,
        speed=full.speed,
        rated=full.rated,
        colour=colour,
        initial_fen="" if full.initial_fen == STANDARD_START else full.initial_fen,
        base_s=None if clock is None else clock.initial // 1000,
        increment_s=None if clock is None else clock.increment // 1000,
        days_per_turn=full.days_per_turn,
        tournament_id=full.tournament_id or "",
        started_at=full.created_at_ms / 1000 or None,
    )


def _clock_ms(full: GameFull, state: GameState, ply: int) -> int | None:
    """Return the mover's clock after the last ply."""
    if full.clock is None:
        return None
    begins_white = full.initial_fen.split()[1:2] != ["b"]
    clock_ms = state.wtime if (ply % 2 == 1) == begins_white else state.btime
    return clock_ms or None  # Lichess may send zeros in a first state


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


# PGN


def pgn_of(record: GameRecord, moves: Sequence[MoveRecord], site: str) -> str:
    """Return a game in PGN; `site` is the address of the server. Raises as `board_of` does."""
    board = board_of(record, moves)
    clocks_s = [None if move.clock_ms is None else move.clock_ms // 1000 for move in moves]
    evals = [_evaluation_for_white(move, white=record.colour == Colour.WHITE) for move in moves]
    return pgn_text(_headers(record, site), board, _result(record), clocks_s, evals)


def board_of(record: GameRecord, moves: Sequence[MoveRecord]) -> Board:
    """Return the position after these moves. Raises InvalidFen, InvalidMove or InvalidVariant."""
    board = start_board(record.variant, record.initial_fen)
    for move in moves:
        board.push(move.move)
    return board


def _headers(record: GameRecord, site: str) -> dict[str, str]:
    began = datetime.fromtimestamp(record.began_at, tz=UTC)
    date, mode = began.strftime("%Y.%m.%d"), "Rated" if record.rated else "Casual"
    headers = {
        "Event": f"{mode} {record.speed} game".replace("  ", " "),
        "Site": f"{site}/{record.id}",
        "Date": date,
        "Round": "-",
        "White": "",
        "Black": "",
        "Result": _result(record),
        "GameId": record.id,
        "UTCDate": date,
        "UTCTime": began.strftime("%H:%M:%S"),
        "TimeControl": _time_control(record),
        "Termination": _TERMINATIONS.get(GameStatus(record.status), "Normal") if record.status else "Unterminated",
    }
    us = record.our_name, record.our_rating, record.our_title
    them = record.opponent_name, record.opponent_rating, record.opponent_title
    pair = (us, them) if record.colour == Colour.WHITE else (them, us)
    for side, (name, rating, title) in zip(("White", "Black"), pair, strict=True):
        headers[side] = name
        if record.level is not None and side.lower() == record.colour:
            headers[f"{side}Level"] = str(record.level)
        if rating is not None:
            headers[f"{side}Elo"] = str(rating)
        if title:
            headers[f"{side}Title"] = title
    if record.eco:
        headers |= {"ECO": record.eco, "Opening": record.opening}
    variant = VARIANTS_IN_PGN.get(record.variant)
    return headers if variant is None else {**headers, "Variant": variant}


def _time_control(record: GameRecord) -> str:
    if record.base_s is not None:
        return f"{record.base_s}+{record.increment_s}"
    return "-" if record.days_per_turn is None else f"1/{record.days_per_turn * 86400}"


def _result(record: GameRecord) -> str:
    match record.result:
        case None:
            return _UNFINISHED
        case Result.DRAWN:
            return "1/2-1/2"
        case result:
            return "1-0" if (result is Result.WON) == (record.colour == Colour.WHITE) else "0-1"


def _evaluation_for_white(move: MoveRecord, *, white: bool) -> str | None:
    """Return our evaluation before our move as White's after it, with the depth; None if there is none."""
    if move.score_cp is None:
        return None
    sign = 1 if white else -1
    mate = mate_in(move.score_cp)
    if mate is None:
        return f"{sign * move.score_cp / 100:.2f},{move.depth}"
    left = mate - 1 if mate > 0 else mate
    return f"#{sign * left},{move.depth}" if left else None


# The archive


CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=2)
_MAX_NAME_LENGTH: Final = 40
_MAX_QUEUED: Final = 1000


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """A game that is over. `moves` are those this process has seen; `end`: what the event stream says of the end.

    `sent`: our move that the game's stream has not shown.
    """

    record: GameRecord
    moves: Sequence[MoveRecord]
    end: GameInfo | None = None
    sent: MoveRecord | None = None

    def path(self, folder: Path, grouping: PgnGrouping) -> Path:
        """Return the file for this game, named as lichess-bot names it."""
        record = self.record
        us, them = _safe(record.our_name), _safe(record.opponent_name)
        match grouping:
            case PgnGrouping.GAME:
                white, black = (us, them) if record.colour == Colour.WHITE else (them, us)
                return folder / f"{white} vs {black} - {_safe(record.id)}.pgn"
            case PgnGrouping.OPPONENT:
                return folder / f"{us} games vs. {them}.pgn"
            case PgnGrouping.ALL:
                return folder / f"{us} games.pgn"

    def completed(self, recorded: Sequence[MoveRecord]) -> "ArchivedGame":
        """Return the game with what other processes recorded, its last move, and its opening.

        Raises as `board_of` does.
        """
        known = {move.ply: move for move in recorded}
        moves = [_better_known(move, known.get(move.ply)) for move in self.moves]
        board = board_of(self.record, moves)
        if self.end is not None and lacks_last_move(board, self.end):
            ply = len(moves) + 1
            last = self.sent or MoveRecord(ply, "", source="" if self.record.is_ours(ply) else None)
            moves.append(replace(last, move=board.push(self.end.last_move)))
        record = replace(self.record, plies=len(moves))
        if record.variant == Variant.STANDARD and (opening := opening_of(board.moves)) is not None:
            record = replace(record, eco=opening.eco, opening=opening.name)
        return ArchivedGame(record, moves)


def _better_known(seen: MoveRecord, recorded: MoveRecord | None) -> MoveRecord:
    """Return the record of a move of which this process may have seen no more than that it was played."""
    is_bare = seen.clock_ms is None and not seen.source
    return recorded if recorded is not None and is_bare and recorded.move == seen.move else seen


class GameArchive:
    """Names the openings of finished games and writes their PGN, in a thread of its own. Use it from one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._log = EventLog()
        self._games: SimpleQueue[tuple[ArchivedGame, Config] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None

    def put(self, game: ArchivedGame, config: Config) -> None:
        """Queue the game to be archived as configured. Never blocks."""
        if self._games.qsize() >= _MAX_QUEUED:
            self._log.warning("pgn.lost", game=game.record.id, reason="the disk is too slow")
            return
        self._games.put((game, config))
        if self._writer is None:
            writer = threading.Thread(target=self._archive_all, name="archive", daemon=True)
            writer.start()  # if that fails, the next game tries again
            self._writer = writer

    def close(self) -> None:
        """Wait up to two seconds until the queued games are archived."""
        if self._writer is not None:
            self._games.put(None)
            self._writer.join(CLOSE_WAITS_AT_MOST.total_seconds())

    def _archive_all(self) -> None:
        while (item := self._games.get()) is not None:
            game, config = item
            try:
                self._archive(game, config)
            except (InvalidFen, InvalidMove, InvalidVariant, OSError) as error:
                self._log.warning("pgn.lost", game=game.record.id, error=error)
            except Exception as error:
                self._log.crash("pgn.crashed", error, game=game.record.id)

    def _archive(self, game: ArchivedGame, config: Config) -> None:
        game = game.completed(self._store.moves_of(game.record.id))
        record = game.record
        self._store.record(game_records.named(record), game_records.played(record.id, game.moves[-1:]))
        if config.pgn_directory is None or not game.moves or record.status == GameStatus.ABORTED:
            return
        path = game.path(config.pgn_directory, config.pgn_file_grouping)
        config.pgn_directory.mkdir(parents=True, exist_ok=True)
        text = pgn_of(record, game.moves, config.url)
        _write(path, text, append=config.pgn_file_grouping is not PgnGrouping.GAME)
        self._log.debug("pgn.written", game=record.id, file=path)


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
