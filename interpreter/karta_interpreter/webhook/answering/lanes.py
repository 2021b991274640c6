"""How a call is answered: one decision, made before any work on the answer."""

from typing import Final, NamedTuple, Protocol

from karta_interpreter.base.k8s.projection import MOST_VALUES, values_in
from karta_interpreter.webhook.answering.pending_call import PendingCall

# A call costs up to 2.5 µs for each key and value in its body (InterpretReplica of many different resources), and a few
# nanoseconds for each byte: 30 ms. An ordinary object of 100 KB takes 1 to 2 ms. No cheap test separates it from an
# object that takes ten times that, and a kept process adds 5 ms. Retain reads much of two objects, but little of it is
# expensive.
_MOST_BYTES: Final = 2 * 2**20
_SECOND_OBJECT: Final = b'"observedObject":'


_MOST_STEPS: Final = 100_000
"""Steps of plain expressions on the event loop: the slowest ones take 20 to 450 ns each, together 45 ms at most."""


class Lane(Protocol):
    """Gives an answer outside the event loop, which answers other calls meanwhile."""

    async def answer(self, call: PendingCall, seconds: float) -> bytes:
        """Return the answer to a call. Raises InterpretationError, and TimeoutError after so many seconds."""


class Lanes(NamedTuple):
    """The lanes outside the event loop."""

    child: Lane
    """A child process, which gets the bytes of the request and returns the bytes of the answer."""
    script: Lane
    """A process that runs scripts. The event loop encodes the result of the script."""

    def choose(self, call: PendingCall, text: bytes, *, is_slow: bool) -> Lane | None:
        """Return the lane of a call, None if the event loop answers it immediately. ``text`` is what was decoded of it.

        ``is_slow``: calls like it have taken long in this process (`SlowCalls`).
        """
        definition = call.definition
        if definition is None or call.request.problem is not None:
            # The answer is an error, and there is nothing to compute.
            return None
        if definition.needs_child:
            # An expression could run without end, or there are so many that compiling them takes long.
            return self.child
        if is_slow:
            return self.child
        if call.request.operation_name in definition.scripts.operations:
            # A script could run without end, but its process can be stopped. Its questions to the Karta are plain. If
            # the answers read references, the references have to be looked up first.
            return self.child if definition.references else self.script
        # The decoded data bounds the work of plain expressions. Mostly the first comparison is enough: an element takes
        # at least two bytes.
        is_dear = definition.steps * len(text) // 2 > _MOST_STEPS and definition.most_steps(text) > _MOST_STEPS
        return self.child if is_dear else None


def is_large_body(body: bytes) -> bool:
    """Return whether decoding and answering JSON in this process could delay other calls. Never takes long itself.

    >>> is_large_body(b'{"request": {}}'), is_large_body(b"[" + b"1," * 12_000 + b"1]")
    (False, True)
    """
    # A value takes at least a byte.
    if len(body) <= MOST_VALUES:
        return False
    most = MOST_VALUES * (2 if _SECOND_OBJECT in body else 1)
    return len(body) > most and (len(body) > _MOST_BYTES or values_in(body) > most)
