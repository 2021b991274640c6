"""Merging the statuses of several clusters, field by field.

A field is merged by the definition's ``aggregate`` annotation where that names it, else by what its values are:

- numbers are added, truth values hold when all hold, objects are merged key by key;
- lists of conditions are merged by type (`conditions`), lists of named objects by name, other lists are
  concatenated without repeating an element;
- times: of a start the earliest, of an end the latest and only when every cluster has it, else the latest;
- any other text is kept when all agree, else it is the worst cluster's, and left out where that has none; of several
  that are equally badly off the first one has all of it, as text of two clusters may contradict itself;
- a cluster that lacks an object has none of its fields; what maps and lists of named objects hold is merged from the
  clusters that have it;
- where a cluster is between two revisions, ``currentRevision`` and what belongs to it are those of such clusters;
- ``observedGeneration`` is never merged: a member's generations mean nothing to the template.
"""

import json
from collections.abc import Sequence

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta import Definition
from karta_interpreter.karta.annotations import PathPattern
from karta_interpreter.operations.aggregate.conditions import Polarity, are_conditions, merge_conditions
from karta_interpreter.operations.aggregate.member_status import Part, Report
from karta_interpreter.operations.aggregate.reduce import WORST_FIRST, is_time, reduce_times, reduce_values, total

_REVISION = frozenset({"currentRevision", "updateRevision", "currentReplicas"})
"""The fields of a roll-out that only have a meaning together, as in the status of a StatefulSet."""


class Merging:
    """Merges statuses by the rules of one definition."""

    def __init__(self, definition: Definition) -> None:
        self._name = definition.name
        self._rules = definition.annotations.aggregate
        self._polarity = Polarity(definition.status)

    def status(self, reports: Sequence[Report]) -> dict[str, JSON]:
        """Return the merged status of two or more reports."""
        return self._objects(("status",), [Part(report, report.status) for report in reports])

    def _value(self, path: PathPattern, parts: Sequence[Part]) -> JSON:
        present = [part for part in parts if part.value is not None]
        values = [part.value for part in present]
        if not values:
            return None
        if path in self._rules:
            return self._ruled(path, present)
        kinds = set(map(type, values))
        if kinds == {bool}:
            return len(present) == len(parts) and all(values)
        if kinds <= {int, float}:
            return total(values)
        if kinds == {dict}:
            objects = [Part(part.report, part.value or {}) for part in parts]
            return self._objects(path, objects) or (None if any(values) else {})
        if kinds == {list}:
            return self._lists(path, parts)
        if all(map(is_time, values)):
            return reduce_times(str(path[-1]), values, is_complete=len(values) == len(parts))
        is_agreed = all(part.value == values[0] for part in parts)
        return values[0] if is_agreed else min(parts, key=lambda part: part.report.severity).value

    def _ruled(self, path: PathPattern, present: Sequence[Part]) -> JSON:
        rule = self._rules[path]
        if rule in WORST_FIRST:
            present = sorted(present, key=lambda part: part.report.severity)
        try:
            return reduce_values(rule, [part.value for part in present])
        except InterpretationError as error:
            field = "".join("[]" if step is None else f".{step}" for step in path)
            raise InterpretationError(f"definition {self._name}, annotation aggregate, {field}: {error}") from error

    def _objects(self, path: PathPattern, parts: Sequence[Part]) -> dict[str, JSON]:
        keys = dict.fromkeys(key for part in parts for key in part.value if key != "observedGeneration")
        between = _between_revisions(parts)
        is_map = len(path) > 1 and all(isinstance(value, dict) for part in parts for value in part.value.values())
        merged: dict[str, JSON] = {}
        for key in keys:
            whose = between if between and key in _REVISION else parts
            found = [Part(part.report, part.value.get(key)) for part in whose if not is_map or key in part.value]
            merged[key] = self._value((*path, key), found)
        return {key: value for key, value in merged.items() if value is not None}

    def _lists(self, path: PathPattern, parts: Sequence[Part]) -> list[JSON]:
        lists = [Part(part.report, part.value or []) for part in parts]
        elements = [element for part in lists for element in part.value]
        if are_conditions([element for element in elements if element is not None]):
            return merge_conditions(self._polarity, lists)
        if not all(isinstance(element, dict) and isinstance(element.get("name"), str) for element in elements):
            unrepeated: dict[str, JSON] = {}  # hundreds of clusters may have hundreds of elements each
            for element in elements:
                unrepeated.setdefault(json.dumps(element, sort_keys=True), element)
            return list(unrepeated.values())
        named: dict[str, list[Part]] = {}
        for part in lists:
            for element in part.value:
                named.setdefault(element["name"], []).append(Part(part.report, element))
        return [self._objects((*path, None), same) for same in named.values()]


def _between_revisions(parts: Sequence[Part]) -> list[Part]:
    """Return the worst cluster that goes from one revision to another, and those that do the same."""
    rolling: list[tuple[tuple[str, str], Part]] = []
    for part in parts:
        current, update = part.value.get("currentRevision"), part.value.get("updateRevision")
        if isinstance(current, str) and isinstance(update, str) and current != update:
            rolling.append(((current, update), part))
    if not rolling:
        return []
    _, worst = min((part.report.severity, revisions) for revisions, part in rolling)
    return [part for revisions, part in rolling if revisions == worst]
