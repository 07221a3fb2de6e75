"""The features that the founding articles describe; each test names its article."""

import io
import threading
import time

import chess
import pytest
from rich.console import Console

from engine.accuracy import Score
from engine.facade import Board, Limits, build_mode, perft
from engine.lessons.copying import perft_copying, perft_taking_back
from engine.lessons.methods import Method, StyledThinking, search
from engine.lessons.notation import drawn_by, final_text, pawns_text, san_line, score_text
from engine.lessons.styles import STYLES, InvalidStyle, Style, parse_style
from engine.lessons.terms import TERM_NAMES
from engine.terminal.articles import (
    CASTLING,
    FOOLS_MATE,
    LEGALS_TRAP,
    MIDDLE_GAME,
    PAGES,
    PERPETUAL,
    QUEEN_ODDS,
    ROOK_ENDING,
    TWO_MATES,
    show,
    win,
)
from engine.terminal.board_view import Theme
from engine.terminal.reports import show_comparison
from tests.engine.positions import Start, random_games

pytestmark = pytest.mark.skipif(build_mode() == "plain", reason="minutes as plain Python; test_modes.py compares both")

PLAIN_SEARCHES = (Method.MINIMAX, Method.NEGAMAX, Method.ALPHA_BETA, Method.ORDERED, Method.DEEPENED)
CCE = STYLES["cce"]


def cce_terms(board: Board) -> dict[str, float]:
    """In centipawns, White's view."""
    return {name: value / 100 for name, value in CCE.terms().white_terms(board.position).items()}


def value(fen: str, depth: int, method: Method = Method.QUIESCENT) -> Score:
    white_score = search(Board(fen), method, depth).white_score
    assert white_score is not None
    return white_score


# --- cce -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("white_score", "text"),
    [
        (Score(35), "+0.35"),
        (Score(-1234), "-12.34"),
        (Score(0), "+0.00"),
        (Score(mate=2), "M+2"),
        (Score(mate=-3), "M-3"),
    ],
)
def test_cce_evaluations_are_printed_in_pawns_from_whites_view(white_score: Score, text: str) -> None:
    assert score_text(white_score) == text


def test_cce_no_value_is_minus_zero() -> None:
    assert pawns_text(-0.3) == "+0.00"


def test_cce_the_start_is_level_before_tempo() -> None:
    terms = cce_terms(Board())
    assert sum(terms.values()) == terms["tempo"] > 0


@pytest.mark.parametrize(("fen", "pawns"), list(zip(QUEEN_ODDS.values(), (9, -9), strict=True)))
def test_cce_queen_odds_are_nine_pawns_of_material(fen: str, pawns: int) -> None:
    assert cce_terms(Board(fen))["material"] == 100 * pawns


def test_cce_fools_mate_is_m_minus_0_and_a_mated_black_is_m_plus_0() -> None:
    assert final_text(Board().after(*FOOLS_MATE)) == "M-0"
    assert final_text(Board("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1")) == "M+0"


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "stalemate"),
        ("7k/8/6K1/8/8/8/8/8 b - - 0 1", "neither side can mate"),
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 90", "fifty moves"),
    ],
)
def test_cce_a_drawn_game_is_draw(fen: str, reason: str) -> None:
    assert final_text(Board(fen)) == "DRAW"
    assert str(drawn_by(Board(fen))).startswith(reason)


def test_cce_mate_goes_before_the_fifty_moves() -> None:
    assert final_text(Board("R5k1/5ppp/8/8/8/8/8/K7 b - - 100 90")) == "M+0"


def test_cce_every_term_is_symmetric() -> None:
    terms = Style(dict.fromkeys(TERM_NAMES, 1.0)).terms()
    seen: dict[str, set[float]] = {name: set() for name in TERM_NAMES}
    for board in random_games(count=6, plies=60, start=Start.STANDARD, seed=3):
        ours = terms.white_terms(Board(board.fen()).position)
        mirrored = terms.white_terms(Board(board.mirror().fen()).position)
        for name in TERM_NAMES:
            assert mirrored[name] == -ours[name], name
            seen[name].add(ours[name])
    assert all(len(values) > 1 for values in seen.values()), seen


