"""What a stream reader tells of its stream's age and silence, for the status."""

import time
from queue import SimpleQueue

from pydantic import SecretStr

from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.parsing import parse_game_event
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.lichess.streams import StreamEndpoint, StreamReader
from lichessbot.timeouts import Timeouts
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess

GAME = "abcd1234"
PATIENCE_S = 60.0


def test_a_stream_knows_its_age_and_its_silence(lichess: ScriptedLichess) -> None:
    lichess.answer(f"/api/bot/game/stream/{GAME}", Reply(lines=[b"\n"], end=End.STALL))
    timeouts = Timeouts()
    api = LichessClient(Access(lichess.url, SecretStr("lip_x"), timeouts), timeouts.liveness)
    source = StreamEndpoint(GAME, api, lambda: api.game_stream(GAME), parse_game_event)
    reader = StreamReader(source, SimpleQueue().put, timeouts, RateLimiter(timeouts))
    assert (reader.open_since, reader.heard_at) == (None, None)
    began = time.monotonic()
    reader.start()
    while reader.heard_at is None:
        assert time.monotonic() < began + PATIENCE_S, "a keep-alive line counts"
        time.sleep(0.01)
    opened_at = reader.open_since
    assert opened_at is not None
    assert began <= opened_at <= reader.heard_at <= time.monotonic()
    reader.stop()
    reader.join(PATIENCE_S)
    assert reader.open_since is None
    assert reader.heard_at is not None, "the silence goes on"
