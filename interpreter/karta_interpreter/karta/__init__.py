"""The Karta definition language: reads and validates definitions, and evaluates them on objects.

Reading: `loading` takes text through `schema` (is it a Karta), `validation` (rules of the Karta project), `expressions`
(its jq), `annotation_records` and `lint` to a compiled `definition`, and collects every finding on the way.
Evaluating: `pods` gives the pod sets of an object, `status` its normalised status. The names below are those that other
packages use most. The answers to Karmada's operations are made in `operations`.
"""

from karta_interpreter.karta.definition import Component, Definition, Fragments, PodSpec, PodTemplate
from karta_interpreter.karta.loading import Loaded, catalogue_files, load_definition, load_documents
from karta_interpreter.karta.pods import PodSet, ScaleLocation, leaves_count_unset, pod_sets, scale_locations
from karta_interpreter.karta.reference_resolver import Known, Reader, resolved
from karta_interpreter.karta.scale import Scale, scales
from karta_interpreter.karta.schema import gvk_of, name_of
from karta_interpreter.karta.status import Condition, Status, StatusMatch, match_status

__all__ = [
    "Component",
    "Condition",
    "Definition",
    "Fragments",
    "Known",
    "Loaded",
    "PodSet",
    "PodSpec",
    "PodTemplate",
    "Reader",
    "Scale",
    "ScaleLocation",
    "Status",
    "StatusMatch",
    "catalogue_files",
    "gvk_of",
    "leaves_count_unset",
    "load_definition",
    "load_documents",
    "match_status",
    "name_of",
    "pod_sets",
    "resolved",
    "scale_locations",
    "scales",
]
