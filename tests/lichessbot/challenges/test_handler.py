"""The handler of challenges: each is answered once, and a failed answer has its consequences."""

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from lichessbot.challenges.handler import ChallengeHandler
from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.slots import Slots
from lichessbot.challenges.snapshot import Snapshot
from lichessbot.config import Config
from lichessbot.config.matchmaking import RematchConfig, RematchWith
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.commands import AcceptChallenge, ChallengeAnswer, CommandFailed, DeclineChallenge
from lichessbot.lichess.enums import DeclineReason
from lichessbot.lichess.models import Challenge, ChallengeReceived, GameInfo
from lichessbot.storage.database import Database
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.lichessbot.challenges.challengers import STRONG, WEAK, config, received

AT_ONCE = Timeouts(game_start=timedelta(0))
GAME = GameInfo.model_validate({"gameId": "abcd1234", "variant": {"key": "standard"}})


class Outbox:
    """An outbox that only keeps what it is told to send."""

    pause_s = 0.0

    def __init__(self) -> None:
        self.sent: list[ChallengeAnswer] = []
        self.settled: list[AcceptChallenge] = []

    def send(self, command: ChallengeAnswer) -> None:
        self.sent.append(command)

    def settle(self, command: AcceptChallenge) -> None:
        self.settled.append(command)


class Desk(ChallengeHandler):
    """A challenge handler with the games and the rules that a test gives it."""

    def __init__(self, store: Store, timeouts: Timeouts | None = None) -> None:
        self.store, self.outbox, timeouts = store, Outbox(), timeouts or Timeouts()
        self.config, self.games, self.slots = Config(), list[GameInfo](), Slots(timeouts.game_start)
        lists = PlayerLists(store, SimpleQueue[Any]().put, timeouts, None)
        super().__init__(self.outbox, store, timeouts, lists, self.slots, self.snapshot)  # type: ignore[arg-type]

    def snapshot(self) -> Snapshot:
        return Snapshot(self.config, "us", self.slot_holders(self.games))


@pytest.fixture
def desk(store: Store) -> Desk:
    return Desk(store)


def test_a_challenge_announced_twice_is_answered_once(desk: Desk) -> None:
    desk.config = Config(challenge=config(concurrency=2))
    for _ in range(2):
        desk.answer(WEAK, time.monotonic())
    assert len(desk.outbox.sent) == 1


@pytest.mark.parametrize(("exceptions", "answer"), [((), DeclineChallenge), (["Weak"], AcceptChallenge)])
def test_an_exception_to_a_block_list_may_challenge(desk: Desk, exceptions: list[str], answer: type) -> None:
    desk.store.note_player_list(PlayerList("/srv/shared.txt", frozenset({WEAK.challenge.challenger.id})))
    desk.config = Config(challenge=config(block_list_files=["/srv/shared.txt"], block_list_exceptions=exceptions))
    desk.answer(WEAK, time.monotonic())
    assert [type(it) for it in desk.outbox.sent] == [answer]


def test_a_newer_challenge_of_the_same_player_replaces_the_queued_one(desk: Desk) -> None:
    desk.games.append(GAME)
    newer = WEAK.model_copy(update={"challenge": WEAK.challenge.model_copy(update={"id": "newer"})})
    for challenge in (WEAK, newer):
        desk.answer(challenge, time.monotonic())
    desk.games.clear()
    desk.serve_queue()
    (accepted,) = desk.outbox.sent
    assert accepted.challenge_id == "newer"


@pytest.mark.parametrize(
    ("waits", "declined", "is_kept"),
    [
        (STRONG, WEAK, True),
        (STRONG, received("machine", title="BOT"), False),
        (received("machine", rating=3000, title="BOT"), WEAK, False),
    ],
    ids=["a human", "a bot", "a human behind a bot"],
)
def test_the_next_slot_is_kept_for_a_human_who_found_none_unless_a_bot_waits(
    desk: Desk, waits: ChallengeReceived, declined: ChallengeReceived, is_kept: bool
) -> None:
    desk.games.append(GAME)
    for challenge in (waits, declined):
        desk.answer(challenge, time.monotonic())
    assert desk.outbox.sent == [DeclineChallenge(declined.challenge.id, DeclineReason.LATER)]
    assert desk.puts_humans_first(desk.config.challenge) is is_kept


