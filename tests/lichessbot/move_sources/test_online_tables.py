"""Online endgame tablebases: what is asked, which moves keep the result, and what the result is."""

from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config.sources import OnlineTableConfig, TableQuality
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.models import Suggestion, Table
from lichessbot.move_sources.online import ChessdbTables, LichessTables, chessdb_wdl, is_op1, may_castle
from tests.fakes.oracle import Manner, Oracle
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.move_sources.questions import ROOK_ENDING, question
from tests.lichessbot.move_sources.test_online import soon

ASKED = question(fen=ROOK_ENDING)
OP1 = "R7/8/8/8/7q/2K1B2p/7P/2Bk4 w - - 0 1"


def tables(hosts: Hosts, address: str, quality: TableQuality) -> list[LichessTables | ChessdbTables]:
    config = OnlineTableConfig(move_quality=quality)
    host = hosts.at(address)
    return [LichessTables(host, config, 0), ChessdbTables(host, config, 0)]


def test_the_first_move_of_either_table_is_the_best(oracle: Oracle, hosts: Hosts) -> None:
    for table in tables(hosts, oracle.url, TableQuality.BEST):
        found = table.find(ASKED, soon())
        assert (found.moves[0], found.wdl, found.choice) == ("e1a1", 2, False)
    assert oracle.paths == ["/standard", "/cdb.php"]
    assert oracle.tokens == [None, None]


def test_the_engine_may_choose_among_the_moves_that_keep_the_result(oracle: Oracle, hosts: Hosts) -> None:
    for table in tables(hosts, oracle.url, TableQuality.SUGGEST):
        found = table.find(ASKED, soon())
        assert (found.moves, found.choice) == (("e1a1", "e1b1"), True)


