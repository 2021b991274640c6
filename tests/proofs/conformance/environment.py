"""Our own small scripts, which try what the bundled ones do not: the libraries, conversions and errors."""

from collections.abc import Iterator
from pathlib import Path

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.script import Script
from tests.proofs.conformance.question import Question

_FOLDER = Path(__file__).parent
_SHOW = """
local kube = require("kube")
local out, count = {}, 0
local function show(...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    local kind = type(value)
    count = count + 1
    if kind == "table" then
      out["table" .. count] = value
    elseif kind == "function" then
      out["function" .. count] = true
    else
      out[kind .. count] = tostring(value)
      if kind == "number" and value == value and value < 1e308 and value > -1e308 then out["json" .. count] = value end
    end
  end
end
function ReflectStatus(obj)
  show(%s)
  return out
end
"""


def environment_questions() -> Iterator[Question]:
    """Give every program of ``programs.yaml`` and every line of ``expressions.txt``."""
    (document,) = read_documents((_FOLDER / "programs.yaml").read_text(), "programs.yaml")
    thing = document.value["object"]
    for program in document.value["programs"]:
        yield _program(program, thing)
    for number, line in enumerate((_FOLDER / "expressions.txt").read_text().splitlines(), 1):
        if line and not line.startswith("# "):
            script = Script("InterpretStatus", _SHOW.replace("%s", line), f"expressions.txt:{number}", line)
            yield Question((script,), thing)


def _program(fields: dict[str, JSON], thing: JSON) -> Question:
    script = Script(fields["operation"], fields["run"], "programs.yaml", fields["run"])
    return Question(
        scripts=(script,),
        object=fields.get("object") or thing,
        observed=fields.get("observed"),
        replicas=fields.get("replicas"),
        items=None if "items" not in fields else tuple(fields["items"]),
    )
