"""ResourceInterpreterCustomizations, Karmada's Lua: it is asked before any webhook."""

from dataclasses import dataclass

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.operations import Operation

_FIELDS = {
    "retention": Operation.RETAIN,
    "replicaResource": Operation.INTERPRET_REPLICA,
    "componentResource": Operation.INTERPRET_COMPONENT,
    "replicaRevision": Operation.REVISE_REPLICA,
    "statusReflection": Operation.INTERPRET_STATUS,
    "statusAggregation": Operation.AGGREGATE_STATUS,
    "healthInterpretation": Operation.INTERPRET_HEALTH,
    "dependencyInterpretation": Operation.INTERPRET_DEPENDENCY,
}


@dataclass(frozen=True, slots=True)
class Customization:
    """The operations of a kind that Lua answers."""

    name: str
    gvk: GVK | None
    operations: frozenset[Operation]


def read_customization(obj: Object) -> Customization:
    """The customization of an object; an operation without a script is none."""
    name = edit.get(obj, ("metadata", "name"))
    scripts = edit.get(obj, ("spec", "customizations"))
    operations = (operation for field, operation in _FIELDS.items() if edit.get(scripts, (field, "luaScript")))
    return Customization(str(name), _target(edit.get(obj, ("spec", "target"))), frozenset(operations))


def _target(target: JSON) -> GVK | None:
    try:
        return GVK.of(target) if isinstance(target, dict) else None
    except InterpretationError:
        return None
