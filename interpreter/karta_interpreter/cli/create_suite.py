"""``karta-interpreter create suite``: golden cases with today's answers, for a person to judge."""

from collections.abc import Iterator
from pathlib import Path

import click

from karta_interpreter.cli.calls import Arguments, ask
from karta_interpreter.cli.definitions import Interpreter, interpreter_for
from karta_interpreter.cli.files import check_stdin, read_objects, write_files
from karta_interpreter.cli.options import NO_WORKLOAD, definitions, inputs
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.findings import count
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.operations import Call, Operation, StatusItem
from karta_interpreter.suites.output import to_text

_TODO = "TODO: say why this is right, by the documentation of the kind."
_OWN = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "selfLink")
"""Fields of an object's metadata that no answer depends on."""

_EXAMPLES = """\b
Examples:
  karta-interpreter create suite -f karta.yaml --object trainjob.yaml
  karta-interpreter create suite -f karta.yaml --object objects/ --output-dir testdata/
"""


@click.command("suite", epilog=_EXAMPLES)
@definitions
@inputs("--object", "paths", text="Workloads to ask about")
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write a file for each operation there.",
)
def suite_command(filenames: tuple[str, ...], paths: tuple[str, ...], output_dir: Path | None) -> None:
    """Draft golden cases for a definition, with today's answers as expected outputs.

    Each workload is asked all operations but Retain, which needs what a member cluster made of it. An answer is only as
    right as the definition: a TODO in each case stands for the reason that a person has to find.
    """
    check_stdin((*filenames, *paths))
    if not paths:
        raise UsageProblem(NO_WORKLOAD)
    files: dict[str, list[str]] = {}
    for workload in (each for path in paths for each in read_objects(path)):
        for call, fields in _cases(_cleaned(workload), filenames):
            files.setdefault(f"{call.operation.lower()}.yaml", []).append(to_text(fields))
    texts = {name: "---\n".join(cases) for name, cases in files.items()}
    if output_dir is None:
        click.echo("---\n".join(texts.values()), nl=False)
    else:
        _write(output_dir, texts)
    click.echo(f"{count(sum(map(len, files.values())), 'case')}: replace each TODO by the reason", err=True)


def _cases(workload: Object, filenames: tuple[str, ...]) -> Iterator[tuple[Call, Object]]:
    interpreter = interpreter_for(GVK.of(workload), filenames, [])
    status = workload.get("status")
    items = (StatusItem("member1", status, applied=True),) if isinstance(status, dict) else None
    arguments = Arguments(desired=workload, items=items, replicas=_another_count(interpreter, workload))
    name = edit.get(workload, ("metadata", "name")) or "without a name"
    for call in arguments.calls():
        if interpreter.is_asked(call.operation):
            outcome = ask(interpreter, call)
            output = {"error": outcome.error} if outcome.results is None else dict(outcome.results)
            yield call, _case(str(name), call, output)


def _another_count(interpreter: Interpreter, workload: Object) -> int | None:
    """Return twice the count, so that the case of ReviseReplica changes something."""
    outcome = ask(interpreter, Call(Operation.INTERPRET_REPLICA, workload))
    return None if outcome.results is None else 2 * (outcome.results["replica"] or 1)


def _case(name: str, call: Call, output: Object) -> Object:
    fields: dict[str, JSON] = {"name": name, "description": _TODO}
    is_live = call.operation in (Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH)
    fields["observedObj" if is_live else "desiredObj"] = call.object
    if call.operation is Operation.AGGREGATE_STATUS:
        items = [{"clusterName": item.cluster, "applied": True, "status": item.status} for item in call.items]
        fields["statusItems"] = items
    if call.replicas is not None:
        fields["inputReplicas"] = call.replicas
    return {**fields, "operation": str(call.operation), "output": output}


def _cleaned(workload: Object) -> Object:
    for field in _OWN:
        workload = edit.remove(workload, ("metadata", field))
    return workload


def _write(folder: Path, texts: dict[str, str]) -> None:
    there = [name for name in texts if (folder / name).exists()]
    if there:
        raise Problem(f"error: {folder}: {', '.join(there)} is there already: print the cases and add them by hand")
    write_files(folder, texts)
