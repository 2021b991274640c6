"""The Karta definition language: reads and validates definitions.

Reading: `loading` takes text through `schema` (is it a Karta), `validation` (rules of the Karta project), `expressions`
(its jq), `annotation_records` and `lint` to a compiled `definition`, and collects every finding on the way. Evaluating
a definition on an object belongs to `engine.evaluation`.
"""

from karta_interpreter.definitions.karta.annotations import (
    ADDING_UP,
    OF_A_CLUSTER,
    PREFIX,
    AddedContainers,
    AggregateRule,
    AnnotationQuery,
    ControllerClaims,
    ExtraDependency,
    ExtraPodTemplates,
    KeepQuantityFormat,
    LeftOut,
    Once,
    PathPattern,
    Retained,
    RetainedCount,
    RetainRule,
    Unset,
    annotation_path,
    field_text,
)
from karta_interpreter.definitions.karta.definition import (
    ComponentRules,
    Definition,
    Fragments,
    PodDefinition,
    PodSpec,
    PodTemplate,
    SuspendWrite,
)
from karta_interpreter.definitions.karta.reference_resolver import (
    NOWHERE,
    Known,
    ObjectNames,
    ReferenceReader,
    resolved,
)
from karta_interpreter.definitions.karta.status_rules import (
    FAILING,
    MATCHING_ORDER,
    TRANSITIONAL,
    ConditionsRule,
    Matcher,
    Status,
    StatusRules,
)

__all__ = [
    "ADDING_UP",
    "FAILING",
    "MATCHING_ORDER",
    "NOWHERE",
    "OF_A_CLUSTER",
    "PREFIX",
    "TRANSITIONAL",
    "AddedContainers",
    "AggregateRule",
    "AnnotationQuery",
    "ComponentRules",
    "ConditionsRule",
    "ControllerClaims",
    "Definition",
    "ExtraDependency",
    "ExtraPodTemplates",
    "Fragments",
    "KeepQuantityFormat",
    "Known",
    "LeftOut",
    "Matcher",
    "ObjectNames",
    "Once",
    "PathPattern",
    "PodDefinition",
    "PodSpec",
    "PodTemplate",
    "ReferenceReader",
    "RetainRule",
    "Retained",
    "RetainedCount",
    "Status",
    "StatusRules",
    "SuspendWrite",
    "Unset",
    "annotation_path",
    "field_text",
    "resolved",
]
