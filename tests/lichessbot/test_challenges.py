from typing import Any

import pytest

from lichessbot.challenges import Accept, Decision, Decline, Ignore, decide
from lichessbot.config import ChallengeConfig
from lichessbot.events import ChallengeReceived
from lichessbot.vocabulary import DeclineReason

US = "testbot"
ONE_FREE_SLOT = 1


def received(**changes: Any) -> ChallengeReceived:
    """A rated 3+2 standard challenge from a human, with changes."""
    challenge = {
        "id": "abcd1234",
        "status": "created",
        "challenger": {"id": "ferdinand", "name": "Ferdinand"},
        "variant": {"key": "standard"},
        "rated": True,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 180, "increment": 2},
    }
    compat = changes.pop("compat", None)
    return ChallengeReceived.model_validate({"challenge": {**challenge, **changes}, "compat": compat})


def clock(limit: int, increment: int) -> dict[str, Any]:
    return {"type": "clock", "limit": limit, "increment": increment}


BOT = {"id": "rival", "name": "Rival", "title": "BOT"}
VARIANT_960 = {"key": "chess960"}
FROM_POSITION = {"key": "fromPosition"}


def answer(config: dict[str, Any], free_slots: int = ONE_FREE_SLOT, **changes: Any) -> Decision:
    return decide(received(**changes), ChallengeConfig.model_validate(config), US, free_slots)


def reason(decision: Decision) -> DeclineReason | None:
    return decision.reason if isinstance(decision, Decline) else None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rated": False},
        {"challenger": BOT},
        {"challenger": None},
        {"speed": "bullet", "timeControl": clock(60, 0)},
        {"variant": VARIANT_960, "initialFen": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"},
        {"variant": FROM_POSITION, "rated": False, "initialFen": "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"},
        {"compat": {"bot": True, "board": False}},
    ],
)
def test_the_defaults_accept_what_the_engine_can_play(changes: dict[str, Any]) -> None:
    assert answer({}, **changes) == Accept()


@pytest.mark.parametrize(
    ("config", "changes", "expected"),
    [
        ({"accept_bot": False}, {"challenger": BOT}, DeclineReason.NO_BOT),
        ({"only_bot": True}, {}, DeclineReason.ONLY_BOT),
        ({"only_bot": True}, {"challenger": None}, DeclineReason.ONLY_BOT),
        ({"time_controls": ["rapid"]}, {}, DeclineReason.TIME_CONTROL),
        ({}, {"speed": "correspondence", "timeControl": {"type": "unlimited"}}, DeclineReason.TIME_CONTROL),
        (
            {},
            {"speed": "correspondence", "timeControl": {"type": "correspondence", "daysPerTurn": 2}},
            DeclineReason.TIME_CONTROL,
        ),
        ({}, {"speed": "ultraBullet", "timeControl": clock(15, 0)}, DeclineReason.TIME_CONTROL),
        ({"min_base": 300}, {}, DeclineReason.TOO_FAST),
        ({"max_base": 60}, {}, DeclineReason.TOO_SLOW),
        ({"min_increment": 3}, {}, DeclineReason.TOO_FAST),
        ({"max_increment": 1}, {}, DeclineReason.TOO_SLOW),
        ({}, {"variant": {"key": "atomic"}}, DeclineReason.VARIANT),
        ({"variants": ["standard"]}, {"variant": VARIANT_960}, DeclineReason.VARIANT),
        ({}, {"variant": FROM_POSITION, "initialFen": "not a position"}, DeclineReason.VARIANT),
        ({}, {"variant": FROM_POSITION, "initialFen": "8/8/8/8/8/8/8/4K3 w - - 0 1"}, DeclineReason.VARIANT),
        ({}, {"variant": FROM_POSITION, "initialFen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}, DeclineReason.VARIANT),
        ({"modes": ["casual"]}, {"rated": True}, DeclineReason.CASUAL),
        ({"modes": ["rated"]}, {"rated": False}, DeclineReason.RATED),
        ({}, {"rules": ["noAbort"]}, DeclineReason.GENERIC),
        ({}, {"compat": {"bot": False}}, DeclineReason.GENERIC),
    ],
)
def test_a_decline_says_what_to_change(
    config: dict[str, Any], changes: dict[str, Any], expected: DeclineReason
) -> None:
    assert reason(answer(config, **changes)) == expected


def test_a_position_without_a_legal_move_is_declined() -> None:
    stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    assert reason(answer({}, variant=FROM_POSITION, initialFen=stalemate)) == DeclineReason.VARIANT


@pytest.mark.parametrize("free_slots", [0, -1])
def test_a_full_house_declines_later(free_slots: int) -> None:
    assert reason(answer({}, free_slots)) == DeclineReason.LATER


def test_reasons_the_challenger_can_mend_come_before_later() -> None:
    assert reason(answer({"accept_bot": False}, 0, challenger=BOT)) == DeclineReason.NO_BOT
    assert reason(answer({"max_base": 60}, 0)) == DeclineReason.TOO_SLOW
    assert reason(answer({"modes": ["casual"]}, 0)) == DeclineReason.CASUAL


def test_who_comes_before_clock_before_variant_before_mode() -> None:
    config = {"accept_bot": False, "max_base": 60, "variants": ["chess960"], "modes": ["casual"]}
    assert reason(answer(config, challenger=BOT)) == DeclineReason.NO_BOT
    assert reason(answer(config)) == DeclineReason.TOO_SLOW
    assert reason(answer({**config, "max_base": 1800})) == DeclineReason.VARIANT
    assert reason(answer({"modes": ["casual"]})) == DeclineReason.CASUAL


def test_the_bounds_themselves_are_accepted() -> None:
    config = {"min_base": 180, "max_base": 180, "min_increment": 2, "max_increment": 2}
    assert answer(config) == Accept()


def test_the_echo_of_our_own_challenge_is_ignored() -> None:
    assert isinstance(answer({}, challenger={"id": US, "name": "TestBot", "title": "BOT"}), Ignore)


@pytest.mark.parametrize("status", ["offline", "canceled", "declined", "accepted"])
def test_a_settled_challenge_is_ignored(status: str) -> None:
    assert isinstance(answer({}, status=status), Ignore)


def test_a_replayed_challenge_has_no_compat_and_is_accepted() -> None:
    assert answer({}, compat=None) == Accept()
