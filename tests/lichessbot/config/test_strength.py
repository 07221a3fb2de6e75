"""The strength of the engine: its values, and the refusal of one that depends on the opponent in rated games."""

from pathlib import Path

import pytest

from lichessbot.config import Strength
from tests.lichessbot.config.conftest import load, problems

CASUAL = "challenge: {modes: [casual]}\n"
REASON = "match_opponent is for casual games only"
EVERYBODY = "and those have one strength for everybody"
PROFILE = "the profile {when: {rated: true}, engine: {strength: full}}"


def profiles(*lines: str) -> str:
    return "profiles:\n" + "".join(f"  - {line}\n" for line in lines)


def test_the_strength_is_full_a_level_or_that_of_the_opponent(file: Path) -> None:
    assert load(file, "engine: {}\n").config.engine.strength is Strength.FULL
    assert load(file, "engine: {strength: 1500}\n").config.engine.level == 1500
    engine = load(file, CASUAL + "engine: {strength: match_opponent, match_opponent: {offset: -50}}\n").config.engine
    assert engine.strength is Strength.MATCH_OPPONENT
    match = engine.match_opponent
    assert (match.offset, match.floor, match.ceiling) == (-50, 800, 2600)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("ful", "(nearest: full), found 'ful'"),
        ("match-opponent", "(nearest: match_opponent), found 'match-opponent'"),
        ("150", "(nearest: 400), found 150"),
        ("1500.5", "(nearest: 1500), found 1500.5"),
        (".inf", ", found .inf"),
        (".nan", ", found .nan"),
        ("true", ", found true"),
        ("[1500]", ", found [1500]"),
    ],
)
def test_another_strength_is_refused_with_the_nearest(file: Path, value: str, problem: str) -> None:
    expected = "1: engine.strength: expected full, match_opponent or a level from 400 to 4000"
    (found,) = problems(file, f"engine: {{strength: {value}}}\n")
    assert found == expected + (" " if problem.startswith("(") else "") + problem


def test_a_floor_above_the_ceiling_is_refused(file: Path) -> None:
    text = "engine: {match_opponent: {floor: 2000, ceiling: 1900}}\n"
    (found,) = problems(file, text)
    assert found == "1: engine.match_opponent.floor: expected at most ceiling = 1900, found 2000"


# lichess-bot's users limit the strength by UCI options.


def test_uci_options_that_limit_the_strength_are_still_obeyed(file: Path) -> None:
    text = "engine: {uci_options: {UCI_LimitStrength: true, UCI_Elo: 1700}}\n"
    engine = load(file, text).config.engine
    assert engine.uci_options == {"UCI_LimitStrength": True, "UCI_Elo": 1700}
    assert engine.level == 1700
    as_text = "engine: {uci_options: {UCI_LimitStrength: 'true', UCI_Elo: 1700.0}}\n"
    assert load(file, as_text).config.engine == engine
    assert load(file, "engine: {uci_options: {UCI_LimitStrength: false, UCI_Elo: 1700}}\n").config.engine.level is None


def test_the_strength_is_set_once(file: Path) -> None:
    text = "engine:\n  strength: 1500\n  uci_options:\n    UCI_Elo: 1700\n    Hash: 16\n"
    assert problems(file, text) == [
        "4: engine.uci_options.UCI_Elo: contradicts strength: 1500; remove one of them"
    ]
    text = "engine: {uci_options: {uci_elo: 1700}}\n" + profiles("{when: {rated: false}, engine: {strength: 1500}}")
    assert problems(file, text) == [
        "3: profiles #1.engine.strength: contradicts engine.uci_options.uci_elo; remove one of them"
    ]
    text = "engine: {strength: 1500}\n" + profiles("{when: {rated: false}, engine: {uci_options: {UCI_Elo: 1200}}}")
    assert problems(file, text) == [
        "3: profiles #1.engine.uci_options.UCI_Elo: contradicts engine.strength; remove one of them"
    ]
    other = "{when: {speed: bullet}, engine: {command: [fish], strength: 1400}}"
    load(file, "engine: {uci_options: {UCI_Elo: 1700}}\n" + profiles(other))


# Rated games


