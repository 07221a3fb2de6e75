"""A control server whose requests a thread of the test answers."""

import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from lichessbot.control.commands import ControlAnswer, ControlRequest
from lichessbot.control.server import ControlServer, Patience

PATIENT = Patience(request_s=60.0, main_thread_s=60.0, reading_s=60.0)
"""Only tests of what happens to slow clients and a busy daemon wait for less."""


def _done(request: ControlRequest) -> ControlAnswer:
    return ControlAnswer(True, f"did {request.command}")


class FakeMainThread:
    """Takes the place of the main thread: answers requests with `answer`, and not at all where that returns None."""

    def __init__(self, folder: Path, patience: Patience = PATIENT) -> None:
        self.answer: Callable[[ControlRequest], ControlAnswer | None] = _done
        self.seen: list[ControlRequest] = []
        self._inbox: SimpleQueue[ControlRequest | None] = SimpleQueue()
        self.server = ControlServer(folder, self._inbox.put, patience)
        self.server.start()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (request := self._inbox.get()) is not None:
            self.seen.append(request)
            answer = self.answer(request)
            if answer is not None:
                request.reply(answer)

    def close(self) -> None:
        self.server.close()
        self._inbox.put(None)
        self._thread.join()
