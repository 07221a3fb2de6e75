"""deploy/install.sh below a temporary folder, with stand-ins for Python and the bot.

The real ones are installed by the tests of the service.
"""

import os
import pty
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.systemd.installation import SCRIPT, TOKEN, Installation, program, wheel

CREDENTIAL = "/run/credentials/lichessbot.service/token"
STATE_DIR = "state_dir: /var/lib/lichessbot\n"
SOURCES = (
    "engine/search.py", "engine/search.pxd", "engine/data/2026.net", "lichessbot/game.py", "pyproject.toml",
    "config.example.yml", "lichessbot/config/personalities/coach.yml", "lichessbot/static/play/my page.html",
)  # fmt: skip
ALSO_BUILT_FROM = ("MANIFEST.in", "README.md", "LICENSE", "engine/lichessbot_daemon-1.0.whl")
LEFT_BY_A_BUILD = (
    "engine/search.abi3.so", "engine/search.c", "lichessbot/__pycache__/game.cpython-311.pyc",
    "build/lib/engine/data/2025.net", "lichessbot_daemon.egg-info/SOURCES.txt",
)  # fmt: skip


def test_a_life_of_installations(installation: Installation, tmp_path: Path) -> None:
    first, second = wheel(tmp_path / "first", "1.0"), wheel(tmp_path / "second", "2.0")
    broken = wheel(tmp_path / "broken", "3.0", code=1)

    assert "if the token is wrong, write another one to" in installation.install("--wheels", broken).stderr
    done = installation.install("--wheels", first)
    assert done.returncode == 0, done.stderr
    assert f"1.0 check token={TOKEN} records={installation.root}/var/lib/lichessbot" in done.stdout
    assert installation.version() == "1.0"
    unit = installation.root / "etc/systemd/system/lichessbot.service"
    assert unit.read_bytes() == (SCRIPT.parent / "lichessbot.service").read_bytes()
    config, token = installation.root / "etc/lichessbot/config.yml", installation.root / "etc/lichessbot/token"
    assert "\ntoken_file: /run/credentials/lichessbot.service/token\n" in config.read_text()
    assert "\nstate_dir: /var/lib/lichessbot\n" in config.read_text()
    assert token.read_text() == f"{TOKEN}\n"
    assert token.stat().st_mode & 0o077 == 0
    config.write_text("# ours\n")

    # Again: nothing is built, and what the operator wrote stays.
    done = installation.install("--wheels", first, token=None)
    assert "is built already" in done.stdout
    assert done.stdout.endswith("was in use already\n")
    assert config.read_text() == "# ours\n"

    # A version that does not pass its check is not used.
    done = installation.install("--wheels", broken)
    assert done.returncode == 1
    assert "was not put into use" in done.stderr
    assert installation.version() == "1.0"

    done = installation.install("--wheels", second)
    assert done.returncode == 0, done.stderr
    assert installation.version() == "2.0"
    assert len(list((installation.prefix / "versions").iterdir())) == 2, "the broken one is gone"

    # Back, and forth again.
    for expected in ("1.0", "2.0"):
        done = installation.install("--rollback")
        assert done.returncode == 0, done.stderr
        assert installation.version() == expected

    done = installation.install("--uninstall")
    assert done.returncode == 0, done.stderr
    assert not installation.prefix.exists()
    assert config.exists()
    assert token.exists()


def test_each_installed_file_changes_the_version(installation: Installation, tmp_path: Path) -> None:
    checkout = wheel(tmp_path / "checkout" / "engine", "1.0").parent
    for name in (*SOURCES, *ALSO_BUILT_FROM[:3]):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("before")
    shutil.copytree(SCRIPT.parent, checkout / "deploy")
    installation.script = checkout / "deploy" / "install.sh"
    assert "is in use\n" in installation.install().stdout
    for name in LEFT_BY_A_BUILD:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("built")
    assert installation.install().stdout.endswith("was in use already\n")
    for changed in SOURCES:
        (checkout / changed).write_text("after")
        assert "is in use\n" in installation.install().stdout, changed
        built = (installation.prefix / "current" / "bin" / "built").read_text().split("\n")
        assert sorted(built) == sorted(["", *(f"./{name}" for name in (*SOURCES, *ALSO_BUILT_FROM))])
        assert not (installation.prefix / "current" / "source").exists()


