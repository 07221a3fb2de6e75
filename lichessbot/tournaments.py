"""Join arena tournaments and leave them; the bot is in one that runs only while a slot is kept for it.

For the main thread. An arena is read before it is joined, as the engines must play its variant. Lichess pairs a bot
until it leaves, whether it asks or not; an older Lichess only for a minute after it asked, so the bot asks again as
long as it plays no game there. The games themselves arrive like all others. Knows what is wanted, by the configuration
and by `lichessbot tournament`, also after a restart.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from lichessbot.arena_entry import Entry, Stage, Wish
from lichessbot.backoff import doubled
from lichessbot.challenges.slots import SlotHolder
from lichessbot.config import TournamentConfig
from lichessbot.errors import Refused
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import (
    CommandDone,
    CommandFailed,
    JoinTournament,
    LeaveTournament,
    ReadTournament,
    TournamentCommand,
    pause_before_joining,
)
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.outbox import Outbox
from lichessbot.log import EventLog
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table
from lichessbot.timeouts import Timeouts, earliest, is_due

_ROUNDED_UP_BY_S: Final = 1.0  # Lichess sends the rest of a tournament in whole seconds
_PAUSE_NOT_OVER: Final = "pause is not over"
_NO_LONGER_EXISTS: Final = "no longer exists"  # of one that is over, perhaps before its time
_NO_SUCH_TOURNAMENT: Final = "No such tournament"  # also of one that its organiser removed before the start
_SOMEBODY: Final = SlotHolder("", is_bot=False)


class Tournaments:
    """The tournaments of this account that are not over."""

    def __init__(
        self, outbox: Outbox, store: Store, timeouts: Timeouts, playable: Callable[[], Sequence[Variant]]
    ) -> None:
        """`playable` returns the variants that the engines play."""
        self._outbox = outbox
        self._store = store
        self._timeouts = timeouts
        self._playable = playable
        self._log = EventLog()
        self._wishes = {str(row[0]): Wish(*row) for row in store.remembered(Table.TOURNAMENTS)}
        """What the store keeps: tournaments joined by command or found by their games, and not over."""
        self._entries: dict[str, Entry] = {}
        self._late_until: dict[str, float] = {}
        """Until when a game may be announced that Lichess began before we left a tournament."""
        self._earlier_games = {game_id for game_id, _ in store.left_over}
        """Games of tournaments that we left, and of the last process, which noted its tournaments.

        A late event of such a game does not join again.
        """
        self._stopping = False
        self._is_ending = False

    # Which tournaments

    def want(self, configured: Iterable[TournamentConfig]) -> None:
        """Take part in these tournaments and in those that the store keeps, and in no others."""
        wishes = self._wishes | {it.id: Wish(it.id, it.team, it.plain_password) for it in configured}
        if not self._stopping:
            for wish in wishes.values():
                self._enter(wish)
        for tournament_id in self._entries.keys() - wishes.keys():
            self._leave(self._entries[tournament_id])

    def join(self, wish: Wish) -> None:
        """Take part in a tournament until it is over or `leave`, also after a restart.

        `lichessbot tournament` has joined it: Lichess pairs us there at once, so after `stop` it is left first.
        """
        self._wishes[wish.tournament_id] = wish
        row = {"id": wish.tournament_id, "team": wish.team, "password": wish.password}
        self._store.replace(Table.TOURNAMENTS, **row)
        if self._stopping:
            self._entries.setdefault(wish.tournament_id, Entry(wish, time.monotonic(), Stage.LEAVING))
        else:
            self._enter(wish)
            self._entries[wish.tournament_id].is_out = False

    def leave(self, tournament_id: str) -> None:
        """Take no more part in a tournament, also after a restart."""
        self._delete_wish(tournament_id)
        if tournament_id in self._entries:
            self._leave(self._entries[tournament_id])

    def _delete_wish(self, tournament_id: str) -> None:
        self._wishes.pop(tournament_id, None)
        self._store.delete(Table.TOURNAMENTS, id=tournament_id)

    def _enter(self, wish: Wish) -> None:
        entry = self._entries.get(wish.tournament_id)
        if entry is None:
            self._entries[wish.tournament_id] = Entry(wish, time.monotonic())
        elif entry.stage is Stage.LEAVING:
            entry.rejoin_wish = wish
        else:
            entry.wish = wish   # perhaps with another team or password

    def stop(self, *, is_ending: bool = False) -> None:
        """Play in no tournament until `resume` or the next start. `is_ending`: do not retry, as the process ends.

        One that has not begun is left too: from its start on, Lichess pairs each bot in it, even one that is offline.
        """
        self._stopping, self._is_ending, now = True, is_ending, time.monotonic()
        for entry in list(self._entries.values()):
            self._leave(entry)
            entry.due_at = now  # a retry may be due much later

    def resume(self, configured: Iterable[TournamentConfig]) -> None:
        """Take part again after `stop`."""
        self._stopping = False
        self.want(configured)

    @property
    def ids(self) -> tuple[str, ...]:
        """The tournaments that we take part in."""
        return tuple(it for it, entry in self._entries.items() if entry.stage is not Stage.LEAVING)

    @property
    def is_leaving_any(self) -> bool:
        """Whether Lichess still has to be told that we leave a tournament."""
        return any(entry.stage is Stage.LEAVING for entry in self._entries.values())

    @property
    def slot_holders(self) -> Sequence[SlotHolder]:
        """One holder for each tournament that runs or is about to, unless its game is in progress."""
        soon = time.monotonic() + self._timeouts.tournament_soon.total_seconds()
        return [_SOMEBODY for entry in self._entries.values() if entry.needs_slot(soon)]

    # Events

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        return earliest(*(entry.due_at for entry in self._entries.values() if entry.command is None))

    @property
    def list_check_at(self) -> float | None:
        """When `take_overdue` has a new answer."""
        return earliest(*(entry.list_check_at(self._timeouts) for entry in self._entries.values()))

    def tick(self, is_played: Callable[[str], bool], free_slots: Callable[[], int]) -> None:
        """Do what is due: above all, join where a slot is free, and ask for the next game where none is played."""
        if not self._entries:
            return
        now, free = time.monotonic(), free_slots()
        near = now + self._timeouts.game_start.total_seconds()  # at its start, an arena to come would be left too late
        for entry in sorted(self._entries.values(), key=lambda it: it.rank):
            played = {game_id for game_id in entry.games | entry.past_games if is_played(game_id)}
            if entry.games and not played:
                entry.due_at = now
            entry.past_games |= entry.games - played
            entry.games = played
            has_slot = free > 0 or not entry.awaits_game(near)
            free -= entry.needs_slot(near) or entry.stage is Stage.LEAVING  # Lichess pairs us until we have left
            if not (has_slot or entry.is_out or entry.is_limited):
                self._log.info("tournament.waits", tournament=entry.wish.tournament_id)
                self._leave(entry, rejoin_wish=entry.wish)
            if entry.waits_for_slot and has_slot:
                entry.due_at = now
            has_ended = entry.stage is Stage.JOINED and is_due(entry.ends_at, now)
            if has_ended and isinstance(entry.command, JoinTournament):
                self._take_back(entry)
            if is_due(entry.due_at, now) and entry.command is None:
                self._send_due_request(entry, now, has_slot=has_slot)

    def take_overdue(self, now: float) -> bool:
        """Return whether a game may have begun unseen, so that the list of games should be read; begin to wait anew.

        Lichess gives no more than seconds for the first move in an arena, and any stream may be down for longer.
        """
        overdue = [entry for entry in self._entries.values() if is_due(entry.list_check_at(self._timeouts), now)]
        for entry in overdue:
            entry.list_checked_at = now
        return bool(overdue)

    def game_started(self, tournament_id: str, game_id: str) -> None:
        """Take note of a game; a tournament that was joined by hand or by another program is wanted from now on."""
        now, entry = time.monotonic(), self._entries.get(tournament_id)
        if entry is None:
            if self._stopping or game_id in self._earlier_games or now < self._late_until.get(tournament_id, now):
                self._earlier_games.add(game_id)     # it may be announced again
                return
            self._log.info("tournament.found", tournament=tournament_id)
            self._wishes[tournament_id] = wish = Wish(tournament_id)
            self._store.add(Table.TOURNAMENTS, id=tournament_id)
            entry = self._entries[tournament_id] = Entry(wish, now, Stage.JOINED)
        if game_id not in entry.past_games:
            entry.games.add(game_id)
            entry.is_out = False

    def handle(self, report: CommandDone | CommandFailed) -> None:
        """Go on with the answer to a command that was sent here."""
        command = report.command
        assert isinstance(command, TournamentCommand)
        entry = self._entries.get(command.tournament_id)
        if entry is None or entry.command != command:
            return
        entry.command = None
        now = time.monotonic()
        if isinstance(report, CommandDone):
            entry.rate_limits_in_a_row, entry.is_delayed = 0, False
        match report:
            case CommandFailed(error=error):
                entry.waits_for_slot = False  # the next request decides anew
                self._command_failed(entry, command, error, now)
            case CommandDone(command=LeaveTournament()):
                self._arena_left(entry)
            case CommandDone(command=JoinTournament()):
                if entry.stage is Stage.JOINING:
                    self._log.info("tournament.joined", tournament=command.tournament_id)
                    entry.stage = Stage.JOINED
                entry.requested_at = now
                self._schedule_or_read(entry, now)
            case CommandDone(command=ReadTournament(), answer=ArenaInfo() as info):
                self._arena_read(entry, info, now)

    # Requests

    def _send_due_request(self, entry: Entry, now: float, *, has_slot: bool) -> None:
        entry.due_at, entry.waits_for_slot = None, False
        is_to_come = entry.starts_at is not None and now < entry.starts_at
        is_over = is_due(entry.ends_at, now)
        match entry.stage:
            case Stage.LEAVING:
                self._send(entry, LeaveTournament(entry.wish.tournament_id))
            case Stage.UNREAD:
                self._send(entry, ReadTournament(entry.wish.tournament_id))
            case Stage.JOINED if is_to_come:
                self._send(entry, ReadTournament(entry.wish.tournament_id))
            case Stage.JOINING | Stage.JOINED if is_over or entry.games:
                self._schedule_or_read(entry, now)
            case Stage.JOINING | Stage.JOINED if has_slot:
                self._send(entry, JoinTournament(entry.wish.tournament_id, entry.wish.team, entry.wish.password))
                entry.is_out, entry.requested_at = False, now
            case Stage.JOINING | Stage.JOINED:
                entry.waits_for_slot = True
                self._schedule_or_read(entry, now)

    def _schedule_or_read(self, entry: Entry, now: float) -> None:
        """Schedule the next request. If the tournament should be over, as far as is known, read it first."""
        ahead = [moment for moment in (entry.starts_at, entry.ends_at) if moment is not None and now < moment]
        if entry.stage is Stage.LEAVING:
            entry.due_at = now
        elif ahead:
            entry.due_at = entry.next_request_at(now, self._timeouts)
        else:
            self._send(entry, ReadTournament(entry.wish.tournament_id))

    def _arena_read(self, entry: Entry, info: ArenaInfo, now: float) -> None:
        if info.is_finished:
            self._drop(entry)
            return
        if entry.stage is not Stage.LEAVING and (wrong := info.objection(self._playable())) is not None:
            self._log.warning("tournament.refused", tournament=entry.wish.tournament_id, error=wrong)
            self.leave(entry.wish.tournament_id)  # an organiser may change the games until the start
            return
        if entry.starts_at is None:
            self._log.info(
                "tournament",
                tournament=entry.wish.tournament_id,
                name=info.full_name,
                starts_in_s=info.seconds_to_start,
                ends_in_s=info.seconds_to_finish,
            )
        entry.starts_at = now + (info.seconds_to_start or 0.0)
        entry.ends_at = None if info.seconds_to_finish is None else now + info.seconds_to_finish
        is_entered = entry.stage in (Stage.JOINING, Stage.JOINED)
        entry.due_at = entry.next_request_at(now, self._timeouts) if is_entered else now
        if entry.stage is Stage.UNREAD:
            entry.stage = Stage.JOINING

    def _command_failed(self, entry: Entry, command: TournamentCommand, error: Exception, now: float) -> None:
        is_answer = isinstance(error, Refused) and error.certain and error.status != HTTPStatus.UNAUTHORIZED
        # Lichess answers a marked account with a page. A proxy may do so too, but the outbox has repeated the request.
        is_page = isinstance(error, Refused) and not error.certain and error.status == HTTPStatus.FORBIDDEN
        is_answer |= is_page and entry.stage is Stage.JOINING and isinstance(command, JoinTournament)
        is_final = is_answer and _PAUSE_NOT_OVER not in str(error) and pause_before_joining(error) is None
        if isinstance(command, LeaveTournament) and (is_final or is_due(entry.ends_at, now)):
            self._arena_left(entry)  # it is over, or we were not in it
        elif isinstance(command, LeaveTournament) and self._is_ending:
            self._forget(entry)
            self._log.warning("tournament.not_left", tournament=command.tournament_id, error=error)
        elif is_final and isinstance(command, JoinTournament) and Wish.of(command) != entry.wish:
            entry.due_at = now  # another team or password was given meanwhile
        elif is_final:
            has_ended = entry.ends_at is not None and now >= entry.ends_at - _ROUNDED_UP_BY_S
            was_removed = entry.starts_at is not None and _NO_SUCH_TOURNAMENT in str(error)
            is_over = has_ended or was_removed or _NO_LONGER_EXISTS in str(error)
            if not is_over:
                why = f"{error}, as Lichess answers accounts that it has marked" if is_page else error
                self._log.warning("tournament.refused", tournament=command.tournament_id, error=why)
            self._drop(entry, is_over=is_over)
        elif entry.stage is Stage.LEAVING and not isinstance(command, LeaveTournament):
            entry.due_at = now  # no longer wanted
        else:
            delay_s = self._retry_delay(entry, error).total_seconds()
            if not entry.is_delayed:
                tournament = command.tournament_id
                self._log.warning("tournament.delayed", tournament=tournament, error=error, again_in_s=delay_s)
            entry.due_at, entry.is_delayed = now + delay_s, True

    def _retry_delay(self, entry: Entry, error: Exception) -> timedelta:
        """Return how long to wait before the next request: longer after each limit in a row, as few tell their end."""
        pause = pause_before_joining(error)
        if pause is None:
            return self._timeouts.tournament_retry
        entry.rate_limits_in_a_row += 1
        return doubled(pause, entry.rate_limits_in_a_row - 1, self._timeouts.tournament_limit)

    def _leave(self, entry: Entry, *, rejoin_wish: Wish | None = None) -> None:
        entry.rejoin_wish = rejoin_wish
        if entry.stage is Stage.LEAVING:
            return
        self._take_back(entry)
        if entry.stage is Stage.UNREAD or entry.is_out:   # not joined yet
            self._forget(entry)
        else:
            entry.stage, entry.due_at = Stage.LEAVING, time.monotonic()

    def _take_back(self, entry: Entry) -> None:
        """Take back a request that a rate limit holds back, perhaps for minutes."""
        if entry.command is not None and self._outbox.withdraw(entry.command):
            entry.command, entry.due_at = None, time.monotonic()

    def _forget(self, entry: Entry) -> None:
        del self._entries[entry.wish.tournament_id]
        self._earlier_games |= entry.games | entry.past_games     # the last one may go on

    def _arena_left(self, entry: Entry) -> None:
        if entry.rejoin_wish is not None:
            entry.wish, entry.rejoin_wish = entry.rejoin_wish, None
            entry.stage, entry.is_out, entry.due_at = Stage.UNREAD, True, time.monotonic()
            return
        self._forget(entry)
        self._late_until[entry.wish.tournament_id] = time.monotonic() + self._timeouts.game_start.total_seconds()
        self._log.info("tournament.left", tournament=entry.wish.tournament_id)

    def _drop(self, entry: Entry, *, is_over: bool = True) -> None:
        """Forget a tournament that is over or cannot be joined, also in the store."""
        self._forget(entry)
        if is_over:
            self._log.info("tournament.over", tournament=entry.wish.tournament_id)
        self._delete_wish(entry.wish.tournament_id)

    def _send(self, entry: Entry, command: TournamentCommand) -> None:
        entry.command = command
        self._outbox.send(command)
