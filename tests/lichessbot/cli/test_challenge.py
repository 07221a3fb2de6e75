"""`lichessbot challenge` in front of a scripted Lichess."""

import io
import time
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.cli.challenge import Series
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.client import Access
from lichessbot.lichess.enums import ExactClock, Variant
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import Reply, ScriptedLichess

# Nobody waits, but a busy machine has time to look for the answer.
TIMEOUTS = replace(Timeouts().scaled(0.001), challenge_open=timedelta(minutes=1))
LOOK, WITHDRAWAL = "/api/challenge/abcd1234/show", "/api/challenge/abcd1234/cancel"
GAME = "/game/export/abcd1234"


def limit(seconds: float) -> Reply:
    return Reply(429, {"error": "Too many requests", "ratelimit": {"seconds": seconds}})


def shown(**changes: Any) -> Reply:
    challenge = {
        "id": "abcd1234",
        "variant": {"key": "standard"},
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 180, "increment": 2},
    }
    return Reply(body={**challenge, **changes})


def told(
    lichess: ScriptedLichess,
    *looks: Reply,
    withdrawal: Reply | None = None,
    games: int = 1,
    is_played: bool = False,
    title: str | None = "BOT",
    scopes: str = "bot:play,challenge:read",
) -> str:
    """What the command prints if it looks at its challenge and gets these answers."""
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot", "title": title}))
    lichess.answer("/api/users/status", Reply(body=[{"id": "testbot", "online": True}]))
    lichess.answer("/api/token/test", Reply(body={"lip_secret": {"userId": "testbot", "scopes": scopes}}))
    lichess.answer("/api/challenge/rival", shown())
    lichess.answer(LOOK, *looks)
    lichess.answer(WITHDRAWAL, withdrawal or Reply())
    access, out = Access(lichess.url, SecretStr("lip_secret"), TIMEOUTS), io.StringIO()
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=False)
    assert Series("rival", terms, games, access, TIMEOUTS, out).run() is is_played
    return out.getvalue()


def test_a_short_pause_is_told_and_waited_for(lichess: ScriptedLichess, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=slept.append)
    monkeypatch.setattr("lichessbot.cli.challenge.time", clock)
    said = told(lichess, limit(0.1), shown(status="declined", declineReasonKey="later"))
    assert said == "429: Too many requests (pause 0 s): waiting\ngame 1 abcd1234: declined, reason later\n"
    assert 0.1 in slept
    assert WITHDRAWAL not in lichess.paths(), "which was answered"


@pytest.mark.parametrize(
    ("look", "why"),
    [
        (limit(86_398), "429: Too many requests (pause 86398 s)"),
        (Reply(503), "503: Service Unavailable"),
        (
            Reply(403, {"error": "Missing scope: challenge:write"}),
            "the token lacks the scope challenge:write: make a new one with it",
        ),
    ],
)
def test_a_pause_of_hours_an_outage_or_a_missing_scope_ends_the_command_and_withdraws_its_challenge(
    lichess: ScriptedLichess, look: Reply, why: str
) -> None:
    assert told(lichess, look) == f"rival: {why}\n"
    assert WITHDRAWAL in lichess.paths()


def test_an_account_that_is_no_bot_challenges_nobody(lichess: ScriptedLichess) -> None:
    assert told(lichess, title=None) == "TestBot is not a BOT account: run `lichessbot upgrade`\n"
    assert lichess.paths() == ["/api/account"]


def test_a_token_that_cannot_read_the_answer_challenges_nobody(lichess: ScriptedLichess) -> None:
    assert told(lichess, scopes="bot:play") == "the token lacks the scope challenge:read: make a new one with it\n"
    assert "/api/challenge/rival" not in lichess.paths()


@pytest.mark.parametrize(
    ("withdrawal", "why"),
    [
        (Reply(404, {"error": "Not found"}), "was answered before it could be withdrawn"),
        (limit(60), "could not be withdrawn: 429: Too many requests (pause 60 s)"),
    ],
    ids=["answered", "perhaps still open"],
)
def test_a_challenge_that_is_not_withdrawn_is_told(lichess: ScriptedLichess, withdrawal: Reply, why: str) -> None:
    _, said = told(lichess, limit(86_398), withdrawal=withdrawal).splitlines()
    assert said == f"challenge abcd1234 {why}"


@pytest.mark.parametrize(
    ("end", "results"),
    [
        ({"status": "mate", "winner": "white"}, ["won as white (mate)", "lost as black (mate)"]),
        ({"status": "outoftime", "winner": "black"}, ["lost as white (outoftime)", "won as black (outoftime)"]),
        ({"status": "draw"}, ["drawn (draw)", "drawn (draw)"]),
        ({"status": "aborted"}, ["aborted"]),
    ],
)
def test_each_result_is_told_from_our_side_and_an_aborted_game_ends_the_series(
    lichess: ScriptedLichess, end: dict[str, str], results: list[str]
) -> None:
    looks = {"status": "started"}, end
    lichess.answer(GAME, Reply(503), *(Reply(body={"id": "abcd1234", **look}) for look in looks))
    said = told(lichess, shown(status="accepted"), games=2, is_played=len(results) == 2).splitlines()
    assert said[::2] == [f"game {it} abcd1234: started, {lichess.url}/abcd1234" for it in range(1, len(results) + 1)]
    assert said[1::2] == [f"game {number} abcd1234: {result}" for number, result in enumerate(results, 1)]
