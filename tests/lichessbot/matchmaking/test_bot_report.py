"""What is said of a bot after its games and declines."""

import time

import pytest

from lichessbot.lichess.enums import DeclineReason
from lichessbot.matchmaking.bot_report import describe_bot
from lichessbot.matchmaking.known_bots import Failure
from lichessbot.storage.state_reader import PastDecline, PastGame, Rest

NOON = time.mktime((2026, 11, 20, 12, 0, 0, 0, 0, -1))
DAY_S = 86400.0


def declined(reason: str, *terms: str) -> list[PastDecline]:
    return [PastDecline(text, reason, NOON - number * DAY_S) for number, text in enumerate(terms)]


def test_what_it_played_is_counted_by_speed() -> None:
    games = [PastGame("blitz", NOON), PastGame("bullet", NOON), PastGame("bullet", NOON - DAY_S)]
    assert list(describe_bot(games, [], [], NOON)) == [
        ("accepts", "bullet (2 times, last on 2026-11-20)"),
        ("accepts", "blitz (once, on 2026-11-20)"),
    ]


@pytest.mark.parametrize(
    ("reason", "terms", "said"),
    [
        ("tooFast", ("1+0 rated standard", "0.5+1 casual standard", "1+0 casual standard"), "0.5+1, 1+0 is too fast"),
        ("timeControl", ("3 d a move casual standard",), "does not play 3 d a move"),
        ("variant", ("3+2 casual chess960",), "does not play chess960"),
        ("rated", ("3+2 casual standard",), "wants rated games"),
        ("later", ("3+2 rated standard",), "had no time"),
        ("unanswered", ("3+2 rated standard",), "did not answer"),
        ("a reason of next year", ("3+2 rated standard",), "unknown reason"),
    ],
)
def test_a_reason_is_put_in_words_with_the_terms_it_answered(reason: str, terms: tuple[str, ...], said: str) -> None:
    ((what, text),) = describe_bot([], declined(reason, *terms), [], NOON)
    times = "once, on" if len(terms) == 1 else f"{len(terms)} times, last on"
    assert (what, text) == ("declines", f"{said} ({reason}, {times} 2026-11-20)")


def test_every_reason_has_its_words() -> None:
    for reason in (*DeclineReason, *Failure):
        ((_, text),) = describe_bot([], declined(reason, "3+2 rated standard"), [], NOON)
        assert "unknown" not in text
        assert "{" not in text


def test_a_long_list_is_cut() -> None:
    terms = [f"{number}+0 rated standard" for number in range(1, 10)]
    ((_, text),) = describe_bot([], declined("tooSlow", *terms), [], NOON)
    assert text.startswith("1+0, 2+0, 3+0, 4+0, 5+0, 6+0 and 3 more is too slow")


def test_only_rests_that_last_are_told() -> None:
    noted_ahead = Rest("variant atomic", NOON + 40 * DAY_S)  # longer than any rest
    rests = [Rest("anything", NOON + 3600), Rest("speed bullet", NOON + 60), Rest("mode rated", NOON - 1), noted_ahead]
    assert list(describe_bot([], [], rests, NOON)) == [
        ("rests", "not challenged to bullet games until 2026-11-20 12:01"),
        ("rests", "not challenged to anything until 2026-11-20 13:00"),
    ]


def test_of_a_stranger_nothing_is_said() -> None:
    assert list(describe_bot([], [], [], NOON)) == []
