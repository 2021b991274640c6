"""Plain expressions, compiled to Python and run in this process.

An expression becomes a function of its input: paths become look-ups, `//`, `if`, `and` and `or` the same in Python,
and a generator becomes a loop around what is done with its outputs. What cannot be put in place, and what is rare, is
called: the functions of the modules beside this one, and generators for parts of the expression. `source` shows it.

The results are libjq's, with these differences. The first one is on purpose, some follow gojq, which definitions
are written for, and the others keep the work of an expression bounded by its input:

- ``.[]`` over null yields nothing instead of an error: a control plane holds objects without defaults.
- Objects are read and printed in the order of their keys (gojq).
- Computed numbers are normalised: 1.0 is 1, -0 is 0, integers beyond 2**53 are rounded to a double (gojq), and
  they are printed in gojq's format. A number that is only passed on stays as it is.
- A result beyond the range of a double is an error: JSON has no infinity. ``tonumber`` reads no ``nan``.
- ``*`` multiplies numbers only, without repeating strings and merging objects.
- ``.[array]`` does not search; ``flatten(depth)``, ``abs`` and ``reverse`` refuse inputs of a wrong type that
  libjq lets through by chance.
- Regular expressions are RE2's (gojq); see `karta_interpreter.jq.inprocess.regex`. ``sub`` takes null for an
  empty text.
- Arrays and objects of more than 10,000 elements are not iterated over, and ``contains`` makes at most 10,000
  comparisons.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from karta_interpreter.errors import QueryEvaluationError, QueryLimitError, QueryRaisedError, QueryReferenceError
from karta_interpreter.jq.bounded.child import MOST_RESULTS
from karta_interpreter.jq.inprocess import operators
from karta_interpreter.jq.inprocess.calls import called
from karta_interpreter.jq.inprocess.costs import MOST_REPEATED
from karta_interpreter.jq.inprocess.emitter import Emitter, Singles
from karta_interpreter.jq.inprocess.functions import FUNCTIONS
from karta_interpreter.jq.inprocess.operators import elements, present_elements
from karta_interpreter.jq.inprocess.regex import computed_pattern
from karta_interpreter.jq.inprocess.values import equal, less, to_text
from karta_interpreter.jq.inprocess.writer import Origin
from karta_interpreter.jq.syntax import Node
from karta_interpreter.k8s.values import JSON, type_name

One: TypeAlias = Callable[[JSON], JSON]
Many: TypeAlias = Callable[[JSON], Iterator[JSON]]
Outputs: TypeAlias = Callable[[JSON], list[JSON]]

A = TypeVar("A")
B = TypeVar("B")

_EXACT: Final = 2**53
_present: Final = ContextVar[Mapping[str, JSON]]("values of variables")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Stands for a value that is not known, with the reason."""

    reason: str


def with_values(values: Mapping[str, JSON], function: Callable[[A], B]) -> Callable[[A], B]:
    """The same function with values for the variables that are read while it runs."""

    def run(argument: A) -> B:
        token = _present.set(values)
        try:
            return function(argument)
        finally:
            _present.reset(token)

    return run


def value_of(name: str) -> JSON:
    """The value of a variable; raises QueryReferenceError when it has none, which is not the same as null."""
    value = _present.get().get(name, Unresolved(f"the reference ${name} has no value: it was not looked up"))
    if isinstance(value, Unresolved):
        raise QueryReferenceError(value.reason)
    return value


def refuse(message: str) -> NoReturn:
    """Fail with the error text of the definition's author."""
    raise QueryRaisedError(message)


def too_many() -> NoReturn:
    """Fail because of the number of outputs."""
    raise QueryLimitError(f"it gives more than {MOST_RESULTS} results")


def optional_elements(value: JSON) -> Sequence[JSON]:
    """``.[]?``: there is nothing in a value that has no elements."""
    return present_elements(value) if isinstance(value, list | dict) else ()


def key_of(key: JSON) -> str:
    """A value as the key of an object."""
    if isinstance(key, str):
        return key
    raise QueryEvaluationError(f"{type_name(key)} cannot be the key of an object")


def objects(entries: Sequence[tuple[Many, Many]], value: JSON) -> Iterator[dict[str, JSON]]:
    """``{key: value, ...}``, one object for every combination of keys and values; the last entry is the inner loop."""
    if not entries:
        yield {}
        return
    *others, (keys, items) = entries
    for fields in objects(others, value):
        for key in keys(value):
            for one in items(value):
                yield {**fields, key_of(key): one}


def texts(parts: Sequence[tuple[Many, Callable[[JSON], str]]], value: JSON) -> Iterator[str]:
    """A string with interpolations, for every combination of outputs; those of the first part are the inner loop."""
    if not parts:
        yield ""
        return
    *others, (last, written) = parts
    for piece in last(value):
        for before in texts(others, value):
            yield before + written(piece)


