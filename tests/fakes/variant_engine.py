"""A UCI engine that announces variants and plays them by the rules of python-chess; the first argument says which.

fairy       all, under the names of Fairy-Stockfish, among others that Lichess does not have
synonyms    all, under other names that engines have for them
few         standard chess, Chess960, atomic and horde
dying       like fairy, but ends with its first search of a variant

It takes a win, else a capture, else any move. On its error output it repeats which variant it is told to play.
"""

import random
import sys

import chess
import chess.variant

FAIRY = (
    "3check", "5check", "antichess", "atomic", "chess", "crazyhouse", "fischerandom", "giveaway", "horde",
    "kingofthehill", "losers", "racingkings", "suicide", "xiangqi",
)  # fmt: skip
NAMES = {
    "fairy": FAIRY,
    "dying": FAIRY,
    "synonyms": ("Three-Check", "Giveaway", "Atomic", "Standard", "Crazyhouse", "Horde", "KOTH", "Race"),
    "few": ("chess", "atomic", "horde"),
}
BOARDS: dict[str, type[chess.Board]] = {
    "chess": chess.Board, "standard": chess.Board, "3check": chess.variant.ThreeCheckBoard,
    "three-check": chess.variant.ThreeCheckBoard, "koth": chess.variant.KingOfTheHillBoard,
    "kingofthehill": chess.variant.KingOfTheHillBoard, "race": chess.variant.RacingKingsBoard,
    "racingkings": chess.variant.RacingKingsBoard, "giveaway": chess.variant.AntichessBoard,
    "antichess": chess.variant.AntichessBoard, "atomic": chess.variant.AtomicBoard,
    "crazyhouse": chess.variant.CrazyhouseBoard, "horde": chess.variant.HordeBoard,
}  # fmt: skip


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def position(kind: type[chess.Board], chess960: bool, words: list[str]) -> chess.Board:
    """Return the board of a `position` command."""
    moves = words[words.index("moves") + 1 :] if "moves" in words else []
    fen = " ".join(words[2 : words.index("moves") if "moves" in words else None])
    board = kind(chess960=chess960) if words[1] == "startpos" else kind(fen, chess960=chess960)
    for move in moves:
        board.push_uci(move)
    return board


def wins(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    outcome = board.outcome()
    board.pop()
    return outcome is not None and outcome.winner is board.turn


def chosen(board: chess.Board, chance: random.Random) -> chess.Move:
    moves = list(board.legal_moves)
    chance.shuffle(moves)
    winning = (move for move in moves if wins(board, move))
    captures = (move for move in moves if board.is_capture(move))
    return next(winning, None) or next(captures, None) or moves[0]


def main(manner: str) -> None:
    chance = random.Random(1)
    kind, chess960, board = chess.Board, False, chess.Board()
    known: list[str] = []              # the words that lead to the board
    for line in sys.stdin:
        words = line.split()
        match words:
            case ["uci"]:
                say(f"id name Variants ({manner})")
                say("option name UCI_Chess960 type check default false")
                default = NAMES[manner][0]
                say(f"option name UCI_Variant type combo default {default} var " + " var ".join(NAMES[manner]))
                say("uciok")
            case ["isready"]:
                say("readyok")
            case ["setoption", "name", "UCI_Variant", "value", name]:
                kind, known = BOARDS[name.lower()], []
                sys.stderr.write(f"plays {name}\n")
                sys.stderr.flush()
            case ["setoption", "name", "UCI_Chess960", "value", value]:
                chess960, known = value == "true", []
            case ["position", *_]:
                if "moves" in known and words[: len(known)] == known:      # to make all moves again would take long
                    for move in words[len(known) :]:
                        board.push_uci(move)
                else:
                    board = position(kind, chess960, words)
                known = words
            case ["go", *_]:
                if manner == "dying" and kind is not chess.Board:
                    sys.exit(7)
                move = chosen(board, chance).uci()
                say(f"info depth 1 nodes 20 score cp 0 pv {move}")
                say(f"bestmove {move}")
            case ["quit"]:
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
