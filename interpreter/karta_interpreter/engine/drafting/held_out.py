"""How far a rule holds for objects that it was not chosen from."""

from collections.abc import Sequence
from typing import Final

from karta_interpreter.base.errors import QueryError
from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.jq import Query

FEW: Final = 4
"""From so many objects on a rule is tried on each of them, chosen from the others. With fewer it is to be checked."""


def held_out(rules: Sequence[Sequence[bool]]) -> int:
    """Return for how many objects the rule is right that the others choose: the first of those right for most of them.

    ``rules`` has for each rule whether it is right for each object.

    >>> held_out([[True, True, True, False], [True, True, False, True]])
    2
    >>> held_out([[True, True, True, True], [True, True, False, True]])
    4
    """
    totals = [sum(each) for each in rules]
    chosen = [
        max(zip(rules, totals, strict=True), key=lambda rule: rule[1] - rule[0][at])[0] for at in range(len(rules[0]))
    ]
    return sum(rule[at] for at, rule in enumerate(chosen))


def outputs(text: str, value: JSON) -> list[JSON]:
    """Return the outputs of an expression, none for a value that it does not fit."""
    try:
        return Query.compile(text).evaluate(value)
    except QueryError:
        return []
