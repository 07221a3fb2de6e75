"""What is said of each wrong key and value of a configuration: one line, with its place."""

import re
from pathlib import Path

import pytest

from lichessbot.config import dotted_values, load_config
from lichessbot.config.yaml_file import KeyPath, dotted, path_of
from lichessbot.errors import ConfigError
from tests.lichessbot.config.conftest import WITH_TOKEN, load, problems


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
        "9: url: expected an address with https:// or http:// and without a path, found 'lichess'",
    ]


@pytest.mark.parametrize("key", ["proxy", "url", "challenge.online_block_list", "abort_time", "status.listen"])
@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:s3cret@host:3128", "https://[hidden]@host:3128"),
        ("https://me:s3/c@ret@host:3128/list?key=1", "https://[hidden]@host:3128/list?key=1"),
        ("https://s3cret@host", "https://[hidden]@host"),
        ("me:s3cret@host:3128", "[hidden]@host:3128"),
    ],
)
def test_a_password_in_an_address_is_not_repeated(file: Path, key: str, address: str, shown: str) -> None:
    section, _, name = key.rpartition(".")
    value = f"[\"{address}\"]" if name == "online_block_list" else f'"{address}"'
    (problem,) = problems(file, f"{section}: {{{name}: {value}}}\n" if section else f"{name}: {value}\n")
    assert problem.endswith(f", found '{shown}'")
    if key in ("proxy", "url", "challenge.online_block_list") and address.startswith("https://me:s3cret@"):
        assert ": expected an address without a user name and password, found" in problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abort_time: 30\nabort_time: 40\n", "2: abort_time: is repeated; first in line 1"),
        ("challenge: {min_base: 60, max_base: 30}\n",
         "1: challenge.min_base: expected at most max_base = 30, found 60"),
        (
            "challenge:\n  only_bot: true\n  accept_bot: false\n",
            "2: challenge.only_bot: expected accept_bot to be true as well, found false",
        ),
        ("challenge: {modes: []}\n", "1: challenge.modes: expected a list that is not empty, found []"),
        ("challenge: {modes: [rated, rated]}\n", None),
        ("- a\n- b\n", "1: expected keys and values such as `abort_time: 30`"),
        ("engine: sf -x\n", "1: engine: expected keys and values such as {command: [sf, -x]}, found 'sf -x'"),
        (
            "challenge:\n  human:\n    max_base:\n    min_rating:\n",
            "4: challenge.human.min_rating: expected a whole number, found nothing",
        ),
        ("profiles: [{when: {rated: true}, engine: {hash_mb: }}]\n",
         "1: profiles #1.engine.hash_mb: expected a whole number, found nothing"),
        ("challenge: {modes: [null]}\n", "1: challenge.modes #1: expected 'casual' or 'rated', found nothing"),
        ("engine: {typo: }\n", "1: engine.typo: unknown key; nearest valid key: style"),
        ("engine:\ndepth: 3\n", "2: depth: unknown key; it belongs to engine: indent it"),
        ("challenge:\n  pgn_directory: games\n",
         "2: challenge.pgn_directory: unknown key; it belongs to no section: do not indent it"),
        (
            "tournaments: [{id: hL7vMrFQ, password: 1234}]\n",
            "1: tournaments #1.password: expected text, found a number: put it in quotes",
        ),
        ("challenge: yes\n", None),
        ("a: &loop [*loop]\n", None),
        (
            "url: https://lichess.org/@/maia1\n",
            "1: url: expected an address with https:// or http:// and without a path, "
            "found 'https://lichess.org/@/maia1'",
        ),
        ("url: https://user@lichess.org\n", None), ("url: https://lichess.org:port\n", None),
        ("url: https://lichess.org?query\n", None), ("url: 'https://lichess.org#part'\n", None),
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
        (
            "a:\n  b: 1\n c: 4\n",
            "3: not YAML: this line begins with 1 space, expected 2 as in line 2 or 0 as in line 1",
        ),
        ("a:\n  - b\n  c: 4\n", "3: not YAML: expected another key or list entry, as in line 2"),
        ("{a: 1}\nb: 2\n", "2: not YAML: expected nothing after a section, list or text that has no key"),
        (
            "abort_time: 30\n---\nabort_time: 31\n",
            "2: not YAML: a second document begins here: remove the line ---, or what is above or below it",
        ),
        ('url: x\nproxy: "\a"\n', "2: not YAML: expected printable text, found the character '\\x07'"),
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
        ("challenge: {block_list: [on]}\n",
         "challenge.block_list #1: expected text, found on, which YAML reads as true"),
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
    with pytest.raises(ConfigError, match="is a placeholder; make a token, signed in as the bot: https"):
        load_config(None, {"LICHESS_BOT_TOKEN": token})


