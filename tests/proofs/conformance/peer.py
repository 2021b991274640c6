"""Karmada's own Lua VM, a program that answers lines."""

from collections.abc import Iterable, Iterator, Sequence
from threading import Thread
from typing import Any

from tests.proofs.benchmarks.program import Program
from tests.proofs.conformance.question import Outcome, Question


class Peer(Program):
    """The running program."""

    def answers(self, questions: Iterable[Question]) -> Iterator[Outcome]:
        """Answer each question once, in order; the program works ahead while the caller looks at an answer."""
        for answer in self._exchange([_fields(question) for question in questions]):
            yield _outcome(answer["outcomes"][0])

    def outcomes(self, question: Question, runs: int) -> list[Outcome]:
        """Give the different outcomes of asking the same many times: Karmada does not always agree with itself."""
        (answer,) = self._exchange([_fields(question, runs=runs)])
        return [_outcome(found) for found in answer["outcomes"]]

    def microseconds(self, question: Question, seconds: float) -> float:
        """Measure the processor time of one call, over that many seconds of it."""
        (answer,) = self._exchange([_fields(question, seconds=seconds)])
        return float(answer["microseconds"])

    def _exchange(self, several: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        self.start()
        writer = Thread(target=self.tell, args=several)
        writer.start()
        for _ in several:
            yield self.hear(parse_int=_integer)
        writer.join()


def _integer(digits: str) -> float:
    """An integer, which Go writes with any number of digits; one of more than 64 bits is a float to readers of JSON."""
    integer = int(digits)
    return integer if -(2**63) <= integer < 2**64 else float(digits)


def _fields(question: Question, **extra: float) -> dict[str, Any]:
    fields = {
        "operation": question.operation,
        "scripts": [script.text for script in question.scripts],
        "object": question.object,
        "observed": question.observed,
        "replicas": question.replicas or 0,
        "items": question.items,
        **extra,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _outcome(answer: dict[str, Any]) -> Outcome:
    return Outcome(answer.get("results"), answer.get("error", ""))
