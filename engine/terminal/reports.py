"""Reports on a position: evaluation terms, perft, searches side by side, time per depth."""

from collections.abc import Iterable
from time import perf_counter

from rich.console import Console, JustifyMethod
from rich.table import Table

from engine.bench import POSITIONS
from engine.board import Board
from engine.facade import Engine, evaluation
from engine.lessons.methods import Method, search
from engine.lessons.notation import ending_text, final_text, pawns_text, san_line, score_text
from engine.lessons.styles import Style
from engine.progress import ProgressDisplay
from engine.terminal.board_view import BoardView, Theme, draw

TABLE_POSITIONS = POSITIONS[::10]      # openings, middle games and an ending
# Seconds per move of stratzilla's chess-engine as its README states; it names no other depth.
CHESS_ENGINE_S = {7: 163.0}


def table(headings: Iterable[str], last_column: JustifyMethod = "left") -> Table:
    """Return an empty table: figures in all columns, but often text in the last."""
    rows = Table()
    *figures, last = headings
    for heading in figures:
        rows.add_column(heading, justify="right", no_wrap=True)
    rows.add_column(last, justify=last_column)
    return rows


def show_evaluation(board: Board, style: Style | None, console: Console, theme: Theme) -> None:
    """Show the board and the terms in pawns from White's view; with a style, the articles' terms."""
    console.print(draw(BoardView(board), theme), soft_wrap=True)
    if style is None:
        _show_engine_terms(board, console)
    else:
        _show_styled_terms(board, style, console)
    over = ending_text(board)
    if over is not None:
        console.print(f"the game is over: {over}")


def _show_engine_terms(board: Board, console: Console) -> None:
    parts = evaluation(board)
    rows = table(("term", "White mg", "eg", "Black mg", "eg"), "right")
    for name, values in parts.terms.items():
        rows.add_row(name, *map(pawns_text, values))
    console.print(f"evaluation {pawns_text(parts.score_cp)}", rows)
    network_cp = Engine().network_score_cp(board)
    if network_cp is not None:
        console.print(f"the network, which decides, evaluates {pawns_text(network_cp)}")
    console.print(f"midgame values (mg) weigh {parts.phase}/{parts.full_phase}, endgame values (eg) the rest")


def _show_styled_terms(board: Board, style: Style, console: Console) -> None:
    parts = {name: value / 100 for name, value in style.terms().white_terms(board.position).items()}
    total = final_text(board) or pawns_text(sum(parts.values()))
    rows = table(("term", "coefficient", "White's view"), "right")
    for name, value in parts.items():
        rows.add_row(name, f"{style.coefficients.get(name, 0):+g}", pawns_text(value))
    rows.add_row("before tempo", "", pawns_text(sum(parts.values()) - parts["tempo"]))
    console.print(f"evaluation {total}", rows)


def show_perft(board: Board, depth: int, console: Console) -> None:
    """Show the leaf nodes below each move, their sum and the speed."""
    started, counts = perf_counter(), {}
    moves = board.legal_moves()
    with ProgressDisplay("perft", len(moves), "moves", transient=True) as display:
        for done, move in enumerate(moves, 1):
            counts[move] = 0
            for count in board.after(move).perft(depth - 1):  # not sum(), which Ctrl-C could not interrupt
                counts[move] += count
            display.advance_to(done)
    seconds = perf_counter() - started
    for move, count in sorted(counts.items()):
        console.print(f"{move}: {count}")
    total = sum(counts.values())
    console.print(f"\nNodes searched: {total}\n{seconds:.3f} s, {total / max(seconds, 1e-9):,.0f} nodes/s")


def show_comparison(board: Board, depth: int, style: Style | None, seconds: float, console: Console) -> None:
    """Show value, nodes and time of each search."""
    over = ending_text(board)
    if over is not None:
        console.print(f"the game is over: {over}")
        return
    rows = table(("search", "value", "nodes", "time", "line"))
    methods = [it for it in Method if style is None or it is not Method.ENGINE]      # which has only its own evaluation
    with ProgressDisplay("searching", len(methods), "searches", transient=True) as display:
        for done, method in enumerate(methods, 1):
            outcome = search(board, method, depth, style, seconds)
            value = score_text(outcome.white_score) if outcome.white_score else "not finished"
            line = san_line(board, outcome.line)
            rows.add_row(method, value, f"{outcome.nodes:,}", f"{outcome.seconds:.3f} s", line)
            display.advance_to(done)
    console.print(f"depth {depth}, White's view: {board.fen()}", soft_wrap=True)
    console.print(rows)


def show_depth_table(depth: int, seconds: float, console: Console) -> None:
    """Show the mean time per move at each depth: plain search, engine, and the README of chess-engine."""
    rows = table(("depth", "alpha-beta, ordered", "the engine", "chess-engine"), "right")
    means: dict[Method, float | None] = {Method.ORDERED: 0.0, Method.ENGINE: 0.0}
    with ProgressDisplay("timing", depth, "depths", transient=True) as display:
        for plies in range(1, depth + 1):
            for method, last in means.items():
                means[method] = None if last is None else _mean_s(method, plies, seconds)
            rows.add_row(str(plies), *map(_seconds, [*means.values(), CHESS_ENGINE_S.get(plies)]))
            display.advance_to(plies)
    console.print(f"seconds of processor time per move, mean of {len(TABLE_POSITIONS)} positions")
    console.print(rows)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}" if value < 1 else f"{value:.1f}"


def _mean_s(method: Method, depth: int, seconds: float) -> float | None:
    """Return the mean time per move, None if a move took too long."""
    total = 0.0
    for fen in TABLE_POSITIONS:
        outcome = search(Board(fen), method, depth, seconds=seconds)
        if outcome.white_score is None:
            return None
        total += outcome.seconds
    return total / len(TABLE_POSITIONS)
