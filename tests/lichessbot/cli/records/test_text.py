"""How facts about games are written in a terminal."""

from dataclasses import replace
from typing import Any

import pytest

from lichessbot.cli.records.text import clock_text, move_number, terms_text
from lichessbot.storage.game_records import GameRecord


@pytest.mark.parametrize(
    ("initial_fen", "ply", "number"),
    [
        ("", 1, "1."),
        ("", 46, "23..."),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 40", 1, "40."),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 40", 4, "41..."),
        ("4k3/4p3/8/8/8/8/4P3/4K3 b - - 3 40", 1, "40..."),
        ("4k3/4p3/8/8/8/8/4P3/4K3 b - - 3 40", 2, "41."),
        ("4k3/4p3/8/8/8/8/4P3/4K3 b - -", 2, "2."),
        ("4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 0", 1, "1..."),
        ("4k3/4p3/8/8/8/8/4P3/4K3 b - - 3+2 7 40", 1, "40..."),
        ("4k3/4p3/8/8/8/8/4P3/4K3 b - - 7 40 +0+1", 1, "40..."),
    ],
)
def test_moves_are_numbered_from_the_initial_position(initial_fen: str, ply: int, number: str) -> None:
    assert move_number(ply, initial_fen) == number


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rated": True}, "3+2 rated"),
        ({"variant": "chess960"}, "3+2 casual chess960"),
        ({"variant": "atomic", "level": 1500}, "3+2 casual atomic level 1500"),
        ({"base_s": None, "days_per_turn": 3}, "3 days casual"),
    ],
)
def test_the_terms_of_a_game_name_what_is_unusual(changes: dict[str, Any], text: str) -> None:
    game = GameRecord("game0001", 0.0, "Ada", variant="standard", base_s=180, increment_s=2)
    assert terms_text(replace(game, **changes)) == text


def test_a_clock_has_minutes_and_seconds_as_far_as_it_is_known() -> None:
    assert [clock_text(it) for it in (None, 999, 65_500.0, 3_725_000)] == ["", "0:00", "1:05", "62:05"]
