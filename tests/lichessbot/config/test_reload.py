"""What a reload changes, and when."""

import os
from pathlib import Path
from threading import Thread

import pytest

from lichessbot.config import Config, dotted_values
from lichessbot.config.reload import Change, Effect, Settings, with_engines_of
from lichessbot.errors import ConfigError
from lichessbot.log import EventLog
from tests.lichessbot.config.conftest import TOKEN, WITH_TOKEN


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yml"
    path.write_text("abort_time: 30\nchallenge: {concurrency: 2}\n")
    return path


def test_an_unchanged_file_changes_nothing(file: Path) -> None:
    settings = Settings(file, WITH_TOKEN)
    before = settings.config
    assert settings.reload() == []
    assert settings.config == before


def test_each_changed_key_is_reported_with_its_effect(file: Path) -> None:
    settings = Settings(file, WITH_TOKEN)
    file.write_text("abort_time: 60\nstop_grace: 10\nchallenge: {concurrency: 4}\nengine: {hash_mb: 128}\n")
    changes = settings.reload()
    assert [(change.key, change.old, change.new, change.effect) for change in changes] == [
        ("abort_time", 30, 60, Effect.NEW_GAMES),
        ("stop_grace", 7200, 10, Effect.AT_ONCE),
        ("challenge.concurrency", 2, 4, Effect.AT_ONCE),
        ("engine.hash_mb", 64, 128, Effect.NEW_GAMES),
    ]
    assert settings.config.challenge.concurrency == 4
    assert settings.location("challenge.concurrency") == f"{file}:3: challenge.concurrency", "where it is now"


