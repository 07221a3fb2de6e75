"""`lichessbot challenge`: challenge one player to some games in a row, and print how each started and ended.

Only challenges and watches: the running daemon is told of each game by Lichess, and plays it, even if all its slots are
taken.
"""

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Final, TypeVar

import click
from click.core import ParameterSource

from lichessbot.challenges.player_lists import listed_on
from lichessbot.challenges.policy import block_list_key
from lichessbot.cli.options import (
    Parsed,
    access_to,
    config_option,
    exact_clock,
    explained,
    lacks_scope,
    load,
    player_name,
    refuse_unplayable,
)
from lichessbot.config import LoadedConfig
from lichessbot.errors import ApiError, ConfigError, ExitCode, RateLimited, Refused, Unreachable
from lichessbot.lichess.answers import Account, ExportedGame
from lichessbot.lichess.challenge_terms import Days, Terms, may_be_rated
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.enums import (
    LONGEST_INCREMENT_S,
    OFFERED_BASES,
    OFFERED_DAYS,
    PROPOSABLE_VARIANTS,
    SHORTEST_ESTIMATE_S,
    Colour,
    DeclineReason,
    ExactClock,
    GameStatus,
    Scope,
    Variant,
    is_offered_base,
)
from lichessbot.lichess.models import Challenge
from lichessbot.storage.state_reader import StateReader

_OPEN: Final = ("created", "offline")
_VARIANTS: Final = [variant.value for variant in PROPOSABLE_VARIANTS]
_MOST_FAILURES: Final = 10  # of one look, in a row

T = TypeVar("T")


def _clock(text: str) -> ExactClock:
    clock = exact_clock(text)
    if clock.increment_s > LONGEST_INCREMENT_S:
        raise ValueError(f"expected an increment of 0 to {LONGEST_INCREMENT_S} seconds, found {clock.increment_s}")
    if not is_offered_base(clock.base_s):
        raise ValueError(f"{text}: expected a base of {OFFERED_BASES}, found {clock.base_s} s")
    if clock.speed is None:
        expected = f"expected {SHORTEST_ESTIMATE_S} s or more for base + 40 increments"
        raise ValueError(f"{text}: {expected}, found {clock.base_s} + 40 * {clock.increment_s}")
    return clock


def _days(text: str) -> Days:
    days = next((it for it in OFFERED_DAYS if text == str(it)), None)
    if days is None:
        raise ValueError(f"expected one of {', '.join(map(str, OFFERED_DAYS))}, found {text!r}")
    return Days(days)


@click.command("challenge")
@config_option
@click.argument("opponent", type=Parsed(player_name), metavar="USER")
@click.option("--clock", type=Parsed(_clock), default="3+2", show_default=True, metavar="MINUTES+SECONDS")
@click.option("--days", type=Parsed(_days), metavar="N", help="Days per move instead of a clock; stays open.")
@click.option("--rated", is_flag=True, help="Rated. Default: casual.")
@click.option(
    "--games",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Games, one after the other.",
)
@click.option(
    "--color",
    type=click.Choice([colour.value for colour in Colour]),
    help="Our colour in every game. Default: white first, then alternating.",
)
@click.option("--variant", type=click.Choice(_VARIANTS, case_sensitive=False), default="standard", show_default=True)
def challenge_command(
    config_file: Path | None,
    opponent: str,
    clock: ExactClock,
    days: Days | None,
    rated: bool,
    games: int,
    color: str | None,
    variant: str,
) -> int:
    """Challenge USER. The running daemon plays.

    It plays these games at once, even if `challenge.concurrency` games are running. Each game's address is printed when
    it starts, and its result when it ends.
    """
    given = click.get_current_context().get_parameter_source("clock")
    if days is not None and given is ParameterSource.COMMANDLINE:
        raise click.UsageError("--clock and --days exclude each other", click.get_current_context())
    if days is not None and games > 1:
        raise ConfigError(["--days: one game at a time, as a second challenge to the same player replaces the first"])
    if rated and not may_be_rated(Variant(variant), days or clock):
        how = f"with the clock {clock}" if days is None else "without a clock"
        raise ConfigError([f"--rated: {how}, Lichess rates games of standard chess only"])
    settings, timeouts = load(config_file)
    _refuse_blocked(opponent, settings.loaded)
    refuse_unplayable("--variant", variant, settings.config, timeouts)
    terms = Terms(Variant(variant), days or clock, rated, None if color is None else Colour(color))
    played = Series(opponent, terms, games, access_to(settings.loaded, timeouts), sys.stdout).run()
    return ExitCode.OK if played else ExitCode.FAILED


def _refuse_blocked(opponent: str, loaded: LoadedConfig) -> None:
    """Raise ConfigError for a player who is blocked, by command or by any block list, and StateError."""
    name, records = opponent.lower(), StateReader(loaded.state_dir)
    if records.is_blocked(name):
        raise ConfigError([f"{opponent} is blocked; `lichessbot unblock {opponent}` undoes that"])
    for section, config in (("challenge", loaded.config.challenge), ("matchmaking", loaded.config.matchmaking)):
        if name in config.block_list:
            raise ConfigError([f"{loaded.location(f'{section}.block_list')}: names {opponent}"])
        if (source := listed_on(records, name, config.block_lists_for(name))) is not None:
            key = block_list_key(source)
            raise ConfigError([f"{loaded.location(f'{section}.{key}')}: {source} names {opponent}"])


