"""Requests that stumble: every shape of refusal, answers too late, commands carried out and denied."""

import re
import time
from dataclasses import replace
from itertools import cycle

import pytest

from lichessbot.rehearsal.faults.catalogue import Fault
from lichessbot.rehearsal.faults.client_checks import UNDER_WAY_MS
from lichessbot.rehearsal.faults.traffic import ARRIVED_HEADER, REQUESTS, Place
from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.lichessbot.rehearsal.client import Client, account_of, play, start_game
from tests.lichessbot.rehearsal.faults.injection import E4_E5, inject_for, placed, start_numbered_game
from tests.patience import PATIENCE_S

REFUSALS = {
    Fault.LIMIT_JSON: (429, "application/json"),
    Fault.LIMIT_RATELIMIT: (429, "application/json"),
    Fault.LIMIT_RETRY_AFTER: (429, "text/plain"),
    Fault.LIMIT_HTML: (429, "text/html"),
    Fault.LIMIT_TEXT: (429, "text/plain"),
    Fault.LIMIT_BARE: (429, ""),
    Fault.REFUSED_JSON: (400, "application/json"),
    Fault.REFUSED_FORM: (400, "application/json"),
    Fault.REFUSED_RATELIMIT: (400, "application/json"),
    Fault.REFUSED_TEXT: (400, "text/plain"),
    Fault.REFUSED_BARE: (400, ""),
    Fault.BROKEN_JSON: (500, "application/json"),
    Fault.GATEWAY_HTML: (502, "text/html"),
    Fault.UNAVAILABLE_TEXT: (503, "text/plain"),
    Fault.GATEWAY_BARE: (504, ""),
}


def moves(client: Client, game_id: str) -> str:
    full = client.game(game_id).next("gameFull")
    return str(full["state"]["moves"])


@pytest.mark.parametrize("fault", REFUSALS, ids=lambda fault: fault.label)
def test_refused_move_is_not_played(fault: Fault, lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    it = inject_for(lichess, ada, *placed(fault, Place.MOVE))
    game_id = start_game(ada, bob)
    answer = ada.command(game_id, "move/e2e4")
    status, content_type = REFUSALS[fault]
    assert answer.status_code == status
    assert answer.headers.get("content-type", "").startswith(content_type)
    assert bool(answer.content) is bool(content_type)
    assert moves(ada, game_id) == ""
    assert [strike.fault for strike in it.accounting.strikes] == [fault]


def test_pauses_that_are_named_stand_in_whole_seconds(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    on_account = placed(Fault.LIMIT_RATELIMIT, Place.ACCOUNT)
    inject_for(lichess, ada, *on_account, *placed(Fault.LIMIT_RETRY_AFTER, Place.MOVE))
    seconds = timing.named_pause_seconds
    assert ada.get("/api/account").json()["ratelimit"] == {"key": "bot.vsBot.day", "seconds": seconds}
    assert ada.command(start_game(ada, bob), "move/e2e4").headers["Retry-After"] == str(seconds)


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (Place.ACCOUNT, "/api/account"),
        (Place.PLAYING, "/api/account/playing"),
        (Place.EVENT_STREAM, "/api/stream/event"),
        (Place.GAME_STREAM, "/api/bot/game/stream/abcdefgh"),
        (Place.SHOW, "/api/challenge"),
        (Place.ONLINE, "/api/bot/online"),
        (Place.STATUS, "/api/users/status?ids=bob"),
        (Place.TOURNAMENT, "/api/tournament/abcdefgh"),
        (Place.CLOUD, "/api/cloud-eval"),
        (Place.OTHER_REQUEST, "/api/user/bob"),
    ],
)
def test_every_kind_of_reading_can_be_refused(
    place: Place, path: str, lichess: RehearsalServer, ada: Client
) -> None:
    inject_for(lichess, ada, *placed(Fault.GATEWAY_HTML, place))
    assert ada.get(path).status_code == 502