@pytest.mark.parametrize(("ago_s", "is_accepted"), [(1800, False), (5400, True)])
def test_challenges_of_a_bot_count_for_as_long_as_the_key_says(desk: Desk, ago_s: int, is_accepted: bool) -> None:
    desk.config = Config(challenge=config(max_recent_bot_challenges=1, recent_bot_challenge_age=3600))
    first = received("machine", title="BOT")
    desk.answer(first, time.monotonic())
    desk.store.note_challenge(replace(desk.store.challenges.get("machine"), received_at=time.time() - ago_s))
    again = first.challenge.model_copy(update={"id": "again"})
    desk.answer(first.model_copy(update={"challenge": again}), time.monotonic())
    assert isinstance(desk.outbox.sent[-1], AcceptChallenge) is is_accepted


def test_a_rematch_is_accepted_from_those_and_as_often_in_a_row_as_configured(desk: Desk) -> None:
    desk.config = Config(challenge=config(), rematch=RematchConfig(accept=RematchWith.HUMAN, accepts_in_a_row=1))
    offers = [("first", None, "game"), ("second", None, "first"), ("third", "BOT", "game"), ("fourth", "BOT", None)]
    for name, title, rematch_of in offers:
        challenge = received(name, title=title).challenge.model_copy(update={"rematch_of": rematch_of})
        desk.answer(received(name).model_copy(update={"challenge": challenge}), time.monotonic())
    accepted, too_many, by_bot = "challenge.concurrency = 64", "rematch.accepts_in_a_row = 1", "rematch.accept = human"
    assert [it.rule for it in desk.describe_last()] == [accepted, too_many, by_bot, accepted]


def test_a_challenge_of_before_a_reconnection_does_not_wait_as_it_may_have_waited_for_long(desk: Desk) -> None:
    desk.games.append(GAME)
    desk.answer(ChallengeReceived(challenge=WEAK.challenge), time.monotonic())
    assert desk.outbox.sent == [DeclineChallenge("weak", DeclineReason.LATER)]
    assert not desk.has_waiting


def test_an_acceptance_after_a_wait_counts_its_time_from_when_the_challenge_came(desk: Desk) -> None:
    timeouts, came_at = Timeouts(), time.monotonic() - 5
    desk.games.append(GAME)
    desk.answer(WEAK, came_at)
    assert desk.outbox.sent == []
    assert desk.wake_at == came_at + timeouts.challenge_wait.total_seconds()
    desk.games.clear()
    desk.serve_queue()
    (accepted,) = desk.outbox.sent
    assert isinstance(accepted, AcceptChallenge)
    assert accepted.until == came_at + timeouts.request_patience.total_seconds()
    assert len(desk.slots) == 1
    assert not desk.has_waiting


def test_a_game_that_begins_settles_its_acceptance(desk: Desk) -> None:
    """Its answer may be slow, and others must not wait for it, nor for its repetitions."""
    desk.answer(WEAK, time.monotonic())
    desk.game_started("weak")
    assert desk.outbox.settled == desk.outbox.sent == [AcceptChallenge("weak")]


GONE, LIMITED = Refused(404, "Not found"), RateLimited(timedelta(seconds=60), "Too many requests")
USED_UP = RateLimited(timedelta(hours=20), "You played 100 games", "bot.vsBot.day")
TOO_LATE = Unreachable("not sent: too late to be of use")
UNSURE = [CommandFailed(AcceptChallenge("weak"), error, perhaps_done=True) for error in (GONE, LIMITED, TOO_LATE)]


@pytest.mark.parametrize("report", UNSURE, ids=["gone", "limited", "too late"])
def test_an_acceptance_with_an_unanswered_attempt_may_be_an_unannounced_game(
    store: Store, report: CommandFailed
) -> None:
    desk = Desk(store, AT_ONCE)
    desk.answer(WEAK, time.monotonic())
    desk.answer_failed(AcceptChallenge("weak"), report)
    assert desk.unlisted_games() == [], "a look may tell"
    assert desk.slots.take_overdue(time.monotonic())
    (game,) = desk.unlisted_games()
    assert (game.game_id, game.opponent.id) == ("weak", "weak")
    assert len(desk.outbox.sent) == 1, "no decline while a game may have begun"


