"""The load generator: a program that calls one server at a time, as Karmada's client does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.proofs.benchmarks.figures import Figures
from tests.proofs.benchmarks.program import Program
from tests.proofs.benchmarks.servers import Server

CONNECTIONS: Final = 8


class Load(Program):
    """The running program; a context manager that ends it."""

    def run(
        self, server: Server, bodies: Sequence[Path], rate: float, *, count: int = 0, fresh: bool = False
    ) -> Figures:
        """Make so many calls, or one for each body, at a fixed rate: 0 for as many as there can be.

        Each connection has bodies of its own, which take turns. Opening connections is not measured, unless each call
        has a ``fresh`` one. Raises MeasurementError if an answer is missing or says no.
        """
        names = [str(body) for body in bodies]
        place = {"address": server.address, "path": server.path}
        self.ask(**place, bodies=names, connections=CONNECTIONS, rate=rate, fresh=fresh)
        before = server.cpu()
        found = self.ask(requests=count or len(bodies))
        spent = server.cpu() - before
        return Figures(1e6 * spent / found["count"], found["count"] / found["seconds"], found["p50"], found["p99"])
