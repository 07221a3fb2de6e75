"""Tables of endings: what a position is worth, and which moves keep it."""

import time
from typing import Any

import pytest

from lichessbot.config.sources import OnlineTableConfig, TableQuality
from lichessbot.move_sources.http import Hosts
from lichessbot.move_sources.models import Category
from lichessbot.move_sources.online import ChessdbTables, LichessTables, chessdb_wdl, may_castle
from tests.fakes.oracle import Manner, Oracle
from tests.fakes.scripted_lichess import Reply, ScriptedLichess
from tests.lichessbot.move_sources.conftest import TIMEOUTS
from tests.lichessbot.move_sources.questions import ROOK_ENDING, question

ASKED = question(fen=ROOK_ENDING)


def soon() -> float:
    return time.monotonic() + 2.0


def tables(hosts: Hosts, address: str, quality: TableQuality) -> list[LichessTables | ChessdbTables]:
    config = OnlineTableConfig(move_quality=quality)
    host = hosts.at(address)
    return [LichessTables(host, config, 0), ChessdbTables(host, config, 0, TIMEOUTS)]


def test_the_first_move_of_either_table_is_the_best(oracle: Oracle, hosts: Hosts) -> None:
    for table in tables(hosts, oracle.url, TableQuality.BEST):
        found = table.find(ASKED, soon())
        assert found is not None
        assert (found.moves[0], found.wdl, found.choice) == ("e1a1", 2, False)
    assert oracle.paths == ["/standard", "/cdb.php"]
    assert oracle.tokens == [None, None]


def test_the_engine_may_choose_among_the_moves_that_keep_the_result(oracle: Oracle, hosts: Hosts) -> None:
    for table in tables(hosts, oracle.url, TableQuality.SUGGEST):
        found = table.find(ASKED, soon())
        assert found is not None
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
        (told(("e2d2", "maybe-loss"), ("e2d3", "loss"), category="maybe-win"), ("e2d2", "e2d3"), 2),
        (told(("e2d2", "draw"), ("e2d3", "win"), category="draw"), ("e2d2",), 0),
    ],
)
def test_moves_are_judged_with_the_opponents_eyes(
    lichess: ScriptedLichess, hosts: Hosts, reply: dict[str, Any], moves: tuple[str, ...], wdl: int
) -> None:
    lichess.answer("/standard", Reply(body=reply))
    found = tables(hosts, lichess.url, TableQuality.SUGGEST)[0].find(ASKED, soon())
    assert found is not None
    assert (found.moves, found.wdl) == (moves, wdl)


def test_a_table_that_contradicts_itself_gives_no_move(lichess: ScriptedLichess, hosts: Hosts) -> None:
    lichess.answer("/standard", Reply(body=told(("e2d2", "win"), category="win")))
    assert tables(hosts, lichess.url, TableQuality.BEST)[0].find(ASKED, soon()) is None


@pytest.mark.parametrize("word", ["unknown", "a word of next year"])
def test_a_worth_nobody_knows_is_no_worth(word: str) -> None:
    assert Category(word).wdl is None


@pytest.mark.parametrize(
    ("score", "wdl"), [(29_990, 2), (20_001, 2), (19_980, 1), (0, 0), (-19_980, -1), (-29_000, -2)]
)
def test_what_the_scores_of_chessdb_are_worth(score: int, wdl: int) -> None:
    assert chessdb_wdl(score) == wdl


def test_castling_rights_are_read_from_the_board() -> None:
    assert may_castle(question().board)
    assert not may_castle(ASKED.board)
