"""Text that leaves nothing to the precedence of operators: every part of it stands in parentheses."""

import json

from karta_interpreter.languages.jq.syntax import (
    Alternative,
    Array,
    ArrayPattern,
    Assign,
    Binary,
    Bind,
    Break,
    Comma,
    Define,
    Foreach,
    Format,
    FunctionCall,
    Identity,
    If,
    Index,
    Iterate,
    Label,
    Literal,
    Negate,
    Node,
    Object,
    ObjectPattern,
    Pattern,
    Pipe,
    RecursiveDescent,
    Reduce,
    Slice,
    Text,
    Try,
    Variable,
    VariablePattern,
)


def explicit(node: Node | None) -> str:  # noqa: C901, PLR0911, PLR0912 - one line per construct is the clearest
    """The text of a tree with parentheses around everything."""
    match node:
        case None:
            return ""
        case Identity():
            return "(.)"
        case RecursiveDescent():
            return "(..)"
        case Literal(value):
            return f"({json.dumps(value)})"
        case Variable(name):
            return f"(${name})"
        case Break(name):
            return f"(break ${name})"
        case Format(name):
            return f"(@{name})"
        case Text(parts, name):
            inner = (json.dumps(part)[1:-1] if isinstance(part, str) else rf"\({explicit(part)})" for part in parts)
            return f'({f"@{name}" if name else ""}"{"".join(inner)}")'
        case FunctionCall(name, arguments):
            return f"({name}({'; '.join(map(explicit, arguments))}))" if arguments else f"({name})"
        case Index(target, key):
            return f"({explicit(target)}[{explicit(key)}])"
        case Slice(target, start, stop):
            return f"({explicit(target)}[{explicit(start)}:{explicit(stop)}])"
        case Iterate(target):
            return f"({explicit(target)}[])"
        case Try(body, None):
            return f"(try ({explicit(body)}))"
        case Try(body, handler):
            return f"(try ({explicit(body)}) catch ({explicit(handler)}))"
        case Array(body):
            return f"([{explicit(body)}])"
        case Object(entries):
            return f"({{{', '.join(f'{explicit(entry.key)}: {explicit(entry.value)}' for entry in entries)}}})"
        case Negate(body):
            return f"(-{explicit(body)})"
        case Pipe(left, right):
            return f"({explicit(left)} | {explicit(right)})"
        case Comma(left, right):
            return f"({explicit(left)}, {explicit(right)})"
        case Alternative(left, right):
            return f"({explicit(left)} // {explicit(right)})"
        case Binary(operator, left, right) | Assign(operator, left, right):
            return f"({explicit(left)} {operator} {explicit(right)})"
        case If(branches, otherwise):
            tests = " el".join(f"if {explicit(test)} then {explicit(result)}" for test, result in branches)
            return f"({tests} else {explicit(otherwise or Identity())} end)"
        case Bind(source, patterns, body):
            return f"({explicit(source)} as {' ?// '.join(map(_pattern, patterns))} | {explicit(body)})"
        case Reduce(source, pattern, init, update):
            return f"(reduce {explicit(source)} as {_pattern(pattern)} ({explicit(init)}; {explicit(update)}))"
        case Foreach(source, pattern, init, update, extract):
            steps = "; ".join(explicit(step) for step in (init, update, extract) if step)
            return f"(foreach {explicit(source)} as {_pattern(pattern)} ({steps}))"
        case Define(name, params, definition, body):
            head = f"{name}({'; '.join(params)})" if params else name
            return f"(def {head}: {explicit(definition)}; {explicit(body)})"
        case Label(name, body):
            return f"(label ${name} | {explicit(body)})"
        case _:
            raise TypeError(node)


def _pattern(pattern: Pattern) -> str:
    match pattern:
        case VariablePattern(name):
            return f"${name}"
        case ArrayPattern(elements):
            return f"[{', '.join(map(_pattern, elements))}]"
        case ObjectPattern(entries):
            pairs = (
                (_pattern(key) if isinstance(key, VariablePattern) else explicit(key), value) for key, value in entries
            )
            return f"{{{', '.join(f'{key}: {_pattern(value)}' for key, value in pairs)}}}"
