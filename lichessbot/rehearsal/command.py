"""The `rehearse` command: an embedded Lichess, the unchanged bot in front of it, and what came of it.

Exit code 0 only if every game was ended by the rules and the bot's process came and went cleanly.
"""

import argparse
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from engine.facade import build_mode
from lichessbot.rehearsal.accounts import Account
from lichessbot.rehearsal.clock import RealTime
from lichessbot.rehearsal.daemon import Daemon
from lichessbot.rehearsal.display import (
    REFRESHES_PER_S,
    Display,
    LiveDisplay,
    PlainDisplay,
    say,
    show_results,
    view,
)
from lichessbot.rehearsal.house import House
from lichessbot.rehearsal.match import Match, Outcome, Plan
from lichessbot.rehearsal.opponents import MAX_ENGINE_DEPTH, OpponentKind
from lichessbot.rehearsal.server import RehearsalServer, ServerDidNotStart
from lichessbot.rehearsal.site import EventStreamOpened, Happening, Site
from lichessbot.rehearsal.timing import wall_ms
from lichessbot.rehearsal.vocabulary import BOT_TITLE, Variant

EXIT_GOOD = 0
EXIT_BAD = 1
EXIT_INTERRUPTED = 130

BOT_NAME = "RehearsedBot"
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)
CONNECT_TIMEOUT_S = 30.0        # from the daemon's start to its event stream
LOG_LINES_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rehearse`."""
    parser.add_argument("--games", type=_positive, default=2, metavar="N", help="games to play (2)")
    parser.add_argument(
        "--concurrency", type=_positive, default=2, metavar="K", help="games at the same time (2)"
    )
    parser.add_argument(
        "--clock", type=_clock, default=RealTime(30, 0), metavar="BASE+INC",
        help="seconds for the game and for each move (30+0)",
    )
    parser.add_argument(
        "--variant", type=_variant, default=Variant.STANDARD, metavar="KEY",
        help="standard, chess960 or fromPosition (standard)",
    )
    parser.add_argument(
        "--opponent", type=OpponentKind, choices=list(OpponentKind), default=OpponentKind.GREEDY,
        help="who plays against the bot (greedy)",
    )
    parser.add_argument("--depth", type=_depth, default=4, help="depth of the engine opponent (4)")
    parser.add_argument("--seed", type=int, default=0, help="same seed, same opponents and starts (0)")
    parser.add_argument("--pgn", type=_new_file, metavar="FILE", help="write the games there")
    parser.add_argument("--port", type=int, default=0, help="port on loopback (a free one)")
    parser.add_argument(
        "--serve", action="store_true",
        help="start no bot: wait for any Bot API client, until interrupted",
    )


def run(args: argparse.Namespace) -> int:
    """Run the rehearsal that `args` describes; returns the exit code."""
    console = Console()
    plan = Plan(
        games=args.games,
        concurrency=args.concurrency,
        clock=args.clock,
        variant=args.variant,
        opponent=args.opponent,
        depth=args.depth,
        seed=args.seed,
    )
    try:
        with _interrupted_once(), RehearsalServer(args.port, seed=args.seed) as server:
            rehearsal = _Rehearsal(server, plan, console)
            try:
                return rehearsal.serve() if args.serve else rehearsal.play()
            finally:
                rehearsal.close(args.pgn)
    except ServerDidNotStart as error:
        say(console, f"the embedded Lichess did not start: {error}")
        return EXIT_BAD
    except KeyboardInterrupt:
        say(console, "interrupted")
        return EXIT_INTERRUPTED


class _Rehearsal:
    """One run of the command against one server."""

    def __init__(self, server: RehearsalServer, plan: Plan, console: Console) -> None:
        self._server = server
        self._console = console
        self._display: Display = LiveDisplay(console) if console.is_terminal else PlainDisplay(console)
        self._connected = threading.Event()
        self._problems: list[str] = []
        self._token, self._house, self._match = server.call(lambda: self._set_up(server.site, plan))

    def play(self) -> int:
        """The bot's process against the house, to the end of the last game."""
        folder = Path(tempfile.mkdtemp(prefix="lichessbot-rehearsal-"))
        daemon = Daemon(self._server.site.url, self._token, self._match.plan.concurrency, folder)
        finished = False
        try:
            with self._display:
                daemon.start()
                self._watch(daemon)
            finished = True
        finally:
            if not finished:
                daemon.leave_now()
                shutil.rmtree(folder)
        self._problems += filter(None, [daemon.stop()])
        self._problems += [f"process {pid} was left behind" for pid in daemon.leftovers()]
        self._problems += [f"the daemon logged: {line}" for line in daemon.logged_errors()]
        code = self._conclude()
        if code == EXIT_GOOD:
            shutil.rmtree(folder)
        else:
            self._show_log(daemon)
        return code

    def serve(self) -> int:
        """Wait for clients until interrupted."""
        say(self._console, f"url: {self._server.site.url}")
        say(self._console, f"token: {self._token}  (account {BOT_NAME}, which is a BOT account)")
        say(self._console, f"players of the house: {', '.join(self._match.opponent_names)}")
        say(self._console, "Ctrl-C ends.")
        try:
            with self._display:
                while True:
                    self._refresh()
        except KeyboardInterrupt:
            return EXIT_GOOD

    def close(self, pgn_path: Path | None) -> None:
        """Write what was asked for and let the house go home."""
        if pgn_path is not None:
            pgn_path.write_text(self._server.call(self._match.pgn))
        self._server.call(self._house.close)

    def _set_up(self, site: Site, plan: Plan) -> tuple[str, House, Match]:
        bot = Account(
            BOT_NAME,
            created_at_ms=wall_ms(),
            title=BOT_TITLE,
            bio="Rehearses before it goes on stage.",
            allows_takebacks=False,
        )
        site.accounts.add(bot)
        house = House(site)
        match = Match(site, house, bot, plan, self._display.say)

        def on(happening: Happening) -> None:
            if isinstance(happening, EventStreamOpened) and happening.account is bot:
                self._display.say("the bot's event stream is open")
                self._connected.set()
                match.fill()

        site.observe(on)
        return site.accounts.issue_token(bot), house, match

    def _watch(self, daemon: Daemon) -> None:
        """Until all games have ended, or the daemon has."""
        give_up_at = time.monotonic() + CONNECT_TIMEOUT_S
        while not self._server.call(lambda: self._match.is_over):
            if daemon.exit_code() is not None:
                return
            if not self._connected.is_set() and time.monotonic() > give_up_at:
                self._problems.append(f"the daemon opened no event stream within {CONNECT_TIMEOUT_S:g} s")
                return
            self._refresh()

    def _refresh(self) -> None:
        self._display.show(self._server.call(lambda: view(self._match)))
        time.sleep(1 / REFRESHES_PER_S)

    def _conclude(self) -> int:
        """The table, the problems, and the last line."""
        match = self._match
        show_results(self._console, match.bouts)
        for problem in self._problems:
            say(self._console, f"problem: {problem}", style="red")
        counts = ", ".join(f"{match.count(outcome)} {outcome}" for outcome in Outcome)
        say(self._console, f"{match.plan.games} games: {counts}; engine: {build_mode()}")
        good = match.is_over and match.count(Outcome.FAILED) == 0 and not self._problems
        return EXIT_GOOD if good else EXIT_BAD

    def _show_log(self, daemon: Daemon) -> None:
        say(self._console, f"the end of the daemon's log, {daemon.log_path}:")
        for line in daemon.log_tail(LOG_LINES_SHOWN):
            say(self._console, f"  {line}", style="dim")


@contextmanager
def _interrupted_once() -> Iterator[None]:
    """SIGTERM ends a rehearsal like Ctrl-C, and no further signal cuts the tidying up short.

    The bot's process must not outlive the rehearsal.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def _depth(text: str) -> int:
    depth = _positive(text)
    if depth > MAX_ENGINE_DEPTH:
        raise argparse.ArgumentTypeError(f"{text} is more than {MAX_ENGINE_DEPTH}")
    return depth


def _clock(text: str) -> RealTime:
    base, plus, increment = text.partition("+")
    if not (plus and base.isdecimal() and increment.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not BASE+INCREMENT in seconds, such as 60+0")
    clock = RealTime(int(base), int(increment), hurried=True)
    if clock.estimate_s == 0:
        raise argparse.ArgumentTypeError("a clock of 0+0 leaves no time to play")
    return clock


def _new_file(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written")
    return path


def _variant(text: str) -> Variant:
    variant = Variant.of_key(text)
    if variant is None or not variant.is_playable:
        playable = ", ".join(variant.key for variant in Variant if variant.is_playable)
        raise argparse.ArgumentTypeError(f"{text!r} is none of {playable}")
    return variant
