"""The kinds that are interpreted: a list of them, and each in all detail."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click

from karta_interpreter.cli.describe import Description, Part
from karta_interpreter.cli.render.table import table
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object

_WIDTH = 78
"""The last column of a terminal with a hundred."""

_MOST_LINES = 5


def list_text(descriptions: Sequence[Description]) -> str:
    """A line for each kind."""
    header = ["APIVERSION", "KIND", "ORIGIN", "WRITTEN FROM", "OPERATIONS", "SUSPEND", "GANG", "COMPONENTS"]
    return table([_row(description) for description in descriptions], header=header)


def list_json(descriptions: Sequence[Description]) -> JSON:
    """The same for machines."""
    return [
        {
            **_head(description),
            "components": [part.name for part in description.workers],
            "suspend": bool(description.suspend),
            "gang": bool(description.gang),
        }
        for description in descriptions
    ]


def show_text(description: Description) -> str:
    """Everything about one kind: what is done with it, its components, its statuses."""
    sections = [
        f"{click.style(description.gvk.kind, bold=True)} {description.gvk.api_version}\n",
        table([row for name, value in _facts(description) for row in _wrapped(["", name], value)]),
        _section(["COMPONENT", "FIELD", "VALUE"], _components(description.parts)),
        _section(["STATUS", "WHEN"], [([str(status)], way) for status, way in description.statuses]),
    ]
    return "\n".join(section for section in sections if section)


def show_json(description: Description) -> JSON:
    """The same for machines, expressions in full."""
    return {
        **_head(description),
        "operationsWithMultiplePodTemplatesScheduling": list(map(str, description.gated)),
        "scripts": list(description.scripted),
        "components": [_part_json(part) for part in description.parts],
        "statuses": [{"status": str(status), "when": way} for status, way in description.statuses],
        "references": list(description.references),
        "retain": list(description.retain),
        "queueLabels": list(description.queued_by),
        "dependencies": list(description.dependencies),
        "suspend": list(description.suspend),
        "resume": list(description.resume),
        "gangScheduling": list(description.gang),
        "additionalChildKinds": [_gvk_json(gvk) for gvk in description.children],
        "annotations": dict(description.annotations),
    }


def part_facts(part: Part) -> Iterator[tuple[str, str]]:
    """Return the facts about a component: name and value of each."""
    facts = (
        ("kind", part.kind),
        ("part of", part.owner),
        ("one for each", part.instances),
        *((f"pods: {field}" if len(part.pods) > 1 else "pods", expression) for field, expression in part.pods),
        ("operator adds", part.added),
        ("replicas", part.replicas),
        ("at least", part.minimum),
        ("at most", part.maximum),
        ("elastic", "yes" if part.elastic else ""),
    )
    return ((name, value) for name, value in facts if value)


def kinds_text(kinds: Sequence[GVK]) -> str:
    """Kinds in one line, each with its group.

    >>> kinds_text([GVK("", "v1", "Service"), GVK("batch", "v1", "Job")])
    'Service, Job (batch)'
    """
    return ", ".join(f"{gvk.kind} ({gvk.group})" if gvk.group else gvk.kind for gvk in kinds)


def gate_text(description: Description) -> str:
    """What Karmada's feature gate MultiplePodTemplatesScheduling changes about the registered operations."""
    more = [each for each in description.gated if each not in description.operations]
    less = [each for each in description.operations if each not in description.gated]
    return f"{' and '.join(more)} instead of {' and '.join(less)}" if more else f"no {' and no '.join(less)}"


def _row(description: Description) -> list[str]:
    return [
        description.gvk.api_version,
        description.gvk.kind,
        description.origin,
        description.written_from or "-",
        str(len(description.operations)),
        "yes" if description.suspend else "no",
        "yes" if description.gang else "no",
        ", ".join(part.name for part in description.workers) or "-",
    ]


def _facts(description: Description) -> Iterator[tuple[str, str]]:
    yield "definition", f"{description.name} ({description.origin})"
    yield "written from", description.written_from or "-"
    yield "operations", ", ".join(description.operations)
    if description.gated != description.operations:
        yield "", f"with MultiplePodTemplatesScheduling {gate_text(description)}"
    yield "healthy", ", ".join(description.healthy)
    yield "scripts", ", ".join(description.scripted) or "-"
    if description.references:
        yield "looks up", ", ".join(description.references)
    yield "retains", "; ".join(description.retain) or "-"
    if description.queued_by:
        yield "queued by", ", ".join(description.queued_by)
    yield "brings along", ", ".join(description.dependencies) or "-"
    yield "suspend", "; ".join(description.suspend) or "-"
    yield "resume", "; ".join(description.resume) or "-"
    yield "gang", " / ".join(description.gang) or "-"
    yield "creates", kinds_text(description.children) or "-"


def _components(parts: Sequence[Part]) -> list[tuple[list[str], str]]:
    return [([part.name, name], value) for part in parts for name, value in part_facts(part)]


def _section(header: Sequence[str], rows: Iterable[tuple[list[str], str]]) -> str:
    """A table whose last column is wrapped, and whose first has a repeated value only once."""
    lines: list[list[str]] = []
    named = ""
    for (name, *cells), value in rows:
        lines += _wrapped(["" if name == named else name, *cells], value)
        named = name
    return table(lines, header=header) if lines else ""


def _wrapped(cells: list[str], value: str) -> Iterator[list[str]]:
    lines = textwrap.wrap(
        value, _WIDTH, max_lines=_MOST_LINES, placeholder=" …", break_long_words=False, break_on_hyphens=False
    )
    for number, line in enumerate(lines):
        yield [*(cells if number == 0 else [""] * len(cells)), line]


def _head(description: Description) -> Object:
    return {
        **_gvk_json(description.gvk),
        "definition": description.name,
        "origin": description.origin,
        "writtenFrom": description.written_from,
        "operations": list(map(str, description.operations)),
    }


def _gvk_json(gvk: GVK) -> Object:
    return {"apiVersion": gvk.api_version, "kind": gvk.kind}


def _part_json(part: Part) -> Object:
    fields = {
        "kind": part.kind,
        "ownerRef": part.owner,
        "instances": part.instances,
        "pods": dict(part.pods),
        "addedContainers": part.added,
        "replicas": part.replicas,
        "minReplicas": part.minimum,
        "maxReplicas": part.maximum,
        "elastic": part.elastic,
    }
    return {"name": part.name, **{name: value for name, value in fields.items() if value}}
