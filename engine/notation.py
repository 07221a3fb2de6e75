"""Games as text: PGN, and the starting positions of Chess960 by number."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from engine.board import Board
from engine.fen import STARTING_FEN

LINE_LENGTH = 80
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


def pgn_text(
    headers: Mapping[str, str],
    board: Board,
    result: str,
    clocks_s: Sequence[float | None] = (),
    evals: Sequence[str | None] = (),
) -> str:
    """One game in PGN, ending in an empty line.

    For each ply as far as known: `clocks_s`, what the mover had left after it, in seconds; `evals`, what it led to from
    White's view, in pawns or as a mate such as '#-3', perhaps with a comma and the depth. SetUp and FEN are added when
    the game did not start from the ordinary position.
    """
    tags = {**headers, "Result": result}
    if board.initial_fen != STARTING_FEN:
        tags |= {"SetUp": "1", "FEN": board.initial_fen}
    lines = [f'[{name} "{_escape(value)}"]' for name, value in tags.items()]
    return "\n".join([*lines, "", *_wrap([*_movetext(board, clocks_s, evals), result]), "", ""])


def _escape(value: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in value)
    return plain.replace("\\", "\\\\").replace('"', '\\"')


def _movetext(board: Board, clocks_s: Sequence[float | None], evals: Sequence[str | None]) -> list[str]:
    """Move numbers, moves and comments, as words."""
    replay = Board(board.initial_fen, chess960=board.chess960)
    words: list[str] = []
    interrupted = True
    known = zip_longest(board.moves, clocks_s[: len(board.moves)], evals[: len(board.moves)])
    for move, clock_s, evaluation in known:
        if replay.turn == "white":
            words.append(f"{replay.fullmove_number}.")
        elif interrupted:
            words.append(f"{replay.fullmove_number}...")
        words.append(replay.san(move))
        comment = _comment(clock_s, evaluation)
        words += comment
        interrupted = bool(comment)
        replay.push(move)
    return words


def _comment(clock_s: float | None, evaluation: str | None) -> list[str]:
    """What is known of a ply, as one word or none."""
    facts = [f"[%eval {evaluation}]"] if evaluation is not None else []
    if clock_s is not None:
        facts.append(f"[%clk {_clock(clock_s)}]")
    return [f"{{ {' '.join(facts)} }}"] if facts else []


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _wrap(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LINE_LENGTH:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
