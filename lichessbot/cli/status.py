"""`lichessbot status`: show what the running daemon does, once or again and again."""

import json
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from engine.facade import Board, InvalidFen, InvalidMove, InvalidVariant
from engine.terminal.board_view import BoardView, Theme, draw
from lichessbot.cli.control import ask_daemon
from lichessbot.cli.options import config_option
from lichessbot.cli.records.text import move_number
from lichessbot.control.commands import ControlAnswer, ControlCommand, in_json
from lichessbot.control.status import (
    EngineStatus,
    Evaluation,
    PlayerStatus,
    RecordsStatus,
    RunningGame,
    Status,
    StreamStatus,
    WaitingChallenge,
    clock_time,
)
from lichessbot.errors import ConfigError, ExitCode
from lichessbot.lichess.enums import player_label
from lichessbot.log import inert

_REFRESH_EVERY_S: Final = 1.0
_NAMES_WIDTH: Final = 8
_BLOCK_WIDTH: Final = 39
_BLOCK_HEIGHT: Final = 13
_QUIET_S: Final = 15.0  # an open stream that is silent for longer is named


@click.command("status")
@config_option
@click.option("--watch", is_flag=True, help="Show it again every second, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --watch one object a line.")
def status_command(config_file: Path | None, watch: bool, as_json: bool) -> int:
    """Show the games, the queue, limits, streams, the engine's speed and the faults of the running daemon.

    The daemon is found by its state folder, which --config names as for the other commands. Evaluations are from
    White's view. The exit code is 1 if no daemon runs.
    """
    console = Console(highlight=False)
    if watch and not as_json and not console.is_terminal:
        raise click.UsageError("--watch needs a terminal, or --json")
    if watch:
        with suppress(KeyboardInterrupt):
            _watch(config_file, None if as_json else console)
        return ExitCode.OK
    answer = ask_daemon(config_file, ControlCommand.STATUS)
    if answer.status is None:
        sys.stderr.write(f"{inert(answer.text)}\n")
        return ExitCode.FAILED
    if as_json:
        sys.stdout.write(f"{json.dumps(json.loads(in_json(answer.status)), indent=2)}\n")
    else:
        console.print(render(answer.status, Theme.detect(console), console.width))
    return ExitCode.OK


def _watch(config_file: Path | None, console: Console | None) -> None:
    """Show the status every second, on a console or as JSON, until Ctrl-C; a daemon that restarts is waited for."""
    if console is None:
        for answer in _answers(config_file):
            shown = json.loads(in_json(answer.status)) if answer.status else {"error": answer.text}
            sys.stdout.write(f"{json.dumps(shown)}\n")
            sys.stdout.flush()
        return
    theme = Theme.detect(console)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for answer in _answers(config_file):
            screen: RenderableType = Text(f"{inert(answer.text)}\nwaiting ...")
            if answer.status is not None:
                screen = render(answer.status, theme, console.width, console.height)
            live.update(screen, refresh=True)


def _answers(config_file: Path | None) -> Iterator[ControlAnswer]:
    answer = ask_daemon(config_file, ControlCommand.STATUS)
    while True:
        yield answer
        time.sleep(_REFRESH_EVERY_S)
        try:
            answer = ask_daemon(config_file, ControlCommand.STATUS)
        except ConfigError as error:  # an editor may be saving the file
            answer = ControlAnswer(ok=False, text=str(error))


# What is shown


