"""The older layouts of BotLi's file, renamed key by key into the present one."""

from typing import Final

from lichessbot.config.migration.translation import Translation

_KINDS: Final = ("human", "bot")
_SHARED_RULES: Final = (
    "variants", "time_controls", "min_increment", "max_increment", "min_initial", "max_initial",
    "max_estimated_game_duration",
)  # fmt: skip
_RULES_OF_A_KIND: Final = ("time_controls", "modes")


def split_rules(found: Translation) -> bool:
    """Split the rules that stood in `challenge` itself until May 2026; return whether they did."""
    if not set(_KINDS).isdisjoint(found.names("challenge")):
        return False
    for key in _SHARED_RULES:
        found.rename(f"challenge.{key}", *(f"challenge.{kind}.{key}" for kind in _KINDS))
    for kind in _KINDS:
        for key in _RULES_OF_A_KIND:
            found.rename(f"challenge.{kind}_{key}", f"challenge.{kind}.{key}")
    found.rename("challenge.bullet_with_increment_only", "challenge.bot.bullet_with_increment_only")
    return True
