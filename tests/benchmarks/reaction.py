"""The daemon's reaction time, by steps: `python -m tests.benchmarks.reaction [--games 8] [--rounds 8]`.

The whole reaction is the time from the line with the opponent's move to our request, less the engine's own from `go`
written to `bestmove` read. The daemon logs it with `--verbose`. The games are played at once against the embedded
Lichess on the same machine, by opponents that think for 0.3 to 0.9 seconds: with equal times the games would soon move
in step. The first search of a game may wait for its engine to start, and is counted apart.

Also measured: how long the daemon takes from its start to the first game, its memory while all games are played, and
the time from an opponent's move to ours as the server sees it, with an engine that searches to depth 1 only.

With `--pages 50` only the operator's page is measured: its cost while this many follow it, side by side with none.
"""

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.opponents import GreedyOpponent
from lichessbot.rehearsal.rules.game import BOTH_MOVED_PLIES
from lichessbot.rehearsal.rules.timing import Timing
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import GameChanged, GameEnded, SiteEvent
from tests.benchmarks.figures import Figures
from tests.benchmarks.pages import Rounds
from tests.fakes.arena import PATIENCE_S, Arena
from tests.processes import resident_kib

REACTION_BAR_MS = 5
SEEN_BAR_MS = 40
ADDED_BAR_MS = 1
STARTS = 5
Times = dict[str, float]
_SEARCHED = re.compile(r"engine\.move game=(\w+)")
_DONE = re.compile(r"move\.done game=(\w+) ply=\d+ (.*)")
_FIELD = re.compile(r"(\w+)_ms=(\S+)")
_STEPS = {
    "decide": "line read to decision",
    "tell": "decision to engine told",
    "send": "best move read to request sent",
    "reaction": "whole reaction",
}


class IrregularOpponent(GreedyOpponent):
    """Thinks for 0.3 to 0.9 seconds."""

    def choose(self, board: Board, clocks: Limits) -> str:
        time.sleep(random.uniform(0.3, 0.9))
        return super().choose(board, clocks)


def start_s(folder: Path) -> float:
    """Return the seconds from the daemon's start to a game with the challenger who was waiting."""
    with RehearsalServer(timing=Timing(challenge_expiry_s=PATIENCE_S)) as server:
        arena = Arena(server, folder, is_copied=False)
        try:
            arena.configure(concurrency=1, depth=1)
            arena.challenge(arena.player("Early"), base_s=60)
            began = time.monotonic()
            arena.start()
            arena.until(lambda: arena.started)
            return time.monotonic() - began
        finally:
            arena.close()


class Onlooker:
    """Notes at the server how long the bot's moves take, but for the first of each game."""

    def __init__(self, arena: Arena) -> None:
        self.seen_ms: list[float] = []
        self._bot = arena.bot
        self._moved_at: dict[str, float] = {}
        arena.server.call(lambda: arena.site.observe(self._note))

    def _note(self, happening: SiteEvent) -> None:
        if not isinstance(happening, GameChanged | GameEnded):
            return
        now, game = time.monotonic(), happening.session.game
        mover = game.setup.account(game.first_to_move if game.ply % 2 else game.first_to_move.other)
        moved_at = self._moved_at.pop(game.id, None)
        if mover is not self._bot:
            self._moved_at[game.id] = now
        elif moved_at is not None and game.ply > BOTH_MOVED_PLIES:
            self.seen_ms.append((now - moved_at) * 1000)


def play(options: argparse.Namespace, folder: Path, depth: int) -> tuple[str, int, list[float]]:
    """Let a daemon play several rounds of games at once.

    Return its log, its largest resident size in KiB, and how long its moves took for the server, in milliseconds.
    """
    resident = 0
    base_s, increment_s = map(int, options.clock.split("+"))
    with RehearsalServer(timing=Timing()) as server:
        arena = Arena(server, folder, is_copied=False)
        try:
            arena.configure(concurrency=options.games, depth=depth)
            arena.start()
            onlooker = Onlooker(arena)
            players = [arena.player(f"Slow{number}", IrregularOpponent) for number in range(options.games)]
            for number in range(1, options.rounds + 1):
                for player in players:
                    arena.challenge(player, base_s=base_s, increment_s=increment_s)
                arena.until(lambda begun=number * options.games: len(arena.started) == begun)
                resident = max(resident, resident_kib(arena.process.pid) or 0)
                arena.until_ended(number * options.games, patience_s=600.0)
                arena.until(lambda ended=number * options.games: arena.log().count("game.over") == ended)
            arena.stop()
        finally:
            arena.close()
        return arena.log(), resident, onlooker.seen_ms


