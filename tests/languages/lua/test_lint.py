import pytest

from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.lint import Lint, lint
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


@rows(
    ("body", "is_set"),
    [
        pytest.param("local status = {replicas = 1}", False, id="a local only"),
        pytest.param("a['status'] = b[1].status", True, id="by its key"),
        pytest.param("local s = a.status s.replicas = 1", True, id="another name of it"),
        pytest.param("a = {kind = 'Job', status = {}}", True, id="in a new table"),
        pytest.param("table.insert(a.status.conditions, b[1])", True, id="by a function"),
    ],
)
def test_aggregation_sets_status(body: str, *, is_set: bool) -> None:
    judgements = judge("AggregateStatus", f"function AggregateStatus(a, b) {body} return a end")

    assert [judgement.word for judgement in judgements] == ([] if is_set else ["AggregateStatus"])


@rows(
    ("line", "written"),
    [
        pytest.param("return a != b", "`~=`", id="not equal"),
        pytest.param("return !a", "`not`", id="not"),
        pytest.param("return a:spec.x", "`:` calls", id="a colon before a field"),
        pytest.param("return a && b", "`and`", id="and"),
        pytest.param("return a || b", "`or`", id="or"),
        pytest.param("a.x += 1", "`x = x + 1`", id="a sum"),
        pytest.param("a.x -= 1", "`x = x - 1`", id="a difference"),
        pytest.param("if a = b then return a end", "`==`", id="equal"),
        pytest.param("if a <> b then return a end", "`~=`", id="other than, as in SQL"),
        pytest.param("return a ? b : a", "`condition and value or other`", id="a choice"),
        pytest.param("// nothing", "`--`", id="a comment"),
        pytest.param("return [a, b]", "`{...}`", id="a list"),
        pytest.param("local f = (x) => x", "`function(x) return x.field end`", id="an arrow"),
        pytest.param("if a is nil then return b end", "`==`", id="a comparison in words"),
        pytest.param(
            "if a then return a elif b then return b end", "write `elseif`", id="a second condition of Python"
        ),
        pytest.param("local x = {a = 1 b = 2}", "commas between them", id="entries without a comma"),
        pytest.param("local x = \u201ca\u201d", "straight quotes", id="quotes of a text processor"),
        pytest.param("local x = a // 2", "`math.floor(a / b)`", id="a whole quotient"),
        pytest.param("return a?.b", "`(object.field or {}).name`", id="a field that may be absent"),
        pytest.param('if a in ("x", "y") then return a end', '`x == "A" or x == "B"`', id="one of several"),
        pytest.param("a.labels.app-name = 1", '`labels["app-name"]`', id="a key with a dash"),
        pytest.param("{{- if .Values.x }}", "helm template", id="a template of Helm"),
        pytest.param("function f(a) {", "without { }", id="braces of a function"),
        pytest.param("local x = a ?? 1", "a default `value or other`", id="a default"),
        pytest.param("end", "one `end` too many", id="an end without a block"),
        pytest.param("# a comment", "begins with `--`", id="a comment of a shell"),
        pytest.param("local x: number = a", "a variable has no type", id="a type"),
        pytest.param("local x = {a: 1}", "`{key = value}`", id="a key of JSON"),
        pytest.param("Return a", "write `return`", id="a capital letter"),
        pytest.param("var x = a", "declared by `local`", id="a variable of JavaScript"),
        pytest.param("if (a) { return b }", "begins with `then` or `do`", id="a block in braces"),
        pytest.param("switch a.kind do end", "`if ... then ... elseif", id="a choice of several"),
        pytest.param("try return a catch e return b", "`local ok, result = pcall(", id="an error that is caught"),
        pytest.param("def f(x): return x", "`function NAME(x) ... end`", id="a function of Python"),
        pytest.param("if a then return b else if b then return a end", "write `elseif`", id="else if"),
        pytest.param("while a do if b then continue end end", "write `goto next`", id="continue"),
    ],
)
def test_operators_of_other_languages_lead_to_those_of_lua(line: str, written: str) -> None:
    (judgement,) = judge("Retain", f"function Retain(a, b)\n  {line}\nend")

    assert (judgement.rule, written in judgement.hint) == ("lua-syntax", True)


def _lines(judgements: list[Lint]) -> list[tuple[int, str, str]]:
    return [(judgement.line, judgement.rule, judgement.word) for judgement in judgements]


_SAME = "tostring(a.y) == b.status.readyReplicas"


