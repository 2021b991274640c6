"""Hypothesis strategies for objects and for plain expressions."""

from hypothesis import strategies as st

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.functions import FUNCTIONS, Argument, Function
from karta_interpreter.languages.jq.syntax import (
    Alternative,
    Array,
    Binary,
    Comma,
    Entry,
    FunctionCall,
    Identity,
    If,
    Index,
    Iterate,
    Literal,
    Negate,
    Node,
    Object,
    Pipe,
    Slice,
    Text,
    Try,
)

NAMES = ["a", "b", "replicas", "value", "key", "é", "b-c"]
TEXTS = ["", "a", "b", "ab", "a,b", "worker-0", "É\U0001f600", "12", "-3", "1.5e1", '\x7f\n"\\', "null"]
NUMBERS = [0, 1, 2, 3, -1, -2, 7, 100, 0.5, -1.5, 2.25]
OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or"]
REPLACEMENTS: list[Node] = [Literal("x"), Text(("<", Identity(), ">"))]
PATTERNS = ["a", "^a", "b$", "^worker-[0-9]+$", "a|b", "(a|12)b?"]

scalars = st.one_of(
    st.none(), st.booleans(), st.sampled_from(NUMBERS), st.integers(-(2**53), 2**53), st.sampled_from(TEXTS)
)
"""Scalars whose text is the same for every implementation of jq."""

objects: st.SearchStrategy[JSON] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=15,
)
"""Any JSON, with names and texts that the expressions below look for."""

_literals = st.builds(Literal, st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(TEXTS))


def _field(target: Node, name: str) -> Node:
    return Index(target, Literal(name))


_fields = st.builds(_field, st.just(Identity()), st.sampled_from(NAMES))
_paths = st.builds(_field, _fields, st.sampled_from(NAMES))
_leaves = st.one_of(
    st.just(Identity()),
    _literals,
    _fields,
    _paths,
    st.just(Iterate(Identity())),
    st.builds(Iterate, _fields),
    st.builds(FunctionCall, st.sampled_from(sorted(name for name, arity in FUNCTIONS if arity == 0))),
    st.builds(lambda text: FunctionCall("test", (Literal(text),)), st.sampled_from(PATTERNS)),
    st.just(FunctionCall("error", (Literal("refused"),))),
)


def _may_be_a_key(node: Node) -> bool:
    # A minus in front of a number is a part of the number.
    while isinstance(node, Negate):
        node = node.body
    return not isinstance(node, Literal) or isinstance(node.value, str)


def function_id(function: Function) -> str:
    """The name of a test's parameter."""
    return f"{function.name}-{len(function.arguments)}"


def _calls(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    any_expression = {Argument.ONCE, Argument.EACH}
    functions = [each for each in FUNCTIONS.values() if each.arguments and any_expression.issuperset(each.arguments)]
    called = [
        st.builds(FunctionCall, st.just(each.name), st.tuples(*[inner] * len(each.arguments))) for each in functions
    ]
    return st.one_of(*called)


def _compound(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    optional = st.none() | inner
    keys = st.builds(Literal, st.sampled_from(NAMES)) | inner.filter(_may_be_a_key)
    entries = st.lists(st.builds(Entry, keys, inner), max_size=3).map(tuple)
    branches = st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(_field, inner, st.sampled_from(NAMES)),
        st.builds(Index, inner, inner),
        st.builds(Slice, inner, inner, optional),
        st.builds(Slice, inner, st.none(), inner),
        st.builds(Iterate, inner),
        st.builds(Pipe, inner, inner),
        st.builds(Comma, inner, inner),
        st.builds(Alternative, inner, inner),
        st.builds(Binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(Negate, inner),
        st.builds(If, branches, optional),
        st.builds(Try, inner),
        st.builds(Array, optional),
        st.builds(Object, entries),
        st.builds(lambda *parts: Text(("<", *parts)), inner, inner),
        _calls(inner),
    )


plain_expressions: st.SearchStrategy[Node] = st.recursive(_leaves, _compound, max_leaves=8)
"""Everything that can be compiled to run in process, also what vetting would bound for its growth."""
