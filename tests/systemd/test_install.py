"""deploy/install.sh below a temporary folder, with stand-ins for Python and the bot.

The real ones are installed by the tests of the service.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "install.sh"
TOKEN = "lip_secret0123456789"
SOURCES = ("engine/search.py", "engine/search.pxd", "engine/data/2026.net", "lichessbot/game.py", "pyproject.toml")
# Says what it was asked, and passes its check unless it is a bad one.
PROGRAM = """\
#!/bin/sh
echo "{version} $1 token=$LICHESS_BOT_TOKEN records=$STATE_DIRECTORY"
exit {code}
"""
# `python -m venv --clear FOLDER`, with a pip that takes the program above for a wheel, also in a checkout.
PYTHON = """\
#!/bin/sh
rm -rf "$4"; mkdir -p "$4/bin"
cat >"$4/bin/pip" <<"END"
#!/bin/sh
while [ $# -gt 1 ] && [ "$1" != --find-links ]; do shift; done
cp "${2:-$1}"/lichessbot-*.whl "$(dirname "$0")/lichessbot"
END
chmod +x "$4/bin/pip"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def wheel(folder: Path, version: str, code: int = 0) -> Path:
    """A folder with one version, whose `lichessbot check` ends with `code`."""
    return program(folder / f"lichessbot-{version}.whl", PROGRAM.format(version=version, code=code)).parent


class Installation:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.script = SCRIPT
        self.prefix = root / "opt" / "lichessbot"

    def install(self, *options: str | Path, token: str | None = TOKEN) -> "subprocess.CompletedProcess[str]":
        environment = {name: value for name, value in os.environ.items() if name != "LICHESS_BOT_TOKEN"}
        if token is not None:
            environment["LICHESS_BOT_TOKEN"] = token
        environment["PYTHON"] = str(program(self.root.parent / "python", PYTHON))
        return subprocess.run(
            [self.script, "--root", self.root, *options],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
        )  # fmt: skip

    def version(self) -> str:
        """What is in use."""
        return subprocess.check_output([self.prefix / "current" / "bin" / "lichessbot"], text=True).split()[0]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "root")


def test_a_life_of_installations(installation: Installation, tmp_path: Path) -> None:
    first, second = wheel(tmp_path / "first", "1.0"), wheel(tmp_path / "second", "2.0")
    broken = wheel(tmp_path / "broken", "3.0", code=1)

    done = installation.install("--wheels", first)
    assert done.returncode == 0, done.stderr
    assert f"1.0 check token={TOKEN} records={installation.root}/var/lib/lichessbot" in done.stdout
    assert installation.version() == "1.0"
    assert (installation.root / "etc/systemd/system/lichessbot.service").read_bytes() == (
        SCRIPT.parent / "lichessbot.service"
    ).read_bytes()
    config, token = installation.root / "etc/lichessbot/config.yml", installation.root / "etc/lichessbot/token"
    assert "\ntoken_file: /run/credentials/lichessbot.service/token\n" in config.read_text()
    assert "\nstate_dir: /var/lib/lichessbot\n" in config.read_text()
    assert token.read_text() == f"{TOKEN}\n"
    assert token.stat().st_mode & 0o077 == 0
    config.write_text("# ours\n")

    # Again: nothing is built, and what the operator wrote stays.
    done = installation.install("--wheels", first, token=None)
    assert "building" not in done.stdout
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


@pytest.mark.parametrize("changed", SOURCES)
def test_each_installed_file_changes_the_version(
    installation: Installation, tmp_path: Path, changed: str
) -> None:
    checkout = wheel(tmp_path / "checkout", "1.0")
    for name in SOURCES:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("before")
    shutil.copytree(SCRIPT.parent, checkout / "deploy")
    shutil.copy(SCRIPT.parents[1] / "config.example.yml", checkout)
    installation.script = checkout / "deploy" / "install.sh"
    assert "is in use\n" in installation.install().stdout
    assert installation.install().stdout.endswith("was in use already\n")
    (checkout / changed).write_text("after")
    assert "is in use\n" in installation.install().stdout


def test_without_a_token_nothing_is_built(installation: Installation, tmp_path: Path) -> None:
    done = installation.install("--wheels", wheel(tmp_path / "first", "1.0"), token=None)
    assert done.returncode == 1
    assert "no token" in done.stderr
    assert not installation.prefix.exists()


def test_a_rollback_without_an_earlier_version_is_refused(installation: Installation) -> None:
    done = installation.install("--rollback")
    assert done.returncode == 1
    assert done.stderr == "install: there is no version to go back to\n"


@pytest.mark.parametrize("options", [("--roolback",), ("--wheels",)])
def test_wrong_options_are_answered_with_the_right_ones(installation: Installation, options: tuple[str, ...]) -> None:
    done = installation.install(*options)
    assert done.returncode == 2
    assert "--rollback" in done.stderr
