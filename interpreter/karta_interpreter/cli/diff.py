"""``karta-interpreter diff``: where two definitions answer differently about the same objects."""

import io
import json
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from karta_interpreter.base.errors import InterpretationError, SuiteError
from karta_interpreter.base.findings import count, format_path
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.gvk import GVK
from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.base.k8s.values import JSON, MOST_REPLICAS, NOTHING, Object, field_path
from karta_interpreter.base.suggestion import did_you_mean
from karta_interpreter.cli.calls import Outcome, ask
from karta_interpreter.cli.definitions import DEFINITIONS, Interpreter, NoDefinition, interpreter_for
from karta_interpreter.cli.files import STDIN, check_stdin, is_url, manifest_errors, read_texts
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
from karta_interpreter.cli.render import full_name, one_line, written
from karta_interpreter.definitions.karta.loading import CORE
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.operations import Call, Operation, Options, StatusItem
from karta_interpreter.engine.suites.comparison import Difference, compare
from karta_interpreter.engine.suites.suite import find_suites, read_suite

_EXAMPLES = """\b
Examples:
  karta-interpreter diff --from customization.yaml --to karta.yaml --object objects/
  karta-interpreter diff --from RayCluster --to my-raycluster.yaml --object raycluster.yaml
  karta-interpreter diff --from catalogue@v0.1.0 --to catalogue --object kartas/
"""
_EXCERPT = 160
_SILENT = "not answered"
MEMBERS = ("member1", "member2")
_CATALOGUE = "catalogue"
_FOLDER = "kartas"
"""Where a repository has the catalogue, a folder for each group, version and kind."""
Side = Callable[[GVK], Interpreter | None]
"""One side: what answers for a kind, None where nothing does."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call, and where it comes from: the object, and the case of a suite if there is one."""

    gvk: GVK
    call: Call
    source: str
    line: int
    case: str = ""
    references: tuple[Object, ...] = ()

    @property
    def title(self) -> str:
        """The object, or the case, as people call it."""
        return self.case or full_name(self.call.object.get("metadata")) or "(no name)"


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


def read_questions(paths: Sequence[str], replicas: Callable[[Object], int]) -> list[Question]:
    """Read the calls of suites and of objects; raises Problem for what is neither.

    Definitions and customizations are passed over, so that a folder of the catalogue can be given. ``replicas`` is
    the count that ReviseReplica writes into a plain object.
    """
    # By their names: a suite is found below a folder, and may be named by itself as well.
    texts = dict(text for path in paths for place in (path, *_suites(path)) for text in read_texts(place))
    found = [each for source, text in texts.items() for each in _read(text, source, replicas)]
    if not found:
        raise UsageProblem(f"error: {', '.join(paths)}: there is no object and no suite in it")
    return found


def _suites(path: str) -> Iterator[str]:
    """Yield the suites below a folder, which a scan for definitions leaves out."""
    if path != STDIN and Path(path).is_dir():
        yield from map(str, find_suites(Path(path)))


def _read(text: str, source: str, replicas: Callable[[Object], int]) -> Iterable[Question]:
    try:
        with manifest_errors(source):
            objects = read_objects(text, source)
        if any(_is_case(value) for _, _, value in objects):
            return [
                Question(GVK.of(case.call.object), case.call, source, case.line, case.name, case.references)
                for case in read_suite(text, source)
            ]
    except (SuiteError, InterpretationError) as error:
        raise Problem(f"error: {error}") from error
    return [
        question
        for document, _, value in objects
        if edit.get(value, ("kind",)) not in DEFINITIONS
        for question in _of_object(value, source, document.line, replicas)
    ]


def _is_case(value: JSON) -> bool:
    return isinstance(value, dict) and "operation" in value and "kind" not in value


def _of_object(obj: JSON, source: str, line: int, replicas: Callable[[Object], int]) -> Iterator[Question]:
    try:
        gvk = GVK.of(obj if isinstance(obj, dict) else {})
    except InterpretationError as error:
        raise Problem(f"error: {source}:{line}: {error}") from error
    # The object is the template, and what two members report and run.
    template = {field: content for field, content in obj.items() if field != "status"}
    items = tuple(StatusItem(member, obj["status"]) for member in MEMBERS) if "status" in obj else ()
    for operation in Operation:
        yield Question(gvk, Call.of(operation, template, obj, replicas(obj), items), source, line)


def side_of(text: str, opened: ExitStack) -> Side:
    """Read a side as the command line names it; raises UsageProblem for an unknown name.

    A path holds Kartas or customizations. ``catalogue`` is the embedded one, a kind is one definition of it, and
    ``@REVISION`` after either takes the catalogue from a git revision. ``opened`` removes what was checked out.
    """
    if text == STDIN or is_url(text) or Path(text).exists():
        return cache(lambda gvk: _given(gvk, [text]))
    name, at, revision = text.partition("@")
    if at and (not revision or revision.startswith("-")):  # git would take it for an option
        raise UsageProblem(f"error: {text}: give a git revision after the @")
    folder = _checked_out(revision, opened) if revision else None
    if name != _CATALOGUE:
        _check_kind(name, folder)
    find = partial(_at_revision, folder) if folder else partial(_given, paths=[])
    return cache(lambda gvk: find(gvk) if _is_about(name, gvk) else None)


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (_CATALOGUE, *gvk.names)


def _check_kind(name: str, folder: Path | None) -> None:
    """Raise UsageProblem for a kind that neither the embedded catalogue has, nor the one in a folder."""
    known = [entry.definition.gvk for entry in load_catalogue().entries]
    if folder:
        known += [GVK(*path.parts[-4:-1]) for path in folder.glob("*/*/*/karta.yaml")]
    if not any(_is_about(name, gvk) for gvk in known):
        hint = did_you_mean(name, sorted({gvk.kind for gvk in known}))
        known_sides = "a kind of the catalogue or catalogue[@REVISION]"
        raise UsageProblem(f"error: {name} is not a file, {known_sides}; {hint}")


def _given(gvk: GVK, paths: list[str]) -> Interpreter | None:
    try:
        return interpreter_for(gvk, paths, [])
    except NoDefinition:
        return None


def _at_revision(folder: Path, gvk: GVK) -> Interpreter | None:
    place = folder / (gvk.group or CORE) / gvk.version / gvk.kind
    return _given(gvk, [str(place)]) if place.is_dir() else None


def _checked_out(revision: str, opened: ExitStack) -> Path:
    """Return a folder with the catalogue of a git revision of the repository around the current folder."""
    top = _git(revision, "rev-parse", "--show-toplevel").decode().strip()
    # git archive takes a path relative to the current folder, which may be below the top.
    content = _git(revision, "-C", top, "archive", "--format=tar", revision, "--", _FOLDER)
    folder = Path(opened.enter_context(TemporaryDirectory(prefix="karta-interpreter-")))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")  # no links or paths out of the folder: a repository may be hostile
    return folder / _FOLDER


def _git(revision: str, *arguments: str) -> bytes:
    problem = f"error: cannot read the catalogue of git revision {revision}"
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout  # noqa: S603, S607 - no shell
    except FileNotFoundError as error:
        raise Problem(f"{problem}: git is not installed") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()
        raise Problem(f"{problem}: {reason[-1] if reason else 'git failed'}") from error
