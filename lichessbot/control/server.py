"""The daemon's end of the control socket: a thread accepts clients, and one for each of them reads and answers.

Whatever a client sends or leaves out costs only its own thread, for some seconds; the main thread sees complete, valid
requests, and not more of them than `_SPACING_S` allows. The socket is for the owner of the daemon alone.
"""

import os
import socket
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lichessbot.control.commands import ControlAnswer, ControlRequest, answer_line, read_request
from lichessbot.control.sockets import SOCKET_NAME, read_line, short_address
from lichessbot.errors import UnreadableLine
from lichessbot.log import EventLog, try_start

_OWNER_ONLY: Final = 0o600
_MOST_CLIENTS: Final = 16
_MOST_WAITING: Final = 128
_MOST_BYTES: Final = 4096
_SPACING_S: Final = 0.05  # between two clients: a status costs the main thread half a millisecond
_AFTER_ERROR_S: Final = 1.0
_LOOKS_EVERY_S: Final = 2.0  # whether the socket is still in its folder
_CLOSE_WAITS_AT_MOST_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the server waits for each step of a client, in seconds."""

    request_s: float = 2.0
    main_thread_s: float = 5.0
    reading_s: float = 2.0


class ControlServer:
    """Listens in the state folder from `start` to `close`."""

    def __init__(
        self, folder: Path, emit: Callable[[ControlRequest], None], patience: Patience = Patience()
    ) -> None:
        self._folder = folder
        self._emit = emit
        self._patience = patience
        self._log = EventLog()
        self._socket: socket.socket | None = None
        self._inode = 0
        self._lock = threading.Lock()
        """Held while the socket is made again, and while it is closed for good."""
        self._places = threading.BoundedSemaphore(_MOST_CLIENTS)
        self._closing = threading.Event()
        self._answering: set[threading.Thread] = set()
        """The threads whose clients are told what the main thread has decided."""

    def start(self) -> None:
        """Listen. If that is impossible, warn: the daemon runs on without it."""
        try:
            self._socket = self._bound()
            threading.Thread(target=self._accept_all, args=(self._socket,), name="control", daemon=True).start()
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread is left
            self.close()
            meaning = "`lichessbot status` and the other commands cannot reach this daemon"
            self._log.warning("control.unavailable", error=error, meaning=meaning)

    def close(self) -> None:
        """Stop listening; requests that the main thread has answered are answered first."""
        self._closing.set()
        with self._lock:
            if self._socket is None:
                return
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # ends `accept` in the other thread
            self._socket.close()
            path = self._folder / SOCKET_NAME
            with suppress(OSError):
                if path.stat().st_ino == self._inode:  # a later daemon may have replaced it
                    path.unlink()
        deadline = time.monotonic() + _CLOSE_WAITS_AT_MOST_S
        for thread in list(self._answering):
            thread.join(max(0.0, deadline - time.monotonic()))

    def _bound(self) -> socket.socket:
        """Return a listening socket that only the owner may open. Raises OSError."""
        path = self._folder / SOCKET_NAME
        with suppress(FileNotFoundError):
            if not stat.S_ISSOCK(path.lstat().st_mode):
                raise FileExistsError(f"{path} is no socket; remove it")
            path.unlink()  # of a daemon that was killed: the lock says that none uses this folder now
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with suppress(OSError):  # on Linux the file gets this mode at once; elsewhere, only afterwards
                os.fchmod(listener.fileno(), _OWNER_ONLY)
            with short_address(self._folder) as address:
                listener.bind(address)
            path.chmod(_OWNER_ONLY)
            self._inode = path.stat().st_ino
            listener.listen(_MOST_WAITING)
            listener.settimeout(_LOOKS_EVERY_S)
        except BaseException:
            listener.close()
            raise
        return listener

    # The thread `control`

    def _accept_all(self, listener: socket.socket) -> None:
        while not self._closing.is_set():
            try:
                listener = self._in_its_folder(listener)
                self._accept(listener)
            except TimeoutError:
                continue  # no client came
            except OSError as error:
                if not self._closing.is_set():
                    self._log.debug("control.accept", error=error)
                self._closing.wait(_AFTER_ERROR_S)  # such as too many open files: clients wait, and games go on
            except Exception as error:
                self._log.crash("control.crashed", error)
            self._closing.wait(_SPACING_S)

    def _in_its_folder(self, listener: socket.socket) -> socket.socket:
        """Return the listening socket, made again if it went with the folder and the records made that again."""
        with self._lock:
            if self._closing.is_set() or (self._folder / SOCKET_NAME).exists() or not self._folder.is_dir():
                return listener
            listener.close()
            self._socket = self._bound()
            return self._socket

    def _accept(self, listener: socket.socket) -> None:
        """Give one client a thread of its own as soon as fewer than the most are served."""
        connection, _ = listener.accept()
        self._places.acquire()
        thread = threading.Thread(target=self._serve, args=(connection,), name="control-client", daemon=True)
        if not try_start(thread, self._log):
            self._places.release()
            connection.close()

    # The threads `control-client`

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._answer(connection)
        except OSError:
            pass  # the client has gone, or does not read: the answer is lost for it only
        except Exception as error:
            self._log.crash("control.crashed", error)
        finally:
            self._answering.discard(threading.current_thread())
            self._places.release()

    def _answer(self, connection: socket.socket) -> None:
        try:
            line = read_line(connection, _MOST_BYTES, time.monotonic() + self._patience.request_s)
            answer = self._answer_of_main_thread(read_request(line))
        except UnreadableLine as error:
            answer = ControlAnswer(ok=False, text=str(error))
        except TimeoutError:
            answer = ControlAnswer(ok=False, text=f"no request came within {self._patience.request_s:g} s")
        connection.settimeout(self._patience.reading_s)
        connection.sendall(answer_line(answer))

    def _answer_of_main_thread(self, request: ControlRequest) -> ControlAnswer:
        self._answering.add(threading.current_thread())
        self._emit(request)
        try:
            return request.answer.result(self._patience.main_thread_s)
        except TimeoutError:
            text = f"the daemon did not answer within {self._patience.main_thread_s:g} s; it may still do this"
            return ControlAnswer(ok=False, text=text)
