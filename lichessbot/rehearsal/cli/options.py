"""The options of `rehearse`: their values, their contradictions, and the plans that follow from them."""

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.facade import RATINGS
from lichessbot.rehearsal.cli.match import MAX_PAIRINGS_WITH_BOTS, Plan
from lichessbot.rehearsal.faults.catalogue import LATE_THREEFOLD, Fault, PlacedFault, placed_faults
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.players.opponents import MAX_ENGINE_DEPTH, OpponentKind
from lichessbot.rehearsal.players.start_positions import ODDS
from lichessbot.rehearsal.rules.clock import MAX_INCREMENT_S, MAX_LIMIT_S, RealTime
from lichessbot.rehearsal.rules.enums import Variant

CLOCK = RealTime(30, 0, hurried=True)
CLOCK_WITH_FAULTS = RealTime(180, 0, hurried=True)
GAMES = 2
CONCURRENCY = 2
PAGE_PORT = 8464                 # of the page, as a browser remembers by port what was chosen there
DEPTH = 4
ALL, LIST, AT = "all", "list", "@"
_MAX_GAMES_OF_BOT = 64           # at once, in its configuration
_BOT_LEVELS = 400, 4000         # the levels that the bot's configuration accepts
_KINDS = ", ".join(kind for kind in OpponentKind if kind is not OpponentKind.LEVEL)
_ONE_LEVEL = f"{OpponentKind.LEVEL}:1500"
_FOR_OPPONENTS = (
    "concurrency", "clock", "variant", "odds", "opponent", "depth", "seed", "faults", "chaos", "opponent_actions",
)  # fmt: skip

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


@dataclass(frozen=True)
class OpponentChoice:
    """The kind of the opponents, and the levels of those that have one."""

    kind: OpponentKind
    levels: tuple[int, ...] = ()


GREEDY = OpponentChoice(OpponentKind.GREEDY)


@dataclass(frozen=True)
class Options:
    """The values of the options; None if not given."""

    games: int | None = None
    concurrency: int | None = None
    clock: RealTime | None = None
    variant: Variant = Variant.STANDARD
    odds: str | None = None
    opponent: OpponentChoice = GREEDY
    strength: str | None = None
    depth: int | None = None
    seed: int = 0
    config: Path | None = None
    pgn: Path | None = None
    port: int | None = None
    serve: bool = False
    browser: bool = False
    no_open: bool = False
    faults: tuple[PlacedFault, ...] | None = None       # empty: --faults list, which only explains
    chaos: float | None = None
    opponent_actions: float | None = None
    fault_log: Path | None = None
    time_scale: float = 1.0

    @property
    def at_once(self) -> int:
        """The games at the same time."""
        return self.concurrency or CONCURRENCY


def rehearsal_options(command: Command) -> Command:
    """Add the options of `rehearse` to a command, which receives them as keywords."""
    for option in (*_options_of_rehearsals(), *_options_of_games()):
        command = option(command)
    return command


def _options_of_games() -> tuple[Decorator, ...]:
    """Return who plays what, from the last to the first shown."""
    positive = click.IntRange(min=1)
    return (
        click.option("--seed", type=int, default=0, help="Seed of opponents, starts and faults. Default: 0."),
        click.option(
            "--depth", type=click.IntRange(1, MAX_ENGINE_DEPTH),
            help=f"Search depth of the engine opponent. 1-{MAX_ENGINE_DEPTH}. Default: {DEPTH}.",
        ),
        click.option(
            "--opponent", type=_opponent, default=OpponentKind.GREEDY.value, metavar="KIND",
            help=f"The opponents: {_KINDS}, or people of some levels and ratings, such as {_ONE_LEVEL} or "
            f"{OpponentKind.LEVEL}:900,1300,1700. Default: {OpponentKind.GREEDY}.",
        ),
        click.option(
            "--strength", type=_strength, metavar="WHAT",
            help="The bot in casual games: full, a level such as 1500, or match_opponent. Default: as configured.",
        ),
        click.option(
            "--variant", type=_variant, default=Variant.STANDARD.key, metavar="KEY",
            help="Variant by Lichess's name, such as atomic; the bot's engine must play it. Default: standard.",
        ),
        click.option(
            "--odds", type=click.Choice(tuple(ODDS)),
            help="Play From Position games in which the bot gives this piece.",
        ),
        click.option(
            "--clock", type=_clock, metavar="BASE+INC",
            help=f"Whole seconds for the game and per move. Default: {CLOCK}, with faults {CLOCK_WITH_FAULTS}.",
        ),
        click.option(
            "--concurrency", type=positive, metavar="K",
            help=f"Games at the same time; with --config at most its challenge.concurrency. Default: {CONCURRENCY}.",
        ),
        click.option("--games", type=positive, metavar="N", help=f"Games to play. Default: {GAMES}."),
    )  # fmt: skip


