"""The level at which an engine plays: a rating that it is told as UCI_Elo.

Pure. Only a casual game has a level that depends on its opponent: rated games have one strength for everybody. A level
is the strength of the whole bot, so nothing that plays at full strength is asked beside the engine: no tablebase, no
server, no book beyond the moves that such a player knows (our engine has its own), and no search on the opponent's
time, as levels are calibrated without.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lichessbot.config import EngineConfig, Strength
from lichessbot.lichess.enums import INITIAL_RATING
from lichessbot.storage.game_records import Result, Score

FULL: Final = 0
"""The level `full` where None means that no level was chosen."""
# A player of the first level knows no opening moves; each further own move costs this many points.
_LEVEL_WITHOUT_BOOK: Final = 600
_LEVELS_PER_BOOK_MOVE: Final = 150
_OWN_BOOK_OPTION: Final = "OwnBook"
# Results are lopsided if one side has this share of the points in this many of the latest games.
_LOPSIDED: Final = 0.8
_FEWEST_RESULTS: Final = 3
_MOST_RESULTS: Final = 6
_ELO_SCALE: Final = 400
_STEP: Final = 50


def level_for(engine: EngineConfig, *, rated: bool, rating: int | None, chosen: int | None) -> int | None:
    """Return the level of a game; None for full strength.

    `rating`: the opponent's at this speed, provisional ones included. `chosen`: what the opponent chose in the chat, or
    FULL; it counts in casual games only.
    """
    if chosen is not None and not rated:
        return chosen or None
    if engine.strength is not Strength.MATCH_OPPONENT:
        return engine.level
    if rated:
        return None
    match = engine.match_opponent
    wanted = (INITIAL_RATING if rating is None else rating) + match.offset
    return nearest_level(wanted, (match.floor, match.ceiling))


def at_level(engine: EngineConfig, level: int | None) -> EngineConfig:
    """Return the configuration that plays at this level, or with None at full strength; never MATCH_OPPONENT."""
    if level is not None and engine.command is None and not engine.has_own_book:
        engine = engine.model_copy(update={"uci_options": {_OWN_BOOK_OPTION: False, **engine.uci_options}})
    if engine.strength is Strength.FULL and engine.level == level:
        return engine  # also if UCI options set it, as in lichess-bot: then all the rest is the operator's choice too
    others = {name: it for name, it in engine.uci_options.items() if name not in engine.strength_options}
    if level is None and engine.command is None:       # our book is for levels only
        others = {name: it for name, it in others.items() if name.lower() != _OWN_BOOK_OPTION.lower()}
    engine = engine.model_copy(update={"strength": level or Strength.FULL, "uci_options": others})
    if level is None:
        return engine
    moves = max(0, (level - _LEVEL_WITHOUT_BOOK) // _LEVELS_PER_BOOK_MOVE)
    polyglot = engine.polyglot.model_copy(update={"max_depth": min(moves, engine.polyglot.max_depth)})
    return engine.model_copy(
        update={
            "ponder": False,
            "variety": False,
            "own_book": False,
            "polyglot": polyglot,
            "lichess_bot_tbs": type(engine.lichess_bot_tbs)(),
            "online_moves": type(engine.online_moves)(),
        }
    )


def nearest_level(wanted: int, levels: tuple[int, int]) -> int:
    """Return the level within the lowest and highest one that is nearest to the wanted one."""
    lowest, highest = levels
    return min(max(wanted, lowest), highest)


@dataclass(frozen=True, slots=True)
class LevelSuggestion:
    """Another level for an opponent, after these results of ours against one level."""

    level: int
    played: int
    score: Score


def suggested_level(
    results: Sequence[tuple[int, Result]], level: int | None, levels: tuple[int, int]
) -> LevelSuggestion | None:
    """Return the level to propose at the start of a game at `level`; None if it fits, or if too little is known.

    `results`: our casual games against the opponent at a level, oldest first. Those against the latest level count. The
    step is half of what they say about the strength of the opponent, as they are few.
    """
    if level is None or not results:
        return None
    played = results[-1][0]
    latest = []
    for other, result in reversed(results[-_MOST_RESULTS:]):
        if other != played:
            break
        latest.append(result)
    score = Score.of(latest)
    theirs = 1 - score.points / score.games
    if score.games < _FEWEST_RESULTS or 1 - _LOPSIDED < theirs < _LOPSIDED:
        return None
    expected = (theirs * score.games + 0.5) / (score.games + 1)
    difference = _ELO_SCALE * math.log10(expected / (1 - expected)) / 2
    wanted = nearest_level(played + _STEP * round(difference / _STEP), levels)
    is_new = wanted > max(level, played) if difference > 0 else wanted < min(level, played)
    return LevelSuggestion(wanted, played, score) if is_new else None
