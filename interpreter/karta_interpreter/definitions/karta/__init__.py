"""The Karta definition language: reads and validates definitions.

Reading: `loading` takes text through `schema` (is it a Karta), `validation` (rules of the Karta project), `expressions`
(its jq), `annotation_records` and `lint` to a compiled `definition`, and collects every finding on the way. Evaluating
a definition on an object belongs to `engine.evaluation`.
"""

from karta_interpreter.definitions.karta.definition import Component, Definition, PodTemplate
from karta_interpreter.definitions.karta.reference_resolver import ReferenceReader, resolved

__all__ = [
    "Component",
    "Definition",
    "PodTemplate",
    "ReferenceReader",
    "resolved",
]
