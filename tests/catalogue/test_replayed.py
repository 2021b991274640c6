"""The calls of suites, recorded without their secrets, have no differences when a definition is replayed on itself."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache

import orjson

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.cli.replay_calls import Replay
from karta_interpreter.cli.sides import CATALOGUE, Side, side_of
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.webhook.wire.recording import RecordedCall
from karta_interpreter.webhook.wire.redaction import Redaction

_ANSWER = b'{"response":{"uid":"1","successful":false,"status":{"code":404}}}'
"""What was recorded does not matter where both sides answer."""


@cache
def _catalogue() -> Side:
    return side_of([CATALOGUE], ExitStack())


def test_definition_replayed_against_itself_has_no_difference(definition: Definition, swept: Sequence[Case]) -> None:
    replay, redaction = Replay(_catalogue(), _catalogue()), Redaction(b"key")
    for case in swept:
        request, answer = redaction.redacted(orjson.dumps({"request": _request(definition, case.call)}), _ANSWER)
        recorded = RecordedCall(orjson.loads(request), orjson.loads(answer)["response"], DEFAULT_OPTIONS)
        replay._replay(recorded)  # noqa: SLF001 - a file for each definition would be unpacked again
    assert (replay.findings.asked.total(), replay.findings.different) == (len(swept), 0)
    assert not replay.findings.left_out


def _request(definition: Definition, call: Call) -> dict[str, JSON]:
    items = [
        {
            "clusterName": item.cluster,
            "status": item.status,
            "applied": item.applied,
            "appliedMessage": item.message,
            "health": item.health,
        }
        for item in call.items
    ]
    return {
        "uid": "1",
        "kind": {**definition.gvk._asdict()},
        "operation": call.operation,
        "object": call.object,
        **({"observedObject": call.observed} if call.observed is not None else {}),
        **({"replicas": call.replicas} if call.replicas is not None else {}),
        **({"aggregatedStatus": items} if items else {}),
    }
