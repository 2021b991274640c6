"""Scripts of all kinds, by hand and by Hypothesis; the parser and the rewriting are both judged by them."""

from hypothesis import strategies as st

ACCEPTED = (
    # statements
    *("", " ", "-- c", "a = 1", "a, b.c, d[1] = 1, 2", "f()", "f'x'", "f{1}", "f[[x]]", "a.b:c(1)", "f(1)(2){3}'4'"),
    *("local a", "local a, b = 1", "local function f() end", "do end", "while a do break end", "repeat until a"),
    *("if a then elseif b then else end", "for i = 1, 2 do end", "for i = 1, 2, 3 do end", "for k, v in f, a do end"),
    *("function a() end", "function a.b.c() end", "function a.b:c(...) end", "return", "return;", "return 1, 2;"),
    *("a = 1 b = 2", "a = 1; b = 2;", "do local a = 1 end a = 2", "repeat local a until a", "(a).b = 1", "(f)()"),
    *("a().b = 1", "a = b f()", "while a do if b then break end end", "f() g()", "return function(...) return ... end"),
    # expressions
    *(
        "a = nil, true, false, ...",
        "a = function(b, c, ...) end",
        "a = {}",
        "a = {1, 2; 3,}",
        "a = {b = 1, [c] = 2, d}",
    ),
    *("a = -b ^ -c ^ d", "a = not b == c", "a = #b .. c + d", "a = b or c and d < e", "a = b < c < d", "a = - - b"),
    *(
        "a = b.c[d]:e().f",
        "a = ((b))",
        "a = ('x'):y()",
        "a = 1 .. 2",
        "a = b..c..d",
        "a = not not b",
        "a = {[ [[x]] ] = 1}",
    ),
    *("a = b -- c\n.. d", "a = b --[[ .. ]] .. c", "a =\n(b)", "a = b\n.c", "a = b\n:c()", "f\n'x'", "f\n{}"),
    # tokens
    *("a = 3", "a = 3.", "a = .5", "a = 3.5e-2", "a = 0x1F", "a = 08", "a = 1e5..b", "a = 0x1..b", "a = 1 ..b"),
    *(r"a = '\a\b\f\n\r\t\v\\\'\"\65\065\0'", "a = 'x\\\ny'", "a = 'x\\\r\ny'", r"a = '\q'", "a = ''", 'a = "é"'),
    *("a = [[x\ny]]", "a = [==[x]]y]=]z]==]", "a = [[\r\nx]]", "a = [=[]]]=]", "a = [[x]y]]", "--[[ c\nd ]] a = 1"),
    *("--[==[ ]] ]=] ]==] a = 1", "--[c", "--[ [c", "a = 1 --", "a = 1\r\nb = 2\n\rc = 3\rd = 4", "\ta\t=\t1"),
)
"""Both implementations read these."""

ONLY_GOPHER_LUA = (
    *(";", ";;a = 1", "f();;f()", "do ; end", "if a then ; end", "repeat ; until a"),
    *("f\n(1)", "f -- c\n(1)", "a:b\n(1)", "f --[[\n]] (1)", "f[[\n]]\n(1)", "f(1)\n(2)", "a = f\n(1)"),
    *("(f())", "((f()))", "(a.b:c())", "a = 1 (f())", "((f)())"),
    *("a = 3or b", "if a == 3then end", "a = 0x1for b", "a = b == 1and c"),
    *("a = [[x[[y]]", "--[[ a[[1]] a = 1", "a = [[x[[]=]]", "a = [[[[x]=] ]==]]"),
    *("a = {b,,c}", "a = {b;,}"),
)
"""Only gopher-lua reads these; rewritten, Lua 5.1 does as well."""