def _options_of_rehearsals() -> tuple[Decorator, ...]:
    """Return how it is played and shown, from the last to the first shown."""
    return (
        click.option(
            "--time-scale", type=_scale, default="1", metavar="X",
            help="Multiply every wait except the clocks, at Lichess and in the bot. 0.001-1000. Default: 1.",
        ),
        click.option(
            "--fault-log", type=_new_file, metavar="FILE",
            help="Write the cost of each fault, one JSON object a line.",
        ),
        click.option(
            "--opponent-actions", type=_chance, metavar="P",
            help="Probability that an opponent chats, offers a draw or asks for a takeback after a move. With it, one "
            "opponent in ten also leaves its game. Default: 0.",
        ),
        click.option(
            "--chaos", type=_chance, metavar="P",
            help="Probability that a fault strikes at each opportunity; faults that stop every game count once. "
            "Default: each fault strikes at most once at each of its places.",
        ),
        click.option(
            "--faults", type=_faults, metavar="NAME,...",
            help=f"Faults to inject, each with an optional {AT}PLACE. Without --chaos the exit code is 1 if one "
            f"that is named never strikes. `{ALL}` takes all; `{LIST}` explains them. Default: none, with --chaos all.",
        ),
        click.option(
            "--serve", is_flag=True,
            help="Start no bot: check any client of the Bot API, which must accept --concurrency games at a time. "
            "Ends after --games games with exit code 1 if the client broke a rule, declined or ignored a "
            "challenge, aborted, or lost on time; without --games it ends with Ctrl-C. Serves what a bot needs "
            "to play: accounts, streams, games, challenges, and exports; other paths answer 404 and say so. "
            "There are no arenas or teams to join.",
        ),
        click.option("--no-open", is_flag=True, help="With --browser: only print the address of the page."),
        click.option(
            "--browser", is_flag=True,
            help="Serve a page on which you play against the bot, until Ctrl-C. With --games it also shows the bot's "
            "games against the opponents.",
        ),
        click.option(
            "--port", type=click.IntRange(0, 65535),
            help=f"Port on loopback. Default: a free one; with --browser {PAGE_PORT} if it is free.",
        ),
        click.option("--pgn", type=_new_file, metavar="FILE", help="Write the games to this file."),
        click.option(
            "--config", type=click.Path(path_type=Path), metavar="FILE",
            help="Rehearse with this configuration of the bot. Its account and server are replaced.",
        ),
    )  # fmt: skip


def match_plan(options: Options, config: Mapping[str, object] | None = None, *, may_resign: bool = False) -> Plan:
    """Return the games to play, by a bot with this configuration. Raises click.UsageError."""
    has_faults = options.faults is not None or options.chaos is not None
    only_bots = _inside(config, "challenge", "only_bot") is True
    if only_bots and not options.opponent.levels and _games(options) > MAX_PAIRINGS_WITH_BOTS:
        limit = f"Lichess limits games between bots: expected --games of at most {MAX_PAIRINGS_WITH_BOTS}"
        raise click.UsageError(f"{options.config} accepts only bots, and {limit}")
    plan = Plan(
        games=_games(options),
        concurrency=options.at_once,
        clock=options.clock or (CLOCK_WITH_FAULTS if has_faults else CLOCK),
        variant=Variant.FROM_POSITION if options.odds else options.variant,
        odds=options.odds,
        opponent=options.opponent.kind,
        levels=options.opponent.levels,
        depth=options.depth or DEPTH,
        seed=options.seed,
        opponent_actions=options.opponent_actions or 0.0,
        may_resign=options.serve or may_resign,
        rated_by_bots=_wants_rated(config, "bot"),
        rated_by_humans=_wants_rated(config, "human"),
        accepts_bots=_inside(config, "challenge", "accept_bot") is not False,
        accepts_humans=not only_bots,
    )
    if options.strength is not None and plan.games:
        for is_bot in sorted({plan.is_bot(number) for number in range(1, plan.opponents + 1)}):
            if plan.is_rated(against_bot=is_bot):
                takes = f"accepts only rated ones from {'bots' if is_bot else 'people'}"
                raise click.UsageError(f"--strength is for casual games, and {options.config} {takes}")
    return plan


