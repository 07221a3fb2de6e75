"""The session of one game, with reports handed in instead of threads that send them."""

import logging
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from lichessbot.config import Config, EngineConfig
from lichessbot.games.session import GameSession
from lichessbot.lichess.client import Access
from lichessbot.lichess.models import GameFull, GameInfo
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import StreamEvent
from lichessbot.move_sources import Hosts
from lichessbot.storage.game_records import Scores
from lichessbot.timeouts import Timeouts
from lichessbot.uci.profiles import UNKNOWN_MACHINE
from lichessbot.uci.search import BestMove, EngineDied, SearchSummary

GAME = "abcd1234"


def state(moves: str = "") -> dict[str, Any]:
    return {"moves": moves, "wtime": 60_000, "btime": 60_000, "winc": 0, "binc": 0, "status": "started"}


@pytest.fixture
def session() -> GameSession:
    """A game whose engine is no program: every search is reported as failed, and what is sent goes nowhere."""
    engine = EngineConfig(own_book=False, variety=False, command=["no-such-engine"])
    timeouts = Timeouts()
    context: Any = SimpleNamespace(
        our_id="testbot",
        config=Config(engine=engine),
        machine=UNKNOWN_MACHINE,
        timeouts=timeouts,
        inbox=SimpleQueue(),
        outbox=SimpleNamespace(send=lambda command, recorded: None),
        store=SimpleNamespace(times_done=lambda game_id, deed: 0, scores=Scores(), record=lambda *statements: None),
        overhead=SimpleNamespace(now_ms=lambda config: 100),
        opening_variety=SimpleNamespace(choose_move=lambda answer: answer),
        hosts=Hosts(Access("http://127.0.0.1:1", SecretStr(""), timeouts), RateLimiter(timeouts)),
        waiting=list,
    )
    return GameSession(GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}}), context)


def test_the_log_names_only_answers_that_are_played_as_moves(
    session: GameSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "lichessbot")
    players = {"white": {"id": "testbot"}, "black": {"id": "ferdinand"}, "clock": {"initial": 60_000, "increment": 0}}
    full = GameFull.model_validate({"id": GAME, "variant": {"key": "standard"}, **players, "state": state()})
    session.handle(StreamEvent(GAME, full, 1000.0))
    failed = session._context.inbox.get_nowait()
    assert isinstance(failed, EngineDied)
    search_id = failed.search_id
    assert search_id is not None
    summary = SearchSummary(depth=3, pv="e2e4 e7e5")
    session.handle(BestMove(GAME, search_id + 1, "d2d4", SearchSummary(depth=2)))
    session.handle(BestMove(GAME, search_id, "e2e4", summary))
    session.handle(BestMove(GAME, search_id, "e2e4", summary))
    (line,) = [record.message for record in caplog.records if record.message.startswith("engine.move ")]
    assert line.startswith(f"engine.move game={GAME} move=e2e4 depth=3")
