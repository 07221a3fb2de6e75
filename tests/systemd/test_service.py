"""The shipped unit and installer under a real systemd, with the daemon, its engines and an embedded Lichess inside.

One machine for all: the tests run in the order in which they stand, as an operator's day would.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systemd.boot import CannotBoot, Machine, booted
from tests.systemd.test_unit import settings
from tests.systemd.wheels import ROOT, pack, pack_all

pytestmark = pytest.mark.systemd

UNIT = "lichessbot.service"
URL = "http://127.0.0.1:9663"
SECOND_UNIT = "lichessbot@second.service"
SECOND_URL = "http://127.0.0.1:9664"
INSTALL = "/checkout/deploy/install.sh"
CONFIG = "/etc/lichessbot/config.yml"
PAGE = "127.0.0.1:8080"
# As shipped, but for the address and the pace: one game at a time, and none is over soon.
LITTLE_THOUGHT = "hash_mb: 16, nodes: 5000, ponder: false"
OUR_CONFIG = f"""\
url: {URL}
token_file: /run/credentials/lichessbot.service/token
state_dir: /var/lib/lichessbot
log_format: fields
rate_limiting_delay: 1000
engine: {{{LITTLE_THOUGHT}}}
status: {{listen: {PAGE}}}
"""
# A table that is larger than the daemon; its engine has all of it before the first move.
A_LARGE_TABLE_MB = 300
# Bytes: what is used up at once, and what no daemon can start with.
LITTLE_ROOM = 8 << 20
TOO_LITTLE = "16M"
# Enters a control group, of version 1 or 2, and uses this many bytes.
GROW = """
for folder in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    ! test -e "$folder$1/cgroup.procs" || echo $$ >"$folder$1/cgroup.procs"
done
exec python3 -c "b'x' * $2"
"""
# As shipped, but for what a test cannot wait for.
IN_A_HURRY = """\
[Service]
RestartSec=100ms
"""
# For one test only: a busy machine keeps a daemon waiting for seconds, too.
CLOSELY_WATCHED = """\
[Service]
WatchdogSec=4
TimeoutAbortSec=2
"""
# By how much an engine yields; no priority is lower than 19, which these tests may have themselves.
YIELDS = min(5, 19 - os.nice(0))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    wheels, newer = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("newer")
    pack_all(wheels)
    for wheel in wheels.iterdir():
        if not wheel.name.startswith("lichessbot_daemon-"):
            (newer / wheel.name).hardlink_to(wheel)
    pack("lichessbot-daemon", newer, ".post1")
    site = Path(pytest.__file__).parents[1]
    binds = {wheels: "/wheels", newer: "/newer", ROOT: "/checkout", site: "/site"}
    try:
        with booted(binds) as machine:
            inside = machine.run("python3", "-c", "import sys; print(*sys.version_info[:2])")
            if inside != f"{sys.version_info[0]} {sys.version_info[1]}":
                pytest.skip(f"what is installed here does not load in the container's Python {inside}")
            yield machine
    except CannotBoot as reason:
        pytest.skip(str(reason))


def serve(machine: Machine, unit: str, url: str) -> str:
    """Start an embedded Lichess. Return the bot's token there."""
    machine.run(
        "systemd-run", "--quiet", f"--unit={unit}", "--setenv=PYTHONPATH=/checkout:/site",
        "--setenv=PYTHONDONTWRITEBYTECODE=1", "--setenv=PYTHONUNBUFFERED=1",
        "python3", "-P", "-m", "lichessbot", "rehearse", "--serve", "--port", url.rpartition(":")[2],
        "--games", "1000", "--concurrency", "1", "--clock", "600+0", "--opponent", "engine", "--depth", "6",
    )  # fmt: skip
    machine.until(lambda: "token: " in machine.log(unit))
    return machine.log(unit).partition("token: ")[2].split()[0]


@pytest.fixture(scope="module")
def token(machine: Machine) -> str:
    """The embedded Lichess is running, and this is the bot's token there."""
    return serve(machine, "rehearsal", URL)


