"""How an expression runs."""

from typing import Any, Self

from interpreter.query.grammar.syntax import Node
from interpreter.query.plain.compilation import compile_plain
from interpreter.query.plain.filters import Many, One
from interpreter.query.writing.sources import sources
from interpreter.query.writing.trace import Trace, compile_trace


class Program:
    """A plain expression, compiled when it first runs: of the expressions that a server knows, most never do.

    ``many`` gives all outputs; ``one`` the only one, where there is always one; ``trace`` all with their origins,
    where those can be told. ``sources`` gives what the expression may be written over, where that can be told.

    >>> from interpreter.query.grammar.parser import parse
    >>> program = Program(parse(".a[]"))
    >>> list(program.many({"a": [1, 2]})), program.one
    ([1, 2], None)
    """

    __slots__ = ("_node", "many", "one", "sources", "trace")

    many: Many
    one: One | None
    trace: Trace | None
    sources: Many | None

    def __init__(self, node: Node) -> None:
        self._node = node

    @classmethod
    def of(cls, node: Node, many: Many, one: One | None = None, trace: Trace | None = None) -> Self:
        """The program that runs these instead of what the expression says."""
        program = cls(node)
        program.many, program.one, program.trace, program.sources = many, one, trace, None
        return program

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - one of those above, asked for the first time
        if name == "trace":
            self.trace = compile_trace(self._node)
        elif name == "sources":
            node = sources(self._node)
            self.sources = compile_plain(node).many if node else None
        elif name in ("many", "one"):
            plain = compile_plain(self._node)
            self.many, self.one = plain.many, plain.one
        else:
            raise AttributeError(name)
        return getattr(self, name)
