"""The options of `rehearse`: what can be asked for, and what makes no sense.

Turns words into values and complaints into usage errors; what is done with them is not known here.
"""

import argparse
import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from lichessbot.rehearsal.cli.match import Plan
from lichessbot.rehearsal.faults.catalogue import LATE_THREEFOLD, Card, Fault, cards
from lichessbot.rehearsal.faults.schedule import FaultPlan
from lichessbot.rehearsal.players.opponents import MAX_ENGINE_DEPTH, OpponentKind
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import Variant

CLOCK = RealTime(30, 0, hurried=True)
CLOCK_WITH_FAULTS = RealTime(180, 0, hurried=True)
ALL, LIST, AT = "all", "list", "@"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rehearse`."""
    parser.add_argument("--games", type=_positive, default=2, metavar="N", help="games to play (2)")
    parser.add_argument(
        "--concurrency", type=_positive, default=2, metavar="K", help="games at the same time (2)"
    )
    parser.add_argument(
        "--clock", type=_clock, metavar="BASE+INC",
        help=f"seconds for the game and for each move ({CLOCK}; with faults {CLOCK_WITH_FAULTS})",
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
    parser.add_argument("--seed", type=int, default=0, help="same seed, same opponents, starts and faults (0)")
    parser.add_argument(
        "--config", type=Path, metavar="FILE",
        help="rehearse with this configuration of the bot; only its account and its server are replaced",
    )
    parser.add_argument("--pgn", type=_new_file, metavar="FILE", help="write the games there")
    parser.add_argument("--port", type=int, default=0, help="port on loopback (a free one)")
    parser.add_argument(
        "--serve", action="store_true",
        help="start no bot: wait for any Bot API client, until interrupted",
    )
    parser.add_argument(
        "--faults", type=_faults, metavar="NAME,...",
        help=f"what goes wrong: names, each perhaps with {AT}PLACE; `{ALL}`; `{LIST}` explains them",
    )
    parser.add_argument(
        "--chaos", type=_chance, metavar="P",
        help="every opportunity for a fault is taken with this probability, shared by all games where it stops all; "
        "without it each fault strikes once at most",
    )
    parser.add_argument(
        "--company", type=_chance, metavar="P",
        help="after every move opponents talk, offer draws or want moves back with this probability; some go away",
    )
    parser.add_argument("--ledger", type=_new_file, metavar="FILE", help="write what every fault cost there")
    parser.add_argument(
        "--time-scale", type=_scale, default=1.0, metavar="X",
        help="every wait but the clocks takes X times as long, at Lichess and in the bot (1)",
    )
    parser.set_defaults(refuse=parser.error)


def match_plan(args: argparse.Namespace, config: Mapping[str, object] | None = None) -> Plan:
    """What shall be played, by a bot with this configuration of its operator."""
    has_faults = args.faults is not None or args.chaos is not None
    return Plan(
        games=args.games,
        concurrency=args.concurrency,
        clock=args.clock or (CLOCK_WITH_FAULTS if has_faults else CLOCK),
        variant=args.variant,
        opponent=args.opponent,
        depth=args.depth,
        seed=args.seed,
        company=args.company or 0.0,
        may_resign=_resigns(config),
    )


def _resigns(config: Mapping[str, object] | None) -> bool:
    """Whether a configuration lets the bot resign, at least in some games, so that it is not blamed for it."""
    engines = () if config is None else _engines(config)
    return any(_inside(engine, "draw_or_resign", "resign_enabled") is True for engine in engines)


def _engines(config: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The section `engine` and those of the profiles, as far as they are sections."""
    profiles = config.get("profiles")
    for holder in (config, *(profiles if isinstance(profiles, list) else ())):
        engine = _inside(holder, "engine")
        if isinstance(engine, dict):
            yield engine


def _inside(section: object, *keys: str) -> object:
    """What stands under the keys, one in the other; None if nothing does."""
    for key in keys:
        section = section.get(key) if isinstance(section, Mapping) else None
    return section


def refuse_nonsense(args: argparse.Namespace) -> None:
    """Options that make no sense together are a usage error."""
    if args.faults == () and (args.chaos is not None or args.serve or args.ledger is not None):
        args.refuse(f"`--faults {LIST}` only explains: it goes with no other option")
    if args.serve and args.config is not None:
        args.refuse("--config is for the bot, and --serve starts none")
    if args.ledger is not None and args.faults is None and args.chaos is None:
        args.refuse("--ledger has nothing to tell without --faults or --chaos")


def fault_plan(args: argparse.Namespace, config: Mapping[str, object] | None = None) -> FaultPlan:
    """Chaos is of all faults unless some are named; none is left that a bot so configured would not come to see."""
    if args.faults is None and args.chaos is None:
        return FaultPlan()
    faults = args.faults or _faults(ALL)
    if not _takes_positions(config):
        faults = tuple(card for card in faults if card != LATE_THREEFOLD)
    if not faults:
        args.refuse(f"{LATE_THREEFOLD.fault.label} needs fromPosition in the variants of {args.config}")
    return FaultPlan(faults, args.chaos, args.seed, args.games, args.concurrency)


def _takes_positions(config: Mapping[str, object] | None) -> bool:
    """Whether a configuration accepts games that begin anywhere, from whomever."""
    sections = (("challenge",), ("challenge", "human"), ("challenge", "bot"))
    allowed = (_inside(config, *section, "variants") for section in sections)
    return all(Variant.FROM_POSITION.key in it for it in allowed if isinstance(it, list))


def _faults(text: str) -> tuple[Card, ...]:
    """The faults that `text` names, at the places that it names; none for `list`."""
    if text == LIST:
        return ()
    if text == ALL:
        return tuple(card for fault in Fault for card in cards(fault))
    return tuple(card for name in text.split(",") for card in _named_cards(name.strip()))


def _named_cards(name: str) -> tuple[Card, ...]:
    label, _, place = name.partition(AT)
    fault = Fault.of_label(label)
    if fault is None:
        labels = [fault.label for fault in Fault]
        nearest = difflib.get_close_matches(label, labels, cutoff=0.3) or labels
        raise argparse.ArgumentTypeError(f"there is no fault {label!r}; perhaps {', '.join(nearest)}; see `{LIST}`")
    found = tuple(card for card in cards(fault) if place in ("", card.place.value))
    if not found:
        places = ", ".join(card.place.value for card in cards(fault))
        raise argparse.ArgumentTypeError(f"{label} cannot strike at {place!r}, only at {places}")
    return found


def _chance(text: str) -> float:
    return _number(text, "a probability above 0, up to 1", 1e-6, 1.0)


def _scale(text: str) -> float:
    return _number(text, "a factor from 0.001 to 1000", 0.001, 1000.0)


def _number(text: str, what: str, least: float, most: float) -> float:
    number = float(text)
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return number


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


def own_config(args: argparse.Namespace) -> Mapping[str, object] | None:
    """The operator's configuration, if he wants to rehearse with it; what cannot be read is a usage error."""
    if args.config is None:
        return None
    try:
        settings: dict[str, object] = yaml.safe_load(args.config.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        args.refuse(f"{args.config} cannot be read: {' '.join(str(error).split())}")
    if not isinstance(settings, dict):
        args.refuse(f"{args.config} is no configuration")
    for engine in _engines(settings):
        _anchor(engine, args.config.absolute().parent)
    return settings


def _anchor(engine: dict[str, object], folder: Path) -> None:
    """Files of engines are meant from the folder of the configuration, and the bot gets a copy in another one."""
    match engine.get("command"):
        case [str(program), *arguments] if "/" in program:
            engine["command"] = [str(folder / Path(program).expanduser()), *arguments]
    match engine.get("working_dir"):
        case str(name) if name:
            engine["working_dir"] = str(folder / Path(name).expanduser())
    books, sessions = _inside(engine, "polyglot", "book"), _inside(engine, "lichess_bot_tbs", "syzygy")
    for section, keys in ((books, ("standard", "chess960")), (sessions, ("paths",))):
        if isinstance(section, dict):
            for key in section.keys() & keys:
                section[key] = _anchored(section[key], folder)


def _anchored(names: object, folder: Path) -> object:
    """One file or a list of them; whatever else stands there is for the bot to complain of."""
    if isinstance(names, list):
        return [_anchored(name, folder) for name in names]
    return str(folder / Path(names).expanduser()) if isinstance(names, str) else names


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
