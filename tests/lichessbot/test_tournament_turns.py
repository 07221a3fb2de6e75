"""Tournaments without a free slot, and several at a time: Lichess pairs the bot in each that it is in, asked or not."""

import pytest

from lichessbot.arena_entry import Wish
from lichessbot.errors import Refused, Unreachable
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import CommandDone, JoinTournament, LeaveTournament, ReadTournament
from tests.lichessbot.tournament_desk import ARENA, Desk

OTHER = "2nDaReNa"


def joined(arena: str) -> JoinTournament:
    return JoinTournament(arena, None, None)


def test_without_a_free_slot_an_arena_is_left_and_joined_once_one_is_free(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """We may have been in it since before a restart, or by `lichessbot tournament`."""
    caplog.set_level("INFO")
    desk.free_slots = 0
    desk.wait_in(ARENA)
    assert desk.sent == [ReadTournament(ARENA), LeaveTournament(ARENA), ReadTournament(ARENA)]
    assert desk.tournaments.ids == (ARENA,)
    assert desk.tournaments.list_check_at is None, "no game can begin there"
    for _ in range(3):
        assert desk.is_asked_after() == 50
        desk.wait()
    assert len(desk.sent) == 3
    assert len(desk.tournaments.slot_holders) == 1, "the next free slot is kept for it"
    desk.free_slots = 1
    desk.tick()
    assert desk.sent[3:] == [joined(ARENA)]
    told = [text for record in caplog.records if not (text := record.getMessage()).startswith("tournament tour")]
    assert told == [f"tournament.waits tournament={ARENA}"]


def test_of_two_arenas_with_one_free_slot_the_second_waits_until_the_first_is_over(desk: Desk) -> None:
    """Both games came, and the bot played more than `concurrency`."""
    desk.enter()
    desk.wait_in(OTHER)
    before = len(desk.sent)
    desk.begin_game()
    desk.free_slots = 0
    desk.wait(100)
    desk.free_slots, desk.played = 1, set()
    desk.tick()
    assert desk.sent[before:] == [joined(ARENA)], "the slot is kept for the next game there"
    desk.answer()
    desk.leave()
    assert desk.sent[-1] == LeaveTournament(ARENA), "Lichess may pair us there until it has answered"
    desk.answer()
    assert desk.sent[-1] == joined(OTHER)


def test_an_arena_that_we_leave_keeps_its_slot_from_one_that_began_earlier(desk: Desk) -> None:
    desk.wait_for_start(90)
    desk.free_slots = 0
    desk.wait_in(OTHER)
    desk.leave()
    desk.free_slots = 1
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA), "Lichess may pair us there until it has answered"
    desk.answer()
    assert desk.sent[-1] == joined(OTHER)


def test_of_two_arenas_begun_at_a_time_with_one_free_slot_one_is_joined_at_once(desk: Desk) -> None:
    for arena in (ARENA, OTHER):
        desk.join(arena)
    for arena in (ARENA, OTHER):
        desk.tournaments.handle(CommandDone(ReadTournament(arena), ArenaInfo(id=arena, secondsToFinish=600)))
    for _ in range(2):
        desk.tick()
    desk.tournaments.handle(CommandDone(joined(ARENA)))
    desk.tick()
    assert desk.sent[2:] == [joined(ARENA), LeaveTournament(OTHER)]


def test_with_two_free_slots_two_arenas_are_played_at_a_time_and_the_third_waits(desk: Desk) -> None:
    desk.free_slots = 2
    desk.enter()
    desk.join(OTHER)
    desk.answer(ArenaInfo(id=OTHER, secondsToFinish=600))
    assert desk.sent[-1] == joined(OTHER)
    desk.answer()
    desk.wait_in("3rDaReNa")
    assert len(desk.tournaments.slot_holders) == 3


def test_an_arena_whose_slot_a_game_has_taken_is_left_until_the_game_is_over(desk: Desk) -> None:
    """A restart or a reload may find more games than there are slots."""
    desk.enter()
    desk.free_slots = 0
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    desk.answer()
    desk.free_slots = 1
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=500))
    assert desk.sent[-1] == joined(ARENA)
    desk.fail(Refused(400, "Your previous pause is not over yet"))
    assert desk.is_asked_after() == 30
    assert len(desk.tournaments.slot_holders) == 1
    desk.wait()
    assert desk.sent[-1] == joined(ARENA)


