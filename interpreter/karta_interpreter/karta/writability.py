"""Whether an expression yields paths, which ones, and whether it can be written through, without an object.

The expression is evaluated on an empty object. Where the result depends on the elements of a list, or cannot be read
there, the expression is accepted.
"""

from typing import Final

from karta_interpreter.errors import QueryError, QueryEvaluationError, QuerySyntaxError, QueryWriteError
from karta_interpreter.jq import Query, parse
from karta_interpreter.jq.syntax import Alternative, Call, Literal, Pipe
from karta_interpreter.k8s.values import Object, Path, field_path

_BARE: Final[Object] = {"metadata": {}, "spec": {}, "status": {}}
_WHOLE: Final[frozenset[Path]] = frozenset({(), ("metadata",), ("spec",)})


def names_places(query: Query) -> bool:
    """Whether all results are values at some path.

    >>> names_places(Query.compile(".spec.groups[].name")), names_places(Query.compile(".spec.n + 1"))
    (True, False)
    """
    return all(_names_places(query, value) for value in ({}, _BARE))


def whole_places(query: Query) -> list[str]:
    """The results that cannot be meant as a path: the whole object, its metadata, or its spec.

    >>> whole_places(Query.compile(".[]")), whole_places(Query.compile(".spec.n"))
    (['metadata', 'spec'], [])
    """
    try:
        return [field_path(path) for path in query.paths(_BARE) if path in _WHOLE]
    except QueryError:
        return []


def split_default(text: str) -> tuple[str, str | float | bool | None, bool]:
    """A path, the literal that stands for its absence at the end, None without one, and whether it is ``empty``.

    >>> split_default("select(.a // 1) | .spec.suspend // false")
    ('select(.a // 1) | .spec.suspend', False, False)
    >>> split_default(".spec.gates // empty")
    ('.spec.gates', None, True)
    """
    try:
        last = parse(text)
        while isinstance(last, Pipe):
            last = last.right
        if isinstance(last, Alternative) and isinstance(last.right, Literal | Call):
            path = text[: last.left.span.end]
            parse(path)
            match last.right:
                case Literal(value):
                    return path, value, False
                case Call("empty", ()):
                    return path, None, True
    except QuerySyntaxError:
        pass  # reported where the whole expression is checked
    return text, None, False


def _names_places(query: Query, value: Object) -> bool:
    try:
        query.paths(value)
    except QueryWriteError:
        return False
    except QueryEvaluationError:
        return True
    return True


def takes_number(query: Query) -> bool:
    """Whether a number can be written so that it becomes the result.

    >>> takes_number(Query.compile("(.spec.n // 1) * 2")), takes_number(Query.compile("1"))
    (True, False)
    """
    try:
        return None not in query.locate_each({})
    except QueryWriteError:
        return False
    except QueryEvaluationError:
        return True
