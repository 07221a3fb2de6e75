"""A TCP proxy that breaks and delays connections, for a server on loopback that speaks the Bot API.

Reads only the first line of requests, to know what they are, and adds a header that says when they arrived. Lives on
one event loop.
"""

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from lichessbot.rehearsal.faults.catalogue import Fault, Layer
from lichessbot.rehearsal.faults.schedule import FaultSchedule
from lichessbot.rehearsal.faults.traffic import ARRIVED_HEADER, STREAMS, Place, Traffic, request_traffic
from lichessbot.rehearsal.rules.timing import Timing, monotonic_ms
from lichessbot.rehearsal.server.server import LOOPBACK

BLOCK_BYTES = 1 << 16
TRICKLE_STEPS = 20                  # pieces in which the start of a slow answer comes

_METHODS = (b"GET ", b"POST ")
_RESET_AT_CLOSE = struct.pack("ii", 1, 0)       # SO_LINGER: on, no time to linger
_LAST_DATA_RECEIVED = struct.Struct("52x I")    # of Linux's `tcp_info`: milliseconds since data came last
_TICK = b"1\r\n\n\r\n"                  # an empty line as a chunk, which no fault strikes


@dataclass(eq=False)
class _Connection:
    """The connection of a client, and the one to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    traffic: Traffic = field(default_factory=lambda: Traffic(Place.OTHER_REQUEST))
    fault: Fault | None = None          # strikes at the answer to a command
    is_owed: bool = False               # a request was passed on, and nothing of its answer came
    is_silent: bool = False             # passes nothing on, either way

    def close(self) -> None:
        for writer in (self.client, self.server):
            writer.close()

    def arrived_ms(self) -> int:
        """Return when the client's latest data came to this machine, in monotonic milliseconds.

        A busy event loop may read it much later; where the system does not tell, that counts.
        """
        if sys.platform != "linux":
            return monotonic_ms()
        client: socket.socket = self.client.get_extra_info("socket")
        told = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_RECEIVED.size)
        waited_ms: int = _LAST_DATA_RECEIVED.unpack(told)[0]
        return monotonic_ms() - waited_ms

    def reset(self) -> None:
        client: socket.socket = self.client.get_extra_info("socket")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
        self.client.transport.abort()
        self.server.close()


class Proxy:
    """Listens on loopback and passes all to the server at `port`, unless a fault of `schedule` strikes."""

    def __init__(
        self,
        port: int,
        schedule: FaultSchedule,
        timing: Timing,
        on_loss: Callable[[Traffic], None] = lambda _traffic: None,
    ) -> None:
        """`on_loss` is called with each request whose answer reaches the client late or not at all."""
        self._port = port
        self._schedule = schedule
        self._timing = timing
        self._on_loss = on_loss
        self._listener: socket.socket | None = None
        self._reserved: socket.socket | None = None
        """Bound to the port but never listening, so that nobody else gets the port while connections are refused."""
        self._is_closed = False
        self._own_port = 0
        self._comeback: asyncio.TimerHandle | None = None
        self._connections: set[_Connection] = set()
        self._served: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._own_port}"

    def open(self, port: int = 0) -> None:
        """Listen; port 0 chooses a free one. Raises OSError if the port is taken."""
        self._reserved = _bound(port)
        self._own_port = self._reserved.getsockname()[1]
        self._start_listening()

    def _start_listening(self) -> None:
        self._listener = socket.create_server((LOOPBACK, self._own_port))
        self._listener.setblocking(False)
        asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    async def close(self) -> None:
        """Stop listening, and end every connection."""
        self._is_closed = True
        if self._comeback is not None:
            self._comeback.cancel()
        self._stop_listening()
        if self._reserved is not None:
            self._reserved.close()
        self._end_connections()
        await asyncio.gather(*self._served)

    def _stop_listening(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _refuse_for(self, pause_s: float) -> None:
        """Accept no connection for a while; replaces an earlier pause."""
        self._stop_listening()
        if self._comeback is not None:
            self._comeback.cancel()
        self._comeback = asyncio.get_running_loop().call_later(pause_s, self._start_listening)

    def _end_connections(self) -> None:
        for connection in self._connections:
            connection.close()

    def _silence_connections(self) -> None:
        """Let all connections stay open and pass nothing on, as after a change of networks."""
        for connection in self._connections:
            connection.is_silent = True
            if connection.is_owed or connection.traffic.place in STREAMS:
                self._on_loss(connection.traffic)
            connection.is_owed = False

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            return                      # the client is gone
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)       # lines must not wait
        served = asyncio.get_running_loop().create_task(self._serve(client))
        self._served.add(served)
        served.add_done_callback(self._served.discard)

    async def _serve(self, client: socket.socket) -> None:
        from_client, to_client = await asyncio.open_connection(sock=client)
        try:
            from_server, to_server = await asyncio.open_connection(LOOPBACK, self._port)
        except OSError:
            await _closed(to_client)
            return
        connection = _Connection(to_client, to_server)
        self._connections.add(connection)
        if not self._is_closed:
            await self._pass_both_ways(connection, from_client, from_server)
        self._connections.discard(connection)
        if connection.is_owed:
            self._on_loss(connection.traffic)
        await _closed(to_server)
        await _closed(to_client)

    async def _pass_both_ways(
        self, connection: _Connection, from_client: asyncio.StreamReader, from_server: asyncio.StreamReader
    ) -> None:
        """Pass data on until either side ends the connection."""
        ways = [
            asyncio.ensure_future(self._pass_requests(connection, from_client)),
            asyncio.ensure_future(self._pass_answers(connection, from_server, from_client)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass_requests(self, connection: _Connection, from_client: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):          # either end may close at any time
            while data := await from_client.read(BLOCK_BYTES):
                if connection.is_silent:
                    continue
                if data.startswith(_METHODS):
                    if not self._take_request(connection, data):
                        return
                    data = _with_arrival(data, connection.arrived_ms())
                if not await _send(connection.server, data):
                    return

    def _take_request(self, connection: _Connection, data: bytes) -> bool:
        """Handle a new request; return False if it is not passed on. Faults of streams strike at their lines."""
        method, path, *_ = data.partition(b"\r\n")[0].decode("latin-1").split(" ")
        connection.traffic = traffic = request_traffic(method, path)
        connection.fault = None
        if traffic.place not in STREAMS:
            connection.fault = self._schedule.strike(Layer.CONNECTIONS, traffic.place, traffic.game_id)
        match connection.fault:
            case Fault.RESTART:
                self._refuse_for(self._timing.restart_s)
                self._end_connections()
                return False
            case Fault.REFUSED:
                self._refuse_for(self._timing.outage_s)
            case Fault.RESET:
                connection.reset()
                return False
            case Fault.CLOSED:
                return False
        connection.is_owed = True
        return True

    async def _pass_answers(
        self, connection: _Connection, from_server: asyncio.StreamReader, from_client: asyncio.StreamReader
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await from_server.read(BLOCK_BYTES):
                await asyncio.sleep(0)              # a busy loop learns only now that the client hung up before
                if from_client.at_eof():
                    return
                if not connection.is_silent and not await self._pass_answer(connection, data):
                    return
        if connection.is_silent:
            await asyncio.Event().wait()            # the server has closed, which the client must not see

    async def _pass_answer(self, connection: _Connection, data: bytes) -> bool:
        """Pass a piece of an answer on; return False if the connection ends with it."""
        client, traffic = connection.client, connection.traffic
        fault, connection.fault = connection.fault, None
        if traffic.place in STREAMS and data != _TICK:
            fault = self._schedule.strike(Layer.CONNECTIONS, traffic.place, traffic.game_id)
        match fault:
            case Fault.ANSWER_LOST:
                return False
            case Fault.RESET:
                connection.reset()
                return False
            case Fault.STALL:
                connection.is_silent = True
                self._on_loss(traffic)
                return True
            case Fault.NETWORK_CHANGED:     # this piece may be half of an answer
                is_through = await _send(client, data)
                self._silence_connections()
                return is_through
            case Fault.TRICKLE:
                self._on_loss(traffic)
                connection.is_owed = not await self._trickle(client, data)
                return not connection.is_owed
        connection.is_owed = fault in (Fault.CUT, Fault.CLOSED)
        is_through = await _send(client, data[: len(data) // 2] if fault is Fault.CUT else data)
        return is_through and fault not in (Fault.CUT, Fault.CLOSED)

    async def _trickle(self, client: asyncio.StreamWriter, data: bytes) -> bool:
        """Send the start byte by byte, then the rest; return False if the client is gone."""
        for position in range(TRICKLE_STEPS):
            if not await _send(client, data[position : position + 1]):
                return False
            await asyncio.sleep(self._timing.slow_headers_s / TRICKLE_STEPS)
        return await _send(client, data[TRICKLE_STEPS:])


def _with_arrival(request: bytes, arrived_ms: int) -> bytes:
    """Return the start of a request with one more header, unless its first line is not whole."""
    first_line, line_end, headers = request.partition(b"\r\n")
    added = f"{ARRIVED_HEADER}: {arrived_ms}\r\n".encode()
    return b"".join((first_line, line_end, added, headers)) if line_end and headers else request


async def _send(writer: asyncio.StreamWriter, data: bytes) -> bool:
    """Send a piece; return False if the client is gone."""
    if writer.is_closing():
        return False
    writer.write(data)
    await writer.drain()
    return True


def _bound(port: int) -> socket.socket:
    """Return a socket that has this port without listening, so that another one can listen at it."""
    reserved = socket.socket()
    try:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind((LOOPBACK, port))
    except OSError:
        reserved.close()
        raise
    return reserved


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close one side of a connection, and ignore errors."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
