"""Challenge other bots, one at a time, while slots are free.

For the main thread. An attempt reads our ratings, the bots that are online and whether they are playing, and then
challenges one. `selection` decides whom, `quota` how often, and `outgoing_challenge` follows the open challenge.
"""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from lichessbot.backoff import doubled
from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.slots import SlotHolder, Slots
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.config import Config
from lichessbot.config.matchmaking import ColourChoice
from lichessbot.control.commands import CannotDo
from lichessbot.control.status import Limit, MatchmakingStatus, clock_time
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.answers import Account, BotUser
from lichessbot.lichess.commands import (
    CancelChallenge,
    CommandDone,
    CommandFailed,
    MatchCommand,
    ReadBots,
    ReadRatings,
    ReadStatuses,
)
from lichessbot.lichess.enums import Colour, DeclineReason
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import BOT_TITLE, Challenge, GameFull
from lichessbot.lichess.outbox import Outbox
from lichessbot.log import EventLog, counted
from lichessbot.matchmaking.known_bots import BotGame, BotGames, Declines, Failure
from lichessbot.matchmaking.next_step import Waits, next_step, obstacle
from lichessbot.matchmaking.objections import Objections
from lichessbot.matchmaking.outgoing_challenge import (
    Accepted,
    Declined,
    LeftOpen,
    Lost,
    NotSent,
    OpenChallenge,
    Outcome,
    Withdrawn,
)
from lichessbot.matchmaking.quota import Quota
from lichessbot.matchmaking.rematch import PendingRematches, no_show, rematch_after
from lichessbot.matchmaking.selection import Knowledge, Proposal, match_type_of, proposals
from lichessbot.storage.store import LimitedAction, Store
from lichessbot.timeouts import Timeouts, earliest


