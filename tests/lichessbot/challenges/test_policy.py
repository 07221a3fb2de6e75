"""Decisions: for every rule a challenge that keeps it and one that does not, and which rule is named."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lichessbot.challenges.policy import (
    NO_HISTORY,
    Accept,
    ChallengerHistory,
    Decision,
    Ignore,
    Wait,
    decide,
    slot_holder_of,
)
from lichessbot.challenges.slots import SlotHolder
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.config import Config
from lichessbot.lichess.enums import DeclineReason, Speed
from lichessbot.lichess.models import ChallengeReceived

US = "testbot"
HUMAN_GUEST, BOT_GUEST = SlotHolder("magnus", is_bot=False), SlotHolder("stockfish", is_bot=True)
SLOW_GUEST = SlotHolder("ada", is_bot=False, has_clock=False)


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


def answer(
    config: dict[str, Any],
    games: tuple[SlotHolder, ...] = (),
    *,
    stopping: bool = False,
    paused: bool = False,
    history: ChallengerHistory = NO_HISTORY,
    **changes: Any,
) -> Decision:
    snapshot = Snapshot(Config.model_validate({"challenge": config}), US, games, stopping=stopping, paused=paused)
    return decide(received(**changes), snapshot, history)


def reason(decision: Decision) -> DeclineReason | None:
    return decision.reason if isinstance(decision, Decline) else None


def rule(decision: Decision) -> str:
    assert not isinstance(decision, Ignore)
    return decision.rule


def rated(rating: int | None, **more: Any) -> dict[str, Any]:
    return {"id": "ferdinand", "name": "Ferdinand", "rating": rating, **more}


DAYS_3 = {"speed": "correspondence", "timeControl": {"type": "correspondence", "daysPerTurn": 3}}
UNLIMITED = {"speed": "correspondence", "timeControl": {"type": "unlimited"}}
BULLET = {"speed": "bullet", "timeControl": {"type": "clock", "limit": 60, "increment": 0}}
SLOW_ON = {"time_controls": ["blitz", "correspondence"]}


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
    assert isinstance(answer({}, **changes), Accept)


@pytest.mark.parametrize(
    ("config", "changes", "expected"),
    [
        ({"accept_bot": False}, {"challenger": BOT}, DeclineReason.NO_BOT),
        ({"only_bot": True}, {}, DeclineReason.ONLY_BOT),
        ({"only_bot": True}, {"challenger": None}, DeclineReason.ONLY_BOT),
        ({"time_controls": ["rapid", "correspondence"]}, {}, DeclineReason.TOO_FAST),
        ({"time_controls": ["bullet", "2+0"]}, {}, DeclineReason.TOO_SLOW),
        ({"time_controls": ["bullet", "rapid"]}, {}, DeclineReason.TIME_CONTROL),
        ({"time_controls": ["bullet", "5+0"]}, {}, DeclineReason.TIME_CONTROL),
        ({"time_controls": ["correspondence"]}, {}, DeclineReason.TOO_FAST),
        ({"max_days": math.inf}, {"timeControl": {"type": "hourglass", "seconds": 60}}, DeclineReason.TIME_CONTROL),
        ({}, {"timeControl": {"type": "hourglass", "limit": 180, "increment": 2}}, DeclineReason.TIME_CONTROL),
        ({"max_days": math.inf}, {"timeControl": {"type": "clock", "limit": 180}}, DeclineReason.TIME_CONTROL),
        ({}, {"speed": "correspondence", "timeControl": {"type": "unlimited"}}, DeclineReason.TOO_SLOW),
        ({}, {"speed": "ultraBullet", "timeControl": clock(15, 0)}, DeclineReason.TOO_FAST),
        ({"min_base": 300}, {}, DeclineReason.TOO_FAST),
        ({"max_base": 60}, {}, DeclineReason.TOO_SLOW),
        ({"min_increment": 3}, {}, DeclineReason.TOO_FAST),
        ({"max_increment": 1}, {}, DeclineReason.TOO_SLOW),
        ({}, {"variant": {"key": "duck"}}, DeclineReason.VARIANT),
        ({"variants": ["standard", "horde"]}, {"variant": {"key": "atomic"}}, DeclineReason.VARIANT),
        ({}, {"variant": {"key": "atomic"}, "initialFen": "8/8/8/8/8/8/8/K6k w - - 0 1 +1+2"}, DeclineReason.VARIANT),
        ({"variants": ["standard"]}, {"variant": VARIANT_960}, DeclineReason.STANDARD),
        ({"variants": ["standard", "chess960"]}, {"variant": FROM_POSITION}, DeclineReason.VARIANT),
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


def test_a_challenge_waits_while_all_slots_are_taken() -> None:
    assert isinstance(answer({}, (HUMAN_GUEST,)), Wait)
    assert isinstance(answer({"concurrency": 2}, (HUMAN_GUEST,)), Accept)
    assert isinstance(answer({"concurrency": 2}, (HUMAN_GUEST,) * 3), Wait)


def test_a_stopping_bot_declines_with_later() -> None:
    assert reason(answer({}, stopping=True)) == DeclineReason.LATER
    assert reason(answer({}, paused=True)) == DeclineReason.LATER
    assert rule(answer({}, paused=True)) == "lichessbot pause"


def test_a_player_blocked_by_command_is_declined_like_one_on_the_list() -> None:
    decision = answer({}, history=replace(NO_HISTORY, is_blocked=True))
    assert (reason(decision), rule(decision)) == (DeclineReason.GENERIC, "lichessbot block ferdinand")


def test_reasons_that_the_challenger_can_change_come_before_later() -> None:
    assert reason(answer({"accept_bot": False}, stopping=True, challenger=BOT)) == DeclineReason.NO_BOT
    assert reason(answer({"max_base": 60}, stopping=True)) == DeclineReason.TOO_SLOW
    assert reason(answer({"modes": ["casual"]}, stopping=True)) == DeclineReason.CASUAL
    assert reason(answer({"block_list": ["ferdinand"]}, stopping=True)) == DeclineReason.GENERIC


def test_the_challenger_is_checked_before_clock_variant_and_mode() -> None:
    config = {"accept_bot": False, "max_base": 60, "variants": ["chess960"], "modes": ["casual"]}
    assert reason(answer(config, challenger=BOT)) == DeclineReason.NO_BOT
    assert reason(answer(config)) == DeclineReason.TOO_SLOW
    assert reason(answer({**config, "max_base": 1800})) == DeclineReason.VARIANT
    assert reason(answer({"modes": ["casual"]})) == DeclineReason.CASUAL


def test_the_bounds_themselves_are_accepted() -> None:
    config = {"min_base": 180, "max_base": 180, "min_increment": 2, "max_increment": 2}
    assert isinstance(answer(config), Accept)


def test_the_echo_of_our_own_challenge_is_ignored() -> None:
    assert isinstance(answer({}, challenger={"id": US, "name": "TestBot", "title": "BOT"}), Ignore)


@pytest.mark.parametrize("status", ["offline", "canceled", "declined", "accepted"])
def test_a_settled_challenge_is_ignored(status: str) -> None:
    assert isinstance(answer({}, status=status), Ignore)


def test_a_replayed_challenge_has_no_compat_and_is_accepted() -> None:
    assert isinstance(answer({}, compat=None), Accept)


# Clocks


@pytest.mark.parametrize(
    ("config", "changes", "expected", "deciding"),
    [
        ({"time_controls": ["3+2"]}, {}, None, ""),
        ({"time_controls": ["3+1"]}, {}, DeclineReason.TIME_CONTROL, "challenge.time_controls = [3+1]"),
        ({"time_controls": ["1+0", "rapid"]}, BULLET, None, ""),
        ({"bullet_requires_increment": True}, BULLET, None, ""),
        (
            {"bullet_requires_increment": True},
            {**BULLET, "challenger": BOT},
            DeclineReason.TOO_FAST,
            "challenge.bullet_requires_increment = true",
        ),
        ({"bullet_requires_increment": True}, {"challenger": BOT, "timeControl": clock(180, 0)}, None, ""),
        ({"human": {"bullet_requires_increment": True}}, BULLET, DeclineReason.TOO_FAST, None),
        ({"human": {"bullet_requires_increment": True}}, {**BULLET, "timeControl": clock(60, 1)}, None, ""),
        # 180 x 1.33 + 2 x 105 = 449.4 s
        ({"max_estimated_game_duration": 8}, {}, None, ""),
        (
            {"max_estimated_game_duration": 7},
            {},
            DeclineReason.TOO_SLOW,
            "challenge.max_estimated_game_duration = 7",
        ),
        # 4 x 105 = 420 s
        ({"max_estimated_game_duration": 7}, {"timeControl": clock(0, 4)}, None, ""),
        ({}, DAYS_3, DeclineReason.TOO_SLOW, None),
        (SLOW_ON, DAYS_3, None, ""),
        (SLOW_ON, UNLIMITED, DeclineReason.TOO_SLOW, "challenge.max_days = 14"),
        ({**SLOW_ON, "max_days": math.inf}, UNLIMITED, None, ""),
        ({**SLOW_ON, "min_days": 3, "max_days": 3}, DAYS_3, None, ""),
        ({**SLOW_ON, "max_days": 2}, DAYS_3, DeclineReason.TOO_SLOW, "challenge.max_days = 2"),
        ({**SLOW_ON, "min_days": 5}, DAYS_3, DeclineReason.TOO_FAST, "challenge.min_days = 5"),
        ({**SLOW_ON, "max_base": 60, "max_estimated_game_duration": 1}, DAYS_3, None, ""),
    ],
)
def test_clocks_and_days(
    config: dict[str, Any], changes: dict[str, Any], expected: DeclineReason | None, deciding: str | None
) -> None:
    decision = answer(config, **changes)
    assert reason(decision) == expected
    assert not deciding or rule(decision) == deciding


# Players


@pytest.mark.parametrize(
    ("config", "challenger", "deciding"),
    [
        ({}, rated(1500), None),
        ({"min_rating": 1500, "max_rating": 1500}, rated(1500), None),
        ({"min_rating": 1501}, rated(1500), "challenge.min_rating = 1501"),
        ({"max_rating": 1499}, rated(1500), "challenge.max_rating = 1499"),
        ({"rating_difference": 300}, rated(1700), None),
        ({"rating_difference": 299}, rated(1700), "challenge.rating_difference = 299"),
        ({"rating_difference": 299}, rated(2300), "challenge.rating_difference = 299"),
        ({}, rated(None), None),
        ({"min_rating": 1}, rated(None), "challenge.min_rating = 1"),
        ({"max_rating": 3999}, rated(None), "challenge.max_rating = 3999"),
        ({"rating_difference": 4000}, None, "challenge.rating_difference = 4000"),
        ({"bot": {"min_rating": 1600}}, rated(1500), None),
        ({"bot": {"min_rating": 1600}}, rated(1500, title="BOT"), "challenge.bot.min_rating = 1600"),
        ({"human": {"max_rating": 1400}}, rated(1500), "challenge.human.max_rating = 1400"),
        ({"block_list": ["FerdiNand", "other"]}, rated(1500), "challenge.block_list has ferdinand"),
        ({"allow_list": ["FERDINAND"]}, rated(1500), None),
        ({"allow_list": ["other"]}, rated(1500), "challenge.allow_list lacks ferdinand"),
        ({"allow_list": ["other"]}, None, "challenge.allow_list lacks an anonymous player"),
        ({"bot": {"allow_list": ["other"]}}, rated(1500), None),
        ({"bot": {"allow_list": ["other"]}}, rated(1500, title="BOT"), "challenge.bot.allow_list lacks ferdinand"),
    ],
)
def test_players_we_do_not_want_hear_a_general_reason(
    config: dict[str, Any], challenger: dict[str, Any] | None, deciding: str | None
) -> None:
    decision = answer(config, challenger=challenger, destUser={"id": US, "name": "TestBot", "rating": 2000})
    assert reason(decision) == (DeclineReason.GENERIC if deciding else None)
    assert deciding is None or rule(decision) == deciding


def test_without_our_own_rating_no_difference_is_too_large() -> None:
    assert isinstance(answer({"rating_difference": 1}, challenger=rated(1500)), Accept)


def test_an_online_list_is_named() -> None:
    decision = answer({}, history=replace(NO_HISTORY, listed_on="https://example.com/list"))
    assert reason(decision) == DeclineReason.GENERIC
    assert rule(decision) == "challenge.online_block_list has https://example.com/list"


# Humans and bots


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"challenger": BOT}, DeclineReason.TOO_SLOW),
        ({"timeControl": clock(180, 3)}, DeclineReason.TOO_SLOW),
        ({"challenger": BOT, "timeControl": clock(60, 2)}, DeclineReason.CASUAL),
        ({"challenger": BOT, "timeControl": clock(60, 2), "rated": False}, None),
    ],
)
def test_each_kind_of_challenger_has_its_own_rules(changes: dict[str, Any], expected: DeclineReason | None) -> None:
    config = {"max_increment": 2, "bot": {"max_base": 120, "modes": ["casual"]}}
    assert reason(answer(config, **changes)) == expected


def test_reserved_slots_are_for_humans() -> None:
    config = {"concurrency": 3, "games_reserved_for_humans": 1}
    assert isinstance(answer(config, (BOT_GUEST,), challenger=BOT), Accept)
    assert isinstance(answer(config, (BOT_GUEST, BOT_GUEST), challenger=BOT), Wait)
    assert isinstance(answer(config, (BOT_GUEST, BOT_GUEST)), Accept)
    assert isinstance(answer(config, (HUMAN_GUEST, HUMAN_GUEST), challenger=BOT), Accept)
    assert isinstance(answer(config, (HUMAN_GUEST,) * 3), Wait)
    assert rule(answer(config, (BOT_GUEST,) * 2, challenger=BOT)) == "challenge.games_reserved_for_humans = 1"
    assert rule(answer(config, (HUMAN_GUEST,) * 3, challenger=BOT)) == "challenge.concurrency = 3"


def test_an_objection_to_bots_is_the_answer_to_every_bot_and_to_no_human() -> None:
    objection = Decline(DeclineReason.LATER, "matchmaking.bot_games_per_day = 1", "all of them are used up")
    snapshot = Snapshot(Config(), US, objection_to_bots=objection)
    assert decide(received(challenger=BOT), snapshot, NO_HISTORY) == objection
    assert isinstance(decide(received(), snapshot, NO_HISTORY), Accept)


def test_bots_leave_the_next_slot_to_a_human_but_correspondence_takes_none() -> None:
    snapshot = Snapshot(Config.model_validate({"challenge": SLOW_ON}), US, humans_first=True)
    assert rule(decide(received(challenger=BOT), snapshot, NO_HISTORY)) == "humans first"
    assert isinstance(decide(received(), snapshot, NO_HISTORY), Accept)
    assert isinstance(decide(received(challenger=BOT, **DAYS_3), snapshot, NO_HISTORY), Accept)


def test_bots_without_any_slot_are_declined_with_no_bot() -> None:
    config = {"concurrency": 2, "games_reserved_for_humans": 2}
    assert reason(answer(config, challenger=BOT)) == DeclineReason.NO_BOT
    by_days = answer({**config, **SLOW_ON}, challenger=BOT, **DAYS_3)
    assert isinstance(by_days, Accept), "correspondence takes no slot"


# Busy


def test_a_player_has_only_so_many_games_at_a_time() -> None:
    config = {"concurrency": 10, "max_simultaneous_games_per_user": 2}
    same = SlotHolder("ferdinand", is_bot=False)
    assert isinstance(answer(config, (same, HUMAN_GUEST)), Accept)
    assert reason(answer(config, (same, same))) == DeclineReason.LATER
    assert isinstance(answer(config, (SlotHolder("", is_bot=False),) * 3, challenger=None), Accept)


def test_a_bot_is_accepted_only_so_often_in_a_while() -> None:
    config = {"max_recent_bot_challenges": 2, "recent_bot_challenge_age": 60}
    assert isinstance(answer(config, history=replace(NO_HISTORY, recent=1), challenger=BOT), Accept)
    assert reason(answer(config, history=replace(NO_HISTORY, recent=2), challenger=BOT)) == DeclineReason.LATER
    assert isinstance(answer(config, history=replace(NO_HISTORY, recent=2)), Accept), "humans are not counted"


def test_a_challenge_is_remembered_with_its_challenger_and_its_clock() -> None:
    assert slot_holder_of(received().challenge) == SlotHolder("ferdinand", is_bot=False)
    assert slot_holder_of(received(challenger=BOT, **DAYS_3).challenge) == SlotHolder(
        "rival", is_bot=True, has_clock=False
    )


def test_correspondence_games_take_no_slot_but_are_counted() -> None:
    config = {**SLOW_ON, "max_correspondence_games": 2}
    assert isinstance(answer(config, (HUMAN_GUEST, SLOW_GUEST), **DAYS_3), Accept)
    assert reason(answer(config, (SLOW_GUEST, SLOW_GUEST), **DAYS_3)) == DeclineReason.LATER
    assert isinstance(answer(config, (SLOW_GUEST, SLOW_GUEST)), Accept)


# Whatever comes


_NUMBERS = st.one_of(st.none(), st.integers(-(10**6), 10**6))


@given(
    challenger=st.one_of(st.none(), st.fixed_dictionaries({"id": st.text(max_size=5), "rating": _NUMBERS})),
    control=st.fixed_dictionaries({
        "type": st.sampled_from(["clock", "correspondence", "unlimited", "new"]),
        "limit": _NUMBERS, "increment": _NUMBERS, "daysPerTurn": _NUMBERS,
    }),
    speed=st.sampled_from([*Speed, "ultraBullet", "new"]),
    variant=st.sampled_from(["standard", "chess960", "fromPosition", "atomic", ""]),
    fen=st.one_of(st.none(), st.text(max_size=20)),
    guests=st.lists(st.sampled_from([HUMAN_GUEST, BOT_GUEST, SLOW_GUEST]), max_size=5),
)  # fmt: skip
def test_every_challenge_gets_an_answer_that_the_rules_bear_out(
    challenger: dict[str, Any] | None, control: dict[str, Any], speed: str, variant: str, fen: str | None,
    guests: list[SlotHolder],
) -> None:  # fmt: skip
    config = {"concurrency": 2, "time_controls": [*Speed], "min_base": 60, "max_base": 600, "min_rating": 1000}
    decision = answer(
        config, tuple(guests), challenger=challenger, timeControl=control, speed=speed, variant={"key": variant},
        initialFen=fen,
    )  # fmt: skip
    assert isinstance(decision, Accept | Wait | Decline)
    assert decision.rule
    assert decision.because
    if isinstance(decision, Accept):
        assert challenger["rating"] >= 1000
        assert speed in tuple(Speed)
        if control["limit"] is not None and control["increment"] is not None:
            assert 60 <= control["limit"] <= 600
            assert sum(guest.has_clock for guest in guests) < 2


# Odds

QUEEN_ODDS = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
TWO_GIVEN = "1nb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1"
MIDDLEGAME = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("odds", "fen", "because"),
    [
        (None, MIDDLEGAME, None),
        (["queen", "pawn"], QUEEN_ODDS, None),
        (["queen", "rook"], TWO_GIVEN, None),
        (["rook"], QUEEN_ODDS, "queen odds are not accepted"),
        (["queen"], TWO_GIVEN, "rook odds are not accepted"),
        (["queen"], MIDDLEGAME, "it does not begin with the ordinary set-up less pieces of one side"),
    ],
)
def test_only_the_odds_listed_are_accepted(odds: list[str] | None, fen: str, because: str | None) -> None:
    config = {"odds": odds} if odds else {}
    decision = answer(config, variant=FROM_POSITION, initialFen=fen, rated=False)
    if because is None:
        assert isinstance(decision, Accept)
    else:
        rule = f"challenge.odds = [{', '.join(odds or ())}]"
        assert decision == Decline(DeclineReason.VARIANT, rule, because)


def test_odds_do_not_restrict_other_variants_and_may_differ_for_humans() -> None:
    assert isinstance(answer({"odds": ["pawn"]}), Accept)
    config = {"odds": ["pawn"], "human": {"odds": ["queen"]}}
    assert isinstance(answer(config, variant=FROM_POSITION, initialFen=QUEEN_ODDS, rated=False), Accept)
    decision = answer(config, variant=FROM_POSITION, initialFen=QUEEN_ODDS, rated=False, challenger=BOT)
    assert rule(decision) == "challenge.odds = [pawn]"
