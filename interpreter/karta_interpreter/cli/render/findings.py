"""Findings as text that editors can follow, and as JSON."""

import re
from collections.abc import Iterable

import click

from karta_interpreter.cli.render.table import one_line
from karta_interpreter.findings import Finding, Severity, format_path
from karta_interpreter.jq.syntax import Span
from karta_interpreter.k8s.values import JSON

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MARGIN = "    "
_WIDTH = 92


def findings_text(findings: Iterable[Finding]) -> str:
    """Each finding as ``file:line:column: severity [rule] path: message``, in the order of the places.

    Below it the expression with the place underlined, where the finding is about one, and what to do.
    """
    return "".join(_finding(finding) for finding in in_order(findings))


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings as they come in their files."""
    return sorted(findings, key=lambda finding: (finding.source, finding.line, finding.column))


def finding_json(finding: Finding) -> JSON:
    """A finding for machines; the path is text, ``span`` gives offsets into the expression."""
    span = finding.span
    return {
        "source": finding.source,
        "line": finding.line,
        "column": finding.column,
        "severity": str(finding.severity),
        "rule": finding.rule,
        "path": format_path(finding.path),
        "message": finding.message,
        "hint": finding.hint,
        "expression": finding.expression,
        "span": {"start": span.start, "end": span.end} if span else None,
    }


def _finding(finding: Finding) -> str:
    severity = click.style(str(finding.severity), fg=_COLOURS[finding.severity], bold=True)
    path = f"{format_path(finding.path)}: " if finding.path else ""
    lines = [f"{_place(finding)}{severity} [{finding.rule}] {path}{finding.message}"]
    if finding.expression and finding.span:
        lines += _underlined(finding.expression, finding.span)
    if finding.hint:
        lines.append(f"{_MARGIN}hint: {finding.hint}")
    return "".join(f"{one_line(line)}\n" for line in lines)


def _place(finding: Finding) -> str:
    if not finding.source:
        return ""
    position = f"{finding.line}:{finding.column}:" if finding.line else ""
    return click.style(f"{finding.source}:{position}", bold=True) + " "


def _underlined(expression: str, span: Span) -> list[str]:
    """The line of the expression that the span begins in, and carets under the span."""
    begin = expression.rfind("\n", 0, span.start) + 1
    # One character for each, or the carets would stand elsewhere.
    line = _CONTROL.sub("\ufffd", expression[begin:].split("\n", 1)[0].replace("\t", " "))
    start = min(span.start - begin, len(line))
    length = max(1, min(span.end - span.start, len(line) - start))
    cut = max(0, start + min(length, _WIDTH // 2) - _WIDTH)
    shown = line[cut : cut + _WIDTH]
    carets = "^" * min(length, max(1, len(shown) - (start - cut)))
    return [_MARGIN + shown, _MARGIN + " " * (start - cut) + click.style(carets, fg="green")]
