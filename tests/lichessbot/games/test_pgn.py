"""The record of a game as it is written down; python-chess reads it back."""

import io
from typing import Any

import chess
import chess.engine
import chess.pgn
import pytest

from engine.facade import STARTING_FEN, Limits, chess960_fen
from lichessbot.games.actions import GameOver
from lichessbot.games.pgn import PgnRecorder
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFinish, GameFull, GameState
from lichessbot.lichess.streams import StreamEvent
from lichessbot.uci.search import BestMove, Search, SearchSummary

GAME, US = "abcd1234", "testbot"
WON = GameOver(GameStatus.RESIGN, Colour.WHITE, 4)


class Sheet:
    """A sheet for a game in which we have White, unless told otherwise."""

    def __init__(self, *, white: bool = True, **changes: Any) -> None:
        self.sheet = PgnRecorder("https://lichess.org", US)
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
        self.sheet.handle(StreamEvent(GAME, GameFull.model_validate(full), 0.0))

    def state(self, moves: str, white_s: float, black_s: float) -> None:
        self.sheet.handle(StreamEvent(GAME, GameState.model_validate(self._state(moves, white_s, black_s)), 0.0))

    def _state(self, moves: str, white_s: float, black_s: float) -> dict[str, Any]:
        return {"moves": moves, "wtime": int(white_s * 1000), "btime": int(black_s * 1000), "status": "started"}

    def think(self, moves: str, score: str, answers: int | None = None) -> None:
        search_id = len(moves.split()) + 1
        self.sheet.note_search(Search(search_id, STARTING_FEN, False, tuple(moves.split()), Limits()))
        self.sheet.handle(BestMove(GAME, answers or search_id, "a2a3", SearchSummary(depth=9, score=score)))

    def read(self, over: GameOver = WON) -> chess.pgn.Game:
        text = self.sheet.pgn(over)
        assert text is not None
        game = chess.pgn.read_game(io.StringIO(text))
        assert game is not None
        assert game.errors == []
        return game


def test_headers_are_those_of_lichess() -> None:
    sheet = Sheet()
    sheet.full("e2e4 e7e5")
    assert dict(sheet.read().headers) == {
        "Event": "Rated blitz game",
        "Site": "https://lichess.org/abcd1234",
        "Date": "2026.01.01",
        "Round": "-",
        "White": "TestBot",
        "Black": "Ferdi",
        "Result": "1-0",
        "GameId": GAME,
        "UTCDate": "2026.01.01",
        "UTCTime": "00:00:00",
        "TimeControl": "180+2",
        "Termination": "Normal",
        "WhiteElo": "2000",
        "WhiteTitle": "BOT",
    }


def test_each_ply_we_saw_has_the_clock_of_who_moved() -> None:
    sheet = Sheet()
    sheet.full("e2e4", 180, 180)
    sheet.state("e2e4 e7e5", 180, 171)
    sheet.state("e2e4 e7e5 g1f3", 175, 171)
    sheet.full("e2e4 e7e5 g1f3 b8c6 f1c4", 160, 150)
    clocks = [node.clock() for node in sheet.read().mainline()]
    assert clocks == [180, 171, 175, None, 160]


def test_our_evaluations_are_written_as_white_sees_them() -> None:
    for white, moves, value in ((True, "", 31), (False, "e2e4", -31)):
        sheet = Sheet(white=white)
        sheet.full("")
        sheet.think(moves, "cp 31")
        sheet.state("e2e4 e7e5", 180, 180)
        node = list(sheet.read().mainline())[0 if white else 1]
        assert node.eval() == chess.engine.PovScore(chess.engine.Cp(value), chess.WHITE)
        assert node.eval_depth() == 9


@pytest.mark.parametrize(
    ("score", "mate"), [("mate 3", 2), ("mate -3", -3), ("mate 1", None), ("", None), ("cp", None)]
)
def test_a_mate_is_counted_from_the_position_after_the_move(score: str, mate: int | None) -> None:
    sheet = Sheet()
    sheet.full("")
    sheet.think("", score)
    sheet.state("e2e4", 180, 180)
    evaluation = next(iter(sheet.read().mainline())).eval()
    assert (None if evaluation is None else evaluation.white().mate()) == mate


def test_an_answer_to_another_search_is_not_written_down() -> None:
    sheet = Sheet()
    sheet.full("")
    sheet.think("", "cp 31", answers=99)
    sheet.state("e2e4", 180, 180)
    assert next(iter(sheet.read().mainline())).eval() is None


