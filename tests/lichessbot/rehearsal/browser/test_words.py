"""What the page says in words."""

import pytest

from lichessbot.rehearsal.browser.words import clock_in_words, move_in_words, reason_of_end, spoken, title
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.clock import Correspondence, RealTime, TimeControl, Unlimited
from lichessbot.rehearsal.rules.enums import Color, Source, Variant
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.setup import GameSetup

WHITE, BLACK = Color.WHITE, Color.BLACK
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def a_game(fen: str = START, variant: Variant | None = None) -> Game:
    you, bot = Account("You", 0), Account("Bot", 0, title="BOT")
    setup = GameSetup(
        id="abcdefgh",
        white=you,
        black=bot,
        variant=variant or (Variant.STANDARD if fen == START else Variant.FROM_POSITION),
        time_control=RealTime(60, 0),
        initial_fen=fen,
        rated=False,
        source=Source.FRIEND,
        created_at_ms=0,
    )
    return Game(setup, 0)


def play(game: Game, moves: str) -> None:
    for number, move in enumerate(moves.split()):
        game.play(game.turn, move, number)


@pytest.mark.parametrize(
    ("san", "words"),
    [
        ("e4", "e4"),
        ("exd5", "e takes d5"),
        ("Nf3", "knight f3"),
        ("Nbxd7+", "knight b takes d7, check"),
        ("R1a3", "rook 1 a3"),
        ("Qh4e1", "queen h4 e1"),
        ("Kxf7", "king takes f7"),
        ("O-O", "castles short"),
        ("O-O-O+", "castles long, check"),
        ("bxa8=Q#", "b takes a8, promoting to a queen, checkmate"),
        ("e8=N", "e8, promoting to a knight"),
        ("N@f3+", "knight dropped on f3, check"),
        ("P@e4", "pawn dropped on e4"),
    ],
)
def test_moves_are_spoken(san: str, words: str) -> None:
    assert spoken(san) == words


