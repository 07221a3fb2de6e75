"""Books and endgame tablebases on the disk."""

import math
import os
import random
import shutil
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.book.opening_book import Entry, packed_move, write
from engine.facade import Board, Book, BookMove, Tablebase, TableReport, polyglot_key
from lichessbot.config import EngineConfig
from lichessbot.config.sources import Normalization, PolyglotConfig, Selection, SyzygyConfig, TableQuality
from lichessbot.log import EventLog
from lichessbot.move_sources.check import check_sources
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.local import PolyglotBooks, SyzygyTables, choose, normalized, warn_of_unusable_files
from lichessbot.move_sources.models import Suggestion
from lichessbot.move_sources.resolver import MoveResolver
from tests.lichessbot.move_sources.questions import ROOK_ENDING, question

# Books


MOVES = [BookMove("e2e4", 60), BookMove("d2d4", 30), BookMove("c2c4", 10), BookMove("a2a4", 0)]


def chosen(moves: list[BookMove] = MOVES, **keys: object) -> Counter[str | None]:
    policy = PolyglotConfig.model_validate(keys)
    rng = random.Random(1)
    return Counter(choose(moves, policy, rng) for _ in range(1000))


def test_moves_are_chosen_by_weight() -> None:
    played = chosen()
    assert set(played) == {"e2e4", "d2d4", "c2c4"}
    assert played["e2e4"] == pytest.approx(600, abs=60)
    assert played["c2c4"] == pytest.approx(100, abs=40)


def test_uniform_selection_forgets_the_weights_but_not_the_smallest() -> None:
    played = chosen(selection="uniform_random", min_weight=10)
    assert set(played) == {"e2e4", "d2d4", "c2c4"}
    assert min(played.values()) > 250


def test_the_best_move_is_the_heaviest() -> None:
    assert set(chosen(selection=Selection.BEST_MOVE)) == {"e2e4"}


@pytest.mark.parametrize(
    ("normalization", "weights"),
    [
        (Normalization.NONE, [30, 15, 5, 0]),
        (Normalization.SUM, [60, 30, 10, 0]),
        (Normalization.MAX, [100, 50, 100 / 6, 0]),
    ],
)
def test_weights_are_normalized_as_configured(normalization: Normalization, weights: list[float]) -> None:
    assert normalized([30, 15, 5, 0], normalization) == pytest.approx(weights)
    assert normalized([0, 0], normalization) == [0, 0]
    assert normalized([], normalization) == []


def test_too_light_a_move_is_not_played() -> None:
    assert set(chosen(min_weight=20, normalization="sum")) == {"e2e4", "d2d4"}
    assert set(chosen(min_weight=61)) == {None}
    assert set(chosen([])) == {None}


def test_where_nothing_weighs_anything_all_is_equal_if_that_is_allowed() -> None:
    weightless = [BookMove("e2e4", 0), BookMove("d2d4", 0)]
    assert set(chosen(weightless)) == {None}
    assert set(chosen(weightless, min_weight=0)) == {"e2e4", "d2d4"}


# Files


def book(path: Path, *moves: str, **weights: int) -> Path:
    """Return a book with one position, the one after `moves`."""
    board = Board().after(*moves)
    write(path, [Entry(polyglot_key(board), packed_move(board, move), weight) for move, weight in weights.items()])
    return path


def shelf(*files: Path, **keys: object) -> PolyglotBooks:
    return PolyglotBooks("books", files, PolyglotConfig.model_validate(keys), EventLog())


def test_the_first_book_that_knows_a_move_is_followed(tmp_path: Path) -> None:
    first = book(tmp_path / "first.bin", "e2e4", c7c5=1)
    second = book(tmp_path / "second.bin", "e2e4", e7e5=1)
    third = book(tmp_path / "third.bin", d2d4=1)
    books = shelf(first, second, third)
    for asked, move in ((question("e2e4"), "c7c5"), (question(), "d2d4")):
        assert books.find(asked, 0.0).moves == (move,)
    assert books.find(question("a2a3"), 0.0) is None


def test_missing_and_damaged_books_are_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "damaged.bin").write_bytes(bytes(17))
    good = book(tmp_path / "good.bin", e2e4=1)
    books = shelf(tmp_path / "missing.bin", tmp_path / "damaged.bin", good)
    for _ in range(3):
        assert books.find(question(), 0.0) is not None
        books.close()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "missing.bin" in said[0]
    assert "whole entries" in said[1]


def test_a_book_truncated_during_the_game_is_not_used_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = book(tmp_path / "book.bin", e2e4=1, d2d4=1)
    books = shelf(path)
    assert books.find(question(), 0.0) is not None
    os.truncate(path, 16)
    assert books.find(question(), 0.0) is None
    book(path, e2e4=1, d2d4=1)
    assert books.find(question(), 0.0) is None
    assert len(caplog.records) == 1


