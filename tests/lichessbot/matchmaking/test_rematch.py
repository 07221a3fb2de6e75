"""Which rematch is offered after a game, and when."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lichessbot.config.matchmaking import RematchConfig, RematchWith
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import Colour, ExactClock, GameStatus, Variant
from lichessbot.lichess.finished_game import FinishedGame
from lichessbot.lichess.models import GameFull
from lichessbot.matchmaking.rematch import PendingRematches, no_show, rematch_after
from lichessbot.matchmaking.selection import Proposal
from lichessbot.timeouts import Timeouts

GAME = "abcd1234"
TIMEOUTS = Timeouts(rematch_black_waits=timedelta(seconds=3), rematch_patience=timedelta(seconds=10))
ALL = RematchConfig(offer=RematchWith.ALL)


def finished(
    colour: Colour = Colour.WHITE, status: GameStatus = GameStatus.MATE, title: str = "", **changes: Any
) -> FinishedGame:
    state = {"moves": "e2e4 e7e5", "wtime": 1, "btime": 1, "status": "started"}
    us, them = {"id": "testbot"}, {"id": "anna", "name": "Anna", "title": title}
    white, black = (us, them) if colour is Colour.WHITE else (them, us)
    body = {"id": GAME, "variant": {"key": "standard"}, "white": white, "black": black, "state": state, "rated": True}
    full = GameFull.model_validate({**body, "clock": {"initial": 180_000, "increment": 2000}, **changes})
    return FinishedGame(full, colour, status, Colour.WHITE, 2, was_watched=True)


@pytest.mark.parametrize("colour", list(Colour))
def test_a_rematch_is_the_same_game_with_the_other_colour(colour: Colour) -> None:
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=True, colour=colour.other)
    assert rematch_after(finished(colour), ALL, 0) == Proposal("anna", terms, is_bot=False, rematch_of=GAME)


@pytest.mark.parametrize(
    ("offer", "title", "offered"),
    [
        ("none", "", False), ("none", "BOT", False),
        ("human", "", True), ("human", "GM", True), ("human", "BOT", False),
        ("bot", "", False), ("bot", "BOT", True), ("all", "", True), ("all", "BOT", True),
    ],
)  # fmt: skip
def test_rematches_are_offered_to_humans_to_bots_or_to_all(offer: str, title: str, offered: bool) -> None:
    proposal = rematch_after(finished(title=title), RematchConfig(offer=RematchWith(offer)), 0)
    assert (proposal is not None) is offered
    assert proposal is None or proposal.is_bot is (title == "BOT")


@pytest.mark.parametrize(("most", "played", "offered"), [(1, 0, True), (1, 1, False), (3, 2, True), (3, 3, False)])
def test_rematches_in_a_row_are_limited(most: int, played: int, offered: bool) -> None:
    config = RematchConfig(offer=RematchWith.ALL, offers_in_a_row=most)
    assert (rematch_after(finished(), config, played) is not None) is offered


@pytest.mark.parametrize(
    ("status", "offered"),
    [
        (GameStatus.RESIGN, True), (GameStatus.DRAW, True), (GameStatus.OUT_OF_TIME, True), (GameStatus.ABORTED, False),
        (GameStatus.NO_START, False), (GameStatus.TIMEOUT, False), (GameStatus.CHEAT, False),
    ],
)  # fmt: skip
def test_a_rematch_needs_a_game_that_was_played_to_its_end(status: GameStatus, offered: bool) -> None:
    assert (rematch_after(finished(status=status), ALL, 0) is not None) is offered


@pytest.mark.parametrize(
    ("colour", "plies", "title", "status", "is_theirs"),
    [
        (Colour.WHITE, 1, "BOT", GameStatus.ABORTED, True),
        (Colour.BLACK, 0, "BOT", GameStatus.ABORTED, True),
        (Colour.WHITE, 0, "BOT", GameStatus.ABORTED, False),
        (Colour.BLACK, 1, "BOT", GameStatus.ABORTED, False),
        (Colour.WHITE, 1, "", GameStatus.ABORTED, False),
        (Colour.WHITE, 1, "BOT", GameStatus.RESIGN, False),
    ],
)
def test_a_bot_that_never_moved_is_told_from_one_that_waited_for_us(
    colour: Colour, plies: int, title: str, status: GameStatus, is_theirs: bool
) -> None:
    game = replace(finished(colour, status, title), plies=plies)
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=True, colour=colour)
    assert no_show(game) == (Proposal("anna", terms) if is_theirs else None)
    assert no_show(replace(game, was_watched=False)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"tournamentId": "hL7vMrFQ"},
        {"clock": None},
        {"variant": {"key": "fromPosition"}},
        {"clock": {"initial": 100_000, "increment": 0}},
        {"clock": {"initial": 0, "increment": 0}},
        {"clock": {"initial": 15_000, "increment": 0}},
        {"black": {"aiLevel": 3}},
    ],
    ids=["tournament", "correspondence", "position", "odd clock", "no clock", "ultraBullet", "AI"],
)
def test_some_games_have_no_rematch(changes: dict[str, Any]) -> None:
    assert rematch_after(finished(**changes), ALL, 0) is None
    unplayed = replace(finished(status=GameStatus.ABORTED, **{"title": "BOT", **changes}), plies=1)
    assert no_show(unplayed) is None, "we would not challenge to it"


def test_a_game_that_ended_while_we_did_not_watch_has_no_rematch() -> None:
    assert rematch_after(replace(finished(), was_watched=False), ALL, 0) is None


def test_chess960_has_a_rematch() -> None:
    assert rematch_after(finished(variant={"key": "chess960"}), ALL, 0).terms.variant is Variant.CHESS960


# When


def offer(colour: Colour, opponent: str = "anna") -> Proposal:
    return Proposal(opponent, Terms(Variant.STANDARD, ExactClock(180, 2), False, colour), rematch_of=GAME)


def test_white_offers_a_rematch_at_once_and_black_a_moment_later() -> None:
    pending = PendingRematches(TIMEOUTS)
    pending.add(offer(Colour.BLACK), 100.0)
    assert pending.wake_at == 100.0
    assert pending.take(100.0) == offer(Colour.BLACK)
    assert pending.take(100.0) is None
    pending.add(offer(Colour.WHITE), 100.0)
    assert (pending.wake_at, pending.take(102.9)) == (103.0, None)
    assert pending.take(103.0) == offer(Colour.WHITE)


def test_a_rematch_is_not_offered_late() -> None:
    pending = PendingRematches(TIMEOUTS)
    pending.add(offer(Colour.BLACK), 100.0)
    assert pending.take_overdue(110.0) == []
    assert pending.take(110.1) is None
    assert pending.take_overdue(110.1) == [offer(Colour.BLACK)]
    assert pending.wake_at is None


def test_each_of_several_rematches_is_offered() -> None:
    pending = PendingRematches(TIMEOUTS)
    pending.add(offer(Colour.WHITE, "bob"), 100.0)
    pending.add(offer(Colour.BLACK), 101.0)
    assert pending.wake_at == 101.0
    assert pending.take(101.0) == offer(Colour.BLACK)
    assert (pending.wake_at, pending.take(101.0)) == (103.0, None)
    assert pending.take(103.0) == offer(Colour.WHITE, "bob")


def test_an_opponent_who_challenges_us_gets_no_offer() -> None:
    pending = PendingRematches(TIMEOUTS)
    pending.add(offer(Colour.BLACK), 100.0)
    pending.drop("somebody")
    assert pending.wake_at == 100.0
    pending.drop("anna")
    assert pending.take(100.0) is None
