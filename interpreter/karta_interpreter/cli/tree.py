"""``karta-interpreter tree``: what a workload is made of."""

from collections.abc import Callable

import click

from karta_interpreter.cli.definitions import interpreter_for
from karta_interpreter.cli.errors import Problem, UsageProblem
from karta_interpreter.cli.files import check_stdin, read_object, read_objects
from karta_interpreter.cli.render.document import to_json, to_yaml
from karta_interpreter.cli.render.tree import mermaid, tree_table, tree_text
from karta_interpreter.findings import escaped
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.workload import Karta, Workload, WorkloadTree

_FORMS: dict[str, Callable[[WorkloadTree], str]] = {
    "tree": tree_text,
    "table": tree_table,
    "json": lambda tree: to_json(tree.to_json()),
    "yaml": lambda tree: to_yaml(tree.to_json()),
    "mermaid": mermaid,
}


@click.command("tree")
@click.option("-f", "--filename", required=True, metavar="PATH", help='The workload: file or "-".')
@click.option("--pods", metavar="PATH", help='The pods of the workload, to see where they belong: file, folder or "-".')
@click.option(
    "--karta",
    "kartas",
    multiple=True,
    metavar="PATH",
    help='Definitions to use: file, folder or "-"; may be repeated. Default: the catalogue.',
)
@click.option(
    "--reference-file",
    "references",
    multiple=True,
    metavar="PATH",
    help='Objects that the definition may look up: file, folder or "-"; may be repeated.',
)
@click.option("-o", "--output", type=click.Choice([*_FORMS]), default="tree", show_default=True, help="How to print.")
def command(filename: str, pods: str | None, kartas: tuple[str, ...], references: tuple[str, ...], output: str) -> None:
    """Show what a workload is made of.

    These are its components with their instances, counts, resources and pods; counts are for the whole workload. A
    pod is recognised by the selectors of the definition among the pods of this workload: hand over no others. The
    exit code is 1 when a pod belongs nowhere.
    """
    check_stdin([path for path in (filename, pods, *kartas, *references) if path])
    tree = WorkloadTree.build(_workload(read_object(filename), kartas, references), _pods(pods))
    click.echo(_FORMS[output](tree), nl=False)
    for stray in tree.strays:
        click.echo(escaped(stray.reason), err=True)
    if tree.strays:
        raise SystemExit(Problem.exit_code)


def _workload(obj: Object, kartas: tuple[str, ...], references: tuple[str, ...]) -> Workload:
    definition = interpreter_for(GVK.of(obj), kartas, ()).entry.definition
    if not definition.has_karta:
        raise UsageProblem(f"error: {definition.name} is no Karta: scripts do not tell what a workload is made of")
    workload = Workload(Karta(definition), obj)
    found = [obj for path in references for obj in read_objects(path)]
    return workload.with_references(found) if found else workload


def _pods(path: str | None) -> list[Object]:
    if path is None:
        return []
    pods = [obj for obj in read_objects(path) if (obj.get("apiVersion"), obj.get("kind")) == ("v1", "Pod")]
    if not pods:
        raise UsageProblem(f"error: {path}: there is no Pod in it")
    return pods
