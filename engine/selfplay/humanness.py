"""How human a player's errors are, measured without games of people; `engine/search/levels/README.md` defines it.

A player plays against itself with another seed; each of its moves after the opening is judged by the full search with a
fixed number of nodes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, partial

from engine.accuracy import Score, bounded_cp
from engine.core.move import is_capture
from engine.core.see import exchange_wins
from engine.facade import Board, Engine, Limits
from engine.selfplay.ladder import MAX_PLIES, Player, make_player, opening
from engine.selfplay.uci_client import EngineFailed
from engine.selfplay.worker_pool import run_parallel

JUDGE_NODES = 10_000               # for each search
HASH_MB = 8
ERROR_CP = 300                     # loss of a blunder
TAKEN_CP = 200                     # what a capture must win by exchange to be a refutation in one move
CLEAR_CP = 150                     # by which a recapture must be better than all other moves
LOST_CP = -300                     # at this score or less the player is losing
SHUFFLE_PLIES = 60                 # of a game, in which moves along the first rank count


@dataclass
class Tally:
    """Counts over the judged moves of one player."""

    moves: int = 0
    loss_cp: int = 0               # sum
    errors: int = 0                # moves that lose ERROR_CP or more
    taken: int = 0                 # of these, refuted by a capture in one move
    recaptures: int = 0            # positions in which a recapture is clearly best
    recaptured: int = 0
    losing: int = 0                # moves at LOST_CP or less
    thrown: int = 0                # of these, errors that give the moved piece away for nothing
    mates: int = 0                 # positions with a mate in one
    mated: int = 0
    early: int = 0                 # moves in the first SHUFFLE_PLIES
    shuffles: int = 0              # of these, quiet moves along the own first rank that take back the last own move
    asked: int = 0                 # positions in which the player chose again in another game
    agreed: int = 0

    def add(self, other: "Tally") -> None:
        """Add the counts of another tally."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


@cache
def _players(text: str) -> tuple[Player, Player, Player]:
    """Return this process's two players, and one who chooses again."""
    return make_player(text), make_player(text), make_player(text)


class Judge:
    """The full search, with an empty table for each position."""

    def __init__(self, nodes: int) -> None:
        self._engine = Engine(HASH_MB)
        self._nodes = nodes

    def judge(self, board: Board, only: Iterable[str] = ()) -> tuple[int, str | None]:
        """Return the score for the side to move, as `bounded_cp` has it, and the best move."""
        outcome = board.outcome()
        if outcome is not None:
            return (0 if outcome.winner is None else bounded_cp(Score(mate=-1))), None
        self._engine.new_game()
        self._engine.set_position(board)
        result = self._engine.go(Limits(nodes=self._nodes), only=tuple(only))
        score = Score(0) if result.report is None else Score(result.report.score_cp, result.report.mate_in)
        return bounded_cp(score), result.best_move


def observe_game(nodes: int, game: tuple[str, int]) -> Tally:
    """Play a player's game with this number and return the tally of both sides."""
    text, number = game
    first, second, again = _players(text)
    for seed, player in enumerate((first, second, again)):
        player.new_game(3 * number + seed + 1)
    board, judge, tally = opening(number), Judge(nodes), Tally()
    while board.outcome() is None and len(board.moves) < MAX_PLIES:
        player = first if board.turn == "white" else second
        move = player.move(board, Limits())
        if move not in board.legal_moves():
            raise EngineFailed(f"{text} played {move}, which is not legal in {board.fen()}")
        tally.asked += 1
        tally.agreed += move == again.move(board, Limits())
        observe(board, move, judge, tally)
        board.push(move)
    return tally


def observe(board: Board, move: str, judge: Judge, tally: Tally) -> None:
    """Add one move to the tally."""
    best, best_move = judge.judge(board)
    after = board.after(move)
    score, reply = judge.judge(after)
    loss = 0 if move == best_move else max(0, best + score)
    tally.moves += 1
    tally.loss_cp += loss
    taken = reply is not None and _wins_material(after, reply)
    if loss >= ERROR_CP:
        tally.errors += 1
        tally.taken += taken
    if best <= LOST_CP:
        tally.losing += 1
        for_nothing = board.piece_at(move[2:4]) is None and reply is not None and reply[2:4] == move[2:4]
        tally.thrown += taken and for_nothing and loss >= ERROR_CP
    if is_capture(board.last_move) and best_move is not None:
        _observe_recapture(board, move, best, best_move, judge, tally)
    _observe_mate(board, move, tally)
    _observe_shuffle(board, move, tally)


def _wins_material(board: Board, move: str) -> bool:
    """Return whether the move is a capture that wins a piece by exchange."""
    return board.piece_at(move[2:4]) is not None and exchange_wins(board.position, board.parse(move), TAKEN_CP)


def _observe_recapture(
    board: Board, move: str, best: int, best_move: str, judge: Judge, tally: Tally
) -> None:
    square = board.moves[-1][2:4]
    others = [other for other in board.legal_moves() if other[2:4] != square]
    if best_move[2:4] == square and others and best - judge.judge(board, others)[0] >= CLEAR_CP:
        tally.recaptures += 1
        tally.recaptured += move[2:4] == square


def _observe_mate(board: Board, move: str, tally: Tally) -> None:
    if any(board.after(other).is_checkmate() for other in board.legal_moves()):
        tally.mates += 1
        tally.mated += board.after(move).is_checkmate()


def _observe_shuffle(board: Board, move: str, tally: Tally) -> None:
    """Count a quiet move of king, queen or rook that takes back the player's own last move along its first rank."""
    if len(board.moves) >= SHUFFLE_PLIES:
        return
    rank = "1" if board.turn == "white" else "8"
    takes_back = len(board.moves) > 1 and board.moves[-2] == move[2:4] + move[:2]
    quiet = board.piece_at(move[2:4]) is None and not board.is_check()
    tally.early += 1
    tally.shuffles += takes_back and quiet and move[1] == move[3] == rank


def observe_games(texts: Iterable[str], games: int, jobs: int, nodes: int) -> Iterator[tuple[str, Tally]]:
    """Play this many games of each player, several at a time; yield the tally of each game."""
    numbered = ((text, number) for number in range(games) for text in texts)
    for (text, _), tally in run_parallel(partial(observe_game, nodes), numbered, jobs):
        yield text, tally


# --- The table -------------------------------------------------------------------------------------------------------

COLUMNS = (
    ("errors", "errors", "moves"),
    ("taken", "taken", "errors"),
    ("recaptures made", "recaptured", "recaptures"),
    ("thrown away", "thrown", "losing"),
    ("mates in one", "mated", "mates"),
    ("shuffles", "shuffles", "early"),
    ("agreement", "agreed", "asked"),
)


def table(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: percentages, each with the number that it is of."""
    yield f"| player | moves | loss cp | {' | '.join(title for title, _, _ in COLUMNS)} |"
    yield f"|---|{'---|' * (len(COLUMNS) + 2)}"
    for text, tally in tallies.items():
        shares = (_share(getattr(tally, part), getattr(tally, whole)) for _, part, whole in COLUMNS)
        yield f"| {text} | {tally.moves} | {tally.loss_cp / max(1, tally.moves):.0f} | {' | '.join(shares)} |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} % of {whole}" if whole else "-"
