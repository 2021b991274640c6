"""``karta-interpreter test``: do definitions answer what their golden suites expect."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import click

from karta_interpreter.cli.call_result import ask
from karta_interpreter.cli.definitions import Interpreter, interpreter_for
from karta_interpreter.cli.errors import Problem, UsageProblem
from karta_interpreter.cli.render.document import to_json, to_yaml
from karta_interpreter.cli.render.suites import junit, suites_json, suites_text, summary
from karta_interpreter.errors import InterpretationError, SuiteError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.suites import Case, Outcome, Report, find_suites, home_of, judge, judge_refusal, load_suite

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
@click.option("--fail-only", is_flag=True, help="Show only what failed.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "yaml", "json", "junit"]),
    default="table",
    help="How to print what came of it: for people (table) or for programs.",
)
def command(paths: tuple[Path, ...], names: tuple[str, ...], output: str, *, fail_only: bool) -> None:
    """Run golden suites and show where an answer is not the expected one.

    PATH is a folder, in which every YAML file below a folder "testdata" is a suite, or a suite; the current folder by
    default. A suite is answered by the definitions and customizations in the folder that "testdata" is in. The exit
    code is 1 when a case fails.
    """
    suites = _suites(paths or (Path(),))
    cases, unreadable = _read(suites)
    chosen = [case for case in cases if _is_named(case, names)]
    if not chosen and not unreadable:
        raise UsageProblem(f"error: {_nothing(suites, names if cases else ())}")
    report = Report(tuple(_run(chosen)), tuple(unreadable), fail_only)
    click.echo(_PRINTED[output](report), nl=False)
    click.echo(summary(report), err=True)
    if not report.passed:
        raise SystemExit(Problem.exit_code)


_PRINTED: dict[str, Callable[[Report], str]] = {
    "table": suites_text,
    "yaml": lambda report: to_yaml(suites_json(report)),
    "json": lambda report: to_json(suites_json(report)),
    "junit": junit,
}


def _suites(paths: Sequence[Path]) -> list[Path]:
    found = [suite for path in paths for suite in (find_suites(path) if path.is_dir() else [path])]
    if not found:
        places = ", ".join(map(str, paths))
        raise UsageProblem(f'error: {places}: there is no suite in it; suites are YAML files in folders "testdata"')
    return list(dict.fromkeys(found))


def _read(suites: Sequence[Path]) -> tuple[list[Case], list[SuiteError]]:
    cases: list[Case] = []
    unreadable: list[SuiteError] = []
    for suite in suites:
        try:
            cases += load_suite(suite)
        except SuiteError as error:
            unreadable.append(error)
    return cases, unreadable


def _nothing(suites: Sequence[Path], names: Sequence[str]) -> str:
    if names:
        return f"no case has {' or '.join(names)} in its kind, operation or name"
    return f"{', '.join(map(str, suites))}: there is no case in it"


def _is_named(case: Case, names: Sequence[str]) -> bool:
    title = f"{case.call.object.get('kind')}/{case.call.operation}/{case.name}".lower()
    return not names or any(name.lower() in title for name in names)


def _run(cases: Sequence[Case]) -> Iterator[Outcome]:
    # A home is read once for each kind that its suites are about, and its findings are shown as often.
    find = cache(_interpreter)
    for case in cases:
        try:
            interpreter = find(home_of(Path(case.source)), GVK.of(case.call.object))
        except InterpretationError as error:
            yield Outcome(case, (f"error: {error}",))
            continue
        yield _outcome(interpreter, case)


def _interpreter(home: Path, gvk: GVK) -> Interpreter | str:
    try:
        return interpreter_for(gvk, [str(home)], [])
    except Problem as problem:
        return problem.message


def _outcome(interpreter: Interpreter | str, case: Case) -> Outcome:
    if isinstance(interpreter, str):
        return Outcome(case, (interpreter,))
    answered = ask(interpreter, case.call, case.references)
    return judge_refusal(case, answered.error) if answered.results is None else judge(case, answered.results)
