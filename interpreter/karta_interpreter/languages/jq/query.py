"""A jq expression, ready to read objects and to write them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Final, Self, TypeVar
from weakref import WeakValueDictionary

from msgspec import Struct

from karta_interpreter.base.errors import (
    InterpretationError,
    QueryEvaluationError,
    QueryLimitError,
    QueryRaisedError,
    QueryRefusedError,
    QueryWriteError,
)
from karta_interpreter.base.k8s import JSON, Path, Projection, set_value
from karta_interpreter.languages.jq.analysis import Execution, Vetting, examine
from karta_interpreter.languages.jq.assign import Location, Trace, compile_trace
from karta_interpreter.languages.jq.bounded.libjq import MOST_RESULTS
from karta_interpreter.languages.jq.compiled.compiler import One, Outputs, compile_list, compile_one
from karta_interpreter.languages.jq.compiled.reads import mark_all, project, sources
from karta_interpreter.languages.jq.compiled.values import to_json, truthy
from karta_interpreter.languages.jq.compiled.variables import value_of, with_values
from karta_interpreter.languages.jq.syntax import Binary, FunctionCall, Identity, Iterate, Literal, Node
from karta_interpreter.languages.jq.syntax.printer import render
from karta_interpreter.languages.jq.syntax.traversal import fixed_paths, parts_of, variables_in

_LONGEST_QUOTE: Final = 80
_SEQUENCES: Final = (tuple, list)  # a union of types takes as long to make as an item takes to visit
_Error = TypeVar("_Error", QueryEvaluationError, QueryWriteError, QueryLimitError)


class ExpressionProgram:
    """How an expression runs: compiled on first use, because most expressions that a server loads never run.

    A ``bounded`` expression has a function already, and only its trace is compiled.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> ExpressionProgram(parse(".a[]")).outputs({"a": [1, 2]})
    [1, 2]
    """

    def __init__(self, node: Node, bounded: Outputs | None = None, most: int = MOST_RESULTS, text: str = "") -> None:
        self._text = text
        self._node = node
        self._most = most
        self._bounded = bounded

    def __reduce__(self) -> tuple[object, ...]:
        """Copy a plain expression, to be compiled where the copy runs."""
        return _plain, (self._text, self._node, self._most)

    @cached_property
    def outputs(self) -> Outputs:
        """Return a list of all outputs for an input."""
        return self._bounded or compile_list(self._node, self._most)

    @cached_property
    def output(self) -> One | None:
        """Return the only output for an input, or None if there may be several or none, or if that takes a process."""
        return None if self._bounded else compile_one(self._node)

    @cached_property
    def fixed_paths(self) -> Sequence[Path] | None:
        """Return the place of each output if it is the same for all inputs, else None."""
        return fixed_paths(self._node)

    @cached_property
    def trace(self) -> Trace | None:
        """Return each output with its origin, or None if a construct of the expression cannot be traced."""
        try:
            return compile_trace(self._node, self._most)
        except ValueError:
            return None

    @cached_property
    def is_complete(self) -> One | None:
        """Return whether all values that the expression may be written over exist, or None if that takes a trace."""
        node = None if self._bounded else sources(self._node)
        return compile_one(FunctionCall("all", (node, _IS_THERE))) if node else None

    @cached_property
    def is_true_for_any(self) -> One | None:
        """Return whether an output for an element of a list is true, or None if that takes a process."""
        return None if self._bounded else compile_one(FunctionCall("any", (Iterate(Identity()), self._node)))


_IS_THERE: Final = Binary("!=", Identity(), Literal(None))
# The programs of plain expressions by their texts and limits, each for as long as some expression has it.
_PLAIN: Final = WeakValueDictionary[tuple[str, int], ExpressionProgram]()


def _plain(text: str, node: Node, most: int) -> ExpressionProgram:
    # The values of variables are no part of the key: they are looked up when the program runs.
    return _PLAIN.setdefault((text, most), ExpressionProgram(node, most=most, text=text))


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed and vetted expression. Queries with the same text and values are equal.

    Plain expressions run in this process, all others in a process of their own under a time limit. A query never
    changes an object that it is given. ``values`` are the known values of the ``variables`` that it reads. ``place``
    names the field that has the expression, and errors have it.
    """

    text: str
    node: Node = field(compare=False, repr=False)
    vetting: Vetting = field(compare=False, repr=False)
    _program: ExpressionProgram = field(compare=False, repr=False)
    variables: frozenset[str] = field(default=frozenset(), compare=False)
    values: Mapping[str, JSON] = field(default_factory=dict, hash=False)
    place: object = field(default="", compare=False)

    @classmethod
    def compile(
        cls,
        text: str,
        variables: frozenset[str] = frozenset(),
        owner: str = "",
        place: object = "",
        most: int = MOST_RESULTS,
    ) -> Self:
        """Return the query of an expression in a ``place`` that may read ``variables``, named without ``$``.

        It has at most ``most`` outputs.

        `bound` gives them values.

        The bounded expressions of one ``owner`` leave a process to all others. Raises QuerySyntaxError for text that is
        not jq, QueryRefusedError for an expression that may not be used.

        >>> Query.compile(".spec.replicas // 1").evaluate({"spec": {}})
        [1]
        """
        node, vetting = examine(text, variables)
        if vetting.verdict is Execution.REFUSED:
            raise QueryRefusedError(f"{quoted(text)}: {'; '.join(refusal.message for refusal in vetting.refusals)}")
        used_variables = variables_in(node) & variables if variables else variables
        if vetting.verdict is Execution.BOUNDED:
            program = ExpressionProgram(node, _bounded(node, sorted(used_variables), owner, most))
        else:
            program = _plain(text, node, most)
        return cls(text, node, vetting, program, used_variables, place=place)

    def bound(self, values: Mapping[str, JSON]) -> Self:
        """Return the same query with values for its variables. Reading any other variable raises QueryReferenceError.

        >>> Query.compile(".n // $runtime.n", frozenset({"runtime"})).bound({"runtime": {"n": 2}}).evaluate({})
        [2]
        """
        bindings = {name: values[name] for name in sorted(self.variables) if name in values}
        return replace(self, values=bindings) if self.variables else self

    def prepare_like(self, other: "Query") -> None:
        """Compile what is compiled of another expression."""
        for name in ("outputs", "trace", "is_complete"):
            if name in vars(other._program):  # noqa: SLF001 - of the same class
                getattr(self._program, name)

    @property
    def is_plain(self) -> bool:
        """Whether the expression runs in this process."""
        return self.vetting.verdict is Execution.PLAIN

    def evaluate(self, value: JSON) -> list[JSON]:
        """Return all outputs for an input.

        Raises QueryEvaluationError when any part of the expression fails, and QueryLimitError for too many
        outputs and for an evaluation that had to be stopped.
        """
        outputs = self._program.outputs
        try:
            return with_values(self.values, outputs, value) if self.variables else outputs(value)
        except (QueryEvaluationError, RecursionError) as error:
            raise self._failure(error) from error

    def first(self, value: JSON) -> JSON | None:
        """Return the first output, or None if there is none. Fails if `evaluate` does."""
        outputs = self.evaluate(value)
        return outputs[0] if outputs else None

    def holds(self, value: JSON) -> bool:
        """Return whether the first output is true, which null and false are not. Fails if `evaluate` does."""
        output = None if self.variables else self._program.output
        if output is None:
            return truthy(self.first(value))
        try:
            return truthy(output(value))
        except (QueryEvaluationError, RecursionError) as error:
            raise self._failure(error) from error

    def is_false_for_all(self, elements: JSON) -> bool:
        """Return whether all outputs for the elements of a list are false or null.

        It is False if a quick test cannot show it.

        >>> query = Query.compile('.name | startswith("A")')
        >>> query.is_false_for_all([{"name": "B"}, {"name": "C"}]), query.is_false_for_all([{"name": "B"}, {}])
        (True, False)
        """
        is_true_for_any = None if self.variables else self._program.is_true_for_any
        try:
            return is_true_for_any is not None and not is_true_for_any(elements)
        except (QueryEvaluationError, RecursionError):
            return False

    def locate_each(self, value: JSON) -> list[Location | None]:
        """Return the location that each output of `evaluate` can be written through, or None if there is none.

        >>> [location and location.path for location in Query.compile("(.spec.replicas // 1), 2").locate_each({})]
        [('spec', 'replicas'), None]
        """
        trace = self._program.trace
        if trace is None:
            raise self._unwritable("it is too complex to be written through")
        # Only libjq has limits for an expression that is not plain, so it has to come to an end there before.
        known = None if self.is_plain else self.evaluate(value)
        try:
            outputs = with_values(self.values, trace, value) if self.variables else trace(value)
        except (QueryEvaluationError, RecursionError) as error:
            raise self._failure(error) from error
        if known is not None and known != [output for output, _ in outputs]:
            raise self._unwritable("its outputs are not read alike in this process")
        return [origin if isinstance(origin, Location) else None for _, origin in outputs]

    def is_complete(self, value: JSON) -> bool:
        """Return whether all places that `locate_each` can find have a value. False if a quick test cannot show it.

        >>> query = Query.compile("(.replicas // 1) * (.hosts // 1)")
        >>> query.is_complete({"replicas": 2, "hosts": 4}), query.is_complete({"hosts": 4})
        (True, False)
        """
        is_complete = self._program.is_complete
        try:
            return is_complete is not None and bool(is_complete(value))
        except (QueryEvaluationError, RecursionError):
            return False

    def paths(self, value: JSON) -> list[Path]:
        """Return the places of the outputs, as jq's ``path(...)``. They need not exist.

        Raises QueryWriteError if an output is not just the value at a place.
        """
        locations, paths = self.locate_each(value), list[Path]()
        for number, location in enumerate(locations, start=1):
            if location is None:
                raise self._unwritable(f"output {number} of {len(locations)} is not read from one place")
            if not location.is_plain:
                raise self._unwritable("an output is more than the value at one place")
            paths.append(location.path)
        return paths

    @property
    def fixed_paths(self) -> Sequence[Path] | None:
        """The places that `paths` returns for each input, or None if they depend on it."""
        return self._program.fixed_paths

    def known_paths(self, value: JSON) -> list[Path | None]:
        """Return the place of each output of `evaluate` that just is the value there, or None if it is computed."""
        return [location.path if location and location.is_plain else None for location in self.locate_each(value)]

    def assign(self, value: JSON, new: JSON) -> JSON:
        """Return a new object with ``new`` at all places of the expression, as jq's ``(...) = new``.

        Missing parents are created. Without places the object stays as it is. Raises QueryWriteError.

        >>> Query.compile(".spec.suspend").assign({"kind": "Job"}, True)
        {'kind': 'Job', 'spec': {'suspend': True}}
        """
        for path in self.paths(value):
            try:
                value = set_value(value, path, new)
            except InterpretationError as error:
                raise self._unwritable(str(error)) from error
        return value

    def _failure(self, error: QueryEvaluationError | RecursionError) -> QueryEvaluationError:
        """Return the error with the expression in front, unless the expression speaks for itself."""
        if isinstance(error, RecursionError):
            return self._error(QueryLimitError, "the object is nested too deep")
        if isinstance(error, QueryRaisedError):
            message = f"{self.place}: {error}" if self.place else str(error)
            return QueryRaisedError(message, place=self.place, reason=str(error))
        return self._error(type(error), str(error))

    def unusable(self, reason: str) -> QueryEvaluationError:
        """Return the error of an expression without a usable answer."""
        return self._error(QueryEvaluationError, reason)

    def _unwritable(self, reason: str) -> QueryWriteError:
        return self._error(QueryWriteError, reason)

    def _error(self, kind: type[_Error], reason: str) -> _Error:
        return kind(self.message(reason), place=self.place, reason=reason)

    def message(self, reason: str) -> str:
        """Return the message of an error about the expression: its place, its text and the reason."""
        text = quoted(self.text)
        return f"{self.place} `{text}`: {reason}" if self.place else f"{text}: {reason}"


