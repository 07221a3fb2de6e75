"""The matchmaker with a real outbox and a real event stream at the embedded Lichess, its timeouts made tiny."""

import logging
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.slots import SlotHolder, Slots
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.config import ChallengeConfig, Config
from lichessbot.config.matchmaking import RematchConfig, RematchWith
from lichessbot.errors import RateLimited
from lichessbot.inbox import Inbox, Report
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.commands import CommandDone, CommandFailed
from lichessbot.lichess.models import ChallengeDeclined, ChallengeReceived, GameStart
from lichessbot.lichess.outbox import Outbox
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import StreamEvent, StreamOpened, StreamReader
from lichessbot.matchmaking.matchmaker import Matchmaker
from lichessbot.rehearsal.players.house_bots import AnswerPolicy, HouseBots
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Challenge, Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ChallengeStatus, DeclineReason, Variant
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import ChallengeMade, ChallengeSettled, SiteEvent
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.fakes.arena import Ponderer
from tests.lichessbot.matchmaking.test_rematch import finished
from tests.patience import PATIENCE_S, until

DAY_S = 600.0
US = "TestBot"
QUICK = timedelta(milliseconds=10)
TIMEOUTS = replace(
    Timeouts(),
    challenge_minute=QUICK,
    challenge_spacing=QUICK,
    challenge_spacing_ceiling=QUICK,
    challenge_window=QUICK,
    challenge_open=timedelta(milliseconds=300),
    game_start=timedelta(milliseconds=100),
    rate_limit=timedelta(milliseconds=500),
)
OBLIGING = AnswerPolicy()
TERMS = Terms(Variant.STANDARD, RealTime(60, 0))


class Kept(Slots):
    """Takes note of whose slots are kept."""

    def __init__(self, doubts: list[str]) -> None:
        super().__init__(TIMEOUTS.game_start)
        self._doubts = doubts

    def reserve(self, challenge_id: str, holder: SlotHolder, look_at: float | None = None) -> None:
        self._doubts.append(holder.user_id)


