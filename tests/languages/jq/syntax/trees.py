"""Hypothesis strategies for every syntax tree that the parser can give."""

from hypothesis import strategies as st

from karta_interpreter.languages.jq import syntax as ast

OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or"]
ASSIGNMENTS = ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="]

_words = st.sampled_from(["a", "b", "replicas", "_x1", "if", "and", "end", "__loc__", "null"])
_variables = st.sampled_from(["x", "y", "if", "a::b"])
_names = st.sampled_from(["a", "length", "f", "m::f", "then_", "Not"])
_texts = st.sampled_from(["", "a", "b c", "if", "é", "\U0001f600", '"', "\\", "\\(", "\n", "\x00", "#", "a::b"])
_pieces = st.sampled_from(["a", " ", "é", '"', "\\(x)", "\n", "@"])
_formats = st.sampled_from(["base64", "uri", "made_up"])
_numbers = st.one_of(
    st.integers(-(2**53), 2**53), st.sampled_from([0, 1, -1, 0.5, -0.25, 1e-5, 1e22, -1e300, 1.7976931348623157e308])
)
_literals = st.builds(ast.Literal, st.one_of(st.none(), st.booleans(), _numbers, _texts))
_leaves: st.SearchStrategy[ast.Node] = st.one_of(
    st.just(ast.Identity()),
    st.just(ast.RecursiveDescent()),
    _literals,
    st.builds(ast.Format, _formats),
    st.builds(ast.Variable, st.sampled_from(["x", "__loc__", "ENV", "if", "a::b"])),
    st.builds(ast.Break, _variables),
    st.builds(ast.FunctionCall, _names),
    st.builds(lambda name: ast.Index(ast.Identity(), ast.Literal(name)), _words),
    st.just(ast.Iterate(ast.Identity())),
)


def _is_key(node: ast.Node) -> bool:
    return not isinstance(node, ast.Literal) or isinstance(node.value, str)


def _is_negated(node: ast.Node) -> bool:
    return not isinstance(node, ast.Literal) or isinstance(node.value, bool | str | None)


def _patterns(keys: st.SearchStrategy[ast.Node]) -> st.SearchStrategy[ast.Pattern]:
    def wider(inner: st.SearchStrategy[ast.Pattern]) -> st.SearchStrategy[ast.Pattern]:
        pairs = st.tuples(st.one_of(keys, _bound), inner) | _bound.map(lambda own: (ast.Literal(own.name), own))
        return st.one_of(
            st.lists(inner, min_size=1, max_size=2).map(lambda elements: ast.ArrayPattern(tuple(elements))),
            st.lists(pairs, min_size=1, max_size=2).map(lambda entries: ast.ObjectPattern(tuple(entries))),
        )

    return st.recursive(_bound, wider, max_leaves=3)


_bound = st.builds(ast.VariablePattern, _variables)


def _texts_of(inner: st.SearchStrategy[ast.Node]) -> st.SearchStrategy[ast.Node]:
    pairs = st.lists(st.tuples(_pieces, inner), min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda node, name: ast.Text((node,), name), inner, st.none() | _formats),
        st.builds(lambda many, name: ast.Text(sum(many, ()), name), pairs, st.none() | _formats),
        st.builds(lambda piece, name: ast.Text((piece,), name), _pieces, _formats),
        st.builds(lambda name: ast.Text((), name), _formats),
    )


def _wider(inner: st.SearchStrategy[ast.Node]) -> st.SearchStrategy[ast.Node]:
    optional = st.none() | inner
    keys = st.one_of(_words.map(ast.Literal), _texts.map(ast.Literal), _texts_of(inner), inner.filter(_is_key))
    shorthand = st.builds(lambda key: ast.Entry(key, ast.Index(ast.Identity(), key)), _texts.map(ast.Literal))
    entries = st.lists(st.builds(ast.Entry, keys, inner) | shorthand, max_size=3).map(tuple)
    pattern = _patterns(keys)
    patterns = st.lists(pattern, min_size=1, max_size=2).map(tuple)
    branches = st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)
    arguments = st.lists(inner, max_size=2).map(tuple)
    params = st.lists(st.sampled_from(["f", "$x", "$if", "g"]), max_size=2).map(tuple)
    return st.one_of(
        _texts_of(inner),
        st.builds(ast.Index, inner, keys),
        st.builds(ast.Try, st.builds(ast.Index, inner, _words.map(ast.Literal))),
        st.builds(
            lambda left, name: ast.Pipe(left, ast.Try(ast.Index(ast.Identity(), ast.Literal(name)))), inner, _words
        ),
        st.builds(ast.Slice, inner, inner, optional),
        st.builds(ast.Slice, inner, st.none(), inner),
        st.builds(ast.Iterate, inner),
        st.builds(ast.Try, inner, optional),
        st.builds(ast.Array, optional),
        st.builds(ast.Object, entries),
        st.builds(ast.Negate, inner.filter(_is_negated)),
        st.builds(ast.Pipe, inner, inner),
        st.builds(ast.Comma, inner, inner),
        st.builds(ast.Alternative, inner, inner),
        st.builds(ast.Binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(ast.Assign, st.sampled_from(ASSIGNMENTS), inner, inner),
        st.builds(ast.If, branches, optional),
        st.builds(ast.Bind, inner, patterns, inner),
        st.builds(ast.Reduce, inner, pattern, inner, inner),
        st.builds(ast.Foreach, inner, pattern, inner, inner, optional),
        st.builds(ast.Define, _names, params, inner, inner),
        st.builds(ast.FunctionCall, _names, arguments),
        st.builds(ast.Label, _variables, inner),
    )


trees: st.SearchStrategy[ast.Node] = st.recursive(_leaves, _wider, max_leaves=10)
"""Any expression."""
