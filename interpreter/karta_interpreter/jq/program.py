"""How an expression runs."""

from collections.abc import Callable
from typing import Any, Final, Self, TypeAlias
from weakref import WeakValueDictionary

from karta_interpreter.jq.assign.origins import ORIGINS, Origin, sources
from karta_interpreter.jq.assign.tracer import Tracer, place
from karta_interpreter.jq.inprocess.compiler import RUNTIME, One, Outputs, compile_list, compile_one
from karta_interpreter.jq.inprocess.emitter import Singles
from karta_interpreter.jq.inprocess.writer import Module
from karta_interpreter.jq.syntax import Binary, Call, Identity, Literal, Node
from karta_interpreter.k8s.values import JSON

Trace: TypeAlias = Callable[[JSON], list[tuple[JSON, Origin]]]

_KNOWN: Final[dict[str, Any]] = RUNTIME | ORIGINS


def compile_trace(node: Node) -> Trace:
    """Compile a plain expression to a function that gives all outputs for an object, each with its origin in that.

    Only constructs that hand a value on are followed; what every other one computes has no origin. It raises
    QueryLimitError for more than 999 outputs.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> compile_trace(parse(".a, 1"))({"a": 2})
    [(2, Location(path=('a',), default=None, factor=1, floor=None, cap=None, numeral=False)), (1, None)]
    """
    module = Module(_KNOWN, Singles())
    name = _written(node, module)
    trace: Trace = module.functions()[name]
    return trace


def source(node: Node) -> str:
    """The Python that `compile_trace` makes of an expression.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> print(source(parse(".n // 1")))
    def f1(v):
        t1 = v.get('n') if type(v) is dict else None if v is None else field(v, 'n')
        t2 = t1
        if t2 is None or t2 is False:
            t2 = 1
        return [(t2, (instead(Location(('n',)), None, t1, t2) if t1 is None or t1 is False else Location(('n',))))]
    """
    module = Module(_KNOWN, Singles())
    _written(node, module)
    return module.source()


def _written(node: Node, module: Module) -> str:
    return Tracer(module).traced(place(), lambda writer: writer.return_list(node))


class Program:
    """A plain expression, compiled when it first runs: of the expressions that a server knows, most never do.

    ``outputs`` gives a list of all outputs; ``trace`` each with its origin; None if the expression is not
    plain. ``is_complete`` is whether all values that the expression may be written over are there; None if that takes
    a trace.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> Program(parse(".a[]")).outputs({"a": [1, 2]})
    [1, 2]
    """

    __slots__ = ("__weakref__", "_node", "is_complete", "outputs", "trace")

    outputs: Outputs
    trace: Trace | None
    is_complete: One | None

    def __init__(self, node: Node) -> None:
        self._node = node

    @classmethod
    def plain(cls, text: str, node: Node) -> "Program":
        """The program of a plain expression, the same one for as long as another expression of this text has it."""
        return _PROGRAMS.setdefault(text, cls(node))

    @classmethod
    def of(cls, node: Node, outputs: Outputs, trace: Trace | None = None) -> Self:
        """A program with these functions in the place of compiled ones."""
        program = cls(node)
        program.outputs, program.trace, program.is_complete = outputs, trace, None
        return program

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - one of those above, asked for the first time
        if name == "trace":
            self.trace = compile_trace(self._node)
        elif name == "is_complete":
            node = sources(self._node)
            self.is_complete = compile_one(Call("all", (node, _IS_THERE))) if node else None
        elif name == "outputs":
            self.outputs = compile_list(self._node)
        else:
            raise AttributeError(name)
        return getattr(self, name)


_IS_THERE: Final = Binary("!=", Identity(), Literal(None))
_PROGRAMS: Final = WeakValueDictionary[str, Program]()
