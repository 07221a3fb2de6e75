"""Pondering: hits, misses, and engines that fail at it."""

import pytest

from lichessbot.config import EngineConfig
from lichessbot.games.actions import (
    AskSources,
    KillEngine,
    PonderHit,
    StartSearch,
    StopSearch,
)
from lichessbot.lichess.commands import Resign, SendMove
from lichessbot.uci.search import BestMove, EngineDied, Search, SearchInfo
from tests.lichessbot.games.bench import GAME, Bench, advice, consulting, only


def pondering(bench: Bench, reply: str | None = "e7e5") -> StartSearch:
    """Send our first move and ponder on `reply`."""
    think = only(bench.full(), StartSearch)
    sent, supposed = bench.hear(BestMove(GAME, think.search.search_id, "e2e4", ponder=reply))
    assert isinstance(sent, SendMove)
    assert supposed.search.search_id > think.search.search_id
    return supposed


def test_the_engine_ponders_on_the_expected_reply() -> None:
    bench = Bench()
    search = pondering(bench).search
    assert search.moves == ("e2e4", "e7e5")
    assert search.limits.ponder
    assert bench.state("e2e4") == [], "our own move is no news"


def test_an_engine_that_failed_at_another_search_still_ponders() -> None:
    bench = Bench()
    assert bench.hear(EngineDied(GAME, None, "crashed")) == [], "while it started"
    again = bench.restart(only(bench.full(), StartSearch))
    _, supposed = bench.hear(BestMove(GAME, again.search.search_id, "e2e4", ponder="e7e5"))
    assert supposed.search.limits.ponder


def test_a_ponder_hit_goes_on_as_the_search_for_our_move() -> None:
    bench = Bench()
    search = pondering(bench).search
    bench.state("e2e4")
    assert bench.state("e2e4 e7e5") == [PonderHit(search.search_id)]
    assert bench.wait(1) == []
    assert only(bench.hear(BestMove(GAME, search.search_id, "g1f3")), SendMove).move == "g1f3"


def test_after_resigning_nothing_is_pondered() -> None:
    bench, lost = Bench(engine={"draw_or_resign": {"resign_enabled": True, "resign_moves": 2}}), "cp -5000"
    bench.find(bench.full(), "e2e4", lost)
    think = only(bench.state("e2e4 c7c5"), StartSearch)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3", SearchInfo(score=lost), ponder="b8c6")), Resign)


def test_another_reply_starts_a_new_search() -> None:
    bench = Bench()
    supposed = pondering(bench).search
    bench.state("e2e4")
    search = only(bench.state("e2e4 c7c5"), StartSearch).search
    assert (search.moves, search.limits.ponder) == (("e2e4", "c7c5"), False)
    assert bench.hear(BestMove(GAME, supposed.search_id, "g1f3")) == []
    only(bench.hear(BestMove(GAME, search.search_id, "g1f3")), SendMove)


def test_an_answer_before_the_ponder_hit_is_kept() -> None:
    bench = Bench()
    search = pondering(bench).search
    early = BestMove(GAME, search.search_id, "g1f3", ponder="b8c6")
    assert bench.hear(early) == []
    assert bench.state("e2e4 e7e5") == [PonderHit(search.search_id), early]
    sent, supposed = bench.hear(early)
    assert sent == SendMove(GAME, 3, "g1f3")
    assert bench.state("e2e4 e7e5 g1f3 b8c6") == [PonderHit(supposed.search.search_id)], "it is taken once"


def test_an_engine_that_hangs_after_a_ponder_hit_is_stopped_and_replaced() -> None:
    bench = Bench()
    pondering(bench)
    bench.state("e2e4 e7e5")
    only(bench.wait_until_due(), StopSearch)
    kill, think = bench.wait_until_due()
    assert isinstance(kill, KillEngine)
    assert not think.search.limits.ponder


def test_an_engine_that_dies_while_pondering_costs_nothing_and_ponders_no_more() -> None:
    bench = Bench()
    search = pondering(bench).search
    assert bench.hear(EngineDied(GAME, search.search_id, "ended by itself")) == []
    think = only(bench.state("e2e4 e7e5"), StartSearch)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3", ponder="b8c6")), SendMove)


@pytest.mark.parametrize("reply", [None, "e2e4", "a1a8", "0000", "e7e5q"])
def test_an_illegal_reply_is_not_pondered(reply: str | None) -> None:
    bench = Bench()
    think = only(bench.full(), StartSearch)
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4", ponder=reply)), SendMove)


def test_a_reply_that_ends_the_game_is_not_pondered() -> None:
    bench = Bench()
    think = only(bench.full("f2f3 e7e5"), StartSearch)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g2g4", ponder="d8h4")), SendMove)


def test_a_takeback_ends_pondering() -> None:
    bench = Bench()
    think = only(bench.full("e2e4 e7e5"), StartSearch)
    bench.hear(BestMove(GAME, think.search.search_id, "g1f3", ponder="b8c6"))
    bench.state("e2e4 e7e5 g1f3")
    only(bench.full("e2e4"), StopSearch)
    assert bench.full("e2e4") == [], "once"


