"""All keys an operator can set, as one typed, frozen model; and the sections that have no file of their own."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, get_args

from pydantic import AfterValidator, Field, SecretStr

from lichessbot.config.base import (
    A_NUMBER_AS_TEXT,
    Flag,
    Folder,
    Number,
    Section,
    Text,
    beside_the_config,
    is_loopback,
    listen_address,
    merged,
    server_address,
)
from lichessbot.config.challenge import ChallengeConfig
from lichessbot.config.engine import Conditions, EngineConfig, EngineKeys, Profile, Strength
from lichessbot.config.matchmaking import DEFAULT_TYPE, MatchmakingConfig, ModeChoice, RematchConfig, TournamentConfig
from lichessbot.config.notify import NotifyConfig
from lichessbot.lichess.enums import Mode, OpponentKind, Variant
from lichessbot.log import LogFormat

LONGEST_CHAT_LINE: Final = 140
LONGEST_NAME: Final = 40
_MOST_PLACES: Final = 3  # sections named for a key that stands in another one
# Their values are in `Chat._filled`.
PLACEHOLDERS: Final = ("me", "opponent", "engine", "rating", "crosstable", "name")
# A doubled brace, which stands for a single one, or a placeholder with its name.
_BRACES: Final = re.compile(r"{{|}}|{([A-Za-z_]\w*)}")
# What Lichess makes a link of in a chat line.
_LINK: Final = re.compile(r"\bhttps?://\w|(?<![\w/@.-])[a-z]\w+(?:\.\w+)*\.(?:com|org|edu)\b", re.ASCII | re.IGNORECASE)
LINKS_ARE_DROPPED: Final = "Lichess drops chat lines of bots that contain links"


class CorrespondenceConfig(Section):
    """The section `correspondence`: games with days for each move, or without a clock. Times in seconds."""

    concurrency: Annotated[Number, Field(ge=1, le=16)] = 1
    move_time: Annotated[Number, Field(ge=1, le=600)] = 60
    checkin_period: Annotated[Number, Field(ge=1, le=86400)] = 300
    disconnect_time: Annotated[Number, Field(ge=0, le=86400)] = 150
    ponder: Flag = False


def chat_length(line: str) -> int:
    """Return the length of a chat line as Lichess counts it: in UTF-16 units, two for an emoji."""
    return len(line.encode("utf-16-le", "surrogatepass")) // 2


def _chat_text(text: str) -> str:
    """Return the text as one line that Lichess accepts, without braces except around names and doubled ones."""
    line = " ".join(text.split())
    if (length := chat_length(line)) > LONGEST_CHAT_LINE:
        counted = "" if length == len(line) else " (an emoji counts as two)"
        most = f"{LONGEST_CHAT_LINE} characters{counted}"
        raise ValueError(f"Input should be a line of up to {most}, as Lichess takes no more")
    if re.search(r"[{}]", _BRACES.sub("", line)):
        known = ", ".join(f"{{{it}}}" for it in PLACEHOLDERS)
        raise ValueError(f"Input should be a line without braces but {known}, and {{{{ or }}}} for a brace")
    return line


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Return a chat line with its placeholders replaced once; unknown ones are left out, as in lichess-bot."""
    return _BRACES.sub(lambda it: values.get(it[1], "") if it[1] else it[0][0], text)


def has_link(text: str) -> bool:
    return _LINK.search(text) is not None


_ChatText = Annotated[Text, AfterValidator(_chat_text)]


class ReviewMode(StrEnum):
    """Which opponents hear of the turning points of a game after its end: those who ask, or all humans too."""

    NEVER = "never"
    ASKED = "asked"
    HUMANS = "humans"


class GreetingConfig(Section):
    """The section `greeting`: chat lines at the start and end of a game; None or empty: no line.

    `name` is what {name} stands for; without it that is the account's name.
    """

    name: Annotated[_ChatText, Field(max_length=LONGEST_NAME)] | None = None
    hello: _ChatText | None = None
    goodbye: _ChatText | None = None
    goodbye_won: _ChatText | None = None
    goodbye_lost: _ChatText | None = None
    goodbye_drawn: _ChatText | None = None
    hello_spectators: _ChatText | None = None
    goodbye_spectators: _ChatText | None = None
    review: ReviewMode = ReviewMode.ASKED

    def notes(self) -> Iterator[tuple[str, str]]:
        for key, text in self:
            if text is None:
                continue
            for name in dict.fromkeys(_BRACES.findall(text)):
                if name and name not in PLACEHOLDERS:
                    yield key, f"{{{name}}} is left out; known are {', '.join(f'{{{it}}}' for it in PLACEHOLDERS)}"
            if has_link(text):
                yield key, LINKS_ARE_DROPPED


