import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lichessbot.config import Config, dotted_values, load_config
from lichessbot.config.challenge import Overrides, Rules
from lichessbot.errors import ConfigError
from lichessbot.lichess.enums import ExactClock, Mode, Speed, Variant
from tests.lichessbot.config.conftest import TOKEN, WITH_TOKEN, load, problems

EXAMPLE = Path(__file__).parents[3] / "config.example.yml"


def test_defaults_and_a_token_are_enough() -> None:
    loaded = load_config(None, WITH_TOKEN)
    assert loaded.config == Config()
    assert loaded.token.get_secret_value() == TOKEN


@pytest.mark.parametrize("text", ["", "# nothing but a remark\n", "challenge:\nengine:\n"])
def test_an_empty_file_gives_the_defaults(file: Path, text: str) -> None:
    assert load(file, text).config == Config()


def dotted(section: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in section.items():
        inner = dotted(value) if isinstance(value, dict) and value else {"": value}
        values.update({f"{key}.{name}".rstrip("."): it for name, it in inner.items()})
    return values


def test_the_example_names_every_key_with_its_default() -> None:
    values = dotted(yaml.safe_load(EXAMPLE.read_text(encoding="utf-8")))
    expected = {key: list(v) if isinstance(v, tuple) else v for key, v in dotted_values(Config()).items()}
    assert values == expected
    assert load_config(EXAMPLE, WITH_TOKEN).config == Config()


def test_the_example_gives_unit_range_and_default_of_every_number() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    for paragraph in text.split("\n\n"):
        if any(line.strip() and not line.strip().startswith("#") for line in paragraph.splitlines()):
            assert "efault" in paragraph, paragraph


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


def test_all_problems_are_reported_at_once_each_with_line_key_and_expectation(file: Path) -> None:
    text = """\
abort_time: soon
challenge:
  concurrency: 0
  concurency: 2
  variants: [standard, atomc]
  min_base: 300
  accept_bot: 1
engnie: {}
url: lichess
"""
    assert problems(file, text) == [
        "1: abort_time: expected a whole number, found 'soon'",
        "3: challenge.concurrency: expected at least 1, found 0",
        "4: challenge.concurency: unknown key; nearest valid key: concurrency",
        "5: challenge.variants #2: expected 'standard', 'chess960', 'fromPosition', 'crazyhouse', 'kingOfTheHill', "
        "'threeCheck', 'antichess', 'atomic', 'horde' or 'racingKings', found 'atomc'; nearest: atomic",
        "7: challenge.accept_bot: expected true or false, found 1",
        "8: engnie: unknown key; nearest valid key: engine",
        "9: url: expected an address such as https://lichess.org, without a path, found 'lichess'",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abort_time: 30\nabort_time: 40\n", "2: abort_time: is repeated; first in line 1"),
        (
            "challenge: {min_base: 60, max_base: 30}\n",
            "1: challenge.min_base: expected at most max_base = 30, found 60",
        ),
        (
            "challenge:\n  only_bot: true\n  accept_bot: false\n",
            "2: challenge.only_bot: expected accept_bot to be true as well, found false",
        ),
        ("challenge: {modes: []}\n", "1: challenge.modes: expected a list that is not empty, found []"),
        ("challenge: {modes: [rated, rated]}\n", None),
        ("- a\n- b\n", "1: expected keys and values such as `abort_time: 30`"),
        ("engine: stockfish\n", "1: engine: expected keys and values, found 'stockfish'"),
        ("challenge:\n  human:\n", "2: challenge.human: expected keys and values, found nothing"),
        ("engine: {uci_options: }\n", "1: engine.uci_options: expected keys and values, found nothing"),
        ("engine:\ndepth: 3\n", "2: depth: unknown key; it belongs to engine: indent it"),
        (
            "tournaments: [{id: hL7vMrFQ, password: 1234}]\n",
            "1: tournaments #1.password: expected text, found a number: put it in quotes",
        ),
        ("challenge: yes\n", None),
        ("abort_time: true\n", "1: abort_time: expected a whole number, found true"),
        ("a: &loop [*loop]\n", None),
        ("url: https://lichess.org/api\n", None),
        ("url: https://user@lichess.org\n", None),
        ("url: https://lichess.org:port\n", None),
    ],
)
def test_a_problem_is_one_line(file: Path, text: str, problem: str | None) -> None:
    found = problems(file, text)
    assert len(found) >= 1
    assert all("\n" not in line for line in found)
    if problem is not None:
        assert found == [problem]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("challenge:\n\tconcurrency: 1\n", "2: not YAML: found a tab: indent with spaces"),
        ("url: [1,\n", "2: not YAML: a [ or { above is never closed"),
        ("url: [1\n", "2: not YAML: the [ in line 1 is never closed, or a comma is missing"),
        ("a: {b: 1\n", "2: not YAML: the { in line 1 is never closed, or a comma is missing"),
        ("a: 1\nurl: 'x\n", "3: not YAML: the quote opened in line 2 is never closed"),
        ("? [\n", "2: not YAML: a [ or { above is never closed"),
        (
            "a:\n  b: 1\n   c: 4\n",
            "3: not YAML: found a second colon, or the line is indented differently from the one above",
        ),
        ("a:\n  b: 1\n c: 4\n", "3: not YAML: this line is indented differently from those since line 1"),
        ("url: @x\n", "1: not YAML: found a character that must be put in quotes"),
        ("greeting:\n  hello: {me} says hi\n", "2: not YAML: a text that begins with { or [ must be in quotes"),
        ("greeting: {hello: [me] hi}\n", "1: not YAML: a text that begins with { or [ must be in quotes"),
        ("greeting: {hello: {me}}\n", "1: greeting.hello: expected text: put it in quotes if it begins with { or ["),
    ],
)
def test_broken_yaml_is_one_line_that_says_what_to_fix(file: Path, text: str, complaint: str) -> None:
    assert problems(file, text) == [complaint]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("challenge: {block_list: [12345]}\n", "challenge.block_list #1: expected text, found the number 12345"),
        ("challenge: {block_list: [on]}\n", "challenge.block_list #1: expected text, found true"),
        ("tournaments: [{id: 12345678}]\n", "tournaments #1.id: expected text, found the number 12345678"),
        ("greeting: {hello: 2026-11-23}\n", "greeting.hello: expected text, found the date 2026-11-23"),
        ("engine: {command: [12]}\n", "engine.command #1: expected text, found the number 12"),
        ("state_dir: 12\n", "state_dir: expected text, found the number 12"),
        ("token: 12345\n", "token: expected text, found a number"),
    ],
)
def test_digits_that_are_meant_as_text_want_quotes(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [f"1: {problem}: put it in quotes"]


@pytest.mark.parametrize("token", ["lip_...", "lip_xxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxx", "lip_yourtoken", "token"])
def test_a_placeholder_is_no_token(token: str) -> None:
    with pytest.raises(ConfigError, match="is a placeholder: write the token that Lichess shows"):
        load_config(None, {"LICHESS_BOT_TOKEN": token})


def test_a_missing_or_binary_file_is_one_line(file: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(file, WITH_TOKEN)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_config(file, WITH_TOKEN)


def test_a_problem_in_a_list_names_its_own_line(file: Path) -> None:
    text = """\
engine: {uci_options: {Hash: big, UCI_Chess960: true, Style: [1]}}
profiles:
  - when: {sped: bullet, opponent: woman}
    engine: {deth: 8}
  - when:
      speed: correspondance
    engin: {depth: 3}
  - engine: {depth: 3}
"""
    assert problems(file, text) == [
        "1: engine.uci_options.Style: expected a single value, found [1]",
        "3: profiles #1.when.opponent: expected 'human' or 'bot', found 'woman'; nearest: human",
        "3: profiles #1.when.sped: unknown key; nearest valid key: speed",
        "4: profiles #1.engine.deth: unknown key; nearest valid key: depth",
        "5: profiles #2.engine: is missing",
        "6: profiles #2.when.speed #1: expected 'bullet', 'blitz', 'rapid', 'classical' or 'correspondence',"
        " found 'correspondance'; nearest: correspondence",
        "7: profiles #2.engin: unknown key; nearest valid key: engine",
        "8: profiles #3.when: is missing",
    ]
    text = """\
engine: {uci_options: {Hash: big, UCI_Chess960: true}}
profiles:
  - when: {rating: [1500, 0]}
    engine: {uci_options: {ponder: true}}
  - when: {}
    engine: {}
"""
    assert problems(file, text) == [
        "1: engine.uci_options.Hash: expected a whole number from 1 to 65536, found 'big'",
        "1: engine.uci_options.UCI_Chess960: is set by the variant of the game; remove it",
        "3: profiles #1.when.rating: expected the lower rating first, found [1500, 0]",
        "4: profiles #1.engine.uci_options.ponder: is set by engine.ponder; remove it",
        "5: profiles #2.when: expected a condition such as `speed: bullet`;"
        " keys for every game belong to `engine`",
        "6: profiles #2.engine: expected a key such as `depth: 8`",
    ]


def test_uci_options_that_have_a_key_set_that_key(file: Path) -> None:
    text = """\
engine: {uci_options: {Hash: 32, threads: 2, Move Overhead: 100, UCI_ShowWDL: true}, hash_mb: 8}
profiles:
  - {when: {speed: bullet}, engine: {uci_options: {hash: 16}}}
"""
    config = load(file, text).config
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
    file.write_text(text + "  bot: {min_base: 120}\n  only_bot: true\n")
    assert f"{place}: 1+0 is never accepted, as challenge.bot.min_base = 120" in load_config(file, WITH_TOKEN).warnings


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "time_controls: [blitz, 5+]",
            "challenge.time_controls #2: expected bullet, blitz, rapid, classical, correspondence or a clock of "
            "minutes+seconds such as 5+3, found '5+'",
        ),
        ("max_days: 1.5", "challenge.max_days: expected a whole number or .inf, found 1.5"),
        ("block_list: [a b]", None),
        ("block_list: [Magnus, magnus]", None),
        ("online_block_list: [example.com/list]", None),
        ("online_block_list: ['http://example.com/list']", None),
        (
            "games_reserved_for_humans: 2",
            "challenge.games_reserved_for_humans: expected at most concurrency = 1, found 2",
        ),
        ("recent_bot_challenge_age: 60", None),
        ("bot: {concurrency: 2}", None),
        ("bot: {max_baze: 2}", "challenge.bot.max_baze: unknown key; nearest valid key: max_base"),
        ("bot: {min_base: 1801}", "challenge.bot.min_base: expected at most max_base = 1800, found 1801"),
        (
            "{min_base: 60, human: {max_base: 30}}",
            "challenge.human.max_base: min_base: expected at most max_base = 30, found 60",
        ),
    ],
)
def test_an_invalid_rule_is_one_line(file: Path, text: str, problem: str | None) -> None:
    body = text if text.startswith("{") else f"{{{text}}}"
    (found,) = problems(file, f"challenge: {body}\n")
    assert problem is None or found == f"1: {problem}"


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


