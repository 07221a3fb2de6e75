"""Several tournaments at a time: who is asked for the next game, with fewer free slots than tournaments."""

from lichessbot.errors import Unreachable
from lichessbot.lichess.answers import ArenaInfo
from lichessbot.lichess.commands import JoinTournament
from tests.lichessbot.tournament_desk import ARENA, Desk


def test_of_two_arenas_with_one_free_slot_one_is_asked_at_a_time_and_they_take_turns(desk: Desk) -> None:
    """Both games came, and the bot played more than `concurrency`."""
    other = "2nDaReNa"
    desk.enter()
    desk.wait_in(other)
    before = len(desk.sent)
    for arena in (other, ARENA, other):
        desk.wait(59)
        assert desk.sent[before:] == []     # Lichess may still pair us in the other one
        desk.wait(1)
        assert desk.sent[before:] == [JoinTournament(arena, None, None, pair=True)]
        desk.answer()
        before += 1
    desk.free_slots = 2
    desk.tick()
    assert desk.sent[before:] == [JoinTournament(ARENA, None, None, pair=True)]


def test_a_game_that_begins_uses_up_the_request_for_it(desk: Desk) -> None:
    other = "2nDaReNa"
    desk.enter()
    desk.wait_in(other)
    desk.free_slots, desk.played = 0, {"game"}
    desk.tournaments.game_started(ARENA, "game")
    desk.tick()
    before = len(desk.sent)
    desk.free_slots, desk.played = 1, set()
    desk.tournaments.game_finished("game")
    desk.tick()
    assert desk.sent[before:] == [JoinTournament(other, None, None, pair=True)]


def test_a_request_without_an_answer_may_still_lead_to_a_game(desk: Desk) -> None:
    """The bot gave its slot to a challenger, and then had a game more than `concurrency`."""
    desk.begin_to_join()
    desk.fail(Unreachable("timed out"), perhaps_done=True)
    assert len(desk.tournaments.slot_holders) == 1
    before = len(desk.sent)
    desk.wait()
    assert desk.sent[before:] == [JoinTournament(ARENA, None, None, pair=True)]
    desk.fail(Unreachable("not sent: too late to be useful"))
    assert list(desk.tournaments.slot_holders) == []


def test_three_arenas_take_turns_with_one_free_slot(desk: Desk) -> None:
    """The third never had its turn."""
    arenas = [ARENA, "2nDaReNa", "3rDaReNa"]
    desk.enter()
    for arena in arenas[1:]:
        desk.wait_in(arena)
    before = len(desk.sent)
    for arena in arenas[1:] + arenas:
        desk.wait(60)
        assert desk.sent[before:] == [JoinTournament(arena, None, None, pair=True)]
        desk.answer()
        before += 1


def test_an_arena_that_has_not_begun_keeps_no_other_from_its_game(desk: Desk) -> None:
    other = "2nDaReNa"
    desk.join(other)
    desk.answer(ArenaInfo(id=other, secondsToStart=3600))
    desk.answer()
    desk.begin_to_join()
    assert desk.sent[-1] == JoinTournament(ARENA, None, None, pair=True)
