"""Resources that an object sets but its definition does not read, as the log reports them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import orjson

from karta_interpreter.base.k8s import field_path
from karta_interpreter.definitions.karta import Definition, ReferenceReader, resolved
from karta_interpreter.engine.evaluation import absences, unknown_requests
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.left_out import resources_left_out
from karta_interpreter.webhook.answering.pending_call import OF_CONTENT, SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.log import log

_COUNTING: Final = frozenset({Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT})
_PAUSE: Final = 1.0
LARGEST: Final = 2**16
"""The most bytes of a request that is kept and looked at. More would hold up the event loop for milliseconds."""
_MOST: Final = 1000


class LeftOutResources:
    """Looks at the latest call that counted pods, once a second, and logs each place of a definition once.

    It also logs each object that is absent, of which the pods of a call are made, and each reason why their requests
    are unknown. ``reader`` looks objects up.
    """

    def __init__(self, reader: Callable[[], ReferenceReader | None] = lambda: None) -> None:
        self._reader = reader
        self._latest: PendingCall | None = None
        self._logged: set[tuple[str, str]] = set()

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Take a call that the event loop has answered."""
        is_counted = call.request.operation_name in _COUNTING and answer.code == SUCCESS
        if is_counted and answer.is_inline and len(call.body) <= LARGEST:
            self._latest = call

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(_PAUSE)
            self.look()

    def look(self) -> None:
        """Look at the latest call, if there is a new one since the last look."""
        call, self._latest = self._latest, None
        if call is None or call.definition is None:
            return
        with suppress(*OF_CONTENT):
            self._look(call, call.definition)

    def _look(self, call: PendingCall, definition: Definition) -> None:
        name, kind, obj = definition.name, str(call.request.gvk), orjson.loads(call.body)["request"]["object"]
        for path in resources_left_out(definition, obj):
            field = field_path(tuple(0 if isinstance(step, int) else step for step in path))
            if self._is_new(name, field):
                message = "an object sets resources that its definition does not read"
                log.warning(message, definition=name, place=field, kind=kind)
        whole = resolved(definition, obj, self._reader())
        for reason in (*absences(whole, obj), *unknown_requests(whole, obj)):
            if self._is_new(name, reason):
                message = "the answer lacks what pods request by what is absent or unknown"
                log.warning(message, definition=name, reason=reason, kind=kind)

    def _is_new(self, name: str, subject: str) -> bool:
        is_new = (name, subject) not in self._logged and len(self._logged) < _MOST
        if is_new:
            self._logged.add((name, subject))
        return is_new
