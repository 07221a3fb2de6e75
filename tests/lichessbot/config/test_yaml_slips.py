"""What is said of YAML that is read as something else than the operator meant, and of keys in the wrong section."""

from pathlib import Path

import pytest

from lichessbot.errors import ConfigError
from tests.lichessbot.config.conftest import load, problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("challenge:\n  preference: no\n",
         "2: challenge.preference: expected 'none', 'human' or 'bot', found no, which YAML reads as false; "
         "nearest: none"),
        ("greeting: {review: Off}\n",
         "1: greeting.review: expected 'never', 'asked' or 'humans', found Off, which YAML reads as false; "
         "nearest: never"),
        ("challenge: {modes: off}\n",
         "1: challenge.modes #1: expected 'casual' or 'rated', found off, which YAML reads as false"),
        ("challenge: {block_list: [yes]}\n",
         "1: challenge.block_list #1: expected text, found yes, which YAML reads as true: put it in quotes"),
        ("abort_time: true\n", "1: abort_time: expected a whole number, found true"),
        ("token: yes\n", "1: token: expected text, found what YAML reads as true or false: put it in quotes"),
    ],
)
def test_a_word_that_yaml_reads_as_true_or_false_is_shown_as_in_the_file(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


@pytest.mark.parametrize("key", ["challenge: {concurrency: 010}", "challenge: {block_list: [007]}",
                                 "tournaments: [{id: hL7vMrFQ, password: 0123}]", "abort_time: 0_30"])
def test_a_number_with_leading_zeros_is_not_read_as_octal(file: Path, key: str) -> None:
    (problem,) = problems(file, f"{key}\n")
    assert problem.endswith(": YAML reads a number that begins with 0 as octal: remove the 0, or put a text in quotes")
    assert "123" not in problem


def test_zero_is_a_number(file: Path) -> None:
    assert load(file, "challenge: {min_base: 0, max_base: 0x10}\n").config.challenge.max_base == 16


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("greeting:\n  hello: *hi*\n", "2: not YAML: a text that begins with * or & must be in quotes"),
        ("greeting:\n  hello: *hi there\n",
         "2: not YAML: no key has the anchor (&name) of this *name; put a text that begins with * in quotes"),
        ("greeting:\n  hello: !help for help\n", "2: greeting.hello: a text that begins with ! must be in quotes"),
        ("greeting:\n  hello: 'it's me'\n",
         "2: not YAML: text follows a closing quote; in '...', write '' for an apostrophe"),
        ("greeting: {hello: \"a\" b}\n",
         "1: not YAML: text follows a closing quote; in '...', write '' for an apostrophe"),
        ("greeting:\n  hello: {me} is here\n", "2: not YAML: a text that begins with { or [ must be in quotes"),
        ("challenge: {block_list: [*me]}\n",
         "1: not YAML: no key has the anchor (&name) of this *name; put a text that begins with * in quotes"),
        ("url: {{ url }}\n", "1: url: expected a key: put a text that begins with { or [ in quotes"),
        ("greeting: {{me}: hi}\n", "1: greeting: expected a key: put a text that begins with { or [ in quotes"),
    ],
)
def test_a_text_that_needs_quotes_is_told_so(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("engine:\n  hash_mb:3\n",
         "1: engine: expected keys and values, found 'hash_mb:3': put a space after the colon"),
        ("engine:\n  hash_mb:3\n\n  # comment\n  depth: 1\n", "2: not YAML: put a space after the colon"),
        ("abort_time: 30\nurl:https://lichess.org\n", "2: not YAML: put a space after the colon"),
        ("challenge:\n\xa0\xa0concurrency: 2\n",
         "2: concurrency: replace the no-break spaces of this line by ordinary ones"),
    ],
)
def test_a_wrong_space_is_named_in_its_own_line(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abort_time: 30\nengine {   # settings\n  depth: 1\n",
         "2: not YAML: expected a key and a value such as `abort_time: 30`"),
        ("challenge:\n  concurrency 2  # games: 2\n  sort_by: best\n",
         "2: not YAML: expected a key and a value such as `abort_time: 30`"),
        ("challenge:\n  concurrency: 2\n  sort_by: a: b\n",
         "3: not YAML: found a second colon, or the line is indented differently from the one above"),
        ("url https://lichess.org\ntoken: a\n", "1: not YAML: expected a key and a value such as `abort_time: 30`"),
        ("abort_time: 30\n\"url\"\ntoken: a\n", "2: not YAML: expected a key and a value such as `abort_time: 30`"),
        ("greeting:\n  hello: Hi\n    my friend\n  goodbye: a: b\n",
         "4: not YAML: found a second colon, or the line is indented differently from the one above"),
        ('greeting:\n  hello: "Hi\n  goodbye: "Bye"\n', "2: not YAML: the quote opened in line 2 is never closed"),
    ],
)
def test_what_yaml_notices_only_later_is_named_in_its_own_line(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" token: a\nurl: b\n", "2: not YAML: this line begins with 0 spaces, expected 1 as in line 1"),
        ("challenge:\n   concurrency: 2\n  # games\n  sort_by: best\n",
         "4: not YAML: this line begins with 2 spaces, expected 3 as in line 2 or 0 as in line 1"),
        ("challenge:\n  - human\n bot: {}\n",
         "3: not YAML: this line begins with 1 space, expected 2 as in line 2 or 0 as in line 1"),
        ("profiles:\n  - when: {rated: true}\n   engine: {depth: 4}\n",
         "3: not YAML: this line begins with 3 spaces, expected 4 as in line 2 or 2 as in line 2 or 0 as in line 1"),
    ],
)
def test_a_line_that_fits_no_section_is_told_how_the_lines_above_begin(file: Path, text: str, problem: str) -> None:
    assert problems(file, text) == [problem]


