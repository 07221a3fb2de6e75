"""Styles of play, written as a name or as coefficients: 'loser', 'material=1,mobility=-0.5'."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.lessons.terms import TERM_NAMES, Terms
from engine.nearest import did_you_mean

MATE = "mate"
TERMS = (*TERM_NAMES, MATE)        # what a style may name
MOST = 10.0                        # a coefficient, either way


class InvalidStyle(ValueError):
    """The text is not a style. The message quotes it and says what was expected."""


@dataclass(frozen=True)
class Style:
    """The coefficient of each term, 0 if not named. With `mate` below zero the style seeks to be mated."""

    coefficients: Mapping[str, float] = field(default_factory=dict)
    mate: float = 1.0

    def terms(self) -> Terms:
        """Return the terms for the search."""
        percents = {name: round(100 * value) for name, value in self.coefficients.items()}
        return Terms(percents, round(100 * self.mate))


STYLES = {
    "cce": Style(dict.fromkeys(("material", "mobility", "centre", "castling", "attack", "check", "tempo"), 1.0)),
    "chess-engine": Style({"material": 1.0, "mobility": 1.0, "pawns": 1.0}),
    "materialist": Style({"material": 1.0}),
    "pusher": Style({"material": 1.0, "pawns": 5.0}),
    "loser": Style({"material": -1.0, "mobility": -0.5}, mate=-1.0),
}


def parse_style(text: str, others: Sequence[str] = ()) -> Style:
    """Parse a style's name, or terms with coefficients from -10 to 10. Raises InvalidStyle, naming `others` too."""
    if text in STYLES:
        return STYLES[text]
    if "=" not in text:
        known = (*others, *STYLES)
        hint = did_you_mean(text, known) or ";"
        raise InvalidStyle(f"unknown style {text[:40]!r}{hint} known: {', '.join(known)}")
    coefficients: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in TERMS:
            hint = did_you_mean(name, TERMS) or ";"
            raise InvalidStyle(f"unknown term {name[:40]!r}{hint} known: {', '.join(TERMS)}")
        coefficients[name] = _coefficient(name, number)
    return Style(coefficients, coefficients.pop(MATE, 1.0))


def _coefficient(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -MOST <= value <= MOST:
        raise InvalidStyle(f"expected a number from {-MOST:g} to {MOST:g} for {name}, found {text[:40]!r}")
    return value
