"""Which interpreter is asked when several could answer (``pkg/resourceinterpreter/interpreter.go``), and which do harm.

Customizations come before webhooks, and of the webhooks the first one in the order of their names is asked. With
Karmada's feature gate ``MultiplePodTemplatesScheduling`` on, a kind that has InterpretComponent gets components from
the scheduler and no replicas; if it has ReviseReplica too, from whichever interpreter, that is called with 0
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
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.script import SLOTS
from karta_interpreter.operations import Operation
from karta_interpreter.registration.native_interpreters import INTERPRETS_COMPONENT, REVISES_REPLICA


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
    operations = (Operation(name) for name, slot in SLOTS.items() if edit.get(scripts, (slot.field, "luaScript")))
    return Customization(str(name), _kind(edit.get(obj, ("spec", "target"))), frozenset(operations))


def _kind(target: JSON) -> GVK | None:
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


_GATE = "gate"
_COMPONENT, _REVISE = Operation.INTERPRET_COMPONENT, Operation.REVISE_REPLICA


def judge_gate(
    ours: Sequence[Webhook], others: Sequence[Webhook], customizations: Sequence[Customization]
) -> Iterator[Result]:
    """Judge for each kind of ours that no two interpreters together close the trap."""
    kinds = kinds_of(ours)
    trapped = False
    for gvk, operations in kinds.items():
        if _COMPONENT in operations and _REVISE in operations:
            trapped = True
            yield problem(
                _GATE,
                f"{gvk}: InterpretComponent is registered together with ReviseReplica",
                "register only one of them: with the gate MultiplePodTemplatesScheduling on, Karmada scales it to zero",
            )
            continue
        for mine, missing in ((_COMPONENT, _REVISE), (_REVISE, _COMPONENT)):
            theirs = _answered_by(gvk, missing, others, customizations) if mine in operations else ""
            if theirs:
                trapped = True
                yield warning(_GATE, f"{gvk}: we answer {mine}, and {theirs} {missing}", _ADVICE_BY_OPERATION[mine])
    if kinds and not trapped:
        yield ok(_GATE, "no kind has InterpretComponent together with ReviseReplica")


_ADVICE_BY_OPERATION: Mapping[Operation, str] = {
    _COMPONENT: "take ReviseReplica away there, or register InterpretReplica instead of InterpretComponent: "
    "with the gate MultiplePodTemplatesScheduling on, Karmada scales it to zero",
    _REVISE: "fine as long as Karmada's gate MultiplePodTemplatesScheduling is off, which is the default; before it "
    "is turned on, start the server with --multiple-pod-templates-scheduling, or Karmada scales it to zero",
}


def _answered_by(
    gvk: GVK, operation: Operation, others: Sequence[Webhook], customizations: Sequence[Customization]
) -> str:
    """Return who else answers an operation, empty for none."""
    for customization in customizations:
        if customization.gvk == gvk and operation in customization.operations:
            return f"the ResourceInterpreterCustomization {customization.name}"
    for webhook in others:
        if webhook.takes(gvk, operation):
            return f"the webhook {webhook.full_name}"
    return "Karmada itself" if gvk in (INTERPRETS_COMPONENT if operation is _COMPONENT else REVISES_REPLICA) else ""
