"""All functions of jq by name: a record of each that runs in this process, and tables of the others.

The work of a function here grows with the size of its input, apart from sorting. None of them loops by itself. To add
one, write its record: the compiler, the analyses, the check against a CRD, the export and the tests take it from
`FUNCTIONS`.
"""

import math
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s import JSON, type_name
from karta_interpreter.languages.jq.compiled import collection, costs, regex, values
from karta_interpreter.languages.jq.compiled.costs import ANSWER, CONSTANT, ENTRIES, INPUT, PIECES, Cost, Growth
from karta_interpreter.languages.jq.compiled.operators import Many, at_path, elements, item, split, total
from karta_interpreter.languages.jq.syntax import Array, FunctionCall, Identity, If, Node, Pipe


class Argument(Enum):
    """The kind of an argument, and how often it runs."""

    ONCE = auto()
    """Any expression. Runs once for the input of the call."""
    EACH = auto()
    """Any expression. Runs for each element, or for each output of another argument."""
    PATTERN = auto()
    """Any expression that returns regular expressions. Runs once."""
    SINGLE = auto()
    """An expression with exactly one output. Runs for each match."""
    FLAGS = auto()
    """A literal text with the flags of a regular expression, or null."""
    TEXT = auto()
    """A literal text."""


class OutputKind(Enum):
    """The kind of the outputs of a call, for every input that it does not fail for."""

    ANY = auto()
    NUMBER = auto()
    TEXT = auto()
    BOOLEAN = auto()
    TEXTS = auto()
    KEYS = auto()
    """A list of the keys or positions of the input."""
    ENTRIES = auto()
    """A list of an object for each key, with the key and the value."""
    INPUT = auto()
    """The input, or a list of elements of it."""
    ELEMENT = auto()
    """An element of the input, or null."""
    OUTPUT = auto()
    """An output of the argument."""
    OUTPUTS = auto()
    """A list of all outputs of the argument."""
    SUM = auto()
    """The sum of the elements of the input, or of the outputs of the argument."""
    NOTHING = auto()


class Code(Enum):
    """The Python of a call, which the compiler writes. How many outputs it has, and what it reads, follow from it."""

    INPUT = auto()
    """Calls the implementation with the input."""
    TYPE = auto()
    """Calls it with the input, of which it reads no more than the type."""
    VALUES = auto()
    """Calls it with the input and each output of the argument."""
    FILTER = auto()
    """Calls it with the input and the argument, as a generator function."""
    REGEX = auto()
    """Calls it with the input and a pattern. It has one output."""
    MATCHES = auto()
    """Calls it with the input and a pattern. It has an output for each match."""
    NOTHING = auto()
    NOT = auto()
    FIRST = auto()
    LAST = auto()
    IS_EMPTY = auto()
    ERROR = auto()
    IN = auto()
    ANY = auto()
    ALL = auto()
    MAP = auto()


class Function(Struct, frozen=True):
    """A function of jq."""

    name: str
    arguments: tuple[Argument, ...]
    result: OutputKind
    implementation: Callable[..., Any] | None
    """The Python function that the written code calls, or None if it calls none."""
    cost: Cost
    origin: str | None
    """Python for the origin of the output, with ``{origin}`` and ``{dot}`` of the input and ``{result}``.

    None if there is no such place, or if the code hands on values that have origins of their own.
    """
    code: Code | tuple[str, ...] | Callable[..., Node]
    """The writer of the call, or the types of the inputs that the call hands on, or a function of its arguments.

    Such a function returns the expression that the call stands for.
    """

    @property
    def key(self) -> tuple[str, int]:
        """Name and number of arguments."""
        return self.name, len(self.arguments)

    @property
    def callee(self) -> str:
        """The name of the implementation in the Python of an expression."""
        return f"jq_{self.name}_{len(self.arguments)}"


