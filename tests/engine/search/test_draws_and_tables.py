"""Upcoming repetitions: the hash table finds one exactly when some legal move leads to it."""

import random

from engine.core.fen import parse_fen
from engine.core.move import uci_text
from engine.core.movegen import legal_moves
from engine.core.position import Position
from engine.facade import Board
from engine.search.draws_and_tables import ENTRIES, can_repeat
from tests.engine.positions import Start, random_games

ROOK_AND_KINGS = "k7/8/8/8/8/8/8/K6R w - - 10 40"


def play(position: Position, *texts: str) -> None:
    for text in texts:
        position.push(next(move for move in legal_moves(position) if uci_text(move) == text))


def leads_back_by_trial(position: Position, keys: list[int]) -> bool:
    """Return whether any legal move leads to one of these positions."""
    for move in legal_moves(position):
        position.push(move)
        key = position.state()["key"]
        position.pop(move)
        if key in keys:
            return True
    return False


def shuffling_move(position: Position, played: list[str], rng: random.Random) -> str | None:
    """Return a legal move, often the reverse of the side's last move."""
    texts = [uci_text(move) for move in legal_moves(position)]
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
            text = shuffling_move(position, played, rng)
            if text is None:
                break
            play(position, text)
            played.append(text)
            keys.append(position.state()["key"])
            reversible = max(1, len(keys) - 1 - position.state()["halfmove_clock"])
            answer = can_repeat(position, root)
            assert answer == leads_back_by_trial(position, keys[reversible:-3]), (board.fen(), played)
            found[answer] += 1
    assert min(found.values()) > 20, found


def test_a_side_that_must_capture_cannot_move_back() -> None:
    board = Board(variant="antichess")
    for move in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3"):
        board.push(move)
    assert can_repeat(board.position, -1)
    board = Board(variant="antichess")
    for move in ("c2c4", "g8f6", "d1a4", "f6g8"):
        board.push(move)
    assert not can_repeat(board.position, -1), "the queen must take a pawn"


def test_the_root_and_earlier_positions_do_not_count() -> None:
    position, _ = parse_fen(ROOK_AND_KINGS)
    play(position, "h1h2", "a8b8", "h2h1")
    assert not can_repeat(position, 0), "b8a8 would lead to the root"
    play(position, "b8a8")
    assert can_repeat(position, 0)
    assert not can_repeat(position, 1)
