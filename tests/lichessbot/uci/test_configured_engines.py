"""Which engines games may get by a configuration, and which variants the bot plays by that."""

from typing import Any

import pytest

from lichessbot.config import Config
from lichessbot.lichess.enums import Variant
from lichessbot.uci.configured_engines import configured_engines, playable_variants, with_playable_variants
from tests.lichessbot.uci.helpers import config

STANDARD_RULES = tuple(variant for variant in Variant if variant.has_standard_rules)
OWN, FAIRY = (None, None), (("fairy",), None)
ATOMIC_BY_FAIRY = ({"variant": "atomic"}, {"command": ["fairy"]})
ANNOUNCED = {OWN: STANDARD_RULES, FAIRY: tuple(Variant)}


def test_every_engine_that_a_game_may_get_is_listed_once() -> None:
    settings = config(
        ({"speed": "bullet"}, {"depth": 3}),  # the same program, and nothing it could refuse
        ({"speed": "blitz", "variant": "standard"}, {"command": ["other"]}),
        ({"opponent": "bot"}, {"uci_options": {"Skill Level": 3}}),
    )
    listed = list(configured_engines(settings))
    assert [candidate.key for candidate in listed] == ["engine", "profiles #2.engine", "profiles #3.engine"]
    assert listed[1].engine.command == ("other",)
    assert listed[1].variants == ("standard",)
    assert listed[2].variants == tuple(Variant)


@pytest.mark.parametrize(
    ("profiles", "variants"),
    [
        ([], STANDARD_RULES),
        ([({"variant": ["atomic", "horde"]}, {"command": ["fairy"]})], (*STANDARD_RULES, "atomic", "horde")),
        ([({"variant": "atomic", "speed": "bullet"}, {"command": ["fairy"]})], STANDARD_RULES),
        ([({"opponent": "bot"}, {"command": ["fairy"]})], STANDARD_RULES),
        ([({"variant": "atomic", "opponent_name": "maia1"}, {"command": ["fairy"]})], STANDARD_RULES),
        ([ATOMIC_BY_FAIRY, ({"rated": True}, {"depth": 3})], (*STANDARD_RULES, "atomic")),
        ([ATOMIC_BY_FAIRY, ({"rated": True}, {"command": ["other"]})], ()),
    ],
)
def test_a_variant_is_played_if_every_engine_that_may_get_it_announces_it(
    profiles: list[tuple[dict[str, Any], dict[str, Any]]], variants: tuple[str, ...]
) -> None:
    assert playable_variants(config(*profiles), ANNOUNCED) == variants


def test_the_default_for_the_accepted_variants_is_what_the_engines_play() -> None:
    assert with_playable_variants(Config(), STANDARD_RULES).challenge.variants == STANDARD_RULES
    narrow = config(challenge={"variants": ["standard"]})
    assert with_playable_variants(narrow, STANDARD_RULES) is narrow
    wider = config(challenge={"variants": ["standard"], "human": {"variants": None}, "bot": {"max_base": 60}})
    rules = with_playable_variants(wider, STANDARD_RULES).challenge
    assert rules.rules_for(is_bot=False).variants == STANDARD_RULES
    assert rules.rules_for(is_bot=True).variants == ("standard",)


def test_each_engine_is_tried_in_a_variant_that_it_gets() -> None:
    found = configured_engines(config(ATOMIC_BY_FAIRY, challenge={"variants": ["standard", "atomic"]}))
    assert [(it.key, it.variants) for it in found] == [("engine", ("standard",)), ("profiles #1.engine", ("atomic",))]
