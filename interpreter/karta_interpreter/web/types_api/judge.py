"""Judges Kartas and explains answers in child processes, which the event loop awaits."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Final

import orjson

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import pack, pack_known
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Options
from karta_interpreter.web.console.child import FAILURE, processes
from karta_interpreter.web.types_api import child
from karta_interpreter.web.types_api.models import ApiError, Judged, ProblemDetails, unavailable

_PROCESSES: Final = 2
_IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 0.2
_CAUSED_BY_REQUEST: Final = {StopCause.MEMORY, StopCause.TIME, StopCause.PROCESSOR_TIME}


class Judge:
    """Asks the processes; raises ApiError for what cannot be judged, 422 where the body is the cause.

    A request may take so many ``seconds``, starting a process included.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.pool: Final = processes(child.__file__, _PROCESSES, _IDLE_SECONDS)
        self._awaited = AsyncPool(self.pool)

    async def judged(self, body: bytes, user: str) -> tuple[Judged, bytes]:
        """What is in the body of a user about a type, and the Kartas to store as JSON."""
        answer = await self._ask(child.JUDGE, body, user)
        head, _, kartas = answer.partition(b"\n")
        return Judged.model_validate_json(head), kartas

    async def explanations(
        self, body: bytes, user: str, group: str, kind: str, about: Callable[[str], Awaitable[bytes]]
    ) -> bytes:
        """The explanations of each operation about an object as JSON.

        ``about`` returns what the process needs for a version of the kind (`packed`), nothing for an unknown one; then
        the answer is empty.
        """
        return await self._ask(child.INTERPRET, orjson.dumps([group, kind]) + b"\n" + body, user, about)

    def close(self) -> None:
        """End the processes."""
        self.pool.close()

    async def _ask(
        self, letter: bytes, request: bytes, user: str, about: Callable[[str], Awaitable[bytes]] | None = None
    ) -> bytes:
        end = time.monotonic() + self.seconds
        try:
            # Its user owns the process: those of others wait for none of it.
            async with self._awaited.process(user, self.seconds) as (process, _):
                # Waiting for a process took a part of the time. Never 0, which would be no deadline to ask under.
                left = max(end - time.monotonic(), 0.001)
                await process.send(letter, request, left, grace=_GRACE_SECONDS)
                found, answer = await process.receive()
                if found == child.VERSION and about:
                    await process.send(child.VERSION, await about(answer.decode()))
                    found, answer = await process.receive()
        except SandboxError as error:
            if error.cause in _CAUSED_BY_REQUEST:
                raise ApiError(422, f"the body cannot be judged: {error}") from error
            raise unavailable(f"no process can judge the body: {error}", seconds=1) from error
        if found == child.PROBLEM:
            raise ApiError.of(ProblemDetails.model_validate_json(answer))
        if found == FAILURE:
            raise ApiError(422, f"the body cannot be judged: {answer.decode()}")
        return answer


def packed(definition: Definition, known: Known, options: Options, origin: str) -> bytes:
    """What a process needs to explain answers of a definition."""
    return orjson.dumps(
        {"definition": pack(definition), "known": pack_known(known), "options": asdict(options), "origin": origin}
    )
