"""``karta-interpreter interpret``: the answers of a definition about an object, and the check of customizations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.findings import escaped
from karta_interpreter.base.k8s import Object, full_name
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli import options
from karta_interpreter.cli.answers import outcomes_table
from karta_interpreter.cli.calls import Arguments, calls_for, print_line
from karta_interpreter.cli.definitions import workload_of
from karta_interpreter.cli.explain import STRICT, exit_if_strict, show as show_explanations, warnings_text
from karta_interpreter.cli.files import check_stdin, file_given, read_references
from karta_interpreter.cli.options import LATER, Counts, definitions, file_option, inputs, operation_option
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import Data, say, text_of, written
from karta_interpreter.definitions.karta import Definition, Known, resolved
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.engine.comparison.interpreter import CallOutcome, Interpreter, ask
from karta_interpreter.engine.explain import Fact, warnings_of
from karta_interpreter.engine.operations import Call, Operation, Options

if TYPE_CHECKING:
    from karta_interpreter.engine.workload.tree import GroupNode

_EXAMPLES = """\b
Examples:
  karta-interpreter interpret raycluster.yaml
  karta-interpreter interpret --observed-file raycluster.yaml --operation InterpretReplica
  karta-interpreter interpret -f my-karta.yaml --desired-file job.yaml --desired-replica 4
  karta-interpreter interpret --override my-health.yaml --observed-file raycluster.yaml
  karta-interpreter interpret --components worker=8 pytorchjob.yaml
  kubectl get rayjob demo -o yaml | karta-interpreter interpret -
