"""Statistics of the games in the records. Pure: rows in, numbers out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from lichessbot.storage.game_records import GameRecord, Score

# Beyond ten pawns a game is decided, and a further fall means nothing.
_DECIDED_CP: Final = 1000
MOVES_A_PHASE: Final = 10

SELECT_DECLINED_BY_OTHERS: Final = "SELECT reason, count(*) FROM declines GROUP BY reason ORDER BY 2 DESC, 1"
# Those that another program declined have no reason.
SELECT_DECLINED_BY_US: Final = """
    SELECT coalesce(nullif(reason, ''), because), count(*) FROM challenges WHERE answer = 'declined'
    GROUP BY 1 ORDER BY 2 DESC, 1
"""
# How our moves came about: the rows of SourceUse, and of PhaseUse.
SELECT_SOURCES: Final = """
    SELECT source, count(*), avg(search_ms), avg(reaction_ms), max(reaction_ms), avg(delivery_ms), max(delivery_ms),
        avg(nullif(depth, 0)), nullif(sum(nodes), 0),
        CAST(round(sum(nodes) * 1000.0 / sum(CASE WHEN nodes > 0 THEN search_ms END)) AS INTEGER)
    FROM moves WHERE source <> '' AND game_id IN ({games}) GROUP BY source ORDER BY 2 DESC, 1
"""
SELECT_PHASES: Final = f"""
    SELECT (ply - 1) / {2 * MOVES_A_PHASE} * {MOVES_A_PHASE} + 1, count(*), avg(search_ms), avg(clock_ms)
    FROM moves WHERE source <> '' AND game_id IN ({{games}}) GROUP BY 1 ORDER BY 1
"""
# Our evaluation before a move of ours, and before the next one that has one; the rest only of the largest drops.
SELECT_DROPS: Final = f"""
    SELECT game_id, ply, move, source, depth, clock_ms, moves.score_cp, next_cp, initial_fen FROM (
        SELECT game_id, ply, next_cp, max(-{_DECIDED_CP}, next_cp) - bounded_cp AS change_cp FROM (
            SELECT game_id, ply, max(-{_DECIDED_CP}, min({_DECIDED_CP}, score_cp)) AS bounded_cp,
                lead(score_cp) OVER (PARTITION BY game_id ORDER BY ply) AS next_cp
            FROM moves WHERE score_cp IS NOT NULL AND game_id IN ({{games}})
        ) WHERE change_cp < 0 ORDER BY change_cp, game_id, ply LIMIT ?
    ) AS drops JOIN moves USING (game_id, ply) JOIN games ON games.id = game_id ORDER BY change_cp, game_id, ply
"""


@dataclass(frozen=True, slots=True)
class SourceUse:
    """How our moves from one source came about; times in milliseconds, None if never measured."""

    source: str
    moves: int
    search_ms: float | None
    reaction_ms: float | None
    longest_reaction_ms: int | None
    delivery_ms: float | None
    longest_delivery_ms: int | None
    depth: float | None
    nodes: int | None
    nodes_per_s: int | None


@dataclass(frozen=True, slots=True)
class PhaseUse:
    """Our time use within ten moves: how long we searched for each, and what was left on the clock after it."""

    first_move: int
    moves: int
    search_ms: float | None
    clock_ms: float | None


@dataclass(frozen=True, slots=True)
class Drop:
    """A fall of our evaluation from one move of ours to the next; `initial_fen` as in GameRecord."""

    game_id: str
    ply: int
    move: str
    source: str | None
    depth: int | None
    clock_ms: int | None
    score_cp: int
    next_cp: int
    initial_fen: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """All figures. `groups` has for each subject, such as `speed`, the score by name, most games first."""

    first_at: float | None
    last_at: float | None
    score: Score
    without_result: int
    groups: Mapping[str, Mapping[str, Score]]
    endings: Mapping[str, Score]
    """The score by Lichess's status, such as `mate` and `outoftime`."""
    ratings: Mapping[str, Sequence[tuple[float, int]]]
    """For each speed or variant with a rating of its own the times of rated games, and our rating as they began.

    A last point is our rating after the last one, once Lichess told how much it changed.
    """
    sources: Sequence[SourceUse]
    phases: Sequence[PhaseUse]
    drops: Sequence[Drop]
    declined_by_others: Mapping[str, int]
    """How many challenges of ours were declined or not answered, by reason; empty if only some games are counted."""
    declined_by_us: Mapping[str, int]


