"""Finds resources that an object sets and its definition does not read. Pods may request more than the answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from karta_interpreter.base.k8s import JSON, Object, Path, Projection, parts_of
from karta_interpreter.base.karmada import Operation
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations.dispatch import reads_of

# The requests of volume claims, which are not resources of pods.
_OF_CLAIMS: Final = frozenset({"storage"})

# The containers that an API server does not let request anything.
_DEBUGGING: Final = "ephemeralContainers"


def resources_left_out(definition: Definition, obj: Object) -> list[Path]:
    """Return the paths of the spec's fields named like `resources` that InterpretReplica does not read.

    Fields that the annotation `unread` names are not among them. A definition without pods counts none, so nothing is
    left out.
    """
    return fields_left_out(
        definition, obj, lambda name, value: name.lower().endswith("resources") and _are_of_pods(value)
    )


def fields_left_out(definition: Definition, obj: Object, is_meant: Callable[[str, JSON], bool]) -> list[Path]:
    """Return the paths of the spec's fields that InterpretReplica does not read, if ``is_meant`` is true for them."""
    if not any(component.pods for component in definition.components):
        return []
    projections = [reads_of(definition, Operation.INTERPRET_REPLICA)]
    for part in definition.annotations.unread:
        named = Projection()
        part.place.take(named)
        if not named.is_whole:  # as that of an expression whose places are not known
            projections.append(named)
    return list(_unread(obj.get("spec"), [projection.at("spec") for projection in projections], ("spec",), is_meant))


def _unread(
    value: JSON, projections: Sequence[Projection], path: Path, is_meant: Callable[[str, JSON], bool]
) -> Iterator[Path]:
    if any(projection.is_whole for projection in projections):
        return
    for step, below in parts_of(value):
        read = [part for known in projections for part in (known.fields.get(f"{step}"), known.elements) if part]
        if isinstance(step, str) and is_meant(step, below):
            if not read:
                yield (*path, step)
        elif step != _DEBUGGING:
            yield from _unread(below, read, (*path, step), is_meant)


def _are_of_pods(value: JSON) -> bool:
    amounts = [value.get(name) for name in ("requests", "limits")] if isinstance(value, dict) else []
    return any(isinstance(amount, dict) and amount.keys() - _OF_CLAIMS for amount in amounts)
