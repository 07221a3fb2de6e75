"""Draw offers and resigning: scores in, decisions out."""

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config import DrawOrResignConfig
from lichessbot.errors import Unreachable
from lichessbot.games.actions import Action, RecordAction, Withdraw
from lichessbot.games.draw_resign import Decision, DrawResignPolicy, PositionFacts, describe
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.commands import CommandFailed, Resign, SendMove
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFull, Player
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.store import LimitedAction
from lichessbot.uci.search import SearchInfo
from tests.lichessbot.games.bench import GAME, TIMEOUTS, Bench

OFFERS = {"offer_draw_enabled": True, "offer_draw_score": 50, "offer_draw_moves": 1, "offer_draw_pieces": 32}
HUMAN = Player(id="ferdinand", name="Ferdinand", rating=1800)
BOT = Player(id="maia", name="maia", title="BOT", rating=1800)
AI = Player.model_validate({"aiLevel": 3})
QUIET = PositionFacts(ply=60, pieces=8, opponent=HUMAN, offered=False, opponent_flag_s=math.inf, cannot_be_lost=False)
OFFERED = replace(QUIET, offered=True)


def rules(**changes: Any) -> DrawOrResignConfig:
    """Return rules with both enabled and small numbers."""
    few = {"offer_draw_enabled": True, "offer_draw_score": 10, "offer_draw_moves": 3, "offer_draw_pieces": 10}
    return DrawOrResignConfig.model_validate({**few, "resign_enabled": True, **changes})


def decided(
    scores: list[str],
    it: PositionFacts = QUIET,
    *,
    offered_earlier: bool = False,
    wdl: int | None = None,
    **changes: Any,
) -> Decision:
    """Return the decision in `it` after these scores, the last of the current search; `wdl`: of a tablebase."""
    policy = DrawResignPolicy(rules(**changes), offered_earlier=offered_earlier)
    policy.note_wdl(wdl)
    for number, score in enumerate(scores):
        policy.note_score(it.ply - 2 * (len(scores) - 1 - number), score)
    return policy.decide(it)


LEVEL = ["cp 5", "cp -10", "cp 0"]
LOST = ["cp -1000", "cp -1200", "mate -4"]
WORSE = ["cp -100", "cp -160", "cp -300"]
NO_DRAWS = pytest.mark.parametrize(
    "changes", [{"offer_draw_enabled": False}, {"offer_draw_against_humans": False}, {"offer_draw_min_rating": 2000}]
)


# Draws


@pytest.mark.parametrize(
    ("scores", "decision"),
    [
        (LEVEL, Decision.DRAW),
        (["cp 900", *LEVEL], Decision.DRAW),
        (LEVEL[1:], Decision.PLAY_ON),
        (["cp 11", "cp 0", "cp 0"], Decision.PLAY_ON),
        (["cp 0", "cp 0", "cp -11"], Decision.PLAY_ON),
        (["cp 0", "", "cp 0", "cp 0"], Decision.DRAW),
        (["cp 0", "", "cp 0"], Decision.PLAY_ON),
        (WORSE, Decision.PLAY_ON),
        ([], Decision.PLAY_ON),
    ],
)
def test_a_draw_is_offered_when_the_last_scores_are_all_level(scores: list[str], decision: Decision) -> None:
    assert decided(scores) is decision


@pytest.mark.parametrize(
    ("changes", "decision"),
    [
        ({"pieces": 10}, Decision.DRAW),
        ({"pieces": 11}, Decision.PLAY_ON),
        ({"opponent": BOT}, Decision.DRAW),
        ({"opponent": AI}, Decision.PLAY_ON),
        ({"opponent_flag_s": 29.0}, Decision.PLAY_ON),
        ({"opponent_flag_s": 29.0, "cannot_be_won": True}, Decision.DRAW),
        ({"opponent_flag_s": 30.0}, Decision.DRAW),
        ({"cannot_be_lost": True}, Decision.DRAW),
    ],
)
def test_a_level_game_goes_on_if_no_draw_can_be_offered(
    changes: dict[str, Any], decision: Decision
) -> None:
    assert decided(LEVEL, replace(QUIET, **changes)) is decision


