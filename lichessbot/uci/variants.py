"""Variants as UCI engines name them: which ones an engine announces, and how a game of one is set up.

Pure text. Engines list the variants they know in the option UCI_Variant, under names of their own; an engine without
it plays standard chess. Chess960 is standard chess with the option UCI_Chess960.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from lichessbot.lichess.enums import Variant
from lichessbot.lichess.models import STANDARD_START
from lichessbot.lichess.positions import start_board
from lichessbot.uci.options import CHESS960, VARIANT, Option, OptionKind, Options
from lichessbot.uci.search import Search

# The best name first. Giveaway is antichess with castling, which the start position of Lichess does not have.
_NAMES: Final[Mapping[Variant, tuple[str, ...]]] = {
    Variant.STANDARD: ("chess", "standard", "normal"),
    Variant.CRAZYHOUSE: ("crazyhouse", "zh"),
    Variant.KING_OF_THE_HILL: ("kingofthehill", "koth"),
    Variant.THREE_CHECK: ("3check", "threecheck"),
    Variant.ANTICHESS: ("antichess", "giveaway"),
    Variant.ATOMIC: ("atomic",),
    Variant.HORDE: ("horde",),
    Variant.RACING_KINGS: ("racingkings", "race"),
}
_CHECKS_TO_WIN: Final = 3


def uci_name(options: Options, variant: Variant) -> str | None:
    """Return the engine's own name of a variant, as it spells it; None if it does not announce the variant."""
    option = _list_of_variants(options)
    announced = {} if option is None else {_plain(name): name for name in (option.default, *option.choices)}
    return next((announced[name] for name in _NAMES.get(variant, ()) if name in announced), None)


def announced_variants(options: Options) -> tuple[Variant, ...]:
    """Return the variants of Lichess that an engine with these options plays."""
    standard = _list_of_variants(options) is None or uci_name(options, Variant.STANDARD) is not None
    from_anywhere = standard and options.get(CHESS960) is not None
    known = {Variant.STANDARD: standard, Variant.CHESS960: from_anywhere, Variant.FROM_POSITION: from_anywhere}
    return tuple(it for it in Variant if known.get(it) or uci_name(options, it))


def _list_of_variants(options: Options) -> Option | None:
    option = options.get(VARIANT)
    return option if option is not None and option.kind is OptionKind.COMBO else None


@cache
def _start_fen(variant: Variant) -> str:
    return start_board(variant, STANDARD_START).initial_fen


def position_command(search: Search) -> str:
    """Return the `position` command for a search."""
    moves = " moves " + " ".join(search.moves) if search.moves else ""
    if not search.chess960 and search.initial_fen == _start_fen(Variant(search.variant)):
        # Small engines know no other start, and those of variants disagree about its FEN.
        return f"position startpos{moves}"
    return f"position fen {engine_fen(search.initial_fen)}{moves}"


def engine_fen(fen: str) -> str:
    """Return a FEN of Lichess as engines write it: the pockets in brackets, and the checks that are left."""
    board, *rest = fen.split()
    if board.count("/") == 8:
        board, _, pockets = board.rpartition("/")
        board = f"{board}[{pockets}]"
    if rest[-1].startswith("+"):
        given = [int(count) for count in rest.pop()[1:].split("+")]
        rest.insert(3, "+".join(str(_CHECKS_TO_WIN - count) for count in given))
    return " ".join((board, *rest))


def _plain(name: str) -> str:
    """Return a name in lower case without spaces, hyphens and underscores."""
    return "".join(letter for letter in name.lower() if letter not in " -_")
