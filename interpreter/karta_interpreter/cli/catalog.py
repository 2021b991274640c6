"""``karta-interpreter catalog``: which kinds are interpreted, and how."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

import click

from karta_interpreter.cli.describe import Description
from karta_interpreter.cli.errors import UsageProblem
from karta_interpreter.cli.render.catalog import list_json, list_text, show_json, show_text
from karta_interpreter.cli.render.document import to_json, to_yaml
from karta_interpreter.cli.render.findings import findings_text
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON
from karta_interpreter.sources.catalogue import load_catalogue
from karta_interpreter.sources.store import Store
from karta_interpreter.suggestion import did_you_mean

_PATH = click.Path(exists=True, path_type=Path)
_KARTAS = "Folder or file of definitions, strongest first; may be repeated."
_OVERRIDES = "Folder or file of ResourceInterpreterCustomizations that answer before the Kartas; may be repeated."

Thing = TypeVar("Thing")


class _Sources(TypedDict):
    kartas: tuple[Path, ...]
    overrides: tuple[Path, ...]
    catalogue: bool


@click.group("catalog")
def command() -> None:
    """Show which kinds are interpreted, and how."""


def _sources(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for the sources of definitions, as `serve` has them."""
    for option in (
        click.option("--kartas", type=_PATH, multiple=True, help=_KARTAS),
        click.option("--overrides", type=_PATH, multiple=True, help=_OVERRIDES),
        click.option(
            "--catalogue/--no-catalogue", default=True, help="Whether to take the definitions of this package, too."
        ),
    ):
        function = option(function)
    return function


def _output(function: Callable[..., None]) -> Callable[..., None]:
    choices = click.Choice(["table", "yaml", "json"])
    return click.option("-o", "--output", type=choices, default="table", help="How to print.")(function)


@command.command("list")
@_sources
@_output
def list_command(output: str, **sources: Unpack[_Sources]) -> None:
    """List the kinds, a line each.

    OPERATIONS counts those that are registered with Karmada: the ones that add something to what it does by itself.
    """
    descriptions = _portraits(**sources)
    _print(output, list_text(descriptions), list_json(descriptions))


@command.command("show")
@click.argument("kinds", nargs=-1, required=True, metavar="KIND...")
@_sources
@_output
def show_command(kinds: tuple[str, ...], output: str, **sources: Unpack[_Sources]) -> None:
    """Show all that a definition has about a kind.

    KIND is a kind in any case, apiVersion/Kind, or the name of a definition.
    """
    descriptions = _chosen([(each, each.gvk, each.name) for each in _portraits(**sources)], kinds)
    _print(output, "\n".join(map(show_text, descriptions)), [show_json(description) for description in descriptions])


@command.command("export")
@click.argument("kinds", nargs=-1, metavar="[KIND...]")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="How to print.")
def export_command(kinds: tuple[str, ...], output: str) -> None:
    """Print the Kartas of the catalogue, to apply them to a cluster or to begin one of your own.

    YAML is printed as it was written, with its comments. Without KIND all are printed.
    """
    known = [entry.definition for entry in load_catalogue().entries]
    chosen = _chosen([(each, each.gvk, each.name) for each in known], kinds) if kinds else known
    if output == "json":
        items = [definition.manifest for definition in chosen]
        click.echo(to_json({"apiVersion": "v1", "kind": "List", "items": items}), nl=False)
    else:
        texts = [Path(definition.source).read_text(encoding="utf-8") for definition in chosen]
        click.echo("---\n".join(texts), nl=False)


def _portraits(*, kartas: tuple[Path, ...], overrides: tuple[Path, ...], catalogue: bool) -> list[Description]:
    snapshot = Store(kartas, overrides=overrides, catalogue=catalogue).load()
    broken = [finding for each in snapshot.quarantined for finding in each.findings]
    click.echo(findings_text([*snapshot.findings, *broken]), err=True, nl=False)
    return [Description.of(snapshot.entries[gvk]) for gvk in snapshot.kinds()]


def _chosen(things: Sequence[tuple[Thing, GVK, str]], kinds: Sequence[str]) -> list[Thing]:
    """The things whose kind, ``apiVersion/Kind`` or definition is named, in their own order."""
    wanted = {kind.lower() for kind in kinds}
    names = {index: _names(gvk, name) for index, (_, gvk, name) in enumerate(things)}
    for kind in kinds:
        if not any(kind.lower() in each for each in names.values()):
            known = sorted({gvk.kind for _, gvk, _ in things})
            raise UsageProblem(f"error: there is no definition for {kind}; {did_you_mean(kind, known)}")
    return [thing for index, (thing, _, _) in enumerate(things) if names[index] & wanted]


def _names(gvk: GVK, name: str) -> set[str]:
    return {gvk.kind.lower(), f"{gvk.api_version}/{gvk.kind}".lower(), name.lower()}


def _print(output: str, text: str, document: JSON) -> None:
    written = {"table": lambda: text, "yaml": lambda: to_yaml(document), "json": lambda: to_json(document)}
    click.echo(written[output](), nl=False)
