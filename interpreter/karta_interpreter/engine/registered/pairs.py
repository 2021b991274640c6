"""Operations that have to come from one interpreter, and which of ours are left out where another one answers a part.

Karmada asks customizations first, then webhooks in the order of their names, then the scripts that it carries, then its
own code (``pkg/resourceinterpreter/interpreter.go``), for each operation anew. So two operations of a kind can have two
interpreters. `docs/compare.md` has a table of all pairs.
"""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from karta_interpreter.base.k8s import GVK, grouped
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.engine.operations import Operation, natively_answered
from karta_interpreter.engine.registered.interpreters import Customization, RegisteredWebhook, in_order
from karta_interpreter.languages.lua.script import COUNTS_AGREE, Scripts

ANSWER_BOTH = (
    "Answer both InterpretReplica and ReviseReplica there, or annotate it with "
    f'{COUNTS_AGREE}: "true" if it counts pods as the definition does'
)

_COMPONENT, _REVISE = Operation.INTERPRET_COMPONENT, Operation.REVISE_REPLICA
_COUNTS = frozenset({Operation.INTERPRET_REPLICA, _REVISE})


class Agreement(Struct, frozen=True):
    """Whether the operations of two interpreters count the same. ``agrees`` is None if it is not known."""

    agrees: bool | None = None
    reason: str = "they have not been compared"


class Others(Struct, frozen=True):
    """The other interpreters of a kind that Karmada asks before this server.

    ``names`` has one for each operation that they answer. If they answer only a ``half`` of the counts,
    InterpretReplica or ReviseReplica, ``scripts`` has the script that does, and ``agreement`` says whether it counts as
    the kind's definition does.
    """

    names: Mapping[str, str] = {}
    half: Operation | None = None
    scripts: Scripts = Scripts()
    agreement: Agreement = Agreement()

    def left_out(self, registered: Collection[str], *, multiple_pod_templates: bool) -> frozenset[str]:
        """Return the operations that this server may not answer next to theirs.

        If it is not known whether both halves of the counts agree, the half that is ``registered`` stays, and none is
        added: what runs today goes on as it is.
        """
        left_out = set[str]()
        if self.half and self.agreement.agrees is not True:
            ours = OTHER_HALF[self.half]
            left_out |= {ours} if self.agreement.agrees is False or ours not in registered else set()
        if multiple_pod_templates:
            # Karmada would assign components without counts, and then ask for a revision to 0.
            left_out |= {_REVISE} if _COMPONENT in self.names else set()
            left_out |= {_COMPONENT} if _REVISE in self.names else set()
        for operation in (_COMPONENT, Operation.REVISE_COMPONENTS):
            left_out |= {OTHER_HALF[operation]} if operation in self.names else set()
        if Operation.AGGREGATE_STATUS in self.names:
            # Only our AggregateStatus takes out the fields that our InterpretStatus adds.
            left_out.add(Operation.INTERPRET_STATUS)
        return frozenset(left_out - self.names.keys())

    def why(self, gvk: GVK, operation: str) -> str:
        """Return why an operation is left out, what Karmada does then, and how to change that."""
        does, half = without(gvk, operation), self.half
        if half is None or operation != OTHER_HALF[half]:
            names = dict.fromkeys(self.names[other] for other in _PARTNERS[operation] if other in self.names)
            answered = [other for other in _PARTNERS[operation] if other in self.names]
            return f"{' and '.join(names)} answers {' and '.join(answered)}, which does not go with ours. So {does}"
        return f"{self.names[half]} answers {half}, and {self.agreement.reason}. So {does}. {ANSWER_BOTH}"


def without(gvk: GVK, operation: str) -> str:
    """Return what Karmada does with a kind if no customization and no webhook answers an operation."""
    if gvk in natively_answered(Operation(operation)):
        return f"Karmada's own {operation} is asked"
    return _WITHOUT.get(operation, f"nobody answers {operation}")


_WITHOUT: Mapping[str, str] = {
    _REVISE: "Karmada sends the whole workload to each member",
    Operation.INTERPRET_REPLICA: "Karmada counts no pods, and sends the whole workload to each member",
    Operation.INTERPRET_STATUS: "Karmada reports the whole status",
    _COMPONENT: "Karmada asks for replicas",
}
_PARTNERS: Mapping[str, tuple[Operation, ...]] = {
    _REVISE: (_COMPONENT, Operation.INTERPRET_REPLICA),
    _COMPONENT: (_REVISE, Operation.REVISE_COMPONENTS),
    Operation.INTERPRET_REPLICA: (_REVISE,),
    Operation.REVISE_COMPONENTS: (_COMPONENT,),
    Operation.INTERPRET_STATUS: (Operation.AGGREGATE_STATUS,),
}
"""By an operation that can be left out: those that have to come from the same interpreter."""
_NOBODY = Others()


def others_of(
    kinds: Iterable[GVK], customizations: Iterable[Customization], webhooks: Iterable[RegisteredWebhook], name: str
) -> dict[GVK, Others]:
    """Return who answers for kinds before the configuration with a ``name``. Kinds without others are left out."""
    by_kind = grouped((item.gvk, item) for item in sorted(customizations, key=lambda item: item.name))
    before = [hook for hook in in_order(webhooks) if hook.configuration != name and hook.full_name < f"{name}/"]
    found = ((gvk, _others(gvk, [*by_kind.get(gvk, ()), *before])) for gvk in kinds)
    return {gvk: others for gvk, others in found if others is not _NOBODY}


def _others(gvk: GVK, interpreters: Iterable[Customization | RegisteredWebhook]) -> Others:
    interpreters = tuple(interpreters)
    takers = dict[str, Customization | RegisteredWebhook]()
    for operation in Operation:
        if taker := next((item for item in interpreters if item.takes(gvk, operation)), None):
            takers[operation] = taker
    if not takers:
        return _NOBODY
    names = {operation: named(taker) for operation, taker in takers.items()}
    counting = [Operation(operation) for operation in takers if operation in _COUNTS]
    if len(counting) != 1:
        return Others(names)
    (half,) = counting
    taker = takers[half]
    if taker.agrees is not None:
        agreement = Agreement(taker.agrees, f"its annotation {COUNTS_AGREE} says that they differ")
        return Others(names, half, agreement=agreement)
    scripts = Scripts(taker.scripts.of(half)) if isinstance(taker, Customization) else Scripts()
    return Others(names, half, scripts, Agreement() if scripts else Agreement(None, "this server cannot run it"))


def named(interpreter: Customization | RegisteredWebhook) -> str:
    """Return what messages call another interpreter."""
    if isinstance(interpreter, Customization):
        return interpreter.full_name
    return f"the webhook {interpreter.full_name}"