def test_what_was_taken_back_is_crossed_out() -> None:
    sheet = Sheet()
    sheet.full("")
    sheet.state("e2e4", 179, 180)
    sheet.full("", 180, 180)
    sheet.state("d2d4", 100, 180)
    (node,) = sheet.read().mainline()
    assert (node.san(), node.clock()) == ("d4", 100)


@pytest.mark.parametrize(
    ("told", "last_move", "plies"),
    [
        ("f2f3 e7e5 g2g4", "d8h4", 4),
        ("f2f3 e7e5 g2g4 d8h4", "d8h4", 4),
        ("f2f3 e7e5", "d8h4", 2),
        ("f2f3 e7e5 g2g4", "", 3),
        ("f2f3 e7e5 g2g4", "junk", 3),
    ],
)
def test_a_last_move_that_only_the_event_stream_told_is_not_lost(told: str, last_move: str, plies: int) -> None:
    board = chess.Board()
    for move in ("f2f3", "e7e5", "g2g4", "d8h4"):
        board.push_uci(move)
    sheet = Sheet()
    sheet.full(told)
    end = {"gameId": GAME, "variant": {"key": "standard"}, "fen": board.fen(), "lastMove": last_move}
    sheet.sheet.handle(StreamEvent(None, GameFinish.model_validate({"game": end}), 0.0))
    assert len(list(sheet.read().mainline_moves())) == plies


def test_a_state_that_tells_of_an_offer_crosses_nothing_out() -> None:
    sheet = Sheet()
    sheet.full("")
    sheet.think("", "cp 31")
    sheet.state("", 180, 180)
    sheet.state("e2e4", 180, 180)
    assert next(iter(sheet.read().mainline())).eval() is not None


def test_what_was_thought_of_another_reply_is_not_written_down() -> None:
    sheet = Sheet(white=False)
    sheet.full("")
    sheet.think("e2e4", "cp 31")
    sheet.state("d2d4 e7e5", 180, 180)
    assert [node.eval() for node in sheet.read().mainline()] == [None, None]


@pytest.mark.parametrize(
    ("over", "result", "termination"),
    [
        (GameOver(GameStatus.MATE, Colour.BLACK, 4), "0-1", "Normal"),
        (GameOver(GameStatus.DRAW, None, 4), "1/2-1/2", "Normal"),
        (GameOver(GameStatus.OUT_OF_TIME, Colour.WHITE, 4), "1-0", "Time forfeit"),
        (GameOver(GameStatus.TIMEOUT, None, 4), "1/2-1/2", "Abandoned"),
    ],
)
def test_the_result_is_the_games(over: GameOver, result: str, termination: str) -> None:
    sheet = Sheet()
    sheet.full("e2e4 e7e5")
    headers = sheet.read(over).headers
    assert (headers["Result"], headers["Termination"]) == (result, termination)


def test_a_game_without_moves_or_an_aborted_one_is_not_kept() -> None:
    assert Sheet().sheet.pgn(WON) is None
    sheet = Sheet()
    sheet.full("")
    assert sheet.sheet.pgn(WON) is None
    sheet.full("e2e4")
    assert sheet.sheet.pgn(GameOver(GameStatus.ABORTED, None, 1)) is None


def test_a_position_with_black_to_move_and_castling_as_in_chess960() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
    sheet = Sheet(white=False, variant={"key": "fromPosition"}, initialFen=fen)
    sheet.full("e8h8 e1a1", 100, 90)
    game = sheet.read()
    assert [node.san() for node in game.mainline()] == ["O-O", "O-O-O"]
    assert [node.clock() for node in game.mainline()] == [None, 100]


def test_chess960_is_named_and_its_start_is_kept() -> None:
    sheet = Sheet(variant={"key": "chess960"}, initialFen=chess960_fen(1))
    sheet.full("a2a3")
    headers = sheet.read().headers
    assert (headers["Variant"], headers["FEN"]) == ("Chess960", chess960_fen(1))


def test_a_game_without_a_clock_has_none() -> None:
    sheet = Sheet(clock=None, daysPerTurn=2)
    sheet.full("e2e4")
    game = sheet.read()
    assert game.headers["TimeControl"] == "1/172800"
    assert next(iter(game.mainline())).clock() is None
