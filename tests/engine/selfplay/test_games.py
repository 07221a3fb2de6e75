"""Openings, adjudication and results of self-play games."""

import random

from engine.board import Board
from engine.selfplay.games import DRAW_FROM_PLY, MAX_PLIES, Adjudicator, FixedNodesPlayer, game_result, random_opening
from engine.selfplay.records import Result

MATE_IN_ONE = 31999


def test_openings_differ_and_some_are_of_chess960() -> None:
    found = [random_opening(random.Random(seed)).position.state() for seed in range(40)]
    assert len({state["key"] for state in found}) == 40
    assert {state["side_to_move"] for state in found} == {0, 1}
    assert any(state["castling_rooks"][0] not in (7, 64) for state in found)


def test_a_long_decisive_lead_wins() -> None:
    referee = Adjudicator()
    assert [referee.adjudicate(ply, -1600) for ply in range(1, 6)] == [None] * 5
    assert referee.adjudicate(6, 0) is None
    assert [referee.adjudicate(ply, -1600) for ply in range(7, 13)] == [None] * 5 + [Result.BLACK_WON]


def test_players_who_both_think_that_they_win_play_on() -> None:
    referee = Adjudicator()
    assert {referee.adjudicate(ply, 1600 if ply % 2 else -1600) for ply in range(1, 21)} == {None}
    assert [referee.adjudicate(ply, 1600) for ply in range(21, 27)] == [None] * 5 + [Result.WHITE_WON]


def test_a_mate_score_wins_at_once() -> None:
    assert Adjudicator().adjudicate(1, MATE_IN_ONE) is Result.WHITE_WON


def test_a_long_even_game_is_drawn_but_not_early() -> None:
    referee = Adjudicator()
    verdicts = [referee.adjudicate(ply, 3) for ply in range(1, MAX_PLIES)]
    first = verdicts.index(Result.DRAWN)
    assert first > DRAW_FROM_PLY
    assert set(verdicts[:first]) == {None}
    assert Adjudicator().adjudicate(MAX_PLIES, 200) is Result.DRAWN


def test_mate_stalemate_and_bare_kings_end_a_game() -> None:
    ends = {
        "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1": Result.WHITE_WON,
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1": Result.DRAWN,
        "7k/8/6K1/8/8/8/8/8 b - - 0 1": Result.DRAWN,
        "7k/8/6K1/8/8/8/8/6R1 w - - 100 90": Result.DRAWN,
        "7k/8/6K1/8/8/8/8/6R1 w - - 0 90": None,
    }
    for fen, result in ends.items():
        assert game_result(Board(fen)) is result, fen


def test_a_player_mates_in_one() -> None:
    board = Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    assert board.spell(FixedNodesPlayer("none", 2000).search(board).move) == "a1a8"
