"""`lichessbot challenge` in front of a scripted Lichess that asks for pauses."""

import io
from typing import Any

from pydantic import SecretStr

from lichessbot.cli.challenge import Invitation, Series
from lichessbot.lichess.challenge_terms import Terms
from lichessbot.lichess.client import Access
from lichessbot.lichess.enums import ExactClock, Variant
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import Reply, ScriptedLichess

TIMEOUTS = Timeouts().scaled(0.001)
LOOK, WITHDRAWAL = "/api/challenge/abcd1234/show", "/api/challenge/abcd1234/cancel"


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


def told(lichess: ScriptedLichess, *looks: Reply, withdrawal: Reply | None = None) -> str:
    """What the command prints if it looks at its challenge and gets these answers."""
    lichess.answer("/api/account", Reply(body={"id": "testbot", "username": "TestBot", "title": "BOT"}))
    lichess.answer("/api/users/status", Reply(body=[{"id": "testbot", "online": True}]))
    lichess.answer("/api/challenge/rival", shown())
    lichess.answer(LOOK, *looks)
    lichess.answer(WITHDRAWAL, withdrawal or Reply())
    access, out = Access(lichess.url, SecretStr("lip_secret"), TIMEOUTS), io.StringIO()
    terms = Terms(Variant.STANDARD, ExactClock(180, 2), rated=False)
    assert not Series(Invitation("rival", terms, 1), access, TIMEOUTS, out).run()
    return out.getvalue()


def test_a_short_pause_is_told_and_waited_for(lichess: ScriptedLichess) -> None:
    said = told(lichess, limit(0.1), shown(status="declined", declineReasonKey="later"))
    assert said == "429: Too many requests (pause 0 s): waiting\ngame 1 abcd1234: declined, reason later\n"
    assert WITHDRAWAL not in lichess.paths(), "which was answered"


def test_a_pause_of_hours_ends_the_command_and_withdraws_its_challenge(lichess: ScriptedLichess) -> None:
    assert told(lichess, limit(86_398)) == "rival: 429: Too many requests (pause 86398 s)\n"
    assert WITHDRAWAL in lichess.paths()


def test_an_answer_that_crosses_the_withdrawal_is_told(lichess: ScriptedLichess) -> None:
    said = told(lichess, shown(status="created"), withdrawal=Reply(404, {"error": "Not found"}))
    crossed = "challenge abcd1234 was answered before it could be withdrawn"
    assert said == f"game 1 abcd1234: no answer, withdrawn\n{crossed}\n"