_SAME: Final = Growth()
# The white space of Unicode, as jq and gojq know it. Python's own also has the separators of ASCII.
_SPACE: Final = "".join(
    map(chr, (*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288))
)

# Changes only the letters A to Z.
_LOWER: Final = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {lower: upper for upper, lower in _LOWER.items()}

_ONCE, _EACH, _PATTERN, _FLAGS = Argument.ONCE, Argument.EACH, Argument.PATTERN, Argument.FLAGS
_REPLACED: Final = (_PATTERN, Argument.SINGLE)


# The cost of a call that depends on the cost of its one argument.
_CostOfOne: TypeAlias = Callable[[Growth], Growth | str]


def _cost(known: Growth | Callable[..., Growth | str]) -> Cost:
    """Return the cost of a call that is known, or depends only on the costs of its arguments."""
    return lambda _, arguments: known if isinstance(known, Growth) else known(*arguments)


def _of_input(
    name: str, implementation: Callable[[JSON], JSON], cost: Growth, result: OutputKind, origin: str | None
) -> Function:
    """Return a function that depends only on its input, with one output."""
    return Function(name, (), result, implementation, _cost(cost), origin, Code.INPUT)


def _of_values(
    name: str, implementation: Callable[[JSON, JSON], JSON], cost: _CostOfOne, result: OutputKind
) -> Function:
    """Return a function of the input and the value of one argument."""
    return Function(name, (_ONCE,), result, implementation, _cost(cost), None, Code.VALUES)


def _of_text(name: str, function: Callable[[str], str]) -> Function:
    """Return a function of one string that returns a string of the same size."""
    return _of_input(name, lambda value: function(values.text_of(name, value)), _SAME, OutputKind.TEXT, None)


def _of_texts(name: str, function: Callable[[str, str], JSON], cost: _CostOfOne, result: OutputKind) -> Function:
    """Return a function of a string and the string that is the value of one argument."""

    def implementation(text: JSON, other: JSON) -> JSON:
        return function(values.text_of(name, text), values.text_of(name, other))

    return _of_values(name, implementation, cost, result)


def _of_number(name: str, function: Callable[[values.Number], values.Number]) -> Function:
    def implementation(value: JSON) -> values.Number:
        if values.is_number(value):
            return values.normal(function(values.normal(value)))
        raise QueryEvaluationError(f"{name} needs a number, not {type_name(value)}")

    return _of_input(name, implementation, CONSTANT, OutputKind.NUMBER, None)


def _of_type(name: str, cost: Growth, *kinds: str) -> Function:
    return Function(name, (), OutputKind.INPUT, None, _cost(cost), None, kinds)


def _by_key(name: str, implementation: Callable[[JSON, Many], JSON], cost: _CostOfOne, result: OutputKind) -> Function:
    """Return a function that computes one value from the outputs of its argument for each element."""
    return Function(name, (_EACH,), result, implementation, _cost(cost), None, Code.FILTER)


def _written(
    name: str,
    arguments: tuple[Argument, ...],
    result: OutputKind,
    cost: Growth | Callable[..., Growth | str],
    code: Code | Callable[..., Node],
) -> Function:
    """Return a function with Python written in place. The outputs that it hands on keep their origins."""
    return Function(name, arguments, result, None, _cost(cost), None, code)


def _regex(
    name: str,
    arguments: tuple[Argument, ...],
    code: Code,
    result: OutputKind,
    implementation: Callable[..., Any],
    cost: Cost,
) -> list[Function]:
    """Return a function of a regular expression, without and with flags."""
    signatures = (arguments, (*arguments, _FLAGS))
    return [Function(name, parameters, result, implementation, cost, None, code) for parameters in signatures]


