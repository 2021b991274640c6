"""Calls whose requests and answers others see, too."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from karta_interpreter.webhook.server.calls import Awaited, Calls
from karta_interpreter.webhook.server.pending_call import PendingCall

Observer: TypeAlias = Callable[[bytes, bytes], None]
"""Sees a request and its answer; returns at once and raises nothing."""


class ObservedCalls(Calls):
    """Calls of all lanes, of which each observer sees every request that gets an answer of Karmada's form."""

    observers: tuple[Observer, ...] = ()

    def answer_soon(self, body: bytes) -> bytes | Awaited | None:
        """Return what `Calls` returns."""
        answer = super().answer_soon(body)
        if isinstance(answer, bytes):
            return self._observed(body, answer)
        return answer and partial(self._observe, body, answer)

    async def _observe(self, body: bytes, answer: Awaited, seconds: float) -> bytes:
        return self._observed(body, await answer(seconds))

    async def _in_child(self, body: bytes, seconds: float, call: PendingCall | None = None) -> bytes:
        answer = await super()._in_child(body, seconds, call)
        # With a call it is one that `answer_soon` has begun; without one its body is too large for that.
        return answer if call else self._observed(body, answer)

    def _observed(self, body: bytes, answer: bytes) -> bytes:
        for observer in self.observers:
            observer(body, answer)
        return answer
