"""Lists of players from servers of every kind: honest, moved, changed, huge, hanging, lying."""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from lichessbot.challenges.player_lists import (
    LONGEST_LIST_BYTES,
    Fetcher,
    ListFile,
    ListUnusable,
    PlayerLists,
    listed_on,
    parse,
)
from lichessbot.inbox import Inbox
from lichessbot.storage.database import Database
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.state_reader import StateReader
from lichessbot.storage.store import Store
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.patience import PATIENCE_S, until
from tests.time_zone import FAR_EAST, in_time_zone

TIMEOUTS = replace(
    Timeouts(),
    list_refresh=timedelta(seconds=0.05),
    list_retry=timedelta(seconds=0.05),
    backoff_first=timedelta(seconds=0.01),
)
HASTY = replace(TIMEOUTS, connect=timedelta(seconds=1), list_answer=timedelta(seconds=0.4))
LIST = "Villain\n# a remark\n\n  rival_2  # another\nvillain\n"
NAMES = frozenset({"villain", "rival_2"})
DAY_BEGINS_S = 1_798_675_200.0    # 2026-12-31 00:00 UTC


@pytest.fixture
def address(lichess: ScriptedLichess) -> str:
    return f"{lichess.url}/list"


def fetch(address: str, etag: str = "") -> PlayerList | None:
    return Fetcher(address, TIMEOUTS, None, etag).fetch()


# What is a list


@pytest.mark.parametrize("body", [LIST.encode(), b"\xef\xbb\xbf" + LIST.replace("\n", "\r\n").encode()])
def test_a_list_is_one_name_a_line_in_any_case(body: bytes) -> None:
    assert frozenset(parse(body)) == NAMES


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        ("Villain", True),
        ("villain until 2026-12-31", True),
        ("Villain  until  2027-01-01 # a month", True),
        ("villain until 2026-12-30", False),
        ("villain until 2026-12-31\nvillain until 2025-01-01", True),
        ("villain until 2025-01-01\nvillain", True),
    ],
)
@in_time_zone(FAR_EAST)
def test_an_entry_with_a_day_lasts_through_that_day_in_utc(line: str, listed: bool) -> None:
    found = PlayerList.of_words("/list", parse(line.encode()))
    assert [found.has("villain", DAY_BEGINS_S + hour * 3600) for hour in (0.5, 23.5)] == [listed] * 2


def test_lines_of_another_form_are_ignored_and_named(caplog: pytest.LogCaptureFixture) -> None:
    body = b"villain\nrival until 2026-02-30\nhero\nrival until Friday\nrival 2026-12-31\nmaia until 2030-01-01\n"
    assert parse(body, "/list") == ["villain", "hero", "maia@2030-01-01"]
    assert 'address=/list lines="2, 4, 5"' in caplog.text


@pytest.mark.parametrize("body", [b"<html><body>\n<p>404</p>\n</body></html>", b"\x89PNG\r\n\x1a\n" + bytes(99)])
def test_a_page_is_no_list(body: bytes) -> None:
    with pytest.raises(ListUnusable, match="not names of players"):
        parse(body)


def test_an_empty_list_blocks_no_player() -> None:
    assert parse(b"# nobody any more\n") == []


# Fetching


def test_an_unchanged_list_is_not_sent_again(lichess: ScriptedLichess, address: str) -> None:
    lichess.answer("/list", Reply(body=LIST, headers=[("ETag", '"1"')]), Reply(304, ""))
    fetcher = Fetcher(address, TIMEOUTS, None)
    assert fetcher.fetch() == PlayerList(address, NAMES, '"1"')
    assert fetcher.fetch() is None
    first, second = lichess.requests
    assert "If-None-Match" not in first.headers
    assert second.headers["If-None-Match"] == '"1"'
    assert "Authorization" not in first.headers
    assert first.headers["User-Agent"].startswith("lichessbot/")


def test_a_list_that_moved_is_followed(lichess: ScriptedLichess, address: str) -> None:
    lichess.answer("/list", Reply(302, "", headers=[("Location", "/moved")]))
    lichess.answer("/moved", Reply(body=LIST))
    fetched = fetch(address)
    assert (fetched.address, fetched.names) == (address, NAMES)


@pytest.mark.parametrize("place", ["/list", "http://example.com/list", "ftp://127.0.0.1/list"])
def test_a_move_in_circles_or_to_an_unsafe_place_is_not_followed(
    lichess: ScriptedLichess, address: str, place: str
) -> None:
    lichess.answer("/list", Reply(302, "", headers=[("Location", place)]))
    with pytest.raises(ListUnusable):
        fetch(address)


def test_a_redirect_to_a_local_address_is_not_followed() -> None:
    outside = Fetcher("https://example.com/list", TIMEOUTS, None)
    assert outside._may_lead_to("https://example.org/list")
    assert not outside._may_lead_to("http://127.0.0.1:8080/admin")
    assert not outside._may_lead_to("https://localhost/admin")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404, "<html>"),
        Reply(500, ""),
        Reply(200, "<html>\n" * 50),
        Reply(body=LIST, headers=[("Content-Encoding", "gzip")]),
        Reply(lines=[LIST.encode()], end=End.STALL),
        Reply(lines=[LIST.encode()], end=End.CUT),
        Reply(lines=[b"v\n"] * 3, end=End.RESET),
        Reply(lines=[b"villain\n", 0.1] * 400),
        Reply(body=LIST, delay_s=40.0),
        Reply(lines=[b"villain\n" * 8192] * 1600),
    ],
    ids=["404", "500", "page", "gzip", "stall", "cut", "reset", "trickle", "hang", "100 MB"],
)
def test_what_is_no_good_list_is_refused_soon(lichess: ScriptedLichess, address: str, reply: Reply) -> None:
    lichess.answer("/list", reply)
    started_at = time.monotonic()
    with pytest.raises(ListUnusable):
        Fetcher(address, HASTY, None).fetch()
    assert time.monotonic() - started_at < 30


