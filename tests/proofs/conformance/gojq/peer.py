"""gojq itself, asked over pipes."""

from collections.abc import Sequence
from dataclasses import dataclass

from karta_interpreter.base.k8s.values import JSON
from tests.proofs.benchmarks.program import Program


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


class Gojq(Program):
    """The running program."""

    def run(self, programs: Sequence[str], value: JSON) -> list[Outcome]:
        """What each program gives for the same input."""
        answers = self.ask(programs=programs, input=value).get("outcomes", ())
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
            for answer in self.ask(texts=texts).get("readings", ())
        ]
