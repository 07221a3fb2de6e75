"""The challenge form: what is accepted, and one clear line for each mistake."""

from typing import Any

import pytest

from lichessbot.rehearsal.browser.challenge_form import proposal
from lichessbot.rehearsal.rules.clock import RealTime, Unlimited
from lichessbot.rehearsal.rules.enums import ColorChoice, Variant
from lichessbot.rehearsal.rules.errors import Refused

GOOD: dict[str, Any] = {"limit": 180, "increment": 2, "color": "black", "variant": "standard", "strength": "level-800"}
FEN = "7k/8/8/8/8/8/8/R5K1 w - - 0 1"


def test_a_form_becomes_the_terms_of_a_challenge() -> None:
    proposed = proposal(GOOD)
    assert proposed.terms.time_control == RealTime(180, 2)
    assert (proposed.terms.color, proposed.terms.variant, proposed.terms.rated) == (
        ColorChoice.BLACK, Variant.STANDARD, False,
    )
    assert proposed.level == 800


def test_a_short_form_means_the_configured_strength_and_any_colour() -> None:
    proposed = proposal({"unlimited": True})
    assert proposed.terms.time_control == Unlimited()
    assert proposed.terms.color is ColorChoice.RANDOM
    assert proposed.level is None


def test_a_standard_game_is_rated_without_a_clock_too() -> None:
    assert proposal({"unlimited": True, "rated": True}).terms.rated


def test_the_position_counts_only_for_games_from_a_position() -> None:
    assert proposal({**GOOD, "fen": FEN}).terms.fen is None
    assert proposal({**GOOD, "fen": f" {FEN} ", "variant": "fromPosition"}).terms.fen == FEN


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"limit": 100}, "limit: 100 s is no clock of Lichess, .*; the nearest is 90"),
        ({"limit": 20000}, "the nearest is 10800"),
        ({"limit": float("nan")}, "limit: nan s is no clock"),
        ({"limit": 10**400}, "limit: the number of seconds is too large"),
        ({"increment": -(10**400)}, "increment: the number of seconds is too large"),
        ({"limit": "180"}, "limit: a number of seconds is missing"),
        ({"limit": None}, "limit: a number of seconds is missing"),
        ({"increment": True}, "increment: a number of seconds is missing"),
        ({"increment": 181}, "increment: 181 is not a whole number of seconds from 0 to 180"),
        ({"increment": 0.5}, "increment: 0.5 is not a whole number"),
        ({"limit": 0, "increment": 0}, "a clock of 0\\+0 leaves no time to play"),
        ({"color": "whit"}, "color: 'whit' is none of random, white, black; perhaps white"),
        ({"variant": "atomc"}, "variant: 'atomc' is none of standard, chess960, .*; perhaps atomic"),
        ({"strength": "level-2700"}, "strength: 'level-2700' is none of full, .*; perhaps level-"),
        ({"rated": True}, "rated games have one strength for everybody: choose casual, or the strength as configured"),
        (
            {"rated": True, "unlimited": True, "variant": "atomic"},
            "a game of Atomic without a clock cannot be rated: choose casual, or a clock",
        ),
        ({"strength": ["x"]}, "strength: "),
        ({"variant": "fromPosition"}, "fen: a game from a position needs its FEN"),
        ({"variant": "fromPosition", "fen": 7}, "fen: a game from a position needs its FEN"),
        ({"variant": "fromPosition", "fen": "k" * 200}, "fen: a FEN has at most 120 characters"),
        ({"variant": "fromPosition", "fen": "<b>x</b>"}, "fen: invalid FEN '<b>x</b>'"),
        ({"variant": "fromPosition", "fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}, "fen: the game is over"),
        ({"variant": "fromPosition", "fen": FEN, "rated": True}, "cannot be rated: choose casual"),
    ],
)
def test_mistakes_are_named_in_one_line_with_the_nearest_choice(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(Refused, match=problem) as caught:
        proposal({**GOOD, **changes})
    assert "\n" not in str(caught.value)
