"""Old files, translated."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lichessbot.config import LoadedConfig, load_config
from lichessbot.config.migration import Translation, translate_file, write
from tests.lichessbot.config.conftest import WITH_TOKEN

Translator = Callable[[str], tuple[Translation, LoadedConfig]]


@pytest.fixture
def translated(tmp_path: Path) -> Translator:
    """Translate a text, and load the result as the daemon does."""

    def translator(text: str) -> tuple[Translation, LoadedConfig]:
        old, new = tmp_path / "old.yml", tmp_path / "new.yml"
        old.write_text(text, encoding="utf-8")
        found = translate_file(old)
        written = write(found, "old.yml")
        assert read(written) == found.values, "the file says what was translated"
        new.write_text(written, encoding="utf-8")
        loaded = load_config(new, WITH_TOKEN)
        assert loaded.warnings == ()
        return found, loaded

    return translator


def read(text: str) -> Any:
    """Return the values of a YAML file, by the reader in C if PyYAML has it, which takes a tenth of the time."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def left_out(found: Translation) -> dict[str, str]:
    """Return the reasons by key."""
    return {it.key: it.reason for it in found.left_out}


def those_that_matter(found: Translation) -> set[str]:
    return {it.key for it in found.left_out if it.matters}
