"""What follows from the scores of a game's positions."""

import json
from dataclasses import replace

import pytest

from engine.facade import accuracy
from lichessbot.games.review.review import Review, recorded_mistakes, review_of
from lichessbot.lichess.enums import Colour
from lichessbot.storage.evaluations import mate_cp
from lichessbot.storage.game_records import MoveRecord
from tests.lichessbot.games.review.games import GAME, LINES, MOVES, SCORES, UCI, reviewed

BLUNDER, MISTAKE, INACCURACY = accuracy.Judgement


def review(scores: list[int] = SCORES, lines: dict[int, str] = LINES) -> Review:
    return review_of(GAME, MOVES, reviewed(scores, lines))


def test_mistakes_are_named_with_what_was_better() -> None:
    assert [(it.written, it.judgement, it.better, it.line, it.mate) for it in review().mistakes] == [
        ("3... Nd4?!", INACCURACY, "Nf6", ("Nf6", "d3"), ""),
        ("5. Nxf7??", BLUNDER, "Bxf7+", ("Bxf7+", "Kd8", "O-O"), ""),
        ("7. Be2??", BLUNDER, "Qe2", ("Qe2",), "allows mate in 1"),
    ]
    _, blunder, _ = review().mistakes
    assert (blunder.side, round(blunder.before), round(blunder.after)) == (Colour.WHITE, 59, 15)


def test_a_mate_that_was_missed_is_named() -> None:
    (missed,) = [it for it in review([*SCORES[:12], mate_cp(3), 0, 0]).mistakes if it.ply == 13]
    assert (missed.written, missed.mate) == ("7. Be2??", "misses mate in 3")


def test_the_turning_points_are_the_two_largest_losses_in_the_order_of_play() -> None:
    # 3... Nd4 now loses more than the mate that comes when all is lost, and less than 5. Nxf7.
    scores = [*SCORES[:6], 200, 190, 200, *SCORES[9:]]
    assert [it.written for it in review(scores).turning_points] == ["3... Nd4??", "5. Nxf7??"]
    assert [it.ply for it in review().turning_points] == [9], "an inaccuracy turns no game"
    assert review([15] * 15, {}).turning_points == []


def test_the_engines_own_move_is_no_mistake_whatever_it_thinks_afterwards() -> None:
    assert [it.ply for it in review().mistakes] == [6, 9, 13]
    assert [it.ply for it in review(lines=LINES | {8: "e5f7"}).mistakes] == [6, 13]


def test_accuracy_and_chances_are_lichesss() -> None:
    found = review()
    scores = [accuracy.Score(cp) if cp > -90_000 else accuracy.Score(mate=-1) for cp in SCORES]
    assert found.accuracies == accuracy.game_accuracy(scores)
    assert found.wins == [accuracy.win_percent(score) for score in scores]
    assert (found.count(Colour.WHITE, BLUNDER), found.count(Colour.BLACK, INACCURACY)) == (2, 1)


def test_a_game_that_black_begins_counts_his_moves() -> None:
    game = replace(GAME, initial_fen="4k3/4r3/8/8/8/8/4R3/4K3 b - - 0 30")
    moves = [MoveRecord(1, "e8d8"), MoveRecord(2, "e2e7")]
    found = review_of(game, moves, reviewed([0, 500, 520], {0: "e7e2"}))
    (mistake,) = found.mistakes
    assert (mistake.written, mistake.side, mistake.better) == ("30... Kd8??", Colour.BLACK, "Rxe2+")
    assert found.accuracies["black"] < 20 < 99 < found.accuracies["white"]


def test_a_review_of_another_number_of_moves_is_none() -> None:
    assert review_of(GAME, MOVES, reviewed(SCORES[:-1])) is None
    assert review_of(GAME, MOVES[:-1], reviewed()) is None
    assert review_of(GAME, [], reviewed([15], {})) is not None


def test_an_illegal_line_is_cut_and_nothing_else() -> None:
    found = review(lines={8: "c4f7 e8e1"})
    assert found.mistakes[1].line == ("Bxf7+",)
    assert review(lines={8: "e1e8"}).mistakes[1].better == ""


def test_json_has_all_of_it_from_whites_view() -> None:
    told = json.loads(json.dumps(review().as_json()))
    assert told["turning_points"] == [9]
    assert told["positions"][9] == {
        "ply": 9, "score_cp": -480, "mate_in": None, "win_percent": pytest.approx(14.6, abs=0.1), "line": [],
    }  # fmt: skip
    assert told["positions"][14]["mate_in"] == -1
    assert [(it["move"], it["better_move"], it["glyph"]) for it in told["mistakes"]] == [
        ("c6d4", "g8f6", "?!"), ("e5f7", "c4f7", "??"), ("c4e2", "d1e2", "??"),
    ]  # fmt: skip


def test_without_a_review_our_own_evaluations_show_our_mistakes() -> None:
    ours = {4: 0, 6: -20, 8: -300, 10: -310}
    moves = [MoveRecord(ply, move, score_cp=ours.get(ply)) for ply, move in enumerate(UCI, 1)]
    assert [(it.written, it.better) for it in recorded_mistakes(GAME, moves)] == [("3... Nd4??", "")]
    as_white = replace(GAME, colour="white")
    moves = [MoveRecord(ply, move, score_cp={9: 50, 11: -400}.get(ply)) for ply, move in enumerate(UCI, 1)]
    (mistake,) = recorded_mistakes(as_white, moves)
    assert (mistake.written, mistake.side) == ("5. Nxf7??", Colour.WHITE)
    assert recorded_mistakes(GAME, [MoveRecord(1, "e2e5", score_cp=5)]) == []


def test_no_move_is_blamed_for_what_one_without_an_evaluation_may_have_done() -> None:
    # 5. Nxf7 may have been the move of a restart, or of the search that replaces the engine.
    moves = [MoveRecord(ply, move, score_cp={7: 50, 11: -400}.get(ply)) for ply, move in enumerate(UCI, 1)]
    assert recorded_mistakes(replace(GAME, colour="white"), moves) == []
