"""At which level a game is played, what that changes beside the engine's options, and which level is proposed."""

from dataclasses import replace
from typing import Any

import pytest

from lichessbot.config import Config, EngineConfig, Strength
from lichessbot.lichess.enums import Colour, OpponentKind
from lichessbot.storage.game_records import Result, Score
from lichessbot.uci.profiles import GameFacts, describe_engine, fitted_engine_config
from lichessbot.uci.strength import FULL, LevelSuggestion, at_level, level_for, nearest_level, suggested_level
from tests.lichessbot.machines import UNKNOWN_MACHINE

LEVELS = (600, 2850)
WON, DRAWN, LOST = Result.WON, Result.DRAWN, Result.LOST
CASUAL = GameFacts("blitz", "standard", OpponentKind.HUMAN, 1480, False, False, Colour.WHITE)
FOLLOWS = EngineConfig(strength=Strength.MATCH_OPPONENT)


def level(rating: int | None, *, rated: bool = False, chosen: int | None = None, **match: int) -> int | None:
    engine = EngineConfig.model_validate({"strength": "match_opponent", "match_opponent": match})
    return level_for(engine, rated=rated, rating=rating, chosen=chosen)


@pytest.mark.parametrize(
    ("rating", "match", "expected"),
    [
        (1480, {}, 1480),
        (1480, {"offset": -120}, 1360),
        (650, {}, 800),
        (2900, {}, 2600),
        (2900, {"offset": -200, "ceiling": 3000}, 2700),
        (None, {}, 1500),
        (None, {"offset": 100}, 1600),
    ],
)
def test_the_level_follows_the_rating_within_its_bounds(
    rating: int | None, match: dict[str, int], expected: int
) -> None:
    assert level(rating, **match) == expected


def test_a_rated_game_has_one_strength_for_everybody() -> None:
    assert level(1480, rated=True) is None
    assert level(1480, rated=True, chosen=1200) is None
    fixed = EngineConfig(strength=1500)
    assert level_for(fixed, rated=True, rating=2000, chosen=1200) == 1500


def test_the_opponent_of_a_casual_game_may_choose() -> None:
    assert level(1480, chosen=1200) == 1200
    assert level(1480, chosen=FULL) is None
    assert level_for(EngineConfig(), rated=False, rating=1480, chosen=1200) == 1200


def test_beside_a_level_nothing_plays_at_full_strength() -> None:
    engine = EngineConfig.model_validate(
        {
            "polyglot": {"enabled": True, "book": {"standard": "book.bin"}},
            "lichess_bot_tbs": {"syzygy": {"enabled": True, "paths": "tables"}},
            "online_moves": {"lichess_cloud_analysis": {"enabled": True}, "online_egtb": {"enabled": True}},
        }
    )
    weak = at_level(engine, 1200)
    assert (weak.strength, weak.level, weak.ponder, weak.variety) == (1200, 1200, False, False)
    assert weak.sources == ("polyglot",)
    assert weak.polyglot.max_depth == 4
    assert at_level(engine, 1900).polyglot.max_depth == 8
    assert at_level(engine, 400).polyglot.max_depth == 0
    assert at_level(engine, None) == engine


def test_without_the_own_book_a_level_of_our_engine_does_not_use_it_either() -> None:
    engine = EngineConfig(own_book=False)
    assert at_level(engine, 1500).uci_options == {"OwnBook": False}
    assert at_level(engine, None) == engine
    assert at_level(EngineConfig(), 1500).uci_options == {}
    assert at_level(EngineConfig(command=("other",), own_book=False), 1500).uci_options == {}
    by_options = EngineConfig(own_book=False, uci_options={"UCI_LimitStrength": True, "UCI_Elo": 1700})
    assert at_level(by_options, 1700).uci_options["OwnBook"] is False
    asked_for = EngineConfig(strength=1500, uci_options={"OwnBook": True})
    assert at_level(asked_for, None).uci_options == {}, "our book is for levels"
    other = EngineConfig(command=("other",), strength=1500, uci_options={"OwnBook": False})
    assert at_level(other, None).uci_options == {"OwnBook": False}, "another engine has a book of its own"


