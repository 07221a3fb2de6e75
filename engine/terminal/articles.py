"""Demonstrations of the articles that the engine grew from; every figure is computed when a page is shown.

The articles: cce (two, cade.site), Rudim [3], stratzilla's chess-engine, ChessBin's move searching.
"""

from collections.abc import Callable
from functools import partial
from threading import Thread
from time import perf_counter, sleep

from rich.console import Console

from engine.board import Board
from engine.facade import OWN_BOOK, Book, Engine, Limits, perft
from engine.lessons.copying import perft_copying, perft_taking_back
from engine.lessons.methods import Method, StyledThinking, search
from engine.lessons.notation import final_text, pawns_text, san_line, score_text
from engine.lessons.styles import STYLES, Style
from engine.terminal.board_view import BoardView, Theme, draw
from engine.terminal.players import quick_evaluation
from engine.terminal.reports import show_comparison, show_depth_table, table

LEGALS_TRAP = ("e2e4", "e7e5", "g1f3", "d7d6", "f1c4", "c8g4", "b1c3", "g7g6", "f3e5", "g4d1")
FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")
QUEEN_ODDS = {
    "without Black's queen": "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "without White's queen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
}
PERFT = (20, 400, 8902, 197281)    # of the starting position
MIDDLE_GAME = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8"
ROOK_ENDING = "8/8/8/8/3k4/8/8/R3K3 w - - {clock} 90"
PERPETUAL = "6k1/5p1p/5Q2/8/8/8/qr6/7K w - - 0 1"
TWO_MATES = "6k1/5ppp/8/8/8/8/8/KQ2R3 w - - 0 1"
CASTLING = {
    "nothing in the way": "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "the king in check": "4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1",
    "through check on f1": "4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1",
    "into check on g1": "4k3/8/8/8/6r1/8/8/R3K2R w KQ - 0 1",
    "a rook attacked, b1 attacked": "1r2k2r/8/8/8/8/8/8/R3K2R w KQ - 0 1",
}


def show(name: str, console: Console, theme: Theme) -> None:
    """Print one page."""
    title, page = PAGES[name]
    console.rule(f"{name}: {title}", align="left")
    page(console, theme)
    console.print()


# --- cce -------------------------------------------------------------------------------------------------------------


