"""What the page gets of a game, against python-chess."""

import asyncio
import re

import chess
import chess.variant
import pytest

from engine.facade import Board
from lichessbot.rehearsal.browser.person import read_move
from lichessbot.rehearsal.browser.views import analysis_view, board_view, game_view, legal_moves
from lichessbot.rehearsal.rules.enums import Color, Variant
from lichessbot.rehearsal.rules.errors import Refused

from .test_analysis import finished
from .test_words import START, a_game, play

POSITIONS = (
    START,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/P5k1/8/6p1/6P1/8/p5K1/8 b - - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/5N2/PPPP1PPP/RNBQKB1R b KQkq e3 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
)


@pytest.mark.parametrize("fen", POSITIONS)
def test_the_legal_moves_are_those_of_python_chess(fen: str) -> None:
    judge = chess.Board(fen)
    sent = {move for moves in legal_moves(Board(fen)).values() for move in moves}
    assert {judge.parse_uci(move) for move in sent} == set(judge.legal_moves)
    assert {move.uci() for move in judge.legal_moves} <= sent
    for origin, moves in legal_moves(Board(fen)).items():
        assert all(move.startswith(origin) for move in moves)


@pytest.mark.parametrize("chess960", [False, True])
def test_castling_can_be_played_by_either_gesture(chess960: bool) -> None:
    assert {"e1g1", "e1h1"} <= set(legal_moves(Board(POSITIONS[1], chess960=chess960))["e1"])


def test_a_chess960_king_castles_onto_its_rook() -> None:
    fen = "7k/8/8/8/8/8/8/1RK3R1 w GB - 0 1"
    judge = chess.Board(fen, chess960=True)
    sent = {move for moves in legal_moves(Board(fen, chess960=True)).values() for move in moves}
    assert sent == {move.uci() for move in judge.legal_moves}


def test_moves_come_with_san_position_and_words() -> None:
    game = a_game()
    play(game, "e2e4 d7d5 e4d5 d8d5 b1c3 d5e5")
    shown = game_view(game, Color.WHITE, 10)
    judge = chess.Board()
    for move in shown["moves"]:
        assert (move["number"], move["color"]) == (judge.fullmove_number, chess.COLOR_NAMES[judge.turn])
        assert move["san"] == judge.san(chess.Move.from_uci(move["uci"]))
        judge.push_uci(move["uci"])
        assert chess.Board(move["fen"]) == judge
        assert move["check"] is judge.is_check()
    assert shown["moves"][-1]["words"] == "Bot plays queen e5, check"
    assert shown["moves"][2]["words"] == "You play e takes d5"
    assert (shown["check"], shown["turn"], shown["isOver"]) == (True, "white", False)


def test_only_the_player_to_move_gets_legal_moves() -> None:
    game = a_game()
    assert game_view(game, Color.WHITE, 0)["legal"]
    assert not game_view(game, Color.BLACK, 0)["legal"]
    assert not game_view(game, None, 0)["legal"]
    play(game, "f2f3 e7e5 g2g4 d8h4")
    assert not game_view(game, Color.WHITE, 0)["legal"]


def test_each_player_sees_the_own_pocket_and_the_drops_out_of_it() -> None:
    game = a_game(variant=Variant.CRAZYHOUSE)
    play(game, "e2e4 d7d5 e4d5 d8d5")
    for color in Color:
        assert game_view(game, color, 0)["pocket"] == "p"
    assert game_view(game, None, 0)["pocket"] == ""
    judge = chess.variant.CrazyhouseBoard()
    for move in game.moves:
        judge.push_uci(move)
    drops = {move.uci() for move in judge.legal_moves if move.drop}
    assert drops
    assert set(game_view(game, Color.WHITE, 0)["legal"]["P@"]) == drops


