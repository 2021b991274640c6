"""What came of golden suites as JUnit XML, which CI systems show: one test suite per kind."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from karta_interpreter.cli.render.suites import difference
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.suites import Outcome, Report, Totals, by_kind

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
    indent(root)
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
