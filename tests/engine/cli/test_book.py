"""The commands `book build`, `grow`, `show` and `check`."""

import os
from pathlib import Path

import chess
import chess.polyglot
import pytest

from engine.book.opening_book import Book, Entry, write
from engine.book.polyglot import polyglot_key
from engine.cli.main import run
from engine.facade import STARTING_FEN, Board
from engine.selfplay.book_growing import GrowingPlan
from tests.engine.book.test_opening_book import after


def test_grow_show_and_check_a_book(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = GrowingPlan(tmp_path)
    plan.path(0).write_text("white 1-0 e2e4 e7e5 g1f3\nwhite 1/2-1/2 d2d4\n")
    book = tmp_path / "book.bin"
    assert run(["book", "grow", str(tmp_path), "--games", "25", "--processes", "1", "-o", str(book)]) == 0
    assert run(["book", "show", "--book", str(book)]) == 0
    assert run(["book", "check", str(book)]) == 0
    shown = capsys.readouterr().out
    assert "2 games, 3 moves written" in shown
    assert "e4            2   66.7 %" in shown
    assert shown.endswith("sound\n")


def test_the_own_book_is_not_shown_for_a_variant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["book", "show", "--variant", "atomic"]) == 2
    assert "the engine's own book is for standard chess" in capsys.readouterr().err


PGN = """[Result "1-0"]

1. e4 e5 (1... c5) 2. Nf3 1-0

[Result "1/2-1/2"]

1. e4 c5 1/2-1/2

[Result "*"]

1. d4 *

[Variant "Atomic"]
[Result "1-0"]

1. Nf3 1-0

[Variant "Bughouse"]
[Result "1-0"]

1. Nc3 1-0

[FEN "8/8"]
[Result "1-0"]

1. a4 1-0

[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]
[Result "1-0"]

1. O-O 1-0
"""


def test_build_a_book_from_pgn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, book = tmp_path / "games.pgn", tmp_path / "book.bin"
    games.write_text(PGN)
    assert run(["book", "build", str(games), "-o", str(book), "--games", "1"]) == 0
    told = capsys.readouterr()
    assert "3 games, 4 moves written" in told.out
    assert "4 games left out" in told.err
    assert [(it.move, it.weight) for it in Book(book).moves(Board())] == [("e2e4", 3)]
    assert [it.move for it in Book(book).moves(after("e2e4"))] == ["c7c5"]
    castling = Book(book).moves(Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1"))
    assert [it.move for it in castling] == ["e1g1"]
    with chess.polyglot.open_reader(book) as reader:
        assert reader.find(chess.Board()).move == chess.Move.from_uci("e2e4")


def test_several_files_count_together(tmp_path: Path) -> None:
    book = tmp_path / "book.bin"
    for name in ("one.pgn", "two.pgn"):
        (tmp_path / name).write_text(PGN)
    files = [str(tmp_path / name) for name in ("one.pgn", "two.pgn")]
    assert run(["book", "build", *files, "-o", str(book), "--games", "3"]) == 0
    assert len(Book(book)) == 1


def test_an_empty_result_does_not_replace_a_book(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, book = tmp_path / "games.pgn", tmp_path / "book.bin"
    games.write_text(PGN)
    book.write_bytes(b"a better one")
    assert run(["book", "build", str(games), "-o", str(book), "--games", "9", "--force"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"{book} is not written: in 3 games no move was played 9 times and scored"
    )
    assert book.read_bytes() == b"a better one"
    games.write_text('[Result "1-0"]\n\n1-0\n')
    assert run(["book", "build", str(games), "-o", str(book), "--games", "1", "--force"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"{book} is not written: in 1 game no move was played once and scored"
    )


def test_games_are_read_from_a_pipe(tmp_path: Path) -> None:
    """Like the output of a program that unpacks a database."""
    book = tmp_path / "book.bin"
    reading, writing = os.pipe()
    os.write(writing, PGN.encode())
    os.close(writing)
    assert run(["book", "build", f"/dev/fd/{reading}", "-o", str(book), "--games", "1"]) == 0
    os.close(reading)
    assert len(Book(book)) == 4


@pytest.mark.parametrize("command", [["build", "games.pgn"], ["grow", "games"]])
def test_a_book_that_cannot_be_written_is_refused_before_the_work(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.pgn").write_text(PGN)
    assert run(["book", *command, "-o", "nowhere/book.bin"]) == 2
    assert capsys.readouterr().err == "cannot write nowhere/book.bin: there is no folder nowhere\n"
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]


def test_show_accepts_a_fen_in_one_or_more_words(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for words in (["startpos"], STARTING_FEN.split(), [STARTING_FEN], []):
        assert run(["book", "show", *words]) == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1
    assert shown[0]
    assert run(["book", "show", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]) == 0
    assert capsys.readouterr().out == "the book does not know this position\n"


def test_the_book_of_a_variant_is_shown_and_checked_by_its_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "horde.bin"
    write(path, [Entry(polyglot_key(Board(variant="horde")), move, 1) for move in (0o3040, 0o0424)])     # a4a5, e1e3
    assert run(["book", "show", "--variant", "horde", "--book", str(path)]) == 0
    assert capsys.readouterr().out.split()[:2] == ["a5", "1"]
    assert run(["book", "check", str(path)]) == 0, "no position of it is met in standard chess"
    assert run(["book", "check", "--variant", "horde", str(path)]) == 1
    assert "moves that are not legal in their position: 1" in capsys.readouterr().out


def test_a_damaged_book_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "book.bin"
    write(path, [Entry(polyglot_key(Board()), 0o1444, 1)])
    assert run(["book", "check", str(path)]) == 1
    assert "moves that are not legal in their position: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["show", "no fen"], ["check", "/nowhere.bin"], ["build", "/nowhere.pgn", "-o", "/nowhere.bin"], [], ["sell"]],
)
def test_a_users_error_is_one_line_and_exit_code_two(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["book", *words]) == 2
    assert "Traceback" not in capsys.readouterr().err
