"""Whom to challenge to what, without network: config, bots and memory in, proposals out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lichessbot.config import Config
from lichessbot.config.matchmaking import ChallengeFilter
from lichessbot.lichess.answers import Account, BotUser
from lichessbot.lichess.challenge_terms import Days, Terms
from lichessbot.lichess.enums import Colour, DeclineReason, ExactClock, Variant
from lichessbot.matchmaking.known_bots import BotGame, BotGames, Declines
from lichessbot.matchmaking.selection import MOST_PROPOSALS, SHORTLIST, Knowledge, Proposal, proposals
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store

NOW = 1_800_000_000.0
BLITZ: dict[str, Any] = {
    "challenge_initial_time": [180],
    "challenge_increment": [0],
    "challenge_variant": "standard",
}
DRAWS = 200


def bot(name: str, rating: int = 1500, category: str = "blitz", **fields: Any) -> BotUser:
    return BotUser.model_validate({"id": name, "username": name, "perfs": {category: {"rating": rating}}, **fields})


def config(challenge: dict[str, Any] | None = None, **matchmaking: Any) -> Config:
    return Config.model_validate({"challenge": challenge or {}, "matchmaking": matchmaking})


class Memory:
    """What the matchmaker would know."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(Database(folder))
        self.declines = Declines(self.store)
        self.bot_games = BotGames(self.store)
        self.has_room_for_days = True
        self.half_pair: Proposal | None = None
        self.us = Account.model_validate({"id": "us", "username": "Us", "perfs": {"blitz": {"rating": 1600}}})

    def propose(self, settings: Config, *bots: BotUser, seed: int = 0, last_type: str | None = None) -> list[Proposal]:
        blocked = {"blocked"}.__contains__
        room = self.has_room_for_days
        known = Knowledge(
            settings, self.us, bots, self.declines, self.bot_games, NOW, 3600.0, blocked, room, self.half_pair
        )
        return list(proposals(known, last_type, Random(seed)))

    def firsts(self, settings: Config, *bots: BotUser) -> Counter[str]:
        """Who comes first how often."""
        return Counter(self.propose(settings, *bots, seed=seed)[0].opponent for seed in range(DRAWS))

    def play(self, opponent: str, colour: Colour, at: float, *, ours: bool = True) -> None:
        self.bot_games.add(BotGame(f"{opponent}{at}", opponent, "blitz", colour, ours, at))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(tmp_path)
    yield memory
    memory.store.close()


def names(found: list[Proposal]) -> set[str]:
    return {proposal.opponent for proposal in found}


def test_without_a_clock_only_standard_chess_is_rated(memory: Memory) -> None:
    by_days = config({"variants": ["standard", "chess960"]}, challenge_days=[1], challenge_initial_time=[])
    drawn = [it.terms for seed in range(DRAWS) for it in memory.propose(by_days, bot("rival"), seed=seed)]
    assert {(it.variant, it.rated) for it in drawn} == {
        (Variant.STANDARD, True), (Variant.STANDARD, False), (Variant.CHESS960, False)
    }
    only_rated = {"challenge_mode": "rated", "challenge_variant": "chess960"}
    assert memory.propose(config(challenge_days=[1], challenge_initial_time=[], **only_rated), bot("rival")) == []


def test_the_shortest_clock_is_rated_in_standard_chess_only(memory: Memory) -> None:
    """Lichess silently makes such a challenge casual."""
    variants = {"variants": ["standard", "chess960"]}
    shortest = config(variants, challenge_initial_time=[0], challenge_increment=[1])
    drawn = [it.terms for seed in range(DRAWS) for it in memory.propose(shortest, bot("rival"), seed=seed)]
    assert {(it.variant, it.rated) for it in drawn} == {
        (Variant.STANDARD, True), (Variant.STANDARD, False), (Variant.CHESS960, False)
    }


def test_a_type_of_rated_games_draws_only_games_that_lichess_rates(memory: Memory) -> None:
    """Most draws were in vain, as if no bot were suitable."""
    settings = config(
        {"variants": ["standard", "chess960"]},
        challenge_mode="rated",
        challenge_initial_time=[0],
        challenge_increment=[1, 2],
        challenge_days=[1],
        opponent_rating_difference=None,
    )
    found = [memory.propose(settings, bot("rival"), seed=seed)[0].terms for seed in range(DRAWS)]
    assert {(it.variant, it.time_control) for it in found} == {
        (Variant.STANDARD, ExactClock(0, 1)),
        (Variant.STANDARD, ExactClock(0, 2)),
        (Variant.STANDARD, Days(1)),
        (Variant.CHESS960, ExactClock(0, 2)),
    }


