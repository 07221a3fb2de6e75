"""A recorder for tests: reports are handed in, and what it writes is kept."""

import io
from collections.abc import Sequence
from typing import Any

import chess
import chess.pgn

from engine.facade import Board
from lichessbot.games.actions import GameOver
from lichessbot.games.move_search import ChosenMove
from lichessbot.games.recording.archive import ArchivedGame
from lichessbot.games.recording.pgn import pgn_of
from lichessbot.games.recording.recorder import GameRecorder
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFull, GameState
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.database import Statement
from lichessbot.storage.game_records import LevelResults, MoveRecord, Scores
from lichessbot.storage.store import Store
from lichessbot.uci.search import BestMove, SearchInfo

GAME, US = "abcd1234", "testbot"
WON = GameOver(GameStatus.RESIGN, Colour.WHITE, 4)


class Notes(Store):
    """A store that keeps what it is told to write, and no file."""

    def __init__(self) -> None:
        self.scores = Scores()
        self.level_results = LevelResults()
        self.statements: list[Statement] = []
        self.failure = None
        self.on_disk: Sequence[MoveRecord] = ()

    def record(self, *statements: Statement) -> None:
        self.statements += statements

    def moves_of(self, game_id: str) -> Sequence[MoveRecord]:
        return self.on_disk


class Recording:
    """A recorder of a game in which we are White by default."""

    def __init__(self, *, white: bool = True, our_id: str = US, **changes: Any) -> None:
        self.store = Notes()
        self.recorder = GameRecorder(our_id, self.store)
        us = {"id": US, "name": "TestBot", "title": "BOT", "rating": 2000}
        them = {"id": "ferdinand", "name": "Ferdi"}
        self._full = {
            "id": GAME,
            "variant": {"key": "standard", "name": "Standard"},
            "speed": "blitz",
            "rated": True,
            "createdAt": 1_767_225_600_000,
            "white": us if white else them,
            "black": them if white else us,
            "clock": {"initial": 180_000, "increment": 2000},
            **changes,
        }

    def full(self, moves: str, white_s: float = 180, black_s: float = 180) -> None:
        full = {**self._full, "state": self._state(moves, white_s, black_s)}
        self.recorder.handle(StreamEvent(GAME, GameFull.model_validate(full), 0.0))

    def state(self, moves: str, white_s: float = 180, black_s: float = 180, at: float = 0.0) -> None:
        self.recorder.handle(StreamEvent(GAME, GameState.model_validate(self._state(moves, white_s, black_s)), at))

    def _state(self, moves: str, white_s: float, black_s: float) -> dict[str, Any]:
        return {"moves": moves, "wtime": int(white_s * 1000), "btime": int(black_s * 1000), "status": "started"}

    def send(self, moves: str, score: str = "cp 31", reaction_ms: float = 3.2, at: float = 0.0) -> None:
        """Send a move that the engine found, the last one of these."""
        *before, move = moves.split()
        board = Board().after(*before)
        answer = BestMove(GAME, 1, move, SearchInfo(depth=9, nodes=5000, score=score), took_s=1.5)
        self.recorder.note_sent(ChosenMove(board, move, answer), reaction_ms, at)

    def play(self, moves: str, score: str = "cp 31") -> None:
        """Find, send and see our move, the last one of these."""
        self.send(moves, score)
        self.state(moves)

    def finished(self, over: GameOver = WON) -> ArchivedGame:
        return self.recorder.finish(over).completed(self.store.on_disk)

    def read(self, over: GameOver = WON) -> chess.pgn.Game:
        whole = self.finished(over)
        game = chess.pgn.read_game(io.StringIO(pgn_of(whole.record, whole.moves, "https://lichess.org")))
        assert game.errors == []
        return game
