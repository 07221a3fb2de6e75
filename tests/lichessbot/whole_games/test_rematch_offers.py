"""Rematches that the daemon offers and accepts, in front of the embedded Lichess."""

import time

import pytest

from lichessbot.rehearsal.players.house_bots import AnswerPolicy
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import Color, ColorChoice, DeclineReason
from tests.fakes.arena import Arena, judge


def play_one(arena: Arena, player: Account, colour: ColorChoice) -> None:
    arena.challenge(player, color=colour)
    arena.until_ended(1)


def colours(arena: Arena, player: Account) -> list[Color | None]:
    return [session.game.setup.color_of(player) for session in arena.ended]


@pytest.mark.parametrize(("colour", "title"), [(ColorChoice.WHITE, None), (ColorChoice.BLACK, "BOT")])
def test_one_rematch_is_offered_with_colours_reversed(arena: Arena, colour: ColorChoice, title: str | None) -> None:
    arena.configure("rematch: {offer: all}\n", concurrency=1, depth=2)
    arena.start()
    player = arena.player("Anna", title=title)
    play_one(arena, player, colour)
    arena.until_ended(2)
    first = Color(colour.value)
    assert colours(arena, player) == [first, Color.BLACK if first is Color.WHITE else Color.WHITE]
    judge(arena.ended[1])
    arena.until(lambda: arena.log().count("game.over") == 2)
    time.sleep(4)       # longer than the player who had Black waits
    assert arena.logged("match.challenge", times=1)


def test_a_rematch_that_is_declined_is_not_offered_again(arena: Arena) -> None:
    arena.configure("rematch: {offer: human}\n", depth=2)
    arena.start()
    player = arena.player("Anna")
    arena.hire(player, policy=AnswerPolicy(declines=DeclineReason.LATER))
    play_one(arena, player, ColorChoice.BLACK)
    arena.until(lambda: "match.declined" in arena.log())
    assert arena.logged("reason=later")
    assert arena.stop() == 0
    assert len(arena.started) == 1


def test_the_opponents_own_offer_replaces_ours(arena: Arena) -> None:
    arena.configure("rematch: {offer: all}\n", depth=2)
    arena.time_scale = 20.0     # we have Black, and wait for a minute
    arena.start()
    player = arena.player("Anna")
    play_one(arena, player, ColorChoice.WHITE)
    arena.server.call(lambda: arena.site.offer_rematch(arena.ended[0].game, player))
    arena.until_ended(2)
    assert "match.challenge" not in arena.log()
    assert colours(arena, player) == [Color.WHITE, Color.BLACK]


def test_rematches_are_accepted_as_often_in_a_row_as_configured_also_after_a_restart(arena: Arena) -> None:
    arena.configure("rematch: {accepts_in_a_row: 1}\n", depth=2)
    arena.start()
    player = arena.player("Anna")
    play_one(arena, player, ColorChoice.WHITE)
    arena.server.call(lambda: arena.site.offer_rematch(arena.ended[0].game, player))
    arena.until_ended(2)
    assert arena.stop() == 0
    arena.start()
    second = arena.server.call(lambda: arena.site.offer_rematch(arena.ended[1].game, player))
    arena.until(lambda: arena.decline_reason(second.id) is DeclineReason.LATER)
    assert arena.logged('rule="rematch.accepts_in_a_row = 1"')
    assert 'because="rematches in a row so far: 1"' in arena.log()


def test_rematches_with_humans_can_be_off(arena: Arena) -> None:
    arena.configure("rematch: {accept: bot}\n", depth=2)
    arena.start()
    player = arena.player("Anna")
    play_one(arena, player, ColorChoice.WHITE)
    offered = arena.server.call(lambda: arena.site.offer_rematch(arena.ended[0].game, player))
    arena.until(lambda: arena.decline_reason(offered.id) is DeclineReason.LATER)
    assert arena.logged('rule="rematch.accept = bot" because="it is a rematch with a human"')
