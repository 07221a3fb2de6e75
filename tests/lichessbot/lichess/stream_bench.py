"""A stream reader in front of a scripted Lichess, with short timeouts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from lichessbot.inbox import Inbox, Report
from lichessbot.lichess.models import ChatLine
from lichessbot.lichess.streams import StreamEvent, StreamLost, StreamReader
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply
from tests.lichessbot.scripted_daemon import line
from tests.patience import PATIENCE_S

GAME = "abcd1234"
EVENT_PATH, GAME_PATH = "/api/stream/event", f"/api/bot/game/stream/{GAME}"
TIMEOUTS = replace(
    Timeouts(),
    connect=timedelta(seconds=PATIENCE_S),
    liveness=timedelta(seconds=PATIENCE_S),
    stream_proven=timedelta(seconds=PATIENCE_S),
    backoff_first=timedelta(seconds=0.1),
    game_backoff_ceiling=timedelta(seconds=0.2),
    stream_spacing=timedelta(),
    eviction_pause=timedelta(seconds=0.6),
    rate_limit=timedelta(seconds=0.5),
)
IMPATIENT = replace(TIMEOUTS, liveness=timedelta(seconds=1))     # for streams that fall silent
Read = Callable[..., StreamReader]
Logged = pytest.LogCaptureFixture


def chat(text: str) -> bytes:
    return line("chatLine", text=text)


def game_state(status: str = "started") -> bytes:
    return line("gameState", moves="", wtime=1, btime=1, status=status)


STAY = Reply(lines=[b"\n"], end=End.STALL)


def heard(inbox: Inbox) -> Report:
    return inbox.get(timeout=PATIENCE_S)


def texts(inbox: Inbox, count: int) -> list[str]:
    """Return the next chat lines and skip everything else."""
    found: list[str] = []
    while len(found) < count:
        if isinstance(report := heard(inbox), StreamEvent) and isinstance(report.event, ChatLine):
            found.append(report.event.text)
    return found


def lost(inbox: Inbox) -> StreamLost:
    while True:
        report = heard(inbox)
        if isinstance(report, StreamLost):
            return report
