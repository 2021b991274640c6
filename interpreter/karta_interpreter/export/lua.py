"""Lua as a tree: the nodes that the generator builds, the questions about them, and the only writer of their text."""

import re
from collections.abc import Container, Sequence
from typing import Final, TypeAlias, cast

from msgspec import Struct, structs

from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.jq import records_in
from karta_interpreter.languages.lua.machine.source import RESERVED_WORDS


class Name(Struct, frozen=True):
    """A variable."""

    text: str


class Constant(Struct, frozen=True):
    """A text, a number, a boolean or nil, as Lua spells it."""

    text: str


class LuaCall(Struct, frozen=True):
    """A call of a function by its name, which may be a member such as ``math.max``."""

    function: str
    arguments: tuple["Expression", ...] = ()


class Indexing(Struct, frozen=True):
    """``target[key]``."""

    target: "Expression"
    key: "Expression"


class Length(Struct, frozen=True):
    """``#target``."""

    target: "Expression"


class Not(Struct, frozen=True):
    """``not operand``."""

    operand: "Expression"


class BinaryOperation(Struct, frozen=True):
    """Operands with an operator between each two."""

    operator: str
    operands: tuple["Expression", ...]


class Table(Struct, frozen=True):
    """A table constructor. An entry without a key is an element of a list."""

    entries: tuple[tuple["Expression | None", "Expression"], ...] = ()


class AnonymousFunction(Struct, frozen=True):
    """A function without a name."""

    parameters: tuple[str, ...]
    body: tuple["Statement", ...]


class Local(Struct, frozen=True):
    """New variables, nil without values."""

    names: tuple[str, ...]
    values: tuple["Expression", ...] = ()


class Assignment(Struct, frozen=True):
    """Values for variables that are there."""

    targets: tuple["Expression", ...]
    values: tuple["Expression", ...]


class IfStatement(Struct, frozen=True):
    """A condition with two blocks: one runs if it holds, the other if it does not."""

    condition: "Expression"
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...] = ()


class For(Struct, frozen=True):
    """A loop over the values of an iterator."""

    names: tuple[str, ...]
    iterator: "Expression"
    body: tuple["Statement", ...]


class Do(Struct, frozen=True):
    """A block, which bounds the variables that a function has at once."""

    body: tuple["Statement", ...]


class Return(Struct, frozen=True):
    """The results of a function."""

    values: tuple["Expression", ...]


class BreakStatement(Struct, frozen=True):
    """The end of a loop."""


class LocalFunction(Struct, frozen=True):
    """A local function."""

    name: str
    parameters: tuple[str, ...]
    body: tuple["Statement", ...]


Expression: TypeAlias = (
    Name | Constant | LuaCall | Indexing | Length | Not | BinaryOperation | Table | AnonymousFunction
)
Statement: TypeAlias = Local | Assignment | LuaCall | IfStatement | For | Do | Return | BreakStatement | LocalFunction

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[A-Z]")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\000"}
_LONGEST_NAME: Final = 40
_LONGEST_TABLE: Final = 90
NIL: Final = Constant("nil")
TRUE: Final = Constant("true")
FALSE: Final = Constant("false")
EMPTY: Final = Table()
ONE: Final = Constant("1")
MINUS_ONE: Final = Constant("-1")
ZERO: Final = Constant("0")

_OPPOSITES: Final = {"==": "~=", "~=": "=="}
OR, AND, _COMPARISON, _JOIN, _SUM, _UNARY, _OPERAND = range(1, 8)
_LEVELS: Final = {"or": OR, "and": AND, "..": _JOIN, "+": _SUM}
# The variables that a function may have at once. Lua's limit is 200, and calls need some places, too.
_MOST_VARIABLES: Final = 60


def text(value: str) -> Constant:
    """Return a text as a literal."""
    return Constant(quoted(value))


def call(function: str, *arguments: Expression) -> LuaCall:
    """Return a call with some arguments."""
    return LuaCall(function, arguments)


def operation(operator: str, *operands: Expression) -> Expression:
    """Return some operands with an operator between them. A first operand with the same operator is continued.

    >>> written(operation("or", operation("or", Name("a"), Name("b")), operation("and", Name("c"), Name("d"))))
    'a or b or c and d'
    """
    first, *rest = operands
    if isinstance(first, BinaryOperation) and first.operator == operator:
        return BinaryOperation(operator, (*first.operands, *rest))
    return BinaryOperation(operator, operands) if rest else first


