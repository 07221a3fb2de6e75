"""What follows from the scores of a game's positions: accuracy, mistakes and turning points. Pure.

The numbers are Lichess's (`engine.facade.accuracy`), so that both players can compare them with an analysis there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

from engine.facade import Board, InvalidFen, InvalidMove, InvalidVariant, accuracy
from lichessbot.games.recording.pgn import board_of
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.positions import line_in_san
from lichessbot.storage.evaluations import mate_in
from lichessbot.storage.game_records import GameRecord, MoveRecord
from lichessbot.storage.reviews import ReviewRecord

TURNING_POINTS: Final = 2
_LINE_SHOWN: Final = 8
# What a move must lose to be a turning point, in percent: what Lichess calls a mistake.
_TURNING_LOSS: Final = 50 * accuracy.Judgement.MISTAKE.least_loss


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move that lost winning chances: in percent, from the view of the side that made it.

    `better` and `line` are what the engine prefers, in SAN; empty if that is unknown.
    """

    ply: int
    side: Colour
    number: str
    """Of the move, such as `23.` or `23...`."""
    move: str
    san: str
    judgement: accuracy.Judgement
    before: float
    after: float
    better: str = ""
    better_move: str = ""
    line: tuple[str, ...] = ()
    mate: str = ""
    """What became of a mate, such as `allows mate in 3`; empty without one."""

    @property
    def loss(self) -> float:
        return self.before - self.after

    @property
    def written(self) -> str:
        """The move as in notation, with its mark: `23. Nxe5??`."""
        return f"{self.number} {self.san}{self.judgement.glyph}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "judgement": self.judgement.word, "glyph": self.judgement.glyph, "loss": self.loss}


@dataclass(frozen=True, slots=True)
class Review:
    """A review of a whole game; `wins` are White's winning chances in percent, by ply, from 0 on."""

    record: ReviewRecord
    wins: Sequence[float]
    accuracies: Mapping[str, float] | None
    """By side; None if a side has not moved."""
    mistakes: Sequence[Mistake]

    @property
    def turning_points(self) -> Sequence[Mistake]:
        """The moves that lost most, in the order of play; none that lost less than a mistake does."""
        worst = sorted(self.mistakes, key=lambda mistake: (-mistake.loss, mistake.ply))[:TURNING_POINTS]
        return sorted((it for it in worst if it.loss >= _TURNING_LOSS), key=lambda mistake: mistake.ply)

    def count(self, side: Colour, judgement: accuracy.Judgement) -> int:
        return sum(it.side is side and it.judgement is judgement for it in self.mistakes)

    def as_json(self) -> dict[str, Any]:
        """Return the review for other programs; scores are White's."""
        return {
            "engine": self.record.engine,
            "nodes": self.record.nodes,
            "reviewed_at": self.record.reviewed_at,
            "accuracy": self.accuracies,
            "positions": [
                {**_score_json(it.score_cp), "ply": it.ply, "win_percent": win, "line": it.line.split()}
                for it, win in zip(self.record.positions, self.wins, strict=True)
            ],
            "mistakes": [it.as_json() for it in self.mistakes],
            "turning_points": [it.ply for it in self.turning_points],
        }


def review_of(game: GameRecord, moves: Sequence[MoveRecord], record: ReviewRecord) -> Review | None:
    """Return what follows from the scores; None if they are those of another number of moves.

    Raises as `board_of` does.
    """
    if [it.ply for it in record.positions] != list(range(len(moves) + 1)):
        return None
    scores = [_score(it.score_cp) for it in record.positions]
    board = board_of(game, ())
    begins = board.turn
    mistakes: list[Mistake] = []
    for move, position, (before, after) in zip(moves, record.positions, pairwise(scores), strict=False):
        mistakes += _mistakes(board, move, before, after, position.line.split())
        board.push(move.move)
    return Review(record, [*map(accuracy.win_percent, scores)], accuracy.game_accuracy(scores, begins), mistakes)


def recorded_mistakes(game: GameRecord, moves: Sequence[MoveRecord]) -> Sequence[Mistake]:
    """Return our own mistakes by our evaluations during the game, from one move of ours to the next.

    For games without a review. Stops at a move that cannot be replayed.
    """
    sign = 1 if game.colour == Colour.WHITE else -1
    scored = [move for move in moves if move.score_cp is not None]
    # If a move in between was not searched, it may have been the mistake.
    later = {before.ply: after.score_cp or 0 for before, after in pairwise(scored) if after.ply == before.ply + 2}
    found: list[Mistake] = []
    try:
        board = board_of(game, ())
        for move in moves:
            if move.ply in later:
                before, after = (_score(sign * (cp or 0)) for cp in (move.score_cp, later[move.ply]))
                found += _mistakes(board, move, before, after, line=())
            board.push(move.move)
    except (InvalidFen, InvalidMove, InvalidVariant):
        pass
    return found


def recorded_scores(game: GameRecord, moves: Sequence[MoveRecord]) -> list[dict[str, int | None]]:
    """Return our evaluations during the game from White's view, each with the ply of the position it is about."""
    sign = 1 if game.colour == Colour.WHITE else -1
    known = ((move.ply - 1, sign * move.score_cp) for move in moves if move.score_cp is not None)
    return [{"ply": ply, **_score_json(score_cp)} for ply, score_cp in known]


def _mistakes(
    board: Board, move: MoveRecord, before: accuracy.Score, after: accuracy.Score, line: Sequence[str]
) -> Iterator[Mistake]:
    """Yield the mistake that a move is, if it is one; the engine's own move is none, whatever its score becomes."""
    side = Colour(board.turn)
    judgement = accuracy.judge(before, after, side)
    if judgement is None:
        return
    san, notation = board.san(move.move), tuple(line_in_san(board, line[:_LINE_SHOWN]))
    if notation[:1] == (san,):
        return
    yield Mistake(
        move.ply,
        side,
        f"{board.fullmove_number}{'.' if side is Colour.WHITE else '...'}",
        move.move,
        san,
        judgement,
        before=accuracy.win_percent(before.of(side)),
        after=accuracy.win_percent(after.of(side)),
        better=notation[0] if notation else "",
        better_move=line[0] if notation else "",
        line=notation,
        mate=_mate(before.of(side), after.of(side)),
    )


def _mate(was: accuracy.Score, now: accuracy.Score) -> str:
    """Return which mate a mistake allows or misses, by the scores for the side that made it."""
    if was.mate is not None and was.mate > 0:
        return f"misses mate in {was.mate}"
    return f"allows mate in {-now.mate}" if now.mate is not None and now.mate < 0 else ""


def _score(score_cp: int) -> accuracy.Score:
    """Return a recorded score: centipawns, or a mate."""
    mate = mate_in(score_cp)
    return accuracy.Score(score_cp) if mate is None else accuracy.Score(mate=mate)


def _score_json(score_cp: int) -> dict[str, int | None]:
    mate = mate_in(score_cp)
    return {"score_cp": score_cp if mate is None else None, "mate_in": mate}