REJECTED = (
    *(
        "a",
        "a.b",
        "a:b",
        "a b",
        "a =",
        "= a",
        "a = 1 2",
        "1",
        "'x'",
        "(a)",
        "(a) = 1",
        "f() = 1",
        "a, f() = 1, 2",
        "a = b = c",
    ),
    *(
        "local",
        "local 1",
        "local a.b",
        "local function a.b() end",
        "function() end",
        "function a:b.c() end",
        "function a[1]() end",
    ),
    *(
        "if a end",
        "if a then",
        "if a then else elseif b then end",
        "else",
        "end",
        "do",
        "while a end",
        "repeat",
        "until a",
    ),
    *("for a.b = 1, 2 do end", "for i = 1 do end", "for i, j = 1, 2 do end", "for i in a", "for i = 1, 2, 3, 4 do end"),
    *("return 1 a = 2", "return return", "return;;", "break", "while a do break a = 1 end", "function f() break end"),
    *(
        "while a do function f() break end end",
        "function f() return ... end",
        "function f(a,) end",
        "function f(..., a) end",
    ),
    *(
        "function f(...,) end",
        "a = function f() end",
        "f(",
        "f(1",
        "f(,)",
        "f(1,)",
        "f)",
        "a = (1",
        "a = )",
        "a[1 = 2",
        "a = {",
    ),
    *(
        "a = {,}",
        "a = {1",
        "a = {1 2}",
        "a = {[1]}",
        "a = {b.c = 1}",
        "a = 1 +",
        "a = + 1",
        "a = not",
        "a = b..",
        "a = ..b",
    ),
    *(
        "a.1 = 2",
        "a.end = 1",
        "a = {end = 1}",
        "and = 1",
        "a != 1",
        "a += 1",
        "a = b && c",
        "a = !b",
        "a = b ~ c",
        "a = b ? c : d",
    ),
    *(
        "a = 'x",
        "a = 'x\ny'",
        "a = [[x",
        "a = [=[x]]",
        "a = [=x",
        "--[[ c",
        "a = 1..2",
        "a = 1.2.3",
    ),
    *("a = 0x", "@", "a = `b`", "\x1bLua", "a = 'x' 'y'", "'x':y()", "{}.a = 1", "a\\b"),
    *(
        "{1}",
        "function f() 1 end",
        "f(function() end",
        "local a <const> = 1",
        "a::b",
        "...",
        "... = 1",
        "a.b:c = 1",
        "é = 1",
        "a = b\u00a0c",
        "\ufeffa = 1",
    ),
)
"""Neither implementation reads these."""

ONLY_LUA = (*("goto = 1", "a.goto = 1", "local goto", "a\v= 1", "a\f= 1", "--[= c", "--[== c =="),)
"""Only Lua 5.1 reads these, and Karmada does not."""

_NAMES = st.sampled_from(("a", "b", "f", "t"))
_LEAVES = st.one_of(
    _NAMES,
    st.sampled_from(("nil", "true", "1", "2.5", "0x1f", "1e5", ".5", "'s'", '"t"', "[[l]]", "[=[m]]]=]", "...", "t.x")),
)
_OPERATORS = st.sampled_from(
    (*("+", "-", "*", "/", "%", "^", "==", "~=", "<", "<=", " and ", " or "), *("..", " .. ", "\n.. ", " --[[..]] .. "))
)


def _deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(inner, _OPERATORS, inner).map(" ".join),
        inner.map("({})".format),
        st.tuples(st.sampled_from(("-", "not", "#")), inner).map(" ".join),
        pair.map(lambda two: f"f({two[0]}, {two[1]})"),
        inner.map("t:m({})".format),
        pair.map(lambda two: f"{{{two[0]}, k = {two[1]}; {two[0]}}}"),
        pair.map(lambda two: f"t[ {two[0]} ].y({two[1]})"),
        pair.map(lambda two: f"function(a, ...) local b = {two[0]} return {two[1]} end"),
    )


def _statement(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    value = EXPRESSIONS
    return st.one_of(
        st.tuples(value, inner, value, inner).map(
            lambda p: f"if {p[0]} then {p[1]} elseif {p[2]} then else {p[3]} end"
        ),
        st.tuples(value, inner).map(lambda p: f"while {p[0]} do {p[1]} break end"),
        st.tuples(inner, value).map(lambda p: f"repeat {p[0]} until {p[1]}"),
        st.tuples(value, inner).map(lambda p: f"for i = 1, {p[0]} do {p[1]} end"),
        st.tuples(value, inner).map(lambda p: f"for k, v in {p[0]} do {p[1]} end"),
        st.tuples(inner, value).map(lambda p: f"function t.g:h(a, ...) {p[0]} return {p[1]} end"),
        st.tuples(inner, inner).map("; ".join),
        st.tuples(inner, inner).map("\n".join),
    )


EXPRESSIONS = st.recursive(_LEAVES, _deeper, max_leaves=8)
"""Texts of expressions, some of which fail when they run."""

PROGRAMS = st.recursive(
    st.one_of(
        EXPRESSIONS.map("local a = {}".format),
        EXPRESSIONS.map("t.x, b = {}, 1".format),
        EXPRESSIONS.map("f({})".format),
        EXPRESSIONS.map("(f or t)({})".format),
    ),
    _statement,
    max_leaves=6,
)
"""Texts of programs that both implementations read, unless a parenthesis starts a line."""

TOKENS = st.lists(
    st.sampled_from(
        (
            *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil"),
            *(
                "not",
                "or",
                "repeat",
                "return",
                "then",
                "true",
                "until",
                "while",
                "a",
                "b",
                "(",
                ")",
                "{",
                "}",
                "[",
                "]",
            ),
            *(
                ";",
                ",",
                ".",
                "..",
                "...",
                ":",
                "=",
                "==",
                "~=",
                "<",
                "+",
                "-",
                "#",
                "'s'",
                "[[l]]",
                "1",
                "0x1f",
                "--c\n",
            ),
        )
    ),
    max_size=10,
).map(" ".join)
"""Tokens in any order: few of these are programs."""
