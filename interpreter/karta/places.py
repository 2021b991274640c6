"""Whether an expression can be written through, as far as that can be told without an object.

The questions are asked of an empty object: what depends on the elements of a list, or cannot be read there,
stays in doubt and gets the benefit of it.
"""

from interpreter.errors import QueryEvaluationError, QueryWriteError
from interpreter.query import Query


def names_places(query: Query) -> bool:
    """Whether the results are nothing but values at some place.

    >>> names_places(Query.compile(".spec.groups[].name")), names_places(Query.compile(".spec.n + 1"))
    (True, False)
    """
    try:
        query.paths({})
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
