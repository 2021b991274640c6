"""Servers on loopback that answer what a test wants."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import orjson

from karta_interpreter.webhook.wire import encode_failure, encode_status

HOST = "127.0.0.1"
Answer = Callable[[bytes, bytes], tuple[int, bytes]]
"""From the target and the body of a request to the status and the body of its answer."""


def interpreter(known: Mapping[str, int] | None = None, *, ready: int = 200) -> Answer:
    """Answers as ours: per kind with a code, 404 for the kinds that are not given."""

    def answer(target: bytes, body: bytes) -> tuple[int, bytes]:
        if target.partition(b"?")[0] == b"/readyz":
            return ready, b"ok\n" if ready == 200 else encode_status(ready, "no definition is loaded")
        if target.partition(b"?")[0] != b"/interpret":
            return 404, encode_status(404, "only /interpret is served")
        request: Any = orjson.loads(body)["request"]
        return 200, encode_failure(request["uid"], (known or {}).get(request["kind"]["kind"], 404), "as asked for")

    return answer


Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Does with a connection what it likes."""


def serving(answer: Answer, context: ssl.SSLContext | None = None) -> AbstractAsyncContextManager[int]:
    """Serve on a free port, which is given, until the end of the block."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _answer(reader, writer, answer)

    return handling(handle, context)


@asynccontextmanager
async def handling(handle: Handle, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve on a free port, which is given, until the end of the block, and handle each connection."""
    open_now: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now.add(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            await handle(reader, writer)
        writer.transport.abort()
        open_now.discard(writer)

    server = await asyncio.start_server(connected, HOST, 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        while open_now:
            for writer in open_now:
                writer.transport.abort()
            await asyncio.sleep(0)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    line, *headers = head.rstrip().split("\r\n")
    lengths = [header.partition(":")[2] for header in headers if header.lower().startswith("content-length:")]
    body = await reader.readexactly(int(lengths[0])) if lengths else b""
    status, content = answer(line.split(" ")[1].encode(), body)
    writer.write(f"HTTP/1.1 {status} Test\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode())
    writer.write(content)
    await writer.drain()
    writer.close()
    await writer.wait_closed()
