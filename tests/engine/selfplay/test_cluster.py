"""Tasks on a Dask cluster: the same answers as here, each once, whatever dies; and only from the same engine."""

import asyncio
import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dask import config as dask_config
from distributed import Client, LocalCluster

from engine.cli.main import run as run_command
from engine.evaluation import net_file
from engine.selfplay import match, selfplay
from engine.selfplay.cluster import client as cluster_client
from engine.selfplay.cluster import worker
from engine.selfplay.cluster.address import ClusterFailed
from engine.selfplay.match import Match
from engine.selfplay.selfplay import SelfplayPlan
from engine.selfplay.worker_pool import run_parallel
from tests.engine.nets import random_net
from tests.engine.selfplay.tasks import die, fail, note, sleep, square
from tests.patience import until

WORKERS = 2
DASK = (sys.executable, "-m", "dask")


@pytest.fixture(scope="module", autouse=True)
def _scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep Dask's folders, which a killed process leaves behind, out of the one that all processes share."""
    folder = str(tmp_path_factory.mktemp("dask"))
    with pytest.MonkeyPatch.context() as patch, dask_config.set({"temporary-directory": folder}):
        patch.setenv("DASK_TEMPORARY_DIRECTORY", folder)
        patch.setattr(cluster_client, "CONNECT_S", 300.0)      # a scheduler on a busy machine may answer late
        yield


@pytest.fixture(scope="module")
def dask() -> Iterator[LocalCluster]:
    logging.getLogger("asyncio").addFilter(cluster_client._is_not_of_dask)     # also before the first connection
    patient = {"distributed.deploy.lost-worker-timeout": "1 hour"}     # for a nanny that starts its worker again
    with dask_config.set(patient), LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        processes=True,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    ) as started:
        yield started


@pytest.fixture
def cluster(dask: LocalCluster) -> str:
    """The cluster with all its workers: an earlier test may have killed some, which the nannies start again."""
    with Client(dask.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=300)
    address: str = dask.scheduler_address
    return address


def test_every_task_is_answered_once(cluster: str) -> None:
    assert sorted(run_parallel(square, range(20), cluster)) == [(number, number * number) for number in range(20)]


def test_tasks_are_taken_only_when_a_worker_is_free_for_them_or_soon_will_be(cluster: str) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(9):
            taken.append(number)
            yield number

    answers = run_parallel(square, tasks(), cluster)
    next(answers)
    assert len(taken) <= WORKERS + 1
    answers.close()


def test_self_play_writes_the_same_shards_as_here_also_if_a_worker_is_killed(
    cluster: str, dask: LocalCluster, tmp_path: Path
) -> None:
    net = tmp_path / "random.net"
    net_file.write(random_net(seed=4, hidden=32, buckets=1), net)
    here = SelfplayPlan(tmp_path / "here", seed=3, games_per_shard=12, nodes=20, evaluation=str(net))
    there = replace(here, folder=tmp_path / "there")
    running = selfplay.run(there, 30, cluster)
    steps = [next(running)]
    os.kill(dask.workers[0].pid, signal.SIGKILL)
    steps += running
    assert [step.shards for step in steps] == [1, 2, 3]
    assert steps[-1].positions == [step.positions for step in selfplay.run(here, 30, 1)][-1] > 0
    assert contents(there.folder) == contents(here.folder)
    assert sorted(contents(here.folder)) == ["0003-000000-12.shard", "0003-000001-12.shard", "0003-000002-6.shard"]
    assert list(selfplay.run(there, 30, "tcp://nowhere:1")) == [], "nothing is missing"


@pytest.mark.long
def test_workers_killed_again_and_again_change_no_shard(
    cluster: str, dask: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask.scheduler, "allowed_failures", 1000)
    here = SelfplayPlan(tmp_path / "here", games_per_shard=20, nodes=50)
    there = replace(here, folder=tmp_path / "there")
    rng = random.Random(1)
    kills = 0
    for _ in selfplay.run(there, 20 * 50, cluster):
        nannies = [it for it in dask.workers.values() if it.worker_address in dask.scheduler.workers]
        joined = [nanny.pid for nanny in nannies if nanny.pid is not None]
        if joined:                     # a nanny gives up if its worker dies before it joins
            os.kill(rng.choice(joined), signal.SIGKILL)
            kills += 1
    list(selfplay.run(here, 20 * 50, WORKERS))
    assert contents(there.folder) == contents(here.folder)
    assert len(contents(here.folder)) == 50
    assert kills >= 25


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_match_has_the_same_pairs_as_here(cluster: str, tmp_path: Path) -> None:
    net = tmp_path / "random.net"
    net_file.write(random_net(seed=5, hidden=32, buckets=1), net)
    rivals = Match("none", str(net), nodes=10)
    found = list(match.play(rivals, range(6), cluster))
    assert sorted(found) == [(number, match.play_pair(rivals, number)) for number in range(6)]


