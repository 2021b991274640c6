"""The lines of the log about calls: those that fail or are slow, and resources that no definition reads."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import inf
from typing import Final

import orjson

from karta_interpreter.base.k8s import GVK, NewObject, Path, field_path
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.definitions.karta import (
    Definition,
    Immutable,
    LargeLookUpError,
    ReferenceReader,
    resolved,
)
from karta_interpreter.engine.evaluation import absences, unknown_devices, unknown_requests
from karta_interpreter.engine.operations import (
    COUNTING_OPERATIONS,
    DEFAULT_OPTIONS,
    Operation,
    Options,
    kept_as_it_runs,
    named_objects,
    resources_left_out,
)
from karta_interpreter.webhook.answering.pending_call import OF_CONTENT, SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire.request import OPERATIONS, SLOW

_LONGEST_REASON: Final = 500
_LINE_PAUSE: Final = 60.0
_MOST_LINES: Final = 10_000
_LOOKED_AT: Final = COUNTING_OPERATIONS | {Operation.INTERPRET_DEPENDENCY}
LOOK_PAUSE: Final = 1.0
LARGEST: Final = 2**16
"""The most bytes of a request that is kept and looked at. More would hold up the event loop for milliseconds."""
_MOST_SUBJECTS: Final = 1000
MOST_RETAINED: Final = 64
"""The most calls of Retain that wait to be looked at."""
_MOST_LOOKS: Final = 8
"""The most of them that one look takes."""


class CallLog:
    """Logs calls that fail or are slow: for each definition, operation and code one line a minute, the rest at debug.

    A line has the number of calls that were left out since the previous line. ``clock`` returns seconds.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lines = dict[tuple[str, str, int], tuple[float, int]]()
        """When a line was written, and how many calls were left out since."""

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Log a call, or count it."""
        is_slow, has_failed = answer.seconds >= SLOW, answer.code != SUCCESS
        left_out = self._left_out(call, answer.code) if is_slow or has_failed else None
        if left_out is None and not log.logger.isEnabledFor(logging.DEBUG):
            return
        request = call.request
        fields: NewObject = {
            "uid": request.uid,
            "operation": request.operation_name,
            "kind": str(request.gvk),
            "object": f"{request.namespace}/{request.name}",
            "seconds": round(answer.seconds, 4),
        }
        if has_failed:
            fields |= {"code": answer.code, "reason": answer.reason[:_LONGEST_REASON]}
        if left_out:
            fields["left_out"] = left_out
        write = log.debug if left_out is None else log.warning
        write("call failed" if has_failed else "slow call" if is_slow else "call answered", **fields)

    def _left_out(self, call: PendingCall, code: int) -> int | None:
        """Return how many calls like this one have no line, None if this call has no line."""
        operation = call.request.operation_name
        key = call.definition.name if call.definition else "", operation if operation in OPERATIONS else "", code
        now, (last, left_out) = self._clock(), self._lines.get(key, (-inf, 0))
        if now < last + _LINE_PAUSE:
            self._lines[key] = last, left_out + 1
            return None
        if len(self._lines) >= _MOST_LINES:
            self._lines.clear()
        self._lines[key] = now, 0
        return left_out


class AnswerGaps:
    """Looks at the latest call that counted pods or named dependencies, once a second, and logs what its answer lacks.

    These are resources that the definition does not read, objects that are absent, of which the pods are made, other
    reasons why requests are unknown, and dependencies whose names cannot be read. Each is logged once for a definition.
    Of custom resources it also names the fields in which Retain has left the template's value out, because the
    member's operator refuses it, and ``kept`` counts such answers by kind.
    ``reader`` looks objects up. ``options`` are those of the answers.
    """

    def __init__(
        self,
        reader: Callable[[], ReferenceReader | None] = lambda: None,
        options: Options = DEFAULT_OPTIONS,
        kept: Callable[[GVK], None] = lambda _: None,
    ) -> None:
        self._reader, self._options, self._kept = reader, options, kept
        self._latest: PendingCall | None = None
        self._retained = deque[PendingCall](maxlen=MOST_RETAINED)
        self._logged: set[tuple[str, str]] = set()

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Take a call that the event loop has answered."""
        if answer.code != SUCCESS or not answer.is_inline or len(call.body) > LARGEST:
            return
        if call.request.operation_name in _LOOKED_AT:
            self._latest = call
        elif call.request.operation_name == Operation.RETAIN and call.definition and _refuses_edits(call.definition):
            self._retained.append(call)

    def look(self) -> None:
        """Look at the latest call, if there is a new one since the last look."""
        for _ in range(min(len(self._retained), _MOST_LOOKS)):
            self._look_at_kept(self._retained.popleft())
        call, self._latest = self._latest, None
        if call is None or call.definition is None:
            return
        definition = call.definition
        with suppress(*OF_CONTENT, LargeLookUpError):
            obj = orjson.loads(call.body)["request"]["object"]
            whole = resolved(definition, obj, self._reader(), self._options.devices)
            if call.request.operation_name == Operation.INTERPRET_DEPENDENCY:
                failures = list[str]()
                named_objects(whole, obj, failures)
                message = "the answer lacks dependencies whose names cannot be read"
                self._log_new(definition, message, "reason", failures)
                return
            message = "an object sets resources that its definition does not read"
            self._log_new(definition, message, "place", map(_first_of_each, resources_left_out(definition, obj)))
            message = "the answer lacks what pods request by what is absent or unknown"
            unknown = (part.reason for part in unknown_requests(whole, obj))
            reasons = (*absences(whole, obj), *unknown, *unknown_devices(whole, obj))
            self._log_new(definition, message, "reason", reasons)

    def _look_at_kept(self, call: PendingCall) -> None:
        """Count a call of Retain and name its fields, if the template's values stay behind."""
        definition = call.definition_or_raise()
        with suppress(*OF_CONTENT, LargeLookUpError):
            request = orjson.loads(call.body)["request"]
            template, member = request["object"], request["observedObject"]
            whole = resolved(definition, template, self._reader(), self._options.devices)
            fields = [_first_of_each(path) for path in kept_as_it_runs(whole, template, member)]
            if fields:
                self._kept(definition.gvk)
                message = "a template has another value in a field that stays as it runs until the object is made anew"
                self._log_new(definition, message, "place", fields)

    def _log_new(self, definition: Definition, message: str, field: str, subjects: Iterable[str]) -> None:
        name, kind = definition.name, str(definition.gvk)
        for subject in (text[:_LONGEST_REASON] for text in subjects):
            if (name, subject) in self._logged or len(self._logged) >= _MOST_SUBJECTS:
                continue
            self._logged.add((name, subject))
            fields: NewObject = {field: subject}
            log.warning(message, definition=name, kind=kind, **fields)


def _refuses_edits(definition: Definition) -> bool:
    """Return whether an operator refuses changes of fields of a custom resource. Built-in groups have no dot."""
    rules = definition.annotations.retain
    return "." in definition.gvk.group and any(isinstance(rule, Immutable) and rule.is_final for rule in rules)


def _first_of_each(path: Path) -> str:
    """Return a path that is the same for all elements of a list."""
    return field_path(tuple(0 if isinstance(step, int) else step for step in path))
