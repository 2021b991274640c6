"""What processes use, told as a kubelet tells it: what metrics-server reads at ``/metrics/resource``."""

import os
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.support.serving import QuietServer, answer

_PROC = Path("/proc")
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PARENT, _TIMES = 1, slice(11, 15)  # of /proc/PID/stat, after the name of the program
_RESIDENT = 21


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its children have used: seconds of processor time, and bytes that are resident."""

    cpu: float
    memory: int

    @classmethod
    def of(cls, pid: int) -> "Usage":
        """Read it from the kernel; nothing when the process is gone."""
        found = list(_family(pid, _table()))
        cpu = sum(int(ticks) for fields in found for ticks in fields[_TIMES]) / _TICK
        return cls(cpu, sum(int(fields[_RESIDENT]) for fields in found) * _PAGE)


@dataclass(frozen=True, slots=True)
class Container:
    """The only container of a pod; ``started`` is in seconds since 1970."""

    namespace: str
    pod: str
    name: str
    started: float
    usage: Usage


def _table() -> dict[int, list[str]]:
    found = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                found[int(folder.name)] = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return found


def _family(pid: int, table: dict[int, list[str]]) -> Iterator[list[str]]:
    if pid in table:
        yield table[pid]
    for child, fields in table.items():
        if int(fields[_PARENT]) == pid:
            yield from _family(child, table)


@contextmanager
def telling(port: int, pair: tuple[Path, Path], containers: Callable[[], Iterable[Container]]) -> Iterator[None]:
    """Serve what the containers use at that port of loopback, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, "".join(_exposition(containers())).encode(), "text/plain; version=0.0.4")

        def log_message(self, *_: object) -> None:
            pass

    server = QuietServer(("127.0.0.1", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _exposition(containers: Iterable[Container]) -> Iterator[str]:
    now = int(time.time() * 1000)
    for one in containers:
        labels = f'container="{one.name}",namespace="{one.namespace}",pod="{one.pod}"'
        yield f"container_cpu_usage_seconds_total{{{labels}}} {one.usage.cpu} {now}\n"
        yield f"container_memory_working_set_bytes{{{labels}}} {one.usage.memory} {now}\n"
        yield f"container_start_time_seconds{{{labels}}} {one.started}\n"
    machine = Usage.of(1)
    yield f"node_cpu_usage_seconds_total {machine.cpu} {now}\n"
    yield f"node_memory_working_set_bytes {machine.memory} {now}\n"
