"""The challenge form of the page: what a person proposes, checked with one clear line for each mistake. Pure."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.facade import Board, InvalidFen
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import MAX_INCREMENT_S, OFFERED_LIMITS_S, RealTime, TimeControl, Unlimited
from lichessbot.rehearsal.rules.enums import ColorChoice, Variant
from lichessbot.rehearsal.rules.errors import Refused

Form = Mapping[str, object]

COLORS: Final = (ColorChoice.RANDOM, ColorChoice.WHITE, ColorChoice.BLACK)
MAX_FEN_LENGTH: Final = 120
# The bot's levels to choose from, by key; None: as configured.
LEVELS: Final = {"full": None, **{f"level-{level}": level for level in range(2600, 799, -200)}}


@dataclass(frozen=True)
class Proposal:
    """What a person proposes to the bot. `level`: of the bot; None: as configured."""

    terms: Terms
    level: int | None


def proposal(form: Form) -> Proposal:
    """Return the proposal of a form. Raises Refused with what is wrong and the nearest valid choice."""
    variant = _variant(form)
    rated = form.get("rated") is True
    if rated and variant is Variant.FROM_POSITION:
        raise Refused("a game from a position cannot be rated: choose casual")
    clock = _clock(form)
    if rated and isinstance(clock, Unlimited) and variant is not Variant.STANDARD:
        raise Refused(f"a game of {variant.display_name} without a clock cannot be rated: choose casual, or a clock")
    color = ColorChoice(_choice(form, "color", COLORS))
    terms = Terms(variant, clock, rated, color, _fen(form, variant))
    level = LEVELS[_choice(form, "strength", tuple(LEVELS))]
    if rated and level is not None:
        raise Refused("rated games have one strength for everybody: choose casual, or the strength as configured")
    return Proposal(terms, level)


def _variant(form: Form) -> Variant:
    key = _choice(form, "variant", [variant.key for variant in Variant])
    return next(variant for variant in Variant if variant.key == key)


def _clock(form: Form) -> TimeControl:
    if form.get("unlimited") is True:
        return Unlimited()
    limit_s, increment_s = _seconds(form, "limit"), _seconds(form, "increment")
    if limit_s not in OFFERED_LIMITS_S:
        nearest_s = min(OFFERED_LIMITS_S, key=lambda it: abs(it - limit_s))
        raise Refused(
            f"limit: {limit_s:g} s is no clock of Lichess, which has 0, 15, 30, 45, 60, 90 and whole minutes up to 180;"
            f" the nearest is {nearest_s}"
        )
    if increment_s not in range(MAX_INCREMENT_S + 1):
        raise Refused(f"increment: {increment_s:g} is not a whole number of seconds from 0 to {MAX_INCREMENT_S}")
    if limit_s == increment_s == 0:
        raise Refused("a clock of 0+0 leaves no time to play")
    return RealTime(int(limit_s), int(increment_s))


def _fen(form: Form, variant: Variant) -> str | None:
    """Return the start position that a game from a position needs; other games have none."""
    if variant is not Variant.FROM_POSITION:
        return None
    text = form.get("fen")
    if not isinstance(text, str) or not text.strip():
        raise Refused("fen: a game from a position needs its FEN")
    if len(text) > MAX_FEN_LENGTH:
        raise Refused(f"fen: a FEN has at most {MAX_FEN_LENGTH} characters")
    try:
        board = Board(text.strip(), chess960=True)
    except InvalidFen as error:
        raise Refused(f"fen: {error}") from error
    if not board.legal_moves():
        raise Refused("fen: the game is over in this position, as no move is legal")
    return text.strip()


def _choice(form: Form, field: str, choices: Sequence[str]) -> str:
    value = form.get(field, choices[0])
    if value not in choices:
        nearest = difflib.get_close_matches(str(value), choices, 1, cutoff=0.3)
        perhaps = f"; perhaps {nearest[0]}" if nearest else ""
        raise Refused(f"{field}: {str(value)[:40]!r} is none of {', '.join(choices)}{perhaps}")
    return str(value)


def _seconds(form: Form, field: str) -> float:
    value = form.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(f"{field}: a number of seconds is missing")
    try:
        return float(value)
    except OverflowError as error:
        raise Refused(f"{field}: the number of seconds is too large") from error
