"""What is recorded of a game while it is played."""

from dataclasses import fields, replace
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from engine.facade import Board
from lichessbot.config import Config
from lichessbot.games.actions import GameOver
from lichessbot.games.manager import GameManager
from lichessbot.games.move_search import ChosenMove
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import ChatLine, GameFinish, GameInfo
from lichessbot.lichess.streams import StreamEvent
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.storage.game_records import GameRecord, MoveRecord, Result, Score, changed, played, taken_back
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import FALLBACK, BestMove, SearchInfo
from tests.lichessbot.games.recording.recorded import GAME, WON, Notes, Recording


def test_our_move_has_what_was_known_when_it_was_sent_and_when_it_showed() -> None:
    recording = Recording()
    recording.full("")
    recording.send("e2e4", at=100.0)
    recording.send("e2e4", reaction_ms=900.0, at=101.0)
    recording.state("e2e4", 178.5, 180, at=101.25)
    recording.state("e2e4 e7e5", 178.5, 170)
    ours, theirs = recording.finished().moves
    assert ours == MoveRecord(1, "e2e4", 178_500, "engine", 31, 9, 5000, 1500, 3, 1250)
    assert theirs == MoveRecord(2, "e7e5", 170_000)


def test_our_move_that_shows_with_its_answer_has_no_time_of_delivery() -> None:
    recording = Recording()
    recording.full("")
    recording.send("e2e4")
    recording.full("e2e4 e7e5")
    assert recording.finished().moves[0] == MoveRecord(1, "e2e4", None, "engine", 31, 9, 5000, 1500, 3, None)


@pytest.mark.parametrize(
    ("answer", "source", "depth"),
    [
        (BestMove(GAME, 1, "e2e4", SearchInfo(depth=7)), "engine", 7),
        (BestMove(GAME, 1, "e2e4", source=FALLBACK), "fallback", 0),
        (SourceAnswer(GAME, 1, ("e2e4",), "own_book"), "own_book", 0),
        (None, "only move", None),
    ],
)
def test_the_source_of_a_move_is_what_found_it(
    answer: BestMove | SourceAnswer | None, source: str, depth: int | None
) -> None:
    recording = Recording()
    recording.full("")
    recording.recorder.note_sent(ChosenMove(Board(), "e2e4", answer), 0.0, 0.0)
    recording.state("e2e4")
    (move,) = recording.finished().moves
    assert (move.source, move.depth) == (source, depth)


def test_a_move_that_another_process_sent_has_no_source_but_what_that_process_recorded() -> None:
    recording = Recording()
    recording.store.on_disk = [MoveRecord(1, "e2e4", 179_000, "engine", 40, 11), MoveRecord(2, "c7c5", 178_000)]
    recording.full("e2e4 e7e5 g1f3 b8c6")
    assert recording.finished().moves == [
        MoveRecord(1, "e2e4", 179_000, "engine", 40, 11),
        MoveRecord(2, "e7e5"),
        MoveRecord(3, "g1f3", source=""),
        MoveRecord(4, "b8c6", 180_000),
    ]


