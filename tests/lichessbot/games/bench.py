"""A game for tests: reports are handed in, and time is a number."""

from datetime import timedelta
from typing import Any

from lichessbot.config import Config, EngineConfig
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.games.actions import (
    Action,
    ReopenStream,
    StartSearch,
)
from lichessbot.games.game import Game
from lichessbot.inbox import Report, Standing
from lichessbot.lichess.commands import SendMove
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameFinish, GameFull, GameInfo, GameState
from lichessbot.lichess.streams import PlayingWanted, StreamEvent
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove

GAME = "abcd1234"
US = "testbot"
THEM = "ferdinand"
TIMEOUTS = Timeouts()
ENGINE_ALONE = Config(engine=EngineConfig(own_book=False))
REFUSED = Refused(400, "Not your turn, or game already over")
UNREACHABLE = Unreachable("ConnectionError: reset")


def limited(seconds: float) -> RateLimited:
    return RateLimited(timedelta(seconds=seconds), "Too many requests")


def state(
    moves: str = "", *, time_ms: int = 60_000, status: str = "started", winner: str | None = None
) -> dict[str, Any]:
    return {
        "moves": moves,
        "wtime": time_ms,
        "btime": time_ms,
        "winc": 0,
        "binc": 0,
        "status": status,
        "winner": winner,
    }


class Bench:
    """A game whose time stands still unless moved."""

    def __init__(
        self,
        *,
        white: bool = True,
        variant: str = "standard",
        fen: str = "startpos",
        timed: bool = True,
        announced: Colour | None = None,
        config: Config = ENGINE_ALONE,
        **settings: Any,
    ) -> None:
        self.now = 1000.0
        self.game = Game(GAME, US, config.model_copy(update=settings), TIMEOUTS, announced)
        self._full = {
            "id": GAME,
            "variant": {"key": variant},
            "white": {"id": US if white else THEM},
            "black": {"id": THEM if white else US},
            "initialFen": fen,
            "clock": {"initial": 60_000, "increment": 0} if timed else None,
        }

    def hear(self, report: Report) -> list[Action]:
        return list(self.game.handle(report, self.now))

    def full(self, moves: str = "", **changes: Any) -> list[Action]:
        full = GameFull.model_validate({**self._full, "state": state(moves, **changes)})
        return self.hear(StreamEvent(GAME, full, self.now))

    def state(self, moves: str = "", **changes: Any) -> list[Action]:
        return self.hear(StreamEvent(GAME, GameState.model_validate(state(moves, **changes)), self.now))

    def finish(self, status: str = "resign", winner: str | None = "white") -> list[Action]:
        game = {"gameId": GAME, "variant": {"key": "standard"}, "status": {"name": status}, "winner": winner}
        return self.hear(StreamEvent(None, GameFinish.model_validate({"game": game}), self.now))

    def wait(self, seconds: float) -> list[Action]:
        """What is done because of the time; looks at the games in progress are passed over."""
        self.now += seconds
        return [action for action in self.game.tick(self.now) if not isinstance(action, PlayingWanted)]

    def looked_after(self, seconds: float) -> bool:
        """Whether the passing of this time brings a look at the games in progress."""
        self.now += seconds
        return any(isinstance(action, PlayingWanted) for action in list(self.game.tick(self.now)))

    def standing(self, *, our_turn: bool | None, asked_ago: float = 0.0) -> list[Action]:
        """A look at the games in progress; `our_turn` None: ours is not among them."""
        info = None
        if our_turn is not None:
            info = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, "isMyTurn": our_turn})
        return self.hear(Standing(GAME, info, self.now - asked_ago))

    def wait_until_due(self) -> list[Action]:
        assert self.game.wake_at is not None
        return self.wait(max(0.0, self.game.wake_at - self.now))

    def owing(self, move: str = "e2e4") -> SendMove:
        """Our first move as White, found and just sent."""
        think = only(self.full(), StartSearch)
        return only(self.hear(BestMove(GAME, think.search.search_id, move)), SendMove)


def tells_of_a_hang(actions: list[Action]) -> bool:
    return any(isinstance(action, ReopenStream) and action.hangs for action in actions)


def only(actions: list[Action], kind: type[Any]) -> Any:
    """The single action, which must be of that kind."""
    assert [type(action) for action in actions] == [kind], actions
    return actions[0]