def test_days_are_not_proposed_when_as_many_correspondence_games_run_as_may(memory: Memory) -> None:
    memory.has_room_for_days = False
    either = config(challenge_days=[1], challenge_initial_time=[180])
    drawn = [it.terms for seed in range(DRAWS) for it in memory.propose(either, bot("rival"), seed=seed)]
    assert drawn
    assert all(isinstance(it.time_control, ExactClock) for it in drawn)
    assert memory.propose(config(challenge_days=[1], challenge_initial_time=[]), bot("rival")) == []


def test_only_bots_within_the_rating_difference_suit(memory: Memory) -> None:
    bots = [bot("low", 1299), bot("least", 1300), bot("most", 1900), bot("high", 1901)]
    assert names(memory.propose(config(**BLITZ), *bots)) == {"least", "most"}


def test_without_a_difference_the_bounds_count(memory: Memory) -> None:
    settings = config(opponent_rating_difference=None, opponent_min_rating=1000, opponent_max_rating=1200, **BLITZ)
    bots = [bot("a", 999), bot("b", 1000), bot("c", 1200), bot("d", 1201), bot("equal", 1600)]
    assert names(memory.propose(settings, *bots)) == {"b", "c"}


def test_the_rating_is_that_of_what_is_proposed(memory: Memory) -> None:
    memory.us = Account.model_validate(
        {"id": "us", "username": "Us", "perfs": {"blitz": {"rating": 1600}, "chess960": {"rating": 2500}}}
    )
    settings = config(**BLITZ | {"challenge_variant": "chess960"})
    assert names(memory.propose(settings, bot("a", 1600), bot("b", 2500, "chess960"))) == {"b"}


@pytest.mark.parametrize(
    ("variant", "initial"), [("chess960", 2000), ("atomic", 1500), ("kingOfTheHill", 1500), ("standard", 2000)]
)
def test_a_bot_without_a_rating_has_the_one_that_bots_begin_with(memory: Memory, variant: str, initial: int) -> None:
    category = "blitz" if variant == "standard" else variant
    memory.us = Account.model_validate({"id": "us", "username": "Us", "perfs": {}})
    rated = [bot(str(rating), rating, category) for rating in (1500, 2000)]
    settings = config(**BLITZ | {"challenge_variant": variant}, opponent_rating_difference=100)
    assert names(memory.propose(settings, *rated, bot("new", 1000, "horde"))) == {str(initial), "new"}


def test_bots_that_never_played_such_games_come_last(memory: Memory) -> None:
    strangers = [bot(f"stranger{number}", 1500, "blitz") for number in range(SHORTLIST)]
    new = bot("new", perfs={"atomic": {"rating": 1500, "games": 0}})
    players = [bot(name, perfs={"atomic": {"rating": 1700, "games": 1}}) for name in ("one", "other")]
    settings = config(**BLITZ | {"challenge_variant": "atomic"})
    for seed in range(20):
        found = memory.propose(settings, *strangers, new, *players, seed=seed)
        assert names(found[:2]) == {"one", "other"}
        assert len(found) == SHORTLIST, "the others come after them"


def test_unsuitable_and_blocked_bots_are_left_out(memory: Memory) -> None:
    bots = [bot("us"), bot("closed", disabled=True), bot("cheat", tosViolation=True), bot("blocked"), bot("good")]
    assert names(memory.propose(config(**BLITZ), *bots)) == {"good"}
    assert memory.propose(config(**BLITZ)) == []


def test_what_a_bot_declined_is_not_proposed_to_it(memory: Memory) -> None:
    terms = Terms(Variant.STANDARD, ExactClock(180, 0), True)
    memory.declines.declined("rival", terms, DeclineReason.TOO_SLOW, ChallengeFilter.FINE, NOW)
    settings = config(**BLITZ)
    assert memory.propose(settings, bot("rival")) == []
    bullet = config(challenge_variant="standard", challenge_initial_time=[60], challenge_increment=[0])
    assert names(memory.propose(bullet, bot("rival"))) == {"rival"}


def test_nearer_ratings_and_new_opponents_are_likelier(memory: Memory) -> None:
    firsts = memory.firsts(config(**BLITZ), bot("near", 1600), bot("far", 1900))
    assert firsts["near"] > 2 * firsts["far"] > 0
    for number in range(4):
        memory.play("near", Colour.BLACK, NOW - 7200 - number)
    firsts = memory.firsts(config(**BLITZ), bot("near", 1600), bot("other", 1600))
    assert firsts["other"] > 2 * firsts["near"] > 0


