"""How long a found move waits before it is played: `rate_limiting_delay`, `fake_think_time` and `humanlike_time`."""

import math
from itertools import pairwise
from random import Random
from typing import Final

from engine.facade import Board
from lichessbot.config import Config
from lichessbot.games.time_budget import MOST_FOR_A_PAUSE, GameClock
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.uci.search import BestMove

# `humanlike_time`: an ordinary move takes the clock divided by this, and most of the increment ...
_HUMAN_MOVES_TO_GO: Final = 45
_HUMAN_SHARE_OF_INCREMENT: Final = 0.6
# ... times a factor, by what the position asks for ...
_ONLY_MOVE, _RECAPTURE, _KNOWN_MOVE, _EASY, _HARDEST = 0.15, 0.25, 0.3, 0.5, 2.8
# ... times a random one, of which this is the spread: a third of all moves take 1.5 times as long or as short, or more.
_HUMAN_SPREAD: Final = 0.4
# The opening goes quickly: at first at this factor, which grows to 1 in this many of our own moves.
_FIRST_MOVE, _OPENING_MOVES = 0.2, 10
# Nobody sees and plays a move faster, unless in time trouble.
_REFLEX_S: Final = 0.4
# Time trouble: a tenth of the initial time, within these bounds. A pause takes a share of what is above it, and of the
# increment.
_LEAST_RESERVE_S, _LARGEST_RESERVE_S = 10.0, 60.0
_SHARE_FOR_TROUBLE, _SHARE_OF_SPARE_TIME, _MOST_OF_INCREMENT = 1 / 10, 1 / 8, 1 / 2
# While no clock runs, the opponent waits for the first move.
_LONGEST_FIRST_MOVE_S: Final = 3.0
# What makes a position hard, up to 1 in all: each change of the best move, one at the last depth more, a fall of the
# score by this many centipawns, and each other move that is nearly as good.
_DOUBT_PER_CHANGE, _DOUBT_BY_LAST_CHANGE, _FALL_OF_FULL_DOUBT_CP, _DOUBT_PER_RIVAL, _RIVAL_CP = 0.15, 0.3, 120, 0.15, 20
_LATEST_DEPTHS: Final = 6
# A search of fewer depths, as at a level below about 1650, says little: its move counts at least as an ordinary one.
_FEWEST_DEPTHS: Final = 3
_ORDINARY_DOUBT: Final = (1 - _EASY) / (_HARDEST - _EASY)


def doubt(answer: BestMove) -> float:
    """Return how hard it was to find a move, by its search: 0 to 1; at least ordinary if the search was too short."""
    latest = answer.iterations[-_LATEST_DEPTHS:]
    pairs = list(pairwise(latest))
    changes = [before.move != after.move for before, after in pairs]
    scores = [it.cp for it in latest if it.cp is not None]
    # Scores of even and odd depths differ, as the side that moves last gains by it.
    fall_cp = max((before - after for before, after in zip(scores, scores[2:], strict=False)), default=0)
    best, *others = [it.cp for it in answer.lines] or [None]
    rivals = 0 if best is None else sum(best - other <= _RIVAL_CP for other in others if other is not None)
    found = (
        _DOUBT_PER_CHANGE * sum(changes)
        + _DOUBT_BY_LAST_CHANGE * (changes[-1:] == [True])
        + max(0, fall_cp) / _FALL_OF_FULL_DOUBT_CP
        + _DOUBT_PER_RIVAL * rivals
    )
    return min(1.0, max(found, _ORDINARY_DOUBT if len(latest) < _FEWEST_DEPTHS else 0.0))


def human_factor(board: Board, move: str, answer: BestMove | SourceAnswer | None) -> float:
    """Return how long a person takes for a move, as a multiple of an ordinary one. `answer`: what it was found by."""
    own_moves = len(board.moves) // 2
    pace = min(1.0, _FIRST_MOVE + (1 - _FIRST_MOVE) * own_moves / _OPENING_MOVES)
    if answer is None:
        return pace * _ONLY_MOVE
    target = move[2:4]
    if board.moves and board.moves[-1][2:4] == target and board.piece_at(target) is not None:
        return pace * _RECAPTURE
    if isinstance(answer, SourceAnswer) or not answer.iterations:
        return pace * _KNOWN_MOVE
    return pace * (_EASY + (_HARDEST - _EASY) * doubt(answer))


def human_s(clock: GameClock, factor: float, initial_s: float, random: Random) -> float:
    """Return how long a person takes for a move with this factor, from the opponent's move on; never in time trouble.

    `initial_s`: each player's time at the start of the game.
    """
    if not clock.timed:
        return 0.0
    remaining_s, increment_s = clock.remaining_s(clock.read_at), clock.increment_s
    reserve_s = min(max(_LEAST_RESERVE_S, initial_s * _SHARE_FOR_TROUBLE), _LARGEST_RESERVE_S)
    spare_s = max(0.0, remaining_s - reserve_s)
    usual_s = remaining_s / _HUMAN_MOVES_TO_GO + increment_s * _HUMAN_SHARE_OF_INCREMENT
    chance = random.lognormvariate(0.0, _HUMAN_SPREAD)
    wished_s = max(usual_s * factor, _REFLEX_S) * chance
    most_s = spare_s * _SHARE_OF_SPARE_TIME + increment_s * _MOST_OF_INCREMENT
    most_s = min(most_s, spare_s, remaining_s * MOST_FOR_A_PAUSE)
    return min(wished_s, most_s) if clock.our_clock_runs else min(wished_s, most_s, _LONGEST_FIRST_MOVE_S)


class Pace:
    """How long our moves wait: for `rate_limiting_delay`, `fake_think_time` and `humanlike_time`."""

    def __init__(self, config: Config, seed: str) -> None:
        """With the same seed, a move waits as long as another time."""
        self._config = config
        self._seed = seed
        self._earliest_at = -math.inf

    def pause_s(
        self,
        board: Board,
        move: str,
        answer: BestMove | SourceAnswer | None,
        clock: GameClock,
        initial_s: float | None,
        now: float,
    ) -> float:
        """Return how long a move that was found has to wait."""
        ply, earliest_at = len(board.moves), self._earliest_at
        if self._config.fake_think_time:
            earliest_at = max(earliest_at, clock.read_at + clock.fake_think_s(ply))
        pause_s = clock.affordable_pause_s(earliest_at - now, now)
        if self._config.humanlike_time:
            factor, random = human_factor(board, move, answer), Random(f"{self._seed}/{ply}")
            pause_s = max(pause_s, clock.read_at + human_s(clock, factor, initial_s or 0.0, random) - now)
        self._earliest_at = now + pause_s + self._config.rate_limiting_delay / 1000
        return pause_s
