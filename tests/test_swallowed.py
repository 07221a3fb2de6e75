"""A swallowed error still fails the test in which it happens."""

import re
import socket
import struct
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from tests.fakes.http_server import LocalServer

ROOT = Path(__file__).parent.parent

LOST = {
    "compiled_function": """
from engine.search.time_manager import TimeManager
from engine.facade import Board
from engine.search.history import History
from engine.search.search import Search
from engine.search.transposition import TranspositionTable

def test_the_listener_fails():
    def fail(move, number):
        raise ValueError("lost")
    search = Search(Board().position, TranspositionTable(1), History(), TimeManager())
    search.report_root_moves(fail, 0)
    search.run(1)
""",
    "destructor": """
def test_the_destructor_fails():
    class Careless:
        def __del__(self):
            raise ValueError("lost")
    Careless()
""",
    "thread": """
from threading import Thread

def test_the_thread_fails():
    def fail():
        raise ValueError("lost")
    thread = Thread(target=fail)
    thread.start()
    thread.join()
""",
    "server": """
from http.server import BaseHTTPRequestHandler
from urllib.request import urlopen

import pytest
from tests.fakes.http_server import LocalServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        raise ValueError("lost")

def test_the_handler_fails():
    server = LocalServer(Handler)
    with pytest.raises(OSError):
        urlopen(server.url)
    server.close()
""",
    "embedded_lichess": """
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from lichessbot.rehearsal.server.server import RehearsalServer

def test_the_route_fails():
    def fail(token):
        raise ValueError("lost")
    with RehearsalServer() as server:
        server.site.accounts.grant = fail
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(server.site.url + "/api/account", headers={"Authorization": "Bearer lip_any"}))
        refused.value.close()       # Python 3.14 warns of an answer left open, which would be a second error
""",
}


def test_a_swallowed_error_fails_the_test(tmp_path: Path) -> None:
    for name, program in LOST.items():
        (tmp_path / f"test_{name}.py").write_text(program)
    options = ["-q", "-n", "0", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-p", "tests.conftest"]
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        capture_output=True, text=True, timeout=600, check=False, cwd=ROOT,
    )
    assert answer.returncode == pytest.ExitCode.TESTS_FAILED, answer.stdout
    failed = re.findall(r"^(?:FAILED|ERROR) .*test_(\w+)\.py", answer.stdout, re.MULTILINE)
    assert sorted(failed) == sorted(LOST)
    assert answer.stdout.count("ValueError: lost") >= len(LOST)


def test_a_client_that_leaves_is_no_error_of_the_server() -> None:
    forgiven: SimpleQueue[BaseException | None] = SimpleQueue()

    class Server(LocalServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            super().handle_error(request, client_address)
            forgiven.put(sys.exception())

    server = Server(BaseHTTPRequestHandler)
    with socket.create_connection(("127.0.0.1", server.server_port)) as client:
        client.sendall(b"GET")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes with a reset
    assert isinstance(forgiven.get(timeout=60.0), ConnectionResetError)
    server.close()