def test_bots_can_be_too_near_whichever_bound_applies(memory: Memory) -> None:
    bots = [bot("same", 1600), bot("near", 1699), bot("least", 1700), bot("weaker", 1500), bot("far", 1901)]
    settings = config(opponent_min_rating_difference=100, **BLITZ)
    assert names(memory.propose(settings, *bots)) == {"least", "weaker"}
    settings = config(opponent_min_rating_difference=100, opponent_rating_difference=None, **BLITZ)
    assert names(memory.propose(settings, *bots)) == {"least", "weaker", "far"}


def test_bots_at_the_target_difference_are_likelier_above_us_and_below(memory: Memory) -> None:
    settings = config(opponent_target_rating_difference=300, **BLITZ)
    firsts = memory.firsts(settings, bot("same", 1600), bot("above", 1900), bot("below", 1300))
    assert firsts["above"] > 2 * firsts["same"] > 0
    assert firsts["below"] > 2 * firsts["same"]


def test_after_a_pair_a_bot_rests_for_so_many_games_and_pauses(memory: Memory) -> None:
    settings = config(opponent_rest_multiplier=10, challenge_timeout=5, **BLITZ)
    rest_s = 1.33 * 180 + 10 * (1.33 * 180 + 300)
    memory.play("owed", Colour.WHITE, NOW - 60)
    assert names(memory.propose(settings, bot("owed"))) == {"owed"}, "the game as Black is due"
    memory.play("rival", Colour.BLACK, NOW - rest_s + 1)
    assert memory.propose(settings, bot("rival")) == []
    assert names(memory.propose(config(**BLITZ), bot("rival"))) == {"rival"}
    bullet = config(opponent_rest_multiplier=10, **BLITZ | {"challenge_initial_time": [60]})
    assert names(memory.propose(bullet, bot("rival"))) == {"rival"}, "at another speed"
    memory.play("other", Colour.BLACK, NOW - rest_s - 1)
    assert names(memory.propose(settings, bot("other"))) == {"other"}


def test_without_pairs_a_bot_rests_after_each_game(memory: Memory) -> None:
    memory.play("rival", Colour.WHITE, NOW - 60)
    settings = config(opponent_rest_multiplier=1, challenge_color="random", **BLITZ)
    assert memory.propose(settings, bot("rival")) == []


@pytest.mark.parametrize(("preference", "preferred"), [("high", "strong"), ("low", "weak")])
def test_a_preference_makes_twice_as_likely(memory: Memory, preference: str, preferred: str) -> None:
    bots = [bot("weak", 1500), bot("strong", 1700)]
    firsts = memory.firsts(config(rating_preference=preference, **BLITZ), *bots)
    others = DRAWS - firsts[preferred]
    assert 1.4 < firsts[preferred] / others < 2.8
    firsts = memory.firsts(config(**BLITZ), *bots)
    assert 0.7 < firsts["weak"] / firsts["strong"] < 1.4


@pytest.mark.parametrize("preference", ["high", "low"])
def test_a_preference_leaves_equals_alike(memory: Memory, preference: str) -> None:
    """The last in Lichess's list was twice as likely as the first."""
    first, *_, last = names_of_equals = [f"bot{number}" for number in range(4)]
    firsts = memory.firsts(config(rating_preference=preference, **BLITZ), *map(bot, names_of_equals))
    assert firsts[last] < 1.6 * firsts[first]


def test_a_pair_is_finished_with_black_against_the_same_bot(memory: Memory) -> None:
    bots = [bot("rival", 1300), *(bot(f"near{number}", 1600) for number in range(30))]
    memory.play("rival", Colour.WHITE, NOW - 600)
    found = memory.propose(config(**BLITZ), *bots)
    assert (found[0].opponent, found[0].terms.colour) == ("rival", Colour.BLACK)
    assert {proposal.terms.colour for proposal in found[1:]} == {Colour.WHITE}
    assert len(found) in (SHORTLIST, SHORTLIST + 1)
    memory.play("rival", Colour.BLACK, NOW - 300)
    assert memory.propose(config(**BLITZ), *bots)[0].opponent != "rival"
    assert memory.propose(config(**BLITZ), bots[0])[0].terms.colour is Colour.WHITE


