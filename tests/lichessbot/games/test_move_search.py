"""The search for our move: sources, engine and fallback."""


import pytest

from lichessbot.games.actions import (
    AskSources,
    Fallback,
    KillEngine,
    RecordAction,
    StartSearch,
    StopSearch,
)
from lichessbot.lichess.commands import Resign, SendMove
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import FALLBACK, BestMove, EngineDied, EngineReady, SearchInfo
from lichessbot.uci.strength import at_level
from tests.lichessbot.games.bench import GAME, TIMEOUTS, Bench, advice, consulting, only

DAY_MS = 86_400_000

# An engine that fails


def running(bench: Bench, time_ms: int = 60_000) -> StartSearch:
    """Start a search while our clock runs."""
    think: StartSearch = only(bench.full("e2e4 e7e5", time_ms=time_ms), StartSearch)
    return think


def test_an_engine_that_takes_too_long_is_told_to_stop() -> None:
    bench = Bench()
    think = running(bench)
    assert bench.wait(5.8) == [], "60 s are 62 moves of 0.97 s, one may cost four of them, and a busy machine 2 s"
    only(bench.wait(0.1), StopSearch)
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove)


def test_an_engine_that_does_not_stop_is_replaced_and_gets_what_is_left() -> None:
    bench = Bench()
    first = running(bench)
    bench.wait(30)
    kill, again = bench.wait(1)
    assert isinstance(kill, KillEngine)
    assert again.search.search_id != first.search.search_id
    assert again.search.limits.white_time_ms == 29_000


def test_a_second_failure_in_one_move_calls_the_fallback() -> None:
    bench = Bench()
    kill, fallback = bench.die(bench.restart(running(bench)))
    assert isinstance(kill, KillEngine)
    assert isinstance(fallback, Fallback)
    assert fallback.board.moves == ["e2e4", "e7e5"]
    assert bench.wait(10) == []
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)


def test_a_game_is_resigned_if_the_fallback_finds_no_move_either() -> None:
    bench = Bench()
    _, fallback = bench.die(bench.restart(running(bench)))
    resign = only(bench.hear(BestMove(GAME, fallback.search_id, None, source=FALLBACK)), Resign)
    assert resign.reason.startswith("no move was found: ")
    assert bench.hear(BestMove(GAME, fallback.search_id, "g1f3")) == []


@pytest.mark.parametrize("news", [EngineDied(GAME, 1, "killed by SIGKILL"), BestMove(GAME, 1, None)])
def test_what_a_hung_engine_told_a_moment_too_late_costs_no_game(news: EngineDied | BestMove) -> None:
    bench = Bench()
    assert running(bench, time_ms=1000).search.search_id == 1
    only(bench.wait_until_due(), StopSearch)
    _, fallback = bench.wait_until_due()
    assert isinstance(fallback, Fallback)
    assert bench.hear(news) == [], "it was told before the engine was given up, and is read only now"
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)


def test_the_next_move_gets_an_engine_again() -> None:
    bench = Bench()
    again = bench.restart(running(bench))
    bench.hear(BestMove(GAME, again.search.search_id, "g1f3"))
    second = only(bench.state("e2e4 e7e5 g1f3 b8c6"), StartSearch)
    bench.restart(second)


def test_with_hardly_any_time_left_the_fallback_moves_at_once() -> None:
    bench = Bench()
    think = running(bench, time_ms=1000)
    kinds = [type(action) for action in bench.die(think)]
    assert kinds == [KillEngine, Fallback]


