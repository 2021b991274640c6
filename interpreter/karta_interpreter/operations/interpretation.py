"""One call, one answer: by a script where the definition has one for the operation, else by the definition itself."""

from collections.abc import Callable

from karta_interpreter.errors import InterpretationError
from karta_interpreter.karta import Definition, Reader, resolved
from karta_interpreter.operations.call import DEFAULT_OPTIONS, Call, Operation, Options, Results
from karta_interpreter.operations.dispatch import own_answer
from karta_interpreter.operations.scripted import scripted_answer


def interpret(
    definition: Definition,
    call: Call,
    options: Options = DEFAULT_OPTIONS,
    *,
    on_print: Callable[[str], None] | None = None,
    reader: Reader | None = None,
) -> Results:
    """Answer a call by Karmada's result names, or raise `InterpretationError` with the reason.

    ``on_print`` gets every line that a script prints. ``reader`` knows the objects that the definition refers to.
    A script, or a bounded expression, is run in another process, for which the calling thread waits.
    """
    if definition.references:
        definition = resolved(definition, call.object, reader)
    if definition.scripts.of(call.operation):
        return scripted_answer(definition, call, options, on_print)
    if not definition.answers(call.operation):
        raise _unanswered(definition, call.operation)
    return own_answer(definition, call, options)


def _unanswered(definition: Definition, operation: Operation) -> InterpretationError:
    if not definition.has_karta:
        scripted = ", ".join(sorted(definition.scripts.operations))
        message = f"no Karta and no script answers {operation} for {definition.gvk}; scripts answer {scripted}"
        return InterpretationError(message, code=404)
    allowed = ", ".join(sorted(definition.annotations.operations or ()))
    return InterpretationError(
        f"definition {definition.name} does not answer {operation}: its annotation "
        f"karta-interpreter.io/operations allows {allowed}",
        code=400,
    )