def render(status: Status, theme: Theme, width: int, height: int | None = None) -> RenderableType:
    """Return the status as it fits into `width` columns and `height` lines; without a height with every board."""
    facts = [line for name, text in _facts(status) for line in _fact(name, inert(text), width)]
    games, columns = status.games, max(1, width // _BLOCK_WIDTH)
    if height is None:
        return Group(*facts, Text(), *_rows(games, theme, columns))
    lines = height - len(facts) - 1
    rows = min((lines + 1) // (_BLOCK_HEIGHT + 1), -(-len(games) // columns))
    boards, rest = games[: rows * columns], games[rows * columns :]
    return Group(*facts, Text(), *_rows(boards, theme, columns), *_short(rest, lines - rows * (_BLOCK_HEIGHT + 1)))


def _fact(name: str, text: str, width: int) -> Iterator[Text]:
    """Yield the lines of one fact, the first with its name."""
    for number, part in enumerate(textwrap.wrap(text, max(20, width - _NAMES_WIDTH), break_on_hyphens=False)):
        yield Text.assemble((f"{'' if number else name:<{_NAMES_WIDTH}}", "bold"), part)


def _rows(games: Sequence[RunningGame], theme: Theme, columns: int) -> Iterator[RenderableType]:
    """Yield rows of boards, each with an empty line after it."""
    for start in range(0, len(games), columns):
        blocks = [_block(game, theme) for game in games[start : start + columns]]
        row = Table.grid(padding=(0, 1, 0, 0))
        for _ in blocks:
            row.add_column(width=_BLOCK_WIDTH - 1)
        row.add_row(*blocks)
        yield row
        yield Text()


def _short(games: Sequence[RunningGame], lines: int) -> Iterator[Text]:
    """Yield a line for each game as far as there are lines; the last one says how many more there are."""
    shown = len(games) if len(games) <= lines else max(0, lines - 1)
    for game in games[:shown]:
        yield Text(inert(_game_line(game)), no_wrap=True, overflow="ellipsis")
    if shown < len(games) and lines > 0:
        yield Text(f"and {len(games) - shown} more games")


def _facts(status: Status) -> Iterator[tuple[str, str]]:
    """Yield the facts above the boards by name; empty ones are not shown."""
    connection, lobby = status.connection, status.lobby
    who = connection.account or "account unknown"
    yield "bot", f"{who} at {connection.server_url}, {_activity(status)}, up {_duration(status.up_for_s)}"
    held = f"only moves are sent for {_duration(connection.held_back_s)} (429)" if connection.held_back_s else ""
    queue = connection.requests
    waiting = ", ".join(f"{number} {kind}" for kind, number in queue.waiting.items())
    paused = (f"{it.what} from {clock_time(it.until_epoch_s, status.at_epoch_s)} on" for it in queue.held_back)
    requests = (f"waiting: {waiting}" if waiting else "", *([] if held else paused))
    yield "lichess", _joined(connection.summary, _stream(connection.events), held, *requests)
    starting = f"{lobby.starting} about to start" if lobby.starting else ""
    correspondence = f"{status.correspondence_games} correspondence" if status.correspondence_games else ""
    clocked = sum(game.speed != "correspondence" for game in status.games)
    yield "games", _joined(f"{clocked} of {lobby.slots}", correspondence, starting, *_troubled_streams(status.games))
    yield "queue", _joined(*map(_waiting, lobby.queue))
    yield "match", _matchmaking(status)
    yield "limits", _joined(*(limit.in_words(status.at_epoch_s) for limit in lobby.limits))
    yield "arenas", ", ".join(lobby.tournaments)
    yield "blocked", ", ".join(lobby.blocked)
    yield "engine", _engine(status.engine)
    yield "records", _records(status.records)
    faults = {name: number for name, number in asdict(status.faults).items() if number}
    yield "faults", _joined(*(f"{name.replace('_', ' ')}: {number}" for name, number in faults.items()))


def _activity(status: Status) -> str:
    if status.ends_in_s is None:
        return status.activity
    return f"{status.activity}, ends in {_duration(status.ends_in_s)} at the latest"


def _stream(stream: StreamStatus | None) -> str:
    if stream is None:
        return ""
    opened = "closed" if stream.open_for_s is None else f"open for {_duration(stream.open_for_s)}"
    heard = "" if stream.silent_for_s is None else f", last line {_duration(stream.silent_for_s)} ago"
    return f"event stream {opened}{heard}"


def _troubled_streams(games: Sequence[RunningGame]) -> Iterator[str]:
    for game in games:
        stream = game.stream
        if stream is None or not stream.is_open:
            yield f"{game.game_id} has no stream"
        elif (stream.silent_for_s or 0.0) > _QUIET_S:
            yield f"{game.game_id} silent for {_duration(stream.silent_for_s or 0.0)}"


def _waiting(it: WaitingChallenge) -> str:
    who = player_label(it.challenger, it.title, it.rating)
    mode = "rated" if it.rated else "casual"
    return f"{who} {it.time_control} {mode} {it.variant}, waits {_duration(it.waits_for_s)}"


def _matchmaking(status: Status) -> str:
    it = status.lobby.matchmaking
    switched = "" if it.is_on == it.is_on_in_config else " by command"
    state = f"{'on' if it.is_on else 'off'}{switched}"
    if it.open_challenge is not None:
        return f"{state}; challenge to {it.open_challenge.opponent} is open: {it.open_challenge.terms}"
    next_at = it.next_attempt_epoch_s
    when = "" if next_at is None else f", at {clock_time(next_at, status.at_epoch_s)}"
    return f"{state}; {it.next_step}{when}" if it.is_on and it.next_step else state


def _engine(it: EngineStatus) -> str:
    speed = f"{it.name}, {_speed(it.nodes_per_s)}" if it.searches else ""
    running = f"{it.processes} running" if it.processes else ""
    memory = f"{it.memory_bytes / (1 << 20):,.0f} MiB with the daemon" if it.memory_bytes else ""
    return ", ".join(filter(None, (speed, running, memory, it.failure)))


def _records(it: RecordsStatus) -> str:
    return "" if it.unwritten_for_s is None else f"not written for {_duration(it.unwritten_for_s)}: {it.error}"


def _block(game: RunningGame, theme: Theme) -> RenderableType:
    """Return one game with its board, at most `_BLOCK_HEIGHT` lines."""
    white_below = game.our_colour != "black"
    above, below = (game.black, game.white) if white_below else (game.white, game.black)
    head = f"{game.game_id} {game.speed} {game.time_control} {'rated' if game.rated else 'casual'}"
    if game.variant != "standard":
        head = f"{head} {game.variant}"
    if game.level is not None:
        head = f"{head} level {game.level}"
    board = _board(game)
    drawn = Text("waiting for its state")
    if board is not None:
        drawn = draw(BoardView(board, white_below, is_narrow=True), theme)
    lines = (_line(head), _player_line(above), drawn, _player_line(below), _line(_last_moves(game, board)))
    return Group(*lines)


def _line(text: str) -> Text:
    shown = inert(text)
    return Text(shown if len(shown) < _BLOCK_WIDTH else f"{shown[: _BLOCK_WIDTH - 4]}...")


def _player_line(player: PlayerStatus) -> Text:
    clock, holds = _clock(player.clock_s), f" [{inert(player.holds)}]" if player.holds else ""
    name = inert(_label(player))[: max(8, _BLOCK_WIDTH - 12 - len(holds))] + holds
    return Text(f"{name[: _BLOCK_WIDTH - 12]:<{_BLOCK_WIDTH - 12}} {clock:>9}")


def _board(game: RunningGame) -> Board | None:
    """Return the position; None before the first state, and for a variant that this version does not know."""
    if not game.fen:
        return None
    try:
        return _start(game).after(*game.moves)
    except (InvalidFen, InvalidMove, InvalidVariant):
        return None


def _start(game: RunningGame) -> Board:
    return Board(game.initial_fen, chess960=game.is_chess960, variant=game.variant)


def _last_moves(game: RunningGame, board: Board | None) -> str:
    """Return the last move by number and SAN, and what our last move was chosen by."""
    parts = []
    if board is not None and game.moves:
        *earlier, last = game.moves
        number = move_number(len(game.moves), game.initial_fen)
        parts.append(f"{number} {_start(game).after(*earlier).san(last)}")
    if game.evaluation is not None:
        parts.append(_evaluation(game.evaluation))
    return "  ".join(parts)


def _evaluation(it: Evaluation) -> str:
    score = ""
    if it.mate_in is not None:
        score = f"#{it.mate_in} "
    elif it.score_cp is not None:
        score = f"{it.score_cp / 100:+.2f} "
    depth = f"depth {it.depth} " if it.depth else ""
    return f"{score}{depth}{_speed(it.nodes_per_s)}" if it.source == "engine" else f"{score}{it.source}"


def _game_line(game: RunningGame) -> str:
    clocks = f"{_clock(game.white.clock_s)} {_clock(game.black.clock_s)}"
    players = f"{_label(game.white)} - {_label(game.black)}"
    return f"{game.game_id} {players} {clocks} {_last_moves(game, _board(game))}"


def _label(player: PlayerStatus) -> str:
    return player_label(player.name, player.title, player.rating)


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _speed(nodes_per_s: int) -> str:
    if nodes_per_s >= 1_000_000:
        return f"{nodes_per_s / 1_000_000:.1f} M nodes/s"
    return f"{nodes_per_s / 1000:.0f} k nodes/s" if nodes_per_s else ""


def _duration(seconds: float) -> str:
    """Return a duration in its two largest units: `3 s`, `2 min 5 s`, `4 h 0 min`, `3 d 2 h`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    units = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    large = next(number for number, (size, _) in enumerate(units) if whole >= size)
    (first, name), (second, smaller) = units[large], units[large + 1]
    return f"{whole // first} {name} {whole % first // second} {smaller}"


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))