def test_a_new_release_of_python_is_another_version(installation: Installation, tmp_path: Path) -> None:
    first = wheel(tmp_path / "first", "1.0")
    assert "is in use\n" in installation.install("--wheels", first).stdout
    installation.release = "3 13"
    done = installation.install("--wheels", first)
    assert "is built already" not in done.stdout
    assert "is in use\n" in done.stdout


def test_the_user_of_the_service_can_read_what_a_careful_root_installs(
    installation: Installation, tmp_path: Path
) -> None:
    installation.umask = 0o077
    assert installation.install("--wheels", wheel(tmp_path / "first", "1.0")).returncode == 0
    program_file = installation.prefix / "current" / "bin" / "lichessbot"
    folders = [it for it in program_file.resolve().parents if installation.prefix in (it, *it.parents)]
    assert all(it.stat().st_mode & 0o055 == 0o055 for it in folders)
    etc = installation.root / "etc" / "lichessbot"
    assert (etc / "config.yml").stat().st_mode & 0o044 == 0o044
    assert (etc / "token").stat().st_mode & 0o077 == 0


def test_a_build_leaves_the_processor_to_the_games_that_run(installation: Installation, tmp_path: Path) -> None:
    installation.install("--wheels", wheel(tmp_path / "first", "1.0"))
    assert (installation.prefix / "current" / "bin" / "niceness").read_text() == "19\n"


TOKEN_LINE = f"token_file: {CREDENTIAL}\n"


@pytest.mark.parametrize(("text", "expected"), [
    *[(f"token_file: {value}\n{STATE_DIR}", f"token_file: {CREDENTIAL}")
      for value in ("config.token", f"{CREDENTIAL}s", f"{CREDENTIAL}/", f"{CREDENTIAL}#1", f"# {CREDENTIAL}")],
    *[(TOKEN_LINE + line, "state_dir: /var/lib/lichessbot")
      for line in ("", "state_dir: null\n", "state_dir: records\n", "state_dir: /var/lib/lichessbot2\n")],
])  # fmt: skip
def test_a_configuration_that_does_not_name_token_and_records_of_the_service_is_not_installed(
    installation: Installation, tmp_path: Path, text: str, expected: str
) -> None:
    config = installation.root / "etc" / "lichessbot" / "config.yml"
    program(config, text)
    done = installation.install("--wheels", wheel(tmp_path / "first", "1.0"))
    assert (done.returncode, installation.prefix.exists()) == (1, False)
    assert f"expected `{expected}` in {config}" in done.stderr


@pytest.mark.parametrize("text", [
    *[f"token_file: {value}\n{STATE_DIR}"
      for value in (f"'{CREDENTIAL}'", f'"{CREDENTIAL}"', f" {CREDENTIAL}  # ours", f"{CREDENTIAL}\r")],
    *[f"{TOKEN_LINE}state_dir: {value}\n"
      for value in ("'/var/lib/lichessbot'", "/var/lib/lichessbot/", '"/var/lib/lichessbot/" # ours')],
])  # fmt: skip
def test_a_configuration_may_name_them_in_quotes_and_with_a_comment(
    installation: Installation, tmp_path: Path, text: str
) -> None:
    program(installation.root / "etc" / "lichessbot" / "config.yml", text)
    done = installation.install("--wheels", wheel(tmp_path / "first", "1.0"))
    assert done.returncode == 0, done.stderr


def test_all_that_a_configuration_lacks_is_named_at_once(installation: Installation, tmp_path: Path) -> None:
    config = installation.root / "etc" / "lichessbot" / "config.yml"
    program(config, "engine: {threads: 1}\n")
    done = installation.install("--wheels", wheel(tmp_path / "first", "1.0"))
    assert (done.returncode, installation.prefix.exists()) == (1, False)
    assert [line.split(f" in {config}")[0] for line in done.stderr.splitlines()] == [
        f"install: expected `token_file: {CREDENTIAL}`", "install: expected `state_dir: /var/lib/lichessbot`"
    ]  # fmt: skip


