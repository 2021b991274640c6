"""Asks recorded questions again, in several processes, and groups the answers that differ."""

import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from karta_interpreter.base.errors import InterpretationError, RecordingError, RequestError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli.calls import CallOutcome
from karta_interpreter.cli.changes import answer_of, cause_of, differences
from karta_interpreter.cli.diff_input import Side
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import watched
from karta_interpreter.engine.operations import Call, Operation, Options
from karta_interpreter.engine.suites.comparison import Difference
from karta_interpreter.webhook.wire import Request, encode_results
from karta_interpreter.webhook.wire.recording import RecordedCall, read
from karta_interpreter.webhook.wire.request import request_of
from karta_interpreter.webhook.wire.results import results_of

LEAST_BYTES: Final = 2**20
"""Bytes of recordings from which it pays to start processes."""
_MOST_EXAMPLES: Final = 3
_MOST_EXPLAINED: Final = 20
"""Calls with differences at the same places of a kind whose causes are looked for; the others have the last cause."""
_UNKNOWN_KIND: Final = 404
_NOT_ANSWERED: Final = (_UNKNOWN_KIND, 400)
_MARK: Final = b"redacted-"
_LOOKS_UP: Final = "the definition looks up other objects, which a recording does not have"


class Key(NamedTuple):
    """What the answers of a group have in common."""

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
class Group:
    """Answers that differ for one cause: their number, the objects that they are about, and some of them."""

    calls: int = 0
    objects: set[str] = field(default_factory=set)
    examples: list[Example] = field(default_factory=list)

    def add(self, other: "Group") -> None:
        """Take in what another group has found."""
        self.calls += other.calls
        self.objects |= other.objects
        self.examples += other.examples[: _MOST_EXAMPLES - len(self.examples)]


@dataclass
class Findings:
    """What replayed files have: the calls by kind and operation, the answers that differ, and what was left out."""

    asked: Counter[tuple[GVK, Operation]] = field(default_factory=Counter)
    groups: dict[Key, Group] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Findings") -> None:
        """Take in what other files have."""
        self.asked += other.asked
        self.left_out += other.left_out
        for key, group in other.groups.items():
            self.groups.setdefault(key, Group()).add(group)

    @property
    def different(self) -> int:
        """How many answers differ."""
        return sum(group.calls for group in self.groups.values())


class Replay:
    """Asks the calls of files again."""

    def __init__(self, side: Side) -> None:
        self._side = cache(side)
        self._causes: dict[tuple[GVK, Operation, str], tuple[int, str]] = {}

    def file(self, path: Path) -> Findings:
        """Return the findings of a file."""
        findings = Findings()
        try:
            for each in read(path):
                if isinstance(each, RecordedCall):
                    self._replay(each, findings)
                else:
                    findings.left_out[f"{path.name}: {each}"] += 1
        except (OSError, RecordingError) as error:
            findings.left_out[f"{path.name}: {error}"] += 1
        return findings

    def _replay(self, recorded: RecordedCall, findings: Findings) -> None:
        try:
            request = request_of(recorded.request)
            found = self.differences(recorded, request)
        except (RecordingError, RequestError) as error:
            findings.left_out[str(error)] += 1
            return
        gvk, call = _question(request)
        findings.asked[gvk, call.operation] += 1
        if not found:
            return
        interpreter = self._side(gvk)
        if interpreter and interpreter.entry.definition.references:
            findings.left_out[f"{gvk.kind}: {_LOOKS_UP}"] += 1
            return
        name = "/".join(filter(None, [request.namespace, request.name]))
        is_redacted = _MARK in orjson.dumps(recorded.request)
        group = Group(1, {name}, [Example(request.uid, name, is_redacted, found)])
        key = Key(gvk, call.operation, self._cause(gvk, call, recorded.options, found))
        findings.groups.setdefault(key, Group()).add(group)

    def differences(self, recorded: RecordedCall, request: Request) -> tuple[Difference, ...]:
        """Return where the answer to a recorded call differs now; raises RecordingError."""
        (gvk, call), answer = _question(request), recorded.answer
        after = answer_of(self._side(gvk), call, (), recorded.options)
        if after and after.results is not None:
            try:
                # Most answers are the same, and as bytes that is known soonest.
                if orjson.loads(encode_results(request, after.results))["response"] == answer:
                    return ()
            except InterpretationError as error:
                after = CallOutcome(call, error=str(error))
        if answer.get("successful"):
            before: CallOutcome | None = CallOutcome(call, results_of(call, answer))
        else:
            status = answer.get("status") or {}
            # A definition that leaves the operation out has answered so.
            silent = _NOT_ANSWERED if after is None else (_UNKNOWN_KIND,)
            before = None if status.get("code") in silent else CallOutcome(call, error=str(status.get("message")))
        return tuple(differences(before, after))

    def _cause(self, gvk: GVK, call: Call, options: Options, found: tuple[Difference, ...]) -> str:
        paths = sorted({".".join(str(part) for part in each.path if isinstance(part, str)) for each in found})
        key = gvk, call.operation, " ".join(paths)
        times, cause = self._causes.get(key, (0, ""))
        if times < _MOST_EXPLAINED:
            cause = cause_of(self._side(gvk), call, (), options, found)
            self._causes[key] = times + 1, cause
        return cause


def _question(request: Request) -> tuple[GVK, Call]:
    if request.call is None or request.gvk is None:
        # The answer is an error about the request itself.
        raise RecordingError("the request is not a question")
    return request.gvk, request.call


def replayed(files: Sequence[Path], side: Side) -> Findings:
    """Ask the calls of all files again, of a ``side`` that other processes can have; raises Problem."""
    findings = Findings()
    for found in _each(files, side):
        findings.add(found)
    return findings


def _each(files: Sequence[Path], side: Side) -> Iterator[Findings]:
    # The cores that this process may use, where the system tells.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(files) == 1 or cores == 1 or sum(path.stat().st_size for path in files) < LEAST_BYTES:
        replay = Replay(side)
        yield from (replay.file(path) for path in watched(files, "Replaying"))
        return
    # Spawned: a copy of this process would have its threads' locks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(len(files), cores), context, initializer=_begin, initargs=(side,)) as pool:
        waiting = [pool.submit(_file, path) for path in files]
        try:
            yield from (each.result() for each in watched(waiting, "Replaying"))
        except BrokenProcessPool as error:
            raise Problem("error: a process that asks again has ended, perhaps for want of memory") from error
        finally:
            pool.shutdown(cancel_futures=True)


_REPLAYS: list[Replay] = []
"""The one of a process that was started for it."""


def _begin(side: Side) -> None:
    # The process that prints reads the definitions as well, and shows what is to be said about them.
    sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - until the end of the process
    _REPLAYS.append(Replay(side))


def _file(path: Path) -> Findings:
    return _REPLAYS[0].file(path)