def short_text(value: JSON) -> str:
    """A piece of a text that is repeated for each element of a list: a text of some length, or another scalar."""
    if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > MOST_REPEATED):
        raise QueryLimitError(
            f"{type_name(value)} is repeated in several texts; a text of {MOST_REPEATED} characters can be"
        )
    return to_text(value)


def by_name(*functions: Callable[..., Any]) -> dict[str, Any]:
    """Functions and types by their own names."""
    return {function.__name__: function for function in functions}


RUNTIME: Final[dict[str, Any]] = {
    **{called(*key): function.implementation for key, function in FUNCTIONS.items() if function.implementation},
    **by_name(dict, float, int, len, list, str, type, QueryEvaluationError),
    **by_name(operators.add, operators.subtract, operators.multiply, operators.divide, operators.modulo),
    **by_name(operators.no_field, operators.item, operators.merge, operators.negate, operators.part),
    **by_name(elements, present_elements),
    **by_name(equal, less, to_text, computed_pattern),
    **by_name(key_of, objects, optional_elements, refuse, short_text, texts, too_many, value_of),
    "NOTHING": object(),
    "UNCAUGHT": (QueryLimitError, QueryReferenceError),
}
"""Functions of Python and of jq, by the names that they have in the Python of an expression."""


Write = Callable[[str], list[str]]
"""Returns the lines of a function with that name."""


class Module:
    """Functions that call each other, with the constants that they share."""

    def __init__(self) -> None:
        self.singles = Singles()
        self._constants: dict[str, Any] = {}
        self._count = 0
        self._unwritten: list[tuple[str, Write]] = []

    def function(self, write: Write) -> str:
        """The name of a new function, which is written when those before it are.

        So the depth of an expression is not the depth of what writes it.
        """
        self._count += 1
        name = f"f{self._count}"
        self._unwritten.append((name, write))
        return name

    def constant(self, value: object) -> str:
        r"""Python for a value that comes from an expression, and so may be any text.

        Texts and small numbers are spelled out, in ASCII, others get a name.

        >>> module = Module()
        >>> module.constant("it's"), module.constant("é"), module.constant(None), module.constant(0.5)
        ('"it\'s"', "'\\xe9'", 'None', 'c0')
        """
        if value is None or value is True or value is False:
            return str(value)
        if type(value) is str or (type(value) is int and -_EXACT < value < _EXACT):
            return ascii(value)
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def source(self) -> str:
        """The text of all functions."""
        lines: list[str] = []
        while self._unwritten:
            name, write = self._unwritten.pop()
            lines += write(name)
        return "\n".join(lines)

    def functions(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The functions by their names; ``known`` is what they may name beside each other."""
        code = compile(self.source(), "<expression>", "exec", dont_inherit=True)
        # No builtins: an expression has no use for any but those that its code names.
        names = {name: known[name] for name in _names(code) if name in known}
        space: dict[str, Any] = {"__builtins__": {}, **names, **self._constants}
        exec(code, space)  # noqa: S102 - the text is made here; of the expression there are only constants in it
        return space


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def compile_one(node: Node) -> One | None:
    """Compile a plain expression to a function that returns the only output; None if there may be more, or none.

    Raises ValueError for an expression that is not plain.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> compile_one(parse(".a[]")), (compile_one(parse(".a")) or print)({"a": 1})
    (None, 1)
    """
    return compiled(lambda writer: writer.give(node)) if node in Singles() else None


def compile_list(node: Node) -> Outputs:
    """Compile a plain expression to a function that returns a list of all outputs.

    That raises QueryLimitError for more than 999. Raises ValueError for an expression that is not plain.
    """
    outputs: Outputs = compiled(lambda writer: writer.return_list(node))
    return outputs


Body: TypeAlias = Callable[[Emitter], None]
"""Writes the body of a function."""


def compiled(write: Body, known: Mapping[str, Any] = RUNTIME, origin: Origin = None) -> Any:  # noqa: ANN401 - any function
    """The function with the body that ``write`` writes, for an input of that origin."""
    module = Module()
    name = Emitter(module).function(write, origin=origin)
    return module.functions(known)[name]


def source(node: Node, origin: Origin = None) -> str:
    """The Python that `compile_list` makes of an expression; in ``compile_trace`` the input has the origin ``()``.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> print(source(parse(".groups[] | select(.on) | .replicas // 1")))
    def f1(v):
        t1 = []
        t2 = v.get('groups') if type(v) is dict else None if v is None else no_field(v, 'groups')
        for t3 in t2 if type(t2) is list and len(t2) <= 10000 else present_elements(t2):
            t4 = t3.get('on') if type(t3) is dict else None if t3 is None else no_field(t3, 'on')
            if t4 is not None and t4 is not False:
                t5 = t3.get('replicas') if type(t3) is dict else None if t3 is None else no_field(t3, 'replicas')
                t6 = t5
                if t6 is None or t6 is False:
                    t6 = 1
                t1.append(t6)
                if len(t1) > 999: too_many()
        return t1
    """
    module = Module()
    Emitter(module).function(lambda writer: writer.return_list(node), origin=origin)
    return module.source()
