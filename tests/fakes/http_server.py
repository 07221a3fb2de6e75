"""An HTTP server on a free local port, for the fakes that answer from a thread of their own."""

import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread, current_thread
from typing import Any


class LocalServer(ThreadingHTTPServer):
    """Serves from a background thread until it is closed. A client may leave at any moment."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None) -> None:
        self._failed: list[Thread] = []
        super().__init__(("127.0.0.1", 0), handler)
        if tls is not None:
            # The handshake takes place in the thread of its connection.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.server_port}"
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """End the thread with the error, which fails the test, unless the client left or refuses our certificate."""
        if not isinstance(sys.exception(), ConnectionError | ssl.SSLError):
            self._failed.append(current_thread())
            raise

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        for thread in self._failed:
            thread.join()  # so that its error belongs to the test that caused it
