"""Translates a configuration of BotLi (to 2026-07): sections and names differ; engines and books become profiles."""

import math
import sys
from typing import Any, Final

from lichessbot.config.matchmaking import VariantChoice
from lichessbot.config.migration.botli_engines import (
    MEASURED,
    ORDER_OF_SOURCES,
    our_moves,
    tables_of_engines,
    translate_engines,
)
from lichessbot.config.migration.botli_older import renew, split_rules
from lichessbot.config.migration.translation import Translation
from lichessbot.config.yaml_file import YamlFile, section_at
from lichessbot.lichess.enums import ExactClock, Mode, Speed, Variant

_TIMEOUT: Final = "all sources together get 1/40 of the remaining clock, at most 3 s"
_NO_EVALUATION: Final = "evaluations of servers decide about no draw and no resignation"
_LATER: Final = "BotLi adds 10 s without an increment"
_NO_TABLES: Final = "only the tables of standard chess are read"
_AGREEMENTS: Final = {
    "offer_draw": {
        "enabled": "offer_draw_enabled",
        "score": "offer_draw_score",
        "consecutive_moves": "offer_draw_moves",
        "min_game_length": "offer_draw_min_game_length",
        "against_humans": "offer_draw_against_humans",
        "min_rating": "offer_draw_min_rating",
    },
    "resign": {
        "enabled": "resign_enabled",
        "score": "resign_score",
        "consecutive_moves": "resign_moves",
        "against_humans": "resign_against_humans",
        "min_rating": "resign_min_rating",
    },
}
_MESSAGES: Final = {
    "greeting": "hello",
    "goodbye": "goodbye",
    "greeting_spectators": "hello_spectators",
    "goodbye_spectators": "goodbye_spectators",
}
_SERVERS: Final = {
    "opening_explorer": "lichess_opening_explorer",
    "lichess_cloud": "lichess_cloud_analysis",
    "chessdb": "chessdb_book",
}
# BotLi's name and ours; None as the default means no limit.
_RULES: Final = {
    "min_increment": "min_increment",
    "max_increment": "max_increment",
    "min_initial": "min_base",
    "max_initial": "max_base",
    "max_estimated_game_duration": "max_estimated_game_duration",
}
_NO_LIMIT: Final = ("max_increment", "max_base")
_KIND: Final = (
    "tc", "rated", "variant", "weight", "multiplier", "min_rating_diff", "max_rating_diff", "target_rating_diff",
)  # fmt: skip
_EXPLORER_DEPTH: Final = 25  # BotLi's, in moves


def translate(old: YamlFile) -> Translation:
    """Translate what BotLi reads, except the token."""
    found = Translation(old, "BotLi")
    found.take("token")
    found.move("url", "url")
    renew(found)
    translate_engines(found)
    _tablebases(found)
    _servers(found)
    if "offer_draw" in found.names():
        found.set("engine.draw_or_resign.offer_draw_pieces", 32, remark="BotLi does not count the pieces")
    for section, names in _AGREEMENTS.items():
        for theirs, ours in names.items():
            found.move(f"{section}.{theirs}", f"engine.draw_or_resign.{ours}")
    _challenges(found)
    _matchmaking(found)
    for theirs, ours in _MESSAGES.items():
        found.move_greeting(f"messages.{theirs}", f"greeting.{ours}")
    _lists(found)
    found.leave("move_overhead_multiplier", MEASURED, matters=False)
    return found


def _tablebases(found: Translation) -> None:
    ours, enabled = "engine.lichess_bot_tbs.syzygy", found.peek("syzygy.standard.enabled")
    tables = tables_of_engines(found)
    found.move("syzygy.standard.paths", f"{ours}.paths", list)
    found.move("syzygy.standard.max_pieces", f"{ours}.max_pieces")
    if tables:
        found.take("syzygy.standard.enabled")
        remark = "only the engine reads the tables"
        found.set(f"{ours}.enabled", False, old="syzygy.standard.instant_play", remark=remark)
        found.take("syzygy.standard.instant_play")
        if section_at(found.values, "engine", "uci_options").get("SyzygyPath") == tables:
            found.set("engine.uci_options.SyzygyPath", tables, old="syzygy.standard.paths")
    else:
        found.move("syzygy.standard.enabled", f"{ours}.enabled")
        reason = "the bot plays from the tables; BotLi also tells the engine: set uci_options.SyzygyPath if it has it"
        found.leave("syzygy.standard.instant_play", reason, matters=bool(enabled))
    for variant in found.names("syzygy"):
        if variant != "standard":
            found.leave(("syzygy", variant), _NO_TABLES)
    found.leave("gaviota", "Gaviota's tables are not read; Syzygy's cover the same endgames")


