"""A Service in front of several servers: connections are spread over its endpoints, as kube-proxy does.

Run as a program it is given the file that names the ports of the endpoints. It is a process of its own, because
whoever else works in the same one would delay what passes through: a kernel does not.
"""

import asyncio
import random
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.rig.processes import Processes, free_port

_CHUNK = 65536


@dataclass
class Service:
    """One port for the ports of the endpoints; an established connection stays where it is."""

    port: int
    file: Path

    @classmethod
    def start(cls, processes: Processes, folder: Path) -> "Service":
        """Start a Service without endpoints."""
        service = cls(free_port(), folder / "endpoints")
        service.file.write_text("", encoding="utf-8")
        processes.start("service", sys.executable, "-m", "tests.proofs.rig.service", str(service.port), service.file)
        return service

    def add(self, port: int) -> None:
        self._write({*self._endpoints(), str(port)})

    def remove(self, port: int) -> None:
        self._write({*self._endpoints()} - {str(port)})

    def replace(self, ports: set[int]) -> None:
        """New connections go to these, and nowhere else."""
        self._write({str(port) for port in ports})

    def _endpoints(self) -> list[str]:
        return self.file.read_text(encoding="utf-8").split()

    def _write(self, ports: set[str]) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(" ".join(ports), encoding="utf-8")
        new.rename(self.file)


async def _serve(port: int, endpoints: Path) -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports = endpoints.read_text(encoding="utf-8").split()  # noqa: ASYNC240 - a few bytes, and nobody waits
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", int(random.choice(ports)))  # noqa: S311 - a die
        except (OSError, IndexError):
            writer.close()
            return
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        for each in (writer, far_writer):
            each.close()

    async with await asyncio.start_server(accept, "127.0.0.1", port) as server:
        await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        # Half of a connection may end before the other: what is on its way still arrives.
        writer.write_eof()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), Path(sys.argv[2])))