def negated(condition: Expression) -> Expression:
    """Return the condition that holds if another one does not.

    >>> [written(negated(code)) for code in (operation("==", Name("a"), NIL), operation("or", Name("a"), Name("b")))]
    ['a ~= nil', 'not (a or b)']
    """
    match condition:
        case Not(operand):
            return operand
        case BinaryOperation("==" | "~=" as operator, operands):
            return BinaryOperation(_OPPOSITES[operator], operands)
    return Not(condition)


def list_of(values: Sequence[Expression]) -> Table:
    """Return a table of some elements."""
    return Table(tuple((None, value) for value in values))


def table(**values: Expression) -> Table:
    """Return a table of some fields."""
    return Table(tuple((text(key), value) for key, value in values.items()))


def constant(value: JSON) -> Expression:
    """Return a JSON value as Lua.

    >>> written(constant({"a": [1, True], "b/c": None}))
    '{a = {1, true}, ["b/c"] = nil}'
    """
    match value:
        case dict():
            return Table(tuple((text(key), constant(entry)) for key, entry in value.items()))
        case list() | tuple():
            return list_of([*map(constant, value)])
        case str():
            return text(value)
        case bool():
            return TRUE if value else FALSE
        case None:
            return NIL
    return Constant(str(value))


def path_in(whole: Expression, keys: Sequence[Expression]) -> LuaCall:
    """Return the value at a path of keys. A path inside of a path becomes one path."""
    if isinstance(whole, LuaCall) and whole.function == "get":
        return LuaCall("get", (*whole.arguments, *keys))
    return call("get", whole, *keys)


def inside(origin: Expression | None, value: Expression, keys: Sequence[Expression]) -> LuaCall:
    """Return the place of a value at some keys of another place."""
    if isinstance(origin, LuaCall) and is_place(origin):
        return LuaCall("at", (*origin.arguments, *keys))
    return call("inside", origin or NIL, value, *keys)


def is_place(origin: Expression | None) -> bool:
    """Return whether an origin is a place, not an expression that has to be computed."""
    return isinstance(origin, LuaCall) and origin.function == "at"


def is_field(code: Expression) -> bool:
    """Return whether an expression reads a path of known keys of a variable."""
    if not isinstance(code, LuaCall) or code.function != "get":
        return False
    return isinstance(code.arguments[0], Name) and all(isinstance(key, Constant) for key in code.arguments[1:])


def calls_any(tree: object, functions: frozenset[str]) -> bool:
    """Return whether some function is called or given to another one."""
    return any(
        (isinstance(node, LuaCall) and node.function in functions)
        or (isinstance(node, Name) and node.text in functions)
        for node in records_in(tree)
    )


