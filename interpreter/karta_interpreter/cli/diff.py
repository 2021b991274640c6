"""``karta-interpreter diff``: the different answers of two definitions about the same objects."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import GVK, JSON, MOST_REPLICAS, Object
from karta_interpreter.cli.calls import ask
from karta_interpreter.cli.changes import (
    Side,
    answer_of,
    cause_of,
    difference_lines,
    differences,
    differences_json,
    print_changes,
    reason_of,
)
from karta_interpreter.cli.definitions import Interpreter, holds_objects, with_cluster
from karta_interpreter.cli.diff_input import SourcedCall, Targets, read_questions
from karta_interpreter.cli.files import check_stdin, exists
from karta_interpreter.cli.options import (
    FULL,
    LATER,
    NO_OBJECT,
    WholeNumber,
    answer_options,
    file_option,
    output,
    side_option,
)
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import one_line, watched, written
from karta_interpreter.cli.script_members import unasked
from karta_interpreter.definitions.karta import Definition, Immutable
from karta_interpreter.engine.operations import Call, Operation, Options, TargetComponent, cannot_change
from karta_interpreter.engine.suites import Difference

_EXAMPLES = """\b
Examples:
  karta-interpreter diff --from customization.yaml --to karta.yaml --object objects/
  karta-interpreter diff --from RayCluster --to my-raycluster.yaml --object raycluster.yaml
  karta-interpreter diff --from old-catalogue.yaml --to catalogue --object my-objects/
  karta-interpreter diff --from bindings --to catalogue --context karmada
