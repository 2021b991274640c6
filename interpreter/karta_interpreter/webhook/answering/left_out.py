"""Resources that an object sets but its definition does not read, as the log reports them."""

import asyncio
from typing import Final

import orjson

from karta_interpreter.base.k8s import field_path
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.left_out import resources_left_out
from karta_interpreter.webhook.answering.pending_call import SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.log import log

_COUNTING: Final = frozenset({Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT})
_PAUSE: Final = 1.0
LARGEST: Final = 2**16
"""The most bytes of a request that is kept and looked at. More would hold up the event loop for milliseconds."""
_MOST: Final = 1000


class LeftOutResources:
    """Looks at the latest call that counted pods, once a second, and logs each place of a definition once."""

    def __init__(self) -> None:
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
        if call is None or call.definition is None or len(self._logged) >= _MOST:
            return
        for path in resources_left_out(call.definition, orjson.loads(call.body)["request"]["object"]):
            field = field_path(tuple(0 if isinstance(step, int) else step for step in path))
            if (call.definition.name, field) not in self._logged:
                self._logged.add((call.definition.name, field))
                message = "an object sets resources that its definition does not read"
                log.warning(message, definition=call.definition.name, place=field, kind=str(call.request.gvk))
