"""``karta-interpreter explain``: why an answer is what it is, and what a definition reads for each operation."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from karta_interpreter.cli import options
from karta_interpreter.cli.calls import Arguments, calls_for, operation_named, print_line
from karta_interpreter.cli.definitions import Interpreter, definitions_named
from karta_interpreter.cli.explanations import explanations_markdown, explanations_text, width
from karta_interpreter.cli.files import STDIN, check_stdin, is_url, read_items, read_object, read_objects
from karta_interpreter.cli.options import (
    LATER,
    complete_kinds_and_files,
    complete_operations,
    definitions,
    inputs,
    output,
)
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import full_name, one_line, written
from karta_interpreter.explain import Explanation, Fact, explain, outline
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.karta.schema import KARTA, RESOURCE_INTERFACE
from karta_interpreter.operations import Call, Operation
from karta_interpreter.sources.files import ORIGIN

STRICT = "Exit with 3 when something was looked for and not found."
_STRICT_CODE = 3  # 1 is a failure, 2 wrong usage

_EXAMPLES = """\b
Examples:
  karta-interpreter explain RayCluster
  karta-interpreter explain raycluster.yaml
  karta-interpreter explain raycluster.yaml --operation InterpretHealth --strict
  kubectl get rayjob demo -o yaml | karta-interpreter explain - -o markdown
"""


@click.command("explain", epilog=_EXAMPLES)
@click.argument("target", required=False, metavar="[KIND|FILE]", shell_complete=complete_kinds_and_files)
@click.option("--object", "path", type=LATER, metavar="PATH", help='The workload, instead of FILE: file or "-".')
@click.option("--operation", metavar="NAME", shell_complete=complete_operations, help="Explain one operation.")
@click.option("--observed-file", type=LATER, metavar="PATH", help="The object as a member cluster has it, for Retain.")
@options.status_file
@options.desired_replica
@options.references
@definitions
@inputs("--override", "overrides", text="Customizations whose scripts override the definition")
@click.option("--strict", is_flag=True, help=STRICT)
@output("text", "json", "yaml", "markdown")
def command(
    target: str | None,
    path: str | None,
    operation: str | None,
    filenames: tuple[str, ...],
    overrides: tuple[str, ...],
    output: str,
    *,
    strict: bool,
    **given: JSON,
) -> None:
    """Show why an answer is what it is.

    FILE holds an object, "-" is stdin: for each operation the command shows which layer answers, and the chain from the
    answer to the object. Of a KIND of the catalogue, or a FILE with a Karta, it shows which expressions each operation
    reads; without KIND and FILE, those of the definitions in -f. The exit code is 1 when an operation gives an error.
    """
    asked = operation_named(operation) if operation else None
    if target and path:
        raise UsageProblem(f"error: give {target} or --object, not both")
    file = path or (target if target and _is_path(target) else None)
    files = [file, given["observed_file"], given["status_file"], *given["references"], *filenames, *overrides]
    check_stdin([each for each in files if each])
    if file is None or (path is None and _is_definition(file)):
        if not (target or filenames):
            raise UsageProblem("error: give a KIND, a FILE with an object, --object FILE, or definitions with -f FILE")
        named = definitions_named([], [file]) if file else definitions_named([target] if target else [], filenames)
        for each in named:
            origin = each.source if file or filenames else ORIGIN
            explanations = [outline(each, one, origin=origin) for one in Operation if asked in (None, one)]
            _print(f"{each.gvk.kind} {each.gvk.api_version}, by {each.name} ({origin})", explanations, output)
        return
    observed = None if given["observed_file"] is None else read_object(given["observed_file"])
    items = None if given["status_file"] is None else read_items(given["status_file"])
    arguments = Arguments(read_object(file), observed, items, given["desired_replica"])
    interpreter, calls = calls_for(arguments, operation, filenames, overrides)
    references = [each for path in given["references"] for each in read_objects(path)]
    show(interpreter, calls, references, output, strict=strict)


def _is_path(target: str) -> bool:
    if target == STDIN or is_url(target) or Path(target).exists():
        return True
    if Path(target).suffix in (".yaml", ".yml", ".json"):
        raise UsageProblem(f"error: {target}: there is no such file")
    return False


def _is_definition(path: str) -> bool:
    """Whether a file, or the first one of a folder, has a Karta; standard input is an object, as it is read once."""
    if path == STDIN:
        return False
    return any(
        (each.get("apiVersion"), each.get("kind")) in (KARTA, RESOURCE_INTERFACE) for each in read_objects(path)[:1]
    )


def show(
    interpreter: Interpreter, calls: Sequence[Call], references: Sequence[Object], form: str, *, strict: bool
) -> None:
    """Print the explanations of calls about one object; exit with 1 for an error, 3 for a warning if ``strict``."""
    definition, origin = interpreter.entry.definition, interpreter.entry.origin
    explanations = []
    for call in calls:
        found = explain(definition, call, origin=origin, reader=Known.of(references), on_print=print_line)
        if broken := interpreter.broken.get(call.operation):
            found = replace(found, facts=(), results=None, error=broken.placed_message)
        explanations.append(found)
    names = {f"{call.object['kind']} {full_name(call.object.get('metadata'))}" for call in calls}
    _print(f"{', '.join(sorted(names))}, by {definition.name} ({origin})", explanations, form)
    if any(each.error for each in explanations):
        raise SystemExit(Problem.exit_code)
    exit_if_strict([fact for each in explanations for fact in each.warnings], strict=strict)


def exit_if_strict(warnings: Sequence[Fact], *, strict: bool) -> None:
    """Exit with 3 for a warning if ``strict``."""
    if warnings and strict:
        raise SystemExit(_STRICT_CODE)


def _print(title: str, explanations: Sequence[Explanation], form: str) -> None:
    if form == "markdown":
        click.echo(explanations_markdown(title, explanations), nl=False)
    elif form in ("json", "yaml"):
        document = {"title": title, "explanations": [each.to_json() for each in explanations]}
        click.echo(written(document, form), nl=False)
    else:
        text = explanations_text(explanations, width())
        click.echo(f"{click.style(one_line(title), bold=True)}\n\n{text}", nl=False)