def test_a_file_that_is_refused_is_not_in_use(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings, good = Settings(file, WITH_TOKEN), file.read_text()
    with caplog.at_level("INFO", logger="lichessbot"):
        for text in (good + "chalenge: 3\n", good + "url: http://lichess.org\n"):
            file.write_text(text)
            settings.reload_and_log(EventLog())
            settings.log_use(EventLog(), old_engines=False)
    events = ["reload.refused", "reload", "reload.key", "config", "reload.in_use"]
    assert [message.split()[0] for message in caplog.messages] == events
    assert "use https" in caplog.messages[3]


def test_while_new_engines_are_checked_only_the_variants_of_challenge_are_the_old_ones() -> None:
    old = Config.model_validate({"challenge": {"variants": ["atomic"], "human": {"variants": ["standard"]}}})
    rules = {"block_list": ["eve"], "human": {"modes": ["casual"]}, "bot": {"variants": ["horde"], "max_base": 60}}
    new = Config.model_validate({"challenge": {"variants": ["standard"], **rules}, "engine": {"depth": 3}})
    merged = with_engines_of(new, old)
    assert (merged.challenge.block_list, merged.challenge.variants) == (("eve",), ("atomic",))
    assert merged.challenge.human.set_keys == {"modes": ("casual",), "variants": ("standard",)}
    assert merged.challenge.bot.set_keys == {"max_base": 60}
    assert (merged.named_variants, merged.engine) == (old.named_variants, old.engine)


def test_a_removed_key_returns_to_its_default(file: Path) -> None:
    settings = Settings(file, WITH_TOKEN)
    file.write_text("")
    assert settings.reload() == [Change("challenge.concurrency", 2, 1)]


def test_a_changed_profile_is_reported_key_by_key(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    bullet, blitz = "when: {speed: bullet}, engine: {depth: %d}", "when: {speed: blitz}, engine: {nodes: 1000}"
    file.write_text(f"profiles: [{{{bullet % 8}}}, {{{blitz}}}]\n")
    settings = Settings(file, WITH_TOKEN)
    file.write_text(f"profiles: [{{{bullet % 10}}}]\n")
    with caplog.at_level("INFO", logger="lichessbot"):
        settings.reload_and_log(EventLog())
    assert caplog.messages == [
        "reload changes=3",
        'reload.key key="profiles #1.engine.depth" old=8 new=10 effect="for new games"',
        'reload.key key="profiles #2.when.speed" old=[blitz] new="not set" effect="for new games"',
        'reload.key key="profiles #2.engine.nodes" old=1000 new="not set" effect="for new games"',
    ]


def test_arguments_of_a_program_and_queries_of_addresses_are_not_logged(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lists = "['https://l.example/x?key=secret%d', 'https://m.example/y']"
    text = f"notify: {{command: [tell, secret%d]}}\nchallenge: {{online_block_list: {lists}}}\n"
    file.write_text(text % (1, 1))
    settings = Settings(file, WITH_TOKEN)
    with caplog.at_level("INFO", logger="lichessbot"):
        for changed in (text % (2, 2), ""):
            file.write_text(changed)
            settings.reload_and_log(EventLog())
    assert "reload changes=2" in caplog.text
    assert "tell, '[hidden]'" in caplog.text
    assert "https://l.example/x?[hidden]" in caplog.text
    assert "https://m.example/y" in caplog.text
    assert "secret" not in caplog.text


def test_a_key_that_needs_a_restart_is_reported_at_every_reload_without_effect(file: Path) -> None:
    settings = Settings(file, WITH_TOKEN)
    sections = "records: {max_mb: 10}\nstatus: {listen: 'localhost:8080'}\n"
    file.write_text(f"url: http://127.0.0.1:9663\nstate_dir: elsewhere\n{sections}")
    for _ in range(2):
        changes = {change.key: change.effect for change in settings.reload()}
        assert changes["url"] is changes["state_dir"] is Effect.RESTART
        assert changes["records.max_mb"] is changes["status.listen"] is Effect.RESTART
        assert (settings.config.records.max_mb, settings.config.status.listen) == (200, None)
        assert settings.config.url == "https://lichess.org"
        assert settings.config.state_dir is None


@pytest.mark.parametrize("text", ["abort_time: soon\n", "unknown: 1\n", "{", "\xff"])
def test_an_invalid_file_keeps_the_old_values(file: Path, text: str) -> None:
    settings = Settings(file, WITH_TOKEN)
    before = settings.config
    file.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError):
        settings.reload()
    assert settings.config == before


def test_a_missing_file_keeps_the_old_values(file: Path) -> None:
    settings = Settings(file, WITH_TOKEN)
    file.unlink()
    with pytest.raises(ConfigError):
        settings.reload()
    assert settings.config.challenge.concurrency == 2


def test_a_pipe_keeps_the_old_values_as_it_can_be_read_only_once() -> None:
    readable, writable = os.pipe()
    os.write(writable, b"abort_time: 60\n")
    os.close(writable)
    try:
        settings = Settings(Path(f"/dev/fd/{readable}"), WITH_TOKEN)
        with pytest.raises(ConfigError, match="found a pipe"):
            settings.reload()
    finally:
        os.close(readable)
    assert settings.config.abort_time == 60


def test_a_pipe_in_place_of_the_file_is_not_waited_for(file: Path) -> None:
    settings = Settings(file, WITH_TOKEN)
    file.unlink()
    os.mkfifo(file)
    writer = Thread(target=file.write_text, args=["abort_time: 60\n"])  # so that one who reads it gets an end
    writer.start()
    try:
        with pytest.raises(ConfigError, match="found a pipe"):
            settings.reload()
    finally:
        if writer.is_alive():
            file.read_text()
        writer.join()


def test_a_changed_token_is_reported_but_not_shown(file: Path) -> None:
    file.write_text(f"token: {TOKEN}\n")
    file.chmod(0o600)
    settings = Settings(file, {})
    file.write_text("token: lip_another\n")
    (change,) = settings.reload()
    assert (change.key, change.effect) == ("token", Effect.RESTART)
    assert TOKEN not in repr(change)
    assert "another" not in repr(change)
    assert TOKEN not in repr(settings.loaded)


def test_every_key_has_an_effect() -> None:
    for key in dotted_values(Config()):
        assert Change(key, None, None).effect in Effect
