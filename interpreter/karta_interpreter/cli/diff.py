"""``karta-interpreter diff``: the different answers of two definitions about the same objects."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import click

from karta_interpreter.base.command_line import command_line
from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import GVK, MOST_REPLICAS
from karta_interpreter.cli.calls import print_line
from karta_interpreter.cli.changes import Side, changes_text, difference_lines, print_changes
from karta_interpreter.cli.definitions import holds_objects
from karta_interpreter.cli.files import STDIN, check_stdin, exists, manifest_errors, read_texts
from karta_interpreter.cli.options import (
    FULL,
    GIVE_OBJECT,
    LATER,
    WholeNumber,
    answer_options,
    file_option,
    output,
    side_option,
)
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import written
from karta_interpreter.definitions.karta import Immutable
from karta_interpreter.engine.comparison.change import Change, change_of
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.comparison.questions import SourcedCall, questions_of
from karta_interpreter.engine.comparison.script_members import unasked
from karta_interpreter.engine.operations import Operation, Options, cannot_change
from karta_interpreter.engine.suites import find_suites

_EXAMPLES = """\b
Examples:
  karta-interpreter diff --from customization.yaml --to karta.yaml --object objects/
  karta-interpreter diff --from RayCluster --to my-raycluster.yaml --object raycluster.yaml
  karta-interpreter diff --from old-catalogue.yaml --to catalogue --object my-objects/
  karta-interpreter diff --from bindings --to catalogue --context karmada
