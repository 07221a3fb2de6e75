"""`lichessbot review`: the accuracy of both players, the mistakes with better moves, and how the chances changed.

Shows the review in the records; if there is none, our engine reviews the game now, and the records keep it.
`lichessbot postmortem` is about the bot instead: which of our moves lost the game, where they came from, and delays.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from engine.facade import accuracy
from lichessbot.cli.options import config_option
from lichessbot.cli.records.filtered_games import FilteredGames
from lichessbot.cli.records.one_game import heading, recorded_game
from lichessbot.cli.records.text import plot, table
from lichessbot.errors import EngineError, ExitCode, StateError
from lichessbot.games.review.analysis import NODES, analyse, review_engine
from lichessbot.games.review.review import Mistake, Review, review_of
from lichessbot.lichess.enums import Colour
from lichessbot.log import counted, inert, silenced
from lichessbot.storage.database import write_beside
from lichessbot.storage.game_records import GameRecord, MoveRecord
from lichessbot.storage.reviews import ReviewRecord, reviewed
from lichessbot.timeouts import Timeouts

_LINE_SHOWN: Final = 5
_GRAPH_HEIGHT: Final = 11
_COUNTED: Final = tuple(reversed(accuracy.Judgement))


@click.command("review")
@click.argument("game", metavar="GAME")
@click.option(
    "--nodes",
    type=click.IntRange(100, 100_000_000),
    default=NODES,
    show_default=True,
    help="Least nodes per position; a stored review with fewer is replaced.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@config_option
def review_command(game: str, nodes: int, as_json: bool, config_file: Path | None) -> int:
    """Show the accuracy and the mistakes of both players, by the id or address of the GAME.

    Numbers are computed as on Lichess. The bot's own engine reviews a game that has no review yet, which takes some
    seconds, and the records keep what it finds.
    """
    records, record, moves = recorded_game(game, config_file)
    if not record.status:
        sys.stderr.write(f"{record.id} has no known end; only a game that is over is reviewed\n")
        return ExitCode.FAILED
    try:
        review = _kept(records, record, moves, nodes) or _made(records, record, moves, nodes)
    except (StateError, EngineError) as error:
        sys.stderr.write(f"{record.id} cannot be reviewed: {inert(str(error))}\n")
        return ExitCode.FAILED
    if as_json:
        json.dump({"game": asdict(record), **review.as_json()}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.writelines(f"{inert(line)}\n" for line in (*heading(record, moves), *_page(record, review)))
    return ExitCode.OK


def _kept(records: FilteredGames, record: GameRecord, moves: Sequence[MoveRecord], nodes: int) -> Review | None:
    """Return the review in the records; None without one, or if it is shallower or of a part of the game."""
    kept = records.review(record.id)
    return review_of(record, moves, kept) if kept is not None and kept.nodes >= nodes else None


def _made(records: FilteredGames, record: GameRecord, moves: Sequence[MoveRecord], nodes: int) -> Review:
    """Review the game and keep the review, if possible. Raises EngineError."""
    sys.stderr.write(f"no such review yet: our engine looks at {counted(len(moves) + 1, 'position')} ...\n")
    with silenced(), closing(review_engine(record.id, Timeouts())) as engine:
        made = analyse(record, moves, engine, nodes)
    _keep(records, made)
    review = review_of(record, moves, made)
    assert review is not None, "made of all moves"
    return review


def _keep(records: FilteredGames, made: ReviewRecord) -> None:
    try:
        write_beside(records.folder, *reviewed(made))
    except StateError as error:
        sys.stderr.write(f"the review is not kept: {error}\n")


def _page(record: GameRecord, review: Review) -> Iterator[str]:
    yield f"reviewed by {review.record.engine}, {review.record.nodes:,} nodes a position"
    yield ""
    yield from table([("", "", "accuracy", *_plural(_COUNTED)), *_sides(record, review)], numbers=range(2, 6))
    yield ""
    yield "White's winning chances in percent, by ply"
    yield from plot(review.wins, 0, 100, _GRAPH_HEIGHT)
    yield ""
    if not review.mistakes:
        yield "no inaccuracy, mistake or blunder"
        return
    turns = [mistake.ply for mistake in review.turning_points]
    rows = [_cells(mistake, is_turn=mistake.ply in turns) for mistake in review.mistakes]
    yield from table([("move", "", "chances", "better", ""), *rows])


def _plural(judgements: Sequence[accuracy.Judgement]) -> Iterator[str]:
    yield from (f"{it.word.removesuffix('y')}ies" if it.word.endswith("y") else f"{it.word}s" for it in judgements)


def _sides(record: GameRecord, review: Review) -> Iterator[Sequence[str]]:
    for side in Colour:
        name = record.our_name if side == record.colour else record.opponent
        exact = "" if review.accuracies is None else f"{review.accuracies[side]:.0f} %"
        yield (side, name, exact, *(str(review.count(side, judgement)) for judgement in _COUNTED))


def _cells(mistake: Mistake, *, is_turn: bool) -> Sequence[str]:
    chances = f"{mistake.before:.0f} % to {mistake.after:.0f} %"
    line = " ".join(mistake.line[:_LINE_SHOWN])
    notes = ", ".join(filter(None, ("turning point" if is_turn else "", mistake.mate)))
    return mistake.written, mistake.judgement.word, chances, line, notes
