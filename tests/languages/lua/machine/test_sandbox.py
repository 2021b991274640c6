"""What scripts must not get hold of: Python, the machine, the system, and whatever other scripts do."""

import pytest

from karta_interpreter.base.errors import LuaError, LuaRunError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.runtime import Runtime
from tests.languages.lua.machine.machine import call, function, run, run_call
from tests.support.rows import few_rows, rows

REACH = """
local seen, found = {}, {}
local function look(value, path)
  local kind = type(value)
  if kind == "userdata" or kind == "thread" then found[#found + 1] = path end
  if kind ~= "table" or seen[value] then return end
  seen[value] = true
  for key, item in pairs(value) do
    look(key, path .. ".key")
    look(item, path .. "." .. tostring(key))
  end
end
"""


@rows(
    "name",
    [
        *("python", "io", "debug", "coroutine", "jit", "ffi", "os.execute", "os.exit", "os.getenv", "os.remove"),
        *("os.rename", "os.tmpname", "os.setlocale", "os.clock", "package.path", "package.cpath", "package.seeall"),
        *("package.loaded.python", "package.loaded.io", "package.loaded.debug", "package.loaded.os.execute"),
        *("string.pack", "table.foreach", "gcinfo", "_ENV", "_LOADED", "machine", "host", "concat"),
    ],
)
def test_names_that_are_not_there(name: str) -> None:
    assert run(f"return {name} == nil") == [True]


@rows(
    ("script", "message"),
    [
        pytest.param(
            "getmetatable('').__index.upper = nil", "getmetatable is not supported", id="metatable of strings"
        ),
        pytest.param("getmetatable(o)", "getmetatable is not supported", id="metatable of an object"),
        pytest.param("setmetatable(o, {})", "setmetatable is not supported", id="setmetatable"),
        pytest.param("getfenv(1)", "getfenv is not supported", id="getfenv"),
        pytest.param("setfenv(print, {})", "setfenv is not supported", id="setfenv"),
        pytest.param("load(function() end)", "load is not supported", id="load"),
        pytest.param("loadstring('return 1')", "loadstring is not supported", id="loadstring, perhaps of bytecode"),
        pytest.param("dofile('/etc/passwd')", "dofile is not supported", id="dofile"),
        pytest.param("loadfile('/etc/passwd')", "loadfile is not supported", id="loadfile"),
        pytest.param("string.dump(print)", "string.dump is not supported", id="dump"),
        pytest.param("package.loadlib('libc.so.6', 'system')", "loadlib is not supported", id="loadlib"),
        pytest.param("newproxy(true)", "newproxy is not supported", id="newproxy"),
        pytest.param("collectgarbage('stop')", "collectgarbage is not supported", id="collectgarbage"),
        pytest.param("rawset(_G, 'x', 1)", "rawset is not supported", id="rawset"),
        pytest.param("require('io')", "module io not found", id="require of a library"),
        pytest.param("require('python')", "module python not found", id="require of Python"),
        pytest.param("require('/etc/passwd')", "module /etc/passwd not found", id="require of a file"),
        pytest.param("return {print}", "cannot encode function to JSON", id="a function in a result"),
        pytest.param("require('kube').resourceAdd(print)", "(string expected, got function)", id="to Python"),
        pytest.param("require('kube').resourceAdd.__globals__ = 1", "index field 'resourceAdd'", id="an attribute"),
        pytest.param("return pairs.__closure__", "attempt to index", id="an attribute of a function"),
        pytest.param("return o.__class__.x", "field '__class__' (a nil value)", id="an attribute of an object"),
    ],
)
def test_ways_out_that_are_closed(script: str, message: str) -> None:
    with pytest.raises(LuaRunError) as caught:
        run(script, {"a": 1})
    assert message in str(caught.value)


def test_script_has_no_arguments() -> None:
    assert run_call(call("local a = select('#', ...) function F() return a end")) == [0]


def test_module_that_is_being_loaded_is_a_plain_value() -> None:
    script = "package.preload.x = function() local x = package.loaded.x x.y = 1 error(x) end require('x')"
    with pytest.raises(LuaRunError, match="error object is a table"):
        run(script)


def test_script_reaches_no_userdata() -> None:
    script = REACH + "for _, x in pairs({_G, o, require('kube'), require('karta'), package, package.loaded}) do "
    assert run(script + "look(x, '') end return found", {"a": {"b": [1, {"c": 2}]}}, f=lambda: ()) == [[]]


@rows(
    "script",
    [
        pytest.param("local ok, e = pcall(require('karta').bad) return type(e), tostring(e)", id="pcall"),
        pytest.param("return xpcall(require('karta').bad, function(e) return type(e), tostring(e) end)", id="xpcall"),
        pytest.param(
            "local function f() pcall(require('karta').bad) end pcall(f) xpcall(f, f) return 1", id="pcall in pcall"
        ),
    ],
)
def test_python_error_is_not_seen_by_script(script: str) -> None:
    def bad() -> tuple[JSON, ...]:
        raise ValueError("with __traceback__")

    with pytest.raises(ValueError, match="with __traceback__"):
        run(script, bad=bad)


def test_text_that_is_not_unicode_is_what_go_makes_of_it() -> None:
    with pytest.raises(LuaRunError, match=r"^cannot parse '\ufffd'"):
        run("require('kube').resourceAdd('\\255')")
    with pytest.raises(LuaRunError, match=r"^\ufffd$"):
        run("error('\\255')")