_ALL: Final = (
    # of the input
    _of_number("abs", abs),
    _of_input("add", lambda value: total(elements(value)), _SAME, OutputKind.SUM, None),
    _of_input("all", lambda value: all(map(values.truthy, elements(value))), ANSWER, OutputKind.BOOLEAN, None),
    _of_input("any", lambda value: any(map(values.truthy, elements(value))), ANSWER, OutputKind.BOOLEAN, None),
    _of_text("ascii_downcase", lambda text: text.translate(_LOWER)),
    _of_text("ascii_upcase", lambda text: text.translate(_UPPER)),
    _of_number("ceil", math.ceil),
    _of_input("first", lambda value: item(value, 0), INPUT, OutputKind.ELEMENT, "step({origin}, {dot}, 0, {result})"),
    _of_number("floor", math.floor),
    _of_input("from_entries", collection.from_entries, _SAME, OutputKind.ANY, None),
    _of_input("keys", collection.keys, _SAME, OutputKind.KEYS, None),
    _of_input("last", lambda value: item(value, -1), INPUT, OutputKind.ELEMENT, "step({origin}, {dot}, -1, {result})"),
    _of_input("length", collection.length, CONSTANT, OutputKind.NUMBER, None),
    _of_text("ltrim", lambda text: text.lstrip(_SPACE)),
    _of_input("max", collection.greatest, _SAME, OutputKind.ELEMENT, "raised(*leftmost({origin}, {dot}))"),
    _of_input("min", collection.least, _SAME, OutputKind.ELEMENT, "lowered(*leftmost({origin}, {dot}))"),
    _of_input("reverse", collection.reverse, _SAME, OutputKind.INPUT, None),
    _of_text("rtrim", lambda text: text.rstrip(_SPACE)),
    _of_input("sort", collection.sort, _SAME, OutputKind.INPUT, None),
    _of_input("to_entries", collection.to_entries, ENTRIES, OutputKind.ENTRIES, "entry_origins({origin}, {dot})"),
    _of_input("tojson", values.to_json, costs.written(INPUT), OutputKind.TEXT, None),
    _of_input("tonumber", values.to_number, ANSWER, OutputKind.NUMBER, "numeral({origin})"),
    _of_input("tostring", values.to_text, costs.written(INPUT), OutputKind.TEXT, None),
    _of_text("trim", lambda text: text.strip(_SPACE)),
    _of_input("unique", collection.unique, _SAME, OutputKind.INPUT, None),
    replace(_of_input("type", values.kind, CONSTANT, OutputKind.TEXT, None), code=Code.TYPE),
    # of the input and of values
    _of_values("contains", collection.contains, costs.answer_to, OutputKind.BOOLEAN),
    _of_texts("endswith", str.endswith, costs.answer_to, OutputKind.BOOLEAN),
    _of_values("getpath", at_path, costs.with_argument, OutputKind.ANY),
    _of_values("has", collection.has, costs.key_test, OutputKind.BOOLEAN),
    _of_values("join", collection.join, costs.with_separator, OutputKind.TEXT),
    _of_texts("ltrimstr", str.removeprefix, costs.with_argument, OutputKind.TEXT),
    _of_texts("rtrimstr", str.removesuffix, costs.with_argument, OutputKind.TEXT),
    _of_texts("split", split, lambda separator: costs.with_argument(separator, PIECES), OutputKind.TEXTS),
    _of_texts("startswith", str.startswith, costs.answer_to, OutputKind.BOOLEAN),
    # by type
    _of_type("arrays", INPUT, "array"),
    _of_type("booleans", CONSTANT, "boolean"),
    replace(_of_type("nulls", CONSTANT, "null"), result=OutputKind.ANY),
    _of_type("numbers", CONSTANT, "number"),
    _of_type("objects", INPUT, "object"),
    _of_type("strings", INPUT, "string"),
    _of_type("values", INPUT, "boolean", "number", "string", "array", "object"),
    # of each element
    _by_key("group_by", collection.group_by, lambda key: costs.per_element(key, 2), OutputKind.ANY),
    _by_key("map_values", collection.map_values, lambda body: costs.per_element(body, body.size), OutputKind.ANY),
    _by_key("sort_by", collection.sort_by, costs.per_element, OutputKind.INPUT),
    _by_key("unique_by", collection.unique_by, costs.per_element, OutputKind.INPUT),
    _written("map", (_EACH,), OutputKind.OUTPUTS, costs.mapped, Code.MAP),
    _written(
        "with_entries",
        (_EACH,),
        OutputKind.ANY,
        costs.with_entries,
        lambda body: Pipe(Pipe(FunctionCall("to_entries"), FunctionCall("map", (body,))), FunctionCall("from_entries")),
    ),
    # of outputs
    _written(
        "add",
        (_ONCE,),
        OutputKind.SUM,
        costs.summed,
        lambda terms: Pipe(Array(terms), FunctionCall("add")),
    ),
    _written("all", (_EACH,), OutputKind.BOOLEAN, costs.decided, Code.ALL),
    _written("all", (_ONCE, _EACH), OutputKind.BOOLEAN, costs.decided, Code.ALL),
    _written("any", (_EACH,), OutputKind.BOOLEAN, costs.decided, Code.ANY),
    _written("any", (_ONCE, _EACH), OutputKind.BOOLEAN, costs.decided, Code.ANY),
    _written("first", (_ONCE,), OutputKind.OUTPUT, costs.one_of, Code.FIRST),
    _written("last", (_ONCE,), OutputKind.OUTPUT, costs.one_of, Code.LAST),
    replace(
        _written("IN", (_ONCE,), OutputKind.BOOLEAN, costs.among, Code.IN),
        implementation=collection.among,
    ),
    _written("isempty", (_ONCE,), OutputKind.BOOLEAN, costs.answered, Code.IS_EMPTY),
    # choosing and failing
    _written("empty", (), OutputKind.NOTHING, CONSTANT, Code.NOTHING),
    _written("error", (Argument.TEXT,), OutputKind.NOTHING, CONSTANT, Code.ERROR),
    _written("not", (), OutputKind.BOOLEAN, CONSTANT, Code.NOT),
    _written(
        "select",
        (_ONCE,),
        OutputKind.INPUT,
        costs.selected,
        lambda condition: If(((condition, Identity()),), FunctionCall("empty")),
    ),
    # of regular expressions
    *_regex("test", (_PATTERN,), Code.REGEX, OutputKind.BOOLEAN, regex.test, costs.TEST),
    *_regex("match", (_PATTERN,), Code.MATCHES, OutputKind.ANY, regex.match, costs.MATCH),
    *_regex("capture", (_PATTERN,), Code.MATCHES, OutputKind.ANY, regex.capture, costs.CAPTURE),
    *_regex("scan", (_PATTERN,), Code.MATCHES, OutputKind.ANY, regex.scan, costs.SCAN),
    *_regex("splits", (_PATTERN,), Code.MATCHES, OutputKind.ANY, regex.splits, costs.SPLITS),
    _regex("split", (_PATTERN,), Code.REGEX, OutputKind.TEXTS, regex.split, costs.SPLIT)[1],
    *_regex("sub", _REPLACED, Code.REGEX, OutputKind.TEXT, regex.replace, costs.SUB),
    *_regex("gsub", _REPLACED, Code.REGEX, OutputKind.TEXT, regex.replace, costs.SUB),
)

