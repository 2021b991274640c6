"""The program of a process that answers calls by other definitions, and compares the answers with those given."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import field_path
from karta_interpreter.definitions.sources.snapshot import Snapshot
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Call, Options, interpret
from karta_interpreter.engine.suites.comparison import compare
from karta_interpreter.webhook.server.redacted import redacted
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
_MOST: Final = 4
"""Places that are told of an answer."""

Shown: TypeAlias = tuple[str, str, str]
"""A field, the answer of the server there, and that of the shadow, as people may see them."""


def start(path: str, options: str) -> "Answer":
    """Return the function that compares a call with what the definitions of a folder or file answer."""
    asked_with = Options.of(orjson.loads(options))
    # At the first call: a process has to be ready soon.
    snapshot = cache(lambda: Store([Path(path)], catalogue=False).load())

    def answer(channel: "Channel", _: bytes, payload: bytes) -> None:
        channel.send(COMPARED, orjson.dumps(compared(snapshot(), payload, asked_with)))
        channel.flush()

    return answer


def compared(snapshot: Snapshot, recorded: bytes, options: Options) -> tuple[str, str, str, list[Shown]]:
    """Return kind, operation, outcome and places for the line of a recording; what cannot be compared is left out."""
    found = orjson.loads(recorded)
    request = request_of(found["request"])
    definition = snapshot.find(request.gvk) if request.gvk else None
    if definition is None or request.call is None or definition.references:
        return "", "", "left out", []
    try:
        mine = orjson.loads(encode_results(request, interpret(definition, request.call, options)))["response"]
    except InterpretationError:
        mine = None
    different = [*islice(_differences(request.call, found["answer"]["response"], mine), _MOST)]
    kind = f"{definition.gvk.api_version}/{definition.gvk.kind}"
    return kind, request.operation_name, "different" if different else "same", different


def _differences(call: Call, live: dict[str, Any], mine: dict[str, Any] | None) -> Iterator[Shown]:
    """Yield the places in which two responses differ; ``mine`` is None for an error, and two errors are equal."""
    if mine is None or not live.get("successful"):
        sides = ["an answer" if side and side.get("successful") else "an error" for side in (live, mine)]
        if sides[0] != sides[1]:
            yield "", sides[0], sides[1]
        return
    if live == mine:
        return
    before, after = results_of(call, live), results_of(call, mine)
    for name in before:
        for path, there, here in compare(name, before.get(name), after.get(name)):
            field = field_path(path)
            yield field, redacted(field, there), redacted(field, here)
