"""What a style shows: measures on games made for them, their statistics, and the command that plays them."""

from collections.abc import Sequence
from dataclasses import replace
from math import atan, pi, sqrt

import pytest

from engine.board import Board
from engine.cli.main import run
from engine.core.fen import parse_fen
from engine.evaluation.style import StyleName
from engine.selfplay.records import Result
from engine.selfplay.styles import measures
from engine.selfplay.styles.match import StyleMatch, play_opening
from engine.selfplay.styles.measures import MEASURES, NAMED_MEASURE, WatchedGame, compare, student_p, welch_p

NODES = 60


def watched(moves: Sequence[str], us: int = 0, *, scores: int = 0, result: Result = Result.DRAWN) -> WatchedGame:
    """A game from the start in which the judge always gives us the same score."""
    board = Board()
    game = WatchedGame(us, 0)
    for move in ["", *moves]:
        if move:
            board.push_san(move)
        game.watch(parse_fen(board.fen())[0])
        if (len(board.moves) % 2 == 1) is (us == 0) and board.moves:
            game.judge(scores if us == 0 else -scores)
    game.end(result)
    return game


SHUFFLE = "Nf3 Nf6 Ng1 Ng8 " * 4


def test_a_gambit_is_a_sacrifice_for_the_side_that_gives_only() -> None:
    kings_gambit = f"e4 e5 f4 exf4 {SHUFFLE}".split()
    assert [measures.sacrifices(watched(kings_gambit, us)) for us in (0, 1)] == [1, 0]


def test_an_exchange_and_material_lost_by_force_are_no_sacrifices() -> None:
    exchange = f"e4 d5 exd5 Qxd5 {SHUFFLE}".split()
    assert [measures.sacrifices(watched(exchange, us)) for us in (0, 1)] == [0, 0]
    kings_gambit = f"e4 e5 f4 exf4 {SHUFFLE}".split()
    assert measures.sacrifices(watched(kings_gambit, scores=-200)) == 0
    better = watched(SHUFFLE.split())
    better.scores = {ply: ply for ply in better.scores}
    assert measures.sacrifices(better) == 0


def test_a_gambit_lasts_while_the_pawn_is_missing_and_the_judge_sees_compensation() -> None:
    kings_gambit = f"e4 e5 f4 exf4 {SHUFFLE}".split()
    assert [measures.gambits(watched(kings_gambit, us, scores=-100)) for us in (0, 1)] == [0.8, 0.0]
    assert measures.gambits(watched(kings_gambit, scores=-101)) == 0.0
    assert measures.gambits(watched([])) is None


def test_pieces_around_the_king_are_an_attack() -> None:
    attack = "e4 e5 Bc4 Nc6 Qh5 Nb8 Nf3 Nc6 d3 Nb8 a3 Nc6 h3 Nb8 Ng5 Nc6 Rg1 Nb8 Rh1"
    moves = attack.split()
    game = watched(moves)
    assert measures.king_attacks(game) == 1.0              # bishop, queen and knight at f7, in moves 8 to 10
    assert measures.attacks_suffered(game) == 0.0
    assert measures.attacks_suffered(watched(moves, us=1)) == 1.0
    assert measures.king_attacks(watched(SHUFFLE.split()[:6])) is None


def test_an_attack_by_the_worse_side_is_a_counterattack() -> None:
    moves = ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nb8", "Nf3", "Nc6", "Ng5", "Nb8", "d3", "Nc6"]
    assert measures.counterattacks(watched(moves, scores=-100)) == 1 / 3      # at f7, after two of six moves
    assert measures.counterattacks(watched(moves, us=1, scores=-100)) == 0.0
    assert measures.counterattacks(watched(moves, scores=-99)) is None


def test_a_swindle_is_a_lost_game_that_was_not_lost() -> None:
    moves = SHUFFLE.split()
    assert measures.swindles(watched(moves, scores=-200)) == 1
    assert measures.swindles(watched(moves[:1], scores=-200)) is None      # not twice running
    assert measures.swindles(watched(moves, scores=-250, result=Result.BLACK_WON)) == 0
    assert measures.swindles(watched(moves, us=1, scores=-250, result=Result.BLACK_WON)) == 1
    assert measures.swindles(watched(moves, scores=-199)) is None


def test_a_classical_opening_has_everything_in_its_place() -> None:
    moves = ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "d3", "d6", "Nc3", "Nf6", "Be3", "Bb6", "O-O", "h6"]
    assert [measures.classical_openings(watched(moves, us)) for us in (0, 1)] == [1, 0]
    assert measures.classical_openings(watched(["e3", *moves[1:10], "Bd2", *moves[11:]])) == 0


