import pytest
from hypothesis import given, settings
from lupa import lua51

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.lua.grammar.rewriting import rewrite
from tests.lua.grammar.scripts import ACCEPTED, EXPRESSIONS, ONLY_GOPHER_LUA, PROGRAMS

LUA = lua51.LuaRuntime(register_eval=False, unpack_returned_tuples=True)
LUA.execute(
    """
    function CAT(a, b) return a .. b end
    function REFUSE(a, b) error("no", 2) end
    a, b = "A", 2
    t = {x = "X", m = function(self, ...) return "M", ... end}
    function f(...) return ... end
    rest = select
    """
)


def outcome(text: str) -> list[object]:
    """The results of a program, of a table or function its type only; nothing but the fact when it fails."""
    try:
        results = LUA.execute(f"return (function(...) {text}\nend)('V', 'W')")
    except lua51.LuaError:
        return ["failed"]
    values = results if isinstance(results, tuple) else (results,)
    return [value if isinstance(value, bool | int | float | str | None) else lua51.lua_type(value) for value in values]


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        pytest.param("x = a .. b", "x = CAT(a , b)", id="two parts"),
        pytest.param("x = a..b..c", "x = CAT(a,CAT(b,c))", id="from the right"),
        pytest.param("x = a + 1 .. -b", "x = CAT(a + 1 , -b)", id="what binds tighter stays inside"),
        pytest.param("x = a .. b == c .. d", "x = CAT(a , b) == CAT(c , d)", id="what binds looser stays outside"),
        pytest.param("x = (a .. b) .. c", "x = CAT((CAT(a , b)) , c)", id="parentheses stay"),
        pytest.param("x = 'a' .. ('b') .. [[c]]", "x = 'a' .. ('b') .. [[c]]", id="literals stay"),
        pytest.param("x = 'a' .. 1", "x = CAT('a' , 1)", id="a number is no string"),
        pytest.param("x = f() .. f()", "x = CAT(f() , (f()))", id="a call at the end gives one value"),
        pytest.param("x = a .. b:c''", "x = CAT(a , (b:c''))", id="a method at the end gives one value"),
        pytest.param("x = a .. ...", "x = CAT(a , (...))", id="the arguments at the end are one value"),
        pytest.param("x = a .. (f())", "x = CAT(a , (f()))", id="in parentheses it is one already"),
        pytest.param("return a .. b", "return (CAT(a , b))", id="no tail call"),
        pytest.param("return 'a'..b", "return (CAT('a',b))", id="a blank before it stays the only one"),
        pytest.param("return'a'..b", "return (CAT('a',b))", id="words stay apart"),
        pytest.param("x = b or'a'..b", "x = b or CAT('a',b)", id="operators stay apart"),
        pytest.param("return a .. b, c", "return CAT(a , b), c", id="one of several results"),
        pytest.param("x = a -- ..\n .. b -- c", "x = CAT(a -- ..\n , b) -- c", id="comments and newlines"),
        pytest.param("x = a ..\n{f()}", "x = CAT(a ,\n{f()})", id="a table is one value"),
        pytest.param("x = a .. 'b' (f or g)()", "x = CAT(a , 'b'); (f or g)()", id="no call of the result"),
        pytest.param("x = a .. 'b'; (f or g)()", "x = CAT(a , 'b'); (f or g)()", id="a semicolon is enough"),
        pytest.param("f(a .. f(b .. c))", "f(CAT(a , (f(CAT(b , c)))))", id="one inside of the other"),
    ],
)
def test_writes_calls(text: str, rewritten: str) -> None:
    assert rewrite(text, "CAT") == rewritten


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        pytest.param(";;f();;", "  f(); ", id="empty statements"),
        pytest.param("x = f -- c\n(1)", "x = f( -- c\n 1)", id="a parenthesis on the next line"),
        pytest.param("x = a:b\n(1)", "x = a:b(\n 1)", id="a method's parenthesis on the next line"),
        pytest.param("((f()))", "  f()  ", id="parentheses around a statement"),
        pytest.param("x = 3or 4", "x = 3 or 4", id="a word behind a number"),
        pytest.param("x = [[ [[ ]]", "x = [=[ [[ ]=]", id="brackets in a string"),
        pytest.param("x = [[ [[]=]]", "x = [==[ [[]=]==]", id="brackets that would end it"),
        pytest.param("--[[ [[ ]] x = 1", "--[=[ [[ ]=] x = 1", id="brackets in a comment"),
        pytest.param("x = {1,,2}", "x = {1, 2}", id="separators"),
        pytest.param("x = a ..\nf\n(3or 4)(1)", "x = CAT(a ,\n(f(\n 3 or 4)(1)))", id="several at once"),
    ],
)
def test_writes_what_only_gopher_lua_reads(text: str, rewritten: str) -> None:
    assert rewrite(text, "CAT") == rewritten


