"""The names of openings."""

import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.polyglot
import pytest

from engine.book import opening_names
from engine.book.opening_names import KEY_DIGITS, NAMES, compiled, named_moves, named_positions, opening_of
from engine.facade import Board, InvalidMove

SPASSKY_VARIATION = (                  # the longest line with a name
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O c3 d5 exd5 Nxd5 Nxe5 Nxe5 Rxe5 c6 d4 Bd6 Re1 Qh4 g3 Qh3 "
    "Be3 Bg4 Qd3 Rae8 Nd2 Re6 a4 Qh5"
)


def uci(san: str) -> Sequence[str]:
    board = chess.Board()
    return [board.push_san(move).uci() for move in san.split()]


@pytest.mark.parametrize(
    ("moves", "name"),
    [
        ("e4", "B00 King's Pawn Game"),
        ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90 Sicilian Defense: Najdorf Variation"),
        ("Nf3 d6 d4 c5 e4 cxd4 Nxd4 Nf6 Nc3 a6", "B90 Sicilian Defense: Najdorf Variation"),
        ("d4 d5 c4 e6 Nc3 Nf6 Bg5", "D50 Queen's Gambit Declined: Modern Variation"),
        ("e4 e5 Nf3 Nc6 Bb5 h5 h3 h4", "C60 Ruy Lopez"),
        (SPASSKY_VARIATION, "C89 Ruy Lopez: Marshall Attack, Main Line, Spassky Variation"),
    ],
)
def test_a_game_is_named_after_its_last_position_with_a_name(moves: str, name: str) -> None:
    assert str(opening_of(uci(moves))) == name


def test_no_move_has_no_name_and_no_illegal_move_is_played() -> None:
    assert opening_of([]) is None
    with pytest.raises(InvalidMove):
        opening_of(["e2e5"])


@pytest.mark.parametrize(
    "content",
    [None, b"", bytes(5000), NAMES.read_bytes()[:9000], NAMES.read_bytes()[:9000] + bytes(99_000)],
    ids=["missing", "empty", "zeros", "cut off", "overwritten"],
)
def test_without_a_readable_file_nothing_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    file = tmp_path / "names.gz"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(opening_names, "NAMES", file)
    monkeypatch.setattr(opening_names, "_keys", opening_names._keys.__wrapped__)       # not what is known already
    assert opening_of(["e2e4", "e7e5"]) is None
    assert named_moves(Board()) == []


def test_named_positions_are_those_within_the_plies_asked_for() -> None:
    boards = named_positions(2, 2)
    assert {len(board.moves) for board in boards} == {2}
    assert ["e2e4", "e7e5"] in [list(board.moves) for board in boards]


def test_lines_of_the_file_are_made_from_those_of_its_source() -> None:
    board = chess.Board()
    board.push_san("e4")
    board.push_san("e5")
    key = f"{chess.polyglot.zobrist_hash(board):016x}"[:KEY_DIGITS]
    rows = ["eco\tname\tpgn\n", "C20\tKing's Pawn Game\t1. e4 e5\n"]
    assert list(compiled(rows)) == [f"{key}\tC20\tKing's Pawn Game\n"]


def test_every_position_has_one_name() -> None:
    with gzip.open(NAMES) as file:
        lines = io.TextIOWrapper(file, "utf-8").read().splitlines()
    keys, codes, names = zip(*(line.split("\t") for line in lines), strict=True)
    assert len(lines) > 3000
    assert len(set(keys)) == len(keys)
    assert all(len(code) == 3 and code[0] in "ABCDE" and code[1:].isdecimal() for code in codes)
    assert all(name == name.strip() for name in names)
