"""What became of one call."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import click

from karta_interpreter.cli.definitions import Interpreter
from karta_interpreter.errors import InterpretationError, LuaError
from karta_interpreter.findings import escaped
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.resolution import Known, resolved
from karta_interpreter.karta.status import match_status
from karta_interpreter.operations import Call, Operation, Results, interpret
from karta_interpreter.operations.interpret_health import is_stale


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a call, or the error that came instead; ``reason`` explains an answer on health."""

    call: Call
    results: Results | None = None
    error: str = ""
    reason: str = ""


def ask(interpreter: Interpreter, call: Call, references: Iterable[Object] = ()) -> Outcome:
    """Ask for an answer; an error is an outcome, too.

    ``references`` are the objects that the definition may look up.
    """
    definition = resolved(interpreter.entry.definition, call.object, Known.of(references))
    broken = interpreter.broken.get(call.operation)
    if broken:
        return Outcome(call, error=f"{broken.source}:{broken.line}:{broken.column}: {broken.message}")
    if not definition.has_karta and not definition.answers(call.operation):
        return Outcome(call, error=interpreter.why_not)
    try:
        return Outcome(call, interpret(definition, call, on_print=_say), reason=_reason(definition, call))
    except InterpretationError as error:
        return Outcome(call, error=f"{_place(definition, call, error)}{_shown(str(error))}")


def _say(line: str) -> None:
    click.echo(_shown(line), err=True)


def _shown(text: str) -> str:
    """Escape a script's text for stderr: a terminal must not act on control characters."""
    return escaped(text, keep="\t\n") if sys.stderr.isatty() else text


def _place(definition: Definition, call: Call, error: InterpretationError) -> str:
    """Where a script failed, as editors follow it."""
    scripts, failure = definition.scripts.of(call.operation), error.__cause__
    if len(scripts) != 1 or not isinstance(failure, LuaError):
        return ""
    line = scripts[0].line_in_source(failure.line)
    return f"{scripts[0].source}:{line}: " if line else ""


def outcomes_json(outcomes: Iterable[Outcome]) -> JSON:
    """Each operation with its results or its error."""
    return {
        str(each.call.operation): {"error": each.error} if each.error else {"results": each.results}
        for each in outcomes
    }


def _reason(definition: Definition, call: Call) -> str:
    if call.operation is not Operation.INTERPRET_HEALTH:
        return ""
    for script in definition.scripts.of(call.operation):
        return f"by the script of {script.name}"
    if is_stale(definition, call.object):
        return "its status is of an older generation"
    if definition.annotations.health is not None:
        return "by the definition's annotation health"
    return f"status {', '.join(match_status(definition, call.object).matched)}"