def test_no_move_waits_for_an_engine_that_hung_twice_until_it_answers() -> None:
    bench = Bench(engine={"command": ["another"]})
    running(bench)
    only(bench.wait_until_due(), StopSearch)
    assert isinstance(bench.wait_until_due()[1], StartSearch)
    assert bench.game.search.due_at - bench.now < 60 / 20, "another has to start"
    bench.hear(EngineReady(GAME))
    began = bench.now
    only(bench.wait_until_due(), StopSearch)
    assert bench.now - began < 60 / 8, "the next search gets less of the clock"
    _, fallback = bench.wait_until_due()
    assert isinstance(fallback, Fallback)
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3", source=FALLBACK)), SendMove)
    fallback, think = bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=40_000)
    assert isinstance(fallback, Fallback)
    only(bench.hear(BestMove(GAME, fallback.search_id, "f1b5", source=FALLBACK)), SendMove)
    assert bench.hear(BestMove(GAME, think.search.search_id, "f1c4")) == []
    only(bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", time_ms=39_000), StartSearch)


def test_zero_clocks_after_a_restart_leave_the_engine_time_for_a_move() -> None:
    bench = Bench()
    think = running(bench, time_ms=0)
    assert think.search.limits.white_time_ms == 3_000
    assert bench.wait(0.1) == []
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove)


def test_with_little_time_the_fallback_moves_until_a_new_engine_has_answered() -> None:
    bench = Bench()
    bench.die(running(bench, time_ms=1000))
    bench.hear(BestMove(GAME, 1, "g1f3"))
    fallback, think = bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=800)
    assert isinstance(fallback, Fallback)
    assert fallback.search_id == think.search.search_id
    only(bench.hear(BestMove(GAME, fallback.search_id, "f1b5")), SendMove)
    assert bench.die(think) == []
    fallback, think = bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", time_ms=600)
    only(bench.hear(BestMove(GAME, fallback.search_id, "b5a4")), SendMove)
    assert bench.hear(BestMove(GAME, think.search.search_id, "b5c6")) == [], "too late, but it is there"
    only(bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6", time_ms=400), StartSearch)


def test_with_little_time_a_new_engine_that_has_answered_moves() -> None:
    bench = Bench()
    again = bench.restart(running(bench, time_ms=3000))
    bench.find([again], "g1f3")
    only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=800), StartSearch)


def test_a_move_waits_for_a_new_engine_if_the_clock_allows() -> None:
    bench = Bench()
    bench.die(running(bench, time_ms=1000))
    bench.hear(BestMove(GAME, 1, "g1f3"))
    only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=3000), StartSearch)


def test_a_slow_start_costs_little_of_the_clock_and_goes_on() -> None:
    bench = Bench()
    again = bench.restart(running(bench))
    assert bench.wait(2.9) == []
    fallback = only(bench.wait(0.1), Fallback)
    assert bench.die(again) == [], "a move is coming"
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)
    third = only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=40_000), StartSearch)
    assert bench.wait(1.9) == []
    only(bench.wait(0.1), Fallback)
    assert bench.hear(BestMove(GAME, third.search.search_id, "a2a3")) == [], "too late for this move"


def test_an_engine_that_runs_may_think_longer_than_one_that_starts() -> None:
    bench = Bench(engine={"command": ["another"]})
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    only(bench.state("e2e4 e7e5 g1f3 b8c6"), StartSearch)
    assert bench.game.search.due_at == bench.now + 60 / 2


def test_a_first_engine_that_starts_slowly_costs_an_eighth_of_the_clock_and_is_not_killed() -> None:
    bench = Bench(ready=False, engine={"command": ["lc0"]})
    running(bench)
    assert bench.wait(7.4) == []
    fallback = only(bench.wait(0.1), Fallback)
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)
    only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=40_000), StartSearch)
    assert bench.wait(1.9) == []
    fallback = only(bench.wait(0.1), Fallback)
    only(bench.hear(BestMove(GAME, fallback.search_id, "f1b5")), SendMove)
    think = only(bench.state("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", time_ms=40_000), StartSearch)
    assert bench.hear(EngineReady(GAME)) == []
    assert bench.wait(5) == [], "it may think as long as any other"
    only(bench.hear(BestMove(GAME, think.search.search_id, "b5a4")), SendMove)


def test_an_engine_that_was_ready_before_the_first_state_may_think_at_once() -> None:
    bench = Bench(ready=False, engine={"command": ["lc0"]})
    assert bench.hear(EngineReady(GAME)) == []
    running(bench)
    assert bench.wait(29) == []


def test_an_engine_that_is_ready_too_late_leaves_the_move_to_the_fallback() -> None:
    bench = Bench(ready=False)
    running(bench)
    fallback = only(bench.wait_until_due(), Fallback)
    assert bench.hear(EngineReady(GAME)) == []
    assert bench.wait(40) == []
    only(bench.hear(BestMove(GAME, fallback.search_id, "g1f3")), SendMove)


