"""One game as a state machine, judged by python-chess."""

import random
from dataclasses import replace

import chess
import pytest

from engine.facade import STARTING_FEN, Ending
from lichessbot.rehearsal.rules.enums import Color, Rule, Status, Variant
from lichessbot.rehearsal.rules.errors import Refused
from lichessbot.rehearsal.rules.game import MAX_PLIES
from lichessbot.rehearsal.rules.repeats import Repeats
from lichessbot.rehearsal.rules.setup import GameSetup
from tests.engine.variants.test_walks import THEIR_BOARDS, expected_outcome
from tests.lichessbot.rehearsal.rules.games import BLACK, HUMANS, SETUP, WHITE, game, states

SHUFFLE = ["g1f3", "g8f6", "f3g1", "f6g8"]
STATUSES = {
    Ending.CHECKMATE: Status.MATE,
    Ending.STALEMATE: Status.STALEMATE,
    Ending.VARIANT_END: Status.VARIANT_END,
}


# Moves.


def test_every_move_writes_one_state_with_the_whole_game() -> None:
    it = game(moves=["e2e4"])
    (state,) = states(it.play(BLACK, "e7e5", 5))
    assert state.moves == ("e2e4", "e7e5")
    assert state.status is Status.STARTED


@pytest.mark.parametrize(
    ("color", "move", "text"),
    [
        (WHITE, "e2e9", "Invalid UCI: e2e9"),
        (WHITE, "castle", "Invalid UCI: castle"),
        (BLACK, "e7e5", "Not your turn, or game already over"),
    ],
)
def test_refused_moves_say_why(color: Color, move: str, text: str) -> None:
    with pytest.raises(Refused) as refusal:
        game().play(color, move, 0)
    assert str(refusal.value) == text


@pytest.mark.parametrize("move", ["e2e5", "P@e4", "e2e4q"])
def test_illegal_moves_are_refused_and_change_nothing(move: str) -> None:
    it = game()
    with pytest.raises(Refused):
        it.play(WHITE, move, 0)
    assert it.ply == 0


def test_moves_after_the_end_are_refused() -> None:
    it = game(moves=["f2f3", "e7e5", "g2g4", "d8h4"])
    with pytest.raises(Refused, match="game already over"):
        it.play(WHITE, "a2a3", 0)


CASTLING = ["e2e4", "e7e5", "g1f3", "g8f6", "f1c4", "f8c5"]


@pytest.mark.parametrize("spelling", ["e1g1", "e1h1"])
def test_both_castling_spellings_are_accepted_in_standard(spelling: str) -> None:
    assert game(moves=[*CASTLING, spelling]).moves[-1] == "e1g1"


def test_standard_castling_can_be_written_king_takes_rook() -> None:
    it = game(moves=CASTLING)
    it.writes_king_takes_rook = True
    it.play(WHITE, "e1g1", 0)
    assert it.moves[-1] == "e1h1"


