"""The day's bot games and challenges: counted in a sliding window, spread, shared, learnt."""

import math
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lichessbot.config import MatchmakingConfig
from lichessbot.control.status import clock_time
from lichessbot.errors import RateLimited
from lichessbot.lichess.enums import Colour
from lichessbot.matchmaking.known_bots import BotGame, BotGames
from lichessbot.matchmaking.quota import BOT_GAMES, Quota
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts

NOW = 1_800_000_000.0
HOUR_S, DAY_S = 3600.0, 86400.0
USED_UP = "You played 64 games against other bots today, please wait before challenging another bot."


class Books:
    """A quota with its games."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.bot_games = BotGames(self.store)
        self.quota = Quota(self.bot_games, self.store, Timeouts())
        self._number = 0

    def play(self, *moments: float, ours: bool = True) -> None:
        for moment in moments:
            self._number += 1
            self.bot_games.add(BotGame(f"game{self._number}", "rival", "blitz", Colour.WHITE, ours, moment))

    def close(self) -> None:
        self.store.close()


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    books = Books(Store(Database(tmp_path)))
    yield books
    books.close()


def config(**keys: Any) -> MatchmakingConfig:
    return MatchmakingConfig.model_validate(keys)


def test_games_about_to_begin_count(books: Books) -> None:
    one_a_day = config(bot_games_per_day=1)
    assert books.quota.bot_game_at(one_a_day, NOW) == NOW
    assert books.quota.bot_game_at(one_a_day, NOW, expected=1) == NOW + DAY_S


def test_a_new_day_allows_everything_at_once(books: Books) -> None:
    assert books.quota.bot_game_at(config(), NOW) == NOW
    assert books.quota.challenge_at(config(), NOW) == NOW
    assert books.quota.in_words(config(), NOW) == ""


def test_our_own_games_are_spread_over_the_day_in_pairs(books: Books) -> None:
    spacing_s = DAY_S / 80
    books.play(NOW)
    assert books.quota.challenge_at(config(), NOW + 1) == NOW + 1, "the second game of a pair"
    books.play(NOW + 100)
    assert books.quota.challenge_at(config(), NOW + 200) == NOW + 2 * spacing_s
    assert books.quota.bot_game_at(config(), NOW + 200) == NOW + 200, "challenges to us are accepted"


def test_the_second_game_of_a_pair_follows_even_if_a_single_game_came_before_it(books: Books) -> None:
    """After one single game, the second games of all later pairs came too late."""
    settings = config(bot_games_per_day=16, bot_games_for_challengers=0)     # two in three hours
    books.play(NOW, NOW + 1.5 * HOUR_S)
    now = NOW + 2 * HOUR_S
    assert books.quota.challenge_at(settings, now) == NOW + 3 * HOUR_S
    assert books.quota.challenge_at(settings, now, is_half=True) == now
    books.play(now)
    assert books.quota.challenge_at(settings, now, is_half=True) == NOW + 3 * HOUR_S, "if others came instead"


def test_games_that_others_began_do_not_delay_ours_until_the_day_is_full(books: Books) -> None:
    books.play(*(NOW + number for number in range(79)), ours=False)
    assert books.quota.challenge_at(config(), NOW + 100) == NOW + 100
    books.play(*(NOW + 79 + number for number in range(21)), ours=False)
    assert books.quota.challenge_at(config(), NOW + 100) == NOW + DAY_S


def test_a_share_is_left_for_bots_that_challenge_us(books: Books) -> None:
    settings = config(bot_games_per_day=10, bot_games_for_challengers=4)
    books.play(*(NOW + number * HOUR_S for number in range(6)))
    now = NOW + 20 * HOUR_S
    assert books.quota.challenge_at(settings, now) == NOW + DAY_S
    assert books.quota.bot_game_at(settings, now) == now
    assert books.quota.challenge_at(config(bot_games_per_day=4, bot_games_for_challengers=4), now) == math.inf


def test_a_rematch_keeps_every_quota_but_need_not_wait_for_its_share_of_the_day(books: Books) -> None:
    def at(is_bot: bool, **keys: Any) -> float:
        return books.quota.single_challenge_at(config(**keys), NOW + 200, is_bot=is_bot)

    books.play(NOW, NOW + 100)
    assert books.quota.challenge_at(config(), NOW + 200) > NOW + 200
    assert at(is_bot=True) == NOW + 200
    assert at(is_bot=True, bot_games_per_day=2) == NOW + DAY_S
    assert at(is_bot=True, bot_games_per_day=4, bot_games_for_challengers=2) == NOW + DAY_S
    assert at(is_bot=False, bot_games_per_day=2) == NOW + 200, "games with humans are not counted"
    for number in range(176):
        books.quota.count_challenge(f"sent{number}", NOW, is_bot=True)
    assert at(is_bot=True) == NOW + 200
    assert at(is_bot=False) == NOW + DAY_S, "a challenge to a human costs five of the four that are left"


def test_the_window_slides(books: Books) -> None:
    settings = config(bot_games_per_day=2, bot_games_for_challengers=0)
    books.play(NOW, NOW + HOUR_S)
    assert books.quota.bot_game_at(settings, NOW + 2 * HOUR_S) == NOW + DAY_S
    assert books.quota.bot_game_at(settings, NOW + DAY_S) == NOW + DAY_S
    assert books.quota.bot_games_used(NOW + DAY_S) == 1
    assert books.quota.bot_games_used(NOW + DAY_S + HOUR_S) == 0


def test_a_time_on_another_day_has_its_date() -> None:
    noon = time.mktime((2026, 11, 23, 12, 0, 0, 0, 0, -1))
    assert clock_time(noon + 11 * HOUR_S, noon) == "23:00"
    assert clock_time(noon + 13 * HOUR_S, noon) == "2026-11-24 01:00"


def test_what_limits_the_bot_games_is_named(books: Books) -> None:
    at = NOW + HOUR_S
    assert books.quota.bot_games_rule(config(), at) == "Lichess's limit of bot games"
    assert books.quota.bot_games_rule(config(bot_games_per_day=64), at) == "matchmaking.bot_games_per_day = 64"
    books.quota.rate_limited(RateLimited(timedelta(minutes=1), USED_UP.replace("64", "50"), BOT_GAMES), NOW)
    assert books.quota.bot_games_rule(config(bot_games_per_day=64), at) == "Lichess's limit of bot games"
    assert books.quota.bot_games_rule(config(bot_games_per_day=40), at) == "matchmaking.bot_games_per_day = 40"
    assert books.quota.bot_games_rule(config(bot_games_per_day=40), NOW) == "Lichess's limit of bot games"


def test_zero_bot_games_can_be_configured(books: Books) -> None:
    settings = config(bot_games_per_day=0)
    assert books.quota.bot_game_at(settings, NOW) == math.inf
    assert books.quota.in_words(settings, NOW) == "0 of 0 bot games"


def test_what_lichess_allows_and_for_how_long_not_is_learnt_from_its_refusal(tmp_path: Path, books: Books) -> None:
    books.quota.rate_limited(RateLimited(timedelta(hours=3), USED_UP, BOT_GAMES), NOW)
    assert books.quota.most_bot_games(config(), NOW) == 64
    assert books.quota.bot_game_at(config(), NOW) == NOW + 3 * HOUR_S
    resumes = clock_time(NOW + 3 * HOUR_S, NOW)
    assert books.quota.in_words(config(), NOW) == f"0 of 64 bot games, resumes {resumes}"
    assert [limit.name for limit in books.quota.limits(config(), NOW) if limit.is_used_up] == ["bot games"]
    books.close()
    again = Books(Store(Database(tmp_path)))
    assert again.quota.most_bot_games(config(), NOW) == 64
    assert again.quota.bot_game_at(config(), NOW) == NOW + 3 * HOUR_S
    again.close()


def test_a_number_that_lichess_said_long_ago_is_no_longer_believed(tmp_path: Path, books: Books) -> None:
    books.quota.rate_limited(RateLimited(timedelta(hours=3), USED_UP, BOT_GAMES), NOW)
    resumes = NOW + 3 * HOUR_S
    assert books.quota.most_bot_games(config(), resumes + 6 * DAY_S) == 64
    assert books.quota.most_bot_games(config(), resumes + 8 * DAY_S) == 100
    books.close()
    again = Books(Store(Database(tmp_path)))
    assert again.quota.most_bot_games(config(), resumes + 8 * DAY_S) == 100
    again.quota.rate_limited(RateLimited(timedelta(hours=3), "Enough.", BOT_GAMES), resumes + 8 * DAY_S)
    assert again.quota.most_bot_games(config(), resumes + 8 * DAY_S) == 100
    again.close()


def test_a_refusal_in_unknown_words_still_names_its_seconds(books: Books) -> None:
    books.quota.rate_limited(RateLimited(timedelta(hours=3), "Enough for today.", BOT_GAMES), NOW)
    assert books.quota.most_bot_games(config(), NOW) == 100
    assert books.quota.challenge_at(config(), NOW) == NOW + 3 * HOUR_S


def test_refusals_without_a_name_hold_up_only_our_challenges_and_longer_each_time(books: Books) -> None:
    pauses = []
    for _ in range(9):
        books.quota.rate_limited(RateLimited(timedelta(seconds=60), "Too many requests."), NOW)
        pauses.append(books.quota.challenge_at(config(), NOW) - NOW)
    assert pauses[:3] == [60, 120, 240]
    assert pauses[-1] == HOUR_S
    assert books.quota.bot_game_at(config(), NOW) == NOW
    books.quota.count_challenge("abcd1234", NOW, is_bot=True)
    books.quota.rate_limited(RateLimited(timedelta(seconds=60), "Too many requests."), NOW)
    assert books.quota.challenge_at(config(), NOW) == NOW + 60


def test_challenges_stay_within_the_credits_of_a_day_in_which_humans_cost_five(tmp_path: Path, books: Books) -> None:
    for number in range(34):
        books.quota.count_challenge(f"human{number}", NOW + number, is_bot=False)
    assert books.quota.challenge_at(config(), NOW + HOUR_S) == NOW + HOUR_S
    for number in range(10):
        books.quota.count_challenge(f"bot{number}", NOW + 100 + number, is_bot=True)
        books.quota.count_challenge(f"bot{number}", NOW + 100 + number, is_bot=True)
    assert books.quota.challenge_at(config(), NOW + HOUR_S) == NOW + DAY_S
    books.close()
    again = Books(Store(Database(tmp_path)))
    assert again.quota.challenge_at(config(), NOW + HOUR_S) == NOW + DAY_S
    assert again.quota.challenge_at(config(), NOW + DAY_S) == NOW + DAY_S
    again.close()


@pytest.mark.parametrize("quota", [BOT_GAMES, ""])
def test_a_limit_noted_while_the_clock_was_ahead_does_not_outlast_the_error(books: Books, quota: str) -> None:
    """The bot played no other bot for as long as the clock had been ahead."""
    books.quota.rate_limited(RateLimited(timedelta(hours=20), USED_UP, quota), NOW + 40 * DAY_S)
    assert books.quota.challenge_at(config(), NOW) == NOW
    assert books.quota.most_bot_games(config(), NOW) == 100


def test_games_noted_while_the_clock_was_ahead_do_not_outlast_the_error(books: Books) -> None:
    books.play(NOW + 40 * DAY_S, NOW + 40 * DAY_S)
    assert books.quota.bot_games_used(NOW) == 0
    assert books.quota.challenge_at(config(), NOW) == NOW
    assert books.quota.bot_game_at(config(bot_games_per_day=1), NOW) == NOW


def test_a_clock_that_is_ahead_for_a_moment_makes_no_challenge_forgotten(books: Books) -> None:
    for number in range(180):
        books.quota.count_challenge(f"sent{number}", NOW + number, is_bot=True)
    assert books.quota.challenge_at(config(), NOW + 2 * DAY_S) == NOW + 2 * DAY_S
    assert books.quota.challenge_at(config(), NOW + HOUR_S) == NOW + DAY_S


def test_challenges_noted_while_the_clock_was_ahead_do_not_keep_later_ones_counted(books: Books) -> None:
    books.quota.count_challenge("ahead", NOW + 40 * DAY_S, is_bot=True)
    for number in range(180):
        books.quota.count_challenge(f"sent{number}", NOW + number, is_bot=True)
    assert books.quota.challenge_at(config(), NOW + HOUR_S) == NOW + DAY_S
    assert books.quota.challenge_at(config(), NOW + DAY_S + HOUR_S) == NOW + DAY_S + HOUR_S


def test_challenges_of_long_ago_are_forgotten(books: Books) -> None:
    for number in range(1001):
        books.quota.count_challenge(f"sent{number}", NOW + number, is_bot=True)
    later = NOW + 2 * DAY_S
    for challenge_id in ("sent1000", "sent0"):
        books.quota.count_challenge(challenge_id, later, is_bot=True)
    assert books.quota.limits(config(), later)[1].used == 1, "the first is no longer known"


def test_the_operator_is_shown_the_challenges_of_the_last_day_only(books: Books) -> None:
    books.quota.count_challenge("abcd1234", NOW, is_bot=False)
    used = [books.quota.limits(config(), moment)[1].used for moment in (NOW, NOW + DAY_S)]
    assert used == [5, 0]


def test_games_are_counted_once_and_known_after_a_restart(tmp_path: Path, books: Books) -> None:
    game = BotGame("abcd1234", "rival", "blitz", Colour.BLACK, True, NOW)
    books.bot_games.add(game)
    books.bot_games.add(game)
    books.close()
    again = Books(Store(Database(tmp_path)))
    assert again.bot_games.since(NOW - 1) == [game]
    assert again.bot_games.latest("rival", "blitz") == game
    assert again.bot_games.latest("rival", "bullet") is None
    again.close()


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that was empty when it was opened, which is all that is read from it."""
    store = Store(Database(tmp_path_factory.mktemp("books")))
    yield store
    store.close()


@given(
    moments=st.lists(st.floats(0, 2 * DAY_S), max_size=40),
    most=st.integers(1, 12),
    share=st.integers(0, 12),
    now=st.floats(0, 2 * DAY_S),
)
def test_at_the_moment_it_names_there_is_room_in_every_window(
    empty_store: Store, moments: list[float], most: int, share: int, now: float
) -> None:
    books = Books(empty_store)
    settings = config(bot_games_per_day=most, bot_games_for_challengers=share)
    books.play(*(NOW + moment for moment in moments if moment <= now))
    at = books.quota.challenge_at(settings, NOW + now)
    assert at >= NOW + now
    if at < math.inf:
        assert books.quota.bot_games_used(at + 0.001) < most
