"""People's games compared with the levels."""

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.cli.main import run
from engine.facade import Board, Engine, Limits, build_mode
from engine.selfplay.move_matching import FIRST_PLY

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python")
HEADERS = '[White "a"]\n[Black "b"]\n[WhiteElo "{white}"]\n[BlackElo "{black}"]\n[Result "*"]\n\n'


def game_by_level(rating: int, seed: int, plies: int) -> str:
    """A game that the level of this rating played against itself."""
    engine, board = Engine(1), Board()
    engine.limit_strength(rating, seed)
    for _ in range(plies):
        engine.set_position(board)
        board.push(board_move(engine))
    words, replay = [], Board()
    for move in board.moves:
        words.append(replay.san(move))
        replay.push(move)
    return " ".join(words) + " *\n\n"


def board_move(engine: Engine) -> str:
    move = engine.go(Limits()).best_move
    assert move is not None
    return move


def test_a_level_matches_its_own_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first game of the file has the seed 0."""
    path = tmp_path / "games.pgn"
    path.write_text(
        HEADERS.format(white=1500, black=1500) + game_by_level(1500, 0, 40) + HEADERS.format(white="?", black="")
        + game_by_level(800, 1, 20)
    )  # fmt: skip
    assert run(("calibrate", "--games", str(path))) == 0
    (row,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("1400 to 1599")]
    assert row[3] == str(40 - FIRST_PLY)
    assert row[4] == "100.0"
    assert float(row[7]) < 100


def test_a_packed_file_without_its_package_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.pgn.zst"
    path.write_bytes(b"packed")
    real = builtins.__import__

    def without(name: str, *others: Any) -> Any:
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *others)

    monkeypatch.delitem(sys.modules, "zstandard", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    assert run(("calibrate", "--games", str(path))) == 2
    assert "pip install 'lichessbot-daemon[zst]'" in capsys.readouterr().err


def test_a_packed_file_is_unpacked_while_it_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "games.pgn.zst"
    text = HEADERS.format(white=900, black=2100) + game_by_level(900, 0, 20)
    path.write_bytes(zstandard.ZstdCompressor().compress(text.encode()))
    assert run(("calibrate", "--games", str(path))) == 0
    assert "2000 to 2199" in capsys.readouterr().out