class Series:
    """Games against one player, one after the other. Without a colour we play White first, then alternate."""

    def __init__(self, opponent: str, terms: Terms, games: int, access: Access, out: IO[str]) -> None:
        self._opponent = opponent
        self._terms = terms
        self._games = games
        self._url = access.url
        self._timeouts = access.timeouts
        self._out = out
        self._api = LichessClient(access, access.timeouts.request_answer)
        self._pending: str | None = None

    def run(self) -> bool:
        """Send the challenges and print each start and result. Return whether every game was played to its end."""
        try:
            problem = self._problem(self._api.account())
            if problem is not None:
                self._say(problem)
                return False
            return all(self._play(number, colour) for number, colour in enumerate(self._colours(), 1))
        except ApiError as error:
            self._say(f"{self._opponent}: {explained(error)}")
            return False
        finally:
            self._withdraw()
            self._api.close()

    def _problem(self, us: Account) -> str | None:
        """Return why no game could be played; None if one can."""
        if not us.is_bot:
            return f"{us.username} is not a BOT account: run `lichessbot upgrade`"
        if not any(status.online for status in self._api.user_statuses([us.id])):
            return f"{us.username} is not online, so nobody would play: start `lichessbot run` first"
        token = self._api.token_info()
        if token is not None and Scope.CHALLENGE_READ not in token.scope_names:  # so no answer could be read
            return lacks_scope(Scope.CHALLENGE_READ)
        return None

    def _colours(self) -> Iterator[Colour]:
        asked = self._terms.colour
        by_turns = itertools.cycle((Colour.WHITE, Colour.BLACK) if asked is None else (asked,))
        return itertools.islice(by_turns, self._games)

    def _play(self, number: int, colour: Colour) -> bool:
        terms = replace(self._terms, colour=colour)
        challenge = self._api.create_challenge(self._opponent, terms)
        self._pending = challenge.id
        challenge = self._answered(challenge)
        is_open = challenge.status in _OPEN
        if not (is_open and terms.has_clock):
            self._pending = None  # there is nothing to withdraw
        if is_open and not terms.has_clock:
            self._say(f"game {number} {challenge.id}: no answer yet, stays open; the daemon plays it once accepted")
            return True
        if challenge.status != "accepted":
            self._say(f"game {number} {challenge.id}: {_refusal(challenge)}")
            return False
        self._say(f"game {number} {challenge.id}: started, {self._url}/{challenge.id}")
        record = self._ended(challenge.id)
        self._say(f"game {number} {challenge.id}: {_result(record, colour)}")
        return record.status is not GameStatus.ABORTED

    def _answered(self, challenge: Challenge) -> Challenge:
        """Return the challenge once it is answered, or when the time for an answer is over."""
        give_up_at = time.monotonic() + self._timeouts.challenge_open.total_seconds()
        while challenge.status in _OPEN and time.monotonic() < give_up_at:
            time.sleep(self._timeouts.challenge_look.total_seconds())
            challenge = self._retried(lambda: self._api.challenge(self._pending or ""))
        return challenge

    def _ended(self, game_id: str) -> ExportedGame:
        """Return the game once it is over."""
        record = self._retried(lambda: self._api.game_record(game_id))
        while not record.status.is_over:
            time.sleep(self._timeouts.game_look.total_seconds())
            record = self._retried(lambda: self._api.game_record(game_id))
        return record

    def _retried(self, look: Callable[[], T]) -> T:
        """Repeat a request while Lichess is unreachable or busy, but not after a pause of hours. Raises ApiError."""
        for _ in range(_MOST_FAILURES):
            try:
                return look()
            except RateLimited as error:
                if error.pause > self._timeouts.longest_pause:
                    raise
                self._say(f"{error}: waiting")
                time.sleep(error.pause.total_seconds())
            except Unreachable:
                time.sleep(self._timeouts.game_look.total_seconds())
        return look()

    def _withdraw(self) -> None:
        """Withdraw an open challenge, so that nobody accepts it once this command has ended."""
        if self._pending is None:
            return
        try:
            self._api.cancel_challenge(self._pending)
        except Refused:
            self._say(f"challenge {self._pending} was answered before it could be withdrawn")
        except ApiError as error:
            self._say(f"challenge {self._pending} could not be withdrawn: {error}")

    def _say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


def _refusal(challenge: Challenge) -> str:
    match challenge.status:
        case "declined":
            return f"declined, reason {DeclineReason.received(challenge.decline_reason_key)}"
        case status if status in _OPEN:
            return "no answer, withdrawn"
    return challenge.status


def _result(record: ExportedGame, colour: Colour) -> str:
    if record.status is GameStatus.ABORTED:
        return "aborted"
    if record.winner is None:
        return f"drawn ({record.status})"
    return f"{'won' if record.winner is colour else 'lost'} as {colour} ({record.status})"
