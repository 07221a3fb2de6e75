"""Why a single challenge is not sent."""

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from lichessbot.challenges.slots import SlotHolder
from lichessbot.challenges.snapshot import Snapshot
from lichessbot.config import Config
from lichessbot.control.status import Limit
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import Colour, ExactClock, Variant
from lichessbot.matchmaking.objections import Objections
from lichessbot.matchmaking.selection import Proposal

LISTS: Any = SimpleNamespace(blocked=(), naming=lambda user, lists: None)


def objections(
    opponent: str,
    *,
    is_bot: bool,
    rests_until: float = 0.0,
    quota_at: float = 0.0,
    snapshot: dict[str, Any] | None = None,
    **keys: Any,
) -> list[str | None]:
    """Why a rematch and a rechallenge are not sent, where `challenge` blocks two opponents."""
    config = Config.model_validate({"challenge": {"block_list": ["robot", "anna"]}, "matchmaking": keys})
    declines: Any = SimpleNamespace(rests_until=lambda user, terms, now: rests_until)
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=True, colour=Colour.WHITE)
    it, now = Proposal(opponent, terms, is_bot=is_bot), Snapshot(config, "testbot", **(snapshot or {}))
    limits = (Limit("bot games", 3, 100), Limit("challenges", 180, 180, is_used_up=True))
    quota: Any = SimpleNamespace(single_challenge_at=lambda *_, is_bot: quota_at, limits=lambda *_: limits)
    them = Objections(quota, LISTS, declines)
    return [them.to_rematch(it, now, 0.0, 0.0), them.to_rechallenge(it, now, 0.0)]


@pytest.mark.parametrize("included", [True, False])
def test_the_block_list_of_challenges_counts_for_bots_if_matchmaking_includes_it(included: bool) -> None:
    found = objections("robot", is_bot=True, include_challenge_block_list=included)
    assert found == (["the opponent is on a block list", "robot is blocked"] if included else [None, None])


def test_the_block_list_of_challenges_counts_for_people_always() -> None:
    assert objections("anna", is_bot=False) == ["the opponent is on a block list", "anna is blocked"]


def test_a_paused_bot_does_not_say_that_its_slots_are_taken() -> None:
    assert objections("maia1", is_bot=True, snapshot={"paused": True})[0] == "no new games are taken"


def test_without_a_free_slot_neither_is_sent() -> None:
    found = objections("maia1", is_bot=True, snapshot={"games": (SlotHolder("anna", is_bot=False),)})
    assert found == ["no slot is free", "every slot is taken; try again after a game"]


@pytest.mark.parametrize("is_bot", [True, False])
def test_neither_is_sent_before_lichess_allows_another_challenge(is_bot: bool) -> None:
    why = "a quota of Lichess or of matchmaking is used up"
    found = objections("maia1", is_bot=is_bot, quota_at=inf)
    assert found == [why, f"{why}: 3 of 100 bot games; 180 of 180 challenges"]


@pytest.mark.parametrize("is_bot", [True, False])
def test_while_a_slot_is_kept_for_a_human_no_rematch_is_offered(is_bot: bool) -> None:
    found = objections("maia1", is_bot=is_bot, snapshot={"our_challenges_wait_until": inf})
    assert found == ["the slot is kept for a human", None]


@pytest.mark.parametrize(("is_bot", "objection"), [(True, "the bot declined such a challenge"), (False, None)])
def test_a_bot_that_declined_gets_no_rematch_unless_the_operator_asks(is_bot: bool, objection: str | None) -> None:
    assert objections("maia1", is_bot=is_bot, rests_until=inf) == [objection, None]