class RecordsConfig(Section):
    """The section `records`: how long games, their moves and their chat are kept, and how large the file may be."""

    keep_days: Annotated[Number, Field(ge=1, le=36500)] = 1095
    max_mb: Annotated[Number, Field(ge=10, le=1_000_000)] = 200


class StatusConfig(Section):
    """The section `status`: the operator's page."""

    listen: Annotated[Text, AfterValidator(listen_address), A_NUMBER_AS_TEXT] | None = None
    password_file: Annotated[Path, AfterValidator(beside_the_config)] | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.listen is not None and self.password_file is None and not is_loopback(self.listen):
            yield "listen", f"expected 127.0.0.1 or [::1], or a password_file beside it, found {self.listen!r}"


class PgnGrouping(StrEnum):
    """Which games share a PGN file."""

    GAME = "game"
    OPPONENT = "opponent"
    ALL = "all"


def _tables_without_folders(engine: EngineConfig, named: Sequence[tuple[str, EngineKeys]]) -> Iterator[tuple[str, str]]:
    for key, keys in named:
        tables, enabled = merged(engine, keys).lichess_bot_tbs.syzygy, keys.lichess_bot_tbs.syzygy.enabled
        if enabled and not tables.paths:
            yield f"{key}.lichess_bot_tbs.syzygy.paths", "expected at least one folder of Syzygy files, found none"


def _books_without_files(engine: EngineConfig, named: Sequence[tuple[str, EngineKeys]]) -> Iterator[tuple[str, str]]:
    """Yield each key that enables books if there are none in any game; profiles may have them for some games."""
    if any(merged(engine, keys).polyglot.files for _, keys in named):
        return
    for key, keys in named:
        if keys.polyglot.enabled:
            yield f"{key}.polyglot.enabled", "has no effect, as polyglot.book names no file"


def _losers_who_resign(named: Sequence[tuple[str, EngineKeys]]) -> Iterator[tuple[str, str]]:
    """Yield each key that lets a bot that plays to lose resign; later profiles inherit the style of earlier ones."""
    for number, (key, keys) in enumerate(named):
        if not keys.style.plays_to_lose:
            continue
        rules = keys.draw_or_resign
        never = "resign_enabled" in rules.model_fields_set and not rules.resign_enabled
        for other, their_keys in named[number if never else 0 :]:
            if their_keys.draw_or_resign.resign_enabled:
                why = f"{key}.style.material is below 0 and good scores are bad news"
                yield f"{other}.draw_or_resign.resign_enabled", f"expected false, as {why}"


def _strengths_set_twice(engine: EngineConfig, profiles: Sequence[Profile]) -> Iterator[tuple[str, str]]:
    """Yield each profile whose strength contradicts UCI options of the section `engine`, or the other way round."""
    for number, profile in enumerate(() if engine.sets_strength_twice else profiles, 1):
        keys, both = profile.engine, engine.changed_by(profile)
        if not both.sets_strength_twice or keys.sets_strength_twice:
            continue  # the section reports its own contradiction
        if (option := next(iter(keys.strength_options), None)) is not None:
            yield f"profiles #{number}.engine.uci_options.{option}", "contradicts engine.strength; remove one of them"
        else:
            option = next(iter(engine.strength_options))
            yield f"profiles #{number}.engine.strength", f"contradicts engine.uci_options.{option}; remove one of them"


@dataclass(frozen=True)
class _RatedGames:
    """One way to rated games: against whom (None: anybody), whether in a tournament, why, and how not."""

    opponent: OpponentKind | None
    tournament: bool
    why: str
    cure: str

    def reach(self, when: Conditions) -> bool:
        """Return whether a profile with these conditions may apply to such games."""
        may_be_rated = when.rated is not False and set(when.variant) != {Variant.FROM_POSITION}
        opponents = (None, self.opponent) if self.opponent else (None, *OpponentKind)
        return may_be_rated and when.opponent in opponents and when.tournament in (None, self.tournament)

    def all_meet(self, later: Conditions, when: Conditions) -> bool:
        """Return whether `later` holds in all such games in which `when` holds."""
        lists = ((later.speed, when.speed), (later.clock, when.clock), (later.variant, when.variant))
        return (
            all(not most or (some and set(some) <= set(most)) for most, some in lists)
            and later.opponent in (None, when.opponent, self.opponent)
            and later.tournament in (None, when.tournament, self.tournament)
            and later.colour in (None, when.colour)
            and later.rated is not False
            and not later.chooses_opponents
        )


_FULL_WHEN_RATED: Final = "the profile {when: {rated: true}, engine: {strength: full}}"