def test_a_missing_or_binary_file_is_one_line(file: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(file, WITH_TOKEN)
    file.write_bytes(b"abort_time: 30\nchat: b\xf6se\n")
    with pytest.raises(ConfigError, match=r"config\.yml:2: is not UTF-8 text: found byte 0xf6$"):
        load_config(file, WITH_TOKEN)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 1000, "is nested too deeply"),
        ('greeting: {hello: "\\UFFFFFFFF"}\n', "cannot be read: "),
        ('greeting: {hello: "\\U00110000"}\n', "cannot be read: "),
        ('personality: "x\\0.yml"\n', "1: personality: "),
        ('state_dir: "a\\0b"\n', "1: state_dir: expected a plain value, found 'a\\x00b'"),
        ('engine: {command: [uci, "\\ud800"]}\n', "1: engine.command #2: expected a plain value"),
        ("url: 2026-13-45\n",
         "1: url: expected a plain value, found '2026-13-45', which YAML cannot read as timestamp: put a text in "),
        ("challenge: {variants: !!bool maybe}\n",
         "variants: expected a plain value, found 'maybe', which YAML cannot read as bool: put a text in quotes"),
        ("abort_time: !!int ''\n", "1: abort_time: expected a plain value, found '', which YAML cannot read as int: "),
        ("abort_time: !!timestamp soon\n", "1: abort_time: expected a plain value, found 'soon', which YAML"),
    ],
)
def test_what_the_yaml_reader_trips_over_is_one_line(file: Path, text: str, problem: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(problem)) as refused:
        load_config(file, WITH_TOKEN)
    assert "Error)" not in str(refused.value), "no user knows the classes of Python"


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
        "1: engine.uci_options.Hash: expected a whole number from 1 to 33554432, found 'big'",
        "1: engine.uci_options.UCI_Chess960: is set by the variant of the game; remove it",
        "3: profiles #1.when.rating: expected the lower rating first, found [1500, 0]",
        "4: profiles #1.engine.uci_options.ponder: is set by engine.ponder; remove it",
        "5: profiles #2.when: expected a condition such as `speed: bullet`; keys for every game belong to `engine`",
        "6: profiles #2.engine: expected a key such as `depth: 8`",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "time_controls: [blitz, 5+]",
            "challenge.time_controls #2: expected 'bullet', 'blitz', 'rapid', 'classical', 'correspondence' or a "
            "clock of minutes+seconds such as 5+3, found '5+'",
        ),
        (
            "time_controls: Blits",
            "challenge.time_controls #1: expected 'bullet', 'blitz', 'rapid', 'classical', 'correspondence' or a "
            "clock of minutes+seconds such as 5+3, found 'Blits'; nearest: blitz",
        ),
        ("modes: [unrated]", "challenge.modes #1: expected 'casual' or 'rated', found 'unrated'; nearest: casual"),
        ("max_days: 1.5", "challenge.max_days: expected a whole number or .inf, found 1.5"),
        ("block_list: [a b]", None),
        ("online_block_list: [example.com/list]", None),
        ("online_block_list: ['http://example.com/list']", None),
        (
            "games_reserved_for_humans: 2",
            "challenge.games_reserved_for_humans: expected at most concurrency = 1, found 2",
        ),
        ("recent_bot_challenge_age: 60", None),
        ("bot: {concurrency: 2}",
         "challenge.bot.concurrency: unknown key; it belongs to challenge, not to a section in it"),
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"greeting: {{hello: {'x' * 141}}}\n", "1: greeting.hello: expected a line of up to 140 characters"),
        ("greeting: {hello: 'Hi {me.id}'}\n", "1: greeting.hello: expected a line without braces but {me}, {oppon"),
        ("greeting: {goodbye: 'Hi {me'}\n", "1: greeting.goodbye: expected a line without braces"),
        ("greeting: {goodbye: 'Hi {{{me}}'}\n", "1: greeting.goodbye: expected a line without braces"),
        ("greeting: {hallo: Hi}\n", "1: greeting.hallo: unknown key; nearest valid key: hello"),
        ("engine: {draw_or_resign: {resign_moves: 1}}\n", "1: engine.draw_or_resign.resign_moves: expected at least 2"),
        ("engine: {draw_or_resign: {resign_score: 1}}\n", "1: engine.draw_or_resign.resign_score: expected at most 0"),
        ("pgn_file_grouping: each\n", "1: pgn_file_grouping: expected 'game', 'opponent' or 'all', found 'each'"),
        ("engine: {hash_mb: 1.5}\n", "1: engine.hash_mb: expected a whole number, found 1.5"),
        ("engine: {hash_mb: .inf}\n", "1: engine.hash_mb: expected a whole number, found .inf"),
        ("engine: {hash_mb: 0.0}\n", "1: engine.hash_mb: expected at least 1, found 0"),
        ("challenge: {max_days: soon}\n", "1: challenge.max_days: expected a number, found 'soon'"),
        ("challenge: {modes: casul}\n", "1: challenge.modes #1: expected 'casual' or 'rated', found 'casul'"),
        ("challenge: {block_list: a b}\n", "1: challenge.block_list #1: expected a name of 2 to 30 letters"),
        ("personality: ''\n", "1: personality: expected text, found ''"),
        ("engine: {uci_options: {Hash: true}}\n", "1: engine.uci_options.Hash: expected a whole number from 1 to"),
        ("challenge: {block_list_files: [null]}\n", "1: challenge.block_list_files #1: expected text, found nothing"),
        ("max_takebacks_accepted: -1\n", "1: max_takebacks_accepted: expected at least 0, found -1"),
        (
            "tournaments: [{id: abc}]\n",
            "1: tournaments #1.id: expected the id of an arena, 8 letters and digits, or its address, found 'abc'",
        ),
        (
            "engine: {online_moves: {lichess_opening_explorer: {player_name: a b}}}\n",
            "1: engine.online_moves.lichess_opening_explorer.player_name: expected a name of 2 to 30 letters, digits, "
            "_ and -, found 'a b'",
        ),
        (
            "engine: {uci_options: {Hash: 5, hash: 6}}\n",
            "1: engine.uci_options.hash: is the same option as Hash; remove one of them",
        ),
        (
            "profiles: [{when: {rated: true}, engine: {uci_options: {Skill Level: 5, skill level: 6}}}]\n",
            "1: profiles #1.engine.uci_options.skill level: is the same option as Skill Level; remove one of them",
        ),
    ],
)
def test_values_out_of_range_are_problems(file: Path, text: str, problem: str) -> None:
    (found,) = problems(file, text)
    assert found.startswith(problem)


