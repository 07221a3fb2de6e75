"""PGN of finished games, read back by python-chess."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn
import pytest

from engine.facade import chess960_fen
from lichessbot.config import Config
from lichessbot.control.status import Faults
from lichessbot.games.actions import GameOver
from lichessbot.games.recording.archive import GameArchive
from lichessbot.games.recording.pgn import pgn_of
from lichessbot.lichess.enums import Colour, GameStatus
from tests.lichessbot.games.recording.recorded import GAME, Recording
from tests.time_zone import FAR_EAST, in_time_zone


@in_time_zone(FAR_EAST)
def test_headers_are_those_of_lichess() -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    assert dict(recording.read().headers) == {
        "Event": "Rated blitz game",
        "Site": "https://lichess.org/abcd1234",
        "Date": "2026.01.01",
        "Round": "-",
        "White": "TestBot",
        "Black": "Ferdi",
        "Result": "1-0",
        "GameId": GAME,
        "UTCDate": "2026.01.01",
        "UTCTime": "00:00:00",
        "TimeControl": "180+2",
        "Termination": "Normal",
        "WhiteElo": "2000",
        "WhiteTitle": "BOT",
        "ECO": "C20",
        "Opening": "King's Pawn Game",
    }


@pytest.mark.parametrize(
    ("facts", "event"),
    [
        ({"variant": {"key": "crazyhouse"}, "rated": False}, "Casual crazyhouse game"),
        ({"variant": {"key": "fromPosition"}, "rated": False}, "Casual blitz game"),
        ({"tournamentId": "arena123"}, "Rated blitz tournament https://lichess.org/tournament/arena123"),
    ],
)
def test_the_event_names_what_lichess_rates_the_game_by_and_its_arena(facts: dict[str, Any], event: str) -> None:
    recording = Recording(**facts)
    recording.full("e2e4 e7e5")
    assert recording.read().headers["Event"] == event


@pytest.mark.parametrize(("white", "diff", "header"), [(True, 4, "+4"), (False, -11, "-11"), (True, 0, "+0")])
def test_our_rating_change_is_written_once_it_is_recorded(white: bool, diff: int, header: str) -> None:
    recording = Recording(white=white)
    recording.full("e2e4")
    whole = recording.finished()
    text = pgn_of(replace(whole.record, rating_diff=diff), whole.moves, "https://lichess.org")
    assert [line for line in text.splitlines() if "Diff" in line] == [
        f'[{"White" if white else "Black"}RatingDiff "{header}"]'
    ]


def test_each_seen_ply_has_the_clock_of_its_side() -> None:
    recording = Recording()
    recording.full("e2e4", 180, 180)
    recording.state("e2e4 e7e5", 180, 171)
    recording.state("e2e4 e7e5 g1f3", 175, 171)
    recording.full("e2e4 e7e5 g1f3 b8c6 f1c4", 160, 150)
    clocks = [node.clock() for node in recording.read().mainline()]
    assert clocks == [180, 171, 175, None, 160]


def test_our_evaluations_are_written_for_white() -> None:
    for white, before, value in ((True, "", 31), (False, "e2e4", -31)):
        recording = Recording(white=white)
        recording.full(before)
        recording.play(f"{before} e2e4" if white else f"{before} e7e5")
        node = list(recording.read().mainline())[-1]
        assert node.eval() == chess.engine.PovScore(chess.engine.Cp(value), chess.WHITE)
        assert node.eval_depth() == 9


@pytest.mark.parametrize(
    ("score", "mate"), [("mate 3", 2), ("mate -3", -3), ("mate 1", None), ("", None), ("cp", None)]
)
def test_a_mate_is_counted_from_the_position_after_the_move(score: str, mate: int | None) -> None:
    recording = Recording()
    recording.full("")
    recording.play("e2e4", score)
    evaluation = next(iter(recording.read().mainline())).eval()
    assert (None if evaluation is None else evaluation.white().mate()) == mate


def test_moves_that_were_taken_back_are_removed() -> None:
    recording = Recording()
    recording.full("")
    recording.state("e2e4", 179, 180)
    recording.full("", 180, 180)
    recording.state("d2d4", 100, 180)
    (node,) = recording.read().mainline()
    assert (node.san(), node.clock()) == ("d4", 100)


def test_a_state_with_an_offer_changes_nothing() -> None:
    recording = Recording()
    recording.full("")
    recording.state("")
    recording.send("e2e4")
    recording.state("e2e4")
    recording.state("e2e4")
    assert next(iter(recording.read().mainline())).eval() is not None


def test_an_old_line_that_comes_late_changes_nothing() -> None:
    recording = Recording()
    recording.full("")
    recording.play("e2e4")
    recording.state("e2e4 e7e5")
    recording.state("e2e4")
    recording.play("e2e4 e7e5 g1f3")
    assert [node.eval() is not None for node in recording.read().mainline()] == [True, False, True]


@pytest.mark.parametrize(
    ("over", "result", "termination"),
    [
        (GameOver(GameStatus.MATE, Colour.BLACK, 4), "0-1", "Normal"),
        (GameOver(GameStatus.DRAW, None, 4), "1/2-1/2", "Normal"),
        (GameOver(GameStatus.OUT_OF_TIME, Colour.WHITE, 4), "1-0", "Time forfeit"),
        (GameOver(GameStatus.TIMEOUT, None, 4), "1/2-1/2", "Time forfeit"),
        (GameOver(GameStatus.ABORTED, None, 4), "*", "Abandoned"),
        (GameOver(GameStatus.CHEAT, Colour.WHITE, 4), "1-0", "Rules infraction"),
        (GameOver(GameStatus.INSUFFICIENT_MATERIAL_CLAIM, None, 4), "1/2-1/2", "Insufficient material"),
        (GameOver(GameStatus.UNKNOWN_FINISH, None, 4), "*", "Unknown"),
    ],
)
def test_result_and_termination_are_those_of_lichess(over: GameOver, result: str, termination: str) -> None:
    recording = Recording()
    recording.full("e2e4 e7e5")
    headers = recording.read(over).headers
    assert (headers["Result"], headers["Termination"]) == (result, termination)


@pytest.mark.parametrize(("moves", "status"), [("", GameStatus.RESIGN), ("e2e4", GameStatus.ABORTED)])
def test_a_game_without_moves_or_an_aborted_one_has_no_file(tmp_path: Path, moves: str, status: GameStatus) -> None:
    recording = Recording()
    recording.full(moves)
    archive = GameArchive(recording.store, Faults())
    archive.put(recording.finished(GameOver(status, None, len(moves.split()))), Config(pgn_directory=tmp_path / "pgn"))
    archive.close()
    assert list(tmp_path.iterdir()) == []


def test_a_position_with_black_to_move_and_castling_as_in_chess960() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
    recording = Recording(white=False, variant={"key": "fromPosition"}, initialFen=fen)
    recording.full("e8h8 e1a1", 100, 90)
    game = recording.read()
    assert [node.san() for node in game.mainline()] == ["O-O", "O-O-O"]
    assert [node.clock() for node in game.mainline()] == [None, 100]


def test_chess960_is_named_and_its_start_is_kept() -> None:
    recording = Recording(variant={"key": "chess960"}, initialFen=chess960_fen(1))
    recording.full("a2a3")
    headers = recording.read().headers
    assert (headers["Variant"], headers["FEN"]) == ("Chess960", chess960_fen(1))


def test_a_game_without_a_clock_has_none() -> None:
    recording = Recording(clock=None, daysPerTurn=2)
    recording.full("e2e4")
    game = recording.read()
    assert game.headers["TimeControl"] == "1/172800"
    assert next(iter(game.mainline())).clock() is None

