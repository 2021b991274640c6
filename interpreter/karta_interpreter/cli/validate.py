"""``karta-interpreter validate``: all findings about definitions and customizations."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from pathlib import Path

import click

from karta_interpreter.base.findings import Finding, Severity, count
from karta_interpreter.base.ignores import ignores_of
from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.cli.definitions import DefinitionFiles, among_cases, read_existing, with_cluster
from karta_interpreter.cli.files import check_stdin, read_crds
from karta_interpreter.cli.options import LATER, inputs, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import Data, findings_text, in_order, say, written
from karta_interpreter.cli.reports import FORMATS
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.check.scripts import script_findings
from karta_interpreter.definitions.sources import UNREADABLE, Quarantined, combine, decode
from karta_interpreter.definitions.sources.api_server import CRDS
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

    PATH is a file, a folder (all its files that end in .yaml, .yml or .json, without those in testdata) or "-" for
    standard input; customizations are checked, too. The exit code is 1 when a definition or script cannot be used.

    A CRD (--crd) of several releases may be given several times: only what all of them contradict is a finding. If no
    CRD is that of a definition, that is an error. Fields that scripts name behind a parameter are compared, too. With
    --kubeconfig or --context the CRDs come from a cluster. Without any, kinds of the catalogue have their own schemas.
    """
    paths += filenames
    if not paths:
        raise UsageProblem('error: give definitions: PATH or -f PATH, "-" for stdin')
    check_stdin((*paths, *crd))
    has_cluster = kubeconfig is not None or context is not None
    crds = (
        [
            *(read_crds(crd) if crd else ()),
            *(with_cluster(kubeconfig, context, lambda api: api.list(CRDS)) if has_cluster else ()),
        ]
        if crd or has_cluster
        else None
    )
    files_of_paths = dict(zip(paths, read_existing(paths), strict=True))
    all_files = list(files_of_paths.values())
    customizations = [customization for files in all_files for customization in files.customizations]
    findings = [finding for path, files in files_of_paths.items() for finding in _findings(path, files)]
    findings += combine(files.layer for files in all_files).findings
    _, conflicts = merge(customizations)
    findings += conflicts
    is_error = not (has_cluster or _has_crd(all_files, crds or ()))
    compared = dict.fromkeys((*crd_findings(all_files, crds), *script_findings(customizations, crds)))
    findings += [
        replace(finding, severity=Severity.ERROR) if is_error and finding.rule == "crd-missing" else finding
        for finding in compared
    ]
    document = _document(all_files, in_order(findings), has_crds=crds is not None)
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


def _findings(path: str, files: DefinitionFiles) -> Iterator[Finding]:
    layer = files.layer
    documents: list[Definition | Quarantined | LoadedCustomization] = [
        *(entry.definition for entry in layer.entries),
        *layer.quarantined,
        *files.customizations,
    ]
    if not documents:
        yield Finding(
            Severity.ERROR,
            "no-definitions",
            (),
            "it has no definition",
            among_cases([path]) or "files end in .yaml, .yml or .json"
            if Path(path).is_dir()
            else "it is empty, or has only comments",
            source=path,
        )
    yield from chain.from_iterable(loaded.findings for loaded in documents)


def _has_crd(all_files: Collection[DefinitionFiles], crds: Sequence[Object]) -> bool:
    """Return whether one of the CRDs defines the kind of a definition."""
    kinds = {(edit.get(crd, ("spec", "group")), edit.get(crd, ("spec", "names", "kind"))) for crd in crds}
    gvks = [
        *(entry.definition.gvk for files in all_files for entry in files.layer.entries),
        *(broken.gvk for files in all_files for broken in files.layer.quarantined if broken.gvk),
        *(loaded.gvk for files in all_files for loaded in files.customizations if loaded.gvk),
    ]
    return any((gvk.group, gvk.kind) in kinds for gvk in gvks)


def _document(all_files: Sequence[DefinitionFiles], findings: Sequence[Finding], *, has_crds: bool) -> Object:
    by_name = itemgetter("source", "name")
    definitions = sorted((definition for files in all_files for definition in _definitions(files)), key=by_name)
    customizations = sorted(
        (
            {
                "source": loaded.source,
                "name": loaded.name,
                "customizes": loaded.gvk and loaded.gvk.type_meta,
                "operations": {**dict.fromkeys(loaded.scripts.operations, True), **dict.fromkeys(loaded.broken, False)},
            }
            for files in all_files
            for loaded in files.customizations
        ),
        key=by_name,
    )
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    by_path = {file.path: file for files in all_files for file in files.files}
    texts = (text for text, reason in (decode(file.content or b"") for file in by_path.values()) if not reason)
    # Also those that hide nothing, which have a finding of their own.
    ignores = sum(ignore.is_complete and ignore.of_crd <= has_crds for text in texts for ignore in ignores_of(text))
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


def _definitions(files: DefinitionFiles) -> Iterator[Object]:
    documents: list[Definition | Quarantined] = [entry.definition for entry in files.layer.entries]
    yield from (
        {
            "source": document.source,
            "name": document.name,
            "defines": document.gvk and document.gvk.type_meta,
            "valid": isinstance(document, Definition),
        }
        for document in [*documents, *files.layer.quarantined]
        if isinstance(document, Definition)
        or {UNREADABLE, "not-a-karta"}.isdisjoint(finding.rule for finding in document.findings)
    )


def _summary(number: Mapping[str, int]) -> str:
    shown = ["errors", "warnings"]
    shown[:0] = [name for name in ("definitions", "customizations") if number[name]] or ["definitions"]
    counts = [count(number[name], name.removesuffix("s")) for name in shown]
    counts += [f"{number['ignored']} ignored"] if number["ignored"] else []
    return ", ".join(counts + ([count(number["unreadable"], "unreadable file")] if number["unreadable"] else []))


def crd_findings(all_files: Iterable[DefinitionFiles], crds: Sequence[Object] | None) -> Iterator[Finding]:
    """Yield the contradictions between the CRDs and all readable Kartas of files, each finding with its place.

    Several CRDs of one kind are its releases: only contradictions with all of them are a finding.
    """
    for file in (file for files in all_files for file in files.files):
        text, reason = decode(file.content or b"")
        if not reason:
            yield from contradictions(text, str(file.path), crds)
