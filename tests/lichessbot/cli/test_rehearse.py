"""The operator's own configuration, as `lichessbot rehearse` passes it on to the rehearsed bot."""

import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from lichessbot.cli.rehearse import rehearse_command
from lichessbot.config import load_config
from lichessbot.errors import ConfigError
from lichessbot.rehearsal.cli import rehearse
from lichessbot.rehearsal.cli.bot_process import BotTerms, Daemon

OURS = """\
personality: mine.yml
engine:
  command: [engines/mine, -x]
  working_dir: nets
  uci_options: {Hash: 64}
  depth:
  polyglot: {enabled: true, book: {standard: mine.bin, atomic: [a.bin, /opt/b.bin]}}
  lichess_bot_tbs: {syzygy: {enabled: true, paths: tables}}
profiles:
  - {when: {speed: bullet}, engine: {command: [stockfish]}}
  - {when: {speed: blitz, rated: false}, engine: {strength: match_opponent, uci_options: {Threads: 2}}}
challenge: {modes: rated, max_base: .inf, bot: {variants: null}, block_list_files: [bad.txt, /etc/bad.txt]}
matchmaking: {block_list_files: ~/bots.txt}
"""
LICHESS_BOTS = """\
engine:
  dir: engines
  name: mine.py
  interpreter: venv/bin/python
  polyglot: {enabled: true, book: {standard: mine.bin, selection: best_move, min_weight: 2}}
challenge: {modes: [rated]}
"""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a rehearsal is told, which does not run."""
    told: dict[str, Any] = {}
    monkeypatch.setattr(rehearse, "run", lambda options, **about: told.update(about))
    return told


@pytest.mark.parametrize("text", [OURS, LICHESS_BOTS])
def test_the_copy_in_another_folder_means_the_same(
    told: dict[str, Any], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yml").write_text("greeting: {hello: Hi}\nengine: {own_book: true}\n")
    (file := tmp_path / "config.yml").write_text(text)
    (elsewhere := tmp_path / "elsewhere").mkdir()
    rehearse_command.main(["--config", file.name], standalone_mode=False)
    Daemon("http://127.0.0.1:1", "lip_token", BotTerms(1, config=told["config"]), elsewhere)
    original, copy = (load_config(it, {}, needs_token=False).config for it in (file, elsewhere / file.name))
    of_the_rehearsal = {key: getattr(copy, key) for key in ("url", "state_dir", "personality")}
    assert copy == original.model_copy(update=of_the_rehearsal)
    assert copy.engine.set_keys == original.engine.set_keys, "as an engine may refuse a hash_mb only if it is set"
    assert told["config"]["challenge"]["modes"] == ["rated"], "as its opponents expect a list"


def test_a_file_that_cannot_be_read_is_named(told: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no-such-file\.yml: cannot be read: No such file"):
        rehearse_command.main(["--config", str(tmp_path / "no-such-file.yml")], standalone_mode=False)
    assert told == {}


def test_a_configuration_from_a_pipe_is_read_once(told: dict[str, Any], tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    Thread(target=pipe.write_text, args=["abort_time: 31\n"], daemon=True).start()
    rehearse_command.main(["--config", str(pipe)], standalone_mode=False)
    assert told["config"]["abort_time"] == 31
