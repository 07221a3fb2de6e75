"""The daemon as an operator runs it, its own process, in front of the embedded Lichess."""

import faulthandler
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess

from engine.facade import Board, Limits
from lichessbot.rehearsal.players.house_bots import OBLIGING, AnswerPolicy, HouseBots
from lichessbot.rehearsal.players.opponents import EngineOpponent, GreedyOpponent, Opponent
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import Correspondence, RealTime, Unlimited
from lichessbot.rehearsal.rules.enums import ColorChoice, DeclineReason, Status, Variant
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.rehearsal.server.site import GameEnded, GameStarted, SiteEvent
from tests.fakes import forked
from tests.fakes.rude_engine import POLITE_ENGINE
from tests.patience import is_logged
from tests.processes import marked

PATIENCE_S = 90.0   # a busy machine may be slow; only a failure waits so long
QUICKEST_S = 30  # estimated; below this Lichess calls it ultraBullet, which is closed to bots
MARK = "LICHESSBOT_TEST_MARK"
BOT = "TestBot"
# The engine's speed does not matter here: games are to be short.
CONFIG = """\
url: {url}
state_dir: state
abort_time: {abort_time}
challenge: {{concurrency: {concurrency}, max_increment: 180, max_base: 10800{rules}}}
engine: {{hash_mb: 1, depth: {depth}, move_overhead_ms: 30{engine}}}
"""
# The key of an engine that only has to start.
IDLE_ENGINE = f"command: [{', '.join(POLITE_ENGINE)}]"
ENDED_BY_THE_RULES = {Status.MATE, Status.STALEMATE, Status.DRAW}


class SlowOpponent(GreedyOpponent):
    """Leaves the test time to do something, and opens with care, so that no game ends in a mate of a few moves."""

    thinks_s = 0.07
    careful_moves = 6

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._careful = EngineOpponent(3)
        self._moves = 0

    def choose(self, board: Board, clocks: Limits) -> str:
        time.sleep(self.thinks_s)
        self._moves += 1
        careful = self._moves <= self.careful_moves
        return self._careful.choose(board, clocks) if careful else super().choose(board, clocks)


class Ponderer(SlowOpponent):
    """Takes longer still: a game lasts for some seconds at least."""

    thinks_s = 0.6
    careful_moves = 12


def held(free: threading.Event) -> type[SlowOpponent]:
    """An opponent who makes two moves, and the others once `free` is set."""

    class Held(SlowOpponent):
        def choose(self, board: Board, clocks: Limits) -> str:
            if self._moves >= 2:
                free.wait(PATIENCE_S)
            return super().choose(board, clocks)

    return Held


