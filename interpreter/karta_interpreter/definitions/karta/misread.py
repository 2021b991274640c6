"""Parts of expressions that jq reads as something else than their author means, and what to write instead."""

import re
from collections.abc import Iterator
from typing import Final

from karta_interpreter.definitions.karta.expressions import (
    BOOLEAN,
    LETTERS,
    is_boolean,
    plain_path,
    result_nodes,
    without_default,
)
from karta_interpreter.languages.jq import children, parse, parts_of, render, syntax as ast

# Paths that are numbers by their names.
_COUNTED: Final = re.compile(
    r"\.status\.(?>(?:.*\.)?)(\w*[a-z](Replicas|Nodes|Pods|Instances|Workers|Members|Count)"
    "|replicas|ready|active|succeeded|failed|available|updated|desired|unavailable)"
)
# The unit of memory at the end of the name of a number, such as memoryGb.
_UNIT: Final = re.compile(r"(?:(?<=[a-z0-9_])([MGTmgt])(?:i?[Bb]|i)|([MGTmgt])(?:eg|ig|er|eb|ib)[ai]bytes?)$")
_MILLI: Final = re.compile(r"[mM]illi(?:s|[cC](?:ore|pu)s?)?$")
_NAMED_UNITS: Final = {"memory": _UNIT, "cpu": _MILLI}
_TESTS = ("IN", "contains", "endswith", "index", "inside", "ltrimstr", "rtrimstr", "startswith", "test")
# The operators that jq applies before `//`, and the rule about a default beside each.
_AFTER: Final = {
    **dict.fromkeys("*/+-", "default-is-factor"),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), "default-compared"),
}

# The functions that fail on an absent value, by a value that they take instead.
_ABSENT: Final = {
    name: value
    for names, value in (
        ("ascii_downcase ascii_upcase startswith endswith test match capture scan sub gsub", ""),
        ("split splits ltrimstr rtrimstr trim ltrim rtrim explode contains", ""),
        ("tonumber floor ceil round todate", 0),
        ("fromdate fromdateiso8601", "1970-01-01T00:00:00Z"),
    )
    for name in names.split()
}


def _grouped(left: ast.Node, right: ast.Node) -> tuple[str, ast.Node] | None:
    """Return ``left // right`` with each default next to its value, and the first operator behind a default."""
    match right:
        case ast.Binary(operator, ast.Literal() as default, term) | ast.Alternative(
            ast.Binary(operator, ast.Literal() as default, term)
        ) if operator in _AFTER and not (operator == "+" and isinstance(default.value, str)):
            if isinstance(right, ast.Alternative):
                inner = _grouped(term, right.right)
                term = inner[1] if inner else ast.Alternative(term, right.right)
            return operator, ast.Binary(operator, ast.Alternative(left, default), term)
    return None


