"""Draws, resignation, takebacks and claims inside a game's state machine: reports in, actions out."""

from datetime import timedelta
from typing import Any

import pytest

from lichessbot.config import Config
from lichessbot.errors import Refused, Unreachable
from lichessbot.games.actions import Action, RecordAction, ReopenStream, StartSearch, StopSearch
from lichessbot.games.game import NOTHING_DONE, Game
from lichessbot.inbox import Report
from lichessbot.lichess.commands import (
    Abort,
    AnswerTakeback,
    ClaimDraw,
    ClaimVictory,
    CommandDone,
    CommandFailed,
    Resign,
    SendMove,
)
from lichessbot.lichess.models import GameFull, GameState, OpponentGone
from lichessbot.lichess.streams import PlayingWanted, StreamEvent
from lichessbot.storage.records import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, SearchSummary

GAME, US, THEM = "abcd1234", "testbot", "ferdinand"
TIMEOUTS = Timeouts()
GRANT, DENIAL = AnswerTakeback(GAME, granted=True), AnswerTakeback(GAME, granted=False)
COUNTED = RecordAction(LimitedAction.TAKEBACK)
OFFERED = RecordAction(LimitedAction.DRAW_OFFER)
READY = {"engine": {"draw_or_resign": {
    "offer_draw_enabled": True, "offer_draw_score": 20, "offer_draw_moves": 2, "offer_draw_pieces": 32,
    "resign_enabled": True, "resign_moves": 2,
}}}


class Bench:
    """A game we play as White, unless told otherwise; time stands still unless moved."""

    def __init__(
        self, *, white: bool = True, fen: str = "startpos", their_title: str = "", done: int = 0, **settings: Any
    ) -> None:
        self.now = 1000.0
        self.white = white
        config = Config.model_validate(settings)
        engine_alone = config.engine.model_copy(update={"own_book": False})
        config = config.model_copy(update={"engine": engine_alone})
        past = {**NOTHING_DONE, LimitedAction.TAKEBACK: done}
        self.game = Game(GAME, US, config, TIMEOUTS, None, past)
        them = {"id": THEM, "title": their_title, "rating": 1800}
        self._full = {
            "id": GAME,
            "variant": {"key": "standard" if fen == "startpos" else "fromPosition"},
            "white": {"id": US} if white else them,
            "black": them if white else {"id": US},
            "initialFen": fen,
            "clock": {"initial": 60_000, "increment": 0},
        }

    def hear(self, report: Report) -> list[Action]:
        return list(self.game.handle(report, self.now))

    def _state(self, moves: str, flags: str, time_ms: int) -> dict[str, Any]:
        raised = dict.fromkeys(flags.split(), True)
        return {"moves": moves, "wtime": time_ms, "btime": time_ms, "status": "started", **raised}

    def full(self, moves: str = "", flags: str = "", time_ms: int = 60_000) -> list[Action]:
        full = GameFull.model_validate({**self._full, "state": self._state(moves, flags, time_ms)})
        return self.hear(StreamEvent(GAME, full, self.now))

    def state(self, moves: str, flags: str = "", time_ms: int = 60_000) -> list[Action]:
        return self.hear(StreamEvent(GAME, GameState.model_validate(self._state(moves, flags, time_ms)), self.now))

    def gone(self, claim_in_s: int | None, *, gone: bool = True) -> list[Action]:
        event = OpponentGone.model_validate({"gone": gone, "claimWinInSeconds": claim_in_s})
        return self.hear(StreamEvent(GAME, event, self.now))

    def find(self, actions: list[Action], move: str, score: str = "cp 0") -> list[Action]:
        """The engine answers the search among `actions`."""
        think = next(action for action in actions if isinstance(action, StartSearch))
        return self.hear(BestMove(GAME, think.search.search_id, move, SearchSummary(depth=5, score=score)))

    def wait(self, seconds: float) -> list[Action]:
        self.now += seconds
        return [action for action in self.game.tick(self.now) if not isinstance(action, PlayingWanted)]


