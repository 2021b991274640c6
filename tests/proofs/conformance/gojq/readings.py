"""Where we read expressions otherwise than gojq on purpose, each way with the words of the documentation."""

import json
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cache
from typing import Any

from msgspec.structs import replace

from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.languages.jq import Absent, Query, parse
from karta_interpreter.languages.jq.syntax import Binary, Entry, FunctionCall, Index, Iterate, Literal, Node, Pipe, Text
from karta_interpreter.languages.jq.syntax.printer import render
from karta_interpreter.languages.jq.syntax.traversal import parts_of


class Reading(StrEnum):
    """One difference, as docs/query.md and karta/differences.md have it."""

    NULL = "iterating null yields nothing"
    PRODUCT = "`*` multiplies numbers and nothing else"
    EXTREME = "`min` and `max` compare values of one type"
    PIECES = "an empty text has no pieces"
    ELEMENTS = "elements are looked up in lists by number, fields in objects by name, and nothing else"
    REPEATABLE = "a text repeats short texts and no objects or lists"
    EXPONENT = "in a bounded expression, numbers as text have the exponent of jq"
    COMPUTED = "a large whole number that jq computes is written as an integer"


SEVERAL = "several of these"

_PRELUDE = """
def times(l; r): r as $r | l as $l
  | if ([$l, $r] | map(type)) == ["number", "number"] then $l * $r else error("differs") end;
def alike(f): if type == "array" and ([.[] | values | type] | unique | length) > 1 then error("differs") else f end;
def least: alike(min);
def most: alike(max);
def pieces(s): s as $s | if . == "" then [] else split($s) end;
def element(t; k): k as $k | t
  | if ([type, ($k | type)] | . == ["string", "number"] or .[1] == "array") then error("differs") else .[$k] end;
def repeatable: if type | IN("array", "object") or (type == "string" and length > 256) then error("differs") else . end;
def beginning: element(.; 0);
def ending: element(.; -1);
"""
_CALLS = {
    ("min", 0): (Reading.EXTREME, "least"),
    ("max", 0): (Reading.EXTREME, "most"),
    ("split", 1): (Reading.PIECES, "pieces"),
    ("first", 0): (Reading.ELEMENTS, "beginning"),
    ("last", 0): (Reading.ELEMENTS, "ending"),
}


def program(
    query: Query | PodQuery, readings: AbstractSet[Reading] = frozenset(), before: str = "", after: str = ""
) -> str:
    """The expression as gojq gets it, between two pieces of jq, with the values of what it looks up.

    gojq reads it as it is, but for the ``readings`` that are ours: those are written into it.
    """
    bound = query.values if isinstance(query, Query) else {}
    values = {name: value.value if isinstance(value, Absent) else value for name, value in bound.items()}
    bindings = "".join(f"{json.dumps(values[name])} as ${name} | " for name in sorted(values))
    text = _rewritten(query.text, frozenset(readings)) if readings else query.text
    prelude = _PRELUDE if readings else ""
    # The line break ends a comment that the expression may end in.
    return f"{prelude}{bindings}{before}{text}\n{after}"


@cache
def _rewritten(text: str, readings: frozenset[Reading]) -> str:
    return render(_rewrite(parse(text), readings), lenient=Reading.NULL in readings)


def _rewrite(node: Node, readings: frozenset[Reading]) -> Node:
    node = replace(node, **{name: _inside(getattr(node, name), readings) for name in node.__struct_fields__})
    match node:
        case Binary("*", left, right) if Reading.PRODUCT in readings:
            return FunctionCall("times", (left, right))
        case Index(target, key) if Reading.ELEMENTS in readings and not _is_name(key):
            return FunctionCall("element", (target, key))
        case Text(parts, None) if Reading.REPEATABLE in readings and any(map(_iterates, parts)):
            return Text(tuple(part if _iterates(part) else _repeatable(part) for part in parts))
        case FunctionCall(name, arguments):
            reading, ours = _CALLS.get((name, len(arguments)), (None, name))
            return FunctionCall(ours, arguments) if reading in readings else node
        case _:
            return node


def _iterates(part: str | Node) -> bool:
    return isinstance(part, Node) and any(isinstance(inner, Iterate) for inner in parts_of(part))


def _repeatable(part: str | Node) -> str | Node:
    return Pipe(part, FunctionCall("repeatable")) if isinstance(part, Node) else part


def _is_name(key: Node) -> bool:
    return isinstance(key, Literal) and isinstance(key.value, str)


def _inside(value: Any, readings: frozenset[Reading]) -> Any:
    match value:
        case Node():
            return _rewrite(value, readings)
        case Entry(key, item):
            return Entry(_rewrite(key, readings), _rewrite(item, readings))
        case tuple():
            return tuple(_inside(item, readings) for item in value)
        case _:
            return value
