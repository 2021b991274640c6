"""A jq expression, ready to read objects and to write them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self
from weakref import WeakValueDictionary

from karta_interpreter.errors import (
    InterpretationError,
    QueryEvaluationError,
    QueryLimitError,
    QueryRaisedError,
    QueryRefusedError,
    QueryWriteError,
)
from karta_interpreter.jq.analysis import Verdict, Vetting, examine
from karta_interpreter.jq.assign import Location
from karta_interpreter.jq.assign.origins import Origin, Trace, compile_trace, sources
from karta_interpreter.jq.bounded.evaluation import evaluate, seconds_left
from karta_interpreter.jq.inprocess.compiler import One, Outputs, compile_list, compile_one, given, giving
from karta_interpreter.jq.inprocess.values import to_json
from karta_interpreter.jq.syntax import Binary, Call, Identity, Literal, Node
from karta_interpreter.jq.syntax.printer import render
from karta_interpreter.jq.syntax.traversal import variables_in
from karta_interpreter.k8s.edit import set_value
from karta_interpreter.k8s.values import JSON, Path

_LONGEST_QUOTE: Final = 200


class Program:
    """How an expression runs: compiled when it first does, for of those that a server knows most never run.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> Program(parse(".a[]")).outputs({"a": [1, 2]})
    [1, 2]
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    @cached_property
    def outputs(self) -> Outputs:
        """Give a list of all outputs for an input."""
        return compile_list(self._node)

    @cached_property
    def trace(self) -> Trace | None:
        """Give each output with its origin; None if the expression is not plain."""
        return compile_trace(self._node)

    @cached_property
    def is_complete(self) -> One | None:
        """Whether all values that the expression may be written over are there; None if that takes a trace."""
        node = sources(self._node)
        return compile_one(Call("all", (node, _IS_THERE))) if node else None

    @classmethod
    def of(cls, node: Node, outputs: Outputs, trace: Trace | None = None) -> Self:
        """A program with these functions in the place of compiled ones."""
        program = cls(node)
        vars(program).update(outputs=outputs, trace=trace, is_complete=None)
        return program


_IS_THERE: Final = Binary("!=", Identity(), Literal(None))
_PLAIN: Final = WeakValueDictionary[str, Program]()
"""The programs of plain expressions by their texts, each for as long as some expression has it."""


