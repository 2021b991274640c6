"""What the Python of an expression may name."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NoReturn

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError, QueryRaisedError, QueryReferenceError
from karta_interpreter.jq.bounded.child import MOST_RESULTS
from karta_interpreter.jq.plain import collection, regex
from karta_interpreter.jq.plain.access import elements, field, item, part, present_elements
from karta_interpreter.jq.plain.arithmetic import add, divide, merge, modulo, multiply, negate, subtract, total
from karta_interpreter.jq.plain.collection import Many
from karta_interpreter.jq.plain.functions import ARGUMENTS, VALUES
from karta_interpreter.jq.plain.given import given
from karta_interpreter.jq.plain.values import equal, less, to_text
from karta_interpreter.k8s.values import JSON, type_name

_NOTHING: Final = object()


def refuse(message: str) -> NoReturn:
    """Fail with the words of the definition's author."""
    raise QueryRaisedError(message)


def too_many() -> NoReturn:
    """Fail because of the number of outputs."""
    raise QueryLimitError(f"it gives more than {MOST_RESULTS} results")


def optional_elements(value: JSON) -> Sequence[JSON]:
    """``.[]?``: there is nothing in a value that has no elements."""
    return present_elements(value) if isinstance(value, list | dict) else ()


def leading_elements(value: JSON) -> Sequence[JSON]:
    """``.[]``, of which no more is needed than it takes to know that there are too many results."""
    return present_elements(value)[: MOST_RESULTS + 1]


def key_of(key: JSON) -> str:
    """A value as the key of an object."""
    if isinstance(key, str):
        return key
    raise QueryEvaluationError(f"{type_name(key)} cannot be the key of an object")


def objects(entries: Sequence[tuple[Many, Many]], value: JSON) -> Iterator[dict[str, JSON]]:
    """``{key: value, ...}``, one object for every combination of keys and values."""
    if not entries:
        yield {}
        return
    (keys, items), *others = entries
    for key in keys(value):
        for one in items(value):
            first = {key_of(key): one}
            for rest in objects(others, value):
                yield first | rest


def texts(parts: Sequence[Many], value: JSON) -> Iterator[str]:
    """A string with interpolations, for every combination of outputs; those of the first part are the inner loop."""
    if not parts:
        yield ""
        return
    *others, last = parts
    for piece in last(value):
        for before in texts(others, value):
            yield before + to_text(piece)


def map_values(value: JSON, body: Many) -> JSON:
    """Replace each element by the first output for it, or drop it when there is none."""
    firsts = (tuple(islice(body(element), 1)) for element in elements(value))
    if isinstance(value, list):
        return [new for outputs in firsts for new in outputs]
    return {key: new for key, outputs in zip(sorted(value), firsts, strict=True) for new in outputs}


def among(value: JSON, candidates: Iterable[JSON]) -> bool:
    """Whether a value is one of several."""
    return any(equal(value, candidate) for candidate in candidates)


RUNTIME: Final[dict[str, Any]] = {
    **{f"jq_{name}": function for name, function in VALUES.items()},
    **{f"jq_{name}_1": function for name, function in ARGUMENTS.items()},
    "NOTHING": _NOTHING,
    "QueryEvaluationError": QueryEvaluationError,
    "UNCAUGHT": (QueryLimitError, QueryReferenceError),
    "add": add,
    "among": among,
    "dict": dict,
    "computed_pattern": regex.computed_pattern,
    "divide": divide,
    "elements": elements,
    "equal": equal,
    "field": field,
    "float": float,
    "given": given,
    "greatest": collection.greatest,
    "group_by": collection.group_by,
    "int": int,
    "item": item,
    "key_of": key_of,
    "leading_elements": leading_elements,
    "least": collection.least,
    "len": len,
    "less": less,
    "list": list,
    "map_values": map_values,
    "max_by": collection.greatest_by,
    "min_by": collection.least_by,
    "modulo": modulo,
    "merge": merge,
    "multiply": multiply,
    "negate": negate,
    "objects": objects,
    "optional_elements": optional_elements,
    "part": part,
    "present_elements": present_elements,
    "refuse": refuse,
    "regex_capture": regex.capture,
    "regex_match": regex.match,
    "regex_replace": regex.replace,
    "regex_scan": regex.scan,
    "regex_split": regex.split,
    "regex_splits": regex.splits,
    "regex_test": regex.test,
    "sort_by": collection.sort_by,
    "str": str,
    "subtract": subtract,
    "texts": texts,
    "to_text": to_text,
    "too_many": too_many,
    "total": total,
    "type": type,
    "unique_by": collection.unique_by,
}
"""Functions of Python and of jq, by the names that they have in the Python of an expression."""
