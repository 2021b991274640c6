"""Commands of shells, each forked from a process that has imported most of what they need.

To start Python and to import takes longer than such a command runs. A forked command has its own arguments,
environment, folder and open files. Tests of how a program starts or ends use a real one; servers that get signals are
forked by `tests.webhook.process.forked`.
"""

import contextlib
import gc
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NoReturn

_MOST = 1 << 20
"""The most bytes of a request."""


def ask(address: str, code: str, arguments: list[str], files: list[int], environment: dict[str, str]) -> int:
    """Run code as a program that has these files as standard input, output and error; return its exit status."""
    request = json.dumps([code, arguments, os.getcwd(), environment])  # noqa: PTH109 - a command imports little
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"R"], files)
        connection.sendall(request.encode())
        connection.shutdown(socket.SHUT_WR)
        return int(connection.recv(16) or b"-1")


def write_program(path: Path, address: str, code: str) -> None:
    """Write a command that forks the code with the arguments, environment and files that the command gets."""
    path.write_text(
        f"#!{sys.executable} -IS\nimport json, os, socket, sys\n{inspect.getsource(ask)}\n"
        f"sys.exit(ask({address!r}, {code!r}, sys.argv, [0, 1, 2], dict(os.environ)))\n"
    )
    path.chmod(0o755)


@contextlib.contextmanager
def forking(*modules: str) -> Iterator[str]:
    """The address of a process that has imported modules; it ends with the block, and its programs with it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryDirectory() as folder:  # the path of a socket must be short
        address = f"{folder}/socket"
        command = [sys.executable, __file__, address, *modules]
        with subprocess.Popen(
            command, env=environment, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            try:
                assert process.stdout
                assert process.stdout.readline() == b"ready\n"
                yield address
            finally:
                os.killpg(process.pid, signal.SIGKILL)


def _serve(address: str, *modules: str) -> None:
    """Fork programs until standard input is closed, also by the end of the process at the other end."""
    gc.disable()  # the programs are short, and many of them import much
    for name in modules:
        import_module(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)  # noqa: T201
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _run(connection)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _run(connection: socket.socket) -> NoReturn:
    """Be a program until its end."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as stream:
        code, sys.argv, folder, environment = json.load(stream)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    connection.sendall(str(_status(code)).encode())
    os._exit(0)


def _status(code: str) -> int:
    try:
        exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - that is what it is for
        status = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)  # noqa: T201
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - the edge of a process
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    _serve(*sys.argv[1:])
