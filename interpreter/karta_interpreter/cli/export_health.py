"""``karta-interpreter export argocd-health`` and ``flux-health``: the health of definitions for GitOps tools."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import click

from karta_interpreter.cli.definitions import definitions_named
from karta_interpreter.cli.options import complete_kinds, inputs, output
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import table, written
from karta_interpreter.errors import ExportError
from karta_interpreter.export.argocd_health import argocd_health
from karta_interpreter.export.flux_health import flux_health
from karta_interpreter.findings import count, escaped
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition

_TWICE = "{tool} reads one check for a group and kind, and {versions} were chosen; name one of them"
_CONFIG_MAP: Final[Object] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}}
_kinds = click.argument("kinds", nargs=-1, metavar="[KIND...]", shell_complete=complete_kinds)
_files = inputs("-f", "--filename", "paths", text="Definitions")
_check = click.option("--check", is_flag=True, help="List which definitions can be exported, or why not.")

Check = TypeVar("Check")


@click.command("flux-health")
@_kinds
@_files
@_check
@output("yaml", "json")
def flux_health_command(kinds: tuple[str, ...], paths: tuple[str, ...], output: str, *, check: bool) -> None:
    """Print health checks for Flux, which go into the spec of a Kustomization.

    They are CEL expressions of the statuses in a definition. KIND is a kind, apiVersion/Kind or the name of a
    definition in the given files, or in the catalogue. Without KIND all are printed. A definition that CEL cannot
    express is named on stderr with the reason; the exit code is 1 when it was asked for.
    """
    definitions = definitions_named(kinds, paths)
    exported, rejected = _exported("Flux", definitions, flux_health)
    if exported and not check:
        click.echo(written({"spec": {"healthCheckExprs": exported}}, output), nl=False)
    _finish(definitions, rejected, "FLUX-HEALTH", check=check, chosen=bool(kinds or paths))


@click.command("argocd-health")
@_kinds
@_files
@_check
@output("yaml", "json")
def argocd_health_command(kinds: tuple[str, ...], paths: tuple[str, ...], output: str, *, check: bool) -> None:
    """Print health checks for Argo CD: a patch of its ConfigMap argocd-cm.

    They are Lua scripts of the statuses in a definition. KIND is a kind, apiVersion/Kind or the name of a definition
    in the given files, or in the catalogue. Without KIND all are printed. A definition that a script cannot express is
    named on stderr with the reason; the exit code is 1 when it was asked for.
    """
    definitions = definitions_named(kinds, paths)
    exported, rejected = _exported("Argo CD", definitions, argocd_health)
    if exported and not check:
        data = {key: value for each in exported for key, value in each.data.items()}
        click.echo(written({**_CONFIG_MAP, "data": data}, output), nl=False)
    _finish(definitions, rejected, "ARGOCD-HEALTH", check=check, chosen=bool(kinds or paths))


def _exported(
    tool: str, definitions: Sequence[Definition], export: Callable[[Definition], Check]
) -> tuple[list[Check], dict[GVK, str]]:
    """Return the checks of definitions for a tool, and the reason of each that has none."""
    exported, rejected = [], {}
    for definition in definitions:
        same = [each.gvk.version for each in definitions if each.gvk[::2] == definition.gvk[::2]]
        if len(same) > 1:
            rejected[definition.gvk] = _TWICE.format(tool=tool, versions=" and ".join(sorted(same)))
            continue
        try:
            exported.append(export(definition))
        except ExportError as error:
            rejected[definition.gvk] = str(error)
    return exported, rejected


def _finish(
    definitions: Sequence[Definition], rejected: Mapping[GVK, str], title: str, *, check: bool, chosen: bool
) -> None:
    """Print what was rejected, or with ``check`` the table of all, and the counts; exit with 1 where it was chosen."""
    if check:
        rows = [[each.gvk.api_version, each.gvk.kind, rejected.get(each.gvk, "exported")] for each in definitions]
        click.echo(table(rows, header=["APIVERSION", "KIND", title]), nl=False)
    else:
        for gvk, reason in rejected.items():
            click.echo(escaped(f"{gvk}: {reason}"), err=True)
    exported = count(len(definitions) - len(rejected), "health check")
    click.echo(f"{exported}, {len(rejected)} of {len(definitions)} rejected", err=True)
    if rejected and chosen:
        raise SystemExit(Problem.exit_code)
