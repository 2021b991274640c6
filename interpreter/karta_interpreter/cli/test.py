"""``karta-interpreter test``: compares the answers of definitions with their golden suites."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from functools import cache, partial
from itertools import chain
from pathlib import Path
from textwrap import indent
from typing import Final
from xml.etree import ElementTree as ET

import click
from msgspec.structs import replace

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, JSON, Object, grouped
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.calls import print_line
from karta_interpreter.cli.definitions import interpreter_for
from karta_interpreter.cli.explain import explanations_text, warnings_text
from karta_interpreter.cli.files import EMPTY, check_stdin, write_files
from karta_interpreter.cli.options import answer_options, inputs, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import Data, one_line, say, table, text_of, watched, written
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.engine.comparison.interpreter import Interpreter, ask
from karta_interpreter.engine.explain import explain, never_found
from karta_interpreter.engine.operations import Options
from karta_interpreter.engine.suites import (
    Case,
    Outcome,
    SuiteReport,
    Totals,
    answer_of,
    by_kind,
    compared,
    find_suites,
    home_of,
    judge,
    scan_suite,
    with_outputs,
)

# Characters that XML 1.0 cannot contain.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOURS = {"-": "red", "+": "green", "@": "cyan"}


def suites_text(report: SuiteReport) -> str:
    """Return each failed case with its differences, suites that cannot be read, and totals per kind."""
    failed = [_failure(outcome) for outcome in report.outcomes if not outcome.passed]
    errors = [f"{click.style('ERROR', fg='red', bold=True)} {one_line(str(error))}\n\n" for error in report.unreadable]
    rows = []
    for gvk, cases in report.kinds.items():
        if cases.failed or not report.fail_only:
            number = click.style(str(cases.failed), fg="red") if cases.failed else "0"
            rows.append([gvk.api_version, gvk.kind, str(cases.cases), str(cases.passed), number])
    texts = [*failed, *errors]
    if rows:
        texts.append(table(rows, header=["APIVERSION", "KIND", "CASES", "PASSED", "FAILED"]))
    return "".join(texts)


def summary(report: SuiteReport) -> str:
    """Return the number of cases, passed and failed, in one line.

    >>> summary(SuiteReport(()))
    '0 kinds, 0 cases: 0 passed, 0 failed'
    """
    totals = report.totals
    text = f"{count(len(report.kinds), 'kind')}, {count(totals.cases, 'case')}: {totals.passed} passed"
    if report.drafts:
        text += f", {report.drafts} of them with a TODO for the reason"
    text += f", {totals.failed} failed"
    if report.unreadable:
        text += f", {count(len(report.unreadable), 'error')}"
    return text


def suites_json(report: SuiteReport) -> JSON:
    """Return each case with its expected and its actual answer, and the totals, for machines."""
    cases = []
    for outcome in report.shown:
        case = outcome.case
        cases.append(
            {
                "source": case.source,
                "line": case.line,
                "apiVersion": case.call.object.get("apiVersion"),
                "kind": case.call.object.get("kind"),
                "operation": str(case.call.operation),
                "name": case.name,
                "description": case.description,
                "passed": outcome.passed,
                "failures": list(outcome.failures),
                "notes": list(map(click.unstyle, outcome.notes)),
                "expected": {"error": case.error} if case.error is not None else dict(case.expected),
                "got": None if outcome.results is None else dict(outcome.results),
            }
        )
    return {
        "cases": cases,
        "kinds": [{**gvk.type_meta, **_counts(totals)} for gvk, totals in report.kinds.items()],
        "unreadable": [str(error) for error in report.unreadable],
        "summary": {**_counts(report.totals), "unreadable": len(report.unreadable)},
    }


def difference(outcome: Outcome) -> str:
    """Return the expected and the actual answer as a unified diff of YAML, or "" if one of them is an error."""
    results = outcome.results
    if results is None or outcome.case.error is not None:
        return ""
    expected, got = dict(outcome.case.expected), {}
    for name in [name for name in expected if name in results]:
        expected[name], got[name] = compared(name, expected[name], results[name])
    lines = unified_diff(to_yaml(expected).splitlines(), to_yaml(got).splitlines(), "expected", "got", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _failure(outcome: Outcome) -> str:
    case = outcome.case
    location = click.style(f"{case.source}:{case.line}:", bold=True)
    title = f"{click.style('FAILED', fg='red', bold=True)} {location} {case.call.operation}: {case.name}"
    details = [click.style(line, fg=_COLOURS.get(line[:1])) for line in difference(outcome).splitlines()]
    details = [*filter(None, [case.description]), *(details or outcome.failures), *outcome.notes]
    lines = [title, *indent("\n".join(details), "  ").split("\n"), ""]
    return text_of(lines)


def _counts(totals: Totals) -> Object:
    return {"cases": totals.cases, "passed": totals.passed, "failed": totals.failed}


def junit(report: SuiteReport) -> str:
    """Return the outcomes that are shown, as a document. A suite that cannot be read is an error in it."""
    totals, unreadable = Totals.of(report.shown), len(report.unreadable)
    root = _element(None, "testsuites", tests=totals.cases + unreadable, failures=totals.failed, errors=unreadable)
    for gvk, outcomes in by_kind(report.shown).items():
        _suite(root, gvk, outcomes)
    if unreadable:
        suite = _element(root, "testsuite", name="suites", tests=unreadable, failures=0, errors=unreadable)
        for error in report.unreadable:
            _element(_element(suite, "testcase", classname="suites", name="can be read"), "error", message=error)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, gvk: GVK, outcomes: Sequence[Outcome]) -> None:
    totals, name = Totals.of(outcomes), f"{gvk.api_version}/{gvk.kind}"
    suite = _element(root, "testsuite", name=name, tests=totals.cases, failures=totals.failed, errors=0)
    for outcome in outcomes:
        case = outcome.case
        location = {"file": case.source, "line": case.line}
        element = _element(suite, "testcase", classname=f"{name}/{case.call.operation}", name=case.name, **location)
        if not outcome.passed:
            lines = [case.description, *outcome.failures, difference(outcome), *map(click.unstyle, outcome.notes)]
            _element(element, "failure", message=outcome.failures[0]).text = _text("\n".join(lines))


def _element(parent: ET.Element | None, tag: str, **attributes: object) -> ET.Element:
    texts = {name: _text(str(value)) for name, value in attributes.items()}
    return ET.Element(tag, texts) if parent is None else ET.SubElement(parent, tag, texts)


def _text(text: str) -> str:
    """Return the text with replacements for characters that XML cannot contain."""
    return _NOT_XML.sub("\ufffd", text)


_EXAMPLES = """\b
Examples:
  karta-interpreter test kartas/
  karta-interpreter test kartas/ray.io --name InterpretHealth
  karta-interpreter test --fail-only -o junit > suites.xml
