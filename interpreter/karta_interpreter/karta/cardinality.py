"""The number of an expression's results, derived without an object."""

from collections.abc import Iterator

from karta_interpreter.jq.syntax import (
    Alternative,
    Binary,
    Bind,
    Call,
    Comma,
    Define,
    Foreach,
    Identity,
    If,
    Index,
    Iterate,
    Label,
    Negate,
    Node,
    Pipe,
    Slice,
    Try,
)
from karta_interpreter.jq.syntax.printer import render
from karta_interpreter.jq.syntax.traversal import children

_GENERATORS = frozenset({"splits", "scan", "match", "limit", "combinations", "getpath", "leaf_paths", "until"})
_PICKERS = frozenset({"first", "last", "limit", "nth"})


def several(node: Node) -> bool:
    """Whether an expression may yield more than one result.

    >>> from karta_interpreter.jq import parse
    >>> several(parse(".spec.groups[].name")), several(parse("[.spec.groups[].name] | length"))
    (True, False)
    """
    return any(
        isinstance(stage, Iterate | Comma | Foreach) or (isinstance(stage, Call) and stage.name in _GENERATORS)
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
            case Call("select", [_]):
                found.append(render(stage))
            case Call(name, [*_, picked]) if name in _PICKERS:
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
        if isinstance(part, Alternative) and several(part.left):
            each, rest = _split(part.left)
            return render(part), render(Pipe(each, Alternative(rest, part.right)))
    return None


def _split(node: Node) -> tuple[Node, Node]:
    """A path as the part that yields several results and the part that reads each of them."""
    match node:
        case Index(target, key) if several(target):
            each, rest = _split(target)
            return each, Index(rest, key)
        case Pipe(left, right) if several(left) and not several(right):
            return left, right
    return node, Identity()


def _stages(node: Node) -> Iterator[Node]:
    """The nodes whose number of results becomes that of the whole expression."""
    waiting = [node]
    while waiting:  # without recursion, in which every node would come through all above it
        stage = waiting.pop()
        yield stage
        waiting += reversed(_flow(stage))


def _flow(node: Node) -> tuple[Node, ...]:
    match node:
        case Pipe(left, right) | Alternative(left, right) | Binary(_, left, right):
            return left, right
        case Index(target, key):
            return target, key
        case Slice(target, _, _) | Iterate(target):
            return (target,)
        case Try(body, _) | Negate(body) | Label(_, body) | Define(_, _, _, body):
            return (body,)
        case Bind(source, _, body):
            return source, body
        case If(branches, otherwise):
            parts = tuple(part for branch in branches for part in branch)
            return parts if otherwise is None else (*parts, otherwise)
    return ()


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(list(children(part)))