def test_every_rule_can_be_overridden() -> None:
    assert set(Overrides.model_fields) == set(Rules.model_fields)


def test_no_key_disables_certificate_checks() -> None:
    assert not [key for key in dotted_values(Config()) if any(word in key for word in ("verify", "tls", "ssl", "cert"))]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"greeting: {{hello: {'x' * 141}}}\n", "1: greeting.hello: expected a line of up to 140 characters"),
        ("greeting: {hello: 'Hi {me.id}'}\n", "1: greeting.hello: expected a line without braces but {me}, {oppon"),
        ("greeting: {goodbye: 'Hi {me'}\n", "1: greeting.goodbye: expected a line without braces"),
        ("greeting: {hallo: Hi}\n", "1: greeting.hallo: unknown key; nearest valid key: hello"),
        ("engine: {draw_or_resign: {resign_moves: 1}}\n", "1: engine.draw_or_resign.resign_moves: expected at least 2"),
        ("engine: {draw_or_resign: {resign_score: 1}}\n", "1: engine.draw_or_resign.resign_score: expected at most 0"),
        ("pgn_file_grouping: each\n", "1: pgn_file_grouping: expected 'game', 'opponent' or 'all', found 'each'"),
        ("engine: {hash_mb: 1.5}\n", "1: engine.hash_mb: expected a whole number, found 1.5"),
        ("challenge: {max_days: soon}\n", "1: challenge.max_days: expected a number, found 'soon'"),
        ("challenge: {modes: casual}\n", "1: challenge.modes: expected a list, found 'casual'"),
        ("personality: ''\n", "1: personality: expected text, found ''"),
        ("max_takebacks_accepted: -1\n", "1: max_takebacks_accepted: expected at least 0, found -1"),
    ],
)
def test_values_out_of_range_are_problems(file: Path, text: str, problem: str) -> None:
    (found,) = problems(file, text)
    assert found.startswith(problem)


