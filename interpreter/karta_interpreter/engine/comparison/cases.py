"""Cases of suites that expect the answers of today."""

from collections.abc import Iterable

from msgspec import structs

from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.engine.comparison.interpreter import Interpreter, ask
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, OnPrint, Options
from karta_interpreter.engine.suites import case_of, without_server_fields


def case_about(
    interpreter: Interpreter,
    call: Call,
    references: Iterable[Object] = (),
    options: Options = DEFAULT_OPTIONS,
    on_print: OnPrint = None,
) -> Object:
    """Return a new case of a suite, which expects the answer of today. Its objects have no fields of API servers."""
    obj, observed = without_server_fields(call.object), call.observed and without_server_fields(call.observed)
    call, references = structs.replace(call, object=obj, observed=observed), [*map(without_server_fields, references)]
    outcome = ask(interpreter, call, references, options, on_print)
    output = {"error": outcome.failure} if outcome.results is None else {**outcome.results}
    name = edit.get(obj, ("metadata", "name")) or "without a name"
    return case_of(str(name), call, output, references)
