"""``karta-interpreter validate``: everything that is wrong with definitions and customizations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from karta_interpreter.cli.definitions import Given, read_given
from karta_interpreter.cli.files import check_stdin
from karta_interpreter.cli.options import output
from karta_interpreter.cli.problem import Problem
from karta_interpreter.cli.render.document import written
from karta_interpreter.cli.render.findings import finding_json, findings_text, in_order
from karta_interpreter.findings import Finding, Severity, count
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.customization import merge
from karta_interpreter.sources.files import UNREADABLE
from karta_interpreter.sources.precedence import combine


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@output("table", "yaml", "json")
def command(paths: tuple[str, ...], output: str, *, strict: bool) -> None:
    """Check definitions and show everything that is wrong with them.

    PATH is a file, a folder (all its files that end in .yaml, .yml or .json, without those in testdata) or "-" for
    standard input; customizations are checked, too. The exit code is 1 when something cannot be used.
    """
    check_stdin(paths)
    report = _check(paths)
    if output == "table":
        click.echo(findings_text(report.findings), nl=False)
        click.echo(_summary(report), err=True)
    else:
        click.echo(written(_document(report), output), nl=False)
    if report.errors or (strict and report.warnings):
        raise SystemExit(Problem.exit_code)


@dataclass(frozen=True, slots=True)
class _Report:
    given: tuple[Given, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors

    @property
    def unreadable(self) -> int:
        return sum(finding.rule == UNREADABLE for finding in self.findings)


def _check(paths: Iterable[str]) -> _Report:
    given = {path: read_given(path) for path in paths}
    findings = [finding for path, each in given.items() for finding in _findings(path, each)]
    findings += combine(each.layer for each in given.values()).findings
    findings += merge(found for each in given.values() for found in each.customizations).findings
    return _Report(tuple(given.values()), tuple(in_order(findings)))


def _findings(path: str, given: Given) -> Iterator[Finding]:
    layer = given.layer
    if not (layer.entries or layer.quarantined or given.customizations):
        yield Finding(Severity.ERROR, "no-definitions", (), "there is no definition here", source=path)
    for entry in layer.entries:
        yield from entry.definition.findings
    for broken in layer.quarantined:
        yield from broken.findings
    for customization in given.customizations:
        yield from customization.findings


def _definitions(given: Iterable[Given]) -> Iterator[JSON]:
    for layer in (each.layer for each in given):
        for entry in layer.entries:
            definition = entry.definition
            yield _definition(definition.source, definition.name, definition.gvk, valid=True)
        for broken in layer.quarantined:
            if not any(finding.rule == UNREADABLE for finding in broken.findings):
                yield _definition(broken.source, broken.name, broken.gvk, valid=False)


def _customizations(given: Iterable[Given]) -> Iterator[JSON]:
    for found in (found for each in given for found in each.customizations):
        operations = {**dict.fromkeys(found.scripts.operations, True), **dict.fromkeys(found.broken, False)}
        yield {"source": found.source, "name": found.name, "customizes": _kind(found.gvk), "operations": operations}


def _definition(source: str, name: str, gvk: GVK | None, *, valid: bool) -> JSON:
    return {"source": source, "name": name, "defines": _kind(gvk), "valid": valid}


def _kind(gvk: GVK | None) -> JSON:
    return {"apiVersion": gvk.api_version, "kind": gvk.kind} if gvk else None


def _summary(report: _Report) -> str:
    definitions = len(list(_definitions(report.given)))
    customizations = len(list(_customizations(report.given)))
    parts = [count(definitions, "definition")] if definitions or not customizations else []
    parts += [count(customizations, "customization")] if customizations else []
    parts += [count(report.errors, "error"), count(report.warnings, "warning")]
    if report.unreadable:
        parts.append(count(report.unreadable, "unreadable file"))
    return ", ".join(parts)


def _document(report: _Report) -> JSON:
    definitions, customizations = (
        sorted(found, key=lambda each: (each["source"], each["name"]))
        for found in (_definitions(report.given), _customizations(report.given))
    )
    return {
        "definitions": definitions,
        "customizations": customizations,
        "findings": [finding_json(finding) for finding in report.findings],
        "summary": {
            "definitions": len(definitions),
            "customizations": len(customizations),
            "errors": report.errors,
            "warnings": report.warnings,
            "unreadable": report.unreadable,
        },
    }
