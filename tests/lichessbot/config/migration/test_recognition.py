"""The loader recognises the file of another bot."""

from pathlib import Path

import pytest

from lichessbot.errors import ConfigError
from tests.lichessbot.config.conftest import load, problems


@pytest.mark.parametrize("text", ["engines: {}\nbooks: {}\n", "token: x\nwhitelist:\nmessages:\nchallenge: 3\n"])
def test_a_configuration_of_botli_is_recognised(file: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(file, text)
    assert list(caught.value.problems) == [
        f"{file}: is a configuration of BotLi; translate it: lichessbot config migrate {file}"
    ]


def test_one_key_of_botli_may_be_a_slip(file: Path) -> None:
    assert problems(file, "engines: {depth: 3}\n") == ["1: engines: unknown key; nearest valid key: engine"]
