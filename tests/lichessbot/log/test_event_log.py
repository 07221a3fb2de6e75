import io
import json
import logging

import pytest

from lichessbot.log import EventLog, LogFormat, Verbosity, crashes, start_logging
from lichessbot.log.formats import REDACTED
from tests.lichessbot.log.conftest import flush

TOKEN = "lip_secret0123456789"


@pytest.fixture
def log() -> io.StringIO:
    stream = io.StringIO()
    start_logging(stream, [TOKEN])
    return stream


def text_of(log: io.StringIO) -> str:
    flush()
    return log.getvalue()


def line_of(log: io.StringIO) -> str:
    return text_of(log).split(" ", 3)[3]


def test_a_line_is_event_game_and_fields(log: io.StringIO) -> None:
    EventLog("abcd1234").info("game.over", winner="white", plies=12, reason=None, took_s=0.25)
    assert line_of(log) == "game.over game=abcd1234 winner=white plies=12 took_s=0.250\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('hi" admin=yes\n2026 INFO stop', '"hi\' admin=yes\\n2026 INFO stop"'),
        ("hi admin=yes", '"hi admin=yes"'),
        ("admin=yes", '"admin=yes"'),
        ('"', '"\'"'),
        ("", '""'),
    ],
)
def test_text_from_the_network_cannot_forge_a_line_or_a_field(log: io.StringIO, text: str, written: str) -> None:
    EventLog().info("chat", text=text)
    assert line_of(log) == f"chat text={written}\n"


def test_the_field_game_names_the_game_of_an_event() -> None:
    stream = io.StringIO()
    start_logging(stream, [], LogFormat.JSON)
    EventLog().info("game.join", game="abcd1234")
    line = json.loads(text_of(stream))
    assert (line["game"], line["fields"]) == ("abcd1234", {})


def test_the_token_never_reaches_the_log(log: io.StringIO) -> None:
    EventLog().info("start", config=f"token is {TOKEN}")
    try:
        raise ValueError(f"bad header: Bearer {TOKEN}")
    except ValueError as error:
        EventLog().crash("game.crashed", error)
    logging.getLogger("some.library").warning("request with %s", TOKEN)
    assert TOKEN not in text_of(log)
    assert text_of(log).count(REDACTED) == 3


def test_a_bug_that_repeats_is_counted_and_logged_ever_more_seldom(log: io.StringIO) -> None:
    before = crashes()
    for _ in range(100):
        try:
            raise ValueError("the same place each time")
        except ValueError as error:
            EventLog().crash("lobby.crashed", error)
    assert crashes() == before + 100
    assert text_of(log).count("Traceback") == 7
    assert "lobby.crashed times=64" in text_of(log)


def test_another_bug_is_logged_even_where_one_repeats(log: io.StringIO) -> None:
    def one() -> None:
        raise ValueError("one")

    def other() -> None:
        raise ValueError("other")

    for fail in (one, one, other):
        try:
            fail()
        except ValueError as error:
            EventLog().crash("lobby.crashed", error)
    assert "ValueError: other" in text_of(log)


def test_request_bodies_are_not_logged_by_libraries(log: io.StringIO) -> None:
    start_logging(log, [], verbosity=Verbosity.VERBOSE)
    logging.getLogger().setLevel(logging.DEBUG)    # as a test or a library may do
    logging.getLogger("berserk.session").debug("request POST data=something")
    assert text_of(log) == ""


def test_a_broken_connection_is_told_by_our_own_events_alone(log: io.StringIO) -> None:
    logging.getLogger("urllib3.connectionpool").warning("Retrying after connection broken")
    assert text_of(log) == ""


def test_debug_events_need_verbose(log: io.StringIO) -> None:
    EventLog().debug("move.send")
    assert text_of(log) == ""
    start_logging(log, [], verbosity=Verbosity.VERBOSE)
    EventLog().debug("move.send")
    assert "move.send" in text_of(log)
