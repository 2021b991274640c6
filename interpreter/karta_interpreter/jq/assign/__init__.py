"""Running a plain expression while keeping track of where each output comes from."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from karta_interpreter.jq.assign.origins import ORIGINS, Origin
from karta_interpreter.jq.assign.tracer import Tracer, place
from karta_interpreter.jq.inprocess.arity import Singles
from karta_interpreter.jq.inprocess.compiler import RUNTIME
from karta_interpreter.jq.inprocess.writer import Module
from karta_interpreter.jq.syntax import Node
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
