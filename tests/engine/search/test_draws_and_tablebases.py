"""Upcoming repetitions: the hash table finds one exactly when some legal move leads to it."""

import random

import pytest

from engine.core.fen import parse_fen
from engine.core.move import uci_text
from engine.core.movegen import legal_moves
from engine.core.position import Position
from engine.facade import Board, Engine, Limits
from engine.search.draws_and_tablebases import ENTRIES, can_repeat
from tests.engine.positions import Start, random_games

ROOK_AND_KINGS = "k7/8/8/8/8/8/8/K6R w - - 10 40"


def play(position: Position, *texts: str) -> None:
    for text in texts:
        position.push(next(move for move in legal_moves(position) if uci_text(move) == text))


def leads_back_by_trial(position: Position, keys: list[int]) -> bool:
    """Return whether any legal move leads to one of these positions."""
    for move in legal_moves(position) if keys else ():
        position.push(move)
        key = position.state()["key"]
        position.pop(move)
        if key in keys:
            return True
    return False


def shuffling_move(texts: list[str], played: list[str], rng: random.Random) -> str | None:
    """Return one of these moves, often the reverse of the side's last move."""
    back = played[-2][2:4] + played[-2][:2] if len(played) > 1 else ""
    if back in texts and rng.random() < 0.5:
        return back
    return rng.choice(texts) if texts else None


def test_the_table_holds_every_reversible_move() -> None:
    assert ENTRIES == 2 * (168 + 280 + 448 + 728 + 210), "knight, bishop, rook, queen and king, each move once"


def test_an_upcoming_repetition_is_found_exactly_when_there_is_one(start: Start) -> None:
    rng = random.Random(31)
    found = {True: 0, False: 0}
    for board in random_games(count=4, plies=60, start=start, seed=31):
        position, _ = parse_fen(board.fen())
        root = position.state()["height"]
        keys, played = [position.state()["key"]], list[str]()
        for _ in range(30):
            moves = {uci_text(move): move for move in legal_moves(position)}
            text = shuffling_move(list(moves), played, rng)
            if text is None:
                break
            position.push(moves[text])
            played.append(text)
            keys.append(position.state()["key"])
            reversible = max(1, len(keys) - 1 - position.state()["halfmove_clock"])
            answer = can_repeat(position, root)
            assert answer == leads_back_by_trial(position, keys[reversible:-3]), (board.fen(), played)
            found[answer] += 1
    assert min(found.values()) > 20, found


def test_a_side_that_must_capture_cannot_move_back() -> None:
    board = Board(variant="antichess").after("g1f3", "g8f6", "f3g1", "f6g8", "g1f3")
    assert can_repeat(board.position, -1)
    board = Board(variant="antichess").after("c2c4", "g8f6", "d1a4", "f6g8")
    assert not can_repeat(board.position, -1), "the queen must take a pawn"


def test_a_move_back_that_gives_check_repeats_nothing_in_three_check() -> None:
    board = Board("4k3/8/8/8/8/8/8/3Q3K w - - 0 1 +0+0", variant="threeCheck").after("d1a4", "e8f8", "a4b3", "f8e8")
    assert not can_repeat(board.position, 0)
    board.push("b3a4")
    assert board.repetition_count() == 1


@pytest.mark.parametrize(
    ("fen", "variant"),
    [
        ("3k4/7R/3K4/1r6/8/2Q5/q7/8 w - - 98 1", "standard"),
        ("6K1/1k6/6q1/2Q5/8/8/7R/4r3 w - - 98 1", "standard"),
        ("8/8/p7/8/8/1N6/8/8 w - - 20 80", "antichess"),
        ("8/8/p7/8/8/1N6/8/8 w - - 99 80", "antichess"),
    ],
)
def test_the_fifty_move_rule_comes_before_mates_but_not_before_the_end_of_the_game(fen: str, variant: str) -> None:
    engine, board = Engine(1), Board(fen, variant=variant)
    engine.set_position(board)
    report = engine.go(Limits(depth=2), only=["b3a5"] if variant == "antichess" else ()).report
    assert report.mate_in == (-1 if variant == "antichess" else None)


def test_the_root_and_earlier_positions_count_once_they_occurred_twice() -> None:
    position, _ = parse_fen(ROOK_AND_KINGS)
    play(position, "h1h2", "a8b8", "h2h1")
    assert not can_repeat(position, 0), "b8a8 would lead to the root"
    play(position, "b8a8")
    assert can_repeat(position, 0)
    assert not can_repeat(position, 1)
    play(position, "h1h2", "a8b8", "h2h1")
    assert can_repeat(position, 4), "b8a8 leads to the root for the third time"
    assert can_repeat(position, 6), "and to a position before it"
