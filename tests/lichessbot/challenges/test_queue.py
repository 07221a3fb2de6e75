"""Which challenges wait, in which order, and which are declined."""

import math
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lichessbot.challenges.handler import ChallengeHandler
from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.policy import Snapshot
from lichessbot.challenges.queue import ChallengeQueue, QueuedChallenge
from lichessbot.challenges.slots import Slots
from lichessbot.config import ChallengeConfig, Config
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.lichess.commands import AcceptChallenge, CommandFailed, DeclineChallenge
from lichessbot.lichess.enums import DeclineReason
from lichessbot.lichess.models import ChallengeReceived, GameInfo
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts

NOW = 1000.0
CLOCK = {"type": "clock", "limit": 180, "increment": 2}


def received(
    name: str, *, rating: int | None = 1500, title: str | None = None, rated: bool = False, days: int | None = None
) -> ChallengeReceived:
    """A challenge whose id is the challenger's name."""
    challenge = {
        "id": name,
        "challenger": {"id": name, "rating": rating, "title": title},
        "variant": {"key": "standard"},
        "rated": rated,
        "speed": "correspondence" if days else "blitz",
        "timeControl": {"type": "correspondence", "daysPerTurn": days} if days else CLOCK,
    }
    return ChallengeReceived.model_validate({"challenge": challenge, "compat": {"bot": True}})


def config(**keys: Any) -> ChallengeConfig:
    return ChallengeConfig.model_validate({"concurrency": 64, **keys})


def waiting_until(received: ChallengeReceived, until: float = NOW) -> QueuedChallenge:
    return QueuedChallenge(received, NOW - 12, until, "challenge.concurrency = 1")


def queue_of(*challenges: ChallengeReceived) -> ChallengeQueue:
    queue = ChallengeQueue()
    for it in challenges:
        queue.add(waiting_until(it))
    return queue


def ids(waiting: list[QueuedChallenge]) -> list[str]:
    return [it.challenge.id for it in waiting]


WEAK = received("weak", rating=1000)
STRONG = received("strong", rating=2000)
RATED = received("rated", rating=1850, rated=True)
MASTER = received("master", rating=1900, title="FM")
MACHINE = received("machine", rating=3000, title="BOT")
UNRATED = received("nobody", rating=None)


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ({"sort_by": "first"}, ["nobody", "weak", "strong", "machine", "rated", "master"]),
        ({}, ["machine", "master", "rated", "strong", "weak", "nobody"]),
        ({"preference": "human"}, ["master", "rated", "strong", "weak", "nobody", "machine"]),
        ({"preference": "bot", "sort_by": "first"}, ["machine", "nobody", "weak", "strong", "rated", "master"]),
    ],
)
def test_the_order_is_by_kind_then_merit_or_arrival(keys: dict[str, Any], order: list[str]) -> None:
    assert ids(queue_of(UNRATED, WEAK, STRONG, MACHINE, RATED, MASTER).in_order(config(**keys))) == order


def test_equals_keep_the_order_in_which_they_came() -> None:
    names = [f"p{number}" for number in range(9)]
    assert ids(queue_of(*map(received, names)).in_order(config())) == names


def test_no_challenge_waits_past_its_deadline() -> None:
    waiting = queue_of(WEAK)
    waiting.add(waiting_until(STRONG, NOW + 5))
    assert waiting.wake_at == NOW
    assert ids(waiting.drop_expired(NOW)) == ["weak"]
    assert waiting.wake_at == NOW + 5
    assert ids(waiting.drop_expired(NOW + 4)) == []
    assert "strong" in waiting


def test_a_newer_challenge_of_the_same_player_takes_the_place_of_the_older() -> None:
    waiting = queue_of(WEAK, STRONG)
    newer = WEAK.challenge.model_copy(update={"id": "newer"})
    assert [it.id for it in waiting.drop_replaced(newer)] == ["weak"]
    anonymous = newer.model_copy(update={"challenger": None})
    assert waiting.drop_replaced(anonymous) == []
    assert len(waiting) == 1


