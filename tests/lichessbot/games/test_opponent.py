"""What the opponent does beside moving: takebacks that we answer, and an absence after which we claim the game."""

from datetime import timedelta
from itertools import pairwise

import pytest

from lichessbot.errors import Refused, Unreachable
from lichessbot.games.actions import Action, AskSources, RecordAction, ReopenStream, StartSearch, StopSearch
from lichessbot.lichess.commands import (
    Abort,
    AnswerTakeback,
    ClaimDraw,
    ClaimVictory,
    CommandDone,
    CommandFailed,
    SendMove,
)
from lichessbot.lichess.streams import StreamLost
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import SearchInfo
from tests.lichessbot.games.bench import GAME, TIMEOUTS, Bench

GRANT, DENIAL = AnswerTakeback(GAME, granted=True), AnswerTakeback(GAME, granted=False)
COUNTED = RecordAction(LimitedAction.TAKEBACK)


# Takebacks


def test_without_the_key_every_takeback_is_denied() -> None:
    bench = Bench()
    actions = bench.full("e2e4 e7e5", "btakeback")
    assert [type(action) for action in actions] == [AnswerTakeback, StartSearch]
    assert actions[0] == DENIAL


def test_a_takeback_granted_during_a_search_holds_our_move() -> None:
    bench = Bench(max_takebacks_accepted=1)
    thinking = bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    assert bench.find(thinking, "g1f3") == []
    (reopen,) = bench.state("e2e4")
    assert isinstance(reopen, ReopenStream)
    assert bench.hear(CommandDone(GRANT)) == [], "the stream is being read again already"
    assert bench.full("e2e4") == [], "no search to stop: its answer was there"
    assert [type(it) for it in bench.state("e2e4 d7d5")] == [StartSearch]


def test_a_granted_takeback_stops_the_search() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    bench.state("e2e4 e7e5", "btakeback")
    bench.state("e2e4")
    assert bench.full("e2e4") == [StopSearch()]


def test_a_takeback_on_the_opponents_turn_removes_two_plies() -> None:
    bench = Bench(white=False, max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "wtakeback") == [COUNTED, GRANT]
    (reopen,) = bench.state("")
    assert isinstance(reopen, ReopenStream)
    assert bench.full("") == []


def test_a_request_that_crosses_our_move_is_answered_when_it_still_stands_afterwards() -> None:
    bench = Bench(max_takebacks_accepted=1)
    assert bench.find(bench.full("e2e4 e7e5"), "g1f3") == [SendMove(GAME, 3, "g1f3")]
    assert bench.state("e2e4 e7e5", "btakeback") == []
    assert bench.state("e2e4 e7e5 g1f3", "btakeback") == [], "our move declines it"
    assert bench.state("e2e4 e7e5 g1f3", "btakeback") == [COUNTED, GRANT], "another one"


def test_a_request_that_our_move_declined_is_not_answered() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    assert bench.state("e2e4 e7e5", "btakeback") == []
    assert bench.state("e2e4 e7e5 g1f3", "btakeback") == bench.state("e2e4 e7e5 g1f3") == []
    bench.state("e2e4 e7e5 g1f3 b8c6")
    assert bench.state("e2e4 e7e5 g1f3 b8c6", "btakeback") == [COUNTED, GRANT], "the first that is granted"


@pytest.mark.parametrize("fresh", [False, True])
def test_a_takeback_granted_while_the_move_waits_for_its_pace_holds_it(fresh: bool) -> None:
    bench = Bench(max_takebacks_accepted=1, humanlike_time=True)
    assert bench.find(bench.full("e2e4 e7e5"), "g1f3") == []
    answer = bench.full if fresh else bench.state
    assert answer("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    (reopen,) = bench.state("e2e4")
    assert isinstance(reopen, ReopenStream)
    assert bench.full("e2e4") == []
    assert [type(it) for it in bench.state("e2e4 d7d5")] == [StartSearch]


def test_a_paced_move_is_sent_if_the_granted_takeback_had_no_effect() -> None:
    bench = Bench(max_takebacks_accepted=1, humanlike_time=True)
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    bench.state("e2e4 e7e5", "btakeback")
    (reopen,) = bench.hear(CommandDone(GRANT))
    assert isinstance(reopen, ReopenStream)
    assert bench.full("e2e4 e7e5") == [SendMove(GAME, 3, "g1f3")]


def test_a_paced_move_is_not_sent_while_a_granted_takeback_has_no_answer() -> None:
    bench = Bench(max_takebacks_accepted=1, humanlike_time=True)
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    bench.state("e2e4 e7e5", "btakeback")
    (reopen,) = bench.wait(20)
    assert isinstance(reopen, ReopenStream)


def test_a_denied_takeback_leaves_a_paced_move_as_it_was() -> None:
    bench = Bench(humanlike_time=True)
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    assert bench.state("e2e4 e7e5", "btakeback") == [DENIAL]
    assert bench.wait_until_due() == [SendMove(GAME, 3, "g1f3")]


def test_a_request_that_our_move_has_settled_is_not_answered() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    assert bench.state("e2e4 e7e5", "btakeback") == []
    assert bench.state("e2e4 e7e5 g1f3") == []


def test_a_grant_that_came_too_late_became_a_request_of_ours_and_is_withdrawn() -> None:
    bench = Bench(white=False, max_takebacks_accepted=2)
    bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "wtakeback") == [COUNTED, GRANT]
    assert [type(it) for it in bench.state("e2e4 e7e5 g1f3")] == [StartSearch]
    assert bench.state("e2e4 e7e5 g1f3", "btakeback") == [DENIAL]


