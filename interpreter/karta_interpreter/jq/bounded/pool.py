"""The workers that run libjq for this process."""

from contextlib import ExitStack
from typing import Final

from karta_interpreter.errors import QueryLimitError
from karta_interpreter.jq.bounded.worker import Worker
from karta_interpreter.k8s.values import JSON
from karta_interpreter.worker import pool

PROCESSES: Final = 3
"""How many expressions run at a time; those of one definition leave one process to all others, whatever they do."""


class WorkerPool(pool.WorkerPool[Worker]):
    """At most ``size`` workers, for any number of threads."""

    def __init__(self, size: int = PROCESSES) -> None:
        super().__init__(Worker, size)

    def evaluate(self, program: str, value: str, seconds: float, owner: str = "") -> list[JSON]:
        """Run a program in the next free worker; waiting for it is part of the time, starting it is not."""
        with ExitStack() as stack:
            try:
                worker, left = stack.enter_context(self.worker(owner, seconds))
            except TimeoutError as err:
                raise QueryLimitError("every process for jq is busy") from err
            return worker.evaluate(program, value, left)


WORKERS: Final = WorkerPool()
"""The pool that expressions use."""


def close_workers() -> None:
    """Stop the processes of all expressions; those that run fail, later ones start new processes."""
    WORKERS.close()
