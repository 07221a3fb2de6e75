"""The delivery of a move: repeated until the stream shows it, and delayed if configured so; and aborts."""

from datetime import timedelta
from itertools import combinations, pairwise

import chess
import pytest

from engine.facade import Board
from lichessbot.games.actions import (
    GameOver,
    RecordAction,
    ReopenStream,
    StartSearch,
    Withdraw,
)
from lichessbot.games.delivery import castles_in_place
from lichessbot.lichess.commands import Abort, CommandDone, CommandFailed, SendMove
from lichessbot.lichess.enums import GameStatus
from lichessbot.lichess.models import GameFull
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamOpened
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import BestMove
from tests.lichessbot.games.bench import GAME, REFUSED, TIMEOUTS, UNREACHABLE, Bench, limited, only, state

# Delivery


def test_a_move_without_an_answer_is_repeated_at_once_and_then_at_growing_intervals() -> None:
    bench = Bench()
    sent = bench.owing()
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == [sent]
    for _ in range(20):
        assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []
        before = bench.now
        assert bench.wait_until_due() == [sent]
        assert 0.2 < bench.now - before <= TIMEOUTS.game_backoff_ceiling.total_seconds()


def test_a_move_the_stream_shows_is_not_sent_again() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, UNREACHABLE))
    bench.hear(CommandFailed(sent, UNREACHABLE))
    bench.state("e2e4")
    assert all(isinstance(action, Abort) for action in bench.wait(3600))


def test_an_acknowledged_move_has_time_to_appear_before_the_stream_is_read_again() -> None:
    bench = Bench()
    sent = bench.owing()
    assert bench.hear(CommandDone(sent)) == []
    assert bench.wait(TIMEOUTS.move_echo.total_seconds() - 0.1) == []
    assert only(bench.wait(0.1), ReopenStream).reason == "our move does not show"
    assert bench.full() == [sent], "it was lost"


def test_a_late_failure_of_a_move_already_shown_is_ignored() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.state("e2e4 e7e5")
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []


def test_the_same_text_at_another_ply_is_another_move() -> None:
    bench = Bench()
    first = bench.owing("g1f3")
    second = only(bench.find(bench.state("g1f3 g8f6 f3g1 f6g8"), "g1f3"), SendMove)
    assert bench.hear(CommandFailed(first, UNREACHABLE)) == []
    assert bench.hear(CommandFailed(second, UNREACHABLE)) == [second]


@pytest.mark.parametrize(
    ("time_ms", "answer_s", "later_s", "later_answer_s"), [(120_000, 3, 0, 3), (4_000, 1, 0, 1), (12_000, 3, 7, 1.25)]
)
def test_an_answer_is_awaited_as_long_as_the_clock_affords_by_then(
    time_ms: int, answer_s: float, later_s: float, later_answer_s: float
) -> None:
    bench = Bench(white=False)
    sent = only(bench.find(bench.full("e2e4 e7e5 g1f3", time_ms=time_ms), "b8c6"), SendMove)
    assert sent.answer_s == answer_s
    bench.now += later_s
    assert only(bench.hear(CommandFailed(sent, UNREACHABLE)), SendMove).answer_s == later_answer_s


@pytest.mark.parametrize(("time_ms", "pause_s"), [(120_000, 60), (20_000, 10)])
def test_a_rate_limited_move_waits_as_long_as_the_clock_affords(time_ms: int, pause_s: float) -> None:
    bench = Bench(white=False)
    sent = only(bench.find(bench.full("e2e4 e7e5 g1f3", time_ms=time_ms), "b8c6"), SendMove)
    assert bench.hear(CommandFailed(sent, limited(60))) == []
    assert bench.wait(pause_s - 1) == []
    assert bench.wait(1) == [sent]


def test_the_clock_runs_from_the_arrival_of_the_line() -> None:
    bench = Bench()
    full = GameFull.model_validate({**bench._full, "state": state("e2e4 e7e5", time_ms=60_000)})
    think = only(bench.hear(StreamEvent(GAME, full, bench.now - 0.5)), StartSearch)
    assert think.search.limits.white_time_ms == 59_500


def test_a_refused_move_is_sent_again_after_reading_the_stream() -> None:
    bench = Bench()
    sent = bench.owing()
    only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)
    assert bench.wait(60) == []
    assert bench.state("") == [], "only a state written for the new connection counts"
    assert bench.full() == [sent]


