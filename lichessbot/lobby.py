"""How games come about: challenges to us, challenges of our own, tournaments.

For the main thread. Decides who gets the next slot: queued challenges come before our own challenges, and humans
before bots. Takes the snapshot on which all decisions about new games depend.
"""

import math
import time
from collections.abc import Callable, Sequence

from lichessbot.arena_entry import Wish
from lichessbot.challenges.handler import ChallengeHandler
from lichessbot.challenges.player_lists import Emit, PlayerLists
from lichessbot.challenges.slots import Occupancy, Slots
from lichessbot.challenges.snapshot import Snapshot
from lichessbot.config import Config
from lichessbot.control.commands import CannotDo
from lichessbot.control.status import LobbyStatus, MatchmakingStatus, clock_time
from lichessbot.errors import RateLimited
from lichessbot.lichess.answers import Account
from lichessbot.lichess.commands import (
    AcceptChallenge,
    ChallengeAnswer,
    CommandDone,
    CommandFailed,
    MatchCommand,
    TournamentCommand,
)
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import (
    ChallengeCanceled,
    ChallengeDeclined,
    ChallengeReceived,
    GameFull,
    GameInfo,
    StreamLine,
    UnreadableChallenge,
)
from lichessbot.lichess.outbox import Outbox
from lichessbot.log import EventLog
from lichessbot.matchmaking.matchmaker import Matchmaker
from lichessbot.matchmaking.rechallenge import LastChallenges
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts, earliest
from lichessbot.tournaments import Tournaments