def test_a_list_as_long_as_allowed_is_taken(lichess: ScriptedLichess, address: str) -> None:
    lichess.answer("/list", Reply(body="villain\n" * (LONGEST_LIST_BYTES // 8)))
    assert fetch(address).names == {"villain"}


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/", "http://localhost:1/list"])
def test_an_unreachable_server_gives_no_list(address: str) -> None:
    with pytest.raises(ListUnusable):
        fetch(address)


# The last good one stays


def hear(lists: PlayerLists, inbox: Inbox, fact: Callable[[], object]) -> None:
    def is_true_of_what_came() -> object:
        while not inbox.empty():
            lists.update(inbox.get())
        return fact()

    until(is_true_of_what_came)


def test_the_last_good_list_stays_in_force_also_after_a_restart(
    lichess: ScriptedLichess, address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lichess.answer("/list", Reply(body=LIST, headers=[("ETag", '"1"')]), Reply(500, ""))
    inbox: Inbox = SimpleQueue()
    with closing(Store(Database(tmp_path))) as store, closing(PlayerLists(store, inbox.put, TIMEOUTS, None)) as lists:
        assert lists.naming("villain", [address]) is None
        lists.watch([address])
        hear(lists, inbox, lambda: lists.naming("villain", [address]) and len(lichess.requests) > 4)
        assert lists.naming("villain", [address]) == address
        assert lists.naming("hero", [address]) is None
        assert lists.naming("villain", ["https://example.com/other"]) is None
    assert caplog.text.count("list.failed") == 1
    with closing(Store(Database(tmp_path))) as store, closing(PlayerLists(store, inbox.put, TIMEOUTS, None)) as lists:
        assert lists.naming("villain", [address]) == address
        before = len(lichess.requests)
        lists.watch([address])
        hear(lists, inbox, lambda: len(lichess.requests) > before)
        assert lichess.requests[before].headers["If-None-Match"] == '"1"'


def test_a_list_no_longer_configured_is_no_longer_fetched(
    lichess: ScriptedLichess, address: str, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    lichess.answer("/list", Reply(body=LIST))
    inbox: Inbox = SimpleQueue()
    lists = PlayerLists(store, inbox.put, TIMEOUTS, None)
    lists.watch([address])
    hear(lists, inbox, lambda: lists.naming("villain", [address]))
    assert "list.fetched" in caplog.text
    (reader,) = lists._readers.values()
    lists.watch([])
    reader.join(PATIENCE_S)
    asked = len(lichess.requests)
    time.sleep(0.3)
    assert len(lichess.requests) == asked


def test_a_list_is_not_fetched_again_before_the_pause_is_over(
    lichess: ScriptedLichess, address: str, store: Store
) -> None:
    lichess.answer("/list", Reply(body=LIST))
    inbox: Inbox = SimpleQueue()
    with closing(PlayerLists(store, inbox.put, replace(TIMEOUTS, list_refresh=timedelta(hours=1)), None)) as lists:
        lists.watch([address])
        hear(lists, inbox, lambda: lists.naming("villain", [address]))
        time.sleep(0.3)
    assert len(lichess.requests) == 1


# Lists in files


def test_a_file_is_read_again_when_it_changes(
    tmp_path: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "blocked.txt"
    inbox: Inbox = SimpleQueue()
    file.write_text("villain\n")
    times = replace(TIMEOUTS, list_look=timedelta(seconds=0.02))
    with closing(PlayerLists(store, inbox.put, times, None)) as lists:
        lists.watch([str(file)])
        hear(lists, inbox, lambda: lists.naming("villain", [str(file)]) == str(file))
        file.write_text("rival\n")
        hear(lists, inbox, lambda: lists.naming("rival", [str(file)]))
        assert lists.naming("villain", [str(file)]) is None
        file.unlink()
        file.mkdir()
        hear(lists, inbox, lambda: "list.failed" in caplog.text)
        assert lists.naming("rival", [str(file)])


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "blocked.txt"
    file.write_text("villain\n")
    etag = ListFile(str(file), TIMEOUTS).fetch().etag
    assert ListFile(str(file), TIMEOUTS, etag).fetch() is None


def test_what_is_no_file_with_names_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "long").write_text("villain\n" * (LONGEST_LIST_BYTES // 8 + 1))
    (tmp_path / "page").write_text("<html>\n" * 9)
    for name in ("missing", "pipe", "long", "page", "."):
        with pytest.raises(ListUnusable):
            ListFile(str(tmp_path / name), TIMEOUTS).fetch()


def test_commands_read_a_file_anew_and_else_take_the_recorded_version(tmp_path: Path) -> None:
    file = tmp_path / "blocked.txt"
    with closing(Store(Database(tmp_path))) as store:
        store.note_player_list(PlayerList(str(file), frozenset({"villain"})))
    records = StateReader(tmp_path)
    assert listed_on(records, "villain", [str(file)]) == str(file), "the file is missing"
    file.write_text("rival\n")
    assert listed_on(records, "villain", [str(file)]) is None
    assert listed_on(records, "rival", [str(file)]) == str(file)


def test_threads_that_are_refused_for_long_fill_no_log(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    hour = timedelta(hours=1)
    lists = PlayerLists(store, SimpleQueue().put, replace(Timeouts(), backoff_first=hour, list_retry=hour), None)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    lists.watch(["/one", "/two", "/three"])
    for _ in range(100):
        lists.tick()
    assert caplog.text.count("thread.not_started") == 2, "the first retry is immediate"
