"""Findings in the formats that other programs read: GitHub's annotations and SARIF."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from karta_interpreter import __version__
from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import Object
from karta_interpreter.cli.render import to_json

_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def github(findings: Sequence[Finding]) -> str:
    """Return a workflow command for each finding, which GitHub shows at its line of a pull request.

    Source: GitHub's "Workflow commands for GitHub Actions".
    """
    commands = []
    for finding in findings:
        properties = {"file": finding.source, "line": finding.line, "col": finding.column, "title": finding.rule}
        given = ",".join(
            f"{name}={_command(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for name, value in properties.items()
            if value
        )
        commands.append(f"::{finding.severity} {given}::{_command(_message(finding))}\n")
    return "".join(commands)


def sarif(findings: Sequence[Finding]) -> str:
    """Return a SARIF 2.1.0 document, which code scanning and editors read."""
    rules = [{"id": rule} for rule in sorted({finding.rule for finding in findings})]
    driver = {"name": "karta-interpreter", "version": __version__, "rules": rules}
    results = []
    for finding in findings:
        location: dict[str, Object] = {"artifactLocation": {"uri": quote(finding.source)}}
        if finding.line:
            location["region"] = {"startLine": finding.line, "startColumn": finding.column}
        located = {"locations": [{"physicalLocation": location}]} if finding.source else {}
        results.append(
            {
                "ruleId": finding.rule,
                "level": str(finding.severity),
                "message": {"text": _message(finding)},
                **located,
            }
        )
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return to_json({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


FORMATS: Final[Mapping[str, Callable[[Sequence[Finding]], str]]] = {
    "github": github,
    "sarif": sarif,
}


def _message(finding: Finding) -> str:
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    expression = f"\n{finding.expression}" if finding.expression else ""
    return f"{finding.message_at_path}{expression}{hint}"


def _command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
