"""What must survive the daemon: games, challenges and their answers, what was done once, how long a move takes.

Knows what is remembered; not what is done about it. Questions are answered from memory. Notes are
written by a thread of its own: whoever makes one waits until it is safe on the disk, but not
longer than a game can spare. A disk that is full, read-only or slow costs records, never a game.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, Final

from lichessbot.errors import StateError, StateFailed
from lichessbot.log import EventLog
from lichessbot.storage.challenge_records import COLUMNS, INSERT, ChallengeRecords, Entry
from lichessbot.storage.database import Database, Statement, read_only
from lichessbot.storage.records import LimitedAction, ListFetched

GAME_WAITS_AT_MOST: Final = timedelta(milliseconds=50)
CLOSE_WAITS_AT_MOST: Final = timedelta(seconds=2)
RETRY_EVERY: Final = timedelta(minutes=1)
ROUND_TRIPS_KEPT: Final = 1000
_ROUND_TRIPS_TOGETHER: Final = 20  # one write for so many: losing the last few harms nobody
_MOST_REMEMBERED: Final = 10_000
_MOST_UNWRITTEN: Final = 10_000
_MOST_LEFT_OVER: Final = 100
_TIDY_EVERY: Final = timedelta(days=1)
# Lichess forgets a challenge within a day; a correspondence game may last for months.
_ANSWERS_KEPT: Final = timedelta(days=2)
_GAMES_KEPT: Final = timedelta(days=365)
_CHALLENGES_KEPT: Final = timedelta(days=90)
_RESTS_KEPT: Final = timedelta(days=60)  # after their end; then the next decline counts as the first


class Table(StrEnum):
    """Tables that belong to other rooms: here they are only read at the start, and tidied."""

    BOT_GAMES = "bot_games"
    SENT_CHALLENGES = "sent_challenges"
    LIMITS = "limits"
    RESTS = "rests"
    TOURNAMENTS = "tournaments"
    ACCOUNT = "account"


_COLUMNS: Final = {
    Table.BOT_GAMES: "id, opponent, speed, colour, ours, began_at",
    Table.SENT_CHALLENGES: "id, sent_at, cost",
    Table.LIMITS: "name, most, until",
    Table.RESTS: "opponent, subject, until, times",
    Table.TOURNAMENTS: "id, team, password",
    Table.ACCOUNT: "url, id",
}


@dataclass(frozen=True, slots=True)
class _Note:
    statements: Sequence[Statement]
    settled: threading.Event = field(default_factory=threading.Event)
    """Written, or known not to be for now."""


class Store:
    """The memory of one account. Asked and told by one thread, which also closes it at the end."""

    def __init__(self, file: Database, retry_every: timedelta = RETRY_EVERY) -> None:
        """Reads what was noted earlier. Raises StateNewer if a newer version wrote the file."""
        self._file = file
        self._retry_every = retry_every
        self._log = EventLog()
        self._deeds: Counter[tuple[str, str]] = Counter()
        self._answers: dict[str, None] = {}
        self.guest_book = ChallengeRecords()
        self.left_over: Sequence[tuple[str, str]] = ()
        """Games with a clock, and their opponents, that the last process was playing at its end; the latest first."""
        self.player_lists: dict[str, ListFetched] = {}
        """The last good version of each list, by address."""
        self._round_trips: deque[float] = deque(maxlen=ROUND_TRIPS_KEPT)
        self._trips_unwritten: list[float] = []
        self._rows: dict[Table, Sequence[Any]] = {}
        self._played: dict[int, Mapping[str, int]] = {}
        self._notes: SimpleQueue[_Note | None] = SimpleQueue()
        self._unwritten: deque[_Note] = deque(maxlen=_MOST_UNWRITTEN)
        self._failing = False
        try:
            self._remember()
        except StateFailed as error:
            self._say_failure(error)
        # Those without one can wait until Lichess tells of them.
        self._put_later("UPDATE games SET left_at = ? WHERE left_at IS NULL AND NOT has_clock", time.time())
        self._writer = threading.Thread(target=self._write_notes, name="store", daemon=True)
        self._writer.start()

    def _remember(self) -> None:
        for game_id, deed in self._newest("game_id, deed", "deeds", _MOST_REMEMBERED):
            self._deeds[game_id, deed] += 1
        self._answers.update(
            (challenge_id, None) for (challenge_id,) in self._newest("challenge_id", "answers", _MOST_REMEMBERED)
        )
        self.guest_book = ChallengeRecords(
            map(Entry.of_row, self._newest(", ".join(COLUMNS), "challenges", _MOST_REMEMBERED))
        )
        for address, names, etag in self._newest("address, names, etag", "player_lists", _MOST_REMEMBERED):
            self.player_lists[address] = ListFetched(address, frozenset(names.split()), etag)
        latest = "SELECT id, opponent FROM games WHERE left_at IS NULL AND has_clock ORDER BY joined_at DESC"
        self.left_over = [(game_id, opponent) for game_id, opponent in self._file.read(latest)[:_MOST_LEFT_OVER]]
        self._round_trips.extend(ms for (ms,) in self._newest("ms", "round_trips", ROUND_TRIPS_KEPT))
        for table, columns in _COLUMNS.items():
            self._rows[table] = self._newest(columns, table, _MOST_REMEMBERED)
        latest = f"SELECT position, move, times FROM played ORDER BY played_at DESC LIMIT {_MOST_REMEMBERED}"
        for position, move, times in self._file.read(latest)[::-1]:
            self._remember_played(int(position, 16), move, times)

    def _newest(self, columns: str, table: str, limit: int) -> Sequence[Any]:
        """Rows in the order in which they came."""
        return self._file.read(f"SELECT {columns} FROM {table} ORDER BY rowid DESC LIMIT {limit}")[::-1]

    # Questions, and what is to be remembered

    def times_done(self, game_id: str, deed: LimitedAction) -> int:
        """How often it was done in this game, whichever process did it."""
        return self._deeds[game_id, deed]

    def note_done(self, game_id: str, deed: LimitedAction) -> None:
        """To be said before it is done: rather not at all than twice."""
        self._deeds[game_id, deed] += 1
        _forget_oldest(self._deeds)
        self._put("INSERT INTO deeds (game_id, deed, done_at) VALUES (?, ?, ?)", game_id, deed, time.time())

    def note_game(self, game_id: str, opponent: str, *, has_clock: bool = True) -> None:
        """A game that is ours to play; said again, it is played again."""
        insert = "INSERT INTO games (id, opponent, joined_at, has_clock) VALUES (?, ?, ?, ?)"
        sql = f"{insert} ON CONFLICT (id) DO UPDATE SET left_at = NULL"
        self._put(sql, game_id, opponent, time.time(), has_clock)

    def note_left(self, game_id: str) -> None:
        """The game is over, or not played by us any more. Never waits."""
        self._put_later("UPDATE games SET left_at = ? WHERE id = ?", time.time(), game_id)

    def answered(self, challenge_id: str) -> bool:
        """Whether this challenge was accepted or declined, by whichever process, or is being answered now."""
        return challenge_id in self._answers

    def note_answering(self, challenge_id: str) -> None:
        """The answer is on its way. Only for this process: the next one gives it if it did not arrive."""
        self._answers[challenge_id] = None
        _forget_oldest(self._answers)

    def note_answered(self, challenge_id: str) -> None:
        """Lichess has the answer."""
        self._put("INSERT OR REPLACE INTO answers (challenge_id, answered_at) VALUES (?, ?)", challenge_id, time.time())

    def forget_answer(self, challenge_id: str) -> None:
        """The answer may not have arrived: it can be given again."""
        self._answers.pop(challenge_id, None)

    def note_challenge(self, entry: Entry) -> None:
        """What became of a challenge, in place of what was said of it before. Never waits."""
        self.guest_book.write(entry)
        self._put_later(INSERT, *entry.row)

    def note_player_list(self, fetched: ListFetched) -> None:
        """A new version of a list. Never waits."""
        self.player_lists[fetched.address] = fetched
        sql = "INSERT OR REPLACE INTO player_lists (address, names, etag, fetched_at) VALUES (?, ?, ?, ?)"
        self._put_later(sql, fetched.address, "\n".join(sorted(fetched.names)), fetched.etag, time.time())

    def times_played(self, position: int) -> Mapping[str, int]:
        """How often each move was played from the position with this key, in any game that is remembered."""
        return self._played.get(position, {})

    def note_played(self, position: int, move: str) -> None:
        """Never waits."""
        times = self.times_played(position).get(move, 0) + 1
        self._remember_played(position, move, times)
        sql = "INSERT OR REPLACE INTO played (position, move, times, played_at) VALUES (?, ?, ?, ?)"
        self._put_later(sql, f"{position:016x}", move, times, time.time())

    def _remember_played(self, position: int, move: str, times: int) -> None:
        """The position is the newest now."""
        others = self._played.pop(position, {})
        self._played[position] = {**others, move: times} if others or times > 1 else _once(move)
        _forget_oldest(self._played)

    def round_trips(self, limit: int) -> Sequence[float]:
        """The latest times, in milliseconds, from sending a move to its answer; oldest first."""
        return tuple(self._round_trips)[-limit:]

    def note_round_trip(self, ms: float) -> None:
        """Never waits."""
        self._round_trips.append(ms)
        self._trips_unwritten.append(ms)
        if len(self._trips_unwritten) >= _ROUND_TRIPS_TOGETHER:
            self._put_round_trips()

    def remembered(self, table: Table) -> Sequence[Any]:
        """The rows as the last process left them; the room that owns the table keeps them up to date."""
        return self._rows.get(table, ())

    def read_anew(self, table: Table) -> Sequence[Any]:
        """The rows as they are by now, of a table that others write, too; as at the start if the disk fails."""
        try:
            return read_only(self._file.path.parent, f"SELECT {_COLUMNS[table]} FROM {table} ORDER BY rowid")
        except StateError as error:
            self._log.warning("store.failed", error=error, meaning="what others wrote is not known")
            return self.remembered(table)

    def put(self, sql: str, *row: object) -> None:
        """Have a row written, for the room that owns its table. Never waits."""
        self._put_later(sql, *row)

    def close(self) -> None:
        """Write what is left, if the disk lets us, and let another daemon in."""
        self._put_round_trips()
        self._notes.put(None)
        self._writer.join(CLOSE_WAITS_AT_MOST.total_seconds())
        if not self._writer.is_alive():
            self._file.close()

    def _put_later(self, sql: str, *row: object) -> _Note:
        note = _Note([(sql, [[_storable(value) for value in row]])])
        self._notes.put(note)
        return note

    def _put(self, sql: str, *row: object) -> None:
        note = self._put_later(sql, *row)
        if not self._failing:
            note.settled.wait(GAME_WAITS_AT_MOST.total_seconds())

    def _put_round_trips(self) -> None:
        rows = [(ms,) for ms in self._trips_unwritten]
        self._trips_unwritten.clear()
        self._notes.put(_Note([("INSERT INTO round_trips (ms) VALUES (?)", rows)]))

    # The writer thread

    def _write_notes(self) -> None:
        retry_at = tidy_at = time.monotonic()
        closing = False
        while not closing:
            notes = self._next_notes(retry_at if self._failing else tidy_at)
            closing = None in notes
            self._unwritten.extend(note for note in notes if note is not None)
            now = time.monotonic()
            if now >= tidy_at:
                self._unwritten.append(_Note(_retention(time.time())))
                tidy_at = now + _TIDY_EVERY.total_seconds()
            if closing or not self._failing or now >= retry_at:
                self._write_all()
                retry_at = now + self._retry_every.total_seconds()
            for note in filter(None, notes):
                note.settled.set()

    def _next_notes(self, until: float) -> list[_Note | None]:
        """All that was put since the last time; waits for one at most until the monotonic time `until`."""
        notes: list[_Note | None] = []
        with suppress(Empty):
            notes.append(self._notes.get(timeout=max(0.0, until - time.monotonic())))
            while True:
                notes.append(self._notes.get_nowait())
        return notes

    def _write_all(self) -> None:
        try:
            self._file.write(statement for note in self._unwritten for statement in note.statements)
        except StateError as error:
            self._say_failure(error)
            return
        self._unwritten.clear()
        if self._failing:
            self._failing = False
            self._log.info("store.works_again")

    def _say_failure(self, error: StateError) -> None:
        """Once, until it works again."""
        if not self._failing:
            self._failing = True
            self._log.warning("store.failed", error=error, meaning="nothing is recorded for now; games go on")


def _storable(value: object) -> object:
    """Text from the network may hold halves of characters, which no database takes."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@cache
