"""The older layouts of BotLi's file: they mean what they meant, and are named as the file has them."""

import pytest

from lichessbot.lichess.enums import ExactClock, Mode, Speed
from tests.lichessbot.config.migration.conftest import Translator, left_out, those_that_matter

UNTIL_MAY_2026 = """\
engines: {}
books: {}
challenge:
  concurrency: 1
  max_takebacks: 3
  bullet_with_increment_only: true
  min_increment: 1
# max_increment: 180
  max_initial: 300
  variants:
    - standard
    - chess960
    - bughouse
  bot_time_controls:
    - bullet
    - 3+1
  human_time_controls:
    - blitz
  bot_modes:
    - rated
  human_modes:
    - casual
    - rated
"""


def test_rules_in_challenge_itself_are_those_of_humans_and_bots(translated: Translator) -> None:
    found, loaded = translated(UNTIL_MAY_2026)
    human, bot = (loaded.config.challenge.rules_for(is_bot=is_bot) for is_bot in (False, True))
    for rules in (human, bot):
        assert rules.variants == ("standard", "chess960")
        assert (rules.min_increment, rules.max_increment, rules.min_base, rules.max_base) == (1, 180, 0, 300)
    assert human.time_controls == (Speed.BLITZ,)
    assert bot.time_controls == (Speed.BULLET, ExactClock(180, 1))
    assert (human.modes, bot.modes) == ((Mode.CASUAL, Mode.RATED), (Mode.RATED,))
    assert (human.bullet_requires_increment, bot.bullet_requires_increment) == (False, True)
    assert [(it.line, it.key, it.reason) for it in found.left_out] == [
        (13, "challenge.variants #3", "bughouse is not played here"),
    ]
    assert found.origins[("challenge", "max_base")] == ("challenge", "max_initial")
    assert found.origins[("challenge", "bot", "modes")] == ("challenge", "bot_modes")


def test_time_controls_for_everybody_are_those_of_humans_and_bots(translated: Translator) -> None:
    both = "engines: {}\nbooks: {}\nchallenge: {variants: [standard], time_controls: [bullet], "
    _, loaded = translated(f"{both}bot_modes: [rated], human_modes: [casual]}}\n")
    for is_bot in (False, True):
        assert loaded.config.challenge.rules_for(is_bot=is_bot).time_controls == (Speed.BULLET,)


@pytest.mark.parametrize(("layout", "largest"), [
    ("{variants: [standard], time_controls: [blitz], bot_modes: [rated], human_modes: [rated], max_increment: 0}", 0),
    ("{human: &rules {variants: [standard], time_controls: [blitz], modes: [rated], max_increment: 0}, bot: *rules}",
     180),
])  # fmt: skip
def test_a_largest_increment_of_0_was_a_limit_until_may_2026(
    translated: Translator, layout: str, largest: int
) -> None:
    _, loaded = translated(f"engines: {{}}\nbooks: {{}}\nchallenge: {layout}\n")
    for is_bot in (False, True):
        assert loaded.config.challenge.rules_for(is_bot=is_bot).max_increment == largest


def test_a_kind_without_modes_is_shut_out(translated: Translator) -> None:
    text = UNTIL_MAY_2026.replace("  bot_modes:\n    - rated\n", "  bot_modes:\n")
    found, loaded = translated(text)
    assert not loaded.config.challenge.accept_bot
    assert left_out(found)["challenge.bot_modes"] == "none is accepted, so BotLi accepts no challenge of a bot"
    assert "challenge.bot_modes" in those_that_matter(found)
