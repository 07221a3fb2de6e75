"""`lichessbot explain`: what would happen to a challenge now, or what became of one, and which rule decides.

Reads the configuration and the records, also while the daemon runs; asks nobody and changes nothing.
"""

import argparse
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final

from lichessbot.challenges.policy import Accept, Circumstances, Decision, Decline, Ignore, Wait, decide
from lichessbot.config import ChallengeConfig, Config, LoadedConfig
from lichessbot.errors import ConfigError
from lichessbot.lichess.enums import Colour, ExactClock, Mode, OpponentKind, Speed, Variant
from lichessbot.lichess.models import BOT_TITLE, ChallengeReceived
from lichessbot.slots import Occupancy
from lichessbot.storage.database import FILE_NAME, in_use, read_only
from lichessbot.storage.records import SELECT, Answer, Entry, SlotHolder
from lichessbot.timeouts import Timeouts
from lichessbot.uci.profiles import GameFacts, Machine, in_words

_LATEST_SHOWN: Final = 5
# Not the names of anybody: those hold no brackets.
_US: Final = "(us)"
_SOMEBODY: Final = "(somebody)"
_ULTRA_BULLET: Final = "ultraBullet"
_NEW_PLAYER: Final = 1500  # the rating Lichess gives to everybody at first
_LICHESS_VARIANTS: Final = (
    "standard", "chess960", "fromPosition", "antichess", "atomic", "crazyhouse", "horde", "kingOfTheHill",
    "racingKings", "threeCheck",
)  # fmt: skip
_VARIANT_HELP: Final = f"one of {', '.join(_LICHESS_VARIANTS)}; default standard"


@dataclass(frozen=True)
class Challenger:
    """Who would challenge: `name` is empty if it does not matter which bot or human it is."""

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
    """A challenge that might come. Without a clock and without days it has no time limit at all."""

    challenger: Challenger
    clock: ExactClock | None = None
    days: int | None = None
    mode: Mode = Mode.CASUAL
    variant: str = Variant.STANDARD
    fen: str | None = None

    @property
    def speed(self) -> str:
        if self.clock is None:
            return Speed.CORRESPONDENCE
        return Speed.of_clock(self.clock.base_s, self.clock.increment_s) or _ULTRA_BULLET

    def received(self, our_rating: int | None) -> ChallengeReceived:
        """As it would come from Lichess."""
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
        compat = {"bot": self.speed != _ULTRA_BULLET}
        return ChallengeReceived.model_validate({"challenge": challenge, "compat": compat})

    def __str__(self) -> str:
        control = self.clock or ("unlimited" if self.days is None else f"{self.days} days a move")
        return f"{self.mode} {control} ({self.speed}) {self.variant}, from {self.challenger}"


