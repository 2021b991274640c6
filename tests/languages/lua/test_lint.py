from zlib import crc32

import pytest

from karta_interpreter.base.karmada import SLOTS, Operation
from karta_interpreter.languages.lua.machine import lint as lint_module
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.lint import BUNDLED, Lint, lint
from karta_interpreter.languages.lua.machine.runtime import Runtime
from tests.support.rows import rows

_names = Runtime(KUBE).names


def judge(operation: str, script: str) -> list[Lint]:
    return lint(operation, script, _names)


_GOOD = {
    "InterpretReplica": "function GetReplicas(desiredObj) return 1 end",
    "InterpretComponent": "function GetComponents(desiredObj) return {} end",
    "ReviseReplica": "function ReviseReplica(desiredObj, desiredReplica) return desiredObj end",
    "ReviseComponents": "function ReviseComponents(desiredObj, components) return desiredObj end",
    "Retain": "function Retain(desiredObj, observedObj) return desiredObj end",
    "AggregateStatus": "function AggregateStatus(desiredObj, statusItems) desiredObj.status = {} return desiredObj end",
    "InterpretStatus": "function ReflectStatus(observedObj) return observedObj.status end",
    "InterpretHealth": "function InterpretHealth(observedObj) return true end",
    "InterpretDependency": "function GetDependencies(desiredObj) return {} end",
}


@rows("operation", list(SLOTS))
def test_script_as_karmada_documents_it_has_no_findings(operation: str) -> None:
    assert judge(operation, _GOOD[operation]) == []


@rows("operation", list(SLOTS))
def test_function_of_another_operation_is_missing_function(operation: str) -> None:
    (other, *_) = (text for name, text in _GOOD.items() if name != operation)

    (judgement,) = judge(operation, other)

    assert (judgement.rule, judgement.fatal) == ("missing-function", True)
    assert SLOTS[operation].function in judgement.message


def _lines(judgements: list[Lint]) -> list[tuple[int, str, str]]:
    return [(judgement.line, judgement.rule, judgement.word) for judgement in judgements]