"""

BINDINGS = "bindings"


class ChangedAnswer(NamedTuple):
    """A question with different answers.

    ``known`` is the reason in `KNOWN_FILE`, and ``cause`` that of the new answer, if it was asked for.
    """

    question: SourcedCall
    differences: tuple[Difference, ...]
    known: str = ""
    cause: str = ""


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
        _diff_bindings(Side(after), kubeconfig, context, output, options, **shown)
        return
    if kubeconfig or context:
        raise UsageProblem("error: --kubeconfig and --context are for --from bindings: give objects, or that")
    if not ((paths := files + paths) and before and after):
        raise _incomplete(before, after, files)
    check_stdin([*before, *after, *paths])
    compared_sides = Side(before), Side(after)
    questions = read_questions(
        paths, partial(_targets, compared_sides[0], desired_replica), partial(_definitions, compared_sides)
    )
    changes = _distinct(
        _changed_answer(
            (compared_sides[0].find(question.gvk), compared_sides[1].find(question.gvk)),
            question,
            options,
            explained=shown["explained"],
        )
        for question in questions
    )
    gvks = dict.fromkeys(question.gvk for question in questions)
    warnings = [*_lacking(compared_sides, gvks)]
    for gvk in gvks:
        warnings += unasked(_definitions(compared_sides, gvk))
    warnings += _immutable(changes, compared_sides[1])
    if before == after:
        warnings.append("--from and --to are the same, and so are their answers")
    elif not changes and not any(question.call.object.get("status") for question in questions):
        warnings.append("no object has a status, so health was hardly compared: give what `kubectl get -o yaml` prints")
    print_changes(
        _written(changes, output, full=shown["full"]),
        warnings,
        count(len(questions), "question"),
        len(changes),
        compared=any(side.find(gvk) for gvk in gvks for side in compared_sides),
        known=sum(bool(change.known) for change in changes),
    )


def _diff_bindings(
    side: Side,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    options: Options,
    *,
    explained: bool,
    full: bool,
) -> None:
    # Imported only if needed: files are compared without the client of an API server.
    from karta_interpreter.cli.diff_bindings import Comparison, show  # noqa: PLC0415 - see above
    from karta_interpreter.clusters.bindings import Bindings  # noqa: PLC0415 - see above

    def definition_of(gvk: GVK) -> Definition | None:
        interpreter = side.find(gvk)
        return interpreter.entry.definition if interpreter else None

    bindings = Bindings()
    with_cluster(kubeconfig, context, partial(bindings.read, find=definition_of, watched=watched))
    comparison = Comparison(bindings, side, options, explained)
    comparison.compare()
    show(comparison, output, full=full)


def _incomplete(before: tuple[str, ...], after: tuple[str, ...], files: tuple[str, ...]) -> UsageProblem:
    texts = before + after + files
    if len(texts) > 1 and all(map(holds_objects, texts)):
        return UsageProblem(
            f"error: {listed(texts)} are objects: diff compares what two definitions (--from, --to) answer about the "
            "same object; `interpret` answers about each"
        )
    if before and after:
        given = NO_OBJECT.partition(";")[0]
        return UsageProblem(f"error: {given}; --from and --to take definitions, which answer about it")
    objects = [*filter(holds_objects, files)]  # other names are meant to be sides
    words = iter([word for word in files if word not in objects])
    options = list[str]()
    for option, names in (("--from", before), ("--to", after)):
        options += [f"{option} {side}" for side in names or [next(words, "SIDE")]]
    return UsageProblem(
        f"error: name both sides: diff {' '.join([*options, *words, *objects])}; "
        "a side is a definition, which is asked about the objects"
    )


def _targets(side: Side, desired_replica: int | None, obj: Object) -> Targets:
    # One more pod than the side counts, and the counts of its components.
    interpreter = side.find(GVK.of(obj))
    counted: dict[str, Any] = {}
    if interpreter:
        for operation in (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT):
            counted.update(ask(interpreter, Call(operation, obj), source=None).results or {})
    total = counted.get("replica", 0) if desired_replica is None else desired_replica - 1
    parts = [TargetComponent(part["name"], part["replicas"]) for part in counted.get("components") or ()]
    return min(total + 1, MOST_REPLICAS) if isinstance(total, int) else 1, parts


def _definitions(sides: tuple[Side, Side], gvk: GVK) -> list[Definition]:
    return [interpreter.entry.definition for side in sides if (interpreter := side.find(gvk))]


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


def _immutable(changes: Iterable[ChangedAnswer], side: Side) -> Iterator[str]:
    """Yield the paths that belong to the member, whatever the template has there, if an answer of Retain differs."""
    questions = (change.question for change in changes)
    for gvk in dict.fromkeys(each.gvk for each in questions if each.call.operation is Operation.RETAIN):
        interpreter = side.find(gvk)
        for rule in interpreter.entry.definition.annotations.retain if interpreter else ():
            if isinstance(rule, Immutable) and rule.word == "immutable":
                yield f"{rule.place.text} {cannot_change(gvk.kind)}"


def _changed_answer(
    interpreters: tuple[Interpreter | None, Interpreter | None],
    question: SourcedCall,
    options: Options,
    *,
    explained: bool,
) -> ChangedAnswer:
    before, after = interpreters
    call, references = question.call, question.references
    source = f"{question.source}:{question.line}: "
    changed = tuple(differences(*(answer_of(side, call, references, options, source) for side in interpreters)))
    if not changed:
        return ChangedAnswer(question, ())
    cause = cause_of(before, after, call, references, options, changed) if explained else ""
    return ChangedAnswer(question, changed, reason_of(before, after, call.operation, changed), cause)


def _distinct(changes: Iterable[ChangedAnswer]) -> list[ChangedAnswer]:
    """Return the questions with different answers. About one object and operation, each difference appears once."""
    distinct = list[ChangedAnswer]()
    shown = set[object]()
    for change in changes:
        question = change.question
        place = question.gvk, question.call.operation, question.source, question.line
        new = {(place, *difference_lines([difference], full=True)) for difference in change.differences} - shown
        if new:
            shown |= new
            distinct.append(change)
    return distinct


def _written(changes: Sequence[ChangedAnswer], output: str, *, full: bool) -> str:
    """Return the changes as text. In a table a known reason stands at the first of its cases, with their number."""
    if output != "table":
        return written(list(map(_record, changes)), output)
    cases = Counter((change.question.gvk, change.known) for change in changes if change.known)
    text = ""
    for change in changes:
        text += _change_text(change, cases.pop((change.question.gvk, change.known), 0), full=full)
    return text


def _change_text(change: ChangedAnswer, cases: int, *, full: bool) -> str:
    question = change.question
    location = click.style(f"{question.source}:{question.line}: ", bold=True) if question.source else ""
    title = one_line(f"{location}{question.gvk.kind} {question.title}: {question.call.operation}")
    lines = [title, *difference_lines(change.differences, full=full)]
    if cases:
        number = f" ({cases} cases)" if cases > 1 else ""
        lines.append(f"  known, if it does as Karmada's script{number}: {one_line(change.known)}")
    elif change.known:
        lines.append("  known, for the reason above")
    if change.cause:
        lines.append(f"  cause: {one_line(change.cause)}")
    return "".join(f"{line}\n" for line in lines) + "\n"


def _record(change: ChangedAnswer) -> JSON:
    question = change.question
    reasons = {"known": change.known, "cause": change.cause}
    return {
        "source": question.source,
        "line": question.line,
        **question.gvk.type_meta,
        "name": question.title,
        "operation": str(question.call.operation),
        "differences": differences_json(change.differences),
        **{name: reason for name, reason in reasons.items() if reason},
    }
