"""Scripts, asked without the server."""

from collections.abc import Callable, Sequence
from typing import Any

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.machine.worker import run_job, script_job
from karta_interpreter.languages.lua.script import Own, Script
from karta_interpreter.languages.lua.script_dependencies import merge_dependencies

_SECOND = {
    "Retain": "observed",
    "ReviseReplica": "replicas",
    "AggregateStatus": "items",
    "ReviseComponents": "components",
}
"""The second argument of the functions that have two."""


def answer(
    scripts: Sequence[Script], own: Own | None = None, on_print: Callable[[str], None] | None = None, **arguments: Any
) -> dict[str, JSON]:
    """The answer of the scripts of one operation, by Karmada's result names; an object, and what `_SECOND` names."""
    second = _SECOND.get(scripts[0].operation)
    given = [arguments["object"], *([arguments.get(second)] if second else [])]
    answers = [run_job(script_job(script, given, own or {}, on_print)) for script in scripts]
    if "dependencies" in answers[0]:
        return {"dependencies": merge_dependencies(each["dependencies"] for each in answers)}
    found: dict[str, JSON] = answers[0]
    return found
