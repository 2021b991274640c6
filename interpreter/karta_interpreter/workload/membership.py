"""Which rule of `podGroups` a pod falls under.

Source: `pkg/instructions/summary.go` and `gang_scheduling.go` of the Karta project.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.pod_rules import GroupMember
from karta_interpreter.workload.selectors import passes_filters


@dataclass(frozen=True, slots=True)
class EffectiveMember:
    """The rule that decides on the group of a pod (`PodGroupingEffectiveComponent` of Karta's library).

    ``component`` is that of the pod or an owner of it.
    """

    pod_group: str
    rule: GroupMember

    @property
    def component(self) -> str:
        """The component that the rule is about."""
        return self.rule.component


def candidates(definition: Definition, component: str) -> Iterator[EffectiveMember]:
    """The rules that may decide on pods of a component, the strongest first.

    Those about the component itself come before those about its owner, and so on; of one component, they are in
    the order of the definition.
    """
    for each in definition.lineage(component):
        for group in definition.gang.keyed:
            for rule in group.members:
                if rule.component == each.name:
                    yield EffectiveMember(group.name, rule)


def effective_member(definition: Definition, component: str, pod: Object) -> EffectiveMember | None:
    """The first candidate whose filters the pod passes, None when it is in no group."""
    for candidate in candidates(definition, component):
        about = definition.component(candidate.component)
        if about is not None and passes_filters(about, candidate.rule.filters, pod):
            return candidate
    return None
