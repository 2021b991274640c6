"""Which names are local at a place of a script."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from karta_interpreter.lua.grammar.syntax import Call, Group, Name, Node, Text


class Scopes:
    """The blocks and functions around a place; a local that holds a module is known to hold it."""

    def __init__(self) -> None:
        self._scopes: list[dict[str, str]] = []
        self._functions: list[str] = []

    @property
    def function(self) -> str:
        """The nearest function that has a name; "" at the top of the script."""
        named = (name for name in reversed(self._functions) if name)
        return next(named, "function") if self._functions else ""

    @contextmanager
    def block(self, names: Iterable[str] = ()) -> Iterator[None]:
        """Go into a block that starts with these locals."""
        self._scopes.append(dict.fromkeys(names, ""))
        yield
        self._scopes.pop()

    @contextmanager
    def body(self, function: str, parameters: Iterable[str]) -> Iterator[None]:
        """Go into a function."""
        self._functions.append(function)
        with self.block(parameters):
            yield
        self._functions.pop()

    def declare(self, name: str, module: str = "") -> None:
        """Add a local to the innermost block."""
        self._scopes[-1][name] = module

    def is_local(self, name: str) -> bool:
        """Whether a name is that of a local."""
        return any(name in scope for scope in self._scopes)

    def module(self, name: str) -> str:
        """The module that a local holds; "" when it holds none."""
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), "")

    def locals(self, most: int) -> frozenset[str]:
        """The locals that can be seen, the innermost first, but not more than so many."""
        return frozenset(islice((name for scope in reversed(self._scopes) for name in reversed(scope)), most))

    def required(self, node: Node) -> str:
        """The module that an expression asks for, ``require("kube")``; "" for any other expression."""
        while isinstance(node, Group):
            node = node.inner
        match node:
            case Call(Name("require"), arguments) if not self.is_local("require"):
                match arguments.values:
                    case (Text(module),):
                        return module
        return ""
