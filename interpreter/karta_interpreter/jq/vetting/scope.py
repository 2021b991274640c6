"""The names that can be used at a place of an expression."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from karta_interpreter.jq.grammar.syntax import ArrayPattern, Define, Node, ObjectPattern, Pattern, VariablePattern
from karta_interpreter.jq.vetting.builtins import Function


@dataclass(frozen=True, slots=True)
class Scope:
    """Functions, variables and labels that were defined around a place."""

    functions: frozenset[Function] = frozenset()
    variables: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()

    def bind(self, patterns: Iterable[Pattern]) -> "Scope":
        """The scope with the variables of patterns; those that only one alternative binds are null otherwise."""
        names = (name for pattern in patterns for name in _variables(pattern))
        return replace(self, variables=self.variables.union(names))

    def define(self, define: Define) -> "Scope":
        """The scope behind a definition, which is also that of a function that calls itself."""
        return replace(self, functions=self.functions | {(define.name, len(define.params))})

    def inside(self, define: Define) -> "Scope":
        """The scope of the text of a function; a value parameter can be called as well."""
        own = self.define(define)
        functions = own.functions.union((param.removeprefix("$"), 0) for param in define.params)
        values = (param[1:] for param in define.params if param.startswith("$"))
        return replace(own, functions=functions, variables=own.variables.union(values))

    def label(self, name: str) -> "Scope":
        """The scope with a label."""
        return replace(self, labels=self.labels | {name})


def keys(pattern: Pattern) -> Iterator[Node]:
    """The expressions that a pattern has for keys; they see no variable of the pattern itself."""
    match pattern:
        case ArrayPattern(elements):
            for element in elements:
                yield from keys(element)
        case ObjectPattern(entries):
            for key, value in entries:
                if isinstance(key, Node):
                    yield key
                yield from keys(value)


def _variables(pattern: Pattern) -> Iterator[str]:
    match pattern:
        case VariablePattern(name):
            yield name
        case ArrayPattern(elements):
            for element in elements:
                yield from _variables(element)
        case ObjectPattern(entries):
            for key, value in entries:
                if isinstance(key, VariablePattern):
                    yield key.name
                yield from _variables(value)
