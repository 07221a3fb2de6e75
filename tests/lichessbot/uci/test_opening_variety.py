"""Variety in the opening: when several lines are searched, and which move is chosen."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.facade import STARTING_FEN, Board, Engine, Limits, SearchReport, polyglot_key
from lichessbot.lichess.enums import Variant
from lichessbot.storage.database import Database
from lichessbot.storage.store import Store
from lichessbot.uci.opening_variety import OpeningVariety, choose
from lichessbot.uci.search import BestMove, Search, SearchInfo

NODES = 100


@pytest.fixture
def opening_variety(store: Store) -> OpeningVariety:
    return OpeningVariety(store)


def search(
    number: int, *moves: str, fen: str = STARTING_FEN, root_moves: tuple[str, ...] = (), variant: str = "standard"
) -> Search:
    return Search(number, fen, False, moves, Limits(nodes=NODES), root_moves, variant=variant)


def line(move: str, score: str, depth: int = 8) -> SearchInfo:
    return SearchInfo(depth, 0, score, f"{move} a7a6")


def answer(game_id: str, number: int, move: str, *lines: SearchInfo) -> BestMove:
    return BestMove(game_id, number, move, line(move, "cp 0"), lines)


def played(opening_variety: OpeningVariety, game_id: str, number: int, move: str, *lines: SearchInfo) -> str | None:
    opening_variety.prepare(game_id, search(number))
    return opening_variety.choose_move(answer(game_id, number, move, *lines)).move


# When several lines are wanted


def test_a_new_position_is_searched_as_ever_and_a_known_one_for_several_lines(opening_variety: OpeningVariety) -> None:
    assert opening_variety.prepare("one", search(1)).multipv == 1
    opening_variety.choose_move(answer("one", 1, "e2e4"))
    assert opening_variety.prepare("two", search(1)).multipv == 4
    assert opening_variety.prepare("two", search(2, "e2e4", "e7e5")).multipv == 1


@pytest.mark.parametrize("garbled", ["e7e5", "xxxx", "(none)"])
def test_a_line_that_begins_with_an_illegal_move_is_no_alternative(
    opening_variety: OpeningVariety, garbled: str
) -> None:
    for number in (1, 2, 3):
        move = played(opening_variety, f"game{number}", number, "e2e4", line("e2e4", "cp 20"), line(garbled, "cp 20"))
        assert move == "e2e4", "the engine need not be replaced"


def test_a_position_in_another_game_is_known(opening_variety: OpeningVariety) -> None:
    opening_variety.prepare("one", search(1))
    assert opening_variety.prepare("two", search(1)).multipv == 4
    opening_variety.forget("one")
    opening_variety.forget("two")
    assert opening_variety.prepare("three", search(1)).multipv == 1


def supposed(number: int, *moves: str) -> Search:
    asked = search(number, *moves)
    return replace(asked, limits=asked.limits._replace(ponder=True))


def test_a_missed_ponder_search_does_not_count(opening_variety: OpeningVariety) -> None:
    played(opening_variety, "one", 1, "e2e4")
    played(opening_variety, "two", 1, "e2e4")
    opening_variety.prepare("two", supposed(2, "e2e4", "e7e5"))
    opening_variety.choose_move(answer("two", 2, "g1f3"))  # the engine was stopped
    opening_variety.prepare("two", search(3))
    assert opening_variety._openings["two"].known == 2, "the missed ponder search does not count"
    assert opening_variety.prepare("three", search(1, "e2e4", "e7e5")).multipv == 1


def test_a_ponder_hit_is_a_position_as_any_other(opening_variety: OpeningVariety) -> None:
    played(opening_variety, "one", 1, "e2e4")
    opening_variety.prepare("one", supposed(2, "e2e4", "e7e5"))
    opening_variety.ponder_hit("one")
    opening_variety.choose_move(answer("one", 2, "g1f3"))
    opening_variety.ponder_hit("unknown")
    assert opening_variety.prepare("two", search(1, "e2e4", "e7e5")).multipv == 4


def test_the_order_of_the_moves_before_does_not_matter(opening_variety: OpeningVariety) -> None:
    opening_variety.prepare("one", search(1, "g1f3", "g8f6", "b1c3", "b8c6"))
    opening_variety.choose_move(answer("one", 1, "e2e4"))
    assert opening_variety.prepare("two", search(1, "b1c3", "b8c6", "g1f3", "g8f6")).multipv == 4


def test_the_twentieth_move_is_the_last_that_varies(opening_variety: OpeningVariety) -> None:
    blacks = search(1, *(["g1f3", "g8f6", "f3g1", "f6g8"] * 10)[:39])
    opening_variety.prepare("one", blacks)
    opening_variety.choose_move(answer("one", 1, "f6g8"))
    assert opening_variety.prepare("two", blacks).multipv == 4
    whites = search(2, *blacks.moves, "f6g8")
    assert opening_variety.prepare("one", whites).multipv == opening_variety.prepare("two", whites).multipv == 1


def test_late_positions_and_moves_chosen_by_a_table_are_left_alone(opening_variety: OpeningVariety) -> None:
    late = search(1, *["g1f3", "g8f6", "f3g1", "f6g8"] * 10)
    only = search(1, root_moves=("e2e4", "d2d4"))
    for asked in (late, only):
        for game_id in ("one", "two"):
            assert opening_variety.prepare(game_id, asked) == asked
            assert opening_variety.choose_move(answer(game_id, 1, "e2e4")) == answer(game_id, 1, "e2e4")


def test_what_was_played_is_known_after_a_restart(tmp_path: Path) -> None:
    first = Store(Database(tmp_path))
    opening_variety = OpeningVariety(first)
    for _ in range(3):
        played(opening_variety, "one", 1, "e2e4")
    first.close()
    second = Store(Database(tmp_path))
    assert OpeningVariety(second).prepare("two", search(1)).multipv == 4
    assert list(second._played.values()) == [{"e2e4": 3}]
    second.close()


# Which move is played


def test_the_least_played_of_the_good_moves_is_played(opening_variety: OpeningVariety) -> None:
    lines = (line("e2e4", "cp 20"), line("d2d4", "cp 10"), line("a2a4", "cp -90"))
    moves = [played(opening_variety, f"game{n}", 1, "e2e4", *lines) for n in range(6)]
    assert moves == ["e2e4", "d2d4", "e2e4", "d2d4", "e2e4", "d2d4"]


@pytest.mark.parametrize(
    ("lines", "move"),
    [
        ((line("e2e4", "cp 20"), line("d2d4", "cp -7")), "d2d4"),
        ((line("e2e4", "cp 20"), line("d2d4", "cp -9")), "e2e4"),
        ((line("e2e4", "cp 900"), line("d2d4", "cp 600")), "d2d4"),
        ((line("e2e4", "cp -200"), line("d2d4", "cp -260")), "e2e4"),
        ((line("e2e4", "cp -700"), line("d2d4", "cp -780")), "d2d4"),
        ((line("e2e4", "cp -700"), line("d2d4", "cp -1500")), "e2e4"),
        ((line("e2e4", "cp -700"), line("d2d4", "mate -1")), "e2e4"),
        ((line("e2e4", "cp 20"), line("d2d4", "cp 20", depth=6)), "e2e4"),
        ((line("e2e4", "cp 20"), line("d2d4", "cp 20", depth=7)), "d2d4"),
        ((line("e2e4", "cp 20"), line("d2d4", "mate -3")), "e2e4"),
        ((line("e2e4", "mate 3"), line("d2d4", "cp 900")), None),
        ((line("e2e4", "mate -3"), line("d2d4", "mate -3")), None),
        ((line("e2e4", ""), line("d2d4", "cp x")), None),
        ((line("e2e4", "cp 20"), line("d2d4", "cp 20"), line("g2g4", "cp -999993")), "d2d4"),
        ((line("e2e4", "cp -999993"), line("d2d4", "cp -999991")), "d2d4"),
        ((line("e2e4", "cp 999993"), line("d2d4", "cp 20")), "e2e4"),
        ((SearchInfo(8, 0, "cp 20"), line("d2d4", "cp 20")), None),
        ((SearchInfo(8, 0, "cp 20"),), None),
        ((), None),
    ],
)
def test_what_is_good_enough(lines: tuple[SearchInfo, ...], move: str | None) -> None:
    chosen = choose(lines, {"e2e4": 1})
    assert (chosen.move if chosen else None) == move


def test_the_more_often_a_move_was_played_the_more_another_may_cost_but_only_so_much() -> None:
    lines = (line("e2e4", "cp 20"), line("d2d4", "cp -60"), line("c2c4", "cp -100"))
    assert choose(lines, {"e2e4": 2}) == lines[0]
    assert choose(lines, {"e2e4": 100}) == lines[1]
    assert choose(lines, {"e2e4": 100, "d2d4": 101}) == lines[0]


def test_a_bad_position_is_not_given_up_however_often_it_occurred() -> None:
    lines = (line("e2e4", "cp -400"), line("d2d4", "mate -1"), line("c2c4", "cp -900"), line("b2b4", "cp -500"))
    assert choose(lines, {"e2e4": 100}, known=20) == lines[3]


def test_the_longer_a_game_follows_earlier_ones_the_more_another_move_may_cost() -> None:
    lines = (line("e2e4", "cp 20"), line("d2d4", "cp -20"))
    assert choose(lines, {"e2e4": 1}, known=1) == lines[0]
    assert choose(lines, {"e2e4": 1}, known=2) == lines[1]


def test_positions_in_a_row_are_counted_until_one_is_new(opening_variety: OpeningVariety) -> None:
    for moves in ((), ("e2e4", "e7e5")):
        opening_variety.prepare("one", search(1, *moves))
        opening_variety.choose_move(answer("one", 1, "g1f3"))
    known = []
    for moves in ((), ("e2e4", "e7e5"), ("e2e4", "e7e5", "g1f3", "b8c6"), ()):
        opening_variety.prepare("two", search(1, *moves))
        known.append(opening_variety._openings["two"].known)
    assert known == [1, 2, 0, 1]


def test_the_answer_holds_the_score_of_the_chosen_move(opening_variety: OpeningVariety) -> None:
    played(opening_variety, "one", 1, "e2e4")
    opening_variety.prepare("two", search(1))
    settled = opening_variety.choose_move(answer("two", 1, "e2e4", line("e2e4", "cp 20"), line("d2d4", "cp 10")))
    assert (settled.move, settled.summary.score, settled.summary.pv) == ("d2d4", "cp 10", "d2d4 a7a6")
    assert settled.ponder == "a7a6"


def test_the_weaker_move_of_an_engine_of_limited_strength_is_played(
    opening_variety: OpeningVariety, store: Store
) -> None:
    played(opening_variety, "one", 1, "e2e4")
    opening_variety.prepare("two", search(1))
    weak = answer("two", 1, "g2g4", line("e2e4", "cp 20"), line("d2d4", "cp 10"))
    assert opening_variety.choose_move(weak) == weak
    assert store.times_played(polyglot_key(Board())) == {"e2e4": 1, "g2g4": 1}


def test_an_illegal_move_is_not_remembered_and_left_to_the_game(opening_variety: OpeningVariety, store: Store) -> None:
    for move in ("e2e5", "nonsense", ""):
        assert played(opening_variety, "one", 1, move) == move
    assert store._played == {}


def test_after_a_bug_in_the_choice_the_engine_move_is_played(
    opening_variety: OpeningVariety, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def choose_badly(*arguments: object) -> None:
        raise ValueError("not thought of")

    monkeypatch.setattr("lichessbot.uci.opening_variety.choose", choose_badly)
    assert played(opening_variety, "one", 1, "e2e4", line("e2e4", "cp 20"), line("d2d4", "cp 10")) == "e2e4"
    (record,) = caplog.records
    assert record.getMessage().startswith("variety.crashed game=one")
    assert record.exc_info is not None
    caplog.clear()


def test_an_answer_to_another_search_is_passed_on(opening_variety: OpeningVariety, store: Store) -> None:
    opening_variety.prepare("one", search(2))
    stale = answer("one", 1, "e2e4")
    assert opening_variety.choose_move(stale) == stale
    assert store._played == {}


# Whole openings


class Thinker:
    """The engine at few nodes, as its process would answer."""

    def __init__(self) -> None:
        self._engine = Engine(1)

    def best(self, game_id: str, asked: Search) -> BestMove:
        board = Board(asked.initial_fen, variant=asked.variant).after(*asked.moves)
        found: dict[int, SearchInfo] = {}

        def note(report: SearchReport) -> None:
            score = f"mate {report.mate_in}" if report.mate_in is not None else f"cp {report.score_cp}"
            found[report.line] = SearchInfo(report.depth, report.nodes, score, " ".join(report.pv))

        self._engine.new_game()
        self._engine.lines = asked.multipv
        self._engine.set_position(board)
        best = self._engine.go(asked.limits, note).best_move
        lines = tuple(found[number] for number in sorted(found)) if asked.multipv > 1 else ()
        return BestMove(game_id, asked.search_id, best, found.get(1, SearchInfo()), lines)


def game(
    opening_variety: OpeningVariety, thinker: Thinker, game_id: str, plies: int = 40, variant: str = "standard"
) -> tuple[str, ...]:
    """Play a game as White; Black always plays the first legal move."""
    board = Board(variant=variant)
    start = board.fen()
    while len(board.moves) < plies and board.legal_moves():
        if board.turn == "white":
            question = search(len(board.moves), *board.moves, fen=start, variant=variant)
            asked = opening_variety.prepare(game_id, question)
            board.push(opening_variety.choose_move(thinker.best(game_id, asked)).move)
        else:
            board.push(min(board.legal_moves()))
    return tuple(board.moves)


def test_fifty_games_against_replies_that_never_change_all_differ(opening_variety: OpeningVariety) -> None:
    thinker = Thinker()
    games = [game(opening_variety, thinker, f"game{number}") for number in range(50)]
    assert len(set(games)) == 50


def test_without_the_store_the_games_would_be_equal(tmp_path: Path) -> None:
    games = set()
    for number in range(3):
        fresh = Store(Database(tmp_path / str(number)))
        games.add(game(OpeningVariety(fresh), Thinker(), "game"))
        fresh.close()
    assert len(games) == 1


@pytest.mark.parametrize("variant", [it for it in Variant if not it.has_standard_rules])
def test_games_of_a_variant_differ_too(opening_variety: OpeningVariety, variant: Variant) -> None:
    """But for those that we win in a few moves, as a mate has no alternative."""
    thinker = Thinker()
    games = [game(opening_variety, thinker, f"game{number}", variant=variant) for number in range(8)]
    assert len(set(games)) >= 4
    assert all(len(it) < 20 for it in games if games.count(it) > 1)


@pytest.mark.parametrize(
    ("variant", "fen", "other"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3/Q w - - 0 1", "4k3/8/8/8/8/8/8/4K3/R w - - 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/Q3K3/ w - - 0 1", "4k3/8/8/8/8/8/8/Q~3K3/ w - - 0 1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 +0+1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 +1+0"),
    ],
)
def test_pockets_and_checks_make_another_position(
    opening_variety: OpeningVariety, variant: str, fen: str, other: str
) -> None:
    asked = opening_variety.prepare("one", search(1, fen=fen, variant=variant))
    opening_variety.choose_move(answer("one", 1, "e1d1"))
    assert asked.multipv == 1
    assert opening_variety.prepare("two", search(1, fen=other, variant=variant)).multipv == 1
    assert opening_variety.prepare("three", search(1, fen=fen, variant=variant)).multipv == 4


def test_a_position_of_one_variant_is_not_known_in_another(opening_variety: OpeningVariety) -> None:
    opening_variety.prepare("one", search(1))
    opening_variety.choose_move(answer("one", 1, "e2e4"))
    for number, variant in enumerate(("atomic", "kingOfTheHill")):
        assert opening_variety.prepare(f"{number}", search(1, variant=variant)).multipv == 1
