"""Tournaments that Lichess refuses or limits, and those whose games the bot cannot play. No socket, no clock."""

from datetime import timedelta

import pytest

from lichessbot.arena_entry import Wish
from lichessbot.errors import ApiError, RateLimited, Refused, Unreachable
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import CommandFailed, JoinTournament, LeaveTournament, ReadTournament
from lichessbot.timeouts import Timeouts
from tests.lichessbot.tournament_desk import ARENA, Desk

LIMITS = [
    RateLimited(timedelta(minutes=1), "Too many requests"),
    Refused(400, "You are joining too many tournaments"),
    Refused(403, "Banned from playing for 5 minutes. Reason: Too many aborts, unplayed games, or rage quits."),
]
UNMET = {
    "list": [
        {"condition": "No bots", "verdict": "No bots"},
        {"condition": "Fixed line-up", "verdict": "ok"},
        {"condition": "30 days old account", "verdict": "Your account is too young."},
    ],
    "accepted": False,
}


@pytest.mark.parametrize("limit", LIMITS, ids=["joins", "new tournaments", "ban"])
def test_a_limit_does_not_end_a_tournament_and_the_pause_after_it_grows(desk: Desk, limit: ApiError) -> None:
    desk.begin_to_join(lasts_s=36_000.0)
    pauses = []
    for _ in range(8):
        desk.fail(limit)
        pauses.append(desk.is_asked_after() / 60)
        desk.wait()
    is_ban = "5 minutes" in str(limit)
    assert pauses == ([5, 10, 20, 40, 60, 60, 60, 60] if is_ban else [1, 2, 4, 8, 16, 32, 60, 60])
    assert desk.sent[1:] == [JoinTournament(ARENA, None, None)] * 9
    desk.answer()
    desk.wait()
    desk.fail(limit)     # in a tournament that runs
    assert desk.is_asked_after() == (300 if is_ban else 60)
    assert list(desk.rows) == [ARENA]


def test_a_request_that_a_rate_limit_holds_back_beyond_the_end_is_withdrawn(desk: Desk) -> None:
    """The bot kept a slot for an arena that was over, for up to ten minutes."""
    desk.enter(lasts_s=60)
    desk.hand.now += 50
    desk.tick()
    desk.held_back = desk.sent[-1:]
    assert desk.held_back == [JoinTournament(ARENA, None, None)]
    desk.hand.now += 9
    desk.tick()
    assert desk.held_back, "it may still be sent in time"
    desk.hand.now += 1
    assert desk.tournaments.list_check_at <= desk.hand.now, "it wakes then"
    desk.tick()
    assert desk.held_back == []
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.answer(ArenaInfo(id=ARENA, isFinished=True))
    assert list(desk.tournaments.slot_holders) == []