def take_outputs(projection: Projection, *queries: Query | None) -> None:
    """Mark the parts of a value that queries read, including all of their outputs."""
    for query in queries:
        if query is not None:
            mark_all(project(query.node, (projection,)))


def queries_in(part: object) -> Iterator[Query]:
    """Yield the queries in a value made of tuples, structs and dataclasses."""
    return (record for record in records_in(part) if isinstance(record, Query))


def records_in(part: object) -> Iterator[object]:
    """Yield the records in a value made of tuples, lists, structs and dataclasses, each before its own parts."""
    if isinstance(part, _SEQUENCES):
        for item in part:
            yield from records_in(item)
    elif type(part) is not str and (names := field_names(part)):  # most are texts
        yield part
        for name in names:
            yield from records_in(getattr(part, name))


def field_names(value: object) -> Sequence[str]:
    """Return the names of the fields of a struct or a dataclass, none for another value or a node of an expression."""
    if isinstance(value, Struct) and not isinstance(value, Node):
        names: Sequence[str] = value.__struct_fields__
        return names
    if is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in fields(value)]
    return ()


def _bounded(node: Node, variables: Sequence[str], owner: str, most: int) -> Outputs:
    """Return an expression that runs in a process of its own, with the same reading of null as plain ones."""
    program = render(node, lenient=True)
    texts = {part.value for part in parts_of(node) if isinstance(part, Literal)}
    if variables:
        bindings = "".join(f".[{index}] as ${name} | " for index, name in enumerate(variables, start=1))
        program = f"{bindings}.[0] | {program}"

    def outputs(value: JSON) -> list[JSON]:
        # Few programs need a process, and it takes a sixth of the library's imports.
        from karta_interpreter.languages.jq.bounded.evaluation import evaluate, seconds_left  # noqa: PLC0415

        seconds = seconds_left()
        # Variables are part of the input, so that one compiled program serves all their values.
        document = [value, *map(value_of, variables)] if variables else value
        try:
            # Not orjson's text: libjq gets keys in order and numbers as gojq has them.
            return evaluate(program, to_json(document), seconds, owner, most=most, texts=texts)
        except UnicodeEncodeError as error:
            raise QueryEvaluationError("a string of the object is not Unicode text") from error

    return outputs


def quoted(text: str) -> str:
    """Return the text of an expression for messages, in one line, cut off if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."
