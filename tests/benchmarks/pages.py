"""What pages that follow a daemon cost it: `python -m tests.benchmarks.reaction --pages 50`.

In every second round that many clients follow the events of the operator's page, from a process of their own; so the
rounds with and without them share the daemon, its games and what else the machine does.

`python -m tests.benchmarks.pages ADDRESS COUNT` follows a daemon that runs until its standard input ends, and prints
how many bytes came.
"""

import selectors
import socket
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from tests.benchmarks.children import processor_s
from tests.fakes.arena import Arena

_SETTLED_S = 3.0


@contextmanager
def followers(address: str, count: int) -> Iterator[list[int]]:
    """Have clients follow the events meanwhile; afterwards the list has the number of bytes that came."""
    received: list[int] = []
    if not count:
        yield received
        return
    command = [sys.executable, "-m", "tests.benchmarks.pages", address, str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        yield received
        received.append(int(process.communicate()[0]))


class Rounds:
    """Rounds of games of one daemon, every second one followed by pages."""

    def __init__(self, folder: Path, options: Namespace, opponent: type[GreedyOpponent]) -> None:
        self.without: set[str] = set()
        self.watched: set[str] = set()
        """The ids of the games."""
        self.cpu_without: list[float] = []
        self.cpu_watched: list[float] = []
        """The daemon's processor time as a share of a core, round by round."""
        self.bytes_per_s: list[float] = []
        """Of one page."""
        with socket.create_server(("127.0.0.1", 0)) as found:
            self._address = f"127.0.0.1:{found.getsockname()[1]}"
        with RehearsalServer(timing=Timing()) as server:
            arena = Arena(server, folder, is_copied=False)
            try:
                arena.run_options = ("--status", self._address)
                arena.configure(concurrency=options.games, depth=options.depth)
                arena.start()
                players = [arena.player(f"Slow{number}", opponent) for number in range(options.games)]
                for number in range(options.rounds):
                    self._play(arena, options, players, number)
                arena.stop()
            finally:
                arena.close()
            self.log = arena.log()

    def _play(self, arena: Arena, options: Namespace, players: list[object], number: int) -> None:
        base_s, increment_s = map(int, options.clock.split("+"))
        before, pages = len(arena.started), options.pages if number % 2 else 0
        for player in players:
            arena.challenge(player, base_s=base_s, increment_s=increment_s)  # type: ignore[arg-type]
        arena.until(lambda: len(arena.started) == before + options.games)
        with followers(self._address, pages) as received:
            time.sleep(_SETTLED_S)
            began, spent = time.monotonic(), processor_s(arena.process.pid)
            arena.until(lambda: len(arena.ended) > before, patience_s=600.0)
            took_s = time.monotonic() - began
            share = (processor_s(arena.process.pid) - spent) / took_s
            arena.until_ended(before + options.games, patience_s=600.0)
            whole_s = time.monotonic() - began + _SETTLED_S
        games = {session.game.id for session in arena.started[before:]}
        (self.watched if pages else self.without).update(games)
        (self.cpu_watched if pages else self.cpu_without).append(share)
        if received:
            self.bytes_per_s.append(received[0] / pages / whole_s)
        arena.until(lambda: arena.log().count("game.over") == before + options.games)


def follow(address: str, count: int) -> None:
    """Follow the events with this many clients until the standard input ends."""
    host, _, port = address.rpartition(":")
    selector, received = selectors.DefaultSelector(), 0
    for _ in range(count):
        page = socket.create_connection((host, int(port)))
        page.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        selector.register(page, selectors.EVENT_READ)
    print("follows", flush=True)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.is_set():
        for key, _ in selector.select(timeout=0.1):
            received += len(key.fileobj.recv(1 << 20))
    print(received)


if __name__ == "__main__":
    follow(sys.argv[1], int(sys.argv[2]))
