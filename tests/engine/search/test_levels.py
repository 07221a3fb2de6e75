"""Limited strength: what the levels see, and how `Engine` and UCI obey them."""

import os
import random
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from engine import facade
from engine.book.opening_names import named_moves
from engine.facade import OWN_BOOK, RATINGS, Board, Book, Engine, Limits, SearchReport, build_mode
from engine.search.levels import level_player
from engine.search.levels.calibration import RATED
from engine.search.levels.level import USUAL_TENSION, level_at, level_of, nodes_in_variants, skill_of
from engine.search.levels.level_search import LevelSearch
from engine.search.levels.vision import tension
from engine.variants.variant import VARIANTS
from tests.engine.uci_session import Session

SEEDS = range(20)
BACK_RANK_MATE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
BERLIN = "r1bqkb1r/pppp1ppp/2n2n2/1B2p3/4P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4"
QUEENS_FACE_EACH_OTHER = "r1b1k2r/ppppqppp/2n2n2/8/8/2N2N2/PPPPQPPP/R1B1K2R w KQkq - 0 8"
MIDDLEGAME = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8"
HANGING_QUEEN = "rnb1kbnr/pppp1ppp/8/4p3/3qP3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 4"


def player(rating: int, board: Board, seed: int | None = 1, style: str | None = None) -> Engine:
    engine = Engine(1)
    engine.set_named_style(style)
    engine.limit_strength(rating, seed)
    engine.set_position(board)
    return engine


def choose(rating: int, seed: int, board: Board, style: str | None = None) -> str | None:
    return player(rating, board, seed, style).go(Limits()).best_move


def board_after(fen: str, moves: str) -> Board:
    return Board(fen).after(*moves.split())


@pytest.mark.parametrize(("rating", "least"), [(1000, 8), (1500, 19), (2000, 20), (2500, 20), (2850, 20)])
def test_a_mate_in_one_is_found_the_more_often_the_stronger_the_player(rating: int, least: int) -> None:
    """People of 1000 miss half of theirs."""
    found = [choose(rating, seed, Board(BACK_RANK_MATE)) for seed in SEEDS]
    assert found.count("a1a8") >= least


@pytest.mark.parametrize("rating", [600, 1000, 1500, 2000, 2500])
def test_a_recapture_is_made(rating: int) -> None:
    board = board_after(BERLIN, "f6e4 f1e1 e4d6 b5c6")
    assert {choose(rating, seed, board) for seed in SEEDS} <= {"b7c6", "d7c6"}


@pytest.mark.parametrize(("rating", "least"), [(1000, 15), (1500, 19), (2000, 20), (2500, 20)])
def test_a_hanging_queen_is_taken(rating: int, least: int) -> None:
    assert [choose(rating, seed, Board(HANGING_QUEEN)) for seed in SEEDS].count("f3d4") >= least


@pytest.mark.parametrize(("rating", "least"), [(600, 8), (1000, 14), (1500, 19)])
def test_a_pawn_is_promoted(rating: int, least: int) -> None:
    board = Board("7k/P5pp/8/8/5p2/5P2/6PP/6K1 w - - 0 40")
    assert [choose(rating, seed, board) for seed in SEEDS].count("a7a8q") >= least


def test_a_losing_player_sees_every_capture() -> None:
    losing = HANGING_QUEEN.replace("RNBQKB1R", "1NB1KB2").replace("KQkq", "kq")
    sure, unsure = ([choose(600, seed, Board(fen)) for seed in SEEDS].count("f3d4") for fen in (losing, HANGING_QUEEN))
    assert sure == len(SEEDS) > unsure


@pytest.mark.parametrize("rating", [1000, 1500, 2000])
def test_a_player_who_is_stopped_at_once_looks_one_ply_ahead(rating: int) -> None:
    for seed in SEEDS:
        engine = player(rating, Board(HANGING_QUEEN), seed)
        search = engine.begin(Limits(infinite=True))
        search.stop()
        assert search.run().best_move == engine.go(Limits(depth=1)).best_move


def test_a_player_who_is_stopped_at_once_loses_no_time_in_a_position_of_many_captures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches: list[LevelSearch] = []

    def recorded(*given: Any) -> LevelSearch:
        searches.append(LevelSearch(*given))
        return searches[-1]

    monkeypatch.setattr(level_player, "LevelSearch", recorded)
    board = Board("rnbqkbnr/rrrrrrrr/8/8/8/8/RRRRRRRR/RNBQKBNR w KQkq - 0 1")
    search = player(1800, board).begin(Limits(infinite=True))
    search.stop()
    assert search.run().best_move in board.legal_moves()
    assert 0 < searches[-1].node_count() <= level_player.EARLY_STOP_NODES + 1


