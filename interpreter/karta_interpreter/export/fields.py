"""Where a definition has an expression."""

from collections.abc import Iterator

from karta_interpreter.base.findings import format_path
from karta_interpreter.base.k8s.values import JSON, Path


def field_of(manifest: JSON, text: str) -> str:
    """Return the path of the first field of a Karta that has an expression; nothing where none does.

    >>> field_of({"spec": {"parts": [{"path": ".a"}]}}, ".a")
    'spec.parts[0].path'
    """
    wanted = " ".join(text.split())
    for path, value in _texts(manifest, ()):
        found = " ".join(value.split())
        # the value of an annotation is YAML, with expressions in it
        if found == wanted or (path[0] == "metadata" and wanted in found):
            return format_path(path)
    return ""


def _texts(value: JSON, path: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str() if path:
            yield path, value
        case dict():
            for key, part in value.items():
                yield from _texts(part, (*path, key))
        case list():
            for at, part in enumerate(value):
                yield from _texts(part, (*path, at))
