"""Connections that neither a slow name server nor a dead address of the host delays for long.

Most hosts have an IPv6 and an IPv4 address, and either can be dead on the way. urllib3 asks the second one only when
all time for the first is over, and looks the name up each time for as long as that takes. Must not know: what is
requested from whom.
"""

import errno
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, cast

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util.connection import allowed_gai_family

# What RFC 8305 ("Happy Eyeballs"), section 5, recommends.
_HEAD_START_S: Final = 0.25
# glibc asks a name server for five seconds, then the next one.
_LOOKUP_S: Final = 15.0

Options = Sequence[tuple[int, int, int | bytes]]
_Found = tuple[int, int, int, str, tuple[Any, ...]]


class _Lookup(threading.Thread):
    """Looks a name up. Nothing can end that early, so it has a thread of its own."""

    def __init__(self, host: str, port: int, known: Sequence[_Found]) -> None:
        """`known` are the addresses found before; empty if there are none."""
        super().__init__(name=f"lookup-{host}", daemon=True)
        self._host = (host, port)
        self._known = known
        self._found: Sequence[_Found] = ()
        self._problem = "no answer in time"
        self._ended = threading.Event()

    def begin(self) -> None:
        """Start; here, if the system refuses a thread."""
        try:
            self.start()
        except RuntimeError:
            self.run()

    def run(self) -> None:
        try:
            self._found = socket.getaddrinfo(*self._host, allowed_gai_family(), socket.SOCK_STREAM)
        except Exception as error:  # UnicodeError, too: a label of more than 63 characters
            self._problem = str(error)
        self._ended.set()

    @property
    def is_over(self) -> bool:
        return self._ended.is_set()

    @property
    def latest(self) -> Sequence[_Found]:
        """The addresses, or those found before as long as there are no new ones."""
        return self._found or self._known

    def result(self) -> Sequence[_Found]:
        """Return the addresses once there are any; does not wait long for new ones. Raises gaierror."""
        self._ended.wait(_HEAD_START_S if self._known else _LOOKUP_S)
        if not self.latest:
            raise socket.gaierror(socket.EAI_AGAIN, self._problem)
        return self.latest


class Names:
    """The addresses of hosts, shared by all threads.

    Those found before serve while a lookup takes long or fails: servers keep their addresses for months, and name
    servers fail for minutes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lookups: dict[tuple[str, int], _Lookup] = {}

    def addresses(self, host: str, port: int) -> Sequence[_Found]:
        """Return the addresses of a host. Raises gaierror."""
        name = (host, port)
        with self._lock:
            lookup = self._lookups.get(name)
            if is_new := lookup is None or lookup.is_over:
                # The last lookup may have ended after its caller had given up.
                lookup = self._lookups[name] = _Lookup(host, port, lookup.latest if lookup else ())
        if is_new:
            lookup.begin()
        return lookup.result()


# One for the process, as the system's own memory of names would be.
_NAMES: Final = Names()


def connect(host: str, port: int, timeout_s: float, options: Options = ()) -> socket.socket:
    """Return a socket connected to the first address of the host that answers.

    The next address is asked as well if the one before is silent for a moment, and at once if it refuses. `options`
    are set on each socket. Raises OSError, TimeoutError if none answers within `timeout_s` seconds after the lookup.
    """
    left = deque(_NAMES.addresses(host.strip("[]"), port))
    end_at = time.monotonic() + timeout_s
    error = OSError("the name has no address")
    with selectors.DefaultSelector() as attempts:
        try:
            while left or attempts.get_map():
                if left:
                    try:
                        attempts.register(_begin(left.popleft(), options), selectors.EVENT_WRITE)
                    except OSError as refusal:
                        error = refusal
                        continue
                wait_s = end_at - time.monotonic()
                if wait_s <= 0:
                    raise TimeoutError("timed out")
                for key, _ in attempts.select(min(wait_s, _HEAD_START_S) if left else wait_s):
                    attempt = cast("socket.socket", key.fileobj)
                    attempts.unregister(attempt)
                    if not (number := attempt.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
                        attempt.settimeout(timeout_s)
                        return attempt
                    attempt.close()
                    error = OSError(number, os.strerror(number))
            raise error
        finally:
            for key in attempts.get_map().values():
                cast("socket.socket", key.fileobj).close()


def _begin(found: _Found, options: Options) -> socket.socket:
    """Return a socket that is being connected. Raises OSError."""
    family, kind, protocol, _, address = found
    attempt = socket.socket(family, kind, protocol)
    try:
        attempt.setblocking(False)
        for option in options:
            attempt.setsockopt(*option)
        number = attempt.connect_ex(address)
        if number not in (0, errno.EINPROGRESS):
            raise OSError(number, os.strerror(number))
    except OSError:
        attempt.close()
        raise
    return attempt


class _AnyAddress(HTTPConnection):
    """Opens its socket with `connect`; urllib3 calls `_new_conn` for that, as it does for its SOCKS connections."""

    def _new_conn(self) -> socket.socket:
        assert self.timeout is not None, "every request has a time limit"
        try:
            return connect(self.host, self.port, self.timeout, self.socket_options or ())
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"no address of {self.host} answers") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection to {self.host}: {error}") from error


class _SecureAnyAddress(_AnyAddress, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _AnyAddress


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureAnyAddress


class AnyAddressAdapter(HTTPAdapter):
    """Makes a session connect to the first address of a host that answers; one of a proxy is left to urllib3."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
