"""The `rehearse` command: an embedded Lichess, the unchanged bot, and the result.

The exit code is 0 only if every game ended by the rules of chess, or was lost to faults that left no time for a move,
if the bot kept the rules of Lichess, if its process started and ended cleanly, and if every fault that was named has
struck, unless chance decided about them.
"""

import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import FrameType

from rich.console import Console

from engine.facade import build_mode
from lichessbot.rehearsal.browser.page import Page, is_page
from lichessbot.rehearsal.browser.person import Person
from lichessbot.rehearsal.cli.bot_process import BotTerms, Daemon
from lichessbot.rehearsal.cli.display import (
    REFRESHES_PER_S,
    Display,
    LiveDisplay,
    PlainDisplay,
    counted,
    say,
    show_results,
    show_scores,
    view,
)
from lichessbot.rehearsal.cli.fault_report import show_catalogue, show_costs, write_fault_log
from lichessbot.rehearsal.cli.match import Match, Outcome, Plan
from lichessbot.rehearsal.cli.options import PAGE_PORT, Options, fault_plan, match_plan, refuse_contradictions
from lichessbot.rehearsal.faults.connection_faults import Proxy
from lichessbot.rehearsal.faults.fault_injector import FaultInjector
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.players.behaviour import Behaviour
from lichessbot.rehearsal.players.house_bots import HouseBots
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import BOT_TITLE
from lichessbot.rehearsal.rules.timing import Timing, wall_ms
from lichessbot.rehearsal.server import export
from lichessbot.rehearsal.server.server import LOOPBACK, RehearsalServer, ServerDidNotStart
from lichessbot.rehearsal.server.site import EventStreamClosed, EventStreamOpened, Site, SiteEvent

EXIT_GOOD = 0
EXIT_BAD = 1
EXIT_INTERRUPTED = 130
DAEMON_LEFT_GAMES = 4           # the daemon's exit code for games that it left

BOT_NAME = "RehearsedBot"
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CONNECT_TIMEOUT_S = 30.0        # from the daemon's start to its event stream
LOG_LINES_SHOWN = 20


def run(
    options: Options,
    *,
    config: Mapping[str, object] | None = None,
    may_resign: bool = False,
    slots: int | None = None,
    is_our_engine: bool = True,
) -> int:
    """Run the rehearsal that the options describe; return the exit code.

    `config` is the operator's, which tells whether the bot `may_resign`, how many `slots` it has for games at the same
    time, and whether `is_our_engine` alone plays.
    """
    console = Console()
    refuse_contradictions(options)
    if options.faults == ():
        show_catalogue(console)
        return EXIT_GOOD
    if slots is not None and options.at_once > slots:
        if options.concurrency is not None:
            at_a_time = f"{counted(slots, 'game')} at a time, not {options.concurrency}"
            say(console, f"note: {at_a_time}: challenge.concurrency is {slots} in {options.config}")
        options = replace(options, concurrency=slots)
    plan, faults = match_plan(options, config, may_resign=may_resign), fault_plan(options, config)
    try:
        timing = Timing().scaled(options.time_scale)
        with _interrupted_once(), _server(options, faults, timing) as server:
            port = 0 if options.browser else options.port or 0
            rehearsal = _Rehearsal(server, plan, faults, port, console)
            try:
                code = rehearsal.run(options, config, is_our_engine=is_our_engine)
            finally:
                has_written = rehearsal.close(options.pgn, options.fault_log)
            return code if has_written else EXIT_BAD
    except ServerDidNotStart as error:
        say(console, f"the embedded Lichess did not start: {error}")
        return EXIT_BAD
    except KeyboardInterrupt:
        say(console, "interrupted")
        return EXIT_INTERRUPTED


def _server(options: Options, faults: FaultPlan, timing: Timing) -> RehearsalServer:
    """Return the embedded Lichess at its port. Raises ServerDidNotStart."""
    if not options.browser:
        behind = 0 if faults.needs_a_proxy else options.port or 0
        return RehearsalServer(behind, timing=timing, seed=options.seed)
    # A person who asks for a random colour or start wants another one each time: there is no seed.
    if options.port is None:
        with suppress(ServerDidNotStart):
            return RehearsalServer(PAGE_PORT, timing=timing, seed=None)
    return RehearsalServer(options.port or 0, timing=timing, seed=None)


