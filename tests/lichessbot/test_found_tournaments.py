"""Tournaments that the bot did not join itself, but finds by a game there."""

from datetime import timedelta

import pytest

from lichessbot.errors import Refused
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import JoinTournament, LeaveTournament, ReadTournament
from lichessbot.timeouts import Timeouts
from tests.lichessbot.tournament_desk import ARENA, GAME, Desk


def test_a_tournament_joined_elsewhere_survives_a_reload_until_it_is_left_by_a_command(desk: Desk) -> None:
    desk.begin_game()
    desk.tournaments.want(())
    desk.tick()
    assert desk.sent == [ReadTournament(ARENA)]
    desk.tournaments.leave(ARENA)
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    assert desk.sent[-1] == LeaveTournament(ARENA)


def test_a_tournament_joined_elsewhere_is_joined_again_after_a_pause(desk: Desk) -> None:
    desk.begin_game()
    desk.tick()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    desk.tournaments.stop()
    desk.tick()
    desk.answer()
    desk.tournaments.resume(())
    desk.tick()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    assert desk.sent[-2:] == [ReadTournament(ARENA), JoinTournament(ARENA, None, None)]


def test_a_tournament_joined_elsewhere_survives_a_restart(desk: Desk) -> None:
    desk.begin_game()
    desk.restart()
    desk.tournaments.want(())
    assert desk.tournaments.ids == (ARENA,)


def test_no_slot_is_kept_for_a_tournament_that_was_not_read_yet(desk: Desk) -> None:
    desk.begin_game()
    desk.played = set()
    desk.tick()
    assert list(desk.tournaments.slot_holders) == []


def test_during_a_pause_no_arena_is_found(desk: Desk) -> None:
    desk.tournaments.stop()
    desk.begin_game()
    assert desk.tournaments.ids == ()
    assert desk.rows == {}


def test_the_last_game_of_an_arena_that_is_over_is_no_find(desk: Desk) -> None:
    desk.begin_game()
    desk.tick()
    desk.answer(ArenaInfo(id=ARENA, isFinished=True))
    sent = list(desk.sent)
    desk.tournaments.game_started(ARENA, GAME)
    desk.tick()
    assert desk.sent == sent
    assert desk.tournaments.wake_at is None


LATE = Timeouts().game_start


@pytest.mark.parametrize(
    ("game", "after", "is_found"),
    [
        (GAME, LATE, False),
        ("game0002", LATE - timedelta(seconds=1), False),
        ("game0002", LATE, True),
    ],
    ids=["the game when we left", "a game begun when we left", "joined by hand"],
)
def test_an_arena_that_was_left_is_found_again_by_a_game_that_began_later(
    desk: Desk, game: str, after: timedelta, is_found: bool
) -> None:
    desk.enter()
    desk.begin_game()
    desk.leave()
    desk.answer()
    desk.hand.now += after.total_seconds()
    desk.tournaments.game_started(ARENA, game)
    assert desk.tournaments.ids == ((ARENA,) if is_found else ())


def test_a_game_that_began_as_we_left_is_no_find_when_it_is_announced_again(desk: Desk) -> None:
    desk.enter()
    desk.leave()
    desk.answer()
    desk.tournaments.game_started(ARENA, GAME)
    desk.hand.now += LATE.total_seconds()
    desk.tournaments.game_started(ARENA, GAME)
    assert desk.tournaments.ids == ()


def test_an_arena_that_refused_us_is_found_by_the_next_game_there(desk: Desk) -> None:
    desk.join()
    desk.answer(ArenaInfo(id=ARENA, secondsToFinish=600))
    desk.fail(Refused(400, "Missing team"))
    assert desk.tournaments.ids == ()
    desk.tournaments.game_started(ARENA, GAME)
    assert desk.tournaments.ids == (ARENA,)