def _once(move: str) -> Mapping[str, int]:
    """Played one time, and nothing else: so it is with most positions, and they share what is known of them."""
    return {move: 1}


def _forget_oldest(memory: dict[Any, Any]) -> None:
    """Dictionaries keep the order in which keys came."""
    while len(memory) > _MOST_REMEMBERED:
        del memory[next(iter(memory))]


def _retention(now_s: float) -> Sequence[Statement]:
    """What is too old to matter, by the wall clock: the only one that outlives a process."""
    game_limit, answer_limit = now_s - _GAMES_KEPT.total_seconds(), now_s - _ANSWERS_KEPT.total_seconds()
    rest_limit = now_s - _RESTS_KEPT.total_seconds()
    return (
        ("DELETE FROM games WHERE joined_at < ?", [(game_limit,)]),
        ("DELETE FROM deeds WHERE done_at < ?", [(game_limit,)]),
        ("DELETE FROM answers WHERE answered_at < ?", [(answer_limit,)]),
        ("DELETE FROM challenges WHERE received_at < ?", [(now_s - _CHALLENGES_KEPT.total_seconds(),)]),
        ("DELETE FROM bot_games WHERE began_at < ?", [(game_limit,)]),
        ("DELETE FROM sent_challenges WHERE sent_at < ?", [(answer_limit,)]),
        ("DELETE FROM rests WHERE until < ?", [(rest_limit,)]),
        (
            "DELETE FROM played WHERE played_at < "
            "(SELECT played_at FROM played ORDER BY played_at DESC LIMIT 1 OFFSET ?)",
            [(_MOST_REMEMBERED,)],
        ),
        ("DELETE FROM round_trips WHERE id <= (SELECT max(id) FROM round_trips) - ?", [(ROUND_TRIPS_KEPT,)]),
    )
