"""Which interpreter Karmada asks when several could answer (``pkg/resourceinterpreter/interpreter.go``), and the harm.

Customizations come before webhooks, and of the webhooks the first one in the order of their names is asked. With
Karmada's feature gate ``MultiplePodTemplatesScheduling`` on, a kind that has InterpretComponent gets components from
the scheduler and no replicas; if it has ReviseReplica too, from any interpreter, that is called with 0
(``pkg/scheduler/core/common.go``), and the workload is scaled to zero.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, ok, problem, warning
from karta_interpreter.doctor.webhooks import Webhook, in_order, kinds_of
from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.lua.script import SLOTS
from karta_interpreter.operations import Operation
from karta_interpreter.registration.operations import INTERPRETS_COMPONENT, REVISES_REPLICA

_CHECK, _GATE = "precedence", "gate"
_COMPONENT, _REVISE = Operation.INTERPRET_COMPONENT, Operation.REVISE_REPLICA


@dataclass(frozen=True, slots=True)
class Customization:
    """The operations of a kind that Lua answers."""

    name: str
    gvk: GVK | None
    operations: frozenset[Operation]


def read_customization(obj: Object) -> Customization:
    """The customization of an object from an API server; an operation without a script is none."""
    scripts = edit.get(obj, ("spec", "customizations"))
    operations = (Operation(name) for name, slot in SLOTS.items() if edit.get(scripts, (slot.field, "luaScript")))
    try:
        gvk = GVK.of(edit.get(obj, ("spec", "target")) or {})
    except InterpretationError:
        gvk = None
    return Customization(str(edit.get(obj, ("metadata", "name"))), gvk, frozenset(operations))


def judge_precedence(
    ours: Sequence[Webhook], others: Sequence[Webhook], customizations: Sequence[Customization]
) -> Iterator[Result]:
    """Check that Karmada asks our webhook for what it registers, and that it hides no other one."""
    lost: dict[tuple[str, GVK], list[Operation]] = defaultdict(list)
    hidden: dict[tuple[str, GVK], list[Operation]] = defaultdict(list)
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


def judge_gate(
    ours: Sequence[Webhook], others: Sequence[Webhook], customizations: Sequence[Customization]
) -> Iterator[Result]:
    """Check that no kind of ours has InterpretComponent together with ReviseReplica, from any interpreters."""
    kinds = kinds_of(ours)
    trapped = False
    for gvk, operations in kinds.items():
        if _COMPONENT in operations and _REVISE in operations:
            trapped = True
            found = f"{gvk}: InterpretComponent is registered together with ReviseReplica"
            yield problem(_GATE, found, f"register only one of them: {_SCALES_TO_ZERO}")
            continue
        for mine, missing in ((_COMPONENT, _REVISE), (_REVISE, _COMPONENT)):
            theirs = _answered_by(gvk, missing, others, customizations) if mine in operations else ""
            if theirs:
                trapped = True
                yield warning(_GATE, f"{gvk}: we answer {mine}, and {theirs} {missing}", _ADVICE_BY_OPERATION[mine])
    if kinds and not trapped:
        yield ok(_GATE, "no kind has InterpretComponent together with ReviseReplica")


_SCALES_TO_ZERO = "with the gate MultiplePodTemplatesScheduling on, Karmada scales it to zero"
_ADVICE_BY_OPERATION: Mapping[Operation, str] = {
    _COMPONENT: "remove ReviseReplica there, or register InterpretReplica instead of InterpretComponent: "
    + _SCALES_TO_ZERO,
    _REVISE: "fine as long as Karmada's gate MultiplePodTemplatesScheduling is off, which is the default; before it "
    "is turned on, start the server with --multiple-pod-templates-scheduling, or Karmada scales it to zero",
}


def _answered_by(
    gvk: GVK, operation: Operation, others: Sequence[Webhook], customizations: Sequence[Customization]
) -> str:
    """The other interpreter that answers an operation, empty for none."""
    for customization in customizations:
        if customization.gvk == gvk and operation in customization.operations:
            return f"the ResourceInterpreterCustomization {customization.name}"
    for webhook in others:
        if webhook.takes(gvk, operation):
            return f"the webhook {webhook.full_name}"
    return "Karmada itself" if gvk in (INTERPRETS_COMPONENT if operation is _COMPONENT else REVISES_REPLICA) else ""
