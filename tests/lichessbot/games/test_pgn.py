"""PGN of finished games, read back by python-chess, and the files it is written to."""

import errno
import io
import logging
import os
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pytest

from engine.facade import chess960_fen
from lichessbot.config import Config, PgnGrouping
from lichessbot.games import pgn as archive_room
from lichessbot.games.actions import GameOver
from lichessbot.games.pgn import ArchivedGame, GameArchive
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameFinish
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result
from tests.lichessbot.games.recording import GAME, Notes, Recording


def test_headers_are_those_of_lichess() -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    assert dict(recording.read().headers) == {
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
        "ECO": "C20",
        "Opening": "King's Pawn Game",
    }


def test_each_seen_ply_has_the_clock_of_its_side() -> None:
    recording = Recording()
    recording.full("e2e4", 180, 180)
    recording.state("e2e4 e7e5", 180, 171)
    recording.state("e2e4 e7e5 g1f3", 175, 171)
    recording.full("e2e4 e7e5 g1f3 b8c6 f1c4", 160, 150)
    clocks = [node.clock() for node in recording.read().mainline()]
    assert clocks == [180, 171, 175, None, 160]


def test_our_evaluations_are_written_for_white() -> None:
    for white, before, value in ((True, "", 31), (False, "e2e4", -31)):
        recording = Recording(white=white)
        recording.full(before)
        recording.play(f"{before} e2e4" if white else f"{before} e7e5")
        node = list(recording.read().mainline())[-1]
        assert node.eval() == chess.engine.PovScore(chess.engine.Cp(value), chess.WHITE)
        assert node.eval_depth() == 9


@pytest.mark.parametrize(
    ("score", "mate"), [("mate 3", 2), ("mate -3", -3), ("mate 1", None), ("", None), ("cp", None)]
)
def test_a_mate_is_counted_from_the_position_after_the_move(score: str, mate: int | None) -> None:
    recording = Recording()
    recording.full("")
    recording.play("e2e4", score)
    evaluation = next(iter(recording.read().mainline())).eval()
    assert (None if evaluation is None else evaluation.white().mate()) == mate


def test_moves_that_were_taken_back_are_removed() -> None:
    recording = Recording()
    recording.full("")
    recording.state("e2e4", 179, 180)
    recording.full("", 180, 180)
    recording.state("d2d4", 100, 180)
    (node,) = recording.read().mainline()
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
def test_the_last_move_may_come_from_the_event_stream(told: str, last_move: str, plies: int) -> None:
    board = chess.Board()
    for move in ("f2f3", "e7e5", "g2g4", "d8h4"):
        board.push_uci(move)
    recording = Recording()
    recording.full(told)
    end = {"gameId": GAME, "variant": {"key": "standard"}, "fen": board.fen(), "lastMove": last_move}
    recording.recorder.handle(StreamEvent(None, GameFinish.model_validate({"game": end}), 0.0))
    assert len(list(recording.read().mainline_moves())) == plies


def test_a_state_with_an_offer_changes_nothing() -> None:
    recording = Recording()
    recording.full("")
    recording.think()
    recording.state("")
    recording.send(1, "e2e4")
    recording.state("e2e4")
    recording.state("e2e4")
    assert next(iter(recording.read().mainline())).eval() is not None


def test_an_old_line_that_comes_late_changes_nothing() -> None:
    recording = Recording()
    recording.full("")
    recording.play("e2e4")
    recording.state("e2e4 e7e5")
    recording.state("e2e4")
    recording.play("e2e4 e7e5 g1f3")
    assert [node.eval() is not None for node in recording.read().mainline()] == [True, False, True]


def test_the_evaluation_of_an_answer_that_was_not_played_is_not_written() -> None:
    recording = Recording()
    recording.full("")
    recording.think()
    recording.full("e2e4 e7e5")
    recording.send(3, "g1f3")
    recording.state("e2e4 e7e5 g1f3")
    assert [node.eval() for node in recording.read().mainline()] == [None, None, None]
    assert recording.finished().moves[2].source == "only move"


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
    recording = Recording()
    recording.full("e2e4 e7e5")
    headers = recording.read(over).headers
    assert (headers["Result"], headers["Termination"]) == (result, termination)


@pytest.mark.parametrize(("moves", "status"), [("", GameStatus.RESIGN), ("e2e4", GameStatus.ABORTED)])
def test_a_game_without_moves_or_an_aborted_one_has_no_file(tmp_path: Path, moves: str, status: GameStatus) -> None:
    recording = Recording()
    recording.full(moves)
    archive = GameArchive(recording.store)
    archive.put(recording.finished(GameOver(status, None, len(moves.split()))), Config(pgn_directory=tmp_path / "pgn"))
    archive.close()
    assert list(tmp_path.iterdir()) == []


def test_a_position_with_black_to_move_and_castling_as_in_chess960() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
    recording = Recording(white=False, variant={"key": "fromPosition"}, initialFen=fen)
    recording.full("e8h8 e1a1", 100, 90)
    game = recording.read()
    assert [node.san() for node in game.mainline()] == ["O-O", "O-O-O"]
    assert [node.clock() for node in game.mainline()] == [None, 100]


