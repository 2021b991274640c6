"""``karta-interpreter query``: one expression, tried on an object."""

import os
from collections.abc import Iterator

import click
import orjson

from karta_interpreter.base.findings import closest
from karta_interpreter.base.k8s import JSON, NewObject, Object, Path, edit, field_path
from karta_interpreter.cli.answers import changes, short
from karta_interpreter.cli.files import file_given, read_object
from karta_interpreter.cli.options import LATER, file_option, output
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import findings_text, say, table, written
from karta_interpreter.definitions.karta.expressions import check_expression
from karta_interpreter.engine.explain.reading import paths_read
from karta_interpreter.languages.jq import Execution, Query

_MEANINGS = {
    Execution.PLAIN: "the server answers it at once",
    Execution.BOUNDED: "a separate process answers it, under a time limit",
    Execution.REFUSED: "a definition with it is not used",
}


_EXAMPLES = """\b
Examples:
  karta-interpreter query '.spec.workers[].replicas // 1' workload.yaml
  karta-interpreter query .spec.replicas workload.yaml --assign 3
"""


@click.command("query", epilog=_EXAMPLES)
@click.argument("expression", metavar="EXPRESSION")
@click.argument("target", required=False, type=LATER, metavar="[FILE]")
@file_option("--object", "path", help='The workload, instead of FILE: file or "-".')
@click.option("--assign", metavar="JSON", help="Show what writing this value through the expression changes.")
@output("table", "yaml", "json")
def command(expression: str, target: str | None, path: str | None, assign: str | None, output: str) -> None:
    """Try one jq expression of a definition on an object.

    The verdict says where the expression runs: plain in the server, bounded in a separate process; refused: it never
    runs. With a workload, each output is shown with the place that it is read from and through which it can be
    written.
    """
    path = file_given(target, path)
    if assign is not None and path is None:
        raise UsageProblem("error: --assign writes to an object: give FILE or --object FILE")
    if os.path.isfile(expression):  # noqa: PTH113 - Path raises OSError for a text of any length
        raise UsageProblem(f"error: {expression} is a file; give the expression first: query EXPRESSION {expression}")
    parsed, findings = check_expression((), expression)
    say(findings_text(findings), err=True, nl=False)
    if parsed is None:
        raise Problem(f"error: refused: {_MEANINGS[Execution.REFUSED]}")
    query = Query.compile(expression)
    answer: NewObject = {"expression": expression, "verdict": str(query.vetting.verdict)}
    if path is not None:
        workload = read_object(path)
        answer["outputs"] = list(_outputs(query, workload))
        absent = (path for path in paths_read(query, workload) if edit.get(workload, path) is None)
        if not answer["outputs"] and (first := next(absent, None)):
            say(": ".join([f"nothing at {field_path(first)}", *_typo(first, workload)]), err=True)
        if assign is not None:
            answer["changes"] = changes(workload, _assigned(query, workload, assign))
    say(_text(answer) if output == "table" else written(answer, output), nl=False)


def _outputs(query: Query, workload: Object) -> Iterator[Object]:
    values = query.evaluate(workload)
    locations = query.locate_each(workload) if query.is_plain else [None] * len(values)
    for value, location in zip(values, locations, strict=True):
        if location is None:
            yield {"value": value}
            continue
        is_default = location.default is not None and location.raw(workload) is None
        parts: list[str] = ["absent, so its default"] if is_default else _typo(location.path, workload)
        if location.factor != 1:
            parts.append(f"times {location.factor}")
        if location.floor is not None:
            parts.append(f"at least {location.floor}")
        if location.cap is not None:
            parts.append(f"at most {location.cap}")
        if location.numeral:
            parts.append("a text read as a number")
        how = {"how": ", ".join(parts)} if parts else {}
        yield {"value": value, "path": field_path(location.path), **how}


def _typo(path: Path, workload: Object) -> list[str]:
    """Return a hint if the first absent field of a path is like one that is there."""
    for at, field in enumerate(path):
        fields = edit.get(workload, path[:at])
        if isinstance(fields, dict) and field not in fields:
            suggestion = closest(str(field), fields)
            return [f"absent, did you mean {field_path((*path[:at], suggestion))}?"] if suggestion else []
    return []


def _assigned(query: Query, workload: Object, text: str) -> JSON:
    """Write the value of JSON text: a number as ReviseReplica does, any other value as a suspend action does."""
    try:
        value = orjson.loads(text)  # unlike `json`, no NaN, no half of a surrogate pair, and no depth without end
    except ValueError as error:
        reason = f"this is not JSON; a string needs quotes of its own: '\"{text}\"'"
        if text.lstrip(".").startswith(("spec.", "status.", "metadata.")) and "=" in text:
            value = text.partition("=")[2]
            reason = f"--assign takes the value, and the expression is its place: --assign {value}"
        raise UsageProblem(f"error: --assign {text}: {reason}") from error
    if type(value) is not int:
        return query.assign(workload, value)
    for index, location in enumerate(query.locate_each(workload), start=1):
        if location is None:
            raise Problem(f"error: output {index} is not read from one place, so nothing can be written through it")
        workload = location.write(workload, value)
    return workload


def _text(answer: Object) -> str:
    verdict = answer["verdict"]
    lines = [f"{click.style(verdict, bold=True)}: {_MEANINGS[Execution(verdict)]}\n"]
    if "outputs" in answer:
        rows = [
            [short(output["value"]), output.get("path", "computed"), output.get("how", "")]
            for output in answer["outputs"]
        ]
        lines.append(table(rows, header=["OUTPUT", "READ FROM", "HOW"]) if rows else "no output\n")
    if "changes" in answer:
        lines += [f"{line}\n" for line in answer["changes"] or ["no change"]]
    return "".join(lines)