def _servers(found: Translation) -> None:
    ours = "engine.online_moves"
    if not found.names("online_moves"):
        return
    found.set(f"{ours}.max_out_of_book_moves", 5, remark="as BotLi")
    for server, name in _SERVERS.items():
        theirs = f"online_moves.{server}"
        found.move(f"{theirs}.enabled", f"{ours}.{name}.enabled")
        found.move(f"{theirs}.min_time", f"{ours}.{name}.min_time", remark=_LATER)
        for key in ("only_without_book", "allow_repetitions", "max_moves"):
            found.move(f"{theirs}.{key}", f"{ours}.{name}.{key}")
        remark = "half moves there, our moves here"
        found.move(f"{theirs}.max_depth", f"{ours}.{name}.max_depth", our_moves, remark=remark)
        found.leave(f"{theirs}.priority", ORDER_OF_SOURCES, matters=False)
        found.leave(f"{theirs}.timeout", _TIMEOUT, matters=False)
        found.leave(f"{theirs}.trust_eval", _NO_EVALUATION)
        found.leave(f"{theirs}.use_for_variants", "it is asked in every variant that it knows", matters=False)
    _explorer(found, "online_moves.opening_explorer", f"{ours}.{_SERVERS['opening_explorer']}")
    found.move("online_moves.lichess_cloud.min_eval_depth", f"{ours}.lichess_cloud_analysis.min_depth")
    chessdb = f"{ours}.chessdb_book"
    found.move("online_moves.chessdb.best_move", f"{chessdb}.move_quality", lambda best: "best" if best else "good")
    found.move("online_moves.chessdb.selection", f"{chessdb}.move_quality")  # until September 2025
    candidates = "online_moves.chessdb.min_candidates"  # from April to September 2025
    several = found.peek(candidates) not in (None, 0, 1)
    found.leave(candidates, "one move that chessdb knows is enough here", matters=several)
    if found.move("online_moves.chessdb.min_eval_depth", f"{chessdb}.min_depth") is None:
        found.set(f"{chessdb}.min_depth", 0, remark="as BotLi")
    found.move("online_moves.online_egtb.enabled", f"{ours}.online_egtb.enabled")
    found.move("online_moves.online_egtb.min_time", f"{ours}.online_egtb.min_time", remark=_LATER)
    found.leave("online_moves.online_egtb.timeout", _TIMEOUT, matters=False)


def _explorer(found: Translation, theirs: str, ours: str) -> None:
    player = found.take(f"{theirs}.player")
    found.set(f"{ours}.source", "masters" if player == "masters" else "player", old=f"{theirs}.player")
    if player and player != "masters":
        found.set(f"{ours}.player_name", player, old=f"{theirs}.player")
    found.move(f"{theirs}.min_games", f"{ours}.min_games", remark="here the games of the move, not of the position")
    found.move(f"{theirs}.only_with_wins", f"{ours}.only_with_wins")
    explorer = section_at(found.values, *ours.split("."))
    enabled = bool(explorer.get("enabled"))
    by_performance = found.peek(f"{theirs}.selection") == "performance"
    reason = "winrate, by the results, is the nearest to it" if by_performance else "winrate is the default"
    found.leave(f"{theirs}.selection", reason, matters=enabled and by_performance)
    found.leave(f"{theirs}.anti", "the explorer is asked for good moves only")
    depth = explorer.get("max_depth", _EXPLORER_DEPTH)
    if isinstance(depth, int | float) and depth >= _EXPLORER_DEPTH:
        found.set(f"{ours}.max_depth", _EXPLORER_DEPTH, remark="BotLi's own limit")


def _challenges(found: Translation) -> None:
    found.move("challenge.concurrency", "challenge.concurrency")
    if found.move("challenge.max_takebacks", "max_takebacks_accepted"):
        found.set("takebacks_from_bots", False, remark="BotLi grants takebacks to humans only")
    is_older = split_rules(found)
    human, bot = (_rules(found, kind, zero_is_a_limit=is_older) for kind in ("human", "bot"))
    found.move("challenge.bot.bullet_with_increment_only", "challenge.bullet_requires_increment")
    if found.peek("challenge.human.bullet_with_increment_only") is False:
        found.take("challenge.human.bullet_with_increment_only")  # ours does not apply to humans by itself
    else:
        found.move("challenge.human.bullet_with_increment_only", "challenge.human.bullet_requires_increment")
    is_for_one_kind = human is None or bot is None
    if human is None:
        found.set("challenge.only_bot", True, remark="BotLi accepts no challenge of a human")
    if bot is None:
        found.set("challenge.accept_bot", False, remark="BotLi accepts no challenge of a bot")
    if human is None and bot is None:
        found.accept_no_challenge("BotLi accepts no challenge")
    human, bot = human or {}, bot or {}
    for key in dict.fromkeys((*human, *bot)):
        if is_for_one_kind or human.get(key) == bot.get(key):
            kind = "bot" if key in bot else "human"
            found.set(f"challenge.{key}", value := {**human, **bot}[key], old=_origin(kind, key, value))
        else:
            for kind, given in (("human", human), ("bot", bot)):
                if key in given:
                    found.set(f"challenge.{kind}.{key}", given[key], old=_origin(kind, key, given[key]))