Key: TypeAlias = tuple[str, int]
"""Name and number of arguments."""

FUNCTIONS: Final[Mapping[Key, Function]] = {function.key: function for function in _ALL}


def key_of(node: FunctionCall) -> Key:
    """Return the function that a call names."""
    return node.name, len(node.arguments)


def function_of(node: FunctionCall) -> Function | None:
    """Return the record of the function that a call names, or None if it does not run in this process."""
    return FUNCTIONS.get(key_of(node))


def result_of(node: FunctionCall) -> OutputKind:
    """Return the kind of the outputs of a call, as far as it is known."""
    function = function_of(node)
    return function.result if function else OutputKind.ANY


def _named(text: str) -> frozenset[Key]:
    return frozenset((name, int(arity)) for name, arity in (function.split("/") for function in text.split()))


_GENERATING: Final = _named("combinations/0 combinations/1 limit/2 skip/2 tostream/0 while/2")
_PICKING: Final = _named("limit/2 nth/2")

GENERATORS: Final = _GENERATING | {key for key, function in FUNCTIONS.items() if function.code is Code.MATCHES}
"""The functions with any number of outputs that an expression may call."""

BUILTINS: Final = (
    FUNCTIONS.keys()
    | _GENERATING
    | _PICKING
    | _named("""
    acos/0 acosh/0 asin/0 asinh/0 atan/0 atan2/2 atanh/0 bsearch/1 builtins/0 cbrt/0 copysign/2 cos/0
    cosh/0 delpaths/1 drem/2 erf/0 erfc/0 error/0 exp/0 exp10/0 exp2/0 explode/0 expm1/0 fabs/0 fdim/2 finites/0
    flatten/0 flatten/1 fma/3 fmax/2 fmin/2 fmod/2 format/1 frexp/0 fromdate/0 fromdateiso8601/0 fromjson/0
    fromstream/1 gamma/0 gmtime/0 hypot/2 implode/0 IN/2 in/1 INDEX/1 INDEX/2 index/1 indices/1 infinite/0
    inside/1 isfinite/0 isinfinite/0 isnan/0 isnormal/0 iterables/0 j0/0 j1/0 jn/2 JOIN/2 JOIN/3 JOIN/4 ldexp/2
    lgamma/0 localtime/0 log/0 log10/0 log1p/0 log2/0 logb/0 max_by/1 min_by/1 mktime/0 modf/0 nan/0 nearbyint/0
    nextafter/2 nexttoward/2 normals/0 now/0 nth/1 path/1 pick/1 pow/2 remainder/2 rindex/1 rint/0 round/0
    scalars/0 scalb/2 scalbln/2 setpath/2 significand/0 sin/0 sinh/0 sqrt/0 strflocaltime/1 strftime/1
    strptime/1 tan/0 tanh/0 tgamma/0 toboolean/0 todate/0 todateiso8601/0 transpose/0 trimstr/1 trunc/0
    truncate_stream/1 until/2 utf8bytelength/0 y0/0 y1/0 yn/2
    """)
)
"""The functions of both gojq 0.12.19 and jq 1.8, apart from forbidden ones.

Those that run in this process, and the rest. From jq's own ``builtins``, and from ``internalFuncs`` of func.go and
builtin.jq of gojq.
"""

ONLY_JQ: Final = _named("""
    ascii/0 date/0 dateadd/2 datesub/2 get_jq_origin/0 get_prog_origin/0 have_decnum/0
    have_literal_numbers/0 keys_unsorted/0 leaf_paths/0 lgamma_r/0 toarray/0
""")
"""Functions of one jq or another that gojq 0.12.19 does not have."""

_ENDLESS: Final = "its output may have no end or be very large; `path[]` is each entry of a list"
_INPUT: Final = "an expression has one input, the object, which is `.`"
_OUTPUT: Final = "an expression has no other output than its results"
_FILES: Final = "an expression has no files and no modules"

FORBIDDEN: Final = {
    "del": "an expression only reads",
    **dict.fromkeys(("range", "paths", "recurse", "walk", "repeat"), _ENDLESS),
    **dict.fromkeys(("input", "inputs", "input_filename", "input_line_number"), _INPUT),
    **dict.fromkeys(("debug", "stderr", "halt", "halt_error"), _OUTPUT),
    **dict.fromkeys(("get_search_list", "modulemeta"), _FILES),
    "env": "an expression has no environment",
}
"""Functions that may not be called, with any number of arguments, and why.

The first six are Karta's own. The others reach out of the expression, or would stop the process.
"""
