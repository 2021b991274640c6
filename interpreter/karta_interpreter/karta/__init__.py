"""The Karta definition language: reads and validates definitions, and evaluates them on objects.

Reading: `loading` takes text through `schema` (is it a Karta), `validation` (rules of the Karta project), `expressions`
(its jq), `annotation_records` and `lint` to a compiled `definition`, and collects every finding on the way.
Evaluating: `pods` gives the pod sets of an object, `status` its normalised status. The names below are those that
operations use most; the answers to Karmada are made there.
"""

from karta_interpreter.karta.definition import Component, Definition, PodTemplate
from karta_interpreter.karta.pods import ScaleLocation, leaves_count_unset, scale_locations
from karta_interpreter.karta.reference_resolver import Reader, resolved
from karta_interpreter.karta.status import Status, match_status

__all__ = [
    "Component",
    "Definition",
    "PodTemplate",
    "Reader",
    "ScaleLocation",
    "Status",
    "leaves_count_unset",
    "match_status",
    "resolved",
    "scale_locations",
]
