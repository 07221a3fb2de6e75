"""FEN to position and back, with X-FEN and Shredder-FEN castling. Only legal positions are accepted.

(chessprogramming wiki: Forsyth-Edwards Notation; Wikipedia: X-FEN). The castling field accepts KQkq, meaning the
outermost rook, and file letters; it is written as KQkq unless an inner rook must be named.

Many FENs name rights that their position cannot have. These are dropped, as on Lichess: castling of a king that has
left its first rank, or with a rook that is not there, and en passant where no pawn has stepped over the square. What
names no right at all is an error.
"""

from engine.core.bitboard import parse_square, square_name
from engine.core.pieces import BLACK, KINDS, KING, NO_PIECE, NO_SQUARE, PAWN, PIECE_LETTERS, ROOK, WHITE
from engine.core.position import Position

STARTING_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
SIDES = "wb"
MOST_COUNTED = 999_999_999         # plies or moves; far beyond any game, and a C int takes as many again
MOST_QUOTED = 120                  # characters of a bad FEN; the longest good ones are shorter


class InvalidFen(ValueError):
    """The text is not the FEN of a legal position. The message quotes it and says what is wrong."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f"invalid FEN {quoted(text, MOST_QUOTED)}: {problem}")


def quoted(text: str, most: int = 20) -> str:
    """Return the text in quotes, cut to `most` characters."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}..."


class Problem(Exception):
    """A part of a FEN is wrong; `parse_fen` adds the text, also that of variants."""


def parse_fen(text: str) -> tuple[Position, int]:
    """Return the position and its fullmove number (1 or more). The last two fields may be missing.

    Raises InvalidFen for any text that does not describe a legal position.
    """
    try:
        return _parse(text.split())
    except Problem as problem:
        raise InvalidFen(text, str(problem)) from None


def _parse(fields: list[str]) -> tuple[Position, int]:
    check_field_count(fields)
    board = parse_board(fields[0])
    _check_piece_counts(board)
    us = parse_side(fields[1])
    rooks = parse_castling(fields[2], board)
    en_passant = parse_en_passant(fields[3], board, us)
    halfmove_clock, fullmove_number = parse_clocks(fields)
    position = Position()
    position.set_up(board, us, rooks, en_passant, halfmove_clock)
    _check_kings(position, board, us)
    return position, fullmove_number


def check_field_count(fields: list[str]) -> None:
    if not 4 <= len(fields) <= 6:
        raise Problem(f"expected 4 to 6 fields (board, side, castling, en passant, clocks), found {len(fields)}")


def parse_board(text: str) -> list[int]:
    """Return 64 pieces from a1 on."""
    ranks = text.split("/")
    if len(ranks) != 8:
        raise Problem(f"expected 8 ranks, found {len(ranks)}")
    board: list[int] = []
    for number, rank in zip(range(8, 0, -1), ranks, strict=True):
        if len(rank) > 8:
            raise Problem(f"rank {number} is longer than 8 squares")
        row: list[int] = []
        for letter in rank:
            if letter in "12345678":
                row += [NO_PIECE] * int(letter)
            elif letter in PIECE_LETTERS:
                row.append(PIECE_LETTERS.index(letter))
            else:
                raise Problem(f"unknown piece {letter!r} on rank {number}")
        if len(row) != 8:
            raise Problem(f"rank {number} has {len(row)} squares instead of 8")
        board = row + board
    return board


def _check_piece_counts(board: list[int]) -> None:
    """Refuse more pieces than a game begins with: this bounds the number of legal moves."""
    for colour, name in ((WHITE, "White"), (BLACK, "Black")):
        count = [board.count(colour * KINDS + kind) for kind in range(KINDS)]
        if count[KING] != 1:
            raise Problem(f"{name} has {count[KING]} kings instead of 1")
        if count[PAWN] > 8:
            raise Problem(f"{name} has {count[PAWN]} pawns, more than 8")
        if sum(count) > 16:
            raise Problem(f"{name} has {sum(count)} pieces and pawns, more than 16")
        if any(board[square] == colour * KINDS + PAWN for square in (*range(8), *range(56, 64))):
            raise Problem(f"{name} has a pawn on the first or last rank")


def parse_side(text: str) -> int:
    """Return the side to move."""
    if text not in ("w", "b"):
        raise Problem(f"expected w or b as the side to move, found {quoted(text)}")
    return SIDES.index(text)


