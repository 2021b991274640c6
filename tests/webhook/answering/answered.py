"""Calls with their answers, as observers see them."""

from karta_interpreter.webhook.answering.pending_call import SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.wire import Request


def answered(body: bytes, answer: bytes) -> tuple[PendingCall, Answer]:
    """Return a call of which only the body matters, with a successful answer."""
    return PendingCall(0.0, body, Request(""), None), Answer(answer, SUCCESS, "", 0.0, is_inline=True)
