"""The load generator where there is no Go: the same orders as ``go/load``, answered by Python.

Its own processor time is several times that of the one in Go, so waiting times tell more about it than about servers.
"""

import asyncio
import itertools
import json
import resource
import ssl
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.proofs.benchmarks.figures import percentile
from tests.proofs.benchmarks.workload import UID, renumbered

_HEAD_END, _LENGTH, _CLOSE = b"\r\n\r\n", b"content-length:", b"\r\nconnection: close\r\n"
_PATIENCE = 20.0
_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_TLS.check_hostname, _TLS.verify_mode = False, ssl.CERT_NONE  # this measures, and trusts nothing that it hears
# No number comes again, not even after this program was started again: a server remembers.
_NUMBERS = itertools.count(time.time_ns() // 1000 % 10**12)


@dataclass
class _Connection:
    """One request after the other, with a uid of its own each."""

    order: dict[str, Any]
    number: int
    requests: list[bytes]
    latencies: list[float] = field(default_factory=list)
    is_last: bool = False
    """Whether the server has said that it answers no more on this connection."""

    async def open(self) -> None:
        host, _, port = self.order["address"].partition(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port), ssl=_TLS)
        self.is_last = False

    async def run(self, until: float, requests: int) -> None:
        count, begun, rate = 0, time.monotonic(), self.order["rate"]
        while count < requests or time.monotonic() < until:
            if rate:
                due = begun + (count * self.order["connections"] + self.number) / rate
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            asked = time.monotonic()
            if self.order["fresh"] or self.is_last:
                self.writer.close()
                await self.open()
            async with asyncio.timeout(_PATIENCE):
                await self._exchange(count)
            self.latencies.append(1e6 * (time.monotonic() - asked))
            count += 1

    async def _exchange(self, count: int) -> None:
        uid = f"{self.number:08x}-0000-4000-8000-{count:012x}".encode()
        request = self.requests[(self.number + count) % len(self.requests)]
        request = renumbered(request, self.order["marks"], next(_NUMBERS))
        self.writer.write(request.replace(UID.encode(), uid, 1))
        head = await self.reader.readuntil(_HEAD_END)
        self.is_last = _CLOSE in head.lower()
        length = head.lower().partition(_LENGTH)[2].partition(b"\r\n")[0]
        answer = await self.reader.readexactly(int(length))
        if b'"successful":true' not in answer or uid not in answer:
            raise ValueError(f"not a success: {head!r} {answer[:600]!r}")


def main() -> None:
    """Answer orders until there are no more."""
    connections: list[_Connection] = []
    loop = asyncio.new_event_loop()
    for line in sys.stdin:
        order, found = json.loads(line), dict[str, Any]()
        try:
            if "address" in order:
                for connection in connections:
                    connection.writer.close()
                bodies = [Path(name).read_bytes() for name in order["bodies"]]
                connections = loop.run_until_complete(_opened(order, bodies))
            else:
                found = loop.run_until_complete(_run(connections, **order))
        except (OSError, ValueError, EOFError, ExceptionGroup) as error:
            found = {"error": _text(error)}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


async def _opened(order: dict[str, Any], bodies: list[bytes]) -> list[_Connection]:
    requests = [_request(order, body) for body in bodies]
    count = order["connections"]
    own = [requests[number::count] if order["divided"] else requests for number in range(count)]
    connections = [_Connection(order, number, mine) for number, mine in enumerate(own)]
    for connection in connections:
        await connection.open()
    return connections


def _request(order: dict[str, Any], body: bytes) -> bytes:
    head = (
        f"POST {order['path']}?timeout=3s HTTP/1.1\r\nHost: {order['address']}\r\n"
        f"User-Agent: kube-apiserver-admission\r\nContent-Length: {len(body)}\r\nAccept: application/json, */*\r\n"
        "Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
    )
    return head.encode() + body


async def _run(connections: list[_Connection], seconds: float = 0.0, requests: int = 0) -> dict[str, float]:
    begun, spent = time.monotonic(), _spent()
    for connection in connections:
        connection.latencies.clear()
    each = requests // len(connections)
    async with asyncio.TaskGroup() as group:
        for connection in connections:
            group.create_task(connection.run(begun + seconds, each))
    passed = time.monotonic() - begun
    latencies = [latency for connection in connections for latency in connection.latencies]
    return {
        "count": len(latencies),
        "seconds": passed,
        "p50": percentile(latencies, 0.5),
        "p99": percentile(latencies, 0.99),
        "longest": max(latencies),
        "busy": (_spent() - spent) / passed,
    }


def _text(error: Exception) -> str:
    cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
    return str(cause) or type(cause).__name__


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
