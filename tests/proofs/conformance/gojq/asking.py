"""Asking gojq about one object, with the answers kept."""

import re
from collections.abc import Callable, Sequence, Set as AbstractSet
from typing import TypeAlias

from karta_interpreter.base.errors import InterpreterError, QueryStoppedError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.peer import Gojq, Outcome
from tests.proofs.conformance.gojq.readings import Reading, program


class NoAnswerError(Exception):
    """What gojq ends with an error."""


Answer: TypeAlias = JSON
"""What came of it as JSON, `FAILED` for an error; the texts of errors are nobody's promise."""

FAILED = "<failed>"

_EXPONENT = re.compile(r"(?<=[0-9])e(?=[+-]?[0-9])")
_LARGE = re.compile(r"[0-9]{17,}")


class Ask:
    """gojq about one object; ``readings`` are those that it is made to share with us."""

    def __init__(
        self,
        gojq: Gojq,
        value: JSON,
        readings: AbstractSet[Reading] = frozenset(),
        known: dict[str, Outcome] | None = None,
    ) -> None:
        self._gojq = gojq
        self._value = value
        self._known = {} if known is None else known
        self.readings = readings

    def reading(self, *readings: Reading) -> "Ask":
        """The same for gojq with these readings."""
        return Ask(self._gojq, self._value, frozenset(readings), self._known)

    def ahead(self, queries: Sequence[Query | PodQuery], before: str = "", after: str = "") -> None:
        """Ask for all of this at once, which is faster."""
        texts = list(dict.fromkeys(program(query, self.readings, before, after) for query in queries))
        self._known.update(zip(texts, self._gojq.run(texts, self._value), strict=True))

    def outputs(self, query: Query | PodQuery, before: str = "", after: str = "") -> Sequence[JSON]:
        """What an expression gives; raises NoAnswerError."""
        text = program(query, self.readings, before, after)
        if text not in self._known:
            (self._known[text],) = self._gojq.run([text], self._value)
        found = self._known[text]
        if found.outputs is None:
            raise NoAnswerError(found.error)
        outputs = found.outputs
        if Reading.EXPONENT in self.readings:
            outputs = [_with_exponents_of_jq(value) for value in outputs]
        if Reading.COMPUTED in self.readings:
            outputs = [with_digits(value) for value in outputs]
        return outputs


def _with_exponents_of_jq(value: JSON) -> JSON:
    return _EXPONENT.sub("E", value) if isinstance(value, str) else value


def with_digits(value: JSON) -> JSON:
    """The value with all digits of the doubles in its texts; gojq writes the shortest ones, and zeros.

    >>> with_digits({"memory": ["4611686018427388000Mi"]})
    {'memory': ['4611686018427387904Mi']}
    """
    if isinstance(value, str):
        return _LARGE.sub(lambda found: str(int(float(found[0]))), value)
    if isinstance(value, dict):
        return {key: with_digits(item) for key, item in value.items()}
    return [with_digits(item) for item in value] if isinstance(value, list) else value


def answer(ask: Callable[[], Answer]) -> Answer:
    """What is answered, `FAILED` where that is an error. An expression that got no time is asked once more."""
    for _ in range(2):
        try:
            return ask()
        except (NoAnswerError, InterpreterError) as error:
            if not _is_stopped(error):
                break
    return FAILED


def _is_stopped(error: BaseException | None) -> bool:
    while error and not isinstance(error, QueryStoppedError):
        error = error.__cause__
    return error is not None


def same(one: JSON, other: JSON) -> bool:
    """Whether two JSON values are the same to Go: numbers are doubles, and true is not a number.

    >>> same([1, {"a": 2.0}], [1.0, {"a": 2}]), same(1, True), same(2**53, 2**53 + 1)
    (True, False, True)
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return float(one) == float(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