@rows(
    ("script", "expected"),
    [
        pytest.param("function Retain(a, b)\n  retrun a\nend", [(2, "lua-syntax", "")], id="text that is not Lua"),
        pytest.param("local function Retain(a, b) return a end", [(1, "missing-function", "Retain")],
            id="the function is local"),
        pytest.param("function retain(a, b) return a end", [(1, "missing-function", "retain")],
            id="the function is misspelt"),
        pytest.param("function Retain(a, b)\n  local x = a\n  x = b.spec and b.spec.x\n  return x\nend",
            [(3, "kept-value", "x")], id="a local that keeps its value in Karmada"),
        pytest.param("function Retain(a, b)\n  local x = b.spec and b.spec.x\n  a = x and b or a\n  return a\nend", [],
            id="a new local and a value with or do not"),
        pytest.param(
            "function Retain(a, b)\n  for x in pairs(b) do a[x] = b[x] end\n  local x = b.y\n  a.y = x.y return a\nend",
            [],
            id="a name of a loop that is another value after the loop",
        ),
        pytest.param("function f() function Retain(a, b) return a end end", [(1, "missing-function", "Retain")],
            id="the function comes into being too late"),
        pytest.param("-- nothing", [(0, "missing-function", "")], id="there is no function at all"),
        pytest.param(
            "function Retain(a, b)\n  kube = require('kube')\n  kube.accuratePodRequirements(b.spec.pod.spec)\n"
            "  kube.getPodDependencies(b.spec.pod, b.metadata.namespace)\n  return a\nend",
            [(2, "global-variable", "kube")],
            id="a pod spec where a template belongs",
        ),
        pytest.param("local m = {}\nfunction m.map(x) return x end\nfunction Retain(a, b) return m.map(a) end", [],
            id="a function of the script's own"),
        pytest.param("Retain = function(a, b) return a end", [], id="the function may be assigned"),
        pytest.param("local r = {} Retain = r.x", [(1, "global-variable", "Retain")], id="what is assigned may be one"),
        pytest.param("function Retain(a) return a end", [(1, "parameter-count", "Retain")], id="too few parameters"),
        pytest.param("function Retain(a, b, c) return a end", [(1, "parameter-count", "Retain")],
            id="too many parameters"),
        pytest.param("function Retain(...) return ... end", [], id="any number of parameters"),
        pytest.param("function Retain(a, b)\n  x = 1\n  x = 2\n  return a, x\nend", [(2, "global-variable", "x")],
            id="a global is named once, where it comes into being"),
        pytest.param("function Retain(a, b)\n  type = 1\n  return a\nend", [(2, "global-variable", "type")],
            id="a global that hides a function of Lua"),
        pytest.param("function Retain(a, b)\n  return a.spec, nul\nend", [(2, "unknown-global", "nul")],
            id="a name nobody sets"),
        pytest.param("function Retain(a, b)\n  return os.getenv('HOME')\nend", [(2, "unknown-global", "os.getenv")],
            id="a function that is not there"),
        pytest.param("local x = setmetatable({}, {})\nfunction Retain(a, b) return a end",
            [(1, "forbidden-function", "setmetatable")], id="a function that Karmada forbids"),
        pytest.param("local k = require('kubee')\nfunction Retain(a, b) return a end",
            [(1, "unknown-module", "kubee")], id="a module that does not exist"),
        pytest.param("local k, mine = require('kube'), require('karta')\nfunction Retain(a, b) return a end", [],
            id="the two modules"),
        pytest.param("function Retain(a, b)\n  local k = kube.resourceAdd(a.x, b.x)\n  return k\nend",
            [(2, "unknown-global", "kube")], id="a module that was not required"),
        pytest.param("function Retain(a, b)\n  goto done\n  ::done::\n  return a\nend", [], id="a jump"),
        pytest.param("function Retain(a, b)\n  names[#a + 1] = {#b}\n  return a\nend",
            [(2, "unknown-global", "names")], id="a table nobody makes, written at a computed place"),
        pytest.param("function Retain(a, b)\n  if a then local x = b.y end\n  return x\nend",
            [(3, "unknown-global", "x")], id="a local behind the end of its block"),
        pytest.param(
            "function Retain(a, b)\n  for i, x in ipairs(b) do while i do local y = x end end\n  return i, y\nend",
            [(3, "unknown-global", "i"), (3, "unknown-global", "y")],
            id="variables of a loop, and a local of a loop in it",
        ),
        pytest.param(
            "function Retain(a, b)\n  repeat local done = b.done until done\n  return {kind = a, y = b, done = 1}\nend",
            [],
            id="the condition of repeat reads its locals, and fields of a table are no names",
        ),
        pytest.param("function Retain(a, b)\n  x, a.y, os.own = 1, 2, os.own\n  return a\nend",
            [(2, "global-variable", "x")], id="a global among places that are set at once"),
        pytest.param('local k = require "kube"\nfunction Retain(a, b) return k.podRequirements(a) end',
            [(2, "unknown-global", "kube.podRequirements")],
            id="a member that a module does not have, by the local that holds it"),
        pytest.param(
            "local t = {}\nfunction t.f(x) return x end\nfunction t:g() return self end\n"
            "function Retain(a, ...) return t.f(a), arg end",
            [],
            id="functions of a table, self, and the arguments of a variadic function",
        ),
        pytest.param("function Retain(a, b) return a.name:gsub('a', b), _G.nope end",
            [(1, "unknown-global", "nope"), (1, "forbidden-function", "string.gsub")],
            id="a method of a text, and a global by its table"),
        pytest.param("function Retain(a)\n  x = nope\nend",
            [
                *((1, "parameter-count", "Retain"), (1, "returns-nothing", "Retain")),
                *((2, "global-variable", "x"), (2, "unknown-global", "nope")),
            ],
            id="everything is said, in the order of the lines"),
    ],
)  # fmt: skip
def test_judgements_of_a_script(script: str, expected: list[tuple[int, str, str]]) -> None:
    assert _lines(judge("Retain", script)) == expected


