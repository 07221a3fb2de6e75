"""The log: one line per event, for people, for the journal of systemd, and for programs.

Knows how an event is written in each format, and how secrets and control characters are kept out of it. Must not know:
what the events are about; it gets a name and fields, and `phrases` has a phrase for each name.
Offers `EventLog`, `start_logging` with its formats, `spellings` of secrets in them, `inert` for text from strangers,
and `try_start` for threads.
"""

from lichessbot.log.event_log import EventLog, counted, crashes, inert, silenced
from lichessbot.log.formats import LogFormat, Verbosity, spellings, start_logging
from lichessbot.log.threads import try_start

__all__ = [
    "EventLog",
    "LogFormat",
    "Verbosity",
    "counted",
    "crashes",
    "inert",
    "silenced",
    "spellings",
    "start_logging",
    "try_start",
]
