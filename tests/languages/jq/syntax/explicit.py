"""Text that leaves nothing to the precedence of operators: every part of it stands in parentheses."""

import json

from karta_interpreter.languages.jq import syntax as ast


def explicit(node: ast.Node | None) -> str:  # noqa: C901, PLR0911, PLR0912 - one line per construct is the clearest
    """The text of a tree with parentheses around everything."""
    match node:
        case None:
            return ""
        case ast.Identity():
            return "(.)"
        case ast.RecursiveDescent():
            return "(..)"
        case ast.Literal(value):
            return f"({json.dumps(value)})"
        case ast.Variable(name):
            return f"(${name})"
        case ast.Break(name):
            return f"(break ${name})"
        case ast.Format(name):
            return f"(@{name})"
        case ast.Text(parts, name):
            inner = (json.dumps(part)[1:-1] if isinstance(part, str) else rf"\({explicit(part)})" for part in parts)
            return f'({f"@{name}" if name else ""}"{"".join(inner)}")'
        case ast.FunctionCall(name, arguments):
            return f"({name}({'; '.join(map(explicit, arguments))}))" if arguments else f"({name})"
        case ast.Index(target, key):
            return f"({explicit(target)}[{explicit(key)}])"
        case ast.Slice(target, start, stop):
            return f"({explicit(target)}[{explicit(start)}:{explicit(stop)}])"
        case ast.Iterate(target):
            return f"({explicit(target)}[])"
        case ast.Try(body, None):
            return f"(try ({explicit(body)}))"
        case ast.Try(body, handler):
            return f"(try ({explicit(body)}) catch ({explicit(handler)}))"
        case ast.Array(body):
            return f"([{explicit(body)}])"
        case ast.Object(entries):
            return f"({{{', '.join(f'{explicit(entry.key)}: {explicit(entry.value)}' for entry in entries)}}})"
        case ast.Negate(body):
            return f"(-{explicit(body)})"
        case ast.Pipe(left, right):
            return f"({explicit(left)} | {explicit(right)})"
        case ast.Comma(left, right):
            return f"({explicit(left)}, {explicit(right)})"
        case ast.Alternative(left, right):
            return f"({explicit(left)} // {explicit(right)})"
        case ast.Binary(operator, left, right) | ast.Assign(operator, left, right):
            return f"({explicit(left)} {operator} {explicit(right)})"
        case ast.If(branches, otherwise):
            tests = " el".join(f"if {explicit(test)} then {explicit(result)}" for test, result in branches)
            return f"({tests} else {explicit(otherwise or ast.Identity())} end)"
        case ast.Bind(source, patterns, body):
            return f"({explicit(source)} as {' ?// '.join(map(_pattern, patterns))} | {explicit(body)})"
        case ast.Reduce(source, pattern, init, update):
            return f"(reduce {explicit(source)} as {_pattern(pattern)} ({explicit(init)}; {explicit(update)}))"
        case ast.Foreach(source, pattern, init, update, extract):
            steps = "; ".join(explicit(step) for step in (init, update, extract) if step)
            return f"(foreach {explicit(source)} as {_pattern(pattern)} ({steps}))"
        case ast.Define(name, params, definition, body):
            head = f"{name}({'; '.join(params)})" if params else name
            return f"(def {head}: {explicit(definition)}; {explicit(body)})"
        case ast.Label(name, body):
            return f"(label ${name} | {explicit(body)})"
        case _:
            raise TypeError(node)


def _pattern(pattern: ast.Pattern) -> str:
    match pattern:
        case ast.VariablePattern(name):
            return f"${name}"
        case ast.ArrayPattern(elements):
            return f"[{', '.join(map(_pattern, elements))}]"
        case ast.ObjectPattern(entries):
            pairs = (
                (_pattern(key) if isinstance(key, ast.VariablePattern) else explicit(key), value)
                for key, value in entries
            )
            return f"{{{', '.join(f'{key}: {_pattern(value)}' for key, value in pairs)}}}"
