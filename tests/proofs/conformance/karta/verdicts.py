"""Definitions that Karta's library takes and ours refuses, each with the words of the page that names it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from karta_interpreter import Finding, Karta, Severity
from karta_interpreter.definitions.karta.rules import REFUSED

REASONS: Mapping[str, str] = {
    "(schema|unknown-field|not-a-karta): .*": "A definition has to fit the CRD wherever it comes from.",
    "expression-syntax: the expression is empty": "An empty expression is an error.",
    r"expression-refused: (there is no (function|variable) .*|.* takes \d arguments?, not \d"
    r"|.* is (a function of jq that gojq .* does not have|not a format of .*)"
    "|the pattern of .*)": "Expressions are compiled when a definition is loaded.",
    "expression-(refused|syntax): .* is not allowed: .*": (
        "Files, environment, input, and expressions that can run without end are rejected, or run in a child process "
        "for half a second at most."
    ),
}
"""By a regular expression for rule and message."""


def errors(definition: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with a definition."""
    return [finding for finding in Karta.check(definition) if finding.severity is Severity.ERROR]


def says_refused(definition: Mapping[str, Any]) -> bool:
    """Return whether a finding says that Karta's own admission refuses a definition."""
    return any(REFUSED in finding.message for finding in Karta.check(definition))


def reasons(findings: Sequence[Finding]) -> list[str | None]:
    """Why Karta's library does not see each of them; nothing is asked of what an unknown field leaves out."""
    unknown = [finding for finding in findings if finding.rule == "unknown-field"]
    return [_reason(f"{finding.rule}: {finding.message}") for finding in unknown or findings]


def _reason(text: str) -> str | None:
    return next((row for pattern, row in REASONS.items() if re.fullmatch(pattern, text)), None)
