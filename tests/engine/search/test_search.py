"""The search: mates, draws, limits, and stopping."""

import threading
import time

import chess
import pytest

from engine.facade import STARTING_FEN, Board, Engine, Limits, SearchReport, SearchResult
from engine.search.iterative_deepening import Bound


def engine_at(board: Board) -> Engine:
    engine = Engine(hash_mb=4)
    engine.set_position(board)
    return engine


def think(fen: str, moves: tuple[str, ...] = (), **limits: int) -> SearchResult:
    return engine_at(Board(fen).after(*moves)).go(Limits(**limits))


def report_of(fen: str, moves: tuple[str, ...] = (), **limits: int) -> SearchReport:
    report = think(fen, moves, **limits).report
    assert report is not None
    return report


@pytest.mark.parametrize(
    ("fen", "move", "mate"),
    [
        pytest.param("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "a1a8", 1, id="back rank"),
        pytest.param("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 1", "h5f7", 1, id="scholar"),
        pytest.param("6rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1", "g5f7", 1, id="smothered"),
        pytest.param("8/8/8/8/8/2k5/1q6/K7 w - - 0 1", None, 0, id="already mated"),
        pytest.param("k7/8/2K5/8/8/8/8/1Q6 w - - 0 1", "b1b7", 1, id="queen beside the king"),
    ],
)
def test_finds_mate(fen: str, move: str | None, mate: int) -> None:
    result = think(fen, depth=8)
    assert result.best_move == move
    assert (result.report is None) == (move is None)
    if result.report is not None:
        assert (result.report.mate_in, result.report.score_cp) == (mate, None)


def test_finds_a_mate_by_zugzwang_when_asked_for_one() -> None:
    """Morphy's problem, which null moves hide from a shallow search."""
    result = think("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", mate_in=2)
    assert result.best_move == "a1a6"
    assert result.report.mate_in == 2


def test_a_mate_against_us_is_negative() -> None:
    assert report_of("k7/8/1K6/8/8/8/8/7R b - - 0 1", depth=4).mate_in == -1


def test_no_mate_longer_than_the_one_found_is_searched() -> None:
    nodes = report_of("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", depth=16).nodes
    assert nodes < 1000, "mate in one: a search that goes on takes 34,000"


def test_stalemate_has_no_move() -> None:
    assert think("k7/2Q5/1K6/8/8/8/8/8 b - - 0 1", depth=3) == SearchResult(None, None, None)


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("8/8/4k3/8/8/3NK3/8/8 w - - 0 1", id="a lone knight"),
        pytest.param("8/8/4k3/8/8/3QK3/8/8 w - - 99 80", id="fifty moves, unless mate"),
    ],
)
def test_a_dead_draw_is_scored_zero(fen: str) -> None:
    assert report_of(fen, depth=5).score_cp == 0


def test_mate_on_the_hundredth_half_move_wins() -> None:
    assert report_of("k7/8/2K5/8/8/8/8/1Q6 w - - 99 80", depth=3).mate_in == 1


def test_an_advantage_shrinks_as_the_fifty_move_clock_runs() -> None:
    fen = "4k3/8/8/p7/P7/8/8/3RK3 w - - {} 90"
    early, late = (report_of(fen.format(clock), depth=1).score_cp or 0 for clock in (0, 80))
    assert 0 < late < 0.8 * early


def test_a_perpetual_is_taken_when_losing() -> None:
    assert report_of("6k1/6p1/8/7Q/8/1r6/q7/6K1 w - - 0 1", depth=10).score_cp == 0


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "fen",
    ["8/3B4/8/8/1P3k2/8/8/1K3b2 w - - 0 1", "8/8/2b3k1/8/8/4KP2/3N4/8 w - - 0 1", "8/8/2n5/4P3/8/4K3/8/5N1k w - - 0 1"],
    ids=["bishops", "knight against bishop", "knights"],
)
def test_a_shallow_search_does_not_let_a_piece_be_given_for_the_last_pawn(fen: str, depth: int) -> None:
    """The exchange loses a piece for a pawn, and what is left cannot win."""
    board = chess.Board(fen)
    board.push_uci(think(fen, depth=depth).best_move or "")
    assert not [move for move in board.legal_moves if board.piece_type_at(move.to_square) == chess.PAWN]