def test_each_bot_has_records_of_its_own(installation: Installation, tmp_path: Path) -> None:
    config = installation.root / "etc" / "lichessbot-blitz" / "config.yml"
    program(config, f"token_file: /run/credentials/lichessbot@blitz.service/token\n{STATE_DIR}")
    done = installation.install("--instance", "blitz", "--wheels", wheel(tmp_path / "first", "1.0"))
    assert done.returncode == 1
    assert f"expected `state_dir: /var/lib/lichessbot-blitz` in {config}" in done.stderr


def test_without_a_token_nothing_is_built(installation: Installation, tmp_path: Path) -> None:
    done = installation.install("--wheels", wheel(tmp_path / "first", "1.0"), token=None)
    assert done.returncode == 1
    assert "no token" in done.stderr
    assert not installation.prefix.exists()


def test_the_token_in_the_file_counts_and_one_that_is_not_used_is_named(
    installation: Installation, tmp_path: Path
) -> None:
    wheels = wheel(tmp_path / "first", "1.0")
    assert "is not used" not in installation.install("--wheels", wheels).stdout
    assert "is not used" not in installation.install("--wheels", wheels).stdout
    token = installation.root / "etc/lichessbot/token"
    assert f"LICHESS_BOT_TOKEN is not used, as {token} has" in installation.install(
        "--wheels", wheels, token="lip_another"
    ).stdout  # fmt: skip
    token.write_text(f"{TOKEN}\nof my bot\n")  # the service reads the first line
    done = installation.install("--wheels", wheels)
    assert "is not used" not in done.stdout
    assert f"1.0 check token={TOKEN} records=" in done.stdout


def test_a_rollback_without_an_earlier_version_is_refused(installation: Installation) -> None:
    done = installation.install("--rollback")
    assert done.returncode == 1
    assert done.stderr == "install: there is no version to go back to\n"


def test_a_bot_that_is_not_installed_is_not_removed(installation: Installation, tmp_path: Path) -> None:
    def is_refused(*options: str) -> bool:
        before = sorted(installation.root.rglob("*"))
        done = installation.install(*options, "--uninstall")
        unit = f"lichessbot@{options[1]}.service" if options else "lichessbot.service"
        told = (done.returncode, done.stderr)
        is_same = sorted(installation.root.rglob("*")) == before
        return is_same and told == (1, f"install: no bot is installed as {unit}\n")

    first, other = wheel(tmp_path / "first", "1.0"), ("--instance", "blitz")
    assert is_refused()
    assert is_refused(*other)
    assert installation.install("--wheels", first).returncode == 0
    assert is_refused(*other)
    assert installation.install(*other, "--wheels", first).returncode == 0
    assert is_refused("--instance", "bli")
    assert installation.install("--uninstall").returncode == 0
    assert is_refused()
    assert installation.install(*other, "--uninstall").returncode == 0
    assert is_refused(*other)


def test_what_an_interrupted_removal_left_is_removed(installation: Installation, tmp_path: Path) -> None:
    first, other = wheel(tmp_path / "first", "1.0"), ("--instance", "blitz")
    for options in ((), other):
        assert installation.install(*options, "--wheels", first).returncode == 0
    (installation.root / "etc/systemd/system/lichessbot.service").unlink()
    (installation.prefix / "current").unlink()
    assert installation.install("--uninstall").returncode == 0
    assert not (installation.prefix / "started").exists()
    (installation.root / "etc/systemd/system/lichessbot@.service").unlink()
    shutil.rmtree(installation.prefix / "bots" / "blitz")
    assert installation.install(*other, "--uninstall").returncode == 0
    assert not installation.prefix.exists()


