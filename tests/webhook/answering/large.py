"""Bodies that only child processes read, without a server."""

from karta_interpreter.definitions.karta import Definition
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.answering.pending_call import PendingCall


async def answered(lane: ChildLane, body: bytes, definition: Definition | None, seconds: float) -> bytes:
    """Have a child process read a call, and answer it by a definition."""
    async with lane.reading(body, seconds) as read:
        return await read.answer(PendingCall(0.0, body, read.request, definition), seconds)