def test_no_more_challenges_are_queued_than_slots_and_the_best_stay() -> None:
    waiting = queue_of(STRONG, WEAK, MASTER)
    assert ids(waiting.drop_hopeless(config(concurrency=2))) == ["weak"]
    assert ids(waiting.in_order(config())) == ["master", "strong"]


def test_bots_are_not_queued_for_slots_reserved_for_humans() -> None:
    machines = [received(f"m{number}", title="BOT") for number in range(3)]
    waiting = queue_of(*machines, WEAK)
    assert ids(waiting.drop_hopeless(config(concurrency=3, games_reserved_for_humans=2))) == ["m2", "m1"]


_CHALLENGES = st.lists(
    st.builds(
        received,
        st.from_regex(r"[a-z]{8}", fullmatch=True),
        rating=st.one_of(st.none(), st.integers(400, 4000)),
        title=st.sampled_from([None, "GM", "BOT"]),
        rated=st.booleans(),
    ),
    unique_by=lambda it: it.challenge.id,
    max_size=12,
)


@given(challenges=_CHALLENGES, slots=st.integers(1, 4), reserved=st.integers(0, 4))
def test_every_queued_challenge_could_start_if_every_game_ended(
    challenges: list[ChallengeReceived], slots: int, reserved: int
) -> None:
    rules = config(concurrency=slots, games_reserved_for_humans=min(slots, reserved))
    waiting = queue_of(*challenges)
    before = ids(waiting.in_order(rules))
    gone = ids(waiting.drop_hopeless(rules))
    after = waiting.in_order(rules)
    bots = sum(it.challenge.from_bot for it in after)
    assert len(after) <= slots
    assert bots <= slots - min(slots, reserved)
    assert ids(after) == [it for it in before if it not in gone]
    humans = [it for it in challenges if not it.challenge.from_bot]
    assert len(after) == min(slots, len(humans) + min(len(challenges) - len(humans), slots - min(slots, reserved)))


def test_a_challenge_leaves_once() -> None:
    waiting = queue_of(WEAK)
    assert waiting.drop("weak")
    assert not waiting.drop("weak")
    assert waiting.wake_at is None


# The reception that serves them


class Outbox:
    """An outbox that only keeps what it is told to send."""

    pause_s = 0.0

    def __init__(self) -> None:
        self.sent: list[AcceptChallenge | DeclineChallenge] = []

    def send(self, command: AcceptChallenge | DeclineChallenge) -> None:
        self.sent.append(command)


class Desk(ChallengeHandler):
    """A challenge handler with the games and the rules that a test gives it."""

    def __init__(self, store: Store, outbox: Outbox, timeouts: Timeouts) -> None:
        self.config, self.games, self.slots = Config(), list[GameInfo](), Slots(timeouts.game_start)
        lists = PlayerLists(store, SimpleQueue[Any]().put, timeouts, None)
        super().__init__(outbox, store, timeouts, lists, self.slots, self.now)  # type: ignore[arg-type]

    def now(self) -> Snapshot:
        return Snapshot(self.config, "us", self.slot_holders(self.games))


@contextmanager
def handler(folder: Path, outbox: Outbox, timeouts: Timeouts) -> Iterator[Desk]:
    with closing(Store(Database(folder))) as store:
        yield Desk(store, outbox, timeouts)


def test_an_acceptance_after_a_wait_counts_its_time_from_when_the_challenge_came(tmp_path: Path) -> None:
    outbox, timeouts = Outbox(), Timeouts()
    came_at = time.monotonic() - 5
    game = GameInfo.model_validate({"gameId": "abcd1234", "variant": {"key": "standard"}})
    with handler(tmp_path, outbox, timeouts) as desk:
        desk.games.append(game)
        desk.answer(WEAK, came_at)
        assert outbox.sent == []
        assert desk.wake_at == came_at + timeouts.challenge_wait.total_seconds()
        desk.games.clear()
        desk.serve_queue()
        (accepted,) = outbox.sent
        assert isinstance(accepted, AcceptChallenge)
        assert accepted.until == came_at + timeouts.request_patience.total_seconds()
        assert len(desk.slots) == 1