@pytest.mark.parametrize(
    ("changes", "decision"),
    [
        ({"offer_draw_enabled": False}, Decision.PLAY_ON),
        ({"offer_draw_against_humans": False}, Decision.PLAY_ON),
        ({"offer_draw_min_rating": 1800}, Decision.DRAW),
        ({"offer_draw_min_rating": 1801}, Decision.PLAY_ON),
        ({"offer_draw_min_game_length": 31}, Decision.DRAW),
        ({"offer_draw_min_game_length": 32}, Decision.PLAY_ON),
        ({"offer_draw_moves": 4}, Decision.PLAY_ON),
        ({"offer_draw_score": 9}, Decision.PLAY_ON),
    ],
)
def test_each_rule_can_keep_us_from_offering(changes: dict[str, Any], decision: Decision) -> None:
    assert decided(LEVEL, **changes) is decision


def test_an_opponent_without_a_rating_is_below_every_minimum() -> None:
    unrated = replace(OFFERED, opponent=Player(id="ferdinand", name="Ferdinand"))
    assert decided(LEVEL, unrated, offer_draw_min_rating=600) is Decision.PLAY_ON


def test_rules_about_humans_leave_games_with_bots_alone() -> None:
    it = replace(QUIET, opponent=BOT)
    assert decided(LEVEL, it, offer_draw_against_humans=False) is Decision.DRAW
    assert decided(LOST, it, resign_against_humans=False) is Decision.RESIGN


def test_nothing_can_be_offered_before_both_have_moved() -> None:
    assert decided(["cp 0"], replace(QUIET, ply=1), offer_draw_moves=1) is Decision.PLAY_ON
    assert decided(["cp 0"], replace(QUIET, ply=2), offer_draw_moves=1) is Decision.DRAW


@pytest.mark.parametrize("it", [QUIET, OFFERED])
@pytest.mark.parametrize("scores", [LEVEL, WORSE, LOST])
def test_an_only_move_is_not_judged_by_scores_from_before_the_opponents_mistake(
    scores: list[str], it: PositionFacts
) -> None:
    policy = DrawResignPolicy(rules(), offered_earlier=False)
    for number, score in enumerate(scores):
        policy.note_score(it.ply - 2 * (len(scores) - number), score)
    assert policy.decide(it) is Decision.PLAY_ON
    policy.note_score(it.ply, "cp 900")
    assert policy.decide(it) is Decision.PLAY_ON


def test_a_draw_is_offered_again_only_after_more_than_twenty_plies() -> None:
    policy = DrawResignPolicy(rules(offer_draw_moves=1), offered_earlier=False)
    offers = []
    for ply in range(40, 100, 2):
        policy.note_score(ply, "cp 0")
        if policy.decide(replace(QUIET, ply=ply)) is Decision.DRAW:
            offers.append(ply)
    assert offers == [40, 62, 84]


def test_after_a_restart_an_earlier_offer_counts_as_just_made() -> None:
    policy = DrawResignPolicy(rules(offer_draw_moves=1), offered_earlier=True)
    decisions = []
    for ply in range(40, 64, 2):
        policy.note_score(ply, "cp 0")
        decisions.append(policy.decide(replace(QUIET, ply=ply)))
    assert decisions == [Decision.PLAY_ON] * 11 + [Decision.DRAW]


