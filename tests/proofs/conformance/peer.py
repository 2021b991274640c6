"""Karmada's own Lua VM, asked over pipes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any

from tests.proofs.conformance.piped import Piped
from tests.proofs.conformance.question import Outcome, Question


class Peer(Piped):
    """The running program."""

    name = "Karmada's Lua VM"

    def ask(self, questions: Iterable[Question]) -> Iterator[Outcome]:
        """Answer each question once, in order; the program works ahead while the caller looks at an answer."""
        for answer in self._exchange([_line(question) for question in questions]):
            yield _outcome(answer["outcomes"][0])

    def outcomes(self, question: Question, runs: int) -> list[Outcome]:
        """Give the different outcomes of asking the same many times: Karmada does not always agree with itself."""
        (answer,) = self._exchange([_line(question, runs=runs)])
        return [_outcome(found) for found in answer["outcomes"]]

    def microseconds(self, question: Question, seconds: float) -> float:
        """Measure the processor time of one call, over that many seconds of it."""
        (answer,) = self._exchange([_line(question, seconds=seconds)])
        return float(answer["microseconds"])

    def _exchange(self, lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
        def write() -> None:
            with suppress(BrokenPipeError):  # the reader below says that the program has ended
                self._write(b"".join(lines))

        writer = Thread(target=write)
        writer.start()
        for _ in lines:
            yield json.loads(self._read(), parse_int=_integer)
        writer.join()


def _integer(digits: str) -> float:
    """An integer, which Go writes with any number of digits; one of more than 64 bits is a float to readers of JSON."""
    integer = int(digits)
    return integer if -(2**63) <= integer < 2**64 else float(digits)


def _line(question: Question, **extra: float) -> bytes:
    fields = {
        "operation": question.operation,
        "scripts": [script.text for script in question.scripts],
        "object": question.object,
        "observed": question.observed,
        "replicas": question.replicas or 0,
        "items": question.items,
        **extra,
    }
    return json.dumps({key: value for key, value in fields.items() if value is not None}).encode() + b"\n"


def _outcome(answer: dict[str, Any]) -> Outcome:
    return Outcome(answer.get("results"), answer.get("error", ""))