_SUBJECTS: Final[Mapping[str, Callable[[GameRecord], str]]] = {
    "speed": lambda game: game.speed,
    "variant": lambda game: game.variant,
    "colour": lambda game: game.colour,
    "level": lambda game: "" if game.level is None else str(game.level),
    "opening": lambda game: f"{game.eco} {game.opening}".strip(),
}


def aggregate(
    games: Sequence[GameRecord],
    sources: Iterable[Sequence[Any]] = (),
    phases: Iterable[Sequence[Any]] = (),
    drops: Iterable[Sequence[Any]] = (),
    declined_by_others: Iterable[tuple[str, int]] = (),
    declined_by_us: Iterable[tuple[str, int]] = (),
) -> Statistics:
    """Return the statistics of these games, oldest first, and of the rows of the queries above."""
    finished = [game for game in games if game.result is not None]
    latest_names = {game.opponent_id: game.opponent for game in games if game.opponent_id}  # titles are won and lost
    opponent = {"opponent": lambda game: latest_names.get(game.opponent_id, game.opponent)}
    return Statistics(
        first_at=games[0].began_at if games else None,
        last_at=games[-1].began_at if games else None,
        score=_score(finished),
        without_result=len(games) - len(finished),
        groups={subject: _by(finished, name) for subject, name in {**_SUBJECTS, **opponent}.items()},
        endings=_by(finished, lambda game: game.status),
        ratings=_ratings(games),
        sources=[SourceUse(*row) for row in sources],
        phases=[PhaseUse(*row) for row in phases],
        drops=[Drop(*row) for row in drops],
        declined_by_others=dict(declined_by_others),
        declined_by_us=dict(declined_by_us),
    )


def _by(games: Iterable[GameRecord], name: Callable[[GameRecord], str]) -> Mapping[str, Score]:
    named: dict[str, list[GameRecord]] = {}
    for game in games:
        named.setdefault(name(game), []).append(game)
    return {key: _score(named[key]) for key in sorted(named, key=lambda key: (-len(named[key]), key)) if key}


def _score(games: Iterable[GameRecord]) -> Score:
    return Score.of([game.result for game in games if game.result is not None])


def _ratings(games: Iterable[GameRecord]) -> Mapping[str, Sequence[tuple[float, int]]]:
    ratings: dict[str, list[tuple[float, int]]] = {}
    changes: dict[str, list[tuple[float, int]]] = {}
    for game in games:
        if game.rated and game.our_rating is not None:
            ratings.setdefault(game.rating_category, []).append((game.began_at, game.our_rating))
            if game.ended_at is not None and game.rating_diff is not None:
                changes.setdefault(game.rating_category, []).append((game.ended_at, game.rating_diff))
    for category, points in ratings.items():
        began_at, rating = points[-1]
        # Games that were played at the same time change it, too.
        since = [(ended_at, diff) for ended_at, diff in changes.get(category, ()) if ended_at > began_at]
        if since:
            points.append((max(since)[0], rating + sum(diff for _, diff in since)))
    return ratings


def falls(scores: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the plies after which our evaluation fell, and by how much, the largest first.

    `scores` has our evaluation before each move of ours, with its ply.
    """
    found = [(ply, _bounded(before) - _bounded(after)) for (ply, before), (_, after) in pairwise(scores)]
    return sorted(((ply, size) for ply, size in found if size > 0), key=lambda fall: (-fall[1], fall[0]))


def _bounded(score_cp: int) -> int:
    return max(-_DECIDED_CP, min(_DECIDED_CP, score_cp))