def test_a_grant_without_effect_is_repeated_once_and_counted_once() -> None:
    bench = Bench(max_takebacks_accepted=1)
    thinking = bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    assert bench.find(thinking, "g1f3") == []
    (reopen,) = bench.hear(CommandFailed(GRANT, Unreachable("reset")))
    assert isinstance(reopen, ReopenStream)
    assert bench.full("e2e4 e7e5", "btakeback") == [SendMove(GAME, 3, "g1f3")], "our move settles it"


def test_a_failed_grant_is_repeated_once_and_counted_once() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    for expected in ([GRANT], []):
        bench.hear(CommandFailed(GRANT, Refused(400, "no")))
        assert bench.full("e2e4 e7e5", "btakeback") == expected


def test_a_grant_does_not_reopen_a_stream_that_waits_after_a_429() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    bench.hear(StreamLost(GAME, "429", timedelta(seconds=10), as_asked=True))
    assert bench.hear(CommandDone(GRANT)) == []


def test_an_unanswered_grant_holds_our_move_only_for_a_share_of_the_clock() -> None:
    bench = Bench(max_takebacks_accepted=1)
    thinking = bench.full("e2e4 e7e5", time_ms=8000)
    bench.state("e2e4 e7e5", "btakeback", time_ms=8000)
    assert bench.find(thinking, "g1f3") == []
    assert bench.wait(0.9) == []
    (reopen,) = bench.wait(0.2)
    assert isinstance(reopen, ReopenStream)
    assert bench.full("e2e4 e7e5") == [SendMove(GAME, 3, "g1f3")]


def test_a_takeback_forgets_the_tablebase_result_of_the_position() -> None:
    start = {"fen": "4k3/7r/8/8/8/8/q6P/4K2R w - - 0 1", "variant": "fromPosition"}
    rules = {"draw_or_resign": {"resign_enabled": True}}
    bench = Bench(sources=True, max_takebacks_accepted=1, engine=rules, **start)
    lost = next(it for it in bench.full("e1f1 a2a8") if isinstance(it, AskSources)).question
    bench.state("e1f1 a2a8", "btakeback")
    bench.hear(SourceAnswer(GAME, lost.search_id, ("f1e2",), "syzygy", wdl=-2))
    bench.full("e1f1")
    again = next(it for it in bench.state("e1f1 a2g2") if isinstance(it, AskSources)).question
    actions = bench.find(bench.hear(SourceAnswer(GAME, again.search_id)), "f1g2", "cp 150")
    assert [type(it) for it in actions] == [SendMove], "no table answered, and the engine is better"


@pytest.mark.parametrize(("score", "wdl"), [("", -2), ("cp -1500", None)], ids=["table", "scores"])
def test_a_takeback_forgets_a_loss_although_the_next_position_has_an_only_move(score: str, wdl: int | None) -> None:
    """Then nobody is asked about the position. The opponent loses the queen in it."""
    start = {"fen": "4k3/8/8/b7/8/8/q6P/4K2R w - - 0 1", "variant": "fromPosition"}
    rules = {"draw_or_resign": {"resign_enabled": True, "resign_moves": 2}}
    bench = Bench(sources=True, max_takebacks_accepted=1, engine=rules, **start)

    def answer(actions: list[Action], move: str, score: str, wdl: int | None = None) -> list[Action]:
        asked = next(it for it in actions if isinstance(it, AskSources)).question
        return bench.hear(SourceAnswer(GAME, asked.search_id, (move,), "source", SearchInfo(score=score), wdl))

    assert answer(bench.full(), "e1f1", "cp -1500") == [SendMove(GAME, 1, "e1f1")]
    lost = bench.state("e1f1 a2g8")
    bench.state("e1f1 a2g8", "btakeback")
    assert answer(lost, "f1e2", score, wdl) == [], "a takeback is granted: nothing is sent"
    bench.full("e1f1")
    assert bench.state("e1f1 a2g2") == [SendMove(GAME, 3, "f1g2")]


@pytest.mark.parametrize("most", [2, 40])
def test_takebacks_are_granted_as_often_as_the_key_says(most: int) -> None:
    bench = Bench(max_takebacks_accepted=most)
    bench.full("e2e4 e7e5")
    answers = []
    for _ in range(most + 1):
        answers += [it for it in bench.state("e2e4 e7e5", "btakeback") if isinstance(it, AnswerTakeback)]
        bench.full("e2e4")
        bench.state("e2e4 e7e5")
    assert answers == [GRANT] * most + [DENIAL]