@rows(
    ("script", "rule", "hint"),
    [
        pytest.param("function GetReplica(obj) return 1 end", "missing-function", "rename GetReplica",
            id="the name is alike"),
        pytest.param("local function GetReplicas(obj) end", "missing-function", "it is local", id="only local"),
        pytest.param("local a = 1", "missing-function", "write function GetReplicas(desiredObj)",
            id="nothing is alike"),
        pytest.param("function GetReplicas() return 1 end", "parameter-count",
            "write function GetReplicas(desiredObj)", id="a parameter"),
        pytest.param("function GetReplicas(obj) return tonumbr(obj) end", "unknown-global", "did you mean tonumber?",
            id="a misspelt function"),
        pytest.param("function GetReplicas(obj) return require('kubes') end", "unknown-module", "did you mean kube?",
            id="a module"),
        pytest.param("function GetReplicas(obj) return kube.resourceAdd(obj.a) end", "unknown-global",
            'write local kube = require("kube")', id="a module that is not required"),
    ],
)  # fmt: skip
def test_unknown_name_has_the_closest_one_as_its_hint(script: str, rule: str, hint: str) -> None:
    (judgement,) = judge("InterpretReplica", script)

    assert (judgement.rule, judgement.hint) == (rule, hint)


@rows(
    ("script", "severity", "fatal"),
    [
        pytest.param("x", "error", True, id="what is not Lua cannot run"),
        pytest.param("local x", "error", True, id="nor can a script without its function"),
        pytest.param(
            "function Retain(a, b) return rawget(a, b) end", "error", False, id="Karmada fails when it gets there"
        ),
        pytest.param("function Retain(a, b) x = 1 return x end", "warning", False, id="a global is only bad manners"),
    ],
)
def test_how_bad_it_is(script: str, severity: str, fatal: bool) -> None:
    assert {(judgement.severity, judgement.fatal) for judgement in judge("Retain", script)} == {(severity, fatal)}


def test_globals_are_one_finding() -> None:
    script = "function Retain(a, b)\n  x = 1\n  y = 2\n  type = 3\n  x = type\n  return a\nend"

    (judgement,) = judge("Retain", script)

    assert (judgement.rule, judgement.line) == ("global-variable", 4)
    assert judgement.message.startswith("x, y, type: ")
    assert "type of Lua is lost" in judgement.message


def test_missing_function_is_found_behind_many_other_findings() -> None:
    script = "".join(f"local x{number} = unset{number}\n" for number in range(60)) + "function retain(a, b) end"

    judgements = judge("Retain", script)

    assert [judgement.rule for judgement in judgements] == ["unknown-global"] * 50 + ["missing-function"]


_SUM = "function AggregateStatus(obj, items)\n  local n = 0\n  {}\nend"


@rows(
    ("operation", "script", "expected"),
    [
        pytest.param("AggregateStatus", _SUM.format("return { ready = n }"), "a table without kind", id="a status"),
        pytest.param("AggregateStatus", _SUM.format("return obj.status"), "obj.status", id="the status of the object"),
        pytest.param("AggregateStatus", _SUM.format("local s = {} s.ready = n return s"), "s, a table without kind",
            id="a table that gets no kind"),
        pytest.param("AggregateStatus", _SUM.format("local s = obj.status\n return s"), "s", id="by another name"),
        pytest.param("AggregateStatus", _SUM.format("if n > 1 then return obj end return nil"), "nil", id="nil"),
        pytest.param("ReviseReplica", "function ReviseReplica(o, n) return o.spec end", "o.spec", id="a spec"),
        pytest.param("Retain", "function Retain(d, o) return true end", "true", id="an answer yes"),
        pytest.param("AggregateStatus", _SUM.format("obj.status = {ready = n} return obj"), "", id="the object"),
        pytest.param("AggregateStatus", _SUM.format("local s = {} s.kind = obj.kind return s"), "", id="a kind"),
        pytest.param("AggregateStatus", _SUM.format("local s = {} for k, v in pairs(obj) do s[k] = v end return s"), "",
            id="a copy"),
        pytest.param("AggregateStatus", _SUM.format("local s = {} fill(s) return s"), "", id="filled elsewhere"),
        pytest.param("AggregateStatus", _SUM.format("local f = function() return {} end obj.x = f() return obj"), "",
            id="a function inside"),
        pytest.param("InterpretStatus", "function ReflectStatus(o) return {ready = o.status.ready} end", "",
            id="an operation that answers with a status"),
    ],
)  # fmt: skip
def test_result_without_kind_is_found(operation: str, script: str, expected: str) -> None:
    found = [each.message for each in judge(operation, script) if each.rule == "returns-no-object"]
    function = SLOTS[Operation(operation)].function
    assert found == ([f"{function} returns {expected}. Karmada fails: Object 'Kind' is missing"] if expected else [])


