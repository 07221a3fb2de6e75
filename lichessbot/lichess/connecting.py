"""Connections to hosts with several addresses: one that does not answer must not use up the time of the others.

Most hosts have an IPv6 and an IPv4 address, and either can be dead on the way. urllib3 asks the second one only when
all time for the first is over. Must not know: what is requested from whom.
"""

import errno
import os
import selectors
import socket
import sys
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, cast

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import allowed_gai_family

# What RFC 8305 ("Happy Eyeballs"), section 5, recommends.
_HEAD_START_S: Final = 0.25

Options = Sequence[tuple[int, int, int | bytes]]
_Found = tuple[int, int, int, str, tuple[Any, ...]]


def connect(host: str, port: int, timeout_s: float | None, options: Options = ()) -> socket.socket:
    """Return a socket connected to the first address of the host that answers.

    The next address is asked as well if the one before is silent for a moment, and at once if it refuses. `options`
    are set on each socket. Raises OSError; TimeoutError if none answers within `timeout_s` seconds.
    """
    left = deque(socket.getaddrinfo(host.strip("[]"), port, allowed_gai_family(), socket.SOCK_STREAM))
    end_at = None if timeout_s is None else time.monotonic() + timeout_s
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
                wait_s = None if end_at is None else end_at - time.monotonic()
                if wait_s is not None and wait_s <= 0:
                    raise TimeoutError("timed out")
                if left:
                    wait_s = _HEAD_START_S if wait_s is None else min(wait_s, _HEAD_START_S)
                for key, _ in attempts.select(wait_s):
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
        try:
            opened = connect(self.host, self.port, self.timeout, self.socket_options or ())
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"no address of {self.host} answers") from error
        except (OSError, UnicodeError) as error:  # the latter for a label of more than 63 characters
            raise NewConnectionError(self, f"no connection to {self.host}: {error}") from error
        sys.audit("http.client.connect", self, self.host, self.port)
        return opened


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
