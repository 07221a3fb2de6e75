"""What a person sees: live boards on a terminal, one plain line for each event elsewhere."""

import io
from collections import Counter
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from engine.facade import Board
from engine.terminal.board_view import Theme
from lichessbot.rehearsal.cli.display import (
    GameView,
    LiveDisplay,
    MatchView,
    PlainDisplay,
    screen,
    show_results,
    show_scores,
)
from lichessbot.rehearsal.cli.match import Outcome, Pairing
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import Color


def position(*moves: str) -> Board:
    return Board().after(*moves)


GAME = GameView(
    title="game 1",
    board=position("e2e4", "e7e5", "g1f3", "b8c6"),
    names={Color.WHITE: "Ada", Color.BLACK: "Hal"},
    clocks_ms={Color.WHITE: 61_000, Color.BLACK: 9_950},
    bot_color=Color.BLACK,
    evaluation_cp=-35,
)


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    return Console(file=written, force_terminal=terminal, width=100, color_system=None), written


def pairings() -> list[Pairing]:
    won = Pairing(1, Account("Hal", 0), Color.WHITE, outcome=Outcome.WON, reason="mate")
    failed = Pairing(2, Account("Eve", 0), Color.BLACK, outcome=Outcome.FAILED, reason="challenge not answered")
    return [won, failed]


def test_live_board_shows_both_sides_clocks_evaluation_and_progress() -> None:
    terminal, written = console(terminal=True)
    with LiveDisplay(terminal) as display:
        display.say("something happened")
        display.show(MatchView((GAME,), ended=1, games=3))
    screen = written.getvalue()
    for words in ("Ada", "Hal", "1:01", "9.9", "-0.35", "b8c6", "1 of 3 games", "something happened"):
        assert words in screen


def test_an_event_of_another_thread_does_not_disturb_the_screen_that_is_being_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal, written = console(terminal=True)
    with LiveDisplay(terminal) as display:

        def text(*things: Any, **names: Any) -> Text:
            display.say("meanwhile")
            return Text(*things, **names)

        display.say("first")
        monkeypatch.setattr("lichessbot.rehearsal.cli.display.Text", text)
        display.show(MatchView((), ended=0, games=1))
    assert "first" in written.getvalue()


def test_live_board_has_the_bots_side_at_the_bottom() -> None:
    terminal, written = console(terminal=True)
    with LiveDisplay(terminal) as display:
        display.show(MatchView((GAME,), ended=0, games=1))
    screen = written.getvalue()
    assert screen.rindex("Hal") > screen.rindex("Ada")


@pytest.mark.parametrize(("games", "height", "shown"), [(1, 24, 1), (2, 24, 2), (4, 24, 2), (8, 36, 4), (3, 10, 1)])
def test_only_as_many_boards_as_fit_are_drawn_and_all_of_each(games: int, height: int, shown: int) -> None:
    match = MatchView((GAME,) * games, ended=0, games=games)
    recent = ["a very long line " * 10] * 5
    terminal = Console(file=io.StringIO(), width=80, height=height, color_system=None)
    lines = terminal.render_lines(screen(match, recent, terminal.size, Theme.detect(terminal)))
    text = "".join(segment.text for line in lines for segment in line)
    assert text.count("move 3") == text.count("Ada") == shown
    assert (f"{games - shown} more in progress" in text) == (games > shown)
    assert len(lines) <= height or shown == 1


def test_plain_display_writes_events_only() -> None:
    plain, written = console(terminal=False)
    with PlainDisplay(plain) as display:
        display.show(MatchView((GAME,), ended=0, games=1))
        display.say("game [bold]1[/bold]: won")
    assert written.getvalue() == "game [bold]1[/bold]: won\n"


def test_scores_are_told_by_rating() -> None:
    it, written = console(terminal=False)
    flagged = Counter({Outcome.WON: 1, Outcome.FAILED: 3, Outcome.EXCUSED: 1})
    show_scores(it, {1500: Counter({Outcome.WON: 1}), 1800: Counter({Outcome.DRAWN: 2}), 2000: flagged})
    assert written.getvalue().splitlines() == [
        "against 1500: 1 game, 1 won, 0 drawn, 0 lost, 100.0 %",
        "against 1800: 2 games, 0 won, 2 drawn, 0 lost, 50.0 %",
        "against 2000: 4 games, 1 won, 0 drawn, 0 lost, 3 failed, 25.0 %",
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_results_name_every_game_with_its_outcome_and_reason(terminal: bool) -> None:
    it, written = console(terminal=terminal)
    show_results(it, pairings())
    text = written.getvalue()
    for words in ("Hal", "white", "won", "mate", "Eve", "black", "failed", "challenge not answered"):
        assert words in text
