"""The annotations that say what belongs to a member, ``retain`` and ``queue-labels``, read and judged."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.jq import Query
from karta_interpreter.jq.syntax.traversal import owner_of
from karta_interpreter.k8s.values import JSON, type_name
from karta_interpreter.karta.annotations import PREFIX, Respelled, Retained, Unset
from karta_interpreter.karta.model import Karta
from karta_interpreter.karta.places import names_places, split_default, whole_places
from karta_interpreter.suggestion import did_you_mean

Compiled: TypeAlias = Callable[[str], Query | None]

Rule: TypeAlias = Retained | Unset | Respelled

_FIELDS: Final = ("unset", "by", "if", "value")
_NO_QUEUE: Final = "none"
_LABEL: Final = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)


def read_retained(entry: JSON, compiled: Compiled) -> Iterator[Rule | Finding]:
    """Yield what an entry of ``retain`` says, and what is wrong with it; ``compiled`` finds fault with jq itself."""
    if isinstance(entry, dict):
        yield from _read_rule(entry, compiled)
        return
    if not isinstance(entry, str):
        yield _error("retain", f"an entry is {type_name(entry)} where a jq path belongs")
        return
    text, absent, drops = split_default(entry)
    place = compiled(text)
    if place is None:
        return
    yield from _judged(place)
    for whole in whole_places(place):
        kept = "the whole object" if whole == "." else f"all of {whole}"
        message = f"`{text}` keeps {kept} of the member: what changes there in the template never arrives"
        yield warning("retains-all", _path("retain"), message, "name the fields that a member changes")
    yield Retained(place, absent, drops)


def _read_rule(entry: Mapping[str, JSON], compiled: Compiled) -> Iterator[Rule | Finding]:
    problems = list(_problems(entry))
    yield from problems
    queries = {} if problems else {field: compiled(text) for field, text in entry.items()}
    place = queries.get("unset") or queries.get("quantities")
    if place is None or not all(queries.values()):
        return
    yield from _judged(place)
    if "quantities" in entry:
        yield Respelled(place)
        return
    if "value" in entry and owner_of(place.node) is None:
        yield _error("retain", f"`{place.text}` names several fields; a value is for one", "write an entry for each")
    yield Unset(place, queries.get("by"), queries.get("if"), queries.get("value"))


def _problems(entry: Mapping[str, JSON]) -> Iterator[Finding]:
    known = ("quantities",) if "quantities" in entry else _FIELDS
    for field, text in entry.items():
        if field not in known:
            yield _error("retain", f"there is no field {field} in an entry", did_you_mean(field, known))
        elif not isinstance(text, str):
            yield _error("retain", f"{field} is {type_name(text)} where jq belongs")
    if known[0] not in entry:
        yield _error("retain", "an entry with fields has no unset", "write {unset: .spec.field}")
    if "by" in entry and "value" in entry:
        yield _error("retain", "by is for lists, and value for a single field", "write two entries")


def _judged(place: Query) -> Iterator[Finding]:
    if not names_places(place):
        hint = "write a path, such as .spec.suspend"
        yield _error("retain", f"`{place.text}` computes a value; it names no place", hint)


def read_queue_labels(text: str, karta: Karta) -> tuple[tuple[str, ...], list[Finding]]:
    """Return the labels that ``queue-labels`` lists, and what is wrong with it."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == [_NO_QUEUE]:
        return (), []
    findings = [
        _error("queue-labels", f'"{name}" is not the name of a label', "write it like kueue.x-k8s.io/queue-name")
        for name in names
        if not _LABEL.fullmatch(name) or name == _NO_QUEUE
    ]
    if not names:
        findings.append(_error("queue-labels", "names no label", f"name one, or write {_NO_QUEUE}"))
    if not findings and not any(
        component.suspend_definition for _, component in karta.spec.structure_definition.components
    ):
        message = "a queue has nothing to do with a kind that has no suspendDefinition"
        findings.append(warning("annotation-queue-labels", _path("queue-labels"), message, "remove the annotation"))
    return tuple(dict.fromkeys(names)), findings


def _error(annotation: str, message: str, hint: str = "") -> Finding:
    return error(f"annotation-{annotation}", _path(annotation), message, hint)


def _path(annotation: str) -> tuple[str, ...]:
    return ("metadata", "annotations", PREFIX + annotation)
