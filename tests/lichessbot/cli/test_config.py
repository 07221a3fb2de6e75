"""`lichessbot config`: what an operator types, and what the files are afterwards."""

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lichessbot.cli.main import main
from lichessbot.config import Config, dotted_values, load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.config.explanations import explanations
from lichessbot.config.schema import schema
from tests.lichessbot.config.migration.old_files import BOTLI, LICHESS_BOT

TOKEN = "lip_0123456789abcdef"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "botli.yml").write_text(BOTLI)
    (tmp_path / "lichess-bot.yml").write_text(LICHESS_BOT)
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, and in the folder."""

    def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = main(words)
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return run


def test_a_file_of_botli_is_migrated_and_its_token_kept_apart(folder: Path, run: Run) -> None:
    done = run("config", "migrate", "botli.yml")
    assert (done.returncode, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "config.yml: botli.yml, a configuration of BotLi, translated"
    assert "left out without an effect: 23 keys, listed at the end of config.yml" in lines
    assert lines[-2:] == [
        "token: in config.token (mode 600), so that config.yml can be shown to others",
        "next: lichessbot check --config config.yml",
    ]
    assert stat.S_IMODE((folder / "config.token").stat().st_mode) == 0o600
    assert (folder / "config.token").read_text() == f"{TOKEN}\n"
    assert TOKEN not in (folder / "config.yml").read_text() + done.stderr
    assert (folder / "botli.yml").read_text() == BOTLI
    shown = run("config", "show", "--config", "config.yml")
    assert "token: '[hidden]'  # config.yml:" in shown.stdout
    assert not [file for file in os.listdir(folder) if file.startswith(".")], "nothing unfinished is left"


def test_no_file_is_replaced_unless_asked_and_the_old_one_never(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "config.yml").write_text("mine")
    assert main(["config", "migrate", "botli.yml"]) == 2
    assert capsys.readouterr().err == "config.yml exists; --force replaces it, --output writes elsewhere\n"
    for force in ([], ["--force"]):
        assert main(["config", "migrate", "botli.yml", "--output", "botli.yml", *force]) == 2
        assert "botli.yml is the file to translate; name another one with --output" in capsys.readouterr().err
    assert main(["config", "migrate", "botli.yml", "--force"]) == 0
    assert (folder / "config.yml").read_text() != "mine"
    capsys.readouterr()
    (folder / "config.yml").unlink()
    assert main(["config", "migrate", "botli.yml"]) == 2
    assert capsys.readouterr().err.startswith("config.token exists;")
    assert not (folder / "config.yml").exists()


@pytest.mark.parametrize("output", [".", "..", "new.token"])
def test_the_new_file_is_neither_a_folder_nor_that_of_the_token(
    folder: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    before = sorted(os.listdir(folder))
    assert main(["config", "migrate", "botli.yml", "--output", output, "--force"]) == 2
    expected = f"--output: expected a file such as config.yml, which a token goes beside, found {output}\n"
    assert capsys.readouterr().err == expected
    assert sorted(os.listdir(folder)) == before


def test_a_place_that_cannot_be_looked_at_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = f"{'x' * 300}.yml"  # which also root cannot look at
    assert main(["config", "migrate", "botli.yml", "--output", output]) == 2
    assert capsys.readouterr().err == f"{output}: cannot be written: File name too long\n"


def test_one_key_without_an_effect_is_one_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "short.yml").write_text(f"token: {TOKEN}\nabort_time: 20\nengine: {{protocol: uci}}\n")
    assert main(["config", "migrate", "short.yml"]) == 0
    assert "left out without an effect: 1 key, listed" in capsys.readouterr().err


def test_each_number_that_was_changed_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = "engine: {draw_or_resign: {resign_moves: 1}}\nchallenge: {variants: [atomic, atomic]}\n"
    (folder / "short.yml").write_text(f"token: {TOKEN}\n{keys}correspondence: {{move_time: 3600}}\n")
    assert main(["config", "migrate", "short.yml"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert sorted(line for line in said if line.startswith("changed: ")) == [
        "changed: correspondence.move_time: 3600 -> 600",
        "changed: engine.draw_or_resign.resign_moves: 1 -> 2",
    ]


def test_in_another_folder_the_files_are_still_found(folder: Path) -> None:
    (folder / "new").mkdir()
    assert main(["config", "migrate", "lichess-bot.yml", "--output", "new/bot.yml"]) == 0
    values = yaml.safe_load((folder / "new/bot.yml").read_text())
    assert values["engine"]["command"] == [str(folder / "engines/fish")]
    assert values["engine"]["working_dir"] == str(folder)
    assert values["engine"]["polyglot"]["book"]["standard"][0] == str(folder / "engines/book1.bin")
    assert values["engine"]["uci_options"]["SyzygyPath"] == "./syzygy/", "the engine reads it in its working_dir"
    assert values["pgn_directory"] == str(folder / "game_records")
    assert values["token_file"] == "bot.token"


@pytest.mark.parametrize(
    ("engine", "tables"),
    [("dir: engines, name: fish, working_dir: engines", "./tables"), ("working_dir: ''", "{folder}/tables")],
)
def test_in_another_folder_the_engine_still_finds_the_files_of_its_options(
    folder: Path, engine: str, tables: str
) -> None:
    (folder / "new").mkdir()
    (folder / "old.yml").write_text(f"engine: {{{engine}, uci_options: {{SyzygyPath: ./tables}}}}\n")
    assert main(["config", "migrate", "old.yml", "--output", "new/bot.yml"]) == 0
    values = yaml.safe_load((folder / "new/bot.yml").read_text())["engine"]
    assert values["uci_options"]["SyzygyPath"] == tables.format(folder=folder)
    assert values["working_dir"] == (str(folder / "engines") if "command" in values else "")


def test_in_the_same_folder_the_engine_finds_its_files_wherever_the_bot_starts(folder: Path) -> None:
    (folder / "bot.yml").write_text("engine: {dir: ., name: fish, uci_options: {SyzygyPath: ./tables}}\n")
    assert main(["config", "migrate", "bot.yml"]) == 0
    assert "  working_dir: .  # where the old bot is started\n" in (folder / "config.yml").read_text()
    assert load_config(folder / "config.yml", {}, needs_token=False).config.engine.working_dir == folder


@pytest.mark.parametrize(
    "text",
    [
        "engine: {dir: ./engines, name: fish, polyglot: {book: {standard: books/a.bin}}}\n",
        "engines: {standard: {dir: ./engines, name: fish}}\nbooks: {A: books/a.bin}\n"
        "opening_books: {books: {standard: {names: [A]}}}\n",
    ],
)
def test_relative_paths_count_from_the_folder_where_the_old_bot_was_started(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """With `--config bots/one.yml` that is not the folder of the file."""
    for name in ("engines", "bots"):
        (folder / name).mkdir()
    (folder / "engines/fish").touch()
    (folder / "bots/one.yml").write_text(text)
    assert main(["config", "migrate", "bots/one.yml"]) == 0
    assert f"relative paths: from {folder}, where bots/one.yml finds its engine\n" in capsys.readouterr().err
    values = yaml.safe_load((folder / "config.yml").read_text())["engine"]
    assert values["command"] == ["./engines/fish"]
    assert main(["config", "migrate", "bots/one.yml", "--output", "bots/new.yml"]) == 0
    values = yaml.safe_load((folder / "bots/new.yml").read_text())["engine"]
    assert values["command"] == [str(folder / "engines/fish")]
    book = values["polyglot"]["book"]["standard"]
    assert str(folder / "books/a.bin") in book


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "old.yml:1: not YAML: a [ or { above is never closed"),
        ("url: a\nurl: b\n",
         "old.yml:2: url: is repeated; first in line 1; remove one of them: the old bot reads the last"),
        ("- a\n", "old.yml:1: expected keys and values such as `abort_time: 30`"),
        (None, "old.yml: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_migrated_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str | None, complaint: str
) -> None:
    if text is not None:
        (folder / "old.yml").write_text(text)
    assert main(["config", "migrate", "old.yml"]) == 2
    assert capsys.readouterr().err == f"{complaint}\n"


def test_a_placeholder_is_no_token(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "old.yml").write_text(LICHESS_BOT.replace(TOKEN, "xxxxxxxxxxxxxxxxxxxxxx"))
    assert main(["config", "migrate", "old.yml"]) == 0
    assert "token: none; set LICHESS_BOT_TOKEN, or token_file in config.yml" in capsys.readouterr().err
    assert not (folder / "config.token").exists()
    assert "#   line 1: token: is a placeholder" in (folder / "config.yml").read_text()


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_file_of_botli_is_recognised_in_one_line(run: Run, command: str) -> None:
    done = run(command, "--config", "botli.yml", LICHESS_BOT_TOKEN=TOKEN)
    assert done.returncode == 2
    assert done.stderr == (
        "botli.yml: is a configuration of BotLi; translate it: lichessbot config migrate botli.yml\n"
    )


# Showing


SHOWN = """\
engine:
  name: fish
  uci_options: {hash: 32, Contempt: 1, go_commands: {nodes: 500}}