class Arena:
    """One server, one bot account, and the daemon that plays for it."""

    def __init__(self, server: RehearsalServer, folder: Path, *, is_copied: bool = True) -> None:
        """`is_copied`: the daemon is a copy of a loaded process, which is quicker than a start from nothing."""
        self._start = forked.start if is_copied else forked.start_from_nothing
        self.server = server
        self.site = server.site
        self.folder = folder
        self.started: list[GameSession] = []
        self.ended: list[GameSession] = []
        self.most_at_once = 0
        self.time_scale: float | None = None
        self.run_options: tuple[str, ...] = ()
        """Further options of `lichessbot run`."""
        self.bot = self.site.accounts.add(Account(BOT, 0, title="BOT"))
        self.token = self.site.accounts.issue_token(self.bot)
        self._house_bots = server.call(lambda: HouseBots(self.site))
        self._mark = secrets.token_hex(8)
        self._process: forked.Forked | subprocess.Popen[bytes] | None = None
        self.log_path = folder / "daemon.log"
        self.log_path.touch()
        self.configure()
        server.call(lambda: self.site.observe(self._note))

    def _note(self, happening: SiteEvent) -> None:
        if isinstance(happening, GameStarted):
            self.started.append(happening.session)
            self.most_at_once = max(self.most_at_once, len(self.started) - len(self.ended))
        elif isinstance(happening, GameEnded):
            self.ended.append(happening.session)

    # The daemon

    def configure(
        self,
        more: str = "",
        *,
        concurrency: int = 4,
        depth: int = 4,
        abort_time: int = 30,
        rules: str = "",
        engine: str = "",
    ) -> None:
        """`rules`, `engine`: further keys of the sections `challenge` and `engine`; `more`: further sections."""
        values = {"concurrency": concurrency, "depth": depth, "abort_time": abort_time}
        keys = {"rules": f", {rules}" if rules else "", "engine": f", {engine}" if engine else ""}
        text = CONFIG.format(url=self.site.url, **keys, **values) + more
        (self.folder / "config.yml").write_text(text)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "lichessbot", *self.words(*words)]

    def words(self, *words: str) -> list[str]:
        return [*words, "--config", str(self.folder / "config.yml")]

    def environment(self) -> dict[str, str]:
        scale = {} if self.time_scale is None else {"LICHESSBOT_TIME_SCALE": str(self.time_scale)}
        return {**os.environ, "LICHESS_BOT_TOKEN": self.token, MARK: self._mark, **scale}

    def start(self) -> None:
        """Start the daemon and wait until it listens."""
        before = self.log().count("events.open")
        self.spawn()
        self.until(lambda: self.log().count("events.open") > before)

    def spawn(self) -> None:
        with self.log_path.open("ab") as log:
            words = self.words("run", "--verbose", *self.run_options)
            self._process = self._start(words, self.environment(), log, log)

    def tell(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command beside the daemon to its end."""
        done = forked.run(self.words(*words), self.environment(), PATIENCE_S)
        assert self.token not in done.stdout + done.stderr
        return done

    @property
    def process(self) -> "forked.Forked | subprocess.Popen[bytes]":
        return self._process

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait_for_exit(self) -> int:
        return self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        """End an idle daemon the ordinary way."""
        self.signal(signal.SIGTERM)
        return self.wait_for_exit()

    def kill(self) -> None:
        """Kill the daemon and wait for its end."""
        self.signal(signal.SIGKILL)
        self.wait_for_exit()

    def begin_a_game(self, plies: int = 2, **terms: Any) -> threading.Event:
        """Start the daemon and a game that goes on after some moves once the event is set.

        It returns when these plies are played. `terms`: those of `challenge`.
        """
        self.start()
        free = threading.Event()
        self.challenge(self.player("Slow", held(free)), **terms)
        self.until(lambda: self.started)
        self.until_plies(self.started[0], plies)
        return free

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self.server.call(self._house_bots.close)

    def log(self) -> str:
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def logged(self, text: str, times: int | None = None) -> bool:
        """Return whether the log says this, or soon will; this many times if given."""
        return is_logged(self.log, text, times, PATIENCE_S)

    def engines(self) -> list[int]:
        """The processes that the daemon and its commands started, wherever they are now."""
        daemon = None if self._process is None else self._process.pid
        return [pid for pid in marked(f"{MARK}={self._mark}") if pid != daemon]

    def leftovers(self) -> list[str]:
        """Engines that outlive their daemon, in words; they have a moment to notice its end."""
        deadline = time.monotonic() + PATIENCE_S
        while (left := self.engines()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return [_description(Path(f"/proc/{pid}")) for pid in left]

    # The opponents

    def player(
        self,
        name: str,
        opponent: type[GreedyOpponent] | None = GreedyOpponent,
        title: str | None = None,
        rating: int = 1500,
    ) -> Account:
        """An account that plays as `opponent` does; None: it never moves by itself."""
        account = self.site.accounts.add(Account(name, 0, title=title, rating=rating, bio="Plays."))
        if opponent is not None:
            self.hire(account, opponent)
        return account

    def hire(
        self, account: Account, opponent: type[GreedyOpponent] = GreedyOpponent, policy: AnswerPolicy = OBLIGING
    ) -> Account:
        """From now on the house plays for `account`, in this way."""
        chosen: type[Opponent] = opponent
        return self.server.call(
            lambda: self._house_bots.add(account, lambda game_id: chosen(game_id), policy)  # type: ignore[call-arg]
        )

    def challenge(
        self,
        challenger: Account,
        *,
        color: ColorChoice = ColorChoice.RANDOM,
        variant: Variant = Variant.STANDARD,
        fen: str | None = None,
        base_s: int = 180,      # engines that search to a small depth never use it up, however busy the machine
        increment_s: int = 0,
        rated: bool = False,
    ) -> str:
        """Challenge the bot, also to clocks quicker than Lichess offers; returns the id."""
        hurried = base_s + 40 * increment_s < QUICKEST_S
        terms = Terms(variant, RealTime(base_s, increment_s, hurried), rated, color, fen)
        if hurried:
            return self.server.call(lambda: self.site.invite(challenger, self.bot, terms)).id
        return self.server.call(lambda: self.site.challenge(challenger, BOT, terms)).id

    def propose(self, challenger: Account, terms: Terms) -> str:
        """Challenge the bot to anything Lichess offers; returns the id."""
        return self.server.call(lambda: self.site.challenge(challenger, BOT, terms)).id

    def correspondence(
        self, opponent: Account, days: int | None, color: ColorChoice = ColorChoice.RANDOM
    ) -> GameSession:
        """A game with this many days for a move, or without a clock, that has begun."""
        terms = Terms(Variant.STANDARD, Unlimited() if days is None else Correspondence(days), False, color)

        def begin() -> None:
            self.site.accept(self.site.challenge(opponent, BOT, terms).id, self.bot)

        self.server.call(begin)
        return self.started[-1]

    def decline_reason(self, challenge_id: str) -> DeclineReason | None:
        challenge = self.site.challenges.get(challenge_id)
        return None if challenge is None else challenge.decline_reason

    def is_settled(self, challenge_id: str) -> bool:
        """Accepted, declined or canceled."""
        challenge = self.site.challenges.get(challenge_id)
        return challenge is not None and not challenge.is_active

    def session(self, game_id: str) -> GameSession:
        return next(session for session in self.started if session.game.id == game_id)

    # Waiting

    def until(self, fact: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        """Wait until `fact` holds; fails with the end of the log."""
        deadline = time.monotonic() + patience_s
        while True:
            has_ended = self._process is not None and self._process.poll() is not None
            is_last = has_ended or time.monotonic() > deadline
            if fact():
                return
            if is_last:     # what a daemon did before its end counts
                why = "the daemon has ended" if has_ended else f"{patience_s:g} s have passed"
                log, stacks = self.log()[-4000:], self._stacks()
                raise AssertionError(f"the fact does not hold, and {why}. The end of the log:\n{log}\n{stacks}")
            time.sleep(0.02)

    def _stacks(self) -> str:
        """What the threads of the daemon, which ends, and of this process, thus of the server, are doing."""
        begin, state = self.log_path.stat().st_size, "ended"
        if self._process is not None and self._process.poll() is None:
            state = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
            self._process.send_signal(signal.SIGABRT)
            self._process.send_signal(signal.SIGCONT)  # if somebody stopped it
            self._process.wait(PATIENCE_S)
        with self.log_path.open("ab") as log:
            log.write(b"\nThe server and the test:\n")
            log.flush()
            faulthandler.dump_traceback(log)
        stacks = self.log_path.read_bytes()[begin:].decode(errors="replace")
        return f"The daemon's state was {state}.\n{stacks}"

    def until_ended(self, count: int, patience_s: float = PATIENCE_S) -> None:
        self.until(lambda: len(self.ended) >= count, patience_s)

    def until_plies(self, session: GameSession, plies: int) -> None:
        self.until(lambda: session.game.ply >= plies or session.game.is_over)

    def plays_on(self, session: GameSession, plies: int = 4) -> None:
        """Wait for this many more plies, or for an end by the rules."""
        self.until_plies(session, session.game.ply + plies)
        if session.game.is_over:
            judge(session)


@contextmanager
def inspected(
    arena: Arena, *, errors_are_expected: bool = False, bugs_are_expected: bool = False
) -> Iterator[Arena]:
    """Close the arena at the end. Then no process is left over, no token was shown, and nothing crashed."""
    try:
        yield arena
    finally:
        arena.close()
    assert arena.leftovers() == []
    log = arena.log()
    assert arena.token not in log
    for path in filter(Path.is_file, (arena.folder / "state").glob("*")):
        assert arena.token.encode() not in path.read_bytes()
    if not bugs_are_expected:
        assert "Traceback" not in log
    if not (errors_are_expected or bugs_are_expected):
        assert [line for line in log.splitlines() if " ERROR " in line and " ERROR refused " not in line] == []


def judge(session: GameSession) -> None:
    """An independent look at a finished game: every move legal, and the end the rules' own."""
    game = session.game
    assert game.status in ENDED_BY_THE_RULES, (game.status, game.moves)
    board = chess.Board(game.setup.initial_fen, chess960=game.setup.variant is not Variant.STANDARD)
    for move in game.moves:
        board.push(board.parse_uci(move))
    if game.status is Status.MATE:
        assert board.is_checkmate()
        assert (game.winner.value == "white") is (board.turn is chess.BLACK)
    elif game.status is Status.STALEMATE:
        assert board.is_stalemate()
    else:
        assert board.is_repetition(3) or board.is_fifty_moves() or board.is_insufficient_material()


def _description(process: Path) -> str:
    """Enough to see what such a process waits for."""
    try:
        command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        facts = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        waits = [f"{thread.name}:{(thread / 'wchan').read_text()}" for thread in (process / "task").iterdir()]
        return f"{process.name} of {facts['PPid']} {facts['State']} {' '.join(waits)} {command}"
    except OSError:
        return f"{process.name}, which ended meanwhile"
