"""Runs a program on asyncio's own event loop, and writes into a file what long turns of the loop cost.

`python -m tests.proofs.audit.turns FILE -m MODULE ARGUMENT...` writes a line with the seconds of processor time of each
turn of the main thread's loop from `LEAST` on. A busy machine makes a turn longer, but not dearer.
"""

import asyncio
import runpy
import sys
import threading
import time
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from typing import Final

from karta_interpreter.webhook.process import signals

LEAST: Final = 0.02
_BUFFER_BYTES: Final = 2**14
"""Of a connection. asyncio writes zeros into 256 KiB at once, and uvloop touches only what it needs."""


class MeteredLoop(asyncio.SelectorEventLoop):
    """Writes what long turns cost into a file at ``path``."""

    path = Path()

    def _run_once(self) -> None:
        begun = time.thread_time()
        super()._run_once()  # type: ignore[misc]  # of `BaseEventLoop`, which has no type
        spent = time.thread_time() - begun
        if spent >= LEAST and threading.current_thread() is threading.main_thread():
            with self.path.open("a") as file:
                file.write(f"{spent:.4f}\n")


new_event_loop = MeteredLoop
"""Makes what `signals.process` asks a module of loops for."""


def dearest(path: Path, start: int) -> float:
    """Return the seconds of the dearest turn that a file has from some byte on, 0 without one."""
    text = path.read_text()[start:] if path.exists() else ""
    return max(map(float, text.split()), default=0.0)


def main() -> None:
    """Run the module that the command line names."""
    MeteredLoop.path = Path(sys.argv[1])
    SSLProtocol.max_size = _BUFFER_BYTES
    sys.modules["metered_loop"] = sys.modules[__name__]
    signals._LOOPS = "metered_loop"  # noqa: SLF001 - uvloop has no place for a meter
    module, sys.argv = sys.argv[3], [sys.argv[0], *sys.argv[4:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
