"""Odds games: From Position games that begin with the ordinary set-up less some pieces of one side, or with Black."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from lichessbot.lichess.enums import Colour, Odds

_SET_UP: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
_SQUARES: Final = 64
_PIECES: Final = {"q": Odds.QUEEN, "r": Odds.ROOK, "b": Odds.BISHOP, "n": Odds.KNIGHT, "p": Odds.PAWN}


@dataclass(frozen=True, slots=True)
class Handicap:
    """What one side gives: pieces, the most valuable first. `Odds.MOVE` comes last if White moves second."""

    giver: Colour
    odds: tuple[Odds, ...]

    @property
    def pieces(self) -> tuple[Odds, ...]:
        return tuple(it for it in self.odds if it is not Odds.MOVE)

    def __str__(self) -> str:
        counted = [f"{count} {it}s" if count > 1 else f"a {it}" for it, count in Counter(self.pieces).items()]
        without = [f"plays without {' and '.join(counted)}"] if counted else []
        turn = "second" if self.giver is Colour.WHITE else "first"
        moved = [f"moves {turn}"] if Odds.MOVE in self.odds else []
        return f"{self.giver.title()} {' and '.join(without + moved)}"


def handicap_of(fen: str) -> Handicap | None:
    """Return the odds of a start position; None if it is the ordinary one, or not that less pieces of one side."""
    placement, turn, *_ = (*fen.split(), "", "")
    found, whole = _expanded(placement), _expanded(_SET_UP)
    if len(found) != _SQUARES or any(here not in (there, " ") for here, there in zip(found, whole, strict=True)):
        return None
    missing = [there for here, there in zip(found, whole, strict=True) if here != there]
    if any(it.lower() not in _PIECES for it in missing) or len({it.isupper() for it in missing}) > 1:
        return None
    giver = Colour.BLACK if missing and missing[0].islower() else Colour.WHITE
    odds = sorted((_PIECES[it.lower()] for it in missing), key=tuple(Odds).index)
    if turn == "b":
        odds.append(Odds.MOVE)
    return Handicap(giver, tuple(odds)) if odds else None


def _expanded(placement: str) -> str:
    """Return the squares from a8 on, an empty one as a space."""
    return "".join(" " * int(it) if it in "12345678" else it for it in placement if it != "/")