def test_the_second_game_of_a_pair_has_the_terms_of_the_first(memory: Memory) -> None:
    settings = config(challenge_initial_time=[60, 180, 600], challenge_increment=[0, 1, 2])
    bots = [bot("rival", 1500), *(bot(f"near{number}", 1600) for number in range(30))]
    for seed in range(20):
        memory.half_pair = None
        (first,) = memory.propose(settings, bots[0], seed=seed)
        assert first.terms.colour is Colour.WHITE
        memory.half_pair = first
        second, *others = memory.propose(settings, *bots, seed=seed + 100)
        assert second == replace(first, terms=replace(first.terms, colour=Colour.BLACK))
        assert others
        assert "rival" not in names(others)
    assert "rival" not in names(memory.propose(settings, *bots[1:]))
    assert memory.propose(config(challenge_color="random", **BLITZ), bots[0])[0].terms.colour is None


def test_the_second_game_of_a_pair_is_dropped_when_such_games_are_no_longer_played(memory: Memory) -> None:
    atomic = config({"variants": ["atomic"]}, challenge_initial_time=[180], challenge_increment=[0])
    (memory.half_pair,) = memory.propose(atomic, bot("rival"))
    reloaded = config({"variants": ["standard"]}, challenge_initial_time=[180], challenge_increment=[0])
    (found,) = memory.propose(reloaded, bot("rival"))
    assert (found.terms.variant, found.terms.colour) == (Variant.STANDARD, Colour.WHITE)
    (second,) = memory.propose(
        config({"variants": ["standard"]}, challenge_variant="atomic", challenge_increment=[0, 1]), bot("rival")
    )
    assert second == replace(memory.half_pair, terms=replace(memory.half_pair.terms, colour=Colour.BLACK))


@pytest.mark.parametrize(
    "change",
    [
        {}, {"challenge_mode": "casual"}, {"challenge_increment": [1]}, {"challenge_initial_time": [60]},
        {"challenge_color": "white"},
    ],
    ids=["none", "mode", "increment", "time", "colour"],
)  # fmt: skip
def test_the_second_game_of_a_pair_is_dropped_when_its_mode_clock_or_colour_has_gone(
    memory: Memory, change: dict[str, Any]
) -> None:
    was = {"challenge_initial_time": [180], "challenge_increment": [0], "challenge_mode": "rated"}
    (memory.half_pair,) = memory.propose(config(**was), bot("rival"))
    (found,) = memory.propose(config(**{**was, **change}), bot("rival"))
    assert found.terms.colour is (Colour.WHITE if change else Colour.BLACK)


def test_the_second_game_of_a_pair_by_days_needs_room_too(memory: Memory) -> None:
    by_days = config(challenge_days=[1], challenge_initial_time=[])
    (memory.half_pair,) = memory.propose(by_days, bot("rival"))
    memory.has_room_for_days = False
    assert memory.propose(by_days, bot("rival")) == []


def test_a_pair_broken_off_long_ago_is_not_hurried_but_the_colour_is_remembered(memory: Memory) -> None:
    memory.play("rival", Colour.WHITE, NOW - 7200)
    near = [bot(f"near{number}", 1600) for number in range(30)]
    assert memory.firsts(config(**BLITZ), bot("rival", 1300), *near)["rival"] < DRAWS / 10
    assert memory.propose(config(**BLITZ), bot("rival"))[0].terms.colour is Colour.BLACK


def test_games_that_others_began_say_nothing_about_our_colour(memory: Memory) -> None:
    memory.play("rival", Colour.WHITE, NOW - 60, ours=False)
    assert memory.propose(config(**BLITZ), bot("rival"))[0].terms.colour is Colour.WHITE


@pytest.mark.parametrize(("choice", "colour"), [("random", None), ("white", Colour.WHITE), ("black", Colour.BLACK)])
def test_the_colour_can_be_settled(memory: Memory, choice: str, colour: Colour | None) -> None:
    memory.play("rival", Colour.WHITE, NOW - 60)
    assert memory.propose(config(challenge_color=choice, **BLITZ), bot("rival"))[0].terms.colour is colour


def drawn(memory: Memory, settings: Config) -> set[Terms]:
    everybody = bot("rival", 1500)
    return {
        proposal.terms for seed in range(DRAWS) for proposal in memory.propose(settings, everybody, seed=seed)
    }


def test_random_terms_are_drawn_from_what_we_accept(memory: Memory) -> None:
    settings = config(
        {"variants": ["chess960", "standard", "fromPosition"], "modes": ["casual", "rated"]},
        challenge_initial_time=[60, 180],
        challenge_increment=[0, 1],
        opponent_rating_difference=None,
    )
    found = drawn(memory, settings)
    assert {terms.variant for terms in found} == {Variant.STANDARD, Variant.CHESS960}
    assert {terms.rated for terms in found} == {True, False}
    clocks = {terms.time_control for terms in found}
    assert clocks == {ExactClock(base, increment) for base in (60, 180) for increment in (0, 1)}
    casual = config({"modes": ["casual"]}, opponent_rating_difference=None)
    assert {terms.rated for terms in drawn(memory, casual)} == {False}
    assert {terms.rated for terms in drawn(memory, config({"modes": ["casual"]}, challenge_mode="rated"))} == {True}