def test_a_restart_overwrites_nothing_that_the_beginning_does_not_tell() -> None:
    ferdinand = {"id": "ferdinand", "name": "Ferdinand", "title": "GM", "rating": 1900}
    start = {"initialFen": "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "daysPerTurn": 2, "tournamentId": "arena123"}
    recording = Recording(black=ferdinand, **start)
    recording.full("")
    (sql, (values,)), *_ = recording.store.statements
    written = dict(zip(sql.partition("(")[2].partition(")")[0].split(", "), values, strict=True))
    defaults = {column.name: column.default for column in fields(GameRecord)}
    assert [name for name, value in written.items() if value == defaults[name]] == ["has_clock"]


def test_a_last_move_that_is_seen_again_keeps_what_was_known_of_it() -> None:
    recording = Recording()
    recording.store.on_disk = [MoveRecord(1, "e2e4", 179_000, "engine", 40, 11)]
    recording.full("e2e4", 178.5, 180)
    assert recording.finished().moves == [MoveRecord(1, "e2e4", 178_500, "engine", 40, 11)]
    recording = Recording()
    recording.full("e2e4", 0, 0)
    assert recording.finished().moves[0].clock_ms is None, "Lichess may send zeros"


def test_moves_that_were_taken_back_between_two_processes_or_later_are_deleted() -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    assert taken_back(GAME, 2) in recording.store.statements
    recording.full("e2e4")
    assert recording.store.statements[-1] == taken_back(GAME, 1)


def test_a_last_move_that_only_the_event_stream_shows_keeps_what_was_known_of_it() -> None:
    recording = Recording(white=False)
    recording.full("f2f3 e7e5 g2g4")
    recording.send("f2f3 e7e5 g2g4 d8h4", "mate 1")
    moves = recording.finished(replace(WON, missing=("d8h4",))).moves
    assert moves[-1] == MoveRecord(4, "d8h4", None, "engine", 99_999, 9, 5000, 1500, 3)
    assert played(GAME, moves) in recording.store.statements


def test_our_move_and_its_answer_may_both_be_missing_in_the_games_stream() -> None:
    recording = Recording()
    recording.full("f2f3 e7e5")
    recording.send("f2f3 e7e5 g2g4")
    game = recording.finished(replace(WON, missing=("g2g4", "d8h4")))
    assert game.record.plies == 4
    assert game.moves[2:] == [
        MoveRecord(3, "g2g4", None, "engine", 31, 9, 5000, 1500, 3),
        MoveRecord(4, "d8h4"),
    ]


def test_another_move_than_we_sent_has_nothing_of_ours() -> None:
    """One that an earlier process sent just before it was killed may still arrive first."""
    recording = Recording()
    recording.full("")
    recording.send("e2e4")
    recording.state("d2d4")
    assert recording.finished().moves == [MoveRecord(1, "d2d4", 180_000, source="")]


def test_castling_is_ours_however_the_stream_writes_it() -> None:
    recording = Recording()
    moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"
    recording.full(moves)
    recording.send(f"{moves} e1g1")
    recording.state(f"{moves} e1h1")
    assert recording.finished().moves[-1].score_cp == 31


def test_a_move_that_was_refused_after_a_takeback_and_is_sent_again_later_is_another_one() -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    recording.send("e2e4 e7e5 g1f3", "cp 31", at=100.0)
    recording.full("")
    recording.state("d2d4 d7d5")
    recording.send("d2d4 d7d5 g1f3", "cp 20", at=200.0)
    recording.state("d2d4 d7d5 g1f3", at=200.5)
    move = recording.finished().moves[-1]
    assert (move.score_cp, move.delivery_ms) == (20, 500)


def test_our_last_move_is_left_out_if_neither_stream_shows_it() -> None:
    """Our time ran out while it was under way."""
    recording = Recording()
    recording.full("e2e4 e7e5")
    recording.send("e2e4 e7e5 g1f3")
    assert recording.finished().record.plies == 2


def test_the_store_gets_one_note_for_each_move_of_ours() -> None:
    recording = Recording(white=False)
    recording.full("")
    begun = len(recording.store.statements)
    recording.state("e2e4")
    assert len(recording.store.statements) == begun
    recording.play("e2e4 e7e5")
    (sql, rows), *more = recording.store.statements[begun:]
    assert not more
    assert "INTO moves" in sql
    assert [row[:3] for row in rows] == [[GAME, 1, "e2e4"], [GAME, 2, "e7e5"]]


@pytest.mark.parametrize(
    ("over", "result"),
    [
        (GameOver(GameStatus.MATE, Colour.WHITE, 2), Result.WON),
        (GameOver(GameStatus.MATE, Colour.BLACK, 2), Result.LOST),
        (GameOver(GameStatus.STALEMATE, None, 2), Result.DRAWN),
        (GameOver(GameStatus.ABORTED, None, 2), None),
        (GameOver(GameStatus.NO_START, None, 2), None),
        (GameOver(GameStatus.NO_START, Colour.WHITE, 2), Result.WON),
        (GameOver(GameStatus.NO_START, Colour.BLACK, 2), Result.LOST),
        (GameOver(GameStatus.UNKNOWN_FINISH, Colour.BLACK, 2), Result.LOST),
        (GameOver(GameStatus.UNKNOWN_FINISH, None, 2), None),
    ],
)
def test_the_result_is_ours_and_counts_against_the_opponent(over: GameOver, result: Result | None) -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    record = recording.finished(over).record
    assert (record.result, record.status, record.plies) == (result, over.status, 2)
    score = recording.store.scores.against("ferdinand")
    assert score == (Score() if result is None else Score.of([result]))


def test_the_end_of_a_game_left_without_a_known_one_is_not_recorded() -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    assert recording.recorder.finish(GameOver(GameStatus.UNKNOWN_FINISH, None, 2, told=False)) is None
    assert not any("status" in sql for sql, _ in recording.store.statements if sql.startswith("UPDATE"))


@pytest.mark.parametrize(
    ("black", "opponent_id"), [({"id": "ferdinand", "name": "Ferdi"}, "ferdinand"), ({"aiLevel": 3}, "AI-3"), ({}, "")]
)
def test_the_built_in_ai_has_an_id_by_its_level_and_an_anonymous_player_none(
    black: dict[str, object], opponent_id: str
) -> None:
    recording = Recording(black=black)
    recording.full("")
    assert recording.finished().record.opponent_id == opponent_id


def test_a_game_of_others_is_not_recorded() -> None:
    recording = Recording(our_id="somebody")
    recording.full("e2e4")
    recording.state("e2e4 e7e5")
    assert recording.recorder.finish(WON) is None
    assert recording.store.statements == []


def test_chat_is_recorded_up_to_a_limit() -> None:
    recording = Recording()
    recording.full("")
    before = len(recording.store.statements)
    for number in range(300):
        line = ChatLine(room="player", username="Ferdi", text=f"line {number}")
        recording.recorder.handle(StreamEvent(GAME, line, 0.0))
    said = recording.store.statements[before:]
    assert len(said) == 200
    assert list(said[0][1][0])[2:] == ["player", "Ferdi", "line 0"]


def test_what_lichess_says_in_both_rooms_is_recorded_once() -> None:
    recording = Recording()
    recording.full("")
    before = len(recording.store.statements)
    for room in ("spectator", "player"):
        line = ChatLine(room=room, username="lichess", text="White offers draw")
        recording.recorder.handle(StreamEvent(GAME, line, 0.0))
    (said,) = recording.store.statements[before:]
    assert list(said[1][0])[2:] == ["player", "lichess", "White offers draw"]


def test_the_rating_change_is_recorded_when_the_event_stream_tells_it() -> None:
    store, manager = Notes(), GameManager(SimpleQueue(), Timeouts())
    context: Any = SimpleNamespace(store=store, config=Config())
    manager.compare([], 0.0, context)
    for more in ({}, {"ratingDiff": -7}):
        game = GameInfo.model_validate({"gameId": GAME, "variant": {"key": "standard"}, **more})
        manager.finished(game, StreamEvent(None, GameFinish(game=game), 0.0))
    assert store.statements == [changed(GAME, rating_diff=-7)]


def test_the_level_that_played_last_is_recorded_and_named_in_the_pgn() -> None:
    recording = Recording(rated=False)
    recording.full("")
    recording.recorder.note_level(1500)
    recording.recorder.note_level(1500)
    recording.recorder.note_level(1650)
    levels = [rows for sql, rows in recording.store.statements if sql.startswith("UPDATE games SET level")]
    assert levels == [[(1500, GAME)], [(1650, GAME)]]
    recording.full("e2e4")    # after a reconnect
    headers = recording.read().headers
    assert headers["WhiteLevel"] == "1650"
    assert "BlackLevel" not in headers
    assert recording.store.level_results.against("ferdinand", "standard") == ((1650, Result.WON),)


def test_full_strength_has_no_level() -> None:
    recording = Recording()
    recording.full("")
    recording.recorder.note_level(None)
    levels = [rows for sql, rows in recording.store.statements if sql.startswith("UPDATE games SET level")]
    assert levels == [[(None, GAME)]], "an earlier process may have played at a level"
    recording.state("e2e4")
    assert "WhiteLevel" not in recording.read().headers
    assert recording.store.level_results.against("ferdinand", "standard") == ()
