"""What the first InterpretComponent of each kind costs: it finds out what it reads, and compiles.

As a program it asks each of the given bodies once, and Valgrind counts.
"""

import asyncio
import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta.catalogue import catalogue_files
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Operation, interpret
from karta_interpreter.engine.suites.suite import find_suites, read_suite
from karta_interpreter.webhook.answering.calls import Calls
from tests.proofs.benchmarks.counted import FLOOR, Callgrind, count_parts, floor
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.instructions import PYTHON, totals_of
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.support.bodies import body_about

_NAMED: Final = 3


def first_answers(_: Field, __: Effort) -> Part:
    """Count the instructions of the first answer of each kind. Raises MeasurementError."""
    found = instructions()
    if not found:
        raise MeasurementError("instructions are counted by Valgrind, on x86-64")
    del found["floor"]
    dearest = sorted(found, key=lambda name: -found[name])[:_NAMED]
    rows = [(name, number(found[name])) for name in dearest]
    rows += [
        ("the median kind", number(sorted(found.values())[len(found) // 2])),
        (f"all {len(found)} together", number(sum(found.values()))),
    ]
    return Part({"first-answers": table(("first InterpretComponent", "instructions"), rows)})


def counted_first() -> dict[str, float]:
    """Return the instructions of all first answers and of the largest, in floors; nothing where none are counted."""
    found = instructions()
    if not found:
        return {}
    one = found.pop("floor")
    figures = {"all first answers": sum(found.values()), "the largest first answer": max(found.values())}
    return {PYTHON + name: figure / one for name, figure in figures.items()}


def instructions() -> dict[str, float]:
    """Return the instructions of the floor and of each kind's first answer; nothing where none are counted."""
    asked = bodies()
    with TemporaryDirectory() as folder:
        for place, body in enumerate(asked.values()):
            (Path(folder) / f"{place:03}").write_bytes(body)
        totals = totals_of("first_answers", Path(folder), len(asked) + 1)
    return dict(zip(["floor", *asked], map(float, totals), strict=True)) if totals else {}


def bodies() -> dict[str, bytes]:
    """Return a call for each kind that answers in the server's process: about the largest object with an answer."""
    found: dict[str, bytes] = {}
    for path in catalogue_files():
        suites = {str(suite): suite.read_text(encoding="utf-8") for suite in find_suites(path.parent)}
        calls = [case.call for source, text in suites.items() for case in read_suite(text, source)]
        answered = [call.object for call in calls if call.operation is Operation.INTERPRET_COMPONENT and _answers(call)]
        if answered:
            obj = {**max(answered, key=lambda obj: len(orjson.dumps(obj)))}
            obj["metadata"] = {"name": "train", "namespace": "research", **obj.get("metadata", {})}
            found[str(GVK.of(obj))] = body_about(Operation.INTERPRET_COMPONENT, obj)
    return found


def _answers(call: Call) -> bool:
    entry = find_in_catalogue(GVK.of(call.object))
    if entry is None or entry.definition.scripts.of(call.operation):
        return False
    try:
        return bool(interpret(entry.definition, call))
    except InterpretationError:
        return False


async def count(asked: list[bytes]) -> None:
    """Ask each body once, after a call that imports what is imported late."""
    store = Store(())
    store.load()
    calls = Calls(store, DEFAULT_OPTIONS, rehearses=False)
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "b"}}
    calls.answer_soon(body_about(Operation.INTERPRET_HEALTH, deployment))
    answers = list[object]()

    def ask(body: bytes) -> None:
        answers.append(calls.answer_soon(body))

    floor(FLOOR)
    parts: list[Callable[[], object]] = [partial(floor, FLOOR), *(partial(ask, body) for body in asked)]
    count_parts(parts, Callgrind())
    if not all(isinstance(answer, bytes) and b'"successful":true' in answer for answer in answers):
        sys.exit("some calls were not answered at once")
    calls.close()


if __name__ == "__main__":
    gc.disable()
    asyncio.run(count([file.read_bytes() for file in sorted(Path(sys.argv[1]).iterdir())]))
