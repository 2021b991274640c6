"""``karta-interpreter interpret``: what a definition answers about an object."""

from collections.abc import Sequence

import click

from interpreter.cli.arguments import Arguments, operation_named
from interpreter.cli.inputs import check_stdin, definition_for, read_items, read_object
from interpreter.cli.outcome import Outcome, ask, outcomes_json
from interpreter.cli.problems import Problem
from interpreter.cli.render.answers import outcomes_table
from interpreter.cli.render.document import to_json, to_yaml
from interpreter.k8s.gvk import GVK
from interpreter.k8s.values import JSON, Object
from interpreter.operations import Operation
from interpreter.sources.snapshot import Entry

_MAX_REPLICAS = 2**31 - 1

_EXAMPLES = """\b
Examples:
  karta-interpreter interpret --observed-file raycluster.yaml
  karta-interpreter interpret --observed-file raycluster.yaml --operation InterpretReplica
  karta-interpreter interpret -f my-karta.yaml --desired-file job.yaml --desired-replica 4
  kubectl get rayjob demo -o yaml | karta-interpreter interpret --observed-file -
"""


@click.command("interpret", epilog=_EXAMPLES)
@click.option("--operation", metavar="NAME", help="Ask one operation and print as karmadactl does.")
@click.option("--desired-file", metavar="PATH", help='The object as the template has it; "-" is stdin.')
@click.option("--observed-file", metavar="PATH", help='The object as a member cluster has it; "-" is stdin.')
@click.option("--status-file", metavar="PATH", help="One AggregatedStatusItem per document.")
@click.option("--desired-replica", type=click.IntRange(0, _MAX_REPLICAS), metavar="N", help="For ReviseReplica.")
@click.option(
    "-f",
    "--filename",
    "--karta",
    "filenames",
    multiple=True,
    metavar="PATH",
    help="Definitions to use: file, folder or -; may be repeated. Default: the catalogue.",
)
@click.option("-o", "--output", type=click.Choice(["table", "yaml", "json"]), help="How to print answers.")
def command(
    operation: str | None,
    desired_file: str | None,
    observed_file: str | None,
    status_file: str | None,
    desired_replica: int | None,
    filenames: tuple[str, ...],
    output: str | None,
) -> None:
    """Ask a definition about an object, as Karmada would.

    Without --operation, every operation that the given files allow is asked and shown in one table.
    """
    asked = operation_named(operation) if operation else None
    check_stdin([path for path in (desired_file, observed_file, status_file, *filenames) if path])
    arguments = Arguments(
        desired=read_object(desired_file) if desired_file else None,
        observed=read_object(observed_file) if observed_file else None,
        items=read_items(status_file) if status_file else None,
        replicas=desired_replica,
    )
    calls = [arguments.call(asked)] if asked else arguments.calls()
    entry = definition_for(GVK.of(calls[0].object), filenames)
    allowed = entry.definition.annotations.operations
    outcomes = [ask(entry.definition, call) for call in calls if asked or allowed is None or call.operation in allowed]
    if asked and output is None:
        _print_blocks(outcomes[0])
    elif output in ("yaml", "json"):
        document = _document(entry, calls[0].object, outcomes)
        click.echo(to_json(document) if output == "json" else to_yaml(document), nl=False)
    else:
        click.echo(_title(entry, calls[0].object) + outcomes_table(outcomes), nl=False)
    if not asked:
        _say_what_else(arguments, allowed)
    if any(outcome.error for outcome in outcomes):
        raise SystemExit(Problem.exit_code)


def _print_blocks(outcome: Outcome) -> None:
    if outcome.results is None:
        raise Problem(f"Execute {outcome.call.operation} error: {outcome.error}")
    total = len(outcome.results)
    for number, (name, value) in enumerate(outcome.results.items(), start=1):
        click.echo(f"---\n# [{number}/{total}] {name}:\n{to_yaml(value)}", nl=False)


def _document(entry: Entry, obj: Object, outcomes: Sequence[Outcome]) -> JSON:
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": _full_name(obj),
        "definition": entry.definition.name,
        "origin": entry.origin,
        "operations": outcomes_json(outcomes),
    }


def _title(entry: Entry, obj: Object) -> str:
    title = click.style(f"{obj['kind']} {_full_name(obj)}", bold=True)
    return f"{title}, interpreted by {entry.definition.name} ({entry.origin})\n\n"


def _say_what_else(arguments: Arguments, allowed: frozenset[str] | None) -> None:
    """Name the operations that were not asked, and why."""
    for operation in Operation:
        if allowed is not None and operation not in allowed:
            reason = "the definition's annotation karta-interpreter.io/operations leaves it out"
        else:
            reason = arguments.missing(operation)
        if reason:
            click.echo(f"{operation} was not asked: {reason}", err=True)


def _full_name(obj: Object) -> str:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    names = (metadata.get("namespace"), metadata.get("name"))
    return "/".join(name for name in names if isinstance(name, str) and name)
