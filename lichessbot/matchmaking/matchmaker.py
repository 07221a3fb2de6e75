"""The matchmaker: challenges other bots, one at a time, when there is nothing better to do.

For the main thread. Knows how far an attempt has come and what is remembered of it; whom to ask is
decided by `matchmaking`, how often by `quota`, what becomes of a challenge by `proposal`.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from lichessbot.backoff import doubled
from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.policy import Decline
from lichessbot.config import Config
from lichessbot.errors import RateLimited, Refused
from lichessbot.lichess.commands import (
    Bots,
    CommandDone,
    CommandFailed,
    MatchCommand,
    ReadBots,
    ReadRatings,
    ReadStatuses,
    Statuses,
)
from lichessbot.lichess.enums import Colour, DeclineReason
from lichessbot.lichess.models import BOT_TITLE, Account, BotUser, Challenge, GameFull
from lichessbot.lichess.outbox import Outbox
from lichessbot.log import EventLog
from lichessbot.matchmaking.history import BotGame, Diary, Opponents, Silence
from lichessbot.matchmaking.limits import Quota, clock_time
from lichessbot.matchmaking.outgoing_challenge import Accepted, Declined, NotSent, OpenChallenge, Outcome, Withdrawn
from lichessbot.matchmaking.selection import Knowledge, Proposal, proposals
from lichessbot.storage.records import SlotHolder
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts

_WHILE_A_HUMAN_WAITS: Final = Decline(
    DeclineReason.LATER, "humans first", "a human found no slot, and may come back for the next one"
)


KeepSlot = Callable[[str, SlotHolder, float], None]
"""Keeps a slot for a challenge that may be a game by now, until a look begun after that moment tells."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the house looks like at one moment."""

    config: Config
    games: int = 0
    """With a clock, being played or about to start, our own challenge apart."""
    free_slots: int = 0
    """For games against bots."""
    humans_until: float = -math.inf
    """Until when (monotonic) the next slot is kept for a human."""
    has_room_for_days: bool = True
    """For another correspondence game, which takes no slot."""


