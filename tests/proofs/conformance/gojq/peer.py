"""gojq itself, asked over pipes."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from karta_interpreter.base.k8s.values import JSON


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outputs of a program, and each as Go writes it; None when it fails."""

    outputs: Sequence[JSON] | None
    texts: Sequence[str] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """Why a text is not a program, "" where it is one; then what it calls and assigns, and whether it has ``..``."""

    parsing: str
    compiling: str
    calls: frozenset[str]
    operators: frozenset[str]
    descends: bool


class Gojq:
    """The running program; a context manager that ends it."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, programs: Sequence[str], value: JSON) -> list[Outcome]:
        """What each program gives for the same input."""
        answers = self._ask({"programs": programs, "input": value}).get("outcomes", ())
        return [
            Outcome(None, error=answer["error"])
            if "error" in answer
            else Outcome(answer["outputs"] or (), answer["texts"] or ())
            for answer in answers
        ]

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """What each text is; none is run."""
        return [
            Reading(
                answer.get("parsing", ""),
                answer.get("compiling", ""),
                frozenset(answer["calls"] or ()),
                frozenset(answer["operators"] or ()),
                answer["descends"],
            )
            for answer in self._ask({"texts": texts}).get("readings", ())
        ]

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps(question).encode() + b"\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise RuntimeError(f"gojq ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer
