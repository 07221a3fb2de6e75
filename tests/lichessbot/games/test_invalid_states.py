"""States of a game that our rules refuse: read again, less and less often, and at last resigned."""

from datetime import timedelta

import pytest

from lichessbot.games.actions import GameOver, ReopenStream, StartSearch
from lichessbot.lichess.commands import CommandFailed, Resign, SendMove
from lichessbot.lichess.streams import StreamLost, StreamRefused
from lichessbot.uci.search import BestMove, EngineDied
from tests.lichessbot.games.bench import GAME, TIMEOUTS, UNREACHABLE, Bench, only


def test_an_impossible_move_on_the_stream_is_read_again_first() -> None:
    bench = Bench()
    bench.full()
    only(bench.state("e2e5"), ReopenStream)
    assert bench.full() == [], "the search goes on"


def test_a_move_is_not_sent_again_before_the_stream_is_read_again() -> None:
    bench = Bench()
    sent = bench.owing()
    only(bench.state("e2e5"), ReopenStream)
    bench.hear(CommandFailed(sent, UNREACHABLE))
    assert bench.wait(5) == []


def unreadable(bench: Bench, moves: str) -> Resign:
    """Hand in an invalid state again and again until the game is resigned."""
    patience_s = TIMEOUTS.rejected_states.total_seconds()
    for _ in range(10):
        assert not any(isinstance(action, Resign) for action in bench.full(moves))
        bench.wait(patience_s / 10)
    resign: Resign = only(bench.full(moves), Resign)
    return resign


def test_a_game_that_our_rules_cannot_follow_is_resigned_until_it_is_over() -> None:
    bench = Bench()
    resign = unreadable(bench, "e2e5")
    bench.hear(CommandFailed(resign, UNREACHABLE))
    assert bench.wait(10) == [resign]
    only(bench.state("e2e5", status="resign", winner="black"), GameOver)


def test_a_search_plays_no_more_part_once_a_game_is_resigned_that_cannot_be_followed() -> None:
    bench = Bench()
    search = only(bench.full(), StartSearch).search
    unreadable(bench, "e2e5")
    assert not bench.game.search.awaits(search.search_id)
    assert bench.hear(BestMove(GAME, search.search_id, "e2e4")) == []
    assert bench.hear(EngineDied(GAME, search.search_id, "gone")) == []
    assert all(isinstance(action, Resign | ReopenStream) for _ in range(60) for action in bench.wait(1))


def test_a_state_that_could_not_be_followed_is_forgotten_when_it_can() -> None:
    bench = Bench()
    only(bench.full("e2e5"), ReopenStream)
    only(bench.full("e2e4 e7e5"), StartSearch)
    only(bench.state("e2e5"), ReopenStream)
    assert bench.full("e2e4 e7e5") == []


def test_only_invalid_states_in_a_row_count() -> None:
    bench = Bench()
    patience_s = TIMEOUTS.rejected_states.total_seconds()
    for _ in range(3):
        only(bench.full("e2e5"), ReopenStream)
        bench.wait(patience_s - 1)
        bench.full("e2e5")
        bench.full("e2e4 e7e5")


@pytest.mark.parametrize("outage", [
    StreamLost(GAME, "reset", timedelta(seconds=1)),
    StreamRefused(GAME, 404, "no such game", certain=False),
])  # fmt: skip
def test_an_outage_between_two_invalid_states_does_not_count(outage: StreamLost | StreamRefused) -> None:
    bench = Bench()
    only(bench.full("e2e5"), ReopenStream)
    bench.hear(outage)
    bench.wait(TIMEOUTS.rejected_states.total_seconds() + 1)
    assert not any(isinstance(action, Resign) for action in bench.full("e2e5"))


def test_a_game_that_is_visited_again_gets_a_minute_again() -> None:
    bench = Bench()
    only(bench.full("e2e5"), ReopenStream)
    bench.wait(TIMEOUTS.rejected_states.total_seconds() + 1)
    bench.game.join(bench.now)
    assert not any(isinstance(action, Resign) for action in bench.full("e2e5"))


def test_invalid_states_are_read_again_less_and_less_often() -> None:
    bench, delays_s = Bench(), []
    for _ in range(8):
        asked_at = bench.now
        only(bench.full("e2e5") or bench.wait_until_due(), ReopenStream)
        delays_s.append(bench.now - asked_at)
    ceiling_s = TIMEOUTS.game_backoff_ceiling.total_seconds()
    assert delays_s[0] == 0
    assert all(ceiling_s / 2 <= delay_s <= ceiling_s for delay_s in delays_s[5:])


def test_a_move_found_while_the_state_cannot_be_read_waits_for_one_that_can() -> None:
    bench = Bench()
    search = only(bench.full(), StartSearch).search
    bench.full("e2e5")
    assert bench.hear(BestMove(GAME, search.search_id, "d2d4")) == []
    assert only(bench.full(), SendMove).move == "d2d4"


def test_an_impossible_start_is_resigned() -> None:
    unreadable(Bench(variant="fromPosition", fen="8/8/8/8/8/8/8/8 w - - 0 1"), "")