def test_a_book_that_repeats_positions_is_left(tmp_path: Path) -> None:
    there_and_back = ("g1f3", "g8f6", "f3g1")
    path = book(tmp_path / "book.bin", *there_and_back, f6g8=9)
    assert shelf(path).find(question(*there_and_back), 0.0) is None
    path = book(tmp_path / "other.bin", *there_and_back, f6g8=9, d7d5=1)
    assert shelf(path).find(question(*there_and_back), 0.0).moves == ("d7d5",)


@pytest.mark.parametrize("normalization", ["max", "sum"])
def test_a_rare_move_stays_rare_where_the_main_move_repeats_a_position(tmp_path: Path, normalization: str) -> None:
    there_and_back = ("g1f3", "g8f6", "f3g1")
    path = book(tmp_path / "book.bin", *there_and_back, f6g8=60, d7d5=30, h7h5=1)
    books = shelf(path, normalization=normalization, min_weight=10)
    assert {books.find(question(*there_and_back), 0.0).moves for _ in range(50)} == {("d7d5",)}
    books = shelf(path, normalization=normalization, min_weight=60)
    assert books.find(question(*there_and_back), 0.0) is None


# Tablebases


QUEEN_ENDING = "7k/8/8/8/8/8/8/K2qQ3 w - - 0 1"
PAWN_ENDING = "8/8/3k4/8/3K4/3P4/8/8 w - - 0 1"


def asked(
    tables: Path, fen: str, quality: TableQuality = TableQuality.BEST, max_pieces: int = 7, patience_s: float = math.inf
) -> Suggestion | None:
    config = SyzygyConfig(enabled=True, paths=(tables,), max_pieces=max_pieces, move_quality=quality)
    return SyzygyTables(config, EventLog()).find(question(fen=fen), time.monotonic() + patience_s)


def test_the_winning_capture_is_the_move(tables: Path) -> None:
    for quality in TableQuality:
        found = asked(tables, QUEEN_ENDING, quality)
        assert (found.moves, found.wdl) == (("e1d1",), 2)


def test_the_quickest_win_is_best_and_any_win_is_suggested(tables: Path) -> None:
    best, suggested = (asked(tables, ROOK_ENDING, quality) for quality in (TableQuality.BEST, TableQuality.SUGGEST))
    assert (best.choice, suggested.choice, best.wdl, suggested.wdl) == (False, True, 2, 2)
    assert set(best.moves) < set(suggested.moves)


def test_only_the_quickest_win_is_suggested_if_the_fifty_move_rule_may_spoil_it(tables: Path) -> None:
    for quality in TableQuality:
        found = asked(tables, ROOK_ENDING.replace("0 1", "90 99"), quality)
        assert (found.wdl, found.moves) == (1, ("e2d3",))


def test_among_draws_the_engine_chooses(tables: Path) -> None:
    found = asked(tables, PAWN_ENDING)
    assert (found.wdl, found.choice) == (0, True)
    assert len(found.moves) > 1


def test_what_is_not_in_the_tables_has_no_move(tables: Path) -> None:
    assert asked(tables, "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1") is None
    assert asked(tables, QUEEN_ENDING, max_pieces=3) is None


def test_tables_that_are_read_too_slowly_are_left(tables: Path) -> None:
    assert asked(tables, QUEEN_ENDING, patience_s=0.0) is None


def test_without_distances_no_move_is_known(tables: Path, tmp_path: Path) -> None:
    for file in tables.glob("*.rtbw"):
        shutil.copy(file, tmp_path)
    assert asked(tmp_path, ROOK_ENDING) is None