@pytest.mark.parametrize(
    ("scores", "it", "decision"),
    [
        (LEVEL, OFFERED, Decision.DRAW),
        (WORSE, OFFERED, Decision.DRAW),
        (WORSE, replace(OFFERED, pieces=32), Decision.DRAW),
        (["cp -60", "cp 0", "cp -60"], OFFERED, Decision.DRAW),
        (["cp -60", "cp 0", "cp -60"], replace(OFFERED, pieces=32), Decision.PLAY_ON),
        (["cp -11"] * 3, replace(OFFERED, ply=10, pieces=32), Decision.PLAY_ON),
        (["cp -99", "cp -160", "cp -300"], replace(OFFERED, pieces=32), Decision.PLAY_ON),
        (["cp -60", "cp 11", "cp -60"], OFFERED, Decision.PLAY_ON),
        (WORSE[1:], OFFERED, Decision.PLAY_ON),
        (WORSE, replace(OFFERED, opponent_flag_s=1.0), Decision.PLAY_ON),
        (LEVEL, replace(OFFERED, opponent=AI), Decision.DRAW),
    ],
)
def test_an_offer_is_accepted_when_level_or_when_we_are_worse(
    scores: list[str], it: PositionFacts, decision: Decision
) -> None:
    assert decided(scores, it) is decision


@pytest.mark.parametrize(
    ("changes", "decision"),
    [
        ({"offer_draw_min_game_length": 31}, Decision.DRAW),
        ({"offer_draw_min_game_length": 32}, Decision.PLAY_ON),
        ({"offer_draw_score": 100}, Decision.DRAW),
        ({"offer_draw_score": 101}, Decision.PLAY_ON),
    ],
)
def test_with_many_pieces_an_offer_is_accepted_if_clearly_worse_in_a_game_long_enough(
    changes: dict[str, Any], decision: Decision
) -> None:
    assert decided(WORSE, replace(OFFERED, pieces=32), **changes) is decision


def test_an_offer_is_accepted_even_shortly_after_ours() -> None:
    assert decided(["cp 10"] * 3, OFFERED, offered_earlier=True) is Decision.DRAW


@NO_DRAWS
def test_draws_are_neither_offered_nor_accepted_if_disabled(changes: dict[str, Any]) -> None:
    assert decided(LEVEL, OFFERED, **changes) is Decision.PLAY_ON


# Resignation


@pytest.mark.parametrize(
    ("scores", "decision"),
    [
        (LOST, Decision.RESIGN),
        (["cp 0", *LOST], Decision.RESIGN),
        (LOST[1:], Decision.PLAY_ON),
        (["cp -999", "cp -1200", "cp -3000"], Decision.PLAY_ON),
        (["cp -1000", "mate 3", "cp -3000"], Decision.PLAY_ON),
        (["mate -9", "mate -8", "mate -7"], Decision.RESIGN),
    ],
)
def test_a_game_is_resigned_when_the_last_scores_all_say_it_is_lost(scores: list[str], decision: Decision) -> None:
    assert decided(scores) is decision


@pytest.mark.parametrize(
    ("changes", "decision"),
    [
        ({"resign_enabled": False}, Decision.PLAY_ON),
        ({"resign_against_humans": False}, Decision.PLAY_ON),
        ({"resign_min_rating": 1801}, Decision.PLAY_ON),
        ({"resign_moves": 4}, Decision.PLAY_ON),
        ({"resign_score": -1001}, Decision.PLAY_ON),
        ({"offer_draw_enabled": False}, Decision.RESIGN),
    ],
)
def test_each_rule_can_keep_us_from_resigning(changes: dict[str, Any], decision: Decision) -> None:
    assert decided(LOST, **changes) is decision


@pytest.mark.parametrize("changes", [{"cannot_be_lost": True}, {"opponent_flag_s": 5.0}])
def test_a_game_that_need_not_be_lost_is_not_resigned(changes: dict[str, Any]) -> None:
    assert decided(LOST, replace(QUIET, **changes)) is Decision.PLAY_ON


@NO_DRAWS
def test_instead_of_resigning_the_offered_draw_is_taken_even_if_draws_are_switched_off(changes: dict[str, Any]) -> None:
    assert decided(LOST, OFFERED, **changes) is Decision.DRAW
    assert describe(rules(**changes), HUMAN) == "I accept a draw only instead of resigning."


@NO_DRAWS
def test_a_draw_is_not_accepted_instead_of_resigning_where_we_never_resign(changes: dict[str, Any]) -> None:
    changes = {**changes, "resign_against_humans": False}
    assert decided(LOST, OFFERED, **changes) is Decision.PLAY_ON
    assert "resign" not in describe(rules(**changes), HUMAN)


