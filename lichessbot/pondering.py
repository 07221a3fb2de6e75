"""The search on the opponent's time: of the position after the reply that the engine expects.

Pure. If that reply comes, the search goes on as the search for our move (a ponder hit), and its move may be ready; if
not, it is dropped. An engine that dies while it ponders is left in peace for the rest of the game: to ponder may cost
strength, never a move. (chessprogramming wiki: Pondering)
"""

from dataclasses import replace

from engine.facade import Board, InvalidMove, Limits
from lichessbot.messages import BestMove, Search


class Pondering:
    """At most one supposition at a time."""

    def __init__(self) -> None:
        self._search: Search | None = None
        self._early: BestMove | None = None
        self._given_up = False

    @property
    def active(self) -> bool:
        return self._search is not None

    def suppose(self, board: Board, move: str, reply: str | None, search_id: int, limits: Limits) -> Search | None:
        """What to search after our `move`, if `reply` is expected; None if there is nothing to search."""
        self.drop()
        if self._given_up or reply is None:
            return None
        expected = board.copy()
        try:
            expected.push(move)
            expected.push(reply)
        except InvalidMove:
            return None
        if not expected.legal_moves():
            return None
        moves = tuple(expected.moves)
        limits = replace(limits, ponder=True)
        self._search = Search(search_id, board.initial_fen, board.chess960, moves, limits)
        return self._search

    def still_possible(self, moves: tuple[str, ...]) -> bool:
        """Whether the game, which stands at `moves` with the opponent to move, can still reach what is searched."""
        return self._search is not None and self._search.moves[:-1] == moves

    def hit(self, moves: tuple[str, ...]) -> Search | None:
        """The search under way if it is of this position, from now on an ordinary one."""
        search = self._search
        self._search = None
        if search is None or search.moves != moves:
            return None
        return replace(search, limits=replace(search.limits, ponder=False))

    def note(self, answer: BestMove) -> None:
        """Some engines answer without waiting for the hit."""
        if self._search is not None and self._search.search_id == answer.search_id:
            self._early = answer

    def early_answer(self, search: Search) -> BestMove | None:
        """What is already known about a search that was hit."""
        early = self._early
        return early if early is not None and early.search_id == search.search_id else None

    def died(self, search_id: int | None) -> None:
        """The engine is gone; if it was pondering, it is not asked to again."""
        if self._search is not None and self._search.search_id == search_id:
            self.drop()
            self._given_up = True

    def drop(self) -> None:
        self._search = self._early = None