def test_a_damaged_table_is_logged_once(
    tables: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file in tables.glob("K?vK.rtb?"):
        shutil.copy(file, tmp_path)
    (tmp_path / "KRvK.rtbw").write_bytes(b"no table")
    source = SyzygyTables(SyzygyConfig(enabled=True, paths=(tmp_path,)), EventLog())
    for _ in range(3):
        assert source.find(question(fen=ROOK_ENDING), time.monotonic() + 20.0) is None
        source.close()
    (record,) = caplog.records
    assert "KRvK.rtbw: not a Syzygy file" in record.getMessage()
    caplog.clear()


def with_tables(*folders: Path) -> EngineConfig:
    syzygy = {"enabled": True, "paths": [str(folder) for folder in folders]}
    return EngineConfig.model_validate({"own_book": False, "lichess_bot_tbs": {"syzygy": syzygy}})


def test_a_resolver_with_tables_plays_by_them(tables: Path, hosts: Hosts) -> None:
    resolver = MoveResolver.for_game("abcd1234", with_tables(tables), hosts, lambda answer: None)
    answer = resolver.resolve(question(fen=QUEEN_ENDING))
    assert (answer.moves, answer.source) == (("e1d1",), "syzygy")
    assert resolver.resolve(question()).moves == ()


def test_unusable_files_are_named_before_a_game_needs_them(
    tables: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "empty").mkdir()
    books = {"enabled": True, "book": {"standard": str(tmp_path / "no.bin")}}
    folders = (tables, tmp_path / "no", tmp_path / "empty")
    polyglot = PolyglotConfig.model_validate(books)
    engines = [with_tables(folder).model_copy(update={"polyglot": polyglot}) for folder in folders]
    warn_of_unusable_files(engines, EventLog())
    for thread in threading.enumerate():
        if thread.name == "file-check":
            thread.join(60.0)
    assert [record.getMessage() for record in caplog.records] == [
        f'book.unusable file={tmp_path}/no.bin reason="no such file or directory"',
        f'table.unusable problem="{tmp_path}/no: No such file or directory"',
        f'table.unusable problem="no Syzygy files in {tmp_path}/empty"',
    ]


# Closing


def open_files(folder: Path) -> list[str]:
    """Return the names of the files below a folder that this process has open."""
    links = (os.path.realpath(link) for link in Path("/proc/self/fd").iterdir())
    return [Path(link).name for link in links if link.startswith(os.path.realpath(folder) + "/")]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_closed_resolver_keeps_its_counts_but_no_file_open(tables: Path, tmp_path: Path, hosts: Hosts) -> None:
    """Correspondence games sleep for weeks, a hundred at once."""
    polyglot = {"enabled": True, "max_moves": 1, "book": {"standard": [str(book(tmp_path / "book.bin", e2e4=1))]}}
    config = EngineConfig.model_validate({**with_tables(tables).model_dump(), "polyglot": polyglot})
    resolver = MoveResolver.for_game("abcd1234", config, hosts, lambda answer: None)
    source = next(it.source for it in resolver._sources if isinstance(it.source, SyzygyTables))
    for _ in range(2):
        assert resolver.resolve(question()).source == "polyglot"
        assert resolver.resolve(question(fen=ROOK_ENDING)).source == "syzygy"
        tables_in_use = weakref.ref(source._tables)
        assert open_files(tmp_path) == ["book.bin"]
        resolver.close()
        assert open_files(tmp_path) == []
        assert tables_in_use() is None
    assert resolver.resolve(question("g1f3", "g8f6", "f3g1", "f6g8")).moves == (), "one move of the book was given"


def test_a_book_that_is_closed_while_it_is_read_gives_its_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    books = shelf(book(tmp_path / "book.bin", e2e4=1))

    class ClosedMeanwhile(Book):
        def moves(self, board: Board) -> list[BookMove]:
            books.close()
            return super().moves(board)

    monkeypatch.setattr("lichessbot.move_sources.local.Book", ClosedMeanwhile)
    assert [books.find(question(), 0.0) for _ in range(2)] == [Suggestion(("e2e4",))] * 2


def test_tables_that_are_closed_while_they_are_read_give_their_move(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SyzygyTables(SyzygyConfig(enabled=True, paths=(tables,)), EventLog())

    class ClosedMeanwhile(Tablebase):
        def report(self, board: Board, is_late: Callable[[], bool] = lambda: False) -> TableReport | None:
            source.close()
            return super().report(board, is_late)

    monkeypatch.setattr("lichessbot.move_sources.local.Tablebase", ClosedMeanwhile)
    assert source.find(question(fen=QUEEN_ENDING), math.inf).moves == ("e1d1",)


def test_check_counts_the_tables_and_names_what_is_wrong(tables: Path, tmp_path: Path, hosts: Hosts) -> None:
    (good,) = check_sources([with_tables(tables)], hosts)
    assert (good.works, good.text) == (True, "syzygy: 35 endgames of up to 4 pieces, 35 with DTZ")
    (empty,) = check_sources([with_tables(tmp_path)], hosts)
    assert (empty.works, empty.text) == (False, f"syzygy: no tables (.rtbw and .rtbz files) in {tmp_path}")
    shutil.copytree(tables, tmp_path / "wdl", ignore=shutil.ignore_patterns("*.rtbz"))
    (wdl,) = check_sources([with_tables(tmp_path / "wdl")], hosts)
    assert (wdl.works, wdl.may_pass) == (False, True), "the engine uses them"
    assert wdl.text.endswith("0 with DTZ; moves are found only where both kinds are there, .rtbw and .rtbz")
    for name in ("KQvK", "KRvK", "KBvK", "KNvK", "KPvK"):
        (tmp_path / f"{name}.rtbw").write_bytes(b"no table")
    (bad,) = check_sources([with_tables(tmp_path)], hosts)
    assert (bad.works, bad.may_pass) == (False, False)
    assert bad.text.count("not a Syzygy file") == 3
    assert bad.text.endswith("and 2 more")
