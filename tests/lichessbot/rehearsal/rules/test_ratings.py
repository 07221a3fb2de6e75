"""What the end of a rated game says of the ratings."""

from dataclasses import replace

import pytest

from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.rules.ratings import told_rating_change
from lichessbot.rehearsal.rules.setup import GameSetup
from tests.lichessbot.rehearsal.rules.games import HUMANS, SETUP, game

MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


def change(setup: GameSetup, color: Color, moves: list[str]) -> list[int | None]:
    """What is told of this game under many ids."""
    ids = [f"game{number:04}" for number in range(100)]
    return [told_rating_change(game(replace(setup, id=id_), moves), color) for id_ in ids]


@pytest.mark.parametrize(
    ("setup", "color", "points"),
    [(HUMANS, Color.WHITE, -10), (HUMANS, Color.BLACK, 10), (SETUP, Color.WHITE, -10), (SETUP, Color.BLACK, 5)],
)
def test_about_half_of_the_rated_games_tell_the_change_which_is_halved_for_people_against_bots(
    setup: GameSetup, color: Color, points: int
) -> None:
    told = change(replace(setup, rated=True), color, MATE)
    assert set(told) == {None, points}
    assert 30 <= told.count(points) <= 70
    assert set(change(setup, color, MATE)) == {None}


def test_an_aborted_game_changes_no_rating() -> None:
    it = game(replace(SETUP, rated=True, id="game0000"))
    it.abort(0)
    assert told_rating_change(it, Color.WHITE) is None
