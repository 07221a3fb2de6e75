"""The session of one game without an engine and without Lichess."""

from datetime import timedelta
from queue import SimpleQueue
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.config import Config, EngineConfig
from lichessbot.control.counters import Counters
from lichessbot.games.session import GameSession
from lichessbot.games.time_budget import MoveOverhead
from lichessbot.lichess.client import Access
from lichessbot.lichess.commands import Command
from lichessbot.lichess.models import GameInfo
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.move_sources import Hosts
from lichessbot.storage.game_records import LevelResults, Scores
from lichessbot.timeouts import Timeouts
from lichessbot.uci.restarting_engine import IdleEngines
from tests.lichessbot.games.bench import GAME
from tests.lichessbot.machines import UNKNOWN_MACHINE


class Outbox:
    """Takes note of what is sent, which goes nowhere."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.awaited: list[Event | None] = []
        """For each command, the record that it waits for."""
        self.renewed: list[str] = []

    def send(self, command: Command, recorded: Event | None) -> None:
        self.sent.append(command)
        self.awaited.append(recorded)

    def renew(self, game_id: str) -> None:
        self.renewed.append(game_id)


@pytest.fixture
def context() -> Any:
    """What the session knows: its engine is no program, and so every search is reported as failed."""
    engine = EngineConfig(own_book=False, variety=False, command=["no-such-engine"])
    timeouts = Timeouts()
    return SimpleNamespace(
        our_id="testbot",
        config=Config(engine=engine),
        machine=UNKNOWN_MACHINE,
        timeouts=timeouts,
        inbox=SimpleQueue(),
        outbox=Outbox(),
        store=SimpleNamespace(
            times_done=lambda game_id, deed: 0,
            scores=Scores(),
            level_results=LevelResults(),
            chosen_level=lambda game_id: None,
            record=lambda *statements: None,
            note_round_trip=lambda ms: None,
            note_result=lambda game, result: None,
        ),
        overhead=MoveOverhead([]),
        opening_variety=SimpleNamespace(choose_move=lambda answer: answer),
        rate_limiter=RateLimiter(timeouts),
        hosts=Hosts(Access("http://127.0.0.1:1", SecretStr(""), timeouts), RateLimiter(timeouts)),
        waiting=list,
        counters=Counters(),
    )


@pytest.fixture
def session(context: Any) -> GameSession:
    info = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}})
    return GameSession(info, context, IdleEngines(timedelta()))
