"""``karta-interpreter create``: a beginning for what is written by hand."""

import textwrap
from collections.abc import Iterable

import click
import yaml

from karta_interpreter.cli.files import read_crds
from karta_interpreter.cli.options import INPUT
from karta_interpreter.cli.problem import UsageProblem
from karta_interpreter.cli.render.findings import findings_text
from karta_interpreter.findings import count, escaped
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.loading import load_documents
from karta_interpreter.karta.scaffold import CustomKind, Draft, draft
from karta_interpreter.suggestion import did_you_mean


@click.group("create")
def command() -> None:
    """Draft a definition from a CRD."""


@command.command("karta")
@click.option("--crd", type=INPUT, required=True, metavar="PATH", help='File, folder or "-" with the CRD of the kind.')
@click.option("--kind", metavar="KIND", help="The kind to draft for, where there are CRDs of several.")
@click.option("--version", metavar="VERSION", help="Its version; without it the one that is stored.")
def karta_command(crd: str, kind: str | None, version: str | None) -> None:
    """Draft a Karta from a CRD's OpenAPI schema.

    A schema shows what looks like pods, counts, conditions and a switch to suspend, but not what they mean: comments
    in the draft name what to CHECK, and below it on stderr is what `validate` finds missing.
    """
    custom = CustomKind.of(_crd(read_crds([crd]), kind), version)
    drafted = draft(custom)
    text = draft_text(drafted, escaped(f"Drafted from the CustomResourceDefinition {custom.crd}."))
    click.echo(text, nl=False)
    findings = [finding for loaded in load_documents(text, "draft") for finding in loaded.findings]
    click.echo(findings_text(findings), err=True, nl=False)
    click.echo(escaped(f"{custom.gvk}: {count(drafted.checks, 'place')} to CHECK"), err=True)


def _crd(crds: list[Object], kind: str | None) -> Object:
    kinds = {str(edit.get(crd, ("spec", "names", "kind"))): crd for crd in crds}
    if kind is None and len(crds) == 1:
        return crds[0]
    if kind is None:
        raise UsageProblem(f"error: say by --kind which one is meant: {', '.join(sorted(kinds))}")
    found = {name.lower(): crd for name, crd in kinds.items()}.get(kind.lower())
    if found is None:
        raise UsageProblem(f"error: there is no CRD for the kind {kind}; {did_you_mean(kind, kinds)}")
    return found


_WIDTH = 118


def draft_text(draft: Draft, title: str) -> str:
    """The Karta in the order of a person who writes one, each note in the lines above what it is about."""
    text = yaml.dump(draft.karta, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    (document,) = read_documents(text, title)
    lines = text.splitlines()
    above: dict[int, list[str]] = {0: [title]}
    for path, note in draft.notes:
        above.setdefault(document.position(path)[0] - 1, []).append(note)
    return "".join(
        f"{each}\n" for index, line in enumerate(lines) for each in [*_comments(above.get(index, ()), line), line]
    )


def _comments(notes: Iterable[str], line: str) -> list[str]:
    """The notes about a line as comments, indented as the line is."""
    prefix = " " * (len(line) - len(line.lstrip())) + "# "
    wrapper = textwrap.TextWrapper(_WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False)
    return [part for note in notes for part in wrapper.wrap(note)]


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists are indented below what they belong to, as in the definitions of the catalogue."""
        del indentless
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: object) -> bool:
        """Shared parts are written out."""
        del data
        return True
