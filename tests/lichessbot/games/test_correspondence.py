"""Which correspondence game is played next."""

from typing import Any

import pytest

from lichessbot.games.correspondence import CorrespondenceGames
from lichessbot.lichess.models import GameInfo


def game(game_id: str, *, our_turn: bool | None = True, seconds_left: int | None = 1000) -> GameInfo:
    facts: dict[str, Any] = {"gameId": game_id, "variant": {"key": "standard"}, "speed": "correspondence"}
    return GameInfo.model_validate({**facts, "isMyTurn": our_turn, "secondsLeft": seconds_left})


@pytest.fixture
def correspondence() -> CorrespondenceGames:
    return CorrespondenceGames()


def order(correspondence: CorrespondenceGames, now: float = 100.0) -> list[str]:
    """Return the games in the order in which they would be played."""
    played: list[str] = []
    while (info := correspondence.next(now, played)) is not None:
        played.append(info.game_id)
    return played


def test_the_shortest_of_time_is_played_first_and_unlimited_games_last(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("unlimited", seconds_left=None), 10.0)
    correspondence.note(game("later", seconds_left=600), 10.0)
    correspondence.note(game("soon", seconds_left=60), 10.0)
    correspondence.note(game("theirs", our_turn=False, seconds_left=5), 10.0)
    assert order(correspondence) == ["soon", "later", "unlimited"]
    assert len(correspondence) == 4


def test_among_those_with_time_the_longest_waiting_goes_first(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("unlimited", seconds_left=None), 10.0)
    correspondence.note(game("quick", seconds_left=86400), 20.0)
    correspondence.note(game("fortnight", seconds_left=14 * 86400), 15.0)
    correspondence.note(game("unlimited", seconds_left=None), 30.0)  # seen again: it waits since it was seen first
    correspondence.note(game("inneed", seconds_left=3000), 40.0)
    assert order(correspondence) == ["inneed", "unlimited", "fortnight", "quick"]


def test_no_game_loses_on_time_while_others_with_more_of_it_are_played(correspondence: CorrespondenceGames) -> None:
    for number in range(99):
        correspondence.note(game(f"days{number}", seconds_left=2 * 86400), 0.0)
    correspondence.note(game("anhour", seconds_left=4000), 0.0)
    correspondence.note(game("unlimited", seconds_left=None), -10.0)
    assert order(correspondence)[:2] == ["anhour", "unlimited"]


def test_of_games_that_are_listed_at_once_the_one_with_the_shortest_time_left_goes_first(
    correspondence: CorrespondenceGames,
) -> None:
    for days in (14, 2, 5):
        correspondence.note(game(f"days{days}", seconds_left=days * 86400), 10.0)
    assert order(correspondence) == ["days2", "days5", "days14"]


def test_time_left_counts_from_when_it_was_seen(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("later", seconds_left=50), 60.0)
    correspondence.note(game("earlier", seconds_left=80), 10.0)
    assert order(correspondence) == ["earlier", "later"]


def test_a_game_with_an_unknown_turn_is_visited(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("unclear", our_turn=None), 10.0)
    assert order(correspondence) == ["unclear"]


def test_a_game_that_ended_is_visited_though_no_list_shows_it(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("a", our_turn=False), 10.0)
    correspondence.revisit("a", 20.0)
    correspondence.revisit_all_but((), 30.0)
    assert order(correspondence) == ["a"]


def test_after_our_move_a_game_waits_until_it_is_seen_to_be_our_turn_again(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("a"), 10.0)
    correspondence.put_back("a", 20.0)
    assert order(correspondence) == []
    correspondence.note(game("a"), 19.0)
    assert order(correspondence) == [], "a look that began before our move"
    correspondence.note(game("a"), 21.0)
    assert order(correspondence) == ["a"]


