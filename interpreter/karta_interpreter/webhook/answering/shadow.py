"""Asks other definitions a sample of the calls, in a child process, and counts the answers that would differ.

The child runs this file, too (`start`).
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import cache, partial
from itertools import islice
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import in_one_line
from karta_interpreter.base.k8s import JSON, field_path
from karta_interpreter.base.sandbox import Process, Program
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Call, Options, interpret
from karta_interpreter.engine.suites.comparison import compare
from karta_interpreter.webhook.answering.pending_call import Answer, PendingCall
from karta_interpreter.webhook.log import log, redacted
from karta_interpreter.webhook.wire import encode_results
from karta_interpreter.webhook.wire.recording import line
from karta_interpreter.webhook.wire.request import request_of
from karta_interpreter.webhook.wire.results import results_of

if TYPE_CHECKING:
    from karta_interpreter.base.sandbox.child import Answer as ChildAnswer, Channel

MOST_WAITING: Final = 64
_LARGEST: Final = 2**20
"""The most bytes of a request and its answer that are compared. Larger ones would hold up many small ones."""
_SECONDS: Final = 60.0
"""For an answer, and for the definitions, which the process reads before its first answer."""
_PAUSE_SECONDS: Final = 10.0
_END_SECONDS: Final = 5.0

_COMPARE: Final = b"C"
_COMPARED: Final = b"A"
_MEMORY: Final = 2**30
_NICENESS: Final = 10
"""Nothing waits for the process."""
_MOST_REASONS: Final = 20
"""Definitions that the log names."""
_MOST_PLACES: Final = 4
"""Places of an answer that are named."""
_LONGEST: Final = 256
"""The most characters of a place: keys of maps may be as long as an object."""

Count: TypeAlias = Callable[[str, str, str], None]
"""Counts a comparison by kind, operation and outcome: same, different, or without the two left out or failed."""

Shown: TypeAlias = tuple[str, str, str]
"""A field, the server's answer there, and the shadow's answer, in the form that people may see."""


class Shadow:
    """Takes a ``sample`` of calls, a number from 0 to 1, without delaying any. Calls that cannot wait are left out.

    The last answers that differ are put in front of ``shown``, as documents for the console.
    """

    def __init__(
        self, path: Path, sample: float, options: Options, count: Count, shown: deque[JSON] | None = None
    ) -> None:
        arguments = str(path.resolve()), orjson.dumps(asdict(options)).decode()
        self._program = Program(__file__, _MEMORY, arguments, niceness=_NICENESS)
        self._path, self._sample, self._count, self._shown = path, sample, count, shown
        self._due = 0.0
        self._queue = Queue[tuple[bytes, bytes] | None](MOST_WAITING)
        self._process: Process | None = None
        self._closed = Event()
        self._thread = Thread(target=self._run, name="shadow", daemon=True)

    def start(self) -> None:
        """Begin to compare."""
        self._thread.start()

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Take a call if it is part of the sample."""
        self._due += self._sample
        if self._due < 1:
            return
        self._due -= 1
        if self._queue.full() or len(call.body) + len(answer.body) > _LARGEST:
            self._count("", "", "left out")
        else:
            self._queue.put_nowait((call.body, answer.body))

    def close(self) -> None:
        """End the process. Calls that wait are left out."""
        self._closed.set()
        if self._process:
            self._process.kill()
        with suppress(Full):  # the thread looks when it has taken the next one
            self._queue.put_nowait(None)
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        self._attempt(self._report_problems)
        while (seen := self._queue.get()) and not self._closed.is_set():
            self._attempt(partial(self._compare, *seen))
        if self._process:
            self._process.stop()

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            if self._process:
                self._process.stop()
            self._process = None
            if not self._closed.is_set():
                log.warning("a shadow answer failed", definitions=str(self._path), reason=str(error))
                self._count("", "", "failed")
                self._closed.wait(_PAUSE_SECONDS)

    def _report_problems(self) -> None:
        if reasons := self._ask(b""):
            log.error("shadow definitions cannot be used", definitions=str(self._path), reasons=reasons)
            self._count("", "", "failed")

    def _compare(self, request: bytes, answer: bytes) -> None:
        kind, operation, outcome, places = self._ask(line(0.0, request, answer))
        if places and self._shown is not None:
            read_request = request_of(orjson.loads(request))
            named = {
                "kind": kind,
                "namespace": read_request.namespace,
                "name": read_request.name,
                "operation": operation,
            }
            self._shown.appendleft({**named, "at": time.time(), "places": places})
        self._count(kind, operation, outcome)

    def _ask(self, payload: bytes) -> Any:  # noqa: ANN401 - JSON
        self._process = process = self._process or Process(self._program)
        process.send(_COMPARE, payload, _SECONDS)
        _, reply = process.receive()
        process.settle()
        return orjson.loads(reply)


def start(path: str, options: str) -> "ChildAnswer":
    """Return the function that compares a call with the answer of the definitions of a folder or file.

    Without a call, the function returns the reasons why definitions cannot be used.
    """
    asked_with = Options.of(orjson.loads(options))
    # At the first call, because a process has to be ready soon.
    snapshot = cache(lambda: Store([Path(path)], catalogue=False).load())

    def answer(channel: "Channel", _: bytes, payload: bytes) -> None:
        result = compared(snapshot(), payload, asked_with) if payload else _problems(snapshot())
        channel.send(_COMPARED, orjson.dumps(result))
        channel.flush()

    return answer


def compared(snapshot: Snapshot, recorded: bytes, options: Options) -> tuple[str, str, str, list[Shown]]:
    """Return kind, operation, outcome and places for the line of a recording.

    Calls that cannot be compared are left out.
    """
    record = orjson.loads(recorded)
    request = request_of(record["request"])
    definition = snapshot.find(request.gvk) if request.gvk else None
    may_be_broken = not snapshot.entries or any(broken.gvk in (request.gvk, None) for broken in snapshot.quarantined)
    if definition is None and may_be_broken:
        return "", "", "failed", []
    if definition is None or request.call is None or definition.references:
        return "", "", "left out", []
    try:
        mine = orjson.loads(encode_results(request, interpret(definition, request.call, options)))["response"]
    except InterpretationError:
        mine = None
    different = [*islice(_differences(request.call, record["answer"]["response"], mine), _MOST_PLACES)]
    kind = f"{definition.gvk.api_version}/{definition.gvk.kind}"
    return kind, request.operation_name, "different" if different else "same", different


def _problems(snapshot: Snapshot) -> list[str]:
    reasons = [in_one_line(finding) for broken in snapshot.quarantined for finding in broken.findings[:1]]
    return (reasons if reasons or snapshot.entries else ["there is no definition in it"])[:_MOST_REASONS]


def _differences(call: Call, live: dict[str, Any], mine: dict[str, Any] | None) -> Iterator[Shown]:
    """Yield the fields in which two responses differ. ``mine`` is None for an error, and two errors are equal."""
    if mine is None or not live.get("successful"):
        sides = ["an answer" if side and side.get("successful") else "an error" for side in (live, mine)]
        if sides[0] != sides[1]:
            yield "", sides[0], sides[1]
        return
    if live == mine:
        return
    before, after = results_of(call, live), results_of(call, mine)
    for name in before:
        for path, there, here in compare(name, before.get(name), after.get(name)):
            field = field_path(path)
            yield field[:_LONGEST], redacted(field, there), redacted(field, here)
