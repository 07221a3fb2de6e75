"""The nearest valid choice, for errors that users cause."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(found: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return `; did you mean NAME?` with the nearest known name, empty if none is as like, from 0 to 1."""
    close = get_close_matches(found, list(known), 1, likeness)
    return f"; did you mean {close[0]}?" if close else ""