def test_a_first_engine_that_starts_slowly_is_not_killed_before_the_first_move() -> None:
    bench = Bench(ready=False)
    only(bench.full(), StartSearch)
    fallback = only(bench.wait_until_due(), Fallback)
    only(bench.hear(BestMove(GAME, fallback.search_id, "e2e4")), SendMove)


@pytest.mark.parametrize("hangs", [0, 2])
def test_without_a_clock_a_move_waits_until_the_engine_has_loaded_its_network(hangs: int) -> None:
    bench = Bench(ready=False, timed=False)
    bench.game.search._hangs = hangs
    think = only(bench.full("e2e4 e7e5", time_ms=2**31 - 1), StartSearch)
    assert bench.wait(80) == []
    assert bench.hear(EngineReady(GAME)) == []
    assert bench.wait(9) == []
    only(bench.hear(BestMove(GAME, think.search.search_id, "g1f3")), SendMove)


def test_each_move_waits_for_an_engine_that_is_started_for_it() -> None:
    bench = Bench(ready=False, days=2, engine={"move_time_ms": 5000})
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4"]
    for ply in (0, 2, 4):
        if ply == 4:
            bench.game.join(bench.now)  # another visit
        actions = bench.full(" ".join(moves[:ply]), time_ms=2 * DAY_MS)
        assert bench.wait(80) == []
        bench.find(actions, moves[ply])
        bench.state(" ".join(moves[: ply + 1]), time_ms=2 * DAY_MS)
        if ply == 0:
            bench.game.search.engine_is_gone()


def test_a_move_waits_for_an_engine_that_is_started_for_another_level() -> None:
    """The answer to a search that went on meanwhile is one of the former engine."""
    bench = Bench(timed=False)
    think = bench.full("e2e4 e7e5", time_ms=2**31 - 1)
    bench.game.engine = at_level(bench.game.engine, 1200)
    bench.find(think, "g1f3")
    only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=2**31 - 1), StartSearch)
    assert bench.wait(80) == []
    assert bench.hear(EngineReady(GAME)) == []
    only(bench.wait(30), StopSearch)


def test_with_days_left_a_move_waits_for_an_engine_that_comes_back() -> None:
    bench = Bench(days=3)
    think = only(bench.full("e2e4 e7e5", time_ms=3 * DAY_MS), StartSearch)
    waits_s: list[float] = []
    while True:
        kill, *fallback = bench.die(bench.restart(think))
        assert isinstance(kill, KillEngine)
        if fallback:
            break
        failed_at = bench.now
        think = only(bench.wait_until_due(), StartSearch)
        waits_s.append(bench.now - failed_at)
    assert waits_s == [300, *(300 * 2**number for number in range(7))]
    assert isinstance(fallback[0], Fallback)
    only(bench.hear(BestMove(GAME, fallback[0].search_id, "g1f3")), SendMove)


def test_with_hours_on_the_clock_a_move_does_not_wait_for_an_engine_that_comes_back() -> None:
    """The opponent would."""
    bench = Bench()
    think = only(bench.full("e2e4 e7e5", time_ms=3 * 3_600_000), StartSearch)
    kill, fallback = bench.die(bench.restart(think))
    assert isinstance(kill, KillEngine)
    assert isinstance(fallback, Fallback)


def test_visits_in_between_do_not_shorten_the_wait_for_an_engine() -> None:
    bench = Bench(days=3)
    for _ in range(20):
        bench.game.join(bench.now)
        think = only(bench.full("e2e4 e7e5", time_ms=3 * DAY_MS), StartSearch)
        only(bench.die(bench.restart(think)), KillEngine)
        bench.now += 300