@rows(
    ("script", "expected"),
    [
        pytest.param("function Retain(a, b)\n  retrun a\nend", [(2, "lua-syntax", "")], id="text that is not Lua"),
        pytest.param(
            "local function Retain(a, b) return a end", [(1, "missing-function", "Retain")], id="the function is local"
        ),
        pytest.param(
            "function retain(a, b) return a end", [(1, "missing-function", "retain")], id="the function is misspelt"
        ),
        pytest.param(
            "function Retain(a, b)\n  local x = a\n  x = b.spec and b.spec.x\n  return x\nend",
            [(3, "kept-value", "x")],
            id="a local that keeps its value in Karmada",
        ),
        pytest.param(
            "function Retain(a, b)\n  local x = b.spec and b.spec.x\n  a = x and b or a\n  return a\nend",
            [],
            id="a new local and a value with or do not",
        ),
        pytest.param(
            "function Retain(a, b)\n  local x = {['spec.a'] = b.x}\n  a.x = b['spec.a']\n  return a\nend",
            [(3, "script-misread", "'spec.a'")],
            id="a path as a key, but not where a table is written",
        ),
        pytest.param(
            "function Retain(a, b)\n  for x in pairs(b) do a[x] = b[x] end\n  local x = b.y\n  a.y = x.y return a\nend",
            [],
            id="a name of a loop that is another value after the loop",
        ),
        pytest.param(
            "function f() function Retain(a, b) return a end end",
            [(1, "missing-function", "Retain")],
            id="the function comes into being too late",
        ),
        pytest.param("-- nothing", [(0, "missing-function", "")], id="there is no function at all"),
        pytest.param(
            "function Retain(a, b)\n  if b.x then\n    return a.spec\n  end\n  return a\nend",
            [(3, "script-misread", "return a.spec")],
            id="a part of the object where the whole is returned",
        ),
        pytest.param(
            "function Retain(a, b)\n  local get = function() return a.spec end\n  a.spec = get()\n  return a\nend",
            [],
            id="a part of the object that a function inside returns",
        ),
        pytest.param(
            "function Retain(a, b)\n  local t = type(a.x)\n  if t == 'nil' then a.x = b.x end\n  return a\nend",
            [],
            id="a type is compared with nil as a text",
        ),
        pytest.param(
            "function Retain(a, b)\n  if a.x == 'nil' then a.x = b.x end\n  return a\nend",
            [(2, "script-misread", "a.x == 'nil'")],
            id="a value is compared with nil as a text",
        ),
        pytest.param(
            "function Retain(a, b)\n  if b.x then\n    a.x = b.x\n    return a\n  end\nend",
            [(6, "no-return", "end")],
            id="nothing is returned where the last block is not entered",
        ),
        pytest.param(
            "function Retain(a, b)\n  if b.x then return b end\n  if a.x then return a else return a end\nend",
            [],
            id="each branch returns",
        ),
        pytest.param(
            "function Retain(a, b)\n  if b.x == 'A' or 'B' then return a end\n"
            "  if b.x == 'A' or b.x == 'B' or not a.y == a.z then return a end\n"
            "  local z = b.x == 1 and 'A' or 'B'\n  return a\nend",
            [(2, "script-misread", "b.x == 'A' or 'B'"), (3, "script-misread", "not a.y == a.z")],
            id="a text in the place of a second comparison",
        ),
        pytest.param(
            "function Retain(a, b)\n  local s = {f = print}\n  s.f(a.b.get('x'))\n"
            "  a.n = a.n:trim() .. a.n:upper()\n  return a\nend",
            [(3, "script-misread", "get"), (4, "script-misread", "trim")],
            id="functions that nothing has",
        ),
        pytest.param(
            "function Retain(a, b)\n  b.x = a.x\n  return b\nend",
            [(3, "script-misread", "return b")],
            id="the object of the member is returned",
        ),
        pytest.param(
            "function Retain(a, b)\n  b.x.y = a.x.y\n  return a\nend",
            [(2, "script-misread", "b.x.y = a.x.y")],
            id="the object of the member is changed",
        ),
        pytest.param(
            "function Retain(a, b)\n  a.spec = b.spec\n  a.x.y = b.x.y\n  return a\nend",
            [(2, "script-misread", "a.spec = b.spec")],
            id="a whole part of the object of the member",
        ),
        pytest.param(
            "function Retain(a, b)\n  local hs = {}\n  hs.status = 'Healthy'\n  a.x = hs\n  return a\nend",
            [(3, "script-misread", "hs.status = 'Healthy'")],
            id="health of Argo CD",
        ),
        pytest.param(
            "function Retain(a, b)\n  a.x = {memory = '512Mi', cpu = 2}\n  a.y = {cpu = 500,\n    memory = 1024}\n"
            "  a.z = '2GB'\n  return a\nend",
            [
                (3, "script-misread", "cpu = 500"),
                (4, "script-misread", "memory = 1024"),
                (5, "script-misread", "'2GB'"),
            ],
            id="amounts without a unit, or with one that nobody has",
        ),
        pytest.param(
            "function Retain(a, b)\n  a.x = b.x -- return a\nend",
            [(3, "no-return", "end")],
            id="nothing is returned",
        ),
        pytest.param(
            "function Retain(a, b)\n  a.x = 'a' + b.x\n  return a\nend",
            [(2, "text-sum", "'a'")],
            id="a text is added",
        ),
        pytest.param(
            'function Retain(a, b)\n  a.x = b.x + "a"\n  return a\nend',
            [(2, "text-sum", '"a"')],
            id="to a text something is added",
        ),
        pytest.param(
            "function Retain(a, b)\n  if a == b then return nil end\n  return 'a'\nend",
            [(2, "wrong-return", "return"), (3, "wrong-return", "return")],
            id="nothing and a text are returned for an object",
        ),
        pytest.param(
            "function Retain(a, b)\n  kube = require('kube')\n  kube.accuratePodRequirements(b.spec.pod.spec)\n"
            "  kube.getPodDependencies(b.spec.pod, b.metadata.namespace)\n  return a\nend",
            [(2, "global-variable", "kube"), (3, "spec-for-template", "kube.accuratePodRequirements(b.spec.pod.spec)")],
            id="a pod spec where a template belongs",
        ),
        pytest.param(
            "function Retain(a, b)\n  local f = function(x) return 'a' end\n  a.x = f(b)\n  return a\nend",
            [],
            id="a function inside of the script may return a text",
        ),
        pytest.param(
            "function Retain(a, b)\n  return 'a' == b.x and b or a\nend", [], id="a text is the beginning of a value"
        ),
        pytest.param(
            "function Retain(a, b)\n  a.x = b.x:items()\n  a.y = b.y:sub(1, 2)\n  return a\nend",
            [(2, "script-misread", "items")],
            id="a method that nothing has, and one of texts",
        ),
        pytest.param(
            "function Retain(a, b)\n  local t = {}\n  t.push(b.x)\n  return a, t\nend",
            [(3, "script-misread", "push")],
            id="a method of another language",
        ),
        pytest.param(
            "local m = {}\nfunction m.map(x) return x end\nfunction Retain(a, b) return m.map(a) end",
            [],
            id="a function of the script's own",
        ),
        pytest.param(
            "function Retain(a, b)\n  a.x = '+' .. '10' + 1 .. '+' -- 'a' + 'b'\n  return a\nend",
            [],
            id="numbers in quotes, texts with a plus and comments are none",
        ),
        pytest.param(
            "local function f(x)\n  return\nend\nfunction Retain(a, b)\n  if not b.x then return end\n"
            "  if b.y then\n    if a.y then return a else return b end\n  elseif b.z then\n    return a\n  end\nend",
            [(5, "wrong-return", "return"), (11, "no-return", "end")],
            id="a return without a value, and a choice without else behind another function",
        ),
        pytest.param(
            "function Retain(a, b)\n  for _, x in ipairs(b.y) do\n    if x.y then\n      return a\n    else\n"
            "      return b\n    end\n  end\n  return a\nend",
            [(2, "script-misread", "for _, x in ipairs(b.y) do")],
            id="a loop that sees one entry",
        ),
        pytest.param(
            "function Retain(a, b)\n  if b.x then\n    return a\n  else\n    a.x = b.y\n  end\nend",
            [(7, "no-return", "end")],
            id="no return behind else",
        ),
        pytest.param(
            "function Retain(a, b)\n  for k, v in pairs(b.spec) do\n    a.spec[k] = v\n  end\n"
            "  a.x = b.x == '{{ .Values.x }}' and tostring(a.y) == b.status.readyReplicas\n  return a\nend",
            [
                (2, "script-misread", "for k, v in pairs(b.spec) do"),
                (5, "script-misread", _SAME),
                (5, "script-misread", "'{{ .Values.x }}'"),
            ],
            id="a whole part in a loop, a text of a template, and a number as a text",
        ),
        pytest.param("Retain = function(a, b) return a end", [], id="the function may be assigned"),
        pytest.param("local r = {} Retain = r.x", [(1, "global-variable", "Retain")], id="what is assigned may be one"),
        pytest.param("function Retain(a) return a end", [(1, "parameter-count", "Retain")], id="too few parameters"),
        pytest.param(
            "function Retain(a, b, c) return a end", [(1, "parameter-count", "Retain")], id="too many parameters"
        ),
        pytest.param("function Retain(...) return ... end", [], id="any number of parameters"),
        pytest.param(
            "function Retain(a, b)\n  x = 1\n  x = 2\n  return a, x\nend",
            [(2, "global-variable", "x")],
            id="a global is named once, where it comes into being",
        ),
        pytest.param(
            "function Retain(a, b)\n  type = 1\n  return a\nend",
            [(2, "global-variable", "type")],
            id="a global that hides a function of Lua",
        ),
        pytest.param(
            "function Retain(a, b)\n  return a.spec, nul\nend", [(2, "unknown-global", "nul")], id="a name nobody sets"
        ),
        pytest.param(
            "function Retain(a, b)\n  return os.getenv('HOME')\nend",
            [(2, "unknown-global", "os.getenv")],
            id="a function that is not there",
        ),
        pytest.param(
            "local x = setmetatable({}, {})\nfunction Retain(a, b) return a end",
            [(1, "forbidden-function", "setmetatable")],
            id="a function that Karmada forbids",
        ),
        pytest.param(
            "local k = require('kubee')\nfunction Retain(a, b) return a end",
            [(1, "unknown-module", "kubee")],
            id="a module that does not exist",
        ),
        pytest.param(
            "local k, mine = require('kube'), require('karta')\nfunction Retain(a, b) return a end",
            [],
            id="the two modules",
        ),
        pytest.param(
            "function Retain(a, b)\n  local first = b.hosts[0]\n  return first\nend",
            [(2, "index-zero", "b.hosts[0]")],
            id="the first entry, counted from 0",
        ),
        pytest.param(
            "function Retain(a, b)\n  if not b.status.failed then return a end\n  return b\nend",
            [(2, "script-misread", "not b.status.failed")],
            id="a number that is 0, which is true",
        ),
        pytest.param(
            "function Retain(a, b)\n  local own = {}\n  own[0] = a\n  return own[0], {[0] = b}, own[10]\nend",
            [],
            id="an entry 0 that the script sets",
        ),
        pytest.param(
            "function Retain(a, b)\n  if b.hosts.length > 0 then return a end\n  return b.length()\nend",
            [(2, "script-misread", "b.hosts.length"), (3, "script-misread", "length")],
            id="the length of another language",
        ),
        pytest.param(
            "function Retain(a, b)\n  if #b.status > 0 and #b.spec.hosts > 0 then return a end\n  return #b\nend",
            [(2, "script-misread", "#b.status")],
            id="the length of an object",
        ),
        pytest.param(
            "function Retain(a, b)\n  for _, host in b.hosts do print(host) end\n  return a\nend",
            [(2, "script-misread", "for _, host in b.hosts do print(host) end")],
            id="a loop through a list itself",
        ),
        pytest.param(
            "function Retain(a, b)\n  local each = string.gmatch(b.x, '.')\n  for w in each do print(w) end\n"
            "  for k, v in next, b do print(k, v) end\n  for k in pairs(b.x) do print(k) end\n  return a\nend",
            [],
            id="loops through iterators",
        ),
        pytest.param(
            "function Retain(a, b)\n  if not b.x == nil then return a end\n"
            "  return not b.x == not a.x or not (b.x == 1)\nend",
            [(2, "script-misread", "not b.x == nil")],
            id="the opposite of a comparison",
        ),
        pytest.param(
            "function Retain(a, b)\n  if b.x == {} or b.x ~= {} or b.x == {1} then return {} end\n  return a\nend",
            [(2, "script-misread", "b.x == {}"), (2, "script-misread", "b.x ~= {}")],
            id="a comparison with a new table",
        ),
        pytest.param(
            "function Retain(a, b)\n  local list = {}\n  table.insert(list, a)\n  list.insert(b)\n  return list\nend",
            [(4, "script-misread", "insert")],
            id="a function of a list",
        ),
        pytest.param(
            'function Retain(a, b)\n  local x = b.status.conditions["Ready"]\n  local conditions = {}\n'
            '  conditions["Ready"] = x\n  return b.status.conditions[1], conditions["Ready"]\nend',
            [(2, "script-misread", 'b.status.conditions["Ready"]')],
            id="a condition by its type",
        ),
        pytest.param(
            "function Retain(a, b)\n  local k = kube.resourceAdd(a.x, b.x)\n  return k\nend",
            [(2, "unknown-global", "kube")],
            id="a module that was not required",
        ),
        pytest.param(
            "function Retain(a, b)\n  goto done\n  ::done::\n  return a\nend",
            [],
            id="a jump",
        ),
        pytest.param(
            "function Retain(a, b)\n  names[#a + 1] = {#b}\n  return a\nend",
            [(2, "unknown-global", "names")],
            id="a table nobody makes, written at a computed place",
        ),
        pytest.param(
            "function Retain(a, b)\n  if a then local x = b.y end\n  return x\nend",
            [(2, "script-misread", "x"), (3, "unknown-global", "x")],
            id="a local behind the end of its block",
        ),
        pytest.param(
            "function Retain(a, b)\n  for i, x in ipairs(b) do while i do local y = x end end\n  return i, y\nend",
            [(2, "script-misread", "y"), (3, "unknown-global", "i"), (3, "unknown-global", "y")],
            id="variables of a loop, and a local of a loop in it",
        ),
        pytest.param(
            "function Retain(a, b)\n  repeat local done = b.done until done\n  return {x = a, y = b, done = 1}\nend",
            [],
            id="the condition of repeat reads its locals, and fields of a table are no names",
        ),
        pytest.param(
            "function Retain(a, b)\n  x, a.y, os.own = 1, 2, os.own\n  return a\nend",
            [(2, "global-variable", "x")],
            id="a global among places that are set at once",
        ),
        pytest.param(
            'local k = require "kube"\nfunction Retain(a, b) return k.podRequirements(a) end',
            [(2, "unknown-global", "kube.podRequirements")],
            id="a member that a module does not have, by the local that holds it",
        ),
        pytest.param(
            "local t = {}\nfunction t.f(x) return x end\nfunction t:g() return self end\n"
            "function Retain(a, ...) return t.f(a), arg end",
            [],
            id="functions of a table, self, and the arguments of a variadic function",
        ),
        pytest.param(
            "function Retain(a, b) return a.name:gsub('a', b), _G.nope end",
            [(1, "unknown-global", "nope"), (1, "forbidden-function", "string.gsub")],
            id="a method of a text, and a global by its table",
        ),
        pytest.param(
            "function Retain(a)\n  x = nope\nend",
            [
                (1, "parameter-count", "Retain"),
                (2, "global-variable", "x"),
                (2, "unknown-global", "nope"),
                (3, "no-return", "end"),
            ],
            id="everything is said, in the order of the lines",
        ),
    ],
)
def test_judgements_of_a_script(script: str, expected: list[tuple[int, str, str]]) -> None:
    assert _lines(judge("Retain", script)) == expected