def misread_parts(node: ast.Node, *, of_count: bool) -> Iterator[tuple[str, str, str]]:
    """Yield each part that misleads: the rule that it breaks, its text, and its meaning.

    >>> list(misread_parts(parse(".spec.n // 1 * .spec.m"), of_count=False))
    [('default-is-factor', '.spec.n // 1 * .spec.m', '(.spec.n // 1) * .spec.m')]
    >>> [better for *_, better in misread_parts(parse(".a // 0 + .b // 0 + .c // 0"), of_count=False)]
    ['(.a // 0) + ((.b // 0) + (.c // 0))']
    >>> list(misread_parts(parse('.spec.name // "svc-" + .metadata.name'), of_count=False))
    []
    >>> list(misread_parts(parse(".status.ready // 0 > 3"), of_count=False))
    [('default-compared', '.status.ready // 0 > 3', '(.status.ready // 0) > 3')]
    >>> list(misread_parts(parse(".spec.hosts - 1 // 0"), of_count=True))
    [('default-compared', '.spec.hosts - 1 // 0', '(.spec.hosts // 0) - 1')]
    >>> list(misread_parts(parse(".spec.enabled // true"), of_count=False))
    [('default-true', '.spec.enabled // true', '.spec.enabled != false')]
    >>> list(misread_parts(parse('.spec.phase or "Pending"'), of_count=False))
    [('or-is-boolean', '.spec.phase or "Pending"', '.spec.phase // "Pending"')]
    >>> list(misread_parts(parse('.status.phase == "Ready" or "Green"'), of_count=False))
    [('or-is-boolean', '.status.phase == "Ready" or "Green"', '.status.phase == "Ready" or .status.phase == "Green"')]
    >>> list(misread_parts(parse('.phase != "A" or .phase != "B"'), of_count=False))
    [('compared-twice', '.phase != "A" or .phase != "B"', '.phase != "A" and .phase != "B"')]
    >>> list(misread_parts(parse('.status.ready >= "3"'), of_count=False))
    [('text-ordered', '.status.ready >= "3"', '.status.ready >= 3')]
    >>> list(misread_parts(parse('.status.state | ascii_downcase == "Ready"'), of_count=False))
    [('letters-never', 'ascii_downcase == "Ready"', 'ascii_downcase == "ready"')]
    >>> list(misread_parts(parse('.status.state | ascii_upcase | IN("Ready", "UP")'), of_count=False))
    [('letters-never', 'ascii_upcase | IN("Ready", "UP")', '"READY"')]
    >>> list(misread_parts(parse(".status.conditions[0].reason"), of_count=False))
    [('condition-by-place', '.status.conditions[0]', '.status.conditions[] | select(.type == "Ready")')]
    """
    results = {id(result) for result in parts_of(node, result_nodes)} if of_count else set()
    grouped: set[int] = set()
    for current in parts_of(node):
        match current:
            case ast.Alternative(left, right) if id(current) not in grouped and (parts := _grouped(left, right)):
                grouped |= {id(part) for part in parts_of(right)}
                operator, better = parts
                yield _AFTER[operator], render(current), render(better)
            case ast.Binary("or", left, right) if id(current) in results and not isinstance(left, ast.Literal):
                yield "or-is-boolean", render(current), render(_chosen(left, right))
            case ast.Pipe(
                ast.FunctionCall(name) | ast.Pipe(_, ast.FunctionCall(name)), ast.FunctionCall() as test
            ) | ast.Pipe(ast.FunctionCall(name), ast.Pipe(ast.FunctionCall() as test)) if (
                name in LETTERS and test.name in _TESTS
            ):
                yield from (
                    ("letters-never", f"{name} | {render(test)}", render(ast.Literal(changed)))
                    for part in parts_of(test, children)
                    if isinstance(part, ast.Literal) and isinstance(part.value, str) and "\\" not in part.value
                    if part.value != (changed := LETTERS[name](part.value))
                )
            case ast.Object(entries):
                for entry in entries:
                    yield from _amount_without_unit(entry)
            case _ if meant := _meant(current, is_whole=current is node):
                rule, better = meant
                yield rule, render(current), render(better)


def failing_parts(node: ast.Node) -> Iterator[tuple[str, str, str]]:
    """Yield each part that fails while a field of the status is absent: the rule, its text, and one that does not fail.

    >>> list(failing_parts(parse('.status.phase | test("^R")')))
    [('absent-fails', '.status.phase | test("^R")', '.status.phase // "" | test("^R")')]
    >>> list(failing_parts(parse('.status.phase != null and (.status.phase | test("^R"))')))
    []
    """
    for current in parts_of(node, _read_first):
        match current:
            case ast.Pipe(ast.Index() as path, test) if (plain_path(path) or ())[:1] == ("status",) != plain_path(path):
                calls = (part for part in parts_of(test, _read_first) if isinstance(part, ast.FunctionCall))
                if (name := next((call.name for call in calls), "")) in _ABSENT:
                    better = ast.Pipe(ast.Alternative(path, ast.Literal(_ABSENT[name])), test)
                    yield "absent-fails", render(current), render(better)


def _read_first(node: ast.Node) -> tuple[ast.Node, ...]:
    """Return the nodes below that are evaluated on the same object in any case, also if a field of it is absent."""
    match node:
        case ast.Pipe(left, _) | ast.Binary("and" | "or", left, _) | ast.If(((left, _), *_), _):
            return (left,)
        case ast.Binary(_, left, right):
            return left, right
    return ()


def _amount_without_unit(entry: ast.Entry) -> Iterator[tuple[str, str, str]]:
    """Yield an amount that is a number of another unit by the name of its field, such as gigabytes of memory."""
    match entry.key, entry.value:
        case ast.Literal(str() as name), ast.Pipe(value, ast.FunctionCall("tostring", ())) | value if (
            name in _NAMED_UNITS
        ):
            path = without_default(value)
            if plain_path(path) and _NAMED_UNITS[name].search(render(path)):
                better = with_unit(render(value), render(path))
                yield "memory-of-number", f"{name}: {render(entry.value)}", f"{name}: {better}"


_NEVER_BOTH: Final = (("or", "!=", "!="), ("and", "==", "=="))


