"""The scripts of a definition's operations, each with its own functions alone."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from karta_interpreter.errors import ExportError
from karta_interpreter.export import aggregation, changes, questions
from karta_interpreter.export.script import Script
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.lua.customization import KIND
from karta_interpreter.lua.script import SLOTS
from karta_interpreter.operations import Operation

FUNCTIONS: Final = {
    "getReplicas": Operation.INTERPRET_REPLICA,
    "getComponents": Operation.INTERPRET_COMPONENT,
    "reviseReplica": Operation.REVISE_REPLICA,
    "retain": Operation.RETAIN,
    "aggregateStatus": Operation.AGGREGATE_STATUS,
    "interpretHealth": Operation.INTERPRET_HEALTH,
    "reflectStatus": Operation.INTERPRET_STATUS,
    "getDependencies": Operation.INTERPRET_DEPENDENCY,
}
"""The functions of ``require("karta")``."""

Write = Callable[[Script], None]

_WRITERS: Final[Mapping[Operation, Write]] = {
    Operation.INTERPRET_REPLICA: questions.replica,
    Operation.INTERPRET_COMPONENT: questions.component,
    Operation.REVISE_REPLICA: changes.revise,
    Operation.AGGREGATE_STATUS: aggregation.aggregate,
    Operation.RETAIN: changes.retain,
    Operation.INTERPRET_STATUS: questions.status,
    Operation.INTERPRET_HEALTH: questions.health,
    Operation.INTERPRET_DEPENDENCY: questions.dependency,
}


class Exported(NamedTuple):
    """A customization, None without any script, and the reason of each operation that has none."""

    customization: Object | None
    rejected: Mapping[Operation, str]


def customization(definition: Definition, operations: Iterable[Operation]) -> Exported:
    """Return the ResourceInterpreterCustomization with the scripts of the operations that can be exported."""
    scripts: dict[str, JSON] = {}
    rejected: dict[Operation, str] = {}
    for operation in operations:
        try:
            scripts[SLOTS[operation].field] = {"luaScript": script_of(definition, operation)}
        except ExportError as error:
            rejected[operation] = str(error)
    if not scripts:
        return Exported(None, rejected)
    made: Object = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": KIND,
        "metadata": {"name": definition.name},
        "spec": {
            "target": {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind},
            "customizations": scripts,
        },
    }
    return Exported(made, rejected)


def script_of(definition: Definition, operation: Operation) -> str:
    """The Lua script that answers an operation as the definition does; ExportError where there is none."""
    scripts = definition.scripts.of(operation)
    if not scripts:
        return _compiled(definition, operation)
    if len(scripts) > 1:
        raise ExportError("several scripts answer it")
    asked = sorted(set(_ASKED.findall(scripts[0].text)))
    if not _REQUIRED.search(scripts[0].text):
        return scripts[0].text
    return "\n\n".join([_KARTA, *(_lent(definition, name) for name in asked), _REQUIRE, scripts[0].text])


def _compiled(definition: Definition, operation: Operation) -> str:
    script = Script(definition)
    _WRITERS[operation](script)
    return script.text("")


def _lent(definition: Definition, name: str) -> str:
    """A function of ``karta`` that a script of the definition calls."""
    operation = FUNCTIONS[name]
    function = SLOTS[operation].function
    text = "\n".join(f"  {line}".rstrip() for line in _compiled(definition, operation).splitlines())
    return f"do\n{text}\n  local own = {function}\n  karta.{name} = function(...) return own(copied(...)) end\nend"


_REQUIRED: Final = re.compile(r"""require\s*\(?\s*["']karta["']""")
_ASKED: Final = re.compile(r"\bkarta\.(\w+)")
_KARTA: Final = """-- What the script below asks of the definition.
local karta = {}

local function copied(value, ...)
  local found = value
  if type(value) == "table" then
    found = {}
    for key, part in pairs(value) do found[key] = (copied(part)) end
  end
  if select("#", ...) == 0 then return found end
  return found, copied(...)
end"""
_REQUIRE: Final = """local required = require

local function require(name)
  return name == "karta" and karta or required(name)
end"""
