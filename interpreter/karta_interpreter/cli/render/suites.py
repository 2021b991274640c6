"""What came of golden suites, as text for people and as JSON."""

import re
from collections.abc import Sequence
from difflib import unified_diff
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, SubElement, tostring

import click

from karta_interpreter.cli.render.document import to_yaml
from karta_interpreter.cli.render.table import count, indent, one_line, table
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.suites import Outcome, Report, Totals, by_kind
from karta_interpreter.suites.comparison import compared

_COLOURS = {"-": "red", "+": "green", "@": "cyan"}


def suites_text(report: Report) -> str:
    """Each failed case with its reason and what is different, suites that cannot be read, and totals per kind."""
    failed = [_failure(outcome) for outcome in report.outcomes if not outcome.passed]
    errors = [f"{click.style('ERROR', fg='red', bold=True)} {error}\n\n" for error in report.unreadable]
    return "".join([*failed, *errors, _totals(report)])


def summary(report: Report) -> str:
    """How many cases there were and what became of them, in one line.

    >>> summary(Report(()))
    '0 kinds, 0 cases: 0 passed, 0 failed'
    """
    totals = report.totals
    counted = f"{count(len(report.kinds), 'kind')}, {count(totals.cases, 'case')}"
    text = f"{counted}: {totals.passed} passed, {totals.failed} failed"
    return f"{text}, {count(len(report.unreadable), 'unreadable suite')}" if report.unreadable else text


def suites_json(report: Report) -> JSON:
    """Each case with what was expected and what came, and the totals, for machines."""
    return {
        "cases": [_case(outcome) for outcome in report.shown],
        "kinds": [
            {"apiVersion": gvk.api_version, "kind": gvk.kind, **_counts(totals)} for gvk, totals in report.kinds.items()
        ],
        "unreadable": [str(error) for error in report.unreadable],
        "summary": {**_counts(report.totals), "unreadable": len(report.unreadable)},
    }


def difference(outcome: Outcome) -> str:
    """What was expected and what came as a unified diff of YAML; empty where one of them is an error."""
    if outcome.results is None or outcome.case.error is not None:
        return ""
    expected, got = _sides(outcome)
    lines = unified_diff(to_yaml(expected).splitlines(), to_yaml(got).splitlines(), "expected", "got", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _sides(outcome: Outcome) -> tuple[JSON, JSON]:
    results, expected = outcome.results or {}, outcome.case.expected
    sides = {name: compared(name, value, results[name]) for name, value in expected.items() if name in results}
    return (
        {name: sides[name][0] if name in sides else value for name, value in expected.items()},
        {name: got for name, (_, got) in sides.items()},
    )


def _failure(outcome: Outcome) -> str:
    case = outcome.case
    place = click.style(f"{case.source}:{case.line}:", bold=True)
    title = f"{click.style('FAILED', fg='red', bold=True)} {place} {case.call.operation}: {case.name}"
    details = [indent(line) for line in (case.description,) if line]
    details += _coloured(difference(outcome)) or [indent(failure) for failure in outcome.failures]
    lines = [title, *(line for detail in details for line in detail.split("\n")), ""]
    return "".join(f"{one_line(line)}\n" for line in lines)


def _coloured(text: str) -> list[str]:
    return [indent(click.style(line, fg=_COLOURS.get(line[:1]))) for line in text.splitlines()]


def _totals(report: Report) -> str:
    rows = [
        [gvk.api_version, gvk.kind, str(totals.cases), str(totals.passed), _number_failed(totals)]
        for gvk, totals in report.kinds.items()
        if totals.failed or not report.fail_only
    ]
    return table(rows, header=["APIVERSION", "KIND", "CASES", "PASSED", "FAILED"]) if rows else ""


def _number_failed(totals: Totals) -> str:
    return click.style(str(totals.failed), fg="red") if totals.failed else "0"


def _counts(totals: Totals) -> Object:
    return {"cases": totals.cases, "passed": totals.passed, "failed": totals.failed}


def _case(outcome: Outcome) -> JSON:
    case = outcome.case
    return {
        "source": case.source,
        "line": case.line,
        "apiVersion": case.call.object.get("apiVersion"),
        "kind": case.call.object.get("kind"),
        "operation": str(case.call.operation),
        "name": case.name,
        "description": case.description,
        "passed": outcome.passed,
        "failures": list(outcome.failures),
        "expected": {"error": case.error} if case.error is not None else dict(case.expected),
        "got": None if outcome.results is None else dict(outcome.results),
    }


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no way to write."""


def junit(report: Report) -> str:
    """The outcomes that are shown, as a document; a suite that cannot be read is an error in it."""
    totals, unreadable = Totals.of(report.shown), len(report.unreadable)
    root = _element(None, "testsuites", tests=totals.cases + unreadable, failures=totals.failed, errors=unreadable)
    for gvk, found in by_kind(report.shown).items():
        _suite(root, gvk, found)
    if unreadable:
        suite = _element(root, "testsuite", name="suites", tests=unreadable, failures=0, errors=unreadable)
        for error in report.unreadable:
            case = _element(suite, "testcase", classname="suites", name="can be read")
            _element(case, "error", message=error)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _suite(root: Element, gvk: GVK, outcomes: Sequence[Outcome]) -> None:
    totals, name = Totals.of(outcomes), f"{gvk.api_version}/{gvk.kind}"
    suite = _element(root, "testsuite", name=name, tests=totals.cases, failures=totals.failed, errors=0)
    for outcome in outcomes:
        case = outcome.case
        place = {"file": case.source, "line": case.line}
        element = _element(suite, "testcase", classname=f"{name}/{case.call.operation}", name=case.name, **place)
        if not outcome.passed:
            failure = _element(element, "failure", message=outcome.failures[0])
            failure.text = _text("\n".join([case.description, *outcome.failures, difference(outcome)]))


def _element(parent: Element | None, tag: str, **attributes: object) -> Element:
    written = {name: _text(str(value)) for name, value in attributes.items()}
    return Element(tag, written) if parent is None else SubElement(parent, tag, written)


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