@pytest.mark.parametrize("text", [*ACCEPTED, *ONLY_GOPHER_LUA])
def test_the_result_is_lua_with_the_same_lines(text: str) -> None:
    rewritten = rewrite(text, "CAT")
    LUA.compile(rewritten)
    assert rewritten.count("\n") == text.count("\n")
    assert rewrite(rewritten, "OTHER") == rewritten


@settings(max_examples=150, deadline=None)
@given(PROGRAMS)
def test_the_result_is_always_lua(text: str) -> None:
    LUA.compile(rewrite(text, "CAT"))


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS)
def test_the_result_gives_the_same(text: str) -> None:
    program = f"return {text}"
    assert repr(outcome(rewrite(program, "CAT"))) == repr(outcome(program))  # a NaN equals nothing


@pytest.mark.parametrize("length", [2, 32, 33, 34, 100, 190])
def test_long_chains_need_few_registers(length: int) -> None:
    program = "return " + " .. ".join(f"f({place})" for place in range(length))
    assert LUA.execute(rewrite(program, "CAT")) == "".join(map(str, range(length)))


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        pytest.param(
            "function f(a, b, c, ...) return ... end", "function f(a, b, c, ...) return ... end", id="three are no harm"
        ),
        pytest.param("function f(a, b, c, d) end", "function f(a, b, c, d) end", id="nor are any without varargs"),
        pytest.param(
            "function f(a, b, c, d, e, ...) return ... end",
            "function f(a, b, c,...) local d, e = ...; return rest(3, ...) end",
            id="the others become locals",
        ),
        pytest.param(
            "function o:f(a, b, c, ...) return {...} end",
            "function o:f(a, b,...) local c = ...; return {rest(2, ...)} end",
            id="self is one of three",
        ),
        pytest.param(
            "function f(a, b, c, d, -- x\n ...) return function(...) return ... end, ... end",
            "function f(a, b, c,\n...) local d = ...; return function(...) return ... end, rest(2, ...) end",
            id="lines stay, and a function inside has varargs of its own",
        ),
        pytest.param(
            "x = function(a, b, c, d, ...) return 'x' .. ... end",
            "x = function(a, b, c,...) local d = ...; return (CAT('x' , (rest(2, ...)))) end",
            id="in a concatenation",
        ),
    ],
)
def test_few_parameters_stay_before_varargs(text: str, rewritten: str) -> None:
    assert rewrite(text, "CAT") == rewritten


@pytest.mark.parametrize("fixed", range(8))
@pytest.mark.parametrize("given", [0, 2, 4, 7, 8, 11])
@pytest.mark.parametrize("uses", ["select('#', ...), ...", "arg.n, unpack(arg, 1, arg.n)"], ids=["varargs", "arg"])
def test_functions_with_varargs_get_the_same(fixed: int, given: int, uses: str) -> None:
    names = [f"p{place}" for place in range(fixed)]
    function = f"local function g({', '.join([*names, '...'])}) return {', '.join([*names, uses])} end"
    program = f"{function} return g({', '.join('nil' if place % 3 == 1 else str(place) for place in range(given))})"
    assert outcome(rewrite(program, "CAT")) == outcome(program) != ["failed"]


def test_a_failing_call_knows_its_line() -> None:
    with pytest.raises(lua51.LuaError, match=":3: no"):
        LUA.execute(rewrite("local x\n\nreturn 'a' .. x .. 'b'", "REFUSE"))


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a = 1\ngoto b", "`goto` and its labels are not supported", 2),
        ("a = 1\n\n::b::", "`goto` and its labels are not supported", 3),
        ("a = 1\nlocal CAT = 2", "the name `CAT` is reserved", 2),
        ("a = 1\na = }", "expected an expression after `=`, but found `}`", 2),
    ],
)
def test_refuses_what_cannot_be_written(text: str, message: str, line: int) -> None:
    with pytest.raises(LuaSyntaxError) as caught:
        rewrite(text, "CAT")
    assert (str(caught.value), caught.value.line) == (message, line)