@pytest.mark.parametrize("spelling", ["e1g1", "e1h1"])
def test_from_position_castling_is_always_written_king_takes_rook(spelling: str) -> None:
    it = game(fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", moves=[spelling])
    assert it.moves == ["e1h1"]


@pytest.mark.parametrize("spelling", ["e1g1", "e1h1"])
def test_castling_of_a_variant_is_always_written_king_takes_rook(spelling: str) -> None:
    it = game(replace(SETUP, variant=Variant.CRAZYHOUSE), [*CASTLING, spelling])
    assert it.moves == [*CASTLING, "e1h1"]


@pytest.mark.parametrize(
    ("variant", "fen", "own_move", "with_rook"),
    [
        (Variant.CHESS960, "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "e1a1"),
        (Variant.FROM_POSITION, "4k3/8/8/8/8/8/8/R2K3R w KQ - 0 1", "d1g1", "d1h1"),
        (Variant.FROM_POSITION, "4k3/8/8/8/8/8/8/1R2K2R w KQ - 0 1", "e1c1", "e1b1"),
    ],
)
def test_other_castling_is_accepted_only_as_king_takes_rook(
    variant: Variant, fen: str, own_move: str, with_rook: str
) -> None:
    it = game(replace(SETUP, variant=variant, initial_fen=fen))
    with pytest.raises(Refused, match=f"Piece on {own_move[:2]} cannot move to {own_move[2:]}"):
        it.play(WHITE, own_move, 0)
    it.play(WHITE, with_rook, 0)
    assert it.moves == [with_rook]


def test_chess960_castling_may_swap_king_and_rook() -> None:
    setup = replace(SETUP, variant=Variant.CHESS960, initial_fen="4k3/8/8/8/8/8/8/5KR1 w G - 0 1")
    it = game(setup, ["f1g1"])
    assert it.moves == ["f1g1"]
    assert it.fen().startswith("4k3/8/8/8/8/8/8/5RK1 b")


@pytest.mark.parametrize(
    ("variant", "fen", "move", "squares"),
    [
        (Variant.STANDARD, "4k3/P7/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "e1h1"),
        (Variant.STANDARD, "4k3/P7/8/8/8/8/8/4K2R w K - 0 1", "a7a8q", "a7a8"),
        (Variant.CRAZYHOUSE, "4k3/8/8/8/8/8/8/4K3/N w - - 0 1", "N@f6", "f6f6"),
    ],
)
def test_events_tell_only_the_squares_of_the_last_move(variant: Variant, fen: str, move: str, squares: str) -> None:
    it = game(replace(SETUP, variant=variant, initial_fen=fen))
    assert it.last_move_squares == ""
    it.play(WHITE, move, 0)
    assert it.last_move_squares == squares


def test_black_may_move_first_and_plies_count_from_the_start_position() -> None:
    it = game(fen="4k3/8/8/8/8/8/4P3/4K2R b K - 0 1")
    assert it.turn is BLACK
    assert not it.has_moved(BLACK)
    it.play(BLACK, "e8e7", 0)
    assert it.has_moved(BLACK)
    assert not it.has_moved(WHITE)
    assert it.ply == 1


# Endings on the board.


def test_checkmate_ends_the_game_with_a_winner_in_the_same_state() -> None:
    it = game(moves=["f2f3", "e7e5", "g2g4"])
    (state,) = states(it.play(BLACK, "d8h4", 0))
    assert (state.status, state.winner) == (Status.MATE, BLACK)


def test_stalemate_is_a_draw() -> None:
    it = game(fen="7k/8/6K1/8/8/8/5Q2/8 w - - 0 1")
    (state,) = states(it.play(WHITE, "f2f7", 0))
    assert (state.status, state.winner) == (Status.STALEMATE, None)


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4p3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/4p3/4KN2 w - - 0 1",
        "2b1k3/8/8/8/8/8/4p3/4KB2 w - - 0 1",
    ],
)
def test_insufficient_material_draws_at_once(fen: str) -> None:
    (state,) = states(game(fen=fen).play(WHITE, "e1e2", 0))
    assert (state.status, state.winner) == (Status.DRAW, None)


def test_hundred_half_moves_draw_at_once() -> None:
    it = game(fen="4k3/8/8/8/8/8/8/R3K3 w - - 98 80")
    assert not states(it.play(WHITE, "a1a2", 0))[0].status.is_over
    assert states(it.play(BLACK, "e8e7", 0))[0].status is Status.DRAW


def test_mate_on_the_hundredth_half_move_wins() -> None:
    it = game(fen="7k/8/6K1/8/8/8/8/R7 w - - 99 80")
    assert states(it.play(WHITE, "a1a8", 0))[0].status is Status.MATE


def test_threefold_in_a_bots_game_is_drawn_in_two_steps() -> None:
    it = game(moves=(SHUFFLE * 2)[:-1])
    (state,) = states(it.play(BLACK, "f6g8", 0))
    assert state.status is Status.STARTED
    assert it.threefold_pending
    (state,) = states(it.settle_threefold(50))
    assert (state.status, state.winner) == (Status.DRAW, None)


def test_a_move_that_comes_before_the_draw_by_a_threefold_lets_the_game_go_on() -> None:
    it = game(moves=[*SHUFFLE * 2, "e2e4"])
    assert it.settle_threefold(50) == []
    assert (it.status, it.turn) == (Status.STARTED, BLACK)


def test_a_threefold_draws_no_game_in_which_it_is_too_early_for_a_draw() -> None:
    it = game(replace(SETUP, rules=frozenset({Rule.NO_EARLY_DRAW})), SHUFFLE * 2)
    assert not it.threefold_pending
    assert it.offer_draw(WHITE, 0) == it.claim_draw(BLACK, 0, opponent_gone=True) == []
    assert it.status is Status.STARTED


def test_threefold_between_humans_needs_a_claim_and_fivefold_does_not() -> None:
    it = game(HUMANS, SHUFFLE * 3)
    assert not it.threefold_pending
    assert not it.is_over
    it = game(HUMANS, SHUFFLE * 4)
    assert it.status is Status.DRAW


def test_threefold_between_humans_is_drawn_after_a_recent_offer() -> None:
    it = game(HUMANS, SHUFFLE)
    it.offer_draw(WHITE, 0)
    for move in SHUFFLE:
        it.play(it.turn, move, 0)
    assert it.threefold_pending


def test_a_game_that_ends_before_its_threefold_is_settled_keeps_its_end() -> None:
    it = game(moves=SHUFFLE * 2)
    assert it.threefold_pending
    it.resign(WHITE, 0)
    assert it.settle_threefold(0) == []
    assert it.status is Status.RESIGN


def test_offer_on_a_threefold_position_ends_the_game() -> None:
    it = game(HUMANS, SHUFFLE * 2)
    (state,) = states(it.offer_draw(WHITE, 0))
    assert state.status is Status.DRAW


def test_the_move_after_ply_601_draws_the_game() -> None:
    it = game(HUMANS)
    it.moves = ["a1a1"] * MAX_PLIES
    (state,) = states(it.play(WHITE, "e2e4", 0))
    assert (state.status, len(state.moves)) == (Status.STARTED, 601)
    (state,) = states(it.play(BLACK, "e7e5", 0))
    assert (state.status, len(state.moves)) == (Status.DRAW, 601)


def _judged(board: chess.Board) -> tuple[Status, Color | None]:
    """What python-chess makes of a position, in our words; repetitions excepted."""
    if board.is_checkmate():
        return Status.MATE, BLACK if board.turn else WHITE
    if board.is_stalemate():
        return Status.STALEMATE, None
    fivefold = board.is_repetition(5)
    if board.is_insufficient_material() or board.halfmove_clock >= 100 or fivefold:
        return Status.DRAW, None
    return Status.STARTED, None


@pytest.mark.parametrize(
    ("variant", "fen"),
    [
        (Variant.STANDARD, STARTING_FEN),
        (Variant.CHESS960, "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1"),
        (Variant.FROM_POSITION, "8/5k2/8/3q4/8/4K3/8/8 w - - 0 1"),
        (Variant.FROM_POSITION, "8/P5k1/8/8/8/8/p5K1/8 b - - 60 70"),
    ],
)
def test_random_games_end_as_python_chess_says(variant: Variant, fen: str) -> None:
    setup = replace(HUMANS, variant=variant, initial_fen=fen)
    for seed in range(6):
        chance = random.Random(f"{fen}/{seed}")
        it = game(setup)
        board = chess.Board(fen, chess960=variant.has_own_start)
        while not it.is_over and it.ply < MAX_PLIES:
            move = chance.choice(list(board.legal_moves))
            it.play(it.turn, board.uci(move), 0)
            board.push(move)
            assert (it.status, it.winner) == _judged(board)
        assert chess.Board(it.fen(), chess960=True).epd() == chess.Board(board.fen(), chess960=True).epd()


@pytest.mark.parametrize(
    ("variant", "fen", "move", "status", "winner"),
    [
        (Variant.ATOMIC, "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", Status.VARIANT_END, WHITE),
        (Variant.KING_OF_THE_HILL, "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "d3d4", Status.VARIANT_END, WHITE),
        (Variant.THREE_CHECK, "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+0", "a1a8", Status.VARIANT_END, WHITE),
        (Variant.ANTICHESS, "8/8/8/8/3p4/2P5/8/8 w - - 0 1", "c3d4", Status.VARIANT_END, BLACK),
        (Variant.HORDE, "4k3/8/8/8/8/8/r7/P7 b - - 0 1", "a2a1", Status.VARIANT_END, BLACK),
        (Variant.RACING_KINGS, "8/6K1/8/8/8/k7/8/8 w - - 0 1", "g7g8", Status.VARIANT_END, WHITE),
        (Variant.RACING_KINGS, "6K1/k7/8/8/8/8/8/8 b - - 0 1", "a7a8", Status.DRAW, None),
        (Variant.CRAZYHOUSE, "6k1/5ppp/8/8/8/8/8/4K3/R w - - 0 1", "R@a8", Status.MATE, WHITE),
        (Variant.CRAZYHOUSE, "4k3/8/8/8/8/8/8/4K3/R w - - 99 80", "e1e2", Status.STARTED, None),
        (Variant.ATOMIC, "6r1/8/8/3K4/6Q1/2k5/8/N7 w - - 0 1", "g4g8", Status.DRAW, None),
        (Variant.ATOMIC, "8/5p2/8/3K1P2/8/2k5/8/6B1 w - - 0 1", "f5f6", Status.DRAW, None),
        (Variant.ANTICHESS, "8/2b5/8/1r6/8/8/4B3/8 w - - 0 1", "e2b5", Status.DRAW, None),
        (Variant.THREE_CHECK, "8/8/8/3Kn3/8/2k5/8/8 w - - 0 1 +2+0", "d5e5", Status.DRAW, None),
        (Variant.HORDE, "7k/8/p7/8/P7/8/8/8 w - - 0 1", "a4a5", Status.DRAW, None),
    ],
)
def test_a_game_of_a_variant_ends_by_its_own_rules(
    variant: Variant, fen: str, move: str, status: Status, winner: Color | None
) -> None:
    it = game(replace(HUMANS, variant=variant, initial_fen=fen))
    (state,) = states(it.play(it.turn, move, 0))
    assert (state.status, state.winner) == (status, winner)
    assert state.moves == (move,)


@pytest.mark.parametrize(
    ("variant", "fen"),
    [
        (Variant.ATOMIC, "8/2p5/1n1k4/8/8/4B3/3K1P2/8 w - - 0 1"),
        (Variant.ANTICHESS, "8/2b1p3/8/3n4/8/8/3P1B2/8 w - - 0 1"),
        (Variant.THREE_CHECK, "8/3k4/3n4/8/8/3N4/3K4/8 w - - 0 1"),
        (Variant.HORDE, "7k/p1p5/8/8/8/P1P5/8/8 w - - 0 1"),
        (Variant.KING_OF_THE_HILL, "8/8/k7/8/7p/8/8/K7 w - - 0 1"),
        (Variant.RACING_KINGS, "8/8/8/8/8/8/k6K/7R w - - 0 1"),
        (Variant.CRAZYHOUSE, "4k3/8/8/8/8/8/8/4K3/QRBqrb w - - 0 1"),
    ],
)
def test_random_endings_of_variants_end_as_python_chess_says(variant: Variant, fen: str) -> None:
    """But for closed positions, which only Lichess draws."""
    ended = set()
    for seed in range(6):
        chance = random.Random(f"{fen}/{seed}")
        it = game(replace(HUMANS, variant=variant, initial_fen=fen))
        board = THEIR_BOARDS[variant.key](fen, chess960=True)
        while not it.is_over and it.ply < MAX_PLIES:
            move = chance.choice(list(board.legal_moves))
            it.play(it.turn, board.uci(move), 0)
            board.push(move)
            outcome = expected_outcome(board)
            if outcome is None and it.status is Status.DRAW:
                assert variant in (Variant.ATOMIC, Variant.ANTICHESS, Variant.HORDE)
                assert not board.knights | board.rooks | board.queens
                break
            assert it.status is (STATUSES.get(outcome.ending, Status.DRAW) if outcome else Status.STARTED)
            assert it.winner == (outcome and outcome.winner)
        ended.add(it.status)
    assert ended - {Status.STARTED}


@pytest.mark.parametrize(("setup", "is_repeated"), [(SETUP, True), (HUMANS, False)])
def test_only_games_of_bots_count_as_repeated(setup: GameSetup, is_repeated: bool) -> None:
    repeats = Repeats()
    assert [repeats.note(game(setup, ["e2e4"])) for _ in range(2)] == [False, is_repeated]


# Abort and resign.


@pytest.mark.parametrize("moves", [[], ["e2e4"]])
def test_abort_and_resign_abort_before_both_have_moved(moves: list[str]) -> None:
    assert states(game(moves=moves).abort(0))[0].status is Status.ABORTED
    assert states(game(moves=moves).resign(WHITE, 0))[0].status is Status.ABORTED


def test_abort_is_refused_after_two_plies() -> None:
    with pytest.raises(Refused, match="This game can no longer be aborted"):
        game(moves=["e2e4", "e7e5"]).abort(0)


def test_resignation_gives_the_game_to_the_other_side() -> None:
    (state,) = states(game(moves=["e2e4", "e7e5"]).resign(WHITE, 0))
    assert (state.status, state.winner) == (Status.RESIGN, BLACK)


def test_no_abort_game_can_neither_be_aborted_nor_resigned_at_its_start() -> None:
    it = game(replace(SETUP, rules=frozenset({Rule.NO_ABORT})))
    with pytest.raises(Refused, match="This game can no longer be aborted"):
        it.abort(0)
    with pytest.raises(Refused, match="This game cannot be resigned"):
        it.resign(WHITE, 0)


def test_a_game_of_an_arena_can_be_resigned_at_its_start_but_not_aborted() -> None:
    it = game(replace(SETUP, tournament_id="arena001"))
    with pytest.raises(Refused, match="This game can no longer be aborted"):
        it.abort(0)
    (state,) = states(it.resign(WHITE, 0))
    assert (state.status, state.winner) == (Status.RESIGN, BLACK)


def test_finished_games_can_neither_be_aborted_nor_resigned() -> None:
    it = game(moves=["e2e4", "e7e5"])
    it.resign(WHITE, 0)
    with pytest.raises(Refused):
        it.abort(0)
    with pytest.raises(Refused):
        it.resign(BLACK, 0)