def _rules(found: Translation, kind: str, *, zero_is_a_limit: bool) -> dict[str, Any] | None:
    """Return our rules for humans or bots; None if they accept no challenge."""
    if kind not in found.names("challenge"):
        return {}
    rules: dict[str, Any] = {}
    for key, known in (("variants", tuple(Variant)), ("time_controls", tuple(Speed)), ("modes", tuple(Mode))):
        wanted = found.take(("challenge", kind, key)) or []
        wanted = wanted if isinstance(wanted, list) else [wanted]
        rules[key] = [it for it in map(str, wanted) if it in known or (key == "time_controls" and ExactClock.parse(it))]
        for number, it in enumerate(wanted):
            if str(it) not in rules[key]:
                found.note(("challenge", kind, key, number), f"{it} is not played here")
    for theirs, ours in _RULES.items():
        limit = found.take(("challenge", kind, theirs))
        if not limit and not (zero_is_a_limit and limit == 0):
            limit = None
        if limit is not None or ours in _NO_LIMIT:
            rules[ours] = limit
    empty = [key for key in ("variants", "time_controls", "modes") if not rules[key]]
    for key in empty:
        found.note(("challenge", kind, key), f"none is accepted, so BotLi accepts no challenge of a {kind}")
    return None if empty else rules


def _origin(kind: str, key: str, value: Any) -> str:
    """Return BotLi's key of a rule of ours; empty for no limit, as it is mostly missing."""
    theirs = next((theirs for theirs, ours in _RULES.items() if ours == key), key)
    return "" if value is None else f"challenge.{kind}.{theirs}"


def _matchmaking(found: Translation) -> None:
    types = found.names("matchmaking.types")
    found.set("matchmaking.allow_matchmaking", False, remark="BotLi starts it with a command; `true` challenges bots")
    during = bool(found.values.get("challenge", {}).get("concurrency", 1) != 1)
    found.set("matchmaking.allow_during_games", during, remark="BotLi challenges whenever a slot is free")
    found.move(
        "matchmaking.delay", "matchmaking.challenge_timeout", lambda delay: max(1, math.ceil(delay / 60)),
        remark="seconds there, minutes here",
    )  # fmt: skip
    found.leave("matchmaking.timeout", "a challenge is cancelled after 25 s, as Lichess then forgets it", matters=False)
    found.move("matchmaking.selection", "matchmaking.selection")
    kinds = {name: kind for name in types if (kind := _kind(found, name)) is not None}
    _weigh(kinds)
    if len(kinds) == 1:
        ((name, kind),) = kinds.items()
        kind.pop("weight")
        for key, value in kind.items():
            found.set(f"matchmaking.{key}", value, old=f"matchmaking.types.{name}")
    elif kinds:
        found.set("matchmaking.weight", 0, remark="only the kinds of games in overrides are proposed")
        found.set("matchmaking.overrides", kinds, old="matchmaking.types")


def _kind(found: Translation, name: str) -> dict[str, Any] | None:
    """Return a kind of game; None, and noted, if it is not played here."""
    section = ("matchmaking", "types", name)
    clock = ExactClock.parse(str(found.peek((*section, "tc"))))
    variant = found.peek((*section, "variant")) or Variant.STANDARD.value
    if clock is None or variant not in tuple(VariantChoice):
        key, reason = ("variant", f"{variant} is not proposed here") if clock else ("tc", "expected minutes+seconds")
        found.take(section)
        found.note((*section, key), reason)
        return None
    given = {key: found.take((*section, key)) for key in _KIND}
    rated = given["rated"] is not False
    kind = {
        "challenge_initial_time": [clock.base_s],
        "challenge_increment": [clock.increment_s],
        "challenge_variant": variant,
        "challenge_mode": "rated" if rated else "casual",
        "opponent_rating_difference": given["max_rating_diff"] or None,
        "opponent_min_rating": 0,
    }
    for theirs, ours in (("min", "opponent_min_rating_difference"), ("target", "opponent_target_rating_difference")):
        if given[f"{theirs}_rating_diff"]:
            kind[ours] = given[f"{theirs}_rating_diff"]
    if given["multiplier"]:
        kind["opponent_rest_multiplier"] = given["multiplier"]
    weight = given["weight"]
    is_number = isinstance(weight, int | float) and abs(weight) <= sys.float_info.max
    return kind | {"weight": weight if is_number else 1 / max(clock.expected_s, 1)}


def _weigh(kinds: dict[str, dict[str, Any]]) -> None:
    """Make whole numbers up to 1000 of the weights; BotLi tries the heaviest first."""
    most = max((kind["weight"] for kind in kinds.values()), default=0)
    whole = all(isinstance(kind["weight"], int) and kind["weight"] <= 1000 for kind in kinds.values())
    for name in sorted(kinds, key=lambda name: -kinds[name]["weight"]):
        kind = kinds[name] = kinds.pop(name)
        if not whole:
            kind["weight"] = max(1, round(kind["weight"] / most * 1000)) if kind["weight"] else 0


def _lists(found: Translation) -> None:
    blocked = found.move("blacklist", "challenge.block_list")
    online = found.move("online_blacklists", "challenge.online_block_list")
    if blocked or online:
        found.set("matchmaking.include_challenge_block_list", True, remark="BotLi challenges nobody on its lists")
    if found.move("whitelist", "challenge.block_list_exceptions"):
        found.note("whitelist", "exempts from block lists on the web only, not from the other rules of challenge")