class Matchmaker:
    """Challenges other bots. An open challenge takes a slot."""

    def __init__(
        self,
        outbox: Outbox,
        store: Store,
        timeouts: Timeouts,
        lists: PlayerLists,
        slots: Slots,
        snapshot: Callable[[], Snapshot],
        config: Callable[[], Config],
    ) -> None:
        """Ask `config` for the configuration alone: a snapshot takes time for each game."""
        self._outbox = outbox
        self._store = store
        self._timeouts = timeouts
        self._slots = slots
        self._snapshot, self._config = snapshot, config
        self._log = EventLog()
        self._random = Random()
        self._bot_games = BotGames(store)
        self._declines = Declines(store)
        self._quota = Quota(self._bot_games, store, timeouts)
        self._us: Account | None = None
        self._ratings_until = -math.inf
        self._asking = False
        """Whether an attempt is on its way to a challenge."""
        self._shortlist: Sequence[Proposal] = ()
        self._open: OpenChallenge | None = None
        self._accepted_ids: set[str] = set()
        """The challenges of ours that became games, or may have."""
        self._rematches = PendingRematches(timeouts)
        self._half_pair: tuple[Proposal, float] | None = None
        """The last game of a pair that we began as White, and when, in seconds since the epoch."""
        self._objections = Objections(self._quota, lists, self._declines)
        self._last_type_name: str | None = None
        self._failures = 0
        self._idle_since = time.monotonic()
        self._begun_at = -math.inf
        """When the latest attempt began."""
        self._not_before = -math.inf
        self._stopping = False

    @property
    def has_open_challenge(self) -> bool:
        """Whether it takes a slot."""
        return self._open is not None

    @property
    def slot_holders(self) -> Sequence[SlotHolder]:
        """The opponent of the open challenge, if there is one."""
        return () if self._open is None else (self._open.slot_holder,)

    @property
    def wake_at(self) -> float | None:
        """When `tick` has something to do."""
        if self._open is not None:
            return self._open.wake_at
        is_on = self._config().matchmaking.allow_matchmaking
        due_at = self._due_at(self._snapshot(), time.monotonic()) if is_on else math.inf
        return earliest(None if math.isinf(due_at) else due_at, None if self._asking else self._rematches.wake_at)

    def tick(self) -> None:
        """Begin an attempt, or follow the open challenge."""
        now, snapshot = time.monotonic(), self._snapshot()
        if snapshot.has_clocked_games:
            self._idle_since = now
        for overdue in self._rematches.take_overdue(now):
            self._rematch_not_offered(overdue, "another challenge was open or about to be sent")
        if self._open is not None:
            self._send(self._open.tick(now))
        elif not self._asking and (rematch := self._rematches.take(now)) is not None:
            self._offer_rematch(rematch, snapshot, now)
        elif now >= self._due_at(snapshot, now):
            self._begin(now)

    def _due_at(self, snapshot: Snapshot, now: float) -> float:
        """Return when the next attempt begins, as far as is known; infinity if something else must happen first."""
        is_busy = self._asking or self._open is not None
        return math.inf if is_busy or obstacle(snapshot) is not None else self._waits(snapshot, now).until

    def _waits(self, snapshot: Snapshot, now: float) -> Waits:
        """Return what an attempt waits for, if nothing else must happen first."""
        config, now_epoch_s = snapshot.config.matchmaking, time.time()
        if snapshot.has_clocked_games:
            quiet_at = self._begun_at + self._timeouts.challenge_spacing_ceiling.total_seconds()
        else:
            quiet_at = self._idle_since + config.challenge_timeout * self._timeouts.challenge_minute.total_seconds()
        is_half = self._due_half_pair(snapshot.config) is not None
        quota_at = now + self._quota.challenge_at(config, now_epoch_s, is_half=is_half) - now_epoch_s
        return Waits(quiet_at, self._not_before, snapshot.our_challenges_wait_until, quota_at)

    # An attempt, step by step

    def introduce(self, account: Account) -> None:
        """Take note of who we are."""
        self._us = account

    def _begin(self, now: float) -> None:
        self._asking, self._begun_at = True, now
        self._outbox.send(ReadBots() if now < self._ratings_until else ReadRatings())

    def handle(self, report: CommandDone | CommandFailed) -> None:
        """Go on with the answer to a command that was sent here."""
        now = time.monotonic()
        match report:
            case CommandDone(command=ReadRatings(), answer=Account() as account):
                self._us = account
                self._ratings_until = now + self._timeouts.ratings_age.total_seconds()
                self._outbox.send(ReadBots())
            case CommandDone(command=ReadBots(), answer=tuple() as bots):
                self._choose(bots, now)
            case CommandDone(command=ReadStatuses(), answer=tuple() as users):
                self._challenge([user.id for user in users if user.online and not user.playing], now)
            case CommandFailed(command=ReadRatings() | ReadBots() | ReadStatuses(), error=error):
                self._give_up(error, now)
            case _ if self._open is not None:
                self._follow(self._open.handle(report, now), now)

    def _choose(self, bots: Sequence[BotUser], now: float) -> None:
        if self._us is None:
            return
        snapshot = self._snapshot()
        known = Knowledge(
            config=snapshot.config,
            us=self._us,
            bots=bots,
            declines=self._declines,
            bot_games=self._bot_games,
            now_epoch_s=time.time(),
            pair_break_s=self._pair_break_s(snapshot.config),
            is_blocked=partial(self._objections.is_blocked, snapshot.config),
            may_play_correspondence=snapshot.has_room_for_correspondence,
            half_pair=self._due_half_pair(snapshot.config),
        )
        self._shortlist = proposals(known, self._last_type_name, self._random)
        if self._shortlist:
            self._outbox.send(ReadStatuses(tuple(it.opponent for it in self._shortlist)))
        else:
            self._give_up(f"{counted(len(bots), 'bot')} online, none suitable", now)

    def _pair_break_s(self, config: Config) -> float:
        """Return how long after the first game of a pair began the second is due."""
        between = config.matchmaking.challenge_timeout * self._timeouts.challenge_minute
        return (self._timeouts.pair_break + between).total_seconds()

    def _due_half_pair(self, config: Config) -> Proposal | None:
        if self._half_pair is None:
            return None
        first, began_at = self._half_pair
        return first if time.time() <= began_at + self._pair_break_s(config) else None

    def _challenge(self, free: Sequence[str], now: float) -> None:
        """Challenge the first of the shortlist that is among the `free` bots: online and not playing."""
        snapshot = self._snapshot()
        is_blocked = partial(self._objections.is_blocked, snapshot.config)  # perhaps only since the choice
        found = next((it for it in self._shortlist if it.opponent in free and not is_blocked(it.opponent)), None)
        if found is None:
            self._give_up("every suitable bot is playing", now)
        elif (reason := obstacle(snapshot)) is not None:  # a game or a reload may have come meanwhile
            self._give_up(reason, now)
        elif (objection := snapshot.objection_to_bots) is not None:
            self._give_up(objection.because, now)
        elif now < snapshot.our_challenges_wait_until:
            self._give_up("the slot is needed", now)
        else:
            self._asking = False
            self._last_type_name = found.match_type_name
            self._propose(found)

    def _propose(self, it: Proposal) -> None:
        """Send a challenge and follow it."""
        self._open = OpenChallenge(it, self._timeouts)
        colour = it.terms.colour or "random"
        kind = it.match_type_name or ("rematch" if it.rematch_of else "rechallenge")
        self._log.info("match.challenge", opponent=it.opponent, kind=kind, terms=it.terms, colour=colour)
        self._outbox.send(self._open.creation)

    def rechallenge(self, it: Proposal) -> None:
        """Send a challenge that the operator wants. Raises CannotDo."""
        if self._asking or self._open is not None:
            raise CannotDo("another challenge is open or about to be sent; try again in half a minute")
        if (objection := self._objections.to_rechallenge(it, self._snapshot(), time.time())) is not None:
            raise CannotDo(objection)
        self._propose(it)

    def _give_up(self, reason: str | ApiError, now: float) -> None:
        self._asking = False
        self._pause(now, in_vain=True)
        self._log.info("match.none", reason=reason)

    def _pause(self, now: float, *, in_vain: bool) -> None:
        """Wait before the next attempt: the longer, the more attempts in a row failed."""
        self._failures = self._failures + 1 if in_vain else 0
        ceiling = self._timeouts.challenge_spacing_ceiling
        self._not_before = now + doubled(self._timeouts.challenge_spacing, self._failures - 1, ceiling).total_seconds()

    # Rematches

    def game_over(self, game: FinishedGame) -> None:
        """Offer a rematch soon, if the configuration wants one after this game; let a bot rest that never moved."""
        if (unplayed := no_show(game)) is not None:
            self._remember(unplayed, Failure.UNANSWERED)
        played = self._store.times_done(game.game_id, LimitedAction.REMATCH)
        proposal = rematch_after(game, self._config().rematch, played)
        if proposal is not None and not self._stopping:
            self._rematches.add(proposal, time.monotonic())

    def challenged_by(self, user_id: str) -> None:
        """Leave the rematch to an opponent who asks for one, or for another game."""
        self._rematches.drop(user_id)
        if self._open is not None and self._open.proposal.rematch_of and self._open.proposal.opponent == user_id:
            self.withdraw()

    def _offer_rematch(self, it: Proposal, snapshot: Snapshot, now: float) -> None:
        if (objection := self._objections.to_rematch(it, snapshot, now, time.time())) is None:
            self._propose(it)
        else:
            self._rematch_not_offered(it, objection)

    def _rematch_not_offered(self, it: Proposal, reason: str) -> None:
        self._log.info("rematch.not_offered", game=it.rematch_of, opponent=it.opponent, reason=reason)

    # The open challenge

    def challenge_echoed(self, challenge: Challenge) -> None:
        """Count a challenge of this account, by this daemon or not, and follow it if it is the open one."""
        self._quota.count_challenge(challenge.id, time.time(), is_bot=challenge.destination.is_bot)
        if self._open is not None:
            self._follow(self._open.echo(challenge, now := time.monotonic()), now)

    def challenge_settled(self, challenge: Challenge, *, is_declined: bool) -> None:
        """Go on with a challenge that was declined, or else withdrawn."""
        if self._open is not None and self._open.challenge_id == challenge.id:
            self._follow(self._open.settled(challenge, is_declined=is_declined), time.monotonic())

    def game_started(self, game_id: str) -> None:
        if self._open is not None:
            self._follow(self._open.game_started(game_id), time.monotonic())

    def _send(self, command: MatchCommand | None) -> None:
        if command is not None:
            self._outbox.send(command)

    def _follow(self, step: MatchCommand | Outcome | None, now: float) -> None:
        if isinstance(step, Outcome):
            self._close(step, now)
        else:
            self._send(step)

    def _close(self, outcome: Outcome, now: float) -> None:
        it, self._open = self._open, None
        assert it is not None
        challenge_id = it.challenge_id or ""
        fields = {"challenge": it.challenge_id, "opponent": it.proposal.opponent}
        match outcome:
            case Accepted(announced):
                self._log.info("match.accepted", **fields)
                self._outbox.withdraw(CancelChallenge(challenge_id))   # it would abort the game
                self._accepted_ids.add(challenge_id)
                self._idle_since = now     # a correspondence game counts too
                self._declines.agreed(it.proposal.opponent, it.proposal.terms)
                self._remember_half_pair(it.proposal)
                if not announced:
                    self._look_for_game(it, now)
            case Declined(reason):
                rests_until = self._remember(it.proposal, reason)
                self._log.info("match.declined", **fields, reason=reason, rests_until=rests_until)
            case Withdrawn(unanswered, certain, out_of_reach):
                if unanswered:
                    rests_until = self._remember(it.proposal, Failure.UNANSWERED)
                    self._log.info("match.unanswered", **fields, rests_until=rests_until)
                else:
                    self._log.info("match.withdrawn", **fields)
                if not certain:
                    self._look_for_game(it, now, out_of_reach=out_of_reach)
            case LeftOpen():
                self._log.info("match.left_open", **fields)
            case Lost(out_of_reach):
                self._log.info("match.lost", **fields)
                self._look_for_game(it, now, out_of_reach=out_of_reach)
            case NotSent(error):
                self._remember_refusal(it.proposal, error, **fields)
        if not it.proposal.rematch_of:
            self._pause(now, in_vain=not isinstance(outcome, Accepted | LeftOpen))
        elif challenge_id and not isinstance(outcome, Declined):
            self._store.note_rematch(challenge_id, it.proposal.rematch_of)  # one that was withdrawn may still begin

    def _remember_half_pair(self, proposal: Proposal) -> None:
        """Remember whether the game is half of a pair. A rematch is not: it ends the pair, with reversed colours."""
        match_type = match_type_of(proposal, self._config())
        is_pair = match_type is not None and match_type.challenge_color is ColourChoice.PAIRS
        begins = is_pair and proposal.terms.colour is Colour.WHITE
        self._half_pair = (proposal, time.time()) if begins else None

    def _look_for_game(self, challenge: OpenChallenge, now: float, *, out_of_reach: bool = False) -> None:
        """Keep the slot until a list of games tells whether the challenge has become a game unnoticed."""
        if out_of_reach and self._stopping:
            return  # the next start finds the game
        self._accepted_ids.add(challenge.challenge_id or "")
        challenge_id = challenge.challenge_id or f"to {challenge.proposal.opponent}"
        self._slots.reserve(challenge_id, challenge.proposal.slot_holder, look_at=now)

    def _remember(self, proposal: Proposal, reason: DeclineReason | Failure) -> str | None:
        """Remember a challenge that failed; return until when such challenges are not repeated, if they are not."""
        if not proposal.is_bot:
            return None
        rule, now = self._config().matchmaking.challenge_filter, time.time()
        until = self._declines.declined(proposal.opponent, proposal.terms, reason, rule, now)
        return clock_time(until, now) if until > now else None

    def _remember_refusal(self, proposal: Proposal, error: ApiError, **fields: str | None) -> None:
        match error:
            case RateLimited():
                self.rate_limited(error)
            case Refused(denies_token=True) | Unreachable():
                self._log.info("match.none", reason=error)  # which is not the opponent's fault
            case Refused(pause=None):
                rests_until = self._remember(proposal, Failure.REFUSED)
                self._log.info("match.refused", **fields, text=error.text, rests_until=rests_until)
            case Refused(pause=pause) if pause is not None:
                until = self._declines.capped(proposal.opponent, pause, time.time())
                self._log.info("match.capped", **fields, rests_until=clock_time(until, time.time()))

    # Slots and quotas

    def rate_limited(self, error: RateLimited) -> None:
        """Take note that a challenge or an acceptance was answered with a 429."""
        self._quota.rate_limited(error, time.time())
        self._log.warning("quota", text=error.text, status=self.summary or None)

    def has_counted(self, game_id: str) -> bool:
        """Return whether a game counts as one against a bot: its own stream has said who plays."""
        return game_id in self._bot_games

    def objection_to_bots(self, config: Config, uncounted: int = 0) -> Decline | None:
        """Return the answer to every bot that challenges us now, or None if a game against a bot is left today.

        `uncounted`: games against bots that begin, or have no stream yet. `config`: the snapshot needs this first.
        """
        expected = uncounted + (self._open is not None and self._open.proposal.is_bot)
        return self._objections.to_bots(config.matchmaking, time.time(), expected)

    def stop(self) -> None:
        """Begin nothing new and withdraw the open challenge."""
        self._stopping = True
        self._rematches.drop()
        self.withdraw()

    def withdraw(self) -> None:
        """Withdraw the open challenge, which frees its slot."""
        if self._open is not None:
            self._send(self._open.withdraw())

    def withdraw_unwanted(self) -> None:
        """Withdraw the open challenge if the configuration or a list of players now speaks against it."""
        if self._open is not None and self._objections.is_unwanted(self._open.proposal, self._config()):
            self.withdraw()

    def count_game(self, full: GameFull) -> None:
        """Count a game of ours if its stream says that it is between bots."""
        if self._us is None or (colour := full.colour_of(self._us.id)) is None:
            return
        them = full.player(colour.other)
        if them.title != BOT_TITLE or them.id is None:
            return
        began_at = min(time.time(), full.created_at_ms / 1000 or math.inf)
        self._bot_games.add(BotGame(full.id, them.id, full.speed, colour, full.id in self._accepted_ids, began_at))
        self._accepted_ids.discard(full.id)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What of the day's games and challenges is used up, for the operator."""
        return self._quota.limits(self._config().matchmaking, time.time())

    def describe(self, *, is_on_in_config: bool, last_opponent: str | None) -> MatchmakingStatus:
        """Return what matchmaking does now, for the operator."""
        snapshot, now = self._snapshot(), time.monotonic()
        open_challenge = None if self._open is None else self._open.describe()
        due_at, waits = self._due_at(snapshot, now), self._waits(snapshot, now)
        return MatchmakingStatus(
            is_on=snapshot.config.matchmaking.allow_matchmaking,
            is_on_in_config=is_on_in_config,
            next_attempt_epoch_s=None if math.isinf(due_at) else time.time() + max(0.0, due_at - now),
            open_challenge=open_challenge,
            last_opponent=last_opponent,
            next_step=next_step(snapshot, open_challenge, waits, now, is_choosing=self._asking),
        )

    @property
    def summary(self) -> str:
        """The day's bot games in words; empty if there is nothing to say."""
        return self._quota.in_words(self._config().matchmaking, time.time())
