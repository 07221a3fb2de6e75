"""The state machine of a game: turns, moves and ends. Reports are handed in, time is a number."""

from datetime import timedelta
from typing import Any

import pytest

from engine.facade import STARTING_FEN, Board, chess960_fen
from lichessbot.config import EngineConfig
from lichessbot.games.actions import (
    GameOver,
    ReopenStream,
    StartSearch,
    StopSearch,
)
from lichessbot.lichess.commands import Abort, CommandDone, CommandFailed, SendMove
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import ChatLine, OpponentGone
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamOpened
from lichessbot.uci.search import BestMove, EngineReady
from tests.lichessbot.games.bench import GAME, TIMEOUTS, UNREACHABLE, Bench, only

# Our turn


def test_a_search_starts_on_our_turn() -> None:
    search = only(Bench().full(), StartSearch).search
    assert (search.initial_fen, search.moves, search.chess960) == (STARTING_FEN, (), False)


def test_no_search_starts_on_the_opponents_turn() -> None:
    assert Bench(white=False).full() == []
    assert Bench().full("e2e4") == []


def test_our_colour_is_the_side_with_our_id() -> None:
    search = only(Bench(white=False).full("e2e4"), StartSearch).search
    assert search.moves == ("e2e4",)


def test_black_moves_first_if_the_position_says_so() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
    assert Bench(variant="fromPosition", fen=fen).full() == []
    search = only(Bench(white=False, variant="fromPosition", fen=fen).full(), StartSearch).search
    assert (search.initial_fen, search.chess960) == (fen, True)


def test_the_reply_of_the_opponent_starts_the_next_search() -> None:
    bench = Bench()
    bench.owing()
    assert bench.state("e2e4") == []
    assert only(bench.state("e2e4 e7e5"), StartSearch).search.moves == ("e2e4", "e7e5")


def test_the_same_state_again_changes_nothing() -> None:
    bench = Bench()
    bench.full()
    assert bench.state("") == []
    assert bench.full() == []
    bench = Bench()
    bench.owing()
    assert bench.state("") == []
    assert bench.full() == []


def test_a_state_before_the_first_full_one_is_not_enough() -> None:
    assert Bench().state("") == []


def test_chat_and_absence_change_nothing() -> None:
    bench = Bench()
    bench.full()
    for event in (ChatLine(text="hi"), OpponentGone(gone=True)):
        assert bench.hear(StreamEvent(GAME, event, bench.now)) == []


def test_a_stream_that_breaks_leaves_the_search_running() -> None:
    bench = Bench()
    think = only(bench.full(), StartSearch)
    assert bench.hear(StreamLost(GAME, "reset", timedelta())) == []
    assert bench.hear(StreamOpened(GAME)) == []
    assert bench.full() == []
    only(bench.hear(BestMove(GAME, think.search.search_id, "d2d4")), SendMove)


