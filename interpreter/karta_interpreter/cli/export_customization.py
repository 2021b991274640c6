"""``karta-interpreter export customization``: definitions as scripts that Karmada runs by itself."""

from collections.abc import Sequence
from pathlib import Path

import click

from karta_interpreter.cli.calls import operation_named
from karta_interpreter.cli.definitions import definitions_named
from karta_interpreter.cli.files import write_files
from karta_interpreter.cli.options import complete_kinds, complete_operations, inputs, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.progress import watched
from karta_interpreter.cli.render import table, to_json, to_yaml, written
from karta_interpreter.export.customization import Exported, customization
from karta_interpreter.findings import count, escaped
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations import Operation
from karta_interpreter.registration.operations import operations_for

_UNSAFE = "Karmada would write counts that it cannot read, as that script cannot be exported"

_EXAMPLES = """\b
Examples:
  karta-interpreter export customization RayCluster | kubectl apply -f -
  karta-interpreter export customization -f my-karta.yaml --operations InterpretHealth,Retain
  karta-interpreter export customization --check
  karta-interpreter export customization --output-dir customizations/
"""


@click.command("customization", epilog=_EXAMPLES)
@click.argument("kinds", nargs=-1, metavar="[KIND...]", shell_complete=complete_kinds)
@inputs("-f", "--filename", "paths", text="Definitions")
@click.option(
    "--operations",
    metavar="NAMES",
    shell_complete=complete_operations,
    help="Only these operations, separated by commas.",
)
@click.option(
    "--multiple-pod-templates",
    is_flag=True,
    help="Karmada's feature gate MultiplePodTemplatesScheduling is on.",
)
@click.option("--check", is_flag=True, help="List which operations can be exported, or why not.")
@click.option(
    "--output-dir", type=click.Path(path_type=Path), metavar="DIR", help="Write a file for each kind into this folder."
)
@output("yaml", "json")
def customization_command(
    *,
    kinds: tuple[str, ...],
    paths: tuple[str, ...],
    operations: str | None,
    multiple_pod_templates: bool,
    check: bool,
    output_dir: Path | None,
    output: str,
) -> None:
    """Print definitions as ResourceInterpreterCustomizations, whose Lua Karmada runs without a webhook.

    KIND is a kind, apiVersion/Kind or the name of a definition in the given files, or in the catalogue. Without KIND
    all are printed. The operations are those that `serve --register` registers. One that a script cannot answer as the
    definition does is named on stderr with the reason, and Karmada answers it as without a definition; the exit code is
    1 when its kind was asked for.
    """
    wanted = [operation_named(name.strip()) for name in operations.split(",")] if operations else list(Operation)
    definitions = definitions_named(kinds, paths)
    chosen = [_operations(each, wanted, multiple_pod_templates=multiple_pod_templates) for each in definitions]
    if operations:
        _check_answered(definitions, chosen, wanted, gate=multiple_pod_templates)
    asked = watched([*zip(definitions, chosen, strict=True)], "Definitions")
    exported = [_exported(definition, each) for definition, each in asked]
    made = [each.customization for each in exported if each.customization is not None]
    if check:
        click.echo(_table(definitions, chosen, exported), nl=False)
    elif output_dir is not None:
        write_files(output_dir, {f"{each['metadata']['name']}.{output}": written(each, output) for each in made})
    elif made:
        click.echo(_documents(made, output), nl=False)
    _finish(definitions, exported, quiet=check, asked=bool(kinds or paths))


def _operations(
    definition: Definition, wanted: Sequence[Operation], *, multiple_pod_templates: bool
) -> list[Operation]:
    registered = operations_for(definition, multiple_pod_templates=multiple_pod_templates)
    return [operation for operation in registered if operation in wanted]


def _check_answered(
    definitions: Sequence[Definition],
    chosen: Sequence[Sequence[Operation]],
    wanted: Sequence[Operation],
    *,
    gate: bool,
) -> None:
    """Name each operation that was asked for and that no definition has; with one definition that is an error."""
    for operation in wanted:
        if any(operation in each for each in chosen):
            continue
        is_gated = operation == Operation.INTERPRET_COMPONENT and not gate
        hint = "; it needs Karmada's feature gate: give --multiple-pod-templates" if is_gated else ""
        if len(definitions) == 1:
            raise UsageProblem(f"error: {definitions[0].gvk}: {operation} is not registered{hint}")
        click.echo(f"warning: {operation} is registered for no kind{hint}", err=True)


def _exported(definition: Definition, operations: Sequence[Operation]) -> Exported:
    """Return the customization of a definition, never with a script that writes counts beside none that reads them."""
    text = _text(definition)
    exported = customization(definition, operations, text)
    left = [operation for operation in operations if operation not in exported.rejected]
    counted = exported.rejected.keys() & {Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT}
    if Operation.REVISE_REPLICA not in left or not counted:
        return exported
    others = [operation for operation in operations if operation != Operation.REVISE_REPLICA]
    rest = customization(definition, others, text)
    return Exported(rest.customization, {**rest.rejected, Operation.REVISE_REPLICA: _UNSAFE})


def _text(definition: Definition) -> str:
    """Return the text of a definition's file, for its comments; nothing for standard input."""
    try:
        return Path(definition.source).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _table(
    definitions: Sequence[Definition], chosen: Sequence[Sequence[Operation]], exported: Sequence[Exported]
) -> str:
    rows = [
        [definition.gvk.api_version, definition.gvk.kind, operation, each.rejected.get(operation, "exported")]
        for definition, operations, each in zip(definitions, chosen, exported, strict=True)
        for operation in operations
    ]
    return table(rows, header=["APIVERSION", "KIND", "OPERATION", "CUSTOMIZATION"])


def _documents(made: Sequence[Object], form: str) -> str:
    if form == "json":
        return to_json(made[0] if len(made) == 1 else {"apiVersion": "v1", "kind": "List", "items": list(made)})
    return "---\n".join(map(to_yaml, made))


def _finish(definitions: Sequence[Definition], exported: Sequence[Exported], *, quiet: bool, asked: bool) -> None:
    rejected = [
        f"{definition.gvk}, {operation}: {reason}"
        for definition, each in zip(definitions, exported, strict=True)
        for operation, reason in each.rejected.items()
    ]
    for line in () if quiet else rejected:
        click.echo(escaped(line), err=True)
    made = [each.customization for each in exported if each.customization is not None]
    scripts = sum(len(each["spec"]["customizations"]) for each in made)
    summary = f"{count(len(made), 'customization')}, {count(scripts, 'script')}; {len(rejected)} rejected"
    click.echo(summary, err=True)
    if rejected and asked:
        raise SystemExit(Problem.exit_code)
