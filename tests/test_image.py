"""The container image: built by buildah from a fresh Debian, which stands for the one of a registry, and run."""

import json
import os
import platform
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import __version__
from tests.systemd.boot import apt_options, apt_sources

ROOT = Path(__file__).parent.parent
TOOLS = ("buildah", "mmdebstrap")
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]
CERTIFICATES, PIP_CONFIG = Path("/etc/ssl/certs"), Path("/etc/pip.conf")
MOST_BYTES = 100_000_000
FILES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "config.example.yml")
FOLDERS = ("engine", "lichessbot", "deploy")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


class Buildah:
    """buildah with a storage of its own."""

    def __init__(self, folder: Path) -> None:
        storage = ("--root", str(folder / "storage"), "--runroot", str(folder / "run"))
        self.command = ("buildah", "--storage-driver", "vfs", *storage)

    def __call__(self, *words: str) -> str:
        done = subprocess.run([*self.command, *words], capture_output=True, text=True, timeout=3000, check=False)
        assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout.strip()

    def run(self, container: str, *words: str) -> list[str]:
        """Return the command that runs these words in the container, as the image's user, on the host's network."""
        return [*self.command, "run", "--isolation", "chroot", "--network", "host", container, "--", *words]


@pytest.fixture(scope="module")
def buildah(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buildah]:
    folder = tmp_path_factory.mktemp("buildah")
    buildah = Buildah(folder)
    yield buildah
    buildah("rm", "--all")
    buildah("rmi", "--all", "--force")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def container(buildah: Buildah, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a container of the image."""
    folder = tmp_path_factory.mktemp("context")
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    base = tmp_path_factory.mktemp("base") / "debian.tar"
    subprocess.run(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--include=ca-certificates",
         *(f"--aptopt={option}" for option in apt_options()), release, str(base), "-"],
        input=apt_sources(release), text=True, check=True, capture_output=True,
    )  # fmt: skip
    debian = buildah("from", "scratch")
    buildah("add", debian, str(base), "/")
    buildah("commit", "--rm", debian, "localhost/debian")
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, symlinks=True)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    binds = [f"--volume={path}:{path}:ro" for path in (CERTIFICATES, PIP_CONFIG) if path.exists()]
    buildah(
        "build", "--isolation", "chroot", "--network", "host", "--build-arg", "BASE=localhost/debian", *binds,
        "--format", "docker", "--file", str(folder / "deploy" / "Containerfile"), "--tag", "localhost/bot", str(folder),
    )  # fmt: skip
    return buildah("from", "localhost/bot")


def test_the_image_is_small_and_has_no_shell(buildah: Buildah, container: str) -> None:
    root = Path(buildah("mount", container))
    size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    assert size < MOST_BYTES, f"{size / 1e6:.0f} MB"
    assert not list(root.glob("usr/bin/*sh"))


def test_the_settings_of_the_image(buildah: Buildah, container: str) -> None:
    config = json.loads(buildah("inspect", container))["Docker"]["config"]
    assert config["Entrypoint"] == ["lichessbot"], "no shell that would keep the signal"
    assert config["StopSignal"] == "SIGTERM"
    assert config["User"] == "10001:10001"
    assert config["Healthcheck"]["Test"][0] == "CMD"


def test_the_image_plays_a_rehearsal_and_the_bench(buildah: Buildah, container: str) -> None:
    def answer(*words: str) -> str:
        return subprocess.check_output(buildah.run(container, *words), text=True, timeout=300)

    assert answer("lichessbot", "--version") == f"lichessbot {__version__}\n"
    assert "Nodes searched: " in answer("lichessbot-engine", "bench", "4")
    assert answer("lichessbot", "rehearse").splitlines()[-1].startswith("2 games: 2 won")


def test_the_stop_signal_reaches_the_daemon_and_ends_it_in_order(
    buildah: Buildah, container: str, tmp_path: Path
) -> None:
    """The daemon is the container's first process; nothing passes the signal on."""
    log = tmp_path / "log"
    environment = "--env=LICHESS_BOT_TOKEN=lip_nobody0123456789"
    # Nobody answers at this address: the daemon keeps trying, and is stopped meanwhile.
    config = "url: http://127.0.0.1:9\n"
    root = Path(buildah("mount", container))
    (root / "etc" / "lichessbot.yml").write_text(config)
    command = buildah.run(container, "lichessbot", "run", "--config", "/etc/lichessbot.yml")
    command.insert(command.index("run") + 1, environment)
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        deadline = time.monotonic() + 60
        while "command.failed" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        (daemon,) = (
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if path.read_bytes().split(b"\0")[-4:] == [b"run", b"--config", b"/etc/lichessbot.yml", b""]
            and path.read_bytes().startswith(b"/opt/lichessbot/bin/python")
        )
        os.kill(daemon, signal.SIGTERM)
        assert process.wait(30) == 0, log.read_text()
    assert "stop.asked" in log.read_text()
