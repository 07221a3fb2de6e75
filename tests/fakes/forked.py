"""Daemons and commands as forked copies of a process that has loaded their code: nine tenths of a start are imports.

A copy has arguments, folder, environment, output, signals and an exit code of its own. That a start from nothing works
is proven by the tests of rehearsals, of the command line and of systemd, and so is the end by `sys.exit`. This file is
also the program that is copied.
"""

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cache
from typing import IO, NoReturn


def start(
    words: Sequence[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes], plant: str = ""
) -> "Forked | subprocess.Popen[bytes]":
    """Start `lichessbot` with these words; it first runs the code `plant`."""
    begin = Forked if hasattr(os, "pidfd_open") else start_from_nothing
    return begin(words, environment, output, errors, plant)


class AsCopies:
    """Stands for the module `subprocess` where a rehearsal starts its daemon, which is a copy then."""

    DEVNULL, STDOUT, TimeoutExpired = subprocess.DEVNULL, subprocess.STDOUT, subprocess.TimeoutExpired

    @staticmethod
    def Popen(  # noqa: N802 (as there)
        command: Sequence[str], *, env: Mapping[str, str], stdout: IO[bytes], **_: object
    ) -> "Forked | subprocess.Popen[bytes]":
        return start(command[command.index("lichessbot") + 1 :], env, stdout, stdout)


def start_from_nothing(
    words: Sequence[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes], plant: str = ""
) -> "subprocess.Popen[bytes]":
    """Start `lichessbot` with these words as an operator does, but for the code `plant`."""
    code = f"{plant}\nimport sys\nfrom lichessbot.cli.main import main\nsys.exit(main())"
    command = [sys.executable, "-P", *(["-c", code] if plant else ["-m", "lichessbot"]), *words]
    return subprocess.Popen(command, stdout=output, stderr=errors, env=environment)


def run(words: Sequence[str], environment: Mapping[str, str], timeout: float) -> "subprocess.CompletedProcess[str]":
    """Run `lichessbot` with these words to its end, as `subprocess.run` would."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = start(words, environment, output, errors)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        texts = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode() for file in (output, errors)]
    return subprocess.CompletedProcess(words, code, *texts)


class Forked:
    """A copy, with what tests need of `subprocess.Popen`."""

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes], plant: str
    ) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_original(), [b"."], [theirs.fileno(), output.fileno(), errors.fileno()])
        self._channel.sendall(json.dumps([*words, os.getcwd(), dict(environment), plant]).encode())
        self._channel.shutdown(socket.SHUT_WR)
        self.pid = self._number()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self.wait() if self.returncode is None and self._ends_within(0) else self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not self._ends_within(timeout):
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = self._number()
            self._channel.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _number(self) -> int:
        """Read the next line: the process, then its exit code, which may be there already."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self._channel.recv(1)
            if not piece:
                raise EOFError("the process that is copied has ended")
            line += piece
        return int(line)

    def _ends_within(self, timeout: float | None) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel, selectors.EVENT_READ)
            return bool(selector.select(timeout))


@cache
def _original() -> socket.socket:
    """Return the connection to the process that is copied, which ends with the connection."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", __file__, str(theirs.fileno())]
    with theirs:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    atexit.register(lambda: (ours.close(), process.wait()))
    return ours


def _serve(requests: socket.socket) -> list[str]:
    """Copy this process for each request. Returns in copies only: with the words of a command line."""
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is not requests:
                _tell_the_end(*key.data)
                selector.unregister(key.fileobj)
                os.close(key.fd)
                continue
            message, descriptors, *_ = socket.recv_fds(requests, 1, 3)
            if not message:
                _kill_all(selector, requests)
                sys.exit()
            client = socket.socket(fileno=descriptors.pop(0))
            with client.makefile("rb") as request:
                *words, folder, environment, plant = json.load(request)
            pid = os.fork()
            if pid == 0:
                for number, descriptor in enumerate(descriptors, 1):
                    os.dup2(descriptor, number)
                    os.close(descriptor)
                _close_all(selector, requests, client)
                sys.stdout = open(1, "w", encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115 (for life)
                os.chdir(folder)
                os.environ.clear()
                os.environ.update(environment)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
                exec(plant, {})
                return words
            for descriptor in descriptors:
                os.close(descriptor)
            client.sendall(b"%d\n" % pid)
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, client))


def _tell_the_end(pid: int, client: socket.socket) -> None:
    _, status = os.waitpid(pid, 0)
    with client:
        client.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _kill_all(selector: selectors.BaseSelector, requests: socket.socket) -> None:
    """End the copies: tests that were killed leave no daemon that looks for its server for ever."""
    for key in selector.get_map().values():
        if key.fileobj is not requests:
            os.kill(key.data[0], signal.SIGKILL)


def _close_all(selector: selectors.BaseSelector, requests: socket.socket, client: socket.socket) -> None:
    """Close what a daemon started in the usual way would not have."""
    for key in selector.get_map().values():
        if key.fileobj is not requests:
            os.close(key.fd)
            key.data[1].close()
    selector.close()
    requests.close()
    client.close()


def end(code: int) -> NoReturn:
    """End a copy as `multiprocessing` does: taking all modules apart would first copy all their memory."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    # Ctrl-C is for those who started it. Blocked, not ignored: a copy then gets what comes before it unblocks it.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    from lichessbot import timeouts
    from lichessbot.cli import main, run  # noqa: F401
    from lichessbot.games.recording import archive
    from lichessbot.storage import store

    # What a copy has recorded is on the disk once it has ended, however slow the disk is.
    archive.CLOSE_WAITS_AT_MOST = store.CLOSE_WAITS_AT_MOST = timedelta(seconds=60)  # type: ignore[misc]
    # Its engine, which has a lower priority, may start slowly beside many other tests.
    timeouts._LEAST_FACTORS["engine_handshake"] = 5.0
    gc.collect()
    gc.freeze()
    end(main.main(_serve(socket.socket(fileno=int(sys.argv[1])))))
