"""Keys about the games that the bot looks for itself: matchmaking and tournaments."""

from pathlib import Path

import pytest

from lichessbot.config import dotted_values
from tests.lichessbot.config.conftest import load, problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "matchmaking:\n  overrides:\n    easy:\n      challenge_vriant: chess960\n",
            "4: matchmaking.overrides.easy.challenge_vriant: unknown key; nearest valid key: challenge_variant",
        ),
        (
            "matchmaking:\n  overrides:\n    it: {challenge_filter: fine}\n",
            "3: matchmaking.overrides.it.challenge_filter: unknown key; it belongs to matchmaking, not to a section "
            "in it",
        ),
        (
            "matchmaking:\n  overrides:\n    it:\n      opponent_min_rating: 4000\n      opponent_max_rating: 1000\n",
            "4: matchmaking.overrides.it.opponent_min_rating: expected at most opponent_max_rating = 1000, found 4000",
        ),
        (
            "matchmaking: {challenge_initial_time: [61]}\n",
            "1: matchmaking.challenge_initial_time #1: expected 0, 15, 30, 45, 60, 90 or whole minutes up to "
            "10800 s, found 61",
        ),
        (
            "matchmaking: {challenge_initial_time: [15], challenge_increment: [0]}\n",
            "1: matchmaking.challenge_initial_time: expected 30 s or more for base + 40 increments, found 15 + 40 * 0",
        ),
        (
            "matchmaking: {challenge_initial_time: []}\n",
            "1: matchmaking.challenge_initial_time: expected a clock (challenge_increment as well) or challenge_days",
        ),
        (
            "matchmaking: {challenge_variant: atomic, challenge_days: [1], challenge_mode: rated, "
            "challenge_increment: []}\n",
            "1: matchmaking.challenge_mode: expected casual, as Lichess rates no atomic without a clock, found rated",
        ),
        (
            "matchmaking: {challenge_variant: atomic, challenge_initial_time: [0], challenge_increment: [1], "
            "challenge_mode: rated, challenge_days: [2]}\n",
            "1: matchmaking.challenge_mode: expected casual, as Lichess rates no atomic with such a clock, found rated",
        ),
        (
            "matchmaking:\n  overrides:\n    default: {weight: 2}\n",
            "3: matchmaking.overrides.default: expected another name, as the games of the section itself have this one",
        ),
        (
            "matchmaking: {weight: 0}\n",
            "1: matchmaking.weight: expected a weight above 0 here or in one of the overrides",
        ),
        (
            "matchmaking: {challenge_variant: fromPosition}\n",
            "1: matchmaking.challenge_variant: expected 'random', 'standard', 'chess960', 'crazyhouse', "
            "'kingOfTheHill', 'threeCheck', 'antichess', 'atomic', 'horde' or 'racingKings', found 'fromPosition'",
        ),
        (
            "tournaments:\n- id: hL7vMrFQ\n  pasword: sesame\n",
            "3: tournaments #1.pasword: unknown key; nearest valid key: password",
        ),
    ],
)
def test_a_problem_in_a_matchmaking_override_names_its_line(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


@pytest.mark.parametrize(
    ("keys", "noted"),
    [
        ("opponent_min_rating: 2000", ["opponent_min_rating"]),
        ("opponent_min_rating: 2000, opponent_rating_difference: null", []),
        ("opponent_min_rating: 600, opponent_max_rating: 4000", []),
        ("overrides: {easy: {opponent_max_rating: 1500}}", ["overrides.easy.opponent_max_rating"]),
        ("overrides: {easy: {opponent_max_rating: 1500, opponent_rating_difference: null}}", []),
    ],
)
def test_bounds_of_ratings_that_a_difference_overrules_are_noted(file: Path, keys: str, noted: list[str]) -> None:
    found = load(file, f"matchmaking: {{allow_matchmaking: true, {keys}}}\n").warnings
    effect = "has no effect unless opponent_rating_difference is null; it is 300"
    assert [it.removeprefix(f"{file}:1: ") for it in found] == [f"matchmaking.{key}: {effect}" for key in noted]


@pytest.mark.parametrize(
    ("keys", "noted"),
    [
        ("opponent_target_rating_difference: 301", ""),
        ("overrides: {far: {opponent_target_rating_difference: 400}}", "overrides.far."),
        ("opponent_target_rating_difference: 300", None),
        ("opponent_target_rating_difference: 400, opponent_rating_difference: 500, overrides: {a: {weight: 2}}", None),
        ("opponent_target_rating_difference: 400, opponent_rating_difference: null", None),
    ],
)
def test_a_target_beyond_the_largest_difference_is_noted(file: Path, keys: str, noted: str | None) -> None:
    found = load(file, f"matchmaking: {{allow_matchmaking: true, {keys}}}\n").warnings
    key, why = "opponent_target_rating_difference", "no bot is so far off, as opponent_rating_difference is 300"
    notes = [] if noted is None else [f"matchmaking.{noted}{key}: {why}"]
    assert [it.removeprefix(f"{file}:1: ") for it in found] == notes


def test_an_arena_may_be_named_by_its_address(file: Path) -> None:
    loaded = load(file, "tournaments: [{id: 'https://lichess.org/tournament/hL7vMrFQ'}, {id: may24bua}]\n")
    assert [it.id for it in loaded.config.tournaments] == ["hL7vMrFQ", "may24bua"]


def test_a_team_may_be_named_by_its_address_and_has_the_case_of_lichess(file: Path) -> None:
    """Lichess refused the entry: it compares ids."""
    teams = "{id: hL7vMrFQ, team: https://lichess.org/team/Coders}, {id: may24bua, team: Reds}"
    loaded = load(file, f"tournaments: [{teams}]\n")
    assert [it.team for it in loaded.config.tournaments] == ["coders", "reds"]


def test_the_password_of_a_tournament_is_never_shown(file: Path) -> None:
    loaded = load(file, "tournaments: [{id: hL7vMrFQ, password: sesame}]\n")
    assert "sesame" not in repr(loaded) + str(dotted_values(loaded.config))
    assert loaded.config.tournaments[0].password is not None