def test_zero_clocks_after_a_reconnect_leave_the_time_that_was_known() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    bench.now += 5
    limits = only(bench.full("e2e4 e7e5 g1f3 b8c6", time_ms=0), StartSearch).search.limits
    assert (limits.white_time_ms, limits.black_time_ms) == (55_000, 60_000)
    bench.now += 5
    limits = only(bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", time_ms=0), StartSearch).search.limits
    assert limits.black_time_ms == 0, "only the first line of a connection is doubted"


def test_a_game_without_readable_clocks_goes_on_with_the_time_that_is_known() -> None:
    bench = Bench()
    think, moves = bench.full(time_ms=None), ""
    assert only(think, StartSearch).search.limits.white_time_ms == 60_000
    for ours, reply, left_ms in (("e2e4", "e7e5", 60_000), ("g1f3", "b8c6", 55_000), ("f1c4", "f8c5", 50_000)):
        bench.now += 5
        assert only(bench.find(think, ours), SendMove).move == ours
        assert bench.state(f"{moves} {ours}", time_ms=None) == []
        bench.now += 5
        moves = f"{moves} {ours} {reply}"
        think = bench.state(moves, time_ms=None)
        limits = only(think, StartSearch).search.limits
        assert (limits.white_time_ms, limits.black_time_ms) == (left_ms, 60_000)


@pytest.mark.parametrize("given", [{"days": 2}, {"timed": False}])
def test_a_game_without_a_clock_has_time_although_that_cannot_be_read(given: dict[str, Any]) -> None:
    search = only(Bench(**given).full("e2e4 e7e5", time_ms=None), StartSearch).search
    assert search.limits.move_time_ms == 10_000


def test_a_takeback_is_believed_from_a_new_connection_and_restarts_the_search() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    only(bench.state(""), ReopenStream)
    search = only(bench.full(""), StartSearch).search
    assert search.moves == ()


def test_a_takeback_to_the_opponents_turn_stops_the_search() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    only(bench.state("e2e4"), ReopenStream)
    only(bench.full("e2e4"), StopSearch)


def test_an_old_line_that_comes_late_changes_nothing() -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5"), StartSearch)
    only(bench.state("e2e4"), ReopenStream)
    assert bench.hear(BestMove(GAME, think.search.search_id, "g1f3")) == [], "first the stream is read again"
    assert bench.full("e2e4 e7e5") == [SendMove(GAME, 3, "g1f3")]


def test_an_old_line_that_comes_late_sends_no_second_move_for_the_same_ply() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.state("e2e4")
    assert bench.hear(CommandDone(sent)) == []
    only(bench.state(""), ReopenStream)
    assert bench.full("e2e4") == []


def test_the_clock_of_a_resumed_game_goes_to_the_engine() -> None:
    limits = only(Bench().full("e2e4 e7e5", time_ms=7000), StartSearch).search.limits
    assert limits.white_time_ms == 7000


def test_without_a_legal_move_we_wait_for_the_result() -> None:
    mate = "f2f3 e7e5 g2g4 d8h4"
    assert Bench().full(mate) == []


# Our move


def test_the_best_move_is_sent_once() -> None:
    bench = Bench()
    search_id = only(bench.full(), StartSearch).search.search_id
    assert bench.hear(BestMove(GAME, search_id, "e2e4")) == [SendMove(GAME, 1, "e2e4")]
    assert bench.hear(BestMove(GAME, search_id, "d2d4")) == []


def test_the_answer_to_an_abandoned_search_is_not_sent() -> None:
    bench = Bench()
    first = only(bench.full("e2e4 e7e5"), StartSearch).search.search_id
    only(bench.full(""), StartSearch)
    assert bench.hear(BestMove(GAME, first, "g1f3")) == []


@pytest.mark.parametrize("found", ["e1g1", "e1h1"])
def test_castling_goes_out_as_e1g1_in_standard_chess(found: str) -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"), StartSearch)
    assert only(bench.hear(BestMove(GAME, think.search.search_id, found)), SendMove).move == "e1g1"


@pytest.mark.parametrize("found", ["e1g1", "e1h1"])
@pytest.mark.parametrize("variant", ["chess960", "fromPosition"])
def test_castling_goes_out_as_king_takes_rook_otherwise(variant: str, found: str) -> None:
    bench = Bench(variant=variant, fen=STARTING_FEN)
    think = only(bench.full("e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"), StartSearch)
    assert only(bench.hear(BestMove(GAME, think.search.search_id, found)), SendMove).move == "e1h1"


@pytest.mark.parametrize("castling", ["e1g1", "e1h1"])
def test_both_spellings_of_castling_are_understood_in_standard_chess(castling: str) -> None:
    think = only(Bench(white=False).full(f"e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 {castling}"), StartSearch)
    assert think.search.moves[-1] == "e1g1"


def test_chess960_positions_are_followed() -> None:
    think = only(Bench(variant="chess960", fen=chess960_fen(0)).full(), StartSearch)
    assert think.search.chess960
    assert think.search.initial_fen == chess960_fen(0)


# The end


@pytest.mark.parametrize("status", ["mate", "draw", "outoftime", "aborted", "stalemate", "nobodyKnows"])
def test_a_final_state_ends_the_game(status: str) -> None:
    bench = Bench()
    bench.full()
    over = only(bench.state("e2e4", status=status, winner="white"), GameOver)
    assert (over.winner, over.plies) == (Colour.WHITE, 1)


def test_the_end_told_by_the_event_stream_counts_our_last_move() -> None:
    bench = Bench()
    bench.full("f2f3 e7e5 g2g4")
    mate = Board().after("f2f3", "e7e5", "g2g4", "d8h4")
    over = only(bench.finish(fen=mate.fen(), lastMove="d8h4"), GameOver)
    assert over.plies == 4


def test_the_end_told_by_the_event_stream_counts_our_move_and_a_quick_answer() -> None:
    bench = Bench()
    bench.owing("e2e4")
    end = Board().after("e2e4", "e7e5")
    assert only(bench.finish(fen=end.fen(), lastMove="e7e5"), GameOver).plies == 2


def test_a_game_that_was_over_when_its_stream_opened_is_over() -> None:
    only(Bench().full(status="aborted"), GameOver)


def test_the_event_stream_ends_the_game_if_the_final_state_is_lost() -> None:
    bench = Bench()
    bench.owing()
    over = only(bench.finish("draw", None), GameOver)
    assert (over.status, over.winner) == (GameStatus.DRAW, None)


def test_an_end_told_before_the_first_state_waits_for_the_stream_which_tells_what_to_record() -> None:
    bench = Bench()
    assert bench.finish() == []
    assert only(bench.full("e2e4", status="resign", winner="white"), GameOver).certain


def test_an_end_with_the_status_of_a_running_game_waits_for_the_stream_which_may_go_on() -> None:
    bench = Bench()
    bench.full("e2e4")
    assert bench.finish("started", None) == []
    only(bench.state("e2e4 e7e5"), StartSearch)
    assert only(bench.state("e2e4 e7e5", status="draw"), GameOver).status is GameStatus.DRAW


def test_after_the_end_nothing_is_done() -> None:
    bench = Bench()
    sent = bench.owing()
    bench.finish()
    assert bench.full() == []
    assert bench.state("e2e4", status="aborted") == []
    assert bench.hear(CommandFailed(sent, UNREACHABLE)) == []
    assert bench.wait(3600) == []
    assert bench.game.wake_at is None


def test_a_game_of_others_is_left() -> None:
    bench = Bench(announced=Colour.WHITE)
    bench._full["white"] = {"id": "stranger"}
    over = only(bench.full(), GameOver)
    assert not over.told


def test_a_game_whose_players_cannot_be_read_is_played_with_the_colour_announced() -> None:
    bench = Bench(announced=Colour.BLACK)
    bench._full |= {"white": None, "black": None}
    only(bench.full("e2e4"), StartSearch)


@pytest.mark.parametrize(("winner", "certain"), [(None, False), ("white", True)])
def test_an_end_with_an_unknown_status_is_certain_if_somebody_won(winner: str | None, certain: bool) -> None:
    over = only(Bench().full(status="nobodyKnows", winner=winner), GameOver)
    assert (over.winner, over.told, over.certain) == (winner, True, certain)
    assert only(Bench().full(status="mate"), GameOver).certain


# An opponent who never moves


def test_a_game_whose_opponent_never_moves_is_aborted() -> None:
    bench = Bench(white=False)
    assert bench.full() == []
    assert bench.wait(29) == []
    assert only(bench.wait(1), Abort).game_id == GAME


def test_it_is_aborted_after_our_first_move_too() -> None:
    bench = Bench()
    bench.owing()
    bench.state("e2e4")
    only(bench.wait(30), Abort)


def test_waiting_starts_when_the_opponents_turn_starts_not_at_each_line() -> None:
    bench = Bench(white=False)
    bench.full()
    bench.wait(20)
    bench.full()
    only(bench.wait(10), Abort)


def test_a_game_whose_state_is_being_read_again_is_not_aborted() -> None:
    """The opponent may have moved."""
    bench = Bench(white=False)
    bench.full()
    only(bench.state("e2e5"), ReopenStream)
    assert not any(isinstance(action, Abort) for action in bench.wait(60))


def test_an_abort_that_fails_is_tried_again() -> None:
    bench = Bench(white=False)
    bench.full()
    abort = only(bench.wait(30), Abort)
    assert bench.hear(CommandFailed(abort, UNREACHABLE)) == []
    assert bench.standing(our_turn=False) == []
    assert bench.wait(9) == []
    assert bench.wait(1) == [abort]


def test_a_game_in_which_both_moved_is_never_aborted() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5 g1f3")
    assert bench.wait(3600) == []


def test_a_game_of_an_arena_is_not_aborted_as_lichess_always_refuses() -> None:
    bench = Bench(white=False)
    bench._full |= {"tournamentId": "abcd1234"}
    assert bench.full() == []
    assert bench.wait(600) == []


def test_our_own_slow_first_move_is_no_reason_to_abort() -> None:
    bench = Bench(white=False)
    bench.full()
    bench.full("e2e4")
    assert not any(isinstance(action, Abort) for action in bench.wait(60))


def test_an_opponent_is_not_checked_for_silence_in_our_turn() -> None:
    bench = Bench()
    bench.full("e2e4", time_ms=600_000)
    bench.state("e2e4 e7e5", time_ms=600_000)
    assert not bench.list_requested_after(TIMEOUTS.silence_ceiling.total_seconds() + 1)


def test_moves_keep_their_distance_from_the_one_before() -> None:
    bench = Bench(rate_limiting_delay=5000)
    began = bench.now
    moves, replies, sent_at = ("e2e4", "g1f3", "f1c4"), ("e7e5", "b8c6", "f8c5"), []
    played: list[str] = []
    found = bench.full(time_ms=600_000)
    for move, reply in zip(moves, replies, strict=True):
        sent = bench.find(found, move)
        while not any(isinstance(action, SendMove) for action in sent):
            sent = bench.wait_until_due()
        sent_at.append(bench.now - began)
        played += [move, reply]
        bench.now += 1
        bench.state(" ".join(played[:-1]), time_ms=600_000)
        found = bench.state(" ".join(played), time_ms=600_000)
    assert sent_at == [0.0, 5.0, 10.0]


# Correspondence


def by_days() -> Bench:
    bench = Bench(timed=False)
    bench._full |= {"daysPerTurn": 3}
    bench.game.engine = EngineConfig(move_time_ms=7000, own_book=False)
    return bench


def test_a_correspondence_move_is_thought_about_for_a_fixed_time() -> None:
    limits = only(by_days().full(time_ms=3 * 86_400_000), StartSearch).search.limits
    assert (limits.move_time_ms, limits.white_time_ms) == (7000, None)


def test_an_engine_that_starts_slowly_is_waited_for_in_a_correspondence_game() -> None:
    bench = by_days()
    think = only(bench.full("e2e4 e7e5", time_ms=3 * 86_400_000), StartSearch)
    assert bench.wait(14) == [], "each visit starts an engine, and 15 s are allowed for that"
    assert bench.hear(EngineReady(GAME)) == []
    assert bench.wait(8) == []
    assert only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove).move == "g1f3"


