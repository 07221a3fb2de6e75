"""Tournaments without a socket, a disk or a clock."""

from collections.abc import Sequence
from datetime import timedelta

from lichessbot.arena_entry import Wish
from lichessbot.errors import ApiError
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import (
    Command,
    CommandDone,
    CommandFailed,
    JoinTournament,
    LeaveTournament,
    ReadTournament,
)
from lichessbot.lichess.enums import Variant
from lichessbot.storage.tables import Table
from lichessbot.timeouts import Timeouts
from lichessbot.tournaments import Tournaments

ARENA, GAME = "hL7vMrFQ", "game0001"


class Hand:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Desk:
    """Stands for outbox and store: collects commands, gives answers, remembers tournaments."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.sent: list[Command] = []
        self.held_back: list[Command] = []
        self.rows: dict[str, tuple[str, str | None, str | None]] = {}
        self.played: set[str] = set()
        self.free_slots = 1
        self.left_over = ()
        self.playable = [Variant.STANDARD, Variant.ATOMIC]
        self.restart()

    def restart(self) -> None:
        """As a new process does: only the store is left."""
        self.tournaments = Tournaments(self, self, Timeouts(), lambda: self.playable)  # type: ignore[arg-type]

    def send(self, command: Command, after: timedelta = timedelta()) -> None:
        self.sent.append(command)

    def withdraw(self, command: Command) -> bool:
        is_held_back = command in self.held_back
        self.held_back = [it for it in self.held_back if it != command]
        return is_held_back

    def remembered(self, table: Table) -> Sequence[tuple[str, str | None, str | None]]:
        assert table is Table.TOURNAMENTS
        return list(self.rows.values())

    def add(self, table: Table, *, id: str) -> None:
        self.replace(table, id=id, team=None, password=None)

    def replace(self, table: Table, *, id: str, team: str | None, password: str | None) -> None:
        assert table is Table.TOURNAMENTS
        self.rows[id] = (id, team, password)

    def delete(self, table: Table, *, id: str) -> None:
        assert table is Table.TOURNAMENTS
        self.rows.pop(id, None)

    def tick(self) -> None:
        self.tournaments.tick(self.played.__contains__, lambda: self.free_slots)

    def wait(self, seconds: float | None = None) -> None:
        """Let time pass, by default until the next request is due, and do what is due then."""
        self.hand.now += self.is_asked_after() if seconds is None else seconds
        self.tick()

    def join(self, arena: str = ARENA) -> None:
        """As by the command line."""
        self.tournaments.join(Wish(arena))
        self.tick()

    def begin_game(self) -> None:
        self.tournaments.game_started(ARENA, GAME)
        self.played = {GAME}

    def answer(self, answer: ArenaInfo | None = None) -> None:
        self.tournaments.handle(CommandDone(self.sent[-1], answer))
        self.tick()

    def begin_to_join(self, *, lasts_s: float = 600.0) -> None:
        """Join until the request to join waits for its answer."""
        self.join()
        assert self.sent[-1] == ReadTournament(ARENA)
        self.answer(ArenaInfo(id=ARENA, secondsToFinish=lasts_s))

    def enter(self, *, lasts_s: float = 600.0) -> None:
        self.begin_to_join(lasts_s=lasts_s)
        assert self.sent[-1] == JoinTournament(ARENA, None, None)
        self.answer()

    def wait_for_start(self, starts_in_s: float) -> None:
        """Enter an arena to come."""
        self.join()
        self.answer(ArenaInfo(id=ARENA, secondsToStart=starts_in_s))
        self.answer()

    def wait_in(self, arena: str) -> None:
        """Begin to wait for a slot to enter an arena that runs."""
        self.join(arena)
        self.answer(ArenaInfo(id=arena, secondsToFinish=600))
        assert self.sent[-1] == LeaveTournament(arena)
        self.answer()
        self.answer(ArenaInfo(id=arena, secondsToFinish=600))

    def fail(self, error: ApiError) -> None:
        self.tournaments.handle(CommandFailed(self.sent[-1], error))
        self.tick()

    def leave(self) -> None:
        """As by the command line."""
        self.tournaments.leave(ARENA)
        self.tick()
        assert self.sent[-1] == LeaveTournament(ARENA)

    def is_asked_after(self) -> float:
        return self.tournaments.wake_at - self.hand.now