def test_a_greeting_is_one_line_and_an_empty_one_is_none(file: Path) -> None:
    greeting = load(file, "greeting:\n  hello: |\n    Hi  {opponent},\n    good luck!\n  goodbye: ''\n").config.greeting
    assert greeting.hello == "Hi {opponent}, good luck!"
    assert not greeting.goodbye


def test_a_relative_state_dir_is_beside_the_config_file(file: Path) -> None:
    assert load(file, "pgn_directory: games\n").config.pgn_directory == file.parent / "games"
    assert load(file, "pgn_directory: /var/games\n").config.pgn_directory == Path("/var/games")


# Matchmaking and tournaments


def test_a_single_value_is_a_list_of_one(file: Path) -> None:
    config = load(file, "matchmaking: {challenge_initial_time: 180, challenge_increment: 2}\n").config.matchmaking
    assert (config.challenge_initial_time, config.challenge_increment) == ((180,), (2,))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "matchmaking:\n  overrides:\n    easy:\n      challenge_vriant: chess960\n",
            "4: matchmaking.overrides.easy.challenge_vriant: unknown key; nearest valid key: challenge_variant",
        ),
        (
            "matchmaking:\n  overrides:\n    it:\n      opponent_min_rating: 4000\n      opponent_max_rating: 1000\n",
            "4: matchmaking.overrides.it.opponent_min_rating: expected at most opponent_max_rating = 1000, found 4000",
        ),
        (
            "matchmaking: {challenge_initial_time: [61]}\n",
            "1: matchmaking.challenge_initial_time #1: expected 0, 15, 30, 45, 60, 90 or whole minutes up to "
            "10800 s, found 61",
        ),
        (
            "matchmaking: {challenge_initial_time: [15], challenge_increment: [0]}\n",
            "1: matchmaking.challenge_initial_time: expected 30 s or more for base + 40 increments, found 15 + 40 * 0",
        ),
        (
            "matchmaking: {challenge_initial_time: []}\n",
            "1: matchmaking.challenge_initial_time: expected a clock (challenge_increment as well) or challenge_days",
        ),
        (
            "matchmaking: {weight: 0}\n",
            "1: matchmaking.weight: expected a weight above 0 here or in one of the overrides",
        ),
        (
            "matchmaking: {challenge_variant: fromPosition}\n",
            "1: matchmaking.challenge_variant: expected 'random', 'standard', 'chess960', 'crazyhouse', "
            "'kingOfTheHill', 'threeCheck', 'antichess', 'atomic', 'horde' or 'racingKings', found 'fromPosition'",
        ),
        (
            "tournaments:\n- id: hL7vMrFQ\n  pasword: sesame\n",
            "3: tournaments #1.pasword: unknown key; nearest valid key: password",
        ),
    ],
)
def test_a_problem_in_a_matchmaking_override_names_its_line(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


def test_the_example_of_an_override_works(file: Path) -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for key, section in (("overrides: {easy", "matchmaking:\n  "), ("tournaments: [{", "")):
        (line,) = [line for line in lines if key in line]
        load(file, f"{section}{line.strip(' #')}\n")


def test_the_password_of_a_tournament_is_never_shown(file: Path) -> None:
    loaded = load(file, "tournaments: [{id: hL7vMrFQ, password: sesame}]\n")
    assert "sesame" not in repr(loaded) + str(dotted_values(loaded.config))
    assert loaded.config.tournaments[0].password is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tournaments: {id: hL7vMrFQ, password: sesame}\n", "keys and values"),
        ("tournaments:\n- - id: hL7vMrFQ\n    password: sesame\n", "[keys and values]"),
        ("abort_time: {password: sesame}\n", "keys and values"),
    ],
)
def test_a_password_in_the_wrong_place_is_not_shown(file: Path, text: str, found: str) -> None:
    (problem,) = problems(file, text)
    assert problem.endswith(f", found {found}")


def test_a_config_file_that_is_not_read_gives_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(None, WITH_TOKEN).warnings == ()
    (tmp_path / "config.yml").write_text("abort_time: 40\n")
    (warning,) = load_config(None, WITH_TOKEN).warnings
    assert warning == "config.yml in this folder is not read; to use it, add --config config.yml"