def test_chess960_is_named_and_its_start_is_kept() -> None:
    recording = Recording(variant={"key": "chess960"}, initialFen=chess960_fen(1))
    recording.full("a2a3")
    headers = recording.read().headers
    assert (headers["Variant"], headers["FEN"]) == ("Chess960", chess960_fen(1))


def test_a_game_without_a_clock_has_none() -> None:
    recording = Recording(clock=None, daysPerTurn=2)
    recording.full("e2e4")
    game = recording.read()
    assert game.headers["TimeControl"] == "1/172800"
    assert next(iter(game.mainline())).clock() is None


# Files


def game(number: int = 1, *, white: str = "TestBot", black: str = "Ferdinand") -> ArchivedGame:
    is_white = white == "TestBot"
    record = GameRecord(
        f"game000{number}", 0.0, black if is_white else white, our_name="TestBot", variant="standard",
        colour="white" if is_white else "black", status="resign", result=Result.WON if is_white else Result.LOST,
    )  # fmt: skip
    return ArchivedGame(record, [MoveRecord(1, "e2e4")])


def archived(*games: ArchivedGame, folder: Path, grouping: PgnGrouping) -> None:
    archive = GameArchive(Notes())
    for it in games:
        archive.put(it, Config(pgn_directory=folder, pgn_file_grouping=grouping))
    archive.close()


def test_a_game_is_archived_by_a_thread_that_could_not_be_started_before(tmp_path: Path, no_thread_once: None) -> None:
    archive, config = GameArchive(Notes()), Config(pgn_directory=tmp_path, pgn_file_grouping=PgnGrouping.ALL)
    with pytest.raises(RuntimeError):
        archive.put(game(1), config)
    archive.put(game(2), config)
    archive.close()
    (path,) = tmp_path.iterdir()
    assert games(path) == ["game0001", "game0002"]


def games(path: Path) -> list[str]:
    """Return the ids of the games in a file."""
    file = io.StringIO(path.read_text(encoding="utf-8"))
    found = []
    while (game := chess.pgn.read_game(file)) is not None:
        assert game.errors == []
        assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]
        found.append(game.headers["GameId"])
    return found


@pytest.mark.parametrize(
    ("grouping", "names"),
    [
        (PgnGrouping.GAME, {"TestBot vs Ferdinand - game0001.pgn", "Karl vs TestBot - game0002.pgn"}),
        (PgnGrouping.OPPONENT, {"TestBot games vs. Ferdinand.pgn", "TestBot games vs. Karl.pgn"}),
        (PgnGrouping.ALL, {"TestBot games.pgn"}),
    ],
)
def test_files_are_grouped_and_named_as_asked(tmp_path: Path, grouping: PgnGrouping, names: set[str]) -> None:
    folder = tmp_path / "not" / "there yet"
    archived(game(1), game(2, white="Karl", black="TestBot"), folder=folder, grouping=grouping)
    assert {path.name for path in folder.iterdir()} == names
    assert sorted(game for name in names for game in games(folder / name)) == ["game0001", "game0002"]


def test_a_failed_rewrite_keeps_the_game_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = game().path(tmp_path, PgnGrouping.GAME)
    file.write_text("the game of before")
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    archived(game(), folder=tmp_path, grouping=PgnGrouping.GAME)
    assert file.read_text() == "the game of before"


def test_a_game_archived_twice_has_one_file_with_one_game(tmp_path: Path) -> None:
    archived(game(), game(), folder=tmp_path, grouping=PgnGrouping.GAME)
    (path,) = tmp_path.iterdir()
    assert games(path) == ["game0001"]


NAMES = ["../../etc/passwd", "/root/x", "a\0b", ".", "..", "", "\ud800", "N" * 5000, "CON:|?*"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grouping", PgnGrouping)
def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path, name: str, grouping: PgnGrouping) -> None:
    folder = tmp_path / "pgn"
    archived(game(black=name), folder=folder, grouping=grouping)
    (path,) = folder.iterdir()
    assert list(tmp_path.iterdir()) == [folder]
    assert path.stat().st_size > 0
    assert all(letter.isascii() and (letter.isalnum() or letter in "_- .") for letter in path.name)


def test_a_disk_that_fills_up_in_the_middle_of_a_game_leaves_whole_games_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    archived(game(1), folder=tmp_path, grouping=PgnGrouping.ALL)
    write = os.write

    def fails_halfway(file: int, data: memoryview) -> int:
        if len(data) < 30:
            raise OSError(28, "No space left on device")
        return write(file, data[:20])

    with monkeypatch.context() as patched:
        patched.setattr(archive_room.os, "write", fails_halfway)
        archived(game(2), folder=tmp_path, grouping=PgnGrouping.ALL)
    assert "pgn.lost game=game0002" in caplog.text
    archived(game(3), folder=tmp_path, grouping=PgnGrouping.ALL)
    assert games(tmp_path / "TestBot games.pgn") == ["game0001", "game0003"]


def test_a_folder_that_cannot_be_made_is_logged_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "pgn"
    folder.write_text("a file in its place")
    archived(game(1), folder=folder, grouping=PgnGrouping.GAME)
    assert [it.levelno for it in caplog.records if "pgn.lost" in it.getMessage()] == [logging.WARNING]
    folder.unlink()
    archived(game(2), folder=folder, grouping=PgnGrouping.GAME)
    assert len(list(folder.iterdir())) == 1
