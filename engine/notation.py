"""The starting positions of Chess960 by number."""

KNIGHT_PAIRS = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4))


def chess960_fen(number: int) -> str:
    """The starting position with this number, 0 to 959; 518 is the ordinary one. (Scharnagl's numbering)"""
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
