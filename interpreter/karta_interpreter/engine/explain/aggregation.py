"""Finds the cluster that gave each field of an aggregated status."""

from collections.abc import Iterator, Sequence

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s import JSON, NOTHING, NewObject, Object, Path, changes, field_path, get, json_pointer
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
    read_items,
    unread_texts,
    whole_reports,
)

_HISTORY = "the template's present status, and what API servers and outcomes allow after it, decide"


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
    items, unread = read_items(definition, call.object, call.items)
    for cluster, text in zip(unread, unread_texts(unread), strict=True):
        yield Fact("unread", text, severity=Severity.WARNING, places=_silent_places(call, [cluster]))
    reports = whole_reports(definition, call.object, items)
    reporting = {report.cluster for report in reports if report.status}
    silent = sorted({item.cluster for item in items} - reporting - unread.keys())
    if silent or not call.items:
        yield _silent(call, silent, is_warning=bool(call.items) and not any(report.status for report in reports))
    recorded, merged = _Recorded(definition), NewObject()
    if len(reports) == 1:
        merged = dict(reports[0].status)
        recorded.parts = {("status", field): [MemberPart(reports[0], value)] for field, value in merged.items()}
    elif reports:
        for report in reports:
            yield _report(definition, report)
        merged = dict(recorded.status(reports))
        yield from _later(definition, reports)
    for field, value in after.items() if isinstance(after, dict) else ():  # without a report everything stays
        yield from _fields(definition, ("status", field), value, merged.get(field), recorded)
    for path, _, new in changes(before or {}, after or {}):
        if new in (None, NOTHING):
            removed = Place(("status", *path), get(before, path))
            why = "no cluster reports it" if get(merged, path) is None else _HISTORY
            yield Fact("removed", f"{field_path(path)} is removed: {why}", places=(removed,))


def _report(definition: Definition, report: MemberReport) -> Fact:
    if report.cluster:
        matched = list(map(str, report.matched))
        return Fact("cluster", f"{report.cluster}: status {', '.join(matched)}", matched)
    wanted = "; ".join(f"`{rule.done.text}` of `{rule.of.text}`" for rule in definition.annotations.completions)
    note = f"all that report have completed, and the template wants more: {wanted}"
    return Fact("undone", note, field=annotation_field("completions"))


def _later(definition: Definition, reports: Sequence[MemberReport]) -> Iterator[Fact]:
    """Yield the fields that some clusters have and others lack, because their operators are older."""
    for later in definition.annotations.later_status:
        lacking = {report.cluster: report.older.get(later.name) for report in reports if later.name in report.older}
        if not lacking or len(lacking) == sum(map(bool, (report.status for report in reports))):
            continue
        unknown = [cluster for cluster, value in lacking.items() if value is None]
        end = f"nothing is known of {', '.join(unknown)}: it is left out" if unknown else "other fields stand for it"
        note = f"{later.name}: {', '.join(lacking)} lack it, and {end}"
        yield Fact("later", note, field=annotation_field("later-status"), expression=later.older.text)


def _silent_places(call: Call, clusters: Sequence[str]) -> tuple[Place, ...]:
    places = list[Place]()
    for item in call.items:
        if item.cluster in clusters:
            exists = item.status is not None
            places.append(Place(("status",), item.status, exists=exists, source="items", cluster=item.cluster))
    return tuple(places)


def _silent(call: Call, clusters: Sequence[str], *, is_warning: bool) -> Fact:
    note = f"no status from {', '.join(clusters) or 'any cluster'}; the rest is merged, or the template's stays"
    return Fact(
        "silent", note, severity=Severity.WARNING if is_warning else None, places=_silent_places(call, clusters)
    )


def _fields(
    definition: Definition, path: tuple[str, ...], value: JSON, merged: JSON, recorded: _Recorded
) -> Iterator[Fact]:
    """Yield the facts about one field: one for each condition, and one for each field inside an object."""
    reported = recorded.parts.get(path, ())
    if isinstance(value, list) and are_conditions([condition for condition in value if condition is not None]):
        for index, condition in enumerate(value):
            if condition is not None:
                yield _condition(path, index, condition, reported)
    elif isinstance(value, dict) and any((*path, key) in recorded.parts for key in value):
        for key, below in value.items():
            yield from _fields(definition, (*path, key), below, get(merged, (key,)), recorded)
    else:
        yield _field(definition, path, value, merged, reported)


def _field(
    definition: Definition, path: tuple[str, ...], value: JSON, merged: JSON, reported: Sequence[MemberPart]
) -> Fact:
    """Return the fact about a field that is merged as a whole."""
    rule = definition.annotations.aggregate.get(path)
    places, values = list[Place](), list[str]()
    for member in reported:
        if member.value is not None:
            place = _place(member.report, path, member.value)
            if path[-1] not in member.report.older:
                places.append(place)
            shown = place.value if isinstance(place.value, str | int | float) else "…"
            values.append(f"{place.cluster} {shown}")
    # If a value does not result from the clusters, it is required or from the template's present status.
    is_added = merged is None and definition.annotations.required_status.get(path) == value
    note = _how(value, rule, reported) if value == merged else _history(path, rule, is_added=is_added)
    field = expression = ""
    if rule:
        field, expression = annotation_field("aggregate"), f"{field_path(path)}: {rule}"
    if is_added:
        field = annotation_field("required-status")
    note = f"{field_path(path[1:])}: {note}"
    if values:
        note = f"{note} ({', '.join(values)})"
    return Fact("aggregated", note, value, _answer(path), field=field, expression=expression, places=tuple(places))


def _condition(path: tuple[str, ...], index: int, condition: Object, parts: Sequence[MemberPart]) -> Fact:
    agreeing, differing, places = list[str](), list[str](), list[Place]()
    for member in parts:
        conditions = member.value if isinstance(member.value, list) else ()
        for number, reported in enumerate(conditions):
            if not isinstance(reported, dict) or reported.get("type") != condition["type"]:
                continue
            cluster = member.report.cluster
            places.append(_place(member.report, (*path, number), reported))
            if reported.get("status") == condition["status"]:
                agreeing.append(cluster)
            else:
                differing.append(f"{cluster} has {reported.get('status', 'no status')}")
    origin = f"of {', '.join(agreeing)}" if agreeing else "by the template's present status and its outcomes"
    note = f"condition {condition['type']}={condition['status']} {', '.join([origin, *differing])}"
    return Fact("aggregated", note, condition, _answer((*path, index)), places=tuple(places))


def _history(path: tuple[str, ...], rule: AggregateRule | None, *, is_added: bool) -> str:
    """Return why a field differs from the result of the clusters' values."""
    if path[1:] == ("observedGeneration",):
        return "the template's generation when all members have caught up with it, else its present value"
    if rule in OF_TEMPLATE:
        return f"rule {rule}, by which the template's present value stays"
    if is_added:
        return "the CRD requires it, and no cluster gives a value"
    return _HISTORY


def _how(value: JSON, rule: AggregateRule | None, reported: Sequence[MemberPart]) -> str:
    """Return how the values of the clusters make the one of a field."""
    if rule is not None:
        return f"rule {rule}"
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
