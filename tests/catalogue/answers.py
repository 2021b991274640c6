"""Digests of the answers that a sweep asks for; also a program that writes them, for `test_same_bytes`.

An argument "back" answers the cases in the reverse order.
"""

import hashlib
import sys

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import interpret
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.webhook.wire import Request, encode_failure, encode_results
from tests.catalogue.entries import PATHS, entry_of
from tests.support.examples import few


def asked() -> list[tuple[Definition, Case]]:
    """Return what the answers are to."""
    found = map(entry_of, few(few(PATHS, "same bytes"), "same bytes"))
    return [(entry.definition, case) for entry in found if entry.definition for case in entry.swept]


def answers(order: str) -> list[str]:
    """Return one line per case: where it stands, its operation, and the digest of the bytes of its answer."""
    answered = [(case, _answer(definition, case)) for definition, case in asked()[:: -1 if order == "back" else 1]]
    return [
        f"{case.source}:{case.line} {case.call.operation} {hashlib.sha256(body).hexdigest()}" for case, body in answered
    ]


def _answer(definition: Definition, case: Case) -> bytes:
    try:
        results = interpret(definition, case.call, reader=Known.of(case.references))
        return encode_results(Request("1", call=case.call), results)
    except InterpretationError as error:
        return encode_failure("1", error.code, str(error))


if __name__ == "__main__":
    sys.stdout.write("\n".join(answers(sys.argv[-1])))
