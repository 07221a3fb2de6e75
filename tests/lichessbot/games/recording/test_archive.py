"""The files that finished games are written to."""

import errno
import io
import logging
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pytest

from lichessbot.config import Config, PgnGrouping
from lichessbot.control.status import Faults
from lichessbot.games.recording import archive as archive_module
from lichessbot.games.recording.archive import ArchivedGame, GameArchive
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result
from tests.lichessbot.games.recording.recorded import Notes


@pytest.fixture(autouse=True)
def _all_is_archived_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the disk is."""
    monkeypatch.setattr(archive_module, "CLOSE_WAITS_AT_MOST", timedelta(seconds=60))


def game(number: int = 1, *, white: str = "TestBot", black: str = "Ferdinand") -> ArchivedGame:
    is_white = white == "TestBot"
    record = GameRecord(
        f"game000{number}", 0.0, black if is_white else white, our_name="TestBot", variant="standard",
        colour="white" if is_white else "black", status="resign", result=Result.WON if is_white else Result.LOST,
    )  # fmt: skip
    return ArchivedGame(record, [MoveRecord(1, "e2e4")])


def archived(*games: ArchivedGame, folder: Path, grouping: PgnGrouping, faults: Faults | None = None) -> None:
    archive = GameArchive(Notes(), faults or Faults())
    for it in games:
        archive.put(it, Config(pgn_directory=folder, pgn_file_grouping=grouping))
    archive.close()


def test_a_game_is_archived_by_a_thread_that_could_not_be_started_before(tmp_path: Path, no_thread_once: None) -> None:
    archive, config = GameArchive(Notes(), Faults()), Config(pgn_directory=tmp_path, pgn_file_grouping=PgnGrouping.ALL)
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
    folder, faults = tmp_path / "not" / "there yet", Faults()
    archived(game(1), game(2, white="Karl", black="TestBot"), folder=folder, grouping=grouping, faults=faults)
    assert faults == Faults()
    assert {path.name for path in folder.iterdir()} == names
    assert sorted(game for name in names for game in games(folder / name)) == ["game0001", "game0002"]


def test_a_failed_rewrite_keeps_the_game_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = game().path(tmp_path, PgnGrouping.GAME)
    file.write_text("the game of before")
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    archived(game(), folder=tmp_path, grouping=PgnGrouping.GAME)
    assert file.read_text() == "the game of before"
    assert list(tmp_path.iterdir()) == [file]


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
    file = tmp_path / "TestBot games.pgn"
    before = file.read_bytes()
    write = os.write

    def fails_halfway(file: int, data: memoryview) -> int:
        if len(data) < 30:
            raise OSError(28, "No space left on device")
        return write(file, data[:20])

    faults = Faults()
    with monkeypatch.context() as patched:
        patched.setattr(archive_module.os, "write", fails_halfway)
        archived(game(2), folder=tmp_path, grouping=PgnGrouping.ALL, faults=faults)
    assert "pgn.lost game=game0002" in caplog.text
    assert file.read_bytes() == before, "a reader of PGN may take half a tag for nothing"
    assert faults == Faults(games_without_pgn=1)
    archived(game(3), folder=tmp_path, grouping=PgnGrouping.ALL)
    assert games(file) == ["game0001", "game0003"]


def test_a_game_that_is_not_written_is_counted_if_it_was_to_be_and_is_in_the_records(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, faults = tmp_path / "pgn", Faults()
    folder.write_text("a file in its place")
    config, impossible = Config(pgn_directory=folder), replace(game(2), moves=[MoveRecord(1, "e2e5")])
    for it, wanted in ((game(1), config), (impossible, config), (impossible, Config())):
        archive = GameArchive(Notes(), faults)
        archive.put(it, wanted)
        archive.close()
    told = [record.getMessage().partition(" remedy=")[2] for record in caplog.records]
    assert told == ['"`lichessbot pgn game0001` prints it once it is in the records"', "", ""]
    assert faults.games_without_pgn == 2


def test_a_game_that_a_slow_disk_has_no_room_for_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_MAX_QUEUED", 0)
    faults = Faults()
    archived(game(), folder=tmp_path, grouping=PgnGrouping.ALL, faults=faults)
    assert (faults, list(tmp_path.iterdir())) == (Faults(games_without_pgn=1), [])


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