@pytest.mark.parametrize(
    ("name", "better", "worse"),
    [
        ("mobility", "4k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/N3K3 w - - 0 1"),
        ("centre", "4k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/N3K3 w - - 0 1"),
        ("castling", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "4k3/8/8/8/8/8/8/R3K2R w K - 0 1"),
        ("castling", "4k3/8/8/8/8/8/8/5RK1 w - - 0 1", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"),
        ("castling", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "4k3/8/8/8/8/8/4K3/R6R w - - 0 1"),
        ("check", "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1", "4k3/8/8/8/8/8/R7/4K3 b - - 0 1"),
        ("pawns", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/P7/8/8/8/8/4K3 w - - 0 1"),
        ("tempo", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
    ],
)
def test_cce_each_term_prefers_the_better_position(name: str, better: str, worse: str) -> None:
    terms = Style({name: 1.0}).terms()
    assert terms.white_terms(Board(better).position)[name] > terms.white_terms(Board(worse).position)[name]


def test_cce_attackers_have_diminishing_returns() -> None:
    """Each further knight that attacks a pawn adds half as much."""
    terms = Style({"attack": 1.0}).terms()
    fens = (f"4k3/8/8/3p4/8/{rank}/8/4K3" for rank in ("8", "2N5", "2N1N3"))
    none, one, two = (terms.white_terms(Board(f"{fen} w - - 0 1").position)["attack"] for fen in fens)
    three = terms.white_terms(Board("4k3/8/8/3p4/1N6/2N1N3/8/4K3 w - - 0 1").position)["attack"]
    assert (one - none) == 2 * (two - one) == 4 * (three - two) > 0


def test_cce_legals_trap_is_a_mate_in_two() -> None:
    board = Board().after(*LEGALS_TRAP)
    found = search(board, Method.ORDERED, 3, CCE)
    assert found.white_score == Score(mate=2)
    assert san_line(board, found.line) == "6. Bxf7+ Ke7 7. Nd5#"


def test_cce_the_best_move_at_depth_1_then_deeper() -> None:
    board = Board().after(*LEGALS_TRAP)
    assert san_line(board, search(board, Method.ORDERED, 1, CCE).line) == "6. Kxd1"
    deeper = StyledThinking(board, CCE, Limits(depth=3)).run()
    assert san_line(board, deeper.line) == "6. Bxf7+ Ke7 7. Nd5#"


# --- Rudim -----------------------------------------------------------------------------------------------------------


def test_rudim_taking_back_and_copying_count_the_same() -> None:
    position = Board(MIDDLE_GAME).position
    assert perft_taking_back(position, 2) == perft_copying(position, 2) == perft(position, 2)


def test_rudim_taking_back_is_cheaper_than_copying() -> None:
    position = Board().position
    best = {}
    for count in (perft_taking_back, perft_copying):
        times = []
        for _ in range(5):
            started = time.process_time()
            count(position, 3)
            times.append(time.process_time() - started)
        best[count] = min(times)
    assert best[perft_taking_back] < best[perft_copying]


@pytest.mark.parametrize("style", [None, CCE, STYLES["loser"]], ids=["own evaluation", "cce", "loser"])
@pytest.mark.parametrize(
    "fen",
    [MIDDLE_GAME, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", "4k3/P6R/8/8/8/8/p6r/4K3 b - - 97 80"],
    ids=["middle game", "pawns", "near the fifty moves"],
)
def test_rudim_all_plain_searches_agree_on_value_and_alpha_beta_is_cheaper(fen: str, style: Style | None) -> None:
    found = {method: search(Board(fen), method, 3, style) for method in PLAIN_SEARCHES}
    assert len({outcome.white_score for outcome in found.values()}) == 1
    assert found[Method.MINIMAX].nodes == found[Method.NEGAMAX].nodes
    assert found[Method.ALPHA_BETA].nodes < found[Method.MINIMAX].nodes / 2


def test_rudim_minimax_visits_every_position() -> None:
    assert search(Board(), Method.MINIMAX, 3).nodes == 1 + 20 + 400 + 8902


def test_rudim_the_horizon_effect_needs_quiescence() -> None:
    blind, seeing = value(MIDDLE_GAME, 3, Method.ORDERED), value(MIDDLE_GAME, 3)
    assert abs(seeing.cp) < 30 < blind.cp - 30
    deep = value(MIDDLE_GAME, 5)
    assert abs(deep.cp - seeing.cp) < abs(deep.cp - blind.cp)


def test_rudim_variations_are_legal_and_as_long_as_the_depth() -> None:
    for method in Method:
        outcome = search(Board(MIDDLE_GAME), method, 3)
        board = chess.Board(MIDDLE_GAME)
        for move in outcome.line:
            board.push_uci(move)
        assert len(outcome.line) >= 3


def test_rudim_a_search_out_of_time_has_no_value() -> None:
    outcome = search(Board(MIDDLE_GAME), Method.MINIMAX, 9, seconds=0.05)
    assert outcome.white_score is None
    assert outcome.line == ()
    assert outcome.seconds < 5


# --- chess-engine ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("loser", STYLES["loser"]),
        ("material=1", Style({"material": 1.0})),
        (" material = 1 , mobility=-0.5,mate=-1", Style({"material": 1.0, "mobility": -0.5}, mate=-1.0)),
    ],
)
def test_chess_engine_a_style_is_a_name_or_coefficients(text: str, style: Style) -> None:
    assert parse_style(text) == style


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("losar", "did you mean loser"),
        ("materiel=1", "did you mean material"),
        ("material=much", "expected a number from -10 to 10"),
        ("material=11", "found '11'"),
        ("material=nan", "found 'nan'"),
        ("", "unknown style"),
    ],
)
def test_chess_engine_an_unknown_style_suggests_the_nearest(text: str, said: str) -> None:
    with pytest.raises(InvalidStyle, match=said):
        parse_style(text)


