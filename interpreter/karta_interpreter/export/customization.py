"""The scripts of a definition's operations, each with only its own functions."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from karta_interpreter import __version__
from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s import NewObject, Object
from karta_interpreter.base.karmada import API_VERSION, OWN_FUNCTIONS, SLOTS, by_operation
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export import aggregation, interpretation, retention, revision
from karta_interpreter.export.script import OperationScript, check_size
from karta_interpreter.languages.lua.customization import KIND

_WRITERS: Final = by_operation(
    interpret_replica=interpretation.replica,
    interpret_component=interpretation.component,
    revise_replica=revision.revise,
    revise_components=revision.revise_components,
    retain=retention.retain,
    aggregate_status=aggregation.aggregate,
    interpret_status=interpretation.status,
    interpret_health=interpretation.health,
    interpret_dependency=interpretation.dependency,
)


class Exported(NamedTuple):
    """A customization, None without any script, and the reason of each operation that has none."""

    customization: Object | None
    rejected: Mapping[Operation, str]


def customization(definition: Definition, operations: Iterable[Operation]) -> Exported:
    """Return the ResourceInterpreterCustomization with the scripts of the operations that can be exported."""
    scripts: NewObject = {}
    rejected: dict[Operation, str] = {}
    for operation in operations:
        try:
            scripts[SLOTS[operation].field] = {"luaScript": script_of(definition, operation)}
        except ExportError as error:
            rejected[operation] = str(error)
    if not scripts:
        return Exported(None, rejected)
    document: Object = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": definition.object_name},
        "spec": {
            "target": {"apiVersion": definition.gvk.api_version, "kind": definition.gvk.kind},
            "customizations": scripts,
        },
    }
    return Exported(document, rejected)


def script_of(definition: Definition, operation: Operation) -> str:
    """Return the Lua script that answers an operation as the definition does. Raises ExportError if there is none."""
    scripts = definition.scripts.of(operation)
    # The same for the same definition and release.
    content = json.dumps(definition.manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(content.encode()).hexdigest()[:_DIGITS]
    header = (
        f"-- {operation} of {definition.gvk.kind}, {definition.gvk.api_version}.\n"
        f"-- Exported by karta-interpreter {__version__} from the Karta {definition.name}, sha256:{digest}.\n"
    )
    if not scripts:
        return check_size(f"{header}\n{_compiled(definition, [operation])}")
    if len(scripts) > 1:
        raise ExportError("several scripts answer it")
    script = scripts[0].text
    if not _REQUIRED.search(script):
        return script  # as its author wrote it: Karmada runs it without anything of ours
    names = sorted(set(_ASKED.findall(script)))
    library = _compiled(definition, [OWN_FUNCTIONS[name] for name in names])
    answers = [f"karta.{name} = with_copies({SLOTS[OWN_FUNCTIONS[name]].function})" for name in names]
    # A separate block, so that the functions of the library are not globals, and do not count as locals of the script.
    block = "\n".join(["do", *(f"  {line}".rstrip() for line in [*library.splitlines(), "", *answers]), "end"])
    return check_size(f"{header}\n{_KARTA}\n\n{block}\n\n{_REQUIRE}\n\n{script}")


def _compiled(definition: Definition, operations: Sequence[Operation]) -> str:
    script = OperationScript(definition)
    for _ in range(2):  # Which parts are repeated is known once all expressions were written.
        script = OperationScript(definition, script.repeated())
        for operation in operations:
            _WRITERS[operation](script)
    text = script.text()
    # A line break before, so that the first line is counted as well.
    if f"\n{text}".count("\nlocal ") > _MOST_LOCALS:
        raise ExportError(f"the script has more than {_MOST_LOCALS} local functions")
    return text


# Lua has at most 200 local variables in a function, the script itself among them.
_MOST_LOCALS: Final = 190
_DIGITS: Final = 16
_REQUIRED: Final = re.compile(r"""require\s*\(?\s*["']karta["']""")
_ASKED: Final = re.compile(r"\bkarta\.(\w+)")
_KARTA: Final = """-- The functions of the definition that the script below calls; they get and return copies.
local karta = {}

local function copied(value, ...)
  local found = value
  if type(value) == "table" then
    found = {}
    for key, part in pairs(value) do found[key] = (copied(part)) end
  end
  if select("#", ...) == 0 then return found end
  return found, copied(...)
end

local function with_copies(answer)
  return function(...) return answer(copied(...)) end
end"""
_REQUIRE: Final = """local required = require

local function require(name)
  return name == "karta" and karta or required(name)
end"""
