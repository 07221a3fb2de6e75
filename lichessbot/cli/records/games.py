"""`lichessbot stats`, `games` and `pgn`: what the records know of the games played.

Reads the state file, also while the daemon runs. Sends no request and changes nothing. These commands load neither the
configuration's models nor the engine, so that they answer at once; only `pgn` needs the rules of chess.
"""

import csv
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import click

from lichessbot.cli.options import config_option, records_folder
from lichessbot.cli.records.filtered_games import FilteredGames
from lichessbot.cli.records.text import bar, clock_text, games_in_words, move_number, plot, table, terms_text
from lichessbot.errors import ExitCode
from lichessbot.log import inert
from lichessbot.storage import statistics
from lichessbot.storage.evaluations import score_text
from lichessbot.storage.game_records import COLUMNS, GameRecord, Score
from lichessbot.storage.statistics import Drop, Statistics

_GAMES_SHOWN: Final = 20
_ROWS_SHOWN: Final = 10
_FILTER_HELP: Final = """
    FILTER: the id or address of a game, or words that must all hold: opponent=NAME, result=won|drawn|lost, speed=SPEED,
    colour=white|black, opening=TEXT (a part of its name), since=2026-11-24 or since=7d (h, d, w). Several values have
    commas between: result=lost,drawn.
"""

_values: Final = attrgetter(*COLUMNS)

filter_argument = click.argument("words", nargs=-1, metavar="[FILTER]...")


