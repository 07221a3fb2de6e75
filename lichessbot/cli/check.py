"""`lichessbot check`: say whether the bot would work, and what it would do."""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Final

import click

from engine.facade import Limits, describe_build
from lichessbot.challenges.player_lists import ListFile, ListUnusable
from lichessbot.cli.options import access_to, config_option, explained, load
from lichessbot.config import Config, LoadedConfig
from lichessbot.config.matchmaking import RematchWith
from lichessbot.errors import ApiError, ExitCode
from lichessbot.inbox import Inbox
from lichessbot.lichess.answers import Account
from lichessbot.lichess.client import LichessClient
from lichessbot.lichess.enums import Mode, Scope, Variant
from lichessbot.lichess.rate_limiter import RateLimiter
from lichessbot.log import counted, silenced
from lichessbot.move_sources import Hosts, check_sources
from lichessbot.notify import DAYS_TOLD_AHEAD, Notice, run_program, token_end
from lichessbot.storage.database import FILE_NAME, LOCK_NAME, damage_seen_in, newer_than_ours
from lichessbot.timeouts import Timeouts
from lichessbot.uci.configured_engines import engines_of, with_playable_variants
from lichessbot.uci.machine import Machine, fitted, memory_warnings
from lichessbot.uci.search import BestMove, EngineDied
from lichessbot.uci.startup_check import StartupCheck
from lichessbot.uci.strength import at_level

_MOVE_TIME_MS: Final = 1000
# Challenge rules with sentences of their own; other rules are listed only if they are set.
_WITH_SENTENCES: Final = (
    "variants", "time_controls", "modes", "min_increment", "max_increment", "min_base", "max_base", "concurrency",
    "games_reserved_for_humans", "accept_bot", "only_bot", "human", "bot",
)


@click.command("check")
@config_option
@click.option("--strict", is_flag=True, help="Fail on notes too, such as keys without effect and folders not writable.")
def check_command(config_file: Path | None, strict: bool) -> int:
    """Say whether the bot would work, and what it would do.

    Reads the account, tries the engine, books, servers and the notifier; changes nothing. The exit code is 1 if a check
    failed, or with --strict if there is a note.
    """
    settings, timeouts = load(config_file)
    with silenced():
        passed = Check(settings.loaded, timeouts, sys.stdout, strict=strict).run()
    return ExitCode.OK if passed else ExitCode.FAILED