def test_a_game_in_which_no_move_succeeded_is_tried_again_later(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("a", seconds_left=60), 10.0)
    correspondence.note(game("b"), 10.0)
    correspondence.put_back("a", 20.0, not_before=120.0)
    assert order(correspondence, 100.0) == ["b"]
    correspondence.note(game("a", seconds_left=40), 30.0)
    assert order(correspondence, 100.0) == ["b"], "a look changes nothing about that"
    assert order(correspondence, 120.0) == ["a", "b"]
    correspondence.put_back("a", 130.0)
    assert order(correspondence, 300.0) == ["b"]


def test_the_time_left_still_counts_at_the_next_try(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("a", seconds_left=500), 10.0)
    correspondence.note(game("b", seconds_left=1000), 10.0)
    correspondence.put_back("a", 20.0, not_before=120.0)
    assert order(correspondence, 120.0) == ["a", "b"]


@pytest.mark.parametrize("seconds_left", [86400, 600, None])
def test_games_in_which_no_move_ever_succeeds_do_not_starve_the_others(
    correspondence: CorrespondenceGames, seconds_left: int | None
) -> None:
    now = 1000.0
    for name in ("broken", "broken2", "sound", "sound2"):
        correspondence.note(game(name, seconds_left=seconds_left if "broken" in name else 7 * 86400), now)
    played = list[str]()
    for _ in range(20):  # visits of six minutes
        info = correspondence.next(now, ())
        name = "" if info is None else info.game_id
        now += 360
        if "broken" in name:
            correspondence.put_back(name, now, not_before=now + 300)
        elif name:
            correspondence.put_back(name, now)
            played.append(name)
    assert played == ["sound", "sound2"]


def test_a_game_that_ended_and_cannot_be_read_is_not_tried_at_once_after_each_list(
    correspondence: CorrespondenceGames,
) -> None:
    correspondence.note(game("over", our_turn=False), 10.0)
    correspondence.note(game("sound", seconds_left=86400), 10.0)
    correspondence.revisit_all_but({"sound"}, 20.0)
    correspondence.put_back("over", 30.0, not_before=330.0)
    correspondence.revisit_all_but({"sound"}, 40.0)
    assert order(correspondence, 50.0) == ["sound"]
    assert order(correspondence, 330.0) == ["sound", "over"]
    correspondence.put_back("over", 340.0)
    correspondence.revisit_all_but({"sound"}, 350.0)
    assert order(correspondence, 350.0) == ["over", "sound"], "its state was read: it had not ended"


def test_a_game_that_is_over_is_forgotten(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("a"), 10.0)
    correspondence.forget("a")
    correspondence.forget("a")
    assert order(correspondence) == []
    assert "a" not in correspondence


def test_what_a_whole_list_does_not_show_has_ended_unless_it_began_later(correspondence: CorrespondenceGames) -> None:
    for game_id, seen_at in (("a", 10.0), ("b", 10.0), ("new", 30.0)):
        correspondence.note(game(game_id, our_turn=False), seen_at)
    correspondence.revisit_all_but({"b"}, 20.0)
    assert order(correspondence) == ["a"], "to record how"


def test_a_game_that_ended_meanwhile_is_visited_once_more_at_once(correspondence: CorrespondenceGames) -> None:
    correspondence.note(game("soon", seconds_left=60), 10.0)
    correspondence.note(game("over", our_turn=False), 10.0)
    correspondence.revisit("over", 20.0)
    correspondence.revisit("unknown", 20.0)
    assert order(correspondence) == ["over", "soon"]


def test_a_game_that_incomplete_lists_do_not_show_is_visited(correspondence: CorrespondenceGames) -> None:
    for game_id, seen_at in (("long", 10.0), ("lately", 50.0), ("listed", 10.0)):
        correspondence.note(game(game_id, our_turn=False), seen_at)
    correspondence.note(game("ours"), 12.0)
    correspondence.doubt_all_but({"listed"}, 40.0)
    assert order(correspondence) == ["long", "ours"]
    correspondence.put_back("long", 60.0)
    correspondence.doubt_all_but({"listed"}, 49.0)
    assert order(correspondence) == ["ours"]
