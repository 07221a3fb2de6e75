"""What deploy/install.sh says to common mistakes, and that none of them touches the version in use."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.systemd.installation import SYSTEMCTL, TOKEN, Installation, program, wheel
from tests.systemd.test_unit import settings

# A Python of some release, which lies somewhere: the installer asks for either by `python -c CODE`.
ANOTHER_PYTHON = """\
#!/bin/sh
case $2 in *version_info*) exit {code} ;; esac
echo {path}
"""
BROKEN_PIP = '#!/bin/sh\necho "pip: no network" >&2\nexit 1\n'
# The service of one version does not start.
BROKEN_START = 'case $("{links}/current/bin/lichessbot") in "{version} "*) [ "$1" != restart ] || exit 1 ;; esac\n'


def refusal(installation: Installation, *options: str | Path, **environment: str) -> str:
    """Return the only line that a run that fails says on standard error."""
    done = installation.install(*options, environment=installation.environment() | environment)
    assert done.returncode == 1, done.stdout
    (line,) = done.stderr.splitlines()
    return line.removeprefix("install: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_only_root_installs_a_service(installation: Installation) -> None:
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "sh", "-s", "--"], input=installation.script.read_text(),
        env=installation.environment(), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("install: only root can do this: sudo ")


def test_a_folder_without_our_wheel_is_refused(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "missing"):
        assert refusal(installation, "--wheels", folder) == (
            f"--wheels {folder}: no lichessbot_daemon-*.whl in this folder"
        )
    assert not installation.root.exists() or not list(installation.root.iterdir())


@pytest.mark.parametrize(("python", "expected"), [
    (lambda folder: str(folder / "missing"), "there is no program "),
    (lambda folder: str(program(folder / "old", ANOTHER_PYTHON.format(code=1, path=""))), "is older than Python 3.11"),
    *[(lambda folder, path=path: str(program(folder / "home", ANOTHER_PYTHON.format(code=0, path=path))),
       f"the service sees no home folders, such as that of {path}; name another Python, such as PYTHON=")
      for path in ("/root/.pyenv/versions/3.13/bin/python3.13", "/home/ann/python3")],
])  # fmt: skip
def test_a_python_that_the_service_cannot_use_is_refused(
    installation: Installation, tmp_path: Path, python: Callable[[Path], str], expected: str
) -> None:
    assert expected in refusal(installation, "--wheels", wheel(tmp_path / "1", "1.0"), PYTHON=python(tmp_path))
    assert not installation.prefix.exists()


@pytest.mark.parametrize("unreadable", ["config.yml", "."])
def test_a_configuration_that_the_service_cannot_read_is_refused(
    installation: Installation, tmp_path: Path, unreadable: str
) -> None:
    wheels = wheel(tmp_path / "1", "1.0")
    assert installation.install("--wheels", wheels).returncode == 0
    etc = installation.root / "etc" / "lichessbot"
    (etc / unreadable).chmod(0o700)
    line = refusal(installation, "--wheels", wheels)
    assert line == (
        f"the service, which has a user of its own, cannot read {etc}/config.yml: chmod o+rX {etc} {etc}/config.yml"
    )
    subprocess.run(["chmod", "o+rX", etc, etc / "config.yml"], check=True)
    assert installation.install("--wheels", wheels).returncode == 0
    assert (etc / "token").stat().st_mode & 0o077 == 0


def test_the_check_finds_the_engines_that_the_service_finds(installation: Installation, tmp_path: Path) -> None:
    program(tmp_path / "1" / "lichessbot_daemon-1.0.whl", '#!/bin/sh\necho "PATH=$PATH"\n')
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/usr/local/games:/usr/games"
    assert settings("Environment") == [f"PATH={path}"], "Debian has its engines in /usr/games"
    assert f"\nPATH={path}\n" in installation.install("--wheels", tmp_path / "1").stdout


def test_a_version_that_pip_cannot_install_changes_nothing(installation: Installation, tmp_path: Path) -> None:
    assert installation.install("--wheels", wheel(tmp_path / "1", "1.0")).returncode == 0
    environment = installation.environment()
    python = Path(environment["PYTHON"])
    python.write_text(f"{python.read_text()}cat >\"$4/bin/pip\" <<'END'\n{BROKEN_PIP}END\n")
    done = installation.install("--wheels", wheel(tmp_path / "2", "2.0"), environment=environment)
    said, ours = done.stderr.splitlines()
    assert (done.returncode, said) == (1, "pip: no network")
    assert ours.endswith(" cannot be installed, as pip says above; nothing has changed")
    assert installation.version() == "1.0"


def test_pip_runs_what_it_unpacks_in_the_folder_of_the_version(installation: Installation, tmp_path: Path) -> None:
    """Where /tmp is mounted noexec, Cython could not be loaded from there."""
    environment = installation.environment()
    python = Path(environment["PYTHON"])
    python.write_text(python.read_text().replace("\nnice >", '\nls -d "$TMPDIR" >"$(dirname "$0")/tmpdir"\nnice >'))
    installation.install("--wheels", wheel(tmp_path / "1", "1.0"), environment=environment).check_returncode()
    folder = (installation.prefix / "current").resolve()
    assert (folder / "bin" / "tmpdir").read_text() == f"{folder}/tmp\n"
    assert not (folder / "tmp").exists()


@pytest.mark.parametrize("action", ["upgrade", "rollback"])
def test_a_version_whose_service_does_not_start_gives_way_to_the_one_before(
    installation: Installation, tmp_path: Path, action: str
) -> None:
    first, second = wheel(tmp_path / "1", "1.0"), wheel(tmp_path / "2", "2.0")
    assert installation.install("--wheels", first).returncode == 0
    if action == "rollback":
        assert installation.install("--wheels", second).returncode == 0
    options, broken, good = (("--rollback",), "1.0", "2.0") if action == "rollback" else (
        ("--wheels", second), "2.0", "1.0"
    )  # fmt: skip
    environment = installation.environment()
    starts = SYSTEMCTL.format(links=installation.prefix, log=installation.starts)
    shebang, _, rest = starts.partition("\n")
    broken_start = BROKEN_START.format(links=installation.prefix, version=broken)
    program(Path(environment["SYSTEMCTL"]), f"{shebang}\n{broken_start}{rest}")
    done = installation.install(*options, environment=environment)
    first_line, last_line = done.stderr.splitlines()[-2:]
    assert (done.returncode, first_line) == (
        1, "install: the service did not start; see journalctl -u lichessbot.service"
    )  # fmt: skip
    assert last_line.endswith(" is in use again")
    assert installation.version() == installation.started() == good
    # Once the reason is gone, the same command succeeds.
    assert installation.install(*options, token=TOKEN).returncode == 0
    assert installation.version() == installation.started() == broken
