"""Why a single challenge is not sent."""

from types import SimpleNamespace
from typing import Any

import pytest

from lichessbot.challenges.snapshot import Snapshot
from lichessbot.config import Config
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import Colour, ExactClock, Variant
from lichessbot.matchmaking.objections import Objections
from lichessbot.matchmaking.selection import Proposal

QUOTA: Any = SimpleNamespace(single_challenge_at=lambda config, now_epoch_s, is_bot: 0.0)
LISTS: Any = SimpleNamespace(blocked=(), naming=lambda user, lists: None)
OPPONENTS: Any = SimpleNamespace(rests_until=lambda user, terms: 0.0)


def objections(opponent: str, *, is_bot: bool, paused: bool = False, **keys: Any) -> list[str | None]:
    """Why a rematch and a rechallenge are not sent, where `challenge` blocks two opponents."""
    config = Config.model_validate({"challenge": {"block_list": ["robot", "anna"]}, "matchmaking": keys})
    snapshot = Snapshot(config, "testbot", paused=paused)
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=True, colour=Colour.WHITE)
    it = Proposal(opponent, terms, is_bot=is_bot)
    them = Objections(QUOTA, LISTS, OPPONENTS)
    return [them.to_rematch(it, snapshot, 0.0, 0.0), them.to_rechallenge(it, snapshot, 0.0)]


@pytest.mark.parametrize("included", [True, False])
def test_the_block_list_of_challenges_counts_for_bots_if_matchmaking_includes_it(included: bool) -> None:
    found = objections("robot", is_bot=True, include_challenge_block_list=included)
    assert found == (["the opponent is on a block list", "robot is blocked"] if included else [None, None])


def test_the_block_list_of_challenges_counts_for_people_always() -> None:
    assert objections("anna", is_bot=False) == ["the opponent is on a block list", "anna is blocked"]


def test_a_paused_bot_does_not_say_that_its_slots_are_taken() -> None:
    assert objections("maia1", is_bot=True, paused=True)[0] == "no new games are taken"