def test_the_only_legal_move_is_sent_at_once() -> None:
    fen = "k7/8/8/8/8/6q1/8/7K w - - 0 1"  # the queen leaves the king no square
    bench = Bench(variant="fromPosition", fen="k7/8/8/8/8/8/6q1/7K w - - 0 1")
    assert only(bench.full(), SendMove).move == "h1g2"
    assert Bench(variant="fromPosition", fen=fen).full() == [], "stalemate leaves no move at all"


def test_the_only_legal_move_ends_a_missed_ponder_search() -> None:
    bench = Bench(variant="fromPosition", fen="k7/8/8/8/8/7q/8/K7 w - - 0 1")
    think = only(bench.full(), StartSearch)
    bench.hear(BestMove(GAME, think.search.search_id, "a1b1", ponder="a8b8"))
    stop, sent = bench.state("a1b1 h3a3")
    assert stop == StopSearch()
    assert sent == SendMove(GAME, 3, "b1c2")
    assert bench.game.chosen_among_several.move == "a1b1"


def test_a_late_move_turns_the_hit_into_a_new_search() -> None:
    bench = Bench()
    pondering(bench)
    search = only(bench.state("e2e4 e7e5", time_ms=50_000), StartSearch).search
    assert not search.limits.ponder
    assert search.limits.white_time_ms == 50_000


def consulting_after_the_expected_reply() -> tuple[Bench, Search, AskSources]:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult)), StartSearch)
    _, supposed = bench.hear(BestMove(GAME, think.search.search_id, "e2e4", ponder="e7e5"))
    return bench, supposed.search, only(bench.state("e2e4 e7e5"), AskSources)


def test_pondering_goes_on_while_the_sources_are_asked() -> None:
    bench, search, consult = consulting_after_the_expected_reply()
    assert bench.hear(advice(consult)) == [PonderHit(search.search_id)]
    bench, search, consult = consulting_after_the_expected_reply()
    assert bench.wait(consult.question.patience_s) == [PonderHit(search.search_id)]
    assert only(bench.hear(BestMove(GAME, search.search_id, "g1f3")), SendMove).move == "g1f3"


def test_a_move_of_the_sources_ends_pondering() -> None:
    bench, search, consult = consulting_after_the_expected_reply()
    assert bench.hear(advice(consult, "g1f3")) == [StopSearch(), SendMove(GAME, 3, "g1f3")]
    assert bench.hear(BestMove(GAME, search.search_id, "d2d4")) == []


def test_several_moves_of_the_sources_start_a_new_search() -> None:
    bench, _, consult = consulting_after_the_expected_reply()
    search = only(bench.hear(advice(consult, "g1f3", "b1c3")), StartSearch).search
    assert (search.root_moves, search.limits.ponder) == (("g1f3", "b1c3"), False)


def test_the_engine_does_not_ponder_if_disabled() -> None:
    bench = Bench()
    bench.game.engine = EngineConfig(ponder=False, own_book=False)
    think = only(bench.full(), StartSearch)
    only(bench.hear(BestMove(GAME, think.search.search_id, "e2e4", ponder="e7e5")), SendMove)


# An engine that fails at it


def ponders_after(bench: Bench, search_id: int) -> bool:
    """Let the engine answer our second search; return whether it ponders on the reply."""
    sent, *rest = bench.hear(BestMove(GAME, search_id, "g1f3", ponder="b8c6"))
    assert isinstance(sent, SendMove)
    return any(isinstance(action, StartSearch) for action in rest)


@pytest.mark.parametrize("reply", ["e7e5", "c7c5"])
def test_after_a_hit_or_a_miss_that_was_answered_the_engine_ponders_again(reply: str) -> None:
    bench = Bench()
    supposed = pondering(bench).search
    (action,) = bench.state(f"e2e4 {reply}")
    if isinstance(action, PonderHit):
        assert ponders_after(bench, action.search_id)
    else:
        assert isinstance(action, StartSearch)
        bench.hear(BestMove(GAME, supposed.search_id, None))
        again = bench.restart(action)
        assert ponders_after(bench, again.search.search_id), "the failure has nothing to do with the ponder search"


def test_an_engine_that_overlooks_the_hit_ponders_no_more() -> None:
    bench = Bench()
    supposed = pondering(bench).search
    bench.state("e2e4 e7e5")
    only(bench.wait_until_due(), StopSearch)
    assert not ponders_after(bench, supposed.search_id)


@pytest.mark.parametrize("move", [None, "e2e4"])
def test_an_engine_that_finds_no_legal_move_after_the_hit_is_replaced_and_ponders_no_more(move: str | None) -> None:
    bench = Bench()
    supposed = pondering(bench).search
    bench.state("e2e4 e7e5")
    kill, again = bench.hear(BestMove(GAME, supposed.search_id, move))
    assert isinstance(kill, KillEngine)
    assert not ponders_after(bench, again.search.search_id)


def test_an_engine_that_does_not_stop_pondering_is_replaced_and_ponders_no_more() -> None:
    bench = Bench()
    pondering(bench)
    real = only(bench.state("e2e4 c7c5"), StartSearch)
    again = bench.restart(real)
    assert not ponders_after(bench, again.search.search_id)