def flattened(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return the statements of a function without ``do`` blocks, which only keep its variables below Lua's limit.

    >>> flattened((Do((Local(("a",)), BreakStatement())),))
    (Local(names=('a',), values=()), BreakStatement())
    """
    if sum(isinstance(node, Local | LocalFunction) for node in records_in(body)) > _MOST_VARIABLES:
        return body
    return cast("tuple[Statement, ...]", _without_blocks(body))


def _without_blocks(tree: object) -> object:
    if isinstance(tree, tuple):
        statements: list[object] = []
        for node in tree:
            inner = _without_blocks(node.body) if isinstance(node, Do) else (_without_blocks(node),)
            statements += inner if isinstance(inner, tuple) else (inner,)
        return tuple(statements)
    if not isinstance(tree, Struct):
        return tree
    return structs.replace(tree, **{name: _without_blocks(getattr(tree, name)) for name in tree.__struct_fields__})


def written(code: Expression, level: int = 0) -> str:
    """Return the text of an expression, in parentheses if the expression around it binds more tightly.

    >>> written(Not(operation("==", Name("a"), text("b")))), written(table(a=NIL))
    ('not (a == "b")', '{a = nil}')
    """
    text_of, own_level = _expression(code)
    return f"({text_of})" if own_level < level else text_of


def _expression(code: Expression) -> tuple[str, int]:  # noqa: C901, PLR0911 - one case for each node
    """Return the text of an expression, and how tightly it binds."""
    match code:
        case Name(spelling) | Constant(spelling):
            return spelling, _OPERAND
        case LuaCall(function, arguments):
            return f"{function}({_row(arguments)})", _OPERAND
        case Indexing(target, Constant(key)) if is_key(key[1:-1]):
            return f"{written(target, _OPERAND)}.{key[1:-1]}", _OPERAND
        case Indexing(target, key):
            return f"{written(target, _OPERAND)}[{written(key)}]", _OPERAND
        case Length(target):
            return f"#{written(target, _OPERAND)}", _UNARY
        case Not(operand):
            return f"not {written(operand, _UNARY)}", _UNARY
        case BinaryOperation(operator, operands):
            level = _LEVELS.get(operator, _COMPARISON)
            return f" {operator} ".join(written(operand, level + 1) for operand in operands), level
        case Table(entries):
            return f"{{{', '.join(_entry(key, value) for key, value in entries)}}}", _OPERAND
        case AnonymousFunction(parameters, (Return() as only,)):
            return f"function({', '.join(parameters)}) {lines_of([only])[0]} end", _OPERAND
        case AnonymousFunction(parameters, body):
            return "\n".join([f"function({', '.join(parameters)})", *_deeper(body), "end"]), _OPERAND


def _entry(key: Expression | None, value: Expression) -> str:
    match key:
        case None:
            return written(value)
        case Constant(name) if is_key(name[1:-1]):
            return f"{name[1:-1]} = {written(value)}"
    return f"[{written(key)}] = {written(value)}"


def _row(values: Sequence[Expression]) -> str:
    return ", ".join(map(written, values))


def _deeper(body: Sequence[Statement]) -> list[str]:
    return [f"  {line}" for line in lines_of(body)]


def lines_of(body: Sequence[Statement]) -> list[str]:
    """Return the lines of some statements."""
    return [line for statement in body for line in _lines(statement)]


def _lines(statement: Statement) -> Sequence[str]:  # noqa: PLR0911 - one case for each node
    match statement:
        case Local(names, values):
            return f"local {', '.join(names)}{f' = {_row(values)}' if values else ''}".split("\n")
        case Assignment(targets, values):
            return [f"{_row(targets)} = {_row(values)}"]
        case LuaCall():
            return [written(statement)]
        case IfStatement(condition, then, otherwise):
            other = ["else", *_deeper(otherwise)] if otherwise else []
            return [f"if {written(condition)} then", *_deeper(then), *other, "end"]
        case For(names, iterator, body):
            return [f"for {', '.join(names)} in {written(iterator)} do", *_deeper(body), "end"]
        case Do(body):
            return ["do", *_deeper(body), "end"]
        case Return(values):
            return [f"return {_row(values)}"]
        case BreakStatement():
            return ["break"]
        case LocalFunction(name, parameters, body):
            return [f"local function {name}({', '.join(parameters)})", *_deeper(body), "end"]


def quoted(text: str) -> str:
    r"""Return a text as a Lua literal.

    >>> print(quoted('a "b"'), quoted("\x001"))
    "a \"b\"" "\0001"
    """
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


def key_text(name: str) -> str:
    """Return a key as a table has it.

    >>> key_text("name"), key_text("app.kubernetes.io/name")
    ('name', '["app.kubernetes.io/name"]')
    """
    return name if is_key(name) else f"[{quoted(name)}]"


def is_key(name: str) -> bool:
    """Return whether a key of a table can be written as a name."""
    return _NAME.fullmatch(name) is not None and name not in RESERVED_WORDS


def lua_name(text: str) -> str:
    """Return a text as a Lua name.

    >>> lua_name("RayJob-worker"), lua_name("3")
    ('ray_job_worker', 'value_3')
    """
    name = "_".join(word.lower() for word in _PARTS.findall(text))[:_LONGEST_NAME].strip("_") or "value"
    return name if name[0].isalpha() else f"value_{name}"


def unused_name(hint: str, taken: set[str], *reserved: Container[str]) -> str:
    """Return a Lua name that is neither taken nor reserved, with a number if it must be. It is taken from now on.

    >>> unused_name("pods", {"pods"}, {"pods_2"})
    'pods_3'
    """
    name = lua_name(hint)
    unused, number = name, 1
    while any(unused in names for names in (taken, *reserved)):
        number += 1
        unused = f"{name}_{number}"
    taken.add(unused)
    return unused


def table_of(entries: Sequence[str]) -> str:
    """Return a table of some parts, each on its own line if one line would be too long.

    >>> table_of(["1", "2"])
    '{1, 2}'
    """
    line = f"{{{', '.join(entries)}}}"
    if len(line) <= _LONGEST_TABLE:
        return line
    return "".join(["{\n", *(f"  {entry},\n" for entry in entries), "}"])


def laid_out(lines: Sequence[str]) -> str:
    r"""Return a text of statements. The further lines of each statement are as deep as its first line.

    >>> print(laid_out(["f()", "  g({\n  1,\n})"]))
    f()
      g({
        1,
      })
    """
    return "\n".join(line.replace("\n", f"\n{line[: len(line) - len(line.lstrip())]}") for line in lines)