def test_a_move_refused_because_it_had_arrived_is_done() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, REFUSED))
    assert bench.full("e2e4") == []


def test_a_move_refused_because_the_game_ended_ends_it() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, REFUSED))
    assert only(bench.full(status="draw"), GameOver).status is GameStatus.DRAW


def test_a_move_refused_again_and_again_is_sent_ever_slower() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandFailed(sent, REFUSED))
    assert bench.full() == [sent]
    for _ in range(5):
        only(bench.hear(CommandFailed(sent, REFUSED)), ReopenStream)
        assert bench.full() == []
        assert bench.wait_until_due() == [sent]


def test_after_a_takeback_another_move_may_be_sent_for_the_same_ply() -> None:
    bench = Bench()
    bench.owing()
    bench.state("e2e4 e7e5")
    only(bench.state(""), ReopenStream)
    assert bench.find(bench.full(""), "d2d4") == [SendMove(GAME, 1, "d2d4")]


def test_a_move_without_a_whole_answer_is_sent_again_after_reading() -> None:
    bench = Bench()
    sent = bench.owing()
    assert bench.wait(5) == []
    only(bench.wait(1), ReopenStream)
    assert bench.full() == [sent]


def test_with_little_time_left_a_move_without_answer_is_sent_again_sooner() -> None:
    bench = Bench()
    sent = only(bench.find(bench.full("e2e4 e7e5", time_ms=2000), "g1f3"), SendMove)
    tries = 0
    began = bench.now
    while bench.now < began + 1.9:
        answer = bench.hear(CommandFailed(sent, UNREACHABLE))
        tries += len(answer or bench.wait_until_due())
    assert tries > 10


def test_an_acknowledged_move_is_not_sent_again_by_a_reconnection() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(CommandDone(sent))
    assert bench.full() == []
    assert bench.full("e2e4") == []


def test_a_move_without_an_answer_is_repeated_while_the_stream_is_lost_too() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.hear(StreamLost(GAME, "reset", timedelta(seconds=4)))
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == [sent]


def test_a_failure_told_after_the_game_was_joined_again_sends_nothing_before_it_is_read() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.game.join(bench.now)
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []
    assert bench.full() == [sent]


@pytest.mark.parametrize("outcome", ["acknowledged", "not answered", "refused"])
def test_a_move_that_may_be_lost_does_not_reopen_a_stream_that_waits_after_a_429(outcome: str) -> None:
    bench = Bench()
    found = bench.full("e2e4 e7e5", time_ms=300_000)
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    sent = only(bench.find(found, "g1f3"), SendMove)
    if outcome == "acknowledged":
        assert bench.hear(CommandDone(sent)) == []
    elif outcome == "refused":
        assert bench.hear(CommandFailed(sent, REFUSED)) == []
    for _ in range(47):
        assert bench.wait(0.25) == []
    assert only(bench.wait(0.25), ReopenStream).reason == "the next attempt is due"
    bench.hear(StreamOpened(GAME))
    assert bench.full("e2e4 e7e5", time_ms=288_000) == [sent]


# Castling in place, which may be legal twice

IN_PLACE = "bqnrnbkr/pppppppp/8/8/8/8/PPPPPPPP/BQNRNBKR w HDhd - 0 1"
BEFORE_CASTLING = "g2g3 g7g6 e1f3 e8f6 f1g2 f8g7"


def test_castling_in_place_without_an_answer_is_sent_again_only_after_reading() -> None:
    bench = Bench(variant="chess960", fen=IN_PLACE)
    sent = only(bench.find(bench.full(BEFORE_CASTLING), "g1h1"), SendMove)
    only(bench.hear(CommandFailed(sent, UNREACHABLE)), ReopenStream)
    assert bench.wait(60) == []
    assert bench.full(BEFORE_CASTLING) == [sent]
    only(bench.hear(CommandFailed(sent, UNREACHABLE)), ReopenStream)
    only(bench.full(f"{BEFORE_CASTLING} g1h1 a7a6"), StartSearch)


def test_other_castling_without_an_answer_is_sent_again_at_once() -> None:
    bench = Bench()
    sent = only(bench.find(bench.full("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"), "e1g1"), SendMove)
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == [sent]


