"""Tells that answers leave out reports of members that cannot be read: in the log, and as a number."""

import time
from collections.abc import Callable
from math import inf
from typing import Final

from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.answering.pending_call import SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.wire import remark_of

_LONGEST_REMARK: Final = 500
_LINE_PAUSE: Final = 60.0
"""Seconds between two lines about objects of one definition: Karmada asks again after each change of a status."""


class UnreadReports:
    """Counts answers without a report that cannot be read, and logs one a minute for each definition.

    ``count`` takes the kind of the object. ``clock`` returns seconds.
    """

    def __init__(self, count: Callable[[GVK], None], clock: Clock = time.monotonic) -> None:
        self._count, self._clock = count, clock
        self._lines = dict[str, float]()
        """When a line was written about a definition."""

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Look at an answer of AggregateStatus."""
        request, definition = call.request, call.definition
        if request.operation_name != Operation.AGGREGATE_STATUS or answer.code != SUCCESS or definition is None:
            return
        remark = remark_of(answer.body)
        if not remark:
            return
        self._count(definition.gvk)
        now = self._clock()
        if now >= self._lines.get(definition.name, -inf) + _LINE_PAUSE:
            # By kinds that have a definition, which are bounded.
            self._lines[definition.name] = now
            log.warning(
                "the merged status lacks reports that cannot be read",
                kind=str(definition.gvk),
                object=f"{request.namespace}/{request.name}",
                reason=remark[:_LONGEST_REMARK],
            )