def test_the_first_failure_in_a_row_is_logged(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    limit, outage = RateLimited(timedelta(minutes=1), "Too many requests"), Unreachable("timed out")
    desk.begin_to_join(lasts_s=36_000.0)
    for error in (limit, outage, limit, None, outage, outage):
        if error is None:
            desk.answer()
        else:
            desk.fail(error)
        desk.wait()
    delays = [text for record in caplog.records if (text := record.getMessage()).startswith("tournament.delayed")]
    assert delays == [
        f'tournament.delayed tournament={ARENA} error="{limit}" again_in_s=60.000',
        f'tournament.delayed tournament={ARENA} error="timed out" again_in_s=30.000',
    ]


@pytest.mark.parametrize(
    ("passed_s", "text", "told"),
    [
        (598.9, "This tournament is over", f'refused tournament={ARENA} error="400: This tournament is over"'),
        (599, "This tournament is over", f"over tournament={ARENA}"),
        (50, "This tournament no longer exists", f"over tournament={ARENA}"),
    ],
    ids=["before", "at the end", "ended early by its organiser"],
)
def test_a_request_refused_at_the_end_of_a_tournament_is_no_problem(
    desk: Desk, caplog: pytest.LogCaptureFixture, passed_s: float, text: str, told: str
) -> None:
    caplog.set_level("INFO")
    desk.begin_to_join()
    desk.hand.now += passed_s
    desk.fail(Refused(400, text))
    assert [it.getMessage() for it in caplog.records[1:]] == [f"tournament.{told}"]
    assert desk.rows == {}
    assert list(desk.tournaments.slot_holders) == []


def test_an_arena_that_its_organiser_removed_before_the_start_is_over(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """Operators read that it could not be joined, although the bot was in it."""
    desk.wait_for_start(1200)
    desk.wait()
    caplog.clear()
    assert desk.sent[-1] == ReadTournament(ARENA)
    caplog.set_level("INFO")
    desk.fail(Refused(404, "No such tournament"))
    assert [it.getMessage() for it in caplog.records] == [f"tournament.over tournament={ARENA}"]
    assert desk.rows == {}


def test_an_arena_that_never_existed_is_refused(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.join()
    desk.fail(Refused(404, "No such tournament"))
    why = "404: No such tournament"
    assert [it.getMessage() for it in caplog.records] == [f'tournament.refused tournament={ARENA} error="{why}"']
    assert desk.rows == {}


def test_an_arena_that_cannot_be_left_counts_as_left_and_is_still_wanted(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.enter()
    desk.tournaments.stop()
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    desk.fail(Refused(400, "You are not in it"))
    assert not desk.tournaments.is_leaving_any
    assert not [it for it in caplog.records if it.levelname == "WARNING"]
    desk.tournaments.resume(())
    desk.tick()
    assert desk.sent[-1] == ReadTournament(ARENA)


def test_an_arena_that_cannot_be_left_until_its_end_is_over(desk: Desk) -> None:
    """The bot asked every 30 s for ever, and kept a slot from other arenas."""
    desk.enter(lasts_s=60)
    desk.free_slots = 0
    desk.tick()
    for _ in range(2):
        assert desk.sent[-1] == LeaveTournament(ARENA)
        desk.fail(Refused(403, "Forbidden", certain=False))
        desk.wait(30)
    desk.fail(Refused(403, "Forbidden", certain=False))
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.answer(ArenaInfo(id=ARENA, isFinished=True))
    assert desk.rows == {}
    assert desk.tournaments.wake_at is None


def test_a_page_that_forbids_joining_ends_the_attempts(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """Lichess refuses marked accounts with one: the bot asked again every 30 s until the end."""
    desk.begin_to_join()
    desk.fail(Refused(403, "Forbidden", certain=False))
    assert desk.rows == {}
    assert desk.tournaments.wake_at is None
    why = "403: Forbidden, as Lichess answers accounts that it has marked"
    assert [it.getMessage() for it in caplog.records] == [f'tournament.refused tournament={ARENA} error="{why}"']


@pytest.mark.parametrize("status", [400, 401, 404])
def test_another_page_instead_of_an_answer_does_not_end_the_attempts(desk: Desk, status: int) -> None:
    desk.begin_to_join()
    desk.fail(Refused(status, "Forbidden", certain=False))
    assert desk.is_asked_after() == Timeouts().tournament_retry.total_seconds()


def test_an_error_of_a_proxy_does_not_end_a_tournament(desk: Desk) -> None:
    desk.enter()
    desk.wait(50)
    desk.tournaments.handle(CommandFailed(desk.sent[-1], Refused(403, "Forbidden", certain=False)))
    assert desk.is_asked_after() == Timeouts().tournament_retry.total_seconds()
    assert list(desk.rows) == [ARENA]


def test_a_denied_token_does_not_end_a_tournament(desk: Desk) -> None:
    desk.enter()
    desk.wait(50)
    desk.fail(Refused(401, "No such token"))
    desk.wait()
    assert desk.sent[-2:] == [JoinTournament(ARENA, None, None)] * 2
    assert list(desk.rows) == [ARENA]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"variant": "atomic", "clock": {"limit": 30, "increment": 0}}, ""),
        ({"variant": {"key": "atomic", "name": "Atomic"}}, ""),
        ({"verdicts": {"list": [{"condition": "Fixed line-up", "verdict": "ok"}], "accepted": True}}, ""),
        ({"variant": "crazyhouse"}, "a variant that the engine plays (standard, atomic), found crazyhouse"),
        ({"variant": "draughts"}, "a variant that the engine plays (standard, atomic), found draughts"),
        ({"position": {"fen": "x"}}, "a variant that the engine plays (standard, atomic), found fromPosition"),
        ({"clock": {"limit": 15, "increment": 0}}, "bullet or slower, found 0.25+0, which is ultraBullet"),
        ({"verdicts": UNMET}, "an arena that admits this account, found: No bots; Your account is too young."),
    ],
    ids=["good", "an object", "admitted", "other variant", "unknown variant", "a position", "too fast", "not admitted"],
)
def test_an_arena_is_joined_only_if_its_games_can_be_played(
    desk: Desk, caplog: pytest.LogCaptureFixture, facts: dict[str, object], why: str
) -> None:
    desk.tournaments.join(Wish(ARENA))
    desk.tick()
    desk.answer(ArenaInfo.model_validate({"id": ARENA, "secondsToStart": 90, **facts}))
    join = [] if why else [JoinTournament(ARENA, None, None)]
    assert desk.sent == [ReadTournament(ARENA), *join]
    assert list(desk.rows) == ([] if why else [ARENA])
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == ([f'tournament.refused tournament={ARENA} error="expected {why}"'] if why else [])


def test_a_pause_after_leaving_is_waited_for(desk: Desk) -> None:
    desk.enter()
    desk.wait(50)
    desk.fail(Refused(400, "Your previous pause is not over yet"))
    assert desk.is_asked_after() == Timeouts().tournament_retry.total_seconds()
    assert list(desk.rows) == [ARENA]


def test_a_pause_after_a_429_also_holds_for_reads_of_an_arena_to_come(desk: Desk) -> None:
    desk.wait_for_start(3 * 3600)
    desk.wait(600)
    for pause_s in (60, 120):
        desk.fail(RateLimited(timedelta(minutes=1), "Too many requests"))
        assert desk.is_asked_after() == pause_s
        desk.wait(pause_s)
    assert desk.sent[2:] == [ReadTournament(ARENA)] * 3


def test_a_slot_that_becomes_free_does_not_cut_the_pause_after_a_429_short(desk: Desk) -> None:
    desk.free_slots = 0
    desk.join()
    for _ in range(3):     # a read, the request to leave, and another read
        desk.answer(ArenaInfo(id=ARENA))
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.fail(RateLimited(timedelta(minutes=1), "Too many requests"))
    desk.free_slots = 1
    desk.tick()
    assert desk.is_asked_after() == 60


def test_a_limit_is_waited_for_though_other_games_take_and_free_the_slot(desk: Desk) -> None:
    """With each of them, the bot left the arena, in which it was not, and asked to join it again too early."""
    desk.begin_to_join()
    desk.fail(RateLimited(timedelta(minutes=1), "Too many requests"))
    assert len(desk.tournaments.slot_holders) == 0
    before = len(desk.sent)
    for free_slots in (0, 1, 0):
        desk.free_slots = free_slots
        desk.tick()
    assert desk.is_asked_after() == 60
    desk.wait()
    assert desk.sent[before:] == []
    assert len(desk.tournaments.slot_holders) == 1, "the next free slot is kept for it"
    desk.free_slots = 1
    desk.tick()
    assert desk.sent[before:] == [JoinTournament(ARENA, None, None)]
    desk.fail(RateLimited(timedelta(minutes=1), "Too many requests"))
    assert desk.is_asked_after() == 120


def test_an_arena_whose_games_become_unplayable_before_its_start_is_left(desk: Desk) -> None:
    """The bot would lose each of its games there without a move."""
    desk.wait_for_start(1200)
    desk.wait()
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.answer(ArenaInfo.model_validate({"id": ARENA, "secondsToStart": 600, "variant": "crazyhouse"}))
    assert desk.sent[-1] == LeaveTournament(ARENA)
    desk.answer()
    assert desk.tournaments.wake_at is None
    assert not desk.rows