@pytest.mark.parametrize("nodes", range(120, 220, 20))
def test_a_player_who_is_stopped_in_mid_depth_plays_the_move_that_it_reported(nodes: int) -> None:
    for rating in (1400, 1600, 1800):
        result = player(rating, Board(MIDDLEGAME)).go(Limits(nodes=nodes))
        assert result.report is not None
        assert (result.best_move, result.ponder_move) == (*result.report.pv, None)[:2]


@pytest.mark.parametrize("nodes", [20, 40, 60])
def test_a_player_who_is_stopped_in_the_first_depth_reports_the_best_move_so_far_with_a_bound(nodes: int) -> None:
    reports: list[SearchReport] = []
    result = player(1800, Board(MIDDLEGAME)).go(Limits(nodes=nodes), reports.append)
    whole = player(1800, Board(MIDDLEGAME)).go(Limits(depth=1)).report
    (found,) = reports
    assert (found.depth, found.bound, found.pv[0]) == (1, "lowerbound", result.best_move)
    assert found.score_cp <= whole.score_cp


def test_a_recapture_that_mates_is_reported_as_a_mate() -> None:
    """The fondness for recaptures is no part of the score."""
    result = player(1500, board_after("3Rr1k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1", "e8d8")).go(Limits())
    assert result.best_move == "d1d8"
    assert result.report.mate_in == 1


def test_a_game_repeats_its_moves_and_other_games_differ() -> None:
    middlegame = Board("r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8")
    for rating, board in ((800, middlegame), (1500, middlegame), (2600, middlegame), (2700, Board())):
        assert choose(rating, 7, board) == choose(rating, 7, board)
        assert len({choose(rating, seed, board) for seed in SEEDS}) > 1


def test_a_style_shows_at_a_level() -> None:
    for rating, style_of_more_trades, style_of_fewer in ((1000, "endgame", None), (1500, "endgame", "attacker")):
        more, fewer = (
            sum(choose(rating, seed, Board(QUEENS_FACE_EACH_OTHER), style) == "e2e7" for seed in SEEDS)
            for style in (style_of_more_trades, style_of_fewer)
        )
        assert more >= fewer + 8


def test_the_scores_of_a_level_that_searches_in_full_contain_its_style() -> None:
    board = Board("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1")       # no queen is on the board
    fond_of_that, others = (
        player(2200, board, style=style).go(Limits()).report.score_cp for style in ("endgame", "attacker")
    )
    assert fond_of_that > others + 200


def test_a_style_keeps_the_player() -> None:
    assert choose(800, 7, Board(), "solid") == choose(800, 7, Board(), "solid")


def test_a_new_game_has_another_player() -> None:
    engine = player(800, board_after("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", "e2e4"), seed=None)
    found = set()
    for _ in SEEDS:
        engine.new_game()
        found.add(engine.go(Limits()).best_move)
    assert len(found) > 1


def test_a_rating_set_again_during_a_game_keeps_the_player() -> None:
    """A bot may set its options before every move."""
    engine, found = Engine(1), set()
    engine.set_position(Board("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1"))
    for _ in SEEDS:
        engine.limit_strength(800)
        found.add(engine.go(Limits()).best_move)
    assert len(found) == 1


def test_every_level_is_at_least_as_good_as_the_one_before() -> None:
    """In the numbers: what they are worth is measured by `calibrate`."""
    levels = [level_of(rating) for rating in RATINGS[::50]]
    for weaker, stronger in pairwise(levels):
        assert weaker.skill < stronger.skill
        assert weaker.blindness >= stronger.blindness
        assert weaker.capture_blindness >= stronger.capture_blindness
        assert weaker.book_plies <= stronger.book_plies


def test_the_skill_changes_evenly_between_two_measured_ratings() -> None:
    for (low, low_skill), (high, high_skill) in pairwise(RATED):
        assert skill_of(low) == low_skill
        assert skill_of((low + high) / 2) == pytest.approx((low_skill + high_skill) / 2)


def test_a_player_who_hurries_sees_and_thinks_less() -> None:
    for rating in (900, 1500, 2600):
        calm, hurried = level_of(rating), level_of(rating).hurried(0.8)
        assert hurried.blindness >= calm.blindness
        assert hurried.plies <= calm.plies
        assert hurried.nodes <= calm.nodes


@pytest.mark.parametrize("board", [Board(QUEENS_FACE_EACH_OTHER), Board(variant="atomic")], ids=["standard", "variant"])
def test_a_player_with_less_than_half_a_second_for_a_move_hurries(board: Board) -> None:
    nodes = []
    for move_time_ms in (None, 200):
        report = player(2100, board).go(Limits(move_time_ms=move_time_ms)).report
        nodes.append(report.nodes if report is not None else 0)
    assert nodes[0] > nodes[1]