class Service:
    """The bot's service, as its operator sees it."""

    def __init__(self, machine: Machine, token: str, unit: str = UNIT, url: str = URL) -> None:
        self.machine = machine
        self._token = token
        self._unit = unit
        self._url = url

    def show(self, name: str) -> str:
        return self.machine.show(self._unit, name)

    @property
    def main_pid(self) -> int:
        return int(self.show("MainPID"))

    def games(self) -> dict[str, int]:
        """What the server says is being played: by id, how many full moves it has."""
        playing = json.loads(self.machine.request(f"{self._url}/api/account/playing", token=self._token))["nowPlaying"]
        return {game["gameId"]: int(game["fen"].split()[-1]) for game in playing if game["fen"].count(" ") == 5}

    def game(self) -> str:
        """The id of a game that has just begun, as soon as there is one: it will not end under our hands.

        An older one is resigned, as by its operator on the website, unless it ends meanwhile: some are lost by move 18.
        """
        while True:
            self.machine.until(self.games)
            for game, moves in self.games().items():
                if moves <= 3:
                    return game
                self.machine.request(f"{self._url}/api/bot/game/{game}/resign", "POST", self._token, check=False)
            time.sleep(0.2)

    def until_moved(self, game: str) -> None:
        """Wait until the game is a move of both further."""
        before = self.games()[game]
        self.machine.until(lambda: self.games().get(game, before) >= before + 1)

    def until_restarted(self, pid: int) -> None:
        self.machine.until(lambda: self.main_pid not in (0, pid) and self.show("SubState") == "running")


def install(machine: Machine, *options: str, **environment: str) -> str:
    """The last thing the installer says."""
    return machine.run(INSTALL, *options, **environment).splitlines()[-1]


def largest_process(machine: Machine) -> int:
    """The most memory that a process inside has, in bytes."""
    lines = machine.run("sh", "-c", "cat /proc/[0-9]*/statm", check=False).splitlines()     # some may just have ended
    return os.sysconf("SC_PAGE_SIZE") * max(int(words[1]) for line in lines if (words := line.split())[0].isdigit())


def limit_memory(machine: Machine, limit: str) -> None:
    machine.run("systemctl", "set-property", "--runtime", UNIT, f"MemoryMax={limit}")


def start_again(machine: Machine, service: Service) -> None:
    """Let systemd read its files again, and start the daemon by them."""
    machine.run("systemctl", "daemon-reload")
    pid = service.main_pid
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT)
    service.until_restarted(pid)


@pytest.fixture
def service(machine: Machine, token: str) -> Service:
    return Service(machine, token)


def test_installing_starts_a_service_that_plays(machine: Machine, service: Service, token: str) -> None:
    machine.write(CONFIG, OUR_CONFIG)
    machine.write(f"/etc/systemd/system/{UNIT}.d/hurry.conf", IN_A_HURRY)
    assert install(machine, "--wheels", "/wheels", LICHESS_BOT_TOKEN=token).endswith("is in use")
    assert service.show("SubState") == "running"
    game = service.game()
    service.until_moved(game)
    machine.until(lambda: service.show("StatusText").startswith("listening; 1 game"))


def test_installing_again_changes_nothing(machine: Machine, service: Service) -> None:
    pid = service.main_pid
    assert install(machine, "--wheels", "/wheels").endswith("was in use already")
    assert service.main_pid == pid


def test_the_token_is_a_credential_and_nowhere_else(machine: Machine, service: Service, token: str) -> None:
    pid = service.main_pid
    assert machine.run("cat", "/run/credentials/lichessbot.service/token") == token
    for place in (f"/proc/{pid}/environ", f"/proc/{pid}/cmdline", CONFIG):
        assert token not in machine.run("cat", place)
    assert token not in machine.log()
    assert machine.run("grep", "-rc", token, "/var/lib/private/lichessbot", check=False).count(":0") >= 1
    assert " holds the token" not in machine.log()


def test_the_daemon_has_no_rights(machine: Machine, service: Service) -> None:
    status = dict(
        line.split(":\t", 1) for line in machine.run("cat", f"/proc/{service.main_pid}/status").splitlines()
        if ":\t" in line
    )  # fmt: skip
    assert int(status["Uid"].split()[0]) > 60000, "a user that systemd allocates"
    assert int(status["CapEff"], 16) == 0
    assert status["NoNewPrivs"] == "1"


def test_the_page_is_served_from_inside_the_sandbox(machine: Machine, service: Service) -> None:
    machine.until(service.games)
    assert machine.request(f"http://{PAGE}/readyz") == "ok"
    assert "<!doctype html>" in machine.request(f"http://{PAGE}/").lower()
    status = json.loads(machine.request(f"http://{PAGE}/api/status"))
    assert status["process_id"] == service.main_pid
    assert status["engine"]["processes"] >= 1
    assert status["engine"]["memory_bytes"] > 30 << 20, "also that of the engine can be read"
    assert "\nlichessbot_event_stream_open 1.0\n" in machine.request(f"http://{PAGE}/metrics")


