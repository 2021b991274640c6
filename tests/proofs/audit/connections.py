"""Connections that cost a client little: without a handshake, with a slow head, and with a body that does not end."""

import asyncio
import errno
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from tests.proofs.audit.admission import PATHS
from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.proofs.audit.workload_types import PATH as TYPES_PATH, no_types, request
from tests.webhook.process.client import PATIENT, Client, get

_IDLE, _ROUNDS, _SLOW = 20_000, 4, 200
_UNFINISHED, _PIECE, _TAKEN_WITHIN = 86, b"x" * 2**18, 0.25
_TOGETHER, _PRUNED_EVERY, _PAUSE, _SETTLING = 100, 2_000, 0.01, 3.0
_HEADER_TIMEOUT: Final = 4
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER: a closed connection is reset, so no port is kept waiting."""


async def _idle(target: Target) -> Found:
    """Open connections and say nothing, in rounds, and look at the memory when they have been closed."""
    after = []
    for _ in range(_ROUNDS):
        opened = await _opened(target)
        await asyncio.sleep(_SETTLING)
        opened = _connected(opened)
        target.answers["connected"] += len(opened)
        target.memory()
        for each in opened:
            each.close()
        await asyncio.sleep(_SETTLING)
        after.append(target.memory())
    # The least of two: the allocator gives memory back in steps, which is no growth.
    return target.found(memory_growth=min(after[-2:]) / min(after[:2]))


async def _opened(target: Target) -> list[socket.socket]:
    made: list[socket.socket] = []
    for number in range(_IDLE):
        if number % _PRUNED_EVERY == 0:
            made = _connected(made)
        one = socket.socket()
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        if one.connect_ex(("127.0.0.1", target.server.port)) not in (0, errno.EINPROGRESS):
            target.answers["not connected"] += 1
        made.append(one)
        if number % _TOGETHER == 0:
            await asyncio.sleep(_PAUSE)
    return made


def _connected(opened: list[socket.socket]) -> list[socket.socket]:
    """Return the sockets that the server has not closed, and close the others: there are fewer files than sockets."""
    kept = []
    for each in opened:
        if _is_connected(each):
            kept.append(each)
        else:
            each.close()
    return kept


def _is_connected(one: socket.socket) -> bool:
    try:
        return one.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


async def _slow(target: Target) -> Found:
    """Send heads one byte a second, for longer than a client may take."""
    clients = [await target.connect() for _ in range(_SLOW)]
    head = get("/healthz").replace(b"Host", b"X-Slow: " + b"x" * 1000 + b"\r\nHost")
    for at in range(3 * _HEADER_TIMEOUT):
        for client in clients:
            with suppress(OSError):
                client.writer.write(head[at : at + 1])
        await asyncio.sleep(1)
    kept = sum([await _is_kept(client) for client in clients])
    target.answers["cut off"] += _SLOW - kept
    target.answers["kept"] += kept
    for client in clients:
        await client.close()
    return target.found(kept=kept)


def _unfinished(
    path: str, size: int, door: str = "webhook", method: str = "POST"
) -> Callable[[Target], Awaitable[Found]]:
    """Return an attack that sends bodies of a size to a path but for their last bytes."""

    async def run(target: Target) -> Found:
        """Look at the memory while the bodies stand still."""
        opened = target.doors[door]
        head = request(method, path, opened.headers | {"Content-Length": str(size)}, b"{")
        clients = []
        async with target.sampled():
            for _ in range(_UNFINISHED):
                client = await target.connect(opened)
                clients.append(client)
                await _send_most(client, head, size)
            await asyncio.sleep(_SETTLING)
        kept = sum([await _is_kept(client) for client in clients])
        target.answers["given up"] += _UNFINISHED - kept
        target.answers["kept"] += kept
        for client in clients:
            await client.close()
        return target.found()

    return run


async def _send_most(client: Client, head: bytes, size: int) -> None:
    """Send a head and all but the last piece of its body, as far as the server takes them."""
    with suppress(OSError, TimeoutError):
        await client.send(head)
        for _ in range(size // len(_PIECE) - 1):
            async with asyncio.timeout(_TAKEN_WITHIN):
                await client.send(_PIECE)


async def _is_kept(client: Client) -> bool:
    try:
        async with asyncio.timeout(0.05):
            await client.reader.read()
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


WEBHOOK = Attack(_unfinished(PATIENT, 31 * 2**20))
REVIEWS = Attack(_unfinished(PATHS[0], 3 * 2**20 - 1))
TYPES = Attack(_unfinished(TYPES_PATH, 2 * 2**20 - 1, "types"), types=no_types)
# So that others keep the connections that they have.
IDLE = Attack(_idle, lambda _: ("--connection-age", "0"))
SLOW = Attack(_slow, bounds={"header_timeout": _HEADER_TIMEOUT})
