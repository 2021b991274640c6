"""Warnings: parts that an object has and its definition does not find, and parts that it lacks.

A missing optional part does not cause a warning, and neither does a default for an optional field. Both cause one if
the object has a field with a similar name, because the definition may have a typo.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from karta_interpreter.base.errors import InterpretationError, InterpreterError
from karta_interpreter.base.findings import Severity, almost
from karta_interpreter.base.k8s import Object, field_path, get
from karta_interpreter.definitions.karta import PREFIX, Definition
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS
from karta_interpreter.engine.evaluation import match_status, pod_sets
from karta_interpreter.engine.explain.count_warnings import bound_warnings
from karta_interpreter.engine.explain.dependencies import dependency_warnings
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.misfits import misfit_warnings
from karta_interpreter.engine.explain.pod_warnings import (
    absence_warnings,
    amount_warnings,
    left_out_warnings,
    pod_warnings,
    unknown_warnings,
)
from karta_interpreter.engine.explain.reading import paths_read, place_at
from karta_interpreter.engine.explain.status_warnings import status_warnings
from karta_interpreter.engine.operations import RETAIN_REPLICAS, Call, Operation

_OF_COUNTS: Final = frozenset(
    {
        Operation.INTERPRET_REPLICA,
        Operation.INTERPRET_COMPONENT,
        Operation.REVISE_REPLICA,
        Operation.REVISE_COMPONENTS,
    }
)
_METADATA: Final = ("labels", "annotations")
_OF_PODS: Final = _OF_COUNTS | {Operation.INTERPRET_DEPENDENCY}
_OF_STATUS: Final = frozenset({Operation.INTERPRET_HEALTH, Operation.INTERPRET_STATUS, Operation.AGGREGATE_STATUS})
# What an expression does not find, or cannot read, where an object has a misfit.
_CONSEQUENCES: Final = ("dependency-failed", "dependency-not-found")


def warnings_about(definition: Definition, obj: Object, operation: Operation | None = None) -> tuple[Fact, ...]:
    """Return all warnings about an object, or only those that matter for an operation.

    Never raises. An expression that fails ends the warnings of its kind.
    """
    warnings_found: list[Fact] = []
    for warnings, operations in (
        (_annotation_warnings, frozenset(Operation)),
        (partial(misfit_warnings, part="metadata"), frozenset(Operation)),
        (misfit_warnings, _OF_PODS),
        (absence_warnings, _OF_PODS),
        (pod_warnings, _OF_PODS),
        (amount_warnings, _OF_COUNTS),
        (bound_warnings, _OF_COUNTS),
        (left_out_warnings, _OF_COUNTS),
        (unknown_warnings, _OF_COUNTS),
        (status_warnings, (Operation.INTERPRET_HEALTH,)),
        (partial(misfit_warnings, part="status"), _OF_STATUS),
        (dependency_warnings, (Operation.INTERPRET_DEPENDENCY,)),
    ):
        if operation is None or operation in operations:
            with suppress(InterpreterError):
                warnings_found.extend(warnings(definition, obj))  # which keeps what comes before an error
    # Misfits come first.
    return tuple(
        replace(fact, severity=Severity.WARNING)
        for fact in warnings_found
        if fact.rule not in _CONSEQUENCES or warnings_found[0].rule not in ("field-unknown", "field-invalid")
    )


def warnings_of(definition: Definition, call: Call) -> Iterator[Fact]:
    """Yield all warnings about a call: about its object, and about the status that each cluster reports."""
    yield from warnings_about(definition, call.object, call.operation)
    yield from (
        replace(fact, note=f"{item.cluster}: {fact.note}", places=())
        for item in call.items
        for fact in warnings_about(definition, {"status": item.status}, call.operation)
    )


def finds_pods(definition: Definition, obj: Object) -> bool:
    """Return whether a definition finds pods in an object, and no warning is about them."""
    with suppress(InterpretationError):
        return any(pod_sets(definition, obj)) and not warnings_about(definition, obj, Operation.INTERPRET_REPLICA)
    return False


def never_found(definition: Definition, objects: Sequence[Object]) -> Iterator[str]:
    """Yield the counts and the types of conditions that a definition names and none of several objects has."""
    for component in definition.components:
        counts = component.replicas, component.min_replicas, component.max_replicas
        fields = zip(("replicasPath", "minReplicasPath", "maxReplicasPath"), counts, strict=True)
        # A computed count, such as one of a switch, may well find nothing.
        for name, query in ((name, query) for name, query in fields if query and "|" not in query.text):
            places = [place_at(path, obj) for obj in objects for path in paths_read(query, obj)]
            if places and not any(place.exists for place in places):
                yield f"{component.name}: no object has {field_path(places[0].path)} ({name})"
    types = definition.status.mappings if definition.status else ()
    named = {kind.type for _, several in types for matcher in several for kind in matcher.conditions}
    present: set[str] = set()
    for obj in objects if named else ():
        with suppress(InterpretationError):
            present |= {str(condition.type) for condition in match_status(definition, obj).conditions}
    if present and (absent := named - present):
        yield f"no object has the condition {', '.join(sorted(absent))}; there are {', '.join(sorted(present))}"


def _annotation_warnings(_: Definition, obj: Object) -> Iterator[Fact]:
    for field in _METADATA:
        for name in get(obj, ("metadata", field)) or ():
            if any(name == f"{PREFIX}{annotation.name}" for annotation in ANNOTATIONS):
                yield Fact(
                    "misplaced-annotation",
                    f"{name} belongs in metadata.annotations of the Karta: nothing reads it here",
                )
            elif (field, name) != ("labels", RETAIN_REPLICAS) and almost(str(name), (RETAIN_REPLICAS,)):
                yield Fact(
                    "misplaced-annotation",
                    f"nothing reads {name} in metadata.{field}: is {RETAIN_REPLICAS} in metadata.labels meant?",
                )
