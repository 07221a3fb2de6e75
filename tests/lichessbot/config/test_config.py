import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from annotated_types import Ge, Le
from hypothesis import given
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from lichessbot.config import Config, EngineConfig, EngineKeys, Rules, dotted_values, load_config, loader
from lichessbot.config.base import Section
from lichessbot.config.explanations import explanations
from lichessbot.errors import ConfigError
from lichessbot.lichess.enums import ExactClock, Mode, Odds, Speed, Variant
from tests.lichessbot.config.conftest import TOKEN, WITH_TOKEN, load, problems

EXAMPLE = Path(__file__).parents[3] / "config.example.yml"


def test_defaults_and_a_token_are_enough() -> None:
    loaded = load_config(None, WITH_TOKEN)
    assert loaded.config == Config()
    assert loaded.token.get_secret_value() == TOKEN
    assert loaded.location("engine.depth") == "engine.depth", "no file is named, as there is none"


@pytest.mark.parametrize("text", ["", "---\n# abort_time: 40\n", "challenge:\nengine:\n"])
def test_an_empty_file_gives_the_defaults(file: Path, text: str) -> None:
    assert load(file, text).config == Config()


def with_dotted_keys(section: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in section.items():
        inner = with_dotted_keys(value) if isinstance(value, dict) and value else {"": value}
        values.update({f"{key}.{name}".rstrip("."): it for name, it in inner.items()})
    return values


def test_the_example_names_every_key_with_its_default() -> None:
    values = with_dotted_keys(yaml.safe_load(EXAMPLE.read_text(encoding="utf-8")))
    expected = {key: list(v) if isinstance(v, tuple) else v for key, v in dotted_values(Config()).items()}
    assert values.keys() == expected.keys(), f"only in one of both: {sorted(values.keys() ^ expected.keys())}"
    wrong = [key for key in expected if values[key] != expected[key]]
    assert not wrong, f"the example has another default: {wrong}"
    assert load_config(EXAMPLE, WITH_TOKEN).config == Config()


def test_the_example_gives_unit_range_and_default_of_every_number() -> None:
    numbers = 0
    for key, field in fields_of(Config):
        text = " ".join(explanations()[key])
        assert "Default: " in text, key
        bounds = {type(it): it for it in bounds_of((*field.metadata, field.annotation))}
        if not bounds:
            continue
        numbers += 1
        least, most = bounds[Ge].ge, bounds[Le].le if Le in bounds else None
        span = rf"{least}( or more|-\d+)" if most is None else rf"{least}(-| to ){most}"
        assert re.search(rf"\w[,:] {span}\b|{span} \w", text), f"{key}: expected a unit and {least} to {most}"
        default = text.partition("Default: ")[2].partition(". ")[0]
        for value in field.default if isinstance(field.default, tuple) else [field.default]:
            shown = "(none|null)" if value is None else str(value)
            assert re.search(rf"(?<![\w-]){shown}\b", default), f"{key}: expected the default {shown}"
    assert numbers > 60


def test_the_example_says_which_keys_can_differ_between_games() -> None:
    of_challenges = [key.removeprefix("challenge.") for key in explanations() if key.startswith("challenge.")]
    rules = of_challenges[of_challenges.index("variants") : of_challenges.index("human")]
    assert set(rules) == Rules.model_fields.keys(), "the rules for humans and bots stand together"
    excepted = " ".join(explanations()["profiles"]).partition("every key of `engine` except ")[2].partition(".")[0]
    assert set(re.split(", | and ", excepted)) == EngineConfig.model_fields.keys() - EngineKeys.model_fields.keys()


def fields_of(section: type[Section], path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield every key of the example with its field."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section) and not kind.as_one:
            yield from fields_of(kind, f"{path}{name}.")
        else:
            yield f"{path}{name}", field


def bounds_of(kinds: Iterable[Any]) -> Iterator[Any]:
    """Yield the least and the most that these kinds allow a number to be."""
    for kind in kinds:
        if isinstance(kind, Ge | Le):
            yield kind
        else:
            yield from bounds_of(getattr(kind, "metadata", ()) if isinstance(kind, FieldInfo) else get_args(kind))


def test_values_are_typed(file: Path) -> None:
    config = load(
        file,
        """
        url: http://127.0.0.1:9663/
        challenge: {concurrency: 4, variants: [chess960], time_controls: [blitz], modes: [rated]}
        engine: {depth: 6}
        """,
    ).config
    assert config.url == "http://127.0.0.1:9663"
    assert config.challenge.concurrency == 4
    assert config.challenge.variants == (Variant.CHESS960,)
    assert config.challenge.time_controls == (Speed.BLITZ,)
    assert config.challenge.modes == (Mode.RATED,)
    assert config.engine.depth == 6


def test_uci_options_that_have_a_key_set_that_key(file: Path) -> None:
    text = """\
engine: {uci_options: {Hash: '32', threads: 2.0, Move Overhead: 100, UCI_ShowWDL: true}, hash_mb: 8}
profiles:
  - {when: {speed: bullet}, engine: {uci_options: {hash: 16}}}
"""
    loaded = load(file, text)
    config = loaded.config
    assert loaded.warnings == (f"{file}:1: engine.hash_mb: has no effect, as uci_options.Hash sets it",)
    assert (config.engine.hash_mb, config.engine.threads, config.engine.move_overhead_ms) == (32, 2, 100)
    assert config.engine.uci_options == {"UCI_ShowWDL": True}
    for_bullet = config.engine.changed_by(config.profiles[0])
    assert (for_bullet.hash_mb, for_bullet.uci_options) == (16, {"UCI_ShowWDL": True})


def test_an_exact_clock_that_other_rules_exclude_is_noted(file: Path) -> None:
    text = "challenge:\n  time_controls: [60+0, 5+3, 1+0, 15+0]\n  max_increment: 2\n  human: {max_base: 600}\n"
    file.write_text(text + "  bot: {min_base: 120}\n")
    place = f"{file}:2: challenge.time_controls"
    assert load_config(file, WITH_TOKEN).warnings == (
        f"{place}: 60+0 is never accepted, as challenge.human.max_base = 600 and challenge.max_base = 1800",
        f"{place}: 5+3 is never accepted, as challenge.max_increment = 2",
    )
    file.write_text(text + "  max_estimated_game_duration: 15\n")
    reasons = "challenge.human.max_base = 600 and challenge.max_estimated_game_duration = 15"
    assert f"{place}: 15+0 is never accepted, as {reasons}" in load_config(file, WITH_TOKEN).warnings
    file.write_text(text + "  bot: {min_base: 120}\n  only_bot: true\n")
    assert f"{place}: 1+0 is never accepted, as challenge.bot.min_base = 120" in load_config(file, WITH_TOKEN).warnings


def test_a_book_that_could_never_give_a_move_is_noted(file: Path) -> None:
    def notes(keys: str) -> list[str]:
        text = f"engine: {{polyglot: {{enabled: true, book: {{standard: a.bin}}, {keys}}}}}\n"
        return [it.removeprefix(f"{file}:1: engine.polyglot.") for it in load(file, text).warnings]

    too_much = "min_weight: no move has more than 100 percent (normalization: max): set less"
    assert notes("min_weight: 101, normalization: max") == [too_much]
    assert notes("min_weight: 100, normalization: max") == notes("min_weight: 101") == []


def test_a_profile_may_enable_tablebases_whose_folders_are_in_engine(file: Path) -> None:
    text = """\
engine: {lichess_bot_tbs: {syzygy: {paths: tables}}}
profiles: [{when: {rated: true}, engine: {lichess_bot_tbs: {syzygy: {enabled: true}}}}]
"""
    config = load(file, text).config
    tables = config.engine.changed_by(config.profiles[0]).lichess_bot_tbs.syzygy
    assert (tables.enabled, tables.paths) == (True, (file.parent / "tables",))
    assert problems(file, text.replace("paths: tables", "max_pieces: 5")) == [
        "2: profiles #1.engine.lichess_bot_tbs.syzygy.paths: expected at least one folder of Syzygy files, found none"
    ]
    assert len(problems(file, "engine: {lichess_bot_tbs: {syzygy: {enabled: true}}}")) == 1


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("[stockfish, -x]", ("stockfish", "-x")),
        ("[engines/mine, data/book]", ("{folder}/engines/mine", "data/book")),
        ("[/opt/mine]", ("/opt/mine",)),
        ("[~/mine]", ("/home/me/mine",)),
    ],
)
def test_a_relative_program_is_relative_to_the_config_file(
    file: Path, command: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    engine = load(file, f"engine: {{command: {command}, working_dir: nets}}\n").config.engine
    assert engine.command == tuple(word.format(folder=file.parent) for word in expected)
    assert engine.working_dir == file.parent / "nets"
    assert load(file, 'engine: {working_dir: ""}\n').config.engine.working_dir is None


@given(st.text(max_size=200))
def test_any_text_loads_or_raises_config_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("config") / "config.yml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(ConfigError):
        load_config(path, WITH_TOKEN)


def test_rules_are_typed(file: Path) -> None:
    text = "{time_controls: [bullet, 0.5+1], max_days: .inf, block_list: [Magnus], allow_list: , bot: {max_base: 60}}"
    challenge = load(file, f"challenge: {text}\n").config.challenge
    assert challenge.time_controls == (Speed.BULLET, ExactClock(30, 1))
    assert challenge.max_days == math.inf
    assert challenge.block_list == ("magnus",)
    assert challenge.allow_list == ()
    assert challenge.rules_for(is_bot=True).max_base == 60
    assert challenge.rules_for(is_bot=False).max_base == 1800
    assert challenge.cited("time_controls", is_bot=True) == "challenge.time_controls = [bullet, 0.5+1]"
    assert challenge.cited("max_base", is_bot=True) == "challenge.bot.max_base = 60"


def test_null_takes_a_limit_away_from_one_kind_of_challenger(file: Path) -> None:
    limits = "rating_difference: 300, max_base: 60, odds: [queen], allow_list: [ann]"
    human = "human: {rating_difference: , max_base: , odds: , allow_list: }"
    challenge = load(file, f"challenge: {{{limits}, {human}}}\n").config.challenge
    humans, bots = challenge.rules_for(is_bot=False), challenge.rules_for(is_bot=True)
    assert (humans.rating_difference, humans.max_base, humans.odds, humans.allow_list) == (None, 10800, None, ())
    assert (bots.rating_difference, bots.max_base, bots.odds, bots.allow_list) == (300, 60, (Odds.QUEEN,), ("ann",))
    assert challenge.cited("odds", is_bot=False) == "challenge.human.odds = null"


def test_no_key_disables_certificate_checks() -> None:
    assert not [key for key in dotted_values(Config()) if any(word in key for word in ("verify", "tls", "ssl", "cert"))]


@pytest.mark.parametrize(
    ("key", "no_limit"),
    [
        ("engine.nodes", None),
        ("engine.polyglot.max_depth", 500),
        ("engine.polyglot.max_moves", None),
        ("engine.online_moves.max_depth", None),
        ("engine.online_moves.chessdb_book.max_moves", None),
        ("challenge.rating_difference", None),
        ("challenge.max_estimated_game_duration", None),
        ("challenge.max_simultaneous_games_per_user", 64),
        ("matchmaking.opponent_rating_difference", None),
    ],
)
def test_infinity_is_no_limit(file: Path, key: str, no_limit: int | None) -> None:
    assert dotted_values(load(file, unfolded(key, ".inf")).config)[key] == no_limit


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("abort_time", "20.0", 20),
        ("matchmaking.challenge_initial_time", "[60.0, 180.0]", (60, 180)),
        ("engine.strength", "1500.0", 1500),
        ("challenge.max_days", ".inf", math.inf),
        ("engine.uci_options", "{CPuct: 2.0}", {"CPuct": 2}),
    ],
)
def test_a_whole_number_may_have_a_fraction_of_0(file: Path, key: str, text: str, value: object) -> None:
    found = dotted_values(load(file, unfolded(key, text)).config)[key]
    assert repr(found) == repr(value)


