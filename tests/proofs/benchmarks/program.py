"""A program that answers questions, one line of JSON each."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self


class MeasurementError(Exception):
    """Something was asked and not answered, so there is nothing to measure."""


class Program:
    """A program that is started with the first question; a context manager that ends it."""

    def __init__(self, *command: str | Path) -> None:
        self.command: Final = tuple(map(str, command))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def ask(self, **question: object) -> dict[str, Any]:
        """Return the answer; raises MeasurementError when there is none, or one that names an error."""
        self.tell(question)
        return self.hear()

    def tell(self, *questions: Mapping[str, object]) -> None:
        """Ask without waiting for the answers."""
        process = self.start()
        assert process.stdin
        try:
            process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in questions))
            process.stdin.flush()
        except BrokenPipeError as error:
            raise MeasurementError(self._last_words()) from error

    def start(self) -> "subprocess.Popen[bytes]":
        """Return the program, which is started unless it runs."""
        if self._process is None:
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def hear(self, parse_int: Callable[[str], float] = int) -> dict[str, Any]:
        """Return the next answer; raises as `ask`."""
        assert self._process
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise MeasurementError(self._last_words())
        answer: dict[str, Any] = json.loads(line, parse_int=parse_int)
        if message := answer.get("error"):
            raise MeasurementError(message)
        return answer

    def _last_words(self) -> str:
        process, self._process = self._process, None
        assert process
        process.kill()
        process.communicate()
        return f"{Path(self.command[-1]).name} has ended; it may have said why above"

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
