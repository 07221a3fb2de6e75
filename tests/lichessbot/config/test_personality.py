"""Personalities: shipped and own ones, what the configuration overrides, and what is refused."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from lichessbot.cli.config import config_command
from lichessbot.config import Config, load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.config.effective import effective
from lichessbot.config.loader import personalities
from lichessbot.config.reload import Effect, Settings
from lichessbot.errors import ConfigError

TOKEN = {TOKEN_VARIABLE: "lip_abc"}
MINE = """\
greeting:
  name: Rook
  hello: Hi, {name} here.
engine:
  style: gambler
  strength: 1700
  polyglot: {enabled: true, book: {standard: [mine.bin]}}
"""


def write(folder: Path, text: str, personality: str = MINE) -> Path:
    (folder / "people").mkdir(exist_ok=True)
    (folder / "people" / "mine.yml").write_text(personality)
    (folder / "config.yml").write_text(text)
    return folder / "config.yml"


def load(folder: Path, text: str, personality: str = MINE) -> Config:
    return load_config(write(folder, text, personality), TOKEN).config


def problems(folder: Path, text: str, personality: str = MINE) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, text, personality)
    return [problem.replace(f"{folder}/", "") for problem in caught.value.problems]


@pytest.mark.parametrize("name", personalities())
def test_a_shipped_personality_is_complete(tmp_path: Path, name: str) -> None:
    config = load(tmp_path, f"personality: {name}")
    assert all(config.greeting.model_dump(exclude={"goodbye_spectators"}).values())
    assert config.engine.uci_options["Style"] != "none"
    assert config.engine.draw_or_resign.resign_enabled
    printed = CliRunner().invoke(config_command, ["personality", name])
    assert (printed.exit_code, printed.output) == (0, personalities()[name].read_text())


def test_there_are_three_and_their_styles_differ(tmp_path: Path) -> None:
    styles = {load(tmp_path, f"personality: {name}").engine.uci_options["Style"] for name in personalities()}
    assert len(personalities()) == len(styles) == 3


def test_the_configuration_overrides_a_personality_key_by_key(tmp_path: Path) -> None:
    text = "personality: people/mine.yml\ngreeting: {goodbye: Bye, hello: null}\nengine: {style: {tempo: 50}}\n"
    config = load(tmp_path, text)
    greeting = config.greeting
    assert (greeting.name, greeting.hello, greeting.goodbye) == ("Rook", None, "Bye")
    assert config.engine.uci_options == {"Style": "gambler", "Style Tempo": 50}
    assert config.engine.level == 1700


def test_defaults_in_the_configuration_that_undo_a_personality_are_noted(tmp_path: Path) -> None:
    text = "personality: people/mine.yml\ngreeting:\n  name: Knight\n  hello: null\nengine:\n  style: {name: none}\n"
    file = write(tmp_path, text)
    assert load_config(file, TOKEN).warnings == (
        f"{file}:1: personality: remove the defaults that override people/mine.yml's engine.style.name (line 6), "
        "greeting.hello (line 4)",
    )
    assert load_config(write(tmp_path, "personality: captain\ngreeting: {hello: Hi}\n"), TOKEN).warnings == ()


def test_a_copy_of_the_example_names_what_undoes_a_personality(tmp_path: Path) -> None:
    text = Path("config.example.yml").read_text().replace("personality: null", "personality: captain")
    (warning,) = load_config(write(tmp_path, text), TOKEN).warnings
    assert warning.count("(line ") == 13


def test_a_book_lies_beside_the_personality(tmp_path: Path) -> None:
    config = load(tmp_path, "personality: people/mine.yml\n")
    assert config.engine.polyglot.book.standard == (tmp_path / "people" / "mine.bin",)


def test_each_value_names_the_file_it_comes_from(tmp_path: Path) -> None:
    file = write(tmp_path, "personality: people/mine.yml\ngreeting:\n  goodbye: Bye\n")
    origins = {it.key: it.origin for it in effective(load_config(file, TOKEN), TOKEN)}
    assert origins["greeting.hello"] == f"{tmp_path}/people/mine.yml:3"
    assert origins["engine.style.name"] == f"{tmp_path}/people/mine.yml:5"
    assert origins["greeting.goodbye"] == f"{file}:3"
    assert origins["greeting.goodbye_won"] == "default"


@pytest.mark.parametrize(
    ("text", "personality", "expected"),
    [
        ("personality: captan", MINE,
         "config.yml:1: personality: expected aunt, captain, fox or a file such as bot.yml, found 'captan'; "
         "nearest: captain"),
        ("personality: no.yml", MINE, "config.yml:1: personality: no.yml: cannot be read: No such file or directory"),
        ("personality: 7", MINE, "config.yml:1: personality: expected text, found the number 7: put it in quotes"),
        ("personality: people/mine.yml", "greeting:\n  helo: Hi\n",
         "people/mine.yml:2: greeting.helo: unknown key; nearest valid key: hello"),
        ("personality: people/mine.yml", "engine:\n  hash_mb: 9\n",
         "people/mine.yml:2: engine.hash_mb: does not belong to a personality, which has greeting, engine.strength, "
         "engine.style, engine.polyglot, engine.own_book, engine.variety, engine.draw_or_resign"),
        ("personality: people/mine.yml", "personality: captain\n",
         "people/mine.yml:1: personality: does not belong to a personality, which has greeting, engine.strength, "
         "engine.style, engine.polyglot, engine.own_book, engine.variety, engine.draw_or_resign"),
        ("personality: people/mine.yml\nengine: {command: [stockfish]}", MINE,
         "config.yml:2: engine.style: is for the bot's own engine only; remove it or command"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, personality: str, expected: str) -> None:
    assert problems(tmp_path, text, personality) == [expected]


def test_a_reload_reads_the_personality_again(tmp_path: Path) -> None:
    file = write(tmp_path, "personality: people/mine.yml\n")
    settings = Settings(file, TOKEN)
    write(tmp_path, "personality: people/mine.yml\n", MINE.replace("Hi,", "Hello,"))
    (change,) = settings.reload()
    assert (change.key, change.new, change.effect) == ("greeting.hello", "Hello, {name} here.", Effect.NEW_GAMES)
    assert settings.config.greeting.hello == "Hello, {name} here."