def test_one_position_searched_again_and_again_counts_once() -> None:
    policy = DrawResignPolicy(rules(), offered_earlier=False)
    for _ in range(10):
        policy.note_score(60, "cp -5000")
        assert policy.decide(QUIET) is Decision.PLAY_ON


def test_scores_of_moves_that_were_taken_back_are_forgotten() -> None:
    policy = DrawResignPolicy(rules(), offered_earlier=False)
    for ply in (56, 58, 60):
        policy.note_score(ply, "cp -5000")
    policy.forget_from(58)
    policy.note_score(58, "cp -5000")
    assert policy.decide(replace(QUIET, ply=58)) is Decision.PLAY_ON
    policy.note_score(60, "cp -5000")
    policy.forget_from(60)
    assert policy.decide(QUIET) is Decision.PLAY_ON, "the only reply to another move than the one taken back"


# Facts of a position


def facts(fen: str, move: str, before: str = "", **changes: Any) -> PositionFacts:
    board = Board(fen).after(*before.split())
    colour = Colour(board.turn)
    flags = {"moves": "", "wtime": 60_000, "btime": 60_000, "status": GameStatus.STARTED, **changes}
    full = GameFull.model_validate(
        {"id": GAME, "variant": {"key": "standard"}, "white": {}, "black": {}, "state": flags}
    )
    clock = GameClock(colour, True, True, full.state, 0.0, TIMEOUTS)
    return PositionFacts.of(board, move, clock, full, 0.0)


def test_a_bare_king_cannot_win() -> None:
    assert facts("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", "a2a4").cannot_be_lost
    assert not facts("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", "a2a4").cannot_be_lost
    assert facts("4k3/p7/8/8/8/8/8/4K3 w - - 0 1", "e1e2").cannot_be_won


def test_a_move_that_stalemates_or_fulfils_fifty_moves_loses_nothing() -> None:
    assert facts("7k/5p2/5P2/6Q1/8/8/8/K7 w - - 0 1", "g5g4").cannot_be_lost is False
    assert facts("7k/5p1p/5P1P/8/8/8/8/K5R1 w - - 0 1", "g1g7").cannot_be_lost is True
    assert facts("4k3/p7/8/8/8/8/P7/4K3 w - - 99 80", "e1e2").cannot_be_lost is True
    assert facts("4k3/p7/8/8/8/8/P7/4K3 w - - 98 80", "e1e2").cannot_be_lost is False


def test_a_move_that_repeats_a_position_the_third_time_loses_nothing() -> None:
    start, there_and_back = "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", "e1e2 e8e7 e2e1 e7e8"
    assert not facts(start, "e1e2", there_and_back).cannot_be_lost, "the second time"
    assert facts(start, "e1e2", f"{there_and_back} {there_and_back}").cannot_be_lost


def test_the_offer_that_counts_is_the_opponents() -> None:
    assert not facts("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", "e1e2", wdraw=True).offered
    assert facts("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", "e1e2", bdraw=True).offered


def test_pieces_are_counted_with_kings_and_pawns() -> None:
    assert facts("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", "e1e2").pieces == 4


@pytest.mark.parametrize(
    ("changes", "hurry_s"),
    [
        ({"wtime": 60_000, "btime": 20_000}, 20.0),
        ({"wtime": 15_000, "btime": 20_000}, math.inf),
        ({"wtime": 60_000, "btime": 20_000, "binc": 1000}, math.inf),
    ],
)
def test_an_opponent_with_less_time_and_no_increment_is_in_a_hurry(changes: dict[str, int], hurry_s: float) -> None:
    assert facts("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", "e1e2", **changes).opponent_flag_s == hurry_s


# In a game


RECORDED = RecordAction(LimitedAction.DRAW_OFFER)
READY = {"engine": {"draw_or_resign": {
    "offer_draw_enabled": True, "offer_draw_score": 20, "offer_draw_moves": 2, "offer_draw_pieces": 32,
    "resign_enabled": True, "resign_moves": 2,
}}}