def test_numbers_as_conditions_are_found() -> None:
    script = """function InterpretHealth(a)
      local late = a.replicas - a.ready
      if late then return false end
      local bad = (a.failed or 0) + 1
      if a.errors then return false end
      if #a.list then return false end
      return not bad
    end"""
    assert _lines(judge("InterpretHealth", script)) == [
        (3, "script-misread", "if late then return false"),
        (5, "script-misread", "if a.errors then return false"),
        (6, "script-misread", "if #a.list then return false"),
        (7, "script-misread", "not bad"),
    ]


@pytest.mark.parametrize(
    ("first", "joined", "found"), [("~=", "or", 1), ("==", "and", 1), ("~=", "and", 0), ("==", "or", 0)]
)
def test_comparisons_that_are_always_the_same_are_found(first: str, joined: str, found: int) -> None:
    script = f"function InterpretHealth(a)\n  return a.phase {first} 'A' {joined} a.phase {first} 'B'\nend"
    assert len(judge("InterpretHealth", script)) == found


def test_requirements_of_all_pods_are_found() -> None:
    script = "function GetReplicas(a)\n  return a.replicas, {resourceRequest = {cpu = a.cpu * a.replicas}}\nend"
    assert _lines(judge("InterpretReplica", script)) == [(2, "script-misread", "a.cpu * a.replicas")]


