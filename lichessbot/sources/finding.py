"""What a source found, and what becomes of it before anybody plays it."""

from dataclasses import dataclass, field, replace

from engine.facade import Board, InvalidMove
from lichessbot.messages import SearchSummary


@dataclass(frozen=True, slots=True)
class Finding:
    """Moves as the source spells them, best first: the first is played, or with `choice` the engine picks its own.

    `wdl` is what a tablebase says the position is worth to us, see `Advice`.
    """

    moves: tuple[str, ...]
    summary: SearchSummary = field(default_factory=SearchSummary)
    wdl: int | None = None
    choice: bool = False


def playable(finding: Finding, board: Board, *, repeats: bool) -> Finding | None:
    """The finding with the moves that may be played, in the board's spelling; None if there are none.

    Only legal ones may. Unless `repeats`, moves to a position that stood in this game already are left out too: a book
    that leads in circles would give every win away.
    """
    moves: list[str] = []
    for move in finding.moves:
        try:
            legal = board.normalise(move)
        except InvalidMove:
            continue
        if legal not in moves and (repeats or not goes_back(board, legal)):
            moves.append(legal)
    return replace(finding, moves=tuple(moves if finding.choice else moves[:1])) if moves else None


def goes_back(board: Board, move: str) -> bool:
    """Whether the position after the move stood in this game already."""
    after = board.copy()
    after.push(move)
    return after.repetition_count() > 1