class Check:
    """The checks in order, one line each."""

    def __init__(
        self,
        loaded: LoadedConfig,
        timeouts: Timeouts,
        out: IO[str],
        *,
        strict: bool = False,
        tells_notifier: bool = True,
    ) -> None:
        """With `strict`, a note fails the check."""
        self._loaded = loaded
        self._tells_notifier = tells_notifier
        self._timeouts = timeouts
        self._access = access_to(loaded, timeouts)
        self._out = out
        self._strict = strict
        self._notes = 0
        self._user_name: str | None = None
        self._playable: tuple[Variant, ...] = ()
        self._passed = True

    def run(self) -> bool:
        """Make all checks, even after one failed. Return whether the bot would work."""
        for warning in self._loaded.warnings:
            self._say("note", warning)
        self._say("ok", "the configuration is valid")
        self._check_state()
        self._check_account()
        self._check_engines()
        self._check_sources()
        self._check_lists()
        self._check_notifier()
        machine = Machine.detect()
        for warning in memory_warnings(self._loaded.config, machine):
            self._say("note", warning)
        for line in intentions(with_playable_variants(self._loaded.config, self._playable), machine):
            self._say("plan", line)
        if self._strict and self._notes:
            self._fail(f"{counted(self._notes, 'note')}, and --strict allows none")
        self._say("ok" if self._passed else "FAIL", "ready to play" if self._passed else "not ready to play")
        return self._passed

    def _check_state(self) -> None:
        folder = self._loaded.state_dir
        files = [str(folder / name) for name in (FILE_NAME, LOCK_NAME)]
        closed = [it for it in files if os.path.exists(it) and not _is_writable_file(it)]
        if (newer := newer_than_ours(folder)) is not None:
            self._fail(newer)
        elif closed:  # as after a start by another user, such as root
            self._say("note", f"records cannot be kept in {folder}: {closed[0]} is not a writable file")
        elif (damage := damage_seen_in(folder)) is not None:
            kept_as = f"{FILE_NAME}.damaged"
            self._say("note", f"{files[0]}: {damage}; `run` renames it to {kept_as} and begins a new one")
        else:
            self._check_folder("records", folder)
        if self._loaded.config.pgn_directory is not None:
            self._check_folder("finished games", self._loaded.config.pgn_directory)

    def _check_folder(self, what: str, folder: Path) -> None:
        """Check that a folder is writable, or can be created."""
        place = next(place for place in (folder, *folder.absolute().parents) if os.path.exists(place))
        if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
            self._say("ok", f"{what} are kept in {folder}")
        else:
            self._say("note", f"{what} cannot be kept in {folder}: {place} is not a writable folder")

    def _check_account(self) -> None:
        url, api = self._access.url, LichessClient(self._access, self._timeouts.request_answer)
        try:
            info = api.token_info()
            if info is None:
                self._fail(f"{url} does not know the token")
                return
            missing = [scope for scope in Scope if scope not in info.scope_names]
            lacks = f"the token lacks the scopes {', '.join(missing)}: make a new one with them"
            if Scope.BOT_PLAY in missing:
                self._fail(lacks)
            elif missing:  # such as that of a bot run by lichess-bot
                self._say("note", f"{lacks} for `lichessbot challenge`; `run` does without")
            else:
                self._say("ok", f"the token of {info.user_id} is valid and has all scopes")
            if (end := token_end(info, time.time())) is not None:
                day, days = end
                soon = ": make a new one" if days <= DAYS_TOLD_AHEAD else ""
                self._say("note" if soon else "ok", f"the token expires on {day}, in {counted(days, 'day')}{soon}")
            self._judge_account(api.account(), url)
            api.playing()
        except ApiError as error:
            self._fail(f"{url}: {explained(error)}")
        finally:
            api.close()

    def _judge_account(self, account: Account, url: str) -> None:
        self._user_name = name = account.username
        if not account.is_bot:
            self._fail(f"{name} is not a BOT account: run `lichessbot upgrade`")
        else:
            self._say("ok", f"{name} is a BOT account")
            if not (account.biography or "").strip():
                why = f"{name} has no biography in its profile: Lichess does not list it among the bots that are online"
                self._say("note", f"{why}; add one on {url}/account/profile")
        if account.disabled:
            self._fail(f"the account {name} is closed")
        if account.violates_terms:
            self._say("note", f"Lichess has marked {name} for a violation of its terms of service")

    def _check_engines(self) -> None:
        inbox: Inbox = SimpleQueue()
        limits = Limits(move_time_ms=_MOVE_TIME_MS)
        test = StartupCheck(self._loaded.config, inbox.put, self._timeouts, limits, self._loaded.location)
        try:
            started_at = time.monotonic()
            while not test.over:
                report = inbox.get()
                if isinstance(report, BestMove | EngineDied) and test.is_meant(report):
                    self._judge_engine(test, report, time.monotonic() - started_at)
                    started_at = time.monotonic()
            self._playable = test.playable
        finally:
            test.close()

    def _check_sources(self) -> None:
        """Try books and servers. The bot plays without them, but the operator wants to know.

        A server that is down must not keep anybody from an upgrade or from going back to the version before.
        """
        access = replace(self._access, user_name=self._user_name)
        for trial in check_sources(engines_of(self._loaded.config), Hosts(access, RateLimiter(self._timeouts))):
            if trial.works or trial.may_pass:
                self._say("ok" if trial.works else "note", trial.text)
            else:
                self._fail(trial.text)

    def _judge_engine(self, test: StartupCheck, report: BestMove | EngineDied, seconds: float) -> None:
        name = test.engine_name or f"the engine ({describe_build()})"
        command = test.command_to_retry(report)
        faults = test.judge(report)
        for fault in faults:
            self._fail(fault.text)
        if command:
            self._say("note", f"to see what the engine says before it ends, start it by hand: {command}")
        if not faults and isinstance(report, BestMove):
            self._say(
                "ok",
                f"{name} plays {report.move} after {seconds:.1f} s: "
                f"depth {report.summary.depth}, {report.summary.nodes} nodes",
            )

    def _check_lists(self) -> None:
        """Read the block lists in files. A missing one blocks nobody, which the operator should know."""
        config = self._loaded.config
        for file in dict.fromkeys((*config.challenge.block_list_files, *config.matchmaking.block_list_files)):
            try:
                found = ListFile(str(file.absolute()), self._timeouts).fetch()
                self._say("ok", f"the block list {file} names {counted(len(found.words) if found else 0, 'player')}")
            except ListUnusable as error:
                self._say("note", f"the block list {file} cannot be used: {error}")

    def _check_notifier(self) -> None:
        """Tell the operator's program the event `test`. The bot plays without it, but the operator relies on it."""
        notify = self._loaded.config.notify
        if notify.command is None or not self._tells_notifier:
            return
        notice = Notice("test", "lichessbot check: the notifier works", {"account": self._user_name})
        problem = run_program(notify.command, notice, notify.timeout)
        if problem is None:
            self._say("ok", f"{notify.command[0]} was told a test; it would be told of {', '.join(notify.on)}")
        else:
            self._say("note", f"notify.command does not work: {problem}")

    def _fail(self, text: str) -> None:
        self._passed = False
        self._say("FAIL", text)

    def _say(self, verdict: str, text: str) -> None:
        self._notes += verdict == "note"
        self._out.write(f"{verdict:4}  {text}\n")


def _is_writable_file(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.R_OK | os.W_OK)


