"""``karta-interpreter create``: drafts of definitions."""

import textwrap

import click
import yaml

from karta_interpreter.cli.crds import contradictions
from karta_interpreter.cli.create_suite import suite_command
from karta_interpreter.cli.files import read_crds
from karta_interpreter.cli.options import LATER
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import PlainDumper, findings_text
from karta_interpreter.findings import count, escaped
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.loading import load_documents
from karta_interpreter.karta.scaffold import CustomKind, Draft, draft
from karta_interpreter.suggestion import did_you_mean


@click.group("create")
def command() -> None:
    """Draft definitions and suites."""


command.add_command(suite_command)


@command.command("karta")
@click.option(
    "--crd", type=LATER, required=True, metavar="PATH", help='File, folder, URL or "-" with the CRD of the kind.'
)
@click.option("--kind", metavar="KIND", help="The kind to draft for, among CRDs of several.")
@click.option("--version", metavar="VERSION", help="Its version; default: the stored one.")
def karta_command(crd: str, kind: str | None, version: str | None) -> None:
    """Draft a Karta from a CRD's OpenAPI schema.

    A schema shows fields that look like pods, counts, conditions and a switch to suspend, but not their meaning:
    comments in the draft name what to CHECK, and stderr has the findings of `validate`.
    """
    chosen = _crd(read_crds([crd]), kind)
    custom = CustomKind.of(chosen, version)
    drafted = draft(custom)
    text = draft_text(drafted, escaped(f"Drafted from the CustomResourceDefinition {custom.crd}."))
    click.echo(text, nl=False)
    findings = [finding for loaded in load_documents(text, "draft") for finding in loaded.findings]
    findings += contradictions(text, "draft", [chosen])
    click.echo(findings_text(findings), err=True, nl=False)
    click.echo(escaped(f"{custom.gvk}: {count(drafted.checks, 'place')} to CHECK"), err=True)


def _crd(crds: list[Object], kind: str | None) -> Object:
    kinds = {str(edit.get(crd, ("spec", "names", "kind"))): crd for crd in crds}
    if kind is None and len(crds) == 1:
        return crds[0]
    if kind is None:
        raise UsageProblem(f"error: choose one with --kind: {', '.join(sorted(kinds))}")
    found = {name.lower(): crd for name, crd in kinds.items()}.get(kind.lower())
    if found is None:
        raise UsageProblem(f"error: there is no CRD for the kind {kind}; {did_you_mean(kind, kinds)}")
    return found


_WIDTH = 118


def draft_text(draft: Draft, title: str) -> str:
    """The Karta in the order in which people write one, with each note in the lines above its field."""
    text = yaml.dump(draft.karta, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    (document,) = read_documents(text, title)
    lines = text.splitlines()
    above: dict[int, list[str]] = {0: [title]}
    for path, note in draft.notes:
        above.setdefault(document.position(path)[0] - 1, []).append(note)
    written: list[str] = []
    for index, line in enumerate(lines):
        prefix = " " * (len(line) - len(line.lstrip())) + "# "
        wrapper = textwrap.TextWrapper(_WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False)
        written += [*(part for note in above.get(index, ()) for part in wrapper.wrap(note)), line]
    return "".join(f"{line}\n" for line in written)


class _Dumper(PlainDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - as in PyYAML
        """Indent lists below their field, as in the definitions of the catalogue."""
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Write a text of several lines as a block."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
