"""The positions of a game that is over, as our engine sees them.

It is always our engine, at full strength and with its ordinary evaluation, even if another engine plays: Lichess's
formulas need centipawns of a known scale from an engine that searches a number of nodes, and a configured engine may
have neither, play below its strength, or be slow to start. Evaluations from during the game are not reused: they know
only our moves, and every position must be judged by the same measure.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from engine.facade import Board, Limits
from lichessbot.config import EngineConfig
from lichessbot.errors import EngineError
from lichessbot.games.recording.pgn import board_of
from lichessbot.storage.evaluations import mate_cp
from lichessbot.storage.game_records import GameRecord, MoveRecord
from lichessbot.storage.reviews import ReviewedPosition, ReviewRecord
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import centipawns
from lichessbot.uci.simple_engine import SimpleEngine

NODES: Final = 40_000
_LINE_KEPT: Final = 12
# A review waits its turn: on a busy machine its engine may be slow to start, which harms nobody.
_HANDSHAKE: Final = timedelta(minutes=2)
_NICENESS: Final = 10  # engines that play have 5
_HASH_MB: Final = 16
_PATIENCE_S: Final = 60.0  # for one position, on a machine that has other things to do


def review_engine(game_id: str, timeouts: Timeouts) -> SimpleEngine:
    """Return our engine with a small table, one thread, and a lower priority than engines that play."""
    patient = replace(timeouts, engine_handshake=_HANDSHAKE)
    return SimpleEngine(game_id, EngineConfig(hash_mb=_HASH_MB, ponder=False), patient, _NICENESS)


def analyse(
    game: GameRecord,
    moves: Sequence[MoveRecord],
    engine: SimpleEngine,
    nodes: int = NODES,
    before_each: Callable[[], None] = lambda: None,
) -> ReviewRecord:
    """Return what the engine says of all positions. Raises EngineError, and as `board_of` does.

    It goes backwards, as Lichess's analysis does: what the table keeps from later positions makes the earlier ones
    see more. `before_each` may wait, or end the analysis by an exception.
    """
    board = board_of(game, ())
    boards = [board.copy()]
    for move in moves:
        board.push(move.move)
        boards.append(board.copy())
    found = []
    for ply in range(len(moves), -1, -1):
        before_each()
        found.append(_position(boards[ply], ply, engine, nodes))
    return ReviewRecord(game.id, time.time(), engine.name, nodes, found[::-1])


def _position(board: Board, ply: int, engine: SimpleEngine, nodes: int) -> ReviewedPosition:
    sign = 1 if board.turn == "white" else -1
    outcome = board.outcome()
    if outcome is not None:
        won = {"white": mate_cp(1), "black": mate_cp(-1)}  # the board shows a mate in one that was played
        return ReviewedPosition(ply, won.get(outcome.winner or "", 0))
    summary = engine.search(board, Limits(nodes=nodes), _PATIENCE_S)
    score_cp = centipawns(summary.score)
    if score_cp is None:
        raise EngineError("it reports no evaluation")
    return ReviewedPosition(ply, sign * score_cp, " ".join(summary.pv.split()[:_LINE_KEPT]))