@pytest.mark.parametrize("files", list(combinations(range(8), 3)))
def test_only_castling_in_place_is_legal_again_after_a_reply(files: tuple[int, ...]) -> None:
    rank = chess.BaseBoard.empty()
    for file, letter in zip(files, "RKR", strict=True):
        rank.set_piece_at(file, chess.Piece.from_symbol(letter))
    fen = f"4k3/pppppppp/8/8/8/8/PPPPPPPP/{rank.board_fen().rsplit('/')[-1]} w KQ - 0 1"
    before = chess.Board(fen, chess960=True)
    twice = set()
    for move in before.legal_moves:
        after = before.copy()
        after.push(move)
        after.push_uci("a7a6")
        if move in after.legal_moves:
            twice.add(move.uci())
    ours = Board(fen, chess960=True)
    in_place = {move for move in ours.legal_moves() if castles_in_place(ours, move)}
    assert twice <= in_place <= {"g1h1", "c1b1", "c1a1"}


def test_a_drop_is_no_castling() -> None:
    board = Board(variant="crazyhouse").after("e2e4", "d7d5", "e4d5", "d8d5")
    assert not castles_in_place(board, "P@e4")


# Optional pauses


TEN_PLIES = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7"


def test_fake_thinking_delays_moves_from_the_sixth_on() -> None:
    bench = Bench(fake_think_time=True)
    think = only(bench.full(TEN_PLIES), StartSearch)
    bench.now += 0.5
    assert bench.hear(BestMove(GAME, think.search.search_id, "f1e1")) == []
    assert bench.wait(0.9) == []
    assert bench.wait(0.11) == [SendMove(GAME, 11, "f1e1")], "2.5 % of a minute"


def test_search_time_counts_towards_fake_thinking() -> None:
    bench = Bench(fake_think_time=True)
    think = only(bench.full(TEN_PLIES), StartSearch)
    bench.now += 1.6
    only(bench.hear(BestMove(GAME, think.search.search_id, "f1e1")), SendMove)


def test_without_the_key_no_thinking_is_faked() -> None:
    bench = Bench()
    only(bench.find(bench.full(TEN_PLIES), "f1e1"), SendMove)


def test_fake_thinking_does_not_delay_the_opening() -> None:
    bench = Bench(fake_think_time=True)
    bench.owing()


def test_the_rate_limiting_delay_lies_between_two_moves_of_a_game() -> None:
    bench = Bench(rate_limiting_delay=1000)
    bench.owing()
    bench.now += 0.3
    assert bench.find(bench.state("e2e4 e7e5"), "g1f3") == []
    assert only(bench.wait_until_due(), SendMove).move == "g1f3"
    assert bench.now == pytest.approx(1001.0)


def test_an_optional_pause_is_limited_by_the_clock() -> None:
    bench = Bench(rate_limiting_delay=60_000)
    bench.owing()
    assert bench.find(bench.state("e2e4 e7e5", time_ms=4000), "g1f3") == []
    assert only(bench.wait_until_due(), SendMove).move == "g1f3"
    assert bench.now == pytest.approx(1000.1), "a fortieth of four seconds"


def test_a_waiting_move_is_held_while_the_stream_is_read_again() -> None:
    bench = Bench(fake_think_time=True)
    bench.find(bench.full(TEN_PLIES), "f1e1")
    only(bench.state(TEN_PLIES[:-10]), ReopenStream)
    assert bench.wait(2.0) == []


# Draw offers while a move waits for its pace

AGREEING = {"draw_or_resign": {
    "offer_draw_enabled": True, "offer_draw_score": 20, "offer_draw_moves": 1, "offer_draw_pieces": 32,
}}  # fmt: skip


def test_an_offer_while_the_move_waits_for_its_pace_is_accepted_with_it() -> None:
    bench = Bench(humanlike_time=True, engine=AGREEING)
    bench.find(bench.full(), "e2e4", "cp -50")
    assert bench.wait_until_due() == [SendMove(GAME, 1, "e2e4")]
    assert bench.find(bench.state("e2e4 e7e5"), "g1f3", "cp -60") == []
    assert bench.state("e2e4 e7e5", "bdraw") == [RecordAction(LimitedAction.DRAW_OFFER)]
    assert bench.state("e2e4 e7e5", "bdraw") == [], "recorded once"
    assert bench.wait_until_due() == [SendMove(GAME, 3, "g1f3", offering_draw=True)]


