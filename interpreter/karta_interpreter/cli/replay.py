"""``karta-interpreter replay``: asks recorded questions again, and groups the answers that differ."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from sys import getsizeof
from typing import Final, NamedTuple

import click
import orjson

from karta_interpreter.base.errors import InterpretationError, RecordingError, RequestError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, JSON
from karta_interpreter.cli.calls import print_line
from karta_interpreter.cli.changes import CATALOGUE, Side, difference_lines, print_changes
from karta_interpreter.cli.explain import show
from karta_interpreter.cli.files import check_stdin
from karta_interpreter.cli.options import FOLDER, FULL, kind_option, output, side_option
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import one_line, say, table, watched, written
from karta_interpreter.definitions.karta import Definition, resolved
from karta_interpreter.definitions.sources.snapshot import EVERYTHING, Selection
from karta_interpreter.engine.comparison.cause import cause_of
from karta_interpreter.engine.comparison.change import answer_of, differences, differences_json
from karta_interpreter.engine.comparison.interpreter import CallOutcome
from karta_interpreter.engine.evaluation import unknown_devices
from karta_interpreter.engine.operations import COUNTING_OPERATIONS, Call, Operation, Options
from karta_interpreter.engine.suites import Difference
from karta_interpreter.webhook.wire import Request, encode_results, request_of
from karta_interpreter.webhook.wire.recording import RecordedCall, files_in, read, results_of

_MOST_OTHERS: Final = 20
_MOST_EXAMPLES: Final = 3
# Calls with differences at the same places of a kind that get their own cause. The others get the last cause.
_MOST_EXPLAINED: Final = 20
# Bytes of kinds, names, causes and examples that are kept of all calls.
_MOST_KEPT: Final = 64 << 20
# Bytes that a kept text takes next to its characters.
_ENTRY: Final = 256
# Bytes that a value takes for each character in which it is written.
_PARSED: Final = 8
_UNKNOWN_KIND: Final = 404
_NOT_ANSWERED: Final = (_UNKNOWN_KIND, 400)
_OVERLOADED: Final = (503, 504)
_MARK: Final = b"redacted-"
_LOOKS_UP: Final = "the definition reads other objects, or hidden values, which a recording does not have"


class Key(NamedTuple):
    """The common properties of the answers of a group."""

    gvk: GVK
    operation: Operation
    cause: str


class Example(NamedTuple):
    """A call of a group. ``redacted``: values were left out of it, which may be the reason for the difference."""

    uid: str
    name: str
    redacted: bool
    differences: tuple[Difference, ...]


@dataclass
class ChangeGroup:
    """Answers that differ for one cause: their number, the objects that they are about, and some of them."""

    calls: int = 0
    objects: set[str] = field(default_factory=set)
    examples: list[Example] = field(default_factory=list)


@dataclass
class Findings:
    """The content of replayed files: the calls by kind and operation, the differing answers, and the omissions.

    ``others`` are kinds that were not selected.
    """

    asked: Counter[tuple[GVK, Operation]] = field(default_factory=Counter)
    groups: dict[Key, ChangeGroup] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    others: set[str] = field(default_factory=set)

    @property
    def different(self) -> int:
        """How many answers differ."""
        return sum(group.calls for group in self.groups.values())


class Replay:
    """Asks the calls of files about selected kinds again.

    ``after`` answers are compared with the answers of ``before``, or without it with the recorded answers.
    """

    def __init__(self, before: Side | None, after: Side, selection: Selection = EVERYTHING) -> None:
        self._before, self._after, self._selection = before, after, selection
        self.findings = Findings()
        self._causes: dict[tuple[GVK, Operation, str], tuple[int, str]] = {}
        self._room = _MOST_KEPT

    def file(self, path: Path) -> Findings:
        """Ask the calls of a file, and return the findings of all files so far."""
        for recorded in recorded_calls(path, self.findings.left_out):
            self._replay(recorded)
        return self.findings

    def _replay(self, recorded: RecordedCall) -> None:
        findings = self.findings
        if self._room <= 0:
            findings.left_out[f"the findings have passed {_MOST_KEPT >> 20} MiB, and the call is not compared"] += 1
            return
        try:
            request = request_of(recorded.request)
            gvk, call = _question(request)
            if not self._selection.takes(gvk):
                if len(findings.others) < _MOST_OTHERS:
                    findings.others.add(gvk.kind)
                return
            changed = self.differences(recorded, request)
        except (RecordingError, RequestError) as error:
            findings.left_out[str(error)] += 1
            return
        if (gvk, call.operation) not in findings.asked:
            self._charge(*gvk)
        findings.asked[gvk, call.operation] += 1
        if not changed:
            return
        interpreter = self._after.find(gvk)
        if interpreter and _looks_up(interpreter.entry.definition, call, recorded.options):
            findings.left_out[f"{gvk.kind}: {_LOOKS_UP}"] += 1
            return
        key = Key(gvk, call.operation, self._cause(gvk, call, recorded.options, changed))
        self._add(findings.groups.setdefault(key, ChangeGroup()), recorded, request, changed)

    def _add(
        self, group: ChangeGroup, recorded: RecordedCall, request: Request, changed: tuple[Difference, ...]
    ) -> None:
        name = "/".join(filter(None, [request.namespace, request.name]))
        group.calls += 1
        if name not in group.objects:
            self._charge(name)
        group.objects.add(name)
        if len(group.examples) < _MOST_EXAMPLES:
            self._charge(request.uid, *[repr(changed)] * _PARSED)
            group.examples.append(Example(request.uid, name, _MARK in orjson.dumps(recorded.request), changed))

    def differences(self, recorded: RecordedCall, request: Request) -> tuple[Difference, ...]:
        """Return the differences between the two answers to a recorded call. Raises RecordingError."""
        gvk, call = _question(request)
        after = answer_of(self._after.find(gvk), call, (), recorded.options, print_line)
        if self._before:
            before = answer_of(self._before.find(gvk), call, (), recorded.options, print_line)
            return tuple(differences(before, after))
        if after and after.results is not None:
            try:
                # Most answers are the same, and as bytes that is known soonest.
                if (
                    orjson.loads(encode_results(request, after.results, recorded.options))["response"]
                    == recorded.answer
                ):
                    return ()
            except InterpretationError as error:
                after = CallOutcome(call, failure=str(error))
        return tuple(differences(_recorded_answer(recorded, call, is_answered=after is not None), after))

    def _cause(self, gvk: GVK, call: Call, options: Options, changed: tuple[Difference, ...]) -> str:
        places = set[str]()
        for difference in changed:
            places.add(".".join(str(step) for step in difference.path if isinstance(step, str)))
        key = gvk, call.operation, " ".join(sorted(places))
        times, cause = self._causes.get(key, (0, ""))
        if times < _MOST_EXPLAINED:
            before = self._before.find(gvk) if self._before else None
            cause = cause_of(before, self._after.find(gvk), call, (), options, changed)
            self._causes[key] = times + 1, cause
            self._charge(key[2], cause)
        return cause

    def _charge(self, *texts: str) -> None:
        self._room -= sum(getsizeof(text) + _ENTRY for text in texts)


def _looks_up(definition: Definition, call: Call, options: Options) -> bool:
    """Return whether an answer depends on objects, or on served versions, that a recording does not have."""
    if call.operation is Operation.INTERPRET_DEPENDENCY and definition.annotations.versioned_dependencies:
        return True
    if definition.references or call.operation not in COUNTING_OPERATIONS:
        return bool(definition.references)
    with suppress(InterpretationError):
        return any(unknown_devices(resolved(definition, call.object, None, options.devices), call.object))
    return False


def recorded_calls(path: Path, left_out: Counter[str]) -> Iterator[RecordedCall]:
    """Yield the calls of a file, and count what cannot be read."""
    try:
        for call in read(path):
            if isinstance(call, RecordedCall):
                yield call
            else:
                left_out[f"{path.name}: {call}"] += 1
    except (OSError, RecordingError) as error:
        left_out[f"{path.name}: {error}"] += 1


def _recorded_answer(recorded: RecordedCall, call: Call, *, is_answered: bool) -> CallOutcome | None:
    """Return the answer of the server. Raises RecordingError if the server had no time for one."""
    answer = recorded.answer
    if answer.get("successful"):
        return CallOutcome(call, results_of(call, answer))
    status = answer.get("status") or {}
    if status.get("code") in _OVERLOADED:
        raise RecordingError(f"the server answered {status['code']}: it had no time for the call")
    # A definition that leaves the operation out has answered so.
    silent = (_UNKNOWN_KIND,) if is_answered else _NOT_ANSWERED
    return None if status.get("code") in silent else CallOutcome(call, failure=str(status.get("message")))


def _question(request: Request) -> tuple[GVK, Call]:
    if request.call is None or request.gvk is None:
        # The answer is an error about the request itself.
        raise RecordingError("the request is not a question")
    return request.gvk, request.call


_EXAMPLES = """\b
Examples:
  karta-interpreter replay recordings/
  karta-interpreter replay recordings/ --to my-raycluster.yaml
  karta-interpreter replay recordings/ --from old-catalogue.yaml --to catalogue --to my/ --kinds RayCluster
  karta-interpreter replay recordings/ --explain 3f1d8f0e-6a0b-4f4e-9c1d-000000000001
