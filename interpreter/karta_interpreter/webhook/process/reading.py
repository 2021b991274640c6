"""Threads that read many objects, next to the event loop that answers calls."""

import asyncio
import threading
from concurrent.futures import wait
from time import monotonic

from karta_interpreter.base.k8s import before_object

# Two turns of the event loop take a third of this if no call is answered, and several times as long if one is.
_IDLE_SECONDS = 0.0001
# A thread does not wait longer, so that definitions are read next to any load. To read one takes about a millisecond.
_MOST_SECONDS = 0.0005


def wait_for_calls() -> None:
    """Have threads that tasks start from now on wait, before each object that they read, until no call is answered.

    Otherwise a thread takes half of the processor, and the event loop waits for the interpreter's lock after each
    system call of each answer.
    """
    loop, loop_thread = asyncio.get_running_loop(), threading.get_ident()

    def wait_until_idle() -> None:
        if threading.get_ident() != loop_thread:
            # With a timeout: nothing ends this task if the event loop ends first.
            wait([asyncio.run_coroutine_threadsafe(_idle(), loop)], 1.0)

    before_object.set(wait_until_idle)


async def _idle() -> None:
    latest = monotonic() + _MOST_SECONDS
    while (begun := monotonic()) < latest:
        # Calls that have come are answered between these two.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if monotonic() - begun < _IDLE_SECONDS:
            return