def test_takebacks_granted_before_a_restart_count() -> None:
    for done, expected in ((1, [COUNTED, GRANT]), (2, [DENIAL]), (3, [DENIAL])):
        bench = Bench(max_takebacks_accepted=2, takebacks_done=done)
        assert bench.full("e2e4 e7e5", "btakeback")[:-1] == expected


@pytest.mark.parametrize(
    ("title", "from_bots", "granted"), [("", False, True), ("BOT", True, True), ("BOT", False, False)]
)
def test_bots_may_be_kept_from_taking_back(title: str, from_bots: bool, granted: bool) -> None:
    bench = Bench(max_takebacks_accepted=1, takebacks_from_bots=from_bots, their_title=title)
    assert AnswerTakeback(GAME, granted) in bench.full("e2e4 e7e5", "btakeback")


def test_one_request_is_answered_once_however_often_it_is_shown() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    assert [bench.state("e2e4 e7e5", "btakeback") for _ in range(3)] == [[DENIAL], [], []]


def test_the_number_of_denied_takebacks_is_limited() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    answers = 0
    for _ in range(100):
        answers += len(bench.state("e2e4 e7e5", "btakeback"))
        bench.state("e2e4 e7e5")
    assert answers == 30


@pytest.mark.parametrize(("days", "runs"), [(None, True), (2, False)])
def test_our_clock_goes_on_if_the_first_moves_are_taken_back(days: int | None, runs: bool) -> None:
    bench = Bench(days=days)
    bench.full()
    assert bench.game.clock is not None
    assert not bench.game.clock.our_clock_runs
    bench.state("e2e4 e7e5")
    bench.state("")
    for _ in range(2):
        bench.full()
        assert bench.game.clock.our_clock_runs is runs


def test_no_game_is_aborted_while_the_opponents_clock_goes_on_after_a_takeback() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.state("")
    bench.full()
    assert not any(isinstance(action, Abort) for action in bench.wait(300))


# Claims


def test_the_game_of_an_opponent_who_left_is_claimed_when_that_is_allowed() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    assert bench.gone(30) == []
    assert bench.wait(30.9) == [], "Lichess rounds the seconds down"
    assert bench.wait(0.1) == [ClaimVictory(GAME)]
    assert bench.gone(0) == bench.wait(1) == []


def test_a_repeated_countdown_sets_the_time_again() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(30)
    bench.gone(5)
    assert bench.wait(6) == [ClaimVictory(GAME)]


def test_notices_that_come_quickly_do_not_put_off_the_claim() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    assert [bench.gone(0) + bench.wait(0.5) for _ in range(2)] == [[], [ClaimVictory(GAME)]]


def test_a_countdown_that_is_not_told_again_is_worth_one_claim() -> None:
    """The opponent may be back, of which Lichess does not tell before the end of the countdown."""
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(10)
    bench.gone(5)
    assert sum(bench.wait(6).count(ClaimVictory(GAME)) for _ in range(40)) == 1


def test_a_refused_claim_is_made_again_if_lichess_allows_it_and_not_without_end() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    times = []
    for _ in range(200):
        if ClaimVictory(GAME) in bench.gone(0) + bench.wait(5):
            times.append(bench.now)
            bench.hear(CommandFailed(ClaimVictory(GAME), Refused(400, "You cannot claim the win on this game")))
    assert len(times) == 20
    assert {later - earlier for earlier, later in pairwise(times)} == {TIMEOUTS.claim_retry.total_seconds()}


def test_nothing_is_claimed_from_an_opponent_who_is_back() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(10)
    bench.gone(None, gone=False)
    assert bench.wait(60) == []


def test_a_move_shows_that_the_opponent_is_there() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(10)
    bench.find(bench.state("e2e4 e7e5 g1f3"), "b8c6")
    bench.state("e2e4 e7e5 g1f3 b8c6")
    assert ClaimVictory(GAME) not in bench.wait(11)


def test_a_claim_is_made_on_the_opponents_turn_only() -> None:
    bench = Bench(white=False)
    thinking = bench.full("e2e4 e7e5 g1f3")
    bench.gone(10)
    assert ClaimVictory(GAME) not in bench.wait(11)
    bench.find(thinking, "b8c6")
    bench.state("e2e4 e7e5 g1f3 b8c6")
    assert bench.wait(0) == [ClaimVictory(GAME)]


def test_with_a_bare_king_only_a_draw_is_claimed() -> None:
    bench = Bench(variant="fromPosition", fen="4k3/8/8/8/8/8/4p3/4K3 b - - 0 1")
    bench.full()
    assert ClaimDraw(GAME) in bench.gone(0) + bench.wait(1)


def test_an_absence_without_a_time_claims_nothing() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(None)
    assert bench.wait(20) == []