@pytest.mark.parametrize(
    ("variant", "fen", "move", "words"),
    [
        (Variant.FROM_POSITION, "7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "g6g7", "queen g7, checkmate"),
        (Variant.ATOMIC, "7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "g6g7", "queen g7, checkmate"),
        (Variant.ATOMIC, "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", "queen takes d7, which wins"),
        (Variant.KING_OF_THE_HILL, "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "d3d4", "king d4, which wins"),
        (Variant.THREE_CHECK, "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+0", "a1a8", "queen a8, which wins"),
        (Variant.ANTICHESS, "8/8/8/8/3p4/2P5/8/8 w - - 0 1", "c3d4", "c takes d4, which loses"),
        (Variant.RACING_KINGS, "6K1/k7/8/8/8/8/8/8 b - - 0 1", "a7a8", "king a8"),
    ],
)
def test_only_a_mate_is_spoken_as_checkmate(variant: Variant, fen: str, move: str, words: str) -> None:
    game = a_game(fen, variant)
    san = game.board().san(move)
    play(game, move)
    assert move_in_words(game, game.board(), san, None).endswith(f" plays {words}")


def test_mate_is_told_to_winner_loser_and_spectators() -> None:
    game = a_game()
    play(game, "f2f3 e7e5 g2g4 d8h4")
    assert reason_of_end(game, WHITE) == "Checkmate."
    assert [title(game, me) for me in (WHITE, BLACK, None)] == ["You lost", "You won", "Black won"]


def test_a_running_game_says_whose_turn_it_is() -> None:
    assert [title(a_game(), me) for me in (WHITE, BLACK, None)] == ["Your turn", "Waiting", "Watching"]


def test_resignation_names_who_resigned() -> None:
    game = a_game()
    play(game, "e2e4 e7e5")
    game.resign(BLACK, 5)
    assert (title(game, WHITE), reason_of_end(game, WHITE)) == ("You won", "Bot resigned.")
    assert reason_of_end(game, BLACK) == "You resigned."


def test_draws_say_which_rule_made_them() -> None:
    agreed = a_game()
    play(agreed, "e2e4 e7e5")
    agreed.offer_draw(WHITE, 3)
    agreed.offer_draw(BLACK, 4)
    repeated = a_game()
    play(repeated, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")
    repeated.settle_threefold(9)
    bare = a_game("7k/8/8/8/8/8/6p1/6K1 w - - 0 1")
    play(bare, "g1g2")
    stale = a_game("7k/5K2/8/8/8/8/8/6Q1 w - - 0 1")
    play(stale, "g1g6")
    fifty = a_game("7k/8/8/8/8/8/8/R5K1 w - - 99 80")
    play(fifty, "g1f1")
    assert [title(it, WHITE) for it in (agreed, repeated, bare, stale, fifty)] == ["Draw"] * 5
    assert [reason_of_end(it, WHITE) for it in (agreed, repeated, bare, stale, fifty)] == [
        "Both sides agreed.",
        "The position was repeated three times.",
        "Neither side can mate.",
        "Bot cannot move and is not in check: stalemate.",
        "Fifty moves without a capture or a pawn move.",
    ]


@pytest.mark.parametrize(
    ("variant", "fen", "move", "reason"),
    [
        (Variant.ANTICHESS, "8/8/8/8/3p4/2P5/8/8 w - - 0 1", "c3d4", "Bot ran out of moves, which wins in antichess."),
        (Variant.ANTICHESS, "8/8/8/8/3p4/2P5/8/8 b - - 0 1", "d4c3", "You ran out of moves, which wins in antichess."),
        (Variant.ATOMIC, "4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", "Bot's king exploded."),
        (Variant.HORDE, "4k3/8/8/8/8/8/r7/P7 b - - 0 1", "a2a1", "The horde was captured."),
        (Variant.KING_OF_THE_HILL, "4k3/8/8/8/8/3K4/8/8 w - - 0 1", "d3d4", "Your king reached the centre."),
        (Variant.RACING_KINGS, "8/6K1/8/8/8/k7/8/8 w - - 0 1", "g7g8", "Your king won the race."),
        (Variant.RACING_KINGS, "6K1/k7/8/8/8/8/8/8 b - - 0 1", "a7a8", "Both kings reached the last rank."),
        (Variant.THREE_CHECK, "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+0", "a1a8", "You gave the third check."),
    ],
)
def test_an_end_by_the_rules_of_a_variant_is_a_sentence(variant: Variant, fen: str, move: str, reason: str) -> None:
    game = a_game(fen, variant)
    play(game, move)
    assert game.is_over
    assert reason_of_end(game, WHITE) == reason


def test_a_flag_says_whose_time_ran_out_and_why_it_may_be_a_draw() -> None:
    lost = a_game()
    play(lost, "e2e4 e7e5")
    lost.check_flag(100_000)
    assert (title(lost, WHITE), reason_of_end(lost, WHITE)) == ("You lost", "Your time ran out.")
    drawn = a_game("7k/7r/8/8/8/8/8/5K2 b - - 0 1")
    play(drawn, "h8g8 f1f2")
    drawn.check_flag(100_000)
    assert (title(drawn, WHITE), reason_of_end(drawn, WHITE)) == (
        "Draw", "Bot's time ran out, but the other side cannot mate.",
    )
    offered = a_game()
    play(offered, "e2e4 e7e5")
    offered.offer_draw(BLACK, 3)
    offered.check_flag(100_000)
    assert (title(offered, WHITE), reason_of_end(offered, WHITE)) == (
        "Draw", "Your time ran out, but the other side was offering a draw.",
    )


def test_an_abort_is_no_result() -> None:
    game = a_game()
    game.abort(1)
    assert (title(game, WHITE), reason_of_end(game, WHITE)) == (
        "Game aborted", "It was aborted before both sides had moved.",
    )


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (RealTime(180, 2), "3+2"),
        (RealTime(15, 0), "0.25+0"),
        (Unlimited(), "unlimited"),
        (Correspondence(3), "3 days a move"),
        (Correspondence(1), "1 day a move"),
    ],
)
def test_clocks_are_written_in_minutes_and_seconds(control: TimeControl, words: str) -> None:
    assert clock_in_words(control) == words
