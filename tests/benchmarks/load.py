"""A load generator: requests over TLS keep-alive connections, one after the other on each."""

import asyncio
import ssl
import time
from dataclasses import dataclass, field
from functools import partial
from typing import cast

_HEAD_END = b"\r\n\r\n"


@dataclass
class Load:
    """One round of load; ``latencies`` are in seconds."""

    host: str
    port: int
    body: bytes
    until: float = 0.0
    latencies: list[float] = field(default_factory=list)

    async def run(self, connections: int, seconds: float) -> None:
        """Keep ``connections`` connections busy for ``seconds``; raise when an answer is not a success."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        loop = asyncio.get_running_loop()
        clients = [_Client(self, loop.create_future()) for _ in range(connections)]
        for client in clients:
            await loop.create_connection(partial(_itself, client), self.host, self.port, ssl=context)
        self.until = time.perf_counter() + seconds
        for client in clients:
            client.send()
        await asyncio.gather(*(client.done for client in clients))


def _itself(client: "_Client") -> "_Client":
    return client


class _Client(asyncio.Protocol):
    def __init__(self, load: Load, done: asyncio.Future[None]) -> None:
        head = (
            f"POST /interpret?timeout=3s HTTP/1.1\r\nHost: {load.host}\r\nUser-Agent: kube-apiserver-admission\r\n"
            f"Content-Length: {len(load.body)}\r\nAccept: application/json, */*\r\n"
            "Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
        )
        self._request = head.encode() + load.body
        self._load = load
        self.done = done
        self._answer = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's has the methods, but not the class

    def send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._answer += data
        end = self._answer.find(_HEAD_END)
        if end < 0:
            return
        head = self._answer[:end].lower()
        start = head.index(b"content-length:") + len(b"content-length:")
        length = int(head[start : head.find(b"\r\n", start) if b"\r\n" in head[start:] else None])
        if len(self._answer) < end + len(_HEAD_END) + length:
            return
        self._finish(self._answer)

    def _finish(self, answer: bytes) -> None:
        now = time.perf_counter()
        if b'"successful":true' not in answer:
            self.done.set_exception(RuntimeError(f"not a success: {answer[:600]!r}"))
            self._transport.close()
            return
        self._answer = b""
        self._load.latencies.append(now - self._sent)
        if now < self._load.until:
            self.send()
            return
        self._transport.close()
        self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))
