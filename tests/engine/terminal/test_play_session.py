"""A game in the terminal whose events come in an awkward order: the user and the search follow a script."""

import io
from itertools import count

import pytest
from rich.console import Console

from engine.facade import Board, Limits
from engine.pgn.time_control import TimeControl
from engine.terminal import play_session
from engine.terminal.board_view import Theme
from engine.terminal.chess_clock import ChessClock
from engine.terminal.keyboard import LineTyped
from engine.terminal.play_session import PlaySession
from engine.terminal.players import BackgroundSearch, Player, SearchDone
from engine.terminal.terminal_game import TerminalGame
from tests.engine.terminal.test_chess_clock import Time

HUMAN, COMPUTER = Player("Human"), Player("Engine", Limits(depth=1))
BASE_S, EVENT_S = 60, 7            # of each side, and from one event to the next


def play(white: Player, black: Player, *events: SearchDone | str) -> tuple[list[str], str]:
    """Return the moves of a game and what it printed.

    The events are lines that are typed, and results of searches, which are numbered from 1.
    """
    time, said, script, numbers = Time(), io.StringIO(), iter([*events, "quit"]), count(1)
    game = TerminalGame(Board(), {}, ChessClock(TimeControl(BASE_S, 0), time))

    def next_event(*_: object) -> object:
        time.now += EVENT_S
        event = next(script)
        return LineTyped(event) if isinstance(event, str) else event

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(BackgroundSearch, "start", lambda *_: next(numbers))
        patched.setattr(play_session, "read_lines", lambda *_: None)
        patched.setattr(play_session, "next_event", next_event)
        theme = Theme(unicode=False, colour=False)
        PlaySession(game, {"white": white, "black": black}, Console(file=said), theme).run(0)
    return game.board.moves, said.getvalue()


def test_a_hint_that_comes_after_the_move_is_not_shown() -> None:
    assert "hint: d4" in play(HUMAN, HUMAN, "hint", SearchDone(1, "d2d4", None))[1]
    moves, said = play(HUMAN, HUMAN, "hint", "e4", SearchDone(1, "d2d4", None), "e5")
    assert moves == ["e2e4", "e7e5"]
    assert "hint:" not in said


def test_a_hint_that_comes_after_undo_is_not_shown() -> None:
    moves, said = play(HUMAN, HUMAN, "e4", "hint", "undo", SearchDone(1, "e7e5", None), "d4")
    assert moves == ["d2d4"]
    assert "hint:" not in said


def test_a_hint_that_comes_after_the_end_is_not_shown() -> None:
    said = play(HUMAN, HUMAN, "hint", "resign", SearchDone(1, "d2d4", None))[1]
    assert "white resigns" in said
    assert "hint:" not in said


def test_a_reply_of_the_computer_that_comes_after_undo_is_not_played() -> None:
    late, reply = SearchDone(1, "e7e5", None), SearchDone(2, "d7d5", None)
    assert play(HUMAN, COMPUTER, "e4", "undo", late, "d4", reply)[0] == ["d2d4", "d7d5"]


def test_moves_typed_early_are_forgotten_once_one_is_illegal() -> None:
    moves, said = play(HUMAN, COMPUTER, "e4", "Ke3", "Nf3", SearchDone(1, "e7e5", None), "d4")
    assert moves == ["e2e4", "e7e5", "d2d4"]
    assert "'Ke3' is not a legal move here" in said


def test_a_move_that_the_computer_finds_too_late_is_not_played() -> None:
    moves, said = play(COMPUTER, HUMAN, *["fen"] * (BASE_S // EVENT_S), SearchDone(1, "e2e4", None))
    assert moves == []
    assert "0-1  white's time is up, black wins" in said
