"""Every endpoint and every kind of error, on a real socket."""

import json
import socket
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot import __version__
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.lichess.challenge_terms import Days, Terms
from lichessbot.lichess.client import Access, LichessClient, LineStream
from lichessbot.lichess.enums import Colour, ExactClock, Variant
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess

TOKEN = "lip_secret0123456789"
DATA = Path(__file__).parents[2] / "data" / "lichess"
READ_TIMEOUT = timedelta(seconds=60)
MOVE = "/api/bot/game/abcd1234/move/e2e4"


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.fixture
def access(lichess: ScriptedLichess) -> Access:
    return Access(lichess.url, SecretStr(TOKEN), Timeouts(), user_name="TestBot")


@pytest.fixture
def api(access: Access) -> LichessClient:
    return LichessClient(access, READ_TIMEOUT)


def test_the_account_is_read(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/account", Reply(body=read("account.json")))
    account = api.account()
    assert (account.id, account.username, account.is_bot) == ("testbot", "TestBot", True)


def test_games_in_progress_are_read(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/account/playing", Reply(body=read("playing.json")))
    assert [game.game_id for game in api.playing()] == ["Hk29dLmq"]
    assert lichess.paths() == ["/api/account/playing?nb=50"]


def test_our_token_is_tested_as_plain_text(lichess: ScriptedLichess, api: LichessClient) -> None:
    good = read("token-test.json")["lip_good"]
    lichess.answer("/api/token/test", Reply(body={TOKEN: good}), Reply(body={TOKEN: None}))
    assert api.token_info().user_id == "testbot"
    assert lichess.requests[0].body == TOKEN.encode()
    assert api.token_info() is None


def test_the_upgrade_of_the_account_is_posted(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/bot/account/upgrade", Reply())
    api.upgrade_to_bot()
    (request,) = lichess.requests
    assert (request.method, request.body) == ("POST", b"")


def test_every_request_names_the_program_the_user_and_the_token(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer(MOVE, Reply())
    api.move("abcd1234", "e2e4")
    headers = lichess.requests[0].headers
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["User-Agent"] == f"lichessbot/{__version__} user:TestBot"


def test_no_user_is_named_before_the_account_is_known(lichess: ScriptedLichess, access: Access) -> None:
    lichess.answer("/api/account", Reply(body=read("account.json")))
    LichessClient(replace(access, user_name=None), READ_TIMEOUT).account()
    assert "user:" not in lichess.requests[0].headers["User-Agent"]


@pytest.mark.parametrize(
    ("reply", "status", "text"),
    [
        (Reply(400, {"error": "Not your turn, or game already over"}), 400, "Not your turn, or game already over"),
        (Reply(400, read("error-400-form.json")), 400, "clock.limit: Invalid clock, Too long; global: Invalid speed"),
        (Reply(400, {"error": {"color": "Invalid value"}}), 400, "color: Invalid value"),
        (Reply(401, {"error": "No such token"}), 401, "No such token"),
        (Reply(401, {"error": "No such user"}), 401, "No such user: the account is closed"),
        (Reply(403, {"error": "Missing scope: bot:play"}), 403, "Missing scope: bot:play"),
        (Reply(404, "<html>lost</html>"), 404, "Not Found"),
        (Reply(400, {"error": None}), 400, "Bad Request"),
        (Reply(400, "[]"), 400, "Bad Request"),
    ],
)
def test_a_refusal_is_an_answer_with_status_and_text(
    lichess: ScriptedLichess, api: LichessClient, reply: Reply, status: int, text: str
) -> None:
    lichess.answer(MOVE, reply)
    with pytest.raises(Refused) as caught:
        api.move("abcd1234", "e2e4")
    assert (caught.value.status, caught.value.text) == (status, text)
    assert caught.value.denies_token == (status in (401, 403))


@pytest.mark.parametrize(
    ("reply", "pause_s"),
    [
        (Reply(429, read("error-429-bot-daily.json")), 4711),
        (Reply(429, {"error": "Too many requests"}, [("Retry-After", "7")]), 7),
        (Reply(429, "<html>slow down</html>", [("Retry-After", "7")]), 7),
        (Reply(429, "<html>slow down</html>", [("Retry-After", "0")]), 1),
        (Reply(429, {"error": "x", "ratelimit": {"key": "", "seconds": 0}}), 1),
        (Reply(429, {"error": "Too many requests"}), 60),
        (Reply(429, "<html>slow down</html>"), 60),
        (Reply(429, {"error": "x"}, [("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")]), 60),
        (Reply(429, {"error": "x"}, [("Retry-After", "9" * 30)]), 60),
        (Reply(429, {"error": "x", "ratelimit": {"seconds": None}}), 60),
        (Reply(429, {"error": "x", "ratelimit": {"seconds": -5}}), 60),
        (Reply(429, {"error": "x", "ratelimit": {"seconds": 1e300}}), 60),
    ],
)
def test_a_rate_limit_says_how_long_to_pause(
    lichess: ScriptedLichess, api: LichessClient, reply: Reply, pause_s: int
) -> None:
    lichess.answer(MOVE, reply)
    with pytest.raises(RateLimited) as caught:
        api.move("abcd1234", "e2e4")
    assert caught.value.pause == timedelta(seconds=pause_s)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(500, {"error": "oops"}), "500: oops"),
        (Reply(502, "<html>Bad Gateway</html>"), "502: Bad Gateway"),
        (Reply(200, "<html>a login page</html>"), "an answer that is not JSON, such as a web page"),
        (Reply(200, ""), "an answer that is not JSON, such as a web page"),
        (Reply(302, "", [("Location", "/login")]), "the server redirects to another path, which is not followed"),
    ],
)
def test_no_usable_answer_is_unreachable(
    lichess: ScriptedLichess, api: LichessClient, reply: Reply, words: str
) -> None:
    lichess.answer(MOVE, reply)
    with pytest.raises(Unreachable, match=f"^{words}$"):
        api.move("abcd1234", "e2e4")


def test_an_answer_that_does_not_come_in_time_is_unreachable(lichess: ScriptedLichess, access: Access) -> None:
    lichess.answer(MOVE, Reply(delay_s=30))
    with pytest.raises(Unreachable):
        LichessClient(access, timedelta(seconds=0.5)).move("abcd1234", "e2e4")


def test_the_answer_to_a_move_is_not_awaited_longer_than_the_clock_allows(
    lichess: ScriptedLichess, access: Access
) -> None:
    lichess.answer(MOVE, Reply(delay_s=120), Reply())
    api = LichessClient(access, timedelta(minutes=2))
    with pytest.raises(Unreachable, match="timed out"):
        api.move("abcd1234", "e2e4", answer_s=0.5)
    api.move("abcd1234", "e2e4", offering_draw=True)


OTHER_JSON = "not the documented JSON"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], OTHER_JSON),
        ({}, OTHER_JSON),
        ("null", OTHER_JSON),
        ({"nowPlaying": None}, "not a list of games: NoneType"),
        ({"nowPlaying": [{"gameId": None}]}, "GameInfo: gameId: Field required"),
    ],
)
def test_a_reply_of_another_shape_is_unreachable(
    lichess: ScriptedLichess, api: LichessClient, body: Any, words: str
) -> None:
    lichess.answer("/api/account/playing", Reply(body=body))
    with pytest.raises(Unreachable, match=f"^unexpected reply: {words}$"):
        api.playing()