"""


@click.command("interpret", epilog=_EXAMPLES)
@click.argument("file", required=False, type=LATER, metavar="[FILE]")
@operation_option("--operation", help="Ask one operation and print as karmadactl does.")
@file_option("--desired-file", help='The resource template (control plane); "-" is stdin.')
@file_option("--observed-file", "--object", "observed_file", help='The object in a member cluster; "-" is stdin.')
@options.status_file
@options.desired_replica
@options.references
@options.answer_options
@definitions
@inputs("--override", "overrides", text="Customizations whose scripts override the definition")
@click.option(
    "--components",
    type=Counts(),
    metavar="NAME=COUNT,...",
    help="Set counts of components and print the object. With ReviseComponents: all of its components.",
)
@click.option("--explain", is_flag=True, help="Show for each answer the chain from it to the object.")
@click.option("--check", is_flag=True, help="Check the customizations of -f, as validate does, and ask nothing.")
@inputs("--customization", "customizations", text="Customizations that answer. With it -f is the object")
@click.option("--strict", is_flag=True, help=STRICT)
@click.option("-o", "--output", type=click.Choice(["table", "yaml", "json"]), help="How to print answers.")
def command(  # noqa: PLR0913 - one for each option
    *,
    file: str | None,
    operation: str | None,
    desired_file: str | None,
    observed_file: str | None,
    status_file: str | None,
    desired_replica: int | None,
    references: tuple[str, ...],
    filenames: tuple[str, ...],
    overrides: tuple[str, ...],
    components: Mapping[str, int] | None,
    options: Options,
    explain: bool,
    check: bool,
    customizations: tuple[str, ...],
    strict: bool,
    output: str | None,
) -> None:
    """Ask a definition about an object, as Karmada would.

    FILE contains the object in a member cluster, as --observed-file. Without --operation, every operation that the
    given files allow is asked and shown in one table.
    """
    if check:
        _check(operation, filter(None, (file, desired_file, observed_file, status_file)), (*filenames, *overrides))
        return
    if customizations:
        # As Karmada's page on interpreters has it: -f WORKLOAD --customization FILE.
        if len(filenames) > 1:
            raise UsageProblem(f"error: with --customization, -f is the object, here {', '.join(filenames)}: give one")
        file, filenames = file_given(file, next(iter(filenames), None), "-f"), customizations
    observed_file = file_given(file, observed_file, "--observed-file")
    check_stdin(filter(None, (desired_file, observed_file, status_file, *references, *filenames, *overrides)))
    arguments = Arguments.read(
        filenames,
        desired=desired_file,
        observed=observed_file,
        items=status_file,
        replicas=desired_replica,
        components=components,
    )
    if components is not None and not operation:
        if explain or overrides or output == "table":
            raise UsageProblem(
                "error: --components prints an object, as yaml or json; "
                "it goes with --explain and --override if --operation is ReviseComponents"
            )
        workload = workload_of(arguments.call(Operation.INTERPRET_COMPONENT).object, filenames, references)
        say(written(workload.set_components(components).object, output or "yaml"), nl=False)
        return
    interpreter, calls = calls_for(arguments, operation, filenames, overrides)
    looked_up = read_references(references, interpreter.entry.definition, options.looked_up)
    if explain:
        show_explanations(interpreter, calls, looked_up, output or "table", options, strict=strict)
        return
    outcomes = [ask(interpreter, call, looked_up, options, print_line) for call in calls]
    _print_outcomes(outcomes, operation, output, interpreter.entry)
    if not operation:
        _print_skipped(interpreter, arguments)
    warnings = _warnings(interpreter.entry.definition, calls, Known.of(looked_up), options)
    say(warnings_text(warnings), err=True, nl=False)
    if any(outcome.error for outcome in outcomes):
        raise SystemExit(Problem.exit_code)
    exit_if_strict(warnings, strict=strict)


def _check(operation: str | None, objects: Iterable[str], paths: tuple[str, ...]) -> None:
    """Show what `validate` finds, and exit as it does."""
    if operation or any(objects):
        raise UsageProblem("error: --check asks nothing: leave out --operation and the objects")
    from karta_interpreter.cli import validate  # noqa: PLC0415 - the answers need nothing of it

    click.get_current_context().invoke(validate.command, paths=paths, output="table")


def _warnings(definition: Definition, calls: Iterable[Call], objects: Known, options: Options) -> list[Fact]:
    # About things that the definition looks for in the objects and does not find.
    return [
        fact
        for call in calls
        if not definition.scripts.of(call.operation)
        for fact in warnings_of(resolved(definition, call.object, objects, options.devices), call)
    ]


def _print_outcomes(
    outcomes: Sequence[CallOutcome], operation: str | None, output: str | None, entry: ServedDefinition
) -> None:
    if operation and output is None:
        (outcome,) = outcomes
        if outcome.results is None:
            raise Problem(f"Execute {outcome.call.operation} error: {outcome.error}")
        for number, (name, value) in enumerate(outcome.results.items(), start=1):
            say(Data(f"---\n# [{number}/{len(outcome.results)}] {name}:\n{to_yaml(value)}"), nl=False)
    elif output in ("yaml", "json"):
        operations = {
            str(outcome.call.operation): {"error": outcome.error} if outcome.error else {"results": outcome.results}
            for outcome in outcomes
        }
        obj, scripts = outcomes[0].call.object, entry.definition.scripts
        document = {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "name": full_name(obj.get("metadata")),
            "definition": entry.definition.name,
            "origin": entry.origin,
            "scripts": {
                operation: [script.name for script in scripts.of(operation)] for operation in sorted(scripts.operations)
            },
            "operations": operations,
            "podGroups": [group.to_json() for group in _groups(entry.definition, obj)],
        }
        say(written(document, output), nl=False)
    else:
        say(_title(entry, outcomes[0].call.object) + outcomes_table(outcomes), nl=False)


def _groups(definition: Definition, obj: Object) -> "Sequence[GroupNode]":
    """Return the groups of pods that a scheduler places together, none without a Karta or a name of the object."""
    from karta_interpreter.engine.workload import Karta, Workload  # noqa: PLC0415 - the table has no groups
    from karta_interpreter.engine.workload.tree import groups_of  # noqa: PLC0415

    try:
        return groups_of(Workload(Karta(definition), obj)) if definition.has_karta else ()
    except WorkloadError:
        return ()


def _print_skipped(interpreter: Interpreter, arguments: Arguments) -> None:
    definition = interpreter.entry.definition
    lacks = "" if definition.has_karta else f": there is neither a script for it nor a Karta of {definition.gvk.kind}"
    for operation in Operation:
        option = arguments.missing(operation)
        if not interpreter.is_asked(operation):
            say(escaped(f"{operation} skipped: {interpreter.why_not(operation)}{lacks}"), err=True)
        elif option and operation is not Operation.REVISE_COMPONENTS:  # which no release of Karmada asks
            say(f"{operation} skipped: pass {option}", err=True)


def _title(entry: ServedDefinition, obj: Object) -> str:
    title = click.style(f"{obj['kind']} {full_name(obj.get('metadata'))}", bold=True)
    lines = [f"{title}, interpreted by {entry.definition.name} ({entry.origin})"]
    for operation in Operation if entry.definition.has_karta else ():
        scripts = entry.definition.scripts.of(operation)
        names = ", ".join(f"{script.name} ({script.source})" if script.source else script.name for script in scripts)
        lines += [f"{operation} by the script of {names}"] if names else []
    return text_of(lines) + "\n"