def test_a_player_overlooks_more_where_more_is_attacked() -> None:
    quiet, exchange = Board(), board_after(BERLIN, "f6e4 f1e1")
    assert [tension(board.position) for board in (quiet, exchange)] == [0, 5]
    for rating in (900, 1500):
        level = level_of(rating)
        errors = [(it.blindness, it.misjudgement_cp) for it in map(level.in_complexity, (0, USUAL_TENSION, 5))]
        assert errors[0] < errors[1] == (level.blindness, level.misjudgement_cp) < errors[2]


@pytest.mark.parametrize(("pieces", "rating"), [("Q", 1000), ("R", 1400), ("BB", 1800)])
def test_the_basic_mates_are_known(pieces: str, rating: int) -> None:
    for seed in range(3):
        board, opponent = Board(f"4k3/8/8/8/8/8/8/{pieces}{8 - len(pieces) - 1}K w - - 0 1"), Engine(1)
        while board.outcome() is None:
            if board.turn == "white":
                move = choose(rating, seed, board)
            else:
                opponent.set_position(board)
                move = opponent.go(Limits(nodes=300)).best_move
            board.push(move)
        assert board.is_checkmate(), board.fen()


@pytest.mark.parametrize("rating", [600, 1200, 1800])
def test_a_drawn_pawn_ending_is_played_on(rating: int) -> None:
    """Nothing but draws: even so, a king does not walk away from its last pawn, and the other goes for a free one."""
    for seed in range(3):
        assert choose(rating, seed, Board("8/3k4/8/2K1P3/8/8/8/8 w - - 0 1")) == "c5d5"
        assert choose(rating, seed, Board("8/8/8/2k1P3/8/8/8/1K6 b - - 0 1")) == "c5d5"


def test_an_opening_that_the_book_does_not_know_gets_a_move_with_a_name() -> None:
    bird = board_after(Board().fen(), "f2f4")
    named = named_moves(bird)
    assert {"d7d5", "e7e5"} < set(named)
    assert "b8a6" not in named
    assert not Book(OWN_BOOK).knows(bird)
    assert sum(choose(1200, seed, bird) in named for seed in SEEDS) >= 18
    assert choose(1000, 1, board_after(Board().fen(), "e2e4 d7d5 d1g4")) == "c8g4"      # theory or not


@pytest.mark.parametrize("rating", [599, 2851])
def test_a_rating_out_of_range_is_refused(rating: int) -> None:
    with pytest.raises(ValueError, match=str(rating)):
        Engine(1).limit_strength(rating)


def test_only_the_moves_asked_for_are_played() -> None:
    for rating in (600, 1500, 2300):
        assert player(rating, Board()).go(Limits(), only=["a2a3"]).best_move == "a2a3"


def test_a_mated_player_has_no_move() -> None:
    assert choose(1500, 1, Board("R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")) is None


@pytest.mark.skipif(build_mode() == "plain", reason="plain Python needs longer")
def test_limited_strength_over_uci() -> None:
    """UCI_Elo alone changes nothing; a limited player answers at once, however much time there is."""
    session = Session()
    session.say("setoption name UCI_Elo value 1000")
    session.say(f"position fen {MIDDLEGAME}")
    full = _nodes(session, "go depth 12")
    session.say("setoption name UCI_LimitStrength value true")
    limited = _nodes(session, "go wtime 600000 btime 600000")
    session.say("setoption name uci_elo value 2600")
    stronger = _nodes(session, "go wtime 600000 btime 600000")
    session.say("setoption name UCI_LimitStrength value false")
    session.say("ucinewgame")
    assert limited < stronger < full == _nodes(session, "go depth 12")
    session.close()


def _nodes(session: Session, command: str) -> int:
    """Return the nodes of a search."""
    lines = session.ask(command, "bestmove")
    return max((int(line.split(" nodes ")[1].split()[0]) for line in lines if " nodes " in line), default=0)


def test_the_nodes_in_variants_grow_with_the_skill() -> None:
    nodes = [nodes_in_variants(level_at(skill)) for skill in range(200, 3701, 100)]
    assert all(low < high for low, high in pairwise(nodes))


HANGING_QUEENS = {
    "crazyhouse": (HANGING_QUEEN.replace(" ", "/ ", 1), "f3d4"),
    "kingOfTheHill": (HANGING_QUEEN, "f3d4"),
    "threeCheck": (f"{HANGING_QUEEN} +0+0", "f3d4"),
    "atomic": ("4k3/1pp4p/8/3q4/8/2N5/PPP5/4K3 w - - 0 30", "c3d5"),
    "horde": ("rnb1kbnr/pppp1ppp/8/1PP1q1P1/PPPP1PPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 3", "d4e5 f4e5"),
    "racingKings": ("8/8/8/8/3q4/5N2/k6K/1r6 w - - 0 9", "f3d4"),
}