def test_random_terms_obey_the_rules_for_bots(memory: Memory) -> None:
    rules = {"bot": {"modes": ["casual"], "variants": ["chess960"]}, "human": {"modes": ["rated"]}}
    found = drawn(memory, config(rules, opponent_rating_difference=None))
    assert {(terms.variant, terms.rated) for terms in found} == {(Variant.CHESS960, False)}


def test_days_are_proposed_beside_clocks_or_instead_of_them(memory: Memory) -> None:
    both = config(challenge_days=[1, 3], opponent_rating_difference=None)
    kinds = {type(terms.time_control) for terms in drawn(memory, both)}
    assert kinds == {ExactClock, Days}
    days = config(challenge_days=[1, 3], challenge_initial_time=[], opponent_rating_difference=None)
    assert {terms.time_control for terms in drawn(memory, days)} == {Days(1), Days(3)}


def test_with_from_position_only_nothing_is_proposed(memory: Memory) -> None:
    assert memory.propose(config({"variants": ["fromPosition"]}), bot("rival")) == []


OVERRIDES = {
    "slow": {"challenge_initial_time": [900], "weight": 3},
    "weak": {"opponent_rating_difference": None, "opponent_max_rating": 1000, "weight": 0},
}


def test_overrides_differ_in_what_they_name_only() -> None:
    match_types = dict(config(challenge_increment=[5], overrides=OVERRIDES).matchmaking.types())
    assert match_types["slow"].challenge_initial_time == (900,)
    assert match_types["slow"].challenge_increment == (5,)
    assert match_types["slow"].opponent_rating_difference == 300
    assert match_types["weak"].opponent_rating_difference is None
    assert match_types["weak"].challenge_initial_time == (60, 180)


def test_match_types_are_chosen_by_weight_and_never_without_any(memory: Memory) -> None:
    settings = config(overrides=OVERRIDES, opponent_rating_difference=4000)
    match_types = Counter(memory.propose(settings, bot("rival"), seed=seed)[0].match_type_name for seed in range(DRAWS))
    assert set(match_types) == {"default", "slow"}
    assert 2 < match_types["slow"] / match_types["default"] < 4.5


def test_match_types_in_sequence_and_in_turn(memory: Memory) -> None:
    match_types = {"a": {}, "b": {"opponent_min_rating": 3000, "opponent_rating_difference": None}}
    cyclic = config(selection="cyclic", overrides=match_types, **BLITZ)
    assert memory.propose(cyclic, bot("rival"))[0].match_type_name == "default"
    assert memory.propose(cyclic, bot("rival"), last_type="default")[0].match_type_name == "a"
    assert memory.propose(cyclic, bot("rival"), last_type="a")[0].match_type_name == "default", "no bot suits b"
    assert memory.propose(cyclic, bot("champion", 3100), last_type="default")[0].match_type_name == "b"
    sequential = config(selection="sequential", overrides=match_types, **BLITZ)
    assert memory.propose(sequential, bot("rival"), last_type="default")[0].match_type_name == "default"
    assert memory.propose(sequential, bot("champion", 3100))[0].match_type_name == "b"


@pytest.mark.parametrize("selection", ["sequential", "cyclic", "weighted_random"])
def test_bots_of_the_other_match_types_follow_as_those_of_the_first_may_all_be_playing(
    memory: Memory, selection: str
) -> None:
    high = {"opponent_min_rating": 3000, "opponent_rating_difference": None}
    settings = config(selection=selection, overrides={"high": high, "same": {}}, **BLITZ)
    found = memory.propose(settings, bot("rival"), bot("champion", 3100))
    assert sorted(it.opponent for it in found) == ["champion", "rival"]
    assert {it.match_type_name for it in found if it.opponent == "champion"} == {"high"}


def test_no_more_bots_are_proposed_than_one_request_for_their_statuses_may_name(memory: Memory) -> None:
    settings = config(selection="sequential", overrides={f"kind {number}": {} for number in range(20)}, **BLITZ)
    found = memory.propose(settings, *(bot(f"near{number}", 1600) for number in range(300)))
    assert len(found) == len(names(found)) == MOST_PROPOSALS
    assert [it.match_type_name for it in found[: SHORTLIST + 1]] == ["default"] * SHORTLIST + ["kind 0"]
