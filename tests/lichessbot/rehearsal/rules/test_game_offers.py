"""Draw offers, takebacks, claims and chat in one game, as on Lichess."""

from dataclasses import replace

import pytest

from lichessbot.rehearsal.rules.clock import Correspondence, RealTime, Unlimited
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, Rule, Status
from lichessbot.rehearsal.rules.errors import InvalidForm, Refused
from lichessbot.rehearsal.rules.game import ChatLine, Line
from tests.lichessbot.rehearsal.rules.games import BLACK, HUMANS, SETUP, WHITE, game, states


def said(lines: list[Line]) -> list[str]:
    """What the players are told; spectators hear the same before."""
    told = {room: [it.text for it in lines if isinstance(it, ChatLine) and it.room is room] for room in ChatRoom}
    assert told[ChatRoom.SPECTATOR] == told[ChatRoom.PLAYER]
    return told[ChatRoom.PLAYER]


# Draw offers.


def test_offer_writes_a_state_with_the_flag_and_a_system_line() -> None:
    lines = game(moves=["e2e4", "e7e5"]).offer_draw(WHITE, 0)
    assert states(lines)[0].draw_offer is WHITE
    assert said(lines) == ["White offers draw"]


def test_accepting_an_offer_draws_the_game() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.offer_draw(WHITE, 0)
    lines = it.offer_draw(BLACK, 0)
    assert said(lines) == ["Draw offer accepted"]
    (state,) = states(lines)
    assert (state.status, state.winner) == (Status.DRAW, None)


def test_offer_is_no_longer_accepted_after_the_end() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.offer_draw(WHITE, 0)
    it.resign(WHITE, 0)
    assert it.offer_draw(BLACK, 0) == []
    assert (it.status, it.winner) == (Status.RESIGN, BLACK)


def test_offer_is_ignored_before_both_have_moved() -> None:
    assert game(moves=["e2e4"]).offer_draw(BLACK, 0) == []


def test_second_offer_is_ignored_while_the_first_is_pending() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.offer_draw(WHITE, 0)
    assert it.offer_draw(WHITE, 0) == []


def test_next_offer_is_ignored_for_twenty_plies() -> None:
    it = game(HUMANS, ["e2e4", "e7e5"])
    it.offer_draw(WHITE, 0)
    it.decline_draw(BLACK)
    quiet = ["b1c3", "b8c6", "g1f3", "g8f6", "f1e2", "f8e7", "a2a3", "a7a6", "h2h3", "h7h6"]
    for move in [*quiet, "b2b3", "b7b6", "d2d3", "d7d6", "g2g3", "g7g6", "c3d5", "c6d4", "d5c3", "d4c6"]:
        assert it.offer_draw(WHITE, 0) == []
        it.play(it.turn, move, 0)
    assert it.offer_draw(WHITE, 0) == []
    it.play(WHITE, "c1e3", 0)
    assert it.offer_draw(WHITE, 0) != []


def test_no_early_draw_holds_for_sixty_plies() -> None:
    setup = replace(HUMANS, rules=frozenset({Rule.NO_EARLY_DRAW}))
    it = game(setup, ["e2e4", "e7e5"])
    assert it.offer_draw(WHITE, 0) == []
    it.moves *= 30
    assert it.offer_draw(WHITE, 0) != []


def test_decline_writes_a_system_line_and_no_state() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.offer_draw(WHITE, 0)
    lines = it.decline_draw(BLACK)
    assert (said(lines), states(lines)) == (["Black declines draw"], [])
    assert it.state(0).draw_offer is None
    assert it.decline_draw(BLACK) == [], "there is nothing to decline any more"


def test_draw_flag_is_sticky_the_declining_move_still_shows_it() -> None:
    it = game(moves=["e2e4", "e7e5", "g1f3"])
    it.offer_draw(WHITE, 0)
    lines = it.play(BLACK, "b8c6", 0)
    assert said(lines) == ["Black declines draw"]
    (state,) = states(lines)
    assert state.draw_offer is WHITE
    assert it.state(0).draw_offer is None


def test_own_move_keeps_own_offer() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.offer_draw(WHITE, 0)
    it.play(WHITE, "g1f3", 0)
    assert it.state(0).draw_offer is WHITE


def test_offer_to_a_side_that_cannot_win_ends_the_game_as_a_claim() -> None:
    it = game(fen="4k3/8/8/8/8/8/4P3/4KR2 w - - 0 1", moves=["f1f2", "e8e7"])
    (state,) = states(it.offer_draw(WHITE, 0))
    assert (state.status, state.winner) == (Status.INSUFFICIENT_MATERIAL_CLAIM, None)


# Takebacks.


def test_takebacks_never_reach_a_bot_by_default() -> None:
    assert game(moves=["e2e4", "e7e5"]).offer_takeback(BLACK, 0) == []


