"""Syzygy files: damaged ones are reported and not used, and none stays open."""

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from engine.board import Board
from engine.syzygy.file_header import InvalidTable, read_header
from engine.syzygy.packed_values import NO_SYMBOL, symbol_lengths
from engine.syzygy.tablebase import Tablebase
from tests.engine.syzygy.test_syzygy import SUFFIXES, endgames, positions
from tests.scripts import run_python


def probed(folder: Path, name: str) -> list[int | None]:
    """Return WDL and DTZ of some positions of an endgame."""
    tablebase = Tablebase([folder])
    boards = [Board(board.fen()) for board in positions(name, 12, 5)]
    return [tablebase.wdl(board) for board in boards] + [tablebase.dtz(board) for board in boards]


def copied(tables: Path, folder: Path) -> Path:
    for file in tables.iterdir():
        if len(file.stem) <= 4 and file.suffix in SUFFIXES:
            shutil.copy(file, folder)
    return folder


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("length", [0, 3, 16, 80, 1000])
def test_a_truncated_file_is_reported_and_not_used(tables: Path, tmp_path: Path, suffix: str, length: int) -> None:
    folder = copied(tables, tmp_path)
    os.truncate(folder / f"KQvK{suffix}", length)
    tablebase = Tablebase([folder])
    assert tablebase.dtz(Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1")) is None
    (problem,) = tablebase.problems
    assert problem.startswith(str(folder / f"KQvK{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_under_another_name_is_reported(tables: Path, tmp_path: Path, suffix: str) -> None:
    for name in ("KRvK", "KPvK", "KQvKR"):
        shutil.copy(tables / f"KQvK{suffix}", tmp_path / f"{name}{suffix}")
    problems = Tablebase([tmp_path]).review()
    assert len(problems) == 3


def test_files_of_the_two_kinds_are_not_mistaken(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / "KQvK.rtbw", tmp_path / "KQvK.rtbz")
    (problem,) = Tablebase([tmp_path]).review()
    assert "not a Syzygy file of the kind .rtbz" in problem


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_numbers_a_king_before_the_pawns_is_refused(tables: Path, tmp_path: Path, suffix: str) -> None:
    content = bytearray((tables / f"KPvK{suffix}").read_bytes())
    content[6], content[7] = content[7], content[6]        # the first two pieces of the first file of pawns
    (tmp_path / f"KPvK{suffix}").write_bytes(content)
    (problem,) = Tablebase([tmp_path]).review()
    assert problem.endswith(": its pawns are not numbered first")


def test_a_named_pipe_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "KQvK.rtbw")
    assert Tablebase([tmp_path]).review() == [f"{tmp_path / 'KQvK.rtbw'}: it is not a regular file"]


def test_a_problem_is_reported_once_although_the_files_are_looked_for_again(tmp_path: Path) -> None:
    tablebase = Tablebase([tmp_path / "nowhere"])
    assert len(tablebase.new_problems()) == 1
    assert tablebase.renewed().new_problems() == []


def test_a_bad_folder_is_reported_in_the_same_words_by_every_python(tmp_path: Path) -> None:
    assert Tablebase([tmp_path / "nowhere", Path("a\0b"), Path("\ud800")]).problems == [
        f"{tmp_path / 'nowhere'}: No such file or directory",
        r"'a\x00b': not a valid path",
        r"'\ud800': not a valid path",
    ]


def test_files_with_other_names_are_ignored(tmp_path: Path) -> None:
    for name in ("KQvK.txt", "readme.rtbw", "KvK.rtbw", "KQRBNPPvK.rtbw", "QvK.rtbw", "KQvKvK.rtbw"):
        (tmp_path / name).write_bytes(b"")
    assert len(Tablebase([tmp_path])) == 0


@pytest.mark.parametrize("name", ["KQvK", "KPvK"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_bytes_never_crash_nor_hang(tables: Path, tmp_path: Path, name: str, suffix: str) -> None:
    """Two thirds of the damage goes into the header."""
    folder = copied(tables, tmp_path)
    whole = (tables / f"{name}{suffix}").read_bytes()
    rng = random.Random(name + suffix)
    begun_at = time.monotonic()
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            damaged[rng.randrange(min(len(whole), rng.choice((40, 200, len(whole)))))] = rng.randrange(256)
        (folder / f"{name}{suffix}").write_bytes(damaged)
        for answer in probed(folder, name):
            assert answer is None or -0x3000 < answer < 0x3000
    assert time.monotonic() - begun_at < 300


def test_symbols_that_refer_to_each_other_in_a_long_row_are_resolved_at_once() -> None:
    last = 4094
    row = [(symbol + 1, last) for symbol in range(last)] + [(3, NO_SYMBOL)] + [(0, last)] * 61_440
    patterns = b"".join((first | second << 12).to_bytes(3, "little") for first, second in row)
    begun_at = time.monotonic()
    lengths = symbol_lengths(patterns)
    assert time.monotonic() - begun_at < 30
    expected = [*range(last, -1, -1), *[last + 1] * 61_440]
    assert lengths == b"".join(length.to_bytes(2, "little") for length in expected)


def test_a_file_that_shrinks_while_open_is_not_used(tables: Path, tmp_path: Path) -> None:
    """What was not read before it shrank is unknown from then on."""
    folder = copied(tables, tmp_path)
    for suffix in SUFFIXES:
        shutil.copy(tables / f"KBNvK{suffix}", folder)
    tablebase = Tablebase([folder])
    boards = [Board(board.fen()) for board in positions("KBNvK", 50, 8)]
    before = [tablebase.dtz(board) for board in boards]
    os.truncate(folder / "KBNvK.rtbz", 1 << 17)
    after = [tablebase.dtz(board) for board in boards]
    assert None not in before
    assert None in after
    assert all(late in (early, None) for early, late in zip(before, after, strict=True))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_tablebase_that_is_deleted_has_no_file_open(tables: Path, tmp_path: Path) -> None:
    for file in tables.glob("K?vK.rtb?"):
        shutil.copy(file, tmp_path)

    def open_files() -> int:
        links = (os.path.realpath(link) for link in Path("/proc/self/fd").iterdir())
        return sum(link.startswith(f"{tmp_path.resolve()}/") for link in links)

    tablebase = Tablebase([tmp_path])
    tablebase.review()
    assert open_files() == 0
    assert tablebase.dtz(Board("8/8/8/4k3/8/8/4K3/4R3 w - - 0 1")) is not None
    assert open_files() == 2
    del tablebase
    assert open_files() == 0


def test_a_file_with_bytes_added_is_reported(tables: Path, tmp_path: Path) -> None:
    path = tmp_path / "KQvK.rtbw"
    path.write_bytes((tables / "KQvK.rtbw").read_bytes() + b"more")
    with path.open("rb") as file, pytest.raises(InvalidTable, match="bytes is cut or damaged"):
        read_header(path, file.fileno())


def test_all_tables_are_open_even_if_a_process_may_open_few_files(tables: Path) -> None:
    """Those of seven pieces are more than the 1,024 files that a process may usually open."""
    fens = [board.fen() for name in endgames(tables) for board in positions(name, 1, 6)]
    code = f"""import pathlib, resource; from engine.board import Board; from engine.syzygy.tablebase import Tablebase
resource.setrlimit(resource.RLIMIT_NOFILE, (24, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
base = Tablebase([pathlib.Path({str(tables)!r})])
print([base.dtz(Board(fen)) for fen in {fens}].count(None), base.problems)"""
    assert run_python(code) == "0 []\n"