def _inside(section: object, *keys: str) -> object:
    """Return the value below nested keys; None if there is none."""
    for key in keys:
        section = section.get(key) if isinstance(section, Mapping) else None
    return section


def _games(options: Options) -> int:
    """Return how many games the opponents play; with --browser only those that are asked for."""
    return options.games or (0 if options.browser else GAMES)


def _wants_rated(config: Mapping[str, object] | None, kind: str) -> bool:
    """Return whether a configuration accepts only rated games from this kind of opponent, `bot` or `human`."""
    modes = _inside(config, "challenge", kind, "modes") or _inside(config, "challenge", "modes")
    return isinstance(modes, list) and "casual" not in modes


def refuse_contradictions(options: Options) -> None:
    """Raise click.UsageError for options that contradict each other."""
    beside_the_list = options.serve or options.browser
    if options.faults == () and (options.chaos is not None or beside_the_list or options.fault_log is not None):
        raise click.UsageError(f"`--faults {LIST}` only explains: it goes with no other option")
    if options.serve and options.config is not None:
        raise click.UsageError("--config is for the bot, and --serve starts none")
    if options.serve and options.browser:
        raise click.UsageError("--browser lets you play the bot, and --serve starts none")
    if options.serve and options.strength is not None:
        raise click.UsageError("--strength is for the bot, and --serve starts none")
    if not options.serve and options.at_once > _MAX_GAMES_OF_BOT:
        raise click.UsageError(f"--concurrency {options.at_once} is more than a bot accepts: {_MAX_GAMES_OF_BOT}")
    if options.odds and options.variant not in (Variant.STANDARD, Variant.FROM_POSITION):
        raise click.UsageError("--odds plays fromPosition: it does not go with another --variant")
    if options.no_open and not options.browser:
        raise click.UsageError("--no-open needs --browser")
    if options.browser and options.games is None:
        for name in _FOR_OPPONENTS:
            if getattr(options, name) != getattr(Options(), name):
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option} is for games against opponents: with --browser it needs --games")
    if options.depth is not None and options.opponent.kind is not OpponentKind.ENGINE:
        raise click.UsageError(f"--depth needs --opponent {OpponentKind.ENGINE}")
    if options.fault_log is not None and options.faults is None and options.chaos is None:
        raise click.UsageError("--fault-log has nothing to tell without --faults or --chaos")


def fault_plan(options: Options, config: Mapping[str, object] | None = None) -> FaultPlan:
    """Return the faults to inject; with --chaos all that can strike this bot, unless some are named."""
    if options.faults is None and options.chaos is None:
        return FaultPlan()
    faults = options.faults or _faults(ALL)
    by_name = faults != _faults(ALL)
    if LATE_THREEFOLD in faults and not _takes_positions(config):
        if by_name:
            label = LATE_THREEFOLD.fault.label
            raise click.UsageError(f"{label} needs fromPosition in the variants of {options.config}")
        faults = tuple(placed for placed in faults if placed != LATE_THREEFOLD)
    return FaultPlan(faults, options.chaos, options.seed, options.games or GAMES, options.at_once, by_name)


def _takes_positions(config: Mapping[str, object] | None) -> bool:
    """Return whether a configuration accepts From Position from humans and bots."""
    sections = (("challenge",), ("challenge", "human"), ("challenge", "bot"))
    allowed = (_inside(config, *section, "variants") for section in sections)
    return all(Variant.FROM_POSITION.key in it for it in allowed if isinstance(it, list))


