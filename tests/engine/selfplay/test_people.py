"""People's games compared with the levels."""

import builtins
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.cli import calibrate
from engine.cli.main import run
from engine.facade import Board, Engine, Limits, build_mode
from engine.search.levels.level import Level, level_at, level_of
from engine.selfplay import humanness, people
from engine.selfplay.humanness import Judge
from engine.selfplay.people import FIRST_PLY, LossFit, PlayedMove

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="too slow as plain Python")
HEADERS = '[White "a"]\n[Black "b"]\n[WhiteElo "{white}"]\n[BlackElo "{black}"]\n[Result "*"]\n\n'


def game_by_level(level: Level, seed: int, plies: int, black: Level | None = None) -> str:
    """A game that this level played against itself, or against another level."""
    engines, board = [Engine(1), Engine(1)], Board()
    for engine, its_level in zip(engines, (level, black or level), strict=True):
        engine.play_level(its_level, seed)
    for ply in range(plies):
        play(engines[ply % 2], board, 1)
    words, replay = [], Board()
    for move in board.moves:
        words.append(replay.san(move))
        replay.push(move)
    return " ".join(words) + " *\n\n"


def play(engine: Engine, board: Board, plies: int) -> None:
    for _ in range(plies):
        if board.outcome() is None:
            engine.set_position(board)
            board.push(board_move(engine))


def board_move(engine: Engine) -> str:
    move = engine.go(Limits()).best_move
    assert move is not None
    return move


def test_a_level_matches_its_own_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first game of the file has the seed 0."""
    path = tmp_path / "games.pgn"
    own = HEADERS.format(white=1500, black=1500) + game_by_level(level_of(1500), 0, 40)
    unrated = HEADERS.format(white="?", black="") + game_by_level(level_of(800), 1, 20)
    path.write_text(own + unrated)
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
    text = HEADERS.format(white=900, black=2100) + game_by_level(level_of(900), 0, 20)
    path.write_bytes(zstandard.ZstdCompressor().compress(text.encode()))
    assert run(("calibrate", "--games", str(path))) == 0
    assert "2000 to 2199" in capsys.readouterr().out


def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("zstandard")
    path = tmp_path / "games.pgn.zst"
    path.write_text("<html>not found</html>")
    assert run(["calibrate", "--games", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"{path} cannot be unpacked: ")


@pytest.mark.parametrize("text", ["", "root:x:0:0:root:/root:/bin/sh\n", HEADERS.format(white="?", black="")])
def test_a_file_without_games_to_compare_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    for write in ((), ("--write", str(tmp_path / "scale.py"))):
        assert run(("calibrate", "--games", str(path), *write)) == 2
        output, error = capsys.readouterr()
        assert output == ""
        assert error == f"no game of standard chess with ratings and more than 10 plies in {path}\n"


def test_the_skill_of_people_is_found_by_what_their_moves_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """The people are skills themselves, in other games than those they are compared in."""
    monkeypatch.setattr(people, "FIT_EVERY", 1)
    fit = LossFit(Judge(500), (400, 1000, 1600))
    skills = {1000: 700, 1900: 1300}
    for rating, skill in skills.items():
        for seed in range(10, 13):
            engine, board, replay = Engine(1), Board(), Board()
            engine.play_level(level_at(skill), seed)
            play(engine, board, 40)
            for move in board.moves:
                fit.add(PlayedMove(seed + rating, replay, rating, move))
                replay.push(move)
    found = {it.rating: it for it in fit.fitted().values()}
    for rating, skill in skills.items():
        assert abs(found[rating].skill - skill) < 300
        assert abs(found[rating].skill - skill) < found[rating].error < 500
    assert found[1000].skill < found[1900].skill
    assert [line.split()[:3] for line in fit.lines()][1:] == [["1000", "to", "1199"], ["1800", "to", "1999"]]


def test_an_interrupted_fit_keeps_whole_moves_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "FIT_EVERY", 1)
    monkeypatch.setattr(people, "FIT_LEAST", 1)
    fit = LossFit(Judge(100), (400, 2000))
    for number in range(3):
        fit.add(PlayedMove(number, Board(), 1500, "a2a4"))

    def interrupt(skill: int, played: PlayedMove) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "_choose", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit.add(PlayedMove(3, Board(), 1500, "a2a4"))
    assert {len(kept) for kept in vars(fit.bands[1400]).values()} == {3}
    assert len(list(fit.lines())) == 2


def test_a_scale_is_written_from_the_games_of_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(people, "FIT_EVERY", 1)
    monkeypatch.setattr(people, "FIT_LEAST", 6)
    monkeypatch.setattr(humanness, "JUDGE_NODES", 300)
    monkeypatch.setattr(calibrate, "LossFit", partial(LossFit, skills=range(200, 2601, 600)))
    path, scale = tmp_path / "games.pgn", tmp_path / "scale.py"
    weak, strong, players = level_at(640), level_at(1570), HEADERS.format(white=700, black=1500)
    games = [players + game_by_level(weak, seed, 18, strong) for seed in range(2)]
    path.write_text("".join(games))
    words = ("calibrate", "--games", str(path), "--write", str(scale))
    assert run(words) == 0
    text = scale.read_text()
    assert re.search(r"^# From \d\d moves of people in games.pgn.$", text, re.MULTILINE)
    assert [int(rating) for rating in re.findall(r"^    \((\d+), ", text, re.MULTILINE)] == [700, 1500]
    assert run(words) == 2
    assert "exists" in capsys.readouterr().err
    path.write_text(games[0])
    assert run((*words[:-1], str(tmp_path / "other.py"))) == 2
    assert "expected 2 bands of ratings with a skill, found 0" in capsys.readouterr().err
