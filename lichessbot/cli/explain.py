"""`lichessbot explain`: say what would happen to a challenge now, or what became of one, and which rule decides.

Reads the configuration, block lists in files and the records, asks a running daemon whether it is paused, and the
engines whether they play a variant. Sends no request and changes nothing.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from engine.facade import STARTING_FEN
from lichessbot.challenges.player_lists import listed_on
from lichessbot.challenges.policy import (
    NO_HISTORY,
    Accept,
    ChallengerHistory,
    Decision,
    Ignore,
    Wait,
    decide,
)
from lichessbot.challenges.slots import SlotHolder
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.cli.options import Parsed, config_option, exact_clock, player_name
from lichessbot.config import Config, LoadedConfig, load_config
from lichessbot.control.client import BRIEFLY_S, NoAnswer, NoDaemon, ask
from lichessbot.control.commands import ControlCommand
from lichessbot.control.status import Activity
from lichessbot.errors import ExitCode
from lichessbot.lichess.enums import (
    INITIAL_RATING,
    ULTRA_BULLET,
    Colour,
    ExactClock,
    Mode,
    OpponentKind,
    Speed,
    Variant,
)
from lichessbot.lichess.models import BOT_TITLE, ChallengeReceived
from lichessbot.lichess.odds import handicap_of
from lichessbot.log import counted, inert, silenced
from lichessbot.matchmaking.bot_report import describe_bot
from lichessbot.storage.challenge_records import ChallengeOutcome
from lichessbot.storage.database import FILE_NAME, in_use, older_than_ours
from lichessbot.storage.game_filter import game_id
from lichessbot.storage.state_reader import StateReader
from lichessbot.timeouts import Timeouts
from lichessbot.uci.configured_engines import with_playable_variants
from lichessbot.uci.machine import Machine
from lichessbot.uci.profiles import GameFacts, describe_engine, pieces_given
from lichessbot.uci.startup_check import playable_now

_LATEST_SHOWN: Final = 5
_TIMEOUTS: Final = Timeouts()
_VARIANTS: Final = [variant.value for variant in Variant]
# No player's name holds brackets.
_US: Final = "(us)"
_SOMEBODY: Final = "(somebody)"


@dataclass(frozen=True)
class Challenger:
    """A challenger. `name` is empty if it does not matter which bot or human it is."""

    is_bot: bool
    rating: int | None = None
    name: str = ""
    is_anonymous: bool = False

    def __str__(self) -> str:
        kind = "an anonymous player" if self.is_anonymous else "a bot" if self.is_bot else "a human"
        named = f" named {self.name}" if self.name else ""
        return f"{kind}{named}" + (f" rated {self.rating}" if self.rating is not None else "")


@dataclass(frozen=True)
class Inquiry:
    """A challenge that might come. Without `clock` and `days` it has no time limit."""

    challenger: Challenger
    clock: ExactClock | None
    days: int | None
    mode: Mode
    variant: str
    fen: str | None

    @property
    def speed(self) -> str:
        if self.clock is None:
            return Speed.CORRESPONDENCE
        return self.clock.speed or ULTRA_BULLET

    def received(self, our_rating: int | None) -> ChallengeReceived:
        """Return the challenge as Lichess would send it."""
        who, clock = self.challenger, self.clock
        user = {"id": who.name.lower() or _SOMEBODY, "title": BOT_TITLE if who.is_bot else None, "rating": who.rating}
        kind = "clock" if clock else "unlimited" if self.days is None else "correspondence"
        control: dict[str, Any] = {"type": kind, "daysPerTurn": self.days}
        if clock is not None:
            control |= {"limit": clock.base_s, "increment": clock.increment_s}
        challenge = {
            "id": "explain",
            "challenger": None if who.is_anonymous else user,
            "destUser": {"id": _US, "rating": our_rating},
            "variant": {"key": self.variant},
            "rated": self.mode is Mode.RATED,
            "speed": self.speed,
            "timeControl": control,
            "initialFen": self.fen,
        }
        compat = {"bot": self.speed != ULTRA_BULLET}
        return ChallengeReceived.model_validate({"challenge": challenge, "compat": compat})

    def __str__(self) -> str:
        control = self.clock or ("unlimited" if self.days is None else f"{counted(self.days, 'day')} per move")
        return f"{self.mode} {control} ({self.speed}) {self.variant}, from {self.challenger}"


def _records(folder: Path) -> StateReader:
    """Return the records; writes a note if there are some, but nothing can be read of them yet."""
    if older_than_ours(folder):
        file = folder / FILE_NAME
        _write(f"note: {file} is of an older version and was not read; the next `lichessbot run` converts it")
    return StateReader(folder)


def _activity(folder: Path) -> Activity | None:
    """Return what the running daemon does about new games; None if it does not answer."""
    with suppress(NoDaemon, NoAnswer):
        status = ask(folder, ControlCommand.STATUS, patience_s=BRIEFLY_S).status
        return None if status is None else status.activity
    return None


class _Present:
    """What the state folder says of the present."""

    def __init__(self, records: StateReader, config: Config, playable: tuple[Variant, ...]) -> None:
        self._records = records
        self._config = with_playable_variants(config, playable)
        self._playable = playable
        self.in_use = in_use(records.folder)
        """Whether the daemon runs."""
        self._activity = _activity(records.folder) if self.in_use else None

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self._config,
            _US,
            games=tuple(self._slot_holders()),
            playable=self._playable,
            stopping=self._activity is Activity.FINISHING,
            paused=self._activity is Activity.PAUSED,
            engine_failure="the log of the daemon says why" if self._activity is Activity.WITHOUT_ENGINE else "",
        )

    def history(self, inquiry: Inquiry) -> ChallengerHistory:
        """Return what the records say of the challenger; nothing of one without a name."""
        name, config = inquiry.challenger.name.lower(), self._config.challenge
        if not name:
            return NO_HISTORY
        return ChallengerHistory(
            recent=self._records.accepted_lately(name, config.recent_bot_challenge_age or 0, time.time()),
            rematches=0,
            listed_on=listed_on(self._records, name, config.block_lists_for(name)),
            is_blocked=self._records.is_blocked(name),
        )

    def _slot_holders(self) -> Iterator[SlotHolder]:
        """Yield the opponents in games now; none if the daemon does not run, as its records are then out of date."""
        for game, challenge in self._records.running_games() if self.in_use else ():
            if challenge is None:
                title, _, name = game.opponent.rpartition(" ")
                yield SlotHolder(name.lower(), is_bot=title == BOT_TITLE, has_clock=game.has_clock)
            else:
                yield SlotHolder(challenge.challenger, challenge.is_bot, game.has_clock)


def _challenger(text: str) -> Challenger:
    kind, colon, rating = text.partition(":")
    if kind not in ("human", "bot", "anonymous") or (colon and not (rating.isascii() and rating.isdigit())):
        raise ValueError(f"expected human, bot or anonymous, or for example bot:1900, found {text!r}")
    if kind == "anonymous":
        return Challenger(is_bot=False, is_anonymous=True)
    return Challenger(kind == "bot", int(rating) if colon else INITIAL_RATING)


@click.command("explain")
@config_option
@click.argument("challenge", required=False)
@click.option(
    "--from",
    "challenger",
    type=Parsed(_challenger),
    metavar="WHO",
    help=f"human, bot or anonymous, with a rating, such as bot:1900. Default: human:{INITIAL_RATING}.",
)
@click.option("--name", type=Parsed(player_name), help="The challenger's name, for lists of players and profiles.")
@click.option("--clock", type=Parsed(exact_clock), metavar="MINUTES+SECONDS", help="Clock, such as 3+2.")
@click.option("--days", type=click.IntRange(1, 14), metavar="N", help="Correspondence, N days per move.")
@click.option("--unlimited", is_flag=True, help="No time limit.")
@click.option("--rated", is_flag=True, help="Rated. Default: casual.")
@click.option("--variant", type=click.Choice(_VARIANTS, case_sensitive=False), default="standard", show_default=True)
@click.option("--fen", help="Start position; with --variant standard the game is fromPosition.")
@click.option(
    "--bot",
    type=Parsed(player_name),
    metavar="BOT",
    help="Say instead what BOT accepts and declines, as far as our challenges have shown.",
)
def explain_command(
    config_file: Path | None,
    challenge: str | None,
    challenger: Challenger | None,
    name: str | None,
    clock: ExactClock | None,
    days: int | None,
    unlimited: bool,
    rated: bool,
    variant: str,
    fen: str | None,
    bot: str | None,
) -> int:
    """Say what became of CHALLENGE, an id or address, or what would happen to a challenge now.

    For the latter, give --clock, --days or --unlimited, and the other options as needed.
    """
    loaded = load_config(config_file, os.environ, needs_token=False)
    given = {"--clock": clock is not None, "--days": days is not None, "--unlimited": unlimited}
    lengths = [option for option, is_given in given.items() if is_given]
    describes = bool(lengths or challenger or name or rated or fen is not None or variant != Variant.STANDARD)
    if challenge is not None and describes:
        raise click.UsageError("expected either CHALLENGE or the options of a challenge, not both")
    if bot is not None and (challenge is not None or describes):
        raise click.UsageError("expected --bot alone")
    if len(lengths) > 1:
        raise click.UsageError(f"{' and '.join(lengths)} exclude each other")
    if challenge is None and bot is None and not lengths:
        raise click.UsageError("expected CHALLENGE, --bot, or one of --clock, --days and --unlimited")
    if bot is not None:
        return ExitCode.OK if _explain_bot(_records(loaded.state_dir), bot) else ExitCode.FAILED
    if challenge is not None:
        known = _explain_past(_records(loaded.state_dir), challenge)
        return ExitCode.OK if known else ExitCode.FAILED
    who = replace(challenger or Challenger(is_bot=False, rating=INITIAL_RATING), name=name or "")
    if who.name and who.is_anonymous:
        raise click.UsageError("--name: an anonymous player has no name")
    if fen and fen != STARTING_FEN and variant == Variant.STANDARD:
        variant = Variant.FROM_POSITION  # as Lichess does
    if rated and variant == Variant.FROM_POSITION:
        raise click.UsageError("--rated: Lichess does not rate fromPosition games")
    inquiry = Inquiry(who, clock, days, Mode.RATED if rated else Mode.CASUAL, variant, fen)
    _explain_inquiry(loaded, inquiry)
    return ExitCode.OK


def _explain_inquiry(loaded: LoadedConfig, inquiry: Inquiry) -> None:
    """Write what would happen to such a challenge now. Raises StateError."""
    with silenced():
        asks = inquiry.variant != Variant.STANDARD  # which every engine plays, or the daemon would not run
        playable, faults = playable_now(loaded.config, _TIMEOUTS) if asks else (tuple(Variant), [])
    records = _records(loaded.state_dir)
    present = _Present(records, loaded.config, playable)
    snapshot, our_rating = present.snapshot(), records.our_rating(inquiry.variant, inquiry.speed)
    _write(f"challenge: {inquiry}")
    _write(f"now: {_state(snapshot, runs=present.in_use)}")
    for fault in faults:
        _write(f"note: {fault.text}")
    rules = loaded.config.challenge.rules_for(is_bot=inquiry.challenger.is_bot)
    if rules.rating_difference is not None and our_rating is None:
        _write("note: our own rating in such games is unknown, so rating_difference is not applied")
    if (handicap := handicap_of(inquiry.fen or "")) is not None:
        _write(f"odds: {handicap}")
    decision = decide(inquiry.received(our_rating), snapshot, present.history(inquiry))
    _tell(decision)
    if faults:
        _write(f"but: no daemon starts with that; engines without an answer are assumed to play {inquiry.variant}")
    if isinstance(decision, Accept | Wait):
        if inquiry.challenger.is_bot and present.in_use:
            _write(
                "but: a bot may still be declined with `later`: this command does not know the bot games left today, "
                "humans just declined, and slots kept for our own challenges and tournaments",
            )
        _tell_profiles(inquiry, loaded.config)


def _tell_profiles(inquiry: Inquiry, config: Config) -> None:
    """Write the engine limits of the game, once if they are the same for both colours."""
    kind = OpponentKind.BOT if inquiry.challenger.is_bot else OpponentKind.HUMAN
    rated = inquiry.mode is Mode.RATED
    rating, clock = inquiry.challenger.rating, inquiry.clock
    name = inquiry.challenger.name.lower()
    facts = GameFacts(inquiry.speed, inquiry.variant, kind, rating, rated, False, None, clock, opponent_name=name)
    as_colour = {it: replace(facts, colour=it, pieces_given=pieces_given(inquiry.fen or "", it)) for it in Colour}
    words = {colour: describe_engine(its, config, Machine.detect()) for colour, its in as_colour.items()}
    if len(set(words.values())) == 1:
        _write(f"engine: {words[Colour.WHITE]}")
        return
    for colour, text in words.items():
        _write(f"engine as {colour}: {text}")


def _explain_bot(records: StateReader, name: str) -> bool:
    """Write what is known of a bot. Return False if nothing is. Raises StateError."""
    its = name.lower()
    games, declines, rests = records.games_by_our_challenges(its), records.declines(its), records.rests(its)
    known = list(describe_bot(games, declines, rests, time.time()))
    for what, text in known or [("note", f"no challenge of ours to {name} is known in {records.folder / FILE_NAME}")]:
        _write(f"{what}: {text}")
    return bool(known)


def _explain_past(records: StateReader, challenge_id: str) -> bool:
    """Write what became of a challenge. Return False if it is unknown. Raises StateError."""
    wanted = game_id(challenge_id) or challenge_id
    entry = records.challenge(wanted)
    if entry is None:
        _write(f"note: challenge {wanted} is unknown in {records.folder / FILE_NAME}")
        for known in records.latest_challenges(_LATEST_SHOWN):
            _write(f"known: {known.id} from {known.shown_challenger or 'an anonymous player'}, {known.answer}")
        return False
    who = Challenger(entry.is_bot, entry.rating, entry.shown_challenger, is_anonymous=not entry.challenger)
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.received_at))
    _write(f"challenge: {entry.id}, {entry.terms} ({entry.speed}) {entry.variant}, from {who}, received {at}")
    waited_s = time.time() - entry.received_at
    if entry.answer is ChallengeOutcome.WAITING and waited_s > 2 * _TIMEOUTS.challenge_wait.total_seconds():
        _write("answer: none; the daemon ended while the challenge waited")
    else:
        _write(f"answer: {entry.answer}{f': {entry.reason}' if entry.reason else ''}")
    _tell_why(entry.because, entry.rule)
    return True


def _state(snapshot: Snapshot, *, runs: bool) -> str:
    if not runs:
        return "the daemon is not running; assuming no games in progress"
    config, occupancy = snapshot.config.challenge, snapshot.occupancy
    taken = config.concurrency - occupancy.free_slots(config, is_bot=False)
    return f"slots taken: {taken} of {config.concurrency}; correspondence games: {occupancy.correspondence_games}"


def _tell(decision: Decision) -> None:
    match decision:
        case Accept(rule, because):
            _write("answer: would be accepted")
        case Wait(rule, because):
            patience_s = _TIMEOUTS.challenge_wait.total_seconds()
            _write(f"answer: would wait up to {patience_s:g} s for a slot, then be declined: later")
        case Decline(reason, rule, because):
            _write(f"answer: would be declined: {reason}")
        case Ignore(because):
            raise AssertionError(f"an inquiry is never ignored: {because}")
    _tell_why(because, rule)


def _tell_why(because: str, rule: str) -> None:
    _write(f"because: {because}")
    if rule:
        _write(f"rule: {rule}")


def _write(line: str) -> None:
    sys.stdout.write(f"{inert(line)}\n")