def test_a_challenge_that_does_not_expire_is_answered_at_any_time(desk: Desk) -> None:
    """A pause that Lichess asks for may be longer than people wait for a game with a clock."""
    correspondence = config(max_correspondence_games=1, time_controls=["correspondence"])
    desk.config = Config(challenge=correspondence)
    for name in ("first", "second"):
        desk.answer(received(name, days=3), time.monotonic())
    accepted, declined = desk.outbox.sent
    assert isinstance(accepted, AcceptChallenge)
    assert isinstance(declined, DeclineChallenge)
    assert accepted.until == declined.until == math.inf
    desk.answer_failed(accepted, CommandFailed(accepted, LIMITED))
    assert desk.outbox.sent[2:] == [accepted]
    assert desk.outbox.sent[-1].until == math.inf
    assert [it.user_id for it in desk.slots.holders] == ["first"]
    desk.answer_failed(accepted, CommandFailed(accepted, LIMITED))
    assert desk.outbox.sent[3:] == [DeclineChallenge("first", DeclineReason.LATER)]
    assert desk.outbox.sent[-1].until == math.inf
    assert desk.human_expected_until < time.monotonic(), "no slot was missing"


def test_a_decline_that_met_a_rate_limit_is_sent_once_more_if_the_challenge_does_not_expire(desk: Desk) -> None:
    """It would stay open for days."""
    desk.answer(received("first", days=3), time.monotonic())
    (declined,) = desk.outbox.sent
    for _ in range(2):
        desk.answer_failed(declined, CommandFailed(declined, LIMITED))
    assert desk.outbox.sent == [declined, declined]
    assert "the challenger was not told: 429" in desk.store.challenges.get("first").because


def test_a_decline_that_met_a_quota_is_not_sent_again(desk: Desk) -> None:
    desk.answer(received("first", days=3), time.monotonic())
    (declined,) = desk.outbox.sent
    desk.answer_failed(declined, CommandFailed(declined, RateLimited(LIMITED.pause, LIMITED.text, "bot.vsBot.day")))
    assert desk.outbox.sent == [declined]


def test_a_decline_that_was_not_delivered_is_recorded_as_such(desk: Desk) -> None:
    desk.config = Config(challenge=config(time_controls=["rapid"]))
    desk.answer(WEAK, time.monotonic())
    (declined,) = desk.outbox.sent
    desk.answer_failed(declined, CommandFailed(declined, TOO_LATE))
    entry = desk.store.challenges.get("weak")
    assert entry.because.endswith("; but the challenger was not told: not sent: too late to be of use")


def test_an_acceptance_that_is_refused_at_the_first_attempt_is_no_game_to_look_for(store: Store) -> None:
    desk = Desk(store, AT_ONCE)
    desk.answer(WEAK, time.monotonic())
    desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), GONE))
    assert desk.slots.take_overdue(time.monotonic())
    assert desk.unlisted_games() == []


@pytest.mark.parametrize("error", [Refused(400, "Try later"), RateLimited(timedelta(minutes=1), "Too many requests")])
def test_a_refused_acceptance_frees_its_slot_and_becomes_a_decline(desk: Desk, error: ApiError) -> None:
    desk.answer(WEAK, time.monotonic())
    desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), error))
    assert len(desk.slots) == 0
    assert desk.outbox.sent[1:] == [DeclineChallenge("weak", DeclineReason.LATER)]
    (decided,) = desk.describe_last()
    assert (decided.decision, decided.rule, decided.because) == ("declined", "Lichess", str(error))


def test_a_challenge_that_was_settled_meanwhile_is_not_declined(desk: Desk) -> None:
    desk.answer(WEAK, time.monotonic())
    error = Refused(400, "The challenge has been canceled.")
    desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), error))
    assert len(desk.slots) == 0
    assert len(desk.outbox.sent) == 1
    assert desk.describe_last()[-1].because == error.text


