"""What the functions of a plain expression make of their input and their arguments."""

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec.structs import replace

from karta_interpreter.jq.analysis.builtins import Function
from karta_interpreter.jq.inprocess.arity import Singles
from karta_interpreter.jq.inprocess.functions import PLAIN_FUNCTIONS
from karta_interpreter.jq.inprocess.growth import (
    CHARACTERS,
    CONSTANT,
    ELEMENTS,
    INPUT,
    PIECES,
    Growth,
    clash,
    collected,
    combined,
    conditional,
    piped,
    written,
)
from karta_interpreter.jq.inprocess.regex import COMPUTED_GROUPS, COMPUTED_SIZE, RegexCall
from karta_interpreter.jq.syntax import Call, Literal

NOT_HERE: Final = "does not run in this process"

_Measure: TypeAlias = Callable[..., Growth | str]

_ENTRIES: Final = Growth(size=3)
_NUMBER: Final = 3
_ANSWER: Final = Growth(small=True)
_SEARCH: Final = 2  # a character takes up to some 15 ns for each instruction of a pattern
_SMALL: Final = 16  # the states of such a pattern are few, and RE2 remembers them
_REMEMBERED: Final = 4
_SEARCHES: Final = 256
_LARGE: Final = 700  # classes of Unicode are large, but few of their instructions run for a character
_COMPILING: Final = 512
_MATCH: Final = 5  # values in a match, and in each of its captures


def measure_call(node: Call, arguments: list[Growth]) -> Growth | str:
    """What a call makes of its input, or why it is not plain."""
    function = node.name, len(arguments)
    if function not in PLAIN_FUNCTIONS:
        return NOT_HERE
    if call := RegexCall.of(node):
        return _measure_regex(call, arguments)
    if node.name == "error":
        return CONSTANT if _has_literal(node) else "has a message that is not a literal text"
    return MEASURES[function](*arguments) if function in MEASURES else NOT_HERE


def _measure_regex(call: RegexCall, arguments: list[Growth]) -> Growth | str:
    """What a function makes of a regular expression, of which every instruction may be run for each character."""
    if call.flags is None:
        return "has flags that are not a literal text"
    if call.replacement is not None and call.replacement not in Singles():
        return "has a replacement that may not have exactly one output"
    compiled = call.compiled()
    size, groups = COMPUTED_SIZE, COMPUTED_GROUPS
    if compiled is not None:
        named = [name for name in compiled.groups if name]
        size, groups = compiled.size, len(compiled.groups if call.name in ("match", "scan") else named)
    work = _REMEMBERED if size <= _SMALL else min(_SEARCH * size, _LARGE)
    found = _found(call, groups, arguments)
    growth = replace(found, work=work + found.work)
    if "g" in call.flags and call.name != "test":
        # There may be a match at each character, of which some count as much as one value.
        growth = replace(found, size=found.size * CHARACTERS, work=work + _SEARCHES + found.work * CHARACTERS)
    return growth if compiled is not None else _computed(arguments[0], growth)


def _found(call: RegexCall, groups: int, arguments: list[Growth]) -> Growth:
    """What a function makes of one match."""
    captured = 1 + groups
    match call.name:
        case "test":
            return _ANSWER
        case "split":
            return Growth(size=2)
        case "sub" | "gsub":
            replacement = arguments[1]
            return Growth(size=captured * replacement.size, work=captured * replacement.work)
        case "splits" | "scan":
            return Growth(count=None, size=2 * captured)
        case name:
            return Growth(None if "g" in (call.flags or "") else 1, captured * (_MATCH if name == "match" else 2))


def _computed(pattern: Growth, found: Growth) -> Growth | str:
    """The same for each pattern that is computed."""
    together = combined([found, pattern])
    reason = clash([found, pattern]) if pattern.count != 1 else ""
    return reason or replace(found, work=together.work + _COMPILING)


def _has_literal(node: Call) -> bool:
    return all(isinstance(argument, Literal) and isinstance(argument.value, str) for argument in node.arguments)