def intentions(config: Config, machine: Machine) -> Iterator[str]:
    """Return what the daemon would do with `config` on this machine, in sentences."""
    challenge, engine = config.challenge, config.engine
    games = "one game at a time" if challenge.concurrency == 1 else f"up to {challenge.concurrency} games at once"
    yield f"would play {games} on {config.url}"
    who = {(True, True): "bots", (True, False): "humans and bots", (False, False): "humans"}
    welcome = who[challenge.accept_bot, challenge.only_bot]
    variants = ", ".join(challenge.variants or ()) or "no variant"
    yield f"would accept {welcome}; {variants}; {' or '.join(challenge.modes)}"
    yield (
        f"would accept {', '.join(map(str, challenge.time_controls))} with {challenge.min_base} to "
        f"{challenge.max_base} s and an increment of {challenge.min_increment} to "
        f"{challenge.max_increment} s, and decline the rest"
    )
    if rules := [challenge.cited(key) for key in challenge.changed if key not in _WITH_SENTENCES]:
        yield f"would also apply {'; '.join(rules)}"
    for kind, is_bot in (("humans", False), ("bots", True)):
        if rules := [challenge.cited(key, is_bot=is_bot) for key in challenge.overrides(is_bot=is_bot)]:
            yield f"would apply to {kind}: {'; '.join(rules)}"
    if challenge.games_reserved_for_humans == challenge.concurrency:
        yield "would reserve all slots for humans: no bot would get a game with a clock"
    elif challenge.games_reserved_for_humans:
        yield f"would reserve {challenge.games_reserved_for_humans} of {challenge.concurrency} slots for humans"
    yield from _own_games(config)
    if engine.command is not None:
        yield f"would play with {' '.join(engine.command)}"
    yield f"would limit each search by {engine.limits_in_words}; {engine.hash_mb} MiB of hash for each game"
    at_its_level = at_level(engine, engine.level)
    if sources := at_its_level.sources:
        yield f"would first look for a move in: {', '.join(sources)}"
    if at_its_level.variety:
        yield "would look for another good move where it would repeat an earlier game"
    if engine.level_in_chat and Mode.CASUAL in challenge.modes:
        yield "would let the opponent of a casual game choose a level in the chat, if the engine has levels"
    if engine.level is not None:
        yield f"would play at level {engine.level}, without pondering and servers"
    elif fitted(engine, config, machine).ponder:
        yield "would ponder: think on the opponent's time"
    elif engine.ponder and machine.cores is not None:
        games = f"{counted(challenge.concurrency, 'game')} of {counted(engine.threads, 'thread')}"
        yield f"would not ponder: {counted(machine.cores, 'processor core')} for {games}"
    if used := sum(profile.when.can_be_met for profile in config.profiles):
        yield f"would change that in some games, by {counted(used, 'profile')}"
    yield (
        f"would play correspondence games {config.correspondence.concurrency} at a time, with "
        f"{config.correspondence.move_time} s for each move"
    )
    yield f"would let games in progress go on for up to {config.stop_grace} s after the first signal"
    yield _agreements(config)
    yield f"would abort a game whose opponent makes no first move in {config.abort_time} s"


def _own_games(config: Config) -> Iterator[str]:
    """Say how the bot finds games of its own."""
    match = config.matchmaking
    if match.allow_matchmaking and not config.matchmaking_obstacle:
        kinds = ", ".join(name for name, kind in match.types() if kind.weight)
        during_games = match.allow_during_games and config.challenge.concurrency > 1
        when = "also during games" if during_games else "when idle"
        share = match.own_share(match.most_bot_games())
        most = f"at most {counted(share, 'game')} of its own in 24 hours, spread over the day"
        yield f"would challenge bots after {match.challenge_timeout} min, {when}, {most}; kinds of games: {kinds}"
    if match.bot_games_per_day is not None:
        yield f"would play at most {counted(match.bot_games_per_day, 'game')} against bots in 24 hours"
    if config.rematch.offer is not RematchWith.NONE:
        whom = {RematchWith.HUMAN: "humans", RematchWith.BOT: "bots"}.get(config.rematch.offer, "humans and bots")
        yield f"would offer {whom} a rematch after a game, {config.rematch.offers_in_a_row} in a row"
    if config.tournaments:
        yield f"would take part in the tournaments {', '.join(it.id for it in config.tournaments)}"


def _agreements(config: Config) -> str:
    """Say which offers are accepted, and what is kept of games."""
    rules = config.engine.draw_or_resign
    takebacks = counted(config.max_takebacks_accepted, "takeback")
    actions = (
        "offer and accept draws" if rules.offer_draw_enabled else "",
        "resign lost games" if rules.resign_enabled else "",
        f"grant up to {takebacks} in a game" if config.max_takebacks_accepted else "",
        f"keep finished games in {config.pgn_directory}" if config.pgn_directory else "",
    )
    return "would " + (", ".join(filter(None, actions)) or "neither agree to draws or takebacks nor resign")
