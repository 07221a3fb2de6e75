"""Tournaments by themselves: what is asked of Lichess, when, and what its answers lead to. No socket, no clock."""

from datetime import timedelta

import pytest
from pydantic import SecretStr

from lichessbot.arena_entry import Wish
from lichessbot.config import TournamentConfig
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import CommandDone, JoinTournament, LeaveTournament, ReadTournament
from lichessbot.timeouts import Timeouts
from tests.lichessbot.tournament_desk import ARENA, GAME, Desk


def test_a_request_that_a_rate_limit_holds_back_is_withdrawn_before_we_leave(desk: Desk) -> None:
    desk.begin_to_join()
    assert desk.sent[-1] == JoinTournament(ARENA, None, None)
    desk.held_back = desk.sent[-1:]
    desk.tournaments.stop()
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    assert desk.held_back == []


def test_a_request_to_join_an_arena_to_come_is_withdrawn_at_a_stop(desk: Desk) -> None:
    desk.join()
    desk.answer(ArenaInfo(id=ARENA, secondsToStart=90))
    desk.held_back = desk.sent[-1:]
    desk.tournaments.stop()
    assert desk.held_back == []


@pytest.mark.parametrize("is_sent", [False, True])
def test_an_arena_that_was_not_joined_yet_is_not_left(
    desk: Desk, is_sent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    desk.join()
    desk.held_back = [] if is_sent else desk.sent[-1:]
    desk.tournaments.stop()
    assert not desk.tournaments.is_leaving_any
    assert desk.held_back == []
    desk.tick()
    assert desk.sent == [ReadTournament(ARENA)]
    assert "tournament.left" not in caplog.text


def test_the_answer_to_a_read_before_a_pause_does_not_hide_that_a_join_is_under_way(desk: Desk) -> None:
    desk.join()
    desk.tournaments.stop()
    desk.tournaments.resume(())
    desk.tick()
    info = ArenaInfo(id=ARENA, secondsToFinish=600)
    first, second = desk.sent
    desk.tournaments.handle(CommandDone(first, info))
    desk.tick()
    desk.tournaments.handle(CommandDone(second, info))
    desk.tick()
    assert desk.sent == [*[ReadTournament(ARENA)] * 2, JoinTournament(ARENA, None, None)]
    assert desk.tournaments.wake_at is None


def test_an_arena_to_come_is_left_at_a_stop_and_joined_after_it(desk: Desk) -> None:
    """If the bot did not come back in time, it lost the first game there without a move."""
    desk.wait_for_start(7 * 24 * 3600)
    desk.tournaments.stop(is_ending=True)
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    assert desk.tournaments.is_leaving_any
    assert desk.tournaments.ids == ()
    desk.restart()
    desk.tournaments.want(())
    desk.tick()
    assert desk.sent[-1] == ReadTournament(ARENA)


def test_an_arena_is_asked_for_nothing_while_a_request_has_no_answer(desk: Desk) -> None:
    desk.enter()
    desk.wait(50)
    before = len(desk.sent)
    assert desk.tournaments.list_check_at == desk.hand.now + 5
    desk.begin_game()
    desk.played = set()
    desk.tick()
    assert desk.sent[before:] == []
    assert desk.tournaments.wake_at is None


def test_the_list_of_games_is_read_if_no_game_begins_soon_after_the_answer_to_a_request(desk: Desk) -> None:
    desk.begin_to_join()
    desk.hand.now += 3
    desk.answer()
    assert desk.tournaments.list_check_at == desk.hand.now + 5


def test_the_list_of_games_is_not_read_for_an_arena_to_come(desk: Desk) -> None:
    desk.wait_for_start(90)
    assert desk.tournaments.list_check_at == desk.hand.now + 90 + 5


def test_an_arena_without_a_known_end_is_asked_again(desk: Desk) -> None:
    desk.join()
    for _ in range(3):     # a read, the request to join, and another read
        desk.answer(ArenaInfo(id=ARENA))
    assert desk.is_asked_after() == Timeouts().tournament_asks.total_seconds()


@pytest.mark.parametrize("is_playing", [False, True])
def test_an_arena_without_time_left_is_read_again_after_a_pause(desk: Desk, is_playing: bool) -> None:
    """Lichess ends it some seconds after its clock."""
    desk.enter(lasts_s=10)
    if is_playing:
        desk.begin_game()
    desk.wait(10)
    looks = len(desk.sent)
    for _ in range(3):
        assert desk.sent[-1] == ReadTournament(ARENA)
        desk.answer(ArenaInfo(id=ARENA, secondsToFinish=0))
        assert 3 <= desk.is_asked_after() <= 5
        desk.wait()
    assert len(desk.sent) == looks + 3
    desk.answer(ArenaInfo(id=ARENA, isFinished=True))
    assert desk.tournaments.wake_at is None
    assert desk.rows == {}


def test_the_next_game_is_requested_at_once_after_the_end_of_one(desk: Desk) -> None:
    desk.enter()
    desk.begin_game()
    desk.tick()
    before = len(desk.sent)
    desk.played = set()
    for _ in range(2):
        desk.tick()
        assert desk.sent[before:] == [JoinTournament(ARENA, None, None)]


def test_a_game_that_the_bot_leaves_alone_is_no_end_of_a_game_each_time_it_is_listed(desk: Desk) -> None:
    """The list is read every few seconds, and the bot asked for a game each time."""
    desk.enter()
    desk.begin_game()
    desk.played = set()
    before = len(desk.sent)
    desk.tick()
    assert desk.sent[before:] == [JoinTournament(ARENA, None, None)]
    desk.answer()
    desk.tournaments.game_started(ARENA, GAME)
    desk.tick()
    assert desk.is_asked_after() == 50
    desk.played = {GAME}    # after all
    desk.free_slots = 0
    desk.tick()
    assert len(desk.sent) == before + 1


def test_a_late_event_of_a_game_does_not_rejoin_the_tournament(desk: Desk) -> None:
    desk.enter()
    desk.begin_game()
    desk.leave()
    desk.answer()
    desk.tournaments.game_started(ARENA, GAME)
    desk.tick()
    assert desk.tournaments.wake_at is None
    desk.enter()


def test_a_pause_tries_to_leave_until_it_succeeds_and_the_end_of_the_process_once_more(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    desk.enter()
    desk.tournaments.stop()
    desk.tick()
    assert list(desk.tournaments.slot_holders) == []
    for _ in range(2):
        assert desk.sent[-1] == LeaveTournament(ARENA)
        desk.fail(Unreachable("timed out"))
        assert desk.is_asked_after() == Timeouts().tournament_retry.total_seconds()
        assert desk.tournaments.is_leaving_any
        desk.wait()
    desk.fail(Unreachable("timed out"))
    desk.tournaments.stop(is_ending=True)
    assert desk.is_asked_after() == 0
    desk.tick()
    desk.fail(Unreachable("timed out"))
    assert not desk.tournaments.is_leaving_any
    assert caplog.records[-1].getMessage() == f'tournament.not_left tournament={ARENA} error="timed out"'
    assert "tournament.left" not in caplog.text


def test_an_arena_to_come_that_we_were_told_to_leave_is_left_in_spite_of_an_outage_and_a_stop(desk: Desk) -> None:
    desk.wait_for_start(3600)
    desk.leave()
    desk.fail(Unreachable("timed out"))
    desk.tournaments.stop()
    desk.tick()
    assert desk.sent[-2:] == [LeaveTournament(ARENA)] * 2


def test_an_arena_joined_again_before_a_stop_is_joined_after_it(desk: Desk) -> None:
    desk.enter()
    desk.leave()
    desk.join()
    desk.tournaments.stop()
    desk.answer()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    assert desk.tournaments.wake_at is None
    desk.tournaments.resume(())
    desk.tick()
    assert desk.sent[-1] == ReadTournament(ARENA)


def test_entering_again_before_leaving_counts_as_joined(desk: Desk) -> None:
    desk.enter()
    desk.leave()
    desk.tournaments.join(Wish(ARENA, "coders"))
    desk.answer()
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    assert desk.sent[-1] == JoinTournament(ARENA, "coders", None)


def test_joining_again_with_a_password_changes_the_request_that_is_yet_to_come(desk: Desk) -> None:
    desk.begin_to_join()
    desk.fail(Unreachable("timed out"))
    desk.tournaments.join(Wish(ARENA, None, "sesame"))
    desk.wait()
    assert desk.sent[-1] == JoinTournament(ARENA, None, "sesame")
    desk.tournaments.join(Wish(ARENA, None, "open sesame"))
    desk.fail(Refused(400, "Wrong entry code"))     # about the one before
    assert desk.sent[-1] == JoinTournament(ARENA, None, "open sesame")
    desk.fail(Refused(400, "Wrong entry code"))
    assert desk.tournaments.ids == ()


def test_a_tournament_left_while_a_join_is_under_way_is_left_after_its_answer(desk: Desk) -> None:
    desk.begin_to_join()
    desk.tournaments.leave(ARENA)
    desk.answer()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    desk.tournaments.leave("2nDaReNa")     # was not wanted
    assert desk.tournaments.ids == ()


def test_a_tournament_left_while_a_join_is_under_way_is_left_at_once_if_that_fails(desk: Desk) -> None:
    """An end of the process waited 30 s for it, while Lichess may have begun a game there."""
    desk.begin_to_join()
    desk.tournaments.stop(is_ending=True)
    desk.fail(Unreachable("timed out"))
    assert desk.sent[-1] == LeaveTournament(ARENA)


def test_a_tournament_that_is_left_again_before_it_could_be_left_is_not_joined(desk: Desk) -> None:
    desk.enter()
    desk.leave()
    desk.tournaments.join(Wish(ARENA))
    desk.tournaments.leave(ARENA)
    desk.answer()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    assert desk.tournaments.wake_at is None


def test_a_tournament_joined_by_a_command_is_joined_again_after_a_restart_until_it_is_left(desk: Desk) -> None:
    desk.tournaments.join(Wish(ARENA, "coders", "sesame"))
    desk.restart()
    desk.tournaments.want(())
    desk.tick()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    assert desk.sent == [ReadTournament(ARENA), JoinTournament(ARENA, "coders", "sesame")]
    desk.answer()
    desk.leave()
    desk.restart()
    desk.tournaments.want(())
    assert desk.tournaments.ids == ()


def test_a_reload_keeps_what_was_joined_by_a_command_and_leaves_what_it_lists_no_more(desk: Desk) -> None:
    desk.tournaments.join(Wish(ARENA))
    desk.tournaments.want([TournamentConfig(id="2nDaReNa")])
    assert set(desk.tournaments.ids) == {ARENA, "2nDaReNa"}
    desk.tournaments.want(())
    assert desk.tournaments.ids == (ARENA,)


def test_a_tournament_joined_by_a_command_during_a_pause_is_left_until_its_end(desk: Desk) -> None:
    """Lichess began game after game there, though the bot was paused or its engine failed."""
    desk.tournaments.stop()
    desk.join()
    assert desk.sent == [LeaveTournament(ARENA)]
    assert desk.tournaments.ids == ()
    desk.answer()
    assert not desk.tournaments.is_leaving_any
    desk.tournaments.resume(())
    desk.tick()
    assert desk.sent[1:] == [ReadTournament(ARENA)]


def test_the_team_and_password_of_the_configuration_are_sent(desk: Desk) -> None:
    desk.tournaments.want([TournamentConfig(id=ARENA, team="coders", password=SecretStr("sesame"))])
    desk.tick()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    assert desk.sent[-1] == JoinTournament(ARENA, "coders", "sesame")


def test_an_arena_to_come_is_read_once_and_asked_for_a_game_at_its_start(desk: Desk) -> None:
    desk.join()
    desk.answer(ArenaInfo(id=ARENA, secondsToStart=90))
    desk.answer()
    join = JoinTournament(ARENA, None, None)
    assert desk.sent == [ReadTournament(ARENA), join]
    assert desk.is_asked_after() == 90
    desk.wait(90)
    desk.answer()
    assert desk.sent[2:] == [join, ReadTournament(ARENA)]


def test_an_arena_to_come_is_read_again_as_its_start_may_be_moved_and_clocks_stop_in_a_suspend(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """The bot came hours late, or kept a slot for hours."""
    caplog.set_level("INFO")
    desk.wait_for_start(3 * 3600)
    read, join = ReadTournament(ARENA), JoinTournament(ARENA, None, None)
    for starts_in_s in (2.5 * 3600, 7200, 900):
        assert desk.is_asked_after() == 600
        desk.wait(600)
        desk.answer(ArenaInfo(id=ARENA, secondsToStart=starts_in_s))
        assert list(desk.tournaments.slot_holders) == []
    assert desk.sent == [read, join, read, read, read]
    desk.wait(600)
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=1800))     # it has begun meanwhile
    desk.wait()
    assert desk.sent[5:] == [read, join]
    told = [record.getMessage() for record in caplog.records if record.getMessage().startswith("tournament ")]
    assert told == [f'tournament tournament={ARENA} name="" starts_in_s=10800.000']


def test_a_slot_is_kept_from_two_minutes_before_the_start_until_the_game_begins(desk: Desk) -> None:
    desk.wait_for_start(121)
    assert list(desk.tournaments.slot_holders) == []
    desk.hand.now += 1
    assert len(desk.tournaments.slot_holders) == 1
    desk.tournaments.game_started(ARENA, GAME)
    assert list(desk.tournaments.slot_holders) == [], "the game has its own"


def test_a_slot_is_kept_while_the_request_to_join_a_running_arena_has_no_answer(desk: Desk) -> None:
    """Its game may begin before the answer: a challenge accepted meanwhile would be a game too many."""
    desk.begin_to_join()
    assert len(desk.tournaments.slot_holders) == 1
    desk.fail(RateLimited(timedelta(minutes=1), "Too many requests"))
    assert list(desk.tournaments.slot_holders) == [], "no game is requested until the next try"


def test_the_end_of_an_arena_is_seen_without_a_free_slot(desk: Desk) -> None:
    desk.enter(lasts_s=60)
    desk.free_slots = 0
    desk.wait(50)
    desk.answer()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=10))
    assert desk.is_asked_after() == 10
    desk.wait(10)
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.answer(ArenaInfo(id=ARENA, isFinished=True))
    assert desk.tournaments.wake_at is None


def test_while_a_game_may_begin_the_list_of_games_is_asked_for_every_few_seconds(desk: Desk) -> None:
    desk.enter()
    questions = []
    for second in range(25):
        desk.tick()
        questions += [second] * desk.tournaments.take_overdue(desk.hand.now)
        desk.hand.now += 1
    assert questions == [5, 10, 15, 20]
    assert desk.tournaments.list_check_at == desk.hand.now
    desk.played.add(GAME)
    desk.tournaments.game_started(ARENA, GAME)
    assert desk.tournaments.list_check_at is None