class Lobby:
    """Everything that may become a game. `playing` returns the games in progress."""

    def __init__(
        self,
        config: Config,
        outbox: Outbox,
        emit: Emit,
        store: Store,
        timeouts: Timeouts,
        proxy: str | None,
        playing: Callable[[], Sequence[GameInfo]],
    ) -> None:
        self._configured = config
        self._config = config
        """As configured, but for what the operator has switched."""
        self._matchmaking_switch: bool | None = None
        """Whether matchmaking is on by command; None: as configured."""
        self.is_paused = False
        """Whether the operator wants no new games."""
        self.engine_failure = ""
        """Why no new games are taken; empty while the engines work."""
        self._log = EventLog()
        self._playing = playing
        self._our_id = ""
        self.playable: tuple[Variant, ...] = tuple(Variant)
        """The variants that the engines play."""
        self._stopping = False
        self._slots = Slots(timeouts.game_start)
        self._block_lists = PlayerLists(store, emit, timeouts, proxy)
        self._challenges = ChallengeHandler(outbox, store, timeouts, self._block_lists, self._slots, self.snapshot)
        self._matchmaker = Matchmaker(
            outbox, store, timeouts, self._block_lists, self._slots, self.snapshot, lambda: self._config
        )
        self._last = LastChallenges()
        self._tournaments = Tournaments(outbox, store, timeouts, lambda: self.playable)

    def __len__(self) -> int:
        """How many games are about to start."""
        return len(self._slots)

    @property
    def is_clear(self) -> bool:
        """Whether no more game can come of what was begun here."""
        return not (len(self._slots) or self._matchmaker.has_open_challenge or self._tournaments.is_leaving_any)

    @property
    def wake_at(self) -> float | None:
        """When `tick` or `should_read_playing` has something to do."""
        parts = (self._slots, self._challenges, self._matchmaker, self._tournaments)
        return earliest(self._tournaments.list_check_at, *(it.wake_at for it in parts))

    @property
    def summary(self) -> str:
        """Return, in words, who waits and the day's bot games; empty if there is nothing to say."""
        waiting = f"{len(self.waiting)} waiting" if self.waiting else ""
        return "; ".join(filter(None, (waiting, self._matchmaker.summary)))

    @property
    def waiting(self) -> Sequence[str]:
        """The names of the challengers who wait for a slot, the next one first."""
        return self._challenges.waiting(self._config.challenge)

    def snapshot(self) -> Snapshot:
        """Return what decisions about new games depend on now."""
        human_expected_until = self._challenges.human_expected_until
        playing = self._playing()
        uncounted = (it for it in playing if not (it.is_correspondence or self._matchmaker.has_counted(it.game_id)))
        uncounted_bots = sum(holder.is_bot for holder in self._challenges.slot_holders(uncounted))
        return Snapshot(
            config=self._config,
            our_id=self._our_id,
            games=self._challenges.slot_holders(playing),
            our_slots=(*self._matchmaker.slot_holders, *self._tournaments.slot_holders),
            stopping=self._stopping,
            paused=self.is_paused,
            engine_failure=self.engine_failure,
            playable=self.playable,
            our_challenges_wait_until=math.inf if self._challenges.has_waiting else human_expected_until,
            humans_first=self._challenges.puts_humans_first(self._config.challenge),
            objection_to_bots=self._matchmaker.objection_to_bots(self._config, uncounted_bots),
        )

    # From start to stop

    def open(self, account: Account, config: Config) -> None:
        """Begin, now that our account is known."""
        self._our_id = account.id
        self._matchmaker.introduce(account)
        self.reload(config)

    def reload(self, config: Config) -> None:
        """Go by this configuration from now on, but for what the operator has switched."""
        self._configured = config
        if self._matchmaking_switch is not None:
            matchmaking = config.matchmaking.model_copy(update={"allow_matchmaking": self._matchmaking_switch})
            config = config.model_copy(update={"matchmaking": matchmaking})
        self._config = config
        self._block_lists.watch((*config.challenge.block_lists, *config.matchmaking.block_lists))
        self._matchmaker.withdraw_unwanted()
        if self.snapshot().occupancy.free_slots(config.challenge, is_bot=False) < 0:
            self._matchmaker.withdraw()     # there are fewer slots now
        self._tournaments.want(config.tournaments)

    def stop(self) -> None:
        """Accept no new games and withdraw what was asked for."""
        self._stopping = True
        self._matchmaker.stop()
        self._tournaments.stop(is_ending=True)

    def close(self) -> None:
        self._block_lists.close()

    # The engines

    def engines_fail(self, reason: str) -> bool:
        """Take no new games until `engines_work`; return whether that is new."""
        is_new = not self.engine_failure
        if is_new:
            self._log.error("engine.fails", reason=reason)
            self._withdraw()
        self.engine_failure = reason
        return is_new

    def engines_work(self) -> None:
        """Take new games again, unless the operator has paused the bot."""
        if self.engine_failure:
            self.engine_failure = ""
            self._go_on()

    # The operator

    @property
    def is_open(self) -> bool:
        """Whether `open` was called: our account is known and the engines are good."""
        return bool(self._our_id)

    def pause(self) -> None:
        """Take no new games until `resume`; what is on its way to a game is withdrawn."""
        self.is_paused = True
        self._withdraw()

    def resume(self) -> None:
        """Take new games again."""
        if self.is_paused:
            self.is_paused = False
            self._go_on()

    def _withdraw(self) -> None:
        """Take back what is on its way to a game."""
        self._matchmaker.withdraw()
        self._tournaments.stop()

    def _go_on(self) -> None:
        if not (self.is_paused or self.engine_failure or self._stopping):
            self._tournaments.resume(self._config.tournaments)

    def switch_matchmaking(self, *, on: bool) -> str:
        """Switch matchmaking until the next restart, whatever the configuration says; return what follows."""
        self._matchmaking_switch = on
        self.reload(self._configured)
        if not on:
            self._matchmaker.withdraw()
            return "matchmaking is off until the next restart"
        next_at = self._matchmaking.next_attempt_epoch_s
        when = "as soon as nothing stands in its way" if next_at is None else f"at {clock_time(next_at, time.time())}"
        return f"matchmaking is on until the next restart; next attempt {when}"

    def block(self, name: str) -> bool:
        """Decline this player's challenges and send none; return whether that is new."""
        is_new = self._block_lists.block(name.lower())
        self._matchmaker.withdraw_unwanted()
        return is_new

    def unblock(self, name: str) -> bool:
        """Return whether the player was blocked by command."""
        return self._block_lists.unblock(name.lower())

    def rechallenge(self, *, received: bool) -> str:
        """Repeat our last challenge, or, if `received`, challenge who challenged us last. Raises CannotDo."""
        if self._stopping:
            raise CannotDo("the bot takes no new games, as the daemon is finishing")
        if self.is_paused:
            raise CannotDo("the bot is paused: `lichessbot resume` comes first")
        if self.engine_failure:
            raise CannotDo(f"the bot takes no new games, as an engine fails: {self.engine_failure}")
        it = self._last.again(received=received)
        self._matchmaker.rechallenge(it)
        return f"will challenge {it.opponent}: {it.terms}"

    def join_tournament(self, tournament_id: str, team: str | None, password: str | None) -> str:
        """Take part in an arena, also after a restart; return from when on."""
        self._tournaments.join(Wish(tournament_id, team, password))
        if self._stopping:
            return "the daemon is finishing and plays there after its next start"
        if self.is_paused:
            return "the daemon is paused and plays there after `lichessbot resume`"
        if self.engine_failure:
            return f"the daemon plays there once its engine works again ({self.engine_failure})"
        if self._slots_for_tournaments() < 1:
            return "the daemon plays there once a slot is free"
        return "the daemon plays there"

    def leave_tournament(self, tournament_id: str) -> str:
        """Take no more part in an arena. Raises CannotDo if the configuration lists it."""
        if any(it.id == tournament_id for it in self._configured.tournaments):
            raise CannotDo("its configuration lists the arena in `tournaments`: remove it there and send SIGHUP")
        self._tournaments.leave(tournament_id)
        return "the daemon plays there no more"

    @property
    def _matchmaking(self) -> MatchmakingStatus:
        is_on_in_config = self._configured.matchmaking.allow_matchmaking
        return self._matchmaker.describe(is_on_in_config=is_on_in_config, last_opponent=self._last.opponent)

    def describe(self) -> LobbyStatus:
        """Return how games come about now, for the operator."""
        return LobbyStatus(
            is_paused=self.is_paused,
            slots=self._config.challenge.concurrency,
            starting=len(self._slots),
            queue=self._challenges.describe(self._config.challenge),
            matchmaking=self._matchmaking,
            limits=self._matchmaker.limits,
            blocked=tuple(sorted(self._block_lists.blocked)),
            tournaments=self._tournaments.ids,
            last_challenges=self._challenges.describe_last(),
        )

    # Events

    def tick(self) -> None:
        """Do what is due: a game may have ended, so that a queued challenge can be accepted."""
        self._block_lists.tick()
        playing = {info.game_id for info in self._playing()}
        self._tournaments.tick(playing.__contains__, self._slots_for_tournaments)
        if self._challenges.has_waiting:
            self._matchmaker.withdraw()
            self._challenges.serve_queue()
        self._matchmaker.tick()

    def _slots_for_tournaments(self) -> int:
        """Return how many games of tournaments may begin; the slots that are kept for tournaments count as free."""
        games = (*self._challenges.slot_holders(self._playing()), *self._matchmaker.slot_holders)
        return Occupancy(games).free_slots(self._config.challenge, is_bot=False)

    def challenge_event(self, event: StreamLine, received_at: float) -> None:
        """Handle a challenge that was made, withdrawn or declined. `received_at`: monotonic seconds."""
        match event:
            case ChallengeReceived(challenge=challenge):
                self._last.remember(challenge, self._our_id)
                if challenge.challenger.id == self._our_id:
                    self._matchmaker.challenge_echoed(challenge)
                else:
                    self._matchmaker.challenged_by(challenge.challenger.id)
                    self._challenges.answer(event, received_at)
            case UnreadableChallenge(challenge=challenge, problem=problem):
                if challenge.challenger.id != self._our_id:
                    self._challenges.decline_unreadable(challenge, problem)
            case ChallengeCanceled(challenge=challenge):
                self._challenges.canceled(challenge)
                self._matchmaker.challenge_settled(challenge, is_declined=False)
            case ChallengeDeclined(challenge=challenge):
                self._challenges.declined(challenge)
                self._matchmaker.challenge_settled(challenge, is_declined=True)

    def game_started(self, game: GameInfo) -> None:
        self._challenges.game_started(game.game_id)
        self._matchmaker.game_started(game.game_id)
        if game.tournament_id is not None:
            self._tournaments.game_started(game.tournament_id, game.game_id)

    def game_opened(self, full: GameFull) -> None:
        """Take note of who plays, as the stream of a game says."""
        self._matchmaker.count_game(full)

    def game_over(self, game: FinishedGame) -> None:
        """Take note that a game of ours is over: a rematch may follow."""
        self._matchmaker.game_over(game)

    def block_list_fetched(self, fetched: PlayerList) -> None:
        self._block_lists.update(fetched)
        self._matchmaker.withdraw_unwanted()

    def command_answered(self, report: CommandDone | CommandFailed) -> None:
        """Go on with the answer to a command that was sent here; ignore other commands."""
        match report.command:
            case MatchCommand():
                self._matchmaker.handle(report)
            case TournamentCommand():
                self._tournaments.handle(report)
            case ChallengeAnswer() as command:
                self._challenge_answered(command, report)

    def _challenge_answered(self, command: ChallengeAnswer, report: CommandDone | CommandFailed) -> None:
        if isinstance(report, CommandDone):
            self._challenges.answer_arrived(command)
            return
        self._challenges.answer_failed(command, report)
        if isinstance(command, AcceptChallenge) and isinstance(report.error, RateLimited):
            self._matchmaker.rate_limited(report.error)

    # The list of games in progress

    def should_read_playing(self) -> bool:
        """Return whether a game should or may have begun by now, so that the list should be read, and wait anew."""
        now = time.monotonic()
        slots, arenas = self._slots.take_overdue(now), self._tournaments.take_overdue(now)
        return slots or arenas  # both are asked: each begins its next wait

    def unlisted_games(self) -> list[GameInfo]:
        """Return games that probably began but that no stream and no list shows."""
        return self._challenges.unlisted_games()

    def playing_listed(self, games: Sequence[GameInfo], asked_at: float) -> None:
        """Compare with a list of the games in progress, requested at `asked_at`: some may not have been announced."""
        for info in games:
            self.game_started(info)
        self._challenges.free_overdue(asked_at)

    def playing_failed(self, *, is_refused: bool) -> None:
        """Go on without a list of the games in progress, which was refused or else did not come."""
        self._challenges.playing_failed(is_refused=is_refused)
