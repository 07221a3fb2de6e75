"""The recorded games as the operator's page asks for them: JSON and PGN.

Brings together the records and the rules of chess, for the web server, which must know neither. For any thread.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from engine.facade import InvalidFen, InvalidMove, InvalidVariant
from lichessbot.control.web.site import NoGame, WrongQuery
from lichessbot.games.recording.pgn import board_of, pgn_of
from lichessbot.games.review.review import Review, recorded_mistakes, recorded_scores, review_of
from lichessbot.storage.game_filter import GameFilter
from lichessbot.storage.game_history import GameHistory
from lichessbot.storage.game_records import GameRecord, MoveRecord
from lichessbot.storage.statistics import aggregate

_USUAL_LIMIT: Final = 50
_MOST: Final = 500
_FILTERS: Final = ("speed", "colour", "opponent", "result", "opening")
_KEYS: Final = (*_FILTERS, "limit", "before", "before_id")


class RecordedGames:
    """Answers from the records in one state folder; what `lichessbot.control.web.site.History` asks for."""

    def __init__(self, folder: Path) -> None:
        self._records = GameHistory(folder)
        self._counted: tuple[Any, bytes] | None = None
        """The edition of the records that was counted last, and its statistics."""

    def games(self, query: Mapping[str, str]) -> bytes:
        """Return the newest games that the query means, as `{"games": [...]}`; keys without a value are ignored.

        The next page begins `before` the last game of this one, `before_id` in case they began at the same moment.
        """
        given = {key: value for key, value in query.items() if value}
        for key in given:
            if key not in _KEYS:
                raise WrongQuery(f"{key}: no such key; expected {', '.join(_KEYS)}")
        try:
            wanted = GameFilter.parse([f"{key}={given[key]}" for key in _FILTERS if key in given])
        except ValueError as error:
            raise WrongQuery(str(error)) from error
        if "before" in given:
            wanted = wanted.before(_moment(given["before"]), given.get("before_id"))
        games = self._records.games(wanted, _limit(given.get("limit", str(_USUAL_LIMIT))))
        return _json({"games": [_record(game) for game in reversed(games)]})

    def game(self, game_id: str) -> bytes:
        """Return a game as `{"game": {...}, "moves": [...], "chat": [...], "review": {...}, "mistakes", "scores"}`.

        Each move also has its SAN. Without a review, which is then null, the mistakes and scores are our own, by our
        evaluations during the game.
        """
        game, moves = self._game(game_id)
        notation = _notation(game, moves)
        shown = [{**asdict(move), "san": san} for move, san in zip(moves, notation, strict=True)]
        review = self._review(game, moves)
        mistakes = recorded_mistakes(game, moves) if review is None else review.mistakes
        told = None if review is None else review.as_json()
        return _json(
            {
                "game": _record(game),
                "moves": shown,
                "chat": list(map(asdict, self._records.chat(game_id))),
                "review": told,
                "mistakes": [mistake.as_json() for mistake in mistakes],
                "scores": recorded_scores(game, moves) if told is None else told["positions"],
            }
        )

    def pgn(self, game_id: str) -> bytes:
        """Return a game as PGN with evaluations and clocks."""
        game, moves = self._game(game_id)
        try:
            return pgn_of(game, moves, self._records.site()).encode()
        except (InvalidFen, InvalidMove, InvalidVariant) as error:
            raise NoGame(f"{game_id}: the recorded moves cannot be replayed: {error}") from error

    def statistics(self) -> bytes:
        """Return the score, in all and by subject, and ratings and results over time; count again only after changes.

        Figures of moves and challenges would take several times as long: `lichessbot stats` has them.
        """
        edition = self._records.edition()
        if self._counted is None or self._counted[0] != edition:
            games = self._records.games()
            found = aggregate(games)
            shown = {"score": found.score, "groups": found.groups, "ratings": found.ratings}
            results = [(game.began_at, game.result) for game in games if game.result is not None]
            self._counted = edition, _json({**shown, "results": results})
        return self._counted[1]

    def _review(self, game: GameRecord, moves: Sequence[MoveRecord]) -> Review | None:
        """Return the review of the whole game; None without one."""
        record = self._records.review(game.id)
        try:
            return None if record is None else review_of(game, moves, record)
        except (InvalidFen, InvalidMove, InvalidVariant):
            return None

    def _game(self, game_id: str) -> tuple[GameRecord, Sequence[MoveRecord]]:
        """Return a game and its moves. Raises NoGame."""
        game = self._records.game(game_id)
        if game is None:
            raise NoGame(f"the records have no game {game_id}")
        return game, self._records.moves(game_id)


def _record(game: GameRecord) -> dict[str, Any]:
    return {**asdict(game), "began_at": game.began_at, "time_control": game.time_control if game.speed else ""}


def _notation(game: GameRecord, moves: Sequence[MoveRecord]) -> list[str | None]:
    """Return the SAN of each move; None from the first one on that cannot be replayed."""
    found: list[str | None] = []
    try:
        board = board_of(game, ())
        for move in moves:
            found.append(board.san(move.move))
            board.push(move.move)
    except (InvalidFen, InvalidMove, InvalidVariant):
        pass
    return [*found, *[None] * (len(moves) - len(found))]


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= _MOST):
        raise WrongQuery(f"limit: expected a number from 1 to {_MOST}, found {text!r}")
    return int(text)


def _moment(text: str) -> float:
    try:
        moment = float(text)
    except ValueError:
        moment = math.nan
    if not math.isfinite(moment):
        raise WrongQuery(f"before: expected seconds since 1970, found {text!r}")
    return moment


def _json(value: object) -> bytes:
    return json.dumps(value, default=asdict, separators=(",", ":")).encode()
