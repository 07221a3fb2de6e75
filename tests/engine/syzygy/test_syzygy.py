"""Syzygy probing: the same values as python-chess, in searches, too."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.syzygy
import pytest

from engine.board import Board
from engine.facade import Engine, Limits, SearchReport, build_mode
from engine.search.history import History
from engine.search.search import Search
from engine.search.time_manager import TimeManager
from engine.search.transposition import TranspositionTable
from engine.syzygy.file_header import Endgame, Kind
from engine.syzygy.tablebase import Tablebase, TableReport
from tests.scripts import run_python

SUFFIXES = (".rtbw", ".rtbz")
SHALLOW_WINS = ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "7k/8/8/8/1K6/8/P7/8 w - - 0 1", "8/8/8/3k4/8/8/8/KR6 w - - 0 1")
FIVE_PIECES = "4k3/8/8/1p6/8/P7/1P6/4K3 w - - 0 1"    # White wins, but only search finds out

ONLINE_FEN = "4k3/6KP/8/8/8/8/7p/8 w - - 0 1"
# Category and DTZ after each move, for the side then to move.
ONLINE_MOVES = {
    "h7h8q": ("loss", -2), "h7h8r": ("loss", -2), "g7g8": ("draw", 0), "g7f6": ("win", 1), "g7g6": ("win", 1),
    "g7h6": ("win", 1), "g7h8": ("win", 1), "h7h8n": ("win", 1), "h7h8b": ("win", 1),
}  # fmt: skip
ONLINE_LINE = [
    ("h7h8q", -2), ("e8d7", 1), ("h8h2", -14), ("d7c6", 13), ("h2e5", -12), ("c6b6", 11), ("g7f6", -10), ("b6a6", 9),
    ("e5b2", -8), ("a6a5", 7), ("f6e5", -6), ("a5a4", 5), ("e5d4", -4), ("a4a5", 3), ("d4c5", -2), ("a5a4", 1),
    ("b2a2", -1),
]  # fmt: skip


def positions(endgame: str, count: int, seed: int) -> Iterator[chess.Board]:
    """Yield random legal positions with these pieces, for either side."""
    rng = random.Random(f"{endgame} {seed}")
    while count:
        board = random_position(endgame, rng)
        if board is not None:
            count -= 1
            yield board


def random_position(endgame: str, rng: random.Random) -> chess.Board | None:
    white, black = rng.sample(endgame.split("v"), 2)
    board = chess.Board(None)
    squares = rng.sample(range(64), len(white) + len(black))
    for letter, square in zip(white + black.lower(), squares, strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(letter))
    board.turn = rng.random() < 0.5
    return board if board.is_valid() else None


def en_passant_positions(count: int, seed: int) -> Iterator[chess.Board]:
    """Yield positions with king and pawn each, in which en passant is legal."""
    rng = random.Random(seed)
    while count:
        board = chess.Board(None)
        file = rng.randrange(8)
        neighbour = file + rng.choice((-1, 1))
        if not 0 <= neighbour < 8:
            continue
        board.set_piece_at(chess.square(file, 1), chess.Piece.from_symbol("P"))
        board.set_piece_at(chess.square(neighbour, 3), chess.Piece.from_symbol("p"))
        for king in "Kk":
            square = rng.choice([square for square in chess.SQUARES if board.piece_at(square) is None])
            board.set_piece_at(square, chess.Piece.from_symbol(king))
        step = chess.Move(chess.square(file, 1), chess.square(file, 3))
        if board.is_valid() and board.is_legal(step):
            board.push(step)
            if board.has_legal_en_passant():
                count -= 1
                yield board if rng.random() < 0.5 else board.mirror()


def endgames(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.rtbw") if len(path.stem) <= 5)


def assert_equal_to_python_chess(folder: Path, boards: Iterator[chess.Board]) -> None:
    ours = Tablebase([folder])
    with chess.syzygy.open_tablebase(str(folder)) as theirs:
        for board in boards:
            mine = Board(board.fen())
            assert ours.wdl(mine) == theirs.probe_wdl(board), board.fen()
            assert ours.dtz(mine) == theirs.probe_dtz(board), board.fen()
    assert ours.problems == []


def test_every_endgame_of_three_and_four_pieces_is_probed_as_by_python_chess(tables: Path) -> None:
    assert_equal_to_python_chess(tables, (board for name in endgames(tables) for board in positions(name, 12, 1)))


def test_en_passant_positions_are_probed_as_by_python_chess(tables: Path) -> None:
    assert_equal_to_python_chess(tables, en_passant_positions(60, 2))


def test_the_recorded_answers_of_the_online_tablebase_are_ours(tables: Path) -> None:
    """The documented answers of tablebase.lichess.org to a position, its moves, and its main line."""
    base = Tablebase([tables])
    outcomes = {"win": 2, "draw": 0, "loss": -2}
    for move, (category, dtz) in ONLINE_MOVES.items():
        board = Board(ONLINE_FEN).after(move)
        assert (base.wdl(board), base.dtz(board)) == (outcomes[category], dtz), move
    board = Board(ONLINE_FEN)
    assert (base.wdl(board), base.dtz(board)) == (2, 1)
    for move, dtz in ONLINE_LINE:
        board.push(move)
        assert base.dtz(board) == dtz, move
    assert board.is_checkmate()


@pytest.mark.long
def test_thousands_of_positions_of_every_endgame_are_probed_as_by_python_chess(tables: Path) -> None:
    assert_equal_to_python_chess(tables, (board for name in endgames(tables) for board in positions(name, 2000, 3)))
    assert_equal_to_python_chess(tables, en_passant_positions(5000, 4))


def test_the_files_are_counted_and_described(tables: Path) -> None:
    tablebase = Tablebase([tables])
    assert (len(tablebase), tablebase.max_pieces) == (35, 4)
    assert tablebase.describe() == "35 endgames of up to 4 pieces, 35 with DTZ"
    assert tablebase.review() == []


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/8/4K2R w K - 0 1",          # castling
        "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1",       # more pieces than any file has
        chess.STARTING_FEN,
    ],
)
def test_positions_outside_all_tables_are_unknown(tables: Path, fen: str) -> None:
    tablebase = Tablebase([tables])
    board = Board(fen)
    assert (tablebase.wdl(board), tablebase.dtz(board), tablebase.report(board)) == (None, None, None)


def test_a_capture_into_a_missing_endgame_makes_the_position_unknown(tables: Path, tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        shutil.copy(tables / f"KQvKR{suffix}", tmp_path)
    tablebase = Tablebase([tmp_path])
    assert tablebase.wdl(Board("8/8/8/3k4/8/r7/8/Q3K3 w - - 0 1")) is None     # the rook may be taken
    assert tablebase.wdl(Board("8/8/8/2k5/8/r7/8/4K2Q w - - 0 1")) == 2


def test_a_promotion_into_a_missing_endgame_leaves_the_moves_unknown(tables: Path, tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        shutil.copy(tables / f"KPvK{suffix}", tmp_path)
    tablebase, board = Tablebase([tmp_path]), Board("8/P7/8/8/8/2k5/8/K7 w - - 0 1")
    assert tablebase.wdl(board) == 2
    assert tablebase.dtz(board) is None
    assert tablebase.report(board) is None


def test_bare_kings_are_a_draw_without_any_file(tables: Path) -> None:
    assert Tablebase([tables]).wdl(Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")) == 0
    assert Tablebase([]).wdl(Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")) is None


def test_the_search_of_a_variant_asks_no_table(tables: Path) -> None:
    engine = Engine(hash_mb=1)
    engine.set_tablebase(Tablebase([tables]))
    for variant, is_known in (("standard", True), ("kingOfTheHill", False)):
        engine.set_position(Board("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", variant=variant))
        assert (engine.go(Limits(depth=1)).report.tablebase_hits > 0) is is_known


# --- Moves -----------------------------------------------------------------------------------------------------------


def test_only_the_quickest_win_is_searched_if_the_fifty_move_rule_may_spoil_it(tables: Path) -> None:
    tablebase = Tablebase([tables])
    fen = "8/8/8/2k5/8/r7/8/4K2Q w - - {} 80"
    dtz = tablebase.dtz(Board(fen.format(0)))
    in_time, perhaps = (tablebase.report(Board(fen.format(100 - dtz - early))) for early in (20, 0))
    assert (in_time.wdl, perhaps.wdl) == (2, 1)
    assert len(in_time.worth_searching()) > len(in_time.best())
    assert perhaps.worth_searching() == perhaps.best() == in_time.best()
    assert len(perhaps.keeping()) > len(perhaps.best())


@pytest.mark.parametrize(
    "fen", ["8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "8/8/8/3k4/8/8/8/KQ6 w - - 0 1", "7k/8/8/8/1K6/8/P7/8 w - - 0 1"]
)
def test_the_quickest_moves_mate_within_fifty_moves_of_each_step(tables: Path, fen: str) -> None:
    tablebase = Tablebase([tables])
    board = Board(fen)
    while (report := tablebase.report(board)) is not None:
        assert report.wdl == (2 if board.turn == "white" else -2)
        board.push(report.best()[0])
        assert board.halfmove_clock < 100
    assert board.is_checkmate()


def report_of(tablebase: Tablebase, fen: str) -> TableReport:
    report = tablebase.report(Board(fen))
    assert report is not None
    return report


@pytest.mark.parametrize(("side", "won", "latest"), [("w", 1, 99), ("b", -1, 100)])
def test_the_fifty_move_rule_turns_a_late_win_into_a_draw(tables: Path, side: str, won: int, latest: int) -> None:
    """A distance may be one too low: neither side counts on what is right only if it is not."""
    tablebase = Tablebase([tables])
    fen = f"8/8/8/3k4/8/8/8/KBN5 {side} - - {{}} 1"
    distance = tablebase.dtz(Board(fen.format(0)))
    latest -= abs(distance)
    for clock, wdl in ((0, 2), (latest, 2), (latest + 1, 1)):
        assert report_of(tablebase, fen.format(clock)).wdl == won * wdl


def test_once_a_position_has_repeated_only_the_quickest_win_is_searched(tables: Path) -> None:
    tablebase = Tablebase([tables])
    board = Board("8/8/8/8/3k4/8/8/KR6 w - - 0 1").after("b1b2", "d4d5", "b2b1", "d5d4", "b1b3", "d4e4")
    assert board.repetition_count() == 1, "it was an earlier position"
    repeated, fresh = (tablebase.report(it) for it in (board, Board(board.fen())))
    assert repeated.worth_searching() == repeated.best() == fresh.best()
    assert len(fresh.worth_searching()) > len(fresh.best())


def test_a_win_that_repeats_the_position_a_third_time_is_drawn(tables: Path) -> None:
    board = Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1").after(*("b1b2", "d5d6", "b2b1", "d6d5") * 2)
    report = Tablebase([tables]).report(board)
    assert {it.move: it.wdl for it in report.moves if it.move in ("b1b2", "b1b3")} == {"b1b2": 0, "b1b3": 2}


def test_a_capture_wins_however_late(tables: Path) -> None:
    report = report_of(Tablebase([tables]), "7k/8/8/8/8/8/8/K2qQ3 w - - 99 80")
    assert (report.wdl, report.best()) == (2, ["e1d1"])


def test_without_dtz_files_the_result_still_counts(tables: Path, tmp_path: Path) -> None:
    for file in tables.glob("*.rtbw"):
        shutil.copy(file, tmp_path)
    report = report_of(Tablebase([tmp_path]), "8/8/8/3k4/8/8/8/KQ6 w - - 0 80")
    assert (report.wdl, report.has_distances) == (2, False)
    assert len(report.keeping()) > 10


# --- The search ------------------------------------------------------------------------------------------------------


def searched(fen: str, depth: int, tablebase: Tablebase, threads: int = 1) -> SearchReport:
    engine = Engine()
    engine.set_threads(threads)
    engine.set_tablebase(tablebase)
    engine.set_position(Board(fen))
    report = engine.go(Limits(depth=depth)).report
    assert report is not None
    return report


def test_threads_share_a_tablebase_whose_files_are_not_open_yet(tables: Path) -> None:
    assert searched(FIVE_PIECES, 12, Tablebase([tables]), threads=4).tablebase_hits > 100


def test_the_search_finds_a_capture_into_a_won_endgame(tables: Path) -> None:
    with_tables, without = (searched(FIVE_PIECES, 12, base) for base in (Tablebase([tables]), Tablebase()))
    assert (with_tables.score_cp or 0) > 29_000
    assert with_tables.tablebase_hits > 100
    assert without.tablebase_hits == 0
    assert (without.score_cp or 0) < 5_000


def test_a_search_for_mate_stores_nothing_that_contradicts_a_tablebase(tables: Path) -> None:
    """White wins by taking the rook; the shared table must not score that as a rook ahead afterwards."""
    position, shared = Board("8/8/8/8/4k3/8/8/K2Rr3 w - - 0 1").position, TranspositionTable(4)
    opened = Tablebase([tables])
    for window in ((29_950,), (28_000, 28_001)):
        search = Search(position, shared, History(), TimeManager(), prober=opened.prober(position))
        assert search.run(3, *window) > 29_000


def test_a_table_draw_is_scored_as_one(tables: Path) -> None:
    """King and rook pawn, where White is ahead in material."""
    report = searched("k7/8/8/8/8/8/P7/K7 w - - 0 1", 8, Tablebase([tables]))
    assert (report.score_cp, report.mate_in) == (0, None)


@pytest.mark.parametrize(
    ("side_and_clock", "score_cp"),
    [("w - - 0 1", 30_000), ("b - - 0 1", -30_000), ("w - - 80 90", 0), ("b - - 80 90", 0)],
)
def test_a_known_root_has_the_score_of_its_result(side_and_clock: str, score_cp: int, tables: Path) -> None:
    """Bishop and knight need more than twenty plies, so the fifty-move rule draws in the end."""
    report = searched(f"8/8/8/3k4/8/8/8/KBN5 {side_and_clock}", 2, Tablebase([tables]))
    assert (report.score_cp, report.mate_in) == (score_cp, None)


def test_the_only_drawing_move_is_played_at_any_depth(tables: Path) -> None:
    """Only the opposition holds the draw."""
    fen = "8/8/8/4k3/8/3K4/3P4/8 b - - 0 1"
    report = report_of(Tablebase([tables]), fen)
    assert report.wdl == 0
    assert searched(fen, 1, Tablebase([tables])).pv[0] in report.keeping()


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("fen", SHALLOW_WINS)
def test_shallow_searches_win_won_endgames(tables: Path, fen: str, depth: int) -> None:
    """Against the longest defence."""
    tablebase = Tablebase([tables])
    board = Board(fen)
    engine = Engine()
    engine.set_tablebase(tablebase)
    while board.legal_moves():
        engine.set_position(board)
        move = engine.go(Limits(depth=depth)).best_move
        board.push(move)
        report = tablebase.report(board)
        if report is not None:
            board.push(report.best()[0])
        assert board.halfmove_clock < 100
        assert board.repetition_count() < 3
    assert board.is_checkmate()


def test_chosen_moves_stay_chosen(tables: Path) -> None:
    engine = Engine()
    engine.set_tablebase(Tablebase([tables]))
    engine.set_position(Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1"))
    assert engine.go(Limits(depth=4), only=["b1e4", "a1a2"]).best_move == "a1a2", "the other one loses the queen"
    assert engine.go(Limits(depth=4), only=["b1e4"]).best_move == "b1e4"


def test_positions_above_the_probe_limit_are_not_probed(tables: Path) -> None:
    assert searched("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", 4, Tablebase([tables], probe_limit=3)).score_cp != 30_000


def test_damaged_tables_leave_the_search_as_it_is(tables: Path, tmp_path: Path) -> None:
    for file in tables.glob("*.rtbw"):
        shutil.copy(file, tmp_path)
        os.truncate(tmp_path / file.name, 200)
    damaged, without = (searched(FIVE_PIECES, 10, base) for base in (Tablebase([tmp_path]), Tablebase()))
    assert damaged.tablebase_hits == 0
    assert (damaged.nodes, damaged.pv) == (without.nodes, without.pv)


# --- Bad files -----------------------------------------------------------------------------------------------------


def test_the_leading_pieces_of_an_endgame() -> None:
    assert Endgame.of_name("KvK") is None
    for name, leading in (("KQvK", 3), ("KRRvK", 2), ("KQvKQ", 3), ("KPPvKP", 1), ("KPvK", 1), ("KPPvK", 2)):
        assert Endgame.of_name(name).leading == leading
    assert [kind.magic for kind in Kind] == [chess.syzygy.chess.Board.tbw_magic, chess.syzygy.chess.Board.tbz_magic]


# --- Plain Python ----------------------------------------------------------------------------------------------------

PROBE = """
import json, sys
from pathlib import Path
from engine.facade import Board, Engine, Limits, Tablebase, build_mode
tablebase = Tablebase([Path(sys.argv[1])])
boards = [Board(fen) for fen in sys.stdin.read().splitlines()]
engine = Engine(hash_mb=1)
engine.set_evaluation("none")
engine.set_tablebase(tablebase)
engine.set_position(Board("4k3/8/8/1p6/8/P7/1P6/4K3 w - - 0 1"))
result = engine.go(Limits(depth=6))
searched = (result.best_move, result.report.score_cp, result.report.nodes, result.report.tablebase_hits)
print(json.dumps([build_mode(), searched, [(tablebase.wdl(board), tablebase.dtz(board)) for board in boards]]))
"""


@pytest.mark.skipif(build_mode() == "plain", reason="the engine runs as plain Python")
def test_compiled_and_plain_read_the_same(tables: Path) -> None:
    names = ("KQvK", "KPvK", "KNNvK", "KPvKP", "KRvKB")
    fens = "\n".join(board.fen() for name in names for board in positions(name, 3, 6))
    answers = [json.loads(run_python(PROBE, str(tables), typed=fens, ENGINE_PURE=pure)) for pure in ("", "1")]
    (compiled_mode, *compiled), (plain_mode, *plain) = answers
    assert (compiled_mode, plain_mode) == ("compiled", "plain")
    assert compiled == plain
