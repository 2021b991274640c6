"""The number of an expression's results, derived without an object."""

from collections.abc import Iterator

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.printer import render
from karta_interpreter.jq.syntax.traversal import children

_GENERATORS = frozenset({"splits", "scan", "match", "limit", "combinations", "getpath", "leaf_paths", "until"})
_SEVERAL = (ast.Iterate, ast.Comma, ast.Foreach)
_PICKERS = frozenset({"first", "last", "limit", "nth"})


def several(node: Node) -> bool:
    """Whether an expression may yield more than one result.

    >>> from karta_interpreter.jq import parse
    >>> several(parse(".spec.groups[].name")), several(parse("[.spec.groups[].name] | length"))
    (True, False)
    """
    return any(
        stage.name in _GENERATORS if isinstance(stage, ast.Call) else isinstance(stage, _SEVERAL)
        for stage in _stages(node)
    )


def selections(node: Node) -> list[str]:
    """The `select(...)` calls that leave results out, as text.

    >>> from karta_interpreter.jq import parse
    >>> selections(parse('.a[] | select(.on) | .b'))
    ['select(.on)']
    """
    found: list[str] = []
    for stage in _stages(node):
        match stage:
            case ast.Call("select", [_]):
                found.append(render(stage))
            case ast.Call(name, [*_, picked]) if name in _PICKERS:
                found += selections(picked)
    return found


def shared_default(node: Node) -> tuple[str, str] | None:
    """A `//` whose left side yields several results, and how to give each of them the default.

    ``X[].y // 1`` drops every unset y and yields 1 only when all are: one default for the whole list.

    >>> from karta_interpreter.jq import parse
    >>> shared_default(parse(".spec.groups[].replicas // 1"))
    ('.spec.groups[].replicas // 1', '.spec.groups[] | .replicas // 1')
    """
    for part in _walk(node):
        if isinstance(part, ast.Alternative) and several(part.left):
            each, rest = _split(part.left)
            return render(part), render(ast.Pipe(each, ast.Alternative(rest, part.right)))
    return None


def _split(node: Node) -> tuple[Node, Node]:
    """A path as the part that yields several results and the part that reads each of them."""
    match node:
        case ast.Index(target, key) if several(target):
            each, rest = _split(target)
            return each, ast.Index(rest, key)
        case ast.Pipe(left, right) if several(left) and not several(right):
            return left, right
    return node, ast.Identity()


def _stages(node: Node) -> Iterator[Node]:
    """The nodes whose number of results becomes that of the whole expression."""
    waiting = [node]
    while waiting:  # without recursion, in which every node would come through all above it
        stage = waiting.pop()
        yield stage
        waiting += reversed(_flow(stage))


def _flow(node: Node) -> tuple[Node, ...]:
    match node:
        case ast.Pipe(left, right) | ast.Alternative(left, right) | ast.Binary(_, left, right):
            return left, right
        case ast.Index(target, key):
            return target, key
        case ast.Slice(target, _, _) | ast.Iterate(target):
            return (target,)
        case ast.Try(body, _) | ast.Negate(body) | ast.Label(_, body) | ast.Define(_, _, _, body):
            return (body,)
        case ast.Bind(source, _, body):
            return source, body
        case ast.If(branches, otherwise):
            parts = tuple(part for branch in branches for part in branch)
            return parts if otherwise is None else (*parts, otherwise)
    return ()


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(list(children(part)))
