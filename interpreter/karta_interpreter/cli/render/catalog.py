"""The kinds that are interpreted: a list of them, and each in all detail."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click

from karta_interpreter.cli.portrait import Part, Portrait
from karta_interpreter.cli.render.table import table
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object

_WIDTH = 78
"""The last column of a terminal with a hundred."""

_MOST_LINES = 5


def list_text(portraits: Sequence[Portrait]) -> str:
    """A line for each kind."""
    header = ["APIVERSION", "KIND", "ORIGIN", "WRITTEN FROM", "OPERATIONS", "SUSPEND", "GANG", "COMPONENTS"]
    return table([_row(portrait) for portrait in portraits], header=header)


def list_json(portraits: Sequence[Portrait]) -> JSON:
    """The same for machines."""
    return [
        {
            **_head(portrait),
            "components": [part.name for part in portrait.workers],
            "suspend": bool(portrait.suspend),
            "gang": bool(portrait.gang),
        }
        for portrait in portraits
    ]


def show_text(portrait: Portrait) -> str:
    """Everything about one kind: what is done with it, its components, its statuses."""
    sections = [
        f"{click.style(portrait.gvk.kind, bold=True)} {portrait.gvk.api_version}\n",
        table([row for name, value in _facts(portrait) for row in _wrapped(["", name], value)]),
        _section(["COMPONENT", "FIELD", "VALUE"], _components(portrait.parts)),
        _section(["STATUS", "WHEN"], [([str(status)], way) for status, way in portrait.statuses]),
    ]
    return "\n".join(section for section in sections if section)


def show_json(portrait: Portrait) -> JSON:
    """The same for machines, expressions in full."""
    return {
        **_head(portrait),
        "operationsWithMultiplePodTemplatesScheduling": list(map(str, portrait.gated)),
        "scripts": list(portrait.scripted),
        "components": [_part_json(part) for part in portrait.parts],
        "statuses": [{"status": str(status), "when": way} for status, way in portrait.statuses],
        "references": list(portrait.references),
        "retain": list(portrait.retain),
        "queueLabels": list(portrait.queued_by),
        "dependencies": list(portrait.dependencies),
        "suspend": list(portrait.suspend),
        "resume": list(portrait.resume),
        "gangScheduling": list(portrait.gang),
        "additionalChildKinds": [_gvk_json(gvk) for gvk in portrait.children],
        "annotations": dict(portrait.annotations),
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


def gate_text(portrait: Portrait) -> str:
    """What Karmada's feature gate MultiplePodTemplatesScheduling changes about the registered operations."""
    more = [each for each in portrait.gated if each not in portrait.operations]
    less = [each for each in portrait.operations if each not in portrait.gated]
    return f"{' and '.join(more)} instead of {' and '.join(less)}" if more else f"no {' and no '.join(less)}"


def _row(portrait: Portrait) -> list[str]:
    return [
        portrait.gvk.api_version,
        portrait.gvk.kind,
        portrait.origin,
        portrait.written_from or "-",
        str(len(portrait.operations)),
        "yes" if portrait.suspend else "no",
        "yes" if portrait.gang else "no",
        ", ".join(part.name for part in portrait.workers) or "-",
    ]


def _facts(portrait: Portrait) -> Iterator[tuple[str, str]]:
    yield "definition", f"{portrait.name} ({portrait.origin})"
    yield "written from", portrait.written_from or "-"
    yield "operations", ", ".join(portrait.operations)
    if portrait.gated != portrait.operations:
        yield "", f"with MultiplePodTemplatesScheduling {gate_text(portrait)}"
    yield "healthy", ", ".join(portrait.healthy)
    yield "scripts", ", ".join(portrait.scripted) or "-"
    if portrait.references:
        yield "looks up", ", ".join(portrait.references)
    yield "retains", "; ".join(portrait.retain) or "-"
    if portrait.queued_by:
        yield "queued by", ", ".join(portrait.queued_by)
    yield "brings along", ", ".join(portrait.dependencies) or "-"
    yield "suspend", "; ".join(portrait.suspend) or "-"
    yield "resume", "; ".join(portrait.resume) or "-"
    yield "gang", " / ".join(portrait.gang) or "-"
    yield "creates", kinds_text(portrait.children) or "-"


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


def _head(portrait: Portrait) -> Object:
    return {
        **_gvk_json(portrait.gvk),
        "definition": portrait.name,
        "origin": portrait.origin,
        "writtenFrom": portrait.written_from,
        "operations": list(map(str, portrait.operations)),
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
