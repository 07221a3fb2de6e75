"""FEN of variants: read as Lichess, python-chess and Fairy-Stockfish write it, and written as Lichess does.

Pockets of crazyhouse are a ninth rank (`.../RNBQKBNR/Qnp w`) or stand in brackets (`RNBQKBNR[Qnp] w`), and promoted
pieces are marked (`Q~`). Checks of three-check are counted as given at the end (`0 1 +2+0`) or as left before the
clocks (`1+3 0 1`).
"""

from engine.core.fen import (
    InvalidFen,
    Problem,
    check_field_count,
    format_fen,
    parse_board,
    parse_castling,
    parse_clocks,
    parse_en_passant,
    parse_side,
)
from engine.core.pieces import BLACK, KINDS, KING, NO_PIECE, NO_SQUARE, PAWN, PIECE_LETTERS, WHITE
from engine.variants.three_check import CHECKS_TO_WIN
from engine.variants.variant import Variant
from engine.variants.variant_position import UNDECIDED, VariantPosition

POCKET_BITS = 5                    # of each count in `extra`
MOST_PIECES = 32                   # in crazyhouse, with the pockets
A8 = 56                            # the square with which a FEN begins
DROPPED = "PNBRQpnbrq"             # in the order of the pockets in `extra`


def parse_variant_fen(variant: Variant, text: str) -> tuple[VariantPosition, int]:
    """Return the position and its fullmove number. The clocks and what the variant adds may be missing.

    Raises InvalidFen for any text that does not describe a legal position of the variant.
    """
    try:
        return _parse(variant, text.split())
    except Problem as problem:
        raise InvalidFen(text, f"{problem} ({variant.name})") from None


def format_variant_fen(variant: Variant, position: VariantPosition, fullmove_number: int) -> str:
    """Return the FEN as Lichess writes it."""
    text = format_fen(position, fullmove_number)
    if variant.key == "crazyhouse":
        board, rest = text.split(" ", 1)
        state = position.state()
        return f"{_mark_promoted(board, state['promoted'])}/{_format_pockets(state['extra'])} {rest}"
    if variant.key == "threeCheck":
        return f"{text} +{checks_of(position, WHITE)}+{checks_of(position, BLACK)}"
    return text


def _parse(variant: Variant, fields: list[str]) -> tuple[VariantPosition, int]:
    extra = promoted = 0
    if variant.key == "threeCheck":
        extra = _take_checks(fields)
    check_field_count(fields)
    if variant.key == "crazyhouse":
        fields[0], extra = _take_pockets(fields[0])
        fields[0], promoted = _take_promoted(fields[0])
    board = parse_board(fields[0])
    _check_piece_counts(variant, board)
    us = parse_side(fields[1])
    rooks = parse_castling(fields[2], board) if variant.has_castling else [NO_SQUARE] * 4
    en_passant = parse_en_passant(fields[3], board, us)
    halfmove_clock, fullmove_number = parse_clocks(fields)
    in_pockets = len(_format_pockets(extra)) if variant.key == "crazyhouse" else 0
    if in_pockets and in_pockets + 64 - board.count(NO_PIECE) > MOST_PIECES:
        raise Problem(f"more than {MOST_PIECES} pieces on the board and in the pockets")
    position = variant.position()
    position.set_up(board, us, rooks, en_passant, halfmove_clock)
    position.begin(extra, promoted)
    exploded = variant.key == "atomic" and position.result() != UNDECIDED      # the king that gave the check is gone
    if not exploded and position.opponent_is_in_check():
        raise Problem("the side not to move is in check")
    if variant.key == "racingKings" and position.is_check():
        raise Problem("the side to move is in check")
    return position, fullmove_number