def test_a_correspondence_game_is_not_aborted_for_its_first_move() -> None:
    bench = by_days()
    assert bench.full("e2e4", time_ms=3 * 86_400_000) == []
    assert bench.wait(86_400.0) == []


def test_we_are_idle_from_when_our_move_shows_until_it_is_answered() -> None:
    bench = by_days()
    bench.owing()
    assert bench.game.idle_since is None, "the move may still be lost"
    bench.now += 1
    bench.state("e2e4")
    bench.now += 1
    bench.state("e2e4")
    assert bench.game.idle_since == 1001.0
    assert not bench.game.search.engine_wanted
    bench.state("e2e4 e7e5")
    assert bench.game.idle_since is None
    assert bench.game.search.engine_wanted


def test_rejoining_discards_searches_in_flight() -> None:
    bench = by_days()
    first = only(bench.full("e2e4 e7e5"), StartSearch).search
    bench.game.join(bench.now)
    assert not bench.game.search.engine_wanted
    second = only(bench.full("e2e4 e7e5"), StartSearch).search
    assert bench.hear(BestMove(GAME, first.search_id, "g1f3")) == []
    only(bench.hear(BestMove(GAME, second.search_id, "g1f3")), SendMove)
    bench.game.join(bench.now)
    assert bench.full("e2e4 e7e5 g1f3") == []
    assert bench.game.idle_since == bench.now
    bench.game.join(bench.now)
    assert bench.game.idle_since is None, "the opponent may have moved meanwhile"


def test_a_late_line_of_the_stream_before_leads_to_no_move() -> None:
    bench = by_days()
    bench.full()
    bench.game.join(bench.now)
    assert bench.find(bench.state("e2e4 e7e5"), "g1f3") == []
    assert only(bench.full("e2e4 e7e5"), SendMove).move == "g1f3"


def test_a_move_that_was_not_seen_before_we_left_is_sent_again() -> None:
    bench = by_days()
    sent = bench.owing()
    bench.game.join(bench.now)
    assert bench.full() == [sent]
