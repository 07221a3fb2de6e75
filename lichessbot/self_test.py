"""One engine that has to answer one question, before any game depends on it.

Knows how it is asked and what a good answer is; what follows from a bad one is the asker's affair.
"""

from typing import Final

from engine.facade import STARTING_FEN, Limits
from lichessbot.config import EngineConfig
from lichessbot.engine_process import EngineProcess
from lichessbot.errors import EngineError
from lichessbot.messages import BestMove, EngineDied, Inbox, Report, Search
from lichessbot.waits import Waits

GAME_ID: Final = "self-test"  # longer than any of Lichess's


class SelfTest:
    """Started when made. Its one report arrives on the queue, as for a game with the name above."""

    def __init__(self, config: EngineConfig, inbox: Inbox, waits: Waits, limits: Limits) -> None:
        self._engine: EngineProcess | None = None
        try:
            self._engine = EngineProcess(GAME_ID, config, inbox, waits)
            self._engine.search(Search(0, STARTING_FEN, False, (), limits))
        except EngineError as error:
            inbox.put(EngineDied(GAME_ID, None, str(error)))

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()


def fault(report: Report) -> str | None:
    """What the report says is wrong with the engine; None if it is good."""
    match report:
        case EngineDied(reason=reason):
            return f"the engine died: {reason}"
        case BestMove(move=str()):
            return None
    return "the engine finds no move in the start position"
