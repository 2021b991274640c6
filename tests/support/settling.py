"""The child processes of pools. Nothing but the private parts of a pool shows them."""

from karta_interpreter.base.sandbox import Pool, pool
from tests.support.waiting import until


def processes_of(some: Pool) -> frozenset[int]:
    """Return the ids of the processes that a pool has."""
    return frozenset(process.pid for process in list(some._all))  # noqa: SLF001


async def settled() -> None:
    """Return when every child process there is waits for its next request.

    One that still frees the memory of its last request would end with the loop, and not be there for the next test.
    """
    await until(lambda: all(len(each._idle) == len(each._all) for each in list(pool._pools)))  # noqa: SLF001
