"""What became of one call."""

from collections.abc import Iterable
from dataclasses import dataclass

from interpreter.errors import InterpretationError
from interpreter.k8s.values import JSON
from interpreter.karta.definition import Definition
from interpreter.karta.status import match_status
from interpreter.operations import Call, Operation, Results, interpret
from interpreter.operations.health import is_stale


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a call, or the error that came instead; ``reason`` explains an answer on health."""

    call: Call
    results: Results | None = None
    error: str = ""
    reason: str = ""


def ask(definition: Definition, call: Call) -> Outcome:
    """Ask a definition; an error that says why there is no answer is an outcome too."""
    try:
        return Outcome(call, interpret(definition, call), reason=_reason(definition, call))
    except InterpretationError as error:
        return Outcome(call, error=str(error))


def outcomes_json(outcomes: Iterable[Outcome]) -> JSON:
    """Each operation with its results or its error."""
    return {
        str(each.call.operation): {"error": each.error} if each.error else {"results": each.results}
        for each in outcomes
    }


def _reason(definition: Definition, call: Call) -> str:
    if call.operation is not Operation.INTERPRET_HEALTH:
        return ""
    if is_stale(call.object):
        return "its status is of an older generation"
    if definition.annotations.health is not None:
        return "by the definition's annotation health"
    return f"status {', '.join(match_status(definition, call.object).matched)}"
