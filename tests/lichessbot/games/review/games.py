"""A small recorded game, and reviews of it with scores made up."""

from collections.abc import Sequence

from lichessbot.storage.game_records import GameRecord, MoveRecord, Result
from lichessbot.storage.reviews import ReviewedPosition, ReviewRecord

# 1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3#
UCI = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "c6d4", "f3e5", "d8g5", "e5f7", "g5g2", "h1f1", "g2e4", "c4e2", "d4f3"]
MOVES = [MoveRecord(ply, move) for ply, move in enumerate(UCI, 1)]
GAME = GameRecord(
    "game0001", 1_767_225_600.0, "Ada", opponent_id="ada", opponent_rating=1500, our_name="TestBot", our_title="BOT",
    variant="standard", speed="blitz", colour="black", base_s=180, increment_s=2, status="mate", result=Result.WON,
    plies=14, eco="C50", opening="Italian Game: Blackburne-Kostić Gambit",
)  # fmt: skip
# By ply: 3... Nd4 offers a trap, 5. Nxf7 walks into it, 7. Be2 allows the mate.
SCORES = [15, 20, 20, 20, 20, 15, 110, 90, 100, -480, -480, -560, -560, -99_999, -99_999]
LINES = {5: "g8f6 d2d3", 8: "c4f7 e8d8 e1g1", 12: "d1e2", 13: "d4f3"}


def reviewed(scores: Sequence[int] = SCORES, lines: dict[int, str] = LINES) -> ReviewRecord:
    positions = [ReviewedPosition(ply, score, lines.get(ply, "")) for ply, score in enumerate(scores)]
    return ReviewRecord(GAME.id, 0.0, "Aleph 1.0", 40_000, positions)
