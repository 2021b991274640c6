"""How much an expression can make of its input, proved before it runs.

A plain expression cannot loop. But jq runs every combination of the outputs of its operands, and a value can be
copied many times: ``.[] + .[]`` has as many outputs as the square of the elements, and ``[., .] | [., .]`` doubles
with every pipe. An expression is plain only if neither can get out of hand:

1. *One generator.* Where jq combines operands (an operator, a key, the entries of an object, the pieces of a string,
   the input and the argument of a function, the condition and the branches of ``if``), the number of outputs of
   at most one of them may depend on the input. The others, which run again for each of its outputs, then have to
   be *light*: take a constant time and give values of constant size. Constants are light, and so are lengths,
   types, products of paths, and what is computed from those. A path is not, nor is ``.x // 1``: the value there may
   have any size; ``.x // 1 | numbers`` is. Next to ``*``, ``%``, ``and``, ``or`` and ``has``, and as a key, it is
   enough to take a constant time: there a path is allowed.
2. *Size.* All outputs together are at most 256 times as large as the input. Pipes multiply; commas, operators,
   arrays, objects and strings add.
3. *Work.* There are at most 1024 steps for every element of the input.

The size of a value is the number of values in it, with one more for every 16 characters of its texts.

Why this is a proof and not fuel at run time: the code of an expression is plain loops of Python without counters. A
counter in each loop alone made expressions of the catalogue 1.06 to 1.5 times as slow, and it does not bound sizes:
each new array, object and text would have to be measured as well. Fuel also fails when an object is large, in the
middle of an answer. The proof fails when a definition is loaded, names the construct, and leaves the expression to a
process with limits.
"""

from collections.abc import Sequence
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

SIZE_LIMIT: Final = 256
WORK_LIMIT: Final = 1024
CHARACTERS: Final = 16
"""How many characters count as much as a value."""
PIECES: Final = 1 + CHARACTERS
"""How many pieces a text falls into for each value that it counts as."""
_AS_TEXT: Final = 6


class Growth(Struct, frozen=True, gc=False):
    """The size of an expression's outputs for an input of any size.

    ``count`` is the largest number of outputs, None when it depends on the input. ``size`` and ``work`` are
    factors of the size of the input. A ``cheap`` expression takes a constant time; the outputs of a ``small`` one
    have a constant size.
    """

    count: int | None = 1
    size: int = 1
    work: int = 1
    cheap: bool = False
    small: bool = False

    @property
    def outputs(self) -> int:
        """A bound of the number of outputs, as a factor of the size of the input if it depends on that."""
        return self.size if self.count is None else self.count

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
    """The growth of a pipe: every output of the left part is an input of the right one."""
    size = (left.outputs if right.small else left.size) * right.size
    return Growth(
        count=None if left.count is None or right.count is None else left.count * right.count,
        size=size,
        work=left.work + left.size * right.work,
        cheap=left.cheap and right.cheap,
        small=left.small or right.small,
    )


def joined(parts: Sequence[Growth]) -> Growth:
    """The outputs of one part after those of another, as of a comma."""
    counts = [part.count for part in parts]
    return Growth(
        count=None if None in counts else sum(part.outputs for part in parts),
        size=sum(part.size for part in parts),
        work=sum(part.work for part in parts),
        cheap=all(part.cheap for part in parts),
        small=all(part.small for part in parts),
    )


def chosen(parts: Sequence[Growth]) -> Growth:
    """The outputs of one of several parts, as of the branches of ``if``."""
    together = joined(parts)
    count = None if together.count is None else max(part.outputs for part in parts)
    return replace(together, count=count, size=max(part.size for part in parts))


def combined(operands: Sequence[Growth]) -> Growth:
    """Every combination of the outputs of several operands, each with all that its operands hold."""
    combinations = prod(operand.outputs for operand in operands)
    others = [combinations // operand.outputs for operand in operands]
    generates = any(operand.count is None for operand in operands)
    return Growth(
        count=None if generates else combinations,
        size=sum(operand.size * times for operand, times in zip(operands, others, strict=True)),
        work=sum(operand.work * times for operand, times in zip(operands, others, strict=True)) + combinations,
        cheap=all(operand.cheap for operand in operands) and not generates,
        small=all(operand.small for operand in operands),
    )


def clash(operands: Sequence[Growth], *, paths_are_light: bool = False) -> str:
    """Why operands may not be combined; nothing if they may."""
    generators = [operand for operand in operands if operand.count is None]
    if len(generators) > 1:
        return "combines every output of one operand with every output of another"
    rest = [operand for operand in operands if operand.count is not None]
    light = all(operand.cheap if paths_are_light else operand.is_light for operand in rest)
    return "" if light or not generators else "repeats an operand of any size for every output of another"


def conditional(conditions: Sequence[Growth], result: Growth) -> Growth:
    """A result that is given once for every combination of the outputs of some conditions."""
    given = combined(conditions)
    return Growth(
        count=None if given.count is None or result.count is None else given.count * result.count,
        size=given.outputs * result.size,
        work=given.work + given.outputs * result.work,
        cheap=given.cheap and result.cheap,
        small=result.small,
    )


def collected(body: Growth) -> Growth:
    """The growth of an array of all outputs of its body."""
    fixed = body.count is not None
    return Growth(1, body.size + 1, body.work + 1, cheap=body.cheap and fixed, small=body.small and fixed)


def text(value: str) -> Growth:
    """A constant string."""
    return replace(CONSTANT, size=1 + len(value) // CHARACTERS)


def written(value: Growth) -> Growth:
    """Values as JSON text; a control character takes six."""
    return replace(value, size=value.size * _AS_TEXT, cheap=value.is_light)
