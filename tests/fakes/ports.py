"""Ports for programs that must be told one."""

import random
import socket

NEVER_GIVEN = range(20_000, 32_000)
"""Below the ports that the system gives to programs that ask for any, as other tests do at the same time."""


def free_port() -> int:
    """Return a port at which nobody listens."""
    chance = random.SystemRandom()
    while True:
        port = chance.choice(NEVER_GIVEN)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