@pytest.mark.parametrize(
    "command", ["move/e2e4", "chat", "abort", "draw/yes", "takeback/no", "claim-victory", "claim-draw"]
)
def test_every_command_can_be_refused(command: str, lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    inject_for(lichess, ada, *placed(Fault.LIMIT_TEXT))
    challenge = bob.challenge(ada)
    assert ada.post(f"/api/challenge/{challenge['id']}/decline").status_code == 429
    assert ada.post(f"/api/challenge/{challenge['id']}/accept").status_code == 429
    lichess.call(lambda: lichess.site.accept(challenge["id"], account_of(lichess, ada)))
    assert ada.command(challenge["id"], command).status_code == 429


def test_a_client_that_goes_on_after_a_limit_of_the_site_itself_is_blamed(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it, terms = inject_for(lichess, ada), {"clock.limit": 60, "clock.increment": 0}
    while (answer := ada.post(f"/api/challenge/{bob.name}", data=terms)).status_code == 200:
        pass
    assert answer.status_code == 429
    assert it.offences == []
    time.sleep(1.5 * UNDER_WAY_MS / 1000)
    ada.get("/api/account")
    (offence,) = it.offences
    assert offence.endswith(" s that a 429 (create) asks for")


def test_every_fault_of_a_request_can_strike_every_request() -> None:
    for fault in REFUSALS:
        assert {it.place for it in placed(fault)} == set(REQUESTS)


@pytest.mark.parametrize("path", ["bob", "abcdefgh/cancel"])
def test_a_challenge_of_the_bot_can_be_refused(path: str, lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    inject_for(lichess, ada, *placed(Fault.REFUSED_RATELIMIT, Place.CREATE, Place.CANCEL))
    assert ada.post(f"/api/challenge/{path}").json()["ratelimit"]["key"] == "bot.vsBot.day"


def test_command_answered_with_502_can_have_been_carried_out(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    inject_for(lichess, ada, *placed(Fault.DONE_BUT_502, Place.MOVE))
    game_id = start_game(ada, bob)
    assert ada.command(game_id, "move/e2e4").status_code == 502
    assert moves(ada, game_id) == "e2e4"


def test_slow_answer_is_an_answer_in_the_end(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    inject_for(lichess, ada, *placed(Fault.ANSWER_SLOW, Place.MOVE))
    game_id = start_game(ada, bob)
    began_s = time.monotonic()
    ada.do(game_id, "move/e2e4")
    assert time.monotonic() - began_s >= timing.slow_answer_s


def test_maintenance_ends_all_streams_and_answers_502_until_it_is_over(
    lichess: RehearsalServer, ada: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lichess.site, "timing", replace(lichess.site.timing, restart_s=PATIENCE_S))
    it = inject_for(lichess, ada, *placed(Fault.MAINTENANCE), chance=None)
    game_id = start_numbered_game(lichess, it, ada, bob)
    streams = [ada.events(), ada.game(game_id)]
    play(game_id, E4_E5, ada, bob)
    answer = ada.command(game_id, "move/g1f3")
    while answer.status_code == 200:
        bob.do(game_id, "move/b8c6")
        answer = ada.command(game_id, "move/f3g1")
    assert answer.status_code == 502
    for stream in streams:
        stream.rest()
        assert stream.ended_cleanly
    assert ada.get("/api/account").status_code == 502
    it.http_faults._down_until_ms -= 1000 * PATIENCE_S
    assert ada.events().next("gameStart")["game"]["id"] == game_id


def test_maintenance_gives_both_sides_time_on_their_clocks(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    inject_for(lichess, ada, *placed(Fault.MAINTENANCE))
    game_id = start_game(ada, bob)
    clock = lichess.site.session(game_id).game.clock
    before = {color: clock.remaining_ms(color, 0) for color in Color}
    assert ada.command(game_id, "move/e2e4").status_code == 502
    gained = {color: clock.remaining_ms(color, 0) - before[color] for color in Color}
    assert gained == {
        Color.WHITE: round(1000 * timing.restart_gift_s),
        Color.BLACK: round(1000 * timing.restart_other_gift_s),
    }


def test_takeback_crosses_the_move_on_its_way(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    it = inject_for(lichess, ada, *placed(Fault.TAKEBACK))
    game_id = start_game(ada, bob)
    stream = ada.game(game_id)
    play(game_id, E4_E5, ada, bob)
    refused = ada.command(game_id, "move/g1f3")
    assert (refused.status_code, refused.json()) == (400, {"error": "Not your turn, or game already over"})
    shown = [line["moves"] for line in stream.only(3, "gameState")]
    assert shown == ["e2e4", "e2e4 e7e5", "e2e4"]
    assert it.offences == []


def test_no_takeback_crosses_a_move_that_comes_after_the_end(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.TAKEBACK))
    game_id = start_game(ada, bob)
    play(game_id, E4_E5, ada, bob)
    bob.do(game_id, "resign")
    assert ada.command(game_id, "move/g1f3").status_code == 400
    assert moves(ada, game_id) == E4_E5
    assert it.accounting.strikes == []


def test_request_in_the_pause_after_a_429_is_remembered(lichess: RehearsalServer, ada: Client) -> None:
    it = inject_for(lichess, ada, *placed(Fault.LIMIT_BARE, Place.PLAYING))
    assert ada.get("/api/account/playing").status_code == 429
    assert it.offences == []
    time.sleep(0.4)
    ada.get("/api/account")
    (offence,) = it.offences
    told = r"a request \(account\) \d+ ms into the pause of [\d.]+ s that a 429 \(playing\) asks for"
    assert re.fullmatch(told, offence)


def test_request_that_arrived_before_the_429_is_no_offence(lichess: RehearsalServer, ada: Client) -> None:
    it = inject_for(lichess, ada, *placed(Fault.LIMIT_BARE, Place.PLAYING))
    arrived_ms = monotonic_ms()
    assert ada.get("/api/account/playing").status_code == 429
    time.sleep(0.4)
    ada.get("/api/account", headers={ARRIVED_HEADER: str(arrived_ms)})
    assert it.offences == []


@pytest.mark.parametrize("move", ["e2e5", "P@e4", "(none)", "e2-e4"])
def test_illegal_move_is_remembered(lichess: RehearsalServer, ada: Client, bob: Client, move: str) -> None:
    it = inject_for(lichess, ada)
    game_id = start_game(ada, bob)
    assert ada.command(game_id, f"move/{move}").status_code == 400
    (offence,) = it.offences
    assert offence.startswith(f"game {game_id}: {move} is illegal")


def test_a_piece_dropped_in_the_pause_after_a_429_is_no_offence(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.LIMIT_BARE, Place.PLAYING))
    game_id = start_game(ada, bob, variant="crazyhouse")
    play(game_id, "e2e4 d7d5 e4d5 d8d5", ada, bob)
    assert ada.get("/api/account/playing").status_code == 429
    time.sleep(0.4)
    ada.do(game_id, "move/P@e4")
    assert it.offences == []


def test_move_sent_again_is_an_offence_unless_a_fault_explains_it(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    it = inject_for(lichess, ada, *placed(Fault.DONE_BUT_502, Place.MOVE), chance=None)
    game_id = start_numbered_game(lichess, it, ada, bob)
    for move, reply in cycle([("g1f3", "b8c6"), ("f3g1", "c6b8")]):
        if ada.command(game_id, f"move/{move}").status_code == 502:
            break
        bob.do(game_id, f"move/{reply}")
    for offences in (0, 1):
        time.sleep(0.4)
        assert ada.command(game_id, f"move/{move}").status_code == 400
        assert len(it.offences) == offences
    assert f"game {game_id}: {move} is late or doubled" in it.offences[0]


def test_a_takeback_explains_one_late_move(lichess: RehearsalServer, ada: Client, bob: Client) -> None:
    it = inject_for(lichess, ada)
    game_id = start_game(ada, bob)
    play(game_id, E4_E5, ada, bob)
    session = lichess.site.session(game_id)
    lichess.call(session.take_back_last)
    session.game.last_change_ms -= UNDER_WAY_MS     # as if it had been then
    for offences in (0, 1):
        assert ada.command(game_id, "move/g1f3").status_code == 400
        assert len(it.offences) == offences
