"""Steps of a path, ``.a``, ``[key]``, ``[start:stop]`` and ``[]``, and what a ``?`` behind one covers.

It covers the step alone: ``.a.b?`` fails where ``.a`` fails. So its tree is that of ``.a | .b?``.
"""

from msgspec.structs import replace

from karta_interpreter.jq.grammar.syntax import (
    Identity,
    Index,
    Iterate,
    Literal,
    Node,
    Pipe,
    Slice,
    Span,
    Try,
    Variable,
)

Step = Index | Slice | Iterate


def optional_step(step: Step, span: Span) -> Node:
    """A step with a ``?`` behind it.

    Where the key depends on the input the tree cannot tell the step from what stands before it: there the ``?``
    covers both.
    """
    if isinstance(step.target, Identity) or not has_fixed_key(step):
        return Try(step, span=span)
    alone = replace(step, target=Identity(span=step.span))
    return Pipe(step.target, Try(alone, span=span), span=span)


def is_optional_step(node: Node) -> bool:
    """Whether a node is a single step with a ``?``, which can be written behind another term."""
    match node:
        case Try(Index(Identity()) | Slice(Identity()) | Iterate(Identity()) as step, None):
            return has_fixed_key(step)
        case _:
            return False


def has_fixed_key(step: Step) -> bool:
    """Whether a step takes the same key whatever the input is."""
    match step:
        case Index(key=key):
            return isinstance(key, Literal | Variable)
        case Slice(start=start, stop=stop):
            return all(bound is None or isinstance(bound, Literal | Variable) for bound in (start, stop))
        case _:
            return True


def split_path(node: Node) -> tuple[Node, tuple[str, ...]]:
    """What the fields at the end of a path are fields of, and their names."""
    names: tuple[str, ...] = ()
    while isinstance(node, Index) and isinstance(node.key, Literal) and isinstance(node.key.value, str):
        names = (node.key.value, *names)
        node = node.target
    return node, names
