"""PGN files: their names, what stands in them, and that a bad disk costs no more than the record."""

import io
import logging
import os
from pathlib import Path

import chess.pgn
import pytest

from engine.facade import Board, pgn_text
from lichessbot.config import PgnGrouping
from lichessbot.games import pgn as archive_room
from lichessbot.games.pgn import GameRecord, PgnArchive


def record(number: int = 1, *, white: str = "TestBot", black: str = "Ferdinand") -> GameRecord:
    board = Board()
    board.push("e2e4")
    text = pgn_text({"White": white, "Black": black, "GameId": f"game000{number}"}, board, "1-0")
    return GameRecord(f"game000{number}", "TestBot", white, black, text)


def games(path: Path) -> list[str]:
    """The ids of the games in a file."""
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
    archive = PgnArchive()
    archive.put(record(1), folder, grouping)
    archive.put(record(2, white="Karl", black="TestBot"), folder, grouping)
    archive.close()
    assert {path.name for path in folder.iterdir()} == names
    assert sorted(game for name in names for game in games(folder / name)) == ["game0001", "game0002"]


def test_a_game_that_is_told_twice_has_one_file_with_one_game(tmp_path: Path) -> None:
    archive = PgnArchive()
    for _ in range(2):
        archive.put(record(), tmp_path, PgnGrouping.GAME)
    archive.close()
    (path,) = tmp_path.iterdir()
    assert games(path) == ["game0001"]


NAMES = ["../../etc/passwd", "/root/x", "a\0b", ".", "..", "", "\ud800", "N" * 5000, "CON:|?*"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grouping", PgnGrouping)
def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path, name: str, grouping: PgnGrouping) -> None:
    folder = tmp_path / "pgn"
    archive = PgnArchive()
    archive.put(record(black=name), folder, grouping)
    archive.close()
    (path,) = folder.iterdir()
    assert list(tmp_path.iterdir()) == [folder]
    assert path.stat().st_size > 0
    assert all(letter.isascii() and (letter.isalnum() or letter in "_- .") for letter in path.name)


def test_a_disk_that_fills_up_in_the_middle_of_a_game_leaves_whole_games_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    archive = PgnArchive()
    archive.put(record(1), tmp_path, PgnGrouping.ALL)
    archive.close()
    write = os.write

    def fails_halfway(file: int, data: memoryview) -> int:
        if len(data) < 30:
            raise OSError(28, "No space left on device")
        return write(file, data[:20])

    with monkeypatch.context() as patched:
        patched.setattr(archive_room.os, "write", fails_halfway)
        archive = PgnArchive()
        archive.put(record(2), tmp_path, PgnGrouping.ALL)
        archive.close()
    assert "pgn.lost game=game0002" in caplog.text
    archive = PgnArchive()
    archive.put(record(3), tmp_path, PgnGrouping.ALL)
    archive.close()
    assert games(tmp_path / "TestBot games.pgn") == ["game0001", "game0003"]


def test_a_folder_that_cannot_be_is_warned_of_and_the_next_game_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "pgn"
    folder.write_text("a file in its place")
    archive = PgnArchive()
    archive.put(record(1), folder, PgnGrouping.GAME)
    archive.close()
    assert [it.levelno for it in caplog.records if "pgn.lost" in it.getMessage()] == [logging.WARNING]
    folder.unlink()
    archive = PgnArchive()
    archive.put(record(2), folder, PgnGrouping.GAME)
    archive.close()
    assert len(list(folder.iterdir())) == 1
