"""Event and game streams on real sockets: order, ticks, eviction, ends."""

import asyncio
import logging
import socket
import statistics
import time
from dataclasses import replace
from urllib.parse import urlsplit

import berserk
import pytest

from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.streams import QUEUE_LINES, LineStream
from tests.lichessbot.rehearsal.client import Client, Stream, account_of, play, start_game, start_hurried_game
from tests.patience import PATIENCE_S

GAME_EVENT_KEYS = {
    "fullId", "gameId", "id", "fen", "color", "lastMove", "source", "status", "variant", "speed", "perf",
    "rated", "hasMoved", "isMyTurn", "opponent", "secondsLeft", "rating", "compat",
}
GAME_FULL_KEYS = {
    "type", "id", "variant", "speed", "perf", "rated", "createdAt", "white", "black", "initialFen",
    "state", "clock",
}
GAME_STATE_KEYS = {"type", "moves", "wtime", "btime", "winc", "binc", "status"}


# The wire.


def test_lines_are_chunked_ndjson_one_chunk_each_with_headers_at_once(ada: Client, hal: Client) -> None:
    address = urlsplit(ada.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as raw:
        request = f"GET /api/stream/event HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ada.token}\r\n\r\n"
        raw.sendall(request.encode())
        head = raw.recv(4096)
        assert head.startswith(b"HTTP/1.1 200")
        assert b"content-type: application/x-ndjson" in head.lower()
        assert b"transfer-encoding: chunked" in head.lower()
        hal.challenge(ada)
        tick = b"1\r\n\n\r\n"
        chunks = b""
        while not chunks:       # ticks come before it, and perhaps after it
            chunks = raw.recv(65536)
            while chunks.startswith(tick):
                chunks = chunks.removeprefix(tick)
        size, _, rest = chunks.partition(b"\r\n")
        line = rest[: int(size, 16)]
        assert line.startswith(b'{"type":"challenge"')
        assert line.endswith(b"}\n")
        assert rest[len(line) :].replace(tick, b"") == b"\r\n"


@pytest.mark.parametrize("path", ["/api/token/test", "/api/challenge/hal"])
def test_a_client_that_goes_before_its_request_is_complete_is_no_error(
    path: str, lichess: RehearsalServer, ada: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A killed daemon does so."""
    address = urlsplit(ada.url)
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S) as raw:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ada.token}\r\nContent-Length: 100\r\n\r\n"
        raw.sendall(head.encode() + b"half of the bo")
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(1000) == b""    # the server has seen it,
    for _ in range(3):
        lichess.call(lambda: None)      # and has gone on
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_no_line_waits_for_a_full_buffer_or_an_acknowledgement(ada: Client, bob: Client) -> None:
    # A delayed acknowledgement costs 0.04 s; a busy machine delays some lines, and perhaps all of some games.
    deadline = time.monotonic() + PATIENCE_S
    while statistics.quantiles(waits_s(ada, bob))[0] >= 0.03:
        assert time.monotonic() < deadline


def waits_s(ada: Client, bob: Client) -> list[float]:
    """How long after each move of a new game its line came."""
    game_id = start_game(ada, bob)
    stream = bob.game(game_id)
    stream.next("gameFull")
    waits = []
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "c2c3", "g8f6", "d2d3", "d7d6"]
    for mover, move in zip([ada, bob] * 5, moves, strict=True):
        sent_s = time.monotonic()
        mover.do(game_id, f"move/{move}")
        stream.next("gameState")
        waits.append(time.monotonic() - sent_s)
    stream.drop()
    return waits


def test_empty_line_at_every_tick_on_both_streams(ada: Client, bob: Client, timing: Timing) -> None:
    game_id = start_game(ada, bob)
    for path in ("/api/stream/event", f"/api/bot/game/stream/{game_id}"):
        asked_s = time.monotonic()
        stream = bob.stream(path)
        lines = [line for _ in range(4) if (line := stream.next_line()) is not None]
        assert [line.payload is None for line in lines] == [False, True, True, True]
        assert lines[-1].at_s - asked_s > 3 * timing.tick_s - 0.01
        deadline = time.monotonic() + PATIENCE_S
        while lines[-1].at_s - lines[-2].at_s > timing.tick_s + 0.15:
            assert time.monotonic() < deadline, "any of them may be late on a busy machine, but not all"
            lines += [line] if (line := stream.next_line()) is not None else []
        stream.drop()


def test_overflowing_queue_drops_the_oldest_lines() -> None:
    async def read_late() -> list[bytes]:
        stream = LineStream(tick_s=1)
        for number in range(QUEUE_LINES + 2):
            stream.write({"n": number})
        stream.end()
        return [chunk async for chunk in stream.body()]

    chunks = asyncio.run(read_late())
    assert (len(chunks), chunks[0]) == (QUEUE_LINES, b'{"n":2}\n')


def test_of_more_games_in_progress_than_the_queue_holds_the_first_are_not_replayed() -> None:
    async def replayed() -> list[bytes]:
        stream = LineStream(tick_s=1, opening=[{"n": number} for number in range(QUEUE_LINES + 2)])
        stream.end()
        return [chunk async for chunk in stream.body()]

    chunks = asyncio.run(replayed())
    assert (len(chunks), chunks[0]) == (QUEUE_LINES, b'{"n":2}\n')


# Events.


def test_open_replays_running_games_first(ada: Client, bob: Client, hal: Client) -> None:
    first, second = start_game(ada, bob), start_game(bob, ada)
    ada.do(first, "move/e2e4")
    waiting = hal.challenge(ada)
    events = ada.events().only(3)
    assert [event["type"] for event in events] == ["gameStart", "gameStart", "challenge"]
    assert {event["game"]["id"] for event in events[:2]} == {first, second}
    assert events[2]["challenge"]["id"] == waiting["id"]


def test_game_start_has_the_shape_of_the_contract(ada: Client, hal: Client) -> None:
    events = ada.events()
    game_id = start_game(ada, hal)
    event = events.next("gameStart")
    game = event["game"]
    assert set(event) == {"type", "game"}
    assert set(game) == GAME_EVENT_KEYS
    assert game["id"] == game["gameId"] == game_id
    assert len(game["fullId"]) == 12
    assert game["status"] == {"id": 20, "name": "started"}
    assert game["variant"] == {"key": "standard", "name": "Standard"}
    assert game["perf"] == game["speed"] == "bullet"
    assert game["opponent"] == {"id": hal.id, "username": hal.name, "rating": 1500}
    assert game["compat"] == {"bot": True, "board": False}
    assert (game["lastMove"], game["isMyTurn"], game["hasMoved"]) == ("", True, False)
    assert game["secondsLeft"] == 60


def test_the_opponents_name_starts_with_the_title(ada: Client, bob: Client) -> None:
    events = ada.events()
    start_game(ada, bob)
    assert events.next("gameStart")["game"]["opponent"]["username"] == f"BOT {bob.name}"


def test_game_finish_is_sent_for_aborts_too(ada: Client, bob: Client) -> None:
    streams = [ada.events(), bob.events()]
    game_id = start_game(ada, bob)
    ada.do(game_id, "abort")
    for events in streams:
        game = events.next("gameFinish")["game"]
        assert game["status"] == {"id": 25, "name": "aborted"}
        assert "winner" not in game


def test_game_finish_names_the_winner(ada: Client, bob: Client) -> None:
    events = ada.events()
    game_id = start_game(ada, bob)
    play(game_id, "e2e4 e7e5", ada, bob)
    ada.do(game_id, "resign")
    assert events.next("gameFinish")["game"]["winner"] == "black"


def test_second_event_stream_of_a_token_ends_the_first_cleanly(ada: Client, hal: Client) -> None:
    first = ada.events()
    second = ada.events()
    assert first.rest() == []
    assert first.ended_cleanly
    hal.challenge(ada)
    assert second.next()["type"] == "challenge"


def test_streams_of_two_tokens_of_one_account_live_side_by_side(
    lichess: RehearsalServer, ada: Client, hal: Client
) -> None:
    token = lichess.call(lambda: lichess.site.accounts.issue_token(account_of(lichess, ada)))
    other = Client(ada.url, token, ada.name)
    streams = [ada.events(), other.events()]
    hal.challenge(ada)
    for events in streams:
        assert events.next("challenge")["challenge"]["challenger"]["id"] == hal.id


# The game stream.


def test_first_line_is_the_full_game(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob, **{"clock.limit": 180, "clock.increment": 2})
    full = ada.game(game_id).next()
    assert set(full) == GAME_FULL_KEYS
    assert set(full["state"]) == GAME_STATE_KEYS
    assert (full["type"], full["id"], full["initialFen"]) == ("gameFull", game_id, "startpos")
    assert full["clock"] == {"initial": 180_000, "increment": 2000}
    assert full["perf"] == {"name": "Blitz"}
    assert full["variant"] == {"key": "standard", "name": "Standard", "short": "Std"}
    assert set(full["white"]) == {"id", "name", "title", "rating", "provisional"}
    assert full["state"]["moves"] == ""


def test_a_clock_with_base_zero_is_told_as_such_though_it_starts_with_more(ada: Client, bob: Client) -> None:
    full = ada.game(start_game(ada, bob, **{"clock.limit": 0, "clock.increment": 2})).next()
    assert full["clock"] == {"initial": 0, "increment": 2000}
    assert (full["state"]["wtime"], full["state"]["btime"]) == (3000, 3000)


def test_a_human_has_a_null_title_in_the_full_game(ada: Client, hal: Client) -> None:
    full = ada.game(start_game(ada, hal)).next()
    assert full["black"]["title"] is None


@pytest.mark.parametrize("variant", ["chess960", "fromPosition"])
def test_other_starts_carry_their_fen(ada: Client, bob: Client, variant: str) -> None:
    form = {"fen": "8/5pk1/1p4p1/p1r4p/P4R1P/1P4P1/5PK1/8 w - - 0 1"} if variant == "fromPosition" else {}
    full = ada.game(start_game(ada, bob, variant=variant, **form)).next()
    assert full["initialFen"].count("/") == 7
    assert full["variant"]["key"] == variant


def test_games_without_a_clock_say_so(ada: Client, bob: Client, timing: Timing) -> None:
    challenge = ada.post(f"/api/challenge/{bob.id}", data={"days": 3, "color": "white"}).json()
    bob.post(f"/api/challenge/{challenge['id']}/accept")
    full = ada.game(challenge["id"]).next()
    assert (full["daysPerTurn"], "clock" in full) == (3, False)
    assert full["state"]["wtime"] == 3 * timing.day_s * 1000
    challenge = ada.post(f"/api/challenge/{bob.id}", data={"color": "white"}).json()
    bob.post(f"/api/challenge/{challenge['id']}/accept")
    full = ada.game(challenge["id"]).next()
    assert full["state"]["wtime"] == 2147483647
    assert "clock" not in full
    assert "daysPerTurn" not in full


def test_every_move_writes_one_state_to_both_also_to_the_mover(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    streams = [ada.game(game_id), bob.game(game_id)]
    play(game_id, "e2e4 e7e5", ada, bob)
    for stream in streams:
        moves = [line["moves"] for line in stream.only(2, "gameState")]
        assert moves == ["e2e4", "e2e4 e7e5"]


def test_game_end_is_a_last_state_and_a_clean_end(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    stream = bob.game(game_id)
    play(game_id, "f2f3 e7e5 g2g4 d8h4", ada, bob)
    last = stream.rest()[-1]
    assert (last["status"], last["winner"]) == ("mate", "black")
    assert stream.ended_cleanly


def test_stream_of_a_finished_game_is_one_line_and_a_clean_end(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    ada.do(game_id, "abort")
    stream = bob.game(game_id)
    (full,) = stream.rest()
    assert (full["type"], full["state"]["status"]) == ("gameFull", "aborted")
    assert stream.ended_cleanly


def test_reopened_game_stream_has_all_moves(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    stream = ada.game(game_id)
    stream.next("gameFull")
    stream.drop()
    play(game_id, "e2e4 e7e5 g1f3", ada, bob)
    assert ada.game(game_id).next("gameFull")["state"]["moves"] == "e2e4 e7e5 g1f3"


def test_second_game_stream_of_the_same_program_ends_the_first(ada: Client, bob: Client) -> None:
    game_id = start_game(ada, bob)
    first, other = ada.game(game_id, "program/1"), ada.game(game_id, "program/2")
    second = ada.game(game_id, "program/1")
    assert [line["type"] for line in first.rest()] == ["gameFull"]
    assert first.ended_cleanly
    ada.do(game_id, "move/e2e4")
    for stream in (other, second):
        assert stream.next("gameState")["moves"] == "e2e4"


def until_claimable(lichess: RehearsalServer, game_id: str, stream: Stream) -> None:
    """Wait until White can claim the game; the seconds of the notices are rounded down."""
    session = lichess.site.session(game_id)
    while lichess.call(lambda: session.claim_in_s(Color.WHITE)) != 0:
        stream.next("opponentGone")


def test_a_closed_game_stream_is_announced_and_can_be_claimed(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    game_id = start_game(ada, bob)
    mine, theirs = ada.game(game_id), bob.game(game_id)
    play(game_id, "e2e4 e7e5 g1f3", ada, bob)
    theirs.next("gameState")
    early = ada.command(game_id, "claim-victory")
    assert (early.status_code, early.json()) == (400, {"error": "You cannot claim the win on this game"})
    theirs.drop()
    gone = mine.next("opponentGone")
    assert gone == {"type": "opponentGone", "gone": True, "claimWinInSeconds": gone["claimWinInSeconds"]}
    assert gone["claimWinInSeconds"] > 0
    until_claimable(lichess, game_id, mine)
    ada.do(game_id, "claim-victory")
    last = mine.rest()[-1]
    assert (last["status"], last["winner"]) == ("timeout", "white")


def test_a_draw_can_be_claimed_of_an_opponent_who_left(
    lichess: RehearsalServer, ada: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lichess.site, "timing", replace(lichess.site.timing, claim_wait_s=0.01))
    game_id = start_game(ada, bob)
    mine, theirs = ada.game(game_id), bob.game(game_id)
    play(game_id, "e2e4 e7e5 g1f3", ada, bob)
    theirs.drop()
    mine.next("opponentGone")
    ada.do(game_id, "claim-draw")
    last = mine.rest()[-1]
    assert (last["status"], last.get("winner")) == ("timeout", None)


def test_a_claim_of_victory_that_draws_the_game_is_answered_with_an_error(
    lichess: RehearsalServer, ada: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lichess.site, "timing", replace(lichess.site.timing, claim_wait_s=0.01))
    game_id = start_game(ada, bob, variant="fromPosition", fen="4k2r/8/8/8/8/8/8/4K3 b - - 0 1")
    mine, theirs = ada.game(game_id), bob.game(game_id)
    play(game_id, "h8h7 e1e2", bob, ada)
    theirs.drop()
    mine.next("opponentGone")
    claim = ada.command(game_id, "claim-victory")
    assert (claim.status_code, claim.json()) == (400, {"error": "You cannot claim the win on this game"})
    last = mine.rest()[-1]
    assert (last["status"], last.get("winner")) == ("timeout", None)


def test_a_player_is_present_while_any_program_has_the_game_open(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    session = lichess.site.session(start_game(ada, bob))
    assert session.is_left_by(Color.BLACK)
    first, second = (lichess.call(lambda it=it: session.open_stream(Color.BLACK, it)) for it in ("a/1", "b/1"))
    lichess.call(lambda: session.close_stream(Color.BLACK, "a/1", first))
    assert not session.is_left_by(Color.BLACK)
    lichess.call(lambda: session.close_stream(Color.BLACK, "b/1", second))
    assert session.is_left_by(Color.BLACK)


def test_the_return_of_an_opponent_whose_game_could_be_claimed_is_announced(
    lichess: RehearsalServer, ada: Client, bob: Client
) -> None:
    game_id = start_game(ada, bob)
    mine, theirs = ada.game(game_id), bob.game(game_id)
    play(game_id, "e2e4 e7e5 g1f3", ada, bob)
    theirs.next("gameState")
    theirs.drop()
    until_claimable(lichess, game_id, mine)
    bob.game(game_id).next("gameFull")
    while (line := mine.next("opponentGone"))["gone"]:
        pass
    assert line == {"type": "opponentGone", "gone": False}


def test_flag_between_programs_is_seen_at_a_tick(
    lichess: RehearsalServer, ada: Client, bob: Client, timing: Timing
) -> None:
    game_id = start_hurried_game(lichess, ada, bob)
    stream = bob.game(game_id)
    ada.do(game_id, "move/e2e4")
    started = time.monotonic()      # the clock of White begins to run a moment later, with the move of Black
    bob.do(game_id, "move/e7e5")
    last = stream.rest()[-1]
    assert (last["status"], last["winner"], last["wtime"]) == ("outoftime", "black", 0)
    assert 0.95 < time.monotonic() - started < 10 + timing.tick_s


def test_the_flag_still_falls_after_a_restart(
    lichess: RehearsalServer, ada: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lichess.site, "timing", replace(lichess.site.timing, restart_gift_s=0.3, restart_mercy_s=0.0))
    game_id = start_hurried_game(lichess, ada, bob)
    stream = bob.game(game_id)
    play(game_id, "e2e4 e7e5", ada, bob)
    lichess.call(lichess.site.session(game_id).outlive_restart)
    last = stream.rest()[-1]
    assert (last["status"], last["winner"]) == ("outoftime", "black")


def test_berserk_reads_both_streams(ada: Client, bob: Client) -> None:
    client = berserk.Client(berserk.TokenSession(ada.token), base_url=ada.url)
    game_id = start_game(ada, bob)
    event = next(client.bots.stream_incoming_events())
    assert event["type"] == "gameStart"
    lines = client.bots.stream_game_state(game_id)
    assert next(lines)["type"] == "gameFull"
    client.bots.make_move(game_id, "e2e4")
    assert next(lines)["moves"] == "e2e4"
