"""Answer each challenge once, queue those that wait for a slot, and keep a slot for each one accepted.

For the main thread. Knows what was answered, also before a restart. `policy` decides whom to accept, `queue` who is
next, and the outbox delivers the answer.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.policy import Accept, ChallengerHistory, Ignore, Wait, decide, slot_holder_of
from lichessbot.challenges.queue import ChallengeQueue, QueuedChallenge
from lichessbot.challenges.slots import SlotHolder, Slots
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.config import ChallengeConfig
from lichessbot.control.status import ChallengeDecision, WaitingChallenge
from lichessbot.errors import ApiError, RateLimited, Refused
from lichessbot.lichess.commands import AcceptChallenge, ChallengeAnswer, CommandFailed, DeclineChallenge
from lichessbot.lichess.enums import DeclineReason, Mode, Preference, Speed
from lichessbot.lichess.models import BOT_TITLE, Challenge, ChallengeReceived, GameInfo, Opponent, VariantRef
from lichessbot.lichess.outbox import Outbox
from lichessbot.log import EventLog
from lichessbot.storage.challenge_records import ChallengeOutcome, ChallengeRecord
from lichessbot.storage.store import LimitedAction, Store
from lichessbot.timeouts import Timeouts

_NOT_FOUND: Final = 404
_LAST_CHALLENGES: Final = 20
_GONE: Final = ("The challenge has been canceled", "The challenge has been declined")
_TAKEN: Final = ("The challenge has already been accepted", "The challenge has been accepted")


class ChallengeHandler:
    """Answers every challenge, once."""

    def __init__(
        self,
        outbox: Outbox,
        store: Store,
        timeouts: Timeouts,
        lists: PlayerLists,
        slots: Slots,
        snapshot: Callable[[], Snapshot],
    ) -> None:
        self._outbox = outbox
        self._store = store
        self._timeouts = timeouts
        self._lists = lists
        self._slots = slots
        self._snapshot = snapshot
        self._log = EventLog()
        self._queue = ChallengeQueue()
        self.human_expected_until = -math.inf
        """Until when (monotonic seconds) a human who found no slot may come back for the next one."""
        self._answered_again: set[str] = set()
        """Challenges whose answer met a rate limit and was sent once more."""

    @property
    def wake_at(self) -> float | None:
        """When `serve_queue` has something to do besides giving away free slots."""
        return self._queue.wake_at

    def puts_humans_first(self, config: ChallengeConfig) -> bool:
        """Return whether bots get no slot for now, as a human found none; never if they are served before humans."""
        return config.preference is not Preference.BOT and time.monotonic() < self.human_expected_until

    @property
    def has_waiting(self) -> bool:
        """Whether any challenge waits for a slot."""
        return len(self._queue) > 0

    def waiting(self, config: ChallengeConfig) -> Sequence[str]:
        """Return the names of the challengers who wait for a slot, the next one first."""
        challengers = (queued.challenge.challenger for queued in self._queue.in_order(config))
        return [str(user) for user in challengers if user.id]

    def describe(self, config: ChallengeConfig) -> tuple[WaitingChallenge, ...]:
        """Return the challenges that wait for a slot, the next one first, for the operator."""
        return tuple(_waiting(queued, time.monotonic()) for queued in self._queue.in_order(config))

    def describe_last(self) -> tuple[ChallengeDecision, ...]:
        """Return what became of the latest challenges, the newest last, for the operator."""
        newest = self._store.challenges.newest(_LAST_CHALLENGES)
        return tuple(_decision(it, is_waiting=it.id in self._queue) for it in newest)

    # Challenges

    def answer(self, received: ChallengeReceived, received_at: float) -> None:
        """Answer a challenge or queue it, unless it was answered before or needs no answer."""
        challenge = received.challenge
        if self._store.answered(challenge.id) or challenge.id in self._queue:
            return
        snapshot = self._snapshot()
        decision = decide(received, snapshot, self._history(challenge, snapshot))
        if isinstance(decision, Ignore):
            self._log.debug("challenge.ignore", **_facts(challenge), because=decision.because)
            return
        if time.monotonic() + self._outbox.pause_s > self._until(challenge, received_at):
            because = "Lichess asked for a pause that outlasts the challenge"
            self._log.info("challenge.missed", **_facts(challenge), because=because)
            self._store.note_challenge(replace(_entry(challenge), answer=ChallengeOutcome.MISSED, because=because))
            return
        for older in self._queue.drop_replaced(challenge):
            self._close(older.id, ChallengeOutcome.REPLACED, f"by {challenge.id}")
        self._store.note_challenge(_entry(challenge))
        match decision:
            case Accept():
                self._accept(challenge, decision, received_at)
            case Decline():
                self._decline(challenge, decision)
            case Wait() if received.is_replay:
                because = f"{decision.because}, and it may have waited for long already"
                self._decline_later(challenge, decision.rule, because)
            case Wait():
                self._wait(received, decision, received_at, snapshot.config.challenge)

    def decline_unreadable(self, challenge: Challenge, problem: str) -> None:
        """Decline a challenge that this version cannot read, once."""
        if self._store.answered(challenge.id):
            return
        self._store.note_challenge(_entry(challenge))
        because = f"this version cannot read it ({problem})"
        self._decline(challenge, Decline(DeclineReason.GENERIC, "the Bot API", because))

    def serve_queue(self) -> None:
        """Give free slots to the challenges that wait, and decline those that waited too long."""
        for expired in self._queue.drop_expired(time.monotonic()):
            because = f"no slot became free within {self._timeouts.challenge_wait.total_seconds():g} s"
            self._decline_later(expired.challenge, expired.rule, because)
        for queued in self._queue.in_order(self._snapshot().config.challenge):
            challenge, snapshot = queued.challenge, self._snapshot()  # each acceptance takes a slot
            decision = decide(queued.received, snapshot, self._history(challenge, snapshot))
            if not isinstance(decision, Wait):
                self._queue.drop(challenge.id)
            match decision:
                case Accept():
                    self._accept(challenge, decision, queued.since)
                case Decline():
                    self._decline(challenge, decision)

    def canceled(self, challenge: Challenge) -> None:
        """Forget a challenge that was withdrawn, by the challenger or by us."""
        self._slots.free(challenge.id)
        waited = self._queue.drop(challenge.id)
        self._log.info("challenge.canceled", challenge=challenge.id, waited=waited or None)
        if waited:
            self._close(challenge.id, ChallengeOutcome.CANCELED, "by the challenger")

    def declined(self, challenge: Challenge) -> None:
        """Forget a challenge that was declined, by us or by another program of ours."""
        self._slots.free(challenge.id)
        if self._queue.drop(challenge.id):
            self._close(challenge.id, ChallengeOutcome.DECLINED, "by another program")

    def _history(self, challenge: Challenge, snapshot: Snapshot) -> ChallengerHistory:
        config, user_id = snapshot.config.challenge, challenge.challenger.id
        age_s, now_s = config.recent_bot_challenge_age or 0, time.time()
        return ChallengerHistory(
            recent=self._store.challenges.accepted_lately(user_id, age_s, now_s),
            rematches=self._store.times_done(challenge.rematch_of or "", LimitedAction.REMATCH),
            listed_on=self._lists.naming(user_id, config.block_lists_for(user_id)),
            is_blocked=user_id in self._lists.blocked,
        )

    def slot_holders(self, games: Iterable[GameInfo]) -> tuple[SlotHolder, ...]:
        """Return who takes a slot: the opponents in `games` and in games about to start."""
        return (*self._slots.holders, *map(self._slot_holder, games))

    def _slot_holder(self, info: GameInfo) -> SlotHolder:
        """Return the opponent as the challenge described them, which tells more than the game does."""
        entry = self._store.challenges.get(info.game_id)
        if entry is not None:
            return SlotHolder(entry.challenger, entry.is_bot, entry.has_clock)
        return SlotHolder(info.opponent.id or "", info.opponent.is_bot, info.speed != Speed.CORRESPONDENCE)

    def _accept(self, challenge: Challenge, decision: Accept, since: float) -> None:
        self._log.debug("challenge.accepting", **_facts(challenge), rule=decision.rule)
        self._slots.reserve(challenge.id, slot_holder_of(challenge))
        if challenge.rematch_of is not None:
            self._store.note_rematch(challenge.id, challenge.rematch_of)
        self._record(challenge.id, answer=ChallengeOutcome.ACCEPTED, rule=decision.rule, because=decision.because)
        self._send(AcceptChallenge(challenge.id, until=self._until(challenge, since)))

    def _until(self, challenge: Challenge, since: float) -> float:
        """Return when an answer comes too late; a challenge without a clock does not expire."""
        patience_s = self._timeouts.request_patience.total_seconds()
        return math.inf if challenge.time_control.clock is None else since + patience_s

    def _decline_later(self, challenge: Challenge, rule: str, because: str) -> None:
        """Decline because no slot is free, and keep the next one for a while for a human who may come back."""
        if not challenge.challenger.is_bot:
            self.human_expected_until = time.monotonic() + self._timeouts.human_waits.total_seconds()
        self._decline(challenge, Decline(DeclineReason.LATER, rule, because))

    def _decline(self, challenge: Challenge, decision: Decline) -> None:
        reason, rule, because = decision.reason, decision.rule, decision.because
        self._log.info("challenge.decline", **_facts(challenge), reason=reason, rule=rule, because=because)
        self._record(challenge.id, answer=ChallengeOutcome.DECLINED, reason=reason, rule=rule, because=because)
        self._send(DeclineChallenge(challenge.id, reason, until=self._until(challenge, time.monotonic())))

    def _wait(self, received: ChallengeReceived, decision: Wait, since: float, config: ChallengeConfig) -> None:
        challenge = received.challenge
        self._record(challenge.id, answer=ChallengeOutcome.WAITING, rule=decision.rule, because=decision.because)
        until = since + self._timeouts.challenge_wait.total_seconds()
        self._queue.add(QueuedChallenge(received, since, until, decision.rule))
        for hopeless in self._queue.drop_hopeless(config):
            because = "every slot is taken, and as many challenges wait as there are slots"
            if self._queue.has_bots:  # they rank ahead, and would lose the slot if it were kept for this challenger
                self._decline(hopeless.challenge, Decline(DeclineReason.LATER, hopeless.rule, because))
            else:
                self._decline_later(hopeless.challenge, hopeless.rule, because)
        if challenge.id in self._queue:
            self._log.info("challenge.wait", **_facts(challenge), rule=decision.rule)

    def _send(self, command: ChallengeAnswer) -> None:
        self._store.note_answering(command.challenge_id)
        self._outbox.send(command)

    def _close(self, challenge_id: str, outcome: ChallengeOutcome, because: str) -> None:
        """Record that a challenge needs no answer any more."""
        self._log.info("challenge.closed", challenge=challenge_id, answer=outcome, because=because)
        self._record(challenge_id, answer=outcome, because=because)

    def _record(self, challenge_id: str, **changes: object) -> None:
        entry = self._store.challenges.get(challenge_id)
        if entry is not None:
            self._store.note_challenge(replace(entry, **changes))  # type: ignore[arg-type]

    # What became of our answers

    def answer_arrived(self, command: ChallengeAnswer) -> None:
        self._answered_again.discard(command.challenge_id)
        self._store.note_answered(command.challenge_id)
        entry = self._store.challenges.get(command.challenge_id)
        if isinstance(command, AcceptChallenge):
            who, speed, rule = (entry.challenger, entry.speed, entry.rule) if entry else (None, None, None)
            self._log.info("challenge.accept", challenge=command.challenge_id, challenger=who, speed=speed, rule=rule)
        self._slots.expect(command.challenge_id, time.monotonic())

    def answer_failed(self, command: ChallengeAnswer, report: CommandFailed) -> None:
        """Allow another answer if this one may not have arrived, and find out what an acceptance led to."""
        if not isinstance(report.error, Refused):
            self._store.forget_answer(command.challenge_id)
        entry = self._store.challenges.get(command.challenge_id)
        if isinstance(command, AcceptChallenge):
            self._acceptance_failed(command.challenge_id, report.error, report.perhaps_done)
        elif command.until == math.inf and self._may_answer_again(command.challenge_id, report.error):
            self._answer_again(command)
        else:
            self._answered_again.discard(command.challenge_id)
            if not report.perhaps_done and entry is not None:
                because = f"{entry.because}; but the challenger was not told: {report.error}"
                self._record(command.challenge_id, because=because)

    def _acceptance_failed(self, challenge_id: str, error: ApiError, perhaps_done: bool) -> None:
        """Free the slot if there is no game, and decline a challenge that is still open.

        After a short rate limit, a correspondence challenge is accepted once more, as it does not expire.
        """
        entry = self._store.challenges.get(challenge_id)
        expires = entry is None or entry.has_clock
        match error:
            case Refused(text=text) if text.startswith(_GONE):
                self._slots.free(challenge_id)
                self._close(challenge_id, ChallengeOutcome.NO_GAME, text)
            case _ if perhaps_done:
                self._slots.doubt(challenge_id, time.monotonic(), likely=True)
            case Refused(status=status, text=text) if status == _NOT_FOUND or text.startswith(_TAKEN):
                self._slots.doubt(challenge_id, time.monotonic())
            case RateLimited() if not expires and self._may_answer_again(challenge_id, error):
                self._answer_again(AcceptChallenge(challenge_id, until=math.inf))
            case Refused() | RateLimited():
                self._slots.free(challenge_id)
                self._answered_again.discard(challenge_id)
                later, outcome = DeclineReason.LATER, ChallengeOutcome.DECLINED
                self._record(challenge_id, answer=outcome, reason=later, rule="Lichess", because=str(error))
                self._send(DeclineChallenge(challenge_id, later, until=None if expires else math.inf))
            case _:
                self._slots.free(challenge_id)
                self._close(challenge_id, ChallengeOutcome.NO_GAME, str(error))      # it was never sent

    def _may_answer_again(self, challenge_id: str, error: ApiError) -> bool:
        """Return whether a rate limit was met for the first time; a longer pause is a quota, which is used up for long.

        Only for a challenge that does not expire.
        """
        is_short = isinstance(error, RateLimited) and not error.quota and error.pause <= self._timeouts.longest_pause
        return is_short and challenge_id not in self._answered_again

    def _answer_again(self, command: ChallengeAnswer) -> None:
        """Send an answer once more; the outbox waits for the end of the pause."""
        self._answered_again.add(command.challenge_id)
        self._send(command)

    # Games

    def game_started(self, game_id: str) -> None:
        self._slots.free(game_id)
        self._outbox.settle(AcceptChallenge(game_id))  # whose answer may be slow, or lost
        if self._queue.drop(game_id):
            self._close(game_id, ChallengeOutcome.ACCEPTED, "by another program")

    def unlisted_games(self) -> list[GameInfo]:
        """Return games that probably began but that no stream and no list shows; their ids are their challenges'."""
        entries = [self._store.challenges.get(challenge_id) for challenge_id in self._slots.unlisted(time.monotonic())]
        return [
            GameInfo(
                gameId=entry.id,
                variant=VariantRef(key=entry.variant),
                speed=entry.speed,
                opponent=Opponent(id=entry.challenger, username=entry.challenger),
            )
            for entry in entries
            if entry is not None
        ]

    def free_overdue(self, asked_at: float) -> None:
        """Free the slots of games that were overdue when a list was requested at `asked_at`.

        The slots of those in the list were freed before, by `game_started`.
        """
        self._record_no_game(self._slots.free_overdue(asked_at))

    def playing_failed(self, *, is_refused: bool) -> None:
        """Free the slots of overdue games that probably did not begin, as no list shows whether they did.

        If lists are not refused, this waits until none has come for long: Lichess may answer everything else meanwhile.
        """
        grace_s = 0.0 if is_refused else self._timeouts.heartbeat.total_seconds()
        self._record_no_game(self._slots.free_unlikely(time.monotonic(), grace_s))

    def _record_no_game(self, challenge_ids: Sequence[str]) -> None:
        for challenge_id in challenge_ids:
            self._log.warning("challenge.no_game", challenge=challenge_id)
            because = "it was gone when the acceptance arrived"
            self._record(challenge_id, answer=ChallengeOutcome.NO_GAME, because=because)


