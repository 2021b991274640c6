"""Expressions that are paths through objects, such as ``.spec.replicas // 1``: scripts have them as lists of keys."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import chain
from typing import NamedTuple

from karta_interpreter.base.k8s import Projection, grouped
from karta_interpreter.export.lua import quoted, written
from karta_interpreter.export.traits import literal
from karta_interpreter.languages.jq import (
    Singles,
    mark_all,
    parts_of,
    project,
    render,
    syntax as ast,
    terms_of,
    variables_in,
)


class Path(NamedTuple):
    """The keys of a path, and the value in the place of null and false at its end."""

    steps: tuple[str, ...] = ()
    default: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the path leads to a field, and not into a status."""
        # The template that Retain gets has no status, so a condition about it is asked of the member's.
        return self.steps[:1] not in ((), ("status",))

    @property
    def node(self) -> ast.Node:
        """The path as an expression without a default."""
        node: ast.Node = ast.Identity()
        for step in self.steps:
            node = ast.Index(node, ast.Literal(step))
        return node

    @property
    def keys(self) -> str:
        """The keys as a Lua list."""
        return f"{{{', '.join(map(quoted, self.steps))}}}"


def plain_path(node: ast.Node) -> Path | None:
    """Return the path that an expression consists of, unless it leads through a list or into a status.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> plain_path(parse(".spec | .replicas // 1"))
    Path(steps=('spec', 'replicas'), default='1')
    >>> plain_path(parse(".spec.jobs[].replicas"))
    """
    node, default = _without_default(node)
    match _guarded(node, Path()):
        case [((), path)] if path.is_plain:
            return path._replace(default=default)
    return None


def _without_default(node: ast.Node) -> tuple[ast.Node, str]:
    """Return an expression without the literal after its last ``//``, and this literal in Lua, "" without one."""
    match node:
        case ast.Alternative(left, ast.Literal(int() | str() as default)):
            return left, written(literal(default))
        case ast.Pipe(left, right):
            end, default = _without_default(right)
            return ast.Pipe(left, end), default
    return node, ""


def is_read(projection: Projection, steps: Sequence[str]) -> bool:
    """Return whether a projection has something at a path, or the whole value there."""
    part = projection
    for step in steps:
        if part.is_whole or part.elements is not None:
            return True
        if step not in part.fields:
            return False
        part = part.fields[step]
    return True


class Guarded(NamedTuple):
    """Paths only through objects, and the expression that must hold for them to be the outputs. Empty: always."""

    condition: str
    paths: tuple[Path, ...]


def guarded_paths(node: ast.Node, *, may_be_null: bool = False) -> list[Guarded] | None:
    """Return the paths that an expression chooses from by conditions on the object. None if it has anything else.

    ``may_be_null``: outputs that are null by a condition are left out, too.

    >>> from karta_interpreter.languages.jq.syntax.parser import parse
    >>> [(path.condition, [*map(str, path.paths[0].steps)]) for path in guarded_paths(parse(".a | select(.on) | .b"))]
    [('.a | .on', ['a', 'b'])]
    >>> guarded_paths(parse(".a[] | select(.on)"))
    """
    if not may_be_null and _may_choose_null(node):
        return None
    terms = _guarded(node, Path())
    if terms is None or not all(path.steps == ("status",) or path.is_plain for _, path in terms):
        return None
    by_conditions = grouped(terms)
    projection = Projection()
    for condition in chain.from_iterable(by_conditions):
        mark_all(project(condition, (projection,)))
    # A template has its status from the member.
    if is_read(projection, ("status",)) or any(map(variables_in, chain.from_iterable(by_conditions))):
        return None
    guarded: list[Guarded] = []
    for conditions, paths in by_conditions.items():
        text = render(reduce(partial(ast.Binary, "and"), conditions)) if conditions else ""
        guarded.append(Guarded(text, tuple(paths)))
    return guarded


def _may_choose_null(node: ast.Node) -> bool:
    for part in parts_of(node):
        if isinstance(part, ast.If) and any(then == ast.Literal(None) for _, then in part.branches):
            return True
    return False


# Paths, each with the conditions under which it is an output.
_Terms = list[tuple[tuple[ast.Node, ...], Path]]


def _guarded(node: ast.Node, base: Path) -> _Terms | None:
    terms = terms_of(node)
    if len(terms) > 1:
        alternatives: _Terms = []
        for term in terms:
            guarded = _guarded(term, base)
            if guarded is None:
                return None
            alternatives += guarded
        return alternatives
    match node:
        case ast.Identity():
            return [((), base)]
        case ast.Index(target, ast.Literal(str(key))):
            return _each(_guarded(target, base), lambda path: [((), Path((*path.steps, key)))])
        case ast.Pipe(left, right):
            return _each(_guarded(left, base), lambda path: _guarded(right, path))
        case ast.FunctionCall("select", (condition,)) if condition in Singles():
            return [((ast.Pipe(base.node, condition),), base)]
        case ast.If(((condition, ast.Literal(None) | ast.FunctionCall("empty")),), otherwise) if condition in Singles():
            negated = ast.Pipe(base.node, ast.Pipe(condition, ast.FunctionCall("not")))
            return _each([((negated,), base)], lambda path: _guarded(otherwise or ast.Identity(), path))
    return None


def _each(terms: _Terms | None, then: Callable[[Path], _Terms | None]) -> _Terms | None:
    if terms is None:
        return None
    outputs: _Terms = []
    for conditions, path in terms:
        more = then(path)
        if more is None:
            return None
        outputs += [((*conditions, *others), end) for others, end in more]
    return outputs
