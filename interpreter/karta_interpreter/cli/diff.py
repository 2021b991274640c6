"""``karta-interpreter diff``: where two definitions answer differently about the same objects."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from typing import NamedTuple

import click

from karta_interpreter.base.findings import count, format_path
from karta_interpreter.base.k8s.gvk import GVK
from karta_interpreter.base.k8s.values import JSON, MOST_REPLICAS, NOTHING, Object, field_path
from karta_interpreter.cli.calls import Outcome, ask
from karta_interpreter.cli.definitions import Interpreter
from karta_interpreter.cli.diff_input import Question, Side, read_questions, side_of
from karta_interpreter.cli.files import check_stdin
from karta_interpreter.cli.options import (
    LATER,
    NO_WORKLOAD,
    WholeNumber,
    answer_options,
    complete_kinds_and_files,
    file_option,
    output,
)
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import one_line, written
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.suites.comparison import Difference, compare

_EXAMPLES = """\b
Examples:
  karta-interpreter diff --from customization.yaml --to karta.yaml --object objects/
  karta-interpreter diff --from RayCluster --to my-raycluster.yaml --object raycluster.yaml
  karta-interpreter diff --from catalogue@v0.1.0 --to catalogue --object kartas/
"""
_EXCERPT = 160
_SILENT = "not answered"


class Change(NamedTuple):
    """A question with different answers; ``differences`` has each place of them."""

    question: Question
    differences: tuple[Difference, ...]


_side = partial(click.option, required=True, metavar="SIDE", shell_complete=complete_kinds_and_files)
_OBJECTS = "Objects and suites to ask about, with FILE: file, folder or -; may be repeated."
_REPLICAS = "For ReviseReplica of plain objects. Default: one more than --from counts."


@click.command("diff", epilog=_EXAMPLES)
@_side("--from", "before", help="The definition before.")
@_side("--to", "after", help="The definition after.")
@click.argument("files", nargs=-1, type=LATER, metavar="[FILE...]")
@file_option("--object", "paths", multiple=True, help=_OBJECTS)
@click.option("--desired-replica", type=WholeNumber(0, MOST_REPLICAS), metavar="N", help=_REPLICAS)
@answer_options
@output("table", "yaml", "json", "markdown")
def command(
    before: str,
    after: str,
    files: tuple[str, ...],
    paths: tuple[str, ...],
    desired_replica: int | None,
    output: str,
    options: Options,
) -> None:
    """Show where two definitions answer differently about the same objects.

    SIDE is a file or folder of Kartas and customizations, a kind of the catalogue, "catalogue", or one of the last two
    with @REVISION of the git repository around the current folder. A plain object is asked every operation: its
    status is what each of two members reports. A suite gives its own calls. Two errors count as equal.
    The exit code is 1 when an answer differs.
    """
    paths = files + paths
    if not paths:
        raise UsageProblem(NO_WORKLOAD)
    check_stdin([before, after, *paths])
    with ExitStack() as opened:
        sides = side_of(before, opened), side_of(after, opened)

        def replicas(obj: Object) -> int:
            return _one_more(sides[0], obj) if desired_replica is None else desired_replica

        questions = read_questions(paths, replicas)
        changes = [change for question in questions if (change := _change(sides, question, options)).differences]
        unknown = [gvk for gvk in dict.fromkeys(each.gvk for each in questions) if not any(side(gvk) for side in sides)]
    if output == "table":
        click.echo("".join(map(_text, changes)), nl=False)
    elif output == "markdown":
        click.echo("".join(_markdown(changes, questions)), nl=False)
    else:
        click.echo(written([_record(change) for change in changes], output), nl=False)
    for gvk in unknown:
        click.echo(f"warning: neither side has a definition for {gvk}", err=True)
    differ = "answers differ" if len(changes) != 1 else "answer differs"
    click.echo(f"{count(len(questions), 'question')}: {len(changes)} {differ}", err=True)
    if changes:
        raise SystemExit(Problem.exit_code)


def _one_more(side: Side, obj: Object) -> int:
    interpreter = side(GVK.of(obj))
    outcome = interpreter and ask(interpreter, Call(Operation.INTERPRET_REPLICA, obj))
    counted = outcome.results.get("replica") if outcome and outcome.results else 0
    return min(counted + 1, MOST_REPLICAS) if isinstance(counted, int) else 1


def _change(sides: tuple[Side, Side], question: Question, options: Options) -> Change:
    before, after = (_answer(side(question.gvk), question, options) for side in sides)
    return Change(question, tuple(_differences(before, after)))


def _answer(interpreter: Interpreter | None, question: Question, options: Options) -> Outcome | None:
    """Return the answer of a side; None when nothing answers the operation there."""
    if interpreter is None or not interpreter.is_asked(question.call.operation):
        return None
    return ask(interpreter, question.call, question.references, options)


def _differences(before: Outcome | None, after: Outcome | None) -> Iterator[Difference]:
    if before and after and before.results is not None and after.results is not None:
        for name in sorted({*before.results, *after.results}):
            yield from compare(name, before.results.get(name), after.results.get(name))
        return
    here, there = _verdict(before), _verdict(after)
    if here != there and not (before and after and before.error and after.error):
        yield Difference((), here, there)


def _verdict(outcome: Outcome | None) -> JSON:
    if outcome is None:
        return _SILENT
    return f"error: {outcome.error}" if outcome.results is None else dict(outcome.results)


def _text(change: Change) -> str:
    question = change.question
    place = click.style(f"{question.source}:{question.line}:", bold=True)
    lines = [f"{place} {question.gvk.kind} {question.title}: {question.call.operation}"]
    for each in change.differences:
        if each.path:
            lines.append(f"  {field_path(each.path)}")
        lines += [
            click.style(f"  {sign} {_excerpt(value)}", fg=colour)
            for sign, colour, value in (("-", "red", each.expected), ("+", "green", each.actual))
            if value is not NOTHING
        ]
    return "".join(f"{one_line(line)}\n" for line in lines) + "\n"


def _excerpt(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def _record(change: Change) -> JSON:
    question = change.question
    return {
        "source": question.source,
        "line": question.line,
        **question.gvk.type_meta,
        "name": question.title,
        "operation": str(question.call.operation),
        "differences": [
            {"path": format_path(each.path)}
            | {side: value for side, value in (("from", each.expected), ("to", each.actual)) if value is not NOTHING}
            for each in change.differences
        ],
    }


def _markdown(changes: Sequence[Change], questions: Sequence[Question]) -> Iterator[str]:
    """Yield an item of a list for each kind and operation with its first difference, for release notes."""
    asked = Counter(map(_subject, questions))
    ordered = sorted(changes, key=lambda change: _subject(change.question))
    for (gvk, operation), group in groupby(ordered, key=lambda change: _subject(change.question)):
        found = list(group)
        first, *_ = found[0].differences
        sides = " → ".join("nothing" if value is NOTHING else f"`{_excerpt(value)}`" for value in first[1:])
        example = f"such as {found[0].question.title}: `{field_path(first.path)}` {sides}" if first.path else sides
        if not first.path and _SILENT in first[1:]:  # below a path it is a text of the answers
            example = "answered now" if first.expected == _SILENT else "no longer answered"
        number = f"{len(found)} of {count(asked[gvk, operation], 'answer')}"
        yield f"- {gvk.api_version} {gvk.kind}, {operation}: {number}, {example}.\n"


def _subject(question: Question) -> tuple[GVK, str]:
    return question.gvk, str(question.call.operation)
