"""One call, one answer: by a script if the definition has one for the operation, else by the definition itself.

With the functions of ``require("karta")``, a script calls the Karta that it overrides.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import zip_longest
from operator import itemgetter
from typing import Final, TypeAlias

import orjson

from karta_interpreter.base.errors import (
    InterpretationError,
    LuaError,
    LuaLimitError,
    LuaRunError,
    QueryAbsentError,
    QueryRaisedError,
)
from karta_interpreter.base.k8s import CLAIM_TEMPLATES, CLAIMS, COMPUTE_DOMAIN, GVK, JSON, NewObject, Object, namespace
from karta_interpreter.base.karmada import OTHER_HALF, OWN_FUNCTIONS, SLOTS, Operation, Results, unread_reports
from karta_interpreter.definitions.karta import Definition, ReferenceReader, resolved
from karta_interpreter.engine.operations.call import DEFAULT_OPTIONS, Call, Options, StatusItem, TargetComponent
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.engine.operations.interpret_dependency import left_out_text, why_left_out
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.lua.empty_tables import restore_empty_tables
from karta_interpreter.languages.lua.machine.worker import Job, run_job, script_job
from karta_interpreter.languages.lua.results import lua_type
from karta_interpreter.languages.lua.script import COUNTED_APART, Own, Script
from karta_interpreter.languages.lua.script_dependencies import key_of, merge_dependencies

OnPrint: TypeAlias = Callable[[str], None] | None


def interpret(
    definition: Definition,
    call: Call,
    options: Options = DEFAULT_OPTIONS,
    *,
    on_print: OnPrint = None,
    reader: ReferenceReader | None = None,
) -> Results:
    """Answer a call under Karmada's result names, or raise `InterpretationError` with the reason.

    ``on_print`` gets every line that a script prints, and what is left out of its answer. ``reader`` knows the objects
    that the definition refers to. A script, or a bounded expression, runs in another process while the calling thread
    waits. The code of an error is 422 if a script fails, and 504 if it takes too long or too much memory.
    """
    definition = resolved(definition, call.object, reader, options.devices)
    if call.operation in definition.scripts.operations:
        # One script, except for dependencies: Karmada runs the scripts of all customizations and joins their answers.
        answers = []
        for script, job in script_jobs(definition, call, options, on_print):
            with script_errors(definition, script):
                answers.append(run_job(job))
        return script_results(call, answers, on_print)
    if not definition.answers(call.operation):
        raise _unanswered(definition, call.operation)
    try:
        answer = as_served(definition, own_answer(definition, call, options), reader)
    except InterpretationError as error:
        if definition.absent and isinstance(error.__cause__, QueryRaisedError):
            # The words of a definition's author name no object.
            raise InterpretationError(f"{error}: {'; '.join(definition.absent)}") from error
        raise
    if on_print:
        for text in unread_reports(answer):
            on_print(text)
    return answer


def as_served(definition: Definition, results: Results, reader: ReferenceReader | None) -> Results:
    """Return results with the dependencies that the API server has: by its objects, and in versions that it serves."""
    dependencies = results.get("dependencies")
    if reader is None or not dependencies:
        return results
    kinds = {dependency["kind"] for dependency in dependencies}
    if CLAIM_TEMPLATES[0].kind in kinds:
        results = _with_domains(results, reader)
    rules = definition.annotations.versioned_dependencies
    if not rules and kinds.isdisjoint(_CLAIM_KINDS):
        return results
    versions = {(rule.api_version, rule.kind): rule.versions for rule in rules}
    served = [_in_served_version(dependency, versions, reader) for dependency in results["dependencies"]]
    return {"dependencies": sorted(served, key=itemgetter("apiVersion", "kind"))}


def _in_served_version(
    dependency: Object, versions: Mapping[tuple[str, str], tuple[GVK, ...]], reader: ReferenceReader
) -> Object:
    key = dependency["apiVersion"], dependency["kind"]
    with suppress(QueryAbsentError):
        if kinds := versions.get(key) or _VERSIONS_OF_CLAIMS.get(key):
            return {**dependency, "apiVersion": reader.served(kinds).api_version}
    return dependency


def _with_domains(results: Results, reader: ReferenceReader) -> Results:
    """Replace templates of claims by the ComputeDomains that make them in the member: those have to be there."""
    made: list[Object] = []
    for dependency in results["dependencies"]:
        namespace, maker = dependency.get("namespace", ""), None
        if dependency["kind"] == CLAIM_TEMPLATES[0].kind:
            with suppress(QueryAbsentError):
                names = reader.names(COMPUTE_DOMAIN, namespace, _TEMPLATE_OF_DOMAIN)
                maker = names.first(namespace, dependency.get("name", ""))
        made.append({**dependency, **COMPUTE_DOMAIN.type_meta, "name": maker} if maker else dependency)
    return {"dependencies": sorted(made, key=itemgetter("apiVersion", "kind"))}


_VERSIONS_OF_CLAIMS: Final = {
    (versions[0].api_version, versions[0].kind): versions for versions in (CLAIMS, CLAIM_TEMPLATES)
}
_CLAIM_KINDS: Final = frozenset(kind for _, kind in _VERSIONS_OF_CLAIMS)
_TEMPLATE_OF_DOMAIN: Final = Query.compile("{name: .spec.channel.resourceClaimTemplate.name}")


def _unanswered(definition: Definition, operation: Operation) -> InterpretationError:
    if not definition.has_karta:
        scripted = ", ".join(sorted(definition.scripts.operations))
        message = f"no Karta and no script answers {operation} for {definition.gvk}; scripts answer {scripted}"
        return InterpretationError(message, code=404)
    if definition.is_counted_apart(operation):
        other = OTHER_HALF[operation]
        script = definition.scripts.of(other)[0]
        message = f"{definition.gvk}: script {script.name} answers {other}, so the Karta does not answer {operation}"
        return InterpretationError(f"{message}: it may count something else; {COUNTED_APART}", code=400)
    allowed = ", ".join(sorted(definition.annotations.operations or ()))
    return InterpretationError(
        f"definition {definition.name} does not answer {operation}: its annotation "
        f"karta-interpreter.io/operations allows {allowed}",
        code=400,
    )


def has_scripts_alone(definition: Definition, operation: str) -> bool:
    """Return whether only scripts answer an operation, and nothing else has to be waited for."""
    return operation in definition.scripts.operations and not (definition.needs_child or definition.references)


def script_jobs(
    definition: Definition, call: Call, options: Options, on_print: OnPrint = None
) -> list[tuple[Script, Job]]:
    """Return the scripts that answer a call, each with its job for a process."""
    arguments: list[JSON] = [call.object]
    match call.operation:
        case Operation.RETAIN:
            arguments.append(call.member)
        case Operation.REVISE_REPLICA:
            arguments.append(call.wanted)
        case Operation.REVISE_COMPONENTS:
            arguments.append([component._asdict() for component in call.assigned])
        case Operation.AGGREGATE_STATUS:
            # Karmada does not store an empty list, so scripts get nil for it.
            arguments.append([item.to_json() for item in call.items] or None)
    functions = own_functions(definition, call, options)
    scripts = definition.scripts.of(call.operation)
    return [(script, script_job(script, arguments, functions, on_print)) for script in scripts]


@contextmanager
def script_errors(definition: Definition, script: Script) -> Iterator[None]:
    """Raise the errors of a script as InterpretationError."""
    try:
        yield
    except LuaError as error:
        where = f" in line {error.line}" if error.line else ""
        if text := script.line_text(error.line):
            where += f" (`{text}`)"
        message = f"{definition.gvk}: script {script.name} for {script.operation} failed{where}: {error}"
        if error.hint:
            message += f"; {error.hint}"
        raise InterpretationError(message, code=504 if isinstance(error, LuaLimitError) else 422) from error


def script_results(call: Call, answers: Sequence[Results], on_print: OnPrint = None) -> Results:
    """Return the answer to a call from the results of the jobs. Only InterpretDependency has several."""
    if call.operation is Operation.INTERPRET_DEPENDENCY:
        own, followed = namespace(_decoded(call.object)), list[Object]()
        for reference in merge_dependencies(answer["dependencies"] for answer in answers):
            why = why_left_out(own, *key_of(reference))
            if not why:
                followed.append(reference)
            elif on_print:
                on_print(left_out_text(reference, why))
        return {"dependencies": followed}
    if call.operation is not Operation.AGGREGATE_STATUS:
        return answers[0]
    # Karmada compares only the status and writes it through the status subresource, so scripts may lose the rest. Every
    # script loses an `emptyDir: {}`.
    aggregated = answers[0]["aggregatedStatus"]
    whole = {field: value for field, value in call.object.items() if field != "status"}
    if "status" in aggregated:
        whole["status"] = aggregated["status"]
    return {"aggregatedStatus": whole}


def own_functions(definition: Definition, call: Call, options: Options) -> Own:
    """Return the functions by name for the script that answers a call. They raise LuaRunError."""
    return {name: partial(_ask, definition, call, options, name) for name in OWN_FUNCTIONS}


def _ask(definition: Definition, call: Call, options: Options, name: str, *arguments: JSON) -> tuple[JSON, ...]:
    if not definition.has_karta:
        raise LuaRunError(f"karta.{name} has no answer: there is no Karta for {definition.gvk}")
    operation, fields = OWN_FUNCTIONS[name], NewObject()
    names = ("object", *filter(None, [SLOTS[operation].more]))
    try:
        for position, (field, value) in enumerate(zip_longest(names, arguments[: len(names)]), start=1):
            fields[field] = _READERS[field](value, f"#{position} to {name}", call)
        answer: Mapping[str, JSON] = own_answer(definition, Call(operation, **fields), options)
    except InterpretationError as error:
        raise LuaRunError(str(error)) from error
    return tuple(answer[result] for result in SLOTS[operation].results)


def _object(value: JSON, argument: str, call: Call) -> JSON:
    """Read an object. An empty table becomes the empty value at the same place of the script's input."""
    if value == []:  # an empty table
        return {}
    if isinstance(value, list):
        raise LuaRunError(f"bad argument {argument} (object expected, got list)")
    _checked(value, dict, "table", argument)
    # Lua has one empty table for {} and [], and values from the child process have lists for both.
    return restore_empty_tables(value, [_decoded(read) for read in (call.object, call.observed) if read is not None])


def _decoded(read: Object | orjson.Fragment) -> Object:
    return orjson.loads(orjson.dumps(read)) if isinstance(read, orjson.Fragment) else read


def _items(value: JSON, argument: str, _: Call) -> tuple[StatusItem, ...]:
    # Karmada gives nil to scripts if there are none.
    items = _checked([] if value is None else value, list, "table", argument)
    try:
        return tuple(StatusItem.of(item, f"item {index}") for index, item in enumerate(items, start=1))
    except InterpretationError as error:
        raise LuaRunError(f"bad argument {argument}: {error}") from error


_READERS: Final[Mapping[str, Callable[[JSON, str, Call], JSON]]] = {
    "object": _object,
    "observed": _object,
    "replicas": lambda value, argument, _: _checked(value, int, "integer", argument),
    "items": _items,
    "components": lambda value, argument, _: TargetComponent.several(value, f"argument {argument}"),
}


def _checked(value: JSON, kind: type, expected: str, argument: str) -> JSON:
    """Return a value of this type. Raise the error of Lua's own library for any other."""
    if type(value) is kind:
        return value
    raise LuaRunError(f"bad argument {argument} ({expected} expected, got {lua_type(value)})")
