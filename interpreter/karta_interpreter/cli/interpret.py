"""``karta-interpreter interpret``: what a definition answers about an object."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

import click

from karta_interpreter.cli.calls import Arguments, Outcome, ask, operation_named, outcomes_json
from karta_interpreter.cli.definitions import Interpreter, interpreter_for, read_customizations
from karta_interpreter.cli.files import check_stdin, read_items, read_object, read_objects
from karta_interpreter.cli.problem import Problem, UsageProblem
from karta_interpreter.cli.render.answers import outcomes_table
from karta_interpreter.cli.render.check import check_text
from karta_interpreter.cli.render.document import to_yaml, written
from karta_interpreter.cli.render.findings import findings_text
from karta_interpreter.cli.render.table import full_name, one_line
from karta_interpreter.findings import Severity, escaped
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.script import Script
from karta_interpreter.operations import Operation
from karta_interpreter.sources.snapshot import Entry

_MAX_REPLICAS = 2**31 - 1

_EXAMPLES = """\b
Examples:
  karta-interpreter interpret --observed-file raycluster.yaml
  karta-interpreter interpret --observed-file raycluster.yaml --operation InterpretReplica
  karta-interpreter interpret -f my-karta.yaml --desired-file job.yaml --desired-replica 4
  karta-interpreter interpret --override my-health.yaml --observed-file raycluster.yaml
  karta-interpreter interpret -f customization.yaml --check
  kubectl get rayjob demo -o yaml | karta-interpreter interpret --observed-file -
"""


class _Given(TypedDict):
    desired_file: str | None
    observed_file: str | None
    status_file: str | None
    desired_replica: int | None
    reference_file: tuple[str, ...]


@click.command("interpret", epilog=_EXAMPLES)
@click.option("--operation", metavar="NAME", help="Ask one operation and print as karmadactl does.")
@click.option("--desired-file", metavar="PATH", help='The object as the template has it; "-" is stdin.')
@click.option("--observed-file", metavar="PATH", help='The object as a member cluster has it; "-" is stdin.')
@click.option("--status-file", metavar="PATH", help="One AggregatedStatusItem per document.")
@click.option("--desired-replica", type=click.IntRange(0, _MAX_REPLICAS), metavar="N", help="For ReviseReplica.")
@click.option(
    "--reference-file",
    multiple=True,
    metavar="PATH",
    help="Objects that the definition may look up: file, folder or -; may be repeated.",
)
@click.option(
    "-f",
    "--filename",
    "--karta",
    "filenames",
    multiple=True,
    metavar="PATH",
    help="Definitions and customizations to use: file, folder or -; may be repeated. Default: the catalogue.",
)
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="PATH",
    help="Customizations whose scripts win over the definition: file, folder or -; may be repeated.",
)
@click.option("--check", is_flag=True, help="Say of each script whether it can be run, and ask nothing.")
@click.option("-R", "--recursive", is_flag=True, expose_value=False, help="Accepted, as folders are read so anyway.")
@click.option("-o", "--output", type=click.Choice(["table", "yaml", "json"]), help="How to print answers.")
def command(
    operation: str | None,
    filenames: tuple[str, ...],
    overrides: tuple[str, ...],
    output: str | None,
    *,
    check: bool,
    **given: Unpack[_Given],
) -> None:
    """Ask a definition about an object, as Karmada would.

    Without --operation, every operation that the given files allow is asked and shown in one table.
    """
    asked = operation_named(operation) if operation else None
    files = (given["desired_file"], given["observed_file"], given["status_file"], *given["reference_file"])
    check_stdin([path for path in (*files, *filenames, *overrides) if path])
    if check:
        check_scripts([*filenames, *overrides])
        return
    arguments = _read(given)
    calls = [arguments.call(asked)] if asked else arguments.calls()
    interpreter = interpreter_for(GVK.of(calls[0].object), filenames, overrides)
    references = [obj for path in given["reference_file"] for obj in read_objects(path)]
    outcomes = [ask(interpreter, call, references) for call in calls if asked or interpreter.is_asked(call.operation)]
    if asked and output is None:
        _print_blocks(outcomes[0])
    elif output in ("yaml", "json"):
        document = _document(interpreter.entry, calls[0].object, outcomes)
        click.echo(written(document, output), nl=False)
    else:
        click.echo(_title(interpreter.entry, calls[0].object) + outcomes_table(outcomes), nl=False)
    if not asked:
        _say_what_else(arguments, interpreter)
    if any(outcome.error for outcome in outcomes):
        raise SystemExit(Problem.exit_code)


def _read(given: _Given) -> Arguments:
    desired, observed, statuses = given["desired_file"], given["observed_file"], given["status_file"]
    return Arguments(
        desired=read_object(desired) if desired else None,
        observed=read_object(observed) if observed else None,
        items=read_items(statuses) if statuses else None,
        replicas=given["desired_replica"],
    )


def _print_blocks(outcome: Outcome) -> None:
    if outcome.results is None:
        raise Problem(f"Execute {outcome.call.operation} error: {outcome.error}")
    total = len(outcome.results)
    for number, (name, value) in enumerate(outcome.results.items(), start=1):
        click.echo(f"---\n# [{number}/{total}] {name}:\n{to_yaml(value)}", nl=False)


def _document(entry: Entry, obj: Object, outcomes: Sequence[Outcome]) -> JSON:
    scripts = entry.definition.scripts
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": full_name(obj.get("metadata")),
        "definition": entry.definition.name,
        "origin": entry.origin,
        "scripts": {each: [script.name for script in scripts.of(each)] for each in sorted(scripts.operations)},
        "operations": outcomes_json(outcomes),
    }


def _title(entry: Entry, obj: Object) -> str:
    title = click.style(f"{obj['kind']} {full_name(obj.get('metadata'))}", bold=True)
    scripts = [
        f"{operation} by the script of {_names(entry.definition.scripts.of(operation))}"
        for operation in Operation
        if entry.definition.has_karta and entry.definition.scripts.of(operation)
    ]
    head = f"{title}, interpreted by {entry.definition.name} ({entry.origin})"
    return "".join(f"{one_line(line)}\n" for line in (head, *scripts)) + "\n"


def _names(scripts: Sequence[Script]) -> str:
    return ", ".join(f"{script.name} ({script.source})" if script.source else script.name for script in scripts)


def _say_what_else(arguments: Arguments, interpreter: Interpreter) -> None:
    """Name the operations that were not asked, and why."""
    for operation in Operation:
        reason = arguments.missing(operation) if interpreter.is_asked(operation) else interpreter.why_not
        if reason:
            click.echo(escaped(f"{operation} was not asked: {reason}"), err=True)


def check_scripts(paths: Sequence[str]) -> None:
    """Print what karmadactl prints, and all findings on stderr; exit with 1 when one is an error."""
    if not paths:
        raise UsageProblem("error: nothing to check: give customizations with -f")
    customizations = [found for path in paths for found in read_customizations(path)]
    if not customizations:
        raise Problem("error: nothing to check: there is no document in the given files")
    findings = [finding for each in customizations for finding in each.findings]
    click.echo(check_text(customizations), nl=False)
    click.echo(findings_text(findings), err=True, nl=False)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise SystemExit(Problem.exit_code)
