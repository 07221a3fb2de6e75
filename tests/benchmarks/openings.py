"""New openings for matches without a clock, where an opening that is played again gives copies of its games."""

import random
from pathlib import Path

import chess

from engine.selfplay.games import FixedNodesPlayer
from engine.selfplay.match import balanced_opening
from engine.whole_file import write_whole

JUDGE_NODES = 2000


def opening(number: int, judge: FixedNodesPlayer) -> str:
    """Return a random balanced opening; it has no castling of Chess960, as fastchess plays standard chess."""
    rng = random.Random(f"match 1 {number}")
    while True:
        fen = balanced_opening(rng, judge, judge)
        if not chess.Board(fen, chess960=True).has_chess960_castling_rights():
            return fen


def extend(path: Path, count: int) -> None:
    """Add openings to a file until it has this many. Those in it stay, although the engine may have changed since."""
    known = path.read_text().splitlines() if path.exists() else []
    if len(known) < count:
        judge = FixedNodesPlayer("", JUDGE_NODES)
        known += [opening(number, judge) for number in range(len(known), count)]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [f"{line}\n".encode() for line in known])