def _ways_to_rated_games(config: "Config") -> Iterator[_RatedGames]:
    challenge, matchmaking = config.challenge, config.matchmaking
    for kind in OpponentKind:
        is_bot = kind is OpponentKind.BOT
        key = challenge.key_for("modes", is_bot=is_bot)
        welcome = challenge.accept_bot if is_bot else not challenge.only_bot
        if welcome and Mode.RATED in challenge.rules_for(is_bot=is_bot).modes:
            yield _RatedGames(kind, False, f"{key} accepts rated games", f"set {key}: [casual]")
    for name, match in matchmaking.types() if matchmaking.allow_matchmaking else ():
        key = "matchmaking." + ("" if name == DEFAULT_TYPE else f"overrides.{name}.") + "challenge_mode"
        drawn = challenge.rules_for(is_bot=True).modes if match.challenge_mode is ModeChoice.RANDOM else ()
        if match.challenge_mode is ModeChoice.RATED or Mode.RATED in drawn:
            yield _RatedGames(OpponentKind.BOT, False, f"{key} proposes rated games", f"set {key}: casual")
    if config.tournaments:
        yield _RatedGames(None, True, "tournament games are rated", "remove tournaments")


def _strengths_by_opponent_in_rated_games(config: "Config") -> Iterator[tuple[str, str]]:
    """Yield each strength that depends on the opponent where a game may be rated: Lichess calls it sandbagging."""
    given: list[tuple[str, Conditions, Strength | int]] = [("engine", Conditions(), config.engine.strength)]
    for number, profile in enumerate(config.profiles, 1):
        if "strength" in profile.engine.model_fields_set:
            given.append((f"profiles #{number}.engine", profile.when, profile.engine.strength))
    strengths = {strength for _, _, strength in given}
    if len(strengths) == 1 and Strength.MATCH_OPPONENT not in strengths:
        return
    ways = list(_ways_to_rated_games(config))
    kinds = {way.opponent for way in ways}
    both_kinds = None in kinds or len(kinds) > 1

    def depends_on_opponent(when: Conditions, strength: Strength | int) -> bool:
        by_kind = both_kinds and when.opponent is not None
        return strength is Strength.MATCH_OPPONENT or when.chooses_opponents or by_kind

    for number, (key, when, strength) in enumerate(given):
        if not depends_on_opponent(when, strength):
            continue
        same_for_all = [later for _, later, other in given[number + 1 :] if not depends_on_opponent(later, other)]
        for way in ways:
            if way.reach(when) and not any(way.all_meet(later, when) for later in same_for_all):
                cure = "add rated: false to its when" if number else f"{way.cure}, or add {_FULL_WHEN_RATED}"
                what = strength if strength is Strength.MATCH_OPPONENT else "a strength that depends on the opponent"
                reason = f"{what} is for casual games only: {way.why}, and those have one strength for everybody"
                yield f"{key}.strength", f"{reason}; {cure}"
                break