class Matchmaker:
    """Takes a slot while a challenge of ours is open."""

    def __init__(
        self, outbox: Outbox, store: Store, timeouts: Timeouts, lists: PlayerLists, keep_slot: KeepSlot
    ) -> None:
        self._outbox = outbox
        self._timeouts = timeouts
        self._lists = lists
        self._keep_slot = keep_slot
        self._log = EventLog()
        self._random = Random()
        self._diary = Diary(store)
        self._opponents = Opponents(store)
        self._quota = Quota(self._diary, store, timeouts)
        self._us: Account | None = None
        self._ratings_until = -math.inf
        self._asking = False
        """Whether an attempt is on its way to a challenge."""
        self._shortlist: Sequence[Proposal] = ()
        self._open: OpenChallenge | None = None
        self._ours: set[str] = set()
        self._last_kind = ""
        self._failures = 0
        self._idle_since = time.monotonic()
        self._begun_at = -math.inf
        """When the latest attempt began."""
        self._not_before = -math.inf
        self._stopping = False

    def __len__(self) -> int:
        """How many slots it takes."""
        return 0 if self._open is None else 1

    @property
    def guests(self) -> Sequence[SlotHolder]:
        """For whom that slot is kept."""
        return () if self._open is None else (_guest(self._open.proposal),)

    def wake_at(self, situation: Situation) -> float | None:
        """When `tick` has something to do."""
        if self._open is not None:
            return self._open.wake_at
        due_at = self._due_at(situation, time.monotonic())
        return None if math.isinf(due_at) else due_at

    def tick(self, situation: Situation) -> None:
        """Let time pass: begin an attempt, or look after the challenge that is open."""
        now = time.monotonic()
        if situation.games:
            self._idle_since = now
        if self._open is not None:
            self._send(self._open.tick(now))
        elif now >= self._due_at(situation, now):
            self._begin(now)

    def _due_at(self, situation: Situation, now: float) -> float:
        """When the next attempt begins, as far as can be told; infinity if something must happen first."""
        config = situation.config.matchmaking
        if not config.allow_matchmaking or self._us is None or self._asking or situation.free_slots <= 0:
            return math.inf
        if situation.games:
            if not config.allow_during_games:
                return math.inf
            quiet_at = self._begun_at + self._timeouts.challenge_spacing_ceiling.total_seconds()
        else:
            quiet_at = self._idle_since + config.challenge_timeout * self._timeouts.challenge_minute.total_seconds()
        wall = time.time()
        quota_at = now + self._quota.challenge_at(config, wall) - wall
        return max(quiet_at, self._not_before, situation.humans_until, quota_at)

    # An attempt, step by step

    def introduce(self, account: Account) -> None:
        """Who we are."""
        self._us = account

    def _begin(self, now: float) -> None:
        self._asking = True
        self._begun_at = now
        self._outbox.send(ReadBots() if now < self._ratings_until else ReadRatings())

    def hear(self, report: CommandDone | CommandFailed, situation: Situation) -> None:
        """The answer to one of the commands sent from here."""
        now = time.monotonic()
        match report:
            case CommandDone(command=ReadRatings(), answer=Account() as account):
                self._us = account
                self._ratings_until = now + self._timeouts.ratings_age.total_seconds()
                self._outbox.send(ReadBots())
            case CommandDone(command=ReadBots(), answer=Bots(users)):
                self._choose(users, situation, now)
            case CommandDone(command=ReadStatuses(), answer=Statuses(users)):
                self._challenge([user.id for user in users if user.online and not user.playing], situation, now)
            case CommandFailed(command=ReadRatings() | ReadBots() | ReadStatuses()):
                self._give_up("no answer", now)
            case _:
                self._hear_of_challenge(report, situation, now)

    def _choose(self, bots: Sequence[BotUser], situation: Situation, now: float) -> None:
        if self._us is None:
            return
        between = situation.config.matchmaking.challenge_timeout * self._timeouts.challenge_minute
        known = Knowledge(
            us=self._us,
            bots=bots,
            opponents=self._opponents,
            diary=self._diary,
            now=time.time(),
            pair_break_s=(self._timeouts.pair_break + between).total_seconds(),
            is_blocked=partial(self._is_blocked, situation.config),
            has_room_for_days=situation.has_room_for_days,
        )
        self._shortlist = proposals(situation.config, known, self._last_kind, self._random)
        if self._shortlist:
            self._outbox.send(ReadStatuses(tuple(it.opponent for it in self._shortlist)))
        else:
            self._give_up(f"none of {len(bots)} bots suits", now)

    def _is_blocked(self, config: Config, user_id: str) -> bool:
        names, addresses = config.matchmaking.block_list, config.matchmaking.online_block_list
        if config.matchmaking.include_challenge_block_list:
            names, addresses = names + config.challenge.block_list, addresses + config.challenge.online_block_list
        return user_id in names or self._lists.naming(user_id, addresses) is not None

    def _challenge(self, free: Sequence[str], situation: Situation, now: float) -> None:
        """The likeliest of those who are there and do not play."""
        found = next((it for it in self._shortlist if it.opponent in free), None)
        if found is None:
            self._give_up("all that suit are playing", now)
        elif situation.free_slots <= 0 or now < situation.humans_until:
            self._give_up("the slot is needed", now)
        elif not self._is_wanted(situation):
            self._give_up("none is wanted any more", now)
        else:
            self._asking = False
            self._last_kind = found.kind
            self._open = OpenChallenge(found, self._timeouts)
            self._log.info(
                "match.challenge",
                opponent=found.opponent,
                kind=found.kind,
                terms=found.terms,
                colour=found.terms.colour or "random",
            )
            self._outbox.send(self._open.creation)

    def _is_wanted(self, situation: Situation) -> bool:
        """While the questions of an attempt were answered, a game or a reload may have come in between."""
        config = situation.config.matchmaking
        return config.allow_matchmaking and (not situation.games or config.allow_during_games)

    def _give_up(self, reason: str, now: float) -> None:
        self._asking = False
        self._pause(now, in_vain=True)
        self._log.info("match.none", reason=reason)

    def _pause(self, now: float, *, in_vain: bool) -> None:
        """Until the next attempt: the longer, the more of them were in vain."""
        self._failures = self._failures + 1 if in_vain else 0
        ceiling = self._timeouts.challenge_spacing_ceiling
        self._not_before = now + doubled(self._timeouts.challenge_spacing, self._failures - 1, ceiling).total_seconds()

    # The open challenge

    def _hear_of_challenge(self, report: CommandDone | CommandFailed, situation: Situation, now: float) -> None:
        if self._open is not None:
            self._follow(self._open.hear(report, now), situation, now)

    def challenge_echoed(self, challenge: Challenge) -> None:
        """A challenge of this account, from here or from anywhere."""
        target = challenge.destination
        self._quota.note_challenge(challenge.id, time.time(), to_a_bot=target is not None and target.is_bot)
        if self._open is not None:
            self._send(self._open.echo(challenge, time.monotonic()))

    def challenge_declined(self, challenge: Challenge, situation: Situation) -> None:
        if self._is_open(challenge.id):
            reason = DeclineReason.received(challenge.decline_reason_key)
            self._follow(Declined(reason), situation, time.monotonic())

    def game_started(self, game_id: str, situation: Situation) -> None:
        if self._is_open(game_id):
            self._follow(Accepted(announced=True), situation, time.monotonic())

    def _is_open(self, challenge_id: str) -> bool:
        return self._open is not None and self._open.challenge_id == challenge_id

    def _send(self, command: MatchCommand | None) -> None:
        if command is not None:
            self._outbox.send(command)

    def _follow(self, step: MatchCommand | Outcome | None, situation: Situation, now: float) -> None:
        match step:
            case Accepted() | Declined() | Withdrawn() | NotSent():
                self._close(step, situation, now)
            case _:
                self._send(step)

    def _close(self, outcome: Outcome, situation: Situation, now: float) -> None:
        it = self._open
        assert it is not None
        self._open = None
        fields = {"challenge": it.challenge_id, "opponent": it.proposal.opponent}
        match outcome:
            case Accepted(announced):
                self._log.info("match.accepted", **fields)
                self._ours.add(it.challenge_id or "")
                self._idle_since = now     # also where the game has no clock, and is none that is played
                self._opponents.agreed(it.proposal.opponent, it.proposal.terms)
                if not announced:
                    self._look_for_game(it, now)
            case Declined(reason):
                self._remember(it.proposal, reason, situation, **fields)
            case Withdrawn(unanswered, certain, out_of_reach):
                if unanswered:
                    self._remember(it.proposal, Silence.UNANSWERED, situation, **fields)
                else:
                    self._log.info("match.withdrawn", **fields)
                if not certain and not (out_of_reach and self._stopping):
                    self._look_for_game(it, now)
            case NotSent(None, out_of_reach):
                self._log.info("match.lost", **fields)
                if not (out_of_reach and self._stopping):
                    self._look_for_game(it, now)
            case NotSent(error):
                self._remember_refusal(it.proposal, error, situation, **fields)
        self._pause(now, in_vain=not isinstance(outcome, Accepted))

    def _look_for_game(self, challenge: OpenChallenge, now: float) -> None:
        """It may have become a game of which we were not told: its slot is kept until a look tells.

        Who stops while Lichess is out of reach does not come here: the next start finds the game.
        """
        self._ours.add(challenge.challenge_id or "")
        challenge_id = challenge.challenge_id or f"to {challenge.proposal.opponent}"
        self._keep_slot(challenge_id, _guest(challenge.proposal), now)

    def _remember(
        self, proposal: Proposal, reason: DeclineReason | Silence, situation: Situation, **fields: str | None
    ) -> None:
        rule = situation.config.matchmaking.challenge_filter
        until = self._opponents.declined(proposal.opponent, proposal.terms, reason, rule, time.time())
        self._log.info("match.declined", **fields, reason=reason, rests_until=_date(until))

    def _remember_refusal(
        self, proposal: Proposal, error: Exception | None, situation: Situation, **fields: str | None
    ) -> None:
        match error:
            case RateLimited():
                self.hear_limit(error, situation.config)
            case Refused(pause=None):
                self._log.info("match.refused", **fields, text=error.text)
                self._remember(proposal, Silence.REFUSED, situation, **fields)
            case Refused(pause=pause) if pause is not None:
                until = time.time() + pause.total_seconds()
                self._opponents.capped(proposal.opponent, until)
                self._log.info("match.capped", **fields, rests_until=_date(until))

    # Slots and quotas

    def hear_limit(self, error: RateLimited, config: Config) -> None:
        """A challenge or an acceptance was refused with a 429."""
        self._quota.hear(error, time.time())
        self._log.warning("quota", text=error.text, status=self.status(config) or None)

    def objection_to_bots(self, config: Config, humans_until: float, expected: int = 0) -> Decline | None:
        """Why a bot that challenges us gets no slot now; None if it may. `expected`: games with bots about to begin."""
        if time.monotonic() < humans_until:
            return _WHILE_A_HUMAN_WAITS
        now = time.time()
        if self._quota.bot_game_at(config.matchmaking, now, expected + len(self)) <= now:
            return None
        most = self._quota.most_bot_games(config.matchmaking)
        return Decline(DeclineReason.LATER, f"matchmaking.bot_games_per_day = {most}", self.status(config))

    def stop(self) -> None:
        """No new games."""
        self._stopping = True
        self.give_way()

    def give_way(self) -> None:
        """Somebody waits for a slot: ours is free as soon as our challenge is withdrawn."""
        if self._open is not None:
            self._send(self._open.withdraw())

    def note_game(self, full: GameFull) -> None:
        """A game of ours, as its stream tells it: if it is one between bots, it counts."""
        us = self._us
        if us is None:
            return
        colour = Colour.WHITE if full.white.id == us.id else Colour.BLACK
        them = full.player(Colour.BLACK if colour is Colour.WHITE else Colour.WHITE)
        if them.title != BOT_TITLE or them.id is None:
            return
        began_at = min(time.time(), full.created_at_ms / 1000 or math.inf)
        self._diary.note(BotGame(full.id, them.id, full.speed, colour, full.id in self._ours, began_at))
        self._ours.discard(full.id)

    def status(self, config: Config) -> str:
        """In words; nothing if there is nothing to say."""
        return self._quota.in_words(config.matchmaking, time.time())


def _guest(proposal: Proposal) -> SlotHolder:
    return SlotHolder(proposal.opponent, is_bot=True, has_clock=proposal.terms.has_clock)


def _date(moment: float) -> str:
    """The day as well, if it is not within these 24 hours."""
    far = moment - time.time() > 24 * 3600
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)) if far else clock_time(moment)
