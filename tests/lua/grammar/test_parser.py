from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lupa import lua51

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.lua.grammar.parser import parse
from karta_interpreter.lua.grammar.surveying import survey
from karta_interpreter.lua.grammar.syntax import (
    Binary,
    Call,
    Concatenation,
    Constant,
    Group,
    If,
    Index,
    MethodCall,
    Name,
    Node,
    Number,
    Return,
    Text,
    Unary,
    children,
)
from tests.lua.grammar.scripts import ACCEPTED, ONLY_GOPHER_LUA, ONLY_LUA, PROGRAMS, REJECTED, TOKENS

LUA = lua51.LuaRuntime(register_eval=False, encoding="latin-1", source_encoding="utf-8")


def is_read_by_lua(text: str) -> bool:
    try:
        LUA.compile(text)
    except lua51.LuaSyntaxError:
        return False
    return True


def is_read(text: str) -> bool:
    try:
        parse(text)
    except LuaSyntaxError:
        return False
    return True


def expression(text: str) -> Node:
    (statement,) = parse(f"return {text}").body.statements
    assert isinstance(statement, Return)
    (value,) = statement.values
    return value


def a_plain_tree(node: Node) -> str:
    """An expression with all of its parentheses."""
    match node:
        case Binary(operator, left, right):
            return f"({a_plain_tree(left)}{operator}{a_plain_tree(right)})"
        case Unary(operator, operand):
            return f"({operator} {a_plain_tree(operand)})"
        case Concatenation(parts):
            return f"({'..'.join(map(a_plain_tree, parts))})"
        case Name(text) | Number(text):
            return text
    raise AssertionError(node)


@pytest.mark.parametrize("text", ACCEPTED)
def test_reads_what_lua_reads(text: str) -> None:
    assert is_read_by_lua(text)
    assert is_read(text)


@pytest.mark.parametrize("text", ONLY_GOPHER_LUA)
def test_reads_what_only_gopher_lua_reads(text: str) -> None:
    assert not is_read_by_lua(text)
    assert is_read(text)


@pytest.mark.parametrize("text", REJECTED)
def test_rejects_what_lua_rejects(text: str) -> None:
    assert not is_read_by_lua(text)
    assert not is_read(text)


@pytest.mark.parametrize("text", ONLY_LUA)
def test_rejects_what_gopher_lua_rejects(text: str) -> None:
    assert is_read_by_lua(text)
    assert not is_read(text)


@settings(max_examples=200, deadline=None)
@given(TOKENS | PROGRAMS)
def test_reads_whatever_lua_reads(text: str) -> None:
    if is_read_by_lua(text):
        parse(text)


@settings(max_examples=200, deadline=None)
@given(TOKENS)
def test_rejects_whatever_lua_rejects_on_one_line(text: str) -> None:
    # what only gopher-lua reads needs a semicolon, a parenthesis at the start of a line or around a call, or `,,`
    if not any(part in text.replace("\n", " ") for part in (";", "( ", ", ,")):
        assert is_read(text) == is_read_by_lua(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        pytest.param("a or b and c", "(aor(bandc))", id="and before or"),
        pytest.param("a<b==c", "((a<b)==c)", id="comparisons from the left"),
        pytest.param("a..b..c", "(a..b..c)", id="a chain is one node"),
        pytest.param("a+b..c*d", "((a+b)..(c*d))", id="arithmetic before .."),
        pytest.param("a..b==c..d", "((a..b)==(c..d))", id=".. before comparisons"),
        pytest.param("a-b-c", "((a-b)-c)", id="minus from the left"),
        pytest.param("a^b^c", "(a^(b^c))", id="powers from the right"),
        pytest.param("-a^b", "(- (a^b))", id="a power before its sign"),
        pytest.param("a^-b*c", "((a^(- b))*c)", id="a sign in an exponent takes no product"),
        pytest.param("not a==b", "((not a)==b)", id="not before comparisons"),
        pytest.param("-a..b", "((- a)..b)", id="a sign before .."),
    ],
)
def test_binds_operators_as_lua_does(text: str, tree: str) -> None:
    assert a_plain_tree(expression(text)) == tree


def test_suffixes_belong_to_what_is_before_them() -> None:
    node = expression("(a).b['c']:d(1)'e'")
    match node:
        case Call(MethodCall(Index(Index(Group(Name("a")), Text("b")), Text("c")), Text("d"), one), two):
            assert one.values == (Number("1"),)
            assert two.values == (Text("e"),)
        case _:
            pytest.fail(repr(node))


def test_a_parenthesis_on_the_next_line_is_a_call_as_in_gopher_lua() -> None:
    assert len(parse("a = f\n(b)").body.statements) == 1


def test_a_chain_of_elseif_is_one_statement() -> None:
    (statement,) = parse("if a then elseif b then elseif nil then else c() end").body.statements
    assert isinstance(statement, If)
    assert [branch.condition for branch in statement.branches] == [Name("a"), Name("b"), Constant(None)]
    assert statement.otherwise is not None


