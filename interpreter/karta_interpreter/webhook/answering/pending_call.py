"""A call: its request, the snapshot that answers it, the facts known about similar calls, and its answer."""

from collections.abc import Callable
from math import inf
from typing import Final, TypeAlias

import msgspec

from karta_interpreter.base.errors import InterpretationError, InterpreterError
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.karta import Definition, ReferenceReader
from karta_interpreter.engine.operations import Call
from karta_interpreter.webhook.wire import Request

Key: TypeAlias = tuple[str, str]
"""The names of a definition and of an operation."""


class SlowCalls(dict[Key, int]):
    """The calls that child processes answer, because similar calls have taken long in the server's own process.

    It has the size of the shortest body for each key. This holds for one snapshot: a later one may have other
    definitions with the same names.

    >>> calls, key = SlowCalls(), ("train", "Retain")
    >>> calls.add(key, 9000), calls.add(key, 9000), calls.matches(key, 4500), calls.matches(key, 4499)
    (False, True, True, False)
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[Key] = set()

    def add(self, key: Key, size: int) -> bool:
        """Add a call that took long with a body of that size. Return whether calls like it match from now on.

        The first call does not count: it may have compiled the expressions.
        """
        if key not in self._seen:
            self._seen.add(key)
            return False
        # Not shorter calls, so that one huge object does not delay the calls about all others of its kind.
        self[key] = min(size // 2, self.get(key, size))
        return True

    def matches(self, key: Key, size: int) -> bool:
        """Return whether a child process is to answer a call with a body of that size."""
        return size >= self.get(key, inf)


_MOST_NAMED: Final = 20


class PendingCall(msgspec.Struct, frozen=True):
    """A request, and the definition that answers it."""

    started: float
    """The time of the clock when it came."""
    body: bytes
    request: Request
    definition: Definition | None
    is_projected: bool = False
    """Whether only those parts of the object were decoded that the definition's own answer reads."""
    reader: ReferenceReader | None = None
    """Looks up the objects to which the definition refers."""
    kinds: Callable[[], list[GVK]] = list
    """Returns the kinds that have a definition. A call keeps no other definition than its own."""

    @property
    def key(self) -> Key:
        """Return a key that is equal for calls that take about as long for objects of one size."""
        return self.definition.name if self.definition else "", self.request.operation_name

    def definition_or_raise(self) -> Definition:
        """Return the definition to answer with. Raises InterpretationError without one or without a call."""
        request = self.request
        if problem := request.problem:
            # Another error: the frames that it passes refer to the request.
            raise InterpretationError(str(problem), code=problem.code)
        if self.definition is None:
            kind = request.gvk and request.gvk.kind  # there is one, because there is no problem
            namesakes = [str(gvk) for gvk in self.kinds() if gvk.kind == kind][:_MOST_NAMED]
            other = f", but for {'; '.join(namesakes)}" if namesakes else ""
            raise InterpretationError(
                f"no definition for {request.gvk}{other}: give the server a Karta for it, "
                "by --kartas or kubectl apply, or register fewer kinds",
                code=404,
            )
        return self.definition

    def definition_and_call(self) -> tuple[Definition, Call]:
        """Return the definition and the call, which make an answer. Raises InterpretationError if one is missing."""
        definition = self.definition_or_raise()
        if self.request.call is None:
            raise InterpretationError("the request has no call", code=400)
        return definition, self.request.call

    def too_slow(self, seconds: float) -> str:
        """Return the error about a call that is stopped after that time."""
        name, operation = self.definition_or_raise().name, self.request.operation_name
        return f"definition {name}: {operation} took longer than {seconds:.3g} s"


class Answer(msgspec.Struct, frozen=True):
    """The answer to a call. The ``reason`` of a failure is empty for a success."""

    body: bytes
    code: int
    reason: str
    seconds: float
    """The time since the call arrived."""
    is_inline: bool
    """Whether the event loop gave it."""


SUCCESS: Final = 200
OF_CONTENT: Final = (AttributeError, InterpreterError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of reading a body that Karmada does not send: an answer may skip the parts that cause them."""

Observer: TypeAlias = Callable[[PendingCall, Answer], None]
"""Sees each call with its answer, on the event loop: its time must not depend on the size of either."""
