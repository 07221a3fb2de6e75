"""The variants by name."""

import re
from collections.abc import Callable
from typing import NamedTuple

from engine.core.fen import STARTING_FEN
from engine.nearest import did_you_mean
from engine.variants.antichess import AntichessPosition
from engine.variants.atomic import AtomicPosition
from engine.variants.crazyhouse import CrazyhousePosition
from engine.variants.horde import HordePosition
from engine.variants.king_of_the_hill import KingOfTheHillPosition
from engine.variants.racing_kings import RacingKingsPosition
from engine.variants.three_check import ThreeCheckPosition
from engine.variants.variant_position import VariantPosition

ONE = range(1, 2)
# Names of standard chess, and of Chess960, without spaces, hyphens and underscores. PGN writes ? for what is not known.
STANDARD = ("", "?", "standard", "chess", "normal", "orthodox", "fromposition")
CHESS960 = ("chess960", "fischerandom", "fischerrandom", "960")


class Variant(NamedTuple):
    """A variant and what is not in its positions: names, and which set-ups are valid.

    `key` is its name in the API of Lichess, `uci` its value of UCI_Variant, `name` what people and PGN call it. `kings`
    are the numbers of kings that White and Black may have.
    """

    key: str
    uci: str
    name: str
    position: Callable[[], VariantPosition]
    starting_fen: str = STARTING_FEN
    kings: tuple[range, range] = (ONE, ONE)
    has_castling: bool = True


# Records of self-play store a variant by its place here: add new ones at the end.
VARIANTS = {
    variant.key: variant
    for variant in (
        Variant("crazyhouse", "crazyhouse", "Crazyhouse", CrazyhousePosition, STARTING_FEN.replace(" ", "/ ", 1)),
        Variant("kingOfTheHill", "kingofthehill", "King of the Hill", KingOfTheHillPosition),
        Variant("threeCheck", "3check", "Three-check", ThreeCheckPosition, f"{STARTING_FEN} +0+0"),
        Variant(
            "antichess", "antichess", "Antichess", AntichessPosition, STARTING_FEN.replace("KQkq", "-"),
            (range(33), range(33)), has_castling=False,
        ),
        Variant("atomic", "atomic", "Atomic", AtomicPosition, kings=(range(2), range(2))),
        Variant(
            "horde", "horde", "Horde", HordePosition,
            "rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1", (range(1), ONE),
        ),
        Variant(
            "racingKings", "racingkings", "Racing Kings", RacingKingsPosition,
            "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1", has_castling=False,
        ),
    )
}  # fmt: skip


class InvalidVariant(ValueError):
    """There is no variant of this name. The message quotes it and says which there are."""


def find_variant(name: str) -> Variant | None:
    """Return the variant with this name, as Lichess, UCI or PGN write it; None for standard chess.

    Chess960 and From Position are standard chess from another start. Raises InvalidVariant.
    """
    plain = _plain(name)
    if plain in (*STANDARD, *CHESS960):
        return None
    for variant in VARIANTS.values():
        if plain in (_plain(variant.key), _plain(variant.uci), _plain(variant.name)):
            return variant
    known = ["standard", *VARIANTS]
    raise InvalidVariant(f"no variant {name[:40]!r}{did_you_mean(name, known, 0.5) or ';'} known: {', '.join(known)}")


def is_chess960(name: str) -> bool:
    """Return whether this is a name of Chess960."""
    return _plain(name) in CHESS960


def _plain(name: str) -> str:
    """Return the name in small letters without spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name.lower())
