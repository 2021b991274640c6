"""Hypothesis strategies for every syntax tree that the parser can give."""

from hypothesis import strategies as st

from karta_interpreter.languages.jq.syntax import (
    Alternative,
    Array,
    ArrayPattern,
    Assign,
    Binary,
    Bind,
    Break,
    Comma,
    Define,
    Entry,
    Foreach,
    Format,
    FunctionCall,
    Identity,
    If,
    Index,
    Iterate,
    Label,
    Literal,
    Negate,
    Node,
    Object,
    ObjectPattern,
    Pattern,
    Pipe,
    RecursiveDescent,
    Reduce,
    Slice,
    Text,
    Try,
    Variable,
    VariablePattern,
)

OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or"]
ASSIGNMENTS = ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="]

_words = st.sampled_from(["a", "b", "replicas", "_x1", "if", "and", "end", "__loc__", "null"])
_variables = st.sampled_from(["x", "y", "if", "a::b"])
_names = st.sampled_from(["a", "length", "f", "m::f", "then_", "Not"])
_texts = st.sampled_from(["", "a", "b c", "if", "é", "\U0001f600", '"', "\\", "\\(", "\n", "\x00", "#", "a::b"])
_pieces = st.sampled_from(["a", " ", "é", '"', "\\(x)", "\n", "@"])
_formats = st.sampled_from(["base64", "uri", "made_up"])
_numbers = st.one_of(
    st.integers(-(2**53), 2**53),
    st.sampled_from([0, 1, -1, 0.5, -0.25, 1e-5, 1e22, -1e300, 1.7976931348623157e308]),
)
_literals = st.builds(Literal, st.one_of(st.none(), st.booleans(), _numbers, _texts))
_leaves: st.SearchStrategy[Node] = st.one_of(
    st.just(Identity()),
    st.just(RecursiveDescent()),
    _literals,
    st.builds(Format, _formats),
    st.builds(Variable, st.sampled_from(["x", "__loc__", "ENV", "if", "a::b"])),
    st.builds(Break, _variables),
    st.builds(FunctionCall, _names),
    st.builds(lambda name: Index(Identity(), Literal(name)), _words),
    st.just(Iterate(Identity())),
)


def _is_key(node: Node) -> bool:
    return not isinstance(node, Literal) or isinstance(node.value, str)


def _is_negated(node: Node) -> bool:
    return not isinstance(node, Literal) or isinstance(node.value, bool | str | None)


def _patterns(keys: st.SearchStrategy[Node]) -> st.SearchStrategy[Pattern]:
    def wider(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        pairs = st.tuples(st.one_of(keys, _bound), inner) | _bound.map(lambda own: (Literal(own.name), own))
        return st.one_of(
            st.lists(inner, min_size=1, max_size=2).map(lambda elements: ArrayPattern(tuple(elements))),
            st.lists(pairs, min_size=1, max_size=2).map(lambda entries: ObjectPattern(tuple(entries))),
        )

    return st.recursive(_bound, wider, max_leaves=3)


_bound = st.builds(VariablePattern, _variables)


def _texts_of(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    pairs = st.lists(st.tuples(_pieces, inner), min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda node, name: Text((node,), name), inner, st.none() | _formats),
        st.builds(lambda many, name: Text(sum(many, ()), name), pairs, st.none() | _formats),
        st.builds(lambda piece, name: Text((piece,), name), _pieces, _formats),
        st.builds(lambda name: Text((), name), _formats),
    )


def _wider(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    optional = st.none() | inner
    keys = st.one_of(_words.map(Literal), _texts.map(Literal), _texts_of(inner), inner.filter(_is_key))
    shorthand = st.builds(lambda key: Entry(key, Index(Identity(), key)), _texts.map(Literal))
    entries = st.lists(st.builds(Entry, keys, inner) | shorthand, max_size=3).map(tuple)
    pattern = _patterns(keys)
    patterns = st.lists(pattern, min_size=1, max_size=2).map(tuple)
    branches = st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)
    arguments = st.lists(inner, max_size=2).map(tuple)
    params = st.lists(st.sampled_from(["f", "$x", "$if", "g"]), max_size=2).map(tuple)
    return st.one_of(
        _texts_of(inner),
        st.builds(Index, inner, keys),
        st.builds(Try, st.builds(Index, inner, _words.map(Literal))),
        st.builds(lambda left, name: Pipe(left, Try(Index(Identity(), Literal(name)))), inner, _words),
        st.builds(Slice, inner, inner, optional),
        st.builds(Slice, inner, st.none(), inner),
        st.builds(Iterate, inner),
        st.builds(Try, inner, optional),
        st.builds(Array, optional),
        st.builds(Object, entries),
        st.builds(Negate, inner.filter(_is_negated)),
        st.builds(Pipe, inner, inner),
        st.builds(Comma, inner, inner),
        st.builds(Alternative, inner, inner),
        st.builds(Binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(Assign, st.sampled_from(ASSIGNMENTS), inner, inner),
        st.builds(If, branches, optional),
        st.builds(Bind, inner, patterns, inner),
        st.builds(Reduce, inner, pattern, inner, inner),
        st.builds(Foreach, inner, pattern, inner, inner, optional),
        st.builds(Define, _names, params, inner, inner),
        st.builds(FunctionCall, _names, arguments),
        st.builds(Label, _variables, inner),
    )


trees: st.SearchStrategy[Node] = st.recursive(_leaves, _wider, max_leaves=10)
"""Any expression."""