@settings(max_examples=50, deadline=None)
@given(PROGRAMS)
def test_nodes_know_their_place(text: str) -> None:
    waiting: list[Node] = [parse(text)]
    while waiting:
        node = waiting.pop()
        assert node.line == 1 + text.count("\n", 0, node.start)
        if isinstance(node, Name):
            assert text[node.start : node.end] == node.name
        for child in children(node):
            assert node.start <= child.start <= child.end <= node.end
            waiting.append(child)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a =\n}", "expected an expression after `=`, but found `}`", 2),
        ("a = 1 +", "expected an expression after `+`, but the script ends here", 1),
        ("a = [1, 2]", "(an index needs a name or `(...)` before it; a list is `{...}`)", 1),
        ("a = {end = 1}", '(`end` is a keyword; as a key, write `["end"]`)', 1),
        ("a = {b: 1}", "expected a name after `:`, but found `1` (`:` calls a method, `object:method()`;", 1),
        ("a = 1 2", "expected a statement after `1`, but found `2`", 1),
        ("a", "expected `=` or a call after `a`, but the script ends here", 1),
        ("a += 1", "expected `=` or a call after `a`, but found `+` (Lua has no `+=`)", 1),
        ("a++", "(Lua has no `++`)", 1),
        ("continue\nend", "Lua has no `continue`; put the rest of the loop into an `if`", 2),
        ("if a then elif b then end", "(write `elseif`)", 1),
        ("let a = 1", "(write `local`)", 1),
        ("f() = 1", "`f()` cannot be assigned to; only names and fields can", 1),
        ("if a\n b() end", "expected `then` after the condition of `if`, but found `b`", 2),
        ("if a = b then end", "(equality is `==`)", 1),
        ("for i = 1 do end", "expected `,` after the first value of `for`, but found `do`", 1),
        ("for i of a do end", "expected `in` or `=` after the name of `for`, but found `of`", 1),
        ("local end", "expected a name after `local`, but found `end` (`end` is a keyword)", 1),
        ("function (a) end", "expected the name of a function, but found `(`", 1),
        ("end", "expected a statement, but found `end` (no block is open that `end` could belong to)", 1),
        ("return 1\na = 2", "expected the end of the block after `return`, but found `a`", 2),
        ("break", "`break` stands outside of any loop", 1),
        ("function f()\nreturn ...\nend", "`...` is used in a function that has no `...` among its parameters", 2),
        ("repeat a() end", "expected `until` to close `repeat`, but found `end`", 1),
        ("a = 1\nf(1,\n2", "`(` opened here is never closed with `)`", 2),
        ("\nwhile a do\nb()\n", "`while` opened here is never closed with `end`", 2),
        ("\nrepeat\nb()\n", "`repeat` opened here is never closed with `until`", 2),
        ("a = [[x\ny]] 'b'", "expected a statement after `[[x...`, but found `'b'`", 2),
    ],
)
def test_says_what_is_wrong_and_where(text: str, message: str, line: int) -> None:
    with pytest.raises(LuaSyntaxError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_blames_the_block_whose_end_the_indentation_says_is_missing() -> None:
    text = "function a()\n  for i = 1, 2 do\n    if b then\n      c()\n  end\nend\n\nfunction d()\nend\n"
    with pytest.raises(LuaSyntaxError, match="`if` opened here is never closed") as caught:
        parse(text)
    assert caught.value.line == 3


DEEP: list[Callable[[int], str]] = [
    lambda depth: "a = " + "(" * depth + "1" + ")" * depth,
    lambda depth: "a = " + "b:c(" * depth + ")" * depth,
    lambda depth: "a = " + "{" * depth + "}" * depth,
    lambda depth: "a = " + "- " * depth + "1",
    lambda depth: "a = " + "1 ^ " * depth + "1",
    lambda depth: "if a then elseif b then else " * depth + "end " * depth,
    lambda depth: "f{a = function() " * depth + "end} " * depth,
]


@pytest.mark.parametrize("nested", DEEP)
def test_refuses_what_is_nested_too_deeply(nested: Callable[[int], str]) -> None:
    survey(parse(nested(38)))
    with pytest.raises(LuaSyntaxError, match="nested more than 80 levels deep"):
        parse(nested(5000))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a = " + "b + " * 5000 + "1", id="a sum"),
        pytest.param("a = " + "b .. " * 5000 + "'c'", id="a chain"),
        pytest.param("a = b" + ".c" * 5000, id="a path"),
        pytest.param("if a then " + "elseif b then " * 2000 + "end", id="alternatives"),
    ],
)
def test_length_is_no_depth(text: str) -> None:
    survey(parse(text))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_a_script_or_a_syntax_error(text: str) -> None:
    is_read(text)
