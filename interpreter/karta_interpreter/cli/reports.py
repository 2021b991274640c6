"""Findings in the formats that other programs read: GitHub's annotations, SARIF and JUnit."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from karta_interpreter import __version__
from karta_interpreter.base.findings import Finding, Severity, count, escaped, format_path
from karta_interpreter.base.k8s import Object
from karta_interpreter.cli.render import to_json

_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""


def github(findings: Sequence[Finding], _files: Iterable[str]) -> str:
    """Return a workflow command for each finding, which GitHub shows at its line of a pull request.

    Source: GitHub's "Workflow commands for GitHub Actions".
    """
    return "".join(f"::{each.severity} {_properties(each)}::{_command(_message(each))}\n" for each in findings)


def sarif(findings: Sequence[Finding], _files: Iterable[str]) -> str:
    """Return a SARIF 2.1.0 document, which code scanning and editors read."""
    rules = [{"id": rule} for rule in sorted({each.rule for each in findings})]
    driver = {"name": "karta-interpreter", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [*map(_result, findings)]}
    return to_json({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def junit(findings: Sequence[Finding], files: Iterable[str]) -> str:
    """Return JUnit's XML: a test case for each file, which fails for an error and prints its warnings."""
    by_file: dict[str, list[Finding]] = {name: [] for name in files}
    for finding in findings:
        by_file.setdefault(finding.source, []).append(finding)
    failed = sum(any(each.severity is Severity.ERROR for each in found) for found in by_file.values())
    numbers = {"tests": len(by_file), "failures": failed}
    suites = xml_element(None, "testsuites", **numbers)
    suite = xml_element(suites, "testsuite", name="karta-interpreter validate", **numbers)
    for name, found in by_file.items():
        case = xml_element(suite, "testcase", classname="validate", name=name)
        errors = [each for each in found if each.severity is Severity.ERROR]
        warnings = [each for each in found if each.severity is Severity.WARNING]
        if errors:
            xml_element(case, "failure", message=count(len(errors), "error")).text = xml_text(_lines(errors))
        if warnings:
            xml_element(case, "system-out").text = xml_text(_lines(warnings))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


FORMATS: Final[Mapping[str, Callable[[Sequence[Finding], Iterable[str]], str]]] = {
    "github": github,
    "sarif": sarif,
    "junit": junit,
}
"""The formats by name. Each takes the findings, and the names of all files."""


def _message(finding: Finding) -> str:
    path = f"{format_path(finding.path)}: " if finding.path else ""
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    expression = f"\n{finding.expression}" if finding.expression else ""
    return f"{path}{finding.message}{expression}{hint}"


def _properties(finding: Finding) -> str:
    known = {"file": finding.source, "line": finding.line, "col": finding.column, "title": finding.rule}
    return ",".join(
        f"{name}={_command(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in known.items()
        if value
    )


def _command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _result(finding: Finding) -> Object:
    place: dict[str, Object] = {"artifactLocation": {"uri": quote(finding.source)}}
    if finding.line:
        place["region"] = {"startLine": finding.line, "startColumn": finding.column}
    located = {"locations": [{"physicalLocation": place}]} if finding.source else {}
    text = {"text": _message(finding)}
    return {"ruleId": finding.rule, "level": str(finding.severity), "message": text, **located}


def _lines(findings: Iterable[Finding]) -> str:
    return "\n".join(f"{escaped(each.source)}:{each.line}:{each.column}: {escaped(str(each))}" for each in findings)


def xml_element(parent: ET.Element | None, tag: str, **attributes: object) -> ET.Element:
    """Return a new element, below ``parent`` if there is one."""
    written = {name: xml_text(str(value)) for name, value in attributes.items()}
    return ET.Element(tag, written) if parent is None else ET.SubElement(parent, tag, written)


def xml_text(text: str) -> str:
    """Return the text with replacements for characters that XML cannot contain."""
    return _NOT_XML.sub("\ufffd", text)
