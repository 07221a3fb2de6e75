"""The reception: answers challenges, once each, and keeps a slot for every one it accepted.

For the main thread. Knows what was answered, also before a restart; whom to accept is decided by
`challenges`, how an answer travels is the gate's work.
"""

import time
from collections.abc import Sequence
from datetime import timedelta

from lichessbot.challenges import Accept, Decline, Ignore, decide
from lichessbot.config import ChallengeConfig
from lichessbot.errors import ApiError, Refused
from lichessbot.events import ChallengeReceived, GameInfo
from lichessbot.gate import Gate
from lichessbot.journal import Journal
from lichessbot.messages import AcceptChallenge, DeclineChallenge
from lichessbot.slots import Slots
from lichessbot.store import Store


class Reception:
    """Whoever challenges us comes here."""

    def __init__(self, gate: Gate, store: Store, game_start: timedelta) -> None:
        self._gate = gate
        self._store = store
        self._journal = Journal()
        self._slots = Slots(game_start)

    def __len__(self) -> int:
        """How many games are about to start."""
        return len(self._slots)

    @property
    def wake_at(self) -> float | None:
        """When `has_doubt` is to be asked."""
        return self._slots.wake_at

    def consider(self, received: ChallengeReceived, config: ChallengeConfig, our_id: str, free_slots: int) -> None:
        """Answer a challenge, unless it was answered before or is not for us to answer."""
        challenge = received.challenge
        if self._store.answered(challenge.id):
            return
        challenger = challenge.challenger.id if challenge.challenger else "anonymous"
        facts = {"challenge": challenge.id, "challenger": challenger, "speed": challenge.speed}
        match decide(received, config, our_id, free_slots):
            case Accept():
                self._journal.info("challenge.accept", **facts)
                self._slots.keep(challenge.id)
                self._answer(AcceptChallenge(challenge.id))
            case Decline(reason, because):
                self._journal.info("challenge.decline", **facts, reason=reason, because=because)
                self._answer(DeclineChallenge(challenge.id, reason))
            case Ignore(because):
                self._journal.debug("challenge.ignore", **facts, because=because)

    def answer_arrived(self, command: AcceptChallenge | DeclineChallenge) -> None:
        self._store.note_answered(command.challenge_id)
        self._slots.expect(command.challenge_id, time.monotonic())

    def answer_failed(self, command: AcceptChallenge | DeclineChallenge, error: ApiError) -> None:
        """An answer that may not have arrived can be given again if the challenge is repeated."""
        self._slots.free(command.challenge_id)
        if not isinstance(error, Refused):
            self._store.forget_answer(command.challenge_id)

    def game_started(self, game_id: str) -> None:
        self._slots.free(game_id)

    def has_doubt(self) -> bool:
        """Whether an accepted challenge should have become a game by now."""
        return self._slots.question(time.monotonic())

    def compare(self, games: Sequence[GameInfo], asked_at: float) -> None:
        """A look at the games in progress, begun at `asked_at`: what is overdue and not there will not come."""
        for info in games:
            self._slots.free(info.game_id)
        for challenge_id in self._slots.free_overdue(asked_at):
            self._journal.warning("challenge.no_game", challenge=challenge_id)

    def _answer(self, command: AcceptChallenge | DeclineChallenge) -> None:
        self._store.note_answering(command.challenge_id)
        self._gate.send(command)
