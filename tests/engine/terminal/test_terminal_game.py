"""The state of a game in the terminal: takebacks, the flag, draws."""

import re

import pytest

from engine.facade import Board, InvalidMove
from engine.pgn.time_control import TimeControl
from engine.terminal.chess_clock import ChessClock
from engine.terminal.terminal_game import DRAW, TerminalGame
from tests.engine.pgn.games import only, parse_games
from tests.engine.terminal.test_chess_clock import Time

NAMES = {"white": "W", "black": "B"}


def test_taking_back_restores_the_clock() -> None:
    time = Time()
    clock = ChessClock(TimeControl(60, 0), time)
    game = TerminalGame(Board(), NAMES, clock)

    def play(move: str, seconds: float) -> None:
        clock.start(game.board.turn)
        time.now += seconds
        game.play(move)

    play("e2e4", 10)
    play("e7e5", 20)
    assert clock.both_s() == {"white": 50, "black": 40}
    game.take_back(1)
    assert clock.both_s() == {"white": 50, "black": 60}
    assert game.board.moves == ["e2e4"]
    play("c7c5", 5)
    play("g1f3", 10)
    game.take_back(1)
    assert clock.both_s() == {"white": 50, "black": 55}


@pytest.mark.parametrize("control", [None, TimeControl(60, 0)])
def test_a_game_that_is_resumed_keeps_the_clocks_it_had(control: TimeControl | None) -> None:
    (read,) = parse_games("1. e4 {[%clk 0:04:50]} e5 {[%clk 0:04:40]} 2. Nf3 Nc6 *")
    game = TerminalGame.resume(read, NAMES, control)
    game.play("f1b5")
    clocks = [node.clock_s for node in only(game.pgn()).root.mainline()]
    assert clocks[:4] == [290, 280, None, None]
    assert (clocks[4] is None) is (control is None)
    game.take_back(2)
    game.play("a7a6")
    assert (next(reversed(list(only(game.pgn()).root.mainline()))).clock_s is None) is (control is None)


def test_a_game_that_ctrl_c_ends_between_a_move_and_its_clock_is_written_with_the_move() -> None:
    game = TerminalGame(Board(), NAMES, ChessClock(TimeControl(60, 0), Time()))
    game.play("e2e4")
    game.board.push("e7e5")
    assert [node.clock_s for node in only(game.pgn()).root.mainline()] == [60, None]


def test_a_fallen_flag_draws_if_the_opponent_cannot_mate() -> None:
    time = Time()
    clock = ChessClock(TimeControl(60, 0), time)
    game = TerminalGame(Board("4k3/8/8/8/8/8/P7/4K3 w - - 0 1"), NAMES, clock)
    clock.start("white")
    time.now = 59
    game.check_flag()
    assert game.end is None
    time.now = 60
    game.check_flag()
    assert game.end.result == DRAW
    time.now = 99
    assert clock.left_s("white") == 0


def test_a_threefold_repetition_ends_the_game() -> None:
    game = TerminalGame(Board(), NAMES)
    for move in ("g1f3", "g8f6", "f3g1", "f6g8") * 2:
        assert game.end is None
        game.play(move)
    assert game.end.reason == "draw: threefold repetition"


def test_the_rules_of_a_variant_end_the_game() -> None:
    game = TerminalGame(Board("7k/8/8/8/8/3K4/8/8 w - - 0 1", variant="kingOfTheHill"), NAMES)
    game.play(game.read_move("Ke4"))
    assert (game.end.result, game.end.reason) == ("1-0", "white wins")
    headers = only(game.pgn()).headers
    assert (headers["Variant"], headers["Result"]) == ("King of the Hill", "1-0")


@pytest.mark.parametrize(
    ("text", "queen"), [("a8", "a8=Q"), ("a7a8", "a8=Q"), ("axb8", "axb8=Q+"), ("A7B8", "axb8=Q+")]
)
def test_a_promotion_without_its_piece_names_the_queen(text: str, queen: str) -> None:
    game = TerminalGame(Board("1n5k/P7/8/8/8/8/8/K7 w - - 0 1"), NAMES)
    with pytest.raises(InvalidMove, match=f"; did you mean {re.escape(queen)}\\?$"):
        game.read_move(text)


@pytest.mark.parametrize(("text", "move"), [("E4", "e4"), ("nf3", "Nf3"), ("NF3", "Nf3"), ("QXF7", "Qxf7+")])
def test_a_move_in_capitals_or_small_letters_names_the_move_that_is_meant(text: str, move: str) -> None:
    game = TerminalGame(Board("6k1/5p2/8/7Q/8/8/4P3/K5N1 w - - 0 1"), NAMES)
    with pytest.raises(InvalidMove, match=f"; did you mean {re.escape(move)}\\?$"):
        game.read_move(text)


def test_drops_are_typed_and_taken_back() -> None:
    game = TerminalGame(Board("4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1", variant="crazyhouse"), NAMES)
    assert game.play(game.read_move("Q@d4")) == "Q@d4"
    assert game.board.pocket("white") == ""
    game.take_back(1)
    assert game.board.pocket("white") == "Q"
    assert game.moves_from("e1")
