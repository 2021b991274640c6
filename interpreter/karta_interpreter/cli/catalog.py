"""``karta-interpreter catalog``: which kinds are interpreted, and how."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import click

from karta_interpreter.cli.definitions import chosen
from karta_interpreter.cli.describe import show_text
from karta_interpreter.cli.layers import Sources, load_sources, sources
from karta_interpreter.cli.options import complete_kinds, output
from karta_interpreter.cli.render import table, to_json, written
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.registration.description import describe, workers
from karta_interpreter.sources.files import load_catalogue
from karta_interpreter.sources.snapshot import Entry


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
    descriptions = [describe(entry) for entry in _entries(given)]
    _print(output, _list_text(descriptions), [_list_json(description) for description in descriptions])


@command.command("show")
@click.argument("kinds", nargs=-1, required=True, metavar="KIND...", shell_complete=complete_kinds)
@sources
@output("table", "yaml", "json")
def show_command(kinds: tuple[str, ...], output: str, **given: Unpack[Sources]) -> None:
    """Show all that a definition has about a kind.

    KIND is a kind in any case, apiVersion/Kind, or the name of a definition.
    """
    descriptions = [describe(entry) for entry in chosen(_entries(given), kinds)]
    _print(output, "\n".join(map(show_text, descriptions)), descriptions)


@command.command("export")
@click.argument("kinds", nargs=-1, metavar="[KIND...]", shell_complete=complete_kinds)
@output("yaml", "json")
def export_command(kinds: tuple[str, ...], output: str) -> None:
    """Print the Kartas of the catalogue, to apply them to a cluster or to begin one of your own.

    YAML is printed as it was written, with its comments. Without KIND all are printed.
    """
    known = load_catalogue().entries
    wanted = [entry.definition for entry in (chosen(known, kinds) if kinds else known)]
    if output == "json":
        items = [definition.manifest for definition in wanted]
        click.echo(to_json({"apiVersion": "v1", "kind": "List", "items": items}), nl=False)
    else:
        texts = [Path(definition.source).read_text(encoding="utf-8") for definition in wanted]
        click.echo("---\n".join(texts), nl=False)


def _entries(given: Sources) -> list[Entry]:
    entries = load_sources(given).entries
    return [entries[gvk] for gvk in sorted(entries)]


def _print(output: str, text: str, document: JSON) -> None:
    click.echo(text if output == "table" else written(document, output), nl=False)


def _list_text(descriptions: Sequence[Object]) -> str:
    rows = [
        [
            description["apiVersion"],
            description["kind"],
            description["origin"],
            description["writtenFrom"] or "-",
            str(len(description["operations"])),
            "yes" if description["suspend"] else "no",
            "yes" if description["gangScheduling"] else "no",
            ", ".join(workers(description)) or "-",
        ]
        for description in descriptions
    ]
    header = ["APIVERSION", "KIND", "ORIGIN", "WRITTEN FROM", "OPERATIONS", "SUSPEND", "GANG", "COMPONENTS"]
    return table(rows, header=header)


def _list_json(description: Object) -> Object:
    fields = ("apiVersion", "kind", "definition", "origin", "writtenFrom", "operations")
    return {
        **{field: description[field] for field in fields},
        "components": workers(description),
        "suspend": bool(description["suspend"]),
        "gang": bool(description["gangScheduling"]),
    }
