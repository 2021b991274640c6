"""The trap of Karmada's feature gate ``MultiplePodTemplatesScheduling``.

With the gate on, a kind that has InterpretComponent gets components from the scheduler and no replicas; if it has
ReviseReplica too, from whichever interpreter, that is called with 0 (``pkg/scheduler/core/common.go``), and the
workload is scaled to zero.
"""

from collections.abc import Iterator, Mapping, Sequence

from karta_interpreter.doctor.precedence import Customization
from karta_interpreter.doctor.result import Result, ok, problem, warning
from karta_interpreter.doctor.webhooks import Webhook, kinds_of
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.operations import Operation
from karta_interpreter.registration.native_interpreters import INTERPRETS_COMPONENT, REVISES_REPLICA

_CHECK = "gate"
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
                _CHECK,
                f"{gvk}: InterpretComponent is registered together with ReviseReplica",
                "register only one of them: with the gate MultiplePodTemplatesScheduling on, Karmada scales it to zero",
            )
            continue
        for mine, missing in ((_COMPONENT, _REVISE), (_REVISE, _COMPONENT)):
            theirs = _answered_by(gvk, missing, others, customizations) if mine in operations else ""
            if theirs:
                trapped = True
                yield warning(_CHECK, f"{gvk}: we answer {mine}, and {theirs} {missing}", _ADVICE[mine])
    if kinds and not trapped:
        yield ok(_CHECK, "no kind has InterpretComponent together with ReviseReplica")


_ADVICE: Mapping[Operation, str] = {
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
