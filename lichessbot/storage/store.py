"""The store: what must survive a restart, such as games, answered challenges, limited actions and round trips.

Reads come from memory, and a thread writes, so that no caller waits for the disk. A disk that is full, read-only or
slow costs records, never a game.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, Final

from lichessbot.errors import StateError, StateFailed
from lichessbot.log import EventLog, try_start
from lichessbot.storage.challenge_records import COLUMNS, ChallengeRecord, ChallengeRecords, recorded
from lichessbot.storage.database import Database, Statement, read_only
from lichessbot.storage.game_records import (
    SELECT_CHOSEN_LEVELS,
    SELECT_LEVEL_RESULTS,
    SELECT_MOVES,
    SELECT_SCORES,
    GameRecord,
    LevelResults,
    MoveRecord,
    Result,
    Retention,
    Scores,
    changed,
)
from lichessbot.storage.old_rows import OLDEST, outdated
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.tables import REMEMBERED, Table, added, deleted, replaced

CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=2)
RETRY_EVERY: Final = timedelta(minutes=1)
ROUND_TRIPS_KEPT: Final = 1000
MOST_REMATCHES_COUNTED: Final = 20
_ROUND_TRIPS_TOGETHER: Final = 20  # Written together; losing the last few does no harm.
_MOST_REMEMBERED: Final = 10_000
_MOST_UNWRITTEN: Final = 10_000
_DETAILS: Final = ("INTO moves", "FROM moves", "INTO chat", "INTO played", "INTO round_trips")
_MOST_LEFT_OVER: Final = 100
_TIDY_EVERY: Final = timedelta(days=1)
_USUAL_RETENTION: Final = Retention()


class LimitedAction(StrEnum):
    """Actions that happen a limited number of times in a game, also across restarts."""

    GREETING = "greeting"
    GOODBYE = "goodbye"
    DRAW_OFFER = "draw offer"
    TAKEBACK = "takeback"
    LEVEL_PROPOSAL = "level proposal"
    REVIEW = "review"
    """Recorded when the opponent asks for one."""
    REMATCH = "rematch"
    """Recorded once for each rematch in a row that led to the game, itself included."""


@dataclass(frozen=True, slots=True)
class _Note:
    """Statements that are written together."""

    statements: Sequence[Statement]
    settled: threading.Event | None = None
    """Set once they are written, or when the disk fails."""

    @property
    def is_detail(self) -> bool:
        return all(_is_detail(sql) for sql, _ in self.statements)


class Store:
    """What the daemon remembers of its account. For one thread, which also closes it; any thread may call `record`."""

    def __init__(
        self, file: Database, retry_every: timedelta = RETRY_EVERY, retention: Retention = _USUAL_RETENTION
    ) -> None:
        """Read the records. Raises StateNewer if a newer version wrote the file."""
        self._file = file
        self._retention = retention
        self._retry_every = retry_every
        self._log = EventLog()
        self._actions: Counter[tuple[str, str]] = Counter()
        self._answers: dict[str, None] = {}
        self.challenges = ChallengeRecords()
        self.left_over: Sequence[tuple[str, str]] = ()
        """Games with a clock, and their opponents, that the last process was playing at its end; newest first."""
        self.left_over_by_days: Sequence[tuple[str, str]] = ()
        """The same of games without a clock."""
        self.player_lists: dict[str, PlayerList] = {}
        """The last good version of each list, by address."""
        self.scores = Scores()
        """Our score against each opponent."""
        self.level_results = LevelResults()
        self._chosen_levels: dict[str, int] = {}
        self._round_trips: deque[float] = deque(maxlen=ROUND_TRIPS_KEPT)
        self._trips_unwritten: list[float] = []
        self._rows: dict[Table, Sequence[Any]] = {}
        self._played: dict[int, Mapping[str, int]] = {}
        self._notes: SimpleQueue[_Note | None] = SimpleQueue()
        self._unwritten: list[_Note] = []
        self._lost = 0
        """How many notes were given up since the disk failed."""
        self.failure: tuple[float, str] | None = None
        """Since which monotonic second nothing can be written, and why; None if the disk works. For any thread."""
        try:
            self._remember()
        except StateFailed as error:
            self._log_failure(error, "earlier records, such as blocked players, are unknown until a restart")
        self._writer = threading.Thread(target=self._write_notes, name="store", daemon=True)
        self._writer.start()
        # Not before the start: clocks may be running, and a large file on a slow disk takes minutes.
        try_start(threading.Thread(target=file.look_for_damage, name="store-check", daemon=True), self._log)

    def _remember(self) -> None:
        for game_id, action in self._newest("game_id, deed", "deeds", _MOST_REMEMBERED):
            self._actions[game_id, action] += 1
        self._answers.update(
            (challenge_id, None) for (challenge_id,) in self._newest("challenge_id", "answers", _MOST_REMEMBERED)
        )
        self.challenges = ChallengeRecords(
            map(ChallengeRecord.of_row, self._newest(", ".join(COLUMNS), "challenges", _MOST_REMEMBERED))
        )
        for address, names, etag in self._newest("address, names, etag", "player_lists", _MOST_REMEMBERED):
            self.player_lists[address] = PlayerList.of_words(address, names.split(), etag)
        self.left_over = self._left_over("has_clock")[:_MOST_LEFT_OVER]
        self.left_over_by_days = self._left_over("NOT has_clock")
        self._round_trips.extend(ms for (ms,) in self._newest("ms", "round_trips", ROUND_TRIPS_KEPT))
        self.scores = Scores(self._file.read(SELECT_SCORES))
        self.level_results = LevelResults(self._file.read(SELECT_LEVEL_RESULTS))
        self._chosen_levels = dict(self._file.read(SELECT_CHOSEN_LEVELS)[-_MOST_REMEMBERED:])
        for table, columns in REMEMBERED.items():
            self._rows[table] = self._newest(columns, table, _MOST_REMEMBERED)
        latest = f"SELECT position, move, times FROM played ORDER BY played_at DESC LIMIT {_MOST_REMEMBERED}"
        for position, move, times in self._file.read(latest)[::-1]:
            self._remember_played(int(position, 16), move, times)

    def _left_over(self, condition: str) -> Sequence[tuple[str, str]]:
        latest = f"SELECT id, opponent FROM games WHERE left_at IS NULL AND {condition} ORDER BY joined_at DESC"
        return [(game_id, opponent) for game_id, opponent in self._file.read(latest)]

    def _newest(self, columns: str, table: str, limit: int) -> Sequence[Any]:
        """Return the newest rows, oldest first."""
        return self._file.read(f"SELECT {columns} FROM {table} ORDER BY rowid DESC LIMIT {limit}")[::-1]

    def times_done(self, game_id: str, action: LimitedAction) -> int:
        """Return how often the action was done in this game, also by earlier processes."""
        return self._actions[game_id, action]

    def note_done(self, game_id: str, action: LimitedAction) -> threading.Event:
        """Record an action before it is done: never is better than twice.

        Returns what is set once the record is on disk, or the disk has failed: until then the action has to wait.
        """
        self._actions[game_id, action] += 1
        _forget_oldest(self._actions)
        settled = threading.Event()
        self.record(added("deeds", game_id=game_id, deed=action, done_at=time.time()), settled=settled)
        return settled

    def note_rematch(self, game_id: str, of: str) -> None:
        """Record that a game is a rematch of another, so that it is known how many came in a row."""
        if not self.times_done(game_id, LimitedAction.REMATCH):
            for _ in range(min(self.times_done(of, LimitedAction.REMATCH) + 1, MOST_REMATCHES_COUNTED)):
                self.note_done(game_id, LimitedAction.REMATCH)

    def note_game(self, game_id: str, opponent: str, *, has_clock: bool = True) -> None:
        """Record a game that we play; also reopens one that we left."""
        insert = "INSERT INTO games (id, opponent, joined_at, has_clock) VALUES (?, ?, ?, ?)"
        sql = f"{insert} ON CONFLICT (id) DO UPDATE SET left_at = NULL"
        self.record((sql, [(game_id, opponent, time.time(), has_clock)]))

    def note_left(self, game_id: str) -> None:
        """Record that the game is over or that we left it."""
        self.record(changed(game_id, left_at=time.time()))

    def note_result(self, game: GameRecord, result: Result) -> None:
        """Count a game that has ended, in memory only: `record` writes it."""
        self.scores.add(game.opponent_id, result)
        if game.level is not None and not game.rated:
            self.level_results.add(game.opponent_id, game.variant, game.level, result)

    def chosen_level(self, game_id: str) -> int | None:
        """Return the level that the opponent chose in this game, 0 for full strength; None if none was chosen."""
        return self._chosen_levels.get(game_id)

    def note_chosen_level(self, game_id: str, level: int) -> None:
        """Record the opponent's choice, which holds to the end of the game."""
        self._chosen_levels[game_id] = level
        _forget_oldest(self._chosen_levels)
        self.record(changed(game_id, chosen_level=level))

    def moves_of(self, game_id: str) -> Sequence[MoveRecord]:
        """Return the moves of a game that are on disk, for any thread but the main one; none if the disk fails."""
        try:
            return [MoveRecord(*row) for row in read_only(self._file.path.parent, SELECT_MOVES, game_id)]
        except StateError as error:
            self._log.warning("store.failed", error=error, meaning="what an earlier process recorded is left out")
            self._file.look_for_damage()  # the writer may not meet it: SQLite keeps pages in memory
            return ()

    def answered(self, challenge_id: str) -> bool:
        """Return whether this challenge was answered, also by earlier processes, or is being answered."""
        return challenge_id in self._answers

    def note_answering(self, challenge_id: str) -> None:
        """Remember, in this process only, that the answer is being sent."""
        self._answers[challenge_id] = None
        _forget_oldest(self._answers)

    def note_answered(self, challenge_id: str) -> None:
        """Record that Lichess has the answer."""
        self.record(replaced("answers", challenge_id=challenge_id, answered_at=time.time()))

    def forget_answer(self, challenge_id: str) -> None:
        """Forget the answer, which may not have arrived, so that it can be sent again."""
        self._answers.pop(challenge_id, None)

    def note_challenge(self, entry: ChallengeRecord) -> None:
        """Record a challenge in place of its earlier entry."""
        self.challenges.write(entry)
        self.record(recorded(entry))

    def note_player_list(self, fetched: PlayerList) -> None:
        """Record a new version of a list."""
        self.player_lists[fetched.address] = fetched
        names = "\n".join(fetched.words)
        self.record(
            replaced("player_lists", address=fetched.address, names=names, etag=fetched.etag, fetched_at=time.time())
        )

    def times_played(self, position: int) -> Mapping[str, int]:
        """Return how often we played each move from the position with this key."""
        return self._played.get(position, {})

    def note_played(self, position: int, move: str) -> None:
        """Record a move of ours."""
        times = self.times_played(position).get(move, 0) + 1
        self._remember_played(position, move, times)
        key = f"{position:016x}"
        self.record(replaced("played", position=key, move=move, times=times, played_at=time.time()))

    def _remember_played(self, position: int, move: str, times: int) -> None:
        """Make the position the newest."""
        others = self._played.pop(position, {})
        self._played[position] = {**others, move: times} if others or times > 1 else _once(move)
        _forget_oldest(self._played)

    def round_trips(self, limit: int) -> Sequence[float]:
        """Return the latest round trips of moves in milliseconds, oldest first."""
        return tuple(self._round_trips)[-limit:]

    def note_round_trip(self, ms: float) -> None:
        """Record a round trip."""
        self._round_trips.append(ms)
        self._trips_unwritten.append(ms)
        if len(self._trips_unwritten) >= _ROUND_TRIPS_TOGETHER:
            self._put_round_trips()

    def remembered(self, table: Table) -> Sequence[Any]:
        """Return the rows as they were at startup; the module that owns the table keeps its own copy up to date."""
        return self._rows.get(table, ())

    def add(self, table: Table, **row: object) -> None:
        """Write a row of its owner, unless there is one with its key."""
        self.record(added(table, **row))

    def replace(self, table: Table, **row: object) -> None:
        """Write a row of its owner in place of the one with its key."""
        self.record(replaced(table, **row))

    def delete(self, table: Table, **key: object) -> None:
        """Delete the rows of their owner with these values."""
        self.record(deleted(table, **key))

    def record(self, *statements: Statement, settled: threading.Event | None = None) -> None:
        """Write what belongs together, and then set `settled`, also if the disk fails."""
        storable = [(sql, [[_storable(value) for value in row] for row in rows]) for sql, rows in statements]
        self._notes.put(_Note(storable, settled))

    def close(self) -> None:
        """Write what is left, if the disk works, and unlock the folder."""
        self._put_round_trips()
        self._notes.put(None)
        self._writer.join(CLOSE_WAITS_AT_MOST.total_seconds())
        if self._writer.is_alive():
            self._log.warning("store.too_slow", waited_s=CLOSE_WAITS_AT_MOST.total_seconds())
        else:
            self._file.close()

    def _put_round_trips(self) -> None:
        self.record(("INSERT INTO round_trips (ms) VALUES (?)", [(ms,) for ms in self._trips_unwritten]))
        self._trips_unwritten.clear()

    # The writer thread

    def _write_notes(self) -> None:
        retry_at = tidy_at = time.monotonic()
        closing = False
        while not closing:
            notes = self._next_notes(tidy_at if self.failure is None else retry_at)
            closing = None in notes
            now = time.monotonic()
            is_untidy = now >= tidy_at
            if is_untidy:  # before the first notes, as the clock may be wrong at the start
                old = outdated(time.time(), self._retention, played=_MOST_REMEMBERED, round_trips=ROUND_TRIPS_KEPT)
                self._unwritten.append(_Note(old))
                tidy_at = now + _TIDY_EVERY.total_seconds()
            self._unwritten.extend(note for note in notes if note is not None)
            if closing or self.failure is None or now >= retry_at:
                self._write_all()
                retry_at = now + self._retry_every.total_seconds()
            self._give_up_surplus()
            for note in notes:
                if note is not None and note.settled is not None:
                    note.settled.set()
            if is_untidy and self.failure is None:
                self._shrink()

    def _next_notes(self, until: float) -> list[_Note | None]:
        """Return all new notes; waits for the first until the monotonic second `until`."""
        notes: list[_Note | None] = []
        with suppress(Empty):
            notes.append(self._notes.get(timeout=max(0.0, until - time.monotonic())))
            while True:
                notes.append(self._notes.get_nowait())
        return notes

    def _write_all(self) -> None:
        try:
            self._file.write([statement for note in self._unwritten for statement in note.statements])
        except StateError as error:
            self._log_failure(error)
            return
        except Exception as error:
            self._log.crash("store.crashed", error, lost=len(self._unwritten))
        self._unwritten.clear()
        if self.failure is not None:
            self.failure = None
            self._log.info("store.works_again", lost=self._lost or None)
            self._lost = 0

    def _give_up_surplus(self) -> None:
        """Forget what a failing disk cannot take beyond the limit: the oldest details, then the oldest of all."""
        surplus = len(self._unwritten) - _MOST_UNWRITTEN
        if surplus > 0:
            given_up = set(map(id, sorted(self._unwritten, key=lambda note: not note.is_detail)[:surplus]))
            self._unwritten = [note for note in self._unwritten if id(note) not in given_up]
            self._lost += surplus

    def _shrink(self) -> None:
        """Delete the oldest games and challenges if the file is too large."""
        try:
            self._file.shrink(self._retention.max_bytes, OLDEST)
        except StateError as error:
            self._log_failure(error)
        except Exception as error:
            self._log.crash("store.crashed", error, lost=0)

    def _log_failure(self, error: StateError, meaning: str = "nothing is recorded for now") -> None:
        """Log a failure once until writing works again."""
        if self.failure is None:
            self.failure = time.monotonic(), str(error.__cause__ or error)
            self._log.warning("store.failed", error=error, meaning=f"{meaning}; games go on")


def _storable(value: object) -> object:
    """Return `value` with lone surrogates escaped, which text from the network may have and SQLite refuses."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@cache
def _is_detail(sql: str) -> bool:
    """Return whether a statement only writes moves, chat or counts, which are many and matter least."""
    return any(f" {it} " in sql for it in _DETAILS)


@cache
def _once(move: str) -> Mapping[str, int]:
    """Return the counts of a single move played once, shared by the many positions that have them."""
    return {move: 1}


def _forget_oldest(memory: dict[Any, Any]) -> None:
    """Delete the oldest keys beyond the limit."""
    while len(memory) > _MOST_REMEMBERED:
        del memory[next(iter(memory))]
