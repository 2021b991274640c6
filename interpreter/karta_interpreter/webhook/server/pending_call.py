"""A call without an answer yet: its request, with the definition and the snapshot that answer it."""

from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.gvk import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.engine.operations import Call
from karta_interpreter.webhook.server.slow_calls import Key
from karta_interpreter.webhook.wire import Asked, Request

_MOST_NAMED: Final = 20


class PendingCall(NamedTuple):
    """A request, and what there was to answer it with when it came."""

    started: float
    """The time of the clock when it came."""
    body: bytes
    request: Request
    snapshot: Snapshot
    definition: Definition | None
    is_projected: bool = False
    """Whether only what the definition's own answer reads of the object was decoded."""
    asked: Asked | None = None
    """What that answer reads, unless there is a status in it."""
    remembered: bytes | None = None
    """The answer to the same question, without its uid."""

    @property
    def key(self) -> Key:
        """What calls have in common that take about as long for objects of one size."""
        return self.definition.name if self.definition else "", self.request.operation_name

    def definition_or_raise(self) -> Definition:
        """Return the definition to answer with; raises InterpretationError without one, and when there is no call."""
        request = self.request
        if request.problem is not None or request.gvk is None:
            raise request.problem or InterpretationError("the request has no kind", code=400)
        if self.definition is None:
            raise InterpretationError(_unknown(request.gvk, self.snapshot.kinds()), code=404)
        return self.definition

    def definition_and_call(self) -> tuple[Definition, Call]:
        """Return the two things that make an answer; raises InterpretationError when one is missing."""
        definition = self.definition_or_raise()
        if self.request.call is None:
            raise InterpretationError("the request has no call", code=400)
        return definition, self.request.call

    def too_slow(self, seconds: float) -> str:
        """Return the error about a call that is stopped after that time."""
        name, operation = self.definition_or_raise().name, self.request.operation_name
        return f"definition {name}: {operation} took longer than {seconds:.3g} s"


def _unknown(gvk: GVK, kinds: list[GVK]) -> str:
    named = "; ".join(map(str, kinds[:_MOST_NAMED])) or "none"
    more = f" and {len(kinds) - _MOST_NAMED} more" if len(kinds) > _MOST_NAMED else ""
    return f"no definition for {gvk}. Known kinds: {named}{more}"
