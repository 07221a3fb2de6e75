"""A config file, and how tests load it."""

from pathlib import Path

import pytest

from lichessbot.config import LoadedConfig, load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.errors import ConfigError

TOKEN = "lip_0123456789abcdef"
WITH_TOKEN = {TOKEN_VARIABLE: TOKEN}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yml"


def load(file: Path, text: str, environment: dict[str, str] | None = None) -> LoadedConfig:
    file.write_text(text, encoding="utf-8")
    return load_config(file, WITH_TOKEN if environment is None else environment)


def problems(file: Path, text: str, environment: dict[str, str] | None = None) -> list[str]:
    """Return the problems without the name of the file."""
    with pytest.raises(ConfigError) as caught:
        load(file, text, environment)
    return [problem.removeprefix(f"{file}:") for problem in caught.value.problems]
