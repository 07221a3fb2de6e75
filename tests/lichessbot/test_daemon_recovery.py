"""The daemon after lost lines, lost answers and restarts: no game is forgotten, nothing is done twice."""

import json
import re
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lichessbot.storage.database import read_only
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.scripted_daemon import (
    ACCOUNT,
    EVENTS,
    Daemon,
    accept,
    challenge,
    decline,
    full,
    game,
    leave_over,
    line,
    playing,
    stream,
    ticking,
)


def test_after_an_unreadable_event_the_list_of_games_is_read(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(), playing(game("abcd1234")))
    lichess.answer(EVENTS, ticking(b'{"type":"gameStart","game":{"gam\n'))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))


def test_after_a_standstill_all_streams_are_opened_again(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"  # a stream without a byte for 15 s would be opened again
    daemon.plant = "from lichessbot import timeouts\ntimeouts.LONGEST_STANDSTILL_S = 2.0"
    lichess.answer(EVENTS, ticking(line("gameStart", game=game("abcd1234"))))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", "e2e4")), ticking(full("abcd1234", "e2e4 e7e5")))
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    daemon.start()
    daemon.until(lambda: "game.start game=abcd1234" in daemon.log and "events.open" in daemon.log)
    daemon.signal(signal.SIGSTOP)
    time.sleep(2.5)
    daemon.signal(signal.SIGCONT)
    assert daemon.logged("standstill")
    assert daemon.logged('stream.reopen game=abcd1234 reason="the daemon stood still"')
    daemon.until_moved()
    assert daemon.logged('doubt reason="the daemon stood still"')
    daemon.until(lambda: lichess.paths().count(EVENTS) == 2)


def test_a_game_that_ended_while_the_event_stream_was_away_is_left(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")), playing())
    lichess.answer(EVENTS, Reply(lines=[b"\n", 0.5]), ticking())
    over = Reply(lines=[full("abcd1234", "e2e4 e7e5 g1f3", status="resign")])
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", "e2e4 e7e5 g1f3")), over)
    daemon.start()
    daemon.until(lambda: "game.over game=abcd1234 status=resign" in daemon.log)


def test_a_game_that_ends_while_the_list_is_read_is_not_joined_again(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    daemon.time_scale = "1"         # the second look is 3 s after the first at least, and is waited for 10 s
    asked, ended = threading.Event(), threading.Event()
    both = replace(playing(game("abcd1234"), game("efgh5678")), held=ended)
    lichess.answer("/api/account/playing", playing(game("abcd1234")), both)
    lichess.answer(EVENTS, Reply(lines=[b"\n", 0.5]), ticking())
    moves = "e2e4 e7e5 g1f3"
    over = line("gameState", moves=moves, wtime=1, btime=1, status="resign", winner="white")
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", moves), asked, over))
    lichess.answer(stream("efgh5678"), ticking(full("efgh5678", white="ferdinand")))
    daemon.start()
    daemon.until(lambda: sum(path.startswith("/api/account/playing") for path in lichess.paths()) >= 2)
    asked.set()
    daemon.until(lambda: "game.over game=abcd1234 status=resign" in daemon.log)
    ended.set()
    daemon.until_asked(stream("efgh5678"))
    assert daemon.logged("game.join game=efgh5678")
    assert "game.over game=abcd1234 status=resign" in daemon.log.partition("game.join game=efgh5678")[0]
    assert daemon.log.count("game.join game=abcd1234") == 1


def test_a_game_in_progress_whose_stream_is_refused_is_tried_again(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    refused = Reply(404, {"error": "No such game"})
    lichess.answer(stream("abcd1234"), refused, refused, ticking(full("abcd1234")))
    lichess.answer("/api/bot/game/abcd1234/move/e2e4", Reply())
    daemon.start()
    daemon.until_moved()


def test_a_game_that_can_be_read_ends_the_wait_of_the_event_stream(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.time_scale = "1"
    readable = threading.Event()
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), replace(ticking(full("abcd1234", white="ferdinand")), held=readable))
    lichess.answer(EVENTS, *[Reply(502)] * 6, ticking())
    daemon.start()
    daemon.until(lambda: daemon.log.count("events.lost") == 6)
    lost_at = time.monotonic()
    retry_in_s = float(re.findall(r"events\.lost .*retry_in_s=(\S+)", daemon.log)[-1])
    assert retry_in_s >= 4.0, "half of the backoff after six failures"
    readable.set()
    daemon.until(lambda: "events.open" in daemon.log)
    assert time.monotonic() - lost_at < retry_in_s - 1.0


@pytest.mark.parametrize("ids", [["abcd1234"], ["abcd1234", "efgh5678", "ijkl9012", "mnop3456"]], ids=len)
def test_streams_that_end_at_once_do_not_flood_lichess(
    lichess: ScriptedLichess, daemon: Daemon, ids: list[str]
) -> None:
    daemon.time_scale = "1"
    lichess.answer("/api/account/playing", playing(*map(game, ids)))
    for game_id, lines in zip(ids, ([full(ids[0])], [], [b"<html>\n"], [full(ids[-1])]), strict=False):
        lichess.answer(stream(game_id), Reply(lines=lines))
    began_at = time.monotonic()

    def first_was_asked() -> bool:
        nonlocal began_at
        now = time.monotonic()
        is_asked = stream(ids[0]) in lichess.paths()
        if not is_asked:
            began_at = now
        return is_asked

    daemon.start()
    daemon.until(first_was_asked)
    daemon.until_asked(stream(ids[-1]))
    time.sleep(5.0)
    opened = Counter(path for path in lichess.paths() if path.startswith(stream("")))
    seconds = time.monotonic() - began_at
    assert max(opened.values()) <= 2 * seconds + 2
    assert opened.total() <= 4 * seconds + len(ids) + 1


def test_an_unknown_end_status_is_checked(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    strange = Reply(lines=[full("abcd1234", status="quantumCollapse")])
    lichess.answer(stream("abcd1234"), strange, ticking(full("abcd1234")))
    daemon.start()
    daemon.until_moved()
    assert daemon.logged("game.join game=abcd1234", 2)


def test_the_most_urgent_game_is_joined_first_whatever_the_order(lichess: ScriptedLichess, daemon: Daemon) -> None:
    theirs = game("theirs11", isMyTurn=False, secondsLeft=5)
    calm, urgent = (game(name, isMyTurn=True, secondsLeft=left) for name, left in (("calm1111", 90), ("urgent11", 8)))
    lichess.answer("/api/account/playing", playing(theirs, calm, urgent))
    daemon.start()
    daemon.until(lambda: daemon.log.count("game.join game=") >= 3)    # later, they are joined again
    joined = [part.split()[0] for part in daemon.log.split("game.join game=")[1:4]]
    assert joined == ["urgent11", "calm1111", "theirs11"]


def test_a_challenge_that_was_answered_is_not_answered_again_after_a_restart(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    lichess.answer(accept("one"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one")))
    daemon.start()
    daemon.until_asked(accept("one"))
    daemon.until(lambda: "challenge.no_game" in daemon.log)
    daemon.until(lambda: read_only(tmp_path / "state", "SELECT * FROM answers"))
    daemon.stop()
    asked = lichess.paths().count(EVENTS)
    daemon.start()
    daemon.until(lambda: lichess.paths().count(EVENTS) > asked)
    time.sleep(0.5)
    assert lichess.paths().count(accept("one")) == 1


def resume_and_be_killed(daemon: Daemon, folder: Path) -> None:
    """Start the daemon, and kill it once its records have the game that it resumes."""
    daemon.start()
    daemon.until(lambda: "game.resume game=abcd1234" in daemon.log)
    daemon.until(lambda: read_only(folder / "state", "SELECT * FROM games"))
    daemon.stop()


def test_a_game_that_ends_while_no_daemon_runs_is_recorded_with_its_result(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    daemon.time_scale = "1"         # the list comes long before the daemon joins what it remembers
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", "e2e4 e7e5 g1f3")))
    resume_and_be_killed(daemon, tmp_path)
    lichess.answer("/api/account/playing", playing())
    lichess.answer(stream("abcd1234"), Reply(lines=[full("abcd1234", "e2e4 e7e5 g1f3", status="draw")]))
    daemon.start()
    daemon.until(lambda: "game.over game=abcd1234" in daemon.log)
    query = "SELECT result, status, plies FROM games WHERE id = 'abcd1234' AND left_at IS NOT NULL"
    daemon.until(lambda: [tuple(row) for row in read_only(tmp_path / "state", query)] == [("drawn", "draw", 3)])


def test_a_game_that_ended_while_no_daemon_ran_ends_once_though_the_list_comes_late(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    daemon.settings = "pgn_directory: games\npgn_file_grouping: all\n"
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", "e2e4 e7e5 g1f3")))
    resume_and_be_killed(daemon, tmp_path)
    ended = threading.Event()
    lichess.answer("/api/account", Reply(body=ACCOUNT, held=ended))
    lichess.answer("/api/account/playing", playing())
    lichess.answer(stream("abcd1234"), Reply(lines=[full("abcd1234", "e2e4 e7e5 g1f3", status="draw")]))
    daemon.start()
    daemon.until(lambda: "pgn.written game=abcd1234" in daemon.log)
    ended.set()
    daemon.until(lambda: "events.open" in daemon.log)           # the list was read before
    assert daemon.log.count("game.join game=abcd1234") == 1
    assert (tmp_path / "games" / "testbot games.pgn").read_text().count("[Event ") == 1


def test_a_correspondence_game_that_ends_while_no_daemon_runs_is_recorded_beside_many_others(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    facts: dict[str, Any] = {"speed": "correspondence", "isMyTurn": False}
    listed = [game(f"lasting{number:02}", **facts) for number in range(50)]
    lichess.answer("/api/account/playing", playing(*listed[1:], game("abcd1234", **facts)))
    daemon.start()
    query = "SELECT id FROM games WHERE left_at IS NULL"
    daemon.until(lambda: len(read_only(tmp_path / "state", query)) == 50)
    daemon.stop()
    lichess.answer("/api/account/playing", playing(*listed))
    lichess.answer(stream("abcd1234"), Reply(lines=[full("abcd1234", "e2e4 e7e5 g1f3", status="draw")]))
    daemon.start()
    query = "SELECT result, status, plies FROM games WHERE id = 'abcd1234' AND left_at IS NOT NULL"
    daemon.until(lambda: [tuple(row) for row in read_only(tmp_path / "state", query)] == [("drawn", "draw", 3)])


def test_correspondence_games_are_played_although_lichess_refuses_the_list_of_games(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    daemon.settings = "correspondence: {checkin_period: 1, disconnect_time: 0}\n"
    lichess.answer("/api/account/playing", Reply(403, {"error": "Missing scope: preference:read"}))
    lichess.answer(EVENTS, ticking(line("gameStart", game=game("abcd1234", speed="correspondence", isMyTurn=False))))
    theirs, ours = full("abcd1234", white="ferdinand"), full("abcd1234", "e2e4", white="ferdinand")
    lichess.answer(stream("abcd1234"), ticking(theirs), ticking(ours))
    daemon.start()
    daemon.until_moved()


def test_a_signal_before_the_games_left_over_are_joined_lets_them_end(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    leave_over(tmp_path, lichess.url, has_clock=True)
    never, resumed = threading.Event(), threading.Event()
    moves = "e2e4 e7e5 g1f3"
    over = line("gameState", moves=moves, wtime=1, btime=1, status="resign", winner="white")
    lichess.answer("/api/account", Reply(body=ACCOUNT, held=never))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", moves), resumed, over))
    daemon.start()
    daemon.until_asked("/api/account")
    daemon.signal(signal.SIGTERM)
    daemon.until(lambda: "game.resume game=abcd1234" in daemon.log)
    resumed.set()
    assert daemon.exit_code() == 0
    assert "game.over game=abcd1234" in daemon.log
    never.set()


def test_a_failing_engine_ends_the_daemon_at_once_if_the_games_left_over_are_of_another_server(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    leave_over(tmp_path, "http://localhost:9663", has_clock=True)
    lichess.answer("/api/account", Reply(502))
    daemon.settings = "profiles: [{when: {speed: rapid}, engine: {command: [no-such-engine]}}]\n"
    daemon.start()
    assert daemon.exit_code() == 2
    assert daemon.logged("engine.unfit")


def test_a_rematch_that_must_wait_for_the_account_costs_no_processor_time(
    lichess: ScriptedLichess, daemon: Daemon, tmp_path: Path
) -> None:
    daemon.settings = "rematch: {offer: all}\n"
    moves = "e2e4 e7e5 g1f3"
    over = line("gameState", moves=moves, wtime=1, btime=1, status="resign", winner="white")
    lichess.answer("/api/account", Reply(body=ACCOUNT), Reply(502))
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", moves)), ticking(full("abcd1234", moves), over))
    resume_and_be_killed(daemon, tmp_path)
    daemon.start()
    daemon.until(lambda: "game.over game=abcd1234 status=resign" in daemon.log)
    before, begun = daemon.processor_s, time.monotonic()
    time.sleep(1.5)
    assert daemon.processor_s - before < 0.5 * (time.monotonic() - begun), "it spins"


def test_a_second_daemon_with_the_same_token_is_recognised_and_not_fought(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(EVENTS, Reply(lines=[b"\n"]))
    daemon.start()
    daemon.until(lambda: "another client seems to use this token" in daemon.log)
    begun, asked = time.monotonic(), lichess.paths().count(EVENTS)
    time.sleep(2.0)
    opened = lichess.paths().count(EVENTS) - asked
    assert opened <= 1 + (time.monotonic() - begun) / 12.0, "of a pause of a minute, here 12 s"


def test_a_game_that_begins_while_another_client_has_the_event_stream_is_found(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    lichess.answer(EVENTS, Reply(lines=[b"\n"]))
    lichess.answer("/api/account/playing", playing(), playing(), playing(game("abcd1234")))
    daemon.start()
    daemon.until_asked(stream("abcd1234"))
    assert lichess.paths().count(EVENTS) == 2, "and not only when it is opened again, after a pause of 12 s"


def test_a_page_that_denies_access_does_not_end_the_daemon(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account", Reply(403, "<html>Attention</html>"), Reply(body=ACCOUNT))
    lichess.answer(EVENTS, Reply(403, "<html>Attention</html>"), ticking())
    daemon.start()
    daemon.until(lambda: "events.open" in daemon.log)


def test_hash_tables_that_do_not_fit_are_made_smaller_with_a_warning(lichess: ScriptedLichess, daemon: Daemon) -> None:
    daemon.engine = "hash_mb: 65536, "
    daemon.settings = "correspondence: {concurrency: 16}\n"    # 17 such tables fit into no machine below 1.4 TiB
    daemon.start()
    daemon.until_asked(EVENTS)
    assert daemon.logged(" WARNING memory ")


# Answers that Lichess does not take


def reasons(lichess: ScriptedLichess, challenge_id: str) -> list[object]:
    """What we gave as reasons for declining it."""
    path = decline(challenge_id)
    return [json.loads(request.body)["reason"] for request in lichess.requests if request.path == path]


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (Reply(400, {"error": "The challenge has been canceled."}), []),
        (Reply(404, {"error": "Not found"}), []),
        (Reply(429, {"error": "Too many requests", "ratelimit": {"key": "a", "seconds": 0.2}}), ["later"]),
    ],
    ids=["canceled", "expired", "429"],
)
def test_a_refused_acceptance_frees_the_slot_and_declines_an_open_challenge(
    lichess: ScriptedLichess, daemon: Daemon, refusal: Reply, told: list[object]
) -> None:
    lichess.answer(accept("one"), refusal)
    lichess.answer(decline("one"), Reply())
    lichess.answer(accept("two"), Reply())
    second = challenge("two", challenger={"id": "ada", "name": "Ada"})
    lichess.answer(EVENTS, ticking(challenge("one"), *[0.4, b"\n"] * 4, second))
    daemon.start()
    daemon.until_asked(accept("two"), *[decline("one")] * len(told))
    assert reasons(lichess, "one") == told


def test_a_refused_acceptance_frees_the_slot_although_lichess_refuses_the_list_of_games(
    lichess: ScriptedLichess, daemon: Daemon
) -> None:
    freed = threading.Event()
    lichess.answer("/api/account/playing", Reply(403, {"error": "Missing scope: preference:read"}))
    lichess.answer(accept("one"), Reply(404, {"error": "Not found"}))
    lichess.answer(accept("two"), Reply())
    lichess.answer(EVENTS, ticking(challenge("one"), freed, challenge("two")))
    daemon.start()
    daemon.until(lambda: "challenge.no_game challenge=one" in daemon.log)
    freed.set()
    daemon.until_asked(accept("two"))


def test_an_acceptance_that_may_have_taken_effect_keeps_its_slot(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer(accept("abcd1234"), Reply(502), Reply(404, {"error": "Not found"}))
    lichess.answer("/api/account/playing", playing(), playing(game("abcd1234")))
    lichess.answer(decline("two"), Reply())
    second = challenge("two", challenger={"id": "ada", "name": "Ada"})
    lichess.answer(EVENTS, ticking(challenge("abcd1234"), second))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    daemon.start()
    daemon.until_asked(decline("two"), stream("abcd1234"))
    assert accept("two") not in lichess.paths()


def test_a_replayed_challenge_does_not_wait(lichess: ScriptedLichess, daemon: Daemon) -> None:
    lichess.answer("/api/account/playing", playing(game("abcd1234")))
    lichess.answer(stream("abcd1234"), ticking(full("abcd1234", white="ferdinand")))
    lichess.answer(decline("old"), Reply())
    told_again = json.loads(challenge("old"))
    del told_again["compat"]
    lichess.answer(EVENTS, ticking(json.dumps(told_again).encode() + b"\n"))
    daemon.start()
    daemon.until_asked(decline("old"))
    assert reasons(lichess, "old") == ["later"]
    assert "challenge.wait" not in daemon.log