def test_the_third_repetition_of_the_game_counts_as_a_draw() -> None:
    moves = ("h1g1", "g8h8", "g1h1", "h8g8", "h1g1", "g8h8", "g1h1")
    report = report_of("6k1/8/8/8/8/8/8/K6Q w - - 0 1", moves=moves, depth=6)
    assert report.score_cp == 0, "Black goes to g8 for the third time"


@pytest.mark.parametrize("variant", ["standard", "atomic"])
def test_a_search_of_one_ply_does_not_repeat_a_won_position(variant: str) -> None:
    """The quiescence search, which comes next, ignores repetitions."""
    loop = ("h1g1", "g8h8", "g1h1", "h8g8")
    engine = engine_at(Board("6k1/8/8/8/8/8/8/K6Q w - - 0 1", variant=variant).after(*loop, *loop, *loop[:2]))
    assert engine.go(Limits(depth=1), only=["g1h1"]).report.score_cp == 0
    assert engine.go(Limits(depth=1), only=["g1h1", "g1b1"]).best_move == "g1b1"


@pytest.mark.parametrize("variant", ["standard", "kingOfTheHill"])
def test_a_search_of_one_ply_does_not_stalemate(variant: str) -> None:
    """Nor does the quiescence search see that."""
    engine = engine_at(Board("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", variant=variant))
    assert engine.go(Limits(depth=1), only=["c1c7"]).report.score_cp == 0
    assert engine.go(Limits(depth=1), only=["c1c7", "c1d2"]).best_move == "c1d2"


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("fen", "loop"),
    [
        ("8/8/5k2/4n3/8/2Q5/6K1/8 w - - 0 1", ("c3d4", "f6f5", "d4c3", "f5f6")),
        ("r4rk1/pp3ppp/8/8/8/8/PPP2PPP/R2Q1RK1 w - - 0 1", ("d1d3", "a8b8", "d3d1", "b8a8")),
        ("2r3k1/pp3ppp/4b3/3n4/8/5N2/PP3PPP/1B1Q1RK1 w - - 0 1", ("d1d3", "c8c7", "d3d1", "c7c8")),
    ],
)
def test_a_reply_that_repeats_a_position_for_the_third_time_is_seen(
    fen: str, loop: tuple[str, ...], depth: int
) -> None:
    """It is a quiet move in a lost position, which a shallow search would skip."""
    engine = engine_at(Board(fen).after(*loop, *loop[:2]))
    assert engine.go(Limits(depth=depth), only=[loop[2]]).report.score_cp == 0
    assert engine.go(Limits(depth=depth)).best_move != loop[2]


def test_a_search_restricted_to_some_moves_does_not_affect_later_searches() -> None:
    engine = Engine(hash_mb=4)
    engine.go(Limits(depth=6), only=["g2g4"])
    assert engine.go(Limits(depth=6)).best_move != "g2g4"


def test_a_restricted_search_is_as_deep_as_asked_for() -> None:
    engine = Engine(hash_mb=4)
    for depth in (4, 5, 6):
        engine.new_game()
        report = engine.go(Limits(depth=depth), only=[move for move in Board().legal_moves() if move != "g1h3"]).report
        assert report.selective_depth >= report.depth == depth


def _comparable(report: SearchReport) -> int:
    """The score of a line, with a mate above all others."""
    if report.mate_in is None:
        return report.score_cp or 0
    return 100_000 - report.mate_in if report.mate_in > 0 else -100_000 - report.mate_in