def parse_castling(text: str, board: list[int]) -> list[int]:
    """Return the squares of the castling rooks K Q k q, NO_SQUARE where there is no right or it was dropped."""
    rooks = [NO_SQUARE] * 4
    if text == "-":
        return rooks
    if len(text) > len(rooks):
        raise Problem(f"expected at most {len(rooks)} castling rights, found {quoted(text)}")
    if len(set(text)) < len(text):
        raise Problem(f"a castling right is named twice in {quoted(text)}")
    for letter in text:
        if letter not in "KQABCDEFGHkqabcdefgh":
            raise Problem(f"unknown castling right {letter!r}")
        colour = BLACK if letter.islower() else WHITE
        rank = 56 if colour == BLACK else 0
        king_piece, rook_piece = colour * KINDS + KING, colour * KINDS + ROOK
        king = next((square for square in range(rank, rank + 8) if board[square] == king_piece), NO_SQUARE)
        if king == NO_SQUARE:
            continue
        if letter.lower() in "kq":
            wing = range(rank + 7, king, -1) if letter.lower() == "k" else range(rank, king)
            rook = next((square for square in wing if board[square] == rook_piece), NO_SQUARE)
        else:
            rook = rank + "abcdefgh".index(letter.lower())
        if rook == NO_SQUARE or board[rook] != rook_piece:
            continue
        right = 2 * colour + (0 if rook > king else 1)
        if rooks[right] not in (NO_SQUARE, rook):
            raise Problem(f"two castling rights on one side of the king in {quoted(text)}")
        rooks[right] = rook
    return rooks


def parse_en_passant(text: str, board: list[int], us: int) -> int:
    """Return the square behind the pawn that has just made a double step; NO_SQUARE if none has."""
    if text == "-":
        return NO_SQUARE
    try:
        target = parse_square(text)
    except ValueError:
        raise Problem(f"expected an en passant square or -, found {quoted(text)}") from None
    if target >> 3 != (5 if us == WHITE else 2):
        return NO_SQUARE
    pawn, origin = target ^ 8, target + (8 if us == WHITE else -8)
    stepped = board[pawn] == (us ^ 1) * KINDS + PAWN and board[target] == NO_PIECE and board[origin] == NO_PIECE
    return target if stepped else NO_SQUARE


def parse_clocks(fields: list[str]) -> tuple[int, int]:
    """Return the halfmove clock, 0 if it is missing, and the fullmove number, 1 or more."""
    halfmove_clock = _parse_count(fields[4], "halfmove clock") if len(fields) > 4 else 0
    fullmove_number = _parse_count(fields[5], "fullmove number") if len(fields) > 5 else 1
    return halfmove_clock, max(1, fullmove_number)


def _parse_count(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_COUNTED))):
        raise Problem(f"expected a number from 0 to {MOST_COUNTED} as the {name}, found {quoted(text)}")
    return int(text)


def _check_kings(position: Position, board: list[int], us: int) -> None:
    """Refuse positions in which the side not to move is in check, or a king is in check by three pieces.

    Some positions that no game can reach pass, such as two bishops checking along one diagonal: perft suites have
    such positions.
    """
    their_king, our_king = board.index((us ^ 1) * KINDS + KING), board.index(us * KINDS + KING)
    if position.attackers_of(their_king, us):
        raise Problem(f"the king on {square_name(their_king)} could be taken: the side not to move is in check")
    if position.attackers_of(our_king, us ^ 1).bit_count() > 2:
        raise Problem(f"the king on {square_name(our_king)} is in check by more than two pieces")


def format_fen(position: Position, fullmove_number: int = 1) -> str:
    """Return the FEN; the en passant square is named only if a legal capture exists."""
    state = position.state()
    board, en_passant = state["board"], state["en_passant"]
    return " ".join(
        (
            _format_board(board),
            SIDES[state["side_to_move"]],
            _format_castling(board, state["castling_rights"], state["castling_rooks"]),
            "-" if en_passant == NO_SQUARE else square_name(en_passant),
            str(state["halfmove_clock"]),
            str(fullmove_number),
        )
    )


def _format_board(board: list[int]) -> str:
    ranks = []
    for start in range(56, -1, -8):
        rank = "".join("1" if piece == NO_PIECE else PIECE_LETTERS[piece] for piece in board[start : start + 8])
        for empty in range(8, 1, -1):
            rank = rank.replace("1" * empty, str(empty))
        ranks.append(rank)
    return "/".join(ranks)


def _format_castling(board: list[int], rights: int, rooks: list[int]) -> str:
    text = ""
    for right, letter in enumerate("KQkq"):
        if rights >> right & 1:
            rook = rooks[right]
            rank = rook & 56
            outside = range(rook + 1, rank + 8) if letter in "Kk" else range(rank, rook)
            if any(board[square] == board[rook] for square in outside):
                name = "abcdefgh"[rook & 7]
                letter = name.upper() if right < 2 else name
            text += letter
    return text or "-"


KNIGHT_PAIRS = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4))


def chess960_fen(number: int) -> str:
    """Return the Chess960 start with this number, 0-959; 518 is the standard one. (Scharnagl's numbering)"""
    if not 0 <= number <= 959:
        raise ValueError(f"expected a Chess960 position from 0 to 959, found {number}")
    number, light = divmod(number, 4)
    number, dark = divmod(number, 4)
    pair, queen = divmod(number, 6)
    files = [""] * 8
    files[2 * light + 1], files[2 * dark] = "B", "B"
    free = [file for file in range(8) if not files[file]]
    files[free.pop(queen)] = "Q"
    for index in reversed(KNIGHT_PAIRS[pair]):
        files[free.pop(index)] = "N"
    for file, piece in zip(free, "RKR", strict=True):
        files[file] = piece
    rank = "".join(files)
    return f"{rank.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{rank} w KQkq - 0 1"
