"""The load generator: a program that asks one server at a time."""

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from tests.proofs.benchmarks.figures import Figures
from tests.proofs.benchmarks.program import Program
from tests.proofs.benchmarks.servers import Server
from tests.proofs.benchmarks.workload import REPLICAS_MARK, STATE_MARK, TEMPLATE_MARK

Way: TypeAlias = Literal["first", "again", "connecting", "recorded"]
"""What each request is: about new pod templates, about the same ones in a new state, or the first, over a connection of
its own, which then is measured; or as it was recorded, at a fixed rate, where each connection has bodies of its own."""
_RATE: Final = 3_000
"""Recorded calls a second, so that waking up costs every server the same."""
_MARKS: Final[dict[Way, list[str]]] = {"again": [STATE_MARK], "recorded": []}


def python_load() -> "Load":
    """Return the load generator in Python."""
    return Load(sys.executable, "-m", "tests.proofs.benchmarks.python_load")


class Load(Program):
    """The running program; a context manager that ends it."""

    def run(
        self,
        server: Server,
        bodies: Sequence[Path],
        seconds: float,
        *,
        connections: int = 8,
        requests: int = 0,
        way: Way = "first",
        meanwhile: Callable[[], None] | None = None,
    ) -> Figures:
        """Ask for some seconds, and until there were so many requests; opening connections is not measured.

        The bodies take turns. ``meanwhile`` is done after a third of the time. Raises MeasurementError when an answer
        is missing or says no.
        """
        names = [str(body) for body in bodies]
        marks = _MARKS.get(way, [STATE_MARK, TEMPLATE_MARK, REPLICAS_MARK])
        place = {"address": server.address, "path": server.path}
        how = {"fresh": way == "connecting", "divided": way == "recorded", "rate": _RATE if way == "recorded" else 0}
        self.ask(**place, bodies=names, connections=connections, marks=marks, **how)
        if way != "recorded":
            self.ask(requests=2 * connections)  # those that come first pay for caches
        timer = threading.Timer(seconds / 3, meanwhile) if meanwhile else None
        before = server.cpu()
        self.tell(seconds=seconds, requests=requests)
        if timer:
            timer.start()
        found = self.hear()
        cpu = server.cpu() - before
        if timer:
            timer.join()
        return Figures(
            count=found["count"],
            cpu=1e6 * cpu / found["count"],
            rate=found["count"] / found["seconds"],
            p50=found["p50"],
            p99=found["p99"],
            longest=found["longest"],
            busy=found["busy"],
        )