def test_takeback_accepted_by_the_side_to_move_takes_one_ply() -> None:
    it = game(HUMANS, ["e2e4", "e7e5", "g1f3"])
    assert states(it.offer_takeback(WHITE, 0))[0].takeback_offer is WHITE
    (state,) = states(it.offer_takeback(BLACK, 0))
    assert state.moves == ("e2e4", "e7e5")
    assert it.turn is WHITE


def test_a_takeback_requested_on_ones_own_turn_takes_two_plies() -> None:
    it = game(HUMANS, ["e2e4", "e7e5", "g1f3", "b8c6"])
    it.offer_takeback(WHITE, 0)
    (state,) = states(it.offer_takeback(BLACK, 0))
    assert state.moves == ("e2e4", "e7e5")
    assert it.fen().startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/")


def test_a_takeback_gives_the_side_to_move_the_time_of_its_own_last_move() -> None:
    it = game(replace(HUMANS, time_control=RealTime(60, 30)), ["e2e4", "e7e5"])
    it.play(WHITE, "g1f3", 4_000)
    it.offer_takeback(WHITE, 5_000)
    (state,) = states(it.offer_takeback(BLACK, 9_000))
    assert (state.white_ms, state.black_ms) == (86_000, 60_000), "White keeps its increment, as on Lichess"
    assert it.state(10_000).white_ms == 85_000
    it.play(WHITE, "g1f3", 10_000)
    it.play(BLACK, "b8c6", 12_000)
    it.offer_takeback(WHITE, 15_000)
    (state,) = states(it.offer_takeback(BLACK, 15_000))
    assert (state.moves, state.white_ms, state.black_ms) == (("e2e4", "e7e5"), 115_000, 60_000)
    assert it.clock_history_ms == [60_000, 60_000]


def test_a_takeback_of_the_first_move_gives_the_initial_time_and_the_clock_goes_on() -> None:
    it = game(replace(HUMANS, time_control=RealTime(60, 2)), ["e2e4", "e7e5"])
    (state,) = states(it.offer_takeback(BLACK, 0) and it.offer_takeback(WHITE, 7_000))
    assert (state.moves, state.white_ms, state.black_ms) == (("e2e4",), 60_000, 60_000)
    (state,) = states(it.play(BLACK, "d7d5", 17_000))
    assert (state.white_ms, state.black_ms) == (60_000, 52_000)
    assert states(it.offer_takeback(WHITE, 17_000) and it.offer_takeback(BLACK, 17_000))[0].moves == ()
    (state,) = states(it.check_flag(77_000))
    assert (state.status, state.winner) == (Status.OUT_OF_TIME, BLACK)


def test_a_takeback_of_the_first_move_stops_the_clock_of_a_correspondence_game() -> None:
    it = game(replace(HUMANS, time_control=Correspondence(1)), ["e2e4", "e7e5"])
    assert it.offer_takeback(BLACK, 0)
    assert it.offer_takeback(WHITE, 7_000)
    assert it.clock.running is None


def test_move_of_a_position_that_was_taken_back_was_legal() -> None:
    it = game(HUMANS, ["e2e4", "d7d5"])
    it.offer_takeback(WHITE, 0)
    it.offer_takeback(BLACK, 0)
    assert it.takebacks == 1
    it.play(WHITE, "c2c4", 0)
    assert it.was_legal(WHITE, "e4d5"), "before the takeback"
    assert it.was_legal(WHITE, "g1f3"), "at the first move"
    assert not it.was_legal(BLACK, "e4d5"), "never for the other side"
    assert not it.was_legal(WHITE, "c4d5")


def test_takeback_before_both_have_moved_is_ignored() -> None:
    assert game(HUMANS, ["e2e4"]).offer_takeback(WHITE, 0) == []


@pytest.mark.parametrize(
    ("color", "text"), [(BLACK, "Black declines takeback"), (WHITE, "White cancels takeback")]
)
def test_takeback_can_be_declined_and_withdrawn(color: Color, text: str) -> None:
    it = game(HUMANS, ["e2e4", "e7e5", "g1f3"])
    it.offer_takeback(WHITE, 0)
    lines = it.decline_takeback(color, 0)
    assert states(lines)[0].takeback_offer is None
    assert said(lines) == [text]
    assert it.decline_takeback(color, 0) == [], "there is nothing to decline any more"


def test_the_state_of_a_move_still_shows_the_takeback_that_it_declines() -> None:
    it = game(HUMANS, ["e2e4", "e7e5", "g1f3"])
    it.offer_takeback(WHITE, 0)
    lines = it.play(BLACK, "b8c6", 0)
    assert [state.takeback_offer for state in states(lines)] == [WHITE, None]
    assert said(lines) == ["Black declines takeback"]


def test_an_own_move_keeps_a_request_which_then_takes_two_plies() -> None:
    it = game(HUMANS, ["e2e4", "e7e5"])
    it.offer_takeback(WHITE, 0)
    (state,) = states(it.play(WHITE, "g1f3", 0))
    assert state.takeback_offer is WHITE
    (state,) = states(it.offer_takeback(BLACK, 0))
    assert state.moves == ("e2e4",)