"""

BINDINGS = "bindings"


@click.command("diff", epilog=_EXAMPLES)
@side_option("--from", "before", help="The definition before, required; may be repeated.")
@side_option("--to", "after", help="The definition after, required; may be repeated.")
@click.argument("files", nargs=-1, type=LATER, metavar="[FILE...]")
@file_option(
    "--object",
    "paths",
    callback=None,
    help="Objects and suites to ask about, with FILE: file, folder or -; may be repeated.",
)
@click.option(
    "--desired-replica",
    type=WholeNumber(0, MOST_REPLICAS),
    metavar="N",
    help="For ReviseReplica of plain objects. Default: one more than --from counts.",
)
@click.option(
    "--explain", "explained", is_flag=True, help="Show which expressions or annotations of --to cause the differences."
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Kubeconfig of karmada-apiserver, for --from bindings.",
)
@click.option("--context", metavar="NAME", help="Context of karmada-apiserver in the kubeconfig, for --from bindings.")
@FULL
@click.option("--details", is_flag=True, help="Show each object and answer of --from bindings.")
@answer_options
@output("table", "yaml", "json")
def command(  # noqa: PLR0913 - one for each option
    *,
    before: tuple[str, ...],
    after: tuple[str, ...],
    files: tuple[str, ...],
    paths: tuple[str, ...],
    desired_replica: int | None,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    options: Options,
    **shown: bool,
) -> None:
    """Show where two definitions answer differently about the same objects.

    SIDE is a file or folder of Kartas and customizations, a kind of the catalogue, or "catalogue". With several,
    files and folders take precedence in their order, and the catalogue comes last. Both sides answer every
    operation about a plain object, with a status that two members report, and ReviseComponents with one more pod of
    each component. Retain is asked with members that are made for this: with another value wherever either side may
    keep one, with little in the template, with the label that leaves replicas to members, and in a queue; what a
    script reads of the member has another value, or is absent on a side. A suite gives its own calls. Two errors
    count as equal. If a Karta of the catalogue is compared with a script, the known reason of a difference from
    Karmada's own script is shown. The exit code is 1 when an answer differs, or if neither side has a definition
    for any object.

    "bindings" as the only --from are the answers that a Karmada holds today, whoever gave them: of its bindings and
    Works, beside those that --to would give. It only reads. An object that cannot be read is in the output.
    """
    if BINDINGS in before and not exists(BINDINGS):
        if len(before) > 1 or files or paths or desired_replica is not None or not after:
            raise UsageProblem(
                "error: --from bindings takes --to, --kubeconfig and --context: the objects are those of the bindings"
            )
        # Imported only if needed: files are compared without the client of an API server.
        from karta_interpreter.cli.diff_bindings import show_bindings  # noqa: PLC0415 - see above

        show_bindings(Side(after), kubeconfig, context, output, options, **shown)
        return
    if kubeconfig or context:
        raise UsageProblem("error: --kubeconfig and --context are for --from bindings: give objects, or that")
    if not ((paths := files + paths) and before and after):
        raise _incomplete(before, after, files)
    check_stdin([*before, *after, *paths])
    compared_sides = Side(before), Side(after)
    questions = _questions(paths, compared_sides, desired_replica)
    changes = _distinct(_changes(questions, compared_sides, options, explained=shown["explained"]))
    gvks = dict.fromkeys(question.gvk for question in questions)
    warnings = [*_lacking(compared_sides, gvks)]
    for gvk in gvks:
        warnings += unasked([side.entry.definition for side in _found(compared_sides, gvk) if side])
    warnings += _immutable(changes, compared_sides[1])
    if before == after:
        warnings.append("--from and --to are the same, and so are their answers")
    elif not changes and not any(question.call.object.get("status") for question in questions):
        warnings.append("no object has a status, so health was hardly compared: give what `kubectl get -o yaml` prints")
    is_compared = any(interpreter for gvk in gvks for interpreter in _found(compared_sides, gvk))
    text = changes_text(changes, full=shown["full"])
    if output != "table":
        text = written([change.to_json() for change in changes], output)
    print_changes(text, warnings, count(len(questions), "question"), changes, len(changes), compared=is_compared)


def _questions(paths: Sequence[str], sides: tuple[Side, Side], replicas: int | None) -> list[SourcedCall]:
    """Read the calls of suites and of objects. Raises Problem for anything else."""
    # By their names: a suite is found below a folder, and may be named by itself as well.
    folders = [Path(path) for path in paths if path != STDIN and Path(path).is_dir()]
    suites = map(str, chain.from_iterable(map(find_suites, folders)))
    questions = list[SourcedCall]()
    for source, text in dict(chain.from_iterable(map(read_texts, (*paths, *suites)))).items():
        with manifest_errors(source):
            questions += questions_of(text, source, partial(_found, sides), replicas)
    if not questions:
        raise Problem(
            f"error: {', '.join(paths)}: there is no object and no suite in it: it is empty, or has definitions"
        )
    return questions


def _found(sides: tuple[Side, Side], gvk: GVK) -> tuple[Interpreter | None, Interpreter | None]:
    return sides[0].find(gvk), sides[1].find(gvk)


def _changes(
    questions: Iterable[SourcedCall], sides: tuple[Side, Side], options: Options, *, explained: bool
) -> Iterator[Change]:
    for question in questions:
        on_print = partial(print_line, source=f"{question.source}:{question.line}: ")
        yield change_of(question, *_found(sides, question.gvk), options, explained=explained, on_print=on_print)


def _incomplete(before: tuple[str, ...], after: tuple[str, ...], files: tuple[str, ...]) -> UsageProblem:
    texts = before + after + files
    if len(texts) > 1 and all(map(holds_objects, texts)):
        return UsageProblem(
            f"error: {listed(texts)} are objects: diff compares what two definitions (--from, --to) answer about the "
            "same object; `interpret` answers about each"
        )
    if before and after:
        return UsageProblem(f"error: {GIVE_OBJECT}; --from and --to take definitions, which answer about it")
    objects = [*filter(holds_objects, files)]  # other names are meant to be sides
    words = iter([word for word in files if word not in objects])
    template, own = "diff", list[str]()
    for option, names in (("--from", before), ("--to", after)):
        for side in names or [next(words, "SIDE")]:
            template += f" {option} {{{len(own)}}}"
            own.append(side)
    for path in (*words, *objects):
        template += f" {{{len(own)}}}"
        own.append(path)
    return UsageProblem(
        f"error: name both sides: {command_line(template, *own)}; "
        "a side is a definition, which is asked about the objects"
    )


def _lacking(sides: tuple[Side, Side], gvks: Iterable[GVK]) -> Iterator[str]:
    """Yield the kinds that a side has no definition for."""
    for gvk in gvks:
        match [bool(side.find(gvk)) for side in sides]:
            case [False, False]:
                yield f"neither side has a definition for {gvk}"
            case [False, True]:
                yield f"--from has no definition for {gvk}"
            case [True, False]:
                yield f"--to has no definition for {gvk}"


def _immutable(changes: Iterable[Change], side: Side) -> Iterator[str]:
    """Yield the paths that belong to the member, whatever the template has there, if an answer of Retain differs."""
    for gvk in dict.fromkeys(change.gvk for change in changes if change.operation == Operation.RETAIN):
        interpreter = side.find(gvk)
        for rule in interpreter.entry.definition.annotations.retain if interpreter else ():
            if isinstance(rule, Immutable) and rule.is_final:
                yield f"{rule.place.text} {cannot_change(gvk.kind)}"


def _distinct(changes: Iterable[Change]) -> list[Change]:
    """Return the changes with differences. About one object and operation, each difference appears once."""
    distinct, shown = list[Change](), set[object]()
    for change in changes:
        place = change.gvk, change.operation, change.source, change.line
        new = {(place, *difference_lines([difference], full=True)) for difference in change.differences} - shown
        if new:
            shown |= new
            distinct.append(change)
    return distinct
