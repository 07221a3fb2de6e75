"""deploy/install.sh below a folder, with stand-ins for Python, systemd and the bot."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "deploy" / "install.sh"
TOKEN = "lip_secret0123456789"
# Says what it was asked, and passes its check unless it is a bad one.
PROGRAM = """\
#!/bin/sh
echo "{version} $1 token=$LICHESS_BOT_TOKEN records=$STATE_DIRECTORY"
exit {code}
"""
# `python -c` tells the release; `python -m venv --clear FOLDER` makes a pip that takes the program above for a wheel,
# also in a checkout.
PYTHON = """\
#!/bin/sh
[ "$1" != -c ] || { echo "$RELEASE"; exit; }
rm -rf "$4" && mkdir -p "$4/bin"
cat >"$4/bin/pip" <<"END"
#!/bin/sh
while [ $# -gt 1 ] && [ "$1" != --find-links ]; do shift; done
find "${2:-$1}" -name 'lichessbot_daemon-*.whl' -exec cp {} "$(dirname "$0")/lichessbot" \\;
(cd "$1" && find . -type f) >"$(dirname "$0")/built"
nice >"$(dirname "$0")/niceness"
END
chmod +x "$4/bin/pip"
"""
# Notes which version the service started with.
SYSTEMCTL = """\
#!/bin/sh
[ "$1" != restart ] || "{links}/current/bin/lichessbot" >>"{log}"
"""
# Stands for every program that the script calls. At one of them the power fails: the script and everything that it has
# started are killed at once.
PROGRAMS = ("mkdir", "sed", "mv", "cat", "cp", "chmod", "ln", "rm", "touch", "sync", "cmp", "readlink", "cksum")
CUT = """\
#!/bin/sh
echo {name} >>"{calls}"
[ "$(wc -l <"{calls}")" -lt {cut} ] || kill -KILL 0
exec /bin/{name} "$@"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def wheel(folder: Path, version: str, code: int = 0) -> Path:
    """A folder with one version, whose `lichessbot check` ends with `code`."""
    return program(folder / f"lichessbot_daemon-{version}.whl", PROGRAM.format(version=version, code=code)).parent


class Installation:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.script = SCRIPT
        self.prefix = root / "opt" / "lichessbot"
        self.starts = root.parent / "starts"
        self.release = "3 11"
        """Of Python."""
        self.umask = 0o022

    def environment(self, token: str | None = TOKEN) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name != "LICHESS_BOT_TOKEN"}
        if token is not None:
            environment["LICHESS_BOT_TOKEN"] = token
        systemctl = SYSTEMCTL.format(links=self.prefix, log=self.starts)
        environment["PYTHON"] = str(program(self.root.parent / "python", PYTHON))
        environment["RELEASE"] = self.release
        environment["SYSTEMCTL"] = str(program(self.root.parent / "systemctl", systemctl))
        return environment

    def install(
        self,
        *options: str | Path,
        token: str | None = TOKEN,
        environment: Mapping[str, str] | None = None,
        new_session: bool = False,
    ) -> "subprocess.CompletedProcess[str]":
        """Run the installer to its end; `environment` takes the place of the one with `token`."""
        return subprocess.run(
            [self.script, "--root", self.root, *options],
            env=environment or self.environment(token), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=100, umask=self.umask, start_new_session=new_session,
        )  # fmt: skip

    def install_until(self, cut: int, *options: str | Path) -> bool:
        """Kill the installer at the program with this number. Return whether it ended before."""
        calls = self.root.parent / "calls"
        calls.unlink(missing_ok=True)
        for name in PROGRAMS:
            program(self.root.parent / "cut" / name, CUT.format(calls=calls, cut=cut, name=name))
        environment = self.environment()
        environment["PATH"] = f"{self.root.parent / 'cut'}:{environment['PATH']}"
        done = self.install(*options, environment=environment, new_session=True)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode == 0

    def version(self, link: str = "current") -> str:
        """What is in use."""
        return subprocess.check_output([self.prefix / link / "bin" / "lichessbot"], text=True).split()[0]

    def started(self) -> str:
        """The version that runs."""
        return self.starts.read_text().split("\n")[-2].split()[0]