def unfolded(key: str, value: str) -> str:
    """Return a file with this value of a dotted key."""
    return "".join(f"{{{name}: " for name in key.split(".")) + value + "}" * len(key.split("."))


def test_a_greeting_is_one_line_and_an_empty_one_is_none(file: Path) -> None:
    greeting = load(file, "greeting:\n  hello: |\n    Hi  {opponent},\n    good luck!\n  goodbye: ''\n").config.greeting
    assert greeting.hello == "Hi {opponent}, good luck!"
    assert not greeting.goodbye


def test_a_relative_folder_is_beside_the_config_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(file, "pgn_directory: games\n").config.pgn_directory == file.parent / "games"
    assert load(file, "pgn_directory: /var/games\n").config.pgn_directory == Path("/var/games")
    monkeypatch.chdir(file.parent.parent)
    loaded = load(Path(file.parent.name, "here.yml"), "{pgn_directory: games, state_dir: state}\n")
    here = Path(file.parent.name)
    assert (loaded.config.pgn_directory, loaded.state_dir) == (here / "games", here / "state")


@pytest.mark.parametrize("key", ["engine.command", "notify.command"])
def test_a_program_below_the_home_of_nobody_is_a_problem(file: Path, key: str) -> None:
    section, name = key.split(".")
    (problem,) = problems(file, f"{section}: {{{name}: ['~nobody-has-this-name/mine']}}\n")
    assert problem.startswith(f"1: {key}: expected a path below the home of a user who exists")


