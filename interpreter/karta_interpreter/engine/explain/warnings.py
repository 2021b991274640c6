"""Warnings: parts that an object has and its definition does not find, and parts that it lacks.

A missing optional part does not cause a warning, and neither does a default for an optional field.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from karta_interpreter.base.errors import InterpretationError, InterpreterError
from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s import Object, field_path
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import match_status
from karta_interpreter.engine.explain.dependencies import dependency_warnings
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.misfits import misfit_warnings
from karta_interpreter.engine.explain.pod_warnings import (
    absence_warnings,
    device_warnings,
    left_out_warnings,
    pod_warnings,
    unknown_warnings,
)
from karta_interpreter.engine.explain.reading import paths_read, place_at
from karta_interpreter.engine.explain.status_warnings import status_warnings
from karta_interpreter.engine.operations import Call, Operation

_OF_COUNTS: Final = frozenset(
    {
        Operation.INTERPRET_REPLICA,
        Operation.INTERPRET_COMPONENT,
        Operation.REVISE_REPLICA,
        Operation.REVISE_COMPONENTS,
    }
)
_OF_PODS: Final = _OF_COUNTS | {Operation.INTERPRET_DEPENDENCY}
_OF_STATUS: Final = frozenset({Operation.INTERPRET_HEALTH, Operation.INTERPRET_STATUS, Operation.AGGREGATE_STATUS})
_NOTES: Final = ("dependency-elsewhere",)  # nothing is wrong
# Misfits come first: other warnings follow from them.
_WARNINGS: Final[Sequence[tuple[Callable[[Definition, Object], Iterator[Fact]], Collection[Operation]]]] = (
    (partial(misfit_warnings, part="metadata"), frozenset(Operation)),
    (misfit_warnings, _OF_PODS),
    (absence_warnings, _OF_PODS),
    (pod_warnings, _OF_PODS),
    (left_out_warnings, _OF_COUNTS),
    (unknown_warnings, _OF_COUNTS),
    (device_warnings, _OF_COUNTS),
    (status_warnings, (Operation.INTERPRET_HEALTH,)),
    (partial(misfit_warnings, part="status"), _OF_STATUS),
    (dependency_warnings, (Operation.INTERPRET_DEPENDENCY,)),
)


def warnings_about(definition: Definition, obj: Object, operation: Operation | None = None) -> tuple[Fact, ...]:
    """Return all warnings about an object, or only those that matter for an operation.

    Never raises. An expression that fails ends the warnings of its kind.
    """
    facts: list[Fact] = []
    for warnings, operations in _WARNINGS:
        if operation is None or operation in operations:
            with suppress(InterpreterError):
                facts.extend(warnings(definition, obj))  # which keeps what comes before an error
    return tuple(fact if fact.rule in _NOTES else replace(fact, severity=Severity.WARNING) for fact in facts)


def warnings_of(definition: Definition, call: Call) -> Iterator[Fact]:
    """Yield all warnings about a call: about its object, and about the status that each cluster reports."""
    yield from warnings_about(definition, call.object, call.operation)
    for item in call.items:
        for fact in warnings_about(definition, {"status": item.status}, call.operation):
            yield replace(fact, note=f"{item.cluster}: {fact.note}", places=())


def never_found(definition: Definition, objects: Sequence[Object]) -> Iterator[str]:
    """Yield the counts and the types of conditions that a definition names and none of several objects has."""
    for component in definition.components:
        counts = {
            "replicasPath": component.replicas,
            "minReplicasPath": component.min_replicas,
            "maxReplicasPath": component.max_replicas,
        }
        for name, query in counts.items():
            # A computed count, such as one of a switch, may well find nothing.
            if query is None or "|" in query.text:
                continue
            places = [place_at(path, obj) for obj in objects for path in paths_read(query, obj)]
            if places and not any(place.exists for place in places):
                yield f"{component.name}: no object has {field_path(places[0].path)} ({name})"
    mappings = definition.status.mappings if definition.status else ()
    named = {kind.type for _, several in mappings for matcher in several for kind in matcher.conditions}
    present: set[str] = set()
    for obj in objects if named else ():
        with suppress(InterpretationError):
            present |= {str(condition.type) for condition in match_status(definition, obj).conditions}
    absent = named - present
    if present and absent:
        yield f"no object has the condition {', '.join(sorted(absent))}; there are {', '.join(sorted(present))}"