@dataclass(frozen=True, slots=True)
class Query:
    """An expression that was parsed and vetted; equal to every other one of the same text and values.

    Plain expressions run in this process, all others in a process of their own under a time limit. An object that is
    given to a query is never changed. ``values`` are those of the ``variables`` that it reads, where they are known.
    """

    text: str
    node: Node = field(compare=False, repr=False)
    vetting: Vetting = field(compare=False, repr=False)
    _program: Program = field(compare=False, repr=False)
    variables: frozenset[str] = field(default=frozenset(), compare=False)
    values: Mapping[str, JSON] = field(default_factory=dict, hash=False)
    _unbound: Program | None = field(default=None, compare=False, repr=False)

    @classmethod
    def compile(cls, text: str, variables: frozenset[str] = frozenset(), owner: str = "") -> "Query":
        """The query of an expression that may read ``variables``, named without ``$``; `bound` gives them values.

        The bounded expressions of one ``owner`` leave a process to all others.
        Raises QuerySyntaxError for text that is not jq, QueryRefusedError for an expression that may not be used.

        >>> Query.compile(".spec.replicas // 1").evaluate({"spec": {}})
        [1]
        """
        node, vetting = examine(text, variables)
        if vetting.verdict is Verdict.REFUSED:
            reasons = "; ".join(refusal.message for refusal in vetting.refusals)
            raise QueryRefusedError(f"{_quote(text)}: {reasons}")
        read = variables_in(node) & variables
        if vetting.verdict is Verdict.BOUNDED:
            program = Program.of(node, _bounded(node, sorted(read), owner))
        else:
            program = _PLAIN.setdefault(text, Program(node))
        return cls(text, node, vetting, program, read).bound({})

    def bound(self, values: Mapping[str, JSON]) -> "Query":
        """The same with values for its variables; reading one that is not among them raises QueryReferenceError.

        >>> Query.compile(".n // $runtime.n", frozenset({"runtime"})).bound({"runtime": {"n": 2}}).evaluate({})
        [2]
        """
        if not self.variables:
            return self
        program = self._unbound or self._program

        def trace(value: JSON) -> list[tuple[JSON, Origin]]:
            return program.trace(value) if program.trace else []

        return replace(
            self,
            _program=Program.of(
                self.node,
                giving(values, lambda value: program.outputs(value)),  # noqa: PLW0108 - it is compiled when it runs
                giving(values, trace) if self.is_plain else None,
            ),
            values={name: values[name] for name in sorted(self.variables) if name in values},
            _unbound=program,
        )

    @property
    def is_plain(self) -> bool:
        """Whether the expression runs in this process."""
        return self.vetting.verdict is Verdict.PLAIN

    def evaluate(self, value: JSON) -> list[JSON]:
        """All outputs for an input.

        Raises QueryEvaluationError when any part of the expression fails, and QueryLimitError for more than 999
        outputs and for an evaluation that had to be stopped.
        """
        try:
            return self._program.outputs(value)
        except (QueryEvaluationError, RecursionError) as error:
            raise self._failure(error) from error

    def first(self, value: JSON) -> JSON | None:
        """The first output, None when there is none; fails where `evaluate` does."""
        outputs = self.evaluate(value)
        return outputs[0] if outputs else None

    def locate_each(self, value: JSON) -> list[Location | None]:
        """For each output of `evaluate` the location it can be written through, None where there is none."""
        trace = self._program.trace
        if trace is None:
            raise self._unwritable("it is too complex to be written through")
        try:
            return [origin if isinstance(origin, Location) else None for _, origin in trace(value)]
        except (QueryEvaluationError, RecursionError) as error:
            raise self._failure(error) from error

    def locate(self, value: JSON) -> list[Location]:
        """For each output of `evaluate` the location it can be written through.

        Raises QueryWriteError when an output is a literal or computed in a way that cannot be reversed.

        >>> Query.compile(".spec.replicas // 1").locate({"spec": {}})[0].path
        ('spec', 'replicas')
        """
        locations = self.locate_each(value)
        found = [location for location in locations if location is not None]
        if len(found) < len(locations):
            raise self._unwritable(f"output {locations.index(None) + 1} of {len(locations)} is not read from one place")
        return found

    def is_complete(self, value: JSON) -> bool:
        """Whether all places that `locate_each` can find have a value; False if a quick test cannot show it.

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
        """The places whose values are the outputs, as jq's ``path(...)``; they need not exist.

        Raises QueryWriteError when an output is not just the value at a place.
        """
        locations = self.locate(value)
        if not all(location.is_plain for location in locations):
            raise self._unwritable("an output is more than the value at one place")
        return [location.path for location in locations]

    def known_paths(self, value: JSON) -> list[Path | None]:
        """For each output of `evaluate` the place whose value it just is, None where it is computed."""
        locations = self.locate_each(value)
        return [location.path if location and location.is_plain else None for location in locations]

    def assign(self, value: JSON, new: JSON) -> JSON:
        """A new object with ``new`` at all places of the expression, as jq's ``(...) = new``.

        Missing parents are created; without places the object stays as it is. Raises QueryWriteError.

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
        """The error with the expression in front, unless the expression speaks for itself."""
        if isinstance(error, RecursionError):
            return QueryLimitError(f"{_quote(self.text)}: the object is nested too deep")
        if isinstance(error, QueryRaisedError):
            return QueryRaisedError(str(error))
        return type(error)(f"{_quote(self.text)}: {error}")

    def _unwritable(self, reason: str) -> QueryWriteError:
        return QueryWriteError(f"{_quote(self.text)}: {reason}")


def _bounded(node: Node, variables: Sequence[str], owner: str) -> Outputs:
    """An expression that runs in a process of its own, with the same reading of null as plain ones."""
    program = render(node, lenient=True)
    if variables:
        bindings = "".join(f".[{index}] as ${name} | " for index, name in enumerate(variables, start=1))
        program = f"{bindings}.[0] | {program}"

    def outputs(value: JSON) -> list[JSON]:
        seconds = seconds_left()
        document = [value, *map(given, variables)] if variables else value
        try:
            return evaluate(program, to_json(document), seconds, owner)
        except UnicodeEncodeError as error:
            raise QueryEvaluationError("a string of the object is not Unicode text") from error

    return outputs


def _quote(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."