def opening(bench: Bench, *scores: str) -> list[Action]:
    """Play White's first moves with these scores; return the actions after the last."""
    plies = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "d2d3", "d7d6"]
    actions = bench.full()
    for number, score in enumerate(scores):
        sent = bench.find(actions, plies[2 * number], score)
        if number + 1 < len(scores):
            actions = bench.state(" ".join(plies[: 2 * number + 2]))
    return sent


def test_a_draw_is_offered_with_the_move_and_noted_before() -> None:
    assert opening(Bench(**READY), "cp 0", "cp 10") == [RECORDED, SendMove(GAME, 3, "g1f3", offering_draw=True)]


def test_without_level_scores_the_move_goes_alone() -> None:
    assert opening(Bench(**READY), "cp 0", "cp 90") == [SendMove(GAME, 3, "g1f3")]


def test_an_offer_that_comes_while_we_think_is_accepted_with_the_move() -> None:
    bench = Bench(**READY)
    bench.find(bench.full(), "e2e4", "cp -50")
    actions = bench.state("e2e4 e7e5")
    assert bench.state("e2e4 e7e5", "bdraw") == []
    assert bench.find(actions, "g1f3", "cp -60") == [RECORDED, SendMove(GAME, 3, "g1f3", offering_draw=True)]


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


def test_rules_for_resigning_may_change_during_the_game() -> None:
    bench = Bench(**READY)
    never = bench.game.engine.draw_or_resign.model_copy(update={"resign_enabled": False})
    bench.game.engine = bench.game.engine.model_copy(update={"draw_or_resign": never})
    assert opening(bench, "cp -1500", "cp -1500") == [SendMove(GAME, 3, "g1f3")]


def test_an_offer_that_comes_before_the_resignation_took_effect_is_taken_instead() -> None:
    bench = Bench(**READY)
    (resign,) = opening(bench, "cp -1500", "cp -1500")
    actions = bench.state("e2e4 e7e5", "bdraw")
    assert actions[0] == Withdraw(resign), "it may still wait to be sent"
    assert bench.find(actions, "g1f3", "cp -1500") == [RECORDED, SendMove(GAME, 3, "g1f3", offering_draw=True)]


def test_by_default_games_are_played_to_their_end() -> None:
    assert opening(Bench(), "cp 0", "cp 0", "cp 0", "cp 0") == [SendMove(GAME, 7, "d2d3")]
    assert opening(Bench(), "mate -1", "mate -1", "mate -1", "mate -1") == [SendMove(GAME, 7, "d2d3")]


def test_a_takeback_forgets_the_scores_after_it() -> None:
    bench = Bench(**READY, max_takebacks_accepted=1)
    bench.find(bench.full("e2e4 e7e5"), "g1f3", "cp -1500")
    bench.state("e2e4 e7e5 g1f3")
    bench.state("e2e4 e7e5 g1f3", "btakeback")
    bench.state("e2e4")
    bench.full("e2e4")
    assert bench.find(bench.state("e2e4 d7d5"), "e4d5", "cp -1500") == [SendMove(GAME, 3, "e4d5")]


@pytest.mark.parametrize(("draws_offered", "offers"), [(0, True), (1, False)])
def test_a_draw_offered_before_a_restart_is_not_offered_again_at_once(draws_offered: int, offers: bool) -> None:
    bench = Bench(draws_offered=draws_offered, engine={"draw_or_resign": OFFERS})
    sent = bench.find(bench.full("e2e4 e7e5"), "g1f3")
    assert [it.offering_draw for it in sent if isinstance(it, SendMove)] == [offers]


def test_the_score_of_a_source_counts_like_that_of_a_search() -> None:
    bench = Bench(sources=True, engine={"draw_or_resign": OFFERS})
    (asked,) = bench.full("e2e4 e7e5")
    level = SearchInfo(score="cp 0")
    sent = bench.hear(SourceAnswer(GAME, asked.question.search_id, ("g1f3",), summary=level))
    assert [it.offering_draw for it in sent if isinstance(it, SendMove)] == [True]
