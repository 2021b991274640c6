"""``karta-interpreter catalogue``: which kinds are interpreted, and how."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Unpack

import click

from karta_interpreter.base.k8s import JSON, Object
from karta_interpreter.cli.options import Sources, complete_kinds, output, sources
from karta_interpreter.cli.program import CommandGroup, Problem
from karta_interpreter.cli.render import Data, say, table, to_json, written

if TYPE_CHECKING:
    from karta_interpreter.definitions.sources.snapshot import Quarantined, ServedDefinition


@click.group("catalogue", cls=CommandGroup)
def command() -> None:
    """Show which kinds are interpreted, and how."""


@command.command("list")
@click.argument("kinds", nargs=-1, metavar="[KIND...]", shell_complete=complete_kinds)
@sources
@output("table", "yaml", "json")
def list_command(kinds: tuple[str, ...], output: str, **source_options: Unpack[Sources]) -> None:
    """List the kinds, a line each. KIND is as in `catalogue show`.

    OPERATIONS counts the operations that are registered with Karmada: those that add something to its own answers.
    """
    problems: Sequence[Quarantined] = ()
    if _is_own(source_options) and not kinds:
        summaries: list[Object] = json.loads(SUMMARIES.read_text(encoding="utf-8"))
    else:
        from karta_interpreter.engine.registered.description import summarize  # noqa: PLC0415 - the list is written

        entries, problems = _entries(kinds, source_options)
        summaries = list(map(summarize, entries))
    rows = [
        [
            summary["apiVersion"],
            summary["kind"],
            summary["origin"],
            shorten(summary["writtenFrom"] or "-", _CELL, placeholder=" …"),
            str(len(summary["operations"])),
            "yes" if summary["suspend"] else "no",
            "yes" if summary["gang"] else "no",
            shorten(", ".join(summary["components"]) or "-", _CELL, placeholder=" …"),
        ]
        for summary in summaries
    ]
    header = ["APIVERSION", "KIND", "ORIGIN", "WRITTEN FROM", "OPERATIONS", "SUSPEND", "GANG", "COMPONENTS"]
    _print(output, table(rows, header=header), summaries, problems)


@command.command("show")
@click.argument("kinds", nargs=-1, required=True, metavar="KIND...", shell_complete=complete_kinds)
@sources
@output("table", "yaml", "json")
def show_command(kinds: tuple[str, ...], output: str, **source_options: Unpack[Sources]) -> None:
    """Show everything that a definition says about a kind.

    KIND is a kind in any case, apiVersion/Kind, or the name of a definition.
    """
    from karta_interpreter.engine.registered.description import describe  # noqa: PLC0415 - `list` needs no definition

    entries, problems = _entries(kinds, source_options)
    descriptions = [describe(entry) for entry in entries]
    _print(output, "\n".join(map(show_text, descriptions)), descriptions, problems)


@command.command("export")
@click.argument("kinds", nargs=-1, metavar="[KIND...]", shell_complete=complete_kinds)
@output("yaml", "json")
def export_command(kinds: tuple[str, ...], output: str) -> None:
    """Print the Kartas of the catalogue, to apply them to a cluster or as a starting point.

    YAML is printed as it was written, with its comments. Without KIND all are printed.
    """
    from karta_interpreter.cli.definitions import definitions_named  # noqa: PLC0415 - as above

    # Once for all versions that it describes.
    definitions = {definition.source: definition for definition in definitions_named(kinds, ())}.values()
    if output == "json":
        items = [definition.manifest for definition in definitions]
        say(to_json({"apiVersion": "v1", "kind": "List", "items": items}), nl=False)
    else:
        texts = [Path(definition.source).read_text(encoding="utf-8") for definition in definitions]
        say(Data("---\n".join(texts)), nl=False)


SUMMARIES = Path(__file__).with_name("catalogue.json")
"""The list of the catalogue, which `make generate` writes: to read all definitions takes seconds."""


def _is_own(sources: Sources) -> bool:
    return sources["catalogue"] and not (sources["filenames"] or sources["kartas"] or sources["overrides"])


def _entries(kinds: Sequence[str], sources: Sources) -> tuple[list["ServedDefinition"], tuple["Quarantined", ...]]:
    """Return the entries of the named kinds, and what cannot be used of the given files."""
    from karta_interpreter.cli.definitions import catalogue_entries, chosen, load_sources  # noqa: PLC0415 - as above

    if _is_own(sources):
        return chosen(catalogue_entries(kinds), kinds), ()
    snapshot = load_sources(sources)
    if sources["filenames"] and not snapshot.entries:
        raise Problem(f"error: {', '.join(sources['filenames'])}: there is no definition in it that can be used")
    return chosen([snapshot.entries[gvk] for gvk in snapshot.kinds()], kinds), snapshot.quarantined


def _print(output: str, text: str, document: JSON, problems: Sequence["Quarantined"]) -> None:
    say(text if output == "table" else written(document, output), nl=False)
    if problems:  # they are on stderr
        raise SystemExit(Problem.exit_code)


# The longest text in a cell of the list: `show` has the whole.
_CELL = 40
# The width of the last column, for terminals with 100 columns.
_WIDTH = 78
_MOST_LINES = 5


def component_facts(component: Object) -> Iterator[tuple[str, str]]:
    """Yield the facts about a component: label and value of each."""
    for field, label in _LABELS.items():
        value = component.get(field, "")
        if isinstance(value, dict):
            for name, expression in value.items():
                yield f"{label}: {name}" if len(value) > 1 else label, expression
        elif value:
            yield label, "yes" if value is True else value


_LABELS = {
    "kind": "kind",
    "ownerRef": "part of",
    "instances": "one for each",
    "pods": "pods",
    "addedContainers": "operator adds",
    "replicas": "replicas",
    "minReplicas": "at least",
    "maxReplicas": "at most",
    "elastic": "elastic",
}


def children_text(description: Object) -> str:
    """Return the kinds of objects that the workload creates, each with its group."""
    texts = list[str]()
    for child in description["additionalChildKinds"]:
        group = child["apiVersion"].rpartition("/")[0]
        texts.append(f"{child['kind']} ({group})" if group else child["kind"])
    return ", ".join(texts)


def show_text(description: Object) -> str:
    """Return all facts about one kind: its operations, its components, its statuses."""
    facts, components = list[list[str]](), list[tuple[list[str], str]]()
    for label, value in _facts(description):
        facts += _wrapped(["", label], value)
    for component in description["components"]:
        components += [([component["name"], label], value) for label, value in component_facts(component)]
    statuses = [([status["status"]], status["when"]) for status in description["statuses"]]
    sections = [
        f"{click.style(description['kind'], bold=True)} {description['apiVersion']}\n",
        table(facts),
        _section(["COMPONENT", "FIELD", "VALUE"], components),
        _section(["STATUS", "WHEN"], statuses),
    ]
    return "\n".join(filter(None, sections))


def _facts(description: Object) -> Iterator[tuple[str, str]]:
    from karta_interpreter.engine.registered.description import gate_text  # noqa: PLC0415 - as above

    yield "definition", f"{description['definition']} ({description['origin']})"
    yield "written from", description["writtenFrom"] or "-"
    yield "operations", ", ".join(description["operations"])
    if gate_text(description):
        yield "", f"with MultiplePodTemplatesScheduling {gate_text(description)}"
    if description["indivisible"]:
        yield "elastic", "none: ReviseReplica keeps the number of pods"
    for label, field, separator in _LISTS:
        value: JSON = description[field]
        if value or field not in ("references", "queueLabels"):
            yield label, separator.join(value) or "-"
    yield "creates", children_text(description) or "-"


_LISTS = (
    ("healthy", "healthy", ", "),
    ("scripts", "scripts", ", "),
    ("looks up", "references", ", "),
    ("retains", "retain", "; "),
    ("queued by", "queueLabels", ", "),
    ("dependencies", "dependencies", ", "),
    ("suspend", "suspend", "; "),
    ("resume", "resume", "; "),
    ("gang", "gangScheduling", " / "),
)


def _section(header: Sequence[str], rows: Iterable[tuple[list[str], str]]) -> str:
    """Return a table that wraps its last column, and shows a repeated value of its first column only once."""
    lines: list[list[str]] = []
    named = ""
    for (name, *cells), value in rows:
        lines += _wrapped(["" if name == named else name, *cells], value)
        named = name
    return table(lines, header=header) if lines else ""


def _wrapped(cells: list[str], value: str) -> Iterator[list[str]]:
    lines = wrap(value, _WIDTH, max_lines=_MOST_LINES, placeholder=" …", break_long_words=False, break_on_hyphens=False)
    for line in lines:
        yield [*cells, line]
        cells = [""] * len(cells)
