"""From an answer back to expressions and places: one pure function."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from karta_interpreter.errors import InterpretationError, QueryError
from karta_interpreter.explain.aggregation import aggregation_facts
from karta_interpreter.explain.dependencies import dependency_facts
from karta_interpreter.explain.explanation import Explanation, Fact
from karta_interpreter.explain.layers import layers_of
from karta_interpreter.explain.missing import warnings_about
from karta_interpreter.explain.pods import component_facts, replica_facts, revision_facts
from karta_interpreter.explain.retention import retention_facts
from karta_interpreter.explain.status import health_facts, status_facts
from karta_interpreter.karta import Definition, Reader, resolved
from karta_interpreter.operations import DEFAULT_OPTIONS, Call, Operation, Options, Results, interpret
from karta_interpreter.operations.interpretation import OnPrint

_Facts: TypeAlias = Callable[[Definition, Call, Options, Results | None], Iterator[Fact]]

_FACTS: Final[dict[Operation, _Facts]] = {
    Operation.INTERPRET_REPLICA: replica_facts,
    Operation.INTERPRET_COMPONENT: component_facts,
    Operation.REVISE_REPLICA: revision_facts,
    Operation.RETAIN: retention_facts,
    Operation.AGGREGATE_STATUS: aggregation_facts,
    Operation.INTERPRET_STATUS: status_facts,
    Operation.INTERPRET_HEALTH: health_facts,
    Operation.INTERPRET_DEPENDENCY: dependency_facts,
}


def explain(
    definition: Definition,
    call: Call,
    options: Options = DEFAULT_OPTIONS,
    *,
    origin: str = "",
    reader: Reader | None = None,
    on_print: OnPrint = None,
) -> Explanation:
    """Answer a call as `interpret` does, and explain the answer; nothing is raised.

    ``origin`` names where the definition comes from, ``reader`` knows the objects that it refers to, ``on_print`` gets
    what scripts print. What a script reads is not traced.
    """
    results, error, facts = None, "", list[Fact]()
    try:
        definition = resolved(definition, call.object, reader)
        results = interpret(definition, call, options, on_print=on_print)
    except InterpretationError as failure:
        error = str(failure)
    try:
        for fact in _facts(definition, call, options, results):
            facts.append(fact)
    except (InterpretationError, QueryError) as failure:
        facts.append(Fact("stopped", f"the chain ends here: {failure}"))
    layers = layers_of(definition, call.operation, origin)
    return Explanation(call, definition.name, definition.gvk, layers, tuple(facts), results, error)


def _facts(definition: Definition, call: Call, options: Options, results: Results | None) -> Iterator[Fact]:
    scripts = definition.scripts.of(call.operation)
    for script in scripts:
        yield Fact("script", f"script {script.name} answers; what it reads is not traced")
    if not scripts and definition.answers(call.operation):
        yield from warnings_about(definition, call.object, call.operation)
        yield from _FACTS[call.operation](definition, call, options, results)