def _cce(console: Console, theme: Theme) -> None:
    terms = STYLES["cce"].terms()
    start = {name: value / 100 for name, value in terms.white_terms(Board().position).items()}
    console.print("the evaluation, in pawns")
    rows = table(("White's view", "what"))
    rows.add_row(pawns_text(sum(start.values()) - start["tempo"]), "the starting position before tempo")
    rows.add_row(pawns_text(start["tempo"]), "tempo")
    for name, fen in QUEEN_ODDS.items():
        rows.add_row(pawns_text(terms.white_terms(Board(fen).position)["material"] / 100), f"material {name}")
    rows.add_row(final_text(Board().after(*FOOLS_MATE)), "fool's mate")
    rows.add_row(final_text(Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")), "stalemate")
    console.print(rows)
    trap = Board().after(*LEGALS_TRAP)
    console.print(draw(BoardView(trap, white_score=quick_evaluation(trap)), theme), soft_wrap=True)
    console.print("Légal's trap: the best move at depth 1, then deeper")
    rows = table(("depth", "value", "nodes", "line"))
    for depth in range(1, 5):
        outcome = search(trap, Method.ORDERED, depth, STYLES["cce"])
        if outcome.white_score is not None:
            value = score_text(outcome.white_score)
            rows.add_row(str(depth), value, f"{outcome.nodes:,}", san_line(trap, outcome.line))
    console.print(rows)
    _set_go_stop(console)


def _set_go_stop(console: Console) -> None:
    """Start a search in a thread, then stop it."""
    engine = Engine()
    engine.set_position(Board())
    thinking = engine.begin(Limits(infinite=True))
    reached: list[int] = []
    thread = Thread(target=thinking.run, args=(lambda report: reached.append(report.depth),))
    thread.start()
    sleep(0.3)
    asked = perf_counter()
    thinking.stop()
    thread.join()
    waited_ms = (perf_counter() - asked) * 1000
    depth = max(reached, default=0)
    console.print(f"set state, go, stop: depth {depth} in 0.3 s, {waited_ms:.1f} ms from stop to the move")


def best_of_three(work: Callable[[], object]) -> float:
    """Return the shortest of three times, in seconds."""
    times = []
    for _ in range(3):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


# --- Rudim -----------------------------------------------------------------------------------------------------------


def _rudim(console: Console, theme: Theme) -> None:
    board = Board()
    console.print("make and unmake instead of copying: perft 3, both called from Python")
    rows = table(("perft", "seconds", "how"))
    for name, count in (("made and unmade", perft_taking_back), ("copied", perft_copying)):
        position = board.copy().position
        seconds = best_of_three(partial(count, position, 3))
        rows.add_row(f"{count(position, 3):,}", f"{seconds:.4f}", name)
    console.print(rows)
    counts = [perft(board.position, depth) for depth in range(1, len(PERFT) + 1)]
    verdict = "correct" if counts == list(PERFT) else f"but expected {PERFT}"
    console.print(f"perft as a test: {', '.join(f'{count:,}' for count in counts)}, {verdict}\n")
    show_comparison(Board(MIDDLE_GAME), 3, None, 60.0, console)
    horizon = Board(MIDDLE_GAME)
    console.print("the horizon effect")
    rows = table(("depth", "without", "with", "line without quiescence"))
    for depth in range(1, 5):
        blind, seeing = (search(horizon, method, depth) for method in (Method.ORDERED, Method.QUIESCENT))
        if blind.white_score is not None and seeing.white_score is not None:
            line = san_line(horizon, blind.line)
            rows.add_row(str(depth), score_text(blind.white_score), score_text(seeing.white_score), line)
    console.print(rows)


# --- chess-engine ----------------------------------------------------------------------------------------------------


def _chess_engine(console: Console, theme: Theme) -> None:
    board = Board(MIDDLE_GAME)
    console.print("behaviours from coefficients, at depth 4")
    rows = table(("style", "value", "line"))
    for name, style in STYLES.items():
        outcome = StyledThinking(board, style, Limits(depth=4)).run()
        value = score_text(outcome.white_score) if outcome.white_score else ""
        rows.add_row(name, value, san_line(board, outcome.line))
    console.print(rows)
    won = Board("8/8/8/3k4/8/8/8/KQ6 w - - 0 1")
    most = win(won, STYLES["materialist"])
    ending = final_text(won) or "the game goes on"
    plies = len(won.moves)
    console.print(f"no aimless repetition: queen against king in {plies} plies, positions at most {most}x, {ending}\n")
    show_depth_table(5, 60.0, console)
    console.print("its wish list")
    rows = table(("figure", "wish"))
    for threads in (1, 2):
        engine = Engine()
        engine.set_threads(threads)
        engine.set_position(board)
        report = engine.go(Limits(move_time_ms=500)).report
        rows.add_row(f"{report.nps if report else 0:,} nodes/s", f"threads: {threads}")
    engine = Engine()
    engine.set_position(board)
    for remark in ("an empty table", "the table of the search before"):
        report = engine.go(Limits(depth=9)).report
        rows.add_row(f"{report.nodes if report else 0:,} nodes", f"depth 9 with {remark}")
    book = Book(OWN_BOOK)
    first = ", ".join(Board().san(found.move) for found in book.moves(Board())[:4])
    rows.add_row(f"{len(book):,} moves", f"an opening book from its own games; first moves: {first}")
    rows.add_row("lichessbot-engine play", "a user interface")
    console.print(rows)


def win(board: Board, style: Style) -> int:
    """Play a won game to its end, both sides with this style; return the most repetitions of a position."""
    most = 1
    while final_text(board) is None:
        line = StyledThinking(board, style, Limits(depth=6 if board.turn == "white" else 2)).run().line
        board.push(line[0])
        most = max(most, board.repetition_count())
    return most


# --- ChessBin --------------------------------------------------------------------------------------------------------


def _chessbin(console: Console, theme: Theme) -> None:
    board = Board(MIDDLE_GAME)
    console.print("the order of moves, counted in nodes at depth 4")
    rows = table(("nodes", "search"))
    for method in (Method.ALPHA_BETA, Method.ORDERED):
        rows.add_row(f"{search(board, method, 4).nodes:,}", method.value)
    console.print(rows)
    console.print("draws and mates inside the search, depth 6")
    rows = table(("value", "position"))
    cases = (
        (ROOK_ENDING.format(clock=0), "a rook ahead, halfmove clock 0"),
        (ROOK_ENDING.format(clock=98), "the same, one move before the fifty-move draw"),
        (PERPETUAL, "behind by a rook and two pawns"),
        (TWO_MATES, "mate in one and mates in more"),
    )
    for fen, remark in cases:
        position = Board(fen)
        outcome = search(position, Method.QUIESCENT, 6)
        if outcome.white_score is not None:
            rows.add_row(score_text(outcome.white_score), f"{remark}: {san_line(position, outcome.line)}")
    console.print(rows)
    console.print("castling: encouraged, never out of, through or into check")
    rows = table(("castles", "position"))
    for name, fen in CASTLING.items():
        position = Board(fen)
        castles = [san for san in map(position.san, position.legal_moves()) if san.startswith("O-O")]
        rows.add_row(" ".join(castles) or "-", name)
    console.print(rows)
    board, terms = Board(CASTLING["nothing in the way"]), STYLES["cce"].terms()
    safe, stray = (
        pawns_text(terms.white_terms(board.after(move).position)["castling"] / 100) for move in ("e1g1", "e1e2")
    )
    console.print(f"castling is worth {safe} when done, {stray} after a king move instead")


PAGES: dict[str, tuple[str, Callable[[Console, Theme], None]]] = {
    "cce": ("evaluation in pawns, set, go and stop", _cce),
    "rudim": ("from minimax to deepening", _rudim),
    "chess-engine": ("styles, depths and wishes", _chess_engine),
    "chessbin": ("ordering, draws, mates and castling", _chessbin),
}