def test_a_single_value_is_a_list_of_one(file: Path) -> None:
    """lichess-bot looks for a word in the value, whether text or list."""
    single = """\
challenge:
  variants: atomic
  modes: casual
  time_controls: 5+3
  allow_list: Friend
  block_list: Bore
  online_block_list: https://a.b/list
  bot: {modes: rated}
matchmaking:
  block_list: Bore
  online_block_list: https://a.b/list
  challenge_initial_time: 180
  challenge_increment: 2
"""
    listed = re.sub(r": ([\w:/+.]+)", r": [\1]", single)
    assert "bot: {modes: [rated]}" in listed
    assert dotted_values(load(file, single).config) == dotted_values(load(file, listed).config)


_BLITZ = "profiles: [{{when: {{speed: blitz}}, engine: {{polyglot: {{{}}}}}}}]\n"


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("engine: {polyglot: {enabled: true}}\n", ["1: engine"]),
        ("engine: {polyglot: {enabled: true, book: {standard: []}}}\n", ["1: engine"]),
        ("engine: {polyglot: {enabled: true, book: {atomic: a.bin}}}\n", []),
        ("engine: {polyglot: {book: {standard: a.bin}}}\n" + _BLITZ.format("enabled: true"), []),
        ("engine: {polyglot: {enabled: true}}\n" + _BLITZ.format("book: {standard: a.bin}"), []),
        ("engine: {depth: 1}\n" + _BLITZ.format("enabled: true"), ["2: profiles #1.engine"]),
    ],
)
def test_books_without_a_file_are_noted(file: Path, text: str, noted: list[str]) -> None:
    found = [it.removeprefix(f"{file}:") for it in load(file, text).warnings]
    assert found == [f"{key}.polyglot.enabled: has no effect, as polyglot.book names no file" for key in noted]


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


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("engine", "depth"), "engine.depth"),
        (("profiles", 0, "engine", "uci_options", "Skill Level"), "profiles #1.engine.uci_options.Skill Level"),
        (("matchmaking", "challenge_days", 11), "matchmaking.challenge_days #12"),
    ],
)
def test_a_key_is_shown_with_the_entries_of_lists_counted_from_one(path: KeyPath, text: str) -> None:
    assert dotted(path) == text
    assert path_of(text) == path
