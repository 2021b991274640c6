"""Remedies that end a fight, tried on the two objects, with their prices."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import NOTHING, Object, remove, set_value
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.annotation_records import parse_retain
from karta_interpreter.definitions.karta.annotation_text import AnnotationText
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.engine.evaluation import scale_locations
from karta_interpreter.engine.fights.rounds import FieldDifference, differences, field_of
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.retain import RETAIN_REPLICAS, retain, switches

_PLAIN: Final = re.compile(r'[\w."/\[\]-]+')


def remedy(definition: Definition, desired: Object, observed: Object, difference: FieldDifference) -> str:
    """Return a remedy that ends the fight and changes nothing else, with its price, or "" if there is none.

    Only for definitions that answer by themselves in this process. A script keeps fields in its own way.
    """
    if definition.scripts.of(Operation.RETAIN) or definition.needs_child or definition.references:
        return ""
    others = _fields(definition, desired, observed) - {difference.field}
    for text, tried in _attempts(definition, desired, observed, difference):
        with suppress(InterpretationError):
            if _fields(*tried) <= others:
                return text
    return ""


def _fields(definition: Definition, desired: Object, observed: Object) -> set[str]:
    return {difference.field for difference in differences(retain(definition, desired, observed), observed)}


def _attempts(
    definition: Definition, desired: Object, observed: Object, difference: FieldDifference
) -> Iterator[tuple[str, tuple[Definition, Object, Object]]]:
    """Yield possible remedies, each with the definition and both objects after it, the lowest price first."""
    field, label = difference.field, ("metadata", "labels", RETAIN_REPLICAS)
    labelled = set_value(desired, label, "true"), set_value(observed, label, "true")
    text = f"label the template {RETAIN_REPLICAS}=true: Karmada and the template no longer scale this object"
    yield text, (definition, *labelled)
    # Retain keeps the member's switches and counts that the definition names and the template leaves unset.
    counts = (scale.count and scale.count.path for scale in scale_locations(definition, desired))
    switched = (path for query in switches(definition.components) for path in query.known_paths(desired))
    places = [path for path in (*switched, *counts) if path and field_of(path) == field]
    # karmada-apiserver sets the defaults of its built-in kinds. Their groups have no dots.
    if places and "." in definition.gvk.group:
        text = f"leave {field} out of the template: the template no longer sets it, Retain keeps the member's"
        yield text, (definition, reduce(remove, places, desired), observed)
    karta, _ = read_karta(definition.manifest)
    for line, price in _lines(difference):
        annotation = AnnotationText("retain", line, karta, {}) if karta else None
        rules = parse_retain(annotation) if annotation else ()
        if annotation and rules and not annotation.findings:
            annotations = replace(definition.annotations, retain=(*definition.annotations.retain, *rules))
            text = f"add to karta-interpreter.io/retain `{line}`: {price}"
            yield text, (replace(definition, annotations=annotations), desired, observed)


def _lines(difference: FieldDifference) -> Iterator[tuple[str, str]]:
    """Yield lines of the annotation with their prices, beginning with the line that keeps least."""
    field, ours, theirs = difference[:3]
    if NOTHING not in (ours, theirs):
        yield f"- quantities: {_scalar(field)}", "equal quantities keep the member's spelling"
    kept = "what the template drops stays in members"
    yield f"- unset: {_scalar(field)}", kept
    if field.endswith("[]"):
        yield f"- {{unset: {json.dumps(field.removesuffix('[]'))}, by: .name}}", kept
    price = "template edits of it no longer arrive, in all objects of the kind"
    yield f"- {_scalar(field)}", price
    yield f"- {_scalar(f'{field} // empty')}", price


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text.removesuffix(" // empty")) else json.dumps(text)
