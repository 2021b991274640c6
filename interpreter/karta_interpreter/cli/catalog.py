"""``karta-interpreter catalog``: which kinds are interpreted, and how."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import click

from karta_interpreter.cli.definitions import chosen
from karta_interpreter.cli.describe import Description, show_text
from karta_interpreter.cli.options import Sources, load_sources, output, sources
from karta_interpreter.cli.render import table, to_json, written
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.sources.files import load_catalogue


@click.group("catalog")
def command() -> None:
    """Show which kinds are interpreted, and how."""


@command.command("list")
@sources
@output("table", "yaml", "json")
def list_command(output: str, **given: Unpack[Sources]) -> None:
    """List the kinds, a line each.

    OPERATIONS counts those that are registered with Karmada: the ones that add something to what it does by itself.
    """
    descriptions = _descriptions(given)
    _print(output, _list_text(descriptions), [_list_json(description) for description in descriptions])


@command.command("show")
@click.argument("kinds", nargs=-1, required=True, metavar="KIND...")
@sources
@output("table", "yaml", "json")
def show_command(kinds: tuple[str, ...], output: str, **given: Unpack[Sources]) -> None:
    """Show all that a definition has about a kind.

    KIND is a kind in any case, apiVersion/Kind, or the name of a definition.
    """
    descriptions = chosen([(each, each.gvk, each.name) for each in _descriptions(given)], kinds)
    _print(output, "\n".join(map(show_text, descriptions)), [_show_json(description) for description in descriptions])


@command.command("export")
@click.argument("kinds", nargs=-1, metavar="[KIND...]")
@output("yaml", "json")
def export_command(kinds: tuple[str, ...], output: str) -> None:
    """Print the Kartas of the catalogue, to apply them to a cluster or to begin one of your own.

    YAML is printed as it was written, with its comments. Without KIND all are printed.
    """
    known = [entry.definition for entry in load_catalogue().entries]
    wanted = chosen([(each, each.gvk, each.name) for each in known], kinds) if kinds else known
    if output == "json":
        items = [definition.manifest for definition in wanted]
        click.echo(to_json({"apiVersion": "v1", "kind": "List", "items": items}), nl=False)
    else:
        texts = [Path(definition.source).read_text(encoding="utf-8") for definition in wanted]
        click.echo("---\n".join(texts), nl=False)


def _descriptions(given: Sources) -> list[Description]:
    snapshot = load_sources(given)
    return [Description.of(snapshot.entries[gvk]) for gvk in snapshot.kinds()]


def _print(output: str, text: str, document: JSON) -> None:
    click.echo(text if output == "table" else written(document, output), nl=False)


def _list_text(descriptions: Sequence[Description]) -> str:
    rows = [
        [
            description.gvk.api_version,
            description.gvk.kind,
            description.origin,
            description.written_from or "-",
            str(len(description.operations)),
            "yes" if description.suspend else "no",
            "yes" if description.gang else "no",
            ", ".join(part.name for part in description.workers) or "-",
        ]
        for description in descriptions
    ]
    header = ["APIVERSION", "KIND", "ORIGIN", "WRITTEN FROM", "OPERATIONS", "SUSPEND", "GANG", "COMPONENTS"]
    return table(rows, header=header)


def _list_json(description: Description) -> Object:
    return {
        **_head(description),
        "components": [part.name for part in description.workers],
        "suspend": bool(description.suspend),
        "gang": bool(description.gang),
    }


def _show_json(description: Description) -> Object:
    return {
        **_head(description),
        "operationsWithMultiplePodTemplatesScheduling": list(map(str, description.gated)),
        "scripts": list(description.scripted),
        "components": [part.to_json() for part in description.parts],
        "statuses": [{"status": str(status), "when": way} for status, way in description.statuses],
        "references": list(description.references),
        "retain": list(description.retain),
        "queueLabels": list(description.queued_by),
        "dependencies": list(description.dependencies),
        "suspend": list(description.suspend),
        "resume": list(description.resume),
        "gangScheduling": list(description.gang),
        "additionalChildKinds": [_kind(gvk) for gvk in description.children],
        "annotations": dict(description.annotations),
    }


def _head(description: Description) -> Object:
    return {
        **_kind(description.gvk),
        "definition": description.name,
        "origin": description.origin,
        "writtenFrom": description.written_from,
        "operations": list(map(str, description.operations)),
    }


def _kind(gvk: GVK) -> Object:
    return {"apiVersion": gvk.api_version, "kind": gvk.kind}