class _Rehearsal:
    """One run of the command."""

    def __init__(self, server: RehearsalServer, plan: Plan, faults: FaultPlan, port: int, console: Console) -> None:
        """Serve at `port`, through a proxy if connections have faults."""
        self._server = server
        self._console = console
        is_live = console.is_terminal and plan.games > 0
        self._display: Display = LiveDisplay(console) if is_live else PlainDisplay(console)
        self._connected = threading.Event()
        self._problems: list[str] = []
        server.call(lambda: self._set_up(server.site, plan, faults))
        server.guard_with(self._injector.http_faults.serve)
        self._proxy = self._open_proxy(port) if faults.needs_a_proxy else None
        self._person: Person | None = None
        self._shows_build = True

    def run(self, options: Options, config: Mapping[str, object] | None, *, is_our_engine: bool) -> int:
        """Do what the options ask for; return the exit code."""
        self._shows_build = is_our_engine and not options.serve
        if options.serve:
            return self.serve(ends=options.games is not None)
        slots = options.at_once if options.games or not options.browser else 0
        terms = BotTerms(slots, options.variant.key, options.time_scale, config, strength=options.strength)
        try:
            folder = Path(tempfile.mkdtemp(prefix="lichessbot-rehearsal-"))
        except OSError as error:
            problem = f"a temporary folder cannot be made: {error.strerror}"
            say(self._console, f"problem: {problem}; set TMPDIR to a folder that can be written", style="red")
            return EXIT_BAD
        return self.browse(terms, folder, opens=not options.no_open) if options.browser else self.play(terms, folder)

    def play(self, terms: BotTerms, folder: Path) -> int:
        """Run the bot against the house bots, to the end of the last game; return the exit code."""
        daemon = Daemon(self._url, self._token, terms, folder)
        try:
            with self._display:
                daemon.start()
                self._watch(daemon, CONNECT_TIMEOUT_S * max(1.0, terms.time_scale))
            problem = daemon.stop()
            left_games = daemon.exit_code() == DAEMON_LEFT_GAMES
            # The bot may leave games beside the series, such as rematches.
            may_leave = left_games and self._server.call(lambda: self._match.bot_is_playing)
            if problem is not None and not may_leave:
                self._problems.append(problem)
            return self._judge(daemon, folder)
        except BaseException:
            daemon.leave_now()
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def browse(self, terms: BotTerms, folder: Path, *, opens: bool) -> int:
        """Run the bot for a person at the page until Ctrl-C; return the exit code."""
        terms = replace(terms, concurrency=terms.concurrency + 1, meets_people=True)    # a slot for the person
        daemon = Daemon(self._url, self._token, terms, folder)
        page = self._server.call(lambda: self._open_page(daemon))
        ended_by_itself = False
        try:
            with suppress(KeyboardInterrupt), self._display:
                daemon.start()
                self._invite(opens=opens)
                while daemon.exit_code() is None:
                    self._refresh()
                ended_by_itself = True
        finally:
            self._server.call(page.close)
            daemon.leave_now()
        # While it starts, the signal itself ends it.
        expected = (EXIT_GOOD, DAEMON_LEFT_GAMES, *(() if self._connected.is_set() else (-signal.SIGTERM,)))
        if ended_by_itself or daemon.exit_code() not in expected:
            self._problems.append(f"the daemon ended with exit code {daemon.exit_code()}")
        return self._judge(daemon, folder, may_be_unfinished=True)

    def serve(self, *, ends: bool) -> int:
        """Check a client until all games have ended, or until interrupted; return the exit code."""
        with suppress(KeyboardInterrupt):
            say(self._console, f"url: {self._url}")
            say(self._console, f"token: {self._token}  (account {BOT_NAME}, which is a BOT account)")
            say(self._console, f"opponents: {', '.join(self._match.opponent_names)}")
            say(self._console, "ends after the last game, or with Ctrl-C" if ends else "Ctrl-C ends")
            with self._display:
                while not ends or not self._server.call(lambda: self._match.is_over):
                    self._refresh()
        return self._conclude(may_be_unfinished=not ends, is_our_bot=False)

    def close(self, pgn_path: Path | None, fault_log_path: Path | None) -> bool:
        """Write the files that the options name, stop the proxy and the house bots; return whether all were written."""
        entries = self._injector.accounting.entries
        has_written = self._wrote(pgn_path, lambda path: path.write_text(self._pgn()))
        has_written &= self._wrote(fault_log_path, lambda path: write_fault_log(path, self._server.call(entries)))
        if self._proxy is not None:
            self._server.wait_for(self._proxy.close())
        self._server.call(self._house_bots.close)
        return has_written

    def _wrote(self, path: Path | None, write: Callable[[Path], object]) -> bool:
        """Write a file if an option names one. Return False if it cannot be written, after saying so."""
        try:
            if path is not None:
                write(path)
        except OSError as error:
            say(self._console, f"problem: {path} cannot be written: {error.strerror}", style="red")
            return False
        return True

    @property
    def _url(self) -> str:
        """The address for the bot."""
        return self._server.site.url if self._proxy is None else self._proxy.url

    def _open_proxy(self, port: int) -> Proxy:
        schedule, checks = self._injector.schedule, self._injector.http_faults.checks
        proxy = Proxy(self._server.port, schedule, self._server.site.timing, checks.answer_lost)
        try:
            self._server.call(lambda: proxy.open(port))
        except OSError as error:
            raise ServerDidNotStart(f"cannot listen on {LOOPBACK}:{port}: {error}") from error
        return proxy

    def _set_up(self, site: Site, plan: Plan, faults: FaultPlan) -> None:
        """Make the bot's account, its opponents and their match."""
        self._bot = bot = Account(
            BOT_NAME,
            created_at_ms=wall_ms(),
            title=BOT_TITLE,
            bio="The bot of a rehearsal.",
            allows_takebacks=plan.opponent_actions > 0,
        )
        site.accounts.add(bot)
        self._house_bots = HouseBots(site)
        self._token = site.accounts.issue_token(bot)
        grant = site.accounts.grant(self._token)
        assert grant is not None
        self._injector = FaultInjector(site, grant, faults)
        self._match = match = Match(site, self._house_bots, bot, plan, self._injector, self._display.say)
        if plan.opponent_actions:
            Behaviour(site, bot, self._injector.schedule, plan.opponent_actions, plan.seed)

        def on(happening: SiteEvent) -> None:
            match happening:
                case EventStreamOpened(account) if account is bot:
                    self._display.say("the bot's event stream is open")
                    self._connected.set()
                    match.fill()
                case EventStreamClosed(account) if account is bot:
                    self._display.say("the bot's event stream is closed")

        site.observe(on)

    def _open_page(self, daemon: Daemon) -> Page:
        """Serve the page of a person who plays against the bot."""
        self._bot.allows_takebacks = True
        self._person = Person(self._server.site, self._bot, daemon.set_level, self._match.number_of)
        page = Page(self._person)
        self._server.serve_beside(is_page, page)
        return page

    def _invite(self, *, opens: bool) -> None:
        """Tell the address of the page, and open it in a browser if somebody is there to see it."""
        address = f"{self._server.site.url}/"
        say(self._console, f"play at {address} (Ctrl-C ends)")
        has_screen = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        if opens and has_screen and self._console.is_terminal:
            webbrowser.open(address)

    def _pgn(self) -> str:
        """Return the games of the series, and those of the person. Each is a call of its own: thousands take long."""
        own, url = () if self._person is None else self._person.sessions, self._server.site.url
        texts = chain(self._match.pgns(), (export.pgn(it.game, url, is_for_players=True) for it in own))
        pgn = ""
        while text := self._server.call(lambda: next(texts, "")):
            pgn += f"{text.strip()}\n\n"
        return pgn

    def _watch(self, daemon: Daemon, patience_s: float) -> None:
        """Wait until all games have ended, or the daemon has; give up after `patience_s` without an event stream."""
        if self._injector.schedule.is_on:
            patience_s += self._server.site.timing.connect_in_trouble_s
        give_up_at = time.monotonic() + patience_s
        while not self._server.call(lambda: self._match.is_over):
            if daemon.exit_code() is not None:
                return
            if not self._connected.is_set() and time.monotonic() > give_up_at:
                self._problems.append(f"the daemon opened no event stream within {patience_s:g} s")
                return
            self._refresh()

    def _refresh(self) -> None:
        self._display.show(self._server.call(lambda: view(self._match)))
        time.sleep(1 / REFRESHES_PER_S)

    def _judge(self, daemon: Daemon, folder: Path, *, may_be_unfinished: bool = False) -> int:
        """Look at what the ended daemon left behind, and conclude; `folder` is kept if something was wrong."""
        self._problems += [f"process {pid} was left behind" for pid in daemon.leftovers()]
        self._problems += [f"the daemon logged: {line}" for line in daemon.logged_errors()]
        self._problems += ["the daemon's log contains the token"] if daemon.tells_its_token() else []
        if failures := daemon.engine_failures():
            times = counted(len(failures), "time")
            say(self._console, f"note: the bot's engine failed {times} during games; the first time: {failures[0]}")
        code = self._conclude(may_be_unfinished=may_be_unfinished)
        if code == EXIT_GOOD:
            shutil.rmtree(folder)
        else:
            self._show_log(daemon)
        return code

    def _conclude(self, *, may_be_unfinished: bool, is_our_bot: bool = True) -> int:
        """Show the table, the problems and the last line; return the exit code."""
        match, client = self._match, "bot" if is_our_bot else "client"
        self._problems += [f"the {client} misbehaved: {offence}" for offence in self._injector.offences]
        self._problems += match.failed_beside
        self._problems += [f"the embedded Lichess failed: {failure}" for failure in self._server.failures]
        if match.plan.games:
            show_results(self._console, match.pairings)
        if match.plan.levels:
            show_scores(self._console, match.counts_by_rating())
        self._show_costs()
        for problem in self._problems:
            say(self._console, f"problem: {problem}", style="red")
        good = (match.is_over or may_be_unfinished) and match.count(Outcome.FAILED) == 0 and not self._problems
        if not good and self._injector.schedule.is_on:
            say(self._console, f"to repeat: {shlex.join(['lichessbot', *sys.argv[1:]])}")
        if match.plan.games:
            counts = [f"{match.count(it)} {it}" for it in Outcome if it is not Outcome.EXCUSED or match.count(it)]
            if unfinished := match.plan.games - sum(pairing.is_over for pairing in match.pairings):
                counts.append(f"{unfinished} unfinished")
            engine = f"; engine: {build_mode()}" if self._shows_build else ""
            say(self._console, f"{counted(match.plan.games, 'game')}: {', '.join(counts)}{engine}")
        return EXIT_GOOD if good else EXIT_BAD

    def _show_costs(self) -> None:
        """Show what the faults cost, and which never struck; a problem if they were asked for by name."""
        schedule = self._injector.schedule
        if schedule.is_on:
            show_costs(self._console, self._server.call(self._injector.accounting.summary))
        if never := schedule.never_struck():
            line = f"never struck: {', '.join(never)}"
            if schedule.plan.by_name and self._match.is_over:
                self._problems.append(line)
            else:
                say(self._console, line)

    def _show_log(self, daemon: Daemon) -> None:
        say(self._console, f"the last lines of the daemon's log, {daemon.log_path}:")
        for line in daemon.log_lines()[-LOG_LINES_SHOWN:]:
            say(self._console, f"  {line}", style="dim")


@contextmanager
def _interrupted_once() -> Iterator[None]:
    """End a rehearsal by SIGTERM or a closed terminal like by Ctrl-C, and ignore further signals until the bot is gone.

    Under `nohup` it goes on when the terminal is closed.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    heeded = [number for number in ENDING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