def test_the_filter_forbids_unused_calls_and_allows_a_lower_priority(machine: Machine, service: Service) -> None:
    filters = [f"--property=SystemCallFilter={line}" for line in settings("SystemCallFilter")]
    # PTRACE_TRACEME needs no privilege: only the filter can refuse it.
    code = "import ctypes, os; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0), -os.nice(0) + os.nice(5))"
    run = ("systemd-run", "--quiet", "--wait", "--pipe", "--collect")
    assert machine.run(*run, "python3", "-c", code) == f"0 {YIELDS}"
    filtered = machine.run(*run, "--property=SystemCallErrorNumber=EPERM", *filters, "python3", "-c", code)
    assert filtered == f"-1 {YIELDS}"
    daemon = int(machine.run("ps", "-p", str(service.main_pid), "-o", "ni="))
    engines = machine.run("ps", "--ppid", str(service.main_pid), "-o", "ni=").split()
    assert engines
    assert {int(it) - daemon for it in engines} == {YIELDS}


def test_memory_is_limited(machine: Machine, service: Service) -> None:
    limit = int(service.show("MemoryMax"))
    total_kib = int(machine.run("sed", "-n", "s/^MemTotal: *\\([0-9]*\\) kB/\\1/p", "/proc/meminfo"))
    assert limit == pytest.approx(total_kib * 1024 * 0.75, rel=0.01)
    assert int(service.show("MemoryCurrent")) < limit


def test_a_reload_is_taken_over_in_mid_game(machine: Machine, service: Service) -> None:
    pid = service.main_pid
    machine.write(CONFIG, OUR_CONFIG + "abort_time: 45\n")
    machine.run("systemctl", "reload", UNIT)
    machine.until(lambda: "reload.key key=abort_time old=30 new=45" in machine.log())
    machine.write(CONFIG, "abort_time: soon\n")
    machine.run("systemctl", "reload", UNIT)
    machine.until(lambda: "reload.refused" in machine.log())
    machine.write(CONFIG, OUR_CONFIG)
    assert service.main_pid == pid
    assert service.show("SubState") == "running"


def test_a_killed_daemon_is_back_in_its_game_and_reads_the_token_anew(
    machine: Machine, service: Service, token: str
) -> None:
    game, pid = service.game(), service.main_pid
    service.until_moved(game)
    machine.write("/etc/lichessbot/token", f"{token}\nwritten anew\n")
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=SIGKILL", UNIT)
    service.until_restarted(pid)
    service.until_moved(game)
    assert machine.run("cat", "/run/credentials/lichessbot.service/token").endswith("\nwritten anew")


def test_a_daemon_that_stands_still_is_replaced(machine: Machine, service: Service) -> None:
    watch = f"/etc/systemd/system/{UNIT}.d/watch.conf"
    machine.write(watch, CLOSELY_WATCHED)
    start_again(machine, service)
    machine.run("rm", watch)
    machine.run("systemctl", "daemon-reload")       # counts from the next start on
    game, restarts, pid = service.game(), int(service.show("NRestarts")), service.main_pid
    machine.run("kill", "-STOP", str(pid))
    service.until_restarted(pid)
    assert int(service.show("NRestarts")) > restarts
    assert "Watchdog timeout" in machine.log()
    service.until_moved(game)


def test_an_engine_that_needs_too_much_memory_is_killed_alone_and_replaced(machine: Machine, service: Service) -> None:
    """The kernel kills the largest process of the service: the engine, also if another one needs what is left."""
    machine.write(CONFIG, OUR_CONFIG.replace("hash_mb: 16", f"hash_mb: {A_LARGE_TABLE_MB}"))
    start_again(machine, service)
    game, pid, died = service.game(), service.main_pid, machine.log().count("engine.died")

    def is_killed() -> bool:
        machine.until(lambda: largest_process(machine) > A_LARGE_TABLE_MB << 20)      # the engine has its table
        limit_memory(machine, str(int(service.show("MemoryCurrent")) + LITTLE_ROOM))
        # It may be killed too: the next engine soon wants as much.
        machine.run("sh", "-c", GROW, "sh", service.show("ControlGroup"), str(A_LARGE_TABLE_MB << 20), check=False)
        return machine.log().count("engine.died") > died

    machine.until(is_killed)           # not at once if a game ended just then, and its engine gave the table back
    service.until_moved(game)
    assert service.main_pid == pid
    limit_memory(machine, "75%")
    machine.write(CONFIG, OUR_CONFIG)


def test_a_daemon_that_the_limit_kills_is_back_as_soon_as_there_is_memory(machine: Machine, service: Service) -> None:
    game, restarts = service.game(), int(service.show("NRestarts"))
    limit_memory(machine, TOO_LITTLE)
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT)
    machine.until(lambda: int(service.show("NRestarts")) >= restarts + 3)
    limit_memory(machine, "75%")
    service.until_moved(game)