def test_conditions_of_other_values_are_not_numbers() -> None:
    script = """function InterpretHealth(a)
      local n = a.ready - 1
      n = nil
      if n then return false end
      local up = a.ready - 1 > 0
      if up and not a.failed.on then return true end
      return not (n == 2)
    end"""
    assert judge("InterpretHealth", script) == []


@rows(
    ("script", "rule", "hint"),
    [
        pytest.param(
            "function GetReplica(obj) return 1 end", "missing-function", "rename GetReplica", id="the name is alike"
        ),
        pytest.param(
            "local function GetReplicas(obj) end", "missing-function", "it is local; remove `local`", id="only local"
        ),
        pytest.param(
            "local a = 1", "missing-function", "write function GetReplicas(desiredObj)", id="nothing is alike"
        ),
        pytest.param(
            "function GetReplicas() return 1 end",
            "parameter-count",
            "write function GetReplicas(desiredObj)",
            id="a parameter",
        ),
        pytest.param(
            "function GetReplicas(obj) return tonumbr(obj) end",
            "unknown-global",
            "did you mean tonumber?",
            id="a misspelt function",
        ),
        pytest.param(
            "function GetReplicas(obj) return require('kubes') end",
            "unknown-module",
            "did you mean kube?",
            id="a module",
        ),
        pytest.param(
            "function GetReplicas(obj) return kube.resourceAdd(obj.a) end",
            "unknown-global",
            'write local kube = require("kube")',
            id="a module that is not required",
        ),
        pytest.param(
            "function GetReplicas(obj) return obj.metadata.labels.search-part end",
            "unknown-global",
            'set it by `local`; a key with another sign than _ is written `["a-b"]`',
            id="a key with a dash",
        ),
        pytest.param(
            "function GetReplicas(obj) return len(obj.x) end",
            "unknown-global",
            "the length of a list or a text is written #value",
            id="a function of another language",
        ),
        pytest.param(
            "function GetReplicas(obj) return 1, accuratePodRequirements(obj.x) end",
            "unknown-global",
            'write kube.accuratePodRequirements, behind local kube = require("kube")',
            id="a function of a module without the module",
        ),
        pytest.param(
            "function GetReplicas(obj) return desiredObj.spec.replicas end",
            "unknown-global",
            "the function gets what its parameters name: write function GetReplicas(desiredObj)",
            id="a parameter that has another name here",
        ),
        pytest.param(
            "function GetReplicas(obj) return debug.decode(obj.a) end",
            "unknown-global",
            "the libraries are math, os, string and table",
            id="a library that is not there",
        ),
        pytest.param(
            "function GetReplicas(obj)\n  return obj.spec.replicas; print(1)\nend",
            "lua-syntax",
            "nothing may follow `return` but `end`",
            id="what follows the end of a function",
        ),
        pytest.param(
            "function GetReplicas(a)\n  a.memory = a.memory + '512Mi'\n  return 1\nend",
            "text-sum",
            "add quantities by `kube.resourceAdd(a, b)`",
            id="a quantity is added",
        ),
    ],
)
def test_hints_say_what_to_do(script: str, rule: str, hint: str) -> None:
    (judgement,) = judge("InterpretReplica", script)

    assert (judgement.rule, judgement.hint) == (rule, hint)


