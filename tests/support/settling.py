"""Keeps child processes for the next test: one that still frees the memory of its last request ends with the loop."""

from karta_interpreter.base.sandbox import pool
from tests.support.waiting import until


async def settled() -> None:
    """Return when every child process there is waits for its next request."""
    # Nothing else shows it.
    await until(lambda: all(len(each._idle) == len(each.processes) for each in list(pool._pools)))  # noqa: SLF001
