"""Asks recorded questions again, and groups the answers that differ."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sys import getsizeof
from typing import Final, NamedTuple

import orjson

from karta_interpreter.base.errors import InterpretationError, RecordingError, RequestError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli.calls import CallOutcome
from karta_interpreter.cli.changes import answer_of, cause_of, differences
from karta_interpreter.cli.sides import Side
from karta_interpreter.definitions.sources.snapshot import EVERYTHING, Selection
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.suites.comparison import Difference
from karta_interpreter.webhook.wire import Request, encode_results
from karta_interpreter.webhook.wire.recording import RecordedCall, read
from karta_interpreter.webhook.wire.request import request_of
from karta_interpreter.webhook.wire.results import results_of

_MOST_EXAMPLES: Final = 3
_MOST_EXPLAINED: Final = 20
"""Calls with differences at the same places of a kind that get their own cause. The others get the last cause."""
_MOST_KEPT: Final = 64 << 20
"""Bytes of kinds, names, causes and examples that are kept of all calls."""
_ENTRY: Final = 256
"""Bytes that a kept text takes next to its characters."""
_PARSED: Final = 8
"""Bytes that a value takes for each character in which it is written."""
_UNKNOWN_KIND: Final = 404
_NOT_ANSWERED: Final = (_UNKNOWN_KIND, 400)
_OVERLOADED: Final = (503, 504)
_MARK: Final = b"redacted-"
_LOOKS_UP: Final = "the definition looks up other objects, which a recording does not have"


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
    """The content of replayed files: the calls by kind and operation, the differing answers, and the omissions."""

    asked: Counter[tuple[GVK, Operation]] = field(default_factory=Counter)
    groups: dict[Key, ChangeGroup] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

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
                return
            found = self.differences(recorded, request)
        except (RecordingError, RequestError) as error:
            findings.left_out[str(error)] += 1
            return
        if (gvk, call.operation) not in findings.asked:
            self._charge(*gvk)
        findings.asked[gvk, call.operation] += 1
        if not found:
            return
        interpreter = self._after.find(gvk)
        if interpreter and interpreter.entry.definition.references:
            findings.left_out[f"{gvk.kind}: {_LOOKS_UP}"] += 1
            return
        name = "/".join(filter(None, [request.namespace, request.name]))
        is_redacted = _MARK in orjson.dumps(recorded.request)
        key = Key(gvk, call.operation, self._cause(gvk, call, recorded.options, found))
        group = findings.groups.setdefault(key, ChangeGroup())
        group.calls += 1
        if name not in group.objects:
            self._charge(name)
        group.objects.add(name)
        if len(group.examples) < _MOST_EXAMPLES:
            self._charge(request.uid, *[repr(found)] * _PARSED)
            group.examples.append(Example(request.uid, name, is_redacted, found))

    def differences(self, recorded: RecordedCall, request: Request) -> tuple[Difference, ...]:
        """Return the differences between the two answers to a recorded call. Raises RecordingError."""
        gvk, call = _question(request)
        after = answer_of(self._after.find(gvk), call, (), recorded.options)
        if self._before:
            return tuple(differences(answer_of(self._before.find(gvk), call, (), recorded.options), after))
        if after and after.results is not None:
            try:
                # Most answers are the same, and as bytes that is known soonest.
                if orjson.loads(encode_results(request, after.results))["response"] == recorded.answer:
                    return ()
            except InterpretationError as error:
                after = CallOutcome(call, error=str(error))
        return tuple(differences(_recorded_answer(recorded, call, is_answered=after is not None), after))

    def _cause(self, gvk: GVK, call: Call, options: Options, found: tuple[Difference, ...]) -> str:
        paths = sorted({".".join(str(part) for part in each.path if isinstance(part, str)) for each in found})
        key = gvk, call.operation, " ".join(paths)
        times, cause = self._causes.get(key, (0, ""))
        if times < _MOST_EXPLAINED:
            before = self._before.find(gvk) if self._before else None
            cause = cause_of(before, self._after.find(gvk), call, (), options, found)
            self._causes[key] = times + 1, cause
            self._charge(key[2], cause)
        return cause

    def _charge(self, *texts: str) -> None:
        self._room -= sum(getsizeof(text) + _ENTRY for text in texts)


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
    return None if status.get("code") in silent else CallOutcome(call, error=str(status.get("message")))


def _question(request: Request) -> tuple[GVK, Call]:
    if request.call is None or request.gvk is None:
        # The answer is an error about the request itself.
        raise RecordingError("the request is not a question")
    return request.gvk, request.call