@pytest.mark.long
def test_an_upgrade_and_the_way_back_do_not_cost_the_game(machine: Machine, service: Service) -> None:
    pid = service.main_pid
    install(machine, "--wheels", "/newer")
    assert service.main_pid != pid
    assert installed_version(machine).endswith(".post1")
    game = service.game()
    install(machine, "--rollback")
    assert not installed_version(machine).endswith(".post1")
    service.until_moved(game)


def installed_version(machine: Machine) -> str:
    """The version of the wheel; `--version` is that of its files, which are the same."""
    ask = "from importlib.metadata import version; print(version('lichessbot-daemon'))"
    return machine.run("/opt/lichessbot/current/bin/python", "-c", ask)


def test_a_stop_waits_for_the_games_and_no_longer_than_the_grace(machine: Machine, service: Service) -> None:
    game = service.game()
    machine.write(CONFIG, OUR_CONFIG + "stop_grace: 10\n")
    machine.run("systemctl", "reload", UNIT)
    started_at = time.monotonic()
    machine.run("systemctl", "stop", "--no-block", UNIT)
    machine.until(lambda: "takes no new games" in service.show("StatusText"))
    service.until_moved(game)
    machine.until(lambda: service.show("ActiveState") == "inactive")
    assert 10.0 <= time.monotonic() - started_at < 60.0
    assert service.show("ExecMainStatus") == "4"
    assert service.show("Result") == "success"
    processes = machine.run("ps", "-e", "-o", "args").splitlines()
    assert not [line for line in processes if "engine" in line and "rehearse" not in line], "engines end with it"
    machine.write(CONFIG, OUR_CONFIG)
    machine.run("systemctl", "start", UNIT)
    service.until_moved(game)


def test_a_second_bot_plays_beside_the_first(machine: Machine, service: Service) -> None:
    pid = service.main_pid
    token = serve(machine, "second-rehearsal", SECOND_URL)
    config = OUR_CONFIG.replace(URL, SECOND_URL).replace("lichessbot.service", SECOND_UNIT)
    config = config.replace(PAGE, "127.0.0.1:8081").replace("/var/lib/lichessbot", "/var/lib/lichessbot-second")
    machine.write("/etc/lichessbot-second/config.yml", config)
    answer = install(machine, "--instance", "second", "--wheels", "/wheels", LICHESS_BOT_TOKEN=token)
    assert answer.endswith("is in use")
    second = Service(machine, token, SECOND_UNIT, SECOND_URL)
    second.until_moved(second.game())
    assert machine.run("cat", f"/run/credentials/{SECOND_UNIT}/token") == token
    assert "lichessbot.sqlite" in machine.run("ls", "/var/lib/private/lichessbot-second")
    install(machine, "--instance", "second", "--uninstall")
    assert second.show("ActiveState") == "inactive"
    assert service.main_pid == pid, "the first bot was left alone"
    machine.run("systemctl", "stop", "second-rehearsal")


def test_a_wrong_configuration_is_not_tried_again(machine: Machine, service: Service) -> None:
    machine.write(CONFIG, "abort_time: soon\n")
    machine.run("systemctl", "kill", "--signal=KILL", UNIT)
    machine.until(lambda: service.show("ActiveState") == "failed")
    assert service.show("ExecMainStatus") == "2"
    time.sleep(0.5)
    assert service.show("ActiveState") == "failed"


def test_a_missing_token_file_is_named(machine: Machine, service: Service) -> None:
    machine.run("mv", "/etc/lichessbot/token", "/etc/lichessbot/away")
    machine.run("systemctl", "kill", "--signal=KILL", UNIT, check=False)
    machine.until(lambda: service.show("ActiveState") in ("inactive", "failed"))
    assert "Assertion failed" in machine.run("systemctl", "start", UNIT, check=False)
    assert "AssertPathExists=/etc/lichessbot/token was not met" in machine.run("systemctl", "status", UNIT, check=False)
    machine.run("mv", "/etc/lichessbot/away", "/etc/lichessbot/token")


def test_uninstalling_leaves_the_configuration_and_the_records(machine: Machine) -> None:
    install(machine, "--uninstall")
    assert machine.run("ls", "/opt") == ""
    assert machine.show(UNIT, "LoadState") in ("not-found", "loaded")
    assert machine.run("ls", "/etc/lichessbot").split() == ["config.yml", "token"]
    assert "lichessbot.sqlite" in machine.run("ls", "/var/lib/private/lichessbot")
