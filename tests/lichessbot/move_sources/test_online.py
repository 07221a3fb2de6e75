"""Online sources: what is asked, and which move is chosen."""

import time
from collections import Counter
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lichessbot.config import EngineConfig
from lichessbot.config.sources import ChessdbConfig, CloudConfig, ExplorerConfig
from lichessbot.errors import RateLimited, Refused, Unreachable
from lichessbot.lichess.enums import Variant
from lichessbot.lichess.positions import start_board
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.log import EventLog
from lichessbot.move_sources.http import Hosts, Request
from lichessbot.move_sources.models import Question, Suggestion
from lichessbot.move_sources.online import ChessdbServer, CloudServer, ExplorerServer
from lichessbot.move_sources.resolver import Kind, sources_for
from tests.fakes.oracle import Manner, Oracle
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess
from tests.lichessbot.move_sources.conftest import TOKEN
from tests.lichessbot.move_sources.questions import in_time, question

KINGS_PAWN = question("e2e4")
CASTLING = question(fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", variant=Variant.FROM_POSITION)


def soon() -> float:
    return time.monotonic() + 20.0


def first(found: Any) -> str:
    """Return the move to play."""
    return found.moves[0]


# The explorer


def explorer(hosts: Hosts, address: str, **keys: Any) -> ExplorerServer:
    return ExplorerServer(hosts.at(address), ExplorerConfig.model_validate(keys), 0, "TestBot")


@pytest.mark.parametrize("source", ["masters", "lichess", "player"])
def test_each_explorer_is_asked_with_our_token_about_the_position(oracle: Oracle, hosts: Hosts, source: str) -> None:
    assert first(explorer(hosts, oracle.url, source=source).find(KINGS_PAWN, soon())) == "a7a5"
    (query,) = oracle.queries
    assert oracle.paths == [f"/{source}"]
    assert oracle.tokens == [f"Bearer {TOKEN}"]
    assert query["fen"] == KINGS_PAWN.board.fen()
    if source == "player":
        assert (query["player"], query["color"]) == ("TestBot", "black")


def test_the_player_of_the_explorer_can_be_configured(oracle: Oracle, hosts: Hosts) -> None:
    explorer(hosts, oracle.url, source="player", player_name="Ferdinand").find(KINGS_PAWN, soon())
    assert oracle.queries[0]["player"] == "Ferdinand"


def test_the_explorer_is_asked_for_games_of_the_variant(oracle: Oracle, hosts: Hosts) -> None:
    asked = question(variant=Variant.CHESS960)
    assert explorer(hosts, oracle.url, source="lichess").find(asked, soon()) is not None
    assert oracle.queries[0]["variant"] == "chess960"


def games(uci: str, white: int, draws: int, black: int) -> dict[str, Any]:
    return {"uci": uci, "white": white, "draws": draws, "black": black}


@pytest.mark.parametrize("field", ["white", "draws", "black"])
def test_a_count_of_hundreds_of_digits_is_an_unreadable_answer(
    lichess: ScriptedLichess, hosts: Hosts, field: str
) -> None:
    lichess.answer("/masters", Reply(body={"moves": [games("e7e5", 400, 300, 300) | {field: 10**400}]}))
    with pytest.raises(Unreachable, match="unexpected reply"):
        explorer(hosts, lichess.url).find(KINGS_PAWN, soon())


MOVES = [games("e7e5", 400, 300, 300), games("c7c5", 200, 100, 300), games("a7a6", 0, 0, 9), games("d7d5", 0, 0, 10)]
LOST = [games("h7h5", 0, 90, 0)]


@pytest.mark.parametrize(
    ("keys", "move"),
    [
        ({}, "d7d5"),
        ({"min_games": 11}, "c7c5"),
        ({"sort": "games_played"}, "e7e5"),
        ({"min_games": 5000}, None),
        ({"only_with_wins": True}, "d7d5"),
        ({"only_with_wins": True, "moves": MOVES[:1] + LOST}, "e7e5"),
        ({"only_with_wins": True, "moves": LOST}, None),
        ({"moves": LOST}, "h7h5"),
        ({"moves": [games("e7e5", 60, 0, 40), *LOST]}, "h7h5"),
        ({"moves": [games("e7e5", 40, 0, 60), *LOST]}, "e7e5"),
    ],
)
def test_the_best_score_or_the_most_games_of_our_side_decide(
    lichess: ScriptedLichess, hosts: Hosts, keys: dict[str, Any], move: str | None
) -> None:
    lichess.answer("/masters", Reply(body={"moves": keys.get("moves", MOVES)}))
    found = explorer(hosts, lichess.url, **{key: keys[key] for key in keys if key != "moves"}).find(KINGS_PAWN, soon())
    assert (found.moves[0] if found else None) == move


def asked_for(seconds: float, lichess: ScriptedLichess, hosts: Hosts) -> str:
    """Ask anew, with no pause after an earlier failure."""
    found = explorer(Hosts(hosts.access, RateLimiter(hosts.access.timeouts)), lichess.url, source="player")
    return first(found.find(KINGS_PAWN, time.monotonic() + seconds))


def test_the_last_complete_line_of_a_growing_answer_counts(lichess: ScriptedLichess, hosts: Hosts) -> None:
    whole, cut = b'{"moves":[{"uci":"e7e5","black":20}]}\n', b'{"moves":[{"uci":"c7'
    lichess.answer("/player", Reply(lines=[b'{"moves":[]}\n', b"\n", whole, cut], end=End.STALL))
    assert in_time(lambda seconds: asked_for(seconds, lichess, hosts)) == "e7e5"


def test_an_index_that_is_being_made_is_read_as_far_as_it_came(lichess: ScriptedLichess, hosts: Hosts) -> None:
    lines: list[bytes | float] = [b'{"moves":[{"uci":"e7e5","black":20}]}\n']
    for _ in range(4000):
        lines += [0.05, b"\n"]
    lichess.answer("/player", Reply(lines=lines))
    assert in_time(lambda seconds: asked_for(seconds, lichess, hosts)) == "e7e5"


# Cloud evaluations


def cloud(hosts: Hosts, **keys: Any) -> CloudServer:
    return CloudServer(hosts.at(hosts.access.url), CloudConfig.model_validate(keys), 0)


def evaluation(*scores: tuple[str, int], depth: int = 30, knodes: int = 9000) -> dict[str, Any]:
    return {"fen": "?", "depth": depth, "knodes": knodes, "pvs": [{"moves": f"{m} a2a3", "cp": cp} for m, cp in scores]}


BLACK_TO_MOVE = evaluation(("e7e5", -20), ("c7c5", 10), ("e7e6", 31), ("a7a6", 90))


def test_the_best_cloud_line_is_played_and_the_token_is_not_sent(
    lichess: ScriptedLichess, hosts: Hosts
) -> None:
    lichess.answer("/api/cloud-eval", Reply(body=BLACK_TO_MOVE))
    found = cloud(hosts).find(KINGS_PAWN, soon())
    assert found.moves == ("e7e5",)
    assert (found.summary.score, found.summary.depth, found.summary.nodes) == ("cp 20", 30, 9_000_000)
    (request,) = lichess.requests
    assert "multiPv=1" in request.path
    assert "Authorization" not in request.headers


def test_a_good_line_is_one_not_much_worse_for_the_side_to_move(lichess: ScriptedLichess, hosts: Hosts) -> None:
    lichess.answer("/api/cloud-eval", Reply(body=BLACK_TO_MOVE))
    server = cloud(hosts, move_quality="good", max_score_difference=50)
    played = Counter(first(server.find(KINGS_PAWN, soon())) for _ in range(40))
    assert set(played) == {"e7e5", "c7c5"}
    assert "multiPv=5" in lichess.requests[0].path


def test_a_mate_is_better_than_any_material(lichess: ScriptedLichess, hosts: Hosts) -> None:
    pvs = [{"moves": "d8h4", "mate": -1}, {"moves": "a7a6", "cp": -900}]
    lichess.answer("/api/cloud-eval", Reply(body={"depth": 40, "knodes": 1, "pvs": pvs}))
    found = cloud(hosts, move_quality="good").find(question("f2f3", "e7e5", "g2g4"), soon())
    assert (found.moves[0], found.summary.score) == ("d8h4", "mate 1")


@pytest.mark.parametrize("line", [{"moves": "", "cp": 50}, {"moves": " ", "cp": 50}, {"moves": "h7h6"}])
def test_a_line_without_moves_or_score_is_passed_over(
    lichess: ScriptedLichess, hosts: Hosts, line: dict[str, Any]
) -> None:
    pvs = [line, {"moves": "a7a6", "cp": 20}]
    lichess.answer("/api/cloud-eval", Reply(body={"depth": 40, "knodes": 1, "pvs": pvs}))
    assert first(cloud(hosts).find(KINGS_PAWN, soon())) == "a7a6"


@pytest.mark.parametrize(
    ("keys", "deep"),
    [
        ({"min_depth": 30, "min_knodes": 9000}, True),
        ({"min_depth": 31}, False),
        ({"min_knodes": 9001}, False),
    ],
)
def test_a_shallow_evaluation_is_not_believed(
    lichess: ScriptedLichess, hosts: Hosts, keys: dict[str, int], deep: bool
) -> None:
    lichess.answer("/api/cloud-eval", Reply(body=BLACK_TO_MOVE))
    assert (cloud(hosts, **keys).find(KINGS_PAWN, soon()) is not None) is deep


def test_a_position_the_cloud_does_not_know_is_a_refusal_and_no_failure(lichess: ScriptedLichess, hosts: Hosts) -> None:
    lichess.answer("/api/cloud-eval", Reply(404, {"error": "No cloud evaluation available for that position"}))
    for _ in range(3):
        with pytest.raises(Refused):
            cloud(hosts).find(KINGS_PAWN, soon())
    assert len(lichess.requests) == 3


# chessdb


def chessdb(hosts: Hosts, address: str, **keys: Any) -> ChessdbServer:
    return ChessdbServer(hosts.at(address), ChessdbConfig.model_validate(keys), 0)


@pytest.mark.parametrize(("quality", "action"), [("all", "query"), ("good", "querybest"), ("best", "querypv")])
def test_each_quality_asks_chessdb_for_something_else(
    oracle: Oracle, hosts: Hosts, quality: str, action: str
) -> None:
    assert first(chessdb(hosts, oracle.url, move_quality=quality).find(KINGS_PAWN, soon())) == "a7a5"
    assert oracle.queries[0]["action"] == action
    assert oracle.queries[0]["board"] == KINGS_PAWN.board.fen()
    assert oracle.tokens == [None]


def test_a_line_of_chessdb_must_be_deep_enough(oracle: Oracle, hosts: Hosts) -> None:
    assert chessdb(hosts, oracle.url, move_quality="best", min_depth=25).find(KINGS_PAWN, soon()) is None
    assert chessdb(hosts, oracle.url, move_quality="best", min_depth=24).find(KINGS_PAWN, soon()) is not None


def test_a_position_chessdb_does_not_know_has_no_move(oracle: Oracle, hosts: Hosts) -> None:
    oracle.manner = Manner.IGNORANT
    for quality in ("all", "good", "best"):
        assert chessdb(hosts, oracle.url, move_quality=quality).find(KINGS_PAWN, soon()) is None


@pytest.mark.parametrize("quality", ["all", "good"])
def test_of_moves_that_keep_a_draw_by_chessdb_the_engine_chooses(
    lichess: ScriptedLichess, hosts: Hosts, quality: str
) -> None:
    moves = [{"uci": "e7e5", "san": "e5"}, {"uci": "c7c5", "san": "c5"}]
    lichess.answer("/cdb.php", Reply(body={"status": "ok", "search_moves": moves}))
    found = chessdb(hosts, lichess.url, move_quality=quality).find(KINGS_PAWN, soon())
    assert found == Suggestion(("e7e5", "c7c5"), choice=True)


@pytest.mark.parametrize("quality", ["all", "good"])
def test_a_move_of_chessdbs_endgame_tablebase_is_played(
    lichess: ScriptedLichess, hosts: Hosts, quality: str
) -> None:
    lichess.answer("/cdb.php", Reply(body={"status": "ok", "egtb": "e7e5"}))
    found = chessdb(hosts, lichess.url, move_quality=quality).find(KINGS_PAWN, soon())
    assert found == Suggestion(("e7e5",))


def test_chessdb_reports_its_rate_limit_with_status_200(lichess: ScriptedLichess, hosts: Hosts) -> None:
    lichess.answer("/cdb.php", Reply(body={"status": "rate limit exceeded"}))
    with pytest.raises(RateLimited):
        chessdb(hosts, lichess.url).find(KINGS_PAWN, soon())


def test_castling_is_written_as_king_takes_rook(oracle: Oracle, hosts: Hosts) -> None:
    assert {"e1h1", "e1a1"} <= set(explorer(hosts, oracle.url, source="lichess").find(CASTLING, soon()).moves)


# Variants


class Asked:
    """A host that notes what it is asked, and knows nothing."""

    rate_limit_pause = timedelta(0)

    def __init__(self) -> None:
        self.requests: list[tuple[str, object]] = []

    def ask(self, request: Request, parse_reply: object) -> object:
        self.requests.append((request.path, dict(request.query).get("variant")))
        raise Refused(404, "unknown")


def asked_about(variant: Variant, source: str, /, **more: str) -> list[tuple[str, object]]:
    """Return the paths, and the variants in the queries, that an enabled source asks at the start of a game."""
    host = Asked()
    hosts = cast(Hosts, SimpleNamespace(at=lambda url: host, access=SimpleNamespace(url="", user_name="us")))
    keys = {"enabled": True, "min_time": 0, **more}
    config = EngineConfig.model_validate({"own_book": True, "online_moves": {source: keys}})
    board = start_board(variant, "8/8/8/4k3/8/8/4K3/4R3 w - - 0 1" if source == "online_egtb" else "startpos")
    about = Question(1, variant, board, 300.0, 300.0, 2.0)
    for limited in sources_for(config, hosts, EventLog()):
        if limited.kind is not Kind.BOOK and limited.allows(about):
            with pytest.raises(Refused):
                limited.source.find(about, soon())
    return host.requests


@pytest.mark.parametrize("variant", [it for it in Variant if it is not Variant.FROM_POSITION])
def test_servers_are_asked_about_the_variants_that_they_hold(variant: Variant) -> None:
    is_standard = variant.has_standard_rules
    assert asked_about(variant, "chessdb_book") == [("/cdb.php", None)] * is_standard
    assert asked_about(variant, "lichess_cloud_analysis") == [("/api/cloud-eval", variant)]
    assert asked_about(variant, "lichess_opening_explorer", source="lichess") == [("/lichess", variant)]
    masters = asked_about(variant, "lichess_opening_explorer")
    assert masters == [("/masters", None)] * (variant is Variant.STANDARD), "nor is it an unknown position elsewhere"


@pytest.mark.parametrize(
    ("variant", "paths"),
    [
        (Variant.STANDARD, ["/standard"]),
        (Variant.CHESS960, ["/standard"]),
        (Variant.ATOMIC, ["/atomic"]),
        (Variant.ANTICHESS, ["/antichess"]),
        (Variant.KING_OF_THE_HILL, []),
        (Variant.CRAZYHOUSE, []),
    ],
)
def test_tablebases_are_asked_where_they_hold(variant: Variant, paths: list[str]) -> None:
    assert [path for path, _ in asked_about(variant, "online_egtb")] == paths


def test_our_own_book_is_for_standard_rules() -> None:
    hosts = cast(Hosts, SimpleNamespace(at=lambda url: Asked(), access=SimpleNamespace(url="", user_name="us")))
    (book,) = sources_for(EngineConfig(), hosts, EventLog())
    allowed = [it for it in Variant if book.allows(Question(1, it, start_board(it, "startpos"), 300.0, 300.0, 2.0))]
    assert allowed == [it for it in Variant if it.has_standard_rules]
