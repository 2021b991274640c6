"""``karta-interpreter validate``: all findings about definitions and customizations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from pathlib import Path

import click

from karta_interpreter.base.findings import Finding, Severity, count
from karta_interpreter.base.ignores import ignores_of
from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.cli.definitions import DefinitionFiles, read_existing, with_cluster
from karta_interpreter.cli.files import check_stdin, read_crds
from karta_interpreter.cli.options import LATER, inputs, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import Data, findings_text, in_order, say, written
from karta_interpreter.cli.reports import FORMATS
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.check.scripts import script_findings
from karta_interpreter.definitions.sources import UNREADABLE, DefinitionFile, Quarantined, combine, decode
from karta_interpreter.definitions.sources.api_server import CRDS
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.definitions.sources.snapshot import counted_apart
from karta_interpreter.languages.lua.customization import LoadedCustomization, merge

_EXAMPLES = """\b
Examples:
  karta-interpreter validate kartas/ --strict
  karta-interpreter validate karta.yaml --crd crd.yaml
  karta-interpreter validate karta.yaml --context member1
"""


@click.command("validate", epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, type=LATER, metavar="PATH...")
@inputs("-f", "--filename", "filenames", text="The same as PATH")
@inputs("--crd", text="CRDs of the kinds; every path, count, phase and id is compared with their schemas")
@click.option(
    "--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="Take the CRDs of this cluster, too."
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; alone: of the default kubeconfig.")
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@output("table", "yaml", "json", *FORMATS)
def command(
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    crd: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    *,
    strict: bool,
) -> None:
    """Check definitions and show all their errors and warnings.

    PATH is a file, a folder (all its files that end in .yaml, .yml or .json, without facts.yaml and those in testdata)
    or "-" for standard input; customizations are checked, too. The exit code is 1 when a definition or script cannot be
    used.

    A CRD (--crd) of several releases may be given several times: only what all of them contradict is a finding. If no
    CRD is that of a definition, that is an error. Fields that scripts name behind a parameter are compared, too. With
    --kubeconfig or --context the CRDs come from a cluster. Without any, kinds of the catalogue have their own schemas.
    """
    paths += filenames
    if not paths:
        raise UsageProblem('error: give definitions: PATH or -f PATH, "-" for stdin')
    check_stdin((*paths, *crd))
    has_cluster = kubeconfig is not None or context is not None
    crds = list[Object]()
    if crd:
        crds += read_crds(crd)
    if has_cluster:
        crds += with_cluster(kubeconfig, context, lambda api: api.list(CRDS))
    given_crds = crds if crd or has_cluster else None
    files_of_paths = dict(zip(paths, read_existing(paths), strict=True))
    all_files = list(files_of_paths.values())
    customizations, findings = list[LoadedCustomization](), list[Finding]()
    for path, files in files_of_paths.items():
        customizations += files.customizations
        findings += _findings(path, files)
    findings += combine(files.layer for files in all_files).findings
    _, conflicts = merge(customizations)
    findings += conflicts
    findings += _counted_apart(all_files, customizations)
    is_error = not (has_cluster or _has_crd(all_files, crds))
    compared = (*crd_findings(all_files, given_crds), *script_findings(customizations, given_crds))
    for finding in dict.fromkeys(compared):
        if is_error and finding.rule == "crd-missing":
            findings.append(replace(finding, severity=Severity.ERROR))
        else:
            findings.append(finding)
    document = _document(all_files, in_order(findings), has_crds=given_crds is not None)
    summary = document["summary"]
    if output == "table":
        say(findings_text(findings), nl=False)
        say(_summary(summary), err=True)
    elif output in FORMATS:
        say(Data(FORMATS[output](in_order(findings))), nl=False)
    else:
        say(written(document, output), nl=False)
    if summary["errors"] or (strict and summary["warnings"]):
        raise SystemExit(Problem.exit_code)


def _counted_apart(
    all_files: Sequence[DefinitionFiles], customizations: Sequence[LoadedCustomization]
) -> Iterator[Finding]:
    """Yield a warning for each operation that Kartas do not answer next to the customizations."""
    scripts, _ = merge(customizations)
    given = {entry.definition.gvk: entry for files in all_files for entry in files.layer.entries}
    for gvk in scripts:
        if entry := given.get(gvk) or find_in_catalogue(gvk):
            yield from counted_apart(entry.definition.overridden(scripts[gvk]))


def _findings(path: str, files: DefinitionFiles) -> Iterator[Finding]:
    documents = _documents(files)
    if not documents:
        hint = "files end in .yaml, .yml or .json" if Path(path).is_dir() else "it is empty, or has only comments"
        yield Finding(Severity.ERROR, "no-definitions", (), "it has no definition", hint, source=path)
    yield from chain.from_iterable(loaded.findings for loaded in documents)


def _documents(files: DefinitionFiles) -> list[Definition | Quarantined | LoadedCustomization]:
    definitions = [entry.definition for entry in files.layer.entries]
    return [*definitions, *files.layer.quarantined, *files.customizations]


def _has_crd(all_files: Iterable[DefinitionFiles], crds: Sequence[Object]) -> bool:
    """Return whether one of the CRDs defines the kind of a definition."""
    kinds = {(edit.get(crd, ("spec", "group")), edit.get(crd, ("spec", "names", "kind"))) for crd in crds}
    documents = chain.from_iterable(map(_documents, all_files))
    return any(document.gvk and (document.gvk.group, document.gvk.kind) in kinds for document in documents)


def _document(all_files: Sequence[DefinitionFiles], findings: Sequence[Finding], *, has_crds: bool) -> Object:
    definitions, customizations = list[Object](), list[Object]()
    by_path = dict[Path, DefinitionFile]()
    for files in all_files:
        definitions += _definitions(files)
        customizations += map(_customization, files.customizations)
        by_path.update((file.path, file) for file in files.files)
    by_name = itemgetter("source", "name")
    definitions.sort(key=by_name)
    customizations.sort(key=by_name)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    ignores = sum(_number_of_ignores(file, has_crds=has_crds) for file in by_path.values())
    return {
        "definitions": definitions,
        "customizations": customizations,
        "findings": [finding.to_json() for finding in findings],
        "summary": {
            "definitions": len(definitions),
            "customizations": len(customizations),
            "errors": errors,
            "warnings": len(findings) - errors,
            "ignored": ignores - sum(finding.rule == "unused-ignore" for finding in findings),
            "unreadable": sum(finding.rule == UNREADABLE for finding in findings),
        },
    }


def _number_of_ignores(file: DefinitionFile, *, has_crds: bool) -> int:
    """Return how many comments hide findings. Also those that hide nothing, which have a finding of their own."""
    text, reason = decode(file.content or b"")
    if reason:
        return 0
    return sum(ignore.is_complete and ignore.of_crd <= has_crds for ignore in ignores_of(text))


def _customization(loaded: LoadedCustomization) -> Object:
    return {
        "source": loaded.source,
        "name": loaded.name,
        "customizes": loaded.gvk and loaded.gvk.type_meta,
        "operations": {**dict.fromkeys(loaded.scripts.operations, True), **dict.fromkeys(loaded.broken, False)},
    }


def _definitions(files: DefinitionFiles) -> Iterator[Object]:
    for entry in files.layer.entries:
        yield _definition(entry.definition)
    for broken in files.layer.quarantined:
        if {UNREADABLE, "not-a-karta"}.isdisjoint(finding.rule for finding in broken.findings):
            yield _definition(broken)


def _definition(document: Definition | Quarantined) -> Object:
    return {
        "source": document.source,
        "name": document.name,
        "defines": document.gvk and document.gvk.type_meta,
        "valid": isinstance(document, Definition),
    }


def _summary(number: Mapping[str, int]) -> str:
    shown = [name for name in ("definitions", "customizations") if number[name]] or ["definitions"]
    counts = [count(number[name], name.removesuffix("s")) for name in (*shown, "errors", "warnings")]
    if number["ignored"]:
        counts.append(f"{number['ignored']} ignored")
    if number["unreadable"]:
        counts.append(count(number["unreadable"], "unreadable file"))
    return ", ".join(counts)


def crd_findings(all_files: Iterable[DefinitionFiles], crds: Sequence[Object] | None) -> Iterator[Finding]:
    """Yield the contradictions between the CRDs and all readable Kartas of files, each finding with its place.

    Several CRDs of one kind are its releases: only contradictions with all of them are a finding.
    """
    for file in (file for files in all_files for file in files.files):
        text, reason = decode(file.content or b"")
        if not reason:
            yield from contradictions(text, str(file.path), crds)
