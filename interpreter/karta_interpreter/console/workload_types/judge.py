"""Judges Kartas and explains answers in child processes, which the event loop awaits."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import orjson

from karta_interpreter.console import child
from karta_interpreter.console.workload_types.models import ApiError, FindingOutput, Interpretation, unavailable
from karta_interpreter.errors import SandboxError, StopCause
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import pack, pack_known
from karta_interpreter.karta.reference_resolver import Reader, known_to
from karta_interpreter.operations import Options
from karta_interpreter.sandbox.awaiting import AsyncPool

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
        self.pool: Final = child.processes(_PROCESSES, _IDLE_SECONDS)
        self._awaited = AsyncPool(self.pool)

    async def findings(self, group: str, kind: str, kartas: Sequence[Object]) -> list[FindingOutput]:
        """All findings of the Kartas of a type."""
        found = await self._ask(child.JUDGE, {"group": group, "kind": kind, "kartas": kartas})
        return [FindingOutput(**each) for each in found]

    async def explanations(
        self, definition: Definition, reader: Reader | None, options: Options, asked: Interpretation, origin: str
    ) -> list[Object]:
        """The explanation of each operation about an object."""
        about = {
            "definition": pack(definition),
            "known": pack_known(known_to(reader, definition.references)),
            "options": asdict(options),
            "asked": dict(asked),
            "origin": origin,
        }
        found: list[Object] = await self._ask(child.INTERPRET, about)
        return found

    def close(self) -> None:
        """End the processes."""
        self.pool.close()

    async def _ask(self, letter: bytes, about: dict[str, Any]) -> JSON:
        end = time.monotonic() + self.seconds
        try:
            request = orjson.dumps(about)
        except orjson.JSONEncodeError as error:
            raise ApiError(422, "the body is nested too deeply") from error
        try:
            async with self._awaited.process("types", self.seconds) as (process, _):
                # Waiting for a process took a part of the time. Never 0, which would be no deadline to ask under.
                left = max(end - time.monotonic(), 0.001)
                await process.send(letter, request, left, grace=_GRACE_SECONDS)
                found, answer = await process.receive()
        except SandboxError as error:
            if error.cause in _CAUSED_BY_REQUEST:
                raise ApiError(422, f"the body cannot be judged: {error}") from error
            raise unavailable(f"no process can judge the body: {error}", seconds=1) from error
        if found == child.FAILURE:
            raise ApiError(422, f"the body cannot be judged: {answer.decode()}")
        return orjson.loads(answer)
