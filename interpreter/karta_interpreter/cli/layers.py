"""The options for the sources of definitions, and the snapshot that these make."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import click

from karta_interpreter.cli.definitions import Given, read_given, scripts_of
from karta_interpreter.cli.files import check_stdin
from karta_interpreter.cli.options import PATH, Command, definitions
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import findings_text
from karta_interpreter.sources.snapshot import EVERYTHING, Selection, Snapshot, combine
from karta_interpreter.sources.store import Store

_KARTAS = "Folder or file of definitions, highest precedence first; may be repeated."
_OVERRIDES = "Folder or file of ResourceInterpreterCustomizations that answer before the Kartas; may be repeated."
_CATALOGUE = "Whether to use the definitions of this package, too."


class Sources(TypedDict):
    """The values of the options that `sources` adds."""

    filenames: tuple[str, ...]
    kartas: tuple[Path, ...]
    overrides: tuple[Path, ...]
    catalogue: bool


def sources(function: Command) -> Command:
    """Add the options for the sources of definitions: ``-f``, and those that `serve` has."""
    function = click.option("--catalogue/--no-catalogue", default=True, help=_CATALOGUE)(function)
    function = click.option("--overrides", type=PATH, multiple=True, help=_OVERRIDES)(function)
    return definitions(click.option("--kartas", type=PATH, multiple=True, help=_KARTAS)(function))


def load_sources(given: Sources, selection: Selection = EVERYTHING) -> Snapshot:
    """Load the snapshot of the sources; the findings about them are printed on stderr."""
    if given["filenames"]:
        if given["kartas"] or given["overrides"]:
            raise UsageProblem("error: give -f, or --kartas and --overrides, not both")
        check_stdin(given["filenames"])
        snapshot = _snapshot([read_given(path) for path in given["filenames"]], selection)
    else:
        store = Store(given["kartas"], overrides=given["overrides"], catalogue=given["catalogue"], selection=selection)
        snapshot = store.load()
    broken = [finding for each in snapshot.quarantined for finding in each.findings]
    click.echo(findings_text([*snapshot.findings, *broken]), err=True, nl=False)
    return snapshot


def _snapshot(given: Sequence[Given], selection: Selection) -> Snapshot:
    scripts = scripts_of([found for each in given for found in each.customizations])
    snapshot = combine((selection.layer(each.layer) for each in given), selection.overrides(scripts))
    known = {entry.definition.gvk for each in given for entry in each.layer.entries} | scripts.scripts.keys()
    return replace(snapshot, findings=(*snapshot.findings, *selection.findings(known)))