@rows(
    ("script", "severity", "fatal"),
    [
        pytest.param("x", "error", True, id="what is not Lua cannot run"),
        pytest.param("local x", "error", True, id="nor can a script without its function"),
        pytest.param(
            "function Retain(a, b) return rawget(a, b) end",
            "error",
            False,
            id="Karmada fails when it gets there",
        ),
        pytest.param("function Retain(a, b) x = 1 return x end", "warning", False, id="a global is only bad manners"),
    ],
)
def test_how_bad_it_is(script: str, severity: str, fatal: bool) -> None:
    assert {(judgement.severity, judgement.fatal) for judgement in judge("Retain", script)} == {(severity, fatal)}


@rows(
    ("operation", "line", "written"),
    [
        pytest.param(
            "ReviseReplica", "local n = a.spec.replicas\n  n = b", "set the field itself", id="a write to a local"
        ),
        pytest.param(
            "Retain",
            "for i, c in ipairs(a.list) do\n    c = b.list[i]\n  end",
            "set the field itself",
            id="to an entry",
        ),
        pytest.param("ReviseReplica", "local b = a.spec.replicas\n  a.x = b", "another name", id="a hidden parameter"),
        pytest.param("ReviseReplica", "if a.x then return b end", "return desiredObj", id="the number is returned"),
        pytest.param("Retain", "if a.x then return {spec = b.spec} end", "first parameter", id="a part is returned"),
        pytest.param("Retain", "a.x.y = a.x.y", "the other object", id="a field set to itself"),
        pytest.param("Retain", "if b.x.y == nil then a.x.y = b.x.y end", "`~= nil`", id="nil is copied"),
        pytest.param("Retain", "a.metadata.labels.x = 1", "tostring", id="a label that is a number"),
        pytest.param("AggregateStatus", "a.status = b[1].replicas", ".status", id="an item by its number"),
        pytest.param(
            "AggregateStatus", "for _, x in ipairs(b) do a.status = x.phase end", ".status", id="an item of a loop"
        ),
        pytest.param("AggregateStatus", "a.status = {n = a.n + b[1].status.n or 0}", "(x or 0)", id="or behind a sum"),
        pytest.param(
            "InterpretHealth", "if os.time() - a.metadata.creationTimestamp < 9 then end", "os.time{", id="a date"
        ),
        pytest.param("InterpretHealth", "if string.find(a.x, 'back-off') then end", "%-", id="a minus in a pattern"),
        pytest.param("InterpretHealth", r"if string.find(a.x, '\d+') then end", "%d", id="a pattern of others"),
        pytest.param("InterpretHealth", "if a.x:match('*ing') then end", "`.*`", id="a glob"),
        pytest.param("InterpretHealth", "return a.x.ready or true", "~= false", id="true as a default"),
        pytest.param("InterpretHealth", "return a.x == 1 and false or true", "turn it round", id="false behind and"),
        pytest.param("InterpretHealth", "return 0 < a.x and 0 < a.y <= a.z", "a < b and b < c", id="a chain"),
        pytest.param("InterpretHealth", "return a.x == ('A' or 'B')", "again", id="one of two in brackets"),
        pytest.param("InterpretHealth", "local x = pcall(f)\n  return x", "ok and result", id="whether it ran"),
        pytest.param("InterpretHealth", "if a.x then\n    local y = true\n  end", "leave out", id="a local of a block"),
        pytest.param("InterpretHealth", "return a.x:find('A') == true", "~= nil", id="a position is not true"),
        pytest.param("InterpretHealth", "return string.lower(a.x) == 'Up'", "small", id="capitals"),
        pytest.param("InterpretHealth", "return a.labels == a.spec.labels", "one by one", id="two tables"),
        pytest.param("InterpretHealth", "return a.x ~= not nil", "~= nil", id="not nil"),
        pytest.param("InterpretHealth", "return a.list[-1].x == 1", "#list", id="the last as in Python"),
        pytest.param("InterpretHealth", "return a.conds[#a.conds - 1].x == 1", "#list", id="the last as in Go"),
        pytest.param("InterpretHealth", "for i = 0, n - 1 do if a[i] then end end", "i = 1", id="from 0"),
        pytest.param(
            "InterpretDependency", "local x = {}\n  x[#x] = {kind = 'Secret'}", "+ 1", id="an entry in its place"
        ),
        pytest.param("InterpretDependency", "local x = table.insert(a, 1)", "alone", id="the result of an insert"),
        pytest.param("InterpretDependency", "table.insert(a, 'b', {})", "object[key]", id="a key to insert"),
        pytest.param("InterpretDependency", "local x = {labelSelector = {app = 'b'}}", "matchLabels", id="a selector"),
        pytest.param("InterpretReplica", "return 1, a.c.resources.requests", "around them", id="amounts alone"),
        pytest.param(
            "InterpretReplica",
            "local n = tonumber(a.c.requests.cpu)",
            "getResourceQuantity",
            id="an amount as a number",
        ),
        pytest.param("InterpretStatus", "local s = {}\n  s.n = a.s[n]", "[ ]", id="a variable behind a dot"),
        pytest.param("InterpretStatus", "for k, v in pairs(a.s) do\n    a.k = v\n  end", "[ ]", id="a loop's key"),
        pytest.param("InterpretReplica", "if a.memory < '1Gi' then end", "getResourceQuantity", id="an amount"),
        pytest.param("InterpretReplica", "if a.memory > a.b.memory then end", "getResourceQuantity", id="two amounts"),
        pytest.param("InterpretReplica", "local n = math.max(a.requests.cpu, 1)", "getResourceQuantity", id="the most"),
        pytest.param(
            "InterpretHealth",
            "local t = a.status.startTime\n  return os.time() - t < 9",
            "os.time{",
            id="a date in a local",
        ),
        pytest.param(
            "InterpretHealth", "local t = a.creationTimestamp\n  return t + 9 > 1", "os.time{", id="a later date"
        ),
        pytest.param("InterpretHealth", "for _, c in ipairs(a.list) do return c.status end", '== "True"', id="a text"),
        pytest.param(
            "InterpretHealth", "local x = false\n  return x == 'true'", "the local alone", id="true in quotes"
        ),
        pytest.param("InterpretHealth", "return a.status.failed == 0", "(x or 0)", id="a count that is absent"),
        pytest.param("InterpretHealth", "return a.status.error == ''", '(x or "")', id="a text that is absent"),
        pytest.param("AggregateStatus", "if b[1].health == true then a.status = 1 end", '"Healthy"', id="the health"),
        pytest.param("AggregateStatus", "if b[1].applied == 'true' then a.status = 1 end", "alone", id="applied"),
        pytest.param("AggregateStatus", "table.insert(a, b[1].status.conditions)", "insert each", id="a list inserted"),
        pytest.param("Retain", "local x = a.labels or {}\n  x.y = b.y", "x.field or {}", id="a table of no object"),
        pytest.param("Retain", "a.spec.replicas = b.status.replicas", "observedObj.spec", id="what there is"),
        pytest.param("Retain", "local x = b\n  x.y = a.y\n  return x", "first parameter", id="the other object"),
        pytest.param(
            "InterpretReplica",
            "local x\n  if a.y then\n    local x = f(a.y)\n  end",
            "around the block",
            id="a local of a block by a call",
        ),
        pytest.param("InterpretReplica", "local cpu = a.b\n  if cpu > '2' then end", "getResourceQuantity", id="cores"),
        pytest.param("InterpretHealth", "return a.readyReplicas / a.replicas > 90", "* 100", id="a percentage"),
        pytest.param("InterpretHealth", "return a.status and a.status.x == 1", "~= nil", id="nil in front of and"),
        pytest.param("InterpretHealth", "return a.status ~= nil and a.status.x", "== true", id="a field behind and"),
        pytest.param(
            "InterpretHealth",
            "local x\n  for _, c in ipairs(a.list) do\n    x = c.y == 1\n  end\n  return x",
            "= false",
            id="nil",
        ),
        pytest.param("InterpretReplica", "return tonumber(a.requests.cpu)", "getResourceQuantity", id="a unit"),
        pytest.param(
            "InterpretDependency",
            "local d = {}\n  d[a.name] = {kind = 'Secret'}\n  return d",
            "table.insert",
            id="by name",
        ),
        pytest.param("Retain", "for i = 1, #a.list + 1 do print(i) end", "#list do", id="behind the last"),
        pytest.param("InterpretReplica", "return 1, a.spec.containers.resources", "list[1]", id="a field of a list"),
        pytest.param(
            "InterpretDependency", "for _, vol in ipairs(a.v) do print(vol.secret.name) end", "pods", id="a volume"
        ),
        pytest.param(
            "AggregateStatus", "for _, x in ipairs(b) do a.status = x.cluster end", ".clusterName", id="the cluster"
        ),
        pytest.param("AggregateStatus", "a.status = b[1].name", ".clusterName", id="the name of the cluster"),
        pytest.param(
            "AggregateStatus", "local x = b[1]\n  if x.healthy then a.status = 1 end", '"Healthy"', id="a healthy item"
        ),
        pytest.param("AggregateStatus", "local x = b[1]\n  a.status = x.phase", ".status", id="an item in a local"),
        pytest.param(
            "AggregateStatus",
            "if not a.status then\n    a.status = {n = 0}\n  end\n  a.status.n = a.status.n + b[1].status.n",
            "a local",
            id="a sum of all calls",
        ),
        pytest.param(
            "AggregateStatus",
            "a.status = a.status or {}\n  a.status.n = b[1].status.n + (a.status.n or 0)",
            "a local",
            id="a sum with a default",
        ),
        pytest.param(
            "AggregateStatus",
            "local s = a.status or {}\n  s.n = (s.n or 0) + b[1].status.n\n  a.status = s",
            "a local",
            id="a sum in a local of the status",
        ),
        pytest.param(
            "Retain", "for i, c in ipairs(a.x) do if c.y then table.remove(a.x, i) end end", "1, -1", id="one removed"
        ),
        pytest.param(
            "Retain", "for i = 1, #a.x do if a.x[i].y then table.remove(a.x, i) end end", "1, -1", id="by its number"
        ),
        pytest.param("InterpretHealth", "for i = #a.x, 1 do print(i) end", "1, -1", id="a loop down"),
        pytest.param(
            "InterpretHealth",
            "for _, c in ipairs(a.x) do if c.type ~= 'A' or c.status ~= 'True' then return false end end",
            "and c.status",
            id="all conditions",
        ),
        pytest.param("InterpretHealth", "return string.find(a.x, '.') ~= nil", '"%."', id="a dot in a pattern"),
        pytest.param(
            "InterpretReplica",
            "return 1, {nodeClaim = {nodeSelector = {b = 'c'}, toleration = a.tolerations}}",
            "tolerations",
            id="a claim's toleration",
        ),
        pytest.param("InterpretReplica", "a.nodeClaim.nodeAffinity = a.x", "hardNodeAffinity", id="a claim's affinity"),
        pytest.param("Retain", "if a == 'nil' then a.x = 1 end", "nil without", id="a text nil"),
        pytest.param("Retain", "if type(a.x) == nil then a.x = 1 end", '"nil"', id="a type that is no text"),
        pytest.param("InterpretHealth", "return a.c.status == true", '"True"', id="the status of a condition"),
        pytest.param("InterpretHealth", "return a.x.n > '3'", "without quotes", id="a number in quotes"),
        pytest.param(
            "InterpretReplica", "local replicas = '3'\n  return replicas", "without quotes", id="a count as text"
        ),
        pytest.param("InterpretHealth", "for i = 0, #a.x do print(i) end", "i = 1", id="a list from 0"),
        pytest.param("AggregateStatus", "a.status = 1\n  for x in b_items do print(x) end", "ipairs", id="no iterator"),
        pytest.param("Retain", "for c in ipairs(a.x) do c.y = b.y end", "_, entry", id="the number of an entry"),
        pytest.param(
            "InterpretHealth",
            "local l = {'A', 'B'}\n  return l[a.status.phase] == true",
            "A = true",
            id="keys of a list",
        ),
        pytest.param(
            "InterpretDependency",
            "local d = {}\n  table.insert(d, kube.getPodDependencies(a.t, 'n'))\n  return d",
            "insert each",
            id="a list of dependencies",
        ),
        pytest.param("InterpretHealth", "return a.x:match('A|B') ~= nil", "a test for each", id="alternatives"),
        pytest.param("InterpretHealth", "if InterpretHealth then return true end", "call it", id="a function"),
        pytest.param("InterpretStatus", "return a", "status, or a table", id="the whole object"),
        pytest.param("AggregateStatus", "a.status = b.readyReplicas", "in ipairs", id="a field of all items"),
        pytest.param("AggregateStatus", "a.status = b[1].healthy", '"Healthy"', id="the health of an item"),
        pytest.param("InterpretDependency", "return kube.getPodDependencies(a.t)", "podTemplate,", id="one argument"),
        pytest.param("InterpretComponent", "return {{name = 'x', replica = 1}}", "replicas", id="one replica"),
        pytest.param("InterpretReplica", "return 1, {resourceRequests = {}}", "Request", id="many requests"),
        pytest.param(
            "InterpretReplica",
            "return 1, kube.accuratePodRequirements(a)",
            "spec.template",
            id="the object as a template",
        ),
        pytest.param("InterpretDependency", "return {{kind = 'Secret', name = 'x'}}", "namespace =", id="no namespace"),
        pytest.param(
            "InterpretReplica",
            "local c = {hardNodeAffinity = a.affinity and a.affinity.nodeAffinity}",
            "requiredDuring",
            id="an affinity, whole",
        ),
    ],
)
def test_habit_of_another_language_is_misread(operation: str, line: str, written: str) -> None:
    names = ", ".join("ab"[: len(SLOTS[operation].parameters)])
    script = f"function {SLOTS[operation].function}({names})\n  {line}\nend\n"

    hints = [judgement.hint for judgement in judge(operation, script) if judgement.rule == "script-misread"]

    assert [hint for hint in hints if written in hint], hints


