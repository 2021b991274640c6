"""The answers of scripts: their arguments, the Karta's own answers for them, and their errors."""

from collections.abc import Callable
from typing import TypeAlias

from karta_interpreter.errors import InterpretationError, LuaError, LuaLimitError
from karta_interpreter.karta import Definition
from karta_interpreter.lua.answers import answer
from karta_interpreter.lua.dependencies import united
from karta_interpreter.lua.script import Script
from karta_interpreter.operations.call import Call, Operation, Options, Results
from karta_interpreter.operations.lua_bindings import own_functions

OnPrint: TypeAlias = Callable[[str], None] | None


def scripted_answer(definition: Definition, call: Call, options: Options, on_print: OnPrint = None) -> Results:
    """Answer a call by the definition's scripts for its operation, at least one.

    ``on_print`` gets every line that they print.
    Raises InterpretationError: code 422 when a script fails, 504 when it takes too long or too much memory.
    """
    scripts = definition.scripts.of(call.operation)
    answers = [_answer(definition, script, call, options, on_print) for script in scripts]
    if call.operation is Operation.AGGREGATE_STATUS:
        return _status_only(call, answers[0])
    if len(answers) == 1:
        return answers[0]
    return {"dependencies": united(each["dependencies"] for each in answers)}


def _answer(definition: Definition, script: Script, call: Call, options: Options, on_print: OnPrint) -> Results:
    try:
        return answer(
            (script,),
            object=call.object,
            observed=call.member if call.operation is Operation.RETAIN else None,
            replicas=call.wanted if call.operation is Operation.REVISE_REPLICA else None,
            # Karmada leaves an empty list out of what it stores, and scripts get nil for it.
            items=[item.to_json() for item in call.items] or None,
            own=own_functions(definition, call, options),
            on_print=on_print,
        )
    except LuaError as error:
        code = 504 if isinstance(error, LuaLimitError) else 422
        raise InterpretationError(_failure(definition, script, error), code=code) from error


def _status_only(call: Call, results: Results) -> Results:
    """Return the object that was asked about with the status of the one that a script made.

    Karmada compares nothing else and writes through the status subresource, so scripts may lose the rest: an
    ``emptyDir: {}`` gets lost in every one of them.
    """
    aggregated = results["aggregatedStatus"]
    rest = {field: value for field, value in call.object.items() if field != "status"}
    return {"aggregatedStatus": {**rest, "status": aggregated["status"]} if "status" in aggregated else rest}


def _failure(definition: Definition, script: Script, error: LuaError) -> str:
    text = script.line_text(error.line)
    place = f" in line {error.line}" if error.line else ""
    shown = f" (`{text}`)" if text else ""
    return f"{definition.gvk}: script {script.name} for {script.operation} failed{place}{shown}: {error}"