@pytest.mark.parametrize("last", [[], ["b5"]])
def test_pawn_storms_count_ranks_and_the_length_moves_as_on_a_score_sheet(last: list[str]) -> None:
    game = watched(["f4", "a6", "f5", "a5", "a4", *last])
    assert (measures.storms(game), measures.length(game)) == (3, 3)


def test_queens_count_after_move_25_or_at_the_end() -> None:
    trade = ["e4", "e5", "d4", "exd4", "Qxd4", "Qf6", "Qxf6", "Nxf6"]
    assert measures.queens_traded(watched(trade)) == 1
    assert measures.queens_traded(watched(trade[:6])) == 0
    shuffles = (3 * SHUFFLE).split()
    assert measures.queens_traded(watched(shuffles[:40] + trade)) == 1
    assert measures.queens_traded(watched(shuffles[:44] + trade)) == 0


def test_two_equal_samples_differ_by_chance_and_unequal_ones_do_not() -> None:
    drawn, lost = watched(["e4", "e5"]), watched(["e4", "e5"], result=Result.BLACK_WON)
    few, many = [drawn] * 10 + [lost] * 40, [drawn] * 40 + [lost] * 10
    same = compare(measures.draws, few, few)
    more = compare(measures.draws, many, few)
    assert (same.ratio, same.p) == (1.0, 1.0)
    assert (more.ratio, more.styled_games, more.default_games) == (4.0, 50, 50)
    assert more.p < 1e-6
    assert compare(measures.swindles, many, few) is None
    all_drawn = compare(measures.draws, [drawn] * 50, [lost] * 50)
    assert all_drawn.p is None, "nothing varies"


@pytest.mark.parametrize("t", [0.0, 0.01, 0.9, 1.1, 5.0, 60.0])
def test_students_t_of_one_and_of_two_degrees_of_freedom(t: float) -> None:
    assert student_p(t, 1) == pytest.approx(1 - 2 * atan(t) / pi)
    assert student_p(t, 2) == pytest.approx(1 - t / sqrt(2 + t * t), rel=1e-6)


@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    [(2.228139, 10, 0.05), (3.169273, 10, 0.01), (1.310415, 30, 0.2), (0.676951, 100, 0.5), (3.290624, 1e5, 0.001)],
)
def test_students_t_as_in_tables(t: float, freedom: float, p: float) -> None:
    assert student_p(t, freedom) == pytest.approx(p, rel=1e-4)


def test_welchs_test_of_two_small_samples() -> None:
    """By hand: t = 2 and two degrees of freedom, as only one side varies; unequal variances give 1.4706 of them."""
    assert welch_p([1, 1], [1, 0, 0]) == pytest.approx(1 - 2 / sqrt(6))
    assert welch_p([0, 4], [5, 6]) == pytest.approx(student_p(3.5 / sqrt(4.25), 4.25**2 / (16 + 1 / 16)))
    assert welch_p([1], [0, 1, 0]) is None
    assert welch_p([1, 1], [0, 0]) is None


def test_every_style_has_its_measure() -> None:
    assert NAMED_MEASURE.keys() == set(StyleName), NAMED_MEASURE.keys() ^ set(StyleName)
    assert set(NAMED_MEASURE.values()) <= MEASURES.keys()


def test_an_opening_is_played_with_both_colours_and_the_same_games_again() -> None:
    match = StyleMatch(StyleName.ENDGAME, NODES)
    (opening,) = match.openings(1)
    first, second = play_opening(match, (0, opening)), play_opening(match, (0, opening))
    assert [game.us for game in first] == [0, 1]
    assert first == second
    assert all(len(game.ours) > 10 and game.scores for game in first)


def test_a_level_plays_its_style_against_another_player_of_its_strength() -> None:
    match = StyleMatch(StyleName.ENDGAME, NODES, level=1500)
    (opening,) = match.openings(1)
    styled, plain = play_opening(match, (0, opening)), play_opening(replace(match, style=None), (0, opening))
    assert styled == play_opening(match, (0, opening))
    assert styled[0] != plain[0]
    assert styled[0].ours[0] == plain[0].ours[0]


def test_the_command_compares_styles_with_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["styles", "endgame", "--games", "2", "--nodes", str(NODES), "--processes", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("endgame: 2 games, ")
    assert [line[:22].strip() for line in lines[2:] if line.startswith("*")] == ["* queens traded"]
    assert run(["styles", "aggressive"]) == 2
