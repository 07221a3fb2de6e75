"""Matches between two evaluations: the same search, a fixed number of nodes per move, each opening with both colours.

The games of a pair depend only on its number, the seed, the evaluations and the engine. `sprt.py` has the statistics.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.board import WHITE, Board
from engine.core.fen import InvalidFen
from engine.evaluation import eval_file
from engine.evaluation.eval_file import STANDARD, EvalChoice
from engine.selfplay.games import Adjudicator, FixedNodesPlayer, game_result, random_opening
from engine.selfplay.records import InvalidRecord, Result
from engine.selfplay.worker_pool import Workers, run_parallel

MATCH_OPENING_CP = 150                  # largest mean score of both players for a random opening
CHECKS = re.compile(r"\+?\d+\+\d+")  # given or left, in a FEN of three-check


@dataclass(frozen=True)
class Match:
    """The two evaluations, as for EvalFile, and the conditions."""

    first: EvalChoice
    second: EvalChoice
    nodes: int = 10_000
    seed: int = 1
    openings: tuple[str, ...] = ()         # FENs, taken in turn; without any: random openings
    variant: str = STANDARD


def play_game(board: Board, white: FixedNodesPlayer, black: FixedNodesPlayer) -> Result:
    """Play to the end."""
    adjudicator = Adjudicator()
    result = game_result(board)
    ply = 0
    while result is None:
        found = (white if board.turn == WHITE else black).search(board)
        board.push_packed(found.move)
        ply += 1
        result = adjudicator.result(board, ply, found.white_score)
    return result


def play_pair(match: Match, number: int) -> int:
    """Play an opening with both colours and return the half points of the first player."""
    first, second = (
        FixedNodesPlayer(evaluation, match.nodes, match.variant) for evaluation in (match.first, match.second)
    )
    rng = random.Random(f"match {match.seed} {number}")
    openings = match.openings or (balanced_opening(rng, first, second, match.variant),)
    return play_opening(openings[number % len(openings)], first, second, match.variant)


def play_opening(fen: str, first: FixedNodesPlayer, second: FixedNodesPlayer, variant: str = STANDARD) -> int:
    """Play an opening with both colours and return the half points of the first player."""
    half_points = 0
    for first_is_white in (True, False):
        first.new_game()
        second.new_game()
        board = Board(fen, variant=variant)
        result = play_game(board, first, second) if first_is_white else play_game(board, second, first)
        half_points += result if first_is_white else Result.WHITE_WON - result
    return half_points


def balanced_opening(
    rng: random.Random, first: FixedNodesPlayer, second: FixedNodesPlayer, variant: str = STANDARD
) -> str:
    """Return the FEN of a random opening that both players together think balanced."""
    while True:
        board = random_opening(rng, variant)
        if game_result(board) is None:
            first.new_game()
            second.new_game()
            if abs(first.search(board).white_score + second.search(board).white_score) <= 2 * MATCH_OPENING_CP:
                return board.fen()


def play(match: Match, numbers: Iterable[int], workers: Workers) -> Iterator[tuple[int, int]]:
    """Play these pairs, several at a time; yield the number of each and the half points of the first player."""
    packed = replace(match, first=eval_file.read(match.first), second=eval_file.read(match.second))
    return run_parallel(partial(play_pair, packed), numbers, workers)


def read_openings(path: Path, variant: str = STANDARD) -> tuple[str, ...]:
    """Return the positions of an EPD file, each once: its games would be the same.

    Raises InvalidRecord for a bad line and a file without any, or OSError.
    """
    found = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        fields = line.split()
        checks = filter(CHECKS.fullmatch, fields[4:7] if variant == "threeCheck" else [])
        fen = " ".join([*fields[:4], *checks])
        if fen and not fen.startswith("#"):
            try:
                board = Board(fen, variant=variant)
            except InvalidFen as error:
                raise InvalidRecord(f"{path}:{number}: {error}") from None
            if game_result(board) is not None:
                raise InvalidRecord(f"{path}:{number}: no opening, as the game is over: {fen}")
            found.append(fen)
    if not found:
        raise InvalidRecord(f"{path}: expected an opening, a position as FEN, in each line; found none")
    return tuple(dict.fromkeys(found))
