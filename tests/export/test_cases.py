"""Every case of the corpus in the Lua of an export, as Karmada runs it."""

from typing import Any

import pytest
import yaml

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.export.script import OperationScript
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.compiled.values import order_key
from karta_interpreter.languages.lua.script import Script
from tests.export.forms import FLEET
from tests.languages.jq.cases import CASES, Case
from tests.support.rows import rows
from tests.support.scripts import answer

_RUN = """
function ReflectStatus(obj)
  local found = {}
  for index, run in ipairs({%s}) do
    local is_there, outputs = pcall(run, obj.cases[index])
    found[index] = {outputs = is_there and outputs or nil, failed = not is_there}
  end
  return {found = found}
end
"""


_AT_ONCE = 50
"""Lua has room for 200 functions in a script, its library among them."""


def _run(cases: list[Case]) -> list[Any]:
    """What a script returns for each case: its outputs, or true if it fails."""
    if len(cases) > _AT_ONCE:
        rest = _run(cases[_AT_ONCE:])
        return [*_run(cases[:_AT_ONCE]), *rest]
    compiler = OperationScript(load_definition(yaml.safe_load(FLEET)))  # of which no expression is looked at
    names = [compiler.list_of(Query.compile(f".input | ({case.jq})"), f"case_{i}") for i, case in enumerate(cases)]
    compiler.add(_RUN % ", ".join(names))
    inputs = [{} if case.input is None else {"input": case.input} for case in cases]
    found: Any = answer([Script("InterpretStatus", compiler.text(), "cases")], object={"cases": inputs})
    return [each["failed"] or each.get("outputs", []) for each in found["status"]["found"]]


def _comparable(value: JSON) -> JSON:
    """The value with no empty object, which is an empty list in Lua."""
    if isinstance(value, dict):
        return {key: _comparable(below) for key, below in value.items()} or []
    return [_comparable(below) for below in value] if isinstance(value, list) else value


def test_lua_gives_the_same_where_no_difference_is_named() -> None:
    cases = [case for case in CASES if case.lua not in ("refused", "nulls")]
    expected = [case.outputs is None or case.outputs for case in cases]
    differing = [
        case
        for case, found, wanted in zip(cases, _run(cases), expected, strict=True)
        if order_key(_comparable(found)) != order_key(_comparable(wanted))
    ]
    assert differing == [case for case in cases if case.lua]


@rows("case", [case for case in CASES if case.lua == "refused"], ids=lambda case: case.jq)
def test_expression_without_form_in_lua_is_refused(case: Case) -> None:
    with pytest.raises(ExportError):
        _run([case])
