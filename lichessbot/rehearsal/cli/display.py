"""The display of a rehearsal: live boards in a terminal, plain lines elsewhere, a table at the end.

Reads views that were made on the event loop; never touches a game.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from rich.columns import Columns
from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from engine.facade import Board
from engine.terminal.board_view import BoardView, Theme, draw
from lichessbot.rehearsal.cli.match import Match, Outcome, Pairing
from lichessbot.rehearsal.rules.enums import Color
from lichessbot.rehearsal.rules.game import holdings
from lichessbot.rehearsal.rules.timing import monotonic_ms

RECENT_LINES = 5
REFRESHES_PER_S = 4
PROGRESS_WIDTH = 40
GAME_WIDTH = 31
GAME_HEIGHT = 14

_OUTCOME_STYLES = {
    Outcome.WON: "green",
    Outcome.DRAWN: "yellow",
    Outcome.LOST: "red",
    Outcome.FAILED: "bold white on red",
    Outcome.EXCUSED: "magenta",
}


@dataclass(frozen=True)
class GameView:
    """A running game at one moment."""

    title: str
    board: Board
    names: dict[Color, str]
    clocks_ms: dict[Color, int]
    bot_color: Color
    evaluation_cp: int          # from White's view


@dataclass(frozen=True)
class MatchView:
    """A match at one moment."""

    playing: tuple[GameView, ...]
    ended: int
    games: int


def view(match: Match) -> MatchView:
    """Return a view of a match; call it on the event loop."""
    playing = [pairing for pairing in match.pairings if pairing.game is not None and not pairing.is_over]
    ended = sum(pairing.is_over for pairing in match.pairings)
    return MatchView(tuple(map(_game_view, playing)), ended, match.plan.games)


class Display(AbstractContextManager["Display", None], Protocol):
    """Shows a rehearsal."""

    def say(self, line: str) -> None:
        """Show an event; call it from any thread."""

    def show(self, match: MatchView) -> None:
        """Show the state of the match; called several times a second."""


class PlainDisplay(Display):
    """Writes a line for each event, for logs and pipes.

    A caller never waits for a slow pipe and never learns of a broken one: the rehearsal writes.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said: SimpleQueue[str] = SimpleQueue()

    def __exit__(self, *_error: object) -> None:
        self._write()

    def say(self, line: str) -> None:
        self._said.put(line)

    def show(self, match: MatchView) -> None:
        """Write what was said: a log is about events."""
        self._write()

    def _write(self) -> None:
        while not self._said.empty():
            say(self._console, self._said.get())


class LiveDisplay(Display):
    """Draws boards, clocks and progress in place."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._theme = Theme.detect(console)
        self._live = Live(console=console, refresh_per_second=REFRESHES_PER_S, transient=True)
        self._recent: deque[str] = deque(maxlen=RECENT_LINES)

    def __enter__(self) -> "LiveDisplay":
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    def say(self, line: str) -> None:
        self._recent.append(line)

    def show(self, match: MatchView) -> None:
        recent = tuple(self._recent)      # other threads go on to say things
        self._live.update(screen(match, recent, self._console.size, self._theme))


def screen(match: MatchView, recent: Iterable[str], size: ConsoleDimensions, theme: Theme) -> RenderableType:
    """Return as many whole boards as fit into the terminal, the progress, and the latest lines."""
    across, down = size.width // (GAME_WIDTH + 1), (size.height - RECENT_LINES - 2) // GAME_HEIGHT
    fit = max(1, across * down)
    return Group(
        Columns([_game(game, theme) for game in match.playing[:fit]]),
        _progress(match, hidden=len(match.playing[fit:])),
        *(Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in recent),
    )


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, such as `1 game` or `2 games`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def say(console: Console, line: str, style: str | None = None) -> None:
    """Print a line without markup, as it may contain names from outside."""
    console.print(Text(line, style=style or ""), soft_wrap=True)


def show_results(console: Console, pairings: Sequence[Pairing]) -> None:
    """Print the results: a table in a terminal, else a line for each game."""
    if console.is_terminal:
        console.print(_result_table(pairings))
        return
    for pairing in pairings:
        say(console, "  ".join(_result_row(pairing)))


def show_scores(console: Console, counts: Mapping[int, Mapping[Outcome, int]]) -> None:
    """Print the bot's score against opponents of each rating; a failed game counts as lost."""
    for rating, count in counts.items():
        outcomes = [Outcome.WON, Outcome.DRAWN, Outcome.LOST, *[Outcome.FAILED] * (count[Outcome.FAILED] > 0)]
        games = sum(count[it] for it in outcomes)
        results = ", ".join(f"{count[it]} {it}" for it in outcomes)
        score = 100 * (count[Outcome.WON] + count[Outcome.DRAWN] / 2) / max(1, games)
        say(console, f"against {rating}: {counted(games, 'game')}, {results}, {score:.1f} %")


def _result_table(pairings: Sequence[Pairing]) -> RenderableType:
    table = Table("game", "opponent", "bot has", "outcome", "reason", "plies", title="Rehearsal")
    for pairing in pairings:
        style = "" if pairing.outcome is None else _OUTCOME_STYLES[pairing.outcome]
        table.add_row(*(Text(cell) for cell in _result_row(pairing)), style=style)
    return table


def _result_row(pairing: Pairing) -> tuple[str, ...]:
    number = f"{pairing.number:>3}"
    if pairing.outcome is None:
        return number, pairing.opponent.name, pairing.bot_color, "unfinished"
    plies = "-" if pairing.game is None else str(pairing.game.ply)
    return number, pairing.opponent.name, pairing.bot_color, pairing.outcome, pairing.reason, plies


def _game_view(pairing: Pairing) -> GameView:
    game = pairing.game
    assert game is not None
    now_ms, board = monotonic_ms(), game.board()
    return GameView(
        title=f"game {pairing.number}",
        board=board,
        names={color: game.setup.account(color).name for color in Color},
        clocks_ms={color: game.clock.remaining_ms(color, now_ms) for color in Color},
        bot_color=pairing.bot_color,
        evaluation_cp=board.evaluate(),
    )


def _game(game: GameView, theme: Theme) -> RenderableType:
    """Return the board of a game, with the bot's side at the bottom."""
    last_move = game.board.moves[-1] if game.board.moves else ""
    return Panel(
        Group(
            _side(game, game.bot_color.other),
            draw(BoardView(game.board, game.bot_color is Color.WHITE, is_narrow=True), theme),
            _side(game, game.bot_color),
            Text(f"{game.evaluation_cp / 100:+.2f}  move {len(game.board.moves) // 2 + 1}  {last_move}"),
        ),
        title=game.title,
        width=GAME_WIDTH,
    )


def _side(game: GameView, color: Color) -> Text:
    running = color.value == game.board.turn
    beside = f" {held}" if (held := holdings(game.board, color)) else ""
    name = f"{game.names[color][: max(8, 20 - len(beside))]}{beside}"
    line = f"{name:<20.20} {_clock(game.clocks_ms[color]):>6}"
    return Text(line, style="bold" if running else "dim")


def _clock(left_ms: int) -> str:
    seconds, tenths = divmod(left_ms // 100, 10)
    return f"{seconds // 60}:{seconds % 60:02}" if seconds >= 10 else f"{seconds}.{tenths}"


def _progress(match: MatchView, hidden: int) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=match.games, completed=match.ended, width=PROGRESS_WIDTH)
    not_shown = f", {hidden} more in progress" if hidden else ""
    grid.add_row(bar, f"{match.ended} of {counted(match.games, 'game')}{not_shown}")
    return grid
