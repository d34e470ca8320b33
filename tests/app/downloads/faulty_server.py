"""A web server on this machine whose answers follow a script, and misbehave as servers do."""

import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Headers = dict[str, str]


@dataclass(frozen=True)
class Asked:
    """A request that came; the names of its headers are in lower case."""

    host: str
    path: str
    headers: Headers


@dataclass
class Exchange:
    """A request and the connection on which it is answered."""

    asked: Asked
    handler: BaseHTTPRequestHandler
    content: bytes
    etag: str
    # Set when the server ends: whoever stalls waits for it.
    ended: threading.Event

    @property
    def begin(self) -> int:
        """The first byte that is asked for."""
        return int(self.asked.headers.get("range", "bytes=0-")[len("bytes=") :].split("-")[0])

    def head(self, status: int, **headers: str | int) -> None:
        """Send a status and headers; underscores in their names stand for hyphens."""
        self.handler.send_response(status)
        for name, text in headers.items():
            self.handler.send_header(name.replace("_", "-"), str(text))
        self.handler.end_headers()
        self.handler.wfile.flush()

    def send(self, content: bytes) -> None:
        """Send bytes of the body."""
        self.handler.wfile.write(content)
        self.handler.wfile.flush()

    def stall(self) -> None:
        """Send nothing more until the server ends."""
        self.ended.wait(60)

    def file_head(self, **headers: str | int) -> int:
        """Send the head of an honest answer; return the first byte of its body."""
        size, etag = len(self.content), self.etag
        continues = "range" in self.asked.headers
        begin = self.begin
        if self.asked.headers.get("if-range", etag) != etag:
            continues, begin = False, 0
        usual: dict[str, str | int] = {"Content_Length": size - begin, "ETag": etag}
        if continues:
            usual["Content_Range"] = f"bytes {begin}-{size - 1}/{size}"
        self.head(206 if continues else 200, **usual | headers)
        return begin


# Answers one request.
Answer = Callable[[Exchange], None]


def serve(exchange: Exchange) -> None:
    """Answer as an honest server does, with ranges."""
    begin = exchange.file_head()
    exchange.send(exchange.content[begin:])


def serve_whole(exchange: Exchange) -> None:
    """Answer as a server does that knows no ranges."""
    exchange.head(200, Content_Length=len(exchange.content))
    exchange.send(exchange.content)


def drop_after(count: int) -> Answer:
    """Return an answer that breaks off after so many bytes of the body."""

    def answer(exchange: Exchange) -> None:
        begin = exchange.file_head()
        exchange.send(exchange.content[begin : begin + count])

    return answer


def stall_after(count: int) -> Answer:
    """Return an answer that stops after so many bytes of the body, and holds the connection."""

    def answer(exchange: Exchange) -> None:
        begin = exchange.file_head()
        exchange.send(exchange.content[begin : begin + count])
        exchange.stall()

    return answer


def silent(exchange: Exchange) -> None:
    """Send nothing, not even a head."""
    exchange.stall()


def redirect(place: str, status: int = 302) -> Answer:
    """Return an answer that leads elsewhere."""
    return lambda exchange: exchange.head(status, Location=place, Content_Length=0)


def refuse(status: int, **headers: str | int) -> Answer:
    """Return an answer with a status and no body."""
    return lambda exchange: exchange.head(status, Content_Length=0, **headers)


def give(content: bytes, status: int = 200, **headers: str | int) -> Answer:
    """Return an answer with a body of its own."""

    def answer(exchange: Exchange) -> None:
        exchange.head(status, **{"Content_Length": len(content), **headers})
        exchange.send(content)

    return answer


@dataclass
class FaultyServer:
    """A server on 127.0.0.1. Each request takes the next answer of `script`, then `otherwise`."""

    content: bytes
    script: list[Answer] = field(default_factory=list[Answer])
    otherwise: Answer = serve
    etag: str = '"first"'
    port: int = 0
    asked: list[Asked] = field(default_factory=list[Asked])
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The URL of its file."""
        return f"http://127.0.0.1:{self.port}/file.bin"

    @property
    def ranges(self) -> list[str | None]:
        """The range that each request asked for."""
        return [asked.headers.get("range") for asked in self.asked]

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): text for name, text in handler.headers.items()}
        asked = Asked(headers.get("host", ""), handler.path, headers)
        self.asked.append(asked)
        answer = self.script.pop(0) if self.script else self.otherwise
        with suppress(OSError):  # the client has gone
            answer(Exchange(asked, handler, self.content, self.etag, self.ended))


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that went away in the middle."""


@contextmanager
def running(server: FaultyServer, context: ssl.SSLContext | None = None) -> Generator[FaultyServer]:
    """Run a server until the block ends, with TLS if a context is given."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.handle(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Print nothing."""

    http = _QuietServer(("127.0.0.1", 0), Handler)
    if context is not None:
        http.socket = context.wrap_socket(
            http.socket, server_side=True, do_handshake_on_connect=False
        )
    server.port = http.server_port
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        http.shutdown()
        http.server_close()
        thread.join()


@dataclass
class Tunnel:
    """A proxy that leads every host to one port of this machine; `asked` has what it was told."""

    to_port: int
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@contextmanager
def tunnel(to_port: int, status: bytes = b"200 OK") -> Generator[Tunnel]:
    """Run a proxy for CONNECT requests, which it answers with `status`."""
    proxy = Tunnel(to_port)
    listener = socket.create_server(("127.0.0.1", 0))
    proxy.port = listener.getsockname()[1]

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_tunnelled, args=(proxy, client, status), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        # Closing alone does not wake a thread that accepts.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _tunnelled(proxy: Tunnel, client: socket.socket, status: bytes) -> None:
    with client:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        lines = head.decode().split("\r\n")
        user = next((line for line in lines if line.lower().startswith("proxy-authorization")), "")
        proxy.asked.append((lines[0], user))
        client.sendall(b"HTTP/1.1 " + status + b"\r\n\r\n")
        if not status.startswith(b"200"):
            return
        with socket.create_connection(("127.0.0.1", proxy.to_port)) as server:
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(1 << 16):
            target.sendall(content)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