GONE, LIMITED = Refused(404, "Not found"), RateLimited(timedelta(seconds=60), "Too many requests")
TOO_LATE = Unreachable("not sent: too late to be of use")
UNSURE = [CommandFailed(AcceptChallenge("weak"), error, perhaps_done=True) for error in (GONE, LIMITED, TOO_LATE)]


@pytest.mark.parametrize("report", UNSURE, ids=["gone", "limited", "too late"])
def test_an_acceptance_with_an_unanswered_attempt_may_be_an_unannounced_game(
    tmp_path: Path, report: CommandFailed
) -> None:
    outbox = Outbox()
    with handler(tmp_path, outbox, replace(Timeouts(), game_start=timedelta(0))) as desk:
        desk.answer(WEAK, time.monotonic())
        desk.answer_failed(AcceptChallenge("weak"), report)
        assert desk.unlisted_games() == [], "a look may tell"
        assert desk.slots.question_overdue(time.monotonic())
        (game,) = desk.unlisted_games()
        assert (game.game_id, game.opponent.id) == ("weak", "weak")
        assert len(outbox.sent) == 1, "no decline while a game may have begun"


def test_a_challenge_that_does_not_expire_is_answered_at_any_time(tmp_path: Path) -> None:
    """A pause that Lichess asks for may be longer than people wait for a game with a clock."""
    outbox = Outbox()
    correspondence = config(max_correspondence_games=1, time_controls=["correspondence"])
    with handler(tmp_path, outbox, Timeouts()) as desk:
        desk.config = Config(challenge=correspondence)
        for name in ("first", "second"):
            desk.answer(received(name, days=3), time.monotonic())
        accepted, declined = outbox.sent
        assert isinstance(accepted, AcceptChallenge)
        assert isinstance(declined, DeclineChallenge)
        assert accepted.until == declined.until == math.inf
        desk.answer_failed(accepted, CommandFailed(accepted, LIMITED))
        assert outbox.sent[-1] == DeclineChallenge("first", DeclineReason.LATER)
        assert outbox.sent[-1].until == math.inf
        assert desk.human_expected_until < time.monotonic(), "no slot was missing"


def test_a_decline_that_was_not_delivered_is_recorded_as_such(tmp_path: Path) -> None:
    outbox = Outbox()
    with closing(Store(Database(tmp_path))) as store:
        desk = Desk(store, outbox, Timeouts())
        desk.config = Config(challenge=config(time_controls=["rapid"]))
        desk.answer(WEAK, time.monotonic())
        (declined,) = outbox.sent
        desk.answer_failed(declined, CommandFailed(declined, TOO_LATE))
        entry = store.challenges["weak"]
        assert entry is not None
        assert entry.because.endswith("; but the challenger was not told: not sent: too late to be of use")


def test_an_acceptance_that_is_refused_at_the_first_attempt_is_no_game_to_look_for(tmp_path: Path) -> None:
    with handler(tmp_path, Outbox(), replace(Timeouts(), game_start=timedelta(0))) as desk:
        desk.answer(WEAK, time.monotonic())
        desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), GONE))
        assert desk.slots.question_overdue(time.monotonic())
        assert desk.unlisted_games() == []


def test_an_acceptance_that_was_never_sent_frees_its_slot_and_can_be_repeated(tmp_path: Path) -> None:
    outbox = Outbox()
    with handler(tmp_path, outbox, Timeouts()) as desk:
        for times in (1, 2):
            desk.answer(WEAK, time.monotonic())
            assert len(outbox.sent) == times
            desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), TOO_LATE))
            assert len(desk.slots) == 0
            assert not desk.slots.question_overdue(time.monotonic())