@pytest.mark.parametrize(
    "options", [("--roolback",), ("--wheels",), ("--instance", "", "--uninstall"), ("--wheels", "")]
)
def test_wrong_options_are_answered_with_the_right_ones(installation: Installation, options: tuple[str, ...]) -> None:
    done = installation.install(*options)
    assert done.returncode == 2
    assert "--rollback" in done.stderr


LONG = [pytest.param(action, marks=pytest.mark.long) for action in ("install", "upgrade", "uninstall", "last")]


@pytest.mark.parametrize("cut_action", ["rollback", *LONG])
def test_an_interrupted_run_breaks_nothing_and_is_continued(
    installation: Installation, tmp_path: Path, cut_action: str
) -> None:
    first, second = wheel(tmp_path / "first", "1.0"), wheel(tmp_path / "second", "2.0")
    before, after, options = {
        "install": ((), "1.0", ("--wheels", first)),
        "upgrade": ((first,), "2.0", ("--wheels", second)),
        "rollback": ((first, second), "1.0", ("--rollback",)),
        "uninstall": ((first, second), None, ("--uninstall",)),
        "last": ((first, second), None, ("--instance", "blitz", "--uninstall")),
    }[cut_action]
    for wheels in before:
        assert installation.install("--wheels", wheels).returncode == 0
    if cut_action == "last":
        assert installation.install("--instance", "blitz", "--wheels", first).returncode == 0
        assert installation.install("--uninstall").returncode == 0
    if before:
        shutil.copytree(installation.root, tmp_path / "before", symlinks=True)
    cut = 0
    while True:
        cut += 1
        shutil.rmtree(installation.root, ignore_errors=True)
        if before:
            shutil.copytree(tmp_path / "before", installation.root, symlinks=True)
        if installation.install_until(cut, *options):
            break
        if before and after is not None:
            assert installation.version() in ("1.0", "2.0"), "whatever is in use runs"
        for path in (installation.root / "etc").rglob("lichessbot/*"):
            complete = path.read_text().endswith("\n") and path.stat().st_size > 20
            assert complete or path.suffix == ".new", f"{path} is cut after step {cut}"
        done = installation.install(*options)
        assert done.returncode == 0, done.stderr
        if after is None:
            assert not installation.prefix.exists()
            assert not list((installation.root / "etc" / "systemd" / "system").iterdir())
        else:
            assert installation.version() == installation.started() == after, f"after step {cut}"
    assert cut > 10, "the installer calls many programs"
    assert after is None or installation.version() == after


def test_several_bots_share_versions_and_nothing_else(installation: Installation, tmp_path: Path) -> None:
    first, second = wheel(tmp_path / "first", "1.0"), wheel(tmp_path / "second", "2.0")
    assert installation.install("--wheels", first).returncode == 0
    done = installation.install("--instance", "blitz", "--wheels", first, token="lip_blitz0123456789")
    assert done.returncode == 0, done.stderr
    assert "is built already" in done.stdout
    etc = installation.root / "etc" / "lichessbot-blitz"
    assert "\ntoken_file: /run/credentials/lichessbot@blitz.service/token\n" in (etc / "config.yml").read_text()
    assert "\nstate_dir: /var/lib/lichessbot-blitz\n" in (etc / "config.yml").read_text()
    assert (etc / "token").read_text() == "lip_blitz0123456789\n"
    assert (installation.root / "etc" / "lichessbot" / "token").read_text() == f"{TOKEN}\n"
    assert (installation.root / "etc/systemd/system/lichessbot@.service").exists()

    # Each is upgraded, rolled back and removed alone.
    assert installation.install("--instance", "blitz", "--wheels", second).returncode == 0
    assert (installation.version(), installation.version("bots/blitz/current")) == ("1.0", "2.0")
    assert installation.install("--instance", "blitz", "--rollback").returncode == 0
    assert installation.version("bots/blitz/current") == "1.0"
    assert installation.version("bots/blitz/previous") == "2.0"
    assert installation.install("--instance", "blitz", "--rollback").returncode == 0
    assert installation.install("--uninstall").returncode == 0
    assert installation.version("bots/blitz/current") == "2.0"
    assert not (installation.root / "etc/systemd/system/lichessbot.service").exists()
    assert installation.install("--instance", "blitz", "--uninstall").returncode == 0
    assert not installation.prefix.exists()
    assert not (installation.root / "etc/systemd/system/lichessbot@.service").exists()
    assert etc.exists()


