"""Polyglot books: what python-chess writes and reads, what a damaged file does, what games say."""

import os
import random
import struct
from pathlib import Path

import chess
import chess.polyglot
import pytest

from engine.book.book_statistics import BookStatistics, PlayedGame
from engine.book.opening_book import Book, Entry, InvalidBook, move_text, packed_move, review_book, write
from engine.book.polyglot import polyglot_key
from engine.cli.main import run
from engine.facade import OWN_BOOK, STARTING_FEN, Board
from engine.selfplay.book_growing import BookGrower, Candidate, GrowingPlan, deepest, make_shard, pick, read
from engine.selfplay.records import InvalidRecord

NOISE = random.Random(1).randbytes(16 * 500)
ITALIAN = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5", "e1g1")


def filed(board: Board, **weights: int) -> list[Entry]:
    return [Entry(polyglot_key(board), packed_move(board, move), weight) for move, weight in weights.items()]


def after(*moves: str, fen: str | None = None, chess960: bool = False) -> Board:
    board = Board(chess960=chess960) if fen is None else Board(fen, chess960=chess960)
    for move in moves:
        board.push(move)
    return board


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.bin"


# Reading and writing


def test_moves_come_heaviest_first(path: Path) -> None:
    assert write(path, filed(Board(), e2e4=5, d2d4=9, c2c4=7)) == 3
    book = Book(path)
    assert len(book) == 3
    assert [(it.move, it.weight) for it in book.moves(Board())] == [("d2d4", 9), ("c2c4", 7), ("e2e4", 5)]
    assert book.moves(after("a2a3")) == []


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


def test_moves_that_are_not_legal_are_not_seen(path: Path) -> None:
    key = polyglot_key(Board())
    stray = [Entry(key, 0, 9), Entry(key, 0xFFFF, 9), Entry(key, 5 << 12, 9), Entry(key, 0o1444, 9)]
    write(path, [*stray, *filed(Board(), e2e4=1)])
    book = Book(path)
    assert [it.move for it in book.moves(Board())] == ["e2e4"]
    found = review_book(book, [Board()])
    assert not found.is_sound
    assert found.illegal == 4


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"", "is empty"), (bytes(17), "not whole entries"), (NOISE, "not sorted")]
)
def test_another_file_is_no_book(path: Path, content: bytes, complaint: str) -> None:
    path.write_bytes(content)
    with pytest.raises(InvalidBook, match=complaint):
        Book(path)
    with pytest.raises(InvalidBook, match="is not a regular file"):
        Book(path.parent)


def test_one_entry_out_of_order_among_many_is_found_by_a_review_book(path: Path) -> None:
    rng = random.Random(2)
    entries = sorted(rng.getrandbits(64) for _ in range(20_000))
    entries[9_001], entries[9_002] = entries[9_002], entries[9_001]
    path.write_bytes(b"".join(struct.pack(">QHHI", key, 796, 1, 0) for key in entries))
    found = review_book(Book(path), [])
    assert found.unsorted == 1
    assert "FAULT" in "\n".join(found.lines())


def test_a_move_filed_twice_is_found_by_a_review_book(path: Path) -> None:
    write(path, filed(Board(), e2e4=1) * 2)
    found = review_book(Book(path), [Board()])
    assert (found.repeated, found.reached, found.illegal) == (1, 2, 0)
    assert [it.move for it in Book(path).moves(Board())] == ["e2e4"]


def test_a_book_cut_short_while_it_is_open_is_an_error_and_no_end_of_the_process(path: Path) -> None:
    write(path, filed(Board(), e2e4=1, d2d4=2))
    book = Book(path)
    os.truncate(path, 16)
    with pytest.raises(InvalidBook, match="was truncated"):
        book.moves(Board())


def test_random_bytes_never_do_more_than_complain(path: Path) -> None:
    rng = random.Random(8)
    for _ in range(200):
        path.write_bytes(rng.randbytes(rng.randrange(200)))
        try:
            book = Book(path)
        except InvalidBook:
            continue
        book.moves(Board())
        review_book(book, [Board()])


# What games say


def test_a_win_weighs_two_and_a_draw_one_for_who_made_the_move() -> None:
    statistics = BookStatistics(max_plies=2)
    for result in ("1-0", "1-0", "1/2-1/2", "0-1", "*"):
        statistics.add(PlayedGame(ITALIAN, result))
    weights = {entry.key: entry.weight for entry in statistics.entries(1)}
    assert statistics.games == 4
    assert weights == {polyglot_key(Board()): 5, polyglot_key(after("e2e4")): 3}


def test_a_move_that_only_lost_or_was_hardly_played_is_left_out() -> None:
    statistics = BookStatistics(max_plies=2)
    statistics.add(PlayedGame(ITALIAN, "1-0"))
    statistics.add(PlayedGame(("d2d4", "d7d5"), "0-1"))
    assert {move_text(entry.move) for entry in statistics.entries(1)} == {"e2e4", "d7d5"}
    assert list(statistics.entries(2)) == []


def test_only_the_sides_worth_keeping_count_and_nothing_after_an_illegal_move() -> None:
    statistics = BookStatistics(max_plies=9)
    statistics.add(PlayedGame(("e2e4", "e7e5", "e1e3", "b8c6"), "1/2-1/2", sides=frozenset({"black"})))
    assert [move_text(entry.move) for entry in statistics.entries(1)] == ["e7e5"]


def test_weights_that_are_too_heavy_keep_their_proportion() -> None:
    statistics = BookStatistics(max_plies=1)
    statistics.add(PlayedGame(("e2e4",), "1-0"))
    (tallies,) = statistics._positions.values()
    (tally,) = tallies.values()
    tally.points = 400_000
    statistics.add(PlayedGame(("d2d4",), "1-0"))
    assert sorted(entry.weight for entry in statistics.entries(1)) == [1, 65535]


