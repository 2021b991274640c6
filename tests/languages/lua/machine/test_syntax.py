import pytest
from hypothesis import given, strategies as st

from karta_interpreter.languages.lua.machine.syntax import Node, nodes_of, pattern_of
from tests.languages.lua.machine.machine import run
from tests.support.rows import rows

_OPERATORS = ("or", "and", "<", "<=", "==", "~=", "..", "+", "-", "*")


def _bracketed(node: Node) -> str:
    """Write an expression with brackets around each operation, as its tree has them."""
    parts = [_bracketed(part) for part in node.parts]
    if node.kind == "unary":
        return f"({node.word} {parts[0]})"
    return f"({parts[0]} {node.word} {parts[1]})" if node.kind == "binary" else node.word


def _value(expression: str) -> object:
    return run(f"local ok, value = pcall(function() return {expression} end) return ok and tostring(value)")


@given(
    st.lists(st.tuples(st.sampled_from(("", "", "not ", "- ")), st.integers(1, 3)), min_size=2, max_size=7),
    st.lists(st.sampled_from(_OPERATORS), min_size=6, max_size=6),
)
def test_tree_of_an_expression_has_its_value(operands: list[tuple[str, int]], operators: list[str]) -> None:
    """Lua itself computes the same from the expression and from its tree."""
    written = (f"{sign}{number}" for sign, number in operands)
    expression = " ".join(
        word for pair in zip(written, [*operators[: len(operands) - 1], ""], strict=True) for word in pair
    )
    (value,) = nodes_of(f"return {expression}")[0].parts
    assert _value(_bracketed(value)) == _value(expression), _bracketed(value)


@rows(
    ("script", "kinds"),
    [
        ("local a, b", {"local"}),
        ("a.b, c[1] = 1, ...", {"set"}),
        ("f = function(a, ...) return end", {"function", "return"}),
        ("local f = function() break end", {"local_function", "break"}),
        ("function a.b:c() end", {"function"}),
        ("local function f() end", {"local_function"}),
        ("while a do goto x end ::x::", {"while", "goto", "label"}),
        ("repeat local a until a", {"repeat", "local"}),
        ("for i = 1, 2, 3 do end for k, v in a do end", {"for", "for_in"}),
        ("if a then elseif b then else end", {"if"}),
        ("do f'x' a.b{1} c[ [==[d]==] ]:e() end;", {"do", "call", "method"}),
    ],
)
def test_statements_are_read(script: str, kinds: set[str]) -> None:
    found = {node.kind for node in nodes_of(script)}
    assert kinds <= found, found


@rows(
    ("one", "other"),
    [
        ('a["b"]', "a.b"),
        ("f = function(x) return x end", "function f(x) return x end"),
        ("local f = function() end", "local function f() end"),
        ("'a'", "[==[a]==]"),
        ("{a = 1}", '{["a"] = 1}'),
        ("-- a comment\na.b", "a.b"),
    ],
)
def test_ways_to_write_the_same_are_one_tree(one: str, other: str) -> None:
    def shape(node: Node) -> object:
        return node.kind, node.word, [shape(part) for part in node.parts]

    assert shape(pattern_of(one)) == shape(pattern_of(other))


@pytest.mark.parametrize("text", ["function", "x = ", "return return", "if a then", "a = 'b", "x = 1 " * 20_000])
def test_text_that_is_no_script_has_no_nodes(text: str) -> None:
    assert not nodes_of(text)


def test_nodes_know_their_function_and_line() -> None:
    nodes = nodes_of("function f(a, b)\n  local g = function(c) return c end\n  return a\nend")

    returns = [node for node in nodes if node.kind == "return"]

    assert [(node.line, node.function.name, node.function.parameters) for node in returns] == [
        (2, "g", ["c"]),
        (3, "f", ["a", "b"]),
    ]
    assert returns[0].function.around is returns[1].function
