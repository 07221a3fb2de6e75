"""A stream that lost something, does not open, or is refused."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from lichessbot.games.actions import (
    Action,
    GameOver,
    ReopenStream,
    StartSearch,
)
from lichessbot.lichess.commands import CommandFailed, SendMove
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameInfo
from lichessbot.lichess.streams import PlayingWanted, StreamLost, StreamOpened, StreamRefused
from lichessbot.uci.search import BestMove
from tests.lichessbot.games.bench import GAME, REFUSED, Bench, only, reports_a_hang


def test_a_refused_stream_asks_whether_the_game_is_still_on() -> None:
    bench = Bench()
    bench.full()
    only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
    only(bench.standing(our_turn=None), GameOver)


def test_a_refused_stream_is_reopened_until_the_game_is_known_to_be_over() -> None:
    bench = Bench()
    think = only(bench.full(), StartSearch)
    for _ in range(3):
        only(bench.hear(StreamRefused(GAME, 400, "odd")), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    assert bench.standing(our_turn=True) == []
    bench.hear(StreamOpened(GAME))
    assert bench.full() == []
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4")), SendMove)


def test_a_game_whose_stream_is_always_refused_is_left() -> None:
    bench = Bench(announced=Colour.WHITE)
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 400, "not with the Bot API")), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    bench.hear(StreamOpened(GAME))
    assert bench.standing(our_turn=True) == [], "it opens at last, and may be read"
    only(bench.hear(StreamRefused(GAME, 400, "not with the Bot API")), PlayingWanted)
    assert not only(bench.standing(our_turn=True), GameOver).told


def test_refusals_before_and_after_a_state_was_read_are_not_in_a_row() -> None:
    bench = Bench()
    for _ in range(7):
        bench.hear(StreamRefused(GAME, 400, "odd"))
    bench.hear(StreamOpened(GAME))
    bench.full()
    only(bench.hear(StreamRefused(GAME, 400, "odd")), PlayingWanted)
    assert bench.standing(our_turn=True) == []


def test_a_game_that_an_incomplete_list_lacks_is_left_only_if_its_stream_is_always_refused() -> None:
    """Lichess deletes a correspondence game that nobody began, without telling."""
    bench = Bench(announced=Colour.WHITE)
    for _ in range(7):
        only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
        assert bench.standing(our_turn=None, is_whole=False) == []
        only(bench.wait(4), ReopenStream)
    only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
    assert not only(bench.standing(our_turn=None, is_whole=False), GameOver).told


def test_an_incomplete_list_that_lacks_the_game_does_not_count_as_one_that_came() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert bench.list_requested_after(10)
    assert bench.standing(our_turn=None, is_whole=False) == []
    only(bench.wait(10), ReopenStream)


def test_a_denied_token_says_nothing_about_the_game() -> None:
    bench = Bench()
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 401, "No such token")), PlayingWanted)
        only(bench.wait(4), ReopenStream)


def test_a_refusal_by_a_proxy_never_ends_a_game() -> None:
    bench = Bench(announced=Colour.WHITE)
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 403, "Forbidden", certain=False)), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    assert bench.standing(our_turn=True) == []
    only(bench.standing(our_turn=None), GameOver)


def test_a_game_known_only_from_records_is_left_without_a_list() -> None:
    bench = Bench()
    for _ in range(7):
        only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
        only(bench.wait(4), ReopenStream)
    wanted, over = bench.hear(StreamRefused(GAME, 404, "No such game"))
    assert isinstance(wanted, PlayingWanted)
    assert isinstance(over, GameOver)
    assert not over.told, "a look may still find it"


def test_a_game_that_was_read_once_is_left_only_after_a_list() -> None:
    bench = Bench()
    bench.full()
    for _ in range(20):
        only(bench.hear(StreamRefused(GAME, 404, "No such game")), PlayingWanted)
        bench.wait(4)


def test_a_silent_opponent_makes_us_request_the_list() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert not bench.list_requested_after(9.9)
    assert bench.list_requested_after(0.1)
    assert bench.standing(our_turn=False) == []
    assert not bench.list_requested_after(19.9)
    assert bench.list_requested_after(0.1)


def test_a_list_that_comes_on_our_turn_leads_to_no_other() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5", time_ms=80_000)
    bench.now += 1
    assert bench.standing(our_turn=True) == []
    assert not bench.list_requested_after(60)


def test_the_stream_is_read_again_while_no_list_comes() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert bench.list_requested_after(10)
    only(bench.wait(10), ReopenStream)
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert bench.list_requested_after(10)


def test_a_lost_move_of_the_opponent_is_read_again() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    bench.wait(10)
    only(bench.standing(our_turn=True), ReopenStream)
    only(bench.full("e2e4 e7e5 g1f3 b8c6"), StartSearch)


def test_a_list_older_than_the_last_line_is_ignored() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    bench.wait(5)
    assert bench.standing(our_turn=True, asked_ago=6) == []
    assert bench.standing(our_turn=None, asked_ago=6) == []


def test_a_game_that_is_not_in_progress_any_more_is_read_to_its_end() -> None:
    bench = Bench()
    bench.full("e2e4")
    bench.wait(5)
    only(bench.standing(our_turn=None), ReopenStream)
    only(bench.full("e2e4", status="resign"), GameOver)


def test_a_stream_that_opens_without_the_state_is_opened_again() -> None:
    bench = Bench()
    bench.hear(StreamOpened(GAME))
    assert bench.wait(4) == []
    only(bench.wait(1), ReopenStream)
    assert bench.wait(0) == [], "once"
    bench.hear(StreamOpened(GAME))
    bench.full()
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(20))


def test_a_late_line_of_the_connection_before_is_not_taken_for_the_first_state() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    bench.hear(StreamOpened(GAME))
    assert bench.state("e2e4 e7e5 g1f3") == []
    only(bench.wait(5), ReopenStream)


def test_a_move_refused_before_the_first_line_has_the_stream_opened_again() -> None:
    """The state that this connection is about to tell may be older than the refusal."""
    bench = Bench()
    sent = bench.owing()
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    assert bench.hear(StreamOpened(GAME)) == []
    only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)


@pytest.mark.parametrize(
    ("time_ms", "patience_s", "next_s"),
    [(180_000, 5, 10), (24_000, 3, 6), (4_000, 1, 2)],
    ids=["long", "short", "nearly gone"],
)
def test_a_stream_that_does_not_open_is_replaced_after_a_doubling_wait(
    time_ms: int, patience_s: float, next_s: float
) -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=time_ms)
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    assert bench.wait(patience_s - 0.1) == []
    assert only(bench.wait(0.1), ReopenStream).hangs
    assert not reports_a_hang(bench.wait(next_s - 0.1))
    assert reports_a_hang(bench.wait(0.1)), "nor the next"
    bench.hear(StreamOpened(GAME))
    bench.full("e2e4", time_ms=time_ms)
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(patience_s))
    bench.full("e2e4", time_ms=time_ms)
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    assert reports_a_hang(bench.wait(patience_s)), "the site was reached meanwhile"


def test_a_site_that_opens_slowly_is_reached_before_the_clock_is_gone() -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=8_000)
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    hung_at = [bench.now]
    while len(hung_at) < 4:
        if reports_a_hang(bench.wait_until_due()):
            hung_at.append(bench.now)
    assert [round(later - earlier, 3) for earlier, later in pairwise(hung_at)] == [1, 2, 4]


def test_a_refused_stream_that_then_hangs_is_replaced() -> None:
    bench = Bench()
    bench.full("e2e4")
    bench.hear(StreamRefused(GAME, 400, "odd"))
    assert not only(bench.wait(1), ReopenStream).hangs
    assert any(isinstance(action, ReopenStream) and action.hangs for action in bench.wait(5))


def test_a_first_stream_that_hangs_is_replaced() -> None:
    bench = Bench()
    bench.game.join(bench.now)
    assert bench.wait(4.9) == []
    assert only(bench.wait(0.1), ReopenStream).hangs


def test_a_missing_first_state_is_noticed_sooner_on_a_short_clock() -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=16_000)
    bench.hear(StreamOpened(GAME))
    assert bench.wait(1.9) == []
    assert not only(bench.wait(0.1), ReopenStream).hangs


@pytest.mark.parametrize(
    ("time_ms", "retry_s", "as_asked", "reopened_s"),
    [(20_000, 60, True, 10), (4_000, 4, False, 0.5), (90_000, 11, True, None)],
    ids=["asked for by Lichess", "planned by the reader", "affordable"],
)
def test_a_pause_longer_than_the_clock_affords_is_cut_short(
    time_ms: int, retry_s: float, as_asked: bool, reopened_s: float | None
) -> None:
    bench = Bench()
    bench.full("e2e4 e7e5", time_ms=time_ms)
    assert bench.hear(StreamLost(GAME, "lost", timedelta(seconds=retry_s), as_asked=as_asked)) == []
    waited_s = retry_s if reopened_s is None else reopened_s - 0.1
    assert not any(isinstance(action, ReopenStream) for action in bench.wait(waited_s))
    if reopened_s is not None:
        assert any(isinstance(action, ReopenStream) for action in bench.wait(0.2))


def test_a_stream_that_opens_during_a_pause_is_not_opened_again_at_its_end() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=20_000)
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    bench.wait(5)
    bench.hear(StreamOpened(GAME))
    bench.full("e2e4 e7e5 g1f3", time_ms=15_000)
    bench.standing(our_turn=False)
    assert bench.wait(6) == []


def done_in(bench: Bench, seconds: float) -> list[tuple[float, Action]]:
    """Let time pass in small steps; return what is done, requests for the list of games included, and when."""
    began, done = bench.now, []
    while bench.now < began + seconds:
        bench.now += 0.25
        done += [(bench.now - began, action) for action in bench.game.tick(bench.now)]
    return done


@pytest.mark.parametrize(
    ("about", "pause_s"),
    [
        ({"speed": "blitz"}, 12),
        ({"speed": ""}, 12),
        ({"speed": "rapid"}, 24),
        ({"speed": "classical"}, 36),
        ({"speed": "correspondence", "clock": None, "daysPerTurn": 2}, 90),
    ],
    ids=["blitz", "unknown", "rapid", "classical", "correspondence"],
)
@pytest.mark.parametrize("moves", ["e2e4 e7e5", "e2e4 e7e5 g1f3"], ids=["our turn", "their turn"])
def test_a_pause_after_a_429_lasts_until_the_opponent_could_soon_claim_the_game(
    about: dict[str, Any], pause_s: float, moves: str
) -> None:
    """After a third of 40 s in blitz if we are four pawns behind, and counted from the second after our stream ends."""
    bench = Bench()
    bench._full |= about
    bench.full(moves, time_ms=600_000)
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=90), as_asked=True))
    done = [(at_s, it) for at_s, it in done_in(bench, 90) if isinstance(it, ReopenStream | PlayingWanted)]
    if pause_s == 90:
        assert done == []
    else:
        assert done[0] == (pause_s, ReopenStream("the next attempt is due"))


def test_an_opponent_is_not_checked_for_silence_before_the_stream_is_read_again() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=11), as_asked=True))
    assert done_in(bench, 11) == []
    bench.hear(StreamOpened(GAME))
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    assert not bench.list_requested_after(9.9)
    assert bench.list_requested_after(0.1)


@pytest.mark.parametrize("our_turn", [True, None])
def test_no_list_of_games_cuts_a_pause_short(our_turn: bool | None) -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=80_000)
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    bench.wait(5)
    assert bench.standing(our_turn=our_turn) == []


def test_a_list_does_not_have_a_refused_stream_read_sooner() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    bench.wait(1)
    only(bench.hear(StreamRefused(GAME, 400, "odd")), PlayingWanted)
    assert bench.standing(our_turn=True) == []


@pytest.mark.parametrize(
    ("announced", "again_after_s"),
    [
        ({"secondsLeft": 600, "speed": "blitz"}, 10),
        ({"secondsLeft": 12, "speed": "bullet"}, 6),
        ({"secondsLeft": 1, "speed": "bullet"}, 1),
        ({}, 10),
    ],
    ids=["much is left", "little is left", "nothing is left", "unknown"],
)
def test_a_game_that_was_never_read_cuts_a_pause_short(
    announced: dict[str, Any], again_after_s: float
) -> None:
    bench = Bench()
    info = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, **announced})
    bench.game.join(bench.now, info)
    assert bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True)) == []
    assert bench.wait(again_after_s - 0.1) == []
    assert not only(bench.wait(0.1), ReopenStream).hangs


def test_a_correspondence_game_that_was_never_read_can_wait() -> None:
    bench = Bench()
    told = {"gameId": GAME, "variant": {"key": "standard"}, "secondsLeft": 86_400, "speed": "correspondence"}
    bench.game.join(bench.now, GameInfo.model_validate(told))
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    assert bench.wait(60) == []


def test_a_third_repetition_looks_like_our_turn_until_the_draw_follows() -> None:
    bench = Bench()
    repetition = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"
    sent = only(bench.find(bench.full(repetition), "e2e4"), SendMove)
    only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)
    over = only(bench.full(repetition, status="draw"), GameOver)
    assert over.winner is None


def test_with_little_time_the_list_is_read_at_growing_intervals() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3", time_ms=20_000)
    asked_at = []
    began = bench.now
    while bench.now - began < 120:
        if bench.list_requested_after(0.25):
            asked_at.append(bench.now - began)
            bench.standing(our_turn=False)
    gaps = [later - earlier for earlier, later in pairwise(asked_at)]
    assert asked_at[0] <= 4
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 19
    assert len(asked_at) <= 10


def test_a_game_that_is_over_and_whose_stream_cannot_be_read_is_given_up_with_a_later_list() -> None:
    """Such as a first state of a form that Lichess never sent before: it kept its slot for good."""
    bench = Bench()
    assert bench.finish() == []
    assert bench.standing(our_turn=None) == [], "the stream may still be read, and tell all moves"
    bench.wait(5)
    assert bench.standing(our_turn=False) == []
    assert not only(bench.standing(our_turn=None), GameOver).told


def test_a_game_that_goes_on_although_its_end_was_told_is_played() -> None:
    bench = Bench()
    assert bench.finish() == []
    think = only(bench.full(), StartSearch)
    bench.wait(5)
    only(bench.standing(our_turn=None), ReopenStream)
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4")), SendMove)
