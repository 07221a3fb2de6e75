"""A game for tests: reports are handed in, and time is a number."""

from datetime import timedelta
from typing import Any

from lichessbot.config import Config
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.games.actions import (
    Action,
    AskSources,
    KillEngine,
    ReopenStream,
    StartSearch,
)
from lichessbot.games.game import Game
from lichessbot.inbox import ListedGame, Report
from lichessbot.lichess.commands import SendMove
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import GameFinish, GameFull, GameInfo, GameState, OpponentGone
from lichessbot.lichess.streams import PlayingWanted, StreamEvent
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.store import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, EngineDied, EngineReady, SearchInfo

GAME = "abcd1234"
US = "testbot"
THEM = "ferdinand"
TIMEOUTS = Timeouts()
NOTHING_DONE = dict.fromkeys(LimitedAction, 0)
REFUSED = Refused(400, "Not your turn, or game already over")
UNREACHABLE = Unreachable("ConnectionError: reset")


def limited(seconds: float) -> RateLimited:
    return RateLimited(timedelta(seconds=seconds), "Too many requests")


def state(
    moves: str = "",
    flags: str = "",
    *,
    time_ms: int | None = 60_000,
    status: str = "started",
    winner: str | None = None,
) -> dict[str, Any]:
    """Return a state as Lichess sends it; `flags` are the names of fields that are true."""
    return {
        **dict.fromkeys(flags.split(), True),
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
        initial_ms: int = 60_000,
        days: int | None = None,
        announced: Colour | None = None,
        sources: bool = False,
        their_title: str = "",
        takebacks_done: int = 0,
        draws_offered: int = 0,
        ready: bool = True,
        **settings: Any,
    ) -> None:
        """`sources`: with the default move sources, else the engine alone. `ready`: the engine tells at once that it
        is. `settings`: keys of the configuration.
        """
        self.now = 1000.0
        self._ready = ready
        config = Config.model_validate(settings)
        if not sources:
            config = config.model_copy(update={"engine": config.engine.model_copy(update={"own_book": False})})
        done = {LimitedAction.TAKEBACK: takebacks_done, LimitedAction.DRAW_OFFER: draws_offered}
        self.game = Game(GAME, US, config, TIMEOUTS, announced, {**NOTHING_DONE, **done})
        them = {"id": THEM, "title": their_title, "rating": 1800}
        self._full = {
            "id": GAME,
            "variant": {"key": variant},
            "white": {"id": US} if white else them,
            "black": them if white else {"id": US},
            "initialFen": fen,
            "clock": {"initial": initial_ms, "increment": 0} if timed and days is None else None,
            "daysPerTurn": days,
        }

    def hear(self, report: Report) -> list[Action]:
        return list(self.game.handle(report, self.now))

    def full(self, moves: str = "", flags: str = "", **changes: Any) -> list[Action]:
        full = GameFull.model_validate({**self._full, "state": state(moves, flags, **changes)})
        actions = self.hear(StreamEvent(GAME, full, self.now))
        if self._ready:
            self._ready = False
            assert self.hear(EngineReady(GAME)) == []
        return actions

    def state(self, moves: str = "", flags: str = "", **changes: Any) -> list[Action]:
        return self.hear(StreamEvent(GAME, GameState.model_validate(state(moves, flags, **changes)), self.now))

    def finish(self, status: str = "resign", winner: str | None = "white", **more: str) -> list[Action]:
        game = {"gameId": GAME, "variant": {"key": "standard"}, "status": {"name": status}, "winner": winner, **more}
        return self.hear(StreamEvent(None, GameFinish.model_validate({"game": game}), self.now))

    def gone(self, claim_in_s: int | None, *, gone: bool = True) -> list[Action]:
        event = OpponentGone.model_validate({"gone": gone, "claimWinInSeconds": claim_in_s})
        return self.hear(StreamEvent(GAME, event, self.now))

    def find(self, actions: list[Action], move: str, score: str = "cp 0") -> list[Action]:
        """Answer the search among `actions`."""
        think = next(action for action in actions if isinstance(action, StartSearch))
        return self.hear(BestMove(GAME, think.search.search_id, move, SearchInfo(depth=5, score=score)))

    def die(self, think: StartSearch) -> list[Action]:
        """The engine dies in that search."""
        return self.hear(EngineDied(GAME, think.search.search_id, "crashed"))

    def restart(self, think: StartSearch) -> StartSearch:
        """The engine dies in that search; return the one that another engine is asked for."""
        kill, again = self.die(think)
        assert isinstance(kill, KillEngine)
        assert isinstance(again, StartSearch)
        return again

    def wait(self, seconds: float) -> list[Action]:
        """Let time pass; return what is done but for requests for the list of games."""
        self.now += seconds
        return [action for action in self.game.tick(self.now) if not isinstance(action, PlayingWanted)]

    def list_requested_after(self, seconds: float) -> bool:
        """Let time pass; return whether the list of games is requested."""
        self.now += seconds
        return any(isinstance(action, PlayingWanted) for action in list(self.game.tick(self.now)))

    def standing(self, *, our_turn: bool | None, asked_ago: float = 0.0, is_whole: bool = True) -> list[Action]:
        """Hand in a list of games; `our_turn` None: ours is not among them."""
        info = None
        if our_turn is not None:
            info = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, "isMyTurn": our_turn})
        return self.hear(ListedGame(GAME, info, self.now - asked_ago, is_whole))

    def wait_until_due(self) -> list[Action]:
        return self.wait(max(0.0, self.game.wake_at - self.now))

    def owing(self, move: str = "e2e4") -> SendMove:
        """Find and send our first move as White."""
        think = only(self.full(), StartSearch)
        return only(self.hear(BestMove(GAME, think.search.search_id, move)), SendMove)


def reports_a_hang(actions: list[Action]) -> bool:
    return any(isinstance(action, ReopenStream) and action.hangs for action in actions)


def only(actions: list[Action], kind: type[Any]) -> Any:
    """Return the single action, which must be of that kind."""
    assert [type(action) for action in actions] == [kind], actions
    return actions[0]


def consulting(**about: Any) -> tuple[Bench, AskSources]:
    """Return a game that has asked the sources for its first move."""
    bench = Bench(sources=True, **about)
    return bench, only(bench.full(), AskSources)


def advice(consult: AskSources, *moves: str, **about: Any) -> SourceAnswer:
    return SourceAnswer(GAME, consult.question.search_id, moves, **about)
