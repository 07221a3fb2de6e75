"""Who is at the board, and when the game of an absent player can be claimed."""

from dataclasses import replace

import pytest

from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Color, Variant
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.presence import OpponentGone, Presence
from lichessbot.rehearsal.rules.setup import GameSetup
from lichessbot.rehearsal.rules.timing import Timing
from tests.lichessbot.rehearsal.rules import games
from tests.lichessbot.rehearsal.rules.games import BLACK, WHITE

LAPSE_MS = 1000
SETUP = replace(games.SETUP, time_control=RealTime(180, 0))


def game(setup: GameSetup = SETUP, fen: str | None = None) -> Game:
    """A game in which both have moved."""
    it = games.game(setup, fen=fen)
    for _ in range(2):
        it.play(it.turn, it.board().legal_moves()[0], 0)
    return it


def first_claim_ms(it: Game, leaver: Color) -> int:
    """How long after leaving the game can be claimed, in steps of a quarter second."""
    presence = Presence(Timing())
    presence.leave(leaver, 0)
    return next(ms for ms in range(0, 200_000, 250) if presence.is_claimable(leaver, it, ms)) - LAPSE_MS


def test_present_players_cannot_be_claimed_against() -> None:
    presence = Presence(Timing())
    assert presence.look(game(), 10**6) == []
    assert not presence.is_claimable(BLACK, game(), 10**6)


@pytest.mark.parametrize(("limit_s", "wait_s"), [(60, 40), (180, 40), (600, 80), (1800, 120)])
def test_claim_takes_longer_in_slower_games(limit_s: int, wait_s: int) -> None:
    it = game(replace(SETUP, time_control=RealTime(limit_s, 0)))
    assert first_claim_ms(it, BLACK) == 1000 * wait_s


def test_claim_comes_sooner_when_the_leaver_is_four_pawns_down() -> None:
    down_five = "4k3/8/8/8/8/8/3P4/R3K3 w - - 0 1"
    assert first_claim_ms(game(fen=down_five), BLACK) == pytest.approx(40_000 / 3, abs=250)
    assert first_claim_ms(game(fen=down_five), WHITE) == 40_000


def test_material_shortens_no_wait_where_it_says_little() -> None:
    antichess = replace(SETUP, variant=Variant.ANTICHESS, initial_fen="4k3/8/8/8/8/8/3P4/R3K3 w - - 0 1")
    assert [first_claim_ms(game(antichess), leaver) for leaver in Color] == [40_000, 40_000]


def test_an_absence_is_announced_after_five_seconds_and_counted_down_to_zero_which_is_repeated() -> None:
    presence, it = Presence(Timing()), game()
    presence.leave(BLACK, 0)
    assert presence.look(it, 5_000) == []
    told = [line for at_ms in range(6_000, 50_000, 5_000) for line in presence.look(it, at_ms)]
    assert told[0] == OpponentGone(WHITE, gone=True, claim_win_in_s=35)
    assert [line.claim_win_in_s for line in told] == [35, 30, 25, 20, 15, 10, 5, 0, 0]


@pytest.mark.parametrize("limit_s", [45, 60])
def test_the_count_goes_on_while_the_clock_of_the_absent_player_runs(limit_s: int) -> None:
    presence, it = Presence(Timing()), game(replace(SETUP, time_control=RealTime(limit_s, 0)))
    presence.leave(it.turn, 0)
    told = [line.claim_win_in_s for at_ms in range(6_000, 42_000, 5_000) for line in presence.look(it, at_ms)]
    assert told == [35, 30, 25, 20, 15, 10, 5, 0]


def test_a_game_that_can_be_claimed_is_announced_whatever_the_clock_shows() -> None:
    presence, it = Presence(Timing()), game(replace(SETUP, time_control=RealTime(3, 0)))
    presence.leave(it.turn.other, 0)
    told = [line for at_ms in range(6_000, 42_000, 5_000) for line in presence.look(it, at_ms)]
    assert told == [OpponentGone(it.turn, gone=True, claim_win_in_s=0)]


def test_the_time_until_a_claim_is_rounded_down() -> None:
    presence = Presence(Timing())
    presence.leave(BLACK, 0)
    told = [line.claim_win_in_s for at_ms in (36_001, 40_500) for line in presence.look(game(), at_ms)]
    assert told == [4, 0]


def test_a_return_is_announced_once_and_only_if_the_game_could_be_claimed() -> None:
    presence, it = Presence(Timing()), game()
    presence.leave(BLACK, 0)
    assert presence.look(it, 36_000) == [OpponentGone(WHITE, gone=True, claim_win_in_s=5)]
    assert presence.arrive(BLACK, it, 40_000) == []
    presence.leave(BLACK, 40_000)
    presence.look(it, 81_000)
    assert presence.arrive(BLACK, it, 82_000) == [OpponentGone(WHITE, gone=False)]
    assert presence.arrive(BLACK, it, 83_000) == []
    assert not presence.is_claimable(BLACK, it, 10**6)


@pytest.mark.parametrize("limit_s", [30, 44])
def test_no_absence_is_announced_if_the_clock_ends_before_a_claim_or_soon_after(limit_s: int) -> None:
    it = game(replace(SETUP, time_control=RealTime(limit_s, 0)))
    presence = Presence(Timing())
    presence.leave(it.turn, 0)
    assert [line for at_ms in range(1_000, 31_000, 1_000) for line in presence.look(it, at_ms)] == []


def test_no_absence_is_announced_before_both_have_moved() -> None:
    presence = Presence(Timing())
    presence.leave(BLACK, 0)
    assert presence.look(Game(SETUP, 0), 20_000) == []