def test_chess_engine_negative_coefficients_play_to_lose() -> None:
    """White can capture a queen or lose the own one."""
    fen = "4k3/8/8/2q5/8/2Q5/1P6/4K3 w - - 0 1"
    moves = {name: StyledThinking(Board(fen), STYLES[name], Limits(depth=2)).run().line[0] for name in STYLES}
    assert moves["materialist"] == moves["cce"] == "c3c5"
    assert moves["loser"] != "c3c5"
    mated = StyledThinking(Board("6k1/5ppp/8/8/8/8/r4PPP/6K1 b - - 0 1"), STYLES["loser"], Limits(depth=2)).run()
    assert mated.line[0] != "a2a1"
    assert StyledThinking(Board("6k1/5ppp/8/8/8/8/r4PPP/6K1 b - - 0 1"), CCE, Limits(depth=2)).run().line[0] == "a2a1"


def test_chess_engine_pawn_advance_pushes_pawns() -> None:
    line = StyledThinking(Board(), Style({"pawns": 1.0}), Limits(depth=1)).run().line
    assert line[0][1] == "2"
    assert line[0][3] == "4"


def test_chess_engine_no_aimless_repetition_when_winning() -> None:
    board = Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1")
    assert win(board, STYLES["materialist"]) < 3
    assert final_text(board) == "M+0"


def test_chess_engine_a_style_obeys_depth_time_and_stop() -> None:
    board = Board(MIDDLE_GAME)
    assert StyledThinking(board, CCE, Limits(depth=2)).run().line == search(board, Method.QUIESCENT, 2, CCE).line
    started = time.monotonic()
    StyledThinking(Board(MIDDLE_GAME), CCE, Limits(move_time_ms=100)).run()
    assert time.monotonic() - started < 60
    stopped = StyledThinking(Board(MIDDLE_GAME), CCE, Limits())
    threading.Timer(0.1, stopped.stop).start()
    assert stopped.run().line


def test_chess_engine_a_finished_game_has_no_move() -> None:
    assert StyledThinking(Board().after(*FOOLS_MATE), CCE, Limits(depth=3)).run().line == ()


# --- ChessBin --------------------------------------------------------------------------------------------------------


def test_chessbin_the_order_of_moves_saves_nodes() -> None:
    plain, ordered = (search(Board(MIDDLE_GAME), method, 4) for method in (Method.ALPHA_BETA, Method.ORDERED))
    assert plain.white_score == ordered.white_score
    assert ordered.nodes < plain.nodes / 2


def test_chessbin_the_fifty_moves_are_known_inside_the_search() -> None:
    assert (value(ROOK_ENDING.format(clock=0), 4).cp or 0) > 500
    assert value(ROOK_ENDING.format(clock=98), 4).cp == 0


def test_chessbin_a_repetition_is_known_inside_the_search() -> None:
    """Far behind, White draws by perpetual check."""
    assert (value(PERPETUAL, 1).cp or 0) < -300
    assert value(PERPETUAL, 6).cp == 0


@pytest.mark.parametrize("method", list(PLAIN_SEARCHES))
def test_chessbin_nearer_mates_are_preferred(method: Method) -> None:
    assert value(TWO_MATES, 3, method) == Score(mate=1)


def test_chessbin_castling_is_encouraged() -> None:
    board = Board("r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5")
    line = StyledThinking(board, Style({"material": 1.0, "castling": 1.0}), Limits(depth=1)).run().line
    assert board.san(line[0]) == "O-O"


@pytest.mark.parametrize(("name", "fen"), list(CASTLING.items()))
def test_chessbin_castling_through_check_is_impossible(name: str, fen: str) -> None:
    board, reference = Board(fen), chess.Board(fen)
    assert sorted(board.legal_moves()) == sorted(reference.uci(move) for move in reference.legal_moves)
    castles = {san for san in map(board.san, board.legal_moves()) if san.startswith("O-O")}
    assert (castles == {"O-O", "O-O-O"}) == ("check" not in name)


# --- The pages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("cce", ("+9.00", "-9.00", "M-0", "DRAW", "M+2", "7. Nd5#")),
        ("rudim", ("197,281, correct", "minimax", "79,167", "horizon")),
        ("chess-engine", ("loser", "per move, mean of", "an opening book", "M+0")),
        ("chessbin", ("alpha-beta, ordered", "M+1", "O-O O-O-O")),
    ],
)
def test_each_article_has_a_page_that_runs(name: str, facts: tuple[str, ...]) -> None:
    assert name in PAGES
    page = io.StringIO()
    show(name, Console(file=page, width=100), Theme(unicode=True, colour=False))
    for fact in facts:
        assert fact in page.getvalue()


@pytest.mark.parametrize(("style", "is_shown"), [(None, True), (CCE, False)], ids=["no style", "cce"])
def test_the_engine_which_has_only_its_own_evaluation_is_compared_without_a_style(
    style: Style | None, is_shown: bool
) -> None:
    page = io.StringIO()
    show_comparison(Board(), 1, style, 60.0, Console(file=page, width=100))
    assert (Method.ENGINE in page.getvalue()) == is_shown
