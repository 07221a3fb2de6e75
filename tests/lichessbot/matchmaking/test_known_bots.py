"""What a decline means, and for how long."""

from datetime import timedelta
from pathlib import Path

import pytest

from lichessbot.config.matchmaking import ChallengeFilter
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.enums import Colour, DeclineReason, ExactClock, Variant
from lichessbot.matchmaking.known_bots import BotGame, BotGames, Declines, Failure
from lichessbot.storage.database import Database, read_only
from lichessbot.storage.store import Store

NOW = 1_800_000_000.0
HOUR_S, DAY_S = 3600.0, 86400.0
BLITZ = Terms(Variant.STANDARD, ExactClock(180, 0), True)
BULLET = Terms(Variant.STANDARD, ExactClock(60, 0), True)
CASUAL = Terms(Variant.STANDARD, ExactClock(180, 0), False)
CHESS960 = Terms(Variant.CHESS960, ExactClock(180, 0), True)


@pytest.fixture
def declines(store: Store) -> Declines:
    return Declines(store)


def declined(
    declines: Declines, reason: DeclineReason | Failure, rule: ChallengeFilter = ChallengeFilter.FINE, at: float = NOW
) -> None:
    declines.declined("rival", BLITZ, reason, rule, at)


@pytest.mark.parametrize(
    ("reason", "spared", "hours"),
    [
        (DeclineReason.LATER, (), 1),
        (DeclineReason.GENERIC, (), 24),
        (DeclineReason.NO_BOT, (), 48),
        (DeclineReason.ONLY_BOT, (), 48),
        (DeclineReason.TOO_FAST, (BULLET,), 24),
        (DeclineReason.TOO_SLOW, (BULLET,), 24),
        (DeclineReason.TIME_CONTROL, (BULLET,), 24),
        (DeclineReason.CASUAL, (CASUAL,), 24),
        (DeclineReason.RATED, (CASUAL,), 24),
        (DeclineReason.VARIANT, (CHESS960,), 24),
        (DeclineReason.STANDARD, (CHESS960,), 24),
        (Failure.UNANSWERED, (), 1),
        (Failure.REFUSED, (), 24),
    ],
)
def test_each_decline_reason_has_its_scope_and_duration(
    declines: Declines, reason: DeclineReason | Failure, spared: tuple[Terms, ...], hours: int
) -> None:
    declined(declines, reason)
    for terms in (BLITZ, BULLET, CASUAL, CHESS960):
        expected = 0.0 if terms in spared else NOW + hours * HOUR_S
        assert declines.rests_until("rival", terms, NOW) == expected
    assert declines.rests_until("other", BLITZ, NOW) == 0.0


def test_every_decline_in_a_row_doubles_the_rest_up_to_a_month(declines: Declines) -> None:
    rests = []
    for _ in range(12):
        declined(declines, DeclineReason.LATER)
        rests.append((declines.rests_until("rival", BLITZ, NOW) - NOW) / HOUR_S)
    assert rests[:4] == [1, 2, 4, 8]
    assert rests[-1] == 30 * 24


def test_a_game_makes_the_next_decline_the_first_again(declines: Declines) -> None:
    declined(declines, DeclineReason.LATER)
    declined(declines, DeclineReason.LATER)
    declines.agreed("rival", BLITZ)
    assert declines.rests_until("rival", BLITZ, NOW) == 0.0
    declined(declines, DeclineReason.LATER)
    assert declines.rests_until("rival", BLITZ, NOW) == NOW + HOUR_S


def test_a_capped_bot_rests_until_its_quota_is_free_and_that_is_no_decline(declines: Declines) -> None:
    declines.capped("rival", timedelta(hours=5), NOW)
    assert declines.rests_until("rival", BULLET, NOW) == NOW + 5 * HOUR_S
    declined(declines, DeclineReason.LATER, at=NOW + 6 * HOUR_S)
    assert declines.rests_until("rival", BLITZ, NOW) == NOW + 7 * HOUR_S