def _meant(node: ast.Node, *, is_whole: bool) -> tuple[str, ast.Node] | None:  # noqa: C901, PLR0911 - one case each
    """Return the rule that a part breaks by its form, wherever it stands, and the part that is meant."""
    match node:
        case ast.Alternative(
            ast.Binary(operator, left, right), ast.Literal(int() | str()) | ast.Array() as default
        ) if operator in BOOLEAN and not is_boolean(default):
            return "default-compared", ast.Binary(operator, left, ast.Alternative(right, default))
        case ast.Alternative(ast.Binary("-" | "*" | "/" | "%" as operator, left, ast.Literal() as right), default):
            return "default-compared", ast.Binary(operator, ast.Alternative(left, default), right)
        case ast.Alternative(left, ast.Literal(True)) if plain_path(left):
            return "default-true", ast.Binary("!=", left, ast.Literal(False))
        case ast.Binary(
            "or" | "and" as joined,
            ast.Binary(operator, value, ast.Literal(str() as first)) as left,
            ast.Binary(same, other, ast.Literal(str() as second)) as right,
        ) if (joined, operator, same) in _NEVER_BOTH and first != second and render(value) == render(other):
            return "compared-twice", ast.Binary("and" if joined == "or" else "or", left, right)
        case ast.Binary("*", counts, ast.Pipe(listed, ast.FunctionCall("length", ()))) | ast.Binary(
            "*", ast.Pipe(listed, ast.FunctionCall("length", ())), counts
        ) if render(counts).startswith(f"{render(listed)}[]"):
            return "counted-by-length", counts
        case ast.Binary(
            "and" | "or", ast.Binary() as other, ast.Index(_, ast.Literal("phase" | "state")) as text
        ) | ast.Binary("and" | "or", ast.Index(_, ast.Literal("phase" | "state")) as text, ast.Binary() as other) if (
            other.operator in BOOLEAN - {"and", "or"} and plain_path(text) and render(text) not in render(other)
        ):
            return "text-is-true", ast.Binary("==", text, ast.Literal("Ready"))
        case ast.Binary("==", value, ast.Binary("or", ast.Literal() as first, second)):
            return "or-is-boolean", ast.Binary("or", ast.Binary("==", value, first), ast.Binary("==", value, second))
        case ast.Binary("or", left, ast.Literal(value) as right) if not isinstance(left, ast.Literal) and type(
            value
        ) in (str, int, float):
            return "or-is-boolean", _chosen(left, right)
        case ast.Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as operator, left, ast.Literal(str() as text)) if (
            re.fullmatch("[0-9]{1,15}", text)
            and (operator[0] in "<>" or _COUNTED.fullmatch(render(without_default(left))))
        ):
            return "text-ordered", ast.Binary(operator, left, ast.Literal(int(text)))
        case ast.Binary(
            "==", ast.Pipe(_, ast.FunctionCall(name)) | ast.FunctionCall(name) as value, ast.Literal(str() as text)
        ) if text != (changed := LETTERS.get(name, str)(text)):
            return "letters-never", ast.Binary("==", value, ast.Literal(changed))
        case (
            ast.Index(ast.Index(_, ast.Literal("conditions")) as listed, ast.Literal(int()))
            | ast.Pipe(
                ast.Index(_, ast.Literal("conditions")) as listed,
                ast.Try(ast.Index(ast.Identity(), ast.Literal(int())))
                | ast.FunctionCall("first" | "last", ())
                | ast.Pipe(ast.FunctionCall("first" | "last", ())),
            )
            | ast.FunctionCall("first" | "last", (ast.Iterate(ast.Index(_, ast.Literal("conditions")) as listed),))
        ) if not is_whole:
            return "condition-by-place", ast.Pipe(ast.Iterate(listed), parse('select(.type == "Ready")'))
    return None


def _chosen(left: ast.Node, right: ast.Node) -> ast.Node:
    match left:
        case ast.Binary("and", condition, then):  # `a and b or c` of Lua
            return ast.If(((condition, then),), right)
        case ast.Binary("==", value, _):
            return ast.Binary("or", left, ast.Binary("==", value, right))
    return ast.Alternative(left, right)


def with_unit(text: str, name: str) -> str:
    r"""Return the expression that gives a number its unit, by the name of its field.

    >>> print(with_unit(".spec.memoryGb // 4", "memoryGb"))
    "\(.spec.memoryGb // 4)Gi"
    """
    unit = "m" if _MILLI.search(name) else f"{''.join(_UNIT.findall(name)[0]).upper() if _UNIT.search(name) else 'M'}i"
    return f'"\\({text}){unit}"'