def test_uci_options_of_the_operator_are_replaced_only_by_another_level() -> None:
    options = {"UCI_LimitStrength": True, "UCI_Elo": 1700, "Contempt": 10}
    engine = EngineConfig(uci_options=options)
    assert at_level(engine, 1700) == engine
    assert at_level(engine, 1500).uci_options == {"Contempt": 10}
    assert at_level(engine, None).uci_options == {"Contempt": 10}
    assert at_level(engine, None).level is None


def test_the_engine_of_a_game_has_its_level() -> None:
    config = Config(engine=FOLLOWS)
    assert fitted_engine_config(CASUAL, config, UNKNOWN_MACHINE).strength == 1480
    assert fitted_engine_config(replace(CASUAL, rated=True), config, UNKNOWN_MACHINE).strength is Strength.FULL
    chosen = fitted_engine_config(replace(CASUAL, chosen_level=2000), config, UNKNOWN_MACHINE)
    assert chosen.strength == 2000
    assert not chosen.ponder


@pytest.mark.parametrize("when", [{"rating": [0, 1800]}, {"opponent_name": "eve"}])
def test_no_rated_game_has_a_strength_for_this_opponent_alone(when: dict[str, Any]) -> None:
    weaker = {"when": when, "engine": {"strength": 1200, "depth": 9}}
    config = Config.model_validate({"engine": {"strength": 2000}, "profiles": [weaker]})
    casual = replace(CASUAL, opponent_name="eve")
    assert fitted_engine_config(casual, config, UNKNOWN_MACHINE).strength == 1200
    rated = fitted_engine_config(replace(casual, rated=True), config, UNKNOWN_MACHINE)
    assert (rated.strength, rated.depth) == (2000, 9)


def test_explain_names_the_level() -> None:
    assert "level 1480 by match_opponent" in describe_engine(CASUAL, Config(engine=FOLLOWS), UNKNOWN_MACHINE)
    fixed = describe_engine(CASUAL, Config(engine=EngineConfig(strength=1300)), UNKNOWN_MACHINE)
    assert "level 1300;" in fixed
    assert "level" not in describe_engine(CASUAL, Config(), UNKNOWN_MACHINE)


@pytest.mark.parametrize(("wanted", "nearest"), [(100, 600), (600, 600), (1234, 1234), (9000, 2850)])
def test_the_nearest_level_is_one_of_the_engine(wanted: int, nearest: int) -> None:
    assert nearest_level(wanted, LEVELS) == nearest


# Proposals; a result is ours


@pytest.mark.parametrize(
    ("results", "proposed"),
    [
        ([LOST] * 3, 1650),
        ([LOST] * 6, 1700),
        ([LOST] * 4 + [DRAWN], 1650),
        ([WON] * 3, 1350),
        ([WON] * 6, 1300),
        ([LOST] * 2, None),
        ([LOST, LOST, WON], None),
        ([DRAWN] * 6, None),
        ([LOST] * 3 + [WON] * 3, None),
    ],
)
def test_lopsided_results_propose_another_level(results: list[Any], proposed: int | None) -> None:
    found = suggested_level([(1500, result) for result in results], 1500, LEVELS)
    assert (None if found is None else found.level) == proposed


def test_only_the_games_against_the_latest_level_count() -> None:
    results = [(1200, LOST), (1200, LOST), (1500, LOST), (1500, LOST)]
    assert suggested_level(results, 1500, LEVELS) is None
    found = suggested_level([*results, (1500, LOST)], 1500, LEVELS)
    assert found == LevelSuggestion(1650, 1500, Score(lost=3))


@pytest.mark.parametrize(
    ("result", "now", "proposed"),
    [(LOST, 1650, None), (LOST, 1600, 1650), (LOST, 1400, 1650), (LOST, None, None), (WON, 1350, None),
     (WON, 1700, 1350)],
)  # fmt: skip
def test_nothing_is_proposed_that_this_game_has_already(result: Any, now: int | None, proposed: int | None) -> None:
    found = suggested_level([(1500, result)] * 3, now, LEVELS)
    assert (None if found is None else found.level) == proposed


def test_a_proposal_is_a_level_of_the_engine() -> None:
    assert suggested_level([(2800, LOST)] * 3, 2800, LEVELS).level == 2850
    assert suggested_level([(2850, LOST)] * 3, 2850, LEVELS) is None
    assert suggested_level([], 1500, LEVELS) is None
