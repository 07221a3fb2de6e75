"""Rematches against an opponent who always answers alike: Lichess does not rate a game that repeats an earlier one."""

import pytest

from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.enums import ColorChoice
from lichessbot.rehearsal.rules.timing import Timing
from tests.fakes.arena import PATIENCE_S, Arena

REMATCHES = 200
COMPARED = 3                       # a game and the two before it
COMPARED_PLIES = 20


@pytest.fixture
def timing() -> Timing:
    """A person would need hours for as many challenges, and Lichess counts them."""
    return Timing(tick_s=2.0, challenge_expiry_s=PATIENCE_S, minute_s=0.5)


class Parrot(GreedyOpponent):
    """Answers alike in every game."""

    def __init__(self, seed: str) -> None:
        super().__init__("the same in every game")


def play_rematches(arena: Arena, games: int) -> None:
    """Play rated games by turns with both colours; no winner and beginning comes twice in three games of a pair."""
    arena.configure(concurrency=1, depth=1)
    arena.start()
    parrot = arena.player("Parrot", Parrot)
    for number in range(games):
        color = (ColorChoice.WHITE, ColorChoice.BLACK)[number % 2]
        arena.challenge(parrot, color=color, base_s=60, rated=True)
        arena.until_ended(number + 1)
    ended = [session.game for session in arena.ended]
    courses = [(game.setup.color_of(parrot) is game.winner, tuple(game.moves[:COMPARED_PLIES])) for game in ended]
    last = [set(courses[start : start + COMPARED]) for start in range(games - COMPARED + 1)]
    assert [len(courses) for courses in last] == [COMPARED] * len(last)
    assert [game.is_rated for game in ended] == [True] * games


def test_a_rematch_does_not_repeat_one_of_the_last_two_games(arena: Arena) -> None:
    play_rematches(arena, 6)


@pytest.mark.long
def test_two_hundred_rematches_do_not_repeat_one_of_the_last_two_games(arena: Arena) -> None:
    play_rematches(arena, REMATCHES)
