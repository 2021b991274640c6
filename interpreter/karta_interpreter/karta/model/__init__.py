"""The Karta resource as it is written: `run.ai/v1alpha1`, its defaults applied, nothing interpreted yet.

Source: `pkg/api/runai/v1alpha1` of the Karta project. The advice to schedulers is in
`karta_interpreter.karta.instructions`.
"""

from karta_interpreter.karta.model.component import (
    ComponentDefinition,
    GroupVersionKind,
    ScaleDefinition,
    SuspendAction,
    SuspendDefinition,
)
from karta_interpreter.karta.model.pods import (
    ComponentInstanceSelector,
    ComponentTypeSelector,
    FragmentedPodSpecDefinition,
    PodSelector,
    ReplicaSelector,
    SpecDefinition,
)
from karta_interpreter.karta.model.status import (
    ConditionMatcher,
    ConditionsDefinition,
    ExpressionMatcher,
    PhaseDefinition,
    StatusDefinition,
    StatusMappings,
    StatusMatcher,
)
from karta_interpreter.karta.model.structure import (
    Karta,
    LabelRequirement,
    LabelValue,
    ListReference,
    LookupReference,
    ResourceReference,
    Spec,
    StructureDefinition,
)

__all__ = [
    "ComponentDefinition",
    "ComponentInstanceSelector",
    "ComponentTypeSelector",
    "ConditionMatcher",
    "ConditionsDefinition",
    "ExpressionMatcher",
    "FragmentedPodSpecDefinition",
    "GroupVersionKind",
    "Karta",
    "LabelRequirement",
    "LabelValue",
    "ListReference",
    "LookupReference",
    "PhaseDefinition",
    "PodSelector",
    "ReplicaSelector",
    "ResourceReference",
    "ScaleDefinition",
    "Spec",
    "SpecDefinition",
    "StatusDefinition",
    "StatusMappings",
    "StatusMatcher",
    "StructureDefinition",
    "SuspendAction",
    "SuspendDefinition",
]
