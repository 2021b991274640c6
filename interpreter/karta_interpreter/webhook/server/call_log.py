"""The lines of the log about calls."""

import logging
from typing import Any, Final

from karta_interpreter.webhook.server.log import log
from karta_interpreter.webhook.server.pending_call import SUCCESS, Answer, PendingCall

_SLOW: Final = 0.5
"""Seconds from which Karmada writes a call to its own log (``customized.go``)."""
_LONGEST_REASON: Final = 500


def log_call(call: PendingCall, answer: Answer) -> None:
    """Log a call that is slow or fails, at debug any."""
    if answer.code == SUCCESS and answer.seconds < _SLOW and not log.isEnabledFor(logging.DEBUG):
        return
    request = call.request
    about: dict[str, Any] = {
        "uid": request.uid,
        "operation": request.operation_name,
        "kind": str(request.gvk),
        "object": f"{request.namespace}/{request.name}",
        "seconds": round(answer.seconds, 4),
    }
    if answer.seconds >= _SLOW:
        log.warning("slow call", **about)
    if answer.code == SUCCESS:
        log.debug("call answered", **about)
    else:
        log.warning("call failed", **about, code=answer.code, reason=answer.reason[:_LONGEST_REASON])
