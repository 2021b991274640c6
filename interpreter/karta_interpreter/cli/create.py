"""``karta-interpreter create``: drafts of definitions."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from karta_interpreter.cli.calls import Arguments, ask
from karta_interpreter.cli.definitions import Interpreter, interpreter_for
from karta_interpreter.cli.files import check_stdin, read_crds, read_objects, write_files
from karta_interpreter.cli.options import NO_WORKLOAD, definitions, file_option, inputs, output_dir_option
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import findings_text
from karta_interpreter.cli.validate import contradictions
from karta_interpreter.findings import count, escaped
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.k8s.yaml_writer import WIDTH, to_authored_yaml
from karta_interpreter.karta.loading import load_documents
from karta_interpreter.karta.scaffold import CustomKind, Draft, draft
from karta_interpreter.operations import Call, Operation, StatusItem
from karta_interpreter.operations.call import LIVE
from karta_interpreter.suggestion import did_you_mean


@click.group("create")
def command() -> None:
    """Draft definitions and suites."""


@command.command("karta")
@file_option("--crd", required=True, help='File, folder, URL or "-" with the CRD of the kind.')
@click.option(
    "--kind", metavar="KIND", help="The kind to draft for, among CRDs of several; KIND.GROUP where groups share it."
)
@click.option("--version", metavar="VERSION", help="Its version; default: the stored one.")
def karta_command(crd: str, kind: str | None, version: str | None) -> None:
    """Draft a Karta from a CRD's OpenAPI schema.

    A schema shows fields that look like pods, counts, conditions and a switch to suspend, but not their meaning:
    comments in the draft name what to CHECK, and stderr has the findings of `validate`.
    """
    chosen = _crd(read_crds([crd]), kind)
    custom = CustomKind.of(chosen, version)
    drafted = draft(custom)
    text = draft_text(drafted, f"Drafted from the CustomResourceDefinition {custom.crd}.")
    click.echo(text, nl=False)
    findings = [finding for loaded in load_documents(text, "draft") for finding in loaded.findings]
    findings += contradictions(text, "draft", [chosen])
    click.echo(findings_text(findings), err=True, nl=False)
    click.echo(escaped(f"{custom.gvk}: {count(drafted.checks, 'place')} to CHECK"), err=True)


def _crd(crds: list[Object], kind: str | None) -> Object:
    names = [(str(edit.get(crd, ("spec", "names", "kind"))), str(edit.get(crd, ("spec", "group")))) for crd in crds]
    kinds = sorted({name for name, _ in names})
    if kind is None and len(crds) == 1:
        return crds[0]
    if kind is None:
        raise UsageProblem(f"error: choose one with --kind: {', '.join(kinds)}")
    spelled = [(name.lower(), f"{name}.{group}".lower()) for name, group in names]
    found = [index for index, each in enumerate(spelled) if kind.lower() in each]
    if not found:
        raise UsageProblem(f"error: there is no CRD for the kind {kind}; {did_you_mean(kind, kinds)}")
    if len(found) > 1:
        several = ", ".join(sorted(".".join(names[index]) for index in found))
        raise UsageProblem(f"error: several CRDs have the kind {kind}: {several}; name its group, or give one file")
    return crds[found[0]]


def draft_text(draft: Draft, title: str) -> str:
    """The Karta in the order in which people write one, with each note in the lines above its field."""
    text = to_authored_yaml(draft.karta)
    (document,) = read_documents(text, title)
    lines = text.splitlines()
    above: dict[int, list[str]] = {0: [title]}
    for path, note in draft.notes:
        above.setdefault(document.position(path)[0] - 1, []).append(note)
    written: list[str] = []
    for index, line in enumerate(lines):
        prefix = " " * (len(line) - len(line.lstrip())) + "# "
        wrapper = textwrap.TextWrapper(WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False)
        written += [*(part for note in above.get(index, ()) for part in wrapper.wrap(escaped(note, keep="\n"))), line]
    return "".join(f"{line}\n" for line in written)


_TODO = "TODO: say why this is right, by the documentation of the kind."
_OWN = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "selfLink")
"""Fields of an object's metadata that no answer depends on."""

_EXAMPLES = """\b
Examples:
  karta-interpreter create suite -f karta.yaml --object trainjob.yaml
  karta-interpreter create suite -f karta.yaml --object objects/ --output-dir testdata/
"""


@command.command("suite", epilog=_EXAMPLES)
@definitions
@inputs("--object", "paths", text="Workloads to ask about")
@output_dir_option(help="Write a file for each operation there.")
def suite_command(filenames: tuple[str, ...], paths: tuple[str, ...], output_dir: Path | None) -> None:
    """Draft golden cases for a definition, with today's answers as expected outputs.

    Each workload is asked all operations but Retain, which needs what a member cluster made of it. An answer is only as
    right as the definition: a TODO in each case stands for the reason that a person has to find.
    """
    check_stdin((*filenames, *paths))
    if not paths:
        raise UsageProblem(NO_WORKLOAD)
    files: dict[str, list[str]] = {}
    workloads = [each for path in paths for each in read_objects(path)]
    if not workloads:
        raise UsageProblem(f"error: {', '.join(paths)}: it has no object")
    for workload in workloads:
        for call, fields in _cases(_cleaned(workload), filenames):
            files.setdefault(f"{call.operation.lower()}.yaml", []).append(to_authored_yaml(fields))
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
    # A count of 0 becomes 2: zero twice would be no change.
    return None if outcome.results is None else 2 * (outcome.results["replica"] or 1)


def _case(name: str, call: Call, output: Object) -> Object:
    fields: dict[str, JSON] = {"name": name, "description": _TODO}
    fields["observedObj" if call.operation in LIVE else "desiredObj"] = call.object
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