@rows(
    ("script", "expected"),
    [
        pytest.param("function InterpretHealth(o)\n  local x = o\nend", [(1, "returns-nothing", "InterpretHealth")],
            id="no return"),
        pytest.param("function InterpretHealth(o)\n  if o then return end\nend",
            [(1, "returns-nothing", "InterpretHealth")], id="a return of nothing"),
        pytest.param("function InterpretHealth(o)\n  local f = function() return 1 end\nend",
            [(1, "returns-nothing", "InterpretHealth")], id="only inside of another function"),
        pytest.param("function InterpretHealth(o)\n  if o.a then return true end\nend", [], id="on one path"),
        pytest.param("function InterpretHealth(o)\n  for v in o.status.list do end\n  return true\nend",
            [(2, "loop-calls-table", "o")], id="a loop over a list"),
        pytest.param("function InterpretHealth(o)\n  local l = o.status.list\n  for v in l do end\n  return true\nend",
            [(3, "loop-calls-table", "l")], id="by another name"),
        pytest.param(
            "function InterpretHealth(o)\n  for _, c in ipairs(o.list) do\n    for e in c.env do end\n  end\n"
            "  return true\nend",
            [(3, "loop-calls-table", "c")], id="inside of another loop"),
        pytest.param(
            "function InterpretHealth(o)\n  -- for v in o.list do\n  for v in pairs(o.list) do end\n  return 1\nend",
            [], id="pairs, and a comment"),
        pytest.param(
            "function InterpretHealth(o)\n  for w in string.gmatch(o.x, 'a') do end\n  local n = next\n"
            "  for k in n, o.x do end\n  return true\nend",
            [], id="functions"),
    ],
)  # fmt: skip
def test_what_always_fails_is_found(script: str, expected: list[tuple[int, str, str]]) -> None:
    assert _lines(judge("InterpretHealth", script)) == expected


def test_globals_of_scripts_that_karmada_bundles_are_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "function Retain(a, b)\n  x = 1\n  return a\nend"
    assert len(BUNDLED.split()) == 31
    monkeypatch.setattr(lint_module, "BUNDLED", format(crc32(script.encode()), "08x"))
    assert judge("Retain", script) == []


@rows(
    ("lines", "expected"),
    [
        pytest.param(["r.requests = {cpu = 1}"], ["no-resource-request"], id="another field"),
        pytest.param(["r.nodeClaim = {}"], ["no-resource-request"], id="a claim alone"),
        pytest.param(["if o.spec.x then r.resourceRequest = o.spec.x end"], [], id="on one path"),
        pytest.param(["r.requests = 1", "fill(r)"], [], id="filled elsewhere"),
        pytest.param(['r["resourceRequest"] = o.spec.x'], [], id="by a text"),
    ],
)
def test_requirements_without_requests_are_found(lines: list[str], expected: list[str]) -> None:
    script = "\n  ".join(["function GetReplicas(o)", "local r = {}", *lines, "return o.spec.n, r"]) + "\nend"
    found = [each.rule for each in judge("InterpretReplica", f"local fill = print\n{script}")]
    assert found == expected