def _check_piece_counts(variant: Variant, board: list[int]) -> None:
    """Refuse set-ups that the variant cannot have."""
    for side, name in ((WHITE, "White"), (BLACK, "Black")):
        kings = board.count(KINDS * side + KING)
        if kings not in variant.kings[side]:
            raise Problem(f"{name} has {kings} kings")
        pawn = KINDS * side + PAWN
        first, last = (board[:8], board[56:]) if side == WHITE else (board[56:], board[:8])
        if pawn in last or (pawn in first and (variant.key, side) != ("horde", WHITE)):
            raise Problem(f"{name} has a pawn on the first or last rank")
        if pawn in board and variant.key == "racingKings":
            raise Problem(f"{name} has a pawn")
    if variant.key == "atomic" and not board.count(KING) + board.count(KINDS + KING):
        raise Problem("there is no king")
    if all(piece == NO_PIECE for piece in board):
        raise Problem("there is no piece")


def _take_checks(fields: list[str]) -> int:
    """Remove the field that counts checks; return the checks given as `extra` has them."""
    for index in range(4, len(fields)):
        if "+" not in fields[index]:
            continue
        field = fields.pop(index)
        counts = field.removeprefix("+").split("+")
        if len(counts) != 2 or not all(count in tuple("0123") for count in counts):
            raise Problem("expected the checks given as +0+0 or left as 3+3")
        white, black = map(int, counts)
        if not field.startswith("+"):
            white, black = CHECKS_TO_WIN - white, CHECKS_TO_WIN - black
        return white | black << 4
    return 0


def _take_pockets(board: str) -> tuple[str, int]:
    """Return the board without the pockets, and these as `extra` has them."""
    if board.endswith("]"):
        board, _, pockets = board[:-1].partition("[")
    elif board.count("/") == 8:
        board, _, pockets = board.rpartition("/")
    else:
        pockets = ""
    letters = pockets.replace("-", "")
    if len(letters) >= MOST_PIECES:       # there is a king on the board; and no count may leave its bits
        raise Problem(f"more than {MOST_PIECES - 1} pieces in the pockets")
    extra = 0
    for letter in letters:
        if letter not in DROPPED:
            raise Problem(f"unknown piece {letter!r} in the pockets")
        extra += 1 << POCKET_BITS * DROPPED.index(letter)
    return board, extra


def _format_pockets(extra: int) -> str:
    return "".join(letter * (extra >> POCKET_BITS * place & 31) for place, letter in enumerate(DROPPED))


def pocket_of(position: VariantPosition, side: int) -> str:
    """Return the letters of a side's pieces in the pocket, from queen to pawn, for a position of crazyhouse."""
    pockets = _format_pockets(position.state()["extra"])
    return "".join(letter for letter in reversed(pockets) if letter.isupper() == (side == WHITE))


def checks_of(position: VariantPosition, side: int) -> int:
    """Return how many checks a side has given, for a position of three-check."""
    return int(position.state()["extra"] >> 4 * side & 15)


def _take_promoted(board: str) -> tuple[str, int]:
    """Return the board without the marks of promoted pieces, and their squares."""
    promoted = 0
    for first, rank in zip(range(A8, -1, -8), board.split("/"), strict=False):
        square = first                 # counted anew, as the rank before may have too many squares or too few
        for letter, before in zip(rank, "/" + rank, strict=False):
            if letter == "~":
                if before not in PIECE_LETTERS:
                    raise Problem("~ does not follow a piece")
                promoted |= 1 << square - 1
            else:
                square = _next_square(square, letter)
    return board.replace("~", ""), promoted


def _mark_promoted(board: str, promoted: int) -> str:
    """Return the board with a ~ behind each promoted piece."""
    text, square = "", A8
    for letter in board:
        text += f"{letter}~" if letter in PIECE_LETTERS and promoted >> square & 1 else letter
        square = _next_square(square, letter)
    return text


def _next_square(square: int, letter: str) -> int:
    """Return the square after this one in the board of a FEN, given the letter read there."""
    if letter == "/":
        return square - 16             # from behind the end of a rank to the start of the one below
    return square + (int(letter) if letter in "12345678" else 1)
