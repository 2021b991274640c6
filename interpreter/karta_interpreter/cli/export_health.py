"""``karta-interpreter export flux-health``: the health of definitions for GitOps tools."""

from collections.abc import Sequence

import click

from karta_interpreter.cli.definitions import definitions_named
from karta_interpreter.cli.options import output
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import table, written
from karta_interpreter.errors import ExportError
from karta_interpreter.export.flux_health import flux_health
from karta_interpreter.findings import count, escaped
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition

_TWICE = "Flux reads one check for a group and kind, and {versions} were chosen; name one of them"


@click.command("flux-health")
@click.argument("kinds", nargs=-1, metavar="[KIND...]")
@click.option(
    "-f", "--filename", "paths", multiple=True, metavar="PATH", help="Definitions: file, folder or -; may be repeated."
)
@click.option("--check", is_flag=True, help="List which definitions can be exported, or why not.")
@output("yaml", "json")
def flux_health_command(kinds: tuple[str, ...], paths: tuple[str, ...], output: str, *, check: bool) -> None:
    """Print health checks for Flux, which go into the spec of a Kustomization.

    They are CEL expressions of the statuses in a definition. KIND is a kind, apiVersion/Kind or the name of a
    definition in the given files, or in the catalogue. Without KIND all are printed. A definition that CEL cannot
    express is named on stderr with the reason; the exit code is 1 when it was asked for.
    """
    definitions = definitions_named(kinds, paths)
    exported, rejected = _exported(definitions)
    if check:
        rows = [[each.gvk.api_version, each.gvk.kind, rejected.get(each.gvk, "exported")] for each in definitions]
        click.echo(table(rows, header=["APIVERSION", "KIND", "FLUX-HEALTH"]), nl=False)
    elif exported:
        click.echo(written({"spec": {"healthCheckExprs": exported}}, output), nl=False)
    for gvk, reason in () if check else rejected.items():
        click.echo(escaped(f"{gvk}: {reason}"), err=True)
    click.echo(f"{count(len(exported), 'health check')}, {len(rejected)} of {len(definitions)} rejected", err=True)
    if rejected and (kinds or paths):
        raise SystemExit(Problem.exit_code)


def _exported(definitions: Sequence[Definition]) -> tuple[list[Object], dict[GVK, str]]:
    """Return the checks of definitions, and the reason of each that has none."""
    exported, rejected = [], {}
    for definition in definitions:
        same = [each.gvk.version for each in definitions if each.gvk[::2] == definition.gvk[::2]]
        if len(same) > 1:
            rejected[definition.gvk] = _TWICE.format(versions=" and ".join(sorted(same)))
            continue
        try:
            exported.append(flux_health(definition))
        except ExportError as error:
            rejected[definition.gvk] = str(error)
    return exported, rejected
