"""`lichessbot bugreport`: what is in the archive, and what is not."""

import os
import re
import resource
import stat
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from lichessbot.cli import bugreport
from lichessbot.cli.main import main
from lichessbot.config import dotted_values, load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.matchmaking.known_bots import BotGame, BotGames
from lichessbot.rehearsal.server.server import RehearsalServer
from lichessbot.storage.database import FILE_NAME, Database
from lichessbot.storage.migrations import MIGRATIONS
from lichessbot.storage.player_list import PlayerList
from lichessbot.storage.store import Store
from lichessbot.storage.tables import Table
from tests.fakes.arena import IDLE_ENGINE, Arena

TOKEN = "lip_0123456789abcdef"
CONFIG = """\
state_dir: state
token: lip_0123456789abcdef
challenge:
  block_list: [Villain]
  block_list_exceptions: [Squire]
  online_block_list: ["https://example.com/list?fresh=yes&key=sesame2"]
  bot: {allow_list: [rival]}
notify: {command: [curl, 'https://example.com/hook?key=opensesame']}
tournaments: [{id: hL7vMrFQ, password: swordfish}]
"""
LOG = """\
2026-11-24 12:00:00 INFO game.join game=abcd1234 opponent="BOT Rival" speed=blitz
2026-11-24 12:00:01 INFO chat game=abcd1234 room=player name=Rival text="my secret"
12:00:01 abcd1234 chat, Rival: my secret
12:00:01 abcd1234 spectators' chat, Guest: my secret
{"event": "chat", "game": "abcd1234", "text": "chat, Rival: my secret"}
2026-11-24 12:00:02 WARNING command.failed reason="lip_otherTokenOfMine and lip_0123456789abcdef, \x1b[2J"
2026-11-24 12:00:02 ERROR config.wrong problem="proxy: found 'http://me:pa/ss@w0rd@proxy:3128'; see https://a.b/?k=v3ry"
2026-11-24 12:00:03 INFO list.fetched villain=1 stranger=2 rivals=3
2026-11-24 12:00:04 INFO control command=block argument=Troll answer="Troll is blocked"
2026-11-24 12:00:05 INFO reload.key key=notify.command old="[tell, earlierSecret]" new="[curl]" effect="at once"
12:00:05 notify.command is now [curl] (was [tell, earlierSecret]), in use at once
{"event": "reload.key", "text": "notify.command is now [curl] (was [tell, earlierSecret])", "fields": {"old": "[tell]"}}
2026-11-24 12:00:06 ERROR config.wrong problem="c.yml:9: notify.command: expected a list, found 'tell earlierSecret'"
12:00:06 the configuration is wrong: c.yml:9: notify: expected keys and values, found 'tell earlierSecret'
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".local" / "state"))
    monkeypatch.delenv("LICHESS_BOT_TOKEN", raising=False)
    (tmp_path / "config.yml").write_text(CONFIG)
    (tmp_path / "daemon.log").write_text(LOG)
    with closing(Store(Database(tmp_path / "state"))) as store:
        store.note_game("abcd1234", "BOT Rival")
        store.replace(Table.ACCOUNT, single=1, url="https://lichess.org", id="testbot")
        BotGames(store).add(BotGame("abcd1234", "rival", "blitz", None, by_our_challenge=True, began_at=1.0))
        store.add(Table.BLOCKED_PLAYERS, id="troll", blocked_at=1.0)
        store.note_player_list(PlayerList.of_words("https://example.com/list", ["villain", "knave@2030-01-01"]))
    return tmp_path


def collected(*words: str) -> dict[str, str]:
    """Return the files in the archive of the current folder."""
    assert main(["bugreport", "--config", "config.yml", "--output", "report.zip", *words]) == 0
    with zipfile.ZipFile("report.zip") as opened:
        return {name.removeprefix("report/"): opened.read(name).decode() for name in opened.namelist()}


def report(*words: str) -> dict[str, str]:
    """Return the same without the check, and with the log in the file."""
    return collected("--offline", "--log", "daemon.log", *words)


def test_the_archive_is_for_its_owner_and_replaced_only_by_force(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(report()) == ["README.txt", "versions.txt", "config.yml", "check.txt", "log.txt", "records.txt"]
    assert stat.S_IMODE((folder / "report.zip").stat().st_mode) == 0o600
    assert "Look through it before you send it." in capsys.readouterr().out
    assert main(["bugreport", "--config", "config.yml", "--output", "report.zip", "--offline"]) == 2
    assert capsys.readouterr().err == "report.zip exists already; use --force to replace it\n"
    report("--force")
    assert main(["bugreport", "--config", "config.yml", "--output", "no/such/folder.zip", "--offline"]) == 2
    assert capsys.readouterr().err == "no/such/folder.zip: cannot be written: No such file or directory\n"
    long = "x" * 300  # which also root cannot look at
    assert main(["bugreport", "--config", "config.yml", "--output", long, "--offline"]) == 2
    assert capsys.readouterr().err == f"{long}: cannot be written: File name too long\n"
    for words in ([], ["--force"]):
        assert main(["bugreport", "--config", "config.yml", "--output", "state", "--offline", *words]) == 2
        assert "Invalid value for '--output': File 'state' is a directory." in capsys.readouterr().err
    assert main(["bugreport", "--config", "config.yml", "--output", "config.yml/a.zip", "--offline", "--force"]) == 2
    assert capsys.readouterr().err == "config.yml/a.zip: cannot be written: Not a directory\n"


def test_a_report_that_does_not_fit_on_the_disk_leaves_the_one_before(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report()
    before, files = (folder / "report.zip").read_bytes(), set(folder.iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        code = main(["bugreport", "--config", "config.yml", "--output", "report.zip", "--offline", "--force"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, capsys.readouterr().err) == (2, "report.zip: cannot be written: File too large\n")
    assert (folder / "report.zip").read_bytes() == before
    assert set(folder.iterdir()) == files


def test_no_secret_is_in_the_archive(folder: Path) -> None:
    everything = "\n".join(report("--names").values())
    for secret in (TOKEN, "lip_otherTokenOfMine", "swordfish", "opensesame", "my secret", str(folder), "\x1b"):
        assert secret not in everything
    for secret in ("sesame2", "pa/ss", "w0rd", "v3ry", "earlierSecret"):
        assert secret not in everything
    assert "https://example.com/list?[hidden]\n" in everything
    assert "found 'http://[hidden]@proxy:3128'; see https://a.b/?[hidden]\"\n" in everything
    assert "~/state" in everything or "folder: state" in everything
    assert "- curl\n  - '[hidden]'\n" in everything


def test_the_configuration_in_the_report_is_the_one_in_force(folder: Path) -> None:
    rules = "variants: [standard, atomic], time_controls: [bullet, 3+2], max_days: .inf, human: {min_base: 60}"
    matchmaking = "bot_games_per_day: 20, overrides: {slow: {challenge_days: 2, challenge_initial_time: null}}"
    profile = "{when: {clock: 3+2, rating: [0, 1500]}, engine: {depth: 4, style: gambler"
    engine = "engine: {command: [bin/fish, -x], uci_options: {Hash: 16, Skill: 3}, depth: 9}"
    environment, reports = {**os.environ, TOKEN_VARIABLE: TOKEN}, []
    for more in ("", ", hash_mb: 64, command: null", ", strength: full"):
        text = f"challenge: {{{rules}}}\nmatchmaking: {{{matchmaking}}}\n{engine}\nprofiles: [{profile}{more}}}}}]\n"
        ours, theirs = folder / "config.yml", folder / "theirs.yml"
        ours.write_text(text)
        reports.append(report("--force")["config.yml"])
        theirs.write_text(reports[-1])
        here, there = (load_config(it, environment) for it in (ours, theirs))
        assert there.state_dir == here.state_dir
        assert there.config.profiles[0].engine.model_fields_set == here.config.profiles[0].engine.model_fields_set
        assert dotted_values(there.config) == dotted_values(here.config) | {"state_dir": here.state_dir}
    assert len(set(reports)) == 3
    assert "\nstate_dir: ~/" in reports[0]


def test_a_secret_is_hidden_as_the_log_spells_it_and_if_it_begins_like_another(folder: Path) -> None:
    passwords = ("swordfish", "swordfish-two", 'l\u00e4s "it"')
    entries = "".join(f"- {{id: hL7vMrF{number}, password: '{it}'}}\n" for number, it in enumerate(passwords))
    (folder / "config.yml").write_text(f"token: {TOKEN}\ntournaments:\n{entries}")
    spelt = """failed problem="swordfish-two l\\xe4s 'it'"\n{"text": "l\\u00e4s \\"it\\""}\n"""
    (folder / "daemon.log").write_text(spelt)
    assert report()["log.txt"] == 'failed problem="[hidden] [hidden]"\n{"text": "[hidden]"}\n'


def test_the_home_folder_is_hidden_as_the_log_spells_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/j\u00f6rg")
    spelt = """note="no /home/j\\xf6rg/book"\n{"config": "/home/j\\u00f6rg/config.yml"}\nfolder=/home/j\u00f6rg\n"""
    (folder / "daemon.log").write_text(spelt)
    assert report()["log.txt"] == 'note="no ~/book"\n{"config": "~/config.yml"}\nfolder=~\n'


@pytest.mark.usefixtures("folder")
def test_other_players_are_shown_only_on_demand() -> None:
    files = report()
    everything = "\n".join(files.values())
    for name in ("rival", "villain", "knave", "troll", "squire"):
        assert not re.search(rf"\b{name}\b", everything, re.IGNORECASE)
    assert "block_list:\n  - player" in files["config.yml"]
    assert 'opponent="BOT player' in files["log.txt"]
    assert "stranger=2 rivals=3" in files["log.txt"]
    named = report("--names", "--force")
    assert 'opponent="BOT Rival"' in named["log.txt"]
    assert "The names of other players are shown, because `--names` was given." in named["README.txt"]


def test_other_players_are_hidden_while_the_configuration_is_wrong(folder: Path) -> None:
    (folder / "config.yml").write_text(CONFIG + "abort_tme: 3\n")
    files = report()
    assert 'opponent="BOT player' in files["log.txt"]
    assert "Rival" not in files["log.txt"]
    assert "Other players are called player1" in files["README.txt"]


@pytest.mark.parametrize("trouble", ["no YAML", "damaged", "missing"])
def test_it_is_said_if_the_other_players_are_unknown(folder: Path, trouble: str) -> None:
    if trouble == "no YAML":
        (folder / "config.yml").write_text("state_dir: [\n")
    elif trouble == "damaged":
        for file in (folder / "state").glob(f"{FILE_NAME}*"):
            file.unlink()          # where the disk was too slow to close it, its log would restore the database
        (folder / "state" / FILE_NAME).write_text("no database")
    else:
        (folder / "state" / FILE_NAME).unlink()
    assert "Names of other players may be shown, because the records, " in report()["README.txt"]


@pytest.mark.usefixtures("folder")
def test_the_records_are_described_without_their_content() -> None:
    told = report()["records.txt"]
    assert f"format: {len(MIGRATIONS)}\n" in told
    assert "daemon: not running\n" in told
    assert "table: bot_games, 1 rows: CREATE TABLE bot_games ( id TEXT PRIMARY KEY, opponent TEXT NOT NULL" in told
    assert "abcd1234" not in told


def test_a_folder_that_cannot_be_read_is_a_line_of_the_report(folder: Path) -> None:
    place = "x" * 300  # which also root cannot look into
    (folder / "config.yml").write_text(f"state_dir: {place}\ntoken: {TOKEN}\n")
    assert f"problem: {place}: File name too long\n" in report()["records.txt"]


def test_without_records_there_are_no_files(folder: Path) -> None:
    (folder / "config.yml").write_text(f"state_dir: none\ntoken: {TOKEN}\n")
    assert report()["records.txt"] == "folder: none\ndaemon: not running\nformat: none\n"


def test_a_configuration_that_does_not_load_is_reported_and_left_out(folder: Path) -> None:
    (folder / "config.yml").write_text("token: lip_0123456789abcdef\npasword: swordfish\n")
    files = report()
    assert "# problem: config.yml:2: pasword: unknown key" in files["config.yml"]
    assert "swordfish" not in files["config.yml"]
    assert files["config.yml"].endswith("# The configuration cannot be loaded, and is left out: it may hold secrets.\n")
    assert files["records.txt"] == "unknown: the configuration cannot be loaded\n"


def test_a_command_that_is_no_list_is_not_shown(folder: Path) -> None:
    (folder / "config.yml").write_text(f"token: {TOKEN}\nnotify: {{command: 'curl https://a.b/bot5:swordfish'}}\n")
    files = report()
    assert "# problem: config.yml:2: notify.command: expected a list\n" in files["config.yml"]
    assert "swordfish" not in "".join(files.values())


def test_without_a_token_the_rest_is_reported(folder: Path) -> None:
    (folder / "config.yml").write_text("state_dir: state\nabort_time: 31\n")
    files = report()
    assert "# problem: " in files["config.yml"]
    assert "abort_time: 31\n" in files["config.yml"]


def test_a_check_of_a_wrong_configuration_is_not_run(folder: Path) -> None:
    (folder / "config.yml").write_text("state_dir: state\n")
    told = collected("--log", "daemon.log")["check.txt"]
    assert told == "not run: the configuration has problems; see config.yml\n"
    assert report("--force")["check.txt"] == "not run: --offline\n"


def test_a_missing_log_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bugreport", "--config", "config.yml", "--output", "other.zip", "--offline", "--log", "nowhere.log"]
    assert main(command) == 2
    assert "File 'nowhere.log' does not exist" in capsys.readouterr().err
    assert not (folder / "other.zip").exists()


def test_a_machine_without_a_journal_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert collected("--offline")["log.txt"].startswith("there is no journal on this machine")


def test_the_journal_is_read_by_its_unit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "journalctl"
    program.write_text('#!/bin/sh\necho "journal of $2"\n')
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert collected("--offline", "--unit", "lichessbot@two")["log.txt"] == "journal of lichessbot@two\n"


@pytest.mark.parametrize("words", [["--log", "daemon.log"], []], ids=["file", "journal"])
def test_a_line_of_chat_that_is_cut_is_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    stop = "2026-11-24 12:00:02 INFO stop\n"
    (folder / "daemon.log").write_text(f'2026-11-24 12:00:01 INFO chat game=abcd1234 text="my secret"\n{stop}')
    program = folder / "journalctl"
    program.write_text("#!/bin/sh\ncat daemon.log\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(bugreport, "_LONGEST_LOG_BYTES", len(stop) + 20)
    assert collected("--offline", *words)["log.txt"] == stop


def test_a_report_beside_a_running_daemon_holds_its_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RehearsalServer() as server, closing(Arena(server, tmp_path)) as arena:
        arena.configure("notify: {command: [touch, told], on: [game_won]}\n", engine=IDLE_ENGINE)
        arena.start()
        monkeypatch.setenv("LICHESS_BOT_TOKEN", arena.token)
        monkeypatch.chdir(tmp_path)
        files = collected("--log", "daemon.log")
        assert "ok    TestBot is a BOT account\n" in files["check.txt"]
        assert "ok    ready to play\n" in files["check.txt"]
        assert "daemon: running\n" in files["records.txt"]
        assert "events.open" in files["log.txt"]
        assert not any(arena.token in text for text in files.values())
        assert not (tmp_path / "told").exists()
