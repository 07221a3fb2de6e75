"""The clocks of one game: who loses on time, and what a restart of the server changes."""

from dataclasses import replace

from lichessbot.rehearsal.rules.clock import Correspondence
from lichessbot.rehearsal.rules.enums import Color, Status
from lichessbot.rehearsal.rules.timing import Timing
from tests.lichessbot.rehearsal.rules.games import BLACK, SETUP, WHITE, game, states


def test_time_runs_out_only_after_both_have_moved() -> None:
    it = game(moves=["e2e4"])
    assert it.check_flag(10**9) == []
    it.play(BLACK, "e7e5", 10**9)
    (state,) = states(it.check_flag(10**9 + 60_000))
    assert (state.status, state.winner) == (Status.OUT_OF_TIME, BLACK)


def test_move_arriving_after_zero_loses_and_is_no_error() -> None:
    it = game(moves=["e2e4", "e7e5"])
    (state,) = states(it.play(WHITE, "g1f3", 60_000))
    assert (state.status, state.winner) == (Status.OUT_OF_TIME, BLACK)
    assert state.moves == ("e2e4", "e7e5")


def test_move_in_the_last_millisecond_counts() -> None:
    it = game(moves=["e2e4", "e7e5"])
    (state,) = states(it.play(WHITE, "g1f3", 59_999))
    assert (state.status, state.white_ms) == (Status.STARTED, 1)


def test_flag_is_a_draw_when_the_other_side_cannot_mate() -> None:
    it = game(fen="4k3/8/8/8/8/8/4P3/4KR2 w - - 0 1", moves=["f1f2", "e8e7"])
    (state,) = states(it.check_flag(60_000))
    assert (state.status, state.winner) == (Status.OUT_OF_TIME, None)


def test_the_clocks_stop_at_the_end() -> None:
    it = game(moves=["e2e4", "e7e5"])
    (state,) = states(it.resign(Color.BLACK, 5000))
    assert (state.white_ms, state.black_ms) == (55_000, 60_000)
    assert it.state(50_000) == state


def test_a_flag_soon_after_a_restart_aborts_if_the_player_has_not_moved_since() -> None:
    timing = Timing()
    for moves, status in (([], Status.ABORTED), (["g1f3"], Status.OUT_OF_TIME)):
        it = game(moves=["e2e4", "e7e5"])
        it.outlive_restart(timing, 50_000)
        assert it.clock.remaining_ms(Color.WHITE, 50_000) == 10_000 + 20_000
        assert it.clock.remaining_ms(Color.BLACK, 50_000) == 60_000 + 10_000
        for move in moves:
            it.play(it.turn, move, 60_000)
        (state,) = states(it.check_flag(50_000 + 30_000 if not moves else 60_000 + 70_000))
        assert state.status is status


def test_a_restart_adds_no_time_in_correspondence_games() -> None:
    it = game(replace(SETUP, time_control=Correspondence(2)), ["e2e4", "e7e5"])
    before = it.clock.remaining_ms(Color.WHITE, 0)
    it.outlive_restart(Timing(), before - 1000)
    assert it.clock.remaining_ms(Color.WHITE, 0) == before
    (state,) = states(it.check_flag(before + 1000))
    assert state.status is Status.OUT_OF_TIME


def test_flag_is_a_draw_when_the_other_side_was_offering_one() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.offer_draw(BLACK, 0)
    (state,) = states(it.check_flag(60_000))
    assert (state.status, state.winner) == (Status.DRAW, None)


def test_state_shows_running_time_deducted_when_it_is_written() -> None:
    it = game(moves=["e2e4", "e7e5"])
    assert it.state(2_500).white_ms == 57_500
    assert it.state(2_500).black_ms == 60_000
