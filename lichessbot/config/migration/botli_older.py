"""The older layouts of BotLi's file, renamed key by key into the present one."""

from typing import Final

from lichessbot.config.migration.translation import Translation
from lichessbot.lichess.enums import ExactClock

_ONCE_IN_ENGINE: Final = ("syzygy", "gaviota", "opening_books", "online_moves", "offer_draw", "resign")
_COLOURS: Final = ("white", "black")
_LONGEST_S: Final = 10**5
_KINDS: Final = ("human", "bot")
_SHARED_RULES: Final = (
    "variants", "time_controls", "min_increment", "max_increment", "min_initial", "max_initial",
    "max_estimated_game_duration",
)  # fmt: skip
_RULES_OF_A_KIND: Final = ("time_controls", "modes")


def renew(found: Translation) -> None:
    """Give the keys of until October 2024 their present names."""
    if not found.names("engines"):
        _renew_engine(found)
    for key in ("enabled", "paths", "max_pieces", "instant_play"):
        found.rename(f"syzygy.{key}", f"syzygy.standard.{key}")
    for server in ("chessdb", "lichess_cloud"):
        found.rename(f"online_moves.{server}.min_depth", f"online_moves.{server}.min_eval_depth")
    _renew_books(found)
    _renew_matchmaking(found)


def _renew_engine(found: Translation) -> None:
    if not found.names("engine"):
        return
    found.add("engines", {}, written=("engine",))
    for section in _ONCE_IN_ENGINE:
        found.rename(f"engine.{section}", section)
    if found.peek("engine.variants.enabled"):
        found.take("engine.variants.enabled")
        found.rename("engine.variants", "engines.variants")
    else:
        found.leave("engine.variants", "is not enabled", matters=False)
    found.rename("engine", "engines.standard")


def _renew_books(found: Translation) -> None:
    """Make a section of each list of books; they had their settings in common."""
    games = []
    for name in found.names("opening_books.books"):
        if isinstance(found.peek(("opening_books", "books", name)), list):
            games.append(f"opening_books.books.{'standard_' if name in _COLOURS else ''}{name}")
            found.rename(f"opening_books.books.{name}", f"{games[-1]}.names")
    for key in ("selection", "max_depth"):
        found.rename(f"opening_books.{key}", *(f"{game}.{key}" for game in games))


def _renew_matchmaking(found: Translation) -> None:
    """Make a kind of games of each variant; they had their settings in common."""
    base, increment = (found.peek(("matchmaking", key)) for key in ("initial_time", "increment"))
    many = found.peek("matchmaking.variants")
    key = "variants" if isinstance(many, list) else "variant"
    variants = many if isinstance(many, list) else [found.peek("matchmaking.variant") or "standard"]
    are_seconds = base in range(_LONGEST_S) and increment in range(_LONGEST_S)
    if not (variants and are_seconds) or found.names("matchmaking.types"):
        return
    found.take(("matchmaking", key))
    found.add("matchmaking.types", {}, written=("matchmaking",))
    kinds = []
    for number, variant in enumerate(variants):
        kinds.append(kind := f"matchmaking.types.{variant}")
        listed = (key, number) if key == "variants" else (key,)
        found.add(kind, {}, written=("matchmaking",))
        found.add(f"{kind}.tc", str(ExactClock(base, increment)), written=("matchmaking", "initial_time"))
        found.add(f"{kind}.variant", variant, written=("matchmaking", *listed))
    for key in ("initial_time", "increment"):
        found.take(("matchmaking", key))
    for key in ("rated", "multiplier", "min_rating_diff", "max_rating_diff"):
        found.rename(f"matchmaking.{key}", *(f"{kind}.{key}" for kind in kinds))


def split_rules(found: Translation) -> bool:
    """Split the rules that stood in `challenge` itself until May 2026; return whether they did."""
    if not set(_KINDS).isdisjoint(found.names("challenge")):
        return False
    for kind in _KINDS:
        for key in _RULES_OF_A_KIND:
            found.rename(f"challenge.{kind}_{key}", f"challenge.{kind}.{key}")
    for key in _SHARED_RULES:
        found.rename(f"challenge.{key}", *(f"challenge.{kind}.{key}" for kind in _KINDS))
    found.rename("challenge.bullet_with_increment_only", "challenge.bot.bullet_with_increment_only")
    return True
