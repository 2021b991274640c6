"""A program of another language, asked over pipes: a line a question, and a line an answer."""

import subprocess
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self


class Piped:
    """The running program; a context manager that ends it."""

    name: ClassVar[str]

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def _write(self, lines: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(lines)
        self._process.stdin.flush()

    def _read(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with {self._process.wait()}")
        return line