def test_a_position_no_table_knows_has_no_move(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.IGNORANT
    for table in tables(hosts, oracle.url, TableQuality.BEST):
        assert table.find(ASKED, soon()) is None


def told(*moves: tuple[str, str], category: str) -> dict[str, Any]:
    return {"category": category, "moves": [{"uci": uci, "category": theirs} for uci, theirs in moves]}


@pytest.mark.parametrize(
    ("reply", "moves", "wdl"),
    [
        (told(("e1e8", "draw"), ("e1e7", "loss"), category="win"), ("e1e7",), 2),
        (told(("e2d2", "win"), ("e2d3", "win"), category="loss"), ("e2d2", "e2d3"), -2),
        (told(("e2d2", "cursed-win"), ("e2d3", "win"), category="blessed-loss"), ("e2d2",), -1),
        (told(("e2d2", "maybe-loss"), ("e2d3", "maybe-loss"), category="maybe-win"), ("e2d2", "e2d3"), 1),
        (told(("e2d2", "loss"), ("e2d3", "syzygy-loss"), category="win"), ("e2d2",), 2),
        (told(("e2d2", "syzygy-win"), ("e2d3", "win"), category="syzygy-loss"), ("e2d2",), -1),
        (told(("e2d2", "win"), category="syzygy-loss"), ("e2d2",), -1),
        (told(("e2d2", "draw"), ("e2d3", "win"), category="draw"), ("e2d2",), 0),
    ],
)
def test_the_category_of_a_move_is_the_opponents_result(
    lichess: ScriptedLichess, hosts: Hosts, reply: dict[str, Any], moves: tuple[str, ...], wdl: int | None
) -> None:
    lichess.answer("/standard", Reply(body=reply))
    found = tables(hosts, lichess.url, TableQuality.SUGGEST)[0].find(ASKED, soon())
    assert (found.moves, found.wdl) == (moves, wdl)


def test_among_draws_the_engine_chooses_whatever_the_server_names_first(
    lichess: ScriptedLichess, hosts: Hosts
) -> None:
    """Lichess names captures and promotions first, here the exchange into bare kings."""
    draws = "d4d5", "d4h4", "d4g4"
    asked = question(fen="8/8/4k3/3r4/3R4/4K3/8/8 w - - 0 1")
    lichess.answer("/standard", Reply(body=told(*((move, "draw") for move in draws), category="draw")))
    lichess.answer("/cdb.php", Reply(body={"status": "ok", "moves": [{"uci": it, "score": 0} for it in draws]}))
    for table in tables(hosts, lichess.url, TableQuality.BEST):
        assert table.find(asked, soon()) == Suggestion(draws, wdl=0, choice=True)


def test_a_table_that_contradicts_itself_gives_no_move(lichess: ScriptedLichess, hosts: Hosts) -> None:
    lichess.answer("/standard", Reply(body=told(("e2d2", "win"), category="win")))
    assert tables(hosts, lichess.url, TableQuality.BEST)[0].find(ASKED, soon()) is None


@pytest.mark.parametrize("word", ["unknown", "a word of next year"])
def test_an_unknown_category_has_no_result(word: str) -> None:
    assert Table.model_validate(told(category=word)).category.wdl is None


@pytest.mark.parametrize(
    ("score", "clock", "wdl"),
    [
        (29_990, 0, 2), (20_001, 0, 2), (19_980, 0, 1), (0, 0, 0), (-19_980, 0, -1), (-29_000, 0, -2),
        (24_970, 69, 2), (24_970, 70, 1), (-24_970, 69, -2), (-24_970, 70, -1), (0, 90, 0),
    ],
)  # fmt: skip
def test_the_result_for_a_score_of_chessdb(score: int, clock: int, wdl: int) -> None:
    assert chessdb_wdl(score, clock) == wdl


def chessdb_says(
    lichess: ScriptedLichess, hosts: Hosts, fen: str, *moves: tuple[str, int]
) -> tuple[tuple[str, ...], int | None]:
    """Return the moves and the result that the tables of chessdb.cn suggest, if it gives these moves these scores."""
    told = [{"uci": move, "san": "?", "score": score} for move, score in moves]
    lichess.answer("/cdb.php", Reply(body={"status": "ok", "moves": told}))
    found = tables(hosts, lichess.url, TableQuality.SUGGEST)[1].find(question(fen=fen), soon())
    return found.moves, found.wdl


def test_a_loss_that_the_fifty_move_rule_may_save_is_none(lichess: ScriptedLichess, hosts: Hosts) -> None:
    moves = ("e5d4", -24_973), ("e5e4", -24_973), ("e5f4", -24_977)
    for clock, expected in ((0, (("e5d4", "e5e4", "e5f4"), -2)), (85, (("e5d4", "e5e4"), -1))):
        assert chessdb_says(lichess, hosts, f"8/8/8/4k3/8/8/4K3/4R3 b - - {clock} 90", *moves) == expected


def test_of_wins_by_chessdb_those_in_time_may_be_played(lichess: ScriptedLichess, hosts: Hosts) -> None:
    moves = ("e2d3", 24_978), ("e2e3", 24_976), ("e2d2", 24_974)
    for clock, expected in ((0, (("e2d3", "e2e3", "e2d2"), 2)), (76, (("e2d3",), 2)), (90, (("e2d3",), 1))):
        assert chessdb_says(lichess, hosts, f"8/8/8/4k3/8/8/4K3/4R3 w - - {clock} 90", *moves) == expected


def test_a_capture_or_pawn_move_has_the_fifty_moves_before_it(lichess: ScriptedLichess, hosts: Hosts) -> None:
    """chessdb.cn sorts such a move before others, though its score is that of the position after it."""
    moves = ("e7e8q", 24_980), ("d6d7", 24_990), ("d6e6", 24_988)
    assert chessdb_says(lichess, hosts, "8/4P3/3K4/8/8/8/8/6k1 w - - 95 90", *moves) == (("e7e8q",), 2)
    assert chessdb_says(lichess, hosts, "8/4P3/3K4/8/8/8/8/6k1 w - - 0 90", *moves)[0][0] == "e7e8q"


# Eight pieces: the first position is one of lila-tablebase's own tests.


@pytest.mark.parametrize(
    ("fen", "known"),
    [
        ("R7/8/8/8/7q/2K1B2p/7P/2Bk4 w - - 0 1", True),
        ("4k3/p7/8/8/8/8/P3NN2/2N1K1n1 w - - 0 1", True),
        ("4k3/8/8/8/8/P7/p3NN2/2N1K1n1 w - - 0 1", False),  # they have passed each other
        ("4k3/8/8/8/8/1p6/P3NN2/2N1K1n1 w - - 0 1", False),  # on different files
        ("4k3/4p3/8/8/8/8/3PPPPP/4K3 w - - 0 1", False),  # Black has only a king and a pawn
    ],
)
def test_with_eight_pieces_only_op1_positions_are_looked_up(
    oracle: Oracle, hosts: Hosts, fen: str, known: bool
) -> None:
    assert is_op1(Board(fen)) is known
    tables(hosts, oracle.url, TableQuality.BEST)[0].find(question(fen=fen), soon())
    assert oracle.paths == ["/standard"] * known


def test_an_op1_win_is_played_but_its_result_is_not_certain(oracle: Oracle, hosts: Hosts) -> None:
    found = tables(hosts, oracle.url, TableQuality.SUGGEST)[0].find(question(fen=OP1), soon())
    assert (len(found.moves), found.wdl) == (2, 1)


def test_chessdb_has_no_table_of_eight_pieces(oracle: Oracle, hosts: Hosts) -> None:
    assert tables(hosts, oracle.url, TableQuality.BEST)[1].find(question(fen=OP1), soon()) is None
    assert oracle.paths == []


def test_castling_rights_are_read_from_the_board() -> None:
    assert may_castle(question().board)
    assert not may_castle(ASKED.board)