@pytest.mark.parametrize("name", ["../x", "a b", "x.y"])
def test_the_name_of_a_bot_is_no_path(installation: Installation, name: str) -> None:
    done = installation.install("--instance", name)
    assert done.returncode == 1
    assert done.stderr == f"install: --instance {name}: expected letters, digits, _ and -\n"


@contextmanager
def other_run(installation: Installation) -> Iterator[Callable[[], None]]:
    """Hold the lock as another run of the script does; yield what ends that run."""
    words = ["flock", installation.prefix / "lock", "sh", "-c", "echo locked; read ended"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"locked\n"
        yield other.stdin.close


def test_two_runs_at_once_wait_for_each_other(installation: Installation, tmp_path: Path) -> None:
    installation.prefix.mkdir(parents=True)
    command = [installation.script, "--root", installation.root, "--wheels", wheel(tmp_path / "first", "1.0")]
    with (
        other_run(installation) as end,
        subprocess.Popen(
            command, env=installation.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        ) as second,
    ):
        while "waiting for another installation" not in second.stdout.readline():
            assert second.poll() is None
        assert not (installation.prefix / "versions").exists()
        end()
        assert second.stdout.read().endswith("is in use\n")


def test_a_rollback_that_waited_for_an_upgrade_goes_back_to_what_that_replaced(
    installation: Installation, tmp_path: Path
) -> None:
    for number in (1, 2):
        assert installation.install("--wheels", wheel(tmp_path / f"{number}", f"{number}.0")).returncode == 0
    previous = installation.prefix / "previous"
    replaced = previous.readlink()
    with other_run(installation) as end:
        previous.unlink()
        previous.symlink_to("versions/before")       # which the upgrade is about to remove
        with subprocess.Popen(
            [installation.script, "--root", installation.root, "--rollback"],
            env=installation.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        ) as rollback:  # fmt: skip
            assert "waiting for another installation" in rollback.stdout.readline()
            previous.unlink()
            previous.symlink_to(replaced)
            end()
            assert rollback.stdout.read().endswith("is in use\n")
    assert installation.version() == "1.0"


def test_an_interrupted_question_leaves_the_terminal_as_it_was(installation: Installation, tmp_path: Path) -> None:
    leader, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            [installation.script, "--root", installation.root, "--wheels", wheel(tmp_path / "first", "1.0")],
            env=installation.environment(token=None), stdin=terminal, stdout=terminal, stderr=terminal,
            start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while termios.tcgetattr(terminal)[3] & termios.ECHO or children.read_text():
            assert time.monotonic() < deadline, os.read(leader, 4096)
            time.sleep(0.02)
        # A shell misses a signal that comes just before it begins to read; people press Ctrl-C again.
        while process.poll() is None:
            assert time.monotonic() < deadline, os.read(leader, 4096)
            os.killpg(process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(2)
        assert process.returncode == 130
        assert termios.tcgetattr(terminal)[3] & termios.ECHO
    finally:
        os.close(leader)
        os.close(terminal)


def test_a_question_without_an_answer_leaves_the_terminal_as_it_was(installation: Installation, tmp_path: Path) -> None:
    leader, terminal = pty.openpty()
    try:
        os.write(leader, b"\x04")  # Ctrl-D
        done = subprocess.run(
            [installation.script, "--root", installation.root, "--wheels", wheel(tmp_path / "first", "1.0")],
            env=installation.environment(token=None), stdin=terminal, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert done.returncode == 1
        assert done.stderr.startswith("install: no token: write it to ")
        assert termios.tcgetattr(terminal)[3] & termios.ECHO
    finally:
        os.close(leader)
        os.close(terminal)
