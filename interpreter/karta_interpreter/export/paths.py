"""Expressions that are paths, such as ``.spec.jobs[].replicas // 1``, which scripts have as texts or lists of keys."""

import re
from typing import Final, NamedTuple

from karta_interpreter.export.traits import literal
from karta_interpreter.export.writer import quoted
from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.traversal import terms_of

_KEY: Final = re.compile(r"[A-Za-z_][\w-]*")


class Path(NamedTuple):
    """The steps of a path, None for each element of a list, and the value in the place of null and false at its end."""

    steps: tuple[str | None, ...] = ()
    default: str = ""

    @property
    def text(self) -> str:
        """The path as the library reads it; nothing where a key has other characters than those of a name."""
        if not all(step is None or _KEY.fullmatch(step) for step in self.steps):
            return ""
        return "".join("[]" if step is None else f".{step}" for step in self.steps)

    @property
    def is_single(self) -> bool:
        """Whether there is one output, whatever the object is."""
        return None not in self.steps

    @property
    def is_plain(self) -> bool:
        """Whether it leads through objects alone, and not into a status."""
        return self.is_single and self.steps[:1] != ("status",)

    @property
    def keys(self) -> str:
        """The keys of a path that leads through objects alone, as a list of Lua."""
        return f"{{{', '.join(quoted(step or '') for step in self.steps)}}}"

    @property
    def arguments(self) -> str:
        """The arguments of the library's functions."""
        return f"{quoted(self.text)}, {self.default}" if self.default else quoted(self.text)


def paths_of(node: Node) -> list[Path] | None:
    """Return the paths that an expression consists of; None where it has anything else.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> paths_of(parse(".spec | .jobs[].name, .replicas // 1"))
    [Path(steps=('spec', 'jobs', None, 'name'), default=''), Path(steps=('spec', 'replicas'), default='1')]
    >>> paths_of(parse(".a + .b"))
    """
    terms = terms_of(node) if isinstance(node, ast.Comma) else [node]
    if len(terms) > 1:
        found = [paths_of(term) for term in terms]
        return None if None in found else [path for paths in found if paths for path in paths]
    match node:
        case ast.Pipe(left, ast.Comma() as right):
            before = _path(left)
            after = paths_of(right)
            if before is None or before.default or after is None:
                return None
            return [Path(before.steps + path.steps, path.default) for path in after]
    path = _path(node)
    return None if path is None or not path.steps else [path]


def plain_path(node: Node) -> Path | None:
    """Return the only path of an expression, where it leads through objects alone."""
    paths = paths_of(node) or []
    return paths[0] if len(paths) == 1 and paths[0].is_plain else None


def _path(node: Node) -> Path | None:
    match node:
        case ast.Identity():
            return Path()
        case ast.Index(target, ast.Literal(str(key))):
            return _longer(_path(target), key)
        case ast.Iterate(target):
            return _longer(_path(target), None)
        case ast.Pipe(left, right):
            before, after = _path(left), _path(right)
            if before is None or before.default or after is None:
                return None
            return Path(before.steps + after.steps, after.default)
        case ast.Alternative(left, ast.Literal(int() | str() as default)):
            path = _path(left)
            if path is not None and path.is_single and path.steps and not path.default:
                return Path(path.steps, literal(default))
    return None


def _longer(path: Path | None, step: str | None) -> Path | None:
    return None if path is None or path.default else Path((*path.steps, step))
