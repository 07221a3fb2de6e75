"""Draw offers and resigning by the results of endgame tablebases, and what these leave of the scores."""

from dataclasses import replace
from typing import Any

import pytest

from lichessbot.games.draw_resign import Decision, DrawResignPolicy, PositionFacts
from lichessbot.lichess.commands import SendMove
from tests.lichessbot.games.bench import advice, consulting, only
from tests.lichessbot.games.test_draw_resign import LEVEL, LOST, OFFERED, QUIET, WORSE, decided, rules

WON, NOT_LOST = pytest.mark.parametrize("wdl", [1, 2]), pytest.mark.parametrize("wdl", [-1, 0, 1, 2])


@pytest.mark.parametrize(
    ("wdl", "changes", "decision"),
    [
        (0, {}, Decision.DRAW),
        (0, {"offer_draw_for_egtb_zero": False}, Decision.PLAY_ON),
        (0, {"offer_draw_enabled": False}, Decision.PLAY_ON),
        (0, {"offer_draw_min_game_length": 32}, Decision.PLAY_ON),
        (-2, {}, Decision.RESIGN),
        (-2, {"resign_for_egtb_minus_two": False}, Decision.PLAY_ON),
        (-2, {"resign_enabled": False}, Decision.PLAY_ON),
        (-1, {}, Decision.PLAY_ON),
        (1, {}, Decision.PLAY_ON),
        (2, {}, Decision.PLAY_ON),
        (None, {}, Decision.PLAY_ON),
    ],
)
def test_a_tablebase_result_suffices_if_configured(
    wdl: int | None, changes: dict[str, Any], decision: Decision
) -> None:
    assert decided([], wdl=wdl, **changes) is decision


def test_an_offer_is_accepted_in_a_tablebase_draw() -> None:
    assert decided([], OFFERED, wdl=0) is Decision.DRAW
    assert decided([], OFFERED, wdl=0, offer_draw_min_game_length=100) is Decision.DRAW, "we would not offer it yet"
    assert decided(["cp 300"] * 3, OFFERED, wdl=0) is Decision.DRAW
    assert decided([], OFFERED, wdl=2) is Decision.PLAY_ON


@pytest.mark.parametrize("wdl", [-1, -2])
def test_an_offer_is_accepted_in_a_tablebase_loss_whatever_the_scores_before_our_mistake(wdl: int) -> None:
    for scores in ([], ["cp 300"] * 3):
        assert after_a_mistake(scores, wdl, resign_enabled=False).decide(OFFERED) is Decision.DRAW
        assert after_a_mistake(scores, wdl, resign_enabled=False).decide(QUIET) is Decision.PLAY_ON
    changes = {"resign_enabled": False, "offer_draw_for_egtb_zero": False}
    assert after_a_mistake(["cp 300"] * 3, wdl, **changes).decide(OFFERED) is Decision.PLAY_ON


@pytest.mark.parametrize("wdl", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("scores", [[], LEVEL, LOST])
def test_a_tablebase_result_says_nothing_of_the_next_position(scores: list[str], wdl: int) -> None:
    policy = after_a_mistake(scores, wdl)
    policy.forget_from(QUIET.ply + 2)
    assert policy.decide(replace(QUIET, ply=QUIET.ply + 2)) is Decision.PLAY_ON


def after_a_mistake(scores: list[str], wdl: int, **changes: Any) -> DrawResignPolicy:
    """Return a policy that knows these scores, and a tablebase result for the position after them."""
    policy = DrawResignPolicy(rules(**changes), offered_earlier=False)
    for number, score in enumerate(scores):
        policy.note_score(QUIET.ply - 2 * (len(scores) - number), score)
    policy.note_wdl(wdl)
    return policy


@WON
@pytest.mark.parametrize("it", [QUIET, OFFERED])
@pytest.mark.parametrize("scores", [LEVEL, WORSE])
def test_no_draw_is_agreed_in_a_tablebase_win(scores: list[str], it: PositionFacts, wdl: int) -> None:
    policy = after_a_mistake(scores, wdl)
    assert policy.decide(it) is Decision.PLAY_ON
    policy.forget_from(it.ply + 2)
    policy.note_score(it.ply + 2, "cp 0")
    assert policy.decide(replace(it, ply=it.ply + 2)) is Decision.PLAY_ON, "the other scores are of before the win"


@WON
def test_a_tablebase_win_counts_more_than_the_score_of_the_search_for_its_move(wdl: int) -> None:
    policy = after_a_mistake([], wdl, offer_draw_moves=1)
    policy.note_score(QUIET.ply, "cp 0")
    assert policy.decide(OFFERED) is Decision.PLAY_ON


@NOT_LOST
def test_scores_from_before_the_opponents_mistake_resign_nothing(wdl: int) -> None:
    policy = after_a_mistake(["cp -1000"] * 3, wdl, offer_draw_enabled=False)
    assert policy.decide(QUIET) is Decision.PLAY_ON
    policy.forget_from(QUIET.ply + 2)
    policy.note_score(QUIET.ply + 2, "cp -1200")
    assert policy.decide(replace(QUIET, ply=QUIET.ply + 2)) is Decision.PLAY_ON


def test_a_result_whose_moves_are_illegal_does_not_count() -> None:
    bench, consult = consulting(engine={"draw_or_resign": {"resign_enabled": True}})
    only(bench.find(bench.hear(advice(consult, "e7e5", wdl=-2)), "e2e4"), SendMove)


def test_scores_that_a_tablebase_does_not_refute_still_count() -> None:
    assert after_a_mistake(LEVEL, 0, offer_draw_for_egtb_zero=False).decide(QUIET) is Decision.DRAW
    assert after_a_mistake(WORSE, -2, resign_for_egtb_minus_two=False).decide(OFFERED) is Decision.DRAW
    assert after_a_mistake(LOST, -2, resign_for_egtb_minus_two=False).decide(QUIET) is Decision.RESIGN
