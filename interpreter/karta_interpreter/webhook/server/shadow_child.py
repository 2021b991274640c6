"""The program of a process that answers calls by other definitions, and compares the answers with those given."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Call, Options, interpret
from karta_interpreter.engine.suites.comparison import compare
from karta_interpreter.webhook.wire import encode_results
from karta_interpreter.webhook.wire.request import request_of
from karta_interpreter.webhook.wire.results import results_of

if TYPE_CHECKING:
    from karta_interpreter.base.sandbox.child import Answer, Channel

COMPARE: Final = b"C"
COMPARED: Final = b"A"
MEMORY: Final = 2**30
NICENESS: Final = 10
"""Nothing waits for it."""


def start(path: str, options: str) -> "Answer":
    """Return the function that compares a call with what the definitions of a folder or file answer."""
    asked_with = Options.of(orjson.loads(options))
    # At the first call: a process has to be ready soon.
    snapshot = cache(lambda: Store([Path(path)], catalogue=False).load())

    def answer(channel: "Channel", _: bytes, payload: bytes) -> None:
        channel.send(COMPARED, orjson.dumps(compared(snapshot(), payload, asked_with)))
        channel.flush()

    return answer


def compared(snapshot: Snapshot, recorded: bytes, options: Options) -> tuple[str, str, str]:
    """Return kind, operation and outcome for the line of a recording; what cannot be compared is left out."""
    found = orjson.loads(recorded)
    request = request_of(found["request"])
    definition = snapshot.find(request.gvk) if request.gvk else None
    if definition is None or request.call is None or definition.references:
        return "", "", "left out"
    try:
        mine = orjson.loads(encode_results(request, interpret(definition, request.call, options)))["response"]
    except InterpretationError:
        mine = None
    outcome = "same" if _same(request.call, found["answer"]["response"], mine) else "different"
    return f"{definition.gvk.api_version}/{definition.gvk.kind}", request.operation_name, outcome


def _same(call: Call, live: dict[str, Any], mine: dict[str, Any] | None) -> bool:
    """Whether two responses mean the same; ``mine`` is None for an error, and two errors are equal."""
    if mine is None or not live.get("successful"):
        return mine is None and not live.get("successful")
    if live == mine:
        return True
    before, after = results_of(call, live), results_of(call, mine)
    return not any(True for name in before for _ in compare(name, before.get(name), after.get(name)))
