"""The loader recognises the file of another bot, and the translation our own."""

from pathlib import Path

import pytest
import yaml

from lichessbot.config import Config, EngineConfig
from lichessbot.config.migration import translate_file
from lichessbot.errors import ConfigError
from tests.lichessbot.config.conftest import load, problems
from tests.lichessbot.config.migration.old_files import LICHESS_BOT


def refused(file: Path, text: str) -> str:
    """Return why the file is not translated."""
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        translate_file(file)
    return str(caught.value)


@pytest.mark.parametrize("text", ["engines: {}\nbooks: {}\n", "token: x\nwhitelist:\nmessages:\nchallenge: 3\n",
                                  "engine: {}\nmove_overhead_multiplier: 1.0\nbooks: {}\n",
                                  "engine: {opening_books: {}}\nbooks: {}\n",
                                  "matchmaking: {initial_time: 60}\nbooks: {}\n",
                                  "challenge: {bot_modes: [rated], human_modes: [casual]}\n"])  # fmt: skip
def test_a_configuration_of_botli_is_recognised(file: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(file, text)
    assert list(caught.value.problems) == [
        f"{file}: is a configuration of BotLi; translate it: lichessbot config migrate {file}"
    ]


def test_one_key_of_botli_may_be_a_slip(file: Path) -> None:
    assert problems(file, "engines: {depth: 3}\n") == ["1: engines: unknown key; nearest valid key: engine"]
    assert problems(file, "matchmaking: {initial_time: 60}\n") == [
        "1: matchmaking.initial_time: unknown key; nearest valid key: challenge_initial_time"
    ]


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("token: lip_a1\nabort_time: 30\ntoken_file: secret.token\nstatus: {}\n", "token_file", 3),
        ("profiles: []\n", "profiles", 1),
        ("notify:\n", "notify", 1),
        ("engine:\n  ponder: true\n  hash_mb: 64\n", "engine.hash_mb", 3),
    ],
)
def test_our_own_configuration_is_not_translated(file: Path, text: str, key: str, line: int) -> None:
    expected = f"{file}: is a configuration of lichessbot already ({key} in line {line}); nothing to translate"
    assert refused(file, text) == expected


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}\n"])
def test_a_file_without_keys_is_nobodys(file: Path, text: str) -> None:
    assert refused(file, text) == f"{file}: expected a configuration of lichess-bot or BotLi, found no keys"


def test_a_file_with_none_of_their_keys_is_not_translated(file: Path) -> None:
    expected = f"{file}: expected a configuration of lichess-bot or BotLi, found none of their keys"
    assert refused(file, "version: '3'\nservices: {web: {image: nginx}}\n") == expected


def test_each_key_that_lichess_bot_does_not_have_marks_a_file_as_ours(file: Path) -> None:
    theirs = yaml.safe_load(LICHESS_BOT)
    at_the_top = Config.model_fields.keys() - theirs
    in_engine = EngineConfig.model_fields.keys() - theirs["engine"]
    assert {"personality", "records", "state_dir", "command", "hash_mb", "strength"} <= at_the_top | in_engine
    for name in at_the_top:
        assert f"({name} in line 1)" in refused(file, f"{name}:\n")
    for name in in_engine:
        assert f"(engine.{name} in line 1)" in refused(file, f"engine: {{{name}: }}\n")
    file.write_text(LICHESS_BOT)
    assert translate_file(file).program == "lichess-bot"