def opening(bench: Bench, *scores: str) -> list[Action]:
    """White's first moves with these scores; what came of the last."""
    plies = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "d2d3", "d7d6"]
    actions = bench.full()
    for number, score in enumerate(scores):
        sent = bench.find(actions, plies[2 * number], score)
        if number + 1 < len(scores):
            actions = bench.state(" ".join(plies[: 2 * number + 2]))
    return sent


# Draws and resignation


def test_a_draw_is_offered_with_the_move_and_noted_before() -> None:
    assert opening(Bench(**READY), "cp 0", "cp 10") == [OFFERED, SendMove(GAME, 3, "g1f3", offering_draw=True)]


def test_without_level_scores_the_move_goes_alone() -> None:
    assert opening(Bench(**READY), "cp 0", "cp 90") == [SendMove(GAME, 3, "g1f3")]


def test_an_offer_that_comes_while_we_think_is_accepted_with_the_move() -> None:
    bench = Bench(**READY)
    bench.find(bench.full(), "e2e4", "cp -50")
    actions = bench.state("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "bdraw") == []
    assert bench.find(actions, "g1f3", "cp -60") == [OFFERED, SendMove(GAME, 3, "g1f3", offering_draw=True)]


def test_an_offer_that_was_withdrawn_by_a_new_state_is_not_accepted() -> None:
    bench = Bench(**READY)
    bench.find(bench.full(), "e2e4", "cp -50")
    actions = bench.state("e2e4 e7e5", "bdraw")
    bench.state("e2e4 e7e5")
    assert bench.find(actions, "g1f3", "cp -60") == [SendMove(GAME, 3, "g1f3")]


def test_the_flag_that_our_own_move_declined_is_not_acted_on_later() -> None:
    bench = Bench(**READY)
    bench.find(bench.full(), "e2e4", "cp 90")
    bench.find(bench.state("e2e4 e7e5", "bdraw"), "g1f3", "cp 90")
    assert bench.state("e2e4 e7e5 g1f3", "bdraw") == []
    actions = bench.state("e2e4 e7e5 g1f3 b8c6")
    assert bench.find(actions, "f1c4", "cp -60") == [SendMove(GAME, 5, "f1c4")]


def test_a_move_that_offers_a_draw_is_sent_again_as_it_was() -> None:
    bench = Bench(**READY)
    *_, sent = opening(bench, "cp 0", "cp 0")
    assert isinstance(sent, SendMove)
    assert bench.hear(CommandFailed(sent, Unreachable("reset"))) == [sent]


def test_a_lost_game_is_resigned_instead_of_moved() -> None:
    bench = Bench(**READY)
    assert opening(bench, "cp -1500", "cp -1500") == [Resign(GAME, "the game is lost")]
    assert bench.wait(TIMEOUTS.abort_retry.total_seconds()) == [Resign(GAME, "the game is lost")]


def test_a_profile_that_is_found_out_later_decides_about_resigning() -> None:
    bench = Bench(**READY)
    never = bench.game.engine.draw_or_resign.model_copy(update={"resign_enabled": False})
    bench.game.engine = bench.game.engine.model_copy(update={"draw_or_resign": never})
    assert opening(bench, "cp -1500", "cp -1500") == [SendMove(GAME, 3, "g1f3")]


def test_an_offer_that_comes_before_the_resignation_took_effect_is_taken_instead() -> None:
    bench = Bench(**READY)
    opening(bench, "cp -1500", "cp -1500")
    actions = bench.state("e2e4 e7e5", "bdraw")
    assert bench.find(actions, "g1f3", "cp -1500") == [OFFERED, SendMove(GAME, 3, "g1f3", offering_draw=True)]


def test_by_default_games_are_played_to_their_end() -> None:
    assert opening(Bench(), "cp 0", "cp 0", "cp 0", "cp 0") == [SendMove(GAME, 7, "d2d3")]
    assert opening(Bench(), "mate -1", "mate -1", "mate -1", "mate -1") == [SendMove(GAME, 7, "d2d3")]


# Takebacks


def test_without_the_key_every_takeback_is_denied() -> None:
    bench = Bench()
    actions = bench.full("e2e4 e7e5", "btakeback")
    assert [type(action) for action in actions] == [AnswerTakeback, StartSearch]
    assert actions[0] == DENIAL


def test_a_takeback_is_granted_while_the_engine_thinks_and_no_move_leaves_before_it_is_settled() -> None:
    bench = Bench(max_takebacks_accepted=1)
    thinking = bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    assert bench.find(thinking, "g1f3") == []
    (reopen,) = bench.state("e2e4")
    assert isinstance(reopen, ReopenStream)
    assert bench.hear(CommandDone(GRANT)) == [], "the stream is being read anew already"
    assert bench.full("e2e4") == [], "nobody has to stop: the answer was there"
    assert [type(it) for it in bench.state("e2e4 d7d5")] == [StartSearch]


def test_a_granted_takeback_stops_the_search() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    bench.state("e2e4 e7e5", "btakeback")
    bench.state("e2e4")
    assert bench.full("e2e4") == [StopSearch()]


def test_two_plies_go_back_when_the_opponent_asks_on_his_own_turn() -> None:
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
    assert bench.state("e2e4 e7e5 g1f3", "btakeback") == [COUNTED, GRANT]


def test_a_request_that_our_move_has_settled_is_not_answered() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.find(bench.full("e2e4 e7e5"), "g1f3")
    assert bench.state("e2e4 e7e5", "btakeback") == []
    assert bench.state("e2e4 e7e5 g1f3") == []


def test_a_grant_that_came_too_late_became_a_request_of_ours_and_is_withdrawn() -> None:
    bench = Bench(white=False, max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "wtakeback") == [COUNTED, GRANT]
    assert [type(it) for it in bench.state("e2e4 e7e5 g1f3")] == [StartSearch]
    assert bench.state("e2e4 e7e5 g1f3", "btakeback") == [DENIAL]


def test_a_grant_without_effect_is_looked_up_and_given_once_more_but_counted_once() -> None:
    bench = Bench(max_takebacks_accepted=1)
    thinking = bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    assert bench.find(thinking, "g1f3") == []
    (reopen,) = bench.hear(CommandFailed(GRANT, Unreachable("reset")))
    assert isinstance(reopen, ReopenStream)
    assert bench.full("e2e4 e7e5", "btakeback") == [SendMove(GAME, 3, "g1f3")], "our move settles it"


def test_a_grant_that_failed_while_we_still_think_is_given_once_more_but_counted_once() -> None:
    bench = Bench(max_takebacks_accepted=1)
    bench.full("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "btakeback") == [COUNTED, GRANT]
    for expected in ([GRANT], []):
        bench.hear(CommandFailed(GRANT, Refused(400, "no")))
        assert bench.full("e2e4 e7e5", "btakeback") == expected


def test_a_grant_that_nobody_answers_holds_our_move_only_for_a_part_of_the_clock() -> None:
    bench = Bench(max_takebacks_accepted=1)
    thinking = bench.full("e2e4 e7e5", time_ms=8000)
    bench.state("e2e4 e7e5", "btakeback", time_ms=8000)
    assert bench.find(thinking, "g1f3") == []
    assert bench.wait(0.9) == []
    (reopen,) = bench.wait(0.2)
    assert isinstance(reopen, ReopenStream)
    assert bench.full("e2e4 e7e5") == [SendMove(GAME, 3, "g1f3")]


def test_takebacks_are_granted_as_often_as_the_key_says() -> None:
    bench = Bench(max_takebacks_accepted=2)
    bench.full("e2e4 e7e5")
    answers = []
    for _ in range(3):
        answers += [it for it in bench.state("e2e4 e7e5", "btakeback") if isinstance(it, AnswerTakeback)]
        bench.full("e2e4")
        bench.state("e2e4 e7e5")
    assert answers == [GRANT, GRANT, DENIAL]


def test_takebacks_granted_before_a_restart_count() -> None:
    for done, expected in ((1, [COUNTED, GRANT]), (2, [DENIAL]), (3, [DENIAL])):
        bench = Bench(max_takebacks_accepted=2, done=done)
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


def test_whoever_asks_without_end_is_not_answered_any_more() -> None:
    bench = Bench()
    bench.full("e2e4 e7e5")
    answers = 0
    for _ in range(100):
        answers += len(bench.state("e2e4 e7e5", "btakeback"))
        bench.state("e2e4 e7e5")
    assert answers == 30


def test_after_a_takeback_the_game_is_not_resigned_for_what_was_thought_before() -> None:
    bench = Bench(**READY, max_takebacks_accepted=1)
    bench.find(bench.full("e2e4 e7e5"), "g1f3", "cp -1500")
    bench.state("e2e4 e7e5 g1f3")
    bench.state("e2e4 e7e5 g1f3", "btakeback")
    bench.state("e2e4")
    bench.full("e2e4")
    assert bench.find(bench.state("e2e4 d7d5"), "e4d5", "cp -1500") == [SendMove(GAME, 3, "e4d5")]


# Claims


def test_the_game_of_an_opponent_who_left_is_claimed_when_that_is_allowed() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    assert bench.gone(30) == []
    assert bench.wait(29.9) == []
    assert bench.wait(0.1) == [ClaimVictory(GAME)]
    assert bench.wait(1) == []


def test_what_is_counted_down_again_sets_the_time_anew() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(30)
    bench.gone(5)
    assert bench.wait(5) == [ClaimVictory(GAME)]


def test_a_refused_claim_is_made_again_later_and_not_without_end() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(0)
    claims = 0
    for _ in range(200):
        done = bench.wait(TIMEOUTS.claim_retry.total_seconds())
        claims += done.count(ClaimVictory(GAME))
        if done:
            bench.hear(CommandFailed(ClaimVictory(GAME), Refused(400, "You cannot claim the win on this game")))
            assert bench.gone(0) == []
    assert claims == 20


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
    assert ClaimVictory(GAME) not in bench.wait(10)


def test_a_claim_is_made_on_the_opponents_turn_only() -> None:
    bench = Bench(white=False)
    thinking = bench.full("e2e4 e7e5 g1f3")
    bench.gone(10)
    assert ClaimVictory(GAME) not in bench.wait(11)
    bench.find(thinking, "b8c6")
    bench.state("e2e4 e7e5 g1f3 b8c6")
    assert bench.wait(0) == [ClaimVictory(GAME)]


def test_with_a_bare_king_only_a_draw_is_claimed() -> None:
    bench = Bench(fen="4k3/8/8/8/8/8/4p3/4K3 b - - 0 1")
    bench.full()
    bench.gone(0)
    assert ClaimDraw(GAME) in bench.wait(0)


def test_an_absence_without_a_time_claims_nothing() -> None:
    bench = Bench(white=False)
    bench.full("e2e4 e7e5")
    bench.gone(None)
    assert bench.wait(20) == []


# Time before the first move


def test_an_opponent_who_asks_for_time_is_not_aborted_before_it_is_over() -> None:
    for asks_first in (True, False):
        bench = Bench(white=False)
        if asks_first:
            bench.game.postpone_abort(timedelta(seconds=60))
        bench.full()
        if not asks_first:
            bench.game.postpone_abort(timedelta(seconds=60))
        assert Abort(GAME, "the opponent does not move") not in bench.wait(89)
        assert Abort(GAME, "the opponent does not move") in bench.wait(1)