def _faults(text: str) -> tuple[PlacedFault, ...]:
    """Return the faults that `text` names, at the places that it names; none for `list`."""
    if text == LIST:
        return ()
    if text == ALL:
        return tuple(placed for fault in Fault for placed in placed_faults(fault))
    return tuple(placed for name in text.split(",") for placed in _named_faults(name.strip()))


def _named_faults(name: str) -> tuple[PlacedFault, ...]:
    label, _, place = name.partition(AT)
    fault = Fault.of_label(label)
    if fault is None:
        labels = [fault.label for fault in Fault]
        nearest = difflib.get_close_matches(label, labels, cutoff=0.3) or labels
        raise click.BadParameter(f"there is no fault {label!r}; perhaps {', '.join(nearest)}; see `{LIST}`")
    found = tuple(placed for placed in placed_faults(fault) if place in ("", placed.place.value))
    if not found:
        places = ", ".join(placed.place.value for placed in placed_faults(fault))
        raise click.BadParameter(f"{label} cannot strike at {place!r}, only at {places}")
    return found


def _opponent(text: str) -> OpponentChoice:
    kinds = [kind.value for kind in OpponentKind]
    name, colon, levels = text.partition(":")
    if name not in kinds or (name == OpponentKind.LEVEL) is not bool(colon):
        hint = _nearest(name, kinds).replace(OpponentKind.LEVEL, _ONE_LEVEL)
        raise click.BadParameter(f"{text!r} is none of {_KINDS} and {_ONE_LEVEL}{hint}")
    return OpponentChoice(OpponentKind(name), tuple(_level(level) for level in levels.split(",")) if colon else ())


def _level(text: str) -> int:
    return int(_number(text, f"a level from {RATINGS[0]} to {RATINGS[-1]}", RATINGS[0], RATINGS[-1]))


def _strength(text: str) -> str:
    if text in ("full", "match_opponent"):
        return text
    if re.fullmatch(r"\d+", text, re.ASCII):
        least, most = _BOT_LEVELS
        return str(int(_number(text, f"a level from {least} to {most}", least, most)))
    hint = _nearest(text, ("full", "match_opponent"))
    raise click.BadParameter(f"{text!r} is none of full, match_opponent and a level such as 1500{hint}")


def _chance(text: str) -> float:
    return _number(text, "a probability above 0, up to 1", 1e-6, 1.0)


def _scale(text: str) -> float:
    return _number(text, "a factor from 0.001 to 1000", 0.001, 1000.0)


def _number(text: str, what: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        raise click.BadParameter(f"{text!r} is not {what}")
    return number


def _clock(text: str) -> RealTime:
    base, plus, increment = text.partition("+")
    if not (plus and base.isdecimal() and increment.isdecimal()):
        raise click.BadParameter(f"{text!r} is not BASE+INCREMENT in whole seconds, such as 60+0")
    if int(base) > MAX_LIMIT_S or int(increment) > MAX_INCREMENT_S:
        raise click.BadParameter(f"{text!r} is more than Lichess offers, {MAX_LIMIT_S}+{MAX_INCREMENT_S}")
    clock = RealTime(int(base), int(increment), hurried=True)
    if clock.estimate_s == 0:
        raise click.BadParameter("a clock of 0+0 leaves no time to play")
    return clock


def _new_file(text: str) -> Path:
    path = Path(text)
    if path.is_dir():
        raise click.BadParameter(f"{text!r} is a folder: expected a file")
    if not path.parent.is_dir():
        raise click.BadParameter(f"{text!r} cannot be written: there is no folder {str(path.parent)!r}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise click.BadParameter(f"{text!r} cannot be written: permission denied")
    return path


def _variant(text: str) -> Variant:
    variant = next((it for it in Variant if it.key.lower() == text.lower()), None)
    if variant is None:
        keys = [variant.key for variant in Variant]
        raise click.BadParameter(f"{text!r} is none of {', '.join(keys)}{_nearest(text, keys)}")
    return variant


def _nearest(text: str, choices: Sequence[str]) -> str:
    """Return the end of an error: the choice that is most like the text, if one is."""
    nearest = difflib.get_close_matches(text, choices, 1, 0.3)
    return f"; perhaps {nearest[0]}" if nearest else ""