# A book of our own


def small(folder: Path) -> GrowingPlan:
    return GrowingPlan(folder, opening_nodes=600, nodes=60, plies=6, seed=4, games_per_shard=2)


def test_the_same_shard_holds_the_same_games(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        plan = small(tmp_path / name)
        plan.folder.mkdir()
        assert plan.missing(2) == [0]
        make_shard(BookGrower(plan), plan, 0)
        assert plan.missing(2) == []
        texts.append(plan.path(0).read_text())
    assert texts[0] == texts[1]


def test_host_and_guest_take_turns_and_every_move_is_legal(tmp_path: Path) -> None:
    plan = small(tmp_path)
    make_shard(BookGrower(plan), plan, 0)
    games = list(read(plan.path(0)))
    assert [set(game.sides) for game in games] == [{"white"}, {"black"}]
    for game in games:
        board = chess.Board()
        assert len(game.moves) == 6
        for move in game.moves:
            board.push_uci(move)


def test_a_line_that_is_no_game_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard = tmp_path / "0001-000000.games"
    shard.write_text("white 1-0 e2e4\nnothing\n")
    with pytest.raises(InvalidRecord, match=r"games:2: expected a side"):
        list(read(shard))
    assert run(["book", "grow", str(tmp_path), "--games", "1", "-o", str(tmp_path / "book.bin")]) == 2
    assert "games:2: expected a side" in capsys.readouterr().err


def test_no_move_further_from_the_best_than_allowed_is_picked() -> None:
    candidates = [Candidate("a2a3", 40), Candidate("b2b3", 16), Candidate("c2c3", 10)]
    rng = random.Random(1)
    assert {pick(candidates, 25, 15, rng) for _ in range(200)} == {"a2a3", "b2b3"}


def test_lines_of_a_depth_that_was_not_finished_do_not_count() -> None:
    found = {(1, 1): Candidate("a", 1), (1, 2): Candidate("b", 2), (2, 1): Candidate("c", 3)}
    assert [it.move for it in deepest(found)] == ["a", "b"]
    assert deepest({}) == []


def test_our_own_book_is_sound_small_and_knows_both_sides() -> None:
    book = Book(OWN_BOOK)
    assert OWN_BOOK.stat().st_size <= 1 << 20
    assert len(book.moves(Board())) >= 3
    for first in ("e2e4", "d2d4", "g1f3"):
        assert book.moves(after(first)), first
    found = review_book(book, [Board()], max_positions=400)
    assert found.is_sound
    assert found.reached > 300, "a walk from the start comes through the book"


# Commands


def test_the_book_grown_is_the_book_shown_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


PGN = """[Result "1-0"]

1. e4 e5 (1... c5) 2. Nf3 1-0

[Result "1/2-1/2"]

1. e4 c5 1/2-1/2

[Result "*"]

1. d4 *

[Variant "Atomic"]
[Result "1-0"]

1. Nf3 1-0

[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]
[Result "1-0"]

1. O-O 1-0
"""


def test_games_in_pgn_become_a_book(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, book = tmp_path / "games.pgn", tmp_path / "book.bin"
    games.write_text(PGN)
    assert run(["book", "build", str(games), "-o", str(book), "--games", "1"]) == 0
    told = capsys.readouterr()
    assert "3 games, 4 moves written" in told.out
    assert "2 games left out" in told.err
    assert [(it.move, it.weight) for it in Book(book).moves(Board())] == [("e2e4", 3)]
    assert [it.move for it in Book(book).moves(after("e2e4"))] == ["c7c5"]
    castling = Book(book).moves(Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1"))
    assert [it.move for it in castling] == ["e1g1"]
    with chess.polyglot.open_reader(book) as reader:
        assert reader.find(chess.Board()).move == chess.Move.from_uci("e2e4")


def test_several_files_count_together_and_rare_moves_are_left_out(tmp_path: Path) -> None:
    book = tmp_path / "book.bin"
    for name in ("one.pgn", "two.pgn"):
        (tmp_path / name).write_text(PGN)
    files = [str(tmp_path / name) for name in ("one.pgn", "two.pgn")]
    assert run(["book", "build", *files, "-o", str(book), "--games", "3"]) == 0
    assert len(Book(book)) == 1


def test_a_book_that_would_be_empty_replaces_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, book = tmp_path / "games.pgn", tmp_path / "book.bin"
    games.write_text(PGN)
    book.write_bytes(b"a better one")
    assert run(["book", "build", str(games), "-o", str(book), "--games", "9"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"{book} is not written: in 3 games no move was played 9 times and scored"
    )
    assert book.read_bytes() == b"a better one"


def test_games_are_read_from_a_pipe(tmp_path: Path) -> None:
    """As they come out of a program that unpacks a database."""
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


def test_a_position_is_shown_by_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for words in (["startpos"], STARTING_FEN.split(), [STARTING_FEN], []):
        assert run(["book", "show", *words]) == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1
    assert shown[0]


def test_a_damaged_book_fails_the_check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(path, [Entry(polyglot_key(Board()), 0o1444, 1)])
    assert run(["book", "check", str(path)]) == 1
    assert "moves that are not legal in their position: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["show", "no fen"], ["check", "/nowhere.bin"], ["build", "/nowhere.pgn", "-o", "/nowhere.bin"], [], ["sell"]],
)
def test_what_makes_no_sense_is_one_line_and_exit_code_two(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["book", *words]) == 2
    assert "Traceback" not in capsys.readouterr().err