def test_an_offer_that_is_not_good_enough_changes_nothing_about_a_paced_move() -> None:
    bench = Bench(humanlike_time=True, engine=AGREEING)
    bench.find(bench.full("e2e4 e7e5"), "g1f3", "cp 90")
    assert bench.state("e2e4 e7e5", "bdraw") == []
    assert bench.wait_until_due() == [SendMove(GAME, 3, "g1f3")]


# The abort of a game in which the opponent does not move


def test_an_opponent_who_asks_for_time_is_not_aborted_before_it_is_over() -> None:
    for asks_first in (True, False):
        bench = Bench(white=False)
        if asks_first:
            assert not list(bench.game.postpone_abort(timedelta(seconds=60)))
        bench.full()
        if not asks_first:
            assert not list(bench.game.postpone_abort(timedelta(seconds=60)))
        assert Abort(GAME, "the opponent does not move") not in bench.wait(89)
        assert Abort(GAME, "the opponent does not move") in bench.wait(1)


def test_an_abort_that_may_still_wait_to_be_sent_is_withdrawn_once_the_opponent_moves_or_asks_for_time() -> None:
    """After a 429 it would be sent later, into a game that has begun."""
    abort = Abort(GAME, "the opponent does not move")
    bench = Bench(white=False)
    bench.full()
    assert bench.wait(30) == [abort]
    assert list(bench.game.postpone_abort(timedelta(seconds=60))) == [Withdraw(abort)]
    assert list(bench.game.postpone_abort(timedelta(seconds=60))) == []
    assert abort not in bench.wait(129)
    bench.full()
    assert abort in bench.wait(1)
    withdrawn, search = bench.state("e2e4")
    assert withdrawn == Withdraw(abort)
    assert isinstance(search, StartSearch)
    assert abort not in bench.wait(3600)


def test_an_abort_without_effect_is_repeated_ever_more_rarely() -> None:
    abort = Abort(GAME, "the opponent does not move")
    bench = Bench(white=False)
    bench.full()
    sent_s: list[int] = []
    for second in range(3600):
        bench.hear(StreamOpened(GAME))
        bench.full()
        if abort in bench.wait(1):
            sent_s.append(second)
    pauses_s = [later - earlier for earlier, later in pairwise(sent_s)]
    assert pauses_s == [10, 20, 40, 80, 160, 320, 600, 600, 600, 600]


def test_no_game_is_aborted_while_its_stream_cannot_show_the_opponents_move() -> None:
    abort = Abort(GAME, "the opponent does not move")
    retry_s = TIMEOUTS.abort_retry.total_seconds()
    bench = Bench(white=False)
    bench.full()
    bench.wait(25)
    bench.hear(StreamLost(GAME, "reset", timedelta()))
    for _ in range(44):
        assert abort not in bench.wait(1)
        assert (bench.game.wake_at or 0.0) > bench.now, "the main loop must not spin"
    bench.hear(StreamOpened(GAME))
    assert abort not in bench.wait(1), "it is due, but the first line has yet to tell the state"
    bench.full()
    assert abort in bench.wait(retry_s)


def test_after_a_standstill_no_game_is_aborted_before_it_is_read_again() -> None:
    """The opponent's move may have come meanwhile, and wait to be read."""
    abort = Abort(GAME, "the opponent does not move")
    bench = Bench(white=False)
    bench.full()
    bench.now += 60
    only(list(bench.game.read_again("the daemon stood still")), ReopenStream)
    assert abort not in bench.wait(0)
    bench.hear(StreamLost(GAME, "reopened on request", timedelta(), on_request=True))
    bench.hear(StreamOpened(GAME))
    bench.full()
    assert abort in bench.wait(TIMEOUTS.abort_retry.total_seconds())


def test_an_abort_that_may_still_wait_to_be_sent_is_withdrawn_once_the_stream_is_lost() -> None:
    abort = Abort(GAME, "the opponent does not move")
    bench = Bench(white=False)
    bench.full()
    assert bench.wait(30) == [abort]
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=60), as_asked=True))
    assert Withdraw(abort) in bench.wait(TIMEOUTS.abort_retry.total_seconds())


def test_an_abort_is_withdrawn_though_the_opponents_move_was_read_with_our_reply() -> None:
    abort = Abort(GAME, "the opponent does not move")
    bench = Bench(white=False)
    bench.full()
    assert bench.wait(30) == [abort]
    assert Withdraw(abort) in bench.full("e2e4 e7e5")
