"""The verdict on an expression: how it may be run, if at all.

*Plain*
    runs in this process. Each of its constructs and functions takes a time that grows with its input, and so does the
    whole: a plain expression cannot loop, and it cannot explode. `karta_interpreter.languages.jq.compiled.costs` has
    the rules.
*Bounded*
    is everything else that Karta accepts: ``reduce``, ``def``, variables, regular expressions, …. It runs in a
    process that can be stopped. The notes have the reasons why it is not plain.
*Refused*
    is everything that Karta rejects (assignments, ``del``, ``..``, ``range``, ``paths``, ``recurse``, ``walk``,
    ``repeat``), access to anything outside the expression (modules, environment, further input, output), and every name
    that either gojq or jq does not know. Calls are checked by name, even of a function that the expression defines.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final

from karta_interpreter.languages.jq.analysis.notes import Reason, find_notes
from karta_interpreter.languages.jq.analysis.refusals import find_refusals
from karta_interpreter.languages.jq.syntax import Node
from karta_interpreter.languages.jq.syntax.parser import parse

__all__ = ["Execution", "Reason", "Vetting", "examine", "forget_many", "vet"]

_REMEMBERED: Final = 2**14  # more than a large definition has, which would be parsed twice otherwise
_KEPT: Final = 256


class Execution(StrEnum):
    """How an expression may be run."""

    PLAIN = "plain"
    BOUNDED = "bounded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Vetting:
    """A verdict with its reasons."""

    verdict: Execution
    refusals: tuple[Reason, ...] = ()
    """Why it is rejected."""
    notes: tuple[Reason, ...] = ()
    """Why it is bounded."""
    steps: int = field(default=0, compare=False)
    """The most steps that a plain expression takes for each element of its input. 0 is a constant time."""


@lru_cache(_REMEMBERED)
def examine(text: str, variables: frozenset[str] = frozenset()) -> tuple[Node, Vetting]:
    """Parse and analyse an expression. The result is cached until the definition is compiled.

    Raises QuerySyntaxError for text that is not jq.

    >>> examine(".a")[1].verdict
    <Execution.PLAIN: 'plain'>
    """
    node = parse(text)
    return node, vet(node, variables=variables)


def forget_many() -> None:
    """Free the expressions of a large definition, which `examine` caches until the definition is compiled."""
    if examine.cache_info().currsize > _KEPT:
        examine.cache_clear()


def vet(node: Node, *, variables: frozenset[str] = frozenset()) -> Vetting:
    """Analyse an expression in which ``variables``, named without ``$``, will be defined.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> vet(parse("del(.a)")).refusals[0].message
    '`del` is not allowed: an expression only reads'
    >>> [note.message for note in vet(parse("reduce .[] as $x (0; . + 1)")).notes]
    ['`reduce` does not run in this process']
    """
    if refusals := find_refusals(node, variables):
        return Vetting(Execution.REFUSED, refusals)
    notes, steps = find_notes(node, variables)
    return Vetting(Execution.BOUNDED, (), notes) if notes else Vetting(Execution.PLAIN, steps=steps)
