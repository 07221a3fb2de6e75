"""Where one game asks for moves: questions in, one piece of advice for each on the queue.

Knows threads and time; what is asked of whom is the panel's. A source that hangs keeps its thread, and the next
question gets another: the game never waits for either.
"""

import threading
import time
from queue import SimpleQueue
from typing import Final

from lichessbot.config import EngineConfig
from lichessbot.journal import Journal
from lichessbot.messages import Advice, Inbox, Question
from lichessbot.sources.hosts import Hosts
from lichessbot.sources.panel import Panel, seats

# So many threads of one game may hang before its questions are answered with nothing.
_MOST_THREADS: Final = 3


class Desk:
    """The move sources of one game. For one thread."""

    def __init__(self, game_id: str, config: EngineConfig, hosts: Hosts, inbox: Inbox) -> None:
        self._game_id = game_id
        self._inbox = inbox
        journal = Journal(game_id)
        self._panel = Panel(seats(config, hosts, journal), config.online_moves.max_out_of_book_moves, journal)
        self._clerks: list[_Clerk] = []

    def ask(self, question: Question) -> None:
        """Never waits. Every question is answered, unless the sources hang."""
        if not self._panel.concerns(question):
            self._inbox.put(Advice(self._game_id, question.search_id))
            return
        self._clerks = [clerk for clerk in self._clerks if clerk.is_alive()]
        clerk = next((clerk for clerk in self._clerks if not clerk.is_busy), None)
        if clerk is None:
            if len(self._clerks) >= _MOST_THREADS:
                self._inbox.put(Advice(self._game_id, question.search_id))
                return
            clerk = _Clerk(self._game_id, self._panel, self._inbox)
            self._clerks.append(clerk)
            clerk.start()
        clerk.ask(question)

    def close(self) -> None:
        """Say nothing more to what was asked so far."""
        for clerk in self._clerks:
            clerk.stop()
        self._clerks = []


class _Clerk(threading.Thread):
    """Answers one question after the other."""

    def __init__(self, game_id: str, panel: Panel, inbox: Inbox) -> None:
        super().__init__(name=f"sources-{game_id}", daemon=True)
        self._game_id = game_id
        self._panel = panel
        self._inbox = inbox
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._stopping = False
        self.is_busy = False

    def ask(self, question: Question) -> None:
        self.is_busy = True
        self._questions.put(question)

    def stop(self) -> None:
        self._stopping = True
        self._questions.put(None)

    def run(self) -> None:
        while (question := self._questions.get()) is not None and not self._stopping:
            advice = self._advice(question)
            self.is_busy = False
            if not self._stopping:
                self._inbox.put(advice)

    def _advice(self, question: Question) -> Advice:
        asked_at = time.monotonic()
        found = self._panel.consult(question, asked_at + question.patience_s)
        took_s = time.monotonic() - asked_at
        if found is None:
            return Advice(self._game_id, question.search_id, took_s=took_s)
        finding, source = found
        return Advice(
            self._game_id, question.search_id, finding.moves, source, finding.summary, finding.wdl, took_s
        )