def test_a_strength_that_follows_the_opponent_is_refused_where_games_may_be_rated(file: Path) -> None:
    (found,) = problems(file, "challenge:\n  concurrency: 2\nengine:\n  strength: match_opponent\n")
    why = "challenge.modes accepts rated games"
    assert found == f"4: engine.strength: {REASON}: {why}, {EVERYBODY}; set challenge.modes: [casual], or add {PROFILE}"


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("challenge: {human: {modes: [casual]}}\n", "challenge.modes accepts rated games"),
        ("challenge: {modes: [casual], bot: {modes: [rated]}}\n", "challenge.bot.modes accepts rated games"),
        ("challenge: {modes: [rated], human: {modes: [casual]}}\n", "challenge.modes accepts rated games"),
        (CASUAL + "matchmaking: {allow_matchmaking: true, challenge_mode: rated}\n",
         "matchmaking.challenge_mode proposes rated games"),
        (CASUAL + "matchmaking: {allow_matchmaking: true, overrides: {hard: {challenge_mode: rated}}}\n",
         "matchmaking.overrides.hard.challenge_mode proposes rated games"),
        ("challenge: {accept_bot: false, human: {modes: [casual]}}\nmatchmaking: {allow_matchmaking: true}\n",
         "matchmaking.challenge_mode proposes rated games"),
        (CASUAL + "tournaments: [{id: hL7vMrFQ}]\n", "tournament games are rated"),
        (profiles("{when: {rated: true, speed: blitz}, engine: {strength: full}}"), "challenge.modes accepts"),
        (profiles("{when: {rated: true}, engine: {depth: 5}}"), "challenge.modes accepts rated games"),
        (profiles("{when: {rated: true, rating: [2000, 4000]}, engine: {depth: 5}}"), "challenge.modes accepts"),
    ],
)  # fmt: skip
def test_every_way_to_rated_games_counts(file: Path, rest: str, why: str) -> None:
    found = problems(file, rest + "engine: {strength: match_opponent}\n")
    assert [why in it for it in found] == [True], found


@pytest.mark.parametrize(
    "text",
    [
        CASUAL + "engine: {strength: match_opponent}\n",
        CASUAL + "engine: {strength: match_opponent}\nmatchmaking: {allow_matchmaking: true}\nrematch: {offer: all}\n",
        "challenge: {accept_bot: false, human: {modes: [casual]}}\nengine: {strength: match_opponent}\n",
        "challenge: {only_bot: true, bot: {modes: [casual]}}\nengine: {strength: match_opponent}\n",
        "engine: {strength: match_opponent}\n" + profiles("{when: {rated: true}, engine: {strength: full}}"),
        profiles("{when: {rated: false}, engine: {strength: match_opponent}}"),
        profiles("{when: {variant: fromPosition}, engine: {strength: match_opponent}}"),
        "challenge: {human: {modes: [casual]}}\n"
        + profiles("{when: {opponent: human, tournament: false}, engine: {strength: match_opponent}}"),
        profiles(
            "{when: {speed: [blitz, rapid]}, engine: {strength: match_opponent}}",
            "{when: {speed: [bullet, blitz, rapid], rated: true}, engine: {strength: 2000}}",
        ),
        CASUAL
        + "matchmaking: {allow_matchmaking: true, challenge_mode: rated}\n"
        + profiles("{when: {tournament: true}, engine: {strength: match_opponent}}"),
        profiles("{when: {speed: bullet}, engine: {strength: 1800}}"),
        profiles("{when: {rating: [2000, 4000]}, engine: {strength: full, depth: 9}}"),
        "engine: {strength: 1800}\n" + profiles("{when: {rating: [2000, 4000]}, engine: {strength: 1800}}"),
    ],
)
def test_one_strength_for_everybody_in_rated_games_is_accepted(file: Path, text: str) -> None:
    load(file, text)


def test_a_later_strength_for_some_of_the_games_does_not_cure_an_earlier_one_for_more(file: Path) -> None:
    earlier = "{when: {speed: [blitz, rapid]}, engine: {strength: match_opponent}}"
    (found,) = problems(file, profiles(earlier, "{when: {speed: [bullet, blitz]}, engine: {strength: 2000}}"))
    assert "challenge.modes accepts rated games" in found


@pytest.mark.parametrize("kind", ["human", "bot"])
def test_another_strength_for_people_or_bots_is_for_casual_games_too(file: Path, kind: str) -> None:
    text = profiles(f"{{when: {{opponent: {kind}}}, engine: {{strength: 1200}}}}")
    (found,) = problems(file, text)
    assert found.startswith("2: profiles #1.engine.strength: a strength that depends on the opponent is for casual ")
    load(file, text.replace("opponent:", "rated: false, opponent:"))
    load(file, f"engine: {{strength: 1200}}\n{text}")
    (found,) = problems(file, CASUAL + "tournaments: [{id: hL7vMrFQ}]\n" + text)
    assert "tournament games are rated" in found
    load(file, f"challenge: {{{'bot' if kind == 'human' else 'human'}: {{modes: [casual]}}}}\n{text}")


@pytest.mark.parametrize("when", ["rating: [0, 1500]", "opponent_name: maia1"])
def test_a_level_for_some_opponents_is_for_casual_games_too(file: Path, when: str) -> None:
    text = profiles(f"{{when: {{{when}}}, engine: {{strength: 1200}}}}")
    (found,) = problems(file, text)
    depends = "profiles #1.engine.strength: a strength that depends on the opponent is for casual games only"
    assert found == (
        f"2: {depends}: challenge.modes accepts rated games, and those have one strength for everybody; "
        "add rated: false to its when"
    )
    load(file, text.replace("when: {", "when: {rated: false, "))
    (found,) = problems(file, "engine: {strength: 1500}\n" + text.replace("1200", "full"))
    assert found.startswith(f"3: {depends}")