def test_a_later_answer_never_shortens_a_rest(declines: Declines) -> None:
    declined(declines, DeclineReason.NO_BOT)
    assert declines.capped("rival", timedelta(hours=1), NOW) == NOW + 2 * DAY_S
    until = declines.declined("rival", BLITZ, DeclineReason.LATER, ChallengeFilter.FINE, NOW)
    assert (until, declines.rests_until("rival", BLITZ, NOW)) == (NOW + 2 * DAY_S, NOW + 2 * DAY_S)


def test_a_rest_noted_while_the_clock_was_ahead_does_not_outlast_the_error(declines: Declines) -> None:
    """The bot left another alone for as long as the clock had been ahead."""
    declined(declines, DeclineReason.NO_BOT, at=NOW + 40 * DAY_S)
    assert declines.rests_until("rival", BLITZ, NOW) == 0.0
    declined(declines, DeclineReason.LATER)
    assert declines.rests_until("rival", BLITZ, NOW) == NOW + 2 * HOUR_S, "the second decline in a row"


def test_coarse_leaves_the_bot_alone_for_a_day_and_none_remembers_nothing(declines: Declines) -> None:
    declined(declines, DeclineReason.TOO_FAST, ChallengeFilter.NONE)
    assert declines.rests_until("rival", BLITZ, NOW) == 0.0
    declined(declines, DeclineReason.TOO_FAST, ChallengeFilter.COARSE)
    assert declines.rests_until("rival", BULLET, NOW) == NOW + DAY_S


def test_rests_and_their_number_survive_a_restart(tmp_path: Path, store: Store, declines: Declines) -> None:
    declined(declines, DeclineReason.TOO_FAST)
    declines.declined("other", BLITZ, DeclineReason.TOO_FAST, ChallengeFilter.FINE, NOW)
    store.close()
    again = Store(Database(tmp_path))
    restarted = Declines(again)
    assert restarted.rests_until("rival", BLITZ, NOW) == NOW + DAY_S
    declined(restarted, DeclineReason.TOO_FAST)
    assert restarted.rests_until("rival", BLITZ, NOW) == NOW + timedelta(days=2).total_seconds()
    restarted.agreed("rival", BLITZ)
    again.close()
    third = Store(Database(tmp_path))
    assert Declines(third).rests_until("rival", BLITZ, NOW) == 0.0
    assert Declines(third).rests_until("other", BLITZ, NOW) == NOW + DAY_S, "only the rests of the rival have ended"
    third.close()


def test_every_reason_lichess_may_send_is_known(declines: Declines) -> None:
    for reason in DeclineReason:
        assert DeclineReason.received(reason.value.lower()) is reason
        declined(declines, reason)
    assert DeclineReason.received("somethingNew") is DeclineReason.GENERIC


def test_every_decline_is_recorded_even_if_it_is_not_minded(tmp_path: Path, store: Store) -> None:
    declines = Declines(store)
    declined(declines, DeclineReason.LATER)
    declined(declines, Failure.UNANSWERED, ChallengeFilter.NONE, NOW + 1)
    store.close()
    query = "SELECT opponent, terms, reason, declined_at FROM declines ORDER BY declined_at"
    assert read_only(tmp_path, query) == [
        ("rival", "3+0 rated standard", "later", NOW),
        ("rival", "3+0 rated standard", "unanswered", NOW + 1),
    ]


def game(number: int, opponent: str, *, ours: bool = True, at: float | None = None) -> BotGame:
    return BotGame(f"game{number:04}", opponent, "blitz", Colour.WHITE, ours, NOW + number if at is None else at)


def test_the_latest_game_is_the_last_of_ours_in_whatever_order_they_are_noted(store: Store) -> None:
    games = BotGames(store)
    for it in (game(1, "rival"), game(2, "rival"), game(3, "rival", at=NOW), game(4, "rival", ours=False)):
        games.add(it)
    assert games.latest("rival", "blitz") == game(2, "rival")
    assert games.latest("rival", "bullet") is None


class Counted(str):
    """A name that counts how often it is compared."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Counted.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_bot_never_met_is_looked_up_without_a_search_of_all_games(store: Store) -> None:
    """Hundreds of bots are looked up at once, while the clocks of games run."""
    games = BotGames(store)
    for number in range(500):
        games.add(game(number, "rival"))
    assert games.latest(Counted("stranger"), "blitz") is None
    assert Counted.times < 10
