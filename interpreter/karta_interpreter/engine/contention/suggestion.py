"""The line of the annotation ``retain`` that would end a fight, tried on the pair of objects that has it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import NOTHING, Object
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.annotation_records import parse_retain
from karta_interpreter.definitions.karta.annotation_text import AnnotationText
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.engine.contention.differences import FieldDifference, differences
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.retain import retain

_PLAIN: Final = re.compile(r'[\w."/\[\]-]+')


def suggested_line(definition: Definition, desired: Object, observed: Object, difference: FieldDifference) -> str:
    """Return the line after which Retain keeps the member's value of a field, and changes nothing else; "" for none.

    Only for definitions that answer by themselves, in this process: a script keeps fields in its own way.
    """
    if definition.scripts.of(Operation.RETAIN) or definition.needs_child or definition.references:
        return ""
    karta, _ = read_karta(definition.manifest)
    if karta is None:
        return ""
    before = {each.field for each in differences(retain(definition, desired, observed), observed)}
    for line in _lines(difference):
        annotation = AnnotationText("retain", line, karta, {})
        rules = parse_retain(annotation)
        if annotation.findings or not rules:
            continue
        annotations = replace(definition.annotations, retain=(*definition.annotations.retain, *rules))
        try:
            retained = retain(replace(definition, annotations=annotations), desired, observed)
        except InterpretationError:
            continue
        if {each.field for each in differences(retained, observed)} <= before - {difference.field}:
            return line
    return ""


def _lines(difference: FieldDifference) -> Iterator[str]:
    """Yield what might do, the rule first that keeps least."""
    field, ours, theirs = difference
    if NOTHING not in (ours, theirs):
        yield f"- quantities: {_scalar(field)}"
    yield f"- unset: {_scalar(field)}"
    if field.endswith("[]"):
        yield f"- {{unset: {json.dumps(field.removesuffix('[]'))}, by: .name}}"
    yield f"- {_scalar(field)}"
    yield f"- {_scalar(f'{field} // empty')}"


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text.removesuffix(" // empty")) else json.dumps(text)
