import pytest

from karta_interpreter.lua.grammar.environment import FORBIDDEN, GLOBALS
from karta_interpreter.lua.grammar.mentions import Definition, Mention, Survey
from karta_interpreter.lua.grammar.parser import parse
from karta_interpreter.lua.grammar.surveying import survey


def look(text: str) -> Survey:
    return survey(parse(text))


def names(mentions: tuple[Mention, ...]) -> list[str]:
    return [mention.name for mention in mentions]


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        pytest.param("function F(a, b) end", [Definition("F", 1, ("a", "b"))], id="a function"),
        pytest.param("\nF = function(a) end", [Definition("F", 2, ("a",))], id="a function as a value"),
        pytest.param("_G.F = function() end", [Definition("F", 1)], id="through _G"),
        pytest.param("F, G = 1, function() end", [Definition("G", 1)], id="the second of two values"),
        pytest.param("function F(a, ...) end", [Definition("F", 1, ("a",), variadic=True)], id="with varargs"),
        pytest.param("local function F(a) end", [Definition("F", 1, ("a",), local=True)], id="a local function"),
        pytest.param("local F = function() end", [Definition("F", 1, local=True)], id="a local that is a function"),
        pytest.param("local F\nfunction F() end", [Definition("F", 2, local=True)], id="a local declared before"),
        pytest.param("if true then function F() end end", [Definition("F", 1)], id="in a block"),
        pytest.param(
            "function F() function G() end end",
            [Definition("F", 1), Definition("G", 1, inside="F")],
            id="one that is there only when another has run",
        ),
        pytest.param("function F() local function G() end end", [Definition("F", 1)], id="a local one inside"),
        pytest.param("local t = {}\nfunction t.F() end function t:G() end", [], id="members are no globals"),
        pytest.param("f(function() end)", [], id="without a name"),
    ],
)
def test_finds_functions(text: str, functions: list[Definition]) -> None:
    assert list(look(text).functions) == functions


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("function F() end\nfunction F(a) end", 2, id="the last one counts"),
        pytest.param("local function F() end", 0, id="a local one cannot be called from outside"),
        pytest.param("function G() function F() end end", 0, id="nor can one that is not there yet"),
        pytest.param("", 0, id="none"),
    ],
)
def test_finds_the_function_that_is_called(text: str, line: int) -> None:
    found = look(text).function("F")
    assert (found.line if found else 0) == line


