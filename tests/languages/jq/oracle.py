"""libjq as the judge of plain expressions.

The documented differences are taken out of the expression before libjq gets it: what differs on purpose is
replaced by a jq function that does what this project says it does.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import jq
from hypothesis import reject

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.compiled.compiler import RUNTIME, PythonCode
from karta_interpreter.languages.jq.compiled.module import Module
from karta_interpreter.languages.jq.compiled.values import to_json
from karta_interpreter.languages.jq.syntax import Binary, Entry, FunctionCall, Index, Negate, Node, Object, Pipe, Try
from karta_interpreter.languages.jq.syntax.printer import render
from karta_interpreter.languages.jq.syntax.traversal import is_merge

_REFUSE = 'error("differs")'
_PRELUDE = f"""
def sorted: if type == "object" then . as $o | reduce keys[] as $k ({{}}; .[$k] = $o[$k]) else . end;
def zero: if type == "number" then . + 0 else . end;
def numbers_only(f): if type == "number" then f | zero else {_REFUSE} end;
def times(l; r): r as $r | l as $l
  | if ($l | type) == "number" and ($r | type) == "number" then $l * $r | zero else {_REFUSE} end;
def merge(l; r): r as $r | l as $l
  | if ($l | type) == "object" and ($r | type) == "object" then $l * $r | sorted else times($l; $r) end;
def over(l; r): r as $r | l as $l | $l / $r | zero;
def item(l; r): r as $r | l as $l | if ($r | type) == "array" then {_REFUSE} else $l[$r] end;
def attempt(f): try f;
def opposite: numbers_only(-.);
def our_abs: numbers_only(abs);
def our_ceil: numbers_only(ceil);
def our_getpath(p): p as $p | if any($p[]?; type == "array") then {_REFUSE} else getpath($p) end;
def alike(f): if type == "array" and ([.[] | values | type] | unique | length) > 1 then {_REFUSE} else f end;
def our_min: alike(min);
def our_max: alike(max);
def our_reverse: if type == "array" or . == null then reverse else {_REFUSE} end;
"""
_OURS = {("abs", 0), ("ceil", 0), ("getpath", 1), ("reverse", 0), ("min", 0), ("max", 0)}
_OPERATORS = {"*": "times", "/": "over"}


def compile_many(node: Node) -> Callable[[JSON], Iterator[JSON]]:
    """Compile a plain expression to a generator of its outputs, as expressions use it for a part of themselves."""
    module = Module()
    name = PythonCode(module).generator(node)
    many: Callable[[JSON], Iterator[JSON]] = module.functions(RUNTIME)[name]
    return many


def libjq(node: Node, value: JSON, most: int = 1000) -> list[JSON] | None:
    """The outputs of libjq for an expression and an input, None when it fails."""
    try:
        return list(islice(libjq_program(node)(value), most))
    except ValueError as error:
        if "compile error" not in str(error):
            return None
        if "as object key" in str(error):
            reject()  # libjq computes constants when it compiles, where no `try` can help
        raise


def libjq_program(node: Node) -> Callable[[JSON], Iterator[JSON]]:
    """An expression as a function of its input. It and its iterator of outputs raise ValueError on failure."""
    program = jq.compile(_PRELUDE + render(_comparable(node), lenient=True))
    return lambda value: iter(program.input_text(to_json(value)))


def _comparable(node: Node) -> Node:
    merges = is_merge(node)
    node = type(node)(*(_inside(getattr(node, name)) for name in type(node).__match_args__))
    match node:
        case Binary(_, left, right) if merges:
            return FunctionCall("merge", (left, right))
        case Binary(operator, left, right) if operator in _OPERATORS:
            return FunctionCall(_OPERATORS[operator], (left, right))
        case Object() | Binary("+") | FunctionCall("add" | "from_entries" | "with_entries"):
            return Pipe(node, FunctionCall("sorted"))
        case FunctionCall(name, arguments) if (name, len(arguments)) in _OURS:
            return FunctionCall(f"our_{name}", arguments)
        case Index(target, key):
            return FunctionCall("item", (target, key))
        case Negate(body):
            return Pipe(body, FunctionCall("opposite"))
        case Try(body):
            return FunctionCall("attempt", (body,))
        case _:
            return node


def _inside(value: Any) -> Any:
    match value:
        case Node():
            return _comparable(value)
        case Entry(key, item):
            return Entry(_comparable(key), _comparable(item))
        case tuple():
            return tuple(map(_inside, value))
        case _:
            return value
