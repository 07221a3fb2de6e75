"""The rhythm of a person: `humanlike_time`, on the searches of three recorded games at several levels."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median, quantiles

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.facade import Board
from lichessbot.config import Config
from lichessbot.games.pace import Pace, doubt, human_factor, human_s
from lichessbot.games.time_budget import GameClock
from lichessbot.lichess.enums import Colour, GameStatus
from lichessbot.lichess.models import GameState
from lichessbot.move_sources.models import SourceAnswer
from lichessbot.timeouts import Timeouts
from lichessbot.uci.search import BestMove, SearchInfo
from tests.lichessbot.games.bench import GAME, Bench

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "search_outcomes.json").read_text())
NOW = 1000.0


def iteration(depth: int, move: str, score_cp: int | None) -> SearchInfo:
    return SearchInfo(depth=depth, score="mate 3" if score_cp is None else f"cp {score_cp}", pv=move)


def answer(*iterations: tuple[int, str, int | None], lines: tuple[SearchInfo, ...] = ()) -> BestMove:
    found = tuple(iteration(*it) for it in iterations)
    return BestMove(GAME, 1, found[-1].move if found else "a2a3", lines=lines, iterations=found)


def clock(ours_s: float, increment_s: float = 0.0, *, running: bool = True, timed: bool = True) -> GameClock:
    ours_ms, increment_ms = int(ours_s * 1000), int(increment_s * 1000)
    state = GameState(
        moves="", wtime=ours_ms, btime=ours_ms, winc=increment_ms, binc=increment_ms, status=GameStatus.STARTED
    )
    return GameClock(Colour.WHITE, timed, running, state, NOW, Timeouts())


@dataclass
class Moved:
    """A move of a recorded game as it was paced."""

    own_moves: int
    factor: float
    doubt: float
    is_recapture: bool
    is_forced: bool
    share: float
    """Of what an ordinary move takes."""
    remaining_s: float


def played(base_s: float, increment_s: float, seed: str) -> Iterator[Moved]:
    """Pace every move of the recorded games with such a clock."""
    for number, game in enumerate(RECORDED):
        board, left = Board(), {"white": base_s, "black": base_s}
        for move, iterations in zip(game["moves"].split(), game["outcomes"], strict=True):
            forced = len(board.legal_moves()) == 1
            found = None if forced else answer(*map(tuple, iterations))
            factor, now = human_factor(board, move, found), clock(left[board.turn], increment_s)
            took_s = human_s(now, factor, base_s, Random(f"{seed}/{number}/{len(board.moves)}"))
            usual_s = left[board.turn] / 45 + 0.6 * increment_s
            recapture = bool(board.moves) and board.moves[-1][2:4] == move[2:4]
            left[board.turn] += increment_s - took_s
            hard = 0.0 if found is None else doubt(found)
            yield Moved(len(board.moves) // 2, factor, hard, recapture, forced, took_s / usual_s, left[board.turn])
            board.push(move)


def test_the_rhythm_of_recorded_games_is_a_persons() -> None:
    moves = [move for seed in "abc" for move in played(300, 3, seed)]
    later = [it for it in moves if it.own_moves >= 10 and not it.is_forced]
    ordinary = [it for it in later if not it.is_recapture]
    easy = median(it.share for it in ordinary if it.doubt < 0.1)
    hard = median(it.share for it in ordinary if it.doubt >= 0.5)
    recaptures = median(it.share for it in later if it.is_recapture)
    opening = median(it.share for it in moves if it.own_moves < 5)
    assert hard > 2.5 * easy
    assert recaptures < 0.6 * easy
    assert opening < 0.6 * median(it.share for it in ordinary)
    # Neither a metronome nor dice: moves differ, and a tenth take at least five times as long as another tenth.
    shares = quantiles([it.share for it in ordinary], n=10)
    assert 3 < shares[-1] / shares[0] < 20


@pytest.mark.parametrize(("base_s", "increment_s"), [(60, 0), (180, 0), (300, 3), (900, 10)])
def test_a_persons_rhythm_leads_into_no_time_trouble(base_s: float, increment_s: float) -> None:
    moves = list(played(base_s, increment_s, "trouble"))
    assert min(it.remaining_s for it in moves) > max(10, base_s / 10)
    at_move_30 = [it.remaining_s for it in moves if it.own_moves == 30]
    assert all(0.2 * base_s < left < 0.95 * base_s for left in at_move_30)


@settings(deadline=None)
@given(
    remaining_s=st.floats(0.0, 10_800.0),
    increment_s=st.floats(0.0, 180.0),
    initial_s=st.floats(0.0, 10_800.0),
    factor=st.floats(0.0, 3.0),
    seed=st.integers(),
)
def test_a_pause_is_a_small_part_of_the_spare_time(
    remaining_s: float, increment_s: float, initial_s: float, factor: float, seed: int
) -> None:
    now = clock(remaining_s, increment_s)
    took_s = human_s(now, factor, initial_s, Random(seed))
    reserve_s = min(max(10.0, initial_s / 10), 60.0)
    spare_s = max(0.0, now.remaining_s(NOW) - reserve_s)
    assert 0.0 <= took_s <= spare_s / 8 + now.increment_s / 2
    assert took_s <= now.remaining_s(NOW) / 4, "the increment comes only after the move"
    assert human_s(now, factor, initial_s, Random(seed)) == took_s


def test_nobody_waits_in_the_last_seconds_or_without_a_clock() -> None:
    assert human_s(clock(9.9), 2.8, 180, Random(1)) == 0.0
    assert human_s(clock(1, 1), 2.8, 60, Random(1)) == human_s(clock(18, 180), 2.8, 180, Random(1)) == 0.0
    assert 0.0 < human_s(clock(18.1, 180), 2.8, 180, Random(1)) <= 0.1 + 1e-9
    assert human_s(clock(300, timed=False), 2.8, 0, Random(1)) == 0.0
    assert human_s(clock(10_800, running=False), 2.8, 10_800, Random(1)) <= 3.0


def test_time_trouble_begins_earlier_in_a_longer_game() -> None:
    board, found = Board(), answer(*((depth, "e2e4", 0) for depth in (1, 2, 3)))
    for initial_s, waits in ((60.0, True), (300.0, True), (600.0, False), (None, True)):
        pause_s = Pace(Config(humanlike_time=True), GAME).pause_s(board, "e2e4", found, clock(60), initial_s, NOW)
        assert (pause_s > 0.0) is waits


# What makes a move hard


def test_a_search_that_never_changed_its_mind_has_no_doubt() -> None:
    assert doubt(answer(*((depth, "e2e4", 30 - depth) for depth in range(1, 9)))) < 0.1
    assert doubt(answer((1, "e2e4", 30), (2, "e2e4", 30), (3, "e2e4", 30))) == 0.0


def test_a_search_too_short_to_change_its_mind_is_no_sign_of_an_easy_move() -> None:
    """At levels of 800 to 1200 the engine reports one depth or two; most moves took half the ordinary time."""
    board = Board().after(*["g1f3", "g8f6", "f3g1", "f6g8"] * 6)
    for short in (answer((1, "e2e4", 30)), answer((1, "e2e4", 30), (2, "e2e4", 25))):
        assert human_factor(board, "e2e4", short) == pytest.approx(1.0)
    assert human_factor(board, "e2e4", answer((1, "d2d4", 30), (2, "e2e4", 25))) > 1.2
    lines = tuple(iteration(1, move, 30) for move in ("e2e4", "d2d4", "g1f3", "b1c3"))
    assert human_factor(board, "e2e4", answer((1, "e2e4", 30), lines=lines)) > 1.2


def test_doubt_grows_with_changes_falls_and_rivals() -> None:
    calm = [(depth, "e2e4", 30) for depth in range(1, 7)]
    changed = [*calm, (7, "d2d4", 30)]
    fell = [*calm, (7, "e2e4", -60), (8, "e2e4", -60)]
    assert doubt(answer(*calm)) == 0.0
    assert doubt(answer(*changed)) == pytest.approx(0.45)
    assert doubt(answer(*fell)) == pytest.approx(0.75)
    assert doubt(answer(*fell, (9, "d2d4", -200))) == 1.0
    assert doubt(answer(*((depth, "e2e4", 60 * (depth % 2)) for depth in range(1, 9)))) == 0.0, "odd depths score more"
    lines = tuple(iteration(6, move, score) for move, score in (("e2e4", 30), ("d2d4", 20), ("g1f3", 5)))
    assert doubt(answer(*calm, lines=lines)) == pytest.approx(0.15)
    assert doubt(answer(*calm, lines=(iteration(6, "e2e4", None), iteration(6, "d2d4", 20)))) == 0.0, "mate"


def test_what_is_known_forced_or_taken_back_goes_quickly() -> None:
    board = Board()
    moves = "e2e4 d7d5 a2a3 a7a6 b2b3 b7b6 c2c3 c7c6 h2h3 h7h6 g2g3 g7g6 f2f3 f7f6 d2d3 e7e6 b3b4 b6b5 c1e3 d5e4"
    for move in moves.split():
        board.push(move)
    easy = human_factor(board, "d1d2", answer(*((depth, "d1d2", 0) for depth in (1, 2, 3))))
    elsewhere = answer(*((depth, "e3h6", 0) for depth in (1, 2, 3)))
    assert human_factor(board, "e3h6", elsewhere) == easy, "a capture on another square"
    assert human_factor(board, "d3e4", answer((1, "d3e4", 0))) == pytest.approx(easy / 2)
    assert human_factor(board, "d1d2", SourceAnswer(GAME, 1, ("d1d2",), "own_book")) < easy
    assert human_factor(board, "d1d2", answer()) < easy
    assert human_factor(board, "d1d2", None) < human_factor(board, "d3e4", answer((1, "d3e4", 0)))


# In a game


def test_a_move_waits_without_a_search_and_the_search_counts() -> None:
    bench = Bench(humanlike_time=True, initial_ms=600_000)
    moves = " ".join(["g1f3 g8f6 f3g1 f6g8"] * 6)
    assert bench.find(bench.full(moves, time_ms=600_000), "e2e4") == []
    due_s = bench.game.wake_at - bench.now
    assert 1 < due_s < 60
    assert bench.wait(due_s / 2) == []
    (sent,) = bench.wait(due_s / 2 + 0.001)
    assert getattr(sent, "move", None) == "e2e4"
    again = Bench(humanlike_time=True, initial_ms=600_000)
    actions = again.full(moves, time_ms=600_000)
    again.now += due_s + 0.001
    assert [getattr(it, "move", None) for it in again.find(actions, "e2e4")][:1] == ["e2e4"]


def test_a_ponder_search_is_told_what_the_clock_shows_after_the_pause() -> None:
    bench = Bench(humanlike_time=True, initial_ms=600_000)
    moves = " ".join(["g1f3 g8f6 f3g1 f6g8"] * 6)
    (think,) = bench.full(moves, time_ms=600_000)
    (ponder,) = bench.hear(BestMove(GAME, think.search.search_id, "e2e4", ponder="e7e5"))
    assert bench.game.pause_s > 1
    assert ponder.search.limits.white_time_ms == pytest.approx(600_000 - bench.game.pause_s * 1000, abs=1)