@rows(
    ("operation", "line"),
    [
        pytest.param("Retain", "local n = a.n\n  n = n or b.n\n  a.n = n", id="a local that is read"),
        pytest.param(
            "InterpretDependency", "return {{kind = 'Secret', name = 'x', namespace = 'y'}}", id="a namespace"
        ),
        pytest.param("InterpretReplica", "return 1, kube.accuratePodRequirements(a.spec.template)", id="a template"),
        pytest.param(
            "InterpretHealth", "return a.x == 'if not #list then' -- not #a.list", id="code in texts and comments"
        ),
        pytest.param("Retain", "local function late() return a.x end\n  if late() then a.y = b.y end", id="a call"),
        pytest.param("AggregateStatus", "for _, x in ipairs(b) do a.status = x.status end", id="the status of an item"),
        pytest.param("InterpretHealth", "return string.find(a.x, 'back-off', 1, true) ~= nil", id="a plain text"),
        pytest.param("InterpretHealth", r"return string.find(a.x, '\n%d+') ~= nil", id="a break and a class"),
        pytest.param("InterpretHealth", "return a.x == 'A' and a.y or a.z == 'B'", id="a choice"),
        pytest.param("InterpretHealth", "local ok, x = pcall(f, a)\n  return ok and x", id="both results"),
        pytest.param("InterpretHealth", "return (a.x == 1) == (a.y == 1)", id="two comparisons"),
        pytest.param("InterpretHealth", "return (a.failed or 0) == 0", id="a count with a default"),
        pytest.param("InterpretHealth", "return a.failed == nil or a.failed == 0", id="a count that may be absent"),
        pytest.param("InterpretHealth", "return a.error == nil or a.error == ''", id="a text that may be absent"),
        pytest.param("InterpretHealth", "local t = a.startTime\n  return t ~= nil", id="a date that is there"),
        pytest.param(
            "InterpretHealth", "local t = a.creationTimestamp\n  t = f(t)\n  return t + 1 > 2", id="a date that is read"
        ),
        pytest.param("InterpretHealth", "return a.readyReplicas / a.replicas * 100 > 90", id="a percentage of 100"),
        pytest.param("InterpretHealth", "return a.status ~= nil and a.status.x == 1", id="a field that is there"),
        pytest.param("InterpretHealth", "local x = a.y == 1\n  return x and a.z == 1", id="two results"),
        pytest.param(
            "InterpretHealth",
            "local x = 1\n  for _, c in ipairs(a.b) do\n    x = c.y\n  end\n  return x == 1",
            id="a value",
        ),
        pytest.param("InterpretReplica", "return tonumber(a.spec.replicas)", id="a number"),
        pytest.param(
            "InterpretDependency",
            "local d, l = {}, {}\n  d[a.name] = {kind = 'Secret', namespace = 'b'}\n  return l",
            id="each once",
        ),
        pytest.param("InterpretReplica", "return #a.spec.containers", id="a list"),
        pytest.param("InterpretReplica", "if a.cpu < a.b.cpu then end", id="amounts that are numbers"),
        pytest.param("Retain", "local x = a.labels or {}\n  x.y = b.y\n  a.labels = x", id="a table that is set"),
        pytest.param("Retain", "local x = a.labels or {}\n  if x.y == 1 then a.z = 1 end", id="a table that is read"),
        pytest.param(
            "Retain",
            "local x = a.labels or {}\n  x.y = b.y\n  a.labels = next(x) and x or nil",
            id="a table in a value",
        ),
        pytest.param("Retain", "local x = b\n  a.y = x.y", id="a name for the other object"),
        pytest.param("Retain", "a.spec.template = b.spec.strategy", id="another field"),
        pytest.param("Retain", "a.metadata.annotations['x/y'] = 'true'", id="an annotation that is a text"),
        pytest.param("InterpretStatus", "for k, v in pairs(a.s) do\n    a[k] = v\n  end", id="a loop's key in [ ]"),
        pytest.param("InterpretDependency", "print(a.volume.secret.secretName)", id="a volume's secret"),
        pytest.param(
            "AggregateStatus", "local x = b[1].status\n  a.status = {n = x.n, m = b[1].clusterName}", id="a report"
        ),
        pytest.param(
            "AggregateStatus",
            "for _, x in ipairs(b) do print(x.applied) end\n  for _, x in ipairs(a.list) do a.status = x.name end",
            id="entries of another list",
        ),
        pytest.param(
            "AggregateStatus", "a.status = {n = 0}\n  a.status.n = a.status.n + b[1].status.n", id="a new status"
        ),
        pytest.param("AggregateStatus", "a.status.n = 0\n  a.status.n = a.status.n + b[1].status.n", id="a sum from 0"),
        pytest.param(
            "AggregateStatus",
            "a.status.n, a.status.m = 0, 0\n  a.status.n = a.status.n + b[1].status.n",
            id="two sums from 0",
        ),
        pytest.param(
            "AggregateStatus",
            "local s = a.status\n  s = {n = 0}\n  s.n = s.n + b[1].status.n\n  a.status = s",
            id="a new status in a local",
        ),
        pytest.param(
            "AggregateStatus",
            "a.status = {n = 0}\n  local s = a.status\n  s.n = s.n + b[1].status.n",
            id="a local of a new status",
        ),
        pytest.param("Retain", "for i, c in ipairs(a.x) do table.remove(a.x, i) break end", id="one entry removed"),
        pytest.param("Retain", "for i = #a.x, 1, -1 do table.remove(a.x, i) end", id="each entry from the last"),
        pytest.param(
            "InterpretHealth",
            "for _, c in ipairs(a.x) do if c.type ~= 'A' or c.status ~= 'True' then print(c) end end",
            id="conditions passed over",
        ),
        pytest.param("InterpretHealth", "return string.find(a.x, '.', 1, true) ~= nil", id="a plain dot"),
        pytest.param(
            "InterpretReplica",
            "return 1, {nodeClaim = {nodeSelector = {b = 'c'}, tolerations = a.tolerations}, priorityClassName = 'x'}",
            id="a claim",
        ),
        pytest.param(
            "InterpretReplica",
            "local x = {hardNodeAffinity = a.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution}",
            id="the terms of an affinity",
        ),
    ],
)
def test_what_lua_does_as_it_looks_is_not_misread(operation: str, line: str) -> None:
    names = ", ".join("ab"[: len(SLOTS[operation].parameters)])
    script = f"function {SLOTS[operation].function}({names})\n  {line}\nend\n"

    assert [found for found in judge(operation, script) if found.rule == "script-misread"] == []


@rows(
    ("operation", "script"),
    [
        ("ReviseReplica", "function ReviseReplica(desiredReplica, desiredObj)\n  return desiredObj\nend"),
        ("Retain", "function Retain(observedObj, desiredObj)\n  desiredObj.x = 1\n  return desiredObj\nend"),
    ],
)
def test_swapped_parameters_are_the_only_finding(operation: str, script: str) -> None:
    (judgement,) = judge(operation, script)

    assert judgement.hint.startswith(f"write function {operation}(")
