"""The statements of one function of a script, and the variables in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from karta_interpreter.export.library import LIBRARY
from karta_interpreter.export.lua import (
    Assignment,
    BinaryOperation,
    Constant,
    Do,
    Expression,
    For,
    IfStatement,
    Local,
    LocalFunction,
    Name,
    Statement,
    is_field,
    unused_name,
)
from karta_interpreter.languages.jq import records_in
from karta_interpreter.languages.lua.machine.source import RESERVED_WORDS

# Names that mean something else in a function.
_KNOWN: Final = RESERVED_WORDS | frozenset(
    (
        *("assert", "error", "ipairs", "kube", "math", "next", "os", "pairs", "pcall", "print", "require", "select"),
        *("string", "table", "tonumber", "tostring", "type", "unpack"),
        *("obj", "desired", "observed", "items", "replicas", "result"),
    )
)


class Value(NamedTuple):
    """A Lua expression, and one for the place that its value is read from. The second is None without such a place."""

    code: Expression
    origin: Expression | None = None


class LuaBody:
    """Writes the body of one function."""

    def __init__(self, taken: set[str] | None = None) -> None:
        self.body: list[Statement] = []
        self._fields: list[dict[Expression, Name]] = [{}]
        self._taken = taken if taken is not None else set()

    def write(self, *statements: Statement) -> None:
        """Write statements."""
        self.body += statements

    @contextmanager
    def aside(self) -> Iterator[list[Statement]]:
        """Collect the statements of a block without writing them."""
        before, self.body = self.body, []
        self._fields.append({})
        yield self.body
        self._fields.pop()
        self.body = before

    @contextmanager
    def when(self, condition: Expression) -> Iterator[None]:
        """Write the statements that run if a condition holds, unless there are none."""
        with self.aside() as then:
            yield
        if then:
            self.write(IfStatement(condition, tuple(then)))

    @contextmanager
    def loop_over(self, names: tuple[str, ...], iterator: Expression) -> Iterator[None]:
        """Write a loop, if it does anything."""
        with self.aside() as body:
            yield
        if body:
            self.write(For(names, iterator, tuple(body)))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Write a block of its own, if it has variables: it only bounds how many of them a function has at once."""
        with self.aside() as body:
            yield
        has_own = any(isinstance(statement, Local | LocalFunction) for statement in body)
        self.write(*([Do(tuple(body))] if has_own else body))

    def new(self, hint: str = "value") -> str:
        """Return a name for a local variable that this function does not have yet."""
        return unused_name(hint, self._taken, _KNOWN, LIBRARY)

    def local(self, hint: str, *values: Expression) -> Name:
        """Write a new variable, and return it."""
        name = self.new(hint)
        self.write(Local((name,), values))
        return Name(name)

    def locals(self, hints: tuple[str, ...], *values: Expression) -> tuple[Name, ...]:
        """Write several new variables, and return them."""
        names = tuple(map(self.new, hints))
        self.write(Local(names, values))
        return tuple(map(Name, names))

    def bind(self, value: Value, hint: str = "value") -> Value:
        """Return the value by a name. A field that has a name in an open block keeps it."""
        if isinstance(value.code, Name | Constant):
            return value
        # Only names of open blocks: a variable of a block that has ended is out of scope.
        for variables in self._fields:
            if value.code in variables:
                return Value(variables[value.code], value.origin)
        name = Name(self.new(hint))
        if is_field(value.code):
            self._fields[-1][value.code] = name
        self.write(Local((name.text,), (value.code,)))
        return Value(name, value.origin)

    def bound(self, code: Expression, hint: str = "value") -> Expression:
        """Return an expression by a name."""
        return self.bind(Value(code), hint).code

    def assign(self, name: Name, code: Expression) -> None:
        """Write a value to an existing variable.

        Karmada's Lua (gopher-lua 1.1.1) leaves the variable unchanged by ``variable = f(x) and y`` if ``f(x)`` is
        false. A new variable gets the right value.
        """
        if any(isinstance(node, BinaryOperation) and node.operator == "and" for node in records_in(code)):
            code = self.local("value", code)
        self.write(Assignment((name,), (code,)))
