"""How fast the daemon is apart from its engine: `python -m tests.benchmarks.reaction [--games 8] [--rounds 8]`.

Reaction is the time from the line with the opponent's move received to our request sent, less the
engine's own from `go` written to `bestmove` read. The daemon says it of every move in its verbose log;
the games are played at once against the embedded Lichess, in the same machine.
"""

import argparse
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lichessbot.rehearsal.server import RehearsalServer
from lichessbot.rehearsal.timing import Timing
from tests.fakes.arena import Arena, SlowOpponent

_MOVE = re.compile(r"move\.done game=(\w+) ply=(\d+) round_trip_ms=(\S+) reaction_ms=(\S+)")
# Until the engines have started there is nothing to react with; neither side's clock runs then.
_FREE_PLIES = 2


def play(options: argparse.Namespace, folder: Path) -> str:
    """The log of a daemon that played as many games at once, several times over."""
    base_s, increment_s = map(int, options.clock.split("+"))
    with RehearsalServer(timing=Timing()) as server:
        arena = Arena(server, folder)
        try:
            arena.configure(concurrency=options.games, depth=options.depth)
            arena.start()
            players = [arena.player(f"Slow{number}", SlowOpponent) for number in range(options.games)]
            for number in range(1, options.rounds + 1):
                for player in players:
                    arena.challenge(player, base_s=base_s, increment_s=increment_s)
                arena.until_ended(number * options.games, patience_s=600.0)
                arena.until(lambda ended=number * options.games: arena.log().count("game.over") == ended)
            arena.stop()
        finally:
            arena.close()
        return arena.log()


def percentile(values: Sequence[float], percent: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the daemon's reaction time.")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--clock", default="60+1", metavar="BASE+INC")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--depth", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = play(options, Path(folder))
    moves = [found for found in _MOVE.findall(log) if int(found[1]) > _FREE_PLIES]
    for name, column in (("round trip", 2), ("reaction", 3)):
        values = [float(move[column]) for move in moves]
        figures = ", ".join(f"p{percent} {percentile(values, percent):.1f}" for percent in (50, 90, 99, 100))
        print(f"{name} in ms over {len(values)} moves of {options.games} games at once: {figures}")


if __name__ == "__main__":
    main()