def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(cluster: str, tmp_path: Path) -> None:
    found = []
    killed = ""
    for number, _ in run_parallel(partial(note, tmp_path), range(8), cluster):
        found.append(number)
        started = [path.name.split() for path in tmp_path.iterdir()]
        pids = {pid for begun, pid in started if int(begun) not in found}
        if not killed and pids:
            killed = pids.pop()
            os.kill(int(killed), signal.SIGKILL)
    assert sorted(found) == list(range(8))
    started = [path.name.split() for path in tmp_path.iterdir()]
    cut_off = [begun for begun, _ in started if sum(begun == other for other, _ in started) == 2]
    assert cut_off, "it was in the middle of a task, which another process has done"
    assert [cut_off[0], killed] in started


def test_closing_the_iterator_frees_the_workers(cluster: str) -> None:
    answers = run_parallel(sleep, [0, 600, 600, 600], cluster)
    assert next(answers) == (0, 0)
    started = time.monotonic()
    answers.close()
    assert list(run_parallel(square, [7], cluster)) == [(7, 49)]
    assert time.monotonic() - started < 300


def test_a_task_that_begins_while_its_run_ends_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask_dask(*words: str, **resources: int) -> None:
        pass

    class Plugins(dict[str, worker.Job]):
        def __getitem__(self, job: str) -> worker.Job:
            assert not asyncio.run(worker.forget(job, dask_worker)), "nothing to restart"
            return super().__getitem__(job)

    done: list[int] = []
    plugins = Plugins(job=worker.Job(done.append))
    dask_worker: Any = SimpleNamespace(plugins=plugins, set_resources=ask_dask, plugin_remove=ask_dask, nanny="here")
    monkeypatch.setattr(worker, "get_worker", lambda: dask_worker)
    with pytest.raises(worker.Dropped):
        worker.run_task("job", 7)
    assert not done


def test_an_error_reaches_the_caller(cluster: str) -> None:
    with pytest.raises(ValueError, match="no 7"):
        list(run_parallel(fail, [7], cluster))


def test_a_task_that_kills_its_workers_ends_the_run(
    cluster: str, dask: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask.scheduler, "allowed_failures", 0)     # of 3, which would take longer
    with pytest.raises(ClusterFailed, match="1 workers in a row were lost with the same task"):
        list(run_parallel(die, [1], cluster))