@pytest.mark.parametrize(
    ("variant", "fen", "move", "text"),
    [
        (Variant.FROM_POSITION, "7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "g6g7", "checkmate"),
        (Variant.FROM_POSITION, "7k/5K2/8/8/8/8/8/6Q1 w - - 0 1", "g1g6", "draw"),
        (Variant.KING_OF_THE_HILL, "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "d3d4", "White won"),
        (Variant.ANTICHESS, "8/8/8/8/3p4/2P5/8/8 w - - 0 1", "c3d4", "Black won"),
        (Variant.RACING_KINGS, "6K1/k7/8/8/8/8/8/8 b - - 0 1", "a7a8", "draw"),
    ],
)
def test_the_review_calls_only_a_mate_checkmate(variant: Variant, fen: str, move: str, text: str) -> None:
    game = a_game(fen, variant)
    play(game, move)
    analysis = asyncio.run(finished([*game.moves], game.board_after(0)))
    assert analysis_view(game, analysis)["scores"][-1]["text"] == text


def test_a_running_game_shows_no_evaluation() -> None:
    text = str(game_view(a_game(), Color.WHITE, 0)).lower()
    assert "score" not in text
    assert "eval" not in text


def test_a_small_board_outside_the_series_is_not_called_the_persons() -> None:
    titles = [board_view(a_game(), number, Color.BLACK, 0)["title"] for number in (1, None)]
    assert titles == ["Game 1", "Other game"]


def test_both_players_see_racing_kings_from_the_side_of_white() -> None:
    race = a_game("8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1", variant=Variant.RACING_KINGS)
    for game, seen_from in ((race, Color.WHITE), (a_game(), Color.BLACK)):
        view = game_view(game, Color.BLACK, 0)
        assert (view["below"], view["orientation"]) == (Color.BLACK, seen_from)
        assert board_view(game, 1, Color.BLACK, 0)["orientation"] is seen_from


def test_offers_wait_for_the_other_side() -> None:
    game = a_game()
    play(game, "e2e4 e7e5")
    game.offer_draw(Color.BLACK, 3)
    answers = {"Accept": True, "Decline": False}
    offer = {"text": "Bot offers a draw.", "path": "game/abcdefgh/draw", "answers": answers}
    assert game_view(game, Color.WHITE, 3)["offer"] == offer
    assert game_view(game, Color.BLACK, 3)["offer"] is None
    assert game_view(game, Color.BLACK, 3)["hasOfferedDraw"]
    assert game_view(game, None, 3)["offer"] is None


def test_an_absent_opponent_can_be_claimed_once_the_time_has_come() -> None:
    game = a_game()
    offer = {"text": "Bot has left the game. Once you have moved, you can claim the win."}
    assert game_view(game, Color.WHITE, 0, 0)["offer"] == offer
    play(game, "e2e4")
    assert game_view(game, Color.WHITE, 0, 7)["offer"] == {"text": "Bot has left the game. You can claim it in 7 s."}
    assert game_view(game, Color.WHITE, 0, 0)["offer"] == {
        "text": "Bot has left the game. You can claim the win.",
        "path": "game/abcdefgh/claim-victory",
        "answers": {"Claim": True},
    }


@pytest.mark.parametrize(
    ("text", "uci"),
    [("e4", "e2e4"), ("e2e4", "e2e4"), (" Nf3 ", "g1f3"), ("E2E4", "e2e4"), ("Ng1-f3", "g1f3"), ("♘c3", "b1c3")],
)
def test_typed_moves_are_read_in_both_notations(text: str, uci: str) -> None:
    assert read_move(Board(), text) == uci


def test_a_bishop_move_is_no_pawn_move_in_capitals() -> None:
    board = Board("4k3/8/8/8/1p6/P1B5/8/4K3 w - - 0 1")
    assert (read_move(board, "Bxb4"), read_move(board, "axb4")) == ("c3b4", "a3b4")


@pytest.mark.parametrize(
    ("text", "uci"),
    [("E4", "e2e4"), ("nf3", "e5f3"), ("QXF7", "h5f7"), ("A8=Q", "a7a8q"), ("oo", "e1g1"), ("00", "e1g1")],
)
def test_a_typed_move_in_the_wrong_case_is_the_one_that_is_meant(text: str, uci: str) -> None:
    assert read_move(Board("6k1/P4p2/8/4N2Q/8/8/4P3/4K2R w K - 0 1"), text) == uci


def test_capitals_that_mean_a_pawn_or_a_bishop_are_refused() -> None:
    board = Board("4k3/8/8/8/8/2n5/1P1B4/4K3 w - - 0 1")
    with pytest.raises(Refused):
        read_move(board, "BXC3")


@pytest.mark.parametrize(
    ("text", "examples"),
    [("a8", "a8=Q or a7a8q"), ("a7a8", "a8=Q or a7a8q"), ("axb8", "axb8=Q+ or a7b8q"), ("A7B8", "axb8=Q+ or a7b8q")],
)
def test_a_promotion_without_its_piece_names_the_queen(text: str, examples: str) -> None:
    with pytest.raises(Refused, match=f"type a move such as {re.escape(examples)}$"):
        read_move(Board("1n5k/P7/8/8/8/8/8/K7 w - - 0 1"), text)


@pytest.mark.parametrize("text", ["", "Nf9", "e5", "e2e5", "<b>", "x" * 500])
def test_a_wrong_move_is_told_with_an_example_and_without_the_position(text: str) -> None:
    with pytest.raises(Refused) as caught:
        read_move(Board(), text)
    assert "type a move such as" in str(caught.value)
    assert "rnbq" not in str(caught.value)
    assert len(str(caught.value)) < 120