def percentile(values: Sequence[float], percent: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def moves(log: str) -> tuple[list[Times], list[Times]]:
    """Return the times of each game's first searched move, and of all moves after it, in milliseconds by name."""
    first: list[Times] = []
    later: list[Times] = []
    for _, is_first, times in searched_moves(log):
        (first if is_first else later).append(times)
    return first, later


def searched_moves(log: str) -> Iterator[tuple[str, bool, Times]]:
    """Yield the times of each move since the first search of its game, and whether it was the move found by that."""
    searches: Counter[str] = Counter()
    for line in log.splitlines():
        if found := _SEARCHED.search(line):
            searches[found[1]] += 1
        elif (found := _DONE.search(line)) and searches[found[1]]:
            is_first = searches[found[1]] == 1
            yield found[1], is_first, {name: float(value) for name, value in _FIELD.findall(found[2])}


def compare(options: argparse.Namespace, figures: Figures) -> None:
    """Compare rounds in which pages follow the games with others in which none does."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = Rounds(Path(folder), options, IrregularOpponent)
    reactions: dict[bool, list[float]] = {False: [], True: []}
    for game_id, is_first, times in searched_moves(rounds.log):
        if not is_first:
            reactions[game_id in rounds.watched].append(times["reaction"])
    figures.section(f"{options.games} games at once, {options.pages} pages in every second round")
    figures.line("daemon's own part without pages", _percentiles(reactions[False]))
    figures.line("daemon's own part with pages", _percentiles(reactions[True]))
    figures.line("a page gets", f"{mean(rounds.bytes_per_s) / 1024:.1f} KiB/s")
    without, watched = mean(rounds.cpu_without), mean(rounds.cpu_watched)
    figures.line("processor time of the daemon", f"{without:.1%}, {watched:.1%}", "of a core, without and with pages")
    added_ms = percentile(reactions[True], 99) - percentile(reactions[False], 99)
    bar = f"at most {ADDED_BAR_MS} ms more"
    figures.bar("p99 with pages", f"{added_ms:+.1f} ms", bar, added_ms <= ADDED_BAR_MS)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the daemon's reaction time.")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--clock", default="60+1", metavar="BASE+INC")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--pages", type=int, default=0, metavar="N", help="compare only: rounds with N pages, and none")
    options = parser.parse_args()
    figures = Figures()
    if options.pages:
        compare(options, figures)
        return 0 if figures.all_met else 1
    figures.section("The daemon")
    starts = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as folder:
            starts.append(start_s(Path(folder)))
    figures.line("start to first game", f"{median(starts):.2f} s", f"median of {STARTS}")
    with tempfile.TemporaryDirectory() as folder:
        log, resident, _ = play(options, Path(folder), options.depth)
    figures.line(f"resident with {options.games} games", f"{resident / 1024:.1f} MiB", "without the engines")
    first, later = moves(log)
    figures.section(f"{options.games} games at once")
    figures.line("round trip", _percentiles([times["round_trip"] for times in later]))
    figures.line("first reaction by search", _percentiles([times["reaction"] for times in first]))
    for step, name in _STEPS.items():
        figures.line(name, _percentiles([times[step] for times in later if step in times]))
    own_ms = percentile([times["reaction"] for times in later], 99)
    figures.bar("daemon's own part", f"p99 {own_ms:.1f} ms", f"under {REACTION_BAR_MS} ms", own_ms < REACTION_BAR_MS)
    with tempfile.TemporaryDirectory() as folder:
        _, _, seen_ms = play(options, Path(folder), 1)
    is_met = percentile(seen_ms, 99) < SEEN_BAR_MS
    figures.bar("seen by the server, depth 1", _percentiles(seen_ms), f"p99 under {SEEN_BAR_MS} ms", is_met)
    return 0 if figures.all_met else 1


def _percentiles(values: Sequence[float]) -> str:
    shares = ", ".join(f"p{percent} {percentile(values, percent):.1f}" for percent in (50, 90, 99, 100))
    return f"{shares} ms over {len(values)} moves"


if __name__ == "__main__":
    sys.exit(main())
