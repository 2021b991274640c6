"""Parses the annotations about fields that belong to a member cluster: ``retain`` and ``queue-labels``."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from karta_interpreter.jq import Query
from karta_interpreter.jq.syntax.traversal import owner_of
from karta_interpreter.k8s.values import JSON, type_name
from karta_interpreter.karta.annotation_parser import AnnotationText
from karta_interpreter.karta.annotations import Respelled, Retained, Unset
from karta_interpreter.karta.expressions import names_places, split_default, whole_places
from karta_interpreter.suggestion import did_you_mean

Rule: TypeAlias = Retained | Unset | Respelled

_FIELDS: Final = ("unset", "by", "if", "value")
_NO_QUEUE: Final = "none"
_LABEL: Final = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)


def parse_retain(annotation: AnnotationText) -> tuple[Rule, ...]:
    """Return the rules of ``retain``, which is a YAML list or has one path per line."""
    lines = [line.strip() for line in annotation.text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    is_yaml = bool(lines) and lines[0].startswith(("[", "-"))
    entries = annotation.yaml(list) if is_yaml else lines
    return tuple(rule for entry in entries for rule in _entry(annotation, entry))


def _entry(annotation: AnnotationText, entry: JSON) -> Iterator[Rule]:
    if isinstance(entry, dict | str):
        yield from _rule(annotation, entry) if isinstance(entry, dict) else _path(annotation, entry)
    else:
        annotation.error(f"an entry is {type_name(entry)} where a jq path belongs")


def _path(annotation: AnnotationText, entry: str) -> Iterator[Rule]:
    text, absent, drops = split_default(entry)
    place = annotation.query(text)
    if place is None:
        return
    _check_place(annotation, place)
    for whole in whole_places(place):
        kept = "the whole object" if whole == "." else f"all of {whole}"
        message = f"`{text}` keeps {kept} of the member: what changes there in the template never arrives"
        annotation.warn(message, "name the fields that a member changes", "retains-all")
    yield Retained(place, absent, drops)


def _rule(annotation: AnnotationText, entry: Mapping[str, JSON]) -> Iterator[Rule]:
    problems = list(_problems(entry))
    for message, hint in problems:
        annotation.error(message, hint)
    queries = {} if problems else {field: annotation.query(text) for field, text in entry.items()}
    place = queries.get("unset") or queries.get("quantities")
    if place is None or not all(queries.values()):
        return
    _check_place(annotation, place)
    if "quantities" in entry:
        yield Respelled(place)
        return
    if "value" in entry and owner_of(place.node) is None:
        annotation.error(f"`{place.text}` names several fields; a value is for one", "write an entry for each")
    yield Unset(place, queries.get("by"), queries.get("if"), queries.get("value"))


def _problems(entry: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """Yield message and hint for each fault of an entry with fields."""
    known = ("quantities",) if "quantities" in entry else _FIELDS
    for field, text in entry.items():
        if field not in known:
            yield f"there is no field {field} in an entry", did_you_mean(field, known)
        elif not isinstance(text, str):
            yield f"{field} is {type_name(text)} where jq belongs", ""
    if known[0] not in entry:
        yield "an entry with fields has no unset", "write {unset: .spec.field}"
    if "by" in entry and "value" in entry:
        yield "by is for lists, and value for a single field", "write two entries"


def _check_place(annotation: AnnotationText, place: Query) -> None:
    if not names_places(place):
        annotation.error(f"`{place.text}` computes a value; it names no place", "write a path, such as .spec.suspend")


def parse_queue_labels(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the labels of ``queue-labels``."""
    names = annotation.items()
    if names == [_NO_QUEUE]:
        return ()
    wrong = [name for name in names if not _LABEL.fullmatch(name) or name == _NO_QUEUE]
    for name in wrong:
        annotation.error(f'"{name}" is not the name of a label', "write it like kueue.x-k8s.io/queue-name")
    components = annotation.karta.spec.structure_definition.components
    if not names:
        annotation.error("names no label", f"name one, or write {_NO_QUEUE}")
    elif not wrong and not any(component.suspend_definition for _, component in components):
        annotation.warn("a queue has nothing to do with a kind that has no suspendDefinition", "remove the annotation")
    return tuple(dict.fromkeys(names))