@pytest.mark.parametrize(
    ("text", "assigned"),
    [
        pytest.param("a = 1", [Mention("a", 1)], id="at the top"),
        pytest.param("function F()\n  a = 1\nend", [Mention("a", 2, "F")], id="in a function"),
        pytest.param("local F = function() a = 1 end", [Mention("a", 1, "F")], id="in a local function"),
        pytest.param("local t = {F = function() a = 1 end}", [Mention("a", 1, "F")], id="in a function of a table"),
        pytest.param("function t.x:F() a = 1 end", [Mention("a", 1, "F")], id="in a method"),
        pytest.param("return function() a = 1 end", [Mention("a", 1, "function")], id="in a function without a name"),
        pytest.param("function F() f(function() a = 1 end) end", [Mention("a", 1, "F")], id="in one inside of another"),
        pytest.param("local a a = 1", [], id="a local"),
        pytest.param("function F(a) a = 1 end", [], id="a parameter"),
        pytest.param("for a = 1, 2 do a = 1 end for _, b in f do b = 1 end", [], id="variables of loops"),
        pytest.param("for a = 1, 2 do end a = 1", [Mention("a", 1)], id="after the loop"),
        pytest.param("do local a end\na = 1", [Mention("a", 2)], id="after the block"),
        pytest.param("repeat local a until f(function() a = 1 end)", [], id="the condition of repeat sees its locals"),
        pytest.param("local a = function() a = 1 end", [Mention("a", 1, "a")], id="a local starts after its value"),
        pytest.param("local function a() a = 1 end", [], id="a local function knows itself"),
        pytest.param("a.b = 1 a[c] = 2", [], id="members are no globals"),
        pytest.param("_G.a = 1", [Mention("a", 1)], id="through _G"),
        pytest.param("type, b = 1", [Mention("type", 1), Mention("b", 1)], id="one that Lua has"),
    ],
)
def test_finds_assignments_to_globals(text: str, assigned: list[Mention]) -> None:
    assert list(look(text).assigned) == assigned


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        pytest.param("function F()\nreturn a end", [Mention("a", 2, "F")], id="a name that nothing sets"),
        pytest.param("return tostrin(1)", [Mention("tostrin", 1, "", "tostring")], id="a slip in a name of Lua's"),
        pytest.param("local replicas = 1 return replica", [Mention("replica", 1, "", "replicas")], id="of a local's"),
        pytest.param("status = {} return statsu", [Mention("statsu", 1, "", "status")], id="of a global's"),
        pytest.param("return null", [Mention("null", 1, "", "nil")], id="another language's nil"),
        pytest.param("return a, a", [Mention("a", 1)], id="once for each line"),
        pytest.param("a[b].c(d, {e = g, [h] = -i})", list("abdghi"), id="wherever it stands"),
        pytest.param("function F() return a end function G() a = 1 end", [], id="set anywhere"),
        pytest.param("function F() G() end function G() end", [], id="a function further down"),
        pytest.param("return a.b.c, {d = 1}", ["a"], id="members and keys are no names"),
        pytest.param("F() local function F() end", ["F"], id="a local is not there before"),
        pytest.param("function F(...) return arg end", [], id="Lua 5.1 keeps the arguments in arg"),
        pytest.param("return io, debug, coroutine", ["io", "debug", "coroutine"], id="libraries that are not there"),
        pytest.param("return _G.a, _G['b.c'], _G[d]", ["a", "d"], id="through _G"),
        pytest.param("return os.getenv('A')", [Mention("os.getenv", 1)], id="a member that is not there"),
        pytest.param(
            "return table.unpack({}), string.gmtach()", ["table.unpack", "string.gmtach"], id="more of these members"
        ),
        pytest.param(
            "local kube = require('kube')\nreturn kube.resourceADD()",
            [Mention("kube.resourceADD", 2, "", "kube.resourceAdd")],
            id="a member of a module",
        ),
        pytest.param("k = require('kube') function F() return k.x end", ["kube.x"], id="a module in a global"),
        pytest.param("local string = {} return string.x", [], id="a local that hides a library"),
        pytest.param("string = {} return string.x", [], id="a global that replaces a library"),
        pytest.param("function string.trim(s) end return string.trim('')", [], id="a member that is added"),
        pytest.param("function F(kube) return kube.x end", [], id="a parameter"),
    ],
)
def test_finds_reads_of_what_is_not_there(text: str, unknown: list[Mention | str]) -> None:
    found = look(text).unknown
    whole = any(isinstance(wanted, Mention) for wanted in unknown)
    assert list(found if whole else names(found)) == unknown


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        pytest.param("setmetatable({}, {})", ["setmetatable"], id="a function"),
        pytest.param("local get = rawget", ["rawget"], id="one that is not called yet"),
        pytest.param("string.gsub('a', 'b', 'c')", ["string.gsub"], id="a member"),
        pytest.param("function F(s)\nreturn s:gsub('a', 'b'):rep(2) end", ["string.rep", "string.gsub"], id="methods"),
        pytest.param("local s = string s.dump(f)", [], id="a copy of a library is not followed"),
        pytest.param("local s = require('string') s.dump(F)", ["string.dump"], id="a library asked for"),
        pytest.param("local load = 1 return load", [], id="a local of the same name"),
        pytest.param("function load() end load()", [], id="a function of the same name"),
        pytest.param("local t = {} function t:rep() end t:rep()", [], id="a method of the same name"),
        pytest.param("local t = {rep = function() end} t:rep()", [], id="a member of the same name"),
        pytest.param("return obj.load, {module = 1}, obj.gsub", [], id="members of anything else"),
        pytest.param("return string.format('x'), ('x'):sub(1)", [], id="what is allowed"),
    ],
)
def test_finds_what_karmada_forbids(text: str, forbidden: list[str]) -> None:
    assert names(look(text).forbidden) == forbidden


def test_finds_jumps_and_labels() -> None:
    found = look("function F()\n  for i = 1, 2 do\n    goto continue\n    ::continue::\n  end\nend")
    assert found.gotos == (Mention("goto continue", 3, "F"), Mention("::continue::", 4, "F"))


def test_finds_modules() -> None:
    found = look("local k = require('kube')\nlocal j = (require 'json')\nlocal c = require([[krata]])\nrequire(name)")
    assert names(found.required) == ["kube", "json", "krata"]
    assert found.missing == (Mention("json", 2), Mention("krata", 3, "", "karta"))


def test_an_own_function_named_require_asks_for_nothing() -> None:
    assert look("local function require() end require('x')").required == ()


def test_a_plain_script_leaves_nothing_to_say() -> None:
    text = """
        local kube = require("kube")
        function GetReplicas(obj)
          local requires = kube.accuratePodRequirements(obj.spec.template)
          for i, each in ipairs(obj.spec.parts or {}) do
            if each.name == nil then return tonumber(obj.spec.replicas), requires end
          end
          return math.max(obj.spec.replicas, 1), requires
        end
    """
    kube = (Mention("kube", 2),)
    assert look(text) == Survey(functions=(Definition("GetReplicas", 3, ("obj",)),), required=kube)


def test_what_is_forbidden_is_there() -> None:
    assert {name for name in FORBIDDEN if "." not in name} < GLOBALS
