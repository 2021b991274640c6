"""Evaluates a definition on an object: its pod sets, counts, pod templates and status."""

from karta_interpreter.engine.evaluation.attribution import (
    Attribution,
    attributing,
    instance_key,
    instance_of,
    matches_component_type,
    pod_name,
)
from karta_interpreter.engine.evaluation.evaluation import (
    UNNAMED,
    instance_ids,
    positions,
)
from karta_interpreter.engine.evaluation.pods import (
    LONGEST,
    PodSet,
    ScaleLocation,
    absences,
    leaves_count_unset,
    pod_set_reads,
    pod_sets,
    pod_templates,
    scale_locations,
    template_reads,
    total_replicas,
    unknown_requests,
)
from karta_interpreter.engine.evaluation.scale import Scale, replica_counts, scales
from karta_interpreter.engine.evaluation.selectors import Selection, label_selector
from karta_interpreter.engine.evaluation.status import (
    Condition,
    Status,
    StatusMatch,
    StatusReader,
    match_status,
    match_with_rest,
    status_match_reads,
)
from karta_interpreter.engine.evaluation.templates import (
    JSON_TYPES,
    OBJECT_TYPES,
    PIECE_TYPES,
    instance_templates,
    read_pods,
)

__all__ = [
    "JSON_TYPES",
    "LONGEST",
    "OBJECT_TYPES",
    "PIECE_TYPES",
    "UNNAMED",
    "Attribution",
    "Condition",
    "PodSet",
    "Scale",
    "ScaleLocation",
    "Selection",
    "Status",
    "StatusMatch",
    "StatusReader",
    "absences",
    "attributing",
    "instance_ids",
    "instance_key",
    "instance_of",
    "instance_templates",
    "label_selector",
    "leaves_count_unset",
    "match_status",
    "match_with_rest",
    "matches_component_type",
    "pod_name",
    "pod_set_reads",
    "pod_sets",
    "pod_templates",
    "positions",
    "read_pods",
    "replica_counts",
    "scale_locations",
    "scales",
    "status_match_reads",
    "template_reads",
    "total_replicas",
    "unknown_requests",
]