def test_an_arena_whose_slot_is_taken_while_we_join_it_again_is_left_again(desk: Desk) -> None:
    desk.free_slots = 0
    desk.wait_in(ARENA)
    desk.free_slots = 1
    desk.tick()
    assert desk.sent[-1] == joined(ARENA)
    desk.free_slots = 0
    desk.fail(Unreachable("timed out"))
    assert desk.sent[-1] == LeaveTournament(ARENA)


def test_an_arena_in_which_a_game_is_played_needs_no_other_slot(desk: Desk) -> None:
    desk.enter()
    desk.begin_game()
    before = len(desk.sent)
    desk.free_slots = 0
    desk.tick()
    assert desk.sent[before:] == []


@pytest.mark.parametrize("is_free", [True, False])
def test_an_arena_to_come_is_left_shortly_before_its_start_unless_a_slot_is_free(desk: Desk, is_free: bool) -> None:
    desk.free_slots = 0
    desk.wait_for_start(90)
    assert desk.sent[-1] == joined(ARENA)
    desk.wait(84)
    assert desk.sent[-1] == joined(ARENA), "a game may end in time"
    desk.free_slots = int(is_free)
    desk.wait(1)
    assert desk.sent[-1] == (joined(ARENA) if is_free else LeaveTournament(ARENA))


def test_an_arena_that_was_left_before_its_start_is_joined_only_with_a_slot(desk: Desk) -> None:
    """Lichess sends whole seconds: the bot joined it again, as if it were to come, and had to leave it once more."""
    desk.free_slots = 0
    desk.wait_for_start(90)
    desk.wait(85)
    desk.answer()
    desk.answer(ArenaInfo(id=ARENA, secondsToStart=6, secondsToFinish=600))
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.wait(6)
    assert desk.sent[-1] == ReadTournament(ARENA)
    desk.free_slots = 1
    desk.tick()
    assert desk.sent[-1] == joined(ARENA)


def test_an_arena_that_begins_takes_no_slot_from_one_that_runs(desk: Desk) -> None:
    desk.join(OTHER)
    desk.answer(ArenaInfo(id=OTHER, secondsToStart=90))
    desk.answer()
    desk.enter()
    before = len(desk.sent)
    desk.wait(85)
    assert desk.sent[before:] == [joined(ARENA), LeaveTournament(OTHER)]


def test_an_arena_that_waits_for_a_slot_is_not_left_at_a_stop(desk: Desk) -> None:
    desk.free_slots = 0
    desk.wait_in(ARENA)
    before = len(desk.sent)
    desk.tournaments.stop(is_ending=True)
    desk.tick()
    assert desk.sent[before:] == []
    assert not desk.tournaments.is_leaving_any


def test_an_arena_that_waits_for_a_slot_is_left_again_if_somebody_joined_it(desk: Desk) -> None:
    """By `lichessbot tournament`, or by hand, which its game shows."""
    desk.free_slots = 0
    desk.wait_in(ARENA)
    desk.tournaments.join(Wish(ARENA))
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA)
    desk.answer()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    before = len(desk.sent)
    desk.begin_game()
    desk.wait(50)
    assert desk.sent[before:] == []
    desk.played = set()
    desk.tick()
    assert desk.sent[before:] == [LeaveTournament(ARENA)]


def test_a_game_that_begins_as_we_leave_is_played_and_no_other_after_it(desk: Desk) -> None:
    desk.enter()
    desk.free_slots = 0
    desk.tick()
    desk.begin_game()
    desk.answer()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    before = len(desk.sent)
    desk.wait(100)
    desk.played = set()
    desk.tick()
    assert desk.sent[before:] == []
    desk.free_slots = 1
    desk.tick()
    assert desk.sent[before:] == [joined(ARENA)]


def test_a_request_without_an_answer_may_still_lead_to_a_game(desk: Desk) -> None:
    """The bot gave its slot to a challenger, and then had a game more than `concurrency`."""
    desk.begin_to_join()
    desk.fail(Unreachable("timed out"))
    assert len(desk.tournaments.slot_holders) == 1
    before = len(desk.sent)
    desk.wait()
    assert desk.sent[before:] == [joined(ARENA)]
    desk.fail(Unreachable("timed out"))
    desk.free_slots = 0
    desk.tick()
    assert desk.sent[-1] == LeaveTournament(ARENA)


def test_an_arena_that_has_not_begun_keeps_no_other_from_its_game(desk: Desk) -> None:
    desk.join(OTHER)
    desk.answer(ArenaInfo(id=OTHER, secondsToStart=3600))
    desk.answer()
    desk.begin_to_join()
    assert desk.sent[-1] == joined(ARENA)
