"""Merging the statuses of several clusters, field by field.

The rules for values and conditions are in docs/aggregate-status.md. The definition's ``aggregate``
annotation precedes them.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, NewObject, grouped, parts_of, type_name
from karta_interpreter.definitions.karta import AT_WORK, FAILING, TRANSITIONAL, AggregateRule, Definition, PathPattern
from karta_interpreter.definitions.karta.annotations import FieldPlace
from karta_interpreter.engine.evaluation import Status
from karta_interpreter.engine.operations.aggregate.member_status import NESTED, TEXT, MemberPart, MemberReport
from karta_interpreter.engine.operations.aggregate.reduce import (
    WORST_FIRST,
    is_generation,
    is_time,
    latest,
    reduce_times,
    reduce_values,
    total,
)

# The fields of a roll-out that only have a meaning together, as in a StatefulSet's status.
_REVISION = frozenset({"currentRevision", "updateRevision", "currentReplicas"})

UNTIL_THE_END = frozenset({Status.RUNNING, Status.SUSPENDED})  # neither is so any more when a cluster has completed
_SOUNDS_LIKE_FAILURE = ("fail", "error", "degraded", "stalled", "timeout", "exceeded")
_CONDITIONS = ("status", "conditions")
_NUMBERS = {int, float}
_NOTHING: frozenset[Status] = frozenset()
_LONGEST_MESSAGE = 32768  # of a `metav1.Condition`, which an API server refuses with a longer one

Present = dict[int, MemberPart]
"""The values of a field by the positions of the clusters that have it."""


class Merging:
    """Merges statuses by the rules of one definition.

    Raises InterpretationError for values that no rule merges. If it ``is_strict``, these are also values of several
    types. ``left_out`` gets the clusters with an element of a list that is left out, and why.
    """

    def __init__(
        self, definition: Definition, left_out: dict[str, str] | None = None, *, is_strict: bool = False
    ) -> None:
        self._name, self._is_strict = definition.name, is_strict
        self._left_out = {} if left_out is None else left_out
        self._rules, self._later = definition.annotations.aggregate, definition.annotations.later_status
        self.polarity = Polarity(definition)
        self._hold_while_there = definition.status is not None and definition.status.hold_while_there

    def status(self, reports: Sequence[MemberReport]) -> NewObject:
        """Return the merged status of two or more reports."""
        parts = [MemberPart(report, report.status) for report in reports]
        for later in self._later:
            parts = _with_later(later.name, parts)
        return self._objects(("status",), parts)

    def value(self, path: PathPattern, present: Present, candidates: Sequence[MemberPart]) -> JSON:
        """Return the merged value of one field, None for none. ``candidates`` are the clusters that could have it."""
        values, is_everywhere = [member.value for member in present.values()], len(present) == len(candidates)
        if not values:
            return None
        kinds = set(map(type, values))  # not isinstance, by which a bool is an int
        if self._is_strict and len(kinds) > 1 and kinds != _NUMBERS:
            raise InterpretationError(f"{path[-1]} has several types")
        if path in self._rules:
            return self._ruled(path, [*present.values()], candidates)
        if kinds == {bool}:
            return is_everywhere and all(values)
        if kinds <= _NUMBERS and not is_generation(str(path[-1])):
            return total(values)
        if kinds == {dict}:
            return self._objects(path, of_all(present, candidates, {})) or (None if any(values) else {})
        if kinds == {list}:
            return self._lists(path, of_all(present, candidates, []))
        if all(map(is_time, values)):
            return reduce_times(str(path[-1]), values, is_complete=is_everywhere)
        # Text, a generation, or several types. A cluster without the field does not agree, and may be the worst.
        is_agreed = is_everywhere and len(kinds) == 1 and all(value == values[0] for value in values)
        worst = 0
        if not is_agreed:
            worst = min(range(len(candidates)), key=lambda position: candidates[position].report.severity)
        return present[worst].value if worst in present else None

    def _ruled(self, path: PathPattern, present: Sequence[MemberPart], candidates: Sequence[MemberPart]) -> JSON:
        rule = self._rules[path]
        # Go leaves out a counter of 0, which is the least. A cluster without the object around it has no counter.
        if rule is AggregateRule.MIN and len(present) < len([member for member in candidates if member.value]):
            return None
        if type(present[0].value) in NESTED:
            self._compare_parts(path, present)
        if rule in WORST_FIRST:
            present = sorted(present, key=lambda member: member.report.severity)
        try:
            return reduce_values(rule, [member.value for member in present])
        except InterpretationError as error:
            place = FieldPlace(self._name, "", "aggregate")
            raise InterpretationError(f"{place}, {path_text(path)}: {error}", place=place) from error

    def _objects(self, path: PathPattern, parts: Sequence[MemberPart]) -> NewObject:
        present = _present(parts)
        between = _between_revisions(parts)
        revision = _present(between)
        # The keys of a map are names, such as names of nodes, and each cluster has its own. For any other field absence
        # counts: if one cluster has no end time, not all have ended.
        is_map = len(path) > 1 and all(isinstance(value, dict) for member in parts for value in member.value.values())
        merged: NewObject = {}
        for key, by_position in present.items():
            if between and key in _REVISION:
                merged[key] = self.value((*path, key), revision.get(key, {}), between)
            elif is_map:
                merged[key] = self.value((*path, key), dict(enumerate(by_position.values())), [*by_position.values()])
            else:
                merged[key] = self.value((*path, key), by_position, parts)
        return {key: value for key, value in merged.items() if value is not None}

    def _lists(self, path: PathPattern, lists: Sequence[MemberPart]) -> list[JSON]:
        if self._hold_while_there and path == _CONDITIONS:
            lists = self._held(lists)
        elements = [element for member in lists for element in member.value]
        if are_conditions([element for element in elements if element is not None]):
            if path != _CONDITIONS:  # which are looked at in each report
                self._compare_parts(path, lists)
            return _conditions(self.polarity, lists)
        if str(path[-1]).lower().endswith("conditions") and any(map(is_condition, elements)):
            self._compare_parts(path, lists)
            return self._sound_conditions(path, lists)
        if not all(map(_has_name, elements)):
            self._compare_parts(path, lists)
        same = grouped(
            (_identity(element), MemberPart(member.report, element)) for member in lists for element in member.value
        )
        return [
            self._objects((*path, None), parts) if _has_name(parts[0].value) else parts[0].value
            for parts in same.values()
        ]

    def _compare_parts(self, path: PathPattern, parts: Sequence[MemberPart]) -> None:
        """Compare values that are not merged field by field: a place in them has the same type in all."""
        # Mostly they are lists of objects with nothing but text.
        if self._is_strict and not all(_are_texts(member.value) for member in parts):
            types = set[TypeAt]().union(*(types_in(member.value) for member in parts))
            if len({place for place, _ in types}) < len(types):
                raise InterpretationError(f"a part of {path[-1]} has several types")

    def _sound_conditions(self, path: PathPattern, lists: Sequence[MemberPart]) -> list[JSON]:
        """Merge lists with elements that are no conditions. They stay if all clusters with conditions have them.

        An API server may refuse a condition without a status, and none that all operators write.
        """
        sound, odd = list[MemberPart](), list[dict[str, JSON]]()
        for member in lists:
            elements = [element for element in member.value if element is not None]
            sound.append(MemberPart(member.report, list(filter(is_condition, elements))))
            if elements:
                odd.append({f"{_identity(element)}": element for element in elements if not is_condition(element)})
        kept = odd[0].keys() & set.intersection(*(set(elements) for elements in odd))
        for member in lists:
            if any(
                not is_condition(element) and f"{_identity(element)}" not in kept for element in member.value if element
            ):
                lacks = f"has an element without a type or a status in {path_text(path)[1:]}"
                self._left_out.setdefault(member.report.cluster, lacks)
        merged = {condition["type"]: condition for condition in _conditions(self.polarity, sound)}
        merged |= {key: odd[0][key] for key in kept}
        order = dict.fromkeys(
            element["type"] if is_condition(element) else f"{_identity(element)}"
            for member in lists
            for element in member.value
            if element is not None
        )
        return [merged[key] for key in order if key in merged]

    def _held(self, lists: Sequence[MemberPart]) -> list[MemberPart]:
        """Return the conditions that hold for the whole, as True ones do, and the conditions that are not mapped."""
        true, kept = list[MemberPart](), list[MemberPart]()
        for member in lists:
            names = filter(None, map(self._mapped_type, member.value))
            true.append(MemberPart(member.report, [{"type": name, "status": "True"} for name in names]))
        held = {"", *(condition["type"] for condition in _conditions(self.polarity, true))}
        for member in lists:
            conditions = [condition for condition in member.value if self._mapped_type(condition) in held]
            kept.append(MemberPart(member.report, conditions))
        return kept

    def _mapped_type(self, condition: JSON) -> str:
        name = condition.get("type") if isinstance(condition, dict) else None
        if isinstance(name, str) and self.polarity.means(name):
            return name
        return ""


def _with_later(field: str, parts: list[MemberPart]) -> list[MemberPart]:
    """Return statuses with a field of later releases in all of them, or in none if one has nothing for it."""

    def lacks(member: MemberPart) -> bool:
        return bool(member.value) and member.value.get(field) is None

    if not any(map(lacks, parts)) or all(member.value.get(field) is None for member in parts):
        return parts
    is_unknown = any(lacks(member) and member.report.older.get(field) is None for member in parts)
    changed = list[MemberPart]()
    for member in parts:
        value = {**member.value}
        if is_unknown:
            value.pop(field, None)
        elif lacks(member):
            value[field] = member.report.older[field]
        changed.append(MemberPart(member.report, value))
    return changed


def _present(parts: Sequence[MemberPart]) -> dict[str, Present]:
    """Return the values of each field. There may be hundreds of clusters, each with its own fields."""
    present: dict[str, Present] = {}
    for position, member in enumerate(parts):
        for key, value in member.value.items():
            by_position = present.setdefault(key, {})
            if value is not None:
                by_position[position] = MemberPart(member.report, value)
    return present


def of_all(present: Present, candidates: Sequence[MemberPart], absent: JSON) -> list[MemberPart]:
    """Return the values of all clusters, with ``absent`` for clusters that lack the field."""
    return [present.get(position) or MemberPart(member.report, absent) for position, member in enumerate(candidates)]


def _between_revisions(parts: Sequence[MemberPart]) -> list[MemberPart]:
    """Return the worst cluster that goes from one revision to another, and the clusters that do the same."""
    rolling: list[tuple[tuple[str, str], MemberPart]] = []
    for member in parts:
        current, update = member.value.get("currentRevision"), member.value.get("updateRevision")
        if isinstance(current, str) and isinstance(update, str) and current != update:
            rolling.append(((current, update), member))
    if not rolling:
        return []
    _, worst = min((member.report.severity, revisions) for revisions, member in rolling)
    return [member for revisions, member in rolling if revisions == worst]


class Polarity:
    """The meaning of condition types in a definition. ``completes``: the kind runs to completion."""

    def __init__(self, definition: Definition) -> None:
        self._rules, status = definition.annotations.aggregate, definition.status
        self.completes = status is not None and status.completes
        self._completes_by_expression = status is not None and status.completes_by_expression
        self._meanings: Mapping[tuple[str, JSON], frozenset[Status]] = status.meanings if status is not None else {}

    def means(self, name: str, status: JSON = None) -> frozenset[Status]:
        """Return the statuses to which a status of a type, or any status of it, is mapped."""
        return self._meanings.get((name, status), _NOTHING)

    def fails(self, name: str, status: JSON) -> bool:
        """Return whether a status of a type is mapped to Failed or Degraded. An absent one is not."""
        return status is not None and not FAILING.isdisjoint(self.means(name, status))

    def waits(self, name: str) -> bool:
        """Return whether an unknown status of a type is mapped only to waiting."""
        return bool(means := self.means(name, "Unknown")) and means <= TRANSITIONAL

    def holds_anywhere(self, name: str) -> bool:
        """Return whether a type is written only if it is true. Its absence in other clusters then says nothing."""
        return self._rules.get(("status", "conditions", name)) is AggregateRule.ANY

    def agrees(self, name: str, matched: Collection[Status]) -> bool:
        """Return whether a cluster without any condition does not contradict a type: its status means the same."""
        means = self.means(name)
        if means:
            return not means.isdisjoint(matched)
        return not self.completes and AT_WORK.issuperset(matched)

    def may_complete(self, name: str) -> bool:
        """Return whether a type may mean that the workload has completed. A silent cluster rules that out."""
        return self._completes_by_expression or Status.COMPLETED in self.means(name)


def is_condition(element: JSON) -> bool:
    """Return whether an element of a list is a condition: an object with a type and a status, both text."""
    return isinstance(element, dict) and isinstance(element.get("type"), str) and isinstance(element.get("status"), str)


def are_conditions(elements: Sequence[JSON]) -> bool:
    """Return whether the elements of a list are conditions."""
    return bool(elements) and all(map(is_condition, elements))


def _has_name(element: JSON) -> bool:
    return isinstance(element, dict) and isinstance(element.get("name"), str)


def _are_texts(value: JSON) -> bool:
    return type(value) is list and all(
        type(element) is dict and TEXT.issuperset(map(type, element.values())) for element in value
    )


def _identity(element: JSON) -> tuple[bool, str]:
    """Return a key that elements of a list share if they are one: those of a name, and equal ones without."""
    return (True, element["name"]) if _has_name(element) else (False, json.dumps(element, sort_keys=True))


TypeAt: TypeAlias = tuple[PathPattern, str]
"""A place in a value, and the type of a value there."""


def types_in(value: JSON, path: PathPattern = ()) -> set[TypeAt]:
    """Return the types of a value and of the values within it."""
    if value is None:
        return set()
    types = {(path, type_name(value))}
    for step, below in parts_of(value):
        types |= types_in(below, (*path, step if isinstance(step, str) else None))
    return types


def path_text(path: PathPattern) -> str:
    """Return the path of a field as the annotation writes it."""
    return "".join("[]" if step is None else f".{step}" for step in path)


def _conditions(polarity: Polarity, parts: Sequence[MemberPart]) -> list[JSON]:
    """Return the merged conditions, ordered by the first mention of their types in the clusters."""
    reports = [member.report for member in parts]
    # If a type occurs twice, the last one counts, as in Karta's status rules.
    by_type: dict[str, Present] = {}
    for position, member in enumerate(parts):
        for condition in filter(None, member.value):
            by_type.setdefault(condition["type"], {})[position] = MemberPart(member.report, condition)
    counted = cache(partial(_counted, reports))
    # Operators of older releases may write no conditions.
    quiet = [position for position, member in enumerate(parts) if member.report.status and not any(member.value)]
    merged = list[JSON]()
    for name, present in by_type.items():
        ends = not polarity.means(name).isdisjoint(UNTIL_THE_END)
        of_type = counted(polarity.may_complete(name), ends)
        if quiet:
            agreeing = [position for position in quiet if polarity.agrees(name, reports[position].matched)]
            of_type = of_type._replace(positions=of_type.positions.difference(agreeing))
        condition = _condition(polarity, name, present, of_type)
        if condition is not None:
            merged.append(condition)
    return merged


class _Counted(NamedTuple):
    """The positions of the clusters that count for a condition. ``any_fails``: one of them is in trouble."""

    positions: frozenset[int]
    any_fails: bool


def _counted(reports: Sequence[MemberReport], may_complete: bool, ends: bool) -> _Counted:
    # A cluster without a status only keeps the workload from being complete.
    counted = [position for position, report in enumerate(reports) if may_complete or report.status]
    if ends:
        # A completed cluster neither runs nor is suspended any more, and does not count against the others that do.
        counted = [position for position in counted if Status.COMPLETED not in reports[position].matched] or counted
    any_fails = any(not FAILING.isdisjoint(reports[position].matched) for position in counted)
    return _Counted(frozenset(counted), any_fails)


def _condition(polarity: Polarity, name: str, present: Present, counted: _Counted) -> JSON:
    """Merge the conditions of one type, ``present`` by the positions of their clusters."""
    parts = [member for position, member in present.items() if position in counted.positions]
    status = _merged_status(polarity, name, parts, counted)
    if status is None:
        return None
    contributing = [member for member in parts if member.value["status"] == status]
    worst = min(contributing, key=_worst_first).value
    # The message names its clusters so that a user knows where to look. There is one condition for all of them.
    texts, times = list[str](), dict[str, list[JSON]]()
    for member in contributing:
        text = member.value.get("message")
        texts.append(f"{member.report.cluster}: {text}" if text and isinstance(text, str) else member.report.cluster)
        for key, value in member.value.items():
            if is_time(value):
                times.setdefault(key, []).append(value)
    condition = {**worst, "message": "; ".join(texts)[:_LONGEST_MESSAGE]}
    for key, values in times.items():
        condition[key] = latest(values)
    return condition


def _merged_status(polarity: Polarity, name: str, parts: Sequence[MemberPart], counted: _Counted) -> JSON:
    failing = [member for member in parts if not FAILING.isdisjoint(member.report.matched)]
    if blamed := [member for member in failing if polarity.fails(name, member.value["status"])]:
        return min(blamed, key=_worst_first).value["status"]
    statuses = [member.value["status"] for member in parts]
    if "True" in statuses and polarity.holds_anywhere(name):
        return "True"
    mapped = [status for status in statuses if polarity.means(name, status)]
    # If it is mapped only to waiting, it holds for the whole as soon as it holds somewhere. The least status by name is
    # taken, so that the order does not matter.
    if going_on := [status for status in mapped if polarity.means(name, status) <= TRANSITIONAL]:
        return min(going_on)
    # Work goes on while it does in one cluster. That applies to a job, but not to readiness.
    runs_somewhere = polarity.completes and Status.RUNNING in polarity.means(name) and "running" in name.lower()
    if runs_somewhere and "True" in statuses and not counted.any_fails:
        return "True"
    if len(parts) == len(counted.positions) and len(set(statuses)) == 1:
        return statuses[0]
    sounds_like_failure = any(word in name.lower() for word in _SOUNDS_LIKE_FAILURE)
    if sounds_like_failure and not polarity.means(name) and "True" in statuses:
        return "True"
    return next((status for status in ("False", "Unknown") if status in statuses), None)


def _worst_first(member: MemberPart) -> tuple[tuple[int, ...], str]:
    return member.report.severity, str(member.value.get("status"))