@pytest.mark.parametrize("variant", HANGING_QUEENS)
def test_the_lowest_level_mostly_takes_a_hanging_queen_in_variants(variant: str) -> None:
    fen, captures = HANGING_QUEENS[variant]
    played = [choose(600, seed, Board(fen, variant=variant)) for seed in range(40)]
    assert 24 <= sum(move in captures.split() for move in played) < 40


@pytest.mark.skipif(build_mode() == "plain", reason="plain Python needs longer")
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_lowest_level_beats_a_player_of_random_moves_in_variants(variant: str) -> None:
    rng, won = random.Random(7), 0
    for seed in range(4):
        board, colour = Board(variant=variant), ("white", "black")[seed % 2]
        engine = player(600, board, seed)
        while (outcome := board.outcome()) is None:
            engine.set_position(board)
            best = engine.go(Limits()).best_move if board.turn == colour else rng.choice(board.legal_moves())
            board.push(best or "")
        assert outcome.winner in (colour, None)
        won += outcome.winner == colour
    assert won >= 3


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_are_played_at_a_level(variant: str) -> None:
    board = Board(variant=variant)
    for rating, seeds in ((600, SEEDS[:8]), (1500, SEEDS[:8]), (2850, SEEDS[:3])):
        games = [choose(rating, seed, board) for seed in seeds]
        assert games[0] == choose(rating, seeds[0], board)
        assert len(set(games)) > 1
        assert set(games) <= set(board.legal_moves())


def test_a_strong_player_varies_the_opening_of_a_variant_by_good_moves_only() -> None:
    """That it varies is tested above."""
    board = Board(variant="atomic").after("g1f3")
    moves = {choose(2850, seed, board) for seed in SEEDS[:4]}
    assert not moves & {"d7d5", "e7e5"}, "mated in three, and lost"


def test_the_reports_of_a_varied_opening_are_one_line_that_ends_with_the_move_played() -> None:
    board, changed = Board(variant="atomic"), 0
    for seed in SEEDS:
        reports: list[SearchReport] = []
        result = player(1500, board, seed).go(Limits(), reports.append)
        assert {report.line for report in reports} == {1}
        assert reports[-1] == result.report
        assert (result.best_move, result.ponder_move) == (*reports[-1].pv, None)[:2]
        changed += len({report.depth for report in reports}) < len(reports)
    assert changed


def test_a_win_at_hand_is_no_opening() -> None:
    """However few moves a GUI sends after the FEN."""
    board = Board("8/8/8/8/8/2K5/8/7k w - - 0 60", variant="kingOfTheHill")
    assert {choose(2850, seed, board) for seed in SEEDS[:6]} <= {"c3d4"}


def test_a_limit_of_nodes_holds_for_every_level() -> None:
    for rating in (1800, 2000, 2500):
        report = player(rating, Board(MIDDLEGAME)).go(Limits(nodes=100)).report
        assert report is not None
        assert 0 < report.nodes <= 100


def test_a_higher_level_beats_a_lower_one_in_variants() -> None:
    won = Counter[str]()
    for variant, seed in product(("crazyhouse", "atomic"), range(24)):
        board = Board(variant=variant)
        strong, weak = player(2000, board, seed), player(1000, board, seed)
        colour = ("white", "black")[seed % 2]
        while (outcome := board.outcome()) is None:
            engine = strong if board.turn == colour else weak
            engine.set_position(board)
            board.push(engine.go(Limits()).best_move or "")
        won[variant] += outcome.winner == colour
    assert won.total() >= 40       # five games of six
    assert min(won.values()) >= 16


def test_own_book_lets_only_limited_strength_open_from_the_book() -> None:
    session = Session()
    session.say("position startpos")
    for options, uses in (
        ([], False),
        (["UCI_Elo value 1500", "UCI_LimitStrength value true"], True),
        (["OwnBook value false"], False),
        (["UCI_Elo value 1600"], False),
        (["OwnBook value true"], True),
    ):
        for option in options:
            session.say(f"setoption name {option}")
        searched = any(line.startswith("info depth") for line in session.ask("go depth 1", "bestmove"))
        assert searched is not uses, options
    session.close()


def test_a_player_whose_book_cannot_be_read_any_more_thinks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As when an upgrade replaces the file in its place, or a disk fails."""
    path = tmp_path / "book.bin"
    path.write_bytes(OWN_BOOK.read_bytes())
    book = Book(path)
    os.truncate(path, 16)
    monkeypatch.setattr(facade, "own_book", lambda: book)
    assert choose(1500, 1, Board()) is not None