class Config(Section):
    """All keys of the file."""

    token: SecretStr | None = None
    token_file: Path | None = None
    url: Annotated[Text, AfterValidator(server_address)] = "https://lichess.org"
    proxy: Annotated[Text, AfterValidator(server_address)] | None = None
    state_dir: Folder = None
    personality: Annotated[Text, Field(min_length=1)] | None = None
    log_format: LogFormat = LogFormat.AUTO
    abort_time: Annotated[Number, Field(ge=1, le=600)] = 30
    stop_grace: Annotated[Number, Field(ge=0, le=86400)] = 7200
    max_takebacks_accepted: Annotated[Number, Field(ge=0, le=1000)] = 0
    takebacks_from_bots: Flag = True
    pgn_directory: Folder = None
    pgn_file_grouping: PgnGrouping = PgnGrouping.GAME
    fake_think_time: Flag = False
    humanlike_time: Flag = False
    rate_limiting_delay: Annotated[Number, Field(ge=0, le=60_000)] = 0
    challenge: ChallengeConfig = ChallengeConfig()
    engine: EngineConfig = EngineConfig()
    greeting: GreetingConfig = GreetingConfig()
    matchmaking: MatchmakingConfig = MatchmakingConfig()
    rematch: RematchConfig = RematchConfig()
    tournaments: tuple[TournamentConfig, ...] = ()
    correspondence: CorrespondenceConfig = CorrespondenceConfig()
    records: RecordsConfig = RecordsConfig()
    profiles: tuple[Profile, ...] = ()
    notify: NotifyConfig = NotifyConfig()
    status: StatusConfig = StatusConfig()

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        yield from _tables_without_folders(self.engine, self._named_engines)
        yield from _losers_who_resign(self._named_engines)
        if self.fake_think_time and self.humanlike_time:
            yield "fake_think_time", "expected false, as humanlike_time sets the rhythm of the moves"
        yield from _strengths_set_twice(self.engine, self.profiles)
        yield from _strengths_by_opponent_in_rated_games(self)

    def notes(self) -> Iterator[tuple[str, str]]:
        yield from super().notes()
        yield from _books_without_files(self.engine, self._named_engines)
        if not self.matchmaking.allow_matchmaking:
            return
        if obstacle := self.matchmaking_obstacle:
            yield "matchmaking.allow_matchmaking", f"has no effect, as {obstacle}"
        if self.matchmaking.allow_during_games and self.challenge.concurrency == 1:
            yield "matchmaking.allow_during_games", "has no effect while challenge.concurrency is 1"

    @property
    def _named_engines(self) -> tuple[tuple[str, EngineKeys], ...]:
        """The section `engine` and those of the profiles, by their dotted keys."""
        profiles = ((f"profiles #{number}.engine", it.engine) for number, it in enumerate(self.profiles, 1))
        return ("engine", self.engine), *profiles

    @property
    def matchmaking_obstacle(self) -> str:
        """What keeps matchmaking from ever challenging a bot; empty if nothing does."""
        most = self.matchmaking.most_bot_games()
        if most == 0:
            return "matchmaking.bot_games_per_day is 0"
        if self.matchmaking.own_share(most) <= 0:
            return f"matchmaking.bot_games_for_challengers leaves none of the {most} bot games a day"
        if self.challenge.games_reserved_for_humans == self.challenge.concurrency:
            return "challenge.games_reserved_for_humans reserves all slots for humans"
        return ""

    @property
    def named_variants(self) -> Mapping[str, tuple[Variant, ...]]:
        """The variants that the file names, by the dotted keys that name them: an engine has to know each."""
        challenge, matchmaking = self.challenge, self.matchmaking
        rules = (("", challenge), ("human.", challenge.human), ("bot.", challenge.bot))
        others = ((f"overrides.{name}.", it.challenge_variant) for name, it in matchmaking.overrides.items())
        kinds = (("", matchmaking.challenge_variant), *others)
        named = {f"challenge.{where}variants": it.variants or () for where, it in rules}
        for where, choice in kinds:
            variant = choice.variant if choice else None
            named[f"matchmaking.{where}challenge_variant"] = (variant,) if variant else ()
        for number, profile in enumerate(self.profiles, 1):
            named[f"profiles #{number}.when.variant"] = profile.when.variant
        return {key: variants for key, variants in named.items() if variants}


def hint_for_unknown(path: Sequence[str | int]) -> str:
    """Return a hint for an unknown key: an indent that is missing or too deep, its section, or a similar key."""
    key = str(path[-1])
    places = [name for name, section in _sections(Config()) if key in type(section).model_fields]
    above = [name for name in places if "." not in name]
    if "." in key and key.partition(".")[0] in _valid_keys(path):
        return f"; write it as {key.replace('.', ': {')}: ...{'}' * key.count('.')}"
    if len(path) == 1 and above:
        return f"; it belongs to {' or '.join(above)}: indent it"
    if path[0] in above:
        return f"; it belongs to {path[0]}, not to a section in it"
    if "" in places:
        return "; it belongs to no section: do not indent it"
    if path[0] == "profiles" and "engine" in above:
        return "; it belongs to engine, as all games share it"
    if path[-2:-1] == ("engine",) and key[:1].isupper():
        return "; UCI options belong to engine.uci_options"
    is_known = 0 < len(places) <= _MOST_PLACES
    near = difflib.get_close_matches(key, _valid_keys(path), n=1, cutoff=0.6 if is_known else 0.4)
    nearest = f"; nearest valid key: {near[0]}" if near else ""
    return nearest + (f"; {key} belongs to {' or '.join(places)}" if is_known else "")


def _sections(section: Section, name: str = "") -> Iterator[tuple[str, Section]]:
    """Yield each section of the file with its dotted name."""
    yield name, section
    for key, value in section:
        if isinstance(value, Section) and not value.as_one:
            yield from _sections(value, f"{name}.{key}" if name else key)


def _valid_keys(path: Sequence[str | int]) -> list[str]:
    """Return the valid keys of the section that holds the last key of `path`."""
    kind: Any = Config
    for key in path[:-1]:
        # In a list the key is an index, in a mapping a name that the operator chose.
        inner = [it for it in get_args(kind) if isinstance(it, type) and issubclass(it, Section)]
        kind = inner[0] if inner else kind.model_fields[str(key)].annotation
    return list(kind.model_fields)
