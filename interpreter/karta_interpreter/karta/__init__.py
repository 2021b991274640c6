"""The Karta definition language: reads and validates definitions, and evaluates them on objects.

Reading: `loading` takes text through `schema` (is it a Karta), `validation` (rules of the Karta project), `expressions`
(its jq), `annotation_records` and `lint` to a compiled `definition`, and collects every finding on the way.
Evaluating: `pods` gives the pod sets of an object, `status` its normalised status. The names below are those that other
packages use most. The answers to Karmada's operations are made in `operations`.
"""

from karta_interpreter.karta.definition import Component, Definition, PodTemplate
from karta_interpreter.karta.loading import Loaded, load_definition, load_documents
from karta_interpreter.karta.pods import PodSet, ScaleLocation, leaves_count_unset, pod_sets, scale_locations
from karta_interpreter.karta.reference_resolver import Known, Reader, resolved
from karta_interpreter.karta.status import Status, match_status

__all__ = [
    "Component",
    "Definition",
    "Known",
    "Loaded",
    "PodSet",
    "PodTemplate",
    "Reader",
    "ScaleLocation",
    "Status",
    "leaves_count_unset",
    "load_definition",
    "load_documents",
    "match_status",
    "pod_sets",
    "resolved",
    "scale_locations",
]