def test_only_what_dask_itself_forgets_is_kept_out_of_the_log(
    cluster: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert list(run_parallel(square, [7], cluster)) == [(7, 49)]
    log = logging.getLogger("asyncio")
    log.warning("Task exception was never retrieved: coro=<Client._gather.<locals>.wait() done>")
    log.error("Future exception was never retrieved\nfuture: <Future finished exception=TimeoutError('Timeout')>")
    log.warning("Task exception was never retrieved: coro=<serve() done>")
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == [
        "Task exception was never retrieved: coro=<serve() done>"
    ]


def test_another_engine_is_refused(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = dict(worker.identity()) | {"lichessbot": "9.9", "engine files": "0123456789ab"}
    monkeypatch.setattr(worker, "identity", lambda: tuple(ours.items()))
    with pytest.raises(ClusterFailed) as refused:
        list(run_parallel(square, [1], cluster))
    lines = str(refused.value).splitlines()
    assert lines
    for line in lines:
        assert line.startswith("worker tcp://127.0.0.1:")
        assert "is refused: lichessbot: 0.1.0, expected 9.9; engine files: " in line
        assert line.endswith(", expected 0123456789ab")


def test_other_files_are_another_engine(tmp_path: Path) -> None:
    sums = []
    for name, text in (("a.py", "1"), ("a.py", "2"), ("data/a.net", "2"), ("b.so", "compiled")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        sums.append(worker.files_checksum(tmp_path))
    assert len(set(sums[:3])) == 3, "sources and networks count"
    assert sums[3] == sums[2], "what the compiler makes of them differs between machines"


def test_a_worker_with_two_threads_is_refused_while_others_work(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*DASK, "worker", cluster, "--nthreads", "2", "--no-nanny"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as other:
        try:
            with Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(WORKERS + 1, timeout=300)
            assert len(list(run_parallel(square, range(9), cluster))) == 9
        finally:
            other.kill()
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("is refused: threads: 2, expected 1")


@pytest.fixture(scope="module")
def doomed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler, as its process, with one worker that nobody restarts. The last test that uses it kills it."""
    where = tmp_path_factory.mktemp("doomed") / "scheduler.json"
    options = ["--scheduler-file", str(where), "--dashboard-address", "127.0.0.1:0"]
    with subprocess.Popen(
        [*DASK, "scheduler", *options, "--host", "127.0.0.1", "--port", "0"], stderr=subprocess.DEVNULL
    ) as scheduler, subprocess.Popen(
        [*DASK, "worker", *options, "--nthreads", "1", "--no-nanny"], stderr=subprocess.DEVNULL
    ) as player:
        try:
            until(lambda: where.exists() and where.read_text().endswith("}"), patience_s=300.0)
            yield scheduler, json.loads(where.read_text())["address"]
        finally:
            scheduler.kill()
            player.kill()


def test_a_worker_that_nobody_restarts_finishes_its_task(doomed: tuple[subprocess.Popen[bytes], str]) -> None:
    _, cluster = doomed
    answers = run_parallel(sleep, [0, 1, 1], cluster)
    assert next(answers) == (0, 0)
    answers.close()
    assert list(run_parallel(square, [7], cluster)) == [(7, 49)]


def test_a_scheduler_that_is_lost_ends_the_run_which_can_be_continued(
    doomed: tuple[subprocess.Popen[bytes], str], tmp_path: Path
) -> None:
    scheduler, cluster = doomed
    plan = SelfplayPlan(tmp_path / "shards", nodes=20, games_per_shard=4)
    steps = selfplay.run(plan, 4 * 50, cluster)
    next(steps)
    scheduler.kill()
    with pytest.raises(ClusterFailed, match=f"^lost the scheduler {cluster}: the same command continues$"):
        list(steps)
    done = len(contents(plan.folder))
    assert 1 <= done < 50
    assert [step.shards for step in selfplay.run(plan, 4 * (done + 1), 1)] == [1]


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cluster_client, "CONNECT_S", 0.2)
    assert run_command(["selfplay", str(tmp_path), "--cluster", "tcp://127.0.0.1:9"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("no Dask scheduler answers at tcp://127.0.0.1:9: ")


def test_an_encrypted_cluster_needs_a_certificate() -> None:
    with pytest.raises(ClusterFailed, match=r"^tls://127.0.0.1:9 needs a certificate: set distributed\.comm\.tls "):
        list(run_parallel(square, [1], "tls://127.0.0.1:9"))


def test_without_the_extra_the_cure_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run_command(["selfplay", str(tmp_path), "--cluster", "tcp://127.0.0.1:9"]) == 2
    assert capsys.readouterr().err == "a cluster needs Dask: pip install 'lichessbot-daemon[cluster]'\n"


def test_without_a_cluster_dask_is_not_loaded(tmp_path: Path) -> None:
    program = (
        "import sys; from engine.cli.main import run; code = run(sys.argv[1:]); "
        "sys.exit(code or 'distributed' in sys.modules or 'dask' in sys.modules)"
    )
    command = ["selfplay", str(tmp_path), "--games", "1", "--nodes", "20", "--processes", "1"]
    assert subprocess.run([sys.executable, "-P", "-c", program, *command], timeout=300).returncode == 0
    assert len(list(tmp_path.glob("*.shard"))) == 1


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--cluster", "tcp://127.0.0.1:9", "--processes", "2"], "--processes cannot be used with --cluster"),
        (["--cluster", "127.0.0.1"], "expected the address of a Dask scheduler such as tcp://scheduler:8786"),
    ],
)
def test_impossible_options_are_refused(options: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    learn = ["learn", "x", "--generations", "1", "--minutes", "1"]
    for command in (["selfplay", "x"], ["match", "none", "none"], learn, ["book", "grow", "x"], ["styles"]):
        assert run_command([*command, *options]) == 2
        assert line in capsys.readouterr().err
