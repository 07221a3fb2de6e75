"""`lichessbot postmortem`: why a game was lost.

Finds in the records the moves after which our evaluation fell most, and has the configured engine look at them for
longer than in the game. Sends no request and changes nothing.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import click

from engine.facade import Board, InvalidMove, Limits
from lichessbot.cli.options import config_option
from lichessbot.cli.records.one_game import heading, recorded_game
from lichessbot.cli.records.text import can_be_shown, clock_text, move_number
from lichessbot.config import Config, load_config
from lichessbot.errors import EngineError, ExitCode
from lichessbot.games.recording.pgn import board_of
from lichessbot.lichess.enums import Colour, ExactClock, GameStatus, OpponentKind
from lichessbot.lichess.models import BOT_TITLE
from lichessbot.log import inert, silenced
from lichessbot.storage.evaluations import score_text
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result
from lichessbot.storage.statistics import falls
from lichessbot.timeouts import Timeouts
from lichessbot.uci.machine import Machine
from lichessbot.uci.profiles import GameFacts, fitted_engine_config, pieces_given
from lichessbot.uci.search import centipawns
from lichessbot.uci.simple_engine import SimpleEngine
from lichessbot.uci.strength import at_level

_EXAMINED: Final = 3
_WORTH_A_LOOK_CP: Final = 50
_BETTER_CP: Final = 30
_LOST_CP: Final = -150
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_SHOWN_CP: Final = 500
# Lichess's statuses of the losses that no move decided.
_OFF_THE_BOARD: Final[Mapping[str, str]] = {
    GameStatus.OUT_OF_TIME: "lost on time",
    GameStatus.TIMEOUT: "Lichess saw us leave, and the opponent claimed the game",
    GameStatus.NO_START: "our first move was not made in time",
}


@click.command("postmortem")
@click.argument("game", metavar="GAME")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    default=10.0,
    show_default=True,
    help="Total time for the engine's deeper look; 0 skips it.",
)
@config_option
def postmortem_command(game: str, seconds: float, config_file: Path | None) -> int:
    """Say why a game was lost, by the id or address of the GAME.

    Shows the moves after which the evaluation fell, what a deeper look says of them now, and where they came from, with
    depth, clock and delays. The deeper look runs the configured engine beside a daemon that plays.

    reaction: our own time per move, without search and configured pauses. delivery: from sending a move until
    Lichess shows it.
    """
    _, record, moves = recorded_game(game, config_file)
    sys.stdout.writelines(f"{inert(line)}\n" for line in _facts(record, moves))
    turns = _turns(record, moves)
    sys.stdout.writelines(f"{line}\n" for line in _verdict(record, moves, turns))
    if not turns:
        return ExitCode.OK
    config = load_config(config_file, os.environ, needs_token=False).config
    with silenced():
        return _examine(record, turns, config, seconds)


@dataclass(frozen=True)
class _Turn:
    """A move of ours after which our evaluation fell from `before_cp` to `after_cp`, and the position before it."""

    board: Board
    move: MoveRecord
    after_cp: int

    @property
    def before_cp(self) -> int:
        return self.move.score_cp or 0

    def __str__(self) -> str:
        dots = "." if self.board.turn == Colour.WHITE else "..."
        return f"{self.board.fullmove_number}{dots} {self.board.san(self.move.move)}"


def _turns(record: GameRecord, moves: Sequence[MoveRecord]) -> list[_Turn]:
    """Return the largest falls of our evaluation, the largest first."""
    scores = _scores(moves)
    next_cp = {ply: after for (ply, _), (_, after) in pairwise(scores)}
    worst = [ply for ply, size in falls(scores) if size >= _WORTH_A_LOOK_CP][:_EXAMINED]
    return [_Turn(board_of(record, moves[: ply - 1]), moves[ply - 1], next_cp[ply]) for ply in worst]


def _scores(moves: Sequence[MoveRecord]) -> list[tuple[int, int]]:
    return [(move.ply, move.score_cp) for move in moves if move.score_cp is not None]


def _facts(record: GameRecord, moves: Sequence[MoveRecord]) -> Iterator[str]:
    """Yield who played, how it ended, and how our time went."""
    yield from heading(record, moves)
    ours = [move for move in moves if record.is_ours(move.ply)]
    scores = [score for _, score in _scores(moves)]
    if scores:
        curve = _curve(scores)
        yield f"our evaluation: {curve}{score_text(scores[0])} at first, {score_text(scores[-1])} at the end"
    counts = {source: sum(move.source == source for move in ours) for source in dict.fromkeys(it.source for it in ours)}
    if counts:
        yield "our moves: " + ", ".join(f"{count} {source or 'not seen'}" for source, count in counts.items())
    clocks = [(move.clock_ms, record.is_ours(move.ply)) for move in moves[-2:] if move.clock_ms is not None]
    if clocks:
        shown = (f"{'ours' if own else 'theirs'} {clock_text(ms)}" for ms, own in clocks[::-1])
        yield f"clocks at the end: {', '.join(shown)}"
    for name, delays in (
        ("reaction", [(it.reaction_ms, it.ply) for it in ours if it.reaction_ms is not None]),
        ("delivery", [(it.delivery_ms, it.ply) for it in ours if it.delivery_ms is not None]),
    ):
        if delays:
            longest, ply = max(delays)
            median = sorted(ms for ms, _ in delays)[len(delays) // 2]
            number = move_number(ply, record.initial_fen).rstrip(".")
            yield f"{name}: {median:,} ms in the median, at most {longest:,} ms at move {number}"


def _verdict(record: GameRecord, moves: Sequence[MoveRecord], turns: Sequence[_Turn]) -> Iterator[str]:
    """Yield what decided the game, as far as the records tell."""
    scores = _scores(moves)
    if record.result is Result.LOST and record.status in _OFF_THE_BOARD:
        stood = f" with an evaluation of {score_text(scores[-1][1])}" if scores else ""
        is_lost = bool(scores) and scores[-1][1] <= _LOST_CP
        yield f"cause: {_OFF_THE_BOARD[record.status]}{stood}{'' if is_lost else ', not by the position'}"
    if not scores:
        yield "no move of ours has an evaluation, so nothing shows where the game turned"
    elif not turns:
        yield f"our evaluation never fell by {_WORTH_A_LOOK_CP / 100:.1f} pawns from one move to the next"


def _examine(record: GameRecord, turns: Sequence[_Turn], config: Config, seconds: float) -> int:
    """Write what is known of each turn, with a deeper look that takes this many seconds in all."""
    full = at_level(fitted_engine_config(_game_facts(record), config, Machine.detect()), None)
    with closing(SimpleEngine(record.id, full, Timeouts())) as engine:
        try:
            for number, turn in enumerate(turns):
                name = "turning point" if number == 0 else "also"
                sys.stdout.write(f"{name}: {turn}, {score_text(turn.before_cp)} before, ")
                sys.stdout.write(f"{score_text(turn.after_cp)} at our next move\n  {_origin(turn.move)}\n")
                sys.stdout.flush()
                if seconds > 0:
                    sys.stdout.write(f"  {_deeper_look(engine, turn, seconds / len(turns) / 2)}\n")
        except EngineError as error:
            sys.stderr.write(f"the engine gives no answer: {inert(str(error))}\n")
            return ExitCode.FAILED
    return ExitCode.OK


def _game_facts(record: GameRecord) -> GameFacts:
    """Return what decides which engine plays such a game."""
    colour = Colour(record.colour)
    return GameFacts(
        speed=record.speed,
        variant=record.variant,
        opponent=OpponentKind.BOT if record.opponent_title == BOT_TITLE else OpponentKind.HUMAN,
        rating=record.opponent_rating,
        rated=record.rated,
        tournament=bool(record.tournament_id),
        colour=colour,
        clock=None if record.base_s is None else ExactClock(record.base_s, record.increment_s or 0),
        pieces_given=pieces_given(record.initial_fen, colour),
        opponent_name=record.opponent_id,
    )


def _origin(move: MoveRecord) -> str:
    """Return where a move came from, and what it cost."""
    clock = "" if move.clock_ms is None else f", {clock_text(move.clock_ms)} left on the clock"
    took = "" if move.search_ms is None else f" in {move.search_ms / 1000:.2f} s"
    match move.source:
        case "engine":
            return f"from the engine{took}: depth {move.depth}, {move.nodes or 0:,} nodes{clock}"
        case "fallback":
            return f"from the bot's own short search, as no engine answered{clock}"
        case source:
            return f"from {source or 'another process'}{took}, not from the engine{clock}"


def _deeper_look(engine: SimpleEngine, turn: _Turn, seconds: float) -> str:
    """Return what the engine says before and after the move, with this many seconds each. Raises EngineError."""
    limits = Limits(move_time_ms=max(1, round(seconds * 1000)))
    best = engine.search(turn.board, limits, seconds)
    # The game went on, so there is a move to search.
    theirs = engine.search(turn.board.after(turn.move.move), limits, seconds)
    best_cp, theirs_cp = centipawns(best.score), centipawns(theirs.score)
    if best_cp is None or theirs_cp is None:
        raise EngineError("it reports no evaluation")
    played_cp = -theirs_cp
    where = f"a deeper look (depth {best.depth})"
    if best.move == turn.move.move or best_cp - played_cp < _BETTER_CP:
        state = "already lost" if played_cp <= _LOST_CP else "no mistake"
        return f"{where}: nothing better than {score_text(played_cp)}: {state}"
    try:
        better = turn.board.san(best.move)
    except InvalidMove as error:
        raise EngineError(f"its best move {error}") from error
    return f"{where}: better was {better} ({score_text(best_cp)}); the move played is {score_text(played_cp)}"


def _curve(scores: Sequence[int]) -> str:
    """Return the evaluations as a line of blocks, if the terminal can show them."""
    if not can_be_shown(_LEVELS):
        return ""
    steps = len(_LEVELS) - 1
    levels = (round(steps * (max(-_SHOWN_CP, min(_SHOWN_CP, it)) + _SHOWN_CP) / (2 * _SHOWN_CP)) for it in scores)
    return "".join(_LEVELS[level] for level in levels) + " "