def test_an_engine_that_comes_back_moves() -> None:
    bench = Bench(days=3)
    think = only(bench.full("e2e4 e7e5", time_ms=3 * DAY_MS), StartSearch)
    only(bench.die(bench.restart(think)), KillEngine)
    due_at = bench.game.search.due_at
    assert bench.full("e2e4 e7e5", time_ms=3 * DAY_MS) == []
    assert bench.game.search.due_at == due_at, "another connection changes nothing"
    later = only(bench.wait_until_due(), StartSearch)
    only(bench.hear(BestMove(GAME, later.search.search_id, "g1f3")), SendMove)
    bench.now += 3600
    think = only(bench.state("e2e4 e7e5 g1f3 b8c6", time_ms=3 * DAY_MS), StartSearch)
    only(bench.die(bench.restart(think)), KillEngine)
    assert bench.game.wake_at == bench.now + 300, "the wait for an earlier move does not count"


def test_a_new_engine_that_is_ready_may_think() -> None:
    bench = Bench()
    again = bench.restart(running(bench))
    bench.wait(1)
    assert bench.hear(EngineReady(GAME)) == []
    assert bench.wait(5) == []
    only(bench.hear(BestMove(GAME, again.search.search_id, "g1f3")), SendMove)


@pytest.mark.parametrize("move", ["e2e4", "a1h8", "e7e8q", "nonsense", "", None])
def test_an_illegal_move_is_not_sent(move: str | None) -> None:
    bench = Bench()
    think = running(bench)
    kinds = [type(action) for action in bench.hear(BestMove(GAME, think.search.search_id, move))]
    assert kinds == [KillEngine, StartSearch]


def test_an_engine_that_names_no_move_is_replaced_with_this_reason() -> None:
    bench = Bench()
    kill, _ = bench.hear(BestMove(GAME, running(bench).search.search_id, None))
    assert isinstance(kill, KillEngine)
    assert kill.reason.startswith("named no move: ")


def test_the_death_of_an_idle_engine_is_ignored() -> None:
    bench = Bench()
    bench.owing()
    assert bench.hear(EngineDied(GAME, None, "crashed")) == []
    assert bench.hear(EngineDied(GAME, 1, "crashed")) == []


# Sources before the engine


def test_the_sources_are_asked_before_the_engine() -> None:
    bench, consult = consulting()
    question = consult.question
    assert (question.variant, question.moves, question.initial_s) == ("standard", (), 60.0)
    assert question.remaining_s == pytest.approx(60.0)
    assert 0 < question.patience_s <= TIMEOUTS.source_answer.total_seconds()
    assert only(bench.hear(advice(consult, "e2e4")), SendMove).move == "e2e4"


def test_without_sources_the_engine_is_asked_at_once() -> None:
    assert isinstance(only(Bench().full(), StartSearch), StartSearch)


def test_the_engine_is_asked_if_the_sources_know_nothing() -> None:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult)), StartSearch)
    assert think.search.root_moves == ()
    assert only(bench.hear(BestMove(GAME, think.search.search_id, "d2d4")), SendMove).move == "d2d4"


def test_of_several_moves_the_engine_chooses() -> None:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult, "e2e4", "d2d4")), StartSearch)
    assert think.search.root_moves == ("e2e4", "d2d4")
    again = bench.restart(think)
    assert again.search.root_moves == ("e2e4", "d2d4")


def test_a_move_that_the_engine_was_not_to_choose_is_not_played() -> None:
    rules = {"offer_draw_enabled": True, "offer_draw_moves": 1, "offer_draw_pieces": 32}
    bench = Bench(sources=True, engine={"draw_or_resign": rules})
    consult = only(bench.full("e2e4 e7e5"), AskSources)
    think = only(bench.hear(advice(consult, "g1f3", "b1c3")), StartSearch)
    ignoring = BestMove(GAME, think.search.search_id, "a2a3", SearchInfo(score="cp 0"), ponder="d7d5")
    assert only(bench.hear(ignoring), SendMove).move == "g1f3", "neither the score nor the reply belongs to this move"
    consult = only(bench.state("e2e4 e7e5 g1f3 b8c6"), AskSources)
    think = only(bench.wait(consult.question.patience_s), StartSearch)
    assert only(bench.hear(BestMove(GAME, think.search.search_id, "a2a3")), SendMove).move == "a2a3", "none answered"


