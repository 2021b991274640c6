"""The answer of each operation in a few lines for people."""

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Final

import click

from karta_interpreter.base.findings import count, format_path
from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, full_name, objects_text, patch
from karta_interpreter.cli.render import table
from karta_interpreter.engine.comparison.interpreter import CallOutcome
from karta_interpreter.engine.operations import Results, by_operation

_MAX_WIDTH = 60
# The width of the second column, for terminals with 100 columns.
_WIDTH = 78


def outcomes_table(outcomes: Iterable[CallOutcome]) -> str:
    """Return one row per operation, and further rows if an answer has several lines."""
    rows = []
    first: dict[str, str] = {}
    for outcome in outcomes:
        if outcome.results is None:
            same = first.setdefault(outcome.error, outcome.call.operation)
            reason = outcome.error if same == outcome.call.operation else f"as for {same}"
            lines = [click.style(line, fg="red") for line in _wrap(f"error: {reason}")]
        else:
            answer = _LINES[outcome.call.operation](outcome, outcome.results) or ["no change"]
            lines = [*chain.from_iterable(map(_wrap, answer))]
        rows += [["" if number else str(outcome.call.operation), line] for number, line in enumerate(lines)]
    return table(rows, header=["OPERATION", "ANSWER"])


def _wrap(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _health(outcome: CallOutcome, results: Results) -> list[str]:
    verdict = click.style("yes", fg="green") if results["healthy"] else click.style("no", fg="red")
    return [f"{verdict} ({outcome.reason})"]


def _replica(_: CallOutcome, results: Results) -> list[str]:
    requires: Object = results["requires"] or {}
    lines = [f"{field}: {short(value)}" for field, value in (requires.get("nodeClaim") or {}).items()]
    fields = (("namespace", "namespace"), ("priority class", "priorityClassName"))
    lines += [f"{label}: {requires[name]}" for label, name in fields if requires.get(name)]
    return [_pods(results["replica"], requires), *lines]


def _components(_: CallOutcome, results: Results) -> list[str]:
    rows = [
        [component["name"], _pods(component["replicas"], component.get("replicaRequirements"))]
        for component in results["components"] or ()
    ]
    return table(rows).splitlines() or ["none"]


def _pods(number: int, requires: JSON) -> str:
    request = (requires or {}).get("resourceRequest") or {}
    amounts = ", ".join(f"{name} {quantity}" for name, quantity in request.items())
    return f"{count(number, 'pod')}, {amounts} each" if amounts else f"{count(number, 'pod')}, no resource requests"


def _status(_: CallOutcome, results: Results) -> list[str]:
    status: Object = results["status"]
    rows = [[field, value if isinstance(value, str) else short(value)] for field, value in status.items()]
    return table(rows).splitlines() or ["empty"]


def _dependencies(_: CallOutcome, results: Results) -> list[str]:
    rows = [
        [dependency["apiVersion"], dependency["kind"], full_name({**dependency, "name": objects_text(dependency)})]
        for dependency in results["dependencies"]
    ]
    return table(rows).splitlines() or ["none"]


_LINES: Final[Mapping[str, Callable[[CallOutcome, Results], list[str]]]] = by_operation(
    interpret_replica=_replica,
    interpret_component=_components,
    revise_replica=lambda outcome, results: changes(outcome.call.object, results["revised"]),
    revise_components=lambda outcome, results: changes(outcome.call.object, results["revised"]),
    retain=lambda outcome, results: changes(outcome.call.object, results["retained"]),
    aggregate_status=lambda outcome, results: changes(outcome.call.object, results["aggregatedStatus"]),
    interpret_status=_status,
    interpret_health=_health,
    interpret_dependency=_dependencies,
)


def changes(before: JSON, after: JSON) -> list[str]:
    """Return one line for each path with another value, in the order of keys. Equal values have no line.

    >>> changes({"spec": {"replicas": 3}}, {"spec": {"replicas": 5, "paused": True}})
    ['spec.paused: true (new)', 'spec.replicas: 3 -> 5']
    """
    return [
        f"{format_path(path)}: {_change(old, new)}"
        for path, old, new in sorted(_leaves(before, after), key=attrgetter("path"))
    ]


def _change(old: JSON, new: JSON) -> str:
    if old is NOTHING:
        return f"{short(new)} (new)"
    return f"{short(old)} (removed)" if new is NOTHING else f"{short(old)} -> {short(new)}"


def short(value: JSON) -> str:
    """Return a value in one line, cut if it is long. Conditions appear as their types and statuses.

    >>> short({"a": [1, "b"]})
    '{"a": [1, "b"]}'
    >>> short([{"type": "Ready", "status": "True"}, {"type": "Paused", "status": "False"}])
    'Ready=True, Paused=False'
    """
    if value and isinstance(value, list):
        conditions = [
            element for element in value if isinstance(element, dict) and element.keys() >= {"type", "status"}
        ]
        if len(conditions) == len(value):
            return ", ".join(f"{condition['type']}={condition['status']}" for condition in conditions)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 3]}..."


def _leaves(before: JSON, after: JSON, path: Path = ()) -> Iterator[patch.Change]:
    """Yield the changes of single fields, also fields of an object that is new or removed."""
    for change in patch.changes(before, after, path):
        old, new = ({} if side is NOTHING else side for side in change[1:])
        if isinstance(old, dict) and isinstance(new, dict) and (old or new):
            yield from _leaves(old, new, change.path)
        else:
            yield change
