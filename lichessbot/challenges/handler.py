"""The reception: answers challenges, once each, lets some wait, and keeps a slot for every one it accepted.

For the main thread. Knows what was answered, also before a restart; whom to accept is decided by `challenges`, who
goes first in `waiting`, and how an answer travels is the gate's work.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.policy import Accept, Circumstances, Decline, Ignore, Wait, decide, guest_of
from lichessbot.challenges.queue import ChallengeQueue, QueuedChallenge
from lichessbot.config import ChallengeConfig
from lichessbot.errors import ApiError, RateLimited, Refused
from lichessbot.lichess.commands import AcceptChallenge, CommandFailed, DeclineChallenge
from lichessbot.lichess.enums import DeclineReason, Mode, Speed
from lichessbot.lichess.models import Challenge, ChallengeReceived, GameInfo, Opponent, VariantRef
from lichessbot.lichess.outbox import Outbox
from lichessbot.log import EventLog
from lichessbot.slots import Occupancy, Slots
from lichessbot.storage.records import Answer, Entry, SlotHolder
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts

_NOT_FOUND: Final = 404
_SETTLED: Final = "The challenge has been"


@dataclass(frozen=True)
class Premises:
    """The house as it is at this moment."""

    config: ChallengeConfig
    our_id: str
    games: Sequence[GameInfo]
    stopping: bool = False
    ours: tuple[SlotHolder, ...] = ()
    """Slots that are taken, or kept, for games of our own making."""
    to_bots: Callable[[], Decline | None] = lambda: None
    """What every bot is told now; whoever is answered may change it for the next."""


class ChallengeHandler:
    """Whoever challenges us comes here."""

    def __init__(self, outbox: Outbox, store: Store, timeouts: Timeouts, lists: PlayerLists) -> None:
        self._outbox = outbox
        self._store = store
        self._timeouts = timeouts
        self._lists = lists
        self._log = EventLog()
        self._slots = Slots(timeouts.game_start)
        self._waiting = ChallengeQueue()
        self.humans_until = -math.inf
        """Until when (monotonic) a human who found no slot may come back for the next one."""

    def __len__(self) -> int:
        """How many games are about to start."""
        return len(self._slots)

    @property
    def wake_at(self) -> float | None:
        """When `has_doubt` is to be asked, or `serve` to be called."""
        moments = (self._slots.wake_at, self._waiting.wake_at)
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def has_waiting(self) -> bool:
        """Whether `serve` has something to do."""
        return len(self._waiting) > 0

    def waiting(self, config: ChallengeConfig) -> Sequence[str]:
        """The names of those who wait for a slot, who goes first first."""
        challengers = (received.challenge.challenger for received in self._waiting.in_order(config))
        return [user.name or user.id for user in challengers if user is not None]

    # Challenges

    def consider(self, received: ChallengeReceived, received_at: float, premises: Premises) -> None:
        """Answer a challenge or let it wait, unless it was answered before or is not for us to answer."""
        challenge = received.challenge
        if self._store.answered(challenge.id) or challenge.id in self._waiting:
            return
        decision = decide(received, premises.config, self._circumstances(challenge, premises))
        if isinstance(decision, Ignore):
            self._log.debug("challenge.ignore", **_facts(challenge), because=decision.because)
            return
        for older in self._waiting.drop_replaced(challenge):
            self._close(older.id, Answer.REPLACED, f"by {challenge.id}")
        self._store.note_challenge(_entry(challenge))
        match decision:
            case Accept():
                self._accept(challenge, decision, received_at)
            case Decline():
                self._decline(challenge, decision)
            case Wait() if received.is_replay:
                because = f"{decision.because}, and nobody knows how long it has waited"
                self._send_away(challenge, decision.rule, because)
            case Wait():
                self._wait(received, decision, received_at, premises.config)

    def serve(self, premises: Premises) -> None:
        """Give the free slots to those who wait, and send away those who waited in vain."""
        now = time.monotonic()
        for waiting in self._waiting.drop_expired(now):
            because = f"no slot became free within {self._timeouts.challenge_wait.total_seconds():g} s"
            self._send_away(waiting.challenge, waiting.rule, because)
        for waiting in self._waiting.in_order(premises.config):
            challenge = waiting.challenge
            decision = decide(waiting.received, premises.config, self._circumstances(challenge, premises))
            if not isinstance(decision, Wait):
                self._waiting.drop(challenge.id)
            match decision:
                case Accept():
                    self._accept(challenge, decision, waiting.since)
                case Decline():
                    self._decline(challenge, decision)

    def canceled(self, challenge: Challenge) -> None:
        """The challenger took it back, or we ours."""
        self.settled(challenge.id)
        waited = self._waiting.drop(challenge.id)
        self._log.info("challenge.canceled", challenge=challenge.id, waited=waited or None)
        if waited:
            self._close(challenge.id, Answer.CANCELED, "by the challenger")

    def occupancy(self, premises: Premises) -> Occupancy:
        """Who takes the slots."""
        return Occupancy.of((*self._slots.guests, *self._playing(premises.games), *premises.ours))

    def _circumstances(self, challenge: Challenge, premises: Premises) -> Circumstances:
        age_s = premises.config.recent_bot_challenge_age or 0
        book, challenger = self._store.challenges, guest_of(challenge).user_id
        return Circumstances(
            our_id=premises.our_id,
            occupancy=self.occupancy(premises),
            recent=book.accepted_since(challenger, time.time() - age_s),
            listed_on=self._lists.naming(challenger, premises.config.online_block_list),
            stopping=premises.stopping,
            to_bots=premises.to_bots(),
        )

    def _playing(self, games: Sequence[GameInfo]) -> Iterator[SlotHolder]:
        """A challenge tells more of its player than the game it became."""
        for info in games:
            entry = self._store.challenges[info.game_id]
            has_clock = info.speed != Speed.CORRESPONDENCE
            yield entry.slot_holder if entry else SlotHolder(info.opponent.id or "", info.opponent.is_bot, has_clock)

    def _accept(self, challenge: Challenge, decision: Accept, since: float) -> None:
        self._log.info("challenge.accept", **_facts(challenge), rule=decision.rule)
        self._slots.keep(challenge.id, guest_of(challenge))
        self._note(challenge.id, answer=Answer.ACCEPTED, rule=decision.rule, because=decision.because)
        self._answer(AcceptChallenge(challenge.id, self._until(challenge, since)))

    def _until(self, challenge: Challenge, since: float) -> float:
        """When an answer comes too late: a challenge without a clock does not expire."""
        patience_s = self._timeouts.request_patience.total_seconds()
        return math.inf if challenge.time_control.clock is None else since + patience_s

    def _send_away(self, challenge: Challenge, rule: str, because: str) -> None:
        """There was no slot for him in time; the next one is for a human who comes back."""
        if not challenge.from_bot:
            self.humans_until = time.monotonic() + self._timeouts.human_waits.total_seconds()
        self._decline(challenge, Decline(DeclineReason.LATER, rule, because))

    def _decline(self, challenge: Challenge, decision: Decline) -> None:
        reason, rule, because = decision.reason, decision.rule, decision.because
        self._log.info("challenge.decline", **_facts(challenge), reason=reason, rule=rule, because=because)
        self._note(challenge.id, answer=Answer.DECLINED, reason=reason, rule=rule, because=because)
        self._answer(DeclineChallenge(challenge.id, reason, self._until(challenge, time.monotonic())))

    def _wait(self, received: ChallengeReceived, decision: Wait, since: float, config: ChallengeConfig) -> None:
        challenge = received.challenge
        self._log.info("challenge.wait", **_facts(challenge), rule=decision.rule)
        self._note(challenge.id, answer=Answer.WAITING, rule=decision.rule, because=decision.because)
        until = since + self._timeouts.challenge_wait.total_seconds()
        self._waiting.add(QueuedChallenge(received, since, until, decision.rule))
        for hopeless in self._waiting.drop_hopeless(config):
            because = "every slot is taken, and as many wait as could start if every game ended now"
            self._send_away(hopeless.challenge, hopeless.rule, because)

    def _answer(self, command: AcceptChallenge | DeclineChallenge) -> None:
        self._store.note_answering(command.challenge_id)
        self._outbox.send(command)

    def _close(self, challenge_id: str, answer: Answer, because: str) -> None:
        """It will be answered by nobody any more."""
        self._log.info("challenge.closed", challenge=challenge_id, answer=answer, because=because)
        self._note(challenge_id, answer=answer, because=because)

    def _note(self, challenge_id: str, **changes: object) -> None:
        entry = self._store.challenges[challenge_id]
        if entry is not None:
            self._store.note_challenge(replace(entry, **changes))  # type: ignore[arg-type]

    @property
    def bots_expected(self) -> int:
        """Games against bots that were accepted and have not begun."""
        return sum(guest.is_bot for guest in self._slots.guests)

    # What became of our answers

    def answer_arrived(self, command: AcceptChallenge | DeclineChallenge) -> None:
        self._store.note_answered(command.challenge_id)
        self._slots.expect(command.challenge_id, time.monotonic())

    def answer_failed(self, command: AcceptChallenge | DeclineChallenge, report: CommandFailed) -> None:
        """An answer that may not have arrived can be given again if the challenge is repeated."""
        if not isinstance(report.error, Refused):
            self._store.forget_answer(command.challenge_id)
        if isinstance(command, AcceptChallenge):
            self._acceptance_failed(command.challenge_id, report.error, report.perhaps_done)
        elif not report.perhaps_done:
            self._note_undelivered(command.challenge_id, report.error)

    def _acceptance_failed(self, challenge_id: str, error: ApiError, perhaps_done: bool) -> None:
        """Who is gone needs no answer; who was refused for another reason is still waiting for one."""
        match error:
            case Refused(text=text) if text.startswith(_SETTLED):
                self._slots.free(challenge_id)
                self._close(challenge_id, Answer.NO_GAME, text)
            case _ if perhaps_done:
                self._slots.doubt(challenge_id, time.monotonic(), likely=True)
            case Refused(status=status) if status == _NOT_FOUND:
                self._slots.doubt(challenge_id, time.monotonic())
            case Refused() | RateLimited():
                self._slots.free(challenge_id)
                later = DeclineReason.LATER
                self._note(challenge_id, answer=Answer.DECLINED, reason=later, rule="Lichess", because=str(error))
                entry = self._store.challenges[challenge_id]
                expires = entry is None or entry.has_clock
                self._answer(DeclineChallenge(challenge_id, later, None if expires else math.inf))
            case _:
                self._slots.free(challenge_id)
                self._close(challenge_id, Answer.NO_GAME, str(error))      # it was never sent

    def _note_undelivered(self, challenge_id: str, error: ApiError) -> None:
        entry = self._store.challenges[challenge_id]
        if entry is not None:
            self._note(challenge_id, because=f"{entry.because}; but he was not told: {error}")

    # Our own challenges

    def keep_for_ours(self, challenge_id: str, guest: SlotHolder, until: float) -> None:
        """A slot for a challenge we made, until it is `settled`, or a look after `until` (monotonic) says so."""
        self._slots.keep_open(challenge_id, guest, until)

    def settled(self, challenge_id: str) -> None:
        """It was declined or canceled, whoever made it: no game will come of it."""
        self._slots.free(challenge_id)

    # Games

    def game_started(self, game_id: str) -> None:
        self._slots.free(game_id)
        self._waiting.drop(game_id)

    def has_doubt(self) -> bool:
        """Whether an accepted challenge should have become a game by now."""
        return self._slots.question(time.monotonic())

    def untold_games(self) -> list[GameInfo]:
        """Games that we accepted and of which nobody tells, not even when asked: they have their challenges' ids."""
        entries = [self._store.challenges[challenge_id] for challenge_id in self._slots.untold(time.monotonic())]
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

    def compare(self, games: Sequence[GameInfo], asked_at: float) -> None:
        """A look at the games in progress, begun at `asked_at`: what is overdue and not there will not come."""
        for challenge_id in self._slots.free_overdue(asked_at):
            self._log.warning("challenge.no_game", challenge=challenge_id)
            self._note(challenge_id, answer=Answer.NO_GAME, because="it was gone when the acceptance arrived")


def _facts(challenge: Challenge) -> dict[str, object]:
    user_id = guest_of(challenge).user_id
    return {
        "challenge": challenge.id,
        "challenger": user_id or "anonymous",
        "speed": challenge.speed,
        "rematch_of": challenge.rematch_of,
    }


def _entry(challenge: Challenge) -> Entry:
    guest, us = guest_of(challenge), challenge.destination
    return Entry(
        id=challenge.id,
        received_at=time.time(),
        challenger=guest.user_id,
        is_bot=guest.is_bot,
        rating=challenge.challenger.rating if challenge.challenger else None,
        our_rating=us.rating if us else None,
        variant=challenge.variant.key,
        speed=challenge.speed,
        terms=f"{challenge.time_control} {(Mode.RATED if challenge.rated else Mode.CASUAL)}",
        has_clock=guest.has_clock,
        answer=Answer.WAITING,
        reason="",
        rule="",
        because="",
    )
