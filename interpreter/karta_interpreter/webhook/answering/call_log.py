"""The lines of the log about calls."""

import logging
import time
from collections.abc import Callable
from math import inf
from typing import Any, Final

from karta_interpreter.webhook.answering.pending_call import SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire.request import OPERATIONS

_SLOW: Final = 0.5
"""Karmada writes calls that take at least this many seconds to its own log (``customized.go``)."""
_LONGEST_REASON: Final = 500
_PAUSE: Final = 60.0
_MOST: Final = 10_000


class CallLog:
    """Logs calls that fail or are slow: for each definition, operation and code one line a minute, the rest at debug.

    A line has the number of calls that were left out since the previous line. ``clock`` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lines = dict[tuple[str, str, int], tuple[float, int]]()
        """When a line was written, and how many calls were left out since."""

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Log a call, or count it."""
        is_slow, has_failed = answer.seconds >= _SLOW, answer.code != SUCCESS
        left_out = self._left_out(call, answer.code) if is_slow or has_failed else None
        if left_out is None and not log.logger.isEnabledFor(logging.DEBUG):
            return
        request = call.request
        fields: dict[str, Any] = {
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
        if now < last + _PAUSE:
            self._lines[key] = last, left_out + 1
            return None
        if len(self._lines) >= _MOST:
            self._lines.clear()
        self._lines[key] = now, 0
        return left_out
