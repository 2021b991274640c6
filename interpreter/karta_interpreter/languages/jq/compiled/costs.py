"""How much an expression can make of its input, proved before it runs.

A plain expression cannot loop. But jq runs every combination of the outputs of its operands, and a value can be copied
many times: ``.[] + .[]`` has as many outputs as the square of the elements, and ``[., .] | [., .]`` doubles with every
pipe. An expression is plain only if neither can get out of hand:

1. *One generator.* jq combines operands in several constructs (an operator, a key, the entries of an object, the pieces
   of a string, the input and the argument of a function, the condition and the branches of ``if``). The number of
   outputs may depend on the input for at most one of the operands. The others run again for each of its outputs, so
   they have to be *light*: take a constant time and return values of constant size. Constants are light. So are
   lengths, types, products of paths, and values computed from those. A path is not light, nor is ``.x // 1``: the value
   there may have any size. ``.x // 1 | numbers`` is light. Next to ``*``, ``%``, ``and``, ``or`` and ``has``, and as a
   key, a constant time is enough: there a path is allowed.
2. *Size.* All outputs together are at most 1024 times as large as the input. Pipes multiply. Commas, operators, arrays,
   objects and strings add.
3. *Work.* There are at most 8192 steps for every element of the input.

The size of a value is the number of values in it, with one more for every 16 characters of its texts.

Why this is a proof and not fuel at run time: the code of an expression is plain loops of Python without counters. Just
a counter in each loop made expressions of the catalogue 1.06 to 1.5 times as slow, and it does not bound sizes: each
new array, object and text would have to be measured as well. Fuel also fails when an object is large, in the middle of
an answer. The proof fails when a definition is loaded, names the construct, and leaves the expression to a process with
limits.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.languages.jq.compiled.regex import COMPUTED_GROUPS, COMPUTED_SIZE, RegexCall
from karta_interpreter.languages.jq.syntax import FunctionCall

SIZE_LIMIT: Final = 1024
WORK_LIMIT: Final = 8192
CHARACTERS: Final = 16
"""How many characters count as much as a value."""
PIECES: Final = 1 + CHARACTERS
"""How many pieces a text falls into for each value that it counts as."""
_AS_TEXT: Final = 6
MOST_REPEATED: Final = 256
"""The characters of a text that a text with several outputs may repeat in them."""


class Growth(Struct, frozen=True, gc=False):
    """The size of an expression's outputs for an input of any size.

    ``count`` is the largest number of outputs, or None if it depends on the input. ``size`` and ``work`` are factors of
    the size of the input. So is ``yields``, a bound of a number of outputs that depends on the input (0: the size). A
    ``cheap`` expression takes a constant time. The outputs of a ``small`` one have a constant size.
    """

    count: int | None = 1
    size: int = 1
    work: int = 1
    cheap: bool = False
    small: bool = False
    yields: int = 0

    @property
    def outputs(self) -> int:
        """A bound of the number of outputs, as a factor of the size of the input if the number depends on it."""
        return (self.yields or self.size) if self.count is None else self.count

    @property
    def is_light(self) -> bool:
        """Whether it can run again for each of many outputs."""
        return self.cheap and self.small


CONSTANT: Final = Growth(cheap=True, small=True)
INPUT: Final = Growth(cheap=True)
ELEMENTS: Final = Growth(count=None)
ANSWER: Final = Growth(small=True)
ENTRIES: Final = Growth(size=3)


def piped(left: Growth, right: Growth) -> Growth:
    """Return the growth of a pipe: every output of the left part is an input of the right one."""
    size = (left.outputs if right.small else left.size) * right.size
    return Growth(
        count=None if left.count is None or right.count is None else left.count * right.count,
        size=size,
        work=left.work + left.size * right.work,
        cheap=left.cheap and right.cheap,
        small=left.small or right.small,
        yields=left.size * right.outputs if right.count is None else left.outputs * right.count,
    )


def joined(growths: Sequence[Growth]) -> Growth:
    """Return the growth of one part followed by another, as in a comma."""
    counts = [growth.count for growth in growths]
    return Growth(
        count=None if None in counts else sum(growth.outputs for growth in growths),
        size=sum(growth.size for growth in growths),
        work=sum(growth.work for growth in growths),
        cheap=all(growth.cheap for growth in growths),
        small=all(growth.small for growth in growths),
    )


def chosen(growths: Sequence[Growth]) -> Growth:
    """Return the growth of one of several parts, as in the branches of ``if``."""
    growth = joined(growths)
    count = None if growth.count is None else max(branch.outputs for branch in growths)
    return replace(growth, count=count, size=max(branch.size for branch in growths))


def combined(operands: Sequence[Growth]) -> Growth:
    """Return the growth of all combinations of the outputs of several operands. Each holds all of its operands."""
    combinations = prod(operand.outputs for operand in operands)
    generates = any(operand.count is None for operand in operands)
    return Growth(
        count=None if generates else combinations,
        size=sum(operand.size * (combinations // operand.outputs) for operand in operands),
        work=sum(operand.work * (combinations // operand.outputs) for operand in operands) + combinations,
        cheap=all(operand.cheap for operand in operands) and not generates,
        small=all(operand.small for operand in operands),
        yields=combinations,
    )


def clash(operands: Sequence[Growth], *, paths_are_light: bool = False) -> str:
    """Return why operands may not be combined, or an empty text if they may."""
    generators = [operand for operand in operands if operand.count is None]
    if len(generators) > 1:
        return "combines every output of one operand with every output of another"
    counted = [operand for operand in operands if operand.count is not None]
    light = all(operand.cheap if paths_are_light else operand.is_light for operand in counted)
    return "" if light or not generators else "repeats an operand of any size for every output of another"


def conditional(conditions: Sequence[Growth], result: Growth) -> Growth:
    """Return the growth of a result that is returned once for every combination of the outputs of some conditions."""
    answers = combined(conditions)
    return piped(replace(answers, size=answers.outputs, small=False), result)


def collected(body: Growth) -> Growth:
    """Return the growth of an array of all outputs of its body."""
    fixed = body.count is not None
    return Growth(1, body.size + 1, body.work + 1, cheap=body.cheap and fixed, small=body.small and fixed)


def text(value: str) -> Growth:
    """Return the growth of a constant string."""
    return replace(CONSTANT, size=1 + len(value) // CHARACTERS)


def written(value: Growth) -> Growth:
    """Return the growth of values as JSON text. A control character takes six characters."""
    return replace(value, size=value.size * _AS_TEXT, cheap=value.is_light, yields=value.outputs)


def repeated(value: Growth) -> Growth:
    """Return the growth of a piece of a text that may be repeated in others. One that is not short is an error."""
    return replace(value, size=1 + MOST_REPEATED // CHARACTERS, small=True)


Cost: TypeAlias = Callable[[FunctionCall, list[Growth]], Growth | str]
"""How a call grows its input, from the growth of its arguments. A text is the reason why it cannot run in process."""

_NUMBER: Final = 3
_SEARCH: Final = 2  # a character takes up to some 15 ns for each instruction of a pattern
_SMALL: Final = 16  # the states of such a pattern are few, and RE2 remembers them
_REMEMBERED: Final = 4
_SEARCHES: Final = 256
_LARGE: Final = 700  # classes of Unicode are large, but few of their instructions run for a character
_COMPILING: Final = 512


def answered(body: Growth) -> Growth:
    """Return the growth of one small answer from all outputs."""
    return replace(ANSWER, work=body.work + body.size)


def per_element(body: Growth, size: int = 1) -> Growth:
    """Return the growth of the elements in another order, or in new values that are ``size`` times as large."""
    return Growth(size=size, work=body.work + 1)


def mapped(body: Growth) -> Growth:
    """Return the growth of one array of the outputs for each element."""
    return collected(piped(ELEMENTS, body))


def one_of(source: Growth) -> Growth:
    """Return the growth of one output of many."""
    return replace(source, count=1)


def selected(condition: Growth) -> Growth | str:
    """Return the growth of the input, as often as the condition is true."""
    return (condition.count is None and clash([condition, INPUT])) or conditional([condition], INPUT)


def summed(terms: Growth) -> Growth:
    """Return the growth of one sum of all outputs."""
    return Growth(size=terms.size, work=terms.work + terms.size)


def among(candidates: Growth) -> Growth | str:
    """Return the growth of one comparison with each output. There may be only few outputs."""
    if candidates.count is None:
        return "compares its input with a number of values that depends on the input"
    return replace(ANSWER, work=candidates.work + candidates.count)


def with_entries(body: Growth) -> Growth:
    """Return the growth of one object, as in ``to_entries | map(body) | from_entries``."""
    return piped(collected(piped(piped(ENTRIES, ELEMENTS), body)), Growth())


def with_separator(separator: Growth) -> Growth | str:
    """Return the growth of the input with a small text between its elements."""
    if not separator.small:
        return "copies a separator of any size"
    return with_argument(separator, _NUMBER + separator.size)


def with_argument(argument: Growth, size: int = 1, *, small: bool = False) -> Growth | str:
    """Return the growth of a function of the input and one value of an argument."""
    operands = [INPUT, argument]
    growth = combined(operands)
    return clash(operands) or replace(growth, size=size * growth.outputs, cheap=False, small=small)


answer_to: Final = partial(with_argument, small=True)
"""An answer for the input and one value of an argument."""


def key_test(key: Growth) -> Growth:
    """Return the growth of an answer for each key, in a constant time."""
    growth = combined([INPUT, key])
    return replace(growth, size=growth.outputs, small=True)


def decided(*arguments: Growth) -> Growth:
    """Return the growth of ``any`` or ``all`` of a condition for each element, or for each output of a source."""
    source, condition = (ELEMENTS, *arguments)[-2:]
    return answered(piped(source, condition))


# How a function grows one match with a number of captures, or all matches if the second argument is true.
_Found: TypeAlias = Callable[[int, bool, list[Growth]], Growth]


def regex(matches: _Found, *, all_groups: bool) -> Cost:
    """Return the cost of a regular expression. Each of its instructions may run for each character.

    Only captures with a name count if not ``all_groups``.
    """

    def cost(node: FunctionCall, arguments: list[Growth]) -> Growth | str:
        call = RegexCall.of(node)
        compiled, is_everywhere = call.compiled(), "g" in (call.flags or "")
        size, groups = COMPUTED_SIZE, COMPUTED_GROUPS
        if compiled is not None:
            size, groups = compiled.size, len([name for name in compiled.groups if name or all_groups])
        growth = matches(1 + groups, is_everywhere, arguments)
        work = _REMEMBERED if size <= _SMALL else min(_SEARCH * size, _LARGE)
        if is_everywhere and growth is not ANSWER:
            # There may be a match at each character, and some characters count as much as one value.
            work += _SEARCHES + growth.work * CHARACTERS
            growth = replace(growth, size=growth.size * CHARACTERS, work=work)
        else:
            growth = replace(growth, work=work + growth.work)
        if compiled is not None:
            return growth
        both = [growth, arguments[0]]  # the same for each pattern that is computed
        reason = clash(both) if arguments[0].count != 1 else ""
        return reason or replace(growth, work=combined(both).work + _COMPILING)

    return cost


def _matches(values: int) -> _Found:
    """Return the growth of so many values for each match, and for each of its captures."""
    return lambda captured, is_everywhere, _: Growth(None if is_everywhere else 1, captured * values)


TEST: Final = regex(lambda *_: ANSWER, all_groups=False)
MATCH: Final = regex(_matches(5), all_groups=True)
CAPTURE: Final = regex(_matches(2), all_groups=False)
SCAN: Final = regex(lambda captured, *_: Growth(count=None, size=2 * captured), all_groups=True)
SPLITS: Final = regex(lambda captured, *_: Growth(count=None, size=2 * captured), all_groups=False)
SPLIT: Final = regex(lambda *_: Growth(size=2), all_groups=False)
SUB: Final = regex(
    lambda captured, _, arguments: Growth(size=captured * arguments[1].size, work=captured * arguments[1].work),
    all_groups=False,
)
"""The cost of each function with a regular expression."""