challenge: {concurrency: 3, human: {max_base: 60}}
token_file: secret.token
profiles:
  - {when: {clock: 3+2}, engine: {depth: 4}}
"""


def test_every_value_is_shown_with_its_origin(folder: Path, run: Run) -> None:
    (folder / "c.yml").write_text(SHOWN)
    (folder / "secret.token").write_text(TOKEN)
    done = run("config", "show", "--config", "c.yml", STATE_DIRECTORY="/var/lib/bot")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert {
        "token: '[hidden]'  # c.yml:5, token_file",
        "token_file: secret.token  # c.yml:5",
        "state_dir: /var/lib/bot  # environment: STATE_DIRECTORY",
        "url: https://lichess.org  # default",
        "challenge.concurrency: 3  # c.yml:4",
        "challenge.human: {max_base: 60}  # c.yml:4",
        f"engine.command: [{folder}/fish]  # c.yml:2, translated from engine.name",
        "engine.hash_mb: 32  # c.yml:3, translated from engine.uci_options.hash",
        "engine.nodes: 500  # c.yml:3, translated from engine.uci_options.go_commands.nodes",
        "engine.uci_options: {Contempt: 1}  # c.yml:3",
        "engine.own_book: false  # default",
        "engine.polyglot.book.standard: []  # default",
    } <= set(lines)
    assert any(line.startswith("profiles: [{when: {clock: [3+2]}, engine: {depth: 4") for line in lines)
    assert {line.partition(":")[0] for line in lines} >= {"matchmaking.overrides", "correspondence.ponder"}
    assert "note: c.yml:2: engine.name: the bot plays this engine as engine.command" in done.stderr
    assert TOKEN not in done.stdout + done.stderr


def test_only_what_was_changed_is_shown_if_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.yml").write_text(f"token: {TOKEN}\nurl: http://127.0.0.1:9\nstate_dir: /srv/bot\n")
    assert main(["config", "show", "--config", "c.yml", "--changed"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "token: '[hidden]'  # c.yml:1",
        "url: http://127.0.0.1:9  # c.yml:2",
        "state_dir: /srv/bot  # c.yml:3",
    ]


# The schema


def test_the_schema_explains_every_key_of_the_example(run: Run) -> None:
    done = run("config", "schema")
    whole = json.loads(done.stdout)
    assert whole == schema()
    definitions = whole["$defs"]

    def section(node: Any) -> Any:
        """Return the section that a node describes; None if it is none."""
        if "$ref" in node:
            return definitions[node["$ref"].removeprefix("#/$defs/")]
        inner = [*node.get("allOf", []), *node.get("anyOf", [])]
        return next((found for it in inner if (found := section(it)) and "properties" in found), None)

    assert {*dotted_values(Config())} - {*explanations()} == set()
    for key, explanation in explanations().items():
        node = whole
        for name in key.split("."):
            node = (section(node) or node)["properties"][name]
        assert node.get("description", "") == " ".join(explanation), key


def test_the_schema_names_no_defaults_for_keys_that_override_others() -> None:
    definitions = schema()["$defs"]
    assert definitions["ChallengeConfig"]["properties"]["max_base"]["default"] == 1800
    for overrides in ("Overrides", "MatchOverride"):
        assert not [key for key, it in definitions[overrides]["properties"].items() if "default" in it]


VALID = (
    "challenge: {time_controls: [blitz, 5+3], max_base: null, block_list: null, human: {max_days: null}}",
    "engine: {polyglot: {book: {standard: one.bin, chess960: [a, b]}}, uci_options: {Hash: 3}}",
    "engine: {dir: ., name: fish, protocol: uci}\nmove_overhead: 2000",
    "matchmaking: {challenge_initial_time: 60, overrides: {a: {challenge_increment: [1, 2]}}}",
    "profiles: [{when: {clock: 3+2, rating: [0, 1500], speed: [blitz]}, engine: {depth: null}}]",
    "challenge:\nengine:\n",
    "challenge: {concurrency: 2.0}\nmatchmaking: {challenge_initial_time: [60.0], challenge_increment: 1.0}",
    "challenge: {human: , max_base: 315360000, min_rating: }\nengine: {uci_options: , polyglot: {book: , max_depth: }}",
)
INVALID = (
    "engnie: {}",
    "challenge: {concurrency: 0}",
    "challenge: {concurrency: 1.5}",
    "challenge: {time_controls: [lightning]}",
    "engine: {ponder: 1}",
    "profiles: [{when: {clock: 3}, engine: {}}]",
    "matchmaking: {overrides: {a: {weigth: 1}}}",
    "challenge: {human: {min_rating: null}}",
)


@pytest.fixture(scope="module")
def the_schema() -> dict[str, Any]:
    return schema()


@pytest.mark.parametrize("text", [*VALID, *INVALID, LICHESS_BOT])
def test_the_schema_accepts_what_the_loader_accepts(text: str, the_schema: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    found = list(jsonschema.Draft7Validator(the_schema).iter_errors(yaml.safe_load(text)))
    assert bool(found) is (text in INVALID), found


def test_the_example_fits_the_schema(the_schema: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    example = yaml.safe_load((Path(__file__).parents[3] / "config.example.yml").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(the_schema)
    assert list(jsonschema.Draft7Validator(the_schema).iter_errors(example)) == []