def test_of_several_moves_one_is_played_even_if_the_engine_fails() -> None:
    bench, consult = consulting()
    think = only(bench.hear(advice(consult, "e2e4", "d2d4")), StartSearch)
    _, fallback = bench.die(bench.restart(think))
    assert isinstance(fallback, Fallback)
    assert only(bench.hear(BestMove(GAME, fallback.search_id, "a2a3")), SendMove).move == "e2e4"


def test_a_new_engine_chooses_among_them_too_if_the_clock_is_short() -> None:
    bench = Bench(sources=True)
    consult = only(bench.full("e2e4 e7e5", time_ms=1000), AskSources)
    assert bench.hear(EngineDied(GAME, None, "crashed")) == []
    fallback, think = bench.hear(advice(consult, "g1f3", "f1c4"))
    assert isinstance(fallback, Fallback)
    assert think.search.root_moves == ("g1f3", "f1c4")


@pytest.mark.parametrize("move", ["e2e5", "e7e5", "", "nonsense"])
def test_illegal_moves_of_sources_are_ignored(move: str) -> None:
    bench, consult = consulting()
    assert only(bench.hear(advice(consult, move)), StartSearch).search.root_moves == ()


def test_the_engine_is_asked_if_the_sources_are_late() -> None:
    bench, consult = consulting()
    assert bench.wait(consult.question.patience_s / 2) == []
    think = only(bench.wait(consult.question.patience_s / 2), StartSearch)
    assert bench.hear(advice(consult, "e2e4")) == []
    assert only(bench.hear(BestMove(GAME, think.search.search_id, "d2d4")), SendMove).move == "d2d4"


def test_sources_get_less_time_on_a_short_clock() -> None:
    long_s = only(Bench(sources=True).full("e2e4 e7e5", time_ms=600_000), AskSources).question.patience_s
    short_s = only(Bench(sources=True).full("e2e4 e7e5", time_ms=2_000), AskSources).question.patience_s
    assert long_s == TIMEOUTS.source_answer.total_seconds()
    assert short_s == pytest.approx(0.05)


def test_a_source_answer_for_an_earlier_position_is_ignored() -> None:
    bench, first = consulting()
    bench.hear(advice(first, "e2e4"))
    second = only(bench.state("e2e4 e7e5"), AskSources)
    assert bench.hear(advice(first, "d2d4")) == []
    assert only(bench.hear(advice(second, "g1f3")), SendMove).ply == 3


def test_a_game_without_a_clock_tells_the_sources_so() -> None:
    bench = Bench(timed=False, sources=True)
    question = only(bench.full(time_ms=2**31 - 1), AskSources).question
    assert (question.remaining_s, question.initial_s) == (None, None)
    assert question.patience_s == TIMEOUTS.source_answer.total_seconds()


def test_a_repeated_state_does_not_ask_the_sources_again() -> None:
    bench, consult = consulting()
    assert bench.full() == []
    assert only(bench.hear(advice(consult, "e2e4")), SendMove).move == "e2e4"


def agreeing(fen: str) -> Bench:
    """Return a game that may offer draws and resign."""
    rules = {"offer_draw_enabled": True, "resign_enabled": True}
    return Bench(sources=True, fen=fen, variant="fromPosition", engine={"draw_or_resign": rules})


def test_a_position_lost_by_the_table_is_resigned() -> None:
    bench = agreeing("4k3/8/8/8/8/8/q7/4K3 w - - 0 1")
    consult = only(bench.full(), AskSources)
    assert isinstance(only(bench.hear(advice(consult, "e1f1", wdl=-2)), Resign), Resign)


def test_a_table_result_counts_even_if_the_engine_chooses() -> None:
    bench = agreeing("4k3/8/8/8/8/r7/8/R3K3 w - - 0 1")
    consult = only(bench.full("a1b1 a3a2"), AskSources)
    think = only(bench.hear(advice(consult, "b1c1", "b1d1", wdl=0)), StartSearch)
    remember, send = bench.hear(BestMove(GAME, think.search.search_id, "b1c1"))
    assert remember == RecordAction(LimitedAction.DRAW_OFFER)
    assert isinstance(send, SendMove)
    assert send.offering_draw
