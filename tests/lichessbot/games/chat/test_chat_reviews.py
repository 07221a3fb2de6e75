"""The review after the game, as far as the chat asks for it."""

from typing import Any

import pytest

from lichessbot.games.actions import RecordAction
from lichessbot.lichess.commands import Say
from lichessbot.storage.store import LimitedAction
from tests.lichessbot.games.chat.bench import GAME, PLAYER, ChatBench


def test_the_opponent_asks_for_a_review_once_or_twice() -> None:
    bench = ChatBench()
    bench.meet(moves="e2e4 e7e5")
    assert not bench.chat.review_wanted
    assert bench.line("!review") == [
        RecordAction(LimitedAction.REVIEW),
        Say(GAME, PLAYER, "After the game I name its turning points, as soon as I have looked at it."),
    ]
    assert bench.chat.review_wanted
    assert bench.answer("!review").startswith("After the game")
    assert bench.line("!review", room="spectator", username="Watcher") == []
    assert ChatBench(None, LimitedAction.REVIEW).chat.review_wanted, "asked before a restart"


@pytest.mark.parametrize(
    ("mode", "them", "wanted"),
    [
        ("humans", {"id": "ferdinand", "name": "Ferdinand"}, True),
        ("humans", {"id": "karl", "name": "Karl", "title": "BOT"}, False),
        ("humans", {"aiLevel": 3}, False),
        ("asked", {"id": "ferdinand", "name": "Ferdinand"}, False),
        ("never", {"id": "ferdinand", "name": "Ferdinand"}, False),
    ],
)
def test_the_operator_decides_who_hears_of_turning_points(mode: str, them: dict[str, Any], wanted: bool) -> None:
    bench = ChatBench({"review": mode})
    bench.meet(them)
    assert bench.chat.review_wanted is wanted


def test_turning_points_are_told_unasked_only_in_a_game_that_was_seen_while_it_went_on() -> None:
    """One that ended while the bot was down may have ended days ago."""
    for asked in ((), (LimitedAction.REVIEW,)):
        bench = ChatBench({"review": "humans"}, *asked)
        bench.meet(moves="f2f3 e7e5 g2g4 d8h4", status="mate")
        assert bench.chat.review_wanted is bool(asked)
    bench = ChatBench({"review": "humans"})
    for status in ("started", "mate"):  # the last move may cross the end: the stream is then opened again
        bench.meet(moves="f2f3 e7e5 g2g4 d8h4", status=status)
    assert bench.chat.review_wanted


def test_an_operator_who_wants_no_reviews_has_the_bot_say_so() -> None:
    bench = ChatBench({"review": "never"})
    bench.meet()
    assert bench.answer("!review") == "I do not review games."
    assert not bench.chat.review_wanted
    assert not ChatBench({"review": "never"}, LimitedAction.REVIEW).chat.review_wanted, "asked before a restart"