"""
_SIDE = 'a file or folder of definitions, a kind of the catalogue, or "catalogue"; may be repeated.'


@click.command("replay", epilog=_EXAMPLES)
@click.argument("folder", type=FOLDER)
@side_option("--from", "before", help=f"What answered before: {_SIDE} Default: the recorded answers.")
@side_option("--to", default=[CATALOGUE], show_default=CATALOGUE, help=f"What answers now: {_SIDE}")
@kind_option(
    "--kinds", help='Replay only calls about this kind: KIND, apiVersion/KIND or "apiVersion/*"; may be repeated.'
)
@click.option("--explain", "uid", metavar="UID", help="Explain the answer to the request with this uid.")
@FULL
@output("table", "json")
def command(
    folder: Path,
    before: tuple[str, ...],
    to: tuple[str, ...],
    kinds: tuple[str, ...],
    uid: str | None,
    output: str,
    *,
    full: bool,
) -> None:
    """Ask recorded questions again and show which answers change.

    FOLDER has recordings of `serve --record`. With --from, both sides answer the same questions, so values that a
    recording leaves out cannot make a difference. With several files and folders, they take precedence in their order,
    and the catalogue comes last, as `serve` has them. Answers that differ are grouped by kind, operation and cause: the
    expressions or annotations of the new definition that cause the differences. Two errors count as equal.
    Unreadable recordings are counted and named. The exit code is 1 when an answer differs, or if no call is compared.
    """
    check_stdin([*before, *to])
    files = files_in(folder)
    if not files:
        raise Problem(f"error: {folder}: there is no recording of calls in it; `serve --record FOLDER` writes some")
    compared_sides = Side(before) if before else None, Side(to)
    if uid is not None:
        _explain(files, uid, compared_sides, output, full=full)
        return
    replay = Replay(*compared_sides, Selection(kinds))
    for file in watched(files, "Replaying"):
        replay.file(file)
    findings = replay.findings
    unknown = [gvk for gvk in sorted({gvk for gvk, _ in findings.asked}) if not compared_sides[1].find(gvk)]
    groups = sorted(findings.groups.items(), key=lambda group: (group[0].gvk, group[0].operation, -group[1].calls))
    text = _table(groups, full=full) if output == "table" else written(_json(groups, findings), output)
    asked_calls = f"{count(findings.asked.total(), 'call')} in {count(len(files), 'file')}"
    warnings = _warnings(findings, kinds, unknown)
    print_changes(text, warnings, asked_calls, (), findings.different, compared=bool(findings.asked))


def _warnings(findings: Findings, kinds: Sequence[str], unknown: Sequence[GVK]) -> Iterator[str]:
    others = f"; others are about {', '.join(sorted(findings.others))}" if findings.others else ""
    for kind in kinds:
        if not any(Selection((kind,)).takes(gvk) for gvk, _ in findings.asked):
            yield f"--kinds {kind}: no recorded call is about it{others}"
    for gvk in unknown:
        yield f"--to has no definition for {gvk}"
    for reason, times in sorted(findings.left_out.items()):
        yield f"left out {times} times: {reason}" if times > 1 else f"left out: {reason}"


def _table(groups: list[tuple[Key, ChangeGroup]], *, full: bool) -> str:
    if not groups:
        return ""
    rows, examples = list[list[str]](), list[str]()
    for key, group in groups:
        kind = f"{key.gvk.api_version} {key.gvk.kind}"
        rows.append([kind, key.operation, f"{group.calls:,}", f"{len(group.objects):,}", key.cause])
        shown = group.examples[0]
        redacted = "; values were left out of the recording" if shown.redacted else ""
        title = click.style(one_line(f"{key.gvk.kind} {shown.name}: {key.operation}"), bold=True)
        lines = [f"{title} (uid {one_line(shown.uid)}{redacted})", *difference_lines(shown.differences, full=full)]
        examples.append("".join(f"{line}\n" for line in lines))
    return "\n".join([table(rows, header=["KIND", "OPERATION", "ANSWERS", "OBJECTS", "CAUSE"]), *examples])


def _json(groups: list[tuple[Key, ChangeGroup]], findings: Findings) -> JSON:
    return {
        "calls": findings.asked.total(),
        "different": findings.different,
        "groups": [_group_json(key, group) for key, group in groups],
        "leftOut": dict(findings.left_out),
    }


def _group_json(key: Key, group: ChangeGroup) -> JSON:
    return {
        **key.gvk.type_meta,
        "operation": str(key.operation),
        "cause": key.cause,
        "answers": group.calls,
        "objects": len(group.objects),
        "examples": [
            {**example._asdict(), "differences": differences_json(example.differences)} for example in group.examples
        ],
    }


def _explain(files: list[Path], uid: str, compared_sides: tuple[Side | None, Side], output: str, *, full: bool) -> None:
    recorded, request = _find(files, uid)
    interpreter = compared_sides[1].find(request.gvk) if request.gvk else None
    if request.call is None or interpreter is None:
        raise Problem(f"error: --to has no answer to {uid}: {request.problem or f'no definition for {request.gvk}'}")
    changed = Replay(*compared_sides).differences(recorded, request)
    answer = "The answer of --from" if compared_sides[0] else "The recorded answer"
    lines = "\n".join([f"{answer} differs:", *difference_lines(changed, full=full)])
    say(lines if changed else f"{answer} is the same.", err=True)
    show(
        interpreter,
        [request.call],
        (),
        "text" if output == "table" else output,
        recorded.options,
        strict=False,
    )


def _find(files: list[Path], uid: str) -> tuple[RecordedCall, Request]:
    left_out = Counter[str]()
    for path in files:
        for recorded in recorded_calls(path, left_out):
            if recorded.answer.get("uid") == uid:
                return recorded, request_of(recorded.request)
    reasons = "".join(f"; {reason}" for reason in left_out)
    raise Problem(f"error: there is no request {uid} in the recordings, which name it in request.uid{reasons}")
