"""A real systemd as process 1 of a throw-away container, for the tests of the shipped unit.

    python -m tests.systemd.boot        installs the tools and builds the root file system, once

Needs root and Debian; no virtual machine, no network, no systemd on the host. The root file system is a
minimal Debian of the host's own release; every boot sees it through an overlay in memory, so that nothing
of a run is left behind. The only network inside is its own loopback.
"""

import argparse
import fcntl
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

CACHE = Path.home() / ".cache" / "lichessbot-tests"
PACKAGES = ("systemd", "systemd-sysv", "dbus", "libnss-systemd", "python3", "python3-venv", "procps")
# What would only delay the boot.
UNWANTED = ("getty.target", "console-getty.service", "systemd-logind.service", "systemd-timesyncd.service",
            "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer")
TOOLS = {"mmdebstrap": "mmdebstrap", "systemd-nspawn": "systemd-container"}  # command: Debian package
LIMITS = ("memory", "pids")  # control groups, where they are of version 1
BOOT_TIMEOUT_S = 60
HALT_TIMEOUT_S = 10
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class CannotBoot(Exception):
    """This machine cannot do it, and why."""


class Machine:
    """A booted container, by the process id of its systemd."""

    def __init__(self, leader: int) -> None:
        self._leader = leader

    def run(self, *command: str, check: bool = True, **environment: str) -> str:
        """What a command inside says on both outputs, run as root."""
        settings = [f"{name}={value}" for name, value in {"PATH": PATH, "HOME": "/root", **environment}.items()]
        done = subprocess.run(
            ["nsenter", "--target", str(self._leader), "--all", "--", "env", "-i", *settings, *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}"
        return done.stdout.strip()

    def show(self, unit: str, name: str) -> str:
        """One property of a unit, such as NRestarts."""
        return self.run("systemctl", "show", "--property", name, "--value", unit)

    def request(self, url: str, method: str = "GET", token: str = "", *, check: bool = True) -> str:
        """The body of an answer; by bash, as Python takes ten times as long to ask."""
        host, _, path = url.removeprefix("http://").partition("/")
        address, port = host.split(":")
        head = (f"{method} /{path} HTTP/1.0", f"Host: {host}", f"Authorization: Bearer {token}", "Content-Length: 0")
        ask = f'exec 3<>/dev/tcp/{address}/{port} && printf "%s\\r\\n" "$@" "" >&3 && cat <&3'
        answer = self.run("bash", "-c", ask, "bash", *head, check=check)
        status, _, rest = answer.partition("\n")
        assert not check or status.split()[1] == "200", f"{method} {url}: {answer}"
        return rest.partition("\n\n")[2]

    def write(self, path: str, text: str) -> None:
        """A file inside, with the folders it needs."""
        self.run("sh", "-c", f'mkdir -p "$(dirname {path})" && cat >{path} <<"END"\n{text}\nEND')

    def until(self, fact: Callable[[], object], patience_s: float = 200.0) -> None:
        deadline = time.monotonic() + patience_s
        while not fact():
            if time.monotonic() > deadline:
                log = self.log()[-6000:]
                raise AssertionError(f"the fact does not hold after {patience_s:g} s. The end of the log:\n{log}")
            time.sleep(0.25)        # each look starts a program inside

    def log(self, unit: str = "lichessbot") -> str:
        return self.run("journalctl", "--no-pager", "--output", "short-monotonic", "--unit", unit)


@contextmanager
def booted(binds: Mapping[Path, str]) -> Iterator[Machine]:
    """A fresh machine that sees the folders `binds`, read-only. Raises CannotBoot."""
    rootfs = root_file_system()
    # Limits of version 1 come read-only from nspawn: systemd would then ignore MemoryMax without a word.
    limits = [name for name in LIMITS if name in control_groups()]
    remount = "".join(f"mount -o remount,bind,rw,nosuid,nodev,noexec /sys/fs/cgroup/{name} && " for name in limits)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = stack.enter_context((scratch / "log").open("w+"))
        ready = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        ready.bind(str(scratch / "notify"))
        groups = stack.enter_context(_groups_of_our_own())
        keep = () if Path("/run/systemd/system").is_dir() else ("--keep-unit",)
        nspawn = subprocess.Popen(
            [*_entering(groups if keep else ()), "setpriv", "--pdeathsig", "KILL",
             "systemd-nspawn", "--quiet", f"--directory={rootfs}", "--volatile=overlay", "--register=no",
             f"--machine=lichessbot-{os.getpid()}", *keep, "--private-network", "--notify-ready=yes",
             "--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=pipe",
             *(f"--bind-ro={host.resolve()}:{inside}" for host, inside in binds.items()),
             "sh", "-c", f"{remount} exec setpriv --pdeathsig KILL /lib/systemd/systemd"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, "NOTIFY_SOCKET": str(scratch / "notify"), "SYSTEMD_NSPAWN_LOCK": "0"},
        )  # fmt: skip
        leader = None
        try:
            leader = _leader_when_ready(nspawn, ready)
            if leader is None:
                log.seek(0)
                raise CannotBoot(f"systemd did not come up: {log.read().strip()}")
            threading.Thread(target=_read_on, args=(ready,), daemon=True).start()
            yield Machine(leader)
        finally:
            _end(nspawn, leader)


def _end(nspawn: "subprocess.Popen[bytes]", leader: int | None) -> None:
    """At once: an orderly halt would wait for every stubborn process, and nothing is kept anyway."""
    if leader is not None and nspawn.poll() is None:
        os.kill(leader, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # it tidies up behind its container
            nspawn.wait(HALT_TIMEOUT_S)
    nspawn.kill()
    nspawn.wait()


def _leader_when_ready(nspawn: "subprocess.Popen[bytes]", ready: socket.socket) -> int | None:
    """nspawn says which process is systemd, and passes on when that one is ready."""
    leader, deadline = None, time.monotonic() + BOOT_TIMEOUT_S
    ready.settimeout(0.2)
    while time.monotonic() < deadline and nspawn.poll() is None:
        with suppress(TimeoutError):
            fields = dict(line.partition("=")[::2] for line in ready.recv(4096).decode().splitlines())
            leader = int(fields.get("X_NSPAWN_LEADER_PID", leader or 0)) or None
            if leader is not None and fields.get("READY") == "1":
                return leader
    return None


def _read_on(ready: socket.socket) -> None:
    """Read what nspawn passes on: systemd tells of every slow job, and stands still if nobody reads that."""
    while ready.fileno() != -1:
        with suppress(OSError):
            ready.recv(4096)


# Control groups


def control_groups() -> dict[str, Path]:
    """Our own group's folder in every mounted hierarchy, by controller; "" is version 2."""
    ours = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, group = line.split(":", 2)
        ours |= dict.fromkeys(names.split(","), group.lstrip("/"))
    found = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2" and "" in ours:
            found[""] = Path(where) / ours[""]
        elif kind == "cgroup":
            found |= {name: Path(where) / ours[name] for name in options.split(",") if name in ours}
    return found


@contextmanager
def _groups_of_our_own() -> Iterator[Sequence[Path]]:
    """Below our own group, in each hierarchy that systemd uses: nspawn would leave its traces in the root."""
    groups = [
        folder / f"lichessbot-test.{os.getpid()}"
        for name, folder in control_groups().items()
        if name in ("", "name=systemd", *LIMITS)
    ]
    try:
        for group in groups:
            group.mkdir(exist_ok=True)
        yield groups
    except OSError as error:
        raise CannotBoot(f"no control group can be made: {error}") from error
    finally:
        for group in groups:
            for folder, _, _ in os.walk(group, topdown=False):
                with suppress(OSError):
                    os.rmdir(folder)


def _entering(groups: Sequence[Path]) -> Sequence[str]:
    """The beginning of a command line that goes into the groups and runs the rest of it there."""
    enter = "".join(f"echo $$ >{group}/cgroup.procs; " for group in groups)
    return ("sh", "-c", f'{enter}exec "$@"', "sh")


# The root file system


def root_file_system() -> Path:
    """Built if the tools are there. Raises CannotBoot."""
    if os.geteuid() != 0:
        raise CannotBoot("only root can boot a container")
    system = platform.freedesktop_os_release()
    if system.get("ID") != "debian":
        raise CannotBoot(f"the container is made by Debian's own tools, and this is {system.get('ID')}")
    missing = [command for command in TOOLS if not shutil.which(command)]
    if missing:
        raise CannotBoot(f"{' and '.join(missing)} missing: `python -m tests.systemd.boot` installs what it needs")
    target = CACHE / f"{system['VERSION_CODENAME']}-{platform.machine()}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _build(target, system["VERSION_CODENAME"])
    return target


def _build(target: Path, release: str) -> None:
    new = target.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    done = subprocess.run(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory",
         "--include=" + ",".join(PACKAGES), *(f"--aptopt={option}" for option in apt_options()),
         *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "man")),
         '--customize-hook=systemctl --quiet --root="$1" mask ' + " ".join(UNWANTED),
         '--customize-hook=rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d "$1"/etc/machine-id',
         '--customize-hook=touch "$1"/etc/machine-id', '--customize-hook=echo booted >"$1"/etc/hostname',
         release, str(new), "-"],
        input=apt_sources(release), capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        shutil.rmtree(new, ignore_errors=True)
        raise CannotBoot(f"mmdebstrap: {done.stderr.strip()[-500:]}")
    new.rename(target)