@pytest.mark.parametrize(
    ("moves", "color", "text"),
    [
        (["e2e4", "e7e5", "g1f3"], WHITE, "White proposes takeback (2.Nf3)"),
        (["e2e4", "e7e5", "g1f3"], BLACK, "Black proposes takeback (1...e5 2.Nf3)"),
        (["e2e4", "e7e5"], BLACK, "Black proposes takeback (1...e5)"),
        (["e2e4", "e7e5"], WHITE, "White proposes takeback (1.e4 e5)"),
    ],
)
def test_a_request_names_the_moves_to_be_taken_back(moves: list[str], color: Color, text: str) -> None:
    it = game(HUMANS, moves)
    assert said(it.offer_takeback(color, 0)) == [text]
    assert said(it.offer_takeback(color.other, 0)) == [f"{color.other.capitalize()} accepts takeback"]


# Claims.


def test_a_claim_needs_an_absent_opponent_whose_turn_it_is() -> None:
    it = game(moves=["e2e4", "e7e5", "g1f3"])
    with pytest.raises(Refused, match="You cannot claim the win on this game"):
        it.claim_victory(WHITE, 0, opponent_gone=False)
    (state,) = states(it.claim_victory(WHITE, 0, opponent_gone=True))
    assert (state.status, state.winner) == (Status.TIMEOUT, WHITE)


def test_victory_claim_on_ones_own_turn_has_no_effect() -> None:
    assert game(moves=["e2e4", "e7e5"]).claim_victory(WHITE, 0, opponent_gone=True) == []


def test_victory_claim_without_a_clock_has_no_effect() -> None:
    it = game(replace(SETUP, time_control=Unlimited()), ["e2e4", "e7e5", "g1f3"])
    assert it.claim_victory(WHITE, 0, opponent_gone=True) == []


def test_victory_claim_by_a_side_that_cannot_mate_is_a_draw() -> None:
    it = game(fen="4k2r/8/8/8/8/8/8/4K3 b - - 0 1", moves=["h8h7", "e1e2"])
    (state,) = states(it.claim_victory(WHITE, 0, opponent_gone=True))
    assert (state.status, state.winner) == (Status.TIMEOUT, None)


def test_draw_claim_is_refused_on_ones_own_turn() -> None:
    with pytest.raises(Refused, match="You cannot claim draw on this game"):
        game(moves=["e2e4", "e7e5"]).claim_draw(WHITE, 0, opponent_gone=True)


def test_draw_claim_in_the_abortable_phase_has_no_effect() -> None:
    assert game(moves=["e2e4"]).claim_draw(WHITE, 0, opponent_gone=True) == []


def test_draw_claim_ends_the_game_without_a_winner() -> None:
    it = game(moves=["e2e4", "e7e5", "g1f3"])
    (state,) = states(it.claim_draw(WHITE, 0, opponent_gone=True))
    assert (state.status, state.winner) == (Status.TIMEOUT, None)


def test_nothing_can_be_claimed_where_the_rules_forbid_it() -> None:
    setup = replace(SETUP, rules=frozenset({Rule.NO_CLAIM_WIN}))
    it = game(setup, ["e2e4", "e7e5", "g1f3"])
    assert it.claim_victory(WHITE, 0, opponent_gone=True) == []
    with pytest.raises(Refused):
        it.claim_draw(WHITE, 0, opponent_gone=True)


def test_no_win_can_be_claimed_before_both_have_moved() -> None:
    assert game(moves=["e2e4"]).claim_victory(WHITE, 0, opponent_gone=True) == []


def test_claims_after_the_end_have_no_effect() -> None:
    it = game(moves=["e2e4", "e7e5", "g1f3"])
    it.resign(WHITE, 0)
    assert it.claim_victory(WHITE, 0, opponent_gone=True) == it.claim_draw(WHITE, 0, opponent_gone=True) == []
    assert (it.status, it.winner) == (Status.RESIGN, BLACK)


# Chat.


def test_own_chat_line_comes_back() -> None:
    (line,) = game().say(WHITE, ChatRoom.SPECTATOR, "hello")
    assert line == ChatLine(ChatRoom.SPECTATOR, "Ada", "hello")


@pytest.mark.parametrize("text", ["see https://example.org", "my site www.example", "visit example.com now"])
def test_links_of_bots_vanish_silently(text: str) -> None:
    assert game().say(WHITE, ChatRoom.PLAYER, text) == []
    assert game().say(BLACK, ChatRoom.PLAYER, text) != []


@pytest.mark.parametrize("text", ["", "x" * 141, "\N{GRINNING FACE}" * 71])
def test_chat_text_has_1_to_140_characters(text: str) -> None:
    with pytest.raises(InvalidForm):
        game().say(WHITE, ChatRoom.PLAYER, text)