@pytest.mark.parametrize("text", [
    r'pgn_directory: "C:\Engines"', r'pgn_directory: "C:\users"', r'engine: {command: ["C:\Engines\best.exe"]}',
])
def test_a_windows_path_in_double_quotes_is_told_about_its_backslashes(file: Path, text: str) -> None:
    (found,) = problems(file, f"{text}\n")
    assert found == (
        "1: not YAML: in double quotes a backslash needs another one before it: put the text in single quotes"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("engine: {concurrency: 2}", "engine.concurrency: unknown key; concurrency belongs to challenge or "
         "correspondence"),
        ("resign_enabled: true", "resign_enabled: unknown key; resign_enabled belongs to engine.draw_or_resign"),
        ("engine: {polyglot: {standard: a.bin}}",
         "engine.polyglot.standard: unknown key; standard belongs to engine.polyglot.book"),
        ("matchmaking: {min_rating: 1500}", "matchmaking.min_rating: unknown key; nearest valid key: "
         "opponent_min_rating; min_rating belongs to challenge"),
        ("engine: {Skill Level: 5}", "engine.Skill Level: unknown key; UCI options belong to engine.uci_options"),
        ("profiles: [{when: {speed: blitz}, engine: {max_move_overhead_ms: 500}}]",
         "profiles #1.engine.max_move_overhead_ms: unknown key; it belongs to engine, as all games share it"),
        ("engine: {enabled: true}", "engine.enabled: unknown key; nearest valid key: threads"),
        ("engine.strength: 1500", "engine.strength: unknown key; write it as engine: {strength: ...}"),
        ("engine: {lichess_bot_tbs.syzygy.enabled: true}",
         "engine.lichess_bot_tbs.syzygy.enabled: unknown key; write it as lichess_bot_tbs: {syzygy: {enabled: ...}}"),
        ("abort_tme:", "abort_tme: unknown key; nearest valid key: abort_time"),
    ],
)
def test_a_key_in_the_wrong_section_is_told_its_own(file: Path, text: str, hint: str) -> None:
    assert problems(file, f"{text}\n") == [f"1: {hint}"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("engine: {command: stockfish -x}",
         "engine.command: expected a list such as [stockfish, -x], found 'stockfish -x'"),
        ("engine: {command: 'run https://me:s3cret@host/'}", "engine.command: expected a list such as "
         "[run, 'https://[hidden]@host/'], found 'run https://[hidden]@host/'"),
        ("notify: {command: curl key}", "notify.command: expected a list"),
        ("tournaments: [hL7vMrFQ]",
         "tournaments #1: expected keys and values such as {id: hL7vMrFQ}, found 'hL7vMrFQ'"),
        ("tournaments: hL7vMrFQ", "tournaments: expected a list such as [{id: hL7vMrFQ}], found 'hL7vMrFQ'"),
        ("tournaments: {id: hL7vMrFQ}",
         "tournaments: expected a list whose entries begin with -, found keys and values"),
        ("challenge: [{accept_bot: true}]",
         "challenge: expected keys and values without a - in front, found [keys and values]"),
        ("profiles: [{when: {rating: 1500}, engine: {depth: 1}}]",
         "profiles #1.when.rating: expected a list such as [0, 1500], found 1500"),
        ("log_format: JSON", "log_format: expected 'auto', 'text', 'fields' or 'json', found 'JSON'; nearest: json"),
        ("engine: ' '", "engine: expected keys and values, found ' '"),
        ("stop_grace: 2h", "stop_grace: expected a whole number without a unit, found '2h'"),
        ("stop_grace: '60'", "stop_grace: expected a whole number without quotes, found '60'"),
        ("proxy: proxy:3128",
         "proxy: expected an address with https:// or http:// and without a path, found 'proxy:3128'"),
        ("status: 127.0.0.1:80",
         "status: expected keys and values such as {listen: '127.0.0.1:80'}, found '127.0.0.1:80'"),
        ("status: {listen: 8080}",
         "status.listen: expected an address and a port such as 127.0.0.1:8080 or [::1]:8080, found '8080'"),
    ],
)
def test_a_value_of_another_kind_is_told_how_to_write_it(file: Path, text: str, problem: str) -> None:
    assert problems(file, f"{text}\n") == [f"1: {problem}"]


@pytest.mark.parametrize("digits", ["0x" + "f" * 5000, "1" + ":59" * 5000])
def test_a_number_of_thousands_of_digits_is_one_line(file: Path, digits: str) -> None:
    with pytest.raises(ConfigError, match=f"1: abort_time: expected a plain value, found '{digits[:40]}', which"):
        load(file, f"abort_time: {digits}\n")


def test_lists_of_aliases_of_lists_of_aliases_do_not_fill_the_memory(file: Path) -> None:
    lists = (f"a{it}: &a{it} [{', '.join([f'*a{it - 1}'] * 10)}]\n" for it in range(1, 8))
    with pytest.raises(ConfigError, match=r"config\.yml: has more than 100000 values, those of aliases"):
        load(file, "a0: &a0 [x]\n" + "".join(lists))
