"""The size of the outputs of functions, computed from that of their arguments."""

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec.structs import replace

from karta_interpreter.jq.inprocess.growth import (
    ANSWER,
    CHARACTERS,
    ELEMENTS,
    ENTRIES,
    INPUT,
    Growth,
    clash,
    collected,
    combined,
    conditional,
    piped,
)
from karta_interpreter.jq.inprocess.regex import COMPUTED_GROUPS, COMPUTED_SIZE, Parse, RegexCall
from karta_interpreter.jq.syntax import Call

Cost: TypeAlias = Callable[[Call, list[Growth]], Growth | str]
"""What a call makes of its input, from what its arguments make of it; a text is why it cannot run in process."""

_NUMBER: Final = 3
_SEARCH: Final = 2  # a character takes up to some 15 ns for each instruction of a pattern
_SMALL: Final = 16  # the states of such a pattern are few, and RE2 remembers them
_REMEMBERED: Final = 4
_SEARCHES: Final = 256
_LARGE: Final = 700  # classes of Unicode are large, but few of their instructions run for a character
_COMPILING: Final = 512


def answered(body: Growth) -> Growth:
    """One small answer from all outputs."""
    return replace(ANSWER, work=body.work + body.size)


def per_element(key: Growth) -> Growth:
    """The input in another order."""
    return Growth(work=key.work + 1)


def grouped(key: Growth) -> Growth:
    """The elements of the input in new arrays."""
    return replace(per_element(key), size=2)


def mapped(body: Growth) -> Growth:
    """One array of the outputs for each element."""
    return collected(piped(ELEMENTS, body))


def each_replaced(body: Growth) -> Growth:
    """The input with other elements."""
    return Growth(size=body.size, work=body.work + 1)


def one_of(source: Growth) -> Growth:
    """One output of many."""
    return replace(source, count=1)


def selected(condition: Growth) -> Growth | str:
    """The input, as often as the condition is true."""
    reason = clash([condition, INPUT]) if condition.count is None else ""
    return reason or conditional([condition], INPUT)


def summed(terms: Growth) -> Growth:
    """One sum of all outputs."""
    return Growth(size=terms.size, work=terms.work + terms.size)


def among(candidates: Growth) -> Growth | str:
    """One comparison with each output, of which there may not be many."""
    if candidates.count is None:
        return "compares its input with a number of values that depends on the input"
    return replace(ANSWER, work=candidates.work + candidates.count)


def with_entries(body: Growth) -> Growth:
    """One object, as of ``to_entries | map(body) | from_entries``."""
    return piped(collected(piped(piped(ENTRIES, ELEMENTS), body)), Growth())


def with_separator(separator: Growth) -> Growth | str:
    """The input with a small text between its elements."""
    if not separator.small:
        return "copies a separator of any size"
    return with_argument(separator, _NUMBER + separator.size)


def with_argument(argument: Growth, size: int = 1, *, small: bool = False) -> Growth | str:
    """A function of the input and one value of an argument."""
    operands = [INPUT, argument]
    growth = combined(operands)
    return clash(operands) or replace(growth, size=size * growth.outputs, cheap=False, small=small)


def answer_to(argument: Growth) -> Growth | str:
    """An answer for the input and one value of an argument."""
    return with_argument(argument, small=True)


def key_test(key: Growth) -> Growth:
    """An answer for each key, in a constant time."""
    growth = combined([INPUT, key])
    return replace(growth, size=growth.outputs, small=True)


def decided(*arguments: Growth) -> Growth:
    """The answer of ``any`` or ``all`` to a condition for each element, or for each output of a source."""
    *source, condition = arguments
    return answered(piped(source[0] if source else ELEMENTS, condition))


def regex(found: Callable[[int, RegexCall, list[Growth]], Growth], *, all_groups: bool) -> Callable[[Parse], Cost]:
    """What a function makes of a regular expression, of which every instruction may run for each character.

    ``found`` is what it makes of one match with a number of captures, of which only those with a name count if not
    ``all_groups``.
    """
    return lambda parse: lambda node, arguments: _searched(parse(node), arguments, found, all_groups=all_groups)


def _searched(
    call: RegexCall,
    arguments: list[Growth],
    found: Callable[[int, RegexCall, list[Growth]], Growth],
    *,
    all_groups: bool,
) -> Growth | str:
    compiled = call.compiled()
    size, groups = COMPUTED_SIZE, COMPUTED_GROUPS
    if compiled is not None:
        size, groups = compiled.size, len([name for name in compiled.groups if name or all_groups])
    growth = found(1 + groups, call, arguments)
    work = _REMEMBERED if size <= _SMALL else min(_SEARCH * size, _LARGE)
    if "g" in (call.flags or "") and growth is not ANSWER:
        # There may be a match at each character, of which some count as much as one value.
        work += _SEARCHES + growth.work * CHARACTERS
        growth = replace(growth, size=growth.size * CHARACTERS, work=work)
    else:
        growth = replace(growth, work=work + growth.work)
    return growth if compiled is not None else _with_pattern(arguments[0], growth)


def _with_pattern(pattern: Growth, found: Growth) -> Growth | str:
    """The same for each pattern that is computed."""
    together = combined([found, pattern])
    reason = clash([found, pattern]) if pattern.count != 1 else ""
    return reason or replace(found, work=together.work + _COMPILING)


def _matches(values: int) -> Callable[[int, RegexCall, list[Growth]], Growth]:
    """So many values for each match, and for each of its captures."""
    return lambda captured, call, _: Growth(None if "g" in (call.flags or "") else 1, captured * values)


def _replaced(captured: int, _: RegexCall, arguments: list[Growth]) -> Growth:
    replacement = arguments[1]
    return Growth(size=captured * replacement.size, work=captured * replacement.work)


TEST: Final = regex(lambda *_: ANSWER, all_groups=False)
MATCH: Final = regex(_matches(5), all_groups=True)
CAPTURE: Final = regex(_matches(2), all_groups=False)
SCAN: Final = regex(lambda captured, *_: Growth(count=None, size=2 * captured), all_groups=True)
SPLITS: Final = regex(lambda captured, *_: Growth(count=None, size=2 * captured), all_groups=False)
SPLIT: Final = regex(lambda *_: Growth(size=2), all_groups=False)
SUB: Final = regex(_replaced, all_groups=False)
"""What each function of a regular expression makes of it."""