def apt_sources(release: str) -> str:
    """The archives that the host's apt is set up for."""
    wanted = {release, f"{release}-updates", f"{release}-security"}
    rows = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    return "".join(sorted({f"deb {row}\n" for row in rows if row.split()[1] in wanted}))


def apt_options() -> Sequence[str]:
    """The host's way out and its trust in dates; the rest of its configuration is its own business."""
    dump = subprocess.run(["apt-config", "dump", "Acquire"], check=True, capture_output=True, text=True).stdout
    names = ("Proxy", "Check-Valid-Until", "Check-Date")
    return [row for row in dump.splitlines() if any(name in row for name in names) and not row.endswith('"";')]


def main() -> None:
    argparse.ArgumentParser(
        description="Boot a real systemd once, after installing the Debian packages that are missing for it (as root)."
    ).parse_args()
    missing = [package for command, package in TOOLS.items() if not shutil.which(command)]
    if missing:
        apt = ("apt-get", "-qq", "-o", "Dpkg::Use-Pty=0")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*apt, "update"], check=True, env=environment)
        subprocess.run([*apt, "install", "-y", "--no-install-recommends", *missing], check=True, env=environment)
    with booted({}) as machine:
        print(machine.run("systemctl", "is-system-running", "--wait"))


if __name__ == "__main__":
    try:
        main()
    except CannotBoot as error:
        sys.exit(str(error))