@pytest.mark.parametrize(
    "fen",
    [
        STARTING_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",       # a mate, whose line is the same at each depth
    ],
)
def test_several_lines_cut_short_are_the_best_known_of_each_move(fen: str) -> None:
    """Those of the unfinished depth come first, each move has one line, and what is shown last is what is played."""
    for nodes in range(500, 6_000, 111):
        engine = Engine(hash_mb=1)
        engine.lines = 4
        engine.set_position(Board(fen))
        shown: dict[int, SearchReport] = {}

        def show(report: SearchReport, shown: dict[int, SearchReport] = shown) -> None:
            shown[report.line] = report

        result = engine.go(Limits(nodes=nodes), show)
        last = [shown[line] for line in sorted(shown)]
        assert len({report.pv[0] for report in last}) == len(last)
        assert last[0] == result.report
        assert last[0].pv[0] == result.best_move
        depths = [report.depth for report in last]
        assert depths == sorted(depths, reverse=True)
        assert depths[0] - depths[-1] <= 1
        assert all(report.bound is Bound.EXACT for report in last[1:])
        for depth in depths:
            scores = [_comparable(report) for report in last if report.depth == depth]
            assert scores == sorted(scores, reverse=True)


def test_a_search_cut_short_does_not_claim_more_than_it_knows() -> None:
    """It may have learnt that the best move is worse than a depth before, but not yet how much worse."""
    cut = 0
    for nodes in range(300, 6_000, 97):
        engine = Engine(hash_mb=1)
        engine.set_position(Board("r1b1kbnr/p1qppppp/n1p5/1p6/4P3/2N2P2/PPPP1QPP/R1B1KBNR b KQkq - 3 5"))
        shown: list[SearchReport] = []
        engine.go(Limits(nodes=nodes), shown.append)
        *before, last = shown
        below = [it for it in before if it.bound is Bound.UPPER and it.depth >= last.depth]
        cut += last.bound is Bound.UPPER
        assert last.bound is not Bound.EXACT or not below or below[-1].depth == last.depth, nodes
    assert cut > 3


def test_a_restricted_search_cut_short_keeps_the_mate_it_has_found() -> None:
    board = Board("6k1/5ppp/8/8/8/p7/q4PPP/1Q2R1K1 w - - 0 1")
    engine = Engine(hash_mb=1)
    for nodes in range(50, 3_000, 25):
        engine.set_position(board)
        some = [move for move in board.legal_moves() if move != "e1e8"]
        assert engine.go(Limits(nodes=nodes), only=some).best_move == "b1b8", nodes
        engine.new_game()


def test_equal_searches_visit_equal_nodes() -> None:
    first, second = report_of(STARTING_FEN, depth=9), report_of(STARTING_FEN, depth=9)
    assert (first.nodes, first.pv, first.score_cp) == (second.nodes, second.pv, second.score_cp)


def test_a_node_limit_is_exact() -> None:
    assert report_of(STARTING_FEN, nodes=5_000).nodes == 5_000


def test_the_variation_is_legal() -> None:
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    for move in report_of(board.fen(), depth=9).pv:
        board.push_uci(move)


def go_until_stopped(engine: Engine) -> SearchResult:
    """Search without end, and stop that from another thread, but not before it has begun."""
    search = engine.begin(Limits(infinite=True))
    began: list[float] = []

    def stop_soon(report: SearchReport) -> None:
        if not began:
            began.append(time.monotonic())
            threading.Timer(0.2, search.stop).start()

    result = search.run(stop_soon)
    assert 0.15 < time.monotonic() - began[0] < 60.0
    return result


def test_stop_ends_an_infinite_search() -> None:
    assert go_until_stopped(Engine()).best_move in Board().legal_moves()


@pytest.mark.parametrize("only", [(), ("g1f1", "c2e4", "h2h3")])
def test_stop_before_the_search_runs_still_takes_what_hangs(only: tuple[str, ...]) -> None:
    search = engine_at(Board("6k1/5ppp/8/8/4q3/8/2B2PPP/6K1 w - - 0 1")).begin(Limits(infinite=True), only)
    search.stop()
    assert search.run().best_move == "c2e4"