class _House:
    """What the records tell of the present."""

    def __init__(self, folder: Path, config: ChallengeConfig) -> None:
        self._folder = folder
        self._config = config
        self.runs = in_use(folder)

    def circumstances(self, inquiry: Inquiry) -> Circumstances:
        name = inquiry.challenger.name.lower()
        return Circumstances(
            _US, Occupancy.of(self._guests()), recent=self._recent(name), listed_on=self._listed_on(name)
        )

    def our_rating(self, inquiry: Inquiry) -> int | None:
        """What Lichess said last of our rating in such games."""
        query = (
            "SELECT our_rating FROM challenges WHERE our_rating IS NOT NULL AND variant = ? AND speed = ? "
            "ORDER BY received_at DESC LIMIT 1"
        )
        rows = read_only(self._folder, query, inquiry.variant, inquiry.speed)
        return rows[0][0] if rows else None

    def _guests(self) -> Iterator[SlotHolder]:
        """Those who play now. What a daemon that does not run has noted says nothing of now."""
        query = (
            "SELECT games.opponent, challenger, is_bot, games.has_clock FROM games LEFT JOIN challenges USING (id) "
            "WHERE left_at IS NULL"
        )
        for opponent, challenger, is_bot, has_clock in read_only(self._folder, query) if self.runs else ():
            if challenger is None:
                title, _, name = opponent.rpartition(" ")
                yield SlotHolder(name.lower(), is_bot=title == BOT_TITLE, has_clock=bool(has_clock))
            else:
                yield SlotHolder(challenger, bool(is_bot), bool(has_clock))

    def _recent(self, name: str) -> int:
        since = time.time() - (self._config.recent_bot_challenge_age or 0)
        query = "SELECT count(*) FROM challenges WHERE challenger = ? AND answer = ? AND received_at >= ?"
        rows = read_only(self._folder, query, name, Answer.ACCEPTED, since) if name else []
        return rows[0][0] if rows else 0

    def _listed_on(self, name: str) -> str | None:
        rows = read_only(self._folder, "SELECT address, names FROM player_lists") if name else []
        lists = {address: names.split() for address, names in rows}
        return next((it for it in self._config.online_block_list if name in lists.get(it, ())), None)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command line; `explain` reads them."""
    parser.add_argument("challenge", nargs="?", metavar="CHALLENGE", help="id or address of a challenge that came")
    parser.add_argument(
        "--from",
        dest="challenger",
        type=_challenger,
        metavar="WHO",
        help=f"human, bot or anonymous, with a rating, such as bot:1900; default human:{_NEW_PLAYER}",
    )
    parser.add_argument("--name", type=_name, help="who exactly it is, for the lists of players")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--clock", type=_clock, metavar="M+S", help="minutes and increment in seconds, such as 3+2")
    length.add_argument("--days", type=int, choices=range(1, 15), metavar="N", help="correspondence, N days a move")
    length.add_argument("--unlimited", action="store_true", help="no time limit at all")
    parser.add_argument("--rated", action="store_true", help="default casual")
    parser.add_argument("--variant", choices=_LICHESS_VARIANTS, default="standard", metavar="KEY", help=_VARIANT_HELP)
    parser.add_argument("--fen", help="the position from which it starts")


def explain(options: argparse.Namespace, loaded: LoadedConfig, timeouts: Timeouts, out: IO[str]) -> bool:
    """Answer the question on the command line. False if nothing is known of it. Raises StateError or ConfigError."""
    is_planned = bool(options.clock or options.days or options.unlimited)
    if options.challenge is not None and (is_planned or options.challenger or options.name):
        raise ConfigError(["explain: expected either a challenge that came, or what one would be like, not both"])
    if options.challenge is not None:
        return _explain_past(loaded.state_dir, options.challenge, timeouts, out)
    if not is_planned:
        raise ConfigError(["explain: expected the id of a challenge, or --clock M+S, --days N or --unlimited"])
    challenger = replace(options.challenger or Challenger(is_bot=False, rating=_NEW_PLAYER), name=options.name or "")
    mode = Mode.RATED if options.rated else Mode.CASUAL
    inquiry = Inquiry(challenger, options.clock, options.days, mode, options.variant, options.fen)
    _explain_inquiry(loaded, inquiry, timeouts, out)
    return True


def _challenger(text: str) -> Challenger:
    kind, colon, rating = text.partition(":")
    if kind not in ("human", "bot", "anonymous") or (colon and not (rating.isascii() and rating.isdigit())):
        raise argparse.ArgumentTypeError(f"expected human, bot or anonymous, or such as bot:1900, found {text!r}")
    if kind == "anonymous":
        return Challenger(is_bot=False, is_anonymous=True)
    return Challenger(kind == "bot", int(rating) if colon else _NEW_PLAYER)


def _clock(text: str) -> ExactClock:
    clock = ExactClock.parse(text)
    if clock is None:
        raise argparse.ArgumentTypeError(f"expected minutes+seconds such as 3+2, found {text!r}")
    return clock


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{2,30}", text):
        raise argparse.ArgumentTypeError(f"expected the name of a player, found {text!r}")
    return text


def _explain_inquiry(loaded: LoadedConfig, inquiry: Inquiry, timeouts: Timeouts, out: IO[str]) -> None:
    """Say what would happen to such a challenge now. Raises StateError."""
    config = loaded.config.challenge
    context = _House(loaded.state_dir, config)
    now, our_rating = context.circumstances(inquiry), context.our_rating(inquiry)
    out.write(f"challenge: {inquiry}\n")
    out.write(f"now: {_state(now.occupancy, config, runs=context.runs)}\n")
    rules = config.rules_for(is_bot=inquiry.challenger.is_bot)
    if rules.rating_difference is not None and our_rating is None:
        out.write("note: our own rating in such games is not known yet: rating_difference decides nothing\n")
    decision = decide(inquiry.received(our_rating), config, now)
    _tell(decision, timeouts, out)
    if isinstance(decision, Accept | Wait):
        if inquiry.challenger.is_bot and context.runs:
            out.write(
                "but: a bot may still hear `later`: not known here are what is left of the day's games against bots, "
                "humans just sent away, and slots kept for challenges of ours and for tournaments\n"
            )
        _tell_profiles(inquiry, loaded.config, out)


def _tell_profiles(inquiry: Inquiry, config: Config, out: IO[str]) -> None:
    """What the engine would be allowed in the game, once if that is the same for both colours."""
    kind = OpponentKind.BOT if inquiry.challenger.is_bot else OpponentKind.HUMAN
    rated = inquiry.mode is Mode.RATED
    facts = GameFacts(inquiry.speed, inquiry.variant, kind, inquiry.challenger.rating, rated, False, None)
    words = {colour: in_words(replace(facts, colour=colour), config, Machine.here()) for colour in Colour}
    if len(set(words.values())) == 1:
        out.write(f"engine: {words[Colour.WHITE]}\n")
        return
    for colour, text in words.items():
        out.write(f"engine as {colour}: {text}\n")


def _explain_past(folder: Path, challenge_id: str, timeouts: Timeouts, out: IO[str]) -> bool:
    """Say what became of a challenge. False if nothing is known of it. Raises StateError."""
    wanted = challenge_id.rstrip("/").rpartition("/")[2]
    rows = read_only(folder, f"{SELECT} WHERE id = ?", wanted)
    if not rows:
        out.write(f"note: nothing is known of challenge {wanted} in {folder / FILE_NAME}\n")
        latest = read_only(folder, f"{SELECT} ORDER BY received_at DESC LIMIT {_LATEST_SHOWN}")
        for entry in map(Entry.of_row, latest):
            out.write(f"known: {entry.id} from {entry.challenger or 'an anonymous player'}, {entry.answer}\n")
        return False
    entry = Entry.of_row(rows[0])
    who = Challenger(entry.is_bot, entry.rating, entry.challenger, is_anonymous=not entry.challenger)
    came = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.received_at))
    out.write(f"challenge: {entry.id}, {entry.terms} ({entry.speed}) {entry.variant}, from {who}, came {came}\n")
    waited_s = time.time() - entry.received_at
    if entry.answer is Answer.WAITING and waited_s > 2 * timeouts.challenge_wait.total_seconds():
        out.write("answer: none, the daemon ended while it waited\n")
    else:
        out.write(f"answer: {entry.answer}{f': {entry.reason}' if entry.reason else ''}\n")
    _tell_why(entry.because, entry.rule, out)
    return True


def _state(occupancy: Occupancy, config: ChallengeConfig, *, runs: bool) -> str:
    if not runs:
        return "the daemon does not run; the answer is for an empty house"
    taken = config.concurrency - occupancy.free_slots(config, for_bot=False)
    return f"slots taken: {taken} of {config.concurrency}; correspondence games: {occupancy.correspondence_games}"


def _tell(decision: Decision, timeouts: Timeouts, out: IO[str]) -> None:
    match decision:
        case Accept(rule, because):
            out.write("answer: would be accepted\n")
        case Wait(rule, because):
            patience_s = timeouts.challenge_wait.total_seconds()
            out.write(f"answer: would wait up to {patience_s:g} s for a slot, then be declined: later\n")
        case Decline(reason, rule, because):
            out.write(f"answer: would be declined: {reason}\n")
        case Ignore(because):
            raise AssertionError(f"an inquiry is never ignored: {because}")
    _tell_why(because, rule, out)


def _tell_why(because: str, rule: str, out: IO[str]) -> None:
    out.write(f"because: {because}\n")
    if rule:
        out.write(f"rule: {rule}\n")