@pytest.mark.parametrize(
    ("text", "perhaps_done"),
    [
        ("The challenge has already been accepted", True),
        ("The challenge has already been accepted", False),
        ("The challenge has been accepted.", False),
    ],
)
def test_a_challenge_that_was_accepted_already_keeps_its_slot_until_a_list_shows_no_game(
    desk: Desk, text: str, perhaps_done: bool
) -> None:
    desk.answer(WEAK, time.monotonic())
    error = Refused(400, text)
    desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), error, perhaps_done))
    assert desk.describe_last()[-1].decision == "accepted"
    assert len(desk.outbox.sent) == len(desk.slots) == 1
    assert desk.slots.take_overdue(time.monotonic())
    desk.free_overdue(time.monotonic())
    assert desk.describe_last()[-1].decision == "no game"
    assert len(desk.slots) == 0


def test_a_waiting_challenge_that_is_canceled_is_recorded_as_such(desk: Desk) -> None:
    desk.games.append(GAME)
    desk.answer(WEAK, time.monotonic())
    desk.canceled(WEAK.challenge)
    (decided,) = desk.describe_last()
    assert (decided.decision, decided.because) == ("canceled", "by the challenger")


@pytest.mark.parametrize("settled", [ChallengeHandler.canceled, ChallengeHandler.declined])
def test_a_challenge_that_is_settled_after_our_acceptance_takes_no_slot(
    desk: Desk, settled: Callable[[Desk, Challenge], None]
) -> None:
    desk.answer(WEAK, time.monotonic())
    assert len(desk.slots) == 1
    settled(desk, WEAK.challenge)
    assert len(desk.slots) == 0


def test_a_challenge_that_waited_when_the_process_was_killed_is_described_as_missed(tmp_path: Path) -> None:
    with closing(Store(Database(tmp_path))) as store:
        desk = Desk(store)
        desk.games.append(GAME)
        desk.answer(WEAK, time.monotonic())
        assert [(it.decision, it.because) for it in desk.describe_last()] == [("waiting", "every slot is taken")]
    with closing(Store(Database(tmp_path))) as store:
        assert [it.decision for it in Desk(store).describe_last()] == ["missed"]


def test_an_acceptance_that_was_never_sent_frees_its_slot_and_can_be_repeated(desk: Desk) -> None:
    for times in (1, 2):
        desk.answer(WEAK, time.monotonic())
        assert len(desk.outbox.sent) == times
        desk.answer_failed(AcceptChallenge("weak"), CommandFailed(AcceptChallenge("weak"), TOO_LATE))
        assert len(desk.slots) == 0
        assert not desk.slots.take_overdue(time.monotonic())


def test_the_latest_challenges_are_described_with_the_rule_that_decided(desk: Desk) -> None:
    assert desk.describe_last() == ()
    desk.answer(WEAK, time.monotonic())
    desk.config = Config(challenge=config(max_base=0))
    for number in range(21):
        challenge = WEAK.challenge.model_copy(update={"id": f"c{number}"})
        desk.answer(WEAK.model_copy(update={"challenge": challenge}), time.monotonic())
    *others, newest = desk.describe_last()
    assert len(others) == 19, "the accepted one came too long ago"
    assert newest.at_epoch_s == pytest.approx(time.time(), abs=60)
    assert (newest.decision, newest.rule) == ("declined", "challenge.max_base = 0")
    assert newest.reason
    assert newest.because
    assert newest.terms.endswith(" standard")


@pytest.mark.parametrize(("name", "shown"), [("WeAk", "WeAk"), ("BOT WeAk", "WeAk"), ("", "weak")])
def test_the_latest_challenges_name_the_challenger_as_lichess_does(tmp_path: Path, name: str, shown: str) -> None:
    user = {"id": "weak", "name": name, "title": "BOT"}
    facts = {**WEAK.challenge.model_dump(by_alias=True), "challenger": user}
    named = ChallengeReceived.model_validate({"challenge": facts, "compat": {"bot": True}})
    for _ in range(2):  # also after a restart
        with closing(Store(Database(tmp_path))) as store:
            desk = Desk(store)
            desk.answer(named, time.monotonic())
            assert [it.challenger for it in desk.describe_last()] == [shown]


def test_a_waiting_challenge_that_another_program_accepts_waits_no_more(desk: Desk) -> None:
    desk.games.append(GAME)
    desk.answer(WEAK, time.monotonic())
    assert desk.has_waiting
    desk.game_started("weak")
    assert not desk.has_waiting
    assert desk.describe_last()[-1].decision == "accepted"
