"""Polyglot books: reading and writing like python-chess, and damaged files."""

import os
import random
import struct
from pathlib import Path

import chess
import chess.polyglot
import chess.variant
import pytest

from engine.book.opening_book import Book, Entry, InvalidBook, move_text, packed_move, review_book, write
from engine.book.polyglot import polyglot_key
from engine.facade import OWN_BOOK, Board, InvalidMove

NOISE = random.Random(1).randbytes(16 * 500)


def filed(board: Board, **weights: int) -> list[Entry]:
    return [Entry(polyglot_key(board), packed_move(board, move), weight) for move, weight in weights.items()]


def after(*moves: str, fen: str | None = None, chess960: bool = False) -> Board:
    return Board(fen, chess960=chess960).after(*moves)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.bin"


# Reading and writing


def test_a_book_that_cannot_be_written_leaves_no_part_of_it(path: Path) -> None:
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        write(path, filed(Board(), e2e4=5))
    assert list(path.parent.iterdir()) == [path]


def test_moves_come_heaviest_first(path: Path) -> None:
    assert write(path, filed(Board(), e2e4=5, d2d4=9, c2c4=7)) == 3
    book = Book(path)
    assert len(book) == 3
    assert [(it.move, it.weight) for it in book.moves(Board())] == [("d2d4", 9), ("c2c4", 7), ("e2e4", 5)]
    assert book.moves(after("a2a3")) == []


@pytest.mark.parametrize(
    ("variant", "fen", "packed", "move"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[NQ] w - - 0 1", 1 << 12 | 0o5252, "N@c6"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[NQ] w - - 0 1", 4 << 12 | 0o5252, "Q@c6"),
        ("antichess", "8/P7/8/8/8/8/8/4k3 w - - 0 1", 5 << 12 | 0o6070, "a7a8k"),
    ],
)
def test_drops_and_promotions_of_variants_are_packed_like_by_python_chess(
    path: Path, variant: str, fen: str, packed: int, move: str
) -> None:
    board = Board(fen, variant=variant)
    write(path, [Entry(polyglot_key(board), packed, 7)])
    theirs = chess.variant.find_variant(variant)(fen)
    with chess.polyglot.open_reader(path) as reader:
        assert [entry.move.uci() for entry in reader.find_all(theirs)] == [move]
    assert [it.move for it in Book(path).moves(board)] == [move]
    assert packed_move(board, move) == packed


def test_a_book_cannot_hold_the_drop_of_a_pawn() -> None:
    with pytest.raises(InvalidMove, match="'P@c6' is the drop of a pawn"):
        packed_move(Board("4k3/8/8/8/8/8/8/4K3[P] w - - 0 1", variant="crazyhouse"), "P@c6")


@pytest.mark.parametrize(
    ("fen", "move", "castling"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "e1h1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "e8a8"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a7a8n"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", "a7a8q"),
    ],
)
def test_castling_is_filed_as_king_takes_rook_and_promotions_by_piece(fen: str, move: str, castling: str) -> None:
    board = Board(fen)
    assert move_text(packed_move(board, move)) == castling
    assert board.normalise(castling) == move


def test_every_legal_move_is_read_as_python_chess_reads_it(path: Path) -> None:
    rng = random.Random(5)
    entries: list[Entry] = []
    boards: list[chess.Board] = []
    for _ in range(60):
        theirs, ours = chess.Board(), Board()
        for _ in range(rng.randrange(90)):
            if theirs.is_game_over():
                break
            move = rng.choice(list(theirs.legal_moves))
            theirs.push(move)
            ours.push(move.uci())
        boards.append(theirs)
        entries += filed(ours, **{move: rng.randrange(1, 999) for move in ours.legal_moves()})
    write(path, {(it.key, it.move): it for it in entries}.values())
    book = Book(path)
    with chess.polyglot.open_reader(path) as reader:
        assert len(reader) == len(book)
        for theirs in boards:
            expected = {(entry.move.uci(), entry.weight) for entry in reader.find_all(theirs)}
            assert {(it.move, it.weight) for it in book.moves(Board(theirs.fen(en_passant="fen")))} == expected


def test_a_book_of_chess960_castles(path: Path) -> None:
    fen = "rk5r/8/8/8/8/8/8/RK5R w HAha - 0 1"
    board = Board(fen, chess960=True)
    write(path, filed(board, b1h1=3))
    assert [it.move for it in Book(path).moves(board)] == ["b1h1"]
    with chess.polyglot.open_reader(path) as reader:
        assert reader.find(chess.Board(fen, chess960=True)).move.uci() == "b1h1"


