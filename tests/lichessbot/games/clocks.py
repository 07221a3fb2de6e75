"""Games and their clocks, as tests of time need them."""

from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFull, GameState
from lichessbot.timeouts import Timeouts

TIMEOUTS = Timeouts()
NOW = 1000.0


def clock(
    ours_ms: int = 60_000,
    *,
    increment_ms: int = 0,
    their_increment_ms: int = 0,
    their_ms: int = 90_000,
    colour: Colour = Colour.WHITE,
    timed: bool = True,
    running: bool = True,
) -> GameClock:
    white = colour is Colour.WHITE
    state = GameState(
        moves="",
        wtime=ours_ms if white else their_ms,
        btime=their_ms if white else ours_ms,
        winc=increment_ms if white else their_increment_ms,
        binc=their_increment_ms if white else increment_ms,
        status=GameStatus.STARTED,
    )
    return GameClock(colour, timed, running, state, NOW, TIMEOUTS)


def full(clock_field: dict[str, int] | None, wtime: int, days: int | None = None) -> GameFull:
    state = {"moves": "", "wtime": wtime, "btime": wtime, "status": "started"}
    fields = {"id": "abcd1234", "variant": {"key": "standard"}, "clock": clock_field, "daysPerTurn": days}
    return GameFull.model_validate({**fields, "state": state})