def test_stop_before_the_search_runs_takes_nothing_that_is_defended() -> None:
    engine = engine_at(Board("6k1/5ppp/2p5/3p4/8/8/3Q1PPP/6K1 w - - 0 1"))
    search = engine.begin(Limits(infinite=True), ("d2d5", "h2h3"))
    search.stop()
    assert search.run().best_move == "h2h3"


BACK_RANK = "6k1/5ppp/8/8/8/8/1q3PPP/3R2K1 w - - 0 1"
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
DROP = "r5R~1/p3pk1p/1pppb1pP/1b4P1/Pb1p1N1P/1Prn3R/2p1K2N/RNb~2B2[qq] b - - 0 46"
PROMOTED = "4nqnr/n2b1p1p/1r1k3B/Pp1p1P2/1pQPPKPp/P1P2B2/1PRn1P2/5r~R1/B w - - 1 46"
HILL = "4k3/8/8/q7/2K5/8/7r/8 w - - 0 1"


@pytest.mark.parametrize("nodes", [1, 2, 5, 20, 60, 200, 1000, 1024, 1200])
@pytest.mark.parametrize(
    ("variant", "fen", "win"),
    [
        ("standard", BACK_RANK, "d1d8"),
        ("standard", SCHOLAR, "h5f7"),
        ("crazyhouse", DROP, "Q@d1"),
        ("crazyhouse", PROMOTED, "c4c5"),
        ("kingOfTheHill", HILL, "c4d4"),
    ],
)
def test_a_limit_that_ends_the_first_depth_still_leaves_the_win(
    variant: str, fen: str, nodes: int, win: str
) -> None:
    found = engine_at(Board(fen, variant=variant)).go(Limits(nodes=nodes))
    assert found.best_move == win
    assert found.report.mate_in == 1
    assert found.report.pv == (win,)


def test_a_limit_too_narrow_for_any_search_does_not_repeat_a_won_position() -> None:
    board = Board("Q7/6k1/8/3K4/8/8/8/8 w - - 0 1")
    engine = Engine(hash_mb=4)
    for best in ("d5e5", "d5e5", "d5c5"):          # at a glance, the kings should come together
        engine.set_position(board)
        assert engine.go(Limits(nodes=1), only=["d5e5", "d5c5"]).best_move == best
        for move in ("d5e5", "g7g6", "e5d5", "g6g7"):
            board.push(move)


def test_stop_before_the_search_runs_allows_no_more_nodes() -> None:
    engine = engine_at(Board("6k1/5ppp/8/8/4q3/8/2B2PPP/6K1 w - - 0 1"))
    search = engine.begin(Limits(nodes=1))
    search.stop()
    assert search.run().best_move == engine.go(Limits(nodes=1)).best_move


def test_stop_ends_all_threads() -> None:
    engine = Engine(hash_mb=16)
    engine.set_threads(4)
    assert go_until_stopped(engine).best_move is not None
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("search-")]


def test_the_interpreter_lock_is_free_during_a_search() -> None:
    search = Engine().begin(Limits(move_time_ms=30_000))
    began = threading.Event()
    worker = threading.Thread(target=search.run, args=(lambda report: began.set(),))
    worker.start()
    assert began.wait(60)
    longest = 0.0
    for _ in range(100):
        started = time.perf_counter()
        time.sleep(0.002)
        longest = max(longest, time.perf_counter() - started)
    search.stop()
    worker.join()
    assert longest < 15.0, "the search takes 30 seconds"


def test_the_only_legal_move_is_played_at_once() -> None:
    assert report_of("7k/8/8/8/8/8/1r6/K7 w - - 0 1", white_time_ms=60_000).depth <= 2


@pytest.mark.parametrize("limit", ["depth", "nodes", "mate_in"])
def test_a_limit_of_nothing_is_refused_instead_of_searching_for_ever(limit: str) -> None:
    with pytest.raises(ValueError, match=f"{limit}: expected 1 or more, found 0"):
        Engine(hash_mb=1).begin(Limits(**{limit: 0}))