def _answered(body: Growth) -> Growth:
    """One small answer from all outputs."""
    return replace(_ANSWER, work=body.work + body.size)


def _per_element(key: Growth) -> Growth:
    """The input in another order."""
    return Growth(work=key.work + 1)


def _selected(condition: Growth) -> Growth | str:
    reason = clash([condition, INPUT]) if condition.count is None else ""
    return reason or conditional([condition], INPUT)


def _added(terms: Growth) -> Growth:
    return Growth(size=terms.size, work=terms.work + terms.size)


def _among(candidates: Growth) -> Growth | str:
    if candidates.count is None:
        return "compares its input with a number of values that depends on the input"
    return replace(_ANSWER, work=candidates.work + candidates.count)


def _with_entries(body: Growth) -> Growth:
    """One object, as of ``to_entries | map(body) | from_entries``."""
    return piped(collected(piped(piped(_ENTRIES, ELEMENTS), body)), Growth())


def _joined(separator: Growth) -> Growth | str:
    if not separator.small:
        return "copies a separator of any size"
    return _with_argument(separator, _NUMBER + separator.size)


def _with_argument(argument: Growth, size: int = 1, *, small: bool = False) -> Growth | str:
    """A function of the input and one value of an argument."""
    operands = [INPUT, argument]
    growth = combined(operands)
    return clash(operands) or replace(growth, size=size * growth.outputs, cheap=False, small=small)


def _asked(argument: Growth) -> Growth | str:
    return _with_argument(argument, small=True)


def _has(key: Growth) -> Growth:
    growth = combined([INPUT, key])
    return replace(growth, size=growth.outputs, small=True)


MEASURES: Final[dict[Function, _Measure]] = {
    **{(name, 0): lambda: CONSTANT for name in ("length", "not", "type")},
    **{(name, 0): lambda: CONSTANT for name in ("abs", "ceil", "empty", "fabs", "floor", "round")},
    **{(name, 0): lambda: CONSTANT for name in ("booleans", "nulls", "numbers")},
    **{(name, 0): lambda: INPUT for name in ("arrays", "iterables", "objects", "scalars", "strings", "values")},
    **{(name, 0): lambda: INPUT for name in ("first", "last")},
    **{(name, 0): lambda: _ANSWER for name in ("all", "any", "tonumber")},
    **{(name, 0): Growth for name in ("add", "ascii_downcase", "ascii_upcase", "flatten", "from_entries")},
    **{(name, 0): Growth for name in ("ltrim", "rtrim", "trim")},
    **{(name, 0): Growth for name in ("keys", "max", "min", "reverse", "sort", "unique")},
    **{(name, 0): lambda: written(INPUT) for name in ("tojson", "tostring")},
    ("to_entries", 0): lambda: _ENTRIES,
    **{(name, 1): _asked for name in ("contains", "endswith", "startswith")},
    **{(name, 1): _with_argument for name in ("flatten", "getpath", "ltrimstr", "rtrimstr")},
    **{(name, 1): _per_element for name in ("max_by", "min_by", "sort_by", "unique_by")},
    **{(name, 1): lambda test: _answered(piped(ELEMENTS, test)) for name in ("all", "any")},
    **{(name, 2): lambda source, test: _answered(piped(source, test)) for name in ("all", "any")},
    **{(name, 1): lambda source: replace(source, count=1) for name in ("first", "last")},
    ("IN", 1): _among,
    ("add", 1): _added,
    ("group_by", 1): lambda key: replace(_per_element(key), size=2),
    ("has", 1): _has,
    ("isempty", 1): _answered,
    ("join", 1): _joined,
    ("map", 1): lambda body: collected(piped(ELEMENTS, body)),
    ("map_values", 1): lambda body: Growth(size=body.size, work=body.work + 1),
    ("select", 1): _selected,
    ("split", 1): lambda separator: _with_argument(separator, PIECES),
    ("with_entries", 1): _with_entries,
}
"""What each function in process makes of the growth of its arguments."""
