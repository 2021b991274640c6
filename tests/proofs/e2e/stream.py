"""A stream of workload changes: templates are scaled up and down, and members report."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.proofs.e2e.flow import Flow
from tests.proofs.rig.api import ApiError
from tests.proofs.rig.background import background

_PAUSE = 0.05


@dataclass
class Stream:
    """Changes made without a pause, by a thread of its own."""

    flows: list[Flow]
    changes: int = 0

    def run(self, ended: threading.Event) -> None:
        turn = 0
        while not ended.is_set():
            turn += 1
            for flow in self.flows:
                stage = flow.kind.stages[1 + turn % 2]
                flow.apply(flow.kind.scaled(flow.template, stage.template))
                self.changes += 1
                self._report(flow)
                ended.wait(_PAUSE)

    def _report(self, flow: Flow) -> None:
        for member in flow.plane.members:
            try:
                flow.report(**{member: "running"})
                self.changes += 1
            except (LookupError, ApiError):
                pass  # the object is not there yet, or changes at this moment


@contextmanager
def streaming(*flows: Flow) -> Iterator[Stream]:
    """Keep the workloads changing until the end of the block."""
    stream = Stream(list(flows))
    with background(stream.run):
        yield stream
