"""Servers in processes that are forked from one that has imported the server: they start in a tenth of the time.

A test of how a process begins or ends starts a new Python. Commands of a shell are forked by `tests.support.forking`.
"""

import atexit
import logging
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import IO

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["karta_interpreter.cli.serve"])


@contextmanager
def forked(
    program: str, *arguments: str, stderr_ends: tuple[int, int] | None = None
) -> Iterator[tuple[ForkServerProcess, IO[bytes], IO[bytes]]]:
    """Run a program as `python -c` does, and yield the process, its stdout and its stderr.

    Its stderr is a pipe, or the second of these two ``stderr_ends``, as of a terminal; the block closes both. The
    process is killed at the end of the block.
    """
    stdout, its_stdout = _FORKS.Pipe(duplex=False)
    stderr, its_stderr = map(Connection, stderr_ends) if stderr_ends else _FORKS.Pipe(duplex=False)
    streams = its_stdout, its_stderr
    process = _FORKS.Process(target=_run, args=(dict(os.environ), streams, program, arguments), daemon=True)
    with (
        stdout,
        stderr,
        os.fdopen(os.dup(stdout.fileno()), "rb") as out,
        os.fdopen(os.dup(stderr.fileno()), "rb") as err,
    ):
        with its_stdout, its_stderr:
            process.start()
        try:
            yield process, out, err
        finally:
            process.kill()
            process.join()
            process.close()


def _run(
    environment: dict[str, str], streams: Sequence["Connection[None, None]"], program: str, arguments: Sequence[str]
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams, 1):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.argv[:] = ["-c", *arguments]
    try:
        exec(program, {"__name__": "__main__"})  # noqa: S102 - as python -c does
    finally:
        logging.shutdown()  # Python 3.13 clears what the process has registered from which this one is forked
        atexit._run_exitfuncs()  # noqa: SLF001 - a fork ends without them