def _waiting(queued: QueuedChallenge, now: float) -> WaitingChallenge:
    challenge = queued.challenge
    user = challenge.challenger
    return WaitingChallenge(
        challenge_id=challenge.id,
        challenger=str(user),
        title=user.title,
        rating=user.rating,
        time_control=str(challenge.time_control),
        variant=challenge.variant.key,
        rated=challenge.rated,
        waits_for_s=now - queued.since,
        expires_in_s=max(0.0, queued.until - now),
    )


def _decision(it: ChallengeRecord, *, is_waiting: bool) -> ChallengeDecision:
    # It has expired if an earlier process was killed while it waited.
    has_expired = it.answer is ChallengeOutcome.WAITING and not is_waiting
    return ChallengeDecision(
        at_epoch_s=it.received_at,
        challenger=it.shown_challenger or "anonymous",
        title=BOT_TITLE if it.is_bot else "",
        rating=it.rating,
        terms=f"{it.terms} {it.variant}",
        decision=ChallengeOutcome.MISSED if has_expired else it.answer,
        rule=it.rule,
        reason=it.reason,
        because=it.because,
    )


def _facts(challenge: Challenge) -> dict[str, object]:
    user = challenge.challenger
    return {
        "challenge": challenge.id,
        "challenger": user.id or "anonymous",
        "speed": challenge.speed,
        "rematch_of": challenge.rematch_of,
        "title": user.title or None,
        "rating": user.rating,
        "clock": challenge.time_control,
        "rated": challenge.rated,
        "variant": challenge.variant.key,
    }


def _entry(challenge: Challenge) -> ChallengeRecord:
    user = challenge.challenger
    return ChallengeRecord(
        id=challenge.id,
        received_at=time.time(),
        challenger=user.id,
        is_bot=user.is_bot,
        rating=user.rating,
        our_rating=challenge.destination.rating,
        variant=challenge.variant.key,
        speed=challenge.speed,
        terms=f"{challenge.time_control} {(Mode.RATED if challenge.rated else Mode.CASUAL)}",
        has_clock=challenge.time_control.clock is not None,
        answer=ChallengeOutcome.WAITING,
        reason="",
        rule="",
        because="",
        challenger_name=user.name.removeprefix(f"{user.title} "),
    )