@rows(
    ("script", "expected"),
    [
        pytest.param("return 'a\\200b'", "a\ufffdb", id="one byte"),
        pytest.param("return ('é'):sub(1, 1) .. 'é'", "\ufffdé", id="half a character"),
        pytest.param("return {k = '\\226\\130'}", {"k": "\ufffd\ufffd"}, id="each byte"),
        pytest.param("return {['\\255'] = {1, false, 'é'}}", {"\ufffd": [1, False, "é"]}, id="a key"),
    ],
)
def test_results_are_unicode_as_go_makes_them(script: str, expected: JSON) -> None:
    assert run(script) == [expected]


def test_bytecode_is_no_script() -> None:
    with pytest.raises(LuaError):
        run_call(call("\x1bLua"))


CHANGES = [
    pytest.param("x = 1", "return x == nil", id="a global"),
    pytest.param("type = 1", "return type(1)", id="a function replaced"),
    pytest.param("pairs = nil", "local n = 0 for _ in pairs({1}) do n = n + 1 end return n", id="a function removed"),
    pytest.param("string.upper = nil", "return ('a'):upper()", id="a method of strings"),
    pytest.param("string.new = print", "return ('a').new == nil and string.new == nil", id="a new method of strings"),
    pytest.param("table.insert = nil", "return type(table.insert)", id="a function of a library"),
    pytest.param("math.x = {1} math.pi = 3", "return math.x == nil and math.pi > 3", id="a constant"),
    pytest.param("_G._G = nil _G.math = nil", "return _G.math.pi > 3", id="the environment"),
    pytest.param("require('kube').resourceAdd = 1", "return type(require('kube').resourceAdd)", id="a module"),
    pytest.param("package.loaded.kube = 1", "return type(require('kube'))", id="a loaded module"),
    pytest.param("package.preload.own = print", "return pcall(require, 'own')", id="a preloaded module"),
    pytest.param("package.loaders[1] = nil", "return type(require('kube'))", id="the loaders"),
    pytest.param("os.time = 1", "return type(os.time())", id="the clock"),
    pytest.param("o.a.b = 2 o.c = 1", "return o.c == nil and o.a.b", id="the object"),
    pytest.param("error('x')", "return 1", id="an error"),
    pytest.param("local t = {} t.t = t return t", "return 1", id="a result that is none"),
]


@rows(("first", "second"), CHANGES)
def test_script_leaves_nothing_in_the_machine(first: str, second: str) -> None:
    """A machine gives the same whether or not another script ran in it before."""
    value = {"a": {"b": 1}}
    fresh = Runtime(KUBE).run(function(second, value))
    used = Runtime(KUBE)
    try:
        used.run(function(first, value))
    except LuaRunError:
        assert "return t" in first or "error" in first
    assert used.run(function(second, value)) == fresh
    assert value == {"a": {"b": 1}}


def test_random_numbers_of_one_script_say_nothing_about_those_of_another() -> None:
    draw = "math.randomseed(7) return math.random(1e9), math.random(1e9)"
    assert run(draw) == run(draw)
    assert run("math.randomseed(7) return 1") == [1]
    assert run("return math.random(1e9)") != run("return math.random(1e9)")


@few_rows(
    "script",
    [
        pytest.param("local function f() return f() + 1 end f()", id="recursion"),
        pytest.param("local function f() return (pcall(f)) end f() error('end')", id="pcall in pcall"),
        pytest.param("local function f() return (tostring(f())) end f()", id="through a library"),
        pytest.param("local function f(a, b) return f(b, a) < 1 end table.sort({1, 2, 3}, f)", id="through sort"),
        pytest.param("local t = {} for i = 1, 1e4 do t = {t} end return t", id="a deep result"),
        pytest.param("local t = {} t[1] = t return t", id="a table in itself"),
        pytest.param("local t = {} for i = 1, 1e4 do t = {t} end require('kube').resourceAdd(t)", id="a deep argument"),
        pytest.param("return unpack({}, 1, 1e7)", id="very many results"),
        pytest.param("return unpack({}, 0, 2147483647)", id="a count beyond 32 bits"),
        pytest.param("return unpack({}, -2147483648, -2147483647)", id="an index at their end"),
        pytest.param("error({})", id="an error that is a table"),
        pytest.param("error(nil)", id="an error that is nil"),
        pytest.param("error(print)", id="an error that is a function"),
        pytest.param("string.char(-1e300)(1)", id="a strange number"),
        pytest.param("local s = ('x'):sub(-1e300, 1e300) error(s:byte(1e300))", id="positions beyond all"),
        pytest.param("os.date('%Y', 1e300)", id="a date beyond all"),
        pytest.param("os.time({year = 1e300})", id="a time beyond all"),
        pytest.param("math.random(2, 1)", id="an empty interval"),
        pytest.param("o[0/0] = 1", id="an index that is not a number"),
        pytest.param("o[nil] = 1", id="an index that is nil"),
    ],
)
def test_broken_script_does_not_break_the_next(script: str) -> None:
    with pytest.raises(LuaRunError):
        run(script, {"a": 1})
    assert run("return o.a", {"a": 1}) == [1]
