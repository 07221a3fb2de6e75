"""What the commands on one game share: finding it in the records, and its first lines."""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from engine.facade import InvalidFen, InvalidMove, InvalidVariant
from lichessbot.cli.options import records_folder
from lichessbot.cli.records.filtered_games import FilteredGames
from lichessbot.cli.records.text import terms_text
from lichessbot.errors import ExitCode
from lichessbot.games.recording.pgn import board_of
from lichessbot.lichess.enums import player_label
from lichessbot.log import counted, inert
from lichessbot.storage.game_filter import game_id
from lichessbot.storage.game_records import GameRecord, MoveRecord


def recorded_game(game: str, config_file: Path | None) -> tuple[FilteredGames, GameRecord, Sequence[MoveRecord]]:
    """Return a game by its id or address; ends the command with a line if there is none that can be replayed."""
    if game_id(game) is None:
        raise click.UsageError(f"expected the id or address of one game, found {game!r}", click.get_current_context())
    records = FilteredGames(records_folder(config_file), [game])
    found = records.found()
    if not found:
        raise click.exceptions.Exit(records.complain())
    record, moves = found[0], records.moves(found[0].id)
    try:
        board_of(record, moves)
    except (InvalidFen, InvalidMove, InvalidVariant) as error:
        sys.stderr.write(f"{record.id}: the recorded moves cannot be replayed: {inert(str(error))}\n")
        raise click.exceptions.Exit(ExitCode.FAILED) from error
    return records, record, moves


def heading(record: GameRecord, moves: Sequence[MoveRecord]) -> Iterator[str]:
    """Yield who played, how it ended, and the opening."""
    began = time.strftime("%Y-%m-%d", time.localtime(record.began_at))
    opponent = player_label(record.opponent, rating=record.opponent_rating)
    end = f"{record.result or 'no result'}, {record.status}" if record.status else "running, or its end is unknown"
    game = f"{terms_text(record)}, as {record.colour} against {opponent}, {began}"
    yield f"game {record.id}: {game}: {end}, {counted(len(moves), 'ply', 'plies')}"
    if record.opening:
        yield f"opening: {record.eco} {record.opening}"
