"""The calls of suites, recorded without their secrets, have no differences when a definition is replayed on itself."""

from collections.abc import Sequence
from functools import cache

import orjson

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.cli.changes import CATALOGUE, Side
from karta_interpreter.cli.replay import _LOOKS_UP, Replay
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.comparison.change import answer_of
from karta_interpreter.engine.comparison.interpreter import CallOutcome
from karta_interpreter.engine.operations import Call, Options
from karta_interpreter.engine.redaction import Redaction
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.webhook.wire import Request, decode, encode_failure, encode_results
from karta_interpreter.webhook.wire.recording import RecordedCall

_PARAMETERS = {"CronWorkflow": 1, "PipelineRun": 4, "TaskRun": 5, "Workflow": 2}
"""The most cases with a parameter that names a Secret: a recording hides its value, as that of a variable."""

# Suites have revisions to 0, as karmada-scheduler has clusters then.
_OPTIONS = Options(empty_workload_propagation=True)


@cache
def _catalogue() -> Side:
    return Side([CATALOGUE])


def test_recorded_calls_of_definition_replayed_without_secrets_have_no_difference(
    definition: Definition, swept: Sequence[Case]
) -> None:
    replay, redaction = Replay(None, _catalogue()), Redaction(b"key")
    interpreter = _catalogue().find(definition.gvk)
    for case in swept:
        asked = orjson.dumps({"request": _request(definition, case.call)})
        outcome = answer_of(interpreter, case.call, (), _OPTIONS)
        request, answer = redaction.redacted(asked, _answer(decode(asked), outcome), definition)
        recorded = RecordedCall(orjson.loads(request), orjson.loads(answer)["response"], _OPTIONS)
        replay._replay(recorded)  # noqa: SLF001 - a file for each definition would be unpacked again
    found = replay.findings
    examples = [example for group in found.groups.values() for example in group.examples]
    hidden = found.left_out.pop(f"{definition.gvk.kind}: {_LOOKS_UP}", 0)
    assert hidden <= _PARAMETERS.get(definition.gvk.kind, 0)
    assert (found.asked.total() + found.left_out.total(), examples) == (len(swept), [])


def _answer(request: Request, outcome: CallOutcome | None) -> bytes:
    if outcome is None:
        return encode_failure("1", 404, "")
    if outcome.results is None:
        return encode_failure("1", 422, str(outcome.error))
    return encode_results(request, outcome.results, _OPTIONS)


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