# What may be wrong


def test_illegal_moves_are_ignored(path: Path) -> None:
    key = polyglot_key(Board())
    none = [Entry(key, move, 9) for move in (0, 0xFFFF, 5 << 12, 1 << 15 | 0o1424)]
    stray = [*none, Entry(key, 0o1444, 9)]
    write(path, [*stray, *filed(Board(), e2e4=1)])
    book = Book(path)
    assert [it.move for it in book.moves(Board())] == ["e2e4"]
    found = review_book(book, [Board()])
    assert not found.is_sound
    assert (found.no_move, found.illegal) == (3, 5)


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"", "is empty"), (bytes(17), "not whole entries"), (NOISE, "not sorted")]
)
def test_another_file_is_no_book(path: Path, content: bytes, complaint: str) -> None:
    path.write_bytes(content)
    with pytest.raises(InvalidBook, match=complaint):
        Book(path)
    os.mkfifo(path.with_name("pipe.bin"))
    for other in (path.parent, path.with_name("pipe.bin")):
        with pytest.raises(InvalidBook, match="is not a regular file"):
            Book(other)


def test_a_review_finds_an_entry_out_of_order(path: Path) -> None:
    rng = random.Random(2)
    entries = sorted(rng.getrandbits(64) for _ in range(20_000))
    entries[9_001], entries[9_002] = entries[9_002], entries[9_001]
    path.write_bytes(b"".join(struct.pack(">QHHI", key, 796, 1, 0) for key in entries))
    found = review_book(Book(path), [])
    assert found.unsorted == 1
    assert "FAULT" in "\n".join(found.lines())


def test_a_review_finds_an_entry_without_a_move(path: Path) -> None:
    write(path, [Entry(2**63, 0, 5)])
    assert not review_book(Book(path), []).is_sound


def test_a_review_finds_an_illegal_move(path: Path) -> None:
    write(path, [Entry(polyglot_key(Board()), 0o1444, 5)])
    found = review_book(Book(path), [Board()])
    assert (found.is_sound, found.illegal) == (False, 1)


def test_a_review_counts_entries_and_positions(path: Path) -> None:
    write(path, [*filed(Board(), e2e4=5, d2d4=0), *filed(after("e2e4"), e7e5=2)])
    found = review_book(Book(path), [Board()])
    assert found.is_sound
    assert found.lines() == [
        "entries 3, positions 2", "entries without weight 1", "reached from the starting position 3",
    ]  # fmt: skip


def test_a_review_finds_a_repeated_move(path: Path) -> None:
    write(path, filed(Board(), e2e4=1) * 2)
    found = review_book(Book(path), [Board()])
    assert (found.repeated, found.reached, found.illegal) == (1, 2, 0)
    assert [it.move for it in Book(path).moves(Board())] == ["e2e4"]


def test_both_spellings_of_castling_are_one_legal_move(path: Path) -> None:
    board = Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    king, rook, target = 4, 7, 6
    write(path, [Entry(polyglot_key(board), king << 6 | square, weight) for square, weight in ((rook, 1), (target, 5))])
    assert Book(path).moves(board) == [("e1g1", 5)]
    found = review_book(Book(path), [board])
    assert (found.reached, found.illegal) == (2, 0)


def test_truncating_an_open_book_raises(path: Path) -> None:
    write(path, filed(Board(), e2e4=1, d2d4=2))
    book = Book(path)
    os.truncate(path, 16)
    with pytest.raises(InvalidBook, match="was truncated"):
        book.moves(Board())


def test_random_bytes_raise_invalid_book_at_most(path: Path) -> None:
    rng = random.Random(8)
    for _ in range(200):
        path.write_bytes(rng.randbytes(rng.randrange(200)))
        try:
            book = Book(path)
        except InvalidBook:
            continue
        book.moves(Board())
        review_book(book, [Board()])


def test_the_shipped_book_is_sound_small_and_has_both_sides() -> None:
    book = Book(OWN_BOOK)
    assert OWN_BOOK.stat().st_size <= 1 << 20
    assert len(book.moves(Board())) >= 3
    for first in ("e2e4", "d2d4", "g1f3"):
        assert book.moves(after(first)), first
    found = review_book(book, [Board()], max_positions=400)
    assert found.is_sound
    assert found.reached > 300, "a walk from the start comes through the book"