def _output_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command --json and --csv, of which it gets the one that was asked for as `form`."""

    @click.option("--json", "as_json", is_flag=True, help="Write JSON.")
    @click.option("--csv", "as_csv", is_flag=True, help="Write CSV.")
    @wraps(function)
    def with_form(*, as_json: bool, as_csv: bool, **given: Any) -> int:
        if as_json and as_csv:
            raise click.UsageError("--json and --csv exclude each other", click.get_current_context())
        return function(form="json" if as_json else "csv" if as_csv else None, **given)

    return with_form


@click.command("stats", epilog=_FILTER_HELP)
@filter_argument
@_output_options
@config_option
def stats_command(words: tuple[str, ...], form: str | None, config_file: Path | None) -> int:
    """Show results, ratings, time use and worst moves of the games played.

    Results are counted by speed, variant, colour, level, opening, opponent and end. Without FILTER all games count.

    reaction: our own time per move, without search and configured pauses. delivery: from sending a move until
    Lichess shows it.
    """
    records = FilteredGames(records_folder(config_file), words)
    found = records.counted()
    if found.first_at is None:
        return records.complain()
    match form:
        case "json":
            sys.stdout.write(f"{json.dumps(asdict(found), indent=2)}\n")
        case "csv":
            _write_scores(found)
        case _:
            sys.stdout.writelines(f"{inert(line)}\n" for line in _page(found))
    return ExitCode.OK


@click.command("games", epilog=_FILTER_HELP)
@filter_argument
@click.option("--limit", type=click.IntRange(1, 10**9), help=f"List the newest games only. Default: {_GAMES_SHOWN}.")
@click.option("--all", "show_all", is_flag=True, help="List all games.")
@_output_options
@config_option
def games_command(
    words: tuple[str, ...], limit: int | None, show_all: bool, form: str | None, config_file: Path | None
) -> int:
    """List the games played, the newest last."""
    if limit is not None and show_all:
        raise click.UsageError("--limit and --all exclude each other")
    records = FilteredGames(records_folder(config_file), words)
    games = records.found(-1 if show_all else limit or _GAMES_SHOWN)
    if not games:
        return records.complain()
    match form:
        case "json":
            # A line each: indented, 50,000 games would take half as long again, and twice the memory.
            lines = (json.dumps(dict(zip(COLUMNS, _values(game), strict=True))) for game in games)
            sys.stdout.write("[" + ",\n".join(lines) + "]\n")
        case "csv":
            csv.writer(sys.stdout).writerows([COLUMNS, *map(_values, games)])
        case _:
            head = ("id", "began", "opponent", "rating", "colour", "game", "result", "end", "plies", "opening")
            sys.stdout.writelines(f"{line}\n" for line in table([head, *map(_cells, games)]))
    return ExitCode.OK


@click.command("pgn", epilog=_FILTER_HELP)
@filter_argument
@config_option
def pgn_command(words: tuple[str, ...], config_file: Path | None) -> int:
    """Write games played as PGN, with evaluations and clocks, to standard output."""
    from engine.facade import InvalidFen, InvalidMove, InvalidVariant
    from lichessbot.games.recording.pgn import pgn_of

    records = FilteredGames(records_folder(config_file), words)
    written = 0
    site, games = records.site(), records.found()
    for game in games:
        moves = records.moves(game.id)
        try:
            sys.stdout.write(pgn_of(game, moves, site) if moves else "")
            written += bool(moves)
        except (InvalidFen, InvalidMove, InvalidVariant) as error:
            sys.stderr.write(f"{game.id} is left out: {inert(str(error))}\n")
    if not games:
        return records.complain()
    if not written:
        sys.stderr.write(f"{games_in_words(len(games))} found, without moves that can be written\n")
    return ExitCode.OK if written else ExitCode.FAILED


def _write_scores(found: Statistics) -> None:
    rows = csv.writer(sys.stdout)
    rows.writerow(("subject", "name", "games", "won", "drawn", "lost", "score_percent"))
    for subject, scores in {"all": {"": found.score}, **found.groups, "end": found.endings}.items():
        for name, score in scores.items():
            rows.writerow((subject, name, score.games, score.won, score.drawn, score.lost, f"{score.percent:.1f}"))


def _cells(game: GameRecord) -> Sequence[str]:
    return (
        game.id,
        time.strftime("%Y-%m-%d %H:%M", time.localtime(game.began_at)),
        game.opponent,
        _number(game.opponent_rating, ".0f"),
        game.colour,
        terms_text(game) if game.speed else "",
        game.result or "",
        game.status,
        _number(game.plies or None),
        f"{game.eco} {game.opening}".strip(),
    )


def _number(value: float | None, form: str = ",.0f") -> str:
    return "" if value is None else f"{value:{form}}"


def _page(found: Statistics) -> Iterator[str]:
    """Yield statistics as lines for people."""
    first, last = (time.strftime("%Y-%m-%d", time.localtime(at)) for at in (found.first_at, found.last_at))
    without = f"; {found.without_result} without a result" if found.without_result else ""
    yield f"{first} to {last}: {_counted(found.score)}{without}"
    for subject, scores in {**found.groups, "end": found.endings}.items():
        if scores:
            yield ""
            yield from _scores(subject, scores)
    for category, ratings in found.ratings.items():
        yield ""
        yield from _ratings(category, ratings)
    yield from _time_use(found)
    if found.drops:
        yield ""
        head = ("worst drops", "move", "", "before", "after", "source", "depth", "clock")
        yield from table([head, *map(_drop_cells, found.drops)], numbers=(3, 4, 6, 7))
    for whose, declines in (("others", found.declined_by_others), ("us", found.declined_by_us)):
        if declines:
            yield ""
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in declines.items())
            yield f"challenges declined by {whose}: {reasons}"


def _scores(subject: str, scores: Mapping[str, Score]) -> Iterator[str]:
    shown = list(scores.items())[:_ROWS_SHOWN]
    rows = [
        (name, f"{it.games:,}", f"{it.won:,}", f"{it.drawn:,}", f"{it.lost:,}", f"{it.percent:.1f} %",
         bar(it.percent / 100))
        for name, it in shown
    ]  # fmt: skip
    head = (subject, "games", "won", "drawn", "lost", "score", "")
    yield from table([head, *rows], numbers=range(1, 6))
    if len(scores) > len(shown):
        yield f"and {len(scores) - len(shown):,} more (--csv lists all)"


def _ratings(category: str, ratings: Sequence[tuple[float, int]]) -> Iterator[str]:
    """Yield a plot of our rating over the games."""
    values = [rating for _, rating in ratings]
    low, high = min(values), max(values)
    yield f"rating in {category}: {values[0]} at first, {values[-1]} now, {low} to {high}"
    if low < high:
        yield from plot(values, low, high)


def _time_use(found: Statistics) -> Iterator[str]:
    if found.phases:
        most = max(phase.search_ms or 0 for phase in found.phases) or 1
        rows = [
            (f"{phase.first_move}-{phase.first_move + statistics.MOVES_A_PHASE - 1}", f"{phase.moves:,}",
             _seconds(phase.search_ms), clock_text(phase.clock_ms), bar((phase.search_ms or 0) / most))
            for phase in found.phases
        ]  # fmt: skip
        yield ""
        yield from table([("moves", "ours", "search", "clock", ""), *rows], numbers=(1, 2, 3))
    if found.sources:
        uses = [
            (it.source, f"{it.moves:,}", _seconds(it.search_ms), _number(it.depth, ".1f"),
             _number(it.nodes_per_s), _milliseconds(it.reaction_ms), _milliseconds(it.longest_reaction_ms),
             _milliseconds(it.delivery_ms), _milliseconds(it.longest_delivery_ms))
            for it in found.sources
        ]  # fmt: skip
        head = ("source", "moves", "search", "depth", "nodes/s", "reaction", "at most", "delivery", "at most")
        yield ""
        yield from table([head, *uses], numbers=range(1, 9))


def _drop_cells(drop: Drop) -> Sequence[str]:
    return (
        drop.game_id,
        move_number(drop.ply, drop.initial_fen),
        drop.move,
        score_text(drop.score_cp),
        score_text(drop.next_cp),
        drop.source or "",
        _number(drop.depth),
        clock_text(drop.clock_ms),
    )


def _counted(score: Score) -> str:
    results = f"{score.won:,} won, {score.drawn:,} drawn, {score.lost:,} lost"
    return f"{games_in_words(score.games)}, {results} ({score.percent:.1f} %)"


def _seconds(ms: float | None) -> str:
    return "" if ms is None else f"{ms / 1000:.2f} s"


def _milliseconds(ms: float | None) -> str:
    return "" if ms is None else f"{ms:,.0f} ms"
