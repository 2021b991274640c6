"""Finds the cluster that gave each field of an aggregated status."""

from collections.abc import Iterator, Sequence

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, changes, field_path, get, json_pointer
from karta_interpreter.definitions.karta import OF_TEMPLATE, AggregateRule, Definition, PathPattern
from karta_interpreter.engine.explain.explanation import Fact, Place
from karta_interpreter.engine.explain.reading import annotation_field
from karta_interpreter.engine.operations import Call, Options, Results
from karta_interpreter.engine.operations.aggregate import (
    MemberPart,
    MemberReport,
    Merging,
    Present,
    are_conditions,
    has_ended,
    is_time,
    of_all,
    reports_of,
)


class _Recorded(Merging):
    """Merges as AggregateStatus does, and keeps the parts of each field."""

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition)
        self.parts: dict[PathPattern, Sequence[MemberPart]] = {}

    # Every field is merged through `value`. Overriding it sees all fields, and no rule is repeated here.
    def value(self, path: PathPattern, present: Present, candidates: Sequence[MemberPart]) -> JSON:
        self.parts[path] = of_all(present, candidates, None)
        return super().value(path, present, candidates)


def aggregation_facts(definition: Definition, call: Call, _options: Options, results: Results) -> Iterator[Fact]:
    """Yield the origin of each field of the aggregated status."""
    before, after = call.object.get("status"), results.get("aggregatedStatus", {}).get("status")
    if has_ended(definition, before):
        yield Fact("unchanged", "the template has reached its outcome, which does not change")
        return
    reports = reports_of(definition, call.object, call.items)
    silent = sorted({item.cluster for item in call.items} - {report.cluster for report in reports if report.status})
    if silent or not call.items:
        clusters = ", ".join(silent) or "any cluster"
        severity = Severity.WARNING if call.items and not any(report.status for report in reports) else None
        yield Fact(
            "silent",
            f"no status from {clusters}; the rest is merged, or the template's stays",
            severity=severity,
            places=tuple(
                Place(("status",), item.status, exists=item.status is not None, source="items", cluster=item.cluster)
                for item in call.items
                if item.cluster in silent
            ),
        )
    yield from (
        Fact("cluster", f"{report.cluster}: status {', '.join(report.matched)}", list(map(str, report.matched)))
        for report in (reports if len(reports) > 1 else ())
    )
    recorded = _Recorded(definition)
    merged = recorded.status(reports) if len(reports) > 1 else dict(reports[0].status) if reports else {}
    if len(reports) == 1:
        recorded.parts = {("status", field): [MemberPart(reports[0], value)] for field, value in merged.items()}
    for field, value in after.items() if isinstance(after, dict) else ():  # without a report everything stays
        yield from _fields(definition, ("status", field), value, merged.get(field), recorded)
    for path, _, new in changes(before or {}, after or {}):
        if new in (None, NOTHING):
            removed = Place(("status", *path), get(before, path))
            yield Fact("removed", f"{field_path(path)} is removed: no cluster reports it", places=(removed,))


def _fields(
    definition: Definition, path: tuple[str, ...], value: JSON, merged: JSON, recorded: _Recorded
) -> Iterator[Fact]:
    """Yield the facts about one field: one for each condition, and one for each field inside an object."""
    reported, rule = recorded.parts.get(path, ()), definition.annotations.aggregate.get(path)
    if isinstance(value, list) and are_conditions([condition for condition in value if condition is not None]):
        yield from (
            _condition(path, index, condition, reported)
            for index, condition in enumerate(value)
            if condition is not None
        )
    elif isinstance(value, dict) and any((*path, key) in recorded.parts for key in value):
        for key, below in value.items():
            yield from _fields(definition, (*path, key), below, get(merged, (key,)), recorded)
    else:
        places = tuple(_place(member.report, path, member.value) for member in reported if member.value is not None)
        # If a value does not result from the clusters, it is required or from the template's present status.
        is_added = merged is None and definition.annotations.required_status.get(path) == value
        note = _rule(value, reported) if rule is None else f"rule {rule}"
        note = note if value == merged else _history(path, rule, is_added=is_added)
        values = [place_read.value if isinstance(place_read.value, str | int | float) else "…" for place_read in places]
        values_text = ", ".join(
            f"{place_read.cluster} {value}" for place_read, value in zip(places, values, strict=True)
        )
        field = annotation_field("required-status") if is_added else annotation_field("aggregate") if rule else ""
        expression = f"{field_path(path)}: {rule}" if rule else ""
        note = f"{field_path(path[1:])}: {note}{f' ({values_text})' if values_text else ''}"
        yield Fact("aggregated", note, value, _answer(path), field=field, expression=expression, places=places)


def _condition(path: tuple[str, ...], index: int, condition: Object, parts: Sequence[MemberPart]) -> Fact:
    matches = [
        (member.report, number, reported)
        for member in parts
        for number, reported in enumerate(member.value if isinstance(member.value, list) else ())
        if isinstance(reported, dict) and reported.get("type") == condition["type"]
    ]
    same = [report.cluster for report, _, reported in matches if reported.get("status") == condition["status"]]
    other = [
        f"{report.cluster} has {reported.get('status', 'no status')}"
        for report, _, reported in matches
        if report.cluster not in same
    ]
    whose = [f"of {', '.join(same)}" if same else "by the template's present status and its outcomes", *other]
    note = f"condition {condition['type']}={condition['status']} {', '.join(whose)}"
    places = tuple(_place(report, (*path, number), reported) for report, number, reported in matches)
    return Fact("aggregated", note, condition, _answer((*path, index)), places=places)


def _history(path: tuple[str, ...], rule: AggregateRule | None, *, is_added: bool) -> str:
    """Return why a field differs from the result of the clusters' values."""
    if path[1:] == ("observedGeneration",):
        return "the template's generation when all members have caught up with it, else its present value"
    if rule in OF_TEMPLATE:
        return f"rule {rule}, by which the template's present value stays"
    return (
        "the CRD requires it, and no cluster gives a value"
        if is_added
        else "the template's present status and the definition's outcomes decide"
    )


def _rule(value: JSON, reported: Sequence[MemberPart]) -> str:
    if len(reported) < 2:  # noqa: PLR2004 - one cluster
        return "of the one cluster that reports"
    whose = [member.report.cluster for member in reported if member.value == value]
    match value:
        case bool():
            return "true where it is in all"
        case int() | float():
            return "the sum"
        case dict() | list():
            return "merged"
    if len(whose) == len(reported):
        return "the same in all"
    return f"the {'time' if is_time(value) else 'text'} of {', '.join(whose)}"


def _place(report: MemberReport, path: Path, value: JSON) -> Place:
    return Place(path, get({"status": report.reported}, path, value), source="items", cluster=report.cluster)


def _answer(path: Path) -> str:
    return f"/aggregatedStatus{json_pointer(path)}"
