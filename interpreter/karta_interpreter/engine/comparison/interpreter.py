"""What answers for a kind, and the outcome of a call to it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError, LuaError
from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import Object
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.definitions.karta import Definition, Known, resolved
from karta_interpreter.definitions.sources import ServedDefinition
from karta_interpreter.engine.evaluation import Status, match_with_rest
from karta_interpreter.engine.operations import (
    DEFAULT_OPTIONS,
    Call,
    OnPrint,
    Operation,
    Options,
    Results,
    absent_status,
    interpret,
    is_stale,
)
from karta_interpreter.languages.lua.script import COUNTED_APART


class Interpreter(Struct, frozen=True):
    """The definition of a kind. ``broken`` has the first error of each script that cannot answer its operation.

    ``files_are_right`` if no definition among the files that it was read from has an error, and none of them is a case.
    """

    entry: ServedDefinition
    broken: Mapping[str, Finding] = MappingProxyType({})
    files_are_right: bool = True

    def is_asked(self, operation: str) -> bool:
        """Return whether a definition or a script should answer an operation."""
        return operation in self.broken or self.entry.definition.answers(operation)

    def why_not(self, operation: str) -> str:
        """Return the reason why an operation has no answer, in karmadactl's words if only scripts are given."""
        if not self.entry.definition.has_karta:
            return "rule is not enabled"
        if self.entry.definition.is_counted_apart(operation):
            return f"a script answers {OTHER_HALF[operation]} alone; {COUNTED_APART}"
        reason = "the definition's annotation karta-interpreter.io/operations leaves it out"
        if self.entry.origin != "catalogue":
            return reason
        return f"{reason}; `catalogue export {self.entry.definition.gvk.kind}` prints it with the reason"


class CallOutcome(Struct, frozen=True):
    """The results of a call, or its ``failure`` at a ``place`` in a script. ``reason`` explains an answer on health."""

    call: Call
    results: Results | None = None
    failure: str = ""
    reason: str = ""
    place: str = ""

    @property
    def error(self) -> str:
        """The failure after its place, "" for a call with results."""
        return f"{self.place}{self.failure}"


def ask(
    interpreter: Interpreter,
    call: Call,
    references: Iterable[Object] = (),
    options: Options = DEFAULT_OPTIONS,
    on_print: OnPrint = None,
) -> CallOutcome:
    """Return the outcome of a call, also for an error. ``references`` are objects that the definition may look up.

    ``on_print`` gets each line that a script prints.
    """
    definition = resolved(interpreter.entry.definition, call.object, Known.of(references), options.devices)
    broken = interpreter.broken.get(call.operation)
    if broken:
        return CallOutcome(call, failure=broken.message, place=broken.location)
    if not definition.has_karta and not definition.answers(call.operation):
        return CallOutcome(call, failure=interpreter.why_not(call.operation))
    try:
        results = interpret(definition, call, options, on_print=on_print)
        return CallOutcome(call, results, reason=_reason(definition, call))
    except InterpretationError as error:
        return CallOutcome(call, failure=str(error), place=_place(definition, call, error))


def _place(definition: Definition, call: Call, error: InterpretationError) -> str:
    """Return the place in a script that failed, in a form that editors follow."""
    scripts, failure = definition.scripts.of(call.operation), error.__cause__
    if len(scripts) != 1 or not isinstance(failure, LuaError):
        return ""
    line = scripts[0].line_in_source(failure.line or 1)
    return f"{scripts[0].source}:{line}: " if line else ""


def _reason(definition: Definition, call: Call) -> str:
    if call.operation is not Operation.INTERPRET_HEALTH:
        return ""
    for script in definition.scripts.of(call.operation):
        return f"by the script of {script.name}"
    if is_stale(definition, call.object):
        return "its status belongs to an older generation"
    if definition.annotations.health is not None:
        return "by the definition's annotation health"
    match, rules = match_with_rest(definition, call.object), definition.status
    if match.matched != (Status.UNDEFINED,):
        return f"status {', '.join(match.matched)}"
    if not call.object.get("status"):
        return absent_status(call.object)
    if rules and rules.phase and not match.phase:
        return f"status Undefined: no phase at {rules.phase.text:.60}"
    return "status Undefined"
