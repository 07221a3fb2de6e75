"""Which announced and listed games are joined."""

import time
from queue import SimpleQueue
from types import SimpleNamespace
from typing import cast

import pytest

from lichessbot.games.manager import GameManager
from lichessbot.games.session import GameContext
from lichessbot.lichess.models import GameInfo
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import NO_GAME
from lichessbot.uci.search import EngineDied

INFO = GameInfo.model_validate({"gameId": "abcd1234", "variant": {"key": "standard"}, "speed": "blitz"})


def test_a_late_announcement_does_not_begin_a_game_again(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[GameInfo] = []
    manager = GameManager(SimpleQueue(), Timeouts())
    monkeypatch.setattr(manager, "_start_session", joined.append)
    context = cast(GameContext, SimpleNamespace())
    manager._ended_at["abcd1234"] = time.monotonic()
    manager.join(INFO, context)
    assert joined == []
    other = INFO.model_copy(update={"game_id": "efgh5678"})
    manager.join(other, context)
    assert joined == [other]


def test_an_engine_that_dies_between_two_games_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    GameManager(SimpleQueue(), Timeouts()).tell(NO_GAME, EngineDied(NO_GAME, None, "killed by SIGKILL"))
    assert "engine.died" in caplog.text