# Matchmaking and tournaments


def test_the_example_of_an_override_works(file: Path) -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for key, section in (("overrides: {easy", "matchmaking:\n  "), ("tournaments: [{", "")):
        (line,) = [line for line in lines if key in line]
        load(file, f"{section}{line.strip(' #')}\n")


def test_a_config_file_that_is_not_read_gives_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(None, WITH_TOKEN).warnings == ()
    (tmp_path / "config.yml").write_text("abort_time: 40\n")
    (warning,) = load_config(None, WITH_TOKEN).warnings
    assert warning == "config.yml in this folder is not read; to use it, add --config config.yml"


def test_a_folder_that_we_may_not_look_into_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    # As after `sudo -u bot` in the home of root; this also root cannot look at.
    monkeypatch.setattr(loader, "_USUAL_NAME", Path("x" * 300))
    assert load_config(None, WITH_TOKEN).warnings == ()


def test_a_section_merges_the_keys_of_others_below_its_own(file: Path) -> None:
    text = """\
profiles:
- &base
  when: {speed: [blitz]}
  engine: &engine {depth: 3, threads: 1}
- <<: *base
  when: {speed: [rapid]}
- engine:
    threads: 2
    <<: [{depth: 5}, *engine]
  <<: *base
"""
    loaded = load(file, text)
    assert [(it.when.speed, it.engine.depth, it.engine.threads) for it in loaded.config.profiles] == [
        ((Speed.BLITZ,), 3, 1), ((Speed.RAPID,), 3, 1), ((Speed.BLITZ,), 5, 2),
    ]  # fmt: skip
    assert loaded.lines[("profiles", 1, "engine")] == 4
    assert (loaded.lines[("profiles", 1, "when")], loaded.lines[("profiles", 2, "when")]) == (6, 3)


def test_a_section_may_merge_itself_and_nothing_else_than_sections(file: Path) -> None:
    assert load(file, "engine: &e\n  depth: 3\n  <<: *e\n").config.engine.depth == 3
    for odd in ("5", "[{concurrency: 2}, 5]"):
        assert problems(file, f"challenge:\n  <<: {odd}\n") == ["2: challenge.<<: expected a section such as *base"]
