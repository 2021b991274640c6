"""A sequence of calls gets the answers of the plain path: whatever came before, and wherever work was interrupted."""

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import assume, given, strategies as st

from karta_interpreter.base.findings import DefinitionError
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.languages.jq.analysis import Execution, vet
from karta_interpreter.languages.jq.syntax import Identity, Iterate, Node, Pipe, Try
from karta_interpreter.languages.jq.syntax.printer import render
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.log import NAME
from tests.languages.jq.expressions import NAMES, objects, plain_expressions
from tests.support.bodies import OPERATIONS, body_about
from tests.webhook.process.test_paths import PlainCalls, answer

BREAD: dict[str, Any] = {"apiVersion": "toys.example.com/v1", "kind": "Bread", "status": {"a": 1}}
BREAD["spec"] = {"template": {"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]}}}
MOST_LINES = 5000
"""About as many run for an answer."""


class Step(NamedTuple):
    """A change of an object, and what is asked about the object then."""

    name: str
    part: str
    value: Any
    operation: str
    interrupted_after: int
    """Lines of Python that run before the interruption."""


def _of_root_elements(node: Node) -> Node:
    return Pipe(Try(Iterate(Identity())), node)


plain = plain_expressions.filter(lambda node: vet(node).verdict is Execution.PLAIN)
expressions = (plain | plain.map(_of_root_elements) | st.just(Iterate(Identity()))).map(render)
steps = st.builds(
    Step,
    st.sampled_from(["rye", "spelt"]),
    st.sampled_from([*NAMES, "spec", "status"]),
    objects,
    st.sampled_from(OPERATIONS),
    st.integers(0, MOST_LINES),
)


@pytest.fixture(scope="module", autouse=True)
def _without_log() -> Iterator[None]:
    logging.getLogger(NAME).setLevel(logging.CRITICAL)
    yield
    logging.getLogger(NAME).setLevel(logging.NOTSET)


def serving(expression: str) -> Store:
    """Return a store with a definition that counts, judges and keeps by an expression."""
    group, _, version = BREAD["apiVersion"].partition("/")
    root = {
        "name": "bread",
        "kind": {"group": group, "version": version, "kind": BREAD["kind"]},
        "specDefinition": {"podTemplateSpecPath": ".spec.template"},
        "scaleDefinition": {"replicasPath": f"[({expression})?] | length"},
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {
                "running": [{"byExpression": {"expression": f"[{expression}] | length > 1", "expectedResult": "true"}}]
            },
        },
    }
    annotations = {"karta-interpreter.io/retain": ".spec.a", "karta-interpreter.io/health": f"[{expression}] | any"}
    metadata = {"name": "bread", "annotations": annotations}
    karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": metadata}
    try:
        definition = load_definition({**karta, "spec": {"structureDefinition": {"rootComponent": root}}})
    except DefinitionError:
        assume(False)
    assume(not definition.needs_child)
    snapshot = Snapshot({definition.gvk: ServedDefinition(definition, "test")})
    return cast("Store", SimpleNamespace(snapshot=snapshot, reader=None, subscribe=id))


def bodies(sequence: Sequence[Step]) -> Iterator[bytes]:
    """Yield the body of each call, about an object as all steps until then have made it."""
    breads: dict[str, dict[str, Any]] = {}
    for step in sequence:
        bread = breads.setdefault(step.name, {**BREAD, "metadata": {"name": step.name, "namespace": "bakery"}})
        below = bread[step.part] if step.part in ("spec", "status") else {}
        bread[step.part] = {**below, "a": step.value} if below else step.value
        yield body_about(step.operation, bread)


def both(store: Store) -> tuple[Calls, Calls]:
    fast, whole = (make(store, DEFAULT_OPTIONS, rehearses=False) for make in (Calls, PlainCalls))
    return fast, whole


def answer_of_whole(calls: Calls, body: bytes) -> bytes | str:
    """Return the answer of the plain path, where the whole object is not so large that a child process would read it.

    What the fast path decodes of an object may be cheap when the whole object is not.
    """
    answer_to_whole = answer(calls, body)
    assume(answer_to_whole != "not now")
    return answer_to_whole


@given(expressions, st.lists(steps, min_size=3, max_size=6))
async def test_calls_in_sequence_get_the_answers_of_whole_objects(expression: str, sequence: list[Step]) -> None:
    fast, whole = both(serving(expression))
    for body in bodies(sequence):
        expected = answer_of_whole(whole, body)
        for _ in range(2):
            assert answer(fast, body) == expected, body


@contextmanager
def interrupted(calls: Calls, lines: int) -> Iterator[None]:
    """Interrupt an answer after so many lines, as a signal would between two of them."""

    def trace(_: FrameType, event: str, __: object) -> Any:
        nonlocal lines
        if event == "line" and calls.interruption.at < inf:
            lines -= 1
            if lines == 0:
                calls.interruption.at = 0.0
                calls.interruption._interrupt_if_due()  # noqa: SLF001 - as the timer's signal does
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


# Python swallows an interruption in the callback of a weak reference, and a server interrupts the work again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@given(expressions, st.lists(steps, min_size=3, max_size=6))
async def test_interrupted_calls_change_no_later_answer(expression: str, sequence: list[Step]) -> None:
    fast, whole = both(serving(expression))
    for body, step in zip(bodies(sequence), sequence, strict=True):
        with interrupted(fast, step.interrupted_after):
            first = answer(fast, body)
        expected = answer_of_whole(whole, body)
        assert first in (expected, "not now")
        assert fast.interruption.at == inf
        fast._slow_calls.clear()  # noqa: SLF001 - so that this process tries calls like it again
        assert answer(fast, body) == expected, body
