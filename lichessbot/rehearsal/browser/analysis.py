"""The analysis of a finished game by our engine, a child process that speaks UCI.

One thread for each analysis waits for the engine and reports every position to the event loop. A fixed number of nodes
a position makes it reproducible. Must not know: what the page shows of it.
"""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from engine.facade import UCI_VARIANTS, Board, Ending, accuracy

NODES: Final = 50_000               # a position
HASH_MB: Final = 16
_COMMAND: Final = (sys.executable, "-P", "-m", "engine")
_UCI_NAMES: Final = {key: uci for uci, key in UCI_VARIANTS.items()}
_NICENESS: Final = 10               # games in progress come first
_LEAVE_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True)
class Position:
    """A position of the game as the engine sees it. `best` is None and `ending` is not if the game is over there."""

    score: accuracy.Score
    best: str | None
    ending: Ending | None = None


@dataclass(frozen=True)
class Mistake:
    """A move that lost winning chances, and the move that the engine prefers."""

    ply: int
    judgement: accuracy.Judgement
    better: str
    better_san: str


def mistakes(board: Board, moves: list[str], positions: list[Position]) -> list[Mistake]:
    """Return the mistakes of a game that starts from `board`, as far as its positions are known."""
    found = []
    for ply, (move, before, after) in enumerate(zip(moves, positions, positions[1:], strict=False), 1):
        judgement = accuracy.judge(before.score, after.score, board.turn)
        if judgement is not None and before.best is not None and board.normalise(before.best) != board.normalise(move):
            better = board.normalise(before.best)
            found.append(Mistake(ply, judgement, better, board.san(better)))
        board.push(move)
    return found


class Analysis:
    """The analysis of one game; `on_change` is called on the event loop after every position, and at the end."""

    def __init__(self, start: Board, moves: list[str], on_change: Callable[[], None]) -> None:
        """Start at once. `start`: the first position; `moves`: all moves from there."""
        self.moves = list(moves)
        self.positions: list[Position] = []
        self.fault: str | None = None
        self._start = start.copy()
        self._on_change = on_change
        self._cancelled = False
        self._loop = asyncio.get_running_loop()
        self._engine = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        os.setpriority(os.PRIO_PROCESS, self._engine.pid, _NICENESS)
        self._thread = threading.Thread(target=self._run, name="analysis", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Return whether every position is known."""
        return len(self.positions) > len(self.moves)

    def mistakes(self) -> list[Mistake]:
        """Return the mistakes found so far."""
        return mistakes(self._start.copy(), self.moves, self.positions)

    def cancel(self) -> None:
        """End the engine; nothing is reported any more."""
        self._cancelled = True
        self._engine.kill()
        self._thread.join(_LEAVE_TIMEOUT_S)

    def _run(self) -> None:
        """Analyse position by position: the work of the thread."""
        board = self._start.copy()
        try:
            chess960, variant = str(board.chess960).lower(), _UCI_NAMES[board.variant]
            options = {"Hash": HASH_MB, "Threads": 1, "UCI_Chess960": chess960, "UCI_Variant": variant}
            self._ask("uci", "uciok")
            for name, value in options.items():
                self._tell(f"setoption name {name} value {value}")
            self._tell("ucinewgame")
            self._ask("isready", "readyok")
            for ply in range(len(self.moves) + 1):
                self._report(self._position(board, ply))
                if ply < len(self.moves):
                    board.push(self.moves[ply])
        except (OSError, ValueError) as error:
            self._report(str(error) or type(error).__name__)
        finally:
            self._engine.kill()
            self._engine.communicate()

    def _position(self, board: Board, ply: int) -> Position:
        outcome = None if board.legal_moves() else board.outcome()
        if outcome is not None:
            won = {"white": accuracy.Score(mate=1), "black": accuracy.Score(mate=-1)}
            return Position(won.get(outcome.winner or "", accuracy.DRAWN), None, outcome.ending)
        played = f" moves {' '.join(self.moves[:ply])}" if ply else ""
        self._tell(f"position fen {board.initial_fen}{played}")
        lines = self._ask(f"go nodes {NODES}", "bestmove")
        score = _last_score(lines[:-1]) or accuracy.DRAWN
        return Position(score.of(board.turn), lines[-1].split()[1])

    def _tell(self, line: str) -> None:
        assert self._engine.stdin is not None
        self._engine.stdin.write(f"{line}\n")
        self._engine.stdin.flush()

    def _ask(self, line: str, answer: str) -> list[str]:
        """Return the lines up to the one that starts with `answer`. Raises OSError if the engine ends before."""
        assert self._engine.stdout is not None
        self._tell(line)
        lines = []
        for text in self._engine.stdout:
            lines.append(text)
            if text.startswith(answer):
                return lines
        raise OSError("the engine ended")

    def _report(self, found: Position | str) -> None:
        """Tell the event loop a position, or a fault in words."""
        with suppress(RuntimeError):        # the event loop has ended: nobody looks
            self._loop.call_soon_threadsafe(self._take, found)

    def _take(self, found: Position | str) -> None:
        if self._cancelled:
            return
        if isinstance(found, Position):
            self.positions.append(found)
        else:
            self.fault = found
        self._on_change()


def _last_score(lines: list[str]) -> accuracy.Score | None:
    """Return the last exact score of a search, from the view of the side to move; a bound if there is no exact one."""
    scored = [line.split() for line in lines if line.startswith("info ") and " score " in line]
    exact = [words for words in scored if "lowerbound" not in words and "upperbound" not in words]
    if not scored:
        return None
    words = (exact or scored)[-1]
    kind, value = words[words.index("score") + 1 : words.index("score") + 3]
    return accuracy.Score(mate=int(value)) if kind == "mate" else accuracy.Score(cp=int(value))
