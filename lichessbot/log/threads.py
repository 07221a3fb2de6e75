"""Threads that the system may refuse to start, as it runs out of threads or memory."""

import threading

from lichessbot.log.event_log import EventLog


def try_start(thread: threading.Thread, log: EventLog) -> bool:
    """Return whether the thread was started; log a refusal. The caller tries again."""
    try:
        thread.start()
    except RuntimeError as error:
        log.warning("thread.not_started", thread=thread.name, error=error)
        return False
    return True