class Desk:
    """What the daemon does for a matchmaker, and nothing else."""

    def __init__(self, server: RehearsalServer, folder: Path, timeouts: Timeouts = TIMEOUTS) -> None:
        self.server, self.site, self.folder, self.timeouts = server, server.site, folder, timeouts
        self.made: list[Challenge] = []
        self.settled: list[Challenge] = []
        self.us = self.site.accounts.add(Account(US, 0, title="BOT"))
        token = self.site.accounts.issue_token(self.us)
        self._access = Access(self.site.url, SecretStr(token), TIMEOUTS)
        self._context = server.call(lambda: HouseBots(self.site))
        server.call(lambda: self.site.observe(self._note))
        self.seek()
        self.games, self.slots = 0, 1
        self.doubts: list[str] = []
        self.humans_until = -math.inf
        self.deaf = False
        self.limits = 0
        self.open()

    def _note(self, happening: SiteEvent) -> None:
        match happening:
            case ChallengeMade(challenge):
                self.made.append(challenge)
            case ChallengeSettled(challenge):
                self.settled.append(challenge)

    def seek(self, **keys: Any) -> None:
        settings = {"allow_matchmaking": True, "challenge_timeout": 1, "challenge_mode": "rated"}
        clock = {"challenge_initial_time": [60], "challenge_increment": [0], "challenge_variant": "standard"}
        self.config = Config.model_validate({"matchmaking": settings | clock | keys})

    def rival(
        self,
        name: str,
        policy: AnswerPolicy = OBLIGING,
        rating: int = 1500,
        opponent: type[GreedyOpponent] = GreedyOpponent,
    ) -> Account:
        account = self.site.accounts.get(name)
        if account is None:
            account = self.site.accounts.add(Account(name, 0, title="BOT", bio="Plays.", rating=rating))
        return self.server.call(lambda: self._context.add(account, lambda game_id: opponent(game_id), policy))

    def open(self) -> None:
        """A new process, as far as the matchmaker can tell."""
        self.inbox: Inbox = SimpleQueue()
        rate_limiter = RateLimiter(TIMEOUTS)
        self.outbox = Outbox(
            lambda read_timeout: LichessClient(self._access, read_timeout), self.inbox.put, TIMEOUTS, rate_limiter
        )
        self.store = Store(Database(self.folder))
        lists = PlayerLists(self.store, self.inbox.put, TIMEOUTS, None)
        self.matchmaker = Matchmaker(
            self.outbox, self.store, self.timeouts, lists, Kept(self.doubts), self.snapshot, lambda: self.config
        )
        api = LichessClient(self._access, TIMEOUTS.liveness)
        self.matchmaker.introduce(api.account())
        self._events = StreamReader(api, None, self.inbox.put, TIMEOUTS, rate_limiter)
        self._events.start()
        assert isinstance(self.inbox.get(timeout=PATIENCE_S), StreamOpened)

    def close(self) -> None:
        self._events.stop()
        self.outbox.close()
        self.store.close()

    def leave(self) -> None:
        self.close()
        self.server.call(self._context.close)

    def snapshot(self) -> Snapshot:
        config = self.config.model_copy(update={"challenge": ChallengeConfig(concurrency=max(1, self.slots))})
        playing = (SlotHolder("other", is_bot=True),) * self.games
        return Snapshot(
            config,
            US,
            playing,
            tuple(self.matchmaker.slot_holders),
            stopping=self.slots == 0,
            our_challenges_wait_until=self.humans_until,
        )

    def objection(self) -> Decline | None:
        return self.matchmaker.objection_to_bots(self.config)

    def until(self, fact: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not fact():
            assert time.monotonic() < deadline, [(it.target.name, it.settled) for it in self.made if it.target]
            self.matchmaker.tick()
            try:
                self._dispatch(self.inbox.get(timeout=0.01))
            except Empty:
                continue

    def is_over(self, challenge: Challenge) -> bool:
        """Return whether a challenge has become a game that is over."""
        return self.server.call(lambda: bool(challenge.settled) and self.site.session(challenge.id).game.is_over)

    def for_a_while(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def _dispatch(self, report: Report) -> None:
        match report:
            case CommandDone() | CommandFailed():
                self.limits += isinstance(report, CommandFailed) and isinstance(report.error, RateLimited)
                self.matchmaker.handle(report)
            case StreamEvent(event=event) if not self.deaf:
                self._hear(event)

    def _hear(self, event: object) -> None:
        match event:
            case ChallengeReceived(challenge=challenge):
                self.matchmaker.challenge_echoed(challenge)
            case ChallengeDeclined(challenge=challenge):
                self.matchmaker.challenge_settled(challenge, is_declined=True)
            case GameStart(game=game):
                self.matchmaker.game_started(game.game_id)
                self.games += 1

    def asked(self) -> list[str]:
        return [it.target.id for it in self.made if it.challenger is self.us and it.target is not None]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with RehearsalServer(timing=Timing(tick_s=0.5, challenge_expiry_s=0.2, day_s=DAY_S, minute_s=0.01)) as server:
        desk = Desk(server, tmp_path)
        yield desk
        desk.leave()


def test_a_challenge_that_is_accepted_becomes_our_game(desk: Desk) -> None:
    desk.rival("Willing")
    desk.until(lambda: desk.games == 1)
    assert desk.asked() == ["willing"]
    assert not desk.matchmaker.has_open_challenge
    assert desk.made[0].terms.rated


@pytest.mark.parametrize("reason", list(DeclineReason), ids=lambda reason: reason.wire_key)
def test_a_declined_challenge_is_not_repeated_even_after_a_restart(
    desk: Desk, reason: DeclineReason
) -> None:
    desk.rival("Unwilling", AnswerPolicy(declines=reason))
    desk.until(lambda: desk.settled)
    desk.until(lambda: not desk.matchmaker.has_open_challenge)
    desk.rival("Willing")
    desk.close()
    desk.open()
    desk.until(lambda: desk.games == 1)
    assert desk.asked() == ["unwilling", "willing"]
    assert desk.settled[0].decline_reason is reason


def test_a_bot_that_declines_rated_games_is_challenged_to_a_casual_one(desk: Desk) -> None:
    desk.rival("Casual", AnswerPolicy(declines=DeclineReason.CASUAL))
    desk.until(lambda: desk.settled)
    desk.until(lambda: not desk.matchmaker.has_open_challenge)
    desk.rival("Casual")
    desk.for_a_while(0.2)
    assert len(desk.made) == 1
    desk.seek(challenge_mode="casual")
    desk.until(lambda: desk.games == 1)
    assert [it.terms.rated for it in desk.made] == [True, False]


def test_an_unanswered_challenge_is_withdrawn_and_not_repeated(desk: Desk) -> None:
    desk.rival("Deaf", AnswerPolicy(ignores=True))
    desk.until(lambda: desk.settled)
    assert desk.settled[0].settled is ChallengeStatus.CANCELED
    desk.until(lambda: not desk.matchmaker.has_open_challenge)
    desk.for_a_while(0.3)
    assert desk.asked() == ["deaf"]


def test_a_decline_the_event_stream_lost_is_found_with_its_reason(desk: Desk) -> None:
    desk.deaf = True
    desk.rival("Later", AnswerPolicy(declines=DeclineReason.LATER))
    desk.until(lambda: desk.made)
    until(lambda: desk.settled)  # without a tick, which might find it at once
    assert desk.matchmaker.has_open_challenge
    desk.until(lambda: not desk.matchmaker.has_open_challenge)
    desk.for_a_while(0.2)
    assert desk.asked() == ["later"]


def test_an_acceptance_the_event_stream_lost_is_found_and_the_game_not_aborted(desk: Desk) -> None:
    desk.deaf = True
    desk.rival("Willing")
    desk.until(lambda: desk.doubts)
    assert desk.doubts == ["willing"]
    assert not desk.matchmaker.has_open_challenge
    assert not desk.site.session(desk.made[0].id).game.is_over


def test_a_bot_in_a_game_is_not_challenged(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    desk.seek(allow_matchmaking=False)
    desk.rival("Busy", opponent=Ponderer)
    challenge = invite(desk, desk.rival("Other", rating=4000, opponent=Ponderer), "Busy")
    desk.until(lambda: challenge.settled)
    desk.seek()
    desk.until(lambda: "every suitable bot is playing" in caplog.text)
    assert not desk.is_over(challenge)
    assert desk.asked() == []


def invite(desk: Desk, challenger: Account, name: str) -> Challenge:
    return desk.server.call(lambda: desk.site.challenge(challenger, name, TERMS))


# What gets lost


def lose_answers(desk: Desk) -> None:
    """Challenges are created, but their requests fail."""

    async def guard(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        async def unheard(message: Message) -> None:
            return None

        making = scope["method"] == "POST" and scope["path"].count("/") == 3 and "/challenge/" in scope["path"]
        await app(scope, receive, unheard if making else send)
        if making:
            await PlainTextResponse("Bad Gateway", 502)(scope, receive, send)

    desk.server.guard_with(guard)


def test_a_challenge_whose_answer_was_lost_is_known_by_its_echo(desk: Desk) -> None:
    lose_answers(desk)
    desk.rival("Willing")
    desk.until(lambda: desk.games == 1)
    desk.until(lambda: not desk.matchmaker.has_open_challenge)
    assert len(desk.made) == 1


def test_a_challenge_without_an_answer_is_found_and_withdrawn(desk: Desk) -> None:
    lose_answers(desk)
    desk.deaf = True
    desk.rival("Ignorant", AnswerPolicy(ignores=True))
    desk.until(lambda: desk.settled)
    assert desk.settled[0].settled is ChallengeStatus.CANCELED
    desk.until(lambda: not desk.matchmaker.has_open_challenge)


def test_a_game_without_an_event_is_looked_for(desk: Desk) -> None:
    lose_answers(desk)
    desk.deaf = True
    desk.rival("Willing")
    desk.until(lambda: desk.doubts)
    assert desk.doubts == ["willing"]
    assert not desk.matchmaker.has_open_challenge


# Quotas


def test_a_used_up_quota_is_obeyed_for_as_long_as_lichess_says_even_after_a_restart(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.site.quotas.bot_games_per_day = 1
    desk.rival("Willing")
    desk.until(lambda: desk.games == 1)
    desk.rival("Another")
    desk.games = 0
    desk.until(lambda: desk.limits == 1)
    assert desk.objection() is not None
    assert re.fullmatch(r"0 of 1 bot games, resumes (.* )?\d\d:\d\d", desk.matchmaker.summary)
    refused = len(desk.made)
    desk.close()
    desk.open()
    assert desk.objection() is not None
    desk.until(lambda: desk.games == 1)
    desk.games = 0  # it was announced again
    desk.site.quotas.bot_games_per_day = 2
    desk.for_a_while(0.2)
    assert len(desk.made) == refused
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + DAY_S)
    desk.until(lambda: len(desk.made) > refused)


def test_a_bot_whose_quota_is_used_up_is_skipped(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    desk.seek(allow_matchmaking=False)
    desk.site.quotas.bot_games_per_day = 1
    desk.rival("Tired")
    challenge = invite(desk, desk.rival("Other", rating=4000), "Tired")
    desk.until(lambda: desk.is_over(challenge))
    desk.seek(opponent_rating_difference=0)
    desk.until(lambda: "match.capped" in caplog.text)
    capped_at = len(caplog.text)
    desk.until(lambda: 'match.none reason="2 bots online, none suitable"' in caplog.text[capped_at:])
    assert desk.asked() == []
    assert desk.objection() is None, "it is not our own quota"
    desk.rival("Willing")
    desk.until(lambda: desk.games == 1)
    assert desk.asked() == ["willing"]


def test_unnamed_rate_limits_cause_growing_pauses(desk: Desk) -> None:
    willing = desk.rival("Willing")
    credits = desk.site.quotas
    desk.server.call(lambda: [credits.spend(desk.us, willing, monotonic_ms() + 11 * number) for number in range(200)])
    began = time.monotonic()
    desk.until(lambda: desk.limits == 3)
    assert time.monotonic() - began >= 1.5, "after half a second, and after another whole one"
    assert desk.asked() == []


# Slots


def test_our_open_challenge_is_withdrawn_for_a_queued_challenge(desk: Desk) -> None:
    desk.rival("Slow", AnswerPolicy(ignores=True))
    desk.until(lambda: desk.matchmaker.has_open_challenge)
    assert [(guest.user_id, guest.is_bot) for guest in desk.matchmaker.slot_holders] == [("slow", True)]
    desk.matchmaker.withdraw()
    desk.until(lambda: not desk.matchmaker.has_open_challenge)
    assert desk.settled[0].settled is ChallengeStatus.CANCELED
    desk.seek(opponent_rating_difference=0)
    desk.until(lambda: len(desk.made) == 2)
    assert desk.asked() == ["slow", "slow"], "that it did not answer was not its fault"


def test_a_slot_is_kept_for_a_human_who_found_none(desk: Desk) -> None:
    desk.humans_until = time.monotonic() + 1000.0
    desk.rival("Willing")
    desk.for_a_while(0.4)
    assert desk.asked() == []
    desk.humans_until = time.monotonic() + 0.5
    desk.until(lambda: desk.games == 1)
    assert time.monotonic() >= desk.humans_until


def test_no_challenge_is_sent_without_a_slot_or_during_a_game_unless_allowed(desk: Desk) -> None:
    desk.rival("Willing")
    desk.slots, desk.games = 2, 1
    desk.for_a_while(0.2)
    desk.slots, desk.games = 0, 0
    desk.for_a_while(0.2)
    assert desk.asked() == []
    desk.slots, desk.games = 2, 1
    desk.seek(allow_during_games=True)
    desk.until(lambda: desk.games == 2)


def test_during_games_the_pause_between_two_attempts_is_the_long_one(desk: Desk) -> None:
    desk.close()
    desk.timeouts = replace(TIMEOUTS, challenge_spacing_ceiling=timedelta(seconds=1.0))
    desk.open()
    desk.rival("One")
    desk.rival("Two")
    desk.slots, desk.games = 4, 1
    desk.seek(allow_during_games=True)
    began = time.monotonic()
    desk.until(lambda: desk.games == 3)
    assert time.monotonic() - began >= 1.0


def test_a_rematch_that_waits_for_an_attempt_does_not_wake_the_main_loop(desk: Desk) -> None:
    desk.config = desk.config.model_copy(update={"rematch": RematchConfig(offer=RematchWith.ALL)})
    desk.until(lambda: desk.matchmaker.wake_at is None)     # it asks which bots are online
    desk.matchmaker.game_over(finished(title="BOT"))
    assert desk.matchmaker.wake_at is None
    desk.until(lambda: desk.matchmaker.wake_at is not None)
