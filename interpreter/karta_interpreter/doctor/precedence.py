"""Who is asked, when several could answer (``pkg/resourceinterpreter/interpreter.go``).

Customizations come before webhooks, and of the webhooks the first one in the order of their names is asked.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, ok, problem, warning
from karta_interpreter.doctor.webhooks import Webhook, in_order, kinds_of
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


_CHECK = "precedence"
_Calls = dict[tuple[str, GVK], list[Operation]]


def judge_precedence(
    ours: Sequence[Webhook], others: Sequence[Webhook], customizations: Sequence[Customization]
) -> Iterator[Result]:
    """Check that Karmada asks us what we register, and that our webhook hides no other one."""
    lost: _Calls = defaultdict(list)
    hidden: _Calls = defaultdict(list)
    for gvk, operations in kinds_of(ours).items():
        for operation in operations:
            takers = [webhook for webhook in in_order([*ours, *others]) if webhook.takes(gvk, operation)]
            if takers[0] not in ours:
                lost[takers[0].full_name, gvk].append(operation)
            for webhook in takers[1:] if takers[0] in ours else ():
                hidden[webhook.full_name, gvk].append(operation)
    overridden = list(_overridden(ours, customizations))
    yield from overridden
    for (name, gvk), calls in lost.items():
        found = f"{gvk}: {', '.join(calls)} goes to {name}, which comes before ours in the order of names"
        yield problem(_CHECK, found, "take the kind out of one of the two configurations; only the first one is asked")
    for (name, gvk), calls in hidden.items():
        found = f"{gvk}: {name} is never asked for {', '.join(calls)}, because ours comes before it"
        yield warning(_CHECK, found, "take the kind out of one of the two; only the first one is asked")
    if ours and not overridden and not lost and not hidden:
        yield ok(_CHECK, "no customization and no other webhook answers for our kinds")


def _overridden(ours: Sequence[Webhook], customizations: Sequence[Customization]) -> Iterator[Result]:
    for gvk, operations in kinds_of(ours).items():
        for customization in customizations:
            shared = [operation for operation in operations if operation in customization.operations]
            if customization.gvk == gvk and shared:
                name = f"ResourceInterpreterCustomization {customization.name}"
                found = f"{gvk}: {', '.join(shared)} is answered by the {name}, and we are never asked"
                yield warning(_CHECK, found, f"delete these scripts from {customization.name}, if that is not meant")