"""


@click.command("test", epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH...]")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="TEXT",
    help='Only cases with TEXT in "Kind/Operation/name", in any case; may be repeated.',
)
@inputs("-f", "--filename", "filenames", text="Definitions and customizations instead of those next to the suites")
@click.option("--fail-only", is_flag=True, help="Show only failed cases.")
@click.option(
    "--explain",
    "explain_failures",
    is_flag=True,
    help="Show for each failed case the chain from the answer to the object.",
)
@click.option(
    "--update", is_flag=True, help="Show what differs, then write today's answers into the suites as expected outputs."
)
@answer_options
@output("table", "yaml", "json", "junit")
def command(  # noqa: PLR0913 - one for each option
    *,
    paths: tuple[Path, ...],
    names: tuple[str, ...],
    filenames: tuple[str, ...],
    output: str,
    fail_only: bool,
    explain_failures: bool,
    update: bool,
    options: Options,
) -> None:
    """Run golden suites and show answers that differ from the expected ones.

    PATH is a suite, or a folder where every YAML or JSON file below a folder "testdata" is one; the current folder by
    default. The definitions and customizations in the folder that has "testdata" answer a suite, or those of -f. The
    exit code is 1 when a case fails or has a TODO for its reason, or if a definition there has an error.
    """
    check_stdin(filenames)
    suites = _suites(paths or (Path(),))
    unreadable, cases = list[SuiteError](), list[Case]()
    for reading in chain.from_iterable(map(scan_suite, suites)):
        if isinstance(reading, SuiteError):
            unreadable.append(reading)
        else:
            cases.append(reading)
    selected = [case for case in cases if _is_named(case, names)]
    if not selected and not unreadable:
        if cases:
            raise UsageProblem(
                f"error: no case has {' or '.join(names)} in its kind, operation or name"
                + "; --name is a part of them, without *" * any("*" in name for name in names)
            )
        raise Problem(f"error: {', '.join(map(str, suites))}: there is no case{EMPTY}")
    # The definitions are read once for each kind of the suites, and their findings are shown as often.
    find = cache(partial(_interpreter, unreadable))
    report = SuiteReport(
        tuple(_run(selected, find, filenames, options, explains=explain_failures, is_whole=not (names or unreadable))),
        tuple(unreadable),
        fail_only,
    )
    texts: dict[str, Callable[[SuiteReport], str]] = {"table": suites_text, "junit": lambda report: Data(junit(report))}
    say(texts[output](report) if output in texts else written(suites_json(report), output), nl=False)
    say(summary(report), err=True)
    if update:
        report = _updated(report)
    if not report.passed:
        raise SystemExit(Problem.exit_code)


def _is_named(case: Case, names: Sequence[str]) -> bool:
    title = f"{case.call.object.get('kind')}/{case.call.operation}/{case.name}".lower()
    return not names or any(name.lower() in title for name in names)


def _updated(report: SuiteReport) -> SuiteReport:
    """Write the answers of failed cases into their suites. Missing and unwritable answers leave their cases failed."""
    unchanged = list[Outcome]()
    # By the file, which links may name twice: once it is written, the lines of its cases are others.
    files = grouped((Path(outcome.case.source).resolve(), outcome) for outcome in report.outcomes)
    for path, outcomes in files.items():
        source = outcomes[0].case.source
        answers, answered = dict[int, JSON](), list[Outcome]()
        for outcome in outcomes:
            if outcome.passed or outcome.results is None:
                unchanged.append(outcome)
            else:
                answers[outcome.case.line] = answer_of(outcome.case, outcome.results)
                answered.append(outcome)
        if answers:
            # By its bytes: reading it as text would lose the line ends of Windows.
            text = path.read_bytes().decode()
            try:
                write_files(path.parent, {path.name: with_outputs(text, source, answers)})  # a link stays one
            except (SuiteError, Problem) as error:
                (error if isinstance(error, Problem) else Problem(f"error: {error}")).show()
                unchanged += answered
                continue
            say(f"{source}: updated {count(len(answers), 'output')}", err=True)
    return replace(report, outcomes=tuple(unchanged))


def _suites(paths: Sequence[Path]) -> list[Path]:
    suites = list[Path]()
    for path in paths:
        suites += find_suites(path) if path.is_dir() else [path]
    if not suites:
        places = ", ".join(map(str, paths))
        raise UsageProblem(
            f'error: {places}: there is no suite; suites are YAML or JSON files in folders "testdata", '
            "and `create suite` drafts them"
        )
    by_place: dict[Path, Path] = {}
    for suite in suites:
        by_place.setdefault(suite.absolute(), suite)
    return list(by_place.values())


def _run(
    cases: Sequence[Case],
    find: Callable[[tuple[str, ...], GVK], Interpreter | str],
    filenames: tuple[str, ...],
    options: Options,
    *,
    explains: bool,
    is_whole: bool,
) -> Iterator[Outcome]:
    asked: dict[int, tuple[Definition, list[Object]]] = {}
    for case in watched(cases, "Cases"):
        try:
            interpreter = find(filenames or (str(home_of(Path(case.source))),), GVK.of(case.call.object))
        except InterpretationError as error:
            interpreter = f"error: {error}"
        if isinstance(interpreter, str):
            yield Outcome(case, (interpreter,))
            continue
        asked.setdefault(id(interpreter), (interpreter.entry.definition, []))[1].append(case.call.object)
        answered = ask(
            interpreter,
            case.call,
            case.references,
            options,
            partial(print_line, source=f"{case.source}:{case.line}: "),
        )
        outcome = judge(case, answered.results, answered.error)
        if not outcome.passed:
            outcome = replace(outcome, notes=_notes(interpreter, case, options, explains=explains))
        yield outcome
    for definition, objects in asked.values() if is_whole else ():
        for note in never_found(definition, objects):
            say(one_line(f"warning: {definition.gvk.kind}: {note}; correct the definition, or add a case"), err=True)


def _interpreter(unreadable: list[SuiteError], filenames: tuple[str, ...], gvk: GVK) -> Interpreter | str:
    try:
        interpreter = interpreter_for(gvk, filenames, [])
    except Problem as problem:
        return problem.message
    error = SuiteError(f"{', '.join(filenames)}: a file there has an error, which is shown above")
    # Such as a case outside of testdata, which is said for one of the kinds.
    if not interpreter.files_are_right and str(error) not in map(str, unreadable):
        unreadable.append(error)
    return interpreter


def _notes(interpreter: Interpreter, case: Case, options: Options, *, explains: bool) -> tuple[str, ...]:
    """Explain a failure by the warnings about the case's object or, if asked for, by the whole chain."""
    entry = interpreter.entry
    explanation = explain(entry.definition, case.call, options, origin=entry.origin, reader=Known.of(case.references))
    text = explanations_text([explanation]) if explains else warnings_text(explanation.warnings)
    parts = [
        f"{name} is the whole object, and the expected one is a part of it: `test --update` writes it whole"
        for name in ("revised", "retained")
        if not {"apiVersion", "kind"} <= {*case.expected.get(name, case.call.object)}
    ]
    return (*text.splitlines(), *parts)
