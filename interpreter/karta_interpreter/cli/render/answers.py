"""The answer of each operation in a few lines for people."""

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeAlias

import click

from karta_interpreter.cli.calls import Outcome
from karta_interpreter.cli.render.table import full_name, table
from karta_interpreter.findings import count, format_path
from karta_interpreter.k8s.values import JSON, Object, Path
from karta_interpreter.operations import Call, Operation, Results

_ABSENT: Final = object()
_MAX_WIDTH = 60


def changes(before: JSON, after: JSON) -> list[str]:
    """One line for each place that differs, in the order of keys; none when nothing does.

    >>> changes({"spec": {"replicas": 3}}, {"spec": {"replicas": 5, "paused": True}})
    ['spec.paused: true (new)', 'spec.replicas: 3 -> 5']
    """
    return list(_changes((), before, after))


def short(value: JSON) -> str:
    """A value in one line, cut where it gets long; conditions as their types and statuses.

    >>> short({"a": [1, "b"]})
    '{"a": [1, "b"]}'
    >>> short([{"type": "Ready", "status": "True"}, {"type": "Paused", "status": "False"}])
    'Ready=True, Paused=False'
    """
    if _are_conditions(value):
        return ", ".join(f"{condition['type']}={condition['status']}" for condition in value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 3]}..."


def _are_conditions(value: JSON) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and each.keys() >= {"type", "status"} for each in value)
    )


def _changes(path: Path, before: JSON, after: JSON) -> Iterator[str]:
    if before is after:
        return
    old, new = _fields(before), _fields(after)
    if old is not None and new is not None and (old or new):
        for key in sorted(old.keys() | new.keys()):
            yield from _changes((*path, key), old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _changes((*path, index), left, right)
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield f"{format_path(path)}: {_change(before, after)}"


def _fields(value: JSON) -> Object | None:
    """The fields of an object, none of one that is not there, None for what is no object."""
    if value is _ABSENT:
        return {}
    return value if isinstance(value, dict) else None


def _change(before: JSON, after: JSON) -> str:
    if before is _ABSENT:
        return f"{short(after)} (new)"
    if after is _ABSENT:
        return f"{short(before)} (removed)"
    return f"{short(before)} -> {short(after)}"


_WIDTH = 78
"""The second column of a terminal with a hundred."""

_NO_CHANGE = ["no change"]


def outcomes_table(outcomes: Iterable[Outcome]) -> str:
    """One row per operation, and further rows where an answer has several lines."""
    rows = [
        ["" if number else str(outcome.call.operation), line]
        for outcome in outcomes
        for number, line in enumerate(_cell(outcome))
    ]
    return table(rows, header=["OPERATION", "ANSWER"])


def _cell(outcome: Outcome) -> list[str]:
    if outcome.results is None:
        return [click.style(line, fg="red") for line in _wrap(f"error: {outcome.error}")]
    return [part for line in answer_lines(outcome, outcome.results) for part in _wrap(line)]


def _wrap(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def answer_lines(outcome: Outcome, results: Results) -> list[str]:
    """What an operation answers, the most important first."""
    if outcome.call.operation is Operation.INTERPRET_HEALTH:
        return [health_text(outcome.reason, healthy=results["healthy"])]
    return _LINES[outcome.call.operation](outcome.call, results) or _NO_CHANGE


def health_text(reason: str, *, healthy: bool) -> str:
    """Yes or no, and why.

    >>> click.unstyle(health_text("status Running", healthy=True))
    'yes (status Running)'
    """
    verdict = click.style("yes", fg="green") if healthy else click.style("no", fg="red")
    return f"{verdict} ({reason})"


def _replica(_: Call, results: Results) -> list[str]:
    return [_pods(results["replica"], results["requires"]), *_placement(results["requires"])]


def _components(_: Call, results: Results) -> list[str]:
    components = results["components"]
    if not components:
        return ["none"]
    rows = [[each["name"], _pods(each["replicas"], each.get("replicaRequirements"))] for each in components]
    return table(rows).splitlines()


def _pods(number: int, requires: JSON) -> str:
    request = (requires or {}).get("resourceRequest") or {}
    pods = count(number, "pod")
    if not request:
        return f"{pods}, no resource requests"
    return f"{pods}, {', '.join(f'{name} {quantity}' for name, quantity in request.items())} each"


def _placement(requires: JSON) -> list[str]:
    claim: Object = (requires or {}).get("nodeClaim") or {}
    lines = [f"{field}: {short(value)}" for field, value in claim.items()]
    fields = (("namespace", "namespace"), ("priority class", "priorityClassName"))
    return lines + [f"{label}: {requires[name]}" for label, name in fields if (requires or {}).get(name)]


def _changed(result: str, call: Call, results: Results) -> list[str]:
    return changes(call.object, results[result])


def _status(_: Call, results: Results) -> list[str]:
    status: Object = results["status"]
    return table(
        [[field, value if isinstance(value, str) else short(value)] for field, value in status.items()]
    ).splitlines() or ["empty"]


def _dependencies(_: Call, results: Results) -> list[str]:
    found = results["dependencies"]
    rows = [[each["apiVersion"], each["kind"], full_name(each)] for each in found]
    return table(rows).splitlines() if rows else ["none"]


_Lines: TypeAlias = Callable[[Call, Results], list[str]]

_LINES: dict[Operation, _Lines] = {
    Operation.INTERPRET_REPLICA: _replica,
    Operation.INTERPRET_COMPONENT: _components,
    Operation.REVISE_REPLICA: partial(_changed, "revised"),
    Operation.RETAIN: partial(_changed, "retained"),
    Operation.AGGREGATE_STATUS: partial(_changed, "aggregatedStatus"),
    Operation.INTERPRET_STATUS: _status,
    Operation.INTERPRET_DEPENDENCY: _dependencies,
}
