"""gojq itself, asked over pipes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karta_interpreter.base.k8s.values import JSON
from tests.proofs.conformance.piped import Piped


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outputs of a program; None when it fails."""

    outputs: Sequence[JSON] | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """Why a text is not a program, "" where it is one; then what it calls and assigns, and whether it has ``..``."""

    parsing: str
    compiling: str
    calls: frozenset[str]
    operators: frozenset[str]
    descends: bool


class Gojq(Piped):
    """The running program."""

    name = "gojq"

    def run(self, programs: Sequence[str], value: JSON) -> list[Outcome]:
        """What each program gives for the same input."""
        answers = self._ask({"programs": programs, "input": value}).get("outcomes", ())
        return [
            Outcome(None, error=answer["error"]) if "error" in answer else Outcome(answer["outputs"] or ())
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
        self._write(json.dumps(question).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._read())
        return answer