@pytest.mark.parametrize("body", ["[" * 200_000, '{"createdAt": 1e300}', '{"createdAt": 99999999999999999999}'])
def test_a_reply_that_berserk_cannot_read_is_unreachable(
    lichess: ScriptedLichess, api: LichessClient, body: str
) -> None:
    lichess.answer("/api/account", Reply(body=body))
    with pytest.raises(Unreachable, match=f"^unexpected reply: {OTHER_JSON}$"):
        api.account()


@pytest.mark.parametrize("status", [401, 403])
def test_a_html_401_does_not_deny_the_token(
    lichess: ScriptedLichess, api: LichessClient, status: int
) -> None:
    lichess.answer(MOVE, Reply(status, "<html>Access denied</html>"))
    with pytest.raises(Refused) as caught:
        api.move("abcd1234", "e2e4")
    assert not caught.value.denies_token


def test_a_long_error_text_is_shortened(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer(MOVE, Reply(400, {"error": "no " * 10_000}))
    with pytest.raises(Refused) as caught:
        api.move("abcd1234", "e2e4")
    assert caught.value.text == ("no " * 10_000)[:200]


def test_a_refused_connection_is_unreachable_with_a_short_cause(
    lichess: ScriptedLichess, api: LichessClient
) -> None:
    lichess.close()
    with pytest.raises(Unreachable, match=r"^connection refused$"):
        api.account()


def test_a_host_without_an_address_is_named_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:  # some networks have an address for every name
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    access = Access("http://no-such-host.invalid", SecretStr("lip_any"), Timeouts())
    with pytest.raises(Unreachable, match=r"^name resolution failed$"):
        LichessClient(access, READ_TIMEOUT).account()


def test_a_refused_stream_says_why(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/bot/game/stream/abcd1234", Reply(404, {"error": "No such game"}))
    with pytest.raises(Refused, match="No such game"):
        api.game_stream("abcd1234")


def test_a_truncated_refusal_is_a_refusal(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/stream/event", Reply(404, lines=[b'{"err'], end=End.CUT))
    with pytest.raises(Refused, match="404: Not Found"):
        api.event_stream()


def test_a_truncated_429_asks_for_a_pause(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer(MOVE, Reply(429, lines=[b'{"err'], end=End.CUT), Reply())
    with pytest.raises(RateLimited) as caught:
        api.move("abcd1234", "e2e4")
    assert caught.value.pause == Timeouts().rate_limit
    api.move("abcd1234", "e2e4")


# Challenges of our own, players, tournaments

CHALLENGE: dict[str, Any] = {
    "id": "abcd1234",
    "status": "created",
    "destUser": {"id": "rival", "title": "BOT"},
    "variant": {"key": "chess960"},
    "speed": "blitz",
    "timeControl": {"type": "clock", "limit": 180, "increment": 2},
}


@pytest.mark.parametrize(
    ("terms", "sent"),
    [
        (
            Terms(Variant.CHESS960, ExactClock(180, 2), True, Colour.BLACK),
            {"rated": True, "clock.limit": 180, "clock.increment": 2, "color": "black", "variant": "chess960"},
        ),
        (Terms(Variant.STANDARD, Days(3), False), {"rated": False, "days": 3, "variant": "standard"}),
    ],
)
def test_a_challenge_is_sent_with_its_terms_only(
    lichess: ScriptedLichess, api: LichessClient, terms: Terms, sent: dict[str, Any]
) -> None:
    lichess.answer("/api/challenge/rival", Reply(body=CHALLENGE))
    assert api.create_challenge("rival", terms).id == "abcd1234"
    body = json.loads(lichess.requests[0].body)
    assert {key: value for key, value in body.items() if value is not None} == sent


def test_our_challenges_are_shown_listed_and_withdrawn(lichess: ScriptedLichess, api: LichessClient) -> None:
    declined = {**CHALLENGE, "status": "declined", "declineReasonKey": "toofast"}
    lichess.answer("/api/challenge/abcd1234/show", Reply(body=declined))
    lichess.answer("/api/challenge", Reply(body={"in": [], "out": [CHALLENGE]}), Reply(body={"in": []}))
    lichess.answer("/api/challenge/abcd1234/cancel", Reply())
    assert api.challenge("abcd1234").decline_reason_key == "toofast"
    assert [it.id for it in api.outgoing_challenges()] == ["abcd1234"]
    with pytest.raises(Unreachable):
        api.outgoing_challenges()
    api.cancel_challenge("abcd1234")


def test_our_quota_and_the_opponents_quota_differ(lichess: ScriptedLichess, api: LichessClient) -> None:
    quota = {"key": "bot.vsBot.day", "seconds": 4000}
    lichess.answer(
        "/api/challenge/rival",
        Reply(429, {"error": "You played 100 games", "ratelimit": quota}),
        Reply(400, {"error": "rival played 100 games", "ratelimit": quota}),
    )
    terms = Terms(Variant.STANDARD, ExactClock(60, 0), False)
    with pytest.raises(RateLimited) as ours:
        api.create_challenge("rival", terms)
    assert (ours.value.quota, ours.value.pause) == ("bot.vsBot.day", timedelta(seconds=4000))
    with pytest.raises(Refused, match="rival played 100 games") as theirs:
        api.create_challenge("rival", terms)
    assert theirs.value.pause == timedelta(seconds=4000)


def bot_line(name: str, **fields: Any) -> bytes:
    return json.dumps({"id": name, "username": name, "title": "BOT", **fields}).encode()


def test_readable_lines_of_online_bots_are_returned(lichess: ScriptedLichess, api: LichessClient) -> None:
    rated = bot_line("rated", perfs={"blitz": {"rating": 1700}, "storm": {"runs": 3}})
    lines = [rated + b"\n", b"not json\n", bot_line("../strange") + b"\n", bot_line("Last")]
    lichess.answer("/api/bot/online", Reply(lines=lines))
    bots = api.online_bots()
    assert [(bot.id, bot.rating("blitz"), bot.rating("storm")) for bot in bots] == [
        ("rated", 1700, None),
        ("last", None, None),
    ]
    assert lichess.paths() == ["/api/bot/online?nb=512"]


def test_a_slow_list_of_bots_is_cut_off(lichess: ScriptedLichess, access: Access) -> None:
    api = LichessClient(replace(access, timeouts=Timeouts(request_answer=timedelta(seconds=1))), READ_TIMEOUT)
    trickle: list[bytes | float] = [item for number in range(100) for item in (bot_line(f"bot{number}") + b"\n", 0.1)]
    lichess.answer("/api/bot/online", Reply(lines=trickle), Reply(lines=trickle[:1], end=End.STALL))
    began = time.monotonic()
    assert [0 < len(api.online_bots()) < most for most in (100, 2)] == [True, True]
    assert time.monotonic() - began < READ_TIMEOUT.total_seconds() / 2


def test_the_status_of_users_is_read(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/users/status", Reply(body=[{"id": "a", "name": "A", "online": True, "playing": True}]))
    (status,) = api.user_statuses(["a", "b"])
    assert (status.id, status.online, status.playing) == ("a", True, True)
    assert lichess.paths()[0].startswith("/api/users/status?ids=a%2Cb")


def test_the_chat_of_a_game_is_read_as_one_array_or_as_lines(lichess: ScriptedLichess, api: LichessClient) -> None:
    first, second = b'{"text":"Hi","user":"Ada"}', b'{"text":"Bye","user":"Ada"}'
    array, lines = Reply(lines=[b"[", first, b",", second, b"]"]), Reply(lines=[first, b"\n", second, b"\n"])
    lichess.answer("/api/bot/game/abcd1234/chat", array, lines)
    assert [[line.text for line in api.chat("abcd1234")] for _ in (array, lines)] == [["Hi", "Bye"]] * 2


def test_the_password_of_a_tournament_is_sent_in_the_body(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/api/tournament/hL7vMrFQ/join", Reply())
    lichess.answer("/api/tournament/hL7vMrFQ/withdraw", Reply())
    api.join_tournament("hL7vMrFQ", "coders", "sesame & more", pair=True)
    api.join_tournament("hL7vMrFQ", None, None, pair=False)
    api.leave_tournament("hL7vMrFQ")
    assert [request.body for request in lichess.requests] == [
        b"team=coders&password=sesame+%26+more&pairMeAsap=true",
        b"",
        b"",
    ]
    assert not [path for path in lichess.paths() if "sesame" in path]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"secondsToStart": 90}, (False, 90, None)),
        ({"secondsToFinish": 60}, (False, None, 60)),
        ({"isFinished": True}, (True, None, None)),
    ],
)
def test_a_tournament_is_to_come_runs_or_is_over(
    lichess: ScriptedLichess, api: LichessClient, body: dict[str, Any], expected: tuple[object, ...]
) -> None:
    lichess.answer("/api/tournament/hL7vMrFQ", Reply(body={"id": "hL7vMrFQ", "fullName": "Noon", **body}))
    info = api.tournament("hL7vMrFQ")
    assert (info.is_finished, info.seconds_to_start, info.seconds_to_finish) == expected


def test_an_ended_game_is_read(lichess: ScriptedLichess, api: LichessClient) -> None:
    lichess.answer("/game/export/abcd1234", Reply(body={"id": "abcd1234", "status": "mate", "winner": "white"}))
    record = api.game_record("abcd1234")
    assert (record.status.is_over, record.winner) == (True, Colour.WHITE)


@pytest.mark.parametrize("error", [ValueError("Read on closed or unwrapped SSL socket."), AttributeError("read")])
def test_a_tls_stream_interrupted_during_a_read_is_unreachable(error: Exception) -> None:
    class Interrupted:
        def read1(self, *args: object, **options: object) -> bytes:
            raise error

    response: Any = SimpleNamespace(raw=Interrupted())
    with pytest.raises(Unreachable, match="interrupted"):
        list(LineStream(response, timedelta(seconds=1)))
