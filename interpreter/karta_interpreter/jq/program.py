"""How an expression runs."""

from typing import Any, Final, Self
from weakref import WeakValueDictionary

from karta_interpreter.jq.assign import Trace, compile_trace
from karta_interpreter.jq.assign.origins import sources
from karta_interpreter.jq.inprocess.compiler import One, Outputs, compile_list, compile_one
from karta_interpreter.jq.syntax import Binary, Call, Identity, Literal, Node


class Program:
    """A plain expression, compiled when it first runs: of the expressions that a server knows, most never do.

    ``outputs`` gives a list of all outputs; ``trace`` each with its origin, where those can be told. ``is_said``
    tells whether all values that the expression may be written over are there, where that can be told.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> Program(parse(".a[]")).outputs({"a": [1, 2]})
    [1, 2]
    """

    __slots__ = ("__weakref__", "_node", "is_said", "outputs", "trace")

    outputs: Outputs
    trace: Trace | None
    is_said: One | None

    def __init__(self, node: Node) -> None:
        self._node = node

    @classmethod
    def plain(cls, text: str, node: Node) -> "Program":
        """The program of a plain expression, the same one for as long as another expression of this text has it."""
        return _PROGRAMS.setdefault(text, cls(node))

    @classmethod
    def of(cls, node: Node, outputs: Outputs, trace: Trace | None = None) -> Self:
        """The program that runs these instead of what the expression says."""
        program = cls(node)
        program.outputs, program.trace, program.is_said = outputs, trace, None
        return program

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - one of those above, asked for the first time
        if name == "trace":
            self.trace = compile_trace(self._node)
        elif name == "is_said":
            node = sources(self._node)
            self.is_said = compile_one(Call("all", (node, _IS_THERE))) if node else None
        elif name == "outputs":
            self.outputs = compile_list(self._node)
        else:
            raise AttributeError(name)
        return getattr(self, name)


_IS_THERE: Final = Binary("!=", Identity(), Literal(None))
_PROGRAMS: Final = WeakValueDictionary[str, Program]()
