"""Expressions that are paths, such as ``.spec.jobs[].replicas // 1``: scripts have them as texts."""

import re
from typing import Final, NamedTuple

from karta_interpreter.export.traits import literal
from karta_interpreter.export.writer import quoted
from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.traversal import terms_of

_KEY: Final = re.compile(r"[A-Za-z_][\w-]*")


class Path(NamedTuple):
    """A path as a script has it, and what stands for null and false at its end; ``single``: it has one output."""

    text: str = ""
    default: str = ""

    @property
    def is_single(self) -> bool:
        """Whether there is one output, whatever the object is."""
        return "[]" not in self.text

    @property
    def is_plain(self) -> bool:
        """Whether it leads through objects alone, and not into a status."""
        return self.is_single and not self.text.startswith(".status")

    @property
    def keys(self) -> str:
        """The keys of a path that leads through objects alone, as a list of Lua."""
        return f"{{{', '.join(map(quoted, self.text.split('.')[1:]))}}}"

    @property
    def arguments(self) -> str:
        """The arguments of the library's functions."""
        return f"{quoted(self.text)}, {self.default}" if self.default else quoted(self.text)


def paths_of(node: Node) -> list[Path] | None:
    """Return the paths that an expression consists of; None where it has anything else.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> paths_of(parse(".spec | .jobs[].name, .replicas // 1"))
    [Path(text='.spec.jobs[].name', default=''), Path(text='.spec.replicas', default='1')]
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
            return [Path(before.text + path.text, path.default) for path in after]
    path = _path(node)
    return None if path is None or not path.text else [path]


def plain_path(node: Node) -> Path | None:
    """Return the only path of an expression, where it leads through objects alone."""
    paths = paths_of(node) or []
    return paths[0] if len(paths) == 1 and paths[0].is_plain else None


def _path(node: Node) -> Path | None:
    match node:
        case ast.Identity():
            return Path()
        case ast.Index(target, ast.Literal(str(key))) if _KEY.fullmatch(key):
            return _longer(_path(target), f".{key}")
        case ast.Iterate(target):
            return _longer(_path(target), "[]")
        case ast.Pipe(left, right):
            before, after = _path(left), _path(right)
            if before is None or before.default or after is None:
                return None
            return Path(before.text + after.text, after.default)
        case ast.Alternative(left, ast.Literal(int() | str() as default)):
            path = _path(left)
            if path is not None and path.is_single and path.text and not path.default:
                return Path(path.text, literal(default))
    return None


def _longer(path: Path | None, step: str) -> Path | None:
    return None if path is None or path.default else Path(path.text + step)
