"""FEN of the variants: every form is read, Lichess's is written, and bad ones are refused with their reason."""

import chess.variant
import pytest

from engine.facade import Board, InvalidFen, InvalidVariant


@pytest.mark.parametrize(
    ("variant", "text", "written"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3/PNbp w - - 0 1", "4k3/8/8/8/8/8/8/4K3/PNpb w - - 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[QPpn] w - - 0 1", "4k3/8/8/8/8/8/8/4K3/PQpn w - - 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[-] w - - 0 1", "4k3/8/8/8/8/8/8/4K3/ w - - 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3/ w - - 0 1"),
        ("crazyhouse", "4k3/Q~7/8/1n~6/8/8/q~7/R3K2R~[] b - - 0 1", "4k3/Q~7/8/1n~6/8/8/q~7/R3K2R~/ b - - 0 1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +0+0"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+1", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 1+2 0 1", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+1"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 1+2", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +2+1"),
        ("antichess", "rnbqk2r/8/8/8/8/8/8/RNBQK2R w KQkq - 0 1", "rnbqk2r/8/8/8/8/8/8/RNBQK2R w - - 0 1"),
        ("antichess", "KKK5/8/8/8/8/8/8/8 b - - 0 1", "KKK5/8/8/8/8/8/8/8 b - - 0 1"),
        ("horde", "4k3/8/8/8/8/8/8/PPP5 w - - 0 1", "4k3/8/8/8/8/8/8/PPP5 w - - 0 1"),
        ("horde", "r3k3/8/8/8/8/8/8/PPP5 w KQkq e6 0 1", "r3k3/8/8/8/8/8/8/PPP5 w q - 0 1"),
        ("atomic", "8/8/8/8/8/8/8/4K3 b - - 0 1", "8/8/8/8/8/8/8/4K3 b - - 0 1"),
        ("atomic", "8/8/8/8/7q/8/8/4K3 b - - 0 1", "8/8/8/8/7q/8/8/4K3 b - - 0 1"),
        ("atomic", "8/8/8/3k4/3K4/8/8/3R4 w - - 0 1", "8/8/8/3k4/3K4/8/8/3R4 w - - 0 1"),
    ],
)
def test_every_form_is_read_and_that_of_lichess_is_written(variant: str, text: str, written: str) -> None:
    board = Board(text, variant=variant)
    assert board.fen() == written
    assert Board(written, variant=variant).key() == board.key()


def test_a_piece_that_the_fen_marks_as_promoted_is_a_pawn_in_the_pocket() -> None:
    board = Board("4k3/8/8/8/8/8/3q~4/4K3[] w - - 0 1", variant="crazyhouse").after("e1d2")
    assert board.pocket("white") == "P"


@pytest.mark.parametrize(
    ("variant", "fen", "reason"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[K] w - - 0 1", "unknown piece 'K' in the pockets"),
        ("crazyhouse", f"4k3/8/8/8/8/8/8/4K3[{'P' * 31}] w - - 0 1", "more than 32 pieces"),
        ("crazyhouse", f"4k3/8/8/8/8/8/8/4K3[{'P' * 99}] w - - 0 1", "more than 31 pieces in the pockets"),
        ("crazyhouse", f"4k3/8/8/8/8/8/8/4K3[{'Q' * 32}] w - - 0 1", "more than 31 pieces in the pockets"),
        ("crazyhouse", f"4k3/8/8/8/8/8/8/4K3[{'q' * 32}] w - - 0 1", "more than 31 pieces in the pockets"),
        ("crazyhouse", "4k3/~8/8/8/8/8/8/4K3[] w - - 0 1", "~ does not follow a piece"),
        ("crazyhouse", "~4k3/8/8/8/8/8/8/4K3[] w - - 0 1", "~ does not follow a piece"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/8/8/4K3 w - - 0 1", "expected 8 ranks"),
        ("crazyhouse", "4k3/8/8/8/8/8/1/N~3K3[] w - - 0 1", "rank 2 has 1 squares instead of 8"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +4+0", "expected the checks"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 +12+0", "expected the checks"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 12+3 0 1", "expected the checks"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 ++", "expected the checks"),
        ("threeCheck", "4k3/8/8/8/8/8/8/Q3K3 w - - 3+3+3 0 1", "expected the checks"),
        ("threeCheck", "4k3/8/8/8/8/8/8/4Q2K w - - 0 1", "side not to move is in check"),
        ("kingOfTheHill", "8/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 0 kings"),
        ("kingOfTheHill", "8/8/8/4K3/4k3/8/8/8 b - - 0 1", "side not to move is in check"),
        ("atomic", "8/8/8/8/8/8/8/4R3 w - - 0 1", "there is no king"),
        ("atomic", "4k3/8/8/8/8/8/8/4R2K w - - 0 1", "side not to move is in check"),
        ("horde", "4k3/8/8/8/8/8/8/PPPPK3 w - - 0 1", "White has 1 kings"),
        ("horde", "4k3/8/8/8/8/8/8/PPPP4 w Z - 0 1", "unknown castling right 'Z'"),
        ("horde", "P3k3/8/8/8/8/8/8/PPPP4 w - - 0 1", "pawn on the first or last rank"),
        ("atomic", "4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "White has a pawn on the first or last rank"),
        ("atomic", "4k3/8/8/8/8/8/8/4K2P w - - 0 1", "White has a pawn on the first or last rank"),
        ("atomic", "4k2p/8/8/8/8/8/8/4K3 w - - 0 1", "Black has a pawn on the first or last rank"),
        ("atomic", "4k3/8/8/8/8/8/8/4K2p w - - 0 1", "Black has a pawn on the first or last rank"),
        ("racingKings", "8/8/8/8/8/8/kP5K/8 w - - 0 1", "White has a pawn"),
        ("racingKings", "8/8/8/8/8/8/k6K/7r w - - 0 1", "the side to move is in check"),
        ("antichess", "8/8/8/8/8/8/8/8 w - - 0 1", "there is no piece"),
        ("antichess", "", "expected 4 to 6 fields"),
    ],
)
def test_bad_fen_is_refused_with_its_reason(variant: str, fen: str, reason: str) -> None:
    with pytest.raises(InvalidFen) as caught:
        Board(fen, variant=variant)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("standard", "standard"), ("chess960", "standard"), ("From Position", "standard"),
        ("kingOfTheHill", "kingOfTheHill"), ("King of the Hill", "kingOfTheHill"), ("kingofthehill", "kingOfTheHill"),
        ("3check", "threeCheck"), ("Three-check", "threeCheck"), ("Racing Kings", "racingKings"),
    ],
)  # fmt: skip
def test_a_variant_is_known_by_the_names_of_lichess_uci_and_pgn(name: str, key: str) -> None:
    assert Board(variant=name).variant == key


def test_an_unknown_variant_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidVariant, match="did you mean horde"):
        Board(variant="hordes")


def test_the_starts_are_those_of_python_chess() -> None:
    for name in ("antichess", "atomic", "kingofthehill", "racingkings", "horde"):
        variants = [it for it in chess.variant.VARIANTS if it.uci_variant == name]
        assert [Board(variant=name).fen()] == [variant().fen() for variant in variants]
