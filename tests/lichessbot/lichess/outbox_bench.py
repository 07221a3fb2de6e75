"""An outbox in front of a scripted Lichess."""

from dataclasses import replace
from datetime import timedelta

from lichessbot.inbox import Inbox
from lichessbot.lichess.commands import (
    CommandDone,
    CommandFailed,
    SendMove,
)
from lichessbot.timeouts import Timeouts
from tests.patience import PATIENCE_S

MOVE = SendMove("abcd1234", 1, "e2e4")
OTHER_MOVE = SendMove("wxyz9876", 1, "d2d4")
MOVE_PATH = "/api/bot/game/abcd1234/move/e2e4"
OTHER_MOVE_PATH = "/api/bot/game/wxyz9876/move/d2d4"
ACCEPT_PATH = "/api/challenge/c1/accept"
ACCOUNT = {"id": "testbot", "username": "TestBot", "title": "BOT"}
TIMEOUTS = replace(
    Timeouts(),
    backoff_first=timedelta(seconds=0.1),
    rate_limit=timedelta(seconds=1.0),
    **dict.fromkeys(
        (
            "connect", "game_answer", "request_answer", "request_patience", "record_patience", "offer_answer",
            "stuck_move", "stuck_request",
        ),
        timedelta(seconds=PATIENCE_S),
    ),
)  # fmt: skip


def answer(inbox: Inbox) -> CommandDone | CommandFailed:
    report = inbox.get(timeout=PATIENCE_S)
    assert isinstance(report, CommandDone | CommandFailed)
    return report


def failure(inbox: Inbox) -> CommandFailed:
    report = answer(inbox)
    assert isinstance(report, CommandFailed)
    return report
