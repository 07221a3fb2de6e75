"""A chat with an opponent, for tests."""

from typing import Any

from engine.facade import Board
from lichessbot.config import Config, EngineConfig
from lichessbot.games.actions import Action
from lichessbot.games.chat.chat import Chat, ChatFacts
from lichessbot.lichess.enums import ChatRoom
from lichessbot.lichess.models import ChatLine, GameFull
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.game_records import Result, Scores
from lichessbot.storage.store import LimitedAction
from lichessbot.timeouts import Timeouts
from lichessbot.uci.restarting_engine import EngineIdentity
from lichessbot.uci.search import BestMove, SearchInfo
from tests.lichessbot.games.bench import NOTHING_DONE

GAME, US = "abcd1234", "testbot"
TIMEOUTS = Timeouts()
SPACING_S = TIMEOUTS.chat_spacing.total_seconds()
PLAYER, SPECTATOR = ChatRoom.PLAYER, ChatRoom.SPECTATOR
FERDINAND = {"id": "ferdinand", "name": "Ferdinand", "rating": 1900}


class ChatBench:
    """A chat with Ferdinand."""

    def __init__(
        self,
        greeting: dict[str, str] | None = None,
        *done: LimitedAction,
        config: dict[str, Any] | None = None,
        engine_name: str = "Aleph 1.0",
    ) -> None:
        self.now = 1000.0
        self.queue: list[str] = []
        self.engine_name = engine_name
        self.takebacks = 0
        self.round_trip_s: float | None = None
        self.board = Board()
        self.scores = Scores()
        self.engine = EngineConfig()
        self.levels: tuple[int, int] | None = (600, 2850)
        self.level_results: list[tuple[int, Result]] = []
        facts = ChatFacts(
            Config.model_validate({"greeting": greeting or {}, **(config or {})}),
            engine=lambda: self.engine,
            identity=lambda: EngineIdentity(self.engine_name, self.levels),
            board=lambda: self.board,
            takebacks_granted=lambda: self.takebacks,
            round_trip_s=lambda: self.round_trip_s,
            waiting=lambda: self.queue,
            scores=self.scores,
            level_results=lambda *of: self.level_results if of == ("ferdinand", "standard") else [],
        )
        self.chat = Chat(GAME, US, facts, {**NOTHING_DONE, **dict.fromkeys(done, 1)}, TIMEOUTS)

    def hear(self, event: Any) -> list[Action]:
        return list(self.chat.handle(StreamEvent(GAME, event, self.now), self.now))

    def meet(
        self,
        them: dict[str, Any] | None = None,
        moves: str = "",
        status: str = "started",
        *,
        rated: bool = False,
        **facts: Any,
    ) -> list[Action]:
        state = {"moves": moves, "wtime": 1, "btime": 1, "status": status}
        them = them if them is not None else {"id": "ferdinand", "name": "Ferdinand"}
        full = {"id": GAME, "variant": {"key": "standard"}, "white": them, "black": {"id": US, "name": "TestBot"}}
        facts = {"clock": {"initial": 60_000, "increment": 0}, "rated": rated, **facts}
        return self.hear(GameFull.model_validate({**full, **facts, "state": state}))

    def searched(self, pv: str, score: str = "cp 1") -> None:
        """The engine answers a search, in the present position, with the first move of `pv`."""
        summary = SearchInfo(depth=12, nodes=3456, score=score, pv=pv)
        list(self.chat.handle(BestMove(GAME, 1, pv.split()[0], summary), self.now))

    def play(self, moves: str) -> None:
        for move in moves.split():
            self.board.push(move)

    def line(self, text: str, room: str = "player", username: str = "Ferdinand") -> list[Action]:
        self.now += SPACING_S
        return self.hear(ChatLine(room=room, username=username, text=text))

    def answer(self, text: str, room: str = "player", username: str = "Ferdinand") -> str:
        (said,) = self.line(text, room, username)
        assert said.room == room
        return said.text

    def tell_a_spectator(self, text: str) -> str:
        return self.answer(text, "spectator", "Somebody")
